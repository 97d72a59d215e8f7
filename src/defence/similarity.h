/* similarity.h - how alike are the features of two linked nodes? */
#ifndef GRAPHSS_SIMILARITY_H
#define GRAPHSS_SIMILARITY_H

#include "base/base.h"
#include <graphss/recover.h>

/* out [graph->offset[n_nodes]]: for each stored link its similarity, the same in both
 * directions; NaN where both rows are empty. kind AUTO: JACCARD for binary features, else
 * COSINE. O(sum over links of the lengths of both rows). */
void graphss_i_link_similarity(graphss_ctx *ctx, float *out, const graphss_graph *graph,
                               const graphss_features *features, graphss_similarity kind);

#endif
