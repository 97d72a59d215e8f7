/* fuzz_arrays.c - any values in arrays of the right names, in a zip that is sound.
 *
 * Checksums and inflating stop most of what fuzz_npz tries at the door; this goes through
 * it. Each array takes four bytes of the input (name, dtype, rows, columns; 0 columns: one
 * dimension), then its values. */
#include "data/formats/npz.h"
#include "npz_feed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {"adj_data", "adj_indices", "adj_indptr", "adj_shape",
    "attr_data", "attr_indices", "attr_indptr", "attr_shape", "labels", "attr_matrix",
    "format", "indices", "indptr", "shape", "data", "row", "col", "train", "val", "test",
    "train_mask", "train_labels", "val_labels", "class_names", "node_names", "attr_names",
    "posterior", "probabilities", "perturbed"};
static const char *const dtypes[] = {
    "<i8", "<i4", "|i1", "|u1", "|b1", "<f4", "<f8", "<f2", ">i2", ">f4", "|S3", "<u8", "|S0"};
enum { NAMES = sizeof names / sizeof *names, DTYPES = sizeof dtypes / sizeof *dtypes };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
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
