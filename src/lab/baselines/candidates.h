/* candidates.h - pairs of nodes that might be connected: those that are, and those alike. */
#ifndef GRAPHSS_CANDIDATES_H
#define GRAPHSS_CANDIDATES_H

#include "base/base.h"
#include <graphss/graph.h>

/* out: the edges of graph; of each node to the `alike` others whose features are most alike
 * (largest positive cosine); and to the `near` others, two edges away and not connected, with
 * the most common neighbours, each counted as one over its degree. Of equals the first. Time
 * O(nodes * entries of the features + sum of squared degrees), memory O(edges + nodes (alike +
 * near)). Progress stage: "compare". */
graphss_status graphss_i_candidates(graphss_ctx *ctx, graphss_graph *out,
                                    const graphss_graph *graph,
                                    const graphss_features *features, size_t alike,
                                    size_t near);

#endif
