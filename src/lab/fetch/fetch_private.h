/* fetch_private.h - between the parts of fetch: checksums, one transfer, many files. */
#ifndef GRAPHSS_FETCH_PRIVATE_H
#define GRAPHSS_FETCH_PRIVATE_H

#include "base/base.h"
#include <graphss_lab/fetch.h>

/* Both names by which the manifest may know a file, in lower-case hexadecimal. */
typedef struct graphss_i_digests {
    uint64_t bytes;
    char sha256[65];
    char git[41]; /* blob id: SHA-1 of "blob SIZE\0" and the content */
} graphss_i_digests;

/* Reads the file once, in constant memory. NOT_FOUND, IO, DATA (not a plain file). */
graphss_status graphss_i_file_digests(
    graphss_ctx *ctx, graphss_i_digests *out, const char *path);
/* SHA-256 of bytes in memory, as hexadecimal. */
void graphss_i_sha256_text(char out[65], const void *bytes, size_t n);
/* The digest to compare with "sha256:..." or "git:..."; NULL if wanted is neither. */
const char *graphss_i_digests_like(const graphss_i_digests *found, const char *wanted);
bool graphss_i_digests_match(const graphss_i_digests *found, const char *wanted);

typedef struct graphss_i_fetch_limits {
    uint64_t max_bytes;   /* of one file */
    long connect_seconds; /* until the server answers the call */
    long stall_seconds;   /* seconds with hardly any data before it gives up */
    unsigned attempts;    /* attempts in all after errors that may pass; >= 1 */
    double wait_seconds;  /* before the second attempt; doubles */
} graphss_i_fetch_limits;

graphss_i_fetch_limits graphss_i_fetch_limits_default(void);

/* One connection pool for the files of one call. NULL with NOMEM set. */
typedef struct graphss_i_transfer graphss_i_transfer;
graphss_i_transfer *graphss_i_transfer_new(
    graphss_ctx *ctx, const graphss_i_fetch_limits *limits);
void graphss_i_transfer_free(graphss_ctx *ctx, graphss_i_transfer *t);

/* Brings the file behind fd to its end. Bytes it has are kept and the rest asked for;
 * a server that cannot give the rest makes it start over. On an error what came stays.
 * name is for progress, path for error texts. NETWORK, IO, LIMIT, CANCELLED, NOMEM. */
graphss_status graphss_i_transfer_run(graphss_ctx *ctx, graphss_i_transfer *t, int fd,
    const char *url, const char *name, const char *path);

/* graphss_fetch_run for n files of one dataset from any list; limits NULL: the default. */
graphss_status graphss_i_fetch_items(graphss_ctx *ctx, graphss_fetch_result *out,
    const graphss_fetch_item *items, size_t n, const graphss_fetch_options *opt,
    const graphss_i_fetch_limits *limits);

#endif
