/* standardise.c - brings measured columns with different units to a common scale.
 *
 * Defences compare rows, move values towards those of other nodes, and ask linear models for
 * the effect of a value. Without scaling, a column of large numbers would dominate. So they
 * get the columns as the classifier sees them. One exception: columns that contain zeros
 * (counts, amounts, categories) are not centred, so that zero stays zero. */
#include "base/ranks.h"
#include "graph/rows.h"
#include "observation/observation.h"

/* least share of zeros in a column whose zeros are kept */
static const double ZEROS_LEAST = 0.05;

/* mean [2 d]: what the model is to subtract from columns that keep their zeros, else 0; and
 * its gains then, 1 or 0 */
static graphss_status learn_zeros(
    graphss_ctx *ctx, float **mean, const graphss_features *x, const graphss_i_scaling *s)
{
    const size_t d = x->n_cols;
    double *filled = graphss_i_calloc(ctx, d + 1, sizeof *filled); /* the last: rows */
    float *left = graphss_i_calloc(ctx, d, 2 * sizeof *left);
    if (!filled || !left) {
        graphss_release(ctx, filled);
        graphss_release(ctx, left);
        return GRAPHSS_ERR_NOMEM;
    }
    for (size_t i = 0; i < x->n_rows; i++) {
        const graphss_i_row r = graphss_i_row_of(x, i);
        for (size_t j = 0; j < r.n; j++)
            filled[graphss_i_row_at(r, j)] += r.value[j] != 0 ? 1 : 0;
    }
    filled[d] = (double)x->n_rows;
    const graphss_status st = graphss_i_ranks_sum(ctx, filled, d + 1);
    for (size_t c = 0; c < d; c++) {
        const double zeros = filled[d] - filled[c];
        left[c] = zeros >= ZEROS_LEAST * filled[d] ? s->gain[c] * s->mean[c] : 0;
        left[d + c] = s->gain[c] > 0;
    }
    graphss_release(ctx, filled);
    *mean = left;
    return st;
}

/* out[i][c] = gain[c] (x[i][c] - mean[c]), or gain[c] x[i][c] if the mean is left to the model
 */
static graphss_status standardise(graphss_ctx *ctx, graphss_features *out,
    const graphss_features *x, const graphss_i_scaling *s, const float *left)
{
    const size_t d = x->n_cols;
    float *value = graphss_i_alloc(ctx, x->n_rows, d * sizeof *value);
    if (!value)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < x->n_rows; i++) {
        const graphss_i_row r = graphss_i_row_of(x, i);
        size_t at = 0;
        for (size_t c = 0; c < d; c++) {
            const float own = graphss_i_row_value(r, &at, c);
            value[i * d + c] =
                left[c] != 0
                    ? s->gain[c] * own
                    : (float)((double)s->gain[c] * ((double)own - (double)s->mean[c]));
        }
    }
    *out = (graphss_features){
        .n_rows = x->n_rows, .n_cols = d, .value = value, .kind = GRAPHSS_FEATURES_REAL};
    return GRAPHSS_OK;
}

graphss_status graphss_i_standardise_open(
    graphss_ctx *ctx, graphss_i_standardised *scaled, const graphss_defence_input *in)
{
    const graphss_i_scaling *s = &in->model->scaling;
    scaled->in = *in;
    if (!s->mean || s->row_normalise)
        return GRAPHSS_OK;
    graphss_status st = learn_zeros(ctx, &scaled->mean, in->current.features, s);
    if (!st)
        st = standardise(ctx, &scaled->current, in->current.features, s, scaled->mean);
    if (!st && in->previous)
        st = standardise(ctx, &scaled->past, in->previous->features, s, scaled->mean);
    if (st) {
        graphss_i_standardise_close(ctx, scaled);
        return st;
    }
    scaled->in.current.features = &scaled->current;
    if (in->previous) {
        scaled->previous = *in->previous;
        scaled->previous.features = &scaled->past;
        scaled->in.previous = &scaled->previous;
    }
    scaled->model = *in->model;
    scaled->model.scaling = (graphss_i_scaling){
        .scale = s->scale, .mean = scaled->mean, .gain = scaled->mean + in->model->n_features};
    scaled->in.model = &scaled->model;
    return GRAPHSS_OK;
}

void graphss_i_standardise_close(graphss_ctx *ctx, graphss_i_standardised *scaled)
{
    graphss_features_destroy(ctx, &scaled->current);
    graphss_features_destroy(ctx, &scaled->past);
    graphss_release(ctx, scaled->mean);
    *scaled = (graphss_i_standardised){0};
}
