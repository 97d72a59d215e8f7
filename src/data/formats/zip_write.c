/* zip_write.c - writing zip files; see zip.h. A member is deflated into memory first, so that
 * its header has the length: readers that do not seek need it there. */
#include "data/formats/zip.h"
#include <string.h>

/* Level 4 takes a third of the time of level 6 for a tenth more bytes. */
enum { LEVEL = 4, FIRST_ROOM = 65536, LONGEST_NAME = 1024 };
enum { DATE = 1 << 5 | 1, UNIX_FILE = 3 };
static const uint32_t plain_file = 0100666u << 16;

/* ---- records ---- */

typedef struct record {
    unsigned char bytes[ZIP_RECORD_SIZE + LONGEST_NAME + 32];
    size_t n;
} record;

static void put(record *r, uint64_t value, size_t width)
{
    for (size_t b = 0; b < width; b++)
        r->bytes[r->n++] = (unsigned char)(value >> (8 * b));
}

static void put_text(record *r, const char *text, size_t n)
{
    memcpy(r->bytes + r->n, text, n);
    r->n += n;
}

static uint32_t small(uint64_t value)
{
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

/* Version, flags, method, time, date, checksum, sizes, length of the name: as both the local
 * header and the record of the directory have them. A member that needs 64 bits says so in an
 * extra field. */
static void put_about(record *r, const graphss_i_zip_entry *e, size_t n_name, size_t n_extra)
{
    put(r, n_extra ? 45 : 20, 2);
    put(r, 0, 2);
    put(r, ZIP_DEFLATED, 2);
    put(r, 0, 2);
    put(r, DATE, 2);
    put(r, e->crc, 4);
    put(r, small(e->packed), 4);
    put(r, small(e->size), 4);
    put(r, n_name, 2);
    put(r, n_extra, 2);
}

static void put_big(record *r, const uint64_t *value, size_t n)
{
    size_t big = 0;
    for (size_t i = 0; i < n; i++)
        big += value[i] >= UINT32_MAX;
    if (!big)
        return;
    put(r, ZIP_EXTRA64, 2);
    put(r, 8 * big, 2);
    for (size_t i = 0; i < n; i++)
        if (value[i] >= UINT32_MAX)
            put(r, value[i], 8);
}

static size_t big_size(const uint64_t *value, size_t n)
{
    record r = {.n = 0};
    put_big(&r, value, n);
    return r.n;
}

static void local_header(record *r, const graphss_i_zip_entry *e)
{
    /* A local header has both sizes in 64 bits, or none. */
    const bool big = e->size >= UINT32_MAX || e->packed >= UINT32_MAX;
    graphss_i_zip_entry shown = *e;
    const size_t n_name = strlen(e->name);
    if (big)
        shown.size = shown.packed = UINT32_MAX;
    r->n = 0;
    put(r, ZIP_LOCAL, 4);
    put_about(r, &shown, n_name, big ? 20 : 0);
    put_text(r, e->name, n_name);
    if (big) {
        put(r, ZIP_EXTRA64, 2);
        put(r, 16, 2);
        put(r, e->size, 8);
        put(r, e->packed, 8);
    }
}

static void directory_record(record *r, const graphss_i_zip_entry *e)
{
    const uint64_t value[] = {e->size, e->packed, e->offset};
    const size_t n_extra = big_size(value, 3), n_name = strlen(e->name);
    r->n = 0;
    put(r, ZIP_RECORD, 4);
    put(r, 63 | UNIX_FILE << 8, 2);
    put_about(r, e, n_name, n_extra);
    put(r, 0, 2); /* no comment */
    put(r, 0, 2); /* part 0 */
    put(r, 0, 2); /* not text */
    put(r, plain_file, 4);
    put(r, small(e->offset), 4);
    put_text(r, e->name, n_name);
    put_big(r, value, 3);
}

/* ---- members ---- */

static graphss_status write_bytes(
    graphss_ctx *ctx, graphss_i_zip_writer *w, const void *bytes, size_t n)
{
    w->at += n;
    return graphss_i_output_write(ctx, w->out, bytes, n);
}

typedef struct packed {
    unsigned char *bytes;
    size_t n, room;
} packed;

/* Deflates a piece; last: to the end. */
static bool deflate_piece(
    graphss_ctx *ctx, packed *p, z_stream *z, const void *piece, size_t n, bool last)
{
    union { /* zlib's next_in is const only where ZLIB_CONST is defined */
        const void *constant;
        unsigned char *plain;
    } from = {piece};
    for (bool more = true; more;) {
        const unsigned some = n < (1u << 30) ? (unsigned)n : 1u << 30;
        z->next_in = from.plain;
        z->avail_in = some;
        from.plain += some;
        n -= some;
        const int how = last && n == 0 ? Z_FINISH : Z_NO_FLUSH;
        do {
            if (p->n == p->room) {
                const size_t room = p->room ? 2 * p->room : FIRST_ROOM;
                unsigned char *bytes = graphss_i_grow(ctx, p->bytes, p->n, room, 1);
                if (!bytes)
                    return false;
                p->bytes = bytes;
                p->room = room;
            }
            const size_t space = p->room - p->n;
            z->next_out = p->bytes + p->n;
            z->avail_out = space < (1u << 30) ? (unsigned)space : 1u << 30;
            const unsigned before = z->avail_out;
            if (deflate(z, how) == Z_STREAM_ERROR)
                return false;
            p->n += before - z->avail_out;
        } while (z->avail_out == 0);
        more = n > 0;
    }
    return true;
}

static uint32_t checksum(uint32_t crc, const void *piece, size_t n)
{
    const unsigned char *at = piece;
    while (n) {
        const unsigned some = n < (1u << 30) ? (unsigned)n : 1u << 30;
        crc = (uint32_t)crc32(crc, at, some);
        at += some;
        n -= some;
    }
    return crc;
}

static graphss_status remember(graphss_ctx *ctx, graphss_i_zip_writer *w, const record *r)
{
    if (w->room - w->used < r->n) {
        const size_t room = 2 * w->room + r->n;
        unsigned char *bytes = graphss_i_grow(ctx, w->directory, w->used, room, 1);
        if (!bytes)
            return GRAPHSS_ERR_NOMEM;
        w->directory = bytes;
        w->room = room;
    }
    memcpy(w->directory + w->used, r->bytes, r->n);
    w->used += r->n;
    w->n_entries++;
    return GRAPHSS_OK;
}

graphss_status graphss_i_zip_add(graphss_ctx *ctx, graphss_i_zip_writer *w, const char *name,
    const void *first, size_t n_first, const void *second, size_t n_second)
{
    packed p = {0};
    record r = {.n = 0};
    graphss_i_zip_entry e = {.name = name, .size = n_first + n_second, .offset = w->at};
    z_stream z = {
        .zalloc = graphss_i_zip_alloc, .zfree = graphss_i_zip_release, .opaque = ctx};
    if (strlen(name) > LONGEST_NAME)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INTERNAL, "the name of a member is too long");
    if (deflateInit2(&z, LEVEL, Z_DEFLATED, -MAX_WBITS, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        return GRAPHSS_ERR_NOMEM;
    graphss_status st = GRAPHSS_ERR_NOMEM;
    if (!deflate_piece(ctx, &p, &z, first ? first : "", n_first, n_second == 0) ||
        (n_second && !deflate_piece(ctx, &p, &z, second, n_second, true)))
        goto done;
    e.packed = p.n;
    e.crc = checksum(checksum(0, first, n_first), second, n_second);
    local_header(&r, &e);
    st = write_bytes(ctx, w, r.bytes, r.n);
    if (!st)
        st = write_bytes(ctx, w, p.bytes, p.n);
    directory_record(&r, &e);
    if (!st)
        st = remember(ctx, w, &r);
done:
    deflateEnd(&z);
    graphss_release(ctx, p.bytes);
    return st;
}

graphss_status graphss_i_zip_finish(graphss_ctx *ctx, graphss_i_zip_writer *w)
{
    const uint64_t start = w->at, size = w->used, n = w->n_entries;
    const bool big = start >= UINT32_MAX || size >= UINT32_MAX || n >= UINT16_MAX;
    record r = {.n = 0};
    graphss_status st = write_bytes(ctx, w, w->directory, w->used);
    if (big) {
        const uint64_t place = w->at;
        put(&r, ZIP_END64, 4);
        put(&r, ZIP_END64_SIZE - 12, 8);
        put(&r, 45 | UNIX_FILE << 8, 2);
        put(&r, 45, 2);
        put(&r, 0, 8); /* part 0, twice */
        put(&r, n, 8);
        put(&r, n, 8);
        put(&r, size, 8);
        put(&r, start, 8);
        put(&r, ZIP_LOCATOR, 4);
        put(&r, 0, 4);
        put(&r, place, 8);
        put(&r, 1, 4);
    }
    put(&r, ZIP_END, 4);
    put(&r, 0, 4);
    put(&r, n < UINT16_MAX ? n : UINT16_MAX, 2);
    put(&r, n < UINT16_MAX ? n : UINT16_MAX, 2);
    put(&r, small(size), 4);
    put(&r, small(start), 4);
    put(&r, 0, 2);
    if (!st)
        st = write_bytes(ctx, w, r.bytes, r.n);
    graphss_i_zip_abandon(ctx, w);
    return st;
}

void graphss_i_zip_abandon(graphss_ctx *ctx, graphss_i_zip_writer *w)
{
    graphss_release(ctx, w->directory);
    *w = (graphss_i_zip_writer){0};
}
