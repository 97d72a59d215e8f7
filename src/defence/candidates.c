/* candidates.c - the features are multiplied with their own transpose, BLOCK nodes at a time,
 * and of each product's columns the largest are kept: no N x N matrix is ever there. */
#include "defence/candidates.h"
#include "graph/products.h"
#include <math.h>
#include <string.h>

enum { BLOCK = 64 }; /* nodes compared with all others at once */

typedef struct search {
    size_t n, d, k, near; /* nodes, features, alike and near nodes wanted of each */
    graphss_i_csr x;      /* rows of length one; sparse features */
    float *dense;         /* [n x d] the same; dense features */
    float *some;          /* [d x BLOCK] the transpose of a block of rows */
    float *alike;         /* [n x BLOCK] */
    float *best;          /* [BLOCK x k] descending */
    int32_t *node;        /* [BLOCK x k] */
    int32_t *from, *to;   /* [links + n k] */
    size_t pairs;
} search;

static void search_destroy(graphss_ctx *ctx, search *s)
{
    graphss_i_csr_destroy(ctx, &s->x);
    graphss_release(ctx, s->dense);
    graphss_release(ctx, s->some);
    graphss_release(ctx, s->alike);
    graphss_release(ctx, s->best);
    graphss_release(ctx, s->node);
    graphss_release(ctx, s->from);
    graphss_release(ctx, s->to);
}

/* x <- x / |x|, where |x| > 0 */
static void to_length_one(float *x, size_t n)
{
    double sum = 0;
    for (size_t j = 0; j < n; j++)
        sum += (double)x[j] * x[j];
    for (size_t j = 0; j < n && sum > 0; j++)
        x[j] = (float)(x[j] / sqrt(sum));
}

static graphss_status search_make(graphss_ctx *ctx, search *s, const graphss_graph *graph,
                                  const graphss_features *f, size_t k, size_t near)
{
    size_t most, links = (size_t)graph->offset[graph->n_nodes];
    s->n = f->n_rows;
    s->d = f->n_cols;
    s->k = k;
    s->near = near;
    if (!graphss_i_mul(&most, s->n, k + near) || !graphss_i_add(&most, most, links))
        return graphss_i_fail(ctx, GRAPHSS_ERR_LIMIT, "%zu neighbours of %zu nodes: too many",
                              k + near, s->n);
    const size_t stored = graphss_features_stored(f);
    float *value = graphss_i_copy(ctx, f->value, stored, sizeof *value);
    if (f->offset)
        s->x = (graphss_i_csr){s->n, s->d, f->offset, f->column, value, true};
    else
        s->dense = value;
    s->some = graphss_i_alloc(ctx, s->d, BLOCK * sizeof *s->some);
    s->alike = graphss_i_alloc(ctx, s->n, BLOCK * sizeof *s->alike);
    s->best = graphss_i_alloc(ctx, k + near, BLOCK * sizeof *s->best);
    s->node = graphss_i_alloc(ctx, k + near, BLOCK * sizeof *s->node);
    s->from = graphss_i_alloc(ctx, most, sizeof *s->from);
    s->to = graphss_i_alloc(ctx, most, sizeof *s->to);
    if (!value || !s->some || !s->alike || !s->best || !s->node || !s->from || !s->to)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < s->n; i++)
        if (f->offset)
            to_length_one(value + f->offset[i], (size_t)(f->offset[i + 1] - f->offset[i]));
        else
            to_length_one(value + i * s->d, s->d);
    for (size_t i = 0; i < graph->n_nodes; i++)
        for (int64_t e = graph->offset[i]; e < graph->offset[i + 1]; e++) {
            s->from[s->pairs] = (int32_t)i;
            s->to[s->pairs++] = graph->target[e];
        }
    return GRAPHSS_OK;
}

/* some <- rows first ... first + count - 1, as columns */
static void take_block(search *s, size_t first, size_t count)
{
    memset(s->some, 0, s->d * BLOCK * sizeof *s->some);
    for (size_t c = 0; c < count; c++) {
        const size_t i = first + c;
        if (s->dense)
            for (size_t j = 0; j < s->d; j++)
                s->some[j * BLOCK + c] = s->dense[i * s->d + j];
        else
            for (int64_t e = s->x.offset[i]; e < s->x.offset[i + 1]; e++)
                s->some[(size_t)s->x.column[e] * BLOCK + c] = s->x.value[e];
    }
}

/* Puts a pair among the k best of a row, which stay in descending order. */
static void insert(float *best, int32_t *node, size_t k, float alike, int32_t i)
{
    size_t at = k - 1;
    for (; at > 0 && best[at - 1] < alike; at--) {
        best[at] = best[at - 1];
        node[at] = node[at - 1];
    }
    best[at] = alike;
    node[at] = i;
}

static void choose(search *s, size_t first, size_t count)
{
    const size_t k = s->k;
    memset(s->best, 0, BLOCK * k * sizeof *s->best);
    for (size_t i = 0; i < s->n; i++) {
        const float *row = s->alike + i * BLOCK;
        for (size_t c = 0; c < count; c++)
            if (row[c] > s->best[c * k + k - 1] && i != first + c)
                insert(s->best + c * k, s->node + c * k, k, row[c], (int32_t)i);
    }
    for (size_t c = 0; c < count; c++)
        for (size_t r = 0; r < k && s->best[c * k + r] > 0; r++) {
            s->from[s->pairs] = (int32_t)(first + c);
            s->to[s->pairs++] = s->node[c * k + r];
        }
}

/* ---- nodes two links away ---- */

/* near [n], zero before and after: near_j = sum over common neighbours m of 1 / degree of m */
static void reach(float *near, int32_t *seen, size_t *n_seen, const graphss_graph *g, size_t i)
{
    *n_seen = 0;
    for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++) {
        const size_t m = (size_t)g->target[e];
        const float share = 1 / (float)(g->offset[m + 1] - g->offset[m]);
        for (int64_t b = g->offset[m]; b < g->offset[m + 1]; b++) {
            const int32_t j = g->target[b];
            if (near[j] == 0)
                seen[(*n_seen)++] = j;
            near[j] += share;
        }
    }
}

static void choose_near(search *s, float *near, int32_t *seen, const graphss_graph *g)
{
    const size_t k = s->near;
    for (size_t i = 0; i < s->n; i++) {
        size_t n_seen;
        reach(near, seen, &n_seen, g, i);
        memset(s->best, 0, k * sizeof *s->best);
        near[i] = 0;
        for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++)
            near[g->target[e]] = 0;
        for (size_t c = 0; c < n_seen; c++) {
            if (near[seen[c]] > s->best[k - 1])
                insert(s->best, s->node, k, near[seen[c]], seen[c]);
            near[seen[c]] = 0;
        }
        for (size_t r = 0; r < k && s->best[r] > 0; r++) {
            s->from[s->pairs] = (int32_t)i;
            s->to[s->pairs++] = s->node[r];
        }
    }
}

static graphss_status find_near(graphss_ctx *ctx, search *s, const graphss_graph *graph)
{
    float *near = graphss_i_calloc(ctx, s->n, sizeof *near);
    int32_t *seen = graphss_i_alloc(ctx, s->n, sizeof *seen);
    if (near && seen)
        choose_near(s, near, seen, graph);
    const graphss_status st = near && seen ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    graphss_release(ctx, near);
    graphss_release(ctx, seen);
    return st;
}

static graphss_status find_alike(graphss_ctx *ctx, search *s)
{
    graphss_status st = GRAPHSS_OK;
    for (size_t first = 0; first < s->n && !st; first += BLOCK) {
        const size_t count = s->n - first < BLOCK ? s->n - first : BLOCK;
        take_block(s, first, count);
        if (s->dense)
            graphss_i_gemm(ctx, s->alike, s->dense, false, s->some, false, s->n, BLOCK, s->d,
                           0);
        else
            graphss_i_spmm(ctx, s->alike, &s->x, s->some, BLOCK);
        choose(s, first, count);
        st = graphss_i_progress(ctx, "compare", first + count, s->n, NULL);
    }
    return st;
}

graphss_status graphss_i_candidates(graphss_ctx *ctx, graphss_graph *out,
                                    const graphss_graph *graph,
                                    const graphss_features *features, size_t alike,
                                    size_t near)
{
    search s = {0};
    graphss_status st = search_make(ctx, &s, graph, features, alike, near);
    if (!st && alike)
        st = find_alike(ctx, &s);
    if (!st && near)
        st = find_near(ctx, &s, graph);
    if (!st)
        st = graphss_graph_build(ctx, out, s.n, s.from, s.to, s.pairs, NULL);
    search_destroy(ctx, &s);
    return st;
}
