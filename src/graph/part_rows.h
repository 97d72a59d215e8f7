/* part_rows.h - rows of nodes that go between the ranks of a part.
 *
 * All ranks call each of these together, and fail together. */
#ifndef GRAPHSS_I_PART_ROWS_H
#define GRAPHSS_I_PART_ROWS_H

#include "graph/part.h"

/* x [(n_own + n_ghost) x size]: the rows of the own nodes are there, those of the ghosts are
 * brought. */
graphss_status graphss_i_part_bring(
    graphss_ctx *ctx, graphss_i_part *part, void *x, size_t size);

/* all [n_all x size], on every rank, from own [n_own x size] of each. */
graphss_status graphss_i_part_gather(
    graphss_ctx *ctx, void *all, const graphss_i_part *part, const void *own, size_t size);
/* The same on rank 0 alone; all is not looked at elsewhere. */
graphss_status graphss_i_part_collect(
    graphss_ctx *ctx, void *all, const graphss_i_part *part, const void *own, size_t size);
/* And back: own [n_own x size] from all [n_all x size] of rank 0. */
graphss_status graphss_i_part_deal(
    graphss_ctx *ctx, void *own, const graphss_i_part *part, const void *all, size_t size);

/* Rows of some nodes on every rank. id [n]: global numbers, the same on all ranks. Row i of
 * graph, whose targets are global numbers, and of features is of id[i]. from: rows of the own
 * nodes. Either place may be NULL; the caller destroys what is made. */
graphss_status graphss_i_part_share(graphss_ctx *ctx, graphss_graph *graph,
    graphss_features *features, const graphss_i_part *part, const graphss_features *from,
    const int64_t *id, size_t n);

#endif
