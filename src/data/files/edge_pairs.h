/* edge_pairs.h - a growing list of edges as text formats give them. {0} is empty. */
#ifndef GRAPHSS_EDGE_PAIRS_H
#define GRAPHSS_EDGE_PAIRS_H

#include "data/formats/csv.h"
#include <graphss/graph.h>

typedef struct graphss_i_edge_pairs {
    int32_t *from, *to; /* [count] */
    size_t count, room;
    int64_t zeros, weighted;
} graphss_i_edge_pairs;

/* An edge of weight zero is counted, not kept; other weights are counted and dropped. */
graphss_status graphss_i_edge_pairs_add(graphss_ctx *ctx, graphss_i_edge_pairs *pairs,
                                        int32_t from, int32_t to, double weight);
graphss_status graphss_i_edge_pairs_build(graphss_ctx *ctx, graphss_graph *out,
                                          graphss_cleaning *cleaned,
                                          const graphss_i_edge_pairs *pairs, size_t n_nodes);
void graphss_i_edge_pairs_destroy(graphss_ctx *ctx, graphss_i_edge_pairs *pairs);

#endif
