/* npz.h - numpy's zip of arrays, read and written.
 *
 * Reading: open lists the members and parses each .npy header; an array is inflated only
 * when asked for, straight into the wanted type. Nothing is allocated that the header's
 * shape, the member's size and the caller's limit do not agree on. */
#ifndef GRAPHSS_NPZ_H
#define GRAPHSS_NPZ_H

#include "base/base.h"
#include <graphss/dataset.h>

typedef struct graphss_i_npz graphss_i_npz;

typedef struct graphss_i_array_info {
    char kind;        /* numpy's: 'b' 'i' 'u' 'f' 'U' 'S' 'O' */
    size_t item_size; /* bytes (of one character for U: 4) */
    size_t n_dims;    /* 0, 1 or 2 */
    size_t shape[2];  /* unused entries are 1 */
    size_t count;     /* elements */
    bool fortran_order;
} graphss_i_array_info;

/* max_bytes bounds what all arrays together may inflate to; 0: the machine's. A file that
 * claims implausibly more than its size on disk can hold is refused with LIMIT/DATA. */
graphss_status graphss_i_npz_open(
    graphss_ctx *ctx, graphss_i_npz **out, const char *path, uint64_t max_bytes);
void graphss_i_npz_close(graphss_ctx *ctx, graphss_i_npz *npz);

/* "FILE: array 'NAME': ..." */
graphss_status graphss_i_npz_fail(graphss_ctx *ctx, graphss_status status,
    const graphss_i_npz *npz, const char *array, const char *format, ...) GRAPHSS_PRINTF(5, 6);
/* "FILE: " before the text of the error that is set. */
graphss_status graphss_i_npz_fail_in(
    graphss_ctx *ctx, graphss_status status, const graphss_i_npz *npz);

/* True when the array is there and of a dtype that is read (not of objects). */
bool graphss_i_npz_has(const graphss_i_npz *npz, const char *array);
/* The same, with a warning if it is there and of another dtype; so: the consequence, or NULL.
 */
bool graphss_i_npz_wants(
    graphss_ctx *ctx, const graphss_i_npz *npz, const char *array, const char *so);
/* DATA when absent, of dtype object, or with a header that makes no sense. */
graphss_status graphss_i_npz_info(
    graphss_ctx *ctx, graphss_i_array_info *out, const graphss_i_npz *npz, const char *array);

/* The whole array, row-major, converted; *n elements; the caller releases it. want is the
 * expected count or SIZE_MAX. DATA: other count, a value that does not fit the type (a
 * fraction or NaN asked for as an integer, beyond int32), truncated or corrupt member. */
graphss_status graphss_i_npz_int64(graphss_ctx *ctx, int64_t **out, size_t *n,
    graphss_i_npz *npz, const char *array, size_t want);
graphss_status graphss_i_npz_int32(graphss_ctx *ctx, int32_t **out, size_t *n,
    graphss_i_npz *npz, const char *array, size_t want);
graphss_status graphss_i_npz_float(graphss_ctx *ctx, float **out, size_t *n,
    graphss_i_npz *npz, const char *array, size_t want);
graphss_status graphss_i_npz_double(graphss_ctx *ctx, double **out, size_t *n,
    graphss_i_npz *npz, const char *array, size_t want);
/* U and S arrays as UTF-8; integer arrays as their decimal text. */
graphss_status graphss_i_npz_names(
    graphss_ctx *ctx, graphss_names *out, graphss_i_npz *npz, const char *array, size_t want);

/* Checks count * item bytes against the limits of the file before the caller allocates memory
 * whose size an array's values, not its length, determine. DATA or LIMIT names the array. */
graphss_status graphss_i_npz_claim(
    graphss_ctx *ctx, graphss_i_npz *npz, const char *array, size_t count, size_t item);

/* The split of a file: train, val, test under the names in use (idx_train, train_mask ...),
 * as lists or masks, with train_labels and val_labels where there are any. Leaves *out
 * empty when the file lacks one of the three. */
graphss_status graphss_i_npz_split(
    graphss_ctx *ctx, graphss_split *out, graphss_i_npz *npz, size_t n, size_t n_classes);

/* Writing: the arrays of one file, borrowed for the call. The same arrays give the same
 * bytes (fixed time stamps), deflated; the file appears completely or not at all. */
typedef struct graphss_i_array_out {
    const char *name;
    const char *dtype; /* "<i4" "<i8" "<f4" "<f8" "|b1" "|u1"; "<U": names is used */
    size_t n_dims;
    size_t shape[2];
    const void *data;
    const graphss_names *names;
} graphss_i_array_out;

graphss_status graphss_i_npz_write(
    graphss_ctx *ctx, const char *path, const graphss_i_array_out *array, size_t n_arrays);
/* numpy's default integers, which is what files hold; the caller releases them. */
int64_t *graphss_i_widen(graphss_ctx *ctx, const int32_t *value, size_t n);

/* The arrays of a split for graphss_i_npz_write. {0} is empty. */
typedef struct graphss_i_split_out {
    graphss_i_array_out array[5];
    size_t n_arrays;
    int64_t *block[5];
} graphss_i_split_out;
graphss_status graphss_i_split_out_init(
    graphss_ctx *ctx, graphss_i_split_out *out, const graphss_split *split);
void graphss_i_split_out_destroy(graphss_ctx *ctx, graphss_i_split_out *out);

#endif
