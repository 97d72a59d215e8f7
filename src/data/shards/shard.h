/* shard.h - one part of a dataset in a file of its own: some nodes with their rows of the
 * graph and of the features, their labels and names.
 *
 * Nodes go by their numbers in the whole dataset, 64 bits wide. The file is an .npz that numpy
 * reads: part [2] (its number, the number of parts), hash, nodes, offset, target and, where
 * the dataset has them, feature_offset, feature_column, feature_value, feature_entry or
 * features, label and names (docs/formats.md). */
#ifndef GRAPHSS_SHARD_H
#define GRAPHSS_SHARD_H

#include "data/shards/manifest.h"

typedef struct graphss_i_shard {
    size_t n_nodes;
    int64_t *node;             /* [n_nodes] ascending */
    int64_t *offset;           /* [n_nodes + 1] */
    int64_t *target;           /* [offset[n_nodes]] ascending in each row */
    graphss_features features; /* n_rows is n_nodes */
    int64_t *entry; /* [n_nodes] where the row begins among all stored entries of the dataset;
                     * NULL: dense, or no features */
    int32_t *label; /* [n_nodes] or NULL */
    graphss_names names;
} graphss_i_shard;

/* DIR/part-0003.npz; a path that is too long is cut, and is not found. */
void graphss_i_shard_path(char path[GRAPHSS_I_SHARD_PATH], const char *folder, size_t part);
/* SHA-256 of a file. NOT_FOUND, IO. */
graphss_status graphss_i_file_digest(graphss_ctx *ctx, char hex[65], const char *path);

/* The shard of the nodes whose part it is. part [n_nodes]. *cut grows by the entries that
 * leave it. */
graphss_status graphss_i_shard_take(graphss_ctx *ctx, graphss_i_shard *out, size_t *cut,
    const graphss_dataset *data, const int32_t *part, int32_t which);
graphss_status graphss_i_shard_write(graphss_ctx *ctx, const graphss_i_shard *shard,
    const graphss_i_manifest *m, size_t part, const char *folder);
/* Reads and checks all of it. NOT_FOUND, DATA (truncated, edited, of another dataset or
 * another cut, or unsound: names the file and the place), LIMIT, NOMEM. */
graphss_status graphss_i_shard_read(graphss_ctx *ctx, graphss_i_shard *out,
    const graphss_i_manifest *m, size_t part, const char *folder);
void graphss_i_shard_destroy(graphss_ctx *ctx, graphss_i_shard *shard);

#endif
