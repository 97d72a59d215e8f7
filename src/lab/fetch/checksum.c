/* checksum.c - is this the file that was meant? A file is read once and both digests are
 * taken, since a dataset known by git's blob id is reported by its SHA-256 all the same. */
#include "data/digest.h"
#include "lab/fetch/fetch_private.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static graphss_status cannot_read(graphss_ctx *ctx, const char *path, int error)
{
    const bool absent = error == ENOENT || error == ENOTDIR;
    return graphss_i_fail(ctx, absent ? GRAPHSS_ERR_NOT_FOUND : GRAPHSS_ERR_IO,
        "%s: cannot read: %s", path, strerror(error));
}

/* Both digests of the rest of fd, and its length. */
static graphss_status digest_file(graphss_ctx *ctx, graphss_i_digest *sha256,
    graphss_i_digest *git, uint64_t *bytes, int fd, const char *path)
{
    uint8_t block[16384];
    for (;;) {
        const ssize_t n = read(fd, block, sizeof block);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return cannot_read(ctx, path, errno);
        if (n == 0)
            return GRAPHSS_OK;
        graphss_i_digest_add(sha256, block, (size_t)n);
        graphss_i_digest_add(git, block, (size_t)n);
        *bytes += (uint64_t)n;
    }
}

static graphss_status digest_both(
    graphss_ctx *ctx, graphss_i_digests *out, int fd, uint64_t size, const char *path)
{
    graphss_i_digest sha256, git;
    char head[32];
    const int n_head = snprintf(head, sizeof head, "blob %llu", (unsigned long long)size);
    graphss_i_digest_begin(&sha256, GRAPHSS_I_SHA256);
    graphss_i_digest_begin(&git, GRAPHSS_I_SHA1);
    graphss_i_digest_add(&git, head, (size_t)n_head + 1);
    const graphss_status st = digest_file(ctx, &sha256, &git, &out->bytes, fd, path);
    graphss_i_digest_end(&sha256, out->sha256);
    graphss_i_digest_end(&git, out->git);
    return st;
}

graphss_status graphss_i_file_digests(
    graphss_ctx *ctx, graphss_i_digests *out, const char *path)
{
    graphss_status st = GRAPHSS_OK;
    graphss_i_digests made = {0};
    struct stat info;

    /* O_NONBLOCK: a pipe in place of a file must not hang us. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return cannot_read(ctx, path, errno);
    if (fstat(fd, &info) != 0)
        st = cannot_read(ctx, path, errno);
    else if (!S_ISREG(info.st_mode))
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: is not a plain file", path);
    else
        st = digest_both(ctx, &made, fd, (uint64_t)info.st_size, path);
    if (!st && made.bytes != (uint64_t)info.st_size)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_IO, "%s: changed while it was read", path);
    if (!st)
        *out = made;
    close(fd);
    return st;
}

void graphss_i_sha256_text(char out[65], const void *bytes, size_t n)
{
    graphss_i_digest d;
    graphss_i_digest_begin(&d, GRAPHSS_I_SHA256);
    graphss_i_digest_add(&d, bytes, n);
    graphss_i_digest_end(&d, out);
}

const char *graphss_i_digests_like(const graphss_i_digests *found, const char *wanted)
{
    if (strncmp(wanted, "sha256:", 7) == 0)
        return found->sha256;
    if (strncmp(wanted, "git:", 4) == 0)
        return found->git;
    return NULL;
}

bool graphss_i_digests_match(const graphss_i_digests *found, const char *wanted)
{
    const char *digest = graphss_i_digests_like(found, wanted);
    return digest && strcasecmp(digest, strchr(wanted, ':') + 1) == 0;
}
