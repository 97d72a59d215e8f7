/* nearest.h - finds the nodes with the most similar features. */
#ifndef GRAPHSS_NEAREST_H
#define GRAPHSS_NEAREST_H

#include "base/base.h"
#include <graphss/graph.h>

/* near [n_from x each]: for each node of `from` up to `each` nodes of `among` with the largest
 * cosine, in no order, -1 where there are fewer. Of equal ones the smaller number comes
 * first. Never the node itself, one it is connected with (graph NULL: edges do not matter), or
 * one whose cosine is not positive.
 *
 * A search through the lists of nodes that have a column, row by row: O(sum over from of the
 * lengths of its columns' lists) time, O(n_among + stored features) memory, nothing of the
 * size of n_from times n_among. stage names the work for progress. NOMEM, CANCELLED. */
graphss_status graphss_i_nearest(graphss_ctx *ctx, int32_t *near, size_t each,
                                 const graphss_features *features, const graphss_graph *graph,
                                 const int32_t *from, size_t n_from, const int32_t *among,
                                 size_t n_among, const char *stage);

#endif
