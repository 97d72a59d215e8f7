/* packed.c - gunzip in memory. The unpacked size in the file is not trusted, so the block
 * doubles up to the limit: a small file cannot ask for all memory. */
#include "data/formats/zip.h"
#include <string.h>
#include <zlib.h>

const char *graphss_i_packed_name(const char *path)
{
    return strcmp(path, "-") ? path : "standard input";
}

static void *zip_alloc(void *user, uInt count, uInt size)
{
    return graphss_i_calloc(user, count, size);
}

static void zip_release(void *user, void *block)
{
    graphss_release(user, block);
}

typedef struct unpacked {
    char *text;
    size_t used, room; /* room for the NUL included */
} unpacked;

static graphss_status more_room(
    graphss_ctx *ctx, unpacked *out, const char *name, uint64_t max)
{
    if (out->used > max)
        return graphss_i_fail(ctx, GRAPHSS_ERR_LIMIT,
            "%s: more than the %llu bytes allowed once unpacked", name,
            (unsigned long long)max);
    if (out->used + 1 < out->room)
        return GRAPHSS_OK;
    const size_t room = out->room ? 2 * out->room : 65536;
    char *grown = graphss_i_grow(ctx, out->text, out->used, room, 1);
    if (!grown)
        return GRAPHSS_ERR_NOMEM;
    out->text = grown;
    out->room = room;
    return GRAPHSS_OK;
}

/* All members of the file: gzip files may be concatenated. */
static graphss_status inflate_all(graphss_ctx *ctx, unpacked *out, z_stream *z, char *packed,
    size_t n, const char *name, uint64_t max)
{
    char *at = packed, *end = packed + n;
    for (;;) {
        const graphss_status st = more_room(ctx, out, name, max);
        if (st)
            return st;
        const size_t left = (size_t)(end - at), room = out->room - 1 - out->used;
        const uInt most = 1u << 30;
        z->next_in = (Bytef *)at;
        z->avail_in = left < most ? (uInt)left : most;
        z->next_out = (Bytef *)out->text + out->used;
        z->avail_out = room < most ? (uInt)room : most;
        const uInt given = z->avail_in, offered = z->avail_out;
        const int code = inflate(z, Z_NO_FLUSH);
        at += given - z->avail_in;
        out->used += offered - z->avail_out;
        if (code == Z_MEM_ERROR)
            return GRAPHSS_ERR_NOMEM;
        if (code == Z_STREAM_END) {
            if (at == end)
                break;
            if (inflateReset(z) != Z_OK || (size_t)(end - at) < 2 || memcmp(at, "\x1f\x8b", 2))
                return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                    "%s: byte %zu: found bytes after the end of the gzip file, want none",
                    name, (size_t)(at - packed));
            continue;
        }
        if (code != Z_OK && code != Z_BUF_ERROR)
            return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "%s: byte %zu: damaged gzip file (%s)", name, (size_t)(at - packed),
                z->msg ? z->msg : "no reason given");
        if (at == end && z->avail_out)
            return graphss_i_fail(
                ctx, GRAPHSS_ERR_DATA, "%s: byte %zu: the gzip file is cut short", name, n);
    }
    return out->used > max ? more_room(ctx, out, name, max) : GRAPHSS_OK;
}

static graphss_status unpack(graphss_ctx *ctx, char **bytes, size_t *n, char *packed,
    size_t n_packed, const char *name, uint64_t max)
{
    unpacked out = {0};
    z_stream z = {.zalloc = zip_alloc, .zfree = zip_release, .opaque = ctx};
    enum { GZIP = 15 + 16 }; /* the largest window, and a gzip header */
    if (inflateInit2(&z, GZIP) != Z_OK)
        return GRAPHSS_ERR_NOMEM;
    const graphss_status st = inflate_all(ctx, &out, &z, packed, n_packed, name, max);
    inflateEnd(&z);
    if (st) {
        graphss_release(ctx, out.text);
        return st;
    }
    out.text[out.used] = '\0';
    *bytes = out.text;
    *n = out.used;
    return GRAPHSS_OK;
}

graphss_status graphss_i_packed_read(
    graphss_ctx *ctx, char **bytes, size_t *n, const char *path, uint64_t max)
{
    char *text = NULL;
    size_t length = 0;
    graphss_status st =
        graphss_i_file_read(ctx, &text, &length, strcmp(path, "-") ? path : "/dev/stdin", max);
    if (st)
        return st;
    if (length < 2 || memcmp(text, "\x1f\x8b", 2)) {
        *bytes = text;
        *n = length;
        return GRAPHSS_OK;
    }
    st = unpack(ctx, bytes, n, text, length, graphss_i_packed_name(path), max);
    graphss_release(ctx, text);
    return st;
}
