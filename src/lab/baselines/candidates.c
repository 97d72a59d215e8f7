/* candidates.c - edges, alike nodes (nearest.c) and near nodes are listed as pairs, of which
 * a graph is built: doubles go there. No N x N matrix is ever there. */
#include "lab/baselines/candidates.h"
#include "lab/baselines/nearest.h"
#include <string.h>

typedef struct search {
    size_t n, near;     /* nodes; near nodes wanted of each */
    float *best;        /* [near] descending */
    int32_t *node;      /* [near] */
    int32_t *from, *to; /* [edges + n (alike + near)] */
    size_t pairs;
} search;

static void search_destroy(graphss_ctx *ctx, search *s)
{
    graphss_release(ctx, s->best);
    graphss_release(ctx, s->node);
    graphss_release(ctx, s->from);
    graphss_release(ctx, s->to);
}

static void add_pair(search *s, size_t from, int32_t to)
{
    s->from[s->pairs] = (int32_t)from;
    s->to[s->pairs++] = to;
}

static graphss_status search_make(graphss_ctx *ctx, search *s, const graphss_graph *graph,
                                  size_t alike, size_t near)
{
    size_t most, edges = (size_t)graph->offset[graph->n_nodes];
    s->n = graph->n_nodes;
    s->near = near;
    if (!graphss_i_mul(&most, s->n, alike + near) || !graphss_i_add(&most, most, edges))
        return graphss_i_fail(ctx, GRAPHSS_ERR_LIMIT, "%zu neighbours of %zu nodes: too many",
                              alike + near, s->n);
    s->best = graphss_i_alloc(ctx, near, sizeof *s->best);
    s->node = graphss_i_alloc(ctx, near, sizeof *s->node);
    s->from = graphss_i_alloc(ctx, most, sizeof *s->from);
    s->to = graphss_i_alloc(ctx, most, sizeof *s->to);
    if (!s->best || !s->node || !s->from || !s->to)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < s->n; i++)
        for (int64_t e = graph->offset[i]; e < graph->offset[i + 1]; e++)
            add_pair(s, i, graph->target[e]);
    return GRAPHSS_OK;
}

static graphss_status find_alike(graphss_ctx *ctx, search *s, const graphss_features *features,
                                 size_t k)
{
    graphss_status st = GRAPHSS_ERR_NOMEM;
    int32_t *all = graphss_i_alloc(ctx, s->n, sizeof *all);
    int32_t *near = graphss_i_alloc(ctx, s->n * k, sizeof *near);
    for (size_t i = 0; all && i < s->n; i++)
        all[i] = (int32_t)i;
    if (all && near)
        st = graphss_i_nearest(ctx, near, k, features, NULL, all, s->n, all, s->n, "compare");
    for (size_t i = 0; i < s->n && !st; i++)
        for (size_t r = 0; r < k && near[i * k + r] >= 0; r++)
            add_pair(s, i, near[i * k + r]);
    graphss_release(ctx, near);
    graphss_release(ctx, all);
    return st;
}

/* ---- nodes two edges away ---- */

/* Puts a pair among the k best of a row, which stay in descending order. */
static void insert(float *best, int32_t *node, size_t k, float score, int32_t i)
{
    size_t at = k - 1;
    for (; at > 0 && best[at - 1] < score; at--) {
        best[at] = best[at - 1];
        node[at] = node[at - 1];
    }
    best[at] = score;
    node[at] = i;
}

/* near [n], zero before and after: near_j = sum over common neighbours m of 1 / degree of m */
static void reach(float *near, int32_t *reached, size_t *n_reached, const graphss_graph *g,
                  size_t i)
{
    *n_reached = 0;
    for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++) {
        const size_t m = (size_t)g->target[e];
        const float share = 1 / (float)(g->offset[m + 1] - g->offset[m]);
        for (int64_t b = g->offset[m]; b < g->offset[m + 1]; b++) {
            const int32_t j = g->target[b];
            if (near[j] == 0)
                reached[(*n_reached)++] = j;
            near[j] += share;
        }
    }
}

static void choose_near(search *s, float *near, int32_t *reached, const graphss_graph *g)
{
    const size_t k = s->near;
    for (size_t i = 0; i < s->n; i++) {
        size_t n_reached;
        reach(near, reached, &n_reached, g, i);
        memset(s->best, 0, k * sizeof *s->best);
        near[i] = 0;
        for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++)
            near[g->target[e]] = 0;
        for (size_t c = 0; c < n_reached; c++) {
            if (near[reached[c]] > s->best[k - 1])
                insert(s->best, s->node, k, near[reached[c]], reached[c]);
            near[reached[c]] = 0;
        }
        for (size_t r = 0; r < k && s->best[r] > 0; r++)
            add_pair(s, i, s->node[r]);
    }
}

static graphss_status find_near(graphss_ctx *ctx, search *s, const graphss_graph *graph)
{
    float *near = graphss_i_calloc(ctx, s->n, sizeof *near);
    int32_t *reached = graphss_i_alloc(ctx, s->n, sizeof *reached);
    if (near && reached)
        choose_near(s, near, reached, graph);
    const graphss_status st = near && reached ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    graphss_release(ctx, near);
    graphss_release(ctx, reached);
    return st;
}

graphss_status graphss_i_candidates(graphss_ctx *ctx, graphss_graph *out,
                                    const graphss_graph *graph,
                                    const graphss_features *features, size_t alike,
                                    size_t near)
{
    search s = {0};
    graphss_status st = search_make(ctx, &s, graph, alike, near);
    if (!st && alike)
        st = find_alike(ctx, &s, features, alike);
    if (!st && near)
        st = find_near(ctx, &s, graph);
    if (!st)
        st = graphss_graph_build(ctx, out, NULL, s.n, s.from, s.to, s.pairs);
    search_destroy(ctx, &s);
    return st;
}
