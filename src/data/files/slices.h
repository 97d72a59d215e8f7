/* slices.h - reading a table together: the slice of each rank (slices.c), joining their
 * features, labels and splits (slices_unite.c), and the files (slices_write.c). */
#ifndef GRAPHSS_SLICES_H
#define GRAPHSS_SLICES_H

#include "base/ranks.h"
#include "data/files/csv_nodes.h"
#include "data/files/edge_extras.h"
#include "data/shards/shard.h"

/* {0} is empty. */
typedef struct sliced {
    const char *where;
    bool folder, named;
    size_t n_all;    /* nodes of the dataset */
    int64_t *first;  /* [ranks + 1] the nodes of rank r are first[r] ... first[r + 1] - 1 */
    int64_t *number; /* [own nodes of a table] */
    graphss_i_shard shard;
    size_t n_classes;
    graphss_names class_names, column_names;
    graphss_split split;      /* in numbers of the whole dataset, the same on all ranks */
    graphss_cleaning cleaned; /* of this rank */
    int64_t entries_before, stored_before; /* of the ranks before this one */
} sliced;

/* Features, labels and split of the shard from the slice of each rank, which is emptied. DATA:
 * slices that do not agree on the columns. */
graphss_status graphss_i_slices_unite(
    graphss_ctx *ctx, sliced *g, graphss_dataset *table, graphss_i_feature_form form);
/* The shard of each rank and, by rank 0, the rest of the folder. */
graphss_status graphss_i_slices_write(
    graphss_ctx *ctx, graphss_shards_summary *summary, sliced *g, const char *folder);
void graphss_i_slices_close(graphss_ctx *ctx, sliced *g);

#endif
