/* similarity.h - how alike are the features of two connected nodes? */
#ifndef GRAPHSS_SIMILARITY_H
#define GRAPHSS_SIMILARITY_H

#include "base/base.h"
#include <graphss/recover.h>

/* out [graph->offset[n_nodes]]: for each stored edge its similarity, the same in both
 * directions; NaN where both rows are empty. kind AUTO: JACCARD for binary features, else
 * COSINE. O(sum over edges of the lengths of both rows). */
void graphss_i_edge_similarity(graphss_ctx *ctx, float *out, const graphss_graph *graph,
                               const graphss_features *features, graphss_similarity kind);
/* The edges of graph but those of a similarity below least; NaN stays. out, {0}, is the
 * caller's to destroy, whatever comes back. alike [graph->offset[n_nodes]]: of stored edges.
 */
graphss_status graphss_i_edges_alike(graphss_ctx *ctx, graphss_graph *out,
                                     const graphss_graph *graph, const float *alike,
                                     float least);
/* The middle one of alike [n], none of them NaN; of many, of those at even distances. 0 where
 * there are none. */
graphss_status graphss_i_similarity_median(graphss_ctx *ctx, float *median, const float *alike,
                                           size_t n);

#endif
