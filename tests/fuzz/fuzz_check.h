/* fuzz_check.h - helpers of fuzz targets of readers: files to read from, and the checks of
 * every dataset that was read. */
#ifndef GRAPHSS_FUZZ_CHECK_H
#define GRAPHSS_FUZZ_CHECK_H

#include "data/files/readers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One of several targets of a file. */
#define FUZZ_TARGET __attribute__((unused)) static int

enum { FUZZ_MEMORY = 16 << 20 }; /* the most a reader may take */

static inline void must(bool condition)
{
    if (!condition)
        abort();
}

static inline graphss_ctx *fuzz_ctx(void)
{
    const graphss_ctx_options opt = {.struct_size = sizeof opt, .threads = 1};
    graphss_ctx *ctx = graphss_ctx_new(&opt);
    must(ctx != NULL);
    return ctx;
}

/* A folder of this process in memory; made when missing. */
static inline void fuzz_folder(char *out, size_t size)
{
    snprintf(out, size, "/dev/shm/graphss-fuzz-%ld", (long)getpid());
    (void)mkdir(out, 0700);
}

static inline void fuzz_write(const char *path, const uint8_t *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    must(file != NULL);
    must(size == 0 || fwrite(data, 1, size, file) == size);
    must(fclose(file) == 0);
}

static inline void fuzz_check_names(const graphss_names *names, size_t want)
{
    must(names->count == 0 || names->count == want);
    for (size_t i = 0; i < names->count; i++)
        must(strlen(graphss_names_get(names, i)) + 1 == names->start[i + 1] - names->start[i]);
}

static inline void fuzz_check_list(
    const int32_t *node, size_t count, const int32_t *label, const graphss_dataset *data)
{
    for (size_t i = 0; i < count; i++) {
        must(node[i] >= 0 && (size_t)node[i] < data->graph.n_nodes);
        must(!label || (label[i] >= 0 && (size_t)label[i] < data->n_classes));
    }
}

/* A failure leaves the dataset empty and has an error text; a success is sound in every part.
 */
static inline void fuzz_check_dataset(
    graphss_ctx *ctx, const graphss_dataset *data, graphss_status status)
{
    if (status != GRAPHSS_OK) {
        must(!data->graph.offset && !data->label && graphss_ctx_error(ctx)[0]);
        return;
    }
    const graphss_features *f = &data->features;
    const size_t n = data->graph.n_nodes;
    must(graphss_graph_check(ctx, &data->graph) == GRAPHSS_OK);
    must(f->n_rows == n);
    if (f->n_cols)
        for (size_t e = 0; e < graphss_features_stored(f); e++) {
            must(isfinite(f->value[e]));
            must(!f->column || (f->column[e] >= 0 && (size_t)f->column[e] < f->n_cols));
        }
    for (size_t i = 0; data->label && i < n; i++)
        must(data->label[i] >= -1 && data->label[i] < (int64_t)data->n_classes);
    fuzz_check_names(&data->node_names, n);
    fuzz_check_names(&data->class_names, data->n_classes);
    fuzz_check_names(&data->column_names, f->n_cols);
    fuzz_check_list(data->split.train, data->split.n_train, data->split.train_label, data);
    fuzz_check_list(data->split.val, data->split.n_val, data->split.val_label, data);
    fuzz_check_list(data->split.test, data->split.n_test, NULL, data);
    must(strlen(data->hash) == 64);
}

#endif
