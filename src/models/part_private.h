/* part_private.h - the fields of a part. */
#ifndef GRAPHSS_PART_PRIVATE_H
#define GRAPHSS_PART_PRIVATE_H

#include "data/shards/shard.h"
#include "graph/part.h"

/* Graphs with at most this many nodes are trained, and attacks rehearsed, by rank 0 on all
 * nodes. */
enum { GRAPHSS_I_WHOLE_MOST = 100000 };

struct graphss_part {
    graphss_i_part own;
    /* For an earlier snapshot that is cut as a later one is (observation/part_past.c): */
    const graphss_i_part *now; /* the later one, or NULL */
    int32_t *before;           /* [own and ghosts of now] the number here, -1: none */
    int32_t *after;            /* [n_all] global number in the later snapshot, -1: none */
};

/* The shard of this rank, and what every rank stores: the first half of opening a part. */
graphss_status graphss_i_part_read(graphss_ctx *ctx, graphss_i_shard *shard, size_t *n_all,
    graphss_dataset *table, const char *folder);
/* The second: the shard gives its features away. */
graphss_status graphss_i_part_fill(
    graphss_ctx *ctx, graphss_i_part *out, graphss_i_shard *shard, size_t n_all);

/* The nodes of a split, in global numbers, that this rank has, in its own numbers. */
graphss_status graphss_i_part_split(graphss_ctx *ctx, graphss_split *out,
    const graphss_i_part *part, const graphss_split *split);

#endif
