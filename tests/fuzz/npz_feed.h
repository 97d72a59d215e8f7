/* npz_feed.h - what the npz targets share: read a file as everything an .npz may be, and
 * check what came of it. What is read must be sound, and must come back the same from a
 * file of ours. */
#ifndef GRAPHSS_NPZ_FEED_H
#define GRAPHSS_NPZ_FEED_H

#include "base/base.h"
#include "data/files/readers.h"
#include <graphss/predictions.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline void must(bool condition)
{
    if (!condition)
        abort();
}

static inline void scratch_path(char *out, size_t size, const char *name)
{
    snprintf(out, size, "/dev/shm/graphss-fuzz-%ld-%s.npz", (long)getpid(), name);
}

static inline void check_dataset(graphss_ctx *ctx, const graphss_dataset *data)
{
    const graphss_features *f = &data->features;
    must(graphss_graph_check(ctx, &data->graph) == GRAPHSS_OK);
    must(f->n_rows == data->graph.n_nodes);
    if (f->offset)
        for (int64_t e = 0; e < f->offset[f->n_rows]; e++)
            must(f->column[e] >= 0 && (size_t)f->column[e] < f->n_cols && f->value[e] != 0);
    for (size_t i = 0; data->label && i < data->graph.n_nodes; i++)
        must(data->label[i] >= -1 && data->label[i] < (int64_t)data->n_classes);
    for (size_t i = 0; i < data->split.n_train; i++)
        must(data->split.train[i] >= 0 && (size_t)data->split.train[i] < data->graph.n_nodes);
    if (data->graph.n_nodes > 1000)
        return; /* writing costs more than it finds */
    char path[64];
    graphss_dataset again = {0};
    scratch_path(path, sizeof path, "again");
    if (graphss_dataset_write(ctx, data, path) != GRAPHSS_OK)
        return;
    must(graphss_i_read_npz(ctx, &again, path, 0, GRAPHSS_MISSING_ERROR) == GRAPHSS_OK);
    must(strcmp(data->hash, again.hash) == 0 && data->n_classes == again.n_classes);
    unlink(path);
    graphss_dataset_destroy(ctx, &again);
}

static inline void feed_npz(graphss_ctx *ctx, const char *path)
{
    static const uint64_t most = (uint64_t)16 << 20;
    graphss_dataset dataset = {0};
    graphss_split split = {0};
    graphss_predictions predictions = {0};
    if (graphss_i_read_npz(ctx, &dataset, path, most, GRAPHSS_MISSING_ERROR) == GRAPHSS_OK)
        check_dataset(ctx, &dataset);
    if (graphss_split_read(ctx, &split, path, NULL, 100, 10) == GRAPHSS_OK)
        graphss_split_destroy(ctx, &split);
    if (graphss_predictions_read(ctx, &predictions, path) == GRAPHSS_OK)
        graphss_predictions_destroy(ctx, &predictions);
    graphss_dataset_destroy(ctx, &dataset);
}

#endif
