/* npz_numbers.c - arrays of numbers and of texts.
 *
 * Numbers are inflated in chunks straight into the wanted type. Every dtype goes through int64
 * or double, which hold all of them but uint64 without loss, so that there is one conversion
 * per dtype and one check per wanted type. */
#include "data/build.h"
#include "data/formats/npz_private.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { CHUNK = 2048 };

typedef enum wanted_type { INT32, INT64, FLOAT, DOUBLE } wanted_type;

static const struct {
    size_t size;
    const char *text;
} wanted[] = {{4, "a 32-bit integer"}, {8, "a 64-bit integer"}, {4, "a number within float"},
    {8, "a number"}};

/* Stores one integer or real; false when the type cannot hold it. */
static bool store_int(void *out, size_t at, wanted_type type, int64_t value)
{
    switch (type) {
    case INT32:
        ((int32_t *)out)[at] = (int32_t)value;
        return value >= INT32_MIN && value <= INT32_MAX;
    case INT64:
        ((int64_t *)out)[at] = value;
        return true;
    case FLOAT:
        ((float *)out)[at] = (float)value;
        return true;
    case DOUBLE:
        ((double *)out)[at] = (double)value;
        return true;
    }
    return false;
}

static bool store_real(void *out, size_t at, wanted_type type, double value)
{
    switch (type) {
    case INT32:
    case INT64:
        /* The largest int64 is no double: the next double above it is 2^63. */
        if (!(value >= -0x1p63 && value < 0x1p63) || value != floor(value))
            return false;
        return store_int(out, at, type, (int64_t)value);
    case FLOAT:
        if (isfinite(value) && fabs(value) > (double)FLT_MAX)
            return false;
        ((float *)out)[at] = (float)value;
        return true;
    case DOUBLE:
        ((double *)out)[at] = value;
        return true;
    }
    return false;
}

/* The row-major position of element e of the file. */
static size_t position_of(const graphss_i_array_info *info, size_t e)
{
    if (!info->fortran_order || info->n_dims < 2)
        return e;
    return e % info->shape[0] * info->shape[1] + e / info->shape[0];
}

static graphss_status convert(
    graphss_ctx *ctx, void *out, graphss_i_stream *stream, wanted_type type)
{
    const graphss_i_npy *npy = &stream->member->npy;
    const graphss_i_array_info *info = &npy->info;
    const bool real = info->kind == 'f';
    unsigned char raw[CHUNK * 8];
    union {
        int64_t i[CHUNK];
        double f[CHUNK];
    } wide;
    for (size_t done = 0; done < info->count;) {
        const size_t n = info->count - done < CHUNK ? info->count - done : CHUNK;
        const graphss_status st = graphss_i_stream_read(ctx, stream, raw, n * npy->width);
        if (st)
            return st;
        size_t sound = n;
        if (real)
            graphss_i_npy_reals(wide.f, npy, raw, n);
        else
            sound = graphss_i_npy_ints(wide.i, npy, raw, n);
        for (size_t i = 0; i < n; i++) {
            const size_t at = position_of(info, done + i);
            const bool fits = real ? store_real(out, at, type, wide.f[i])
                                   : i < sound && store_int(out, at, type, wide.i[i]);
            if (fits)
                continue;
            char value[40];
            if (real)
                snprintf(value, sizeof value, "%.9g", wide.f[i]);
            else if (i < sound)
                snprintf(value, sizeof value, "%lld", (long long)wide.i[i]);
            else
                snprintf(value, sizeof value, "%llu", (unsigned long long)wide.i[i]);
            return graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, stream->npz, stream->member->name,
                "entry %zu is %s, want %s", at, value, wanted[type].text);
        }
        done += n;
    }
    return graphss_i_stream_end(ctx, stream);
}

static graphss_status fetch(graphss_ctx *ctx, void **out, size_t *n, graphss_i_npz *npz,
    const char *array, size_t want, wanted_type type)
{
    const graphss_i_member *member = NULL;
    graphss_status st = graphss_i_npz_member(ctx, &member, npz, array);
    if (st)
        return st;
    const graphss_i_npy *npy = &member->npy;
    if (!strchr("biuf", npy->info.kind))
        return graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, npz, array, "strings, want numbers");
    if (want != SIZE_MAX && npy->info.count != want)
        return graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, npz, array, "%zu elements, want %zu",
            npy->info.count, want);
    const size_t size = wanted[type].size;
    graphss_i_stream stream = {0};
    st = graphss_i_stream_open(
        ctx, &stream, npz, member, size > npy->width ? size : npy->width);
    if (st)
        return st;
    void *block = graphss_i_alloc(ctx, npy->info.count, size);
    st = block ? convert(ctx, block, &stream, type) : GRAPHSS_ERR_NOMEM;
    graphss_i_stream_close(&stream);
    if (st) {
        graphss_release(ctx, block);
        return st;
    }
    *out = block;
    *n = npy->info.count;
    return GRAPHSS_OK;
}

graphss_status graphss_i_npz_int64(graphss_ctx *ctx, int64_t **out, size_t *n,
    graphss_i_npz *npz, const char *array, size_t want)
{
    void *block = NULL;
    const graphss_status st = fetch(ctx, &block, n, npz, array, want, INT64);
    if (st == GRAPHSS_OK)
        *out = block;
    return st;
}

graphss_status graphss_i_npz_int32(graphss_ctx *ctx, int32_t **out, size_t *n,
    graphss_i_npz *npz, const char *array, size_t want)
{
    void *block = NULL;
    const graphss_status st = fetch(ctx, &block, n, npz, array, want, INT32);
    if (st == GRAPHSS_OK)
        *out = block;
    return st;
}

graphss_status graphss_i_npz_float(graphss_ctx *ctx, float **out, size_t *n,
    graphss_i_npz *npz, const char *array, size_t want)
{
    void *block = NULL;
    const graphss_status st = fetch(ctx, &block, n, npz, array, want, FLOAT);
    if (st == GRAPHSS_OK)
        *out = block;
    return st;
}

graphss_status graphss_i_npz_double(graphss_ctx *ctx, double **out, size_t *n,
    graphss_i_npz *npz, const char *array, size_t want)
{
    void *block = NULL;
    const graphss_status st = fetch(ctx, &block, n, npz, array, want, DOUBLE);
    if (st == GRAPHSS_OK)
        *out = block;
    return st;
}

/* Arrays of strings: numpy's U (UCS-4) and S (bytes), both ways.
 *
 * Bytes that are not UTF-8 are taken as Latin-1, which is what old files hold. */

/* Characters of a string; *latin tells that its bytes are to be taken one by one. */
static size_t count_characters(bool *latin, const unsigned char *in, size_t n)
{
    *latin = !graphss_i_is_utf8(in, n);
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += *latin || (in[i] & 0xc0) != 0x80;
    return count;
}

graphss_status graphss_i_names_to_ucs4(
    graphss_ctx *ctx, uint32_t **out, size_t *width, const graphss_names *names)
{
    size_t longest = 1, cells; /* numpy has no strings of width 0 */
    bool latin;
    for (size_t i = 0; i < names->count; i++) {
        const char *name = graphss_names_get(names, i);
        const size_t n = count_characters(&latin, (const unsigned char *)name, strlen(name));
        longest = n > longest ? n : longest;
    }
    if (!graphss_i_mul(&cells, names->count, longest) ||
        cells > graphss_i_machine_memory() / 2 / sizeof **out)
        return graphss_i_fail(ctx, GRAPHSS_ERR_LIMIT,
            "%zu names, the longest of %zu characters, want no more than half of the memory "
            "holds",
            names->count, longest);
    uint32_t *block = graphss_i_calloc(ctx, cells, sizeof *block);
    if (!block)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < names->count; i++) {
        const unsigned char *name = (const unsigned char *)graphss_names_get(names, i);
        const size_t n = strlen((const char *)name);
        uint32_t *row = block + i * longest;
        (void)count_characters(&latin, name, n);
        for (size_t at = 0; at < n; row++) {
            if (latin)
                *row = name[at++];
            else
                at += graphss_i_utf8_take(row, name + at, n - at);
        }
    }
    *out = block;
    *width = longest;
    return GRAPHSS_OK;
}

/* One element of the array as UTF-8; SIZE_MAX when it holds what is no character. */
static size_t decode(unsigned char *out, const graphss_i_npy *npy, const unsigned char *raw)
{
    size_t n = npy->width / npy->info.item_size, length = 0;
    const bool wide = npy->info.kind == 'U';
    if (!wide) {
        while (n && raw[n - 1] == 0)
            n--;
        if (graphss_i_is_utf8(raw, n)) {
            memcpy(out, raw, n);
            return n;
        }
    }
    size_t end = 0; /* behind the last character; those after it are padding */
    for (size_t i = 0; i < n; i++) {
        uint32_t c = raw[i];
        if (wide) {
            const unsigned char *p = raw + 4 * i;
            c = npy->big
                    ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]
                    : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
        }
        if (!graphss_i_is_character(c))
            return SIZE_MAX;
        length += graphss_i_utf8_put(out + length, c);
        if (c)
            end = length;
    }
    return end;
}

static graphss_status read_strings(
    graphss_ctx *ctx, graphss_names *out, graphss_i_npz *npz, const graphss_i_member *member)
{
    const graphss_i_npy *npy = &member->npy;
    graphss_i_name_list list = {0};
    graphss_i_stream stream = {0};
    /* Beside its bytes each string costs an offset, even an empty one of dtype S0. */
    graphss_status st =
        graphss_i_stream_open(ctx, &stream, npz, member, npy->width + 2 * sizeof *list.start);
    if (st)
        return st;
    unsigned char *raw = graphss_i_alloc(ctx, npy->width, 1);
    unsigned char *text = graphss_i_alloc(ctx, npy->width, 2); /* Latin-1 doubles */
    if (!raw || !text)
        st = GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; st == GRAPHSS_OK && i < npy->info.count; i++) {
        st = graphss_i_stream_read(ctx, &stream, raw, npy->width);
        if (st)
            break;
        const size_t length = decode(text, npy, raw);
        if (length == SIZE_MAX || memchr(text, 0, length))
            st = graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, npz, member->name,
                "entry %zu holds an invalid character", i);
        else
            st = graphss_i_name_list_add(ctx, &list, (char *)text, length);
    }
    if (st == GRAPHSS_OK)
        st = graphss_i_stream_end(ctx, &stream);
    if (st == GRAPHSS_OK)
        st = graphss_i_name_list_finish(ctx, out, &list);
    graphss_i_stream_close(&stream);
    graphss_i_name_list_destroy(ctx, &list);
    graphss_release(ctx, text);
    graphss_release(ctx, raw);
    return st;
}

static graphss_status read_numbers(
    graphss_ctx *ctx, graphss_names *out, graphss_i_npz *npz, const char *array)
{
    int64_t *number = NULL;
    size_t n = 0;
    graphss_i_name_list list = {0};
    graphss_status st = graphss_i_npz_int64(ctx, &number, &n, npz, array, SIZE_MAX);
    for (size_t i = 0; st == GRAPHSS_OK && i < n; i++) {
        char text[24];
        const int length = snprintf(text, sizeof text, "%lld", (long long)number[i]);
        st = graphss_i_name_list_add(ctx, &list, text, (size_t)length);
    }
    if (st == GRAPHSS_OK)
        st = graphss_i_name_list_finish(ctx, out, &list);
    graphss_i_name_list_destroy(ctx, &list);
    graphss_release(ctx, number);
    return st;
}

graphss_status graphss_i_npz_names(
    graphss_ctx *ctx, graphss_names *out, graphss_i_npz *npz, const char *array, size_t want)
{
    const graphss_i_member *member = NULL;
    graphss_status st = graphss_i_npz_member(ctx, &member, npz, array);
    if (st)
        return st;
    const graphss_i_array_info *info = &member->npy.info;
    if (info->n_dims > 1)
        return graphss_i_npz_fail(
            ctx, GRAPHSS_ERR_DATA, npz, array, "two dimensions, want one");
    if (want != SIZE_MAX && info->count != want)
        return graphss_i_npz_fail(
            ctx, GRAPHSS_ERR_DATA, npz, array, "%zu elements, want %zu", info->count, want);
    if (info->kind == 'U' || info->kind == 'S')
        return read_strings(ctx, out, npz, member);
    return read_numbers(ctx, out, npz, array);
}
