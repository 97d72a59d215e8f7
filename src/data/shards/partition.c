/* partition.c - assigns nodes to parts: by number, by a file, or by Scotch.
 *
 * Scotch is in a shared object of its own (engine/scotch.c), which is loaded on demand: the
 * library does not depend on it. */
#include "base/base.h"
#include "data/shards/shard.h"
#include <graphss/shards.h>
#include <string.h>

static graphss_status check_parts(graphss_ctx *ctx, size_t n_nodes, size_t parts)
{
    if (parts < 1 || parts > GRAPHSS_I_PARTS_MOST)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "%zu parts, want 1 to %d", parts,
            (int)GRAPHSS_I_PARTS_MOST);
    if (n_nodes < parts)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "%zu nodes for %zu parts, want at least one for each", n_nodes, parts);
    return GRAPHSS_OK;
}

graphss_status graphss_i_partition_check(
    graphss_ctx *ctx, const int32_t *part, size_t n, size_t parts)
{
    graphss_status st = check_parts(ctx, n, parts);
    if (st)
        return st;
    size_t *count = graphss_i_calloc(ctx, parts, sizeof *count);
    if (!count)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < n && !st; i++)
        if (part[i] < 0 || (size_t)part[i] >= parts)
            st = graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                "node %zu is in part %d, want 0..%zu", i, (int)part[i], parts - 1);
        else
            count[part[i]]++;
    for (size_t p = 0; p < parts && !st; p++)
        if (count[p] == 0)
            st = graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                "part %zu has no nodes, want at least one in each", p);
    graphss_release(ctx, count);
    return st;
}

graphss_status graphss_partition_blocks(
    graphss_ctx *ctx, int32_t **part, size_t n_nodes, size_t parts)
{
    if (GRAPHSS_I_LACKS(ctx, {"place for the parts", part}))
        return GRAPHSS_ERR_INVALID;
    const graphss_status st = check_parts(ctx, n_nodes, parts);
    if (st)
        return st;
    int32_t *made = graphss_i_alloc(ctx, n_nodes, sizeof *made);
    if (!made)
        return GRAPHSS_ERR_NOMEM;
    const size_t each = n_nodes / parts, more = n_nodes % parts; /* the first have one more */
    for (size_t i = 0; i < n_nodes; i++)
        made[i] = (int32_t)(i < more * (each + 1) ? i / (each + 1) : (i - more) / each);
    *part = made;
    return GRAPHSS_OK;
}

graphss_status graphss_partition_read(
    graphss_ctx *ctx, int32_t **part, size_t n_nodes, size_t parts, const char *path)
{
    if (GRAPHSS_I_LACKS(ctx, {"place for the parts", part}, {"path", path}))
        return GRAPHSS_ERR_INVALID;
    char *text = NULL;
    size_t n = 0, lines = 0;
    graphss_status st = check_parts(ctx, n_nodes, parts);
    if (!st)
        st = graphss_i_file_read(ctx, &text, &n, path, (uint64_t)n_nodes * 32 + 4096);
    if (st)
        return st;
    int32_t *made = graphss_i_alloc(ctx, n_nodes, sizeof *made);
    if (!made)
        st = GRAPHSS_ERR_NOMEM;
    for (char *line = text; line < text + n && !st; lines++) {
        char *end = memchr(line, '\n', (size_t)(text + n - line));
        size_t length = (size_t)((end ? end : text + n) - line);
        length -= length && line[length - 1] == '\r';
        int64_t number;
        if (lines == n_nodes)
            st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s:%zu: more lines than the %zu nodes",
                path, lines + 1, n_nodes);
        else if (!graphss_i_parse_int(&number, line, length) || number < 0 ||
                 (uint64_t)number >= parts)
            st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s:%zu: found '%.*s', want 0..%zu",
                path, lines + 1, (int)(length < 40 ? length : 40), line, parts - 1);
        else
            made[lines] = (int32_t)number;
        line = end ? end + 1 : text + n;
    }
    if (!st && lines != n_nodes)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s: %zu lines, want one for each of %zu nodes", path, lines, n_nodes);
    if (!st) {
        st = graphss_i_partition_check(ctx, made, n_nodes, parts);
        if (st == GRAPHSS_ERR_INVALID)
            st = graphss_i_fail_in(ctx, GRAPHSS_ERR_DATA, path);
    }
    graphss_release(ctx, text);
    if (st)
        graphss_release(ctx, made);
    else
        *part = made;
    return st;
}

graphss_status graphss_partition_scotch(
    graphss_ctx *ctx, int32_t **part, const graphss_graph *graph, size_t parts)
{
    if (GRAPHSS_I_LACKS(ctx, {"place for the parts", part}, {"graph", graph}))
        return GRAPHSS_ERR_INVALID;
    graphss_i_partitioner cut = NULL;
    graphss_status st = check_parts(ctx, graph->n_nodes, parts);
    if (!st)
        st = graphss_graph_check(ctx, graph);
    if (!st)
        st = graphss_i_plugin_find(ctx, &cut, sizeof cut, "scotch", "graphss_partitioner");
    if (st)
        return st;
    int32_t *made = graphss_i_alloc(ctx, graph->n_nodes, sizeof *made);
    if (!made)
        return GRAPHSS_ERR_NOMEM;
    const char *fault =
        cut(made, graph->n_nodes, graph->offset, graph->target, (int32_t)parts);
    if (fault)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "scotch: %s", fault);
    if (!st)
        st = graphss_i_partition_check(ctx, made, graph->n_nodes, parts);
    if (st)
        graphss_release(ctx, made);
    else
        *part = made;
    return st;
}
