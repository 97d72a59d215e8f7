#include "models/input.h"
#include <math.h>
#include <string.h>

/* How many multiply-adds GEMM does in the time of one of a sparse product; measured by
 * bench_kernels at widths 16 to 200. */
static const double gemm_advantage = 2.0;

/* Most memory the dense road may take where the features came sparse. */
static const size_t dense_limit = (size_t)1 << 30;

/* scale_i = 1 / sum_c |x[i][c]|, 1 for an empty row. -1, or the first row not finite */
static int64_t row_scales(float *scale, const graphss_features *f)
{
    for (size_t i = 0; i < f->n_rows; i++) {
        const size_t from = f->offset ? (size_t)f->offset[i] : i * f->n_cols;
        const size_t to = f->offset ? (size_t)f->offset[i + 1] : from + f->n_cols;
        double sum = 0;
        for (size_t e = from; e < to; e++)
            sum += fabsf(f->value[e]);
        if (!isfinite(sum))
            return (int64_t)i;
        scale[i] = sum > 0 ? (float)(1 / sum) : 1;
    }
    return -1;
}

static void scaled_entries(float *out, const graphss_features *f, const float *scale)
{
    for (size_t i = 0; i < f->n_rows; i++) {
        const size_t from = f->offset ? (size_t)f->offset[i] : i * f->n_cols;
        const size_t to = f->offset ? (size_t)f->offset[i + 1] : from + f->n_cols;
        for (size_t e = from; e < to; e++)
            out[e] = scale ? scale[i] * f->value[e] : f->value[e];
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
                                    size_t hops, bool row_normalise)
{
    graphss_i_input in = {.n_rows = f->n_rows, .n_cols = f->n_cols, .p = p};
    graphss_status st = GRAPHSS_OK;
    float *scale = NULL, *other = NULL;
    const size_t stored = graphss_features_stored(f);

    in.hops = p->norm == GRAPHSS_I_NORM_NONE ? 0 : hops;
    scale = graphss_i_alloc(ctx, f->n_rows, sizeof *scale);
    in.sparse.value = graphss_i_alloc(ctx, stored, sizeof *in.sparse.value);
    if (!scale || !in.sparse.value) {
        st = GRAPHSS_ERR_NOMEM;
        goto done;
    }
    const int64_t odd = row_scales(scale, f);
    if (odd >= 0) {
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                            "features of node %lld are not finite numbers", (long long)odd);
        goto done;
    }
    scaled_entries(in.sparse.value, f, row_normalise ? scale : NULL);
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
    graphss_release(ctx, scale);
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
