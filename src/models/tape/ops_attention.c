/* ops_attention.c - operations of layers that weigh a node's neighbours (GAT) or treat the
 * node itself apart from them (GraphSAGE).
 *
 * Letters: N nodes, H heads, c columns of a head, e stored entries of the pattern. The columns
 * of one head stand side by side: head h has columns h c to h c + c - 1. */
#include "models/tape/tape_private.h"
#include <math.h>
#include <string.h>

enum { ROWS = 1024 }; /* a task */

static const float *value(const graphss_i_tape *t, const graphss_i_node *node, int input)
{
    return t->node[node->in[input]].value;
}

static graphss_i_var wrong_shape(
    graphss_i_tape *t, const char *what, size_t found, size_t wanted)
{
    return graphss_i_tape_spoil(t, graphss_i_fail(t->ctx, GRAPHSS_ERR_INTERNAL,
                                       "%s: %zu, want %zu", what, found, wanted));
}

/* What a task needs; node->n is H. */
typedef struct heads {
    const graphss_i_node *node;
    const float *a, *b; /* inputs */
    float *out, *more;
    size_t cols; /* of the input that has H c columns */
} heads;

/* ---- y[i][h] = x[i][h] . w[h], where x[i] and w are H vectors of length c ----
 *
 * dx[i][h] = dy[i][h] w[h];  dw[h] = sum_i dy[i][h] x[i][h], summed task by task. */

static void dots_range(void *arg, size_t from, size_t to)
{
    const heads *x = arg;
    const size_t n_heads = x->node->n, c = x->cols / n_heads;
    for (size_t i = from; i < to; i++)
        for (size_t h = 0; h < n_heads; h++) {
            const float *row = x->a + i * x->cols + h * c, *w = x->b + h * c;
            float sum = 0;
            for (size_t k = 0; k < c; k++)
                sum += row[k] * w[k];
            x->out[i * n_heads + h] = sum;
        }
}

static heads heads_of(const graphss_i_tape *t, const graphss_i_node *node, float *out)
{
    const size_t cols = t->node[node->in[0]].cols;
    return (heads){node, value(t, node, 0), node->in[1] < 0 ? NULL : value(t, node, 1), out,
        node->scratch, cols};
}

static void dots_forward(graphss_i_tape *t, graphss_i_node *node)
{
    heads x = heads_of(t, node, node->value);
    graphss_i_tape_ranges(t, node->rows, ROWS, dots_range, &x);
}

static void dots_back_range(void *arg, size_t from, size_t to)
{
    const heads *x = arg;
    const size_t n_heads = x->node->n, c = x->cols / n_heads;
    for (size_t i = from; i < to; i++)
        for (size_t j = 0; j < x->cols; j++)
            x->out[i * x->cols + j] = x->node->grad[i * n_heads + j / c] * x->b[j];
}

static void dots_sum_range(void *arg, size_t from, size_t to)
{
    const heads *x = arg;
    const size_t n_heads = x->node->n, c = x->cols / n_heads;
    float *sum = x->more + from / ROWS * x->cols;
    memset(sum, 0, x->cols * sizeof *sum);
    for (size_t i = from; i < to; i++)
        for (size_t h = 0; h < n_heads; h++) {
            const float dy = x->node->grad[i * n_heads + h];
            for (size_t j = h * c; j < (h + 1) * c; j++)
                sum[j] += dy * x->a[i * x->cols + j];
        }
}

static void dots_backward(graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    heads x = heads_of(t, node, gin[0]);
    if (gin[0])
        graphss_i_tape_ranges(t, node->rows, ROWS, dots_back_range, &x);
    if (!gin[1])
        return;
    graphss_i_tape_ranges(t, node->rows, ROWS, dots_sum_range, &x);
    for (size_t j = 0; j < x.cols; j++) {
        double sum = 0;
        for (size_t task = 0; task * ROWS < node->rows; task++)
            sum += x.more[task * x.cols + j];
        gin[1][j] = (float)sum;
    }
}

static const graphss_i_op dots = {
    .forward = dots_forward, .backward = dots_backward, .needs_input = {true, true}};

graphss_i_var graphss_i_tape_head_dots(
    graphss_i_tape *t, graphss_i_var x, graphss_i_var w, size_t n_heads)
{
    const graphss_i_node *in = graphss_i_tape_node(t, x), *by = graphss_i_tape_node(t, w);
    if (!in || !by)
        return -1;
    const size_t rows = in->rows, cols = in->cols;
    if (by->rows != 1 || by->cols != cols)
        return wrong_shape(t, "vectors of heads", by->cols, cols);
    if (n_heads == 0 || cols % n_heads)
        return wrong_shape(t, "columns of heads", cols, n_heads);
    graphss_i_node *node = graphss_i_tape_record(t, &dots, x, w, rows, n_heads);
    if (!node ||
        !graphss_i_tape_scratch(t, node, (rows + ROWS - 1) / ROWS, cols * sizeof(float)))
        return -1;
    node->n = n_heads;
    return graphss_i_tape_var(t, node);
}

/* ---- a_ij[h] = exp(z_ij[h]) / sum_k exp(z_ik[h]),  z_ij = leaky(to_i + from_j) ----
 *
 * dz_ij = a_ij (da_ij - sum_k a_ik da_ik) leaky'(z_ij);  dto_i = sum_j dz_ij;
 * dfrom_j = sum_i dz_ij. leaky(x) = x where x > 0, else slope x. */

static float leaky(float x, float slope)
{
    return x > 0 ? x : slope * x;
}

static void attention_range(void *arg, size_t from, size_t to)
{
    const heads *x = arg;
    const graphss_i_csr *m = x->node->m;
    const size_t n_heads = x->node->n;
    const float slope = x->node->factor;
    for (size_t i = from; i < to; i++)
        for (size_t h = 0; h < n_heads; h++) {
            float top = -INFINITY, sum = 0;
            for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++) {
                const size_t j = (size_t)m->column[e];
                const float z = leaky(x->a[i * n_heads + h] + x->b[j * n_heads + h], slope);
                x->out[(size_t)e * n_heads + h] = z;
                top = z > top ? z : top;
            }
            for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++) {
                float *a = &x->out[(size_t)e * n_heads + h];
                *a = expf(*a - top);
                sum += *a;
            }
            for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
                x->out[(size_t)e * n_heads + h] /= sum;
        }
}

static void attention_forward(graphss_i_tape *t, graphss_i_node *node)
{
    heads x = heads_of(t, node, node->value);
    graphss_i_tape_ranges(t, node->m->n_rows, ROWS, attention_range, &x);
}

/* dz into more, and its sum over each row into out */
static void attention_back_range(void *arg, size_t from, size_t to)
{
    const heads *x = arg;
    const graphss_i_csr *m = x->node->m;
    const float *a = x->node->value, *da = x->node->grad;
    const size_t n_heads = x->node->n;
    for (size_t i = from; i < to; i++)
        for (size_t h = 0; h < n_heads; h++) {
            float mean = 0, sum = 0;
            for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
                mean += a[(size_t)e * n_heads + h] * da[(size_t)e * n_heads + h];
            for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++) {
                const size_t at = (size_t)e * n_heads + h, j = (size_t)m->column[e];
                const bool up = x->a[i * n_heads + h] + x->b[j * n_heads + h] > 0;
                x->more[at] = a[at] * (da[at] - mean) * (up ? 1 : x->node->factor);
                sum += x->more[at];
            }
            if (x->out)
                x->out[i * n_heads + h] = sum;
        }
}

static void attention_gather(void *arg, size_t from, size_t to)
{
    const heads *x = arg;
    const graphss_i_csr *back = x->node->transposed;
    const size_t n_heads = x->node->n;
    for (size_t j = from; j < to; j++)
        for (size_t h = 0; h < n_heads; h++) {
            float sum = 0;
            for (int64_t e = back->offset[j]; e < back->offset[j + 1]; e++)
                sum += x->more[(size_t)x->node->transposed_at[e] * n_heads + h];
            x->out[j * n_heads + h] = sum;
        }
}

static void attention_backward(
    graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    heads x = heads_of(t, node, gin[0]);
    graphss_i_tape_ranges(t, node->m->n_rows, ROWS, attention_back_range, &x);
    x.out = gin[1];
    if (gin[1])
        graphss_i_tape_ranges(t, node->m->n_cols, ROWS, attention_gather, &x);
}

static const graphss_i_op attention = {.forward = attention_forward,
    .backward = attention_backward,
    .needs_input = {true, true},
    .needs_value = true};

graphss_i_var graphss_i_tape_attention(graphss_i_tape *t, const graphss_i_csr *m,
    const graphss_i_csr *transposed, const int64_t *transposed_at, graphss_i_var to,
    graphss_i_var from, double slope)
{
    const graphss_i_node *a = graphss_i_tape_node(t, to), *b = graphss_i_tape_node(t, from);
    if (!a || !b)
        return -1;
    const size_t nnz = (size_t)m->offset[m->n_rows], n_heads = a->cols;
    if (a->rows != m->n_rows || b->rows != m->n_cols)
        return wrong_shape(t, "rows of attention", a->rows, m->n_rows);
    if (b->cols != n_heads)
        return wrong_shape(t, "heads of attention", b->cols, n_heads);
    const bool learns = a->needs_grad || b->needs_grad;
    graphss_i_node *node = graphss_i_tape_record(t, &attention, to, from, nnz, n_heads);
    if (!node || (learns && !graphss_i_tape_scratch(t, node, nnz, n_heads * sizeof(float))))
        return -1;
    node->m = m;
    node->transposed = transposed;
    node->transposed_at = transposed_at;
    node->n = n_heads;
    node->factor = (float)slope;
    return graphss_i_tape_var(t, node);
}

/* ---- y[i][h] = sum_j a_ij[h] x[j][h] ----
 *
 * da_ij[h] = dy[i][h] . x[j][h];  dx[j][h] = sum_i a_ij[h] dy[i][h]. Inputs: a, x. */

static void gather_range(void *arg, size_t from, size_t to)
{
    const heads *x = arg;
    const graphss_i_csr *m = x->node->m;
    const size_t n_heads = x->node->n, cols = x->node->cols, c = cols / n_heads;
    for (size_t i = from; i < to; i++) {
        float *out = x->out + i * cols;
        memset(out, 0, cols * sizeof *out);
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++) {
            const float *row = x->b + (size_t)m->column[e] * cols;
            for (size_t h = 0; h < n_heads; h++) {
                const float a = x->a[(size_t)e * n_heads + h];
                for (size_t k = h * c; k < (h + 1) * c; k++)
                    out[k] += a * row[k];
            }
        }
    }
}

static void spmm_heads_forward(graphss_i_tape *t, graphss_i_node *node)
{
    heads x = heads_of(t, node, node->value);
    graphss_i_tape_ranges(t, node->rows, ROWS, gather_range, &x);
}

static void edge_dots_range(void *arg, size_t from, size_t to)
{
    const heads *x = arg;
    const graphss_i_csr *m = x->node->m;
    const size_t n_heads = x->node->n, cols = x->node->cols, c = cols / n_heads;
    for (size_t i = from; i < to; i++)
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
            for (size_t h = 0; h < n_heads; h++) {
                const float *dy = x->node->grad + i * cols + h * c;
                const float *row = x->b + (size_t)m->column[e] * cols + h * c;
                float sum = 0;
                for (size_t k = 0; k < c; k++)
                    sum += dy[k] * row[k];
                x->out[(size_t)e * n_heads + h] = sum;
            }
}

static void gather_back_range(void *arg, size_t from, size_t to)
{
    const heads *x = arg;
    const graphss_i_csr *back = x->node->transposed;
    const size_t n_heads = x->node->n, cols = x->node->cols, c = cols / n_heads;
    for (size_t j = from; j < to; j++) {
        float *out = x->out + j * cols;
        memset(out, 0, cols * sizeof *out);
        for (int64_t e = back->offset[j]; e < back->offset[j + 1]; e++) {
            const float *dy = x->node->grad + (size_t)back->column[e] * cols;
            for (size_t h = 0; h < n_heads; h++) {
                const float a = x->a[(size_t)x->node->transposed_at[e] * n_heads + h];
                for (size_t k = h * c; k < (h + 1) * c; k++)
                    out[k] += a * dy[k];
            }
        }
    }
}

static void spmm_heads_backward(
    graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    heads x = heads_of(t, node, gin[0]);
    if (gin[0])
        graphss_i_tape_ranges(t, node->m->n_rows, ROWS, edge_dots_range, &x);
    x.out = gin[1];
    if (gin[1])
        graphss_i_tape_ranges(t, node->m->n_cols, ROWS, gather_back_range, &x);
}

static const graphss_i_op spmm_heads = {.forward = spmm_heads_forward,
    .backward = spmm_heads_backward,
    .needs_input = {true, true}};

graphss_i_var graphss_i_tape_spmm_heads(graphss_i_tape *t, const graphss_i_csr *m,
    const graphss_i_csr *transposed, const int64_t *transposed_at, graphss_i_var edge,
    graphss_i_var x)
{
    const graphss_i_node *a = graphss_i_tape_node(t, edge), *in = graphss_i_tape_node(t, x);
    if (!a || !in)
        return -1;
    const size_t nnz = (size_t)m->offset[m->n_rows], n_heads = a->cols, cols = in->cols;
    if (in->rows != m->n_cols)
        return wrong_shape(t, "product with heads", in->rows, m->n_cols);
    if (a->rows != nnz || n_heads == 0 || cols % n_heads)
        return wrong_shape(t, "edge values of heads", a->rows, nnz);
    graphss_i_node *node = graphss_i_tape_record(t, &spmm_heads, edge, x, m->n_rows, cols);
    if (!node)
        return -1;
    node->m = m;
    node->transposed = transposed;
    node->transposed_at = transposed_at;
    node->n = n_heads;
    return graphss_i_tape_var(t, node);
}

/* ---- y[i] = 1/H sum_h x[i][h];  dx[i][h] = dy[i] / H ---- */

static void mean_range(void *arg, size_t from, size_t to)
{
    const heads *x = arg;
    const size_t n_heads = x->node->n, c = x->node->cols;
    for (size_t i = from; i < to; i++)
        for (size_t k = 0; k < c; k++) {
            float sum = 0;
            for (size_t h = 0; h < n_heads; h++)
                sum += x->a[i * x->cols + h * c + k];
            x->out[i * c + k] = sum * x->node->factor;
        }
}

static void mean_forward(graphss_i_tape *t, graphss_i_node *node)
{
    heads x = heads_of(t, node, node->value);
    graphss_i_tape_ranges(t, node->rows, ROWS, mean_range, &x);
}

static void mean_back_range(void *arg, size_t from, size_t to)
{
    const heads *x = arg;
    const size_t c = x->node->cols;
    for (size_t i = from; i < to; i++)
        for (size_t j = 0; j < x->cols; j++)
            x->out[i * x->cols + j] = x->node->grad[i * c + j % c] * x->node->factor;
}

static void mean_backward(graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    heads x = heads_of(t, node, gin[0]);
    graphss_i_tape_ranges(t, node->rows, ROWS, mean_back_range, &x);
}

static const graphss_i_op mean = {.forward = mean_forward, .backward = mean_backward};

graphss_i_var graphss_i_tape_mean_heads(graphss_i_tape *t, graphss_i_var x, size_t n_heads)
{
    const graphss_i_node *in = graphss_i_tape_node(t, x);
    if (!in || n_heads == 1)
        return x;
    if (n_heads == 0 || in->cols % n_heads)
        return wrong_shape(t, "columns of heads", in->cols, n_heads);
    graphss_i_node *node =
        graphss_i_tape_record(t, &mean, x, -1, in->rows, in->cols / n_heads);
    if (node) {
        node->n = n_heads;
        node->factor = (float)(1 / (double)n_heads);
    }
    return graphss_i_tape_var(t, node);
}

/* ---- y = M l + r, where x = [l | r];  dx = [M^T dy | dy] ---- */

static void take_left(void *arg, size_t from, size_t to)
{
    const heads *x = arg;
    const size_t c = x->node->cols;
    for (size_t i = from; i < to; i++)
        memcpy(x->more + i * c, x->a + i * 2 * c, c * sizeof *x->more);
}

static void add_right(void *arg, size_t from, size_t to)
{
    const heads *x = arg;
    const size_t c = x->node->cols;
    for (size_t i = from; i < to; i++)
        for (size_t k = 0; k < c; k++)
            x->out[i * c + k] += x->a[i * 2 * c + c + k];
}

static void beside_forward(graphss_i_tape *t, graphss_i_node *node)
{
    heads x = heads_of(t, node, node->value);
    graphss_i_tape_ranges(t, node->m->n_cols, ROWS, take_left, &x);
    graphss_i_spmm(t->ctx, node->value, node->m, node->scratch, node->cols);
    graphss_i_tape_ranges(t, node->rows, ROWS, add_right, &x);
}

static void put_halves(void *arg, size_t from, size_t to)
{
    const heads *x = arg;
    const size_t c = x->node->cols;
    for (size_t i = from; i < to; i++) {
        memcpy(x->out + i * 2 * c, x->more + i * c, c * sizeof *x->out);
        memcpy(x->out + i * 2 * c + c, x->node->grad + i * c, c * sizeof *x->out);
    }
}

static void beside_backward(graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    heads x = heads_of(t, node, gin[0]);
    graphss_i_spmm(t->ctx, node->scratch, node->transposed, node->grad, node->cols);
    graphss_i_tape_ranges(t, node->rows, ROWS, put_halves, &x);
}

static const graphss_i_op beside = {.forward = beside_forward, .backward = beside_backward};

graphss_i_var graphss_i_tape_spmm_beside(graphss_i_tape *t, graphss_i_pair m, graphss_i_var x)
{
    const graphss_i_node *in = graphss_i_tape_node(t, x);
    if (!in)
        return -1;
    if (in->rows != m.m->n_cols || m.m->n_rows != m.m->n_cols)
        return wrong_shape(t, "rows beside their neighbours", in->rows, m.m->n_cols);
    if (in->cols % 2)
        return wrong_shape(t, "columns of two halves", in->cols, in->cols + 1);
    const size_t rows = in->rows, cols = in->cols / 2;
    graphss_i_node *node = graphss_i_tape_record(t, &beside, x, -1, rows, cols);
    if (!node || !graphss_i_tape_scratch(t, node, rows, cols * sizeof(float)))
        return -1;
    node->m = m.m;
    node->transposed = m.transposed;
    return graphss_i_tape_var(t, node);
}
