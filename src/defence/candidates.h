/* candidates.h - pairs of nodes that might be linked: those that are, and those alike. */
#ifndef GRAPHSS_CANDIDATES_H
#define GRAPHSS_CANDIDATES_H

#include "base/base.h"
#include <graphss/graph.h>

/* out: the links of graph and of each node to the k others whose features are most alike
 * (largest positive cosine, the first of equals). Time O(nodes * entries of the features),
 * memory O(links + nodes * k). Progress stage: "compare". */
graphss_status graphss_i_candidates(graphss_ctx *ctx, graphss_graph *out,
                                    const graphss_graph *graph,
                                    const graphss_features *features, size_t k);

#endif
