/* npz_write.c - numpy's zip of arrays, written.
 *
 * Members are deflated one by one from the callers' arrays, without copying these, into the
 * library's own atomic output: one way of making files appear. */
#include "data/formats/npz_private.h"
#include <string.h>

enum { LARGEST_HEADER = 256 };

typedef struct part {
    unsigned char header[LARGEST_HEADER];
    uint32_t *letters; /* UCS-4, for names */
    const void *data;
    size_t n_header, n_data;
} part;

/* Fills the header and points at the data. */
static graphss_status prepare(graphss_ctx *ctx, part *out, const graphss_i_array_out *array)
{
    const uint16_t one = 1;
    const bool big = *(const unsigned char *)&one == 0;
    char dtype[24];
    size_t shape[2] = {array->shape[0], array->shape[1]}, n_dims = array->n_dims, count = 1;
    size_t width = strlen(array->dtype) > 2 ? (size_t)(array->dtype[2] - '0') : 0;
    const void *data = array->data;
    if (array->names) {
        size_t characters;
        const graphss_status st =
            graphss_i_names_to_ucs4(ctx, &out->letters, &characters, array->names);
        if (st)
            return st;
        snprintf(dtype, sizeof dtype, "<U%zu", characters);
        data = out->letters;
        width = characters * sizeof *out->letters;
        shape[0] = array->names->count;
        n_dims = 1;
    } else {
        snprintf(dtype, sizeof dtype, "%s", array->dtype);
    }
    if (big && dtype[0] == '<')
        dtype[0] = '>';
    bool fits = true;
    for (size_t d = 0; d < n_dims; d++)
        fits = graphss_i_mul(&count, count, shape[d]) && fits;
    fits = graphss_i_mul(&width, width, count) && fits;
    const size_t header =
        graphss_i_npy_format(out->header, sizeof out->header, dtype, n_dims, shape);
    if (!fits || header == 0)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INTERNAL, "array '%s' cannot be described", array->name);
    out->n_header = header;
    out->data = data;
    out->n_data = width;
    return GRAPHSS_OK;
}

static graphss_status write_members(graphss_ctx *ctx, graphss_i_zip_writer *zip,
    const graphss_i_array_out *array, size_t n_arrays)
{
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < n_arrays && !st; i++) {
        part p = {.letters = NULL};
        char name[80];
        snprintf(name, sizeof name, "%s.npy", array[i].name);
        st = prepare(ctx, &p, &array[i]);
        if (!st)
            st = graphss_i_zip_add(ctx, zip, name, p.header, p.n_header, p.data, p.n_data);
        graphss_release(ctx, p.letters);
    }
    if (!st)
        return graphss_i_zip_finish(ctx, zip);
    graphss_i_zip_abandon(ctx, zip);
    return st;
}

graphss_status graphss_i_npz_write(
    graphss_ctx *ctx, const char *path, const graphss_i_array_out *array, size_t n_arrays)
{
    graphss_i_output out = {0};
    graphss_i_zip_writer zip = {.out = &out};
    graphss_status st = graphss_i_output_open(ctx, &out, path);
    if (st)
        return st;
    st = write_members(ctx, &zip, array, n_arrays);
    if (!st)
        return graphss_i_output_commit(ctx, &out);
    graphss_i_output_abandon(ctx, &out);
    return st;
}

int64_t *graphss_i_widen(graphss_ctx *ctx, const int32_t *value, size_t n)
{
    int64_t *wide = graphss_i_alloc(ctx, n, sizeof *wide);
    for (size_t i = 0; wide && i < n; i++)
        wide[i] = value[i];
    return wide;
}
