/* npz_write.c - numpy's zip of arrays, written.
 *
 * libzip makes the archive in memory, from the callers' arrays without copying them, and
 * the library's own atomic output writes it: one way of making files appear. */
#include "data/formats/npz_private.h"
#include <string.h>

enum { LARGEST_HEADER = 256 };

typedef struct part {
    unsigned char header[LARGEST_HEADER];
    uint32_t *letters; /* UCS-4, for names */
    zip_buffer_fragment_t fragment[2];
} part;

static graphss_status fail_zip(graphss_ctx *ctx, const char *path, zip_error_t *error)
{
    const graphss_status st =
        graphss_i_zip_status(error) == GRAPHSS_ERR_NOMEM ? GRAPHSS_ERR_NOMEM : GRAPHSS_ERR_IO;
    return graphss_i_fail(ctx, st, "%s: cannot make the zip file: %s", path,
                          zip_error_strerror(error));
}

/* Fills the header and points the fragments at it and at the data. */
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
        return graphss_i_fail(ctx, GRAPHSS_ERR_INTERNAL, "array '%s' cannot be described",
                              array->name);
    out->fragment[0] = (zip_buffer_fragment_t){out->header, header};
    /* libzip wants to write through it in other uses; here it only reads. */
    union {
        const void *constant;
        zip_uint8_t *plain;
    } bytes = {data};
    out->fragment[1] = (zip_buffer_fragment_t){bytes.plain, width};
    return GRAPHSS_OK;
}

static bool add_member(zip_t *zip, const char *array, part *p, zip_error_t *error)
{
    char name[80];
    snprintf(name, sizeof name, "%s.npy", array);
    const zip_uint64_t fragments = p->fragment[1].length ? 2 : 1;
    zip_source_t *source = zip_source_buffer_fragment_create(p->fragment, fragments, 0, error);
    if (!source)
        return false;
    const zip_int64_t index = zip_file_add(zip, name, source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
        zip_source_free(source);
        return false;
    }
    /* Level 4 takes a third of the time of level 6 for a tenth more bytes. The time stamp is
     * the first moment zip knows, in any time zone: midnight, 1 January 1980. */
    return zip_set_file_compression(zip, (zip_uint64_t)index, ZIP_CM_DEFLATE, 4) == 0 &&
           zip_file_set_dostime(zip, (zip_uint64_t)index, 0, 1 << 5 | 1, 0) == 0;
}

static graphss_status write_out(graphss_ctx *ctx, const char *path, zip_source_t *archive)
{
    graphss_i_output out = {0};
    graphss_status st = graphss_i_output_open(ctx, &out, path);
    if (st)
        return st;
    if (zip_source_open(archive) != 0) {
        graphss_i_output_abandon(ctx, &out);
        return fail_zip(ctx, path, zip_source_error(archive));
    }
    char bytes[16384];
    while (st == GRAPHSS_OK) {
        const zip_int64_t got = zip_source_read(archive, bytes, sizeof bytes);
        if (got == 0)
            break;
        st = got < 0 ? fail_zip(ctx, path, zip_source_error(archive))
                     : graphss_i_output_write(ctx, &out, bytes, (size_t)got);
    }
    zip_source_close(archive);
    if (st == GRAPHSS_OK)
        return graphss_i_output_commit(ctx, &out);
    graphss_i_output_abandon(ctx, &out);
    return st;
}

graphss_status graphss_i_npz_write(graphss_ctx *ctx, const char *path,
                                   const graphss_i_array_out *array, size_t n_arrays)
{
    zip_error_t error;
    zip_source_t *archive = NULL;
    zip_t *zip = NULL;
    part *parts = graphss_i_calloc(ctx, n_arrays, sizeof *parts);
    if (!parts)
        return GRAPHSS_ERR_NOMEM;
    graphss_status st = GRAPHSS_OK;
    zip_error_init(&error);
    for (size_t i = 0; i < n_arrays; i++) {
        st = prepare(ctx, &parts[i], &array[i]);
        if (st)
            goto done;
    }
    archive = zip_source_buffer_create(NULL, 0, 0, &error);
    zip = archive ? zip_open_from_source(archive, ZIP_TRUNCATE, &error) : NULL;
    if (!zip) {
        st = fail_zip(ctx, path, &error);
        goto done;
    }
    zip_source_keep(archive); /* closing the zip drops one hold on it */
    for (size_t i = 0; i < n_arrays; i++)
        if (!add_member(zip, array[i].name, &parts[i], &error)) {
            zip_error_t *own = zip_get_error(zip);
            st = fail_zip(ctx, path, zip_error_code_zip(own) ? own : &error);
            goto done;
        }
    if (zip_close(zip) != 0) {
        st = fail_zip(ctx, path, zip_get_error(zip));
        goto done;
    }
    zip = NULL;
    st = write_out(ctx, path, archive);
done:
    if (zip)
        zip_discard(zip);
    if (archive)
        zip_source_free(archive);
    zip_error_fini(&error);
    for (size_t i = 0; i < n_arrays; i++)
        graphss_release(ctx, parts[i].letters);
    graphss_release(ctx, parts);
    return st;
}

int64_t *graphss_i_widen(graphss_ctx *ctx, const int32_t *value, size_t n)
{
    int64_t *wide = graphss_i_alloc(ctx, n, sizeof *wide);
    for (size_t i = 0; wide && i < n; i++)
        wide[i] = value[i];
    return wide;
}
