/* normalise.c - from a graph to D^-1/2 A D^-1/2 or D^-1 A, with or without loops. The
 * pattern is symmetric, so a transpose needs other values but no other indices. */
#include "graph/normalise.h"
#include <math.h>

/* Rows of A + I: each neighbour list with i put in its place. */
static void pattern_with_loops(int64_t *offset, int32_t *column, const graphss_graph *g)
{
    int64_t e = 0;
    for (size_t i = 0; i < g->n_nodes; i++) {
        bool placed = false;
        offset[i] = e;
        for (int64_t s = g->offset[i]; s < g->offset[i + 1]; s++) {
            if (!placed && g->target[s] > (int32_t)i) {
                column[e++] = (int32_t)i;
                placed = true;
            }
            column[e++] = g->target[s];
        }
        if (!placed)
            column[e++] = (int32_t)i;
    }
    offset[g->n_nodes] = e;
}

/* symmetric: value = (d_i d_j)^-1/2.  row: value = 1 / d_i, its transpose 1 / d_j */
static void fill_values(float *value, float *transposed, const graphss_i_csr *m,
                        bool symmetric)
{
    const int64_t *offset = m->offset;
    for (size_t i = 0; i < m->n_rows; i++) {
        const double di = (double)(offset[i + 1] - offset[i]);
        for (int64_t e = offset[i]; e < offset[i + 1]; e++) {
            const size_t j = (size_t)m->column[e];
            const double dj = (double)(offset[j + 1] - offset[j]);
            value[e] = (float)(symmetric ? 1 / sqrt(di * dj) : 1 / di);
            if (transposed)
                transposed[e] = (float)(1 / dj);
        }
    }
}

graphss_status graphss_i_propagation_make(graphss_ctx *ctx, graphss_i_propagation *out,
                                          const graphss_graph *graph, graphss_i_norm norm,
                                          bool loops)
{
    graphss_i_propagation p = {.norm = norm};
    const size_t n = graph->n_nodes;
    const size_t nnz = (size_t)graph->offset[n] + (loops ? n : 0);
    p.m.n_rows = p.m.n_cols = n;
    if (norm == GRAPHSS_I_NORM_NONE) {
        *out = p;
        return GRAPHSS_OK;
    }
    if (loops) {
        p.m.offset = graphss_i_alloc(ctx, n + 1, sizeof *p.m.offset);
        p.m.column = graphss_i_alloc(ctx, nnz, sizeof *p.m.column);
        if (p.m.offset && p.m.column)
            pattern_with_loops(p.m.offset, p.m.column, graph);
    } else {
        p.m.offset = graph->offset;
        p.m.column = graph->target;
        p.m.borrowed = true;
    }
    p.m.value = graphss_i_alloc(ctx, nnz, sizeof *p.m.value);
    if (norm == GRAPHSS_I_NORM_ROW) {
        p.transposed = p.m;
        p.transposed.borrowed = true;
        p.transposed.value = graphss_i_alloc(ctx, nnz, sizeof *p.m.value);
    }
    if (!p.m.offset || !p.m.column || !p.m.value ||
        (norm == GRAPHSS_I_NORM_ROW && !p.transposed.value)) {
        graphss_i_propagation_destroy(ctx, &p);
        return GRAPHSS_ERR_NOMEM;
    }
    fill_values(p.m.value, p.transposed.value, &p.m, norm == GRAPHSS_I_NORM_SYMMETRIC);
    *out = p;
    return GRAPHSS_OK;
}

/* value = (d_i d_j)^-1/2 or 1 / d_i */
static float weight_of(const graphss_graph *g, size_t i, size_t j, bool symmetric, bool loops)
{
    const double di = (double)(graphss_graph_degree(g, i) + loops);
    const double dj = (double)(graphss_graph_degree(g, j) + loops);
    return (float)(symmetric ? 1 / sqrt(di * dj) : 1 / di);
}

graphss_status graphss_i_propagation_rows(graphss_ctx *ctx, graphss_i_csr *out,
                                          const graphss_graph *g, graphss_i_norm norm,
                                          bool loops, const int32_t *row, size_t n_rows)
{
    const bool symmetric = norm == GRAPHSS_I_NORM_SYMMETRIC;
    size_t nnz = 0;
    for (size_t r = 0; r < n_rows; r++)
        nnz += graphss_graph_degree(g, (size_t)row[r]) + loops;
    graphss_i_csr m = {.n_rows = n_rows, .n_cols = g->n_nodes};
    m.offset = graphss_i_alloc(ctx, n_rows + 1, sizeof *m.offset);
    m.column = graphss_i_alloc(ctx, nnz, sizeof *m.column);
    m.value = graphss_i_alloc(ctx, nnz, sizeof *m.value);
    if (!m.offset || !m.column || !m.value) {
        graphss_i_csr_destroy(ctx, &m);
        return GRAPHSS_ERR_NOMEM;
    }
    int64_t e = 0;
    for (size_t r = 0; r < n_rows; r++) {
        const size_t i = (size_t)row[r];
        bool placed = !loops;
        m.offset[r] = e;
        for (int64_t s = g->offset[i]; s < g->offset[i + 1]; s++) {
            if (!placed && g->target[s] > row[r]) {
                m.column[e++] = row[r];
                placed = true;
            }
            m.column[e++] = g->target[s];
        }
        if (!placed)
            m.column[e++] = row[r];
        for (int64_t s = m.offset[r]; s < e; s++)
            m.value[s] = weight_of(g, i, (size_t)m.column[s], symmetric, loops);
    }
    m.offset[n_rows] = e;
    *out = m;
    return GRAPHSS_OK;
}

void graphss_i_propagation_destroy(graphss_ctx *ctx, graphss_i_propagation *p)
{
    graphss_i_csr_destroy(ctx, &p->transposed);
    graphss_i_csr_destroy(ctx, &p->m);
    *p = (graphss_i_propagation){0};
}

const graphss_i_csr *graphss_i_propagation_transposed(const graphss_i_propagation *p)
{
    return p->norm == GRAPHSS_I_NORM_ROW ? &p->transposed : &p->m;
}
