/* pairs.c - lists of nearest nodes become a graph (which drops what comes twice), a graph its
 * upper half. Rows of a pattern need not be ascending, so they are put one behind the other:
 * edges, the loop, pairs with smaller nodes, pairs with larger ones; each of the pairs comes
 * by twice, and that is how its two entries find each other. */
#include "models/tape/tape.h"
#include <string.h>

void graphss_i_pairs_destroy(graphss_ctx *ctx, graphss_i_pairs *p)
{
    graphss_i_csr_destroy(ctx, &p->m);
    graphss_i_csr_destroy(ctx, &p->transposed);
    graphss_release(ctx, p->transposed_at);
    *p = (graphss_i_pairs){0};
}

size_t graphss_i_pairs_count(const graphss_i_pairs *p)
{
    return p->m.offset ? (size_t)p->m.offset[p->m.n_rows] : 0;
}

/* Upper half, lower half, and the numbers of the lower half's pairs; next [n] is room. */
static void halve(graphss_i_pairs *p, int64_t *next, const graphss_graph *g)
{
    int64_t q = 0, back = 0;
    for (size_t i = 0; i < g->n_nodes; i++) {
        p->m.offset[i] = q;
        p->transposed.offset[i] = next[i] = back;
        for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++) {
            if (g->target[e] > (int32_t)i)
                p->m.column[q++] = g->target[e];
            else
                p->transposed.column[back++] = g->target[e];
        }
    }
    p->m.offset[g->n_nodes] = q;
    p->transposed.offset[g->n_nodes] = back;
    for (int64_t e = 0; e < q; e++) /* rows ascend, and so do the columns they fill */
        p->transposed_at[next[p->m.column[e]]++] = e;
}

graphss_status graphss_i_pairs_make(graphss_ctx *ctx, graphss_i_pairs *out, size_t n,
    const int32_t *from, size_t n_from, const int32_t *near, size_t each)
{
    graphss_i_pairs p = {
        .m = {.n_rows = n, .n_cols = n}, .transposed = {.n_rows = n, .n_cols = n}};
    graphss_graph g = {0};
    size_t m = 0, most;
    if (!graphss_i_mul(&most, n_from, each))
        return graphss_i_nomem(ctx, SIZE_MAX);
    int32_t *a = graphss_i_alloc(ctx, most, sizeof *a), *b = NULL;
    int64_t *next = NULL;
    graphss_status st = GRAPHSS_ERR_NOMEM;
    b = graphss_i_alloc(ctx, most, sizeof *b);
    if (!a || !b)
        goto done;
    for (size_t i = 0; i < n_from; i++)
        for (size_t k = 0; k < each && near[i * each + k] >= 0; k++) {
            a[m] = from[i];
            b[m++] = near[i * each + k];
        }
    st = graphss_graph_build(ctx, &g, NULL, n, a, b, m);
    if (st)
        goto done;
    const size_t pairs = graphss_graph_edges(&g);
    next = graphss_i_alloc(ctx, n, sizeof *next);
    p.transposed_at = graphss_i_alloc(ctx, pairs, sizeof *p.transposed_at);
    p.m.offset = graphss_i_alloc(ctx, n + 1, sizeof *p.m.offset);
    p.m.column = graphss_i_alloc(ctx, pairs, sizeof *p.m.column);
    p.transposed.offset = graphss_i_alloc(ctx, n + 1, sizeof *p.transposed.offset);
    p.transposed.column = graphss_i_alloc(ctx, pairs, sizeof *p.transposed.column);
    if (next && p.transposed_at && p.m.offset && p.m.column && p.transposed.offset &&
        p.transposed.column) {
        halve(&p, next, &g);
        *out = p;
        p = (graphss_i_pairs){0};
    } else {
        st = GRAPHSS_ERR_NOMEM;
    }
done:
    graphss_i_pairs_destroy(ctx, &p);
    graphss_graph_destroy(ctx, &g);
    graphss_release(ctx, next);
    graphss_release(ctx, a);
    graphss_release(ctx, b);
    return st;
}

void graphss_i_pattern_destroy(graphss_ctx *ctx, graphss_i_pair_pattern *p)
{
    graphss_i_csr_destroy(ctx, &p->m);
    graphss_release(ctx, p->transposed_at);
    graphss_release(ctx, p->source);
    graphss_release(ctx, p->entry);
    *p = (graphss_i_pair_pattern){0};
}

/* One entry of pair q: the first one found is recorded, the second is linked to it. */
static void put(graphss_i_pair_pattern *p, int64_t e, int32_t column, int64_t q)
{
    p->m.column[e] = column;
    p->source[e] = (int32_t)q;
    if (p->entry[q] < 0) {
        p->entry[q] = e;
        return;
    }
    p->transposed_at[e] = p->entry[q];
    p->transposed_at[p->entry[q]] = e;
}

static int64_t put_pairs(
    graphss_i_pair_pattern *p, int64_t e, size_t i, const graphss_i_pairs *x, int64_t first)
{
    for (int64_t f = x->transposed.offset[i]; f < x->transposed.offset[i + 1]; f++)
        put(p, e++, x->transposed.column[f], first + x->transposed_at[f]);
    for (int64_t f = x->m.offset[i]; f < x->m.offset[i + 1]; f++)
        put(p, e++, x->m.column[f], first + f);
    return e;
}

static void fill(graphss_i_pair_pattern *p, int64_t *next, const graphss_graph *g,
    const graphss_i_pairs *a, const graphss_i_pairs *b)
{
    int64_t e = 0;
    for (size_t q = 0; q < p->n_pairs; q++)
        p->entry[q] = -1;
    for (size_t i = 0; i < g->n_nodes; i++) {
        p->m.offset[i] = next[i] = e;
        for (int64_t f = g->offset[i]; f < g->offset[i + 1]; f++) {
            p->m.column[e] = g->target[f];
            p->source[e++] = -1;
        }
        p->m.column[e] = (int32_t)i;
        p->source[e] = -1;
        p->transposed_at[e] = e;
        e = put_pairs(p, e + 1, i, a, 0);
        if (b)
            e = put_pairs(p, e, i, b, (int64_t)graphss_i_pairs_count(a));
    }
    p->m.offset[g->n_nodes] = e;
    /* Edges ascend in each row: those to j come from i in the order of row j. */
    for (size_t i = 0; i < g->n_nodes; i++)
        for (int64_t f = 0; f < g->offset[i + 1] - g->offset[i]; f++)
            p->transposed_at[p->m.offset[i] + f] = next[g->target[g->offset[i] + f]]++;
}

graphss_status graphss_i_pattern_make(graphss_ctx *ctx, graphss_i_pair_pattern *out,
    const graphss_graph *graph, const graphss_i_pairs *a, const graphss_i_pairs *b)
{
    const size_t n = graph->n_nodes;
    graphss_i_pair_pattern p = {.m = {.n_rows = n, .n_cols = n}};
    p.n_pairs = graphss_i_pairs_count(a) + (b ? graphss_i_pairs_count(b) : 0);
    if (p.n_pairs > INT32_MAX)
        return graphss_i_fail(ctx, GRAPHSS_ERR_LIMIT, "%zu pairs of nodes, want at most %d",
            p.n_pairs, INT32_MAX);
    const size_t nnz = (size_t)graph->offset[n] + n + 2 * p.n_pairs;
    int64_t *next = graphss_i_alloc(ctx, n, sizeof *next);
    p.m.offset = graphss_i_alloc(ctx, n + 1, sizeof *p.m.offset);
    p.m.column = graphss_i_alloc(ctx, nnz, sizeof *p.m.column);
    p.transposed_at = graphss_i_alloc(ctx, nnz, sizeof *p.transposed_at);
    p.source = graphss_i_alloc(ctx, nnz, sizeof *p.source);
    p.entry = graphss_i_alloc(ctx, p.n_pairs, sizeof *p.entry);
    const bool enough =
        next && p.m.offset && p.m.column && p.transposed_at && p.source && p.entry;
    if (enough) {
        fill(&p, next, graph, a, b);
        *out = p;
    } else {
        graphss_i_pattern_destroy(ctx, &p);
    }
    graphss_release(ctx, next);
    return enough ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}
