/* state_model.c - the fitted gate and readers: use, and the model file. See state_model.h. */
#include "detect/state_model.h"
#include "detect/tuning.h"
#include "models/model_private.h"
#include <math.h>
#include <string.h>

void graphss_i_state_model_destroy(graphss_ctx *ctx, graphss_i_state_model *m)
{
    graphss_i_class_model_destroy(ctx, &m->classes);
    *m = (graphss_i_state_model){0};
}

/* sum over columns of w . (1, z, min(z^2, SQUARE_MOST)) */
double graphss_i_gate_value(
    const double *w, const double *mean, const double *spread, const float *x, size_t columns)
{
    double sum = w[0];
    for (size_t j = 0; j < columns; j++) {
        double z = ((double)x[j] - mean[j]) / spread[j];
        z = fmin(fmax(z, -TUNE_FARTHEST), TUNE_FARTHEST);
        sum += w[1 + 2 * j] * z + w[2 + 2 * j] * fmin(z * z, TUNE_SQUARE_MOST);
    }
    return sum;
}

static double odds_of(double log_odds)
{
    return exp(fmin(fmax(log_odds, -TUNE_ODDS_MOST), TUNE_ODDS_MOST));
}

void graphss_i_state_odds(double *odds, const graphss_i_state_model *m, const float *anomaly)
{
    double sum = 0, flat = 0;
    odds[0] = 1;
    for (size_t s = 1; s < GRAPHSS_I_STATES; s++) {
        odds[s] = odds_of(graphss_i_gate_value(
            m->gate[s], m->mean, m->spread, anomaly, GRAPHSS_I_ANOMALIES));
        sum += odds[s];
        flat += odds[s] = pow(odds[s], TUNE_STATE_CONTRAST);
    }
    for (size_t s = 1; s < GRAPHSS_I_STATES; s++)
        odds[s] *= sum / flat;
}

double graphss_i_change_odds(const graphss_i_state_model *m, const float *change)
{
    return odds_of(graphss_i_gate_value(
        m->change, m->change_mean, m->change_spread, change, GRAPHSS_I_CHANGES));
}

void graphss_i_state_read(
    double *p, const graphss_i_state_model *m, graphss_i_tampered state, const float *evidence)
{
    const size_t k = m->classes.k;
    double most = -INFINITY, sum = 0;
    for (size_t y = 0; y < k; y++) {
        p[y] = 0;
        for (size_t s = 0; s < GRAPHSS_I_SOURCES; s++)
            p[y] += m->reader[state][s] * (double)evidence[y * GRAPHSS_I_ROW + s];
        most = fmax(most, p[y]);
    }
    for (size_t y = 0; y < k; y++)
        sum += p[y] = exp(p[y] - most);
    for (size_t y = 0; y < k; y++)
        p[y] /= sum;
}

/* ---- the model file: head, fitted numbers, class model ---- */

enum { VERSION = 8, HEAD = 6 };
enum {
    FITTED = sizeof(((graphss_i_state_model *)0)->reader) / sizeof(double) +
             2 * GRAPHSS_I_ANOMALIES + GRAPHSS_I_STATES * GRAPHSS_I_GATE_WIDTH +
             2 * GRAPHSS_I_CHANGES + GRAPHSS_I_CHANGE_WIDTH + 2 +
             2 * GRAPHSS_I_STATES * GRAPHSS_I_GATE_WIDTH + 2 * GRAPHSS_I_MOVE_WIDTH +
             2 * GRAPHSS_I_MOVES + GRAPHSS_I_STRATA * GRAPHSS_I_QUANTILES,
    ARRAYS = 14
};

/* The fitted arrays in the order of the file. */
static size_t fitted_arrays(double *(*out)[2], graphss_i_state_model *m)
{
    double *const list[][2] = {
        {&m->reader[0][0], (double *)(&m->reader + 1)},
        {m->mean, (double *)(&m->mean + 1)},
        {m->spread, (double *)(&m->spread + 1)},
        {&m->gate[0][0], (double *)(&m->gate + 1)},
        {m->change_mean, (double *)(&m->change_mean + 1)},
        {m->change_spread, (double *)(&m->change_spread + 1)},
        {m->change, (double *)(&m->change + 1)},
        {&m->clean_share, &m->clean_share + 1},
        {&m->rehearsed, &m->rehearsed + 1},
        {&m->half_gate[0][0][0], (double *)(&m->half_gate + 1)},
        {m->move_mean, (double *)(&m->move_mean + 1)},
        {m->move_spread, (double *)(&m->move_spread + 1)},
        {&m->half_change[0][0], (double *)(&m->half_change + 1)},
        {&m->reference[0][0], (double *)(&m->reference + 1)},
    };
    _Static_assert(sizeof list / sizeof *list == ARRAYS, "arrays of the file");
    memcpy(out, list, sizeof list);
    return sizeof list / sizeof *list;
}

static void head_of(double *head, const graphss_i_class_model *c)
{
    head[0] = VERSION;
    head[1] = GRAPHSS_I_SOURCES;
    head[2] = GRAPHSS_I_ANOMALIES;
    head[3] = (double)c->k;
    head[4] = (double)c->d;
    head[5] = c->dense;
}

graphss_status graphss_i_state_model_keep(
    graphss_ctx *ctx, graphss_model *model, const graphss_i_state_model *m)
{
    graphss_i_state_model copy = *m;
    double *array[ARRAYS][2];
    const size_t size = HEAD + FITTED + graphss_i_class_model_size(&m->classes);
    const size_t n = fitted_arrays(array, &copy);
    double *block = graphss_i_alloc(ctx, size, sizeof *block), *out = block;
    if (!block)
        return GRAPHSS_ERR_NOMEM;
    head_of(out, &m->classes);
    out += HEAD;
    for (size_t i = 0; i < n; i++)
        for (const double *x = array[i][0]; x < array[i][1]; x++)
            *out++ = *x;
    graphss_i_class_model_put(out, &m->classes);
    const graphss_status st =
        graphss_i_model_keep(ctx, model, GRAPHSS_I_KEPT_STATES, block, size, 1);
    graphss_release(ctx, block);
    return st;
}

graphss_status graphss_i_state_model_recall(graphss_ctx *ctx, graphss_i_state_model *out,
    bool *known, const graphss_model *model, size_t n_cols, bool dense)
{
    const graphss_i_model_kept *kept = &model->kept[GRAPHSS_I_KEPT_STATES];
    graphss_i_state_model m = {0};
    double head[HEAD], *array[ARRAYS][2];
    m.classes.k = graphss_model_classes(model);
    m.classes.d = n_cols;
    m.classes.dense = dense;
    head_of(head, &m.classes);
    *known =
        kept->rows * kept->cols == HEAD + FITTED + graphss_i_class_model_size(&m.classes) &&
        !memcmp(kept->value, head, sizeof head);
    if (!*known)
        return GRAPHSS_OK;
    const double *in = kept->value + HEAD;
    const size_t n = fitted_arrays(array, &m);
    for (size_t i = 0; i < n; i++)
        for (double *x = array[i][0]; x < array[i][1]; x++)
            *x = *in++;
    const graphss_status st = graphss_i_class_model_get(ctx, &m.classes, &in);
    if (!st)
        *out = m;
    return st;
}
