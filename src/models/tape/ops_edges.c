/* ops_edges.c - the matrix a graph model propagates with, of edges whose weights are learnt.
 */
#include "models/tape/tape_private.h"
#include <math.h>

enum { ROWS = 1024 }; /* a task */

typedef struct edges {
    const graphss_i_node *node;
    const float *edge;
    float *out;
    float *root, *pull; /* [N] each */
} edges;

static edges edges_of(const graphss_i_tape *t, const graphss_i_node *node, float *out)
{
    float *root = node->scratch;
    return (edges){node, t->node[node->in[0]].value, out, root, root + node->m->n_rows};
}

/* ---- p_ij = r_i r_j e_ij,  r_i = d_i^-1/2, d_i = sum_j e_ij; 0 where d_i is not positive */

static void root_range(void *arg, size_t from, size_t to)
{
    const edges *x = arg;
    const graphss_i_csr *m = x->node->m;
    for (size_t i = from; i < to; i++) {
        double degree = 0;
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
            degree += x->edge[e];
        x->root[i] = degree > 0 ? (float)(1 / sqrt(degree)) : 0;
    }
}

static void normalise_range(void *arg, size_t from, size_t to)
{
    const edges *x = arg;
    const graphss_i_csr *m = x->node->m;
    for (size_t i = from; i < to; i++)
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
            x->out[e] = x->root[i] * x->root[m->column[e]] * x->edge[e];
}

static void normalise_forward(graphss_i_tape *t, graphss_i_node *node)
{
    edges x = edges_of(t, node, node->value);
    graphss_i_tape_ranges(t, node->m->n_rows, ROWS, root_range, &x);
    graphss_i_tape_ranges(t, node->m->n_rows, ROWS, normalise_range, &x);
}

/* dd_i = -r_i^2 / 2 (sum_k dp_ik p_ik + sum_k dp_ki p_ki) */
static void pull_range(void *arg, size_t from, size_t to)
{
    const edges *x = arg;
    const graphss_i_node *node = x->node;
    const float *grad = node->grad, *p = node->value;
    for (size_t i = from; i < to; i++) {
        double sum = 0;
        for (int64_t e = node->m->offset[i]; e < node->m->offset[i + 1]; e++)
            sum += (double)grad[e] * p[e];
        for (int64_t b = node->transposed->offset[i]; b < node->transposed->offset[i + 1]; b++)
            sum += (double)grad[node->transposed_at[b]] * p[node->transposed_at[b]];
        x->pull[i] = (float)(-0.5 * x->root[i] * x->root[i] * sum);
    }
}

/* de_ij = r_i r_j dp_ij + dd_i */
static void normalise_back_range(void *arg, size_t from, size_t to)
{
    const edges *x = arg;
    const graphss_i_csr *m = x->node->m;
    const float *grad = x->node->grad;
    for (size_t i = from; i < to; i++)
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
            x->out[e] = x->root[i] * x->root[m->column[e]] * grad[e] + x->pull[i];
}

static void normalise_backward(
    graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    edges x = edges_of(t, node, gin[0]);
    graphss_i_tape_ranges(t, node->m->n_rows, ROWS, pull_range, &x);
    graphss_i_tape_ranges(t, node->m->n_rows, ROWS, normalise_back_range, &x);
}

static const graphss_i_op normalise = {
    .forward = normalise_forward, .backward = normalise_backward, .needs_value = true};

graphss_i_var graphss_i_tape_normalise_edges(graphss_i_tape *t, const graphss_i_csr *m,
    const graphss_i_csr *transposed, const int64_t *transposed_at, graphss_i_var edge)
{
    const graphss_i_node *in = graphss_i_tape_node(t, edge);
    if (!in)
        return -1;
    const size_t nnz = (size_t)m->offset[m->n_rows];
    if (in->rows != nnz || in->cols != 1 || m->n_rows != m->n_cols)
        return graphss_i_tape_spoil(t,
            graphss_i_fail(t->ctx, GRAPHSS_ERR_INTERNAL,
                "normalised edges: %zu x %zu weights, want %zu x 1", in->rows, in->cols, nnz));
    graphss_i_node *node = graphss_i_tape_record(t, &normalise, edge, -1, nnz, 1);
    if (!node || !graphss_i_tape_scratch(t, node, 2 * m->n_rows, sizeof(float)))
        return -1;
    node->m = m;
    node->transposed = transposed;
    node->transposed_at = transposed_at;
    return graphss_i_tape_var(t, node);
}
