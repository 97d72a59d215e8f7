/* checksum.c - is this the file that was meant? A file is read once and both digests are
 * taken, since a dataset known by git's blob id is reported by its SHA-256 all the same. */
#include "data/fetch_private.h"
#include <errno.h>
#include <fcntl.h>
#include <sha1.h>
#include <sha2.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static void to_hex(char *out, const uint8_t *bytes, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * n] = '\0';
}

static graphss_status cannot_read(graphss_ctx *ctx, const char *path, int error)
{
    const bool absent = error == ENOENT || error == ENOTDIR;
    return graphss_i_fail(ctx, absent ? GRAPHSS_ERR_NOT_FOUND : GRAPHSS_ERR_IO,
                          "%s: cannot read: %s", path, strerror(error));
}

graphss_status graphss_i_file_digests(graphss_ctx *ctx, graphss_i_digests *out,
                                      const char *path)
{
    graphss_status st = GRAPHSS_OK;
    graphss_i_digests made = {0};
    SHA2_CTX sha256;
    SHA1_CTX git;
    uint8_t block[16384], digest[SHA256_DIGEST_LENGTH];
    struct stat info;

    /* O_NONBLOCK: a pipe in the place of a file must not hang us. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return cannot_read(ctx, path, errno);
    if (fstat(fd, &info) != 0) {
        st = cannot_read(ctx, path, errno);
        goto done;
    }
    if (!S_ISREG(info.st_mode)) {
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: is not a plain file", path);
        goto done;
    }
    SHA256Init(&sha256);
    SHA1Init(&git);
    char head[32];
    const int n_head = snprintf(head, sizeof head, "blob %lld", (long long)info.st_size);
    SHA1Update(&git, (const uint8_t *)head, (size_t)n_head + 1);
    for (;;) {
        const ssize_t n = read(fd, block, sizeof block);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            st = cannot_read(ctx, path, errno);
            goto done;
        }
        if (n == 0)
            break;
        SHA256Update(&sha256, block, (size_t)n);
        SHA1Update(&git, block, (size_t)n);
        made.bytes += (uint64_t)n;
    }
    if (made.bytes != (uint64_t)info.st_size) {
        st = graphss_i_fail(ctx, GRAPHSS_ERR_IO, "%s: changed while it was read", path);
        goto done;
    }
    SHA256Final(digest, &sha256);
    to_hex(made.sha256, digest, SHA256_DIGEST_LENGTH);
    SHA1Final(digest, &git);
    to_hex(made.git, digest, SHA1_DIGEST_LENGTH);
    *out = made;
done:
    close(fd);
    return st;
}

void graphss_i_sha256_text(char out[65], const void *bytes, size_t n)
{
    SHA2_CTX sha256;
    uint8_t digest[SHA256_DIGEST_LENGTH];
    SHA256Init(&sha256);
    SHA256Update(&sha256, bytes, n);
    SHA256Final(digest, &sha256);
    to_hex(out, digest, sizeof digest);
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
