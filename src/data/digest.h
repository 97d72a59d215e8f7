/* digest.h - SHA-256 and SHA-1 (FIPS 180-4) of bytes that come piece by piece.
 *
 *     graphss_i_digest d;
 *     graphss_i_digest_begin(&d, GRAPHSS_I_SHA256);
 *     graphss_i_digest_add(&d, bytes, n);
 *     graphss_i_digest_end(&d, hex);
 *
 * They identify data and detect damage. SHA-1 is here because git identifies files by it. */
#ifndef GRAPHSS_DIGEST_H
#define GRAPHSS_DIGEST_H

#include "base/base.h"

typedef enum graphss_i_digest_type {
    GRAPHSS_I_SHA256, /* 64 hexadecimal digits */
    GRAPHSS_I_SHA1    /* 40 */
} graphss_i_digest_type;

typedef struct graphss_i_digest {
    graphss_i_digest_type kind;
    bool plain; /* without the processor's own instructions */
    uint32_t state[8];
    uint64_t length;         /* bytes so far */
    unsigned char block[64]; /* the last length % 64 of them */
} graphss_i_digest;

void graphss_i_digest_begin(graphss_i_digest *d, graphss_i_digest_type kind);
void graphss_i_digest_add(graphss_i_digest *d, const void *bytes, size_t n);
/* hex: 65 or 41 characters, ended by NUL. */
void graphss_i_digest_end(graphss_i_digest *d, char *hex);

#endif
