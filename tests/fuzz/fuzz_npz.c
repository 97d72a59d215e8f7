/* fuzz_npz.c - files of arrays. CMakeLists.txt names the entry of each target. */
#include "base/base.h"
#include "data/formats/npz.h"
#include "fuzz_check.h"
#include <graphss/predictions.h>
#include <sys/mman.h>

/* Reads a file as every type an .npz may be. What is read must be sound, and must survive a
 * round trip through a file of ours. */
static void scratch_path(char *out, size_t size, const char *name)
{
    snprintf(out, size, "/dev/shm/graphss-fuzz-%ld-%s.npz", (long)getpid(), name);
}

static void check_dataset(graphss_ctx *ctx, const graphss_dataset *data)
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

static void feed_npz(graphss_ctx *ctx, const char *path)
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

/* Any bytes as an .npz. */
FUZZ_TARGET npz(const uint8_t *data, size_t size)
{
    const int fd = memfd_create("npz", MFD_CLOEXEC);
    must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const graphss_ctx_options opt = {.struct_size = sizeof opt, .threads = 1};
    graphss_ctx *ctx = graphss_ctx_new(&opt);
    must(ctx != NULL);
    feed_npz(ctx, path);
    graphss_ctx_free(ctx);
    close(fd);
    return 0;
}

static const char *const names[] = {"adj_data", "adj_indices", "adj_indptr", "adj_shape",
    "attr_data", "attr_indices", "attr_indptr", "attr_shape", "labels", "attr_matrix",
    "format", "indices", "indptr", "shape", "data", "row", "col", "train", "val", "test",
    "train_mask", "train_labels", "val_labels", "class_names", "node_names", "attr_names",
    "posterior", "probabilities", "perturbed"};
static const char *const dtypes[] = {
    "<i8", "<i4", "|i1", "|u1", "|b1", "<f4", "<f8", "<f2", ">i2", ">f4", "|S3", "<u8", "|S0"};
enum { NAMES = sizeof names / sizeof *names, DTYPES = sizeof dtypes / sizeof *dtypes };

/* Any values in arrays of the right names, in a zip that is sound.  Checksums and inflating
 * stop most inputs of fuzz_npz; these pass them. Each array takes four bytes of the input
 * (name, dtype, rows, columns; 0 columns: one dimension), then its values. / */
FUZZ_TARGET arrays(const uint8_t *data, size_t size)
{
    graphss_i_array_out array[NAMES];
    uint8_t *block[NAMES];
    bool used[NAMES] = {false};
    size_t count = 0;
    while (size >= 4 && count < NAMES) {
        const size_t name = data[0] % NAMES;
        const char *dtype = dtypes[data[1] % DTYPES];
        const size_t rows = data[2], cols = data[3], n_dims = cols ? 2 : 1;
        const size_t bytes = (size_t)(dtype[2] - '0') * rows * (cols ? cols : 1);
        const size_t given = bytes < size - 4 ? bytes : size - 4;
        data += 4;
        size -= 4;
        if (!used[name]) {
            used[name] = true;
            block[count] = calloc(bytes + 1, 1);
            must(block[count] != NULL);
            memcpy(block[count], data, given);
            array[count] = (graphss_i_array_out){.name = names[name],
                .dtype = dtype,
                .n_dims = n_dims,
                .shape = {rows, cols},
                .data = block[count]};
            count++;
        }
        data += given;
        size -= given;
    }
    const graphss_ctx_options opt = {.struct_size = sizeof opt, .threads = 1};
    graphss_ctx *ctx = graphss_ctx_new(&opt);
    must(ctx != NULL);
    char path[64];
    scratch_path(path, sizeof path, "arrays");
    if (count) {
        must(graphss_i_npz_write(ctx, path, array, count) == GRAPHSS_OK);
        feed_npz(ctx, path);
        unlink(path);
    }
    for (size_t i = 0; i < count; i++)
        free(block[i]);
    graphss_ctx_free(ctx);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    return FUZZ_ENTRY(bytes, size);
}
