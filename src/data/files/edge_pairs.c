/* edge_pairs.c - what edges.csv and edge lists share once a line is understood. */
#include "data/files/edge_pairs.h"

graphss_status graphss_i_edge_pairs_add(graphss_ctx *ctx, graphss_i_edge_pairs *pairs,
                                        int32_t from, int32_t to, double weight)
{
    if (weight == 0) {
        pairs->zeros++;
        return GRAPHSS_OK;
    }
    pairs->weighted += weight != 1;
    if (pairs->count == pairs->room) {
        const size_t room = pairs->room ? 2 * pairs->room : 1024;
        void *more = graphss_i_grow(ctx, pairs->from, pairs->count, room, sizeof *pairs->from);
        if (!more)
            return GRAPHSS_ERR_NOMEM;
        pairs->from = more;
        more = graphss_i_grow(ctx, pairs->to, pairs->count, room, sizeof *pairs->to);
        if (!more)
            return GRAPHSS_ERR_NOMEM;
        pairs->to = more;
        pairs->room = room;
    }
    pairs->from[pairs->count] = from;
    pairs->to[pairs->count++] = to;
    return GRAPHSS_OK;
}

graphss_status graphss_i_edge_pairs_build(graphss_ctx *ctx, graphss_graph *out,
                                          graphss_cleaning *cleaned,
                                          const graphss_i_edge_pairs *pairs, size_t n_nodes)
{
    const graphss_status st =
        graphss_graph_build(ctx, out, cleaned, n_nodes, pairs->from, pairs->to, pairs->count);
    if (st == GRAPHSS_OK) {
        cleaned->zeros = pairs->zeros;
        cleaned->weighted = pairs->weighted;
    }
    return st;
}

void graphss_i_edge_pairs_destroy(graphss_ctx *ctx, graphss_i_edge_pairs *pairs)
{
    graphss_release(ctx, pairs->to);
    graphss_release(ctx, pairs->from);
    *pairs = (graphss_i_edge_pairs){0};
}
