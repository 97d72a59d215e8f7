/* utf8.c - text inside the library is UTF-8, so that names can go to JSON and terminals. Text
 * from outside is checked once, when it is read. */
#include "base/base.h"
#include <string.h>

bool graphss_i_is_character(uint32_t c)
{
    return c <= 0x10ffff && !(c >= 0xd800 && c <= 0xdfff);
}

bool graphss_i_is_hidden(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x61c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

size_t graphss_i_utf8_put(unsigned char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (unsigned char)c;
        return 1;
    }
    const size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        out[i] = (unsigned char)(0x80 | (c & 0x3f));
    out[0] = (unsigned char)(lead[n] | c);
    return n;
}

size_t graphss_i_utf8_take(uint32_t *out, const unsigned char *in, size_t n)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (in[0] < 0x80) {
        *out = in[0];
        return 1;
    }
    const size_t length = in[0] >= 0xf0 ? 4 : in[0] >= 0xe0 ? 3 : 2;
    if (in[0] < 0xc0 || in[0] > 0xf7 || length > n)
        return 0;
    uint32_t c = in[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((in[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (in[i] & 0x3f);
    }
    if (c < least[length] || !graphss_i_is_character(c))
        return 0;
    *out = c;
    return length;
}

bool graphss_i_is_utf8(const unsigned char *in, size_t n)
{
    for (size_t i = 0; i < n;) {
        uint32_t c;
        const size_t length = graphss_i_utf8_take(&c, in + i, n - i);
        if (length == 0)
            return false;
        i += length;
    }
    return true;
}

void graphss_i_utf8_mend(char *text)
{
    unsigned char *at = (unsigned char *)text;
    for (size_t left = strlen(text); left > 0;) {
        uint32_t c;
        size_t length = graphss_i_utf8_take(&c, at, left);
        if (length == 0) {
            *at = '?';
            length = 1;
        }
        at += length;
        left -= length;
    }
}

char *graphss_i_utf8_from_latin(graphss_ctx *ctx, const char *text, size_t n, size_t *n_out)
{
    const unsigned char *in = (const unsigned char *)text;
    size_t size = n + 1, used = 0;
    for (size_t i = 0; i < n; i++)
        size += in[i] >= 0x80;
    unsigned char *out = graphss_i_alloc(ctx, size, 1);
    if (!out)
        return NULL;
    for (size_t i = 0; i < n; i++)
        used += graphss_i_utf8_put(out + used, in[i]);
    out[used] = '\0';
    *n_out = used;
    return (char *)out;
}
