/* digest.c - see digest.h. */
#include "data/digest.h"
#include <openssl/evp.h>

static graphss_status refused(graphss_ctx *ctx)
{
    return graphss_i_fail(ctx, GRAPHSS_ERR_NOMEM, "libcrypto cannot make a checksum");
}

graphss_status graphss_i_digest_begin(graphss_ctx *ctx, graphss_i_digest *d,
                                      graphss_i_digest_kind kind)
{
    const EVP_MD *method = kind == GRAPHSS_I_SHA256 ? EVP_sha256() : EVP_sha1();
    EVP_MD_CTX *state = EVP_MD_CTX_new();
    if (!state || !EVP_DigestInit_ex(state, method, NULL)) {
        EVP_MD_CTX_free(state);
        return refused(ctx);
    }
    *d = (graphss_i_digest){.state = state};
    return GRAPHSS_OK;
}

void graphss_i_digest_add(graphss_i_digest *d, const void *bytes, size_t n)
{
    d->failed = !EVP_DigestUpdate(d->state, bytes, n) || d->failed;
}

graphss_status graphss_i_digest_end(graphss_ctx *ctx, graphss_i_digest *d, char *hex)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char raw[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    const bool good = !hex || (!d->failed && EVP_DigestFinal_ex(d->state, raw, &n));
    EVP_MD_CTX_free(d->state);
    *d = (graphss_i_digest){0};
    if (!good)
        return refused(ctx);
    for (size_t i = 0; i < n; i++) {
        hex[2 * i] = digits[raw[i] >> 4];
        hex[2 * i + 1] = digits[raw[i] & 15];
    }
    if (hex)
        hex[2 * n] = '\0';
    return GRAPHSS_OK;
}
