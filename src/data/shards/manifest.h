/* manifest.h - shards.json: what a folder of shards holds, and how to tell that it still does.
 *
 * The manifest is small whatever the graph is: everything that grows with the nodes is in the
 * shards. It is written last, so a folder without one was never finished. */
#ifndef GRAPHSS_MANIFEST_H
#define GRAPHSS_MANIFEST_H

#include "base/base.h"
#include <graphss/dataset.h>

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
    size_t cut;                          /* those whose two ends are in different shards */
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
/* NOT_FOUND: no manifest there; DATA names the field, what was found and what was wanted. */
graphss_status graphss_i_manifest_read(
    graphss_ctx *ctx, graphss_i_manifest *out, const char *folder);
void graphss_i_manifest_destroy(graphss_ctx *ctx, graphss_i_manifest *m);

#endif
