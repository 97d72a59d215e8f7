/* shard.h - one part of a dataset in a file of its own: some nodes with their rows of the
 * graph and of the features, their labels and names.
 *
 * Nodes go by their numbers in the whole dataset, 64 bits wide. The file is an .npz that numpy
 * reads: part [2] (its number, the number of parts), hash, nodes, offset, target and, where
 * the dataset has them, feature_offset, feature_column, feature_value, feature_entry or
 * features, label and names (docs/formats.md). */
#ifndef GRAPHSS_SHARD_H
#define GRAPHSS_SHARD_H

#include "base/base.h"
#include <graphss/dataset.h>
#include <graphss/shards.h>

/* shards.json: what a folder of shards holds, with checksums.
 *
 * The manifest is small whatever the graph is: everything that grows with the nodes is in the
 * shards. It is written last, so a folder without one was never finished. */

#define GRAPHSS_I_MANIFEST_FILE "shards.json"

enum {
    GRAPHSS_I_PARTS_MOST = 65536, /* shards of a dataset */
    GRAPHSS_I_SHARD_PATH = 4096   /* bytes of a path to one */
};

typedef struct graphss_i_manifest_part {
    size_t nodes;    /* of the shard */
    size_t entries;  /* of its rows of the graph */
    size_t stored;   /* of its rows of features */
    char sha256[65]; /* of the file */
} graphss_i_manifest_part;

typedef struct graphss_i_manifest {
    char name[64], format[32], hash[65]; /* of the whole dataset */
    size_t n_nodes, entries;             /* entries of the graph: twice its edges */
    size_t cut;                          /* edges whose two ends are in different shards */
    size_t n_cols, n_classes;
    graphss_feature_kind kind;
    bool dense, labelled, named;
    bool has_split; /* the dataset came with one: split.npz */
    graphss_cleaning cleaned;
    graphss_names class_names, column_names; /* empty: none */
    size_t n_parts;
    graphss_i_manifest_part *part; /* [n_parts] */
} graphss_i_manifest;

graphss_status graphss_i_manifest_write(
    graphss_ctx *ctx, const graphss_i_manifest *m, const char *folder);
/* NOT_FOUND: no manifest; DATA names the field, what was found and what was wanted. */
graphss_status graphss_i_manifest_read(
    graphss_ctx *ctx, graphss_i_manifest *out, const char *folder);
void graphss_i_manifest_destroy(graphss_ctx *ctx, graphss_i_manifest *m);

typedef struct graphss_i_shard {
    size_t n_nodes;
    int64_t *node;             /* [n_nodes] ascending */
    int64_t *offset;           /* [n_nodes + 1] */
    int64_t *target;           /* [offset[n_nodes]] ascending in each row */
    graphss_features features; /* n_rows is n_nodes */
    /* [n_nodes] position of the row among all stored entries of the dataset; NULL: dense, or
     * no features */
    int64_t *entry;
    int32_t *label; /* [n_nodes] or NULL */
    graphss_names names;
} graphss_i_shard;

/* DIR/part-0003.npz; a path that is too long is cut, and is not found. */
void graphss_i_shard_path(char path[GRAPHSS_I_SHARD_PATH], const char *folder, size_t part);
/* SHA-256 of a file. NOT_FOUND, IO. */
graphss_status graphss_i_file_digest(graphss_ctx *ctx, char hex[65], const char *path);

/* The shard of the nodes of a part. part [n_nodes]. *cut grows by the entries that leave it.
 */
graphss_status graphss_i_shard_take(graphss_ctx *ctx, graphss_i_shard *out, size_t *cut,
    const graphss_dataset *data, const int32_t *part, int32_t which);
graphss_status graphss_i_shard_write(graphss_ctx *ctx, const graphss_i_shard *shard,
    const graphss_i_manifest *m, size_t part, const char *folder);
/* Reads and checks all of it. NOT_FOUND, DATA (truncated, edited, of another dataset or
 * another cut, or unsound: names the file and the place), LIMIT, NOMEM. */
graphss_status graphss_i_shard_read(graphss_ctx *ctx, graphss_i_shard *out,
    const graphss_i_manifest *m, size_t part, const char *folder);
void graphss_i_shard_destroy(graphss_ctx *ctx, graphss_i_shard *shard);

/* Checks of a partition, and the interface of a partitioner in a shared object. */

/* INVALID: a number that is no part, a part without nodes. */
graphss_status graphss_i_partition_check(
    graphss_ctx *ctx, const int32_t *part, size_t n, size_t parts);

/* Fills part [n] for a graph in compressed rows. NULL, or why it could not: constant text. */
typedef const char *(*graphss_i_partitioner)(
    int32_t *part, size_t n, const int64_t *offset, const int32_t *target, int32_t parts);

/* A folder of shards as one dataset again. */

/* Makes the folder, which must then be empty: shards of an earlier cut would stay among the
 * new ones. */
graphss_status graphss_i_shards_folder(graphss_ctx *ctx, const char *folder);
void graphss_i_shards_summarise(graphss_shards_summary *out, const graphss_i_manifest *m);

/* The dataset that was cut. It is put together and its hash compared with the manifest's, so
 * parts that are sound each but do not belong together are found. */
graphss_status graphss_i_read_shards(graphss_ctx *ctx, graphss_dataset *out,
    const char *folder, uint64_t max_bytes, graphss_missing_rule missing);

/* A distributed map from names to numbers. The hash of a name determines the rank that stores
 * it. Ranks send the numbers they know to that rank, and ask it for those they need. So each
 * of the R ranks holds one part of the names, and the answer does not depend on who asks. */

/* found [asked->count]: the least number of this name that any rank has, -1: none.
 * number [known->count]: what the own known names are called. All ranks call it together, and
 * fail together. */
graphss_status graphss_i_directory_find(graphss_ctx *ctx, int64_t *found,
    const graphss_names *asked, const graphss_names *known, const int64_t *number);

#endif
