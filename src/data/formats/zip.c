/* zip.c - reading zip files; see zip.h. Written over zlib, since the zip libraries at hand
 * bring a library of cryptography along, for encrypted members that numpy never makes.
 *
 * Layout (APPNOTE 6.3): members, each behind a local header; the central directory, a record
 * for each; an end record that says where the directory is, before it one for 64 bits if need
 * be. */
#include "data/formats/zip.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 65536, LONGEST_COMMENT = 65535 };

/* ---- bytes of the file ---- */

static uint16_t get16(const unsigned char *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t get32(const unsigned char *p)
{
    return get16(p) | (uint32_t)get16(p + 2) << 16;
}

static uint64_t get64(const unsigned char *p)
{
    return get32(p) | (uint64_t)get32(p + 4) << 32;
}

/* n bytes at a place, all of them; false: the file ends before, or cannot be read. */
static bool read_at(const graphss_i_zip *zip, void *bytes, size_t n, uint64_t at)
{
    unsigned char *to = bytes;
    if (at > zip->file_size || n > zip->file_size - at)
        return false;
    while (n) {
        const ssize_t some = pread(zip->fd, to, n, (off_t)at);
        if (some < 0 && errno == EINTR)
            continue;
        if (some <= 0)
            return false;
        to += some;
        at += (uint64_t)some;
        n -= (size_t)some;
    }
    return true;
}

/* ---- the directory ---- */

typedef struct directory {
    uint64_t entries, size, offset;
} directory;

/* The position of the end record, searched from the end, since a comment may follow it. */
static const char *find_end(graphss_ctx *ctx, const graphss_i_zip *zip, uint64_t *place)
{
    const size_t n = zip->file_size < ZIP_END_SIZE + LONGEST_COMMENT
                         ? (size_t)zip->file_size
                         : ZIP_END_SIZE + LONGEST_COMMENT;
    unsigned char *tail = n >= ZIP_END_SIZE ? graphss_i_alloc(ctx, n, 1) : NULL;
    if (n < ZIP_END_SIZE)
        return "it is too short";
    if (!tail)
        return NULL;
    const char *fault = "it has no directory";
    if (!read_at(zip, tail, n, zip->file_size - n))
        fault = "it cannot be read";
    else
        for (size_t i = n - ZIP_END_SIZE + 1; i-- > 0;)
            if (get32(tail + i) == ZIP_END && i + ZIP_END_SIZE + get16(tail + i + 20) <= n) {
                *place = zip->file_size - n + i;
                fault = "";
                break;
            }
    graphss_release(ctx, tail);
    return fault;
}

/* "": fine; NULL: no memory; else the fault. */
static const char *find_directory(graphss_ctx *ctx, const graphss_i_zip *zip, directory *out)
{
    uint64_t place = 0;
    unsigned char end[ZIP_END_SIZE], big[ZIP_END64_SIZE], locator[ZIP_LOCATOR_SIZE];
    const char *fault = find_end(ctx, zip, &place);
    if (!fault || *fault)
        return fault;
    if (!read_at(zip, end, sizeof end, place))
        return "it cannot be read";
    if (get16(end + 4) != 0 || get16(end + 6) != 0)
        return "it is one part of several";
    *out = (directory){get16(end + 10), get32(end + 12), get32(end + 16)};
    if (place >= sizeof locator &&
        read_at(zip, locator, sizeof locator, place - sizeof locator) &&
        get32(locator) == ZIP_LOCATOR) {
        if (!read_at(zip, big, sizeof big, get64(locator + 8)) || get32(big) != ZIP_END64)
            return "its 64-bit directory is not where it says";
        *out = (directory){get64(big + 32), get64(big + 40), get64(big + 48)};
    }
    if (out->offset > place || out->size > place - out->offset)
        return "its directory is not where it says";
    if (out->entries > out->size / ZIP_RECORD_SIZE)
        return "its directory is too short for its members";
    return "";
}

/* The 64-bit numbers of a record, in the order they are wanted. */
static bool take_big(graphss_i_zip_entry *e, const unsigned char *extra, size_t n)
{
    uint64_t *const field[] = {&e->size, &e->packed, &e->offset};
    bool wanted = false;
    for (size_t i = 0; i < 3; i++)
        wanted = *field[i] == UINT32_MAX || wanted;
    while (wanted && n >= 4) {
        const size_t length = get16(extra + 2);
        if (length > n - 4)
            return false;
        if (get16(extra) == ZIP_EXTRA64) {
            size_t at = 4;
            for (size_t i = 0; i < 3; i++)
                if (*field[i] == UINT32_MAX) {
                    if (at + 8 > 4 + length)
                        return false;
                    *field[i] = get64(extra + at);
                    at += 8;
                }
            return true;
        }
        extra += 4 + length;
        n -= 4 + length;
    }
    return true;
}

static const char *read_directory(graphss_ctx *ctx, graphss_i_zip *zip, const directory *dir)
{
    const char *fault = NULL;
    size_t letters = 0, at = 0;
    unsigned char *bytes = graphss_i_alloc(ctx, (size_t)dir->size, 1);
    zip->names = graphss_i_alloc(ctx, (size_t)(dir->size + dir->entries), 1);
    zip->entry = graphss_i_calloc(ctx, (size_t)dir->entries, sizeof *zip->entry);
    if (!bytes || !zip->names || !zip->entry)
        goto done;
    fault = "it cannot be read";
    if (!read_at(zip, bytes, (size_t)dir->size, dir->offset))
        goto done;
    fault = "its directory is broken";
    for (uint64_t i = 0; i < dir->entries; i++) {
        const unsigned char *r = bytes + at;
        if (dir->size - at < ZIP_RECORD_SIZE || get32(r) != ZIP_RECORD)
            goto done;
        const size_t name = get16(r + 28), extra = get16(r + 30), comment = get16(r + 32);
        if (dir->size - at - ZIP_RECORD_SIZE < name + extra + comment)
            goto done;
        graphss_i_zip_entry *e = &zip->entry[zip->n_entries++];
        *e = (graphss_i_zip_entry){.name = zip->names + letters,
            .encrypted = get16(r + 8) & 1,
            .method = get16(r + 10),
            .crc = get32(r + 16),
            .packed = get32(r + 20),
            .size = get32(r + 24),
            .offset = get32(r + 42)};
        memcpy(zip->names + letters, r + ZIP_RECORD_SIZE, name);
        zip->names[letters + name] = '\0';
        letters += name + 1;
        if (!take_big(e, r + ZIP_RECORD_SIZE + name, extra))
            goto done;
        at += ZIP_RECORD_SIZE + name + extra + comment;
    }
    fault = "";
done:
    graphss_release(ctx, bytes);
    return fault;
}

graphss_status graphss_i_zip_open(
    graphss_ctx *ctx, graphss_i_zip **out, const char *path, size_t most_entries)
{
    struct stat about;
    directory dir = {0};
    graphss_i_zip *zip = graphss_i_calloc(ctx, 1, sizeof *zip);
    graphss_status st = GRAPHSS_OK;
    if (!zip)
        return GRAPHSS_ERR_NOMEM;
    zip->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (zip->fd < 0 || fstat(zip->fd, &about) != 0) {
        st = errno == ENOENT   ? GRAPHSS_ERR_NOT_FOUND
             : errno == ENOMEM ? GRAPHSS_ERR_NOMEM
                               : GRAPHSS_ERR_IO;
        graphss_i_fail(ctx, st, "%s: %s", path, strerror(errno));
        goto done;
    }
    zip->file_size = (uint64_t)about.st_size;
    const char *fault = find_directory(ctx, zip, &dir);
    if (fault && !*fault && dir.entries > most_entries) {
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: %llu members, want at most %zu", path,
            (unsigned long long)dir.entries, most_entries);
        goto done;
    }
    if (fault && !*fault)
        fault = read_directory(ctx, zip, &dir);
    if (!fault)
        st = GRAPHSS_ERR_NOMEM;
    else if (*fault)
        st =
            graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: not a sound zip file: %s", path, fault);
done:
    if (st)
        graphss_i_zip_close(ctx, zip);
    else
        *out = zip;
    return st;
}

void graphss_i_zip_close(graphss_ctx *ctx, graphss_i_zip *zip)
{
    if (!zip)
        return;
    if (zip->fd >= 0)
        close(zip->fd);
    graphss_release(ctx, zip->entry);
    graphss_release(ctx, zip->names);
    graphss_release(ctx, zip);
}

/* ---- a member ---- */

const char *graphss_i_zip_fault_text(graphss_i_zip_fault fault)
{
    switch (fault) {
    case GRAPHSS_I_ZIP_OK:
        return "sound";
    case GRAPHSS_I_ZIP_NO_MEMORY:
        return "out of memory";
    case GRAPHSS_I_ZIP_BROKEN:
        return "its packed data are broken";
    case GRAPHSS_I_ZIP_CHECKSUM:
        return "its checksum is wrong";
    case GRAPHSS_I_ZIP_METHOD:
        return "it is packed in a way that is not read";
    case GRAPHSS_I_ZIP_UNREADABLE:
        return "it cannot be read";
    }
    return "?";
}

void *graphss_i_zip_alloc(void *ctx, unsigned count, unsigned size)
{
    return graphss_i_alloc(ctx, count, size);
}

void graphss_i_zip_release(void *ctx, void *block)
{
    graphss_release(ctx, block);
}

graphss_i_zip_fault graphss_i_zip_stream_open(graphss_i_zip_stream *s, graphss_ctx *ctx,
    const graphss_i_zip *zip, const graphss_i_zip_entry *entry)
{
    unsigned char local[ZIP_LOCAL_SIZE];
    if (entry->encrypted || (entry->method != ZIP_STORED && entry->method != ZIP_DEFLATED))
        return GRAPHSS_I_ZIP_METHOD;
    if (!read_at(zip, local, sizeof local, entry->offset) || get32(local) != ZIP_LOCAL)
        return GRAPHSS_I_ZIP_BROKEN;
    const uint64_t at = entry->offset + ZIP_LOCAL_SIZE + get16(local + 26) + get16(local + 28);
    if (at > zip->file_size || entry->packed > zip->file_size - at ||
        (entry->method == ZIP_STORED && entry->packed != entry->size))
        return GRAPHSS_I_ZIP_BROKEN;
    graphss_i_zip_stream made = {
        .ctx = ctx, .zip = zip, .entry = entry, .at = at, .left = entry->packed};
    if (entry->method == ZIP_DEFLATED) {
        made.buffer = graphss_i_alloc(ctx, BUFFER, 1);
        if (!made.buffer)
            return GRAPHSS_I_ZIP_NO_MEMORY;
        *s = made; /* zlib keeps a pointer to its stream */
        s->z.zalloc = graphss_i_zip_alloc;
        s->z.zfree = graphss_i_zip_release;
        s->z.opaque = ctx;
        if (inflateInit2(&s->z, -MAX_WBITS) != Z_OK) {
            graphss_release(ctx, s->buffer);
            *s = (graphss_i_zip_stream){0};
            return GRAPHSS_I_ZIP_NO_MEMORY;
        }
        return GRAPHSS_I_ZIP_OK;
    }
    *s = made;
    return GRAPHSS_I_ZIP_OK;
}

static graphss_i_zip_fault read_stored(
    graphss_i_zip_stream *s, void *bytes, size_t n, size_t *got)
{
    *got = n < s->left ? n : (size_t)s->left;
    if (!read_at(s->zip, bytes, *got, s->at))
        return GRAPHSS_I_ZIP_UNREADABLE;
    s->at += *got;
    s->left -= *got;
    return GRAPHSS_I_ZIP_OK;
}

static graphss_i_zip_fault refill(graphss_i_zip_stream *s)
{
    const size_t n = s->left < BUFFER ? (size_t)s->left : BUFFER;
    if (!read_at(s->zip, s->buffer, n, s->at))
        return GRAPHSS_I_ZIP_UNREADABLE;
    s->at += n;
    s->left -= n;
    s->z.next_in = s->buffer;
    s->z.avail_in = (unsigned)n;
    return GRAPHSS_I_ZIP_OK;
}

static graphss_i_zip_fault read_deflated(
    graphss_i_zip_stream *s, void *bytes, size_t n, size_t *got)
{
    const unsigned room = n < (1u << 30) ? (unsigned)n : 1u << 30;
    s->z.next_out = bytes;
    s->z.avail_out = room;
    while (s->z.avail_out && !s->ended) {
        if (!s->z.avail_in && s->left) {
            const graphss_i_zip_fault fault = refill(s);
            if (fault)
                return fault;
        }
        const int code = inflate(&s->z, Z_NO_FLUSH);
        s->ended = code == Z_STREAM_END;
        if (code == Z_MEM_ERROR)
            return GRAPHSS_I_ZIP_NO_MEMORY;
        if (code != Z_OK && code != Z_STREAM_END) /* Z_BUF_ERROR: the packed data end early */
            return GRAPHSS_I_ZIP_BROKEN;
    }
    *got = room - s->z.avail_out;
    return GRAPHSS_I_ZIP_OK;
}

graphss_i_zip_fault graphss_i_zip_stream_read(
    graphss_i_zip_stream *s, void *bytes, size_t n, size_t *got)
{
    *got = 0;
    if (!n)
        return GRAPHSS_I_ZIP_OK;
    const graphss_i_zip_fault fault = s->entry->method == ZIP_STORED
                                          ? read_stored(s, bytes, n, got)
                                          : read_deflated(s, bytes, n, got);
    if (fault)
        return fault;
    const unsigned char *at = bytes;
    for (size_t done = 0; done < *got;) {
        const size_t some = *got - done < (1u << 30) ? *got - done : 1u << 30;
        s->crc = (uint32_t)crc32(s->crc, at + done, (unsigned)some);
        done += some;
    }
    s->given += *got;
    if (s->given > s->entry->size)
        return GRAPHSS_I_ZIP_BROKEN;
    if (*got == 0 && s->given != s->entry->size)
        return GRAPHSS_I_ZIP_BROKEN;
    return *got == 0 && s->crc != s->entry->crc ? GRAPHSS_I_ZIP_CHECKSUM : GRAPHSS_I_ZIP_OK;
}

void graphss_i_zip_stream_close(graphss_i_zip_stream *s)
{
    if (s->buffer)
        inflateEnd(&s->z);
    if (s->ctx)
        graphss_release(s->ctx, s->buffer);
    *s = (graphss_i_zip_stream){0};
}
