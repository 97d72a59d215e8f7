/* text.c - numbers to text and back, the same in every locale.
 *
 * strtod and printf follow the host program's locale, where 0.5 may be 0,5. Before strtod
 * reads a number its characters are checked and its point is replaced by the locale's;
 * printing does the reverse. */
#include "base/base.h"
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LONGEST = 128, /* characters of a number; a longer one is refused */
    POINT = 16     /* bytes of a decimal point; no locale has a longer one */
};

/* The locale's decimal point; it may have several bytes, as U+066B in Pashto. */
static const char *locale_point(void)
{
    const struct lconv *conv = localeconv();
    const char *point = conv ? conv->decimal_point : NULL;
    return point && *point && strlen(point) <= POINT ? point : ".";
}

/* Replaces the first decimal point by another; text must have room for it. */
static void change_point(char *text, const char *from, const char *to)
{
    char *at = strstr(text, from);
    if (!at)
        return;
    char *rest = at + strlen(from);
    memmove(at + strlen(to), rest, strlen(rest) + 1);
    memcpy(at, to, strlen(to));
}

/* Digits with a point, an exponent, a sign; or nan, inf, infinity in any case. No hex. */
static bool looks_like_number(const char *text, size_t length)
{
    size_t i = 0;
    if (i < length && (text[i] == '+' || text[i] == '-'))
        i++;
    if (i < length && strchr("nNiI", text[i])) {
        static const char *const word[] = {"nan", "inf", "infinity"};
        for (size_t w = 0; w < 3; w++)
            if (length - i == strlen(word[w]) && !strncasecmp(text + i, word[w], length - i))
                return true;
        return false;
    }
    size_t digits = 0;
    for (bool point = false; i < length; i++) {
        if (text[i] >= '0' && text[i] <= '9')
            digits++;
        else if (text[i] == '.' && !point)
            point = true;
        else
            break;
    }
    if (digits == 0)
        return false;
    if (i == length)
        return true;
    if (text[i] != 'e' && text[i] != 'E')
        return false;
    i++;
    if (i < length && (text[i] == '+' || text[i] == '-'))
        i++;
    const size_t exponent = i;
    while (i < length && text[i] >= '0' && text[i] <= '9')
        i++;
    return i == length && i > exponent;
}

bool graphss_i_parse_double(double *out, const char *text, size_t length)
{
    char copy[LONGEST + POINT + 1];
    if (length == 0 || length > LONGEST || !looks_like_number(text, length))
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    change_point(copy, ".", locale_point());
    char *end = copy;
    const double value = strtod(copy, &end);
    if (*end)
        return false;
    *out = value;
    return true;
}

bool graphss_i_parse_int(int64_t *out, const char *text, size_t length)
{
    size_t i = 0;
    const bool negative = length && text[0] == '-';
    if (length && (text[0] == '-' || text[0] == '+'))
        i++;
    if (i == length)
        return false;
    int64_t value = 0;
    for (; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        const int64_t digit = text[i] - '0';
        if (__builtin_mul_overflow(value, (int64_t)10, &value) ||
            __builtin_add_overflow(value, negative ? -digit : digit, &value))
            return false;
    }
    *out = value;
    return true;
}

size_t graphss_i_double_text(char *out, size_t size, double value)
{
    char text[64];
    if (isnan(value))
        return (size_t)snprintf(out, size, "nan");
    if (isinf(value))
        return (size_t)snprintf(out, size, value > 0 ? "inf" : "-inf");
    if (value == floor(value) && fabs(value) < 1e15) /* 100, not 1e+02 */
        return (size_t)snprintf(out, size, "%.0f", value);
    const char *point = locale_point();
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        change_point(text, point, ".");
        double back;
        if (graphss_i_parse_double(&back, text, strlen(text)) && back == value)
            break;
    }
    return (size_t)snprintf(out, size, "%s", text);
}

/* Text inside the library is UTF-8, so that names can go to JSON and terminals. Text
 * from outside is checked once, when it is read. */

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
