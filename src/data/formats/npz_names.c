/* npz_names.c - arrays of strings: numpy's U (UCS-4) and S (bytes), both ways.
 *
 * Bytes that are not UTF-8 are taken as Latin-1, which is what old files hold. */
#include "data/build.h"
#include "data/formats/npz_private.h"
#include <string.h>

/* Characters of a string; *latin tells that its bytes are to be taken one by one. */
static size_t count_characters(bool *latin, const unsigned char *in, size_t n)
{
    *latin = !graphss_i_is_utf8(in, n);
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += *latin || (in[i] & 0xc0) != 0x80;
    return count;
}

graphss_status graphss_i_names_to_ucs4(graphss_ctx *ctx, uint32_t **out, size_t *width,
                                       const graphss_names *names)
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
                              "%zu names, the longest of %zu characters, want what half of "
                              "the memory holds at that width",
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

static graphss_status read_strings(graphss_ctx *ctx, graphss_names *out, graphss_i_npz *npz,
                                   const graphss_i_member *member)
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
                                    "entry %zu holds what is no character", i);
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

static graphss_status read_numbers(graphss_ctx *ctx, graphss_names *out, graphss_i_npz *npz,
                                   const char *array)
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

graphss_status graphss_i_npz_names(graphss_ctx *ctx, graphss_names *out, graphss_i_npz *npz,
                                   const char *array, size_t want)
{
    const graphss_i_member *member = NULL;
    graphss_status st = graphss_i_npz_member(ctx, &member, npz, array);
    if (st)
        return st;
    const graphss_i_array_info *info = &member->npy.info;
    if (info->n_dims > 1)
        return graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, npz, array,
                                  "two dimensions, want one");
    if (want != SIZE_MAX && info->count != want)
        return graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, npz, array, "%zu elements, want %zu",
                                  info->count, want);
    if (info->kind == 'U' || info->kind == 'S')
        return read_strings(ctx, out, npz, member);
    return read_numbers(ctx, out, npz, array);
}
