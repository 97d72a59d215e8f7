#include "models/input.h"
#include "graph/rows.h"
#include <math.h>
#include <string.h>

/* What the three products take an epoch, measured by bench_kernels on Amazon Photo at width
 * 208, in units of a stored entry: one cell of GEMM and one of the product with bits. */
static const double gemm_cell = 0.4, bits_cell = 0.16;

/* Most memory the dense road may take where the features came sparse. */
static const size_t dense_limit = (size_t)1 << 30;

enum { STRIP = 64 }; /* columns that are propagated together */

static double row_sum(const graphss_features *f, size_t i)
{
    const graphss_i_row row = graphss_i_row_of(f, i);
    double sum = 0;
    for (size_t j = 0; j < row.n; j++)
        sum += fabsf(row.value[j]);
    return sum;
}

double graphss_i_input_scale(const graphss_features *f, bool row_normalise)
{
    double total = 0;
    for (size_t i = 0; i < f->n_rows; i++) {
        const graphss_i_row row = graphss_i_row_of(f, i);
        double squares = 0;
        for (size_t j = 0; j < row.n; j++)
            squares += (double)row.value[j] * row.value[j];
        const double sum = row_normalise ? row_sum(f, i) : 1;
        if (sum > 0)
            total += squares / (sum * sum);
    }
    return total > 0 && isfinite(total) ? sqrt((double)f->n_rows / total) : 1;
}

/* ---- columns ---- */

/* sum, squares, stored [d]: of each column the sum, then of the stored entries the squares of
 * what is off its mean. */
static void column_moments(double *mean, double *squares, double *stored,
                           const graphss_features *f, bool row_normalise)
{
    const size_t d = f->n_cols;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < f->n_rows; i++) {
            const graphss_i_row row = graphss_i_row_of(f, i);
            const double sum = row_normalise ? row_sum(f, i) : 1, by = sum > 0 ? 1 / sum : 1;
            for (size_t j = 0; j < row.n; j++) {
                const size_t c = graphss_i_row_at(row, j);
                const double x = by * row.value[j];
                if (pass == 0) {
                    mean[c] += x;
                    stored[c]++;
                } else {
                    squares[c] += (x - mean[c]) * (x - mean[c]);
                }
            }
        }
        for (size_t c = 0; c < d && pass == 0; c++)
            mean[c] /= (double)f->n_rows;
    }
}

/* mean_c, and 1 / sqrt(mean_i (x_ic - mean_c)^2). A spread of rounding alone is none. */
static graphss_status learn_columns(graphss_ctx *ctx, graphss_i_scaling *s,
                                    const graphss_features *f, size_t *varying)
{
    static const double rounding = 1e-6;
    const size_t d = f->n_cols;
    double *mean = graphss_i_calloc(ctx, d, 3 * sizeof *mean);
    s->mean = graphss_i_alloc(ctx, d, 2 * sizeof *s->mean);
    if (!mean || !s->mean) {
        graphss_release(ctx, mean);
        return GRAPHSS_ERR_NOMEM;
    }
    double *squares = mean + d, *stored = squares + d;
    s->gain = s->mean + d;
    column_moments(mean, squares, stored, f, s->row_normalise);
    *varying = 0;
    for (size_t c = 0; c < d; c++) {
        squares[c] += ((double)f->n_rows - stored[c]) * mean[c] * mean[c];
        const double spread = sqrt(squares[c] / (double)f->n_rows);
        const bool varies = isfinite(spread) && spread > rounding * fabs(mean[c]);
        s->mean[c] = varies ? (float)mean[c] : 0;
        s->gain[c] = varies && isfinite((float)(1 / spread)) ? (float)(1 / spread) : 0;
        *varying += s->gain[c] > 0;
    }
    graphss_release(ctx, mean);
    return GRAPHSS_OK;
}

graphss_status graphss_i_scaling_learn(graphss_ctx *ctx, graphss_i_scaling *out,
                                       const graphss_features *f,
                                       const graphss_train_options *opt)
{
    graphss_i_scaling s = {.row_normalise = opt->row_normalise, .scale = 1};
    size_t varying = 0;
    if (opt->standardise) {
        const graphss_status st = learn_columns(ctx, &s, f, &varying);
        if (st) {
            graphss_i_scaling_destroy(ctx, &s);
            return st;
        }
        if (opt->unit_scale && varying)
            s.scale = 1 / sqrt((double)varying);
    } else if (opt->unit_scale) {
        s.scale = graphss_i_input_scale(f, opt->row_normalise);
    }
    *out = s;
    return GRAPHSS_OK;
}

graphss_status graphss_i_scaling_copy(graphss_ctx *ctx, graphss_i_scaling *out,
                                      const graphss_i_scaling *from, size_t n_cols)
{
    graphss_i_scaling s = *from;
    if (from->mean) {
        s.mean = graphss_i_copy(ctx, from->mean, 2 * n_cols, sizeof *s.mean);
        if (!s.mean)
            return GRAPHSS_ERR_NOMEM;
        s.gain = s.mean + n_cols;
    }
    *out = s;
    return GRAPHSS_OK;
}

void graphss_i_scaling_destroy(graphss_ctx *ctx, graphss_i_scaling *scaling)
{
    graphss_release(ctx, scaling->mean);
    *scaling = (graphss_i_scaling){.scale = 1};
}

/* factor[i] = scale / sum_c |x[i][c]|, or scale. -1, or the first row that is not finite */
static int64_t row_factors(float *factor, const graphss_features *f, bool row_normalise,
                           double scale)
{
    for (size_t i = 0; i < f->n_rows; i++) {
        const double sum = row_sum(f, i);
        if (!isfinite(sum))
            return (int64_t)i;
        factor[i] = (float)(row_normalise && sum > 0 ? scale / sum : scale);
    }
    return -1;
}

/* ---- the roads ---- */

typedef enum road { SPARSE, BITS, DENSE } road;

static road cheapest(const graphss_features *f, const graphss_i_propagation *p, size_t hops,
                     bool suits_bits)
{
    if (!f->offset)
        return DENSE;
    const double cells = (double)f->n_rows * (double)f->n_cols;
    const double stored = (double)f->offset[f->n_rows];
    const double edges = hops ? (double)hops * (double)p->m.offset[p->m.n_rows] : 0;
    const double sparse = stored + edges;
    const double bits = suits_bits ? bits_cell * cells + edges : INFINITY;
    const double dense =
        cells * sizeof(float) <= (double)dense_limit ? gemm_cell * cells : INFINITY;
    if (dense < sparse && dense < bits)
        return DENSE;
    return bits < sparse ? BITS : SPARSE;
}

static graphss_status make_sparse(graphss_ctx *ctx, graphss_i_input *in,
                                  const graphss_features *f, const float *factor)
{
    in->sparse = (graphss_i_csr){f->n_rows, f->n_cols, f->offset, f->column, NULL, true};
    in->sparse.value =
        graphss_i_alloc(ctx, graphss_features_stored(f), sizeof *in->sparse.value);
    if (!in->sparse.value)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < f->n_rows; i++) {
        const graphss_i_row row = graphss_i_row_of(f, i);
        for (size_t j = 0; j < row.n; j++)
            in->sparse.value[f->offset[i] + (int64_t)j] = factor[i] * row.value[j];
    }
    return GRAPHSS_OK;
}

/* number [n_rows]: what each row holds where its bit is set; it becomes part of in. */
static graphss_status make_bits(graphss_ctx *ctx, graphss_i_input *in,
                                const graphss_i_csr *pattern, float *number,
                                const float *factor)
{
    const size_t n = pattern->n_rows, d = pattern->n_cols;
    in->number = number;
    graphss_status st = graphss_i_bits_make(ctx, &in->bits, pattern);
    if (st)
        return st;
    in->transposed.word =
        graphss_i_alloc(ctx, graphss_i_bits_words(d, n), sizeof *in->transposed.word);
    if (!in->transposed.word)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        number[i] *= factor[i];
    in->bits.r = number;
    graphss_i_bits_transpose(ctx, &in->transposed, &in->bits, 0, n);
    return GRAPHSS_OK;
}

/* out[i][c] = scale gain[c] (factor[i] x[i][c] - mean[c]) */
static void standardise(float *out, const graphss_features *f, const float *factor,
                        const graphss_i_scaling *s)
{
    const size_t d = f->n_cols;
    for (size_t i = 0; i < f->n_rows; i++) {
        const graphss_i_row row = graphss_i_row_of(f, i);
        for (size_t c = 0; c < d; c++)
            out[i * d + c] = (float)(-s->scale * s->gain[c] * s->mean[c]);
        for (size_t j = 0; j < row.n; j++) {
            const size_t c = graphss_i_row_at(row, j);
            const double x = (double)factor[i] * row.value[j];
            out[i * d + c] = (float)(s->scale * s->gain[c] * (x - s->mean[c]));
        }
    }
}

static void densify(float *out, const graphss_features *f, const float *factor)
{
    const size_t d = f->n_cols;
    memset(out, 0, f->n_rows * d * sizeof *out);
    for (size_t i = 0; i < f->n_rows; i++) {
        const graphss_i_row row = graphss_i_row_of(f, i);
        for (size_t j = 0; j < row.n; j++)
            out[i * d + graphss_i_row_at(row, j)] = factor[i] * row.value[j];
    }
}

static void copy_columns(float *to, size_t to_cols, const float *from, size_t from_cols,
                         size_t rows, size_t cols)
{
    for (size_t i = 0; i < rows; i++)
        memcpy(to + i * to_cols, from + i * from_cols, cols * sizeof *to);
}

/* P^hops X in the place of X, some columns at a time: a second matrix of the size of X may
 * be most of the memory of a training. */
static graphss_status make_dense(graphss_ctx *ctx, graphss_i_input *in,
                                 const graphss_features *f, const float *factor,
                                 const graphss_i_scaling *s)
{
    const size_t n = f->n_rows, d = f->n_cols;
    in->dense = graphss_i_alloc(ctx, n * d, sizeof *in->dense);
    if (!in->dense)
        return GRAPHSS_ERR_NOMEM;
    if (s->mean)
        standardise(in->dense, f, factor, s);
    else
        densify(in->dense, f, factor);
    if (in->hops == 0)
        return GRAPHSS_OK;
    float *strip = graphss_i_alloc(ctx, n, 2 * STRIP * sizeof *strip);
    if (!strip)
        return GRAPHSS_ERR_NOMEM;
    for (size_t c = 0; c < d; c += STRIP) {
        const size_t cols = d - c < STRIP ? d - c : STRIP;
        float *now = strip, *next = strip + n * cols;
        copy_columns(now, cols, in->dense + c, d, n, cols);
        for (size_t h = 0; h < in->hops; h++) {
            graphss_i_spmm(ctx, next, &in->p->m, now, cols);
            float *held = now;
            now = next;
            next = held;
        }
        copy_columns(in->dense + c, d, now, cols, n, cols);
    }
    graphss_release(ctx, strip);
    return GRAPHSS_OK;
}

graphss_status graphss_i_input_make(graphss_ctx *ctx, graphss_i_input *out,
                                    const graphss_features *f, const graphss_i_propagation *p,
                                    size_t hops, const graphss_i_scaling *scaling)
{
    graphss_i_input in = {.n_rows = f->n_rows, .n_cols = f->n_cols, .p = p};
    graphss_status st = GRAPHSS_OK;
    in.hops = p->norm == GRAPHSS_I_NORM_NONE ? 0 : hops;
    float *factor = graphss_i_alloc(ctx, f->n_rows, sizeof *factor);
    float *number = graphss_i_alloc(ctx, f->n_rows, sizeof *number);
    if (!factor || !number) {
        st = GRAPHSS_ERR_NOMEM;
        goto done;
    }
    const int64_t odd =
        row_factors(factor, f, scaling->row_normalise, scaling->mean ? 1 : scaling->scale);
    if (odd >= 0) {
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                            "features of node %lld are not finite numbers", (long long)odd);
        goto done;
    }
    const graphss_i_csr given = {f->n_rows, f->n_cols, f->offset, f->column, f->value, true};
    switch (scaling->mean
                ? DENSE
                : cheapest(f, p, in.hops, f->offset && graphss_i_bits_suit(number, &given))) {
    case SPARSE:
        st = make_sparse(ctx, &in, f, factor);
        break;
    case BITS:
        st = make_bits(ctx, &in, &given, number, factor);
        number = NULL;
        break;
    case DENSE:
        st = make_dense(ctx, &in, f, factor, scaling);
        break;
    }
done:
    graphss_release(ctx, number);
    graphss_release(ctx, factor);
    if (st)
        graphss_i_input_destroy(ctx, &in);
    else
        *out = in;
    return st;
}

void graphss_i_input_destroy(graphss_ctx *ctx, graphss_i_input *input)
{
    graphss_i_csr_destroy(ctx, &input->sparse);
    graphss_i_bits_destroy(ctx, &input->bits);
    graphss_i_bits_destroy(ctx, &input->transposed);
    graphss_release(ctx, input->number);
    graphss_release(ctx, input->dense);
    *input = (graphss_i_input){0};
}

graphss_i_var graphss_i_input_apply(graphss_i_tape *t, const graphss_i_input *input,
                                    graphss_i_var w, double dropout)
{
    if (input->dense) {
        const graphss_i_var x =
            graphss_i_tape_constant(t, input->dense, input->n_rows, input->n_cols);
        return graphss_i_tape_matmul(t, graphss_i_tape_dropout(t, x, dropout), w);
    }
    graphss_i_var y =
        input->bits.word
            ? graphss_i_tape_bits_input(t, &input->bits, &input->transposed, w, dropout)
            : graphss_i_tape_sparse_input(t, &input->sparse, w, dropout);
    const graphss_i_pair m = {&input->p->m, graphss_i_propagation_transposed(input->p)};
    for (size_t h = 0; h < input->hops; h++)
        y = graphss_i_tape_spmm(t, m, y);
    return y;
}
