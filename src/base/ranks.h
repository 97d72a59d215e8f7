/* ranks.h - collective operations of ranks. Without an engine they do nothing.
 *
 * Before each operation the ranks exchange their status, so all notice a failed rank at their
 * next operation: no rank waits for ever, and all return the same error. From then on
 * operations return that error at once. The cost is one exchange of 8 bytes with each. */
#ifndef GRAPHSS_RANKS_H
#define GRAPHSS_RANKS_H

#include "base/base.h"
#include <graphss/engine.h>

size_t graphss_i_ranks(const graphss_ctx *ctx); /* 1: alone */
size_t graphss_i_rank(const graphss_ctx *ctx);
/* The error that all ranks have left with, or GRAPHSS_OK. */
graphss_status graphss_i_ranks_status(const graphss_ctx *ctx);

/* Between the two calls this rank works as if it were alone; the others wait at their next
 * operation. */
const graphss_engine *graphss_i_ranks_pause(graphss_ctx *ctx);
void graphss_i_ranks_resume(graphss_ctx *ctx, const graphss_engine *engine);

/* x [n] becomes the sum over the ranks, added in their order. */
graphss_status graphss_i_ranks_sum(graphss_ctx *ctx, double *x, size_t n);
graphss_status graphss_i_ranks_sum_floats(graphss_ctx *ctx, float *x, size_t n);
/* *n becomes the maximum, or the sum, over the ranks. */
graphss_status graphss_i_ranks_most(graphss_ctx *ctx, size_t *n);
graphss_status graphss_i_ranks_total(graphss_ctx *ctx, size_t *n);
/* all [ranks x bytes] */
graphss_status graphss_i_ranks_gather(
    graphss_ctx *ctx, void *all, const void *own, size_t bytes);
/* in, out: pieces of items of a size, in the order of the ranks; counts [ranks] */
graphss_status graphss_i_ranks_exchange(graphss_ctx *ctx, void *in, const size_t *in_count,
    const void *out, const size_t *out_count, size_t size);
/* How many items the others will send: in_count [ranks]. */
graphss_status graphss_i_ranks_counts(
    graphss_ctx *ctx, size_t *in_count, const size_t *out_count);

/* What all ranks contributed, of different lengths: that of rank r is bytes[r] from block + r
 * * most on. {0} is empty. */
typedef struct graphss_i_pieces {
    size_t *bytes; /* [ranks] */
    size_t most;
    char *block; /* [ranks x most] */
} graphss_i_pieces;
/* Every rank gets all pieces; destroy them on success and on errors. */
graphss_status graphss_i_ranks_pieces(
    graphss_ctx *ctx, graphss_i_pieces *out, const void *own, size_t bytes);
void graphss_i_pieces_destroy(graphss_ctx *ctx, graphss_i_pieces *pieces);

/* The part of a dataset this context works on, or NULL (models/part.c). */
struct graphss_i_part;
struct graphss_i_part *graphss_i_ctx_part(const graphss_ctx *ctx);
void graphss_i_ctx_set_part(graphss_ctx *ctx, struct graphss_i_part *part);

#endif
