/* output.c - reads and writes whole files. A file is written under a temporary name in the
 * same folder and renamed when it is complete and on disk. So a reader never sees half a file,
 * and a failure leaves the old one unchanged. */
#include "base/base.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static graphss_status cannot(graphss_ctx *ctx, const char *verb, const char *path, int error)
{
    const graphss_status st = error == ENOMEM                       ? GRAPHSS_ERR_NOMEM
                              : error == ENOENT || error == ENOTDIR ? GRAPHSS_ERR_NOT_FOUND
                                                                    : GRAPHSS_ERR_IO;
    return graphss_i_fail(ctx, st, "%s: cannot %s: %s", path, verb, strerror(error));
}

graphss_status graphss_i_file_read(
    graphss_ctx *ctx, char **bytes, size_t *n, const char *path, uint64_t max)
{
    graphss_status st = GRAPHSS_OK;
    char *text = NULL;
    size_t room = 0, used = 0;
    struct stat info;

    FILE *file = fopen(path, "rbe");
    if (!file)
        return cannot(ctx, "open", path, errno);
    if (fstat(fileno(file), &info) != 0) {
        st = cannot(ctx, "read", path, errno);
        goto done;
    }
    if (S_ISDIR(info.st_mode)) {
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: is a folder, want a file", path);
        goto done;
    }
    if (S_ISREG(info.st_mode) && (uint64_t)info.st_size > max) {
        st = graphss_i_fail(ctx, GRAPHSS_ERR_LIMIT, "%s: %lld bytes, at most %llu are allowed",
            path, (long long)info.st_size, (unsigned long long)max);
        goto done;
    }
    /* The size is a hint: pipes have none and files grow. */
    room = S_ISREG(info.st_mode) ? (size_t)info.st_size + 2 : 65536;
    text = graphss_i_alloc(ctx, room, 1);
    if (!text) {
        st = GRAPHSS_ERR_NOMEM;
        goto done;
    }
    for (;;) {
        used += fread(text + used, 1, room - 1 - used, file);
        if (ferror(file)) {
            st = cannot(ctx, "read", path, errno);
            goto done;
        }
        if (used > max) {
            st = graphss_i_fail(ctx, GRAPHSS_ERR_LIMIT, "%s: more than the %llu bytes allowed",
                path, (unsigned long long)max);
            goto done;
        }
        if (used < room - 1)
            break;
        char *grown = graphss_i_grow(ctx, text, used, 2 * room, 1);
        if (!grown) {
            st = GRAPHSS_ERR_NOMEM;
            goto done;
        }
        text = grown;
        room *= 2;
    }
    text[used] = '\0';
    *bytes = text;
    *n = used;
    text = NULL;
done:
    graphss_release(ctx, text);
    fclose(file);
    return st;
}

/* The new file gets mode, owner and group of the one it replaces, as far as permitted. If the
 * group cannot be kept, the new group gets the rights of others. */
static void take_rights(int fd, const struct stat *old)
{
    mode_t mode = old->st_mode & 0777;
    if (fchown(fd, old->st_uid, old->st_gid) != 0 && fchown(fd, (uid_t)-1, old->st_gid) != 0)
        mode = (mode & 0707) | (mode & (mode << 3) & 0070);
    if (fchmod(fd, mode) != 0)
        errno = 0; /* then the file stays private */
}

graphss_status graphss_i_output_open(graphss_ctx *ctx, graphss_i_output *out, const char *path)
{
    enum { TRIES = 100 };
    graphss_i_output made = {0};
    graphss_status st = GRAPHSS_OK;
    struct stat there;
    int fd = -1, error = 0;

    /* Renaming would replace a device, even /dev/null, by a plain file. */
    const bool replaces = stat(path, &there) == 0;
    if (replaces && !S_ISREG(there.st_mode))
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_IO, "%s: there, and not a plain file: not replaced", path);
    made.path = graphss_i_strdup(ctx, path);
    if (!made.path)
        return GRAPHSS_ERR_NOMEM;
    /* mkstemp would make private files; a new one gets the permissions the umask allows. */
    for (int i = 0; i < TRIES && fd < 0; i++) {
        graphss_release(ctx, made.temporary);
        made.temporary = graphss_i_format(ctx, "%s.%ld-%d.tmp", path, (long)getpid(), i);
        if (!made.temporary) {
            st = GRAPHSS_ERR_NOMEM;
            goto failed;
        }
        fd = open(
            made.temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, replaces ? 0600 : 0666);
        error = errno;
        if (fd < 0 && error != EEXIST)
            break;
    }
    if (fd >= 0) {
        if (replaces)
            take_rights(fd, &there);
        made.file = fdopen(fd, "wb");
        error = errno;
    }
    if (!made.file) {
        st =
            graphss_i_fail(ctx, GRAPHSS_ERR_IO, "%s: cannot write: %s", path, strerror(error));
        goto failed;
    }
    *out = made;
    return GRAPHSS_OK;
failed:
    if (fd < 0) { /* the name is not ours to remove */
        graphss_release(ctx, made.temporary);
        made.temporary = NULL;
    } else if (!made.file) {
        close(fd);
    }
    graphss_i_output_abandon(ctx, &made);
    return st;
}

graphss_status graphss_i_output_write(
    graphss_ctx *ctx, graphss_i_output *out, const void *bytes, size_t n)
{
    if (n && fwrite(bytes, 1, n, out->file) != n)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_IO, "%s: cannot write: %s", out->path, strerror(errno));
    return GRAPHSS_OK;
}

graphss_status graphss_i_output_commit(graphss_ctx *ctx, graphss_i_output *out)
{
    bool fine = !ferror(out->file) && fflush(out->file) == 0 && fsync(fileno(out->file)) == 0;
    int error = errno;
    if (fclose(out->file) != 0 && fine) {
        fine = false;
        error = errno;
    }
    out->file = NULL;
    if (fine && rename(out->temporary, out->path) != 0) {
        fine = false;
        error = errno;
    }
    graphss_status st = GRAPHSS_OK;
    if (fine) {
        graphss_release(ctx, out->temporary);
        out->temporary = NULL;
    } else {
        st = graphss_i_fail(
            ctx, GRAPHSS_ERR_IO, "%s: cannot write: %s", out->path, strerror(error));
    }
    graphss_i_output_abandon(ctx, out);
    return st;
}

void graphss_i_output_abandon(graphss_ctx *ctx, graphss_i_output *out)
{
    if (out->file)
        fclose(out->file);
    if (out->temporary)
        unlink(out->temporary);
    graphss_release(ctx, out->temporary);
    graphss_release(ctx, out->path);
    *out = (graphss_i_output){0};
}

graphss_status graphss_i_folder_make(graphss_ctx *ctx, const char *path)
{
    char *copy = graphss_i_strdup(ctx, path);
    if (!copy)
        return GRAPHSS_ERR_NOMEM;
    graphss_status st = GRAPHSS_OK;
    for (char *at = copy + (*copy != '\0'); !st; at++) {
        const char kept = *at;
        if (kept != '/' && kept != '\0')
            continue;
        *at = '\0';
        struct stat info;
        const int error = mkdir(copy, 0777) == 0 ? 0 : errno;
        if (error && (stat(copy, &info) != 0 || !S_ISDIR(info.st_mode)))
            st = graphss_i_fail(
                ctx, GRAPHSS_ERR_IO, "%s: cannot make the folder: %s", copy, strerror(error));
        *at = kept;
        if (kept == '\0')
            break;
    }
    graphss_release(ctx, copy);
    return st;
}
