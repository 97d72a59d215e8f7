/* copy_source.h - the node that a node looks copied from. */
#ifndef GRAPHSS_TWIN_H
#define GRAPHSS_TWIN_H

#include "base/base.h"
#include <graphss/graph.h>

/* twin [n]: among nodes that share words or neighbours with node i the one most alike, -1:
 * there is none; alike [n] in [0, 2]: cosine of the features plus the share of i's links
 * that lead to it or to neighbours of it. Dense features: no node has a twin.
 * A node looks at a bounded number of others, through its rarest words and its neighbours
 * of low degree: time O(n + entries + links). skip [n]: what is said of these nodes is left as
 * it was; NULL: none. */
graphss_status graphss_i_twins(graphss_ctx *ctx, int32_t *twin, float *alike,
                               const graphss_graph *graph, const graphss_features *features,
                               const uint8_t *skip);

#endif
