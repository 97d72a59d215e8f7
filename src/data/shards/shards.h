/* shards.h - a folder of shards as one dataset again. */
#ifndef GRAPHSS_I_SHARDS_H
#define GRAPHSS_I_SHARDS_H

#include "data/shards/shard.h"
#include <graphss/shards.h>

/* The dataset that was cut. It is put together and its hash compared with the manifest's, so
 * parts that are sound each but do not belong together are found. */
graphss_status graphss_i_read_shards(graphss_ctx *ctx, graphss_dataset *out,
    const char *folder, uint64_t max_bytes, graphss_missing_rule missing);

#endif
