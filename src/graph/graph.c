/* graph.c - the undirected graph as compressed rows.
 *
 * Building is three scatters and a merge, all linear: pairs grouped by their second end,
 * those regrouped by their first (which leaves each row ascending), duplicates squeezed
 * out, the transpose, and the union of each row with its transposed one. No sort, so a hostile
 * order of pairs costs no more than a friendly one. */
#include "base/base.h"
#include <graphss/graph.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* offset[i + 1] holds the length of row i; makes offsets of it. */
static void lengths_to_offsets(int64_t *offset, size_t n)
{
    offset[0] = 0;
    for (size_t i = 0; i < n; i++)
        offset[i + 1] += offset[i];
}

/* Rows of the ends, holding in ascending order the rows they came from. */
static void transpose(
    int64_t *out_offset, int32_t *out, const int64_t *offset, const int32_t *target, size_t n)
{
    memset(out_offset, 0, (n + 1) * sizeof *out_offset);
    for (int64_t e = 0; e < offset[n]; e++)
        out_offset[(size_t)target[e] + 1]++;
    lengths_to_offsets(out_offset, n);
    for (size_t i = 0; i < n; i++)
        for (int64_t e = offset[i]; e < offset[i + 1]; e++)
            out[out_offset[target[e]]++] = (int32_t)i;
    /* Each offset now points to the end of its row, where the next one starts. */
    memmove(out_offset + 1, out_offset, n * sizeof *out_offset);
    out_offset[0] = 0;
}

/* Rows of `to` holding their `from`s, loops left out. */
static void group_pairs(int64_t *offset, int32_t *target, const int32_t *from,
    const int32_t *to, size_t m, size_t n)
{
    memset(offset, 0, (n + 1) * sizeof *offset);
    for (size_t e = 0; e < m; e++)
        offset[(size_t)to[e] + 1] += from[e] != to[e];
    lengths_to_offsets(offset, n);
    for (size_t e = 0; e < m; e++)
        if (from[e] != to[e])
            target[offset[to[e]]++] = from[e];
    memmove(offset + 1, offset, n * sizeof *offset);
    offset[0] = 0;
}

/* Drops repeats from ascending rows, in place; returns how many there were. */
static int64_t squeeze(int64_t *offset, int32_t *target, size_t n)
{
    int64_t kept = 0, begin = 0;
    for (size_t i = 0; i < n; i++) {
        const int64_t end = offset[i + 1];
        for (int64_t e = begin; e < end; e++)
            if (e == begin || target[e] != target[e - 1])
                target[kept++] = target[e];
        begin = end;
        offset[i + 1] = kept;
    }
    return begin - kept;
}

/* Union of ascending a[na] and b[nb] into out (NULL: only count); returns its size. */
static int64_t merge_rows(
    int32_t *out, const int32_t *a, int64_t na, const int32_t *b, int64_t nb)
{
    int64_t i = 0, j = 0, n = 0;
    while (i < na || j < nb) {
        const bool take_a = j == nb || (i < na && a[i] <= b[j]);
        const bool take_b = i == na || (j < nb && b[j] <= a[i]);
        if (out)
            out[n] = take_a ? a[i] : b[j];
        i += take_a;
        j += take_b;
        n++;
    }
    return n;
}

graphss_status graphss_graph_build(graphss_ctx *ctx, graphss_graph *out,
    graphss_cleaning *cleaned, size_t n_nodes, const int32_t *from, const int32_t *to,
    size_t m)
{
    if (GRAPHSS_I_LACKS(ctx, {"first ends", GRAPHSS_I_FILLED(from, m)},
            {"second ends", GRAPHSS_I_FILLED(to, m)}, {"place for the graph", out}))
        return GRAPHSS_ERR_INVALID;
    if (n_nodes > INT32_MAX)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "%zu nodes, want at most %d", n_nodes, INT32_MAX);
    graphss_cleaning found = {0};
    for (size_t e = 0; e < m; e++) {
        if (from[e] < 0 || (size_t)from[e] >= n_nodes || to[e] < 0 || (size_t)to[e] >= n_nodes)
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                "edge %zu joins %d and %d, want nodes below %zu", e, (int)from[e], (int)to[e],
                n_nodes);
        found.loops += from[e] == to[e];
    }

    graphss_status st = GRAPHSS_ERR_NOMEM;
    const size_t kept = m - (size_t)found.loops;
    int64_t *a_offset = NULL, *b_offset = NULL; /* [n_nodes + 1] */
    int32_t *a = NULL, *b = NULL;               /* [kept] */
    graphss_graph made = {.n_nodes = n_nodes};
    a_offset = graphss_i_alloc(ctx, n_nodes + 1, sizeof *a_offset);
    b_offset = graphss_i_alloc(ctx, n_nodes + 1, sizeof *b_offset);
    a = graphss_i_alloc(ctx, kept, sizeof *a);
    b = graphss_i_alloc(ctx, kept, sizeof *b);
    made.offset = graphss_i_alloc(ctx, n_nodes + 1, sizeof *made.offset);
    if (!a_offset || !b_offset || !a || !b || !made.offset)
        goto done;

    group_pairs(b_offset, b, from, to, m, n_nodes);
    transpose(a_offset, a, b_offset, b, n_nodes);
    found.duplicates = squeeze(a_offset, a, n_nodes);
    transpose(b_offset, b, a_offset, a, n_nodes);

    made.offset[0] = 0;
    for (size_t i = 0; i < n_nodes; i++) {
        const int64_t degree = merge_rows(NULL, a + a_offset[i], a_offset[i + 1] - a_offset[i],
            b + b_offset[i], b_offset[i + 1] - b_offset[i]);
        made.offset[i + 1] = made.offset[i] + degree;
        found.isolated += degree == 0;
    }
    made.target = graphss_i_alloc(ctx, (size_t)made.offset[n_nodes], sizeof *made.target);
    if (!made.target)
        goto done;
    for (size_t i = 0; i < n_nodes; i++)
        merge_rows(made.target + made.offset[i], a + a_offset[i],
            a_offset[i + 1] - a_offset[i], b + b_offset[i], b_offset[i + 1] - b_offset[i]);
    /* An edge given in both directions stands twice in a, one given in one stands once; in
     * the union both stand twice. */
    found.directed = made.offset[n_nodes] - a_offset[n_nodes];

    *out = made;
    made = (graphss_graph){0};
    if (cleaned)
        *cleaned = found;
    st = GRAPHSS_OK;
done:
    graphss_graph_destroy(ctx, &made);
    graphss_release(ctx, b);
    graphss_release(ctx, a);
    graphss_release(ctx, b_offset);
    graphss_release(ctx, a_offset);
    return st;
}

graphss_status graphss_graph_copy(
    graphss_ctx *ctx, graphss_graph *out, const graphss_graph *graph)
{
    if (GRAPHSS_I_LACKS(ctx, {"graph", graph}, {"place for the graph", out}))
        return GRAPHSS_ERR_INVALID;
    if (!graph->offset) {
        *out = (graphss_graph){0};
        return GRAPHSS_OK;
    }
    graphss_graph made = {.n_nodes = graph->n_nodes};
    made.offset = graphss_i_copy(ctx, graph->offset, graph->n_nodes + 1, sizeof *made.offset);
    made.target = graphss_i_copy(
        ctx, graph->target, (size_t)graph->offset[graph->n_nodes], sizeof *made.target);
    if (!made.offset || !made.target) {
        graphss_graph_destroy(ctx, &made);
        return GRAPHSS_ERR_NOMEM;
    }
    *out = made;
    return GRAPHSS_OK;
}

graphss_status graphss_graph_check(graphss_ctx *ctx, const graphss_graph *graph)
{
    if (GRAPHSS_I_LACKS(ctx, {"graph", graph}))
        return GRAPHSS_ERR_INVALID;
    const size_t n = graph->n_nodes;
    const int64_t *offset = graph->offset;
    const int32_t *target = graph->target;
    if (n == 0 && !offset)
        return GRAPHSS_OK;
    if (n > INT32_MAX)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "%zu nodes, want at most %d", n, INT32_MAX);
    if (!offset || offset[0] != 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "the first offset is not 0");
    for (size_t i = 0; i < n; i++)
        if (offset[i + 1] < offset[i])
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                "node %zu: its row ends at %lld "
                "before it begins at %lld",
                i, (long long)offset[i + 1], (long long)offset[i]);
    if (offset[n] > 0 && !target)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "offsets but no targets");
    for (size_t i = 0; i < n; i++)
        for (int64_t e = offset[i]; e < offset[i + 1]; e++) {
            const int32_t j = target[e];
            if (j < 0 || (size_t)j >= n)
                return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                    "node %zu: neighbour %d, want 0..%zu", i, (int)j, n - 1);
            if ((size_t)j == i)
                return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "node %zu: a loop", i);
            if (e > offset[i] && j <= target[e - 1])
                return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                    "node %zu: neighbour %d after %d, want ascending", i, (int)j,
                    (int)target[e - 1]);
        }
    for (size_t i = 0; i < n; i++)
        for (int64_t e = offset[i]; e < offset[i + 1]; e++)
            if (!graphss_graph_has_edge(graph, target[e], (int32_t)i))
                return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                    "node %zu: neighbour %d does not have it back", i, (int)target[e]);
    return GRAPHSS_OK;
}

void graphss_graph_destroy(graphss_ctx *ctx, graphss_graph *graph)
{
    if (!graph)
        return;
    graphss_release(ctx, graph->target);
    graphss_release(ctx, graph->offset);
    *graph = (graphss_graph){0};
}

size_t graphss_graph_edges(const graphss_graph *graph)
{
    return graph && graph->offset ? (size_t)graph->offset[graph->n_nodes] / 2 : 0;
}

size_t graphss_graph_degree(const graphss_graph *graph, size_t node)
{
    if (!graph || node >= graph->n_nodes)
        return 0;
    return (size_t)(graph->offset[node + 1] - graph->offset[node]);
}

bool graphss_graph_has_edge(const graphss_graph *graph, int32_t a, int32_t b)
{
    if (!graph || a < 0 || b < 0 || (size_t)a >= graph->n_nodes || (size_t)b >= graph->n_nodes)
        return false;
    int64_t low = graph->offset[a], high = graph->offset[a + 1];
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (graph->target[middle] < b)
            low = middle + 1;
        else
            high = middle;
    }
    return low < graph->offset[a + 1] && graph->target[low] == b;
}

double graphss_graph_homophily(const graphss_graph *graph, const int32_t *label)
{
    size_t same = 0, known = 0;
    for (size_t i = 0; graph && label && i < graph->n_nodes; i++)
        for (int64_t e = graph->offset[i]; e < graph->offset[i + 1]; e++) {
            const int32_t j = graph->target[e];
            if ((size_t)j < i || label[i] < 0 || label[j] < 0)
                continue;
            known++;
            same += label[i] == label[j];
        }
    return known ? (double)same / (double)known : NAN;
}
