/* npz.c - the zip around numpy's arrays, over zip.h.
 *
 * Hostile files cost no memory: a header must agree with its member's size to the byte,
 * and arrays that no other array bounds (all but *_data, which are as long as the indices
 * beside them) may not claim more than a file of its size plausibly holds. */
#include "data/formats/npz_private.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_MEMBERS = 4096 };
static const uint64_t plausible_least = (uint64_t)256 << 20;
static const uint64_t plausible_ratio = 256;

graphss_status graphss_i_npz_fail(graphss_ctx *ctx, graphss_status status,
    const graphss_i_npz *npz, const char *array, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return graphss_i_fail(ctx, status, "%s: array '%s': %s", npz->path, array, text);
}

graphss_status graphss_i_npz_fail_in(
    graphss_ctx *ctx, graphss_status status, const graphss_i_npz *npz)
{
    return graphss_i_fail_in(ctx, status, npz->path);
}

static graphss_status fault_status(graphss_i_zip_fault fault)
{
    return fault == GRAPHSS_I_ZIP_NO_MEMORY    ? GRAPHSS_ERR_NOMEM
           : fault == GRAPHSS_I_ZIP_UNREADABLE ? GRAPHSS_ERR_IO
                                               : GRAPHSS_ERR_DATA;
}

/* Parses the header of a member; faults go to member->fault, except for lack of memory. */
static graphss_status read_header(
    graphss_ctx *ctx, const graphss_i_zip *zip, graphss_i_member *member)
{
    unsigned char bytes[GRAPHSS_I_NPY_HEADER];
    graphss_i_zip_stream file = {0};
    graphss_status st = GRAPHSS_OK;
    member->fault = "cannot be opened";
    graphss_i_zip_fault fault = graphss_i_zip_stream_open(&file, ctx, zip, member->entry);
    if (fault)
        return fault == GRAPHSS_I_ZIP_NO_MEMORY ? GRAPHSS_ERR_NOMEM : GRAPHSS_OK;
    member->fault = "is corrupt";
    size_t have = 0, want = GRAPHSS_I_NPY_PREFIX;
    for (int stage = 0; stage < 2; stage++) {
        while (have < want) {
            size_t got;
            fault = graphss_i_zip_stream_read(&file, bytes + have, want - have, &got);
            if (fault == GRAPHSS_I_ZIP_NO_MEMORY)
                st = GRAPHSS_ERR_NOMEM;
            if (fault)
                goto done;
            if (got == 0)
                break;
            have += got;
        }
        if (stage == 0) {
            want = graphss_i_npy_header_size(&member->fault, bytes, have);
            if (member->fault)
                goto done;
            member->fault = "is corrupt";
        }
    }
    member->fault = graphss_i_npy_parse(&member->npy, bytes, have);
    if (member->fault)
        goto done;
    const graphss_i_npy *npy = &member->npy;
    size_t whole;
    if (npy->info.kind == 'O')
        member->fault = "holds Python objects, which are not read";
    else if (npy->info.kind == 'V')
        member->fault = "has a dtype that is not read";
    else if (!graphss_i_mul(&whole, npy->info.count, npy->width) ||
             !graphss_i_add(&whole, whole, npy->header) || whole != member->entry->size)
        member->fault = "has a size that disagrees with its header";
    else if (npy->info.n_dims > 2)
        member->fault = "has more than two dimensions";
done:
    graphss_i_zip_stream_close(&file);
    return st;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const graphss_i_member *)a)->name, ((const graphss_i_member *)b)->name);
}

static graphss_status list_members(graphss_ctx *ctx, graphss_i_npz *npz)
{
    npz->member = graphss_i_calloc(ctx, npz->zip->n_entries, sizeof *npz->member);
    if (!npz->member)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < npz->zip->n_entries; i++) {
        const graphss_i_zip_entry *entry = &npz->zip->entry[i];
        const size_t length = strlen(entry->name);
        if (length < 5 || strcmp(entry->name + length - 4, ".npy") != 0)
            continue;
        graphss_i_member *member = &npz->member[npz->n_members];
        member->name = graphss_i_copy(ctx, entry->name, length - 3, 1);
        if (!member->name)
            return GRAPHSS_ERR_NOMEM;
        npz->n_members++;
        member->name[length - 4] = 0;
        member->entry = entry;
        if (entry->encrypted) {
            member->fault = "is encrypted";
            continue;
        }
        const graphss_status st = read_header(ctx, npz->zip, member);
        if (st)
            return st;
    }
    if (npz->n_members == 0)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_DATA, "%s: a zip file without arrays", npz->path);
    qsort(npz->member, npz->n_members, sizeof *npz->member, by_name);
    for (size_t i = 1; i < npz->n_members; i++)
        if (strcmp(npz->member[i - 1].name, npz->member[i].name) == 0)
            return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "%s: members %zu and %zu have the same name", npz->path,
                (size_t)(npz->member[i - 1].entry - npz->zip->entry),
                (size_t)(npz->member[i].entry - npz->zip->entry));
    return GRAPHSS_OK;
}

graphss_status graphss_i_npz_open(
    graphss_ctx *ctx, graphss_i_npz **out, const char *path, uint64_t max_bytes)
{
    struct stat about;
    if (stat(path, &about) != 0)
        return graphss_i_fail(ctx, errno == ENOENT ? GRAPHSS_ERR_NOT_FOUND : GRAPHSS_ERR_IO,
            "%s: %s", path, strerror(errno));
    if (!S_ISREG(about.st_mode))
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: not a file, want an .npz", path);
    graphss_i_npz *npz = graphss_i_calloc(ctx, 1, sizeof *npz);
    if (!npz)
        return GRAPHSS_ERR_NOMEM;
    graphss_status st = GRAPHSS_ERR_NOMEM;
    npz->max_bytes = max_bytes ? max_bytes : graphss_i_machine_memory() / 4 * 3;
    npz->plausible_bytes = (uint64_t)about.st_size * plausible_ratio;
    if (npz->plausible_bytes < plausible_least)
        npz->plausible_bytes = plausible_least;
    npz->path = graphss_i_strdup(ctx, path);
    if (!npz->path)
        goto fail;
    st = graphss_i_zip_open(ctx, &npz->zip, path, MOST_MEMBERS);
    if (st)
        goto fail;
    st = list_members(ctx, npz);
    if (st)
        goto fail;
    *out = npz;
    return GRAPHSS_OK;
fail:
    graphss_i_npz_close(ctx, npz);
    return st;
}

void graphss_i_npz_close(graphss_ctx *ctx, graphss_i_npz *npz)
{
    if (!npz)
        return;
    graphss_i_zip_close(ctx, npz->zip);
    for (size_t i = 0; i < npz->n_members; i++)
        graphss_release(ctx, npz->member[i].name);
    graphss_release(ctx, npz->member);
    graphss_release(ctx, npz->path);
    graphss_release(ctx, npz);
}

static const graphss_i_member *find_member(const graphss_i_npz *npz, const char *array)
{
    for (size_t i = 0; i < npz->n_members; i++)
        if (strcmp(npz->member[i].name, array) == 0)
            return &npz->member[i];
    return NULL;
}

bool graphss_i_npz_has(const graphss_i_npz *npz, const char *array)
{
    const graphss_i_member *member = find_member(npz, array);
    return member && member->npy.info.kind != 'O' && member->npy.info.kind != 'V';
}

bool graphss_i_npz_wants(
    graphss_ctx *ctx, const graphss_i_npz *npz, const char *array, const char *so)
{
    if (graphss_i_npz_has(npz, array))
        return true;
    const graphss_i_member *member = find_member(npz, array);
    if (member)
        graphss_i_log(ctx, GRAPHSS_LOG_WARN, "%s: array '%s' %s: passed over%s%s", npz->path,
            array, member->fault, so ? ", " : "", so ? so : "");
    return false;
}

graphss_status graphss_i_npz_member(graphss_ctx *ctx, const graphss_i_member **out,
    const graphss_i_npz *npz, const char *array)
{
    const graphss_i_member *member = find_member(npz, array);
    if (!member)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_DATA, "%s: array '%s' is missing", npz->path, array);
    if (member->fault)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_DATA, "%s: array '%s' %s", npz->path, array, member->fault);
    *out = member;
    return GRAPHSS_OK;
}

graphss_status graphss_i_npz_info(
    graphss_ctx *ctx, graphss_i_array_info *out, const graphss_i_npz *npz, const char *array)
{
    const graphss_i_member *member = NULL;
    const graphss_status st = graphss_i_npz_member(ctx, &member, npz, array);
    if (st == GRAPHSS_OK)
        *out = member->npy.info;
    return st;
}

/* As long as the indices of the same matrix, which the readers check first. */
static bool bounded_elsewhere(const char *array)
{
    const size_t n = strlen(array);
    return n >= 4 && strcmp(array + n - 4, "data") == 0;
}

graphss_status graphss_i_npz_claim(
    graphss_ctx *ctx, graphss_i_npz *npz, const char *array, size_t count, size_t item)
{
    size_t bytes;
    if (!graphss_i_mul(&bytes, count, item))
        bytes = SIZE_MAX;
    if (!bounded_elsewhere(array)) {
        if (bytes > npz->plausible_bytes - npz->plausible_used)
            return graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, npz, array,
                "%zu elements are implausible in a file of this size "
                "(at most %llu bytes in all)",
                count, (unsigned long long)npz->plausible_bytes);
        npz->plausible_used += bytes;
    }
    if (bytes > npz->max_bytes - npz->claimed)
        return graphss_i_npz_fail(ctx, GRAPHSS_ERR_LIMIT, npz, array,
            "%zu elements go beyond the limit of %llu bytes", count,
            (unsigned long long)npz->max_bytes);
    npz->claimed += bytes;
    return GRAPHSS_OK;
}

static graphss_status fail_reading(
    graphss_ctx *ctx, const graphss_i_stream *stream, graphss_i_zip_fault fault)
{
    return graphss_i_npz_fail(ctx, fault_status(fault), stream->npz, stream->member->name,
        "%s%s",
        fault == GRAPHSS_I_ZIP_NO_MEMORY ? "" : "corrupt: ", graphss_i_zip_fault_text(fault));
}

graphss_status graphss_i_stream_open(graphss_ctx *ctx, graphss_i_stream *out,
    graphss_i_npz *npz, const graphss_i_member *member, size_t item)
{
    unsigned char header[GRAPHSS_I_NPY_HEADER];
    graphss_status st =
        graphss_i_npz_claim(ctx, npz, member->name, member->npy.info.count, item);
    if (st)
        return st;
    *out = (graphss_i_stream){.npz = npz, .member = member};
    const graphss_i_zip_fault fault =
        graphss_i_zip_stream_open(&out->file, ctx, npz->zip, member->entry);
    if (fault)
        st = graphss_i_npz_fail(ctx, fault_status(fault), npz, member->name,
            "cannot be opened: %s", graphss_i_zip_fault_text(fault));
    else
        st = graphss_i_stream_read(ctx, out, header, member->npy.header);
    if (st)
        graphss_i_stream_close(out);
    return st;
}

graphss_status graphss_i_stream_read(
    graphss_ctx *ctx, graphss_i_stream *stream, void *bytes, size_t n)
{
    unsigned char *at = bytes;
    while (n) {
        size_t got;
        const graphss_i_zip_fault fault =
            graphss_i_zip_stream_read(&stream->file, at, n, &got);
        if (fault)
            return fail_reading(ctx, stream, fault);
        if (got == 0)
            return graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, stream->npz, stream->member->name,
                "corrupt: it ends early");
        at += got;
        n -= got;
    }
    return GRAPHSS_OK;
}

graphss_status graphss_i_stream_end(graphss_ctx *ctx, graphss_i_stream *stream)
{
    char extra;
    size_t got;
    const graphss_i_zip_fault fault =
        graphss_i_zip_stream_read(&stream->file, &extra, 1, &got);
    if (fault)
        return fail_reading(ctx, stream, fault);
    if (got > 0)
        return graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, stream->npz, stream->member->name,
            "corrupt: it is longer than its header says");
    return GRAPHSS_OK;
}

void graphss_i_stream_close(graphss_i_stream *stream)
{
    graphss_i_zip_stream_close(&stream->file);
    *stream = (graphss_i_stream){0};
}
