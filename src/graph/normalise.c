/* normalise.c - from a graph to D^-1/2 A D^-1/2 or D^-1 A, with or without loops. The
 * pattern is symmetric, so a transpose needs other values but no other indices. */
#include "graph/normalise.h"
#include "base/base.h"
#include "graph/part.h"
#include <graphss/graph.h>
#include <math.h>
#include <string.h>

/* Whether node a stands before b: in a part of a graph they go by their global numbers. */
static bool precedes(const graphss_i_part *part, int32_t a, int32_t b)
{
    return part ? part->id[a] < part->id[b] : a < b;
}

/* Copies the neighbours of i to position e, with i itself inserted if self-loops are wanted;
 * returns the position after them. part: or NULL. */
static int64_t put_row(int32_t *column, int64_t e, const graphss_graph *g, size_t i,
    bool loops, const graphss_i_part *part)
{
    bool placed = !loops;
    for (int64_t s = g->offset[i]; s < g->offset[i + 1]; s++) {
        if (!placed && precedes(part, (int32_t)i, g->target[s])) {
            column[e++] = (int32_t)i;
            placed = true;
        }
        column[e++] = g->target[s];
    }
    if (!placed)
        column[e++] = (int32_t)i;
    return e;
}

/* Rows of A + I. */
static void pattern_with_loops(
    int64_t *offset, int32_t *column, const graphss_graph *g, const graphss_i_part *part)
{
    offset[0] = 0;
    for (size_t i = 0; i < g->n_nodes; i++)
        offset[i + 1] = put_row(column, offset[i], g, i, true, part);
}

/* symmetric: (d_i d_j)^-1/2; else 1 / d_i */
static float weight_of(double di, double dj, bool symmetric)
{
    return (float)(symmetric ? 1 / sqrt(di * dj) : 1 / di);
}

/* Entries of the row of column j. */
static double degree_of(const graphss_i_csr *m, size_t j, bool loops)
{
    if (j >= m->n_rows)
        return m->part->ghost_degree[j - m->n_rows] + loops;
    return (double)(m->offset[j + 1] - m->offset[j]);
}

/* value as above, of the transpose of a row norm 1 / d_j */
static void fill_values(
    float *value, float *transposed, const graphss_i_csr *m, bool symmetric, bool loops)
{
    const int64_t *offset = m->offset;
    for (size_t i = 0; i < m->n_rows; i++) {
        const double di = (double)(offset[i + 1] - offset[i]);
        for (int64_t e = offset[i]; e < offset[i + 1]; e++) {
            const size_t j = (size_t)m->column[e];
            const double dj = degree_of(m, j, loops);
            value[e] = weight_of(di, dj, symmetric);
            if (transposed)
                transposed[e] = (float)(1 / dj);
        }
    }
}

/* place[e] = the entry (j, i) of a symmetric pattern, for its entry e = (i, j). Walking the
 * rows in order visits the entries of each column in order. next [n_rows]: scratch. */
static void find_places(int64_t *place, int64_t *next, const graphss_i_csr *m)
{
    memcpy(next, m->offset, m->n_rows * sizeof *next);
    for (int64_t e = 0; e < m->offset[m->n_rows]; e++)
        place[e] = next[m->column[e]]++;
}

static graphss_status make_places(graphss_ctx *ctx, graphss_i_propagation *p)
{
    const size_t n = p->m.n_rows;
    int64_t *next = graphss_i_alloc(ctx, n, sizeof *next);
    p->place = graphss_i_alloc(ctx, (size_t)p->m.offset[n], sizeof *p->place);
    if (next && p->place)
        find_places(p->place, next, &p->m);
    graphss_release(ctx, next);
    return next && p->place ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

graphss_status graphss_i_propagation_make(graphss_ctx *ctx, graphss_i_propagation *out,
    const graphss_graph *graph, graphss_i_norm norm, bool loops)
{
    graphss_i_propagation p = {.norm = norm};
    const size_t n = graph->n_nodes;
    const size_t nnz = (size_t)graph->offset[n] + (loops ? n : 0);
    p.m.n_rows = p.m.n_cols = n;
    p.m.part = graphss_i_ranks(ctx) > 1 ? graphss_i_ctx_part(ctx) : NULL;
    if (norm == GRAPHSS_I_NORM_NONE) {
        *out = p;
        return GRAPHSS_OK;
    }
    if (loops) {
        p.m.offset = graphss_i_alloc(ctx, n + 1, sizeof *p.m.offset);
        p.m.column = graphss_i_alloc(ctx, nnz, sizeof *p.m.column);
        if (p.m.offset && p.m.column)
            pattern_with_loops(p.m.offset, p.m.column, graph, p.m.part);
    } else {
        p.m.offset = graph->offset;
        p.m.column = graph->target;
        p.m.borrowed = true;
    }
    if (norm == GRAPHSS_I_NORM_LEARNED) {
        const graphss_status st =
            p.m.offset && p.m.column ? make_places(ctx, &p) : GRAPHSS_ERR_NOMEM;
        if (st)
            graphss_i_propagation_destroy(ctx, &p);
        else
            *out = p;
        return st;
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
    fill_values(p.m.value, p.transposed.value, &p.m, norm == GRAPHSS_I_NORM_SYMMETRIC, loops);
    *out = p;
    return GRAPHSS_OK;
}

graphss_status graphss_i_propagation_rows(graphss_ctx *ctx, graphss_i_csr *out,
    const graphss_graph *g, graphss_i_norm norm, bool loops, const int32_t *row, size_t n_rows)
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
    m.offset[0] = 0;
    for (size_t r = 0; r < n_rows; r++) {
        const size_t i = (size_t)row[r];
        const double di = (double)(graphss_graph_degree(g, i) + loops);
        m.offset[r + 1] = put_row(m.column, m.offset[r], g, i, loops, NULL);
        for (int64_t e = m.offset[r]; e < m.offset[r + 1]; e++) {
            const size_t j = (size_t)m.column[e];
            m.value[e] =
                weight_of(di, (double)(graphss_graph_degree(g, j) + loops), symmetric);
        }
    }
    *out = m;
    return GRAPHSS_OK;
}

void graphss_i_propagation_destroy(graphss_ctx *ctx, graphss_i_propagation *p)
{
    graphss_i_csr_destroy(ctx, &p->transposed);
    graphss_i_csr_destroy(ctx, &p->m);
    graphss_release(ctx, p->place);
    *p = (graphss_i_propagation){0};
}

const graphss_i_csr *graphss_i_propagation_transposed(const graphss_i_propagation *p)
{
    return p->norm == GRAPHSS_I_NORM_ROW ? &p->transposed : &p->m;
}

/* Features with each row divided by its sum, as the paper's code has it
 * before an attack. Training (src/models/input.c) divides by the sum of absolute values, which
 * is the same for words and counts. */

graphss_status graphss_features_normalise_rows(
    graphss_ctx *ctx, graphss_features *out, const graphss_features *features)
{
    if (GRAPHSS_I_LACKS(ctx, {"features", features}, {"place for the features", out}))
        return GRAPHSS_ERR_INVALID;
    graphss_features made = {0};
    const graphss_status st = graphss_features_copy(ctx, &made, features);
    if (st)
        return st;
    for (size_t i = 0; i < made.n_rows && made.n_cols; i++) {
        const size_t from = made.offset ? (size_t)made.offset[i] : i * made.n_cols;
        const size_t to = made.offset ? (size_t)made.offset[i + 1] : from + made.n_cols;
        double sum = 0;
        for (size_t e = from; e < to; e++)
            sum += made.value[e];
        /* Not divided again: the rounding would change rows that are divided already. */
        if (sum == 0 || fabs(sum - 1) < 1e-5)
            continue;
        for (size_t e = from; e < to; e++)
            made.value[e] = (float)(made.value[e] / sum);
    }
    if (made.kind == GRAPHSS_FEATURES_BINARY || made.kind == GRAPHSS_FEATURES_COUNTS)
        made.kind = GRAPHSS_FEATURES_REAL;
    *out = made;
    return GRAPHSS_OK;
}
