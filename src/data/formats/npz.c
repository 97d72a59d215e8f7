/* npz.c - the zip around numpy's arrays, over libzip.
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
#include <zlib.h>

enum { MOST_MEMBERS = 4096 };
static const uint64_t plausible_least = (uint64_t)256 << 20;
static const uint64_t plausible_ratio = 256;

graphss_status graphss_i_npz_fail(graphss_ctx *ctx, graphss_status status,
                                  const graphss_i_npz *npz, const char *array,
                                  const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return graphss_i_fail(ctx, status, "%s: array '%s': %s", npz->path, array, text);
}

graphss_status graphss_i_npz_fail_in(graphss_ctx *ctx, graphss_status status,
                                     const graphss_i_npz *npz)
{
    return graphss_i_fail_in(ctx, status, npz->path);
}

graphss_status graphss_i_zip_status(const zip_error_t *error)
{
    switch (zip_error_code_zip(error)) {
    case ZIP_ER_NOENT:
        return GRAPHSS_ERR_NOT_FOUND;
    case ZIP_ER_MEMORY:
        return GRAPHSS_ERR_NOMEM;
    case ZIP_ER_ZLIB:
        return zip_error_code_system(error) == Z_MEM_ERROR ? GRAPHSS_ERR_NOMEM
                                                           : GRAPHSS_ERR_DATA;
    case ZIP_ER_READ:
    case ZIP_ER_SEEK:
        return zip_error_code_system(error) == ENOMEM ? GRAPHSS_ERR_NOMEM : GRAPHSS_ERR_DATA;
    case ZIP_ER_OPEN:
        switch (zip_error_code_system(error)) {
        case ENOENT:
            return GRAPHSS_ERR_NOT_FOUND;
        case ENOMEM:
            return GRAPHSS_ERR_NOMEM;
        default:
            return GRAPHSS_ERR_IO;
        }
    default:
        return GRAPHSS_ERR_DATA;
    }
}

static graphss_status no_memory_for(graphss_ctx *ctx, const char *path)
{
    return graphss_i_fail(ctx, GRAPHSS_ERR_NOMEM, "%s: out of memory while it is opened",
                          path);
}

/* Parses the header of a member; faults go to member->fault, but for want of memory. */
static graphss_status read_header(graphss_ctx *ctx, const char *path, zip_t *zip,
                                  graphss_i_member *member)
{
    unsigned char bytes[GRAPHSS_I_NPY_HEADER];
    graphss_status st = GRAPHSS_OK;
    member->fault = "cannot be opened";
    zip_file_t *file = zip_fopen_index(zip, member->index, 0);
    if (!file)
        return graphss_i_zip_status(zip_get_error(zip)) == GRAPHSS_ERR_NOMEM
                   ? no_memory_for(ctx, path)
                   : GRAPHSS_OK;
    member->fault = "is corrupt";
    size_t have = 0, want = GRAPHSS_I_NPY_PREFIX;
    for (int stage = 0; stage < 2; stage++) {
        while (have < want) {
            const zip_int64_t got = zip_fread(file, bytes + have, want - have);
            if (got < 0) {
                if (graphss_i_zip_status(zip_file_get_error(file)) == GRAPHSS_ERR_NOMEM)
                    st = no_memory_for(ctx, path);
                goto done;
            }
            if (got == 0)
                break;
            have += (size_t)got;
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
             !graphss_i_add(&whole, whole, npy->header) || whole != member->size)
        member->fault = "has a size that disagrees with its header";
    else if (npy->info.n_dims > 2)
        member->fault = "has more than two dimensions";
done:
    zip_fclose(file);
    return st;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const graphss_i_member *)a)->name, ((const graphss_i_member *)b)->name);
}

static graphss_status list_members(graphss_ctx *ctx, graphss_i_npz *npz)
{
    const zip_int64_t entries = zip_get_num_entries(npz->zip, 0);
    if (entries < 0 || entries > MOST_MEMBERS)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: %lld members, want at most %d",
                              npz->path, (long long)entries, MOST_MEMBERS);
    npz->member = graphss_i_calloc(ctx, (size_t)entries, sizeof *npz->member);
    if (!npz->member)
        return GRAPHSS_ERR_NOMEM;
    for (zip_uint64_t i = 0; i < (zip_uint64_t)entries; i++) {
        zip_stat_t about;
        graphss_status st = GRAPHSS_OK;
        const char *name = zip_get_name(npz->zip, i, 0);
        const size_t length = name ? strlen(name) : 0;
        if (!name && graphss_i_zip_status(zip_get_error(npz->zip)) == GRAPHSS_ERR_NOMEM)
            return no_memory_for(ctx, npz->path);
        if (length < 5 || strcmp(name + length - 4, ".npy") != 0)
            continue;
        if (zip_stat_index(npz->zip, i, 0, &about) != 0 || !(about.valid & ZIP_STAT_SIZE))
            continue;
        graphss_i_member *member = &npz->member[npz->n_members];
        member->name = graphss_i_copy(ctx, name, length - 3, 1);
        if (!member->name)
            return GRAPHSS_ERR_NOMEM;
        npz->n_members++;
        member->name[length - 4] = 0;
        member->index = i;
        member->size = about.size;
        if ((about.valid & ZIP_STAT_ENCRYPTION_METHOD) &&
            about.encryption_method != ZIP_EM_NONE)
            member->fault = "is encrypted";
        else
            st = read_header(ctx, npz->path, npz->zip, member);
        if (st)
            return st;
    }
    if (npz->n_members == 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: a zip file without arrays",
                              npz->path);
    qsort(npz->member, npz->n_members, sizeof *npz->member, by_name);
    for (size_t i = 1; i < npz->n_members; i++)
        if (strcmp(npz->member[i - 1].name, npz->member[i].name) == 0)
            return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                                  "%s: members %llu and %llu have the same name", npz->path,
                                  (unsigned long long)npz->member[i - 1].index,
                                  (unsigned long long)npz->member[i].index);
    return GRAPHSS_OK;
}

graphss_status graphss_i_npz_open(graphss_ctx *ctx, graphss_i_npz **out, const char *path,
                                  uint64_t max_bytes)
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
    int code = 0;
    errno = 0;
    npz->zip = zip_open(path, ZIP_RDONLY, &code);
    if (!npz->zip && errno == ENOMEM) { /* libzip may call it no zip archive */
        st = no_memory_for(ctx, path);
        goto fail;
    }
    if (!npz->zip) {
        zip_error_t error;
        zip_error_init_with_code(&error, code);
        st = graphss_i_fail(ctx, graphss_i_zip_status(&error), "%s: not a sound zip file: %s", path,
                            zip_error_strerror(&error));
        zip_error_fini(&error);
        goto fail;
    }
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
    if (npz->zip)
        zip_discard(npz->zip);
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

bool graphss_i_npz_wants(graphss_ctx *ctx, const graphss_i_npz *npz, const char *array,
                         const char *so)
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
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: array '%s' is missing", npz->path,
                              array);
    if (member->fault)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: array '%s' %s", npz->path, array,
                              member->fault);
    *out = member;
    return GRAPHSS_OK;
}

graphss_status graphss_i_npz_info(graphss_ctx *ctx, graphss_i_array_info *out,
                                  const graphss_i_npz *npz, const char *array)
{
    const graphss_i_member *member = NULL;
    const graphss_status st = graphss_i_npz_member(ctx, &member, npz, array);
    if (st == GRAPHSS_OK)
        *out = member->npy.info;
    return st;
}

/* As long as the indices beside it, which the readers check first. */
static bool bounded_elsewhere(const char *array)
{
    const size_t n = strlen(array);
    return n >= 4 && strcmp(array + n - 4, "data") == 0;
}

graphss_status graphss_i_npz_claim(graphss_ctx *ctx, graphss_i_npz *npz, const char *array,
                                   size_t count, size_t item)
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

static graphss_status fail_reading(graphss_ctx *ctx, graphss_i_stream *stream)
{
    zip_error_t *error = zip_file_get_error(stream->file);
    return graphss_i_npz_fail(ctx, graphss_i_zip_status(error), stream->npz, stream->member->name,
                              "corrupt: %s", zip_error_strerror(error));
}

graphss_status graphss_i_stream_open(graphss_ctx *ctx, graphss_i_stream *out,
                                     graphss_i_npz *npz, const graphss_i_member *member,
                                     size_t item)
{
    graphss_status st =
        graphss_i_npz_claim(ctx, npz, member->name, member->npy.info.count, item);
    if (st)
        return st;
    graphss_i_stream stream = {npz, member, zip_fopen_index(npz->zip, member->index, 0)};
    if (!stream.file)
        return graphss_i_npz_fail(ctx, graphss_i_zip_status(zip_get_error(npz->zip)), npz, member->name,
                                  "cannot be opened: %s", zip_strerror(npz->zip));
    unsigned char header[GRAPHSS_I_NPY_HEADER];
    st = graphss_i_stream_read(ctx, &stream, header, member->npy.header);
    if (st) {
        graphss_i_stream_close(&stream);
        return st;
    }
    *out = stream;
    return GRAPHSS_OK;
}

graphss_status graphss_i_stream_read(graphss_ctx *ctx, graphss_i_stream *stream, void *bytes,
                                     size_t n)
{
    unsigned char *at = bytes;
    while (n) {
        const zip_int64_t got = zip_fread(stream->file, at, n);
        if (got < 0)
            return fail_reading(ctx, stream);
        if (got == 0)
            return graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, stream->npz, stream->member->name,
                                      "corrupt: it ends early");
        at += got;
        n -= (size_t)got;
    }
    return GRAPHSS_OK;
}

graphss_status graphss_i_stream_end(graphss_ctx *ctx, graphss_i_stream *stream)
{
    char extra;
    const zip_int64_t got = zip_fread(stream->file, &extra, 1);
    if (got < 0)
        return fail_reading(ctx, stream);
    if (got > 0)
        return graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, stream->npz, stream->member->name,
                                  "corrupt: it is longer than it says");
    return GRAPHSS_OK;
}

void graphss_i_stream_close(graphss_i_stream *stream)
{
    if (stream->file)
        zip_fclose(stream->file);
    *stream = (graphss_i_stream){0};
}
