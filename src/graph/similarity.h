/* similarity.h - similarity of the features of connected nodes. */
#ifndef GRAPHSS_SIMILARITY_H
#define GRAPHSS_SIMILARITY_H

#include "base/base.h"
#include <graphss/recover.h>

/* out [graph->offset[n_nodes]]: for each stored edge its similarity, the same in both
 * directions; NaN where both rows are empty. kind AUTO: JACCARD for binary features, else
 * COSINE. O(sum over edges of the lengths of both rows). */
void graphss_i_edge_similarity(graphss_ctx *ctx, float *out, const graphss_graph *graph,
    const graphss_features *features, graphss_similarity kind);
/* Copies graph without edges whose similarity is below least; NaN stays. The caller destroys
 * out, which begins as {0}, also on errors. alike [graph->offset[n_nodes]] is the similarity
 * of stored edges. */
graphss_status graphss_i_edges_alike(graphss_ctx *ctx, graphss_graph *out,
    const graphss_graph *graph, const float *alike, float least);

#endif
