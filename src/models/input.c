#include "models/input.h"
#include "base/ranks.h"
#include "graph/rows.h"
#include <math.h>
#include <string.h>

/* Cost of the three products per epoch, measured by bench_kernels on Amazon Photo at width
 * 208, in units of a stored entry: one cell of GEMM, and one of the product with bits. */
static const double gemm_cell = 0.4, bits_cell = 0.16;

/* Memory limit of the dense method if the features are stored sparse. */
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

/* sum_i |x_i|^2, rows as row_normalise says */
static double squared_lengths(const graphss_features *f, bool row_normalise)
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
    return total;
}

static double unit_scale(double total, double n_rows)
{
    return total > 0 && isfinite(total) ? sqrt(n_rows / total) : 1;
}

double graphss_i_input_scale(const graphss_features *f, bool row_normalise)
{
    return unit_scale(squared_lengths(f, row_normalise), (double)f->n_rows);
}

/* ---- columns ---- */

/* sum, squares, stored [d]: for each column the sum, and over its stored entries the squared
 * deviations from its mean, and their number. */
static graphss_status column_moments(graphss_ctx *ctx, double *mean, double *squares,
    double *stored, double n_rows, const graphss_features *f, bool row_normalise)
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
        graphss_status st = graphss_i_ranks_sum(ctx, pass == 0 ? mean : squares, d);
        if (!st && pass == 0)
            st = graphss_i_ranks_sum(ctx, stored, d);
        if (st)
            return st;
        for (size_t c = 0; c < d && pass == 0; c++)
            mean[c] /= n_rows;
    }
    return GRAPHSS_OK;
}

/* mean_c, and 1 / sqrt(mean_i (x_ic - mean_c)^2). A spread of rounding alone is none. */
static graphss_status learn_columns(
    graphss_ctx *ctx, graphss_i_scaling *s, const graphss_features *f, size_t *varying)
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
    double n_rows = (double)f->n_rows;
    graphss_status st = graphss_i_ranks_sum(ctx, &n_rows, 1);
    if (!st)
        st = column_moments(ctx, mean, squares, stored, n_rows, f, s->row_normalise);
    *varying = 0;
    for (size_t c = 0; c < d && !st; c++) {
        squares[c] += (n_rows - stored[c]) * mean[c] * mean[c];
        const double spread = sqrt(squares[c] / n_rows);
        const bool varies = isfinite(spread) && spread > rounding * fabs(mean[c]);
        s->mean[c] = varies ? (float)mean[c] : 0;
        s->gain[c] = varies && isfinite((float)(1 / spread)) ? (float)(1 / spread) : 0;
        *varying += s->gain[c] > 0;
    }
    graphss_release(ctx, mean);
    return st;
}

graphss_status graphss_i_scaling_learn(graphss_ctx *ctx, graphss_i_scaling *out,
    const graphss_features *f, const graphss_train_options *opt)
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
        double sum[2] = {squared_lengths(f, opt->row_normalise), (double)f->n_rows};
        const graphss_status st = graphss_i_ranks_sum(ctx, sum, 2);
        if (st)
            return st;
        s.scale = unit_scale(sum[0], sum[1]);
    }
    *out = s;
    return GRAPHSS_OK;
}

graphss_status graphss_i_scaling_copy(
    graphss_ctx *ctx, graphss_i_scaling *out, const graphss_i_scaling *from, size_t n_cols)
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
static int64_t row_factors(
    float *factor, const graphss_features *f, bool row_normalise, double scale)
{
    for (size_t i = 0; i < f->n_rows; i++) {
        const double sum = row_sum(f, i);
        if (!isfinite(sum))
            return (int64_t)i;
        factor[i] = (float)(row_normalise && sum > 0 ? scale / sum : scale);
    }
    return -1;
}

/* ---- the three methods ---- */

typedef enum road { SPARSE, BITS, DENSE } road;

/* edges: entries of P, times the hops. All ranks choose the same. */
static road cheapest(
    graphss_ctx *ctx, const graphss_features *f, double edges, bool suits_bits)
{
    if (!f->offset)
        return DENSE;
    double sum[] = {(double)f->n_rows, (double)f->offset[f->n_rows], edges, !suits_bits};
    if (graphss_i_ranks_sum(ctx, sum, 4))
        return DENSE; /* the next collective operation reports it */
    const double cells = sum[0] * (double)f->n_cols, stored = sum[1];
    edges = sum[2];
    suits_bits = sum[3] == 0;
    const double sparse = stored + edges;
    const double bits = suits_bits ? bits_cell * cells + edges : INFINITY;
    const double dense =
        cells * sizeof(float) <= (double)dense_limit ? gemm_cell * cells : INFINITY;
    if (dense < sparse && dense < bits)
        return DENSE;
    return bits < sparse ? BITS : SPARSE;
}

static graphss_status make_sparse(
    graphss_ctx *ctx, graphss_i_input *in, const graphss_features *f, const float *factor)
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

/* number [n_rows]: the value of the set bits of each row; it becomes part of in. */
static graphss_status make_bits(graphss_ctx *ctx, graphss_i_input *in,
    const graphss_i_csr *pattern, float *number, const float *factor)
{
    in->number = number;
    graphss_status st = graphss_i_bits_make(ctx, &in->bits, pattern);
    if (st)
        return st;
    for (size_t i = 0; i < pattern->n_rows; i++)
        number[i] *= factor[i];
    in->bits.r = number;
    return GRAPHSS_OK;
}

static graphss_status transpose_bits(graphss_ctx *ctx, graphss_i_input *in)
{
    const size_t n = in->bits.n_rows, d = in->bits.n_cols;
    in->transposed.word =
        graphss_i_alloc(ctx, graphss_i_bits_words(d, n), sizeof *in->transposed.word);
    if (!in->transposed.word)
        return GRAPHSS_ERR_NOMEM;
    graphss_i_bits_transpose(ctx, &in->transposed, &in->bits, 0, n);
    return GRAPHSS_OK;
}

/* out[i][c] = scale gain[c] (factor[i] x[i][c] - mean[c]) */
static void standardise(
    float *out, const graphss_features *f, const float *factor, const graphss_i_scaling *s)
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

static void copy_columns(
    float *to, size_t to_cols, const float *from, size_t from_cols, size_t rows, size_t cols)
{
    for (size_t i = 0; i < rows; i++)
        memcpy(to + i * to_cols, from + i * from_cols, cols * sizeof *to);
}

/* Replaces X by P^hops X, some columns at a time: a second matrix of the size of X could be
 * most of the memory of a training. */
static graphss_status make_dense(graphss_ctx *ctx, graphss_i_input *in,
    const graphss_features *f, const float *factor, const graphss_i_scaling *s)
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

static graphss_i_csr as_csr(const graphss_features *f)
{
    return (graphss_i_csr){f->n_rows, f->n_cols, f->offset, f->column, f->value, true};
}

/* number [n_rows]: becomes the value of each row if bits suit. */
static road choose_road(graphss_ctx *ctx, float *number, const graphss_features *f,
    double edges, const graphss_i_scaling *scaling)
{
    const graphss_i_csr given = as_csr(f);
    return scaling->mean
               ? DENSE
               : cheapest(ctx, f, edges, f->offset && graphss_i_bits_suit(number, &given));
}

static double edges_of(const graphss_i_input *in)
{
    return in->hops ? (double)in->hops * (double)in->p->m.offset[in->p->m.n_rows] : 0;
}

/* Builds X for the chosen method; takes ownership of *number if it uses bits. DATA: a value
 * that is not finite. */
static graphss_status make_road(graphss_ctx *ctx, graphss_i_input *in,
    const graphss_features *f, const graphss_i_scaling *scaling, road by, float **number)
{
    const graphss_i_csr given = as_csr(f);
    float *factor = graphss_i_alloc(ctx, f->n_rows, sizeof *factor);
    if (!factor)
        return GRAPHSS_ERR_NOMEM;
    graphss_status st = GRAPHSS_OK;
    const int64_t odd =
        row_factors(factor, f, scaling->row_normalise, scaling->mean ? 1 : scaling->scale);
    if (odd >= 0) {
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "features of node %lld are not finite numbers", (long long)odd);
    } else if (by == SPARSE) {
        st = make_sparse(ctx, in, f, factor);
    } else if (by == BITS) {
        st = make_bits(ctx, in, &given, *number, factor);
        *number = NULL;
    } else {
        st = make_dense(ctx, in, f, factor, scaling);
    }
    graphss_release(ctx, factor);
    return st;
}

static graphss_i_input input_of(
    const graphss_features *f, const graphss_i_propagation *p, size_t hops)
{
    return (graphss_i_input){.n_rows = f->n_rows,
        .n_cols = f->n_cols,
        .p = p,
        .hops = p->norm == GRAPHSS_I_NORM_NONE ? 0 : hops};
}

graphss_status graphss_i_input_make(graphss_ctx *ctx, graphss_i_input *out,
    const graphss_features *f, const graphss_i_propagation *p, size_t hops,
    const graphss_i_scaling *scaling)
{
    graphss_i_input in = input_of(f, p, hops);
    float *number = graphss_i_alloc(ctx, f->n_rows, sizeof *number);
    graphss_status st = number
                            ? make_road(ctx, &in, f, scaling,
                                  choose_road(ctx, number, f, edges_of(&in), scaling), &number)
                            : GRAPHSS_ERR_NOMEM;
    if (!st && in.bits.word)
        st = transpose_bits(ctx, &in);
    graphss_release(ctx, number);
    if (st)
        graphss_i_input_destroy(ctx, &in);
    else
        *out = in;
    return st;
}

/* ---- products that are known ---- */

void graphss_i_product_destroy(graphss_ctx *ctx, graphss_i_product *product)
{
    graphss_release(ctx, product->value);
    *product = (graphss_i_product){0};
}

/* Copies the known rows of the product and lists the others in row. */
static size_t take_known(graphss_i_product *product, int32_t *row, const graphss_features *f,
    const graphss_i_known *known)
{
    const size_t cols = product->n_cols;
    size_t left = 0;
    for (size_t i = 0; i < f->n_rows; i++) {
        const size_t u = known->there ? (size_t)known->there[i] : i; /* -1: beyond the end */
        if (u < known->product->n_rows &&
            graphss_i_row_same(graphss_i_row_of(f, i), graphss_i_row_of(known->features, u)))
            memcpy(product->value + i * cols, known->product->value + u * cols,
                cols * sizeof *product->value);
        else
            row[left++] = (int32_t)i;
    }
    return left;
}

/* Some rows of sparse features. */
static graphss_status pick_rows(graphss_ctx *ctx, graphss_features *out,
    const graphss_features *f, const int32_t *row, size_t n)
{
    graphss_features some = {.n_rows = n, .n_cols = f->n_cols};
    some.offset = graphss_i_calloc(ctx, n + 1, sizeof *some.offset);
    for (size_t i = 0; i < n && some.offset; i++)
        some.offset[i + 1] = some.offset[i] + f->offset[row[i] + 1] - f->offset[row[i]];
    const size_t stored = some.offset ? (size_t)some.offset[n] : 0;
    some.column = graphss_i_alloc(ctx, stored, sizeof *some.column);
    some.value = graphss_i_alloc(ctx, stored, sizeof *some.value);
    *out = some;
    if (!some.offset || !some.column || !some.value)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < n; i++) {
        const graphss_i_row r = graphss_i_row_of(f, (size_t)row[i]);
        memcpy(some.column + some.offset[i], r.column, r.n * sizeof *r.column);
        memcpy(some.value + some.offset[i], r.value, r.n * sizeof *r.value);
    }
    return GRAPHSS_OK;
}

/* X w by the chosen method. */
static graphss_status multiply_all(graphss_ctx *ctx, graphss_i_product *product,
    const graphss_features *f, const graphss_i_scaling *scaling, const float *w)
{
    const graphss_i_csr given = as_csr(f);
    graphss_i_input x = {0};
    float *number = graphss_i_alloc(ctx, f->n_rows, sizeof *number);
    product->value = graphss_i_alloc(ctx, f->n_rows, product->n_cols * sizeof *product->value);
    graphss_status st = number && product->value ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    if (!st && product->bits)
        graphss_i_bits_suit(number, &given);
    if (!st)
        st = make_road(ctx, &x, f, scaling, product->bits ? BITS : SPARSE, &number);
    if (!st && product->bits)
        graphss_i_bits_multiply(
            ctx, product->value, &x.bits, 0, f->n_rows, w, product->n_cols);
    else if (!st)
        graphss_i_spmm(ctx, product->value, &x.sparse, w, product->n_cols);
    graphss_i_input_destroy(ctx, &x);
    graphss_release(ctx, number);
    return st;
}

/* The rows of the product that are not known. */
static graphss_status multiply_rest(graphss_ctx *ctx, graphss_i_product *product,
    const graphss_features *f, const graphss_i_scaling *scaling, const float *w,
    const graphss_i_known *known)
{
    const size_t cols = product->n_cols;
    graphss_features some = {0};
    int32_t *row = graphss_i_alloc(ctx, f->n_rows, sizeof *row);
    product->value = graphss_i_alloc(ctx, f->n_rows, cols * sizeof *product->value);
    if (!row || !product->value) {
        graphss_release(ctx, row);
        return GRAPHSS_ERR_NOMEM;
    }
    const size_t n = take_known(product, row, f, known);
    graphss_status st = n ? pick_rows(ctx, &some, f, row, n) : GRAPHSS_OK;
    graphss_i_product part = {.n_rows = n, .n_cols = cols, .bits = product->bits};
    if (n && !st)
        st = multiply_all(ctx, &part, &some, scaling, w);
    for (size_t i = 0; i < n && !st; i++)
        memcpy(product->value + (size_t)row[i] * cols, part.value + i * cols,
            cols * sizeof *part.value);
    graphss_i_product_destroy(ctx, &part);
    graphss_features_destroy(ctx, &some);
    graphss_release(ctx, row);
    return st;
}

graphss_status graphss_i_product_rows(graphss_ctx *ctx, float *value, bool *same,
    const graphss_i_product *product, const graphss_features *f, size_t entries, size_t hops,
    const graphss_i_scaling *scaling, const float *w, const int32_t *row, size_t n)
{
    const size_t cols = product->n_cols;
    graphss_features some = {0};
    graphss_i_product part = {.n_rows = n, .n_cols = cols, .bits = product->bits};
    float *number = graphss_i_alloc(ctx, f->n_rows, sizeof *number);
    if (!number)
        return GRAPHSS_ERR_NOMEM;
    *same = choose_road(ctx, number, f, (double)hops * (double)entries, scaling) ==
            (product->bits ? BITS : SPARSE);
    graphss_release(ctx, number);
    if (!*same || n == 0)
        return GRAPHSS_OK;
    graphss_status st = pick_rows(ctx, &some, f, row, n);
    if (!st)
        st = multiply_all(ctx, &part, &some, scaling, w);
    if (!st)
        memcpy(value, part.value, n * cols * sizeof *value);
    graphss_i_product_destroy(ctx, &part);
    graphss_features_destroy(ctx, &some);
    return st;
}

graphss_status graphss_i_input_multiply(graphss_ctx *ctx, graphss_i_input *out,
    graphss_i_product *product, const graphss_features *f, const graphss_i_propagation *p,
    size_t hops, const graphss_i_scaling *scaling, const float *w, size_t cols,
    const graphss_i_known *known)
{
    graphss_i_input in = input_of(f, p, hops);
    graphss_i_product made = {.n_rows = f->n_rows, .n_cols = cols};
    float *number = graphss_i_alloc(ctx, f->n_rows, sizeof *number);
    if (!number)
        return GRAPHSS_ERR_NOMEM;
    const road by = choose_road(ctx, number, f, edges_of(&in), scaling);
    graphss_release(ctx, number);
    if (by == DENSE)
        return graphss_i_input_make(ctx, out, f, p, hops, scaling);
    made.bits = by == BITS;
    const bool helps = known && known->product->value && known->product->bits == made.bits;
    const graphss_status st = helps ? multiply_rest(ctx, &made, f, scaling, w, known)
                                    : multiply_all(ctx, &made, f, scaling, w);
    if (st) {
        graphss_i_product_destroy(ctx, &made);
        return st;
    }
    in.product = made.value;
    in.product_cols = cols;
    *product = made;
    *out = in;
    return GRAPHSS_OK;
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

graphss_i_var graphss_i_input_apply(
    graphss_i_tape *t, const graphss_i_input *input, graphss_i_var w, double dropout)
{
    if (input->dense) {
        const graphss_i_var x =
            graphss_i_tape_constant(t, input->dense, input->n_rows, input->n_cols);
        return graphss_i_tape_matmul(t, graphss_i_tape_dropout(t, x, dropout), w);
    }
    graphss_i_var y =
        input->product
            ? graphss_i_tape_constant(t, input->product, input->n_rows, input->product_cols)
        : input->bits.word
            ? graphss_i_tape_bits_input(t, &input->bits, &input->transposed, w, dropout)
            : graphss_i_tape_sparse_input(t, &input->sparse, w, dropout);
    const graphss_i_pair m = {&input->p->m, graphss_i_propagation_transposed(input->p)};
    for (size_t h = 0; h < input->hops; h++)
        y = graphss_i_tape_spmm(t, m, y);
    return y;
}
