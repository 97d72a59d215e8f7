#include "models/input.h"
#include <math.h>
#include <string.h>

/* How many multiply-adds GEMM does in the time of one of a sparse product; measured by
 * bench_kernels at widths 16 to 200. */
static const double gemm_advantage = 2.0;

/* Most memory the dense road may take where the features came sparse. */
static const size_t dense_limit = (size_t)1 << 30;

typedef struct extent {
    size_t from, to;
} extent;

static extent row_entries(const graphss_features *f, size_t i)
{
    if (f->offset)
        return (extent){(size_t)f->offset[i], (size_t)f->offset[i + 1]};
    return (extent){i * f->n_cols, (i + 1) * f->n_cols};
}

static double row_sum(const graphss_features *f, size_t i)
{
    const extent row = row_entries(f, i);
    double sum = 0;
    for (size_t e = row.from; e < row.to; e++)
        sum += fabsf(f->value[e]);
    return sum;
}

double graphss_i_input_scale(const graphss_features *f, bool row_normalise)
{
    double total = 0;
    for (size_t i = 0; i < f->n_rows; i++) {
        const extent row = row_entries(f, i);
        double squares = 0;
        for (size_t e = row.from; e < row.to; e++)
            squares += (double)f->value[e] * f->value[e];
        const double sum = row_normalise ? row_sum(f, i) : 1;
        if (sum > 0)
            total += squares / (sum * sum);
    }
    return total > 0 && isfinite(total) ? sqrt((double)f->n_rows / total) : 1;
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

static void scaled_entries(float *out, const graphss_features *f, const float *factor)
{
    for (size_t i = 0; i < f->n_rows; i++) {
        const extent row = row_entries(f, i);
        for (size_t e = row.from; e < row.to; e++)
            out[e] = factor[i] * f->value[e];
    }
}

static void densify(float *out, const graphss_i_csr *x)
{
    memset(out, 0, x->n_rows * x->n_cols * sizeof *out);
    for (size_t i = 0; i < x->n_rows; i++)
        for (int64_t e = x->offset[i]; e < x->offset[i + 1]; e++)
            out[i * x->n_cols + (size_t)x->column[e]] = x->value[e];
}

static bool dense_is_cheaper(const graphss_features *f, const graphss_i_propagation *p,
                             size_t hops)
{
    if (!f->offset)
        return true;
    const double cells = (double)f->n_rows * (double)f->n_cols;
    const double stored = (double)f->offset[f->n_rows];
    const double edges =
        hops && p->norm != GRAPHSS_I_NORM_NONE ? (double)p->m.offset[p->m.n_rows] : 0;
    if (cells * sizeof(float) > (double)dense_limit)
        return false;
    return cells / gemm_advantage < stored + (double)hops * edges;
}

graphss_status graphss_i_input_make(graphss_ctx *ctx, graphss_i_input *out,
                                    const graphss_features *f, const graphss_i_propagation *p,
                                    size_t hops, bool row_normalise, double scale)
{
    graphss_i_input in = {.n_rows = f->n_rows, .n_cols = f->n_cols, .p = p};
    graphss_status st = GRAPHSS_OK;
    float *factor = NULL, *other = NULL;
    const size_t stored = graphss_features_stored(f);

    in.hops = p->norm == GRAPHSS_I_NORM_NONE ? 0 : hops;
    factor = graphss_i_alloc(ctx, f->n_rows, sizeof *factor);
    in.sparse.value = graphss_i_alloc(ctx, stored, sizeof *in.sparse.value);
    if (!factor || !in.sparse.value) {
        st = GRAPHSS_ERR_NOMEM;
        goto done;
    }
    const int64_t odd = row_factors(factor, f, row_normalise, scale);
    if (odd >= 0) {
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                            "features of node %lld are not finite numbers", (long long)odd);
        goto done;
    }
    scaled_entries(in.sparse.value, f, factor);
    in.sparse.n_rows = f->n_rows;
    in.sparse.n_cols = f->n_cols;
    in.sparse.offset = f->offset;
    in.sparse.column = f->column;
    in.sparse.borrowed = true;
    if (!dense_is_cheaper(f, p, in.hops))
        goto done;

    if (f->offset) {
        in.dense = graphss_i_alloc(ctx, f->n_rows * f->n_cols, sizeof *in.dense);
        if (!in.dense) {
            st = GRAPHSS_ERR_NOMEM;
            goto done;
        }
        densify(in.dense, &in.sparse);
        graphss_i_csr_destroy(ctx, &in.sparse);
    } else {
        in.dense = in.sparse.value;
        in.sparse = (graphss_i_csr){0};
    }
    /* P (P (... X)), the two matrices taking turns */
    for (size_t h = 0; h < in.hops; h++) {
        if (!other)
            other = graphss_i_alloc(ctx, f->n_rows * f->n_cols, sizeof *other);
        if (!other) {
            st = GRAPHSS_ERR_NOMEM;
            goto done;
        }
        graphss_i_spmm(ctx, other, &p->m, in.dense, f->n_cols);
        float *held = in.dense;
        in.dense = other;
        other = held;
    }
done:
    graphss_release(ctx, other);
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
    graphss_i_var y = graphss_i_tape_sparse_input(t, &input->sparse, w, dropout);
    const graphss_i_pair m = {&input->p->m, graphss_i_propagation_transposed(input->p)};
    for (size_t h = 0; h < input->hops; h++)
        y = graphss_i_tape_spmm(t, m, y);
    return y;
}
