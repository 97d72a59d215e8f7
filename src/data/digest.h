/* digest.h - SHA-256 and SHA-1 of bytes that come piece by piece, by libcrypto.
 *
 *     graphss_i_digest d;
 *     graphss_status st = graphss_i_digest_begin(ctx, &d, GRAPHSS_I_SHA256);
 *     if (!st) {
 *         graphss_i_digest_add(&d, bytes, n);
 *         st = graphss_i_digest_end(ctx, &d, hex);
 *     } */
#ifndef GRAPHSS_DIGEST_H
#define GRAPHSS_DIGEST_H

#include "base/base.h"

typedef enum graphss_i_digest_kind {
    GRAPHSS_I_SHA256, /* 64 hexadecimal digits */
    GRAPHSS_I_SHA1    /* 40 */
} graphss_i_digest_kind;

typedef struct graphss_i_digest {
    void *state;
    bool failed; /* a piece could not be added: the end says so */
} graphss_i_digest;

graphss_status graphss_i_digest_begin(graphss_ctx *ctx, graphss_i_digest *d,
                                      graphss_i_digest_kind kind);
void graphss_i_digest_add(graphss_i_digest *d, const void *bytes, size_t n);
/* hex: 65 or 41 characters, or NULL: it is not wanted any more. Ends it in any case. */
graphss_status graphss_i_digest_end(graphss_ctx *ctx, graphss_i_digest *d, char *hex);

#endif
