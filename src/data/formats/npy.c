/* npy.c - the .npy format, versions 1.0 to 3.0.
 *
 * The header is a Python dict as text. Only what numpy writes there is understood: three
 * known keys with a string, a bool and a tuple of integers; nothing is evaluated. */
#include "data/formats/npz_private.h"
#include <math.h>
#include <string.h>

size_t graphss_i_npy_header_size(const char **fault, const unsigned char *bytes, size_t n)
{
    *fault = NULL;
    if (n < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0) {
        *fault = "is not in npy format";
        return 0;
    }
    size_t size = bytes[8] | (size_t)bytes[9] << 8;
    if (bytes[6] == 1) {
        size += 10;
    } else if ((bytes[6] == 2 || bytes[6] == 3) && n >= 12) {
        size |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
        size += 12;
    } else {
        *fault = "is of an unknown npy version";
        return 0;
    }
    if (size > GRAPHSS_I_NPY_HEADER)
        *fault = "has a header beyond 4096 bytes";
    return size;
}

typedef struct cursor {
    const char *at, *end;
} cursor;

static void skip_spaces(cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n'))
        c->at++;
}

static bool take(cursor *c, char wanted)
{
    skip_spaces(c);
    if (c->at == c->end || *c->at != wanted)
        return false;
    c->at++;
    return true;
}

/* A quoted string without escapes. */
static bool take_string(cursor *c, const char **text, size_t *length)
{
    skip_spaces(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
        return false;
    const char quote = *c->at++;
    const char *begin = c->at;
    while (c->at < c->end && *c->at != quote)
        c->at++;
    if (c->at == c->end)
        return false;
    *text = begin;
    *length = (size_t)(c->at++ - begin);
    return true;
}

static bool take_word(cursor *c, const char *word)
{
    const size_t n = strlen(word);
    skip_spaces(c);
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n) != 0)
        return false;
    c->at += n;
    return true;
}

static bool take_size(cursor *c, size_t *out)
{
    skip_spaces(c);
    size_t value = 0, digits = 0;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++, digits++)
        if (!graphss_i_mul(&value, value, 10) ||
            !graphss_i_add(&value, value, (size_t)(*c->at - '0')))
            return false;
    (void)take(c, 'L'); /* Python 2 wrote 2708L */
    *out = value;
    return digits > 0;
}

/* The position after a bracketed value, whatever it holds: the fields of a record. */
static bool skip_list(cursor *c)
{
    size_t depth = 0;
    do {
        const char *text;
        size_t length;
        if (take_string(c, &text, &length))
            continue;
        if (c->at == c->end)
            return false;
        depth += *c->at == '[' || *c->at == '(';
        depth -= *c->at == ']' || *c->at == ')';
        c->at++;
    } while (depth);
    return true;
}

/* "<f4", "|S20", ">U7"; anything else becomes kind 'V'. */
static const char *parse_dtype(graphss_i_npy *out, const char *text, size_t length)
{
    const uint16_t one = 1;
    bool big = *(const unsigned char *)&one == 0;
    cursor c = {text, text + length};
    if (length && strchr("<>|=", *text)) {
        big = *text == '>' || (*text == '=' && big);
        c.at++;
    }
    const char kind = c.at < c.end ? *c.at++ : 0;
    size_t width = 0;
    out->info.kind = 'V';
    out->big = big;
    if (kind == 'O') {
        out->info.kind = kind;
        return NULL;
    }
    if (kind == '?' && c.at == c.end) {
        out->info.kind = 'b';
        out->width = out->info.item_size = 1;
        return NULL;
    }
    if (!take_size(&c, &width) || c.at != c.end)
        return NULL;
    const bool number = (kind == 'b' && width == 1) ||
                        ((kind == 'i' || kind == 'u') &&
                            (width == 1 || width == 2 || width == 4 || width == 8)) ||
                        (kind == 'f' && (width == 2 || width == 4 || width == 8));
    if (kind == 'U' && !graphss_i_mul(&width, width, 4))
        return "has a dtype too large";
    if (!number && kind != 'U' && kind != 'S')
        return NULL;
    out->info.kind = kind;
    out->info.item_size = kind == 'U' ? 4 : kind == 'S' ? 1 : width;
    out->width = width;
    return NULL;
}

static bool parse_shape(graphss_i_npy *out, cursor *c)
{
    graphss_i_array_info *info = &out->info;
    if (!take(c, '('))
        return false;
    info->shape[0] = info->shape[1] = info->count = 1;
    bool overflow = false, empty = false;
    while (!take(c, ')')) {
        size_t size;
        if (!take_size(c, &size))
            return false;
        if (info->n_dims < 2)
            info->shape[info->n_dims] = size;
        info->n_dims++;
        empty = empty || size == 0;
        overflow = !graphss_i_mul(&info->count, info->count, size) || overflow;
        if (!take(c, ',')) {
            if (!take(c, ')'))
                return false;
            break;
        }
    }
    if (empty)
        info->count = 0;
    return !overflow || empty;
}

const char *graphss_i_npy_parse(graphss_i_npy *out, const unsigned char *bytes, size_t n)
{
    static const char unclear[] = "has a header that is not understood";
    const char *fault;
    graphss_i_npy made = {0};
    made.header = graphss_i_npy_header_size(&fault, bytes, n);
    if (fault)
        return fault;
    if (made.header > n)
        return "ends inside its header";
    cursor c = {
        (const char *)bytes + (bytes[6] == 1 ? 10 : 12), (const char *)bytes + made.header};
    enum { DTYPE = 1, ORDER = 2, SHAPE = 4 };
    unsigned seen = 0;
    if (!take(&c, '{'))
        return unclear;
    while (!take(&c, '}')) {
        const char *key, *text;
        size_t key_length, length;
        if (!take_string(&c, &key, &key_length) || !take(&c, ':'))
            return unclear;
        skip_spaces(&c);
        if (key_length == 5 && memcmp(key, "descr", 5) == 0) {
            if (take_string(&c, &text, &length)) {
                fault = parse_dtype(&made, text, length);
                if (fault)
                    return fault;
            } else if (c.at < c.end && (*c.at == '[' || *c.at == '(') && skip_list(&c)) {
                made.info.kind = 'V';
            } else {
                return unclear;
            }
            seen |= DTYPE;
        } else if (key_length == 13 && memcmp(key, "fortran_order", 13) == 0) {
            made.info.fortran_order = take_word(&c, "True");
            if (!made.info.fortran_order && !take_word(&c, "False"))
                return unclear;
            seen |= ORDER;
        } else if (key_length == 5 && memcmp(key, "shape", 5) == 0 && !(seen & SHAPE)) {
            if (!parse_shape(&made, &c))
                return "has a shape that makes no sense";
            seen |= SHAPE;
        } else {
            return unclear;
        }
        if (!take(&c, ',')) {
            if (!take(&c, '}'))
                return unclear;
            break;
        }
    }
    skip_spaces(&c);
    if (seen != (DTYPE | ORDER | SHAPE) || c.at != c.end)
        return unclear;
    *out = made;
    return NULL;
}

size_t graphss_i_npy_format(
    unsigned char *out, size_t size, const char *dtype, size_t n_dims, const size_t *shape)
{
    char dims[64] = "";
    if (n_dims == 1)
        snprintf(dims, sizeof dims, "%zu,", shape[0]);
    else if (n_dims == 2)
        snprintf(dims, sizeof dims, "%zu, %zu", shape[0], shape[1]);
    char text[192];
    const int length = snprintf(text, sizeof text,
        "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", dtype, dims);
    const size_t whole = (10 + (size_t)length + 1 + 63) / 64 * 64; /* numpy aligns the data */
    if (length < 0 || (size_t)length >= sizeof text || whole > size)
        return 0;
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (unsigned char)((whole - 10) & 255);
    out[9] = (unsigned char)((whole - 10) >> 8);
    memset(out + 10, ' ', whole - 10);
    memcpy(out + 10, text, (size_t)length);
    out[whole - 1] = '\n';
    return whole;
}

static inline uint64_t load(const unsigned char *p, size_t width, bool big)
{
    uint64_t u = 0;
    for (size_t b = 0; b < width; b++)
        u |= (uint64_t)p[big ? width - 1 - b : b] << 8 * b;
    return u;
}

size_t graphss_i_npy_ints(
    int64_t *out, const graphss_i_npy *npy, const unsigned char *raw, size_t n)
{
    const bool big = npy->big, is_signed = npy->info.kind == 'i';
    switch (npy->width) {
    case 1:
        for (size_t i = 0; i < n; i++)
            out[i] = is_signed ? (int8_t)raw[i] : raw[i];
        return n;
    case 2:
        for (size_t i = 0; i < n; i++) {
            const uint16_t u = (uint16_t)load(raw + 2 * i, 2, big);
            out[i] = is_signed ? (int16_t)u : u;
        }
        return n;
    case 4:
        for (size_t i = 0; i < n; i++) {
            const uint32_t u = (uint32_t)load(raw + 4 * i, 4, big);
            out[i] = is_signed ? (int32_t)u : (int64_t)u;
        }
        return n;
    default:
        for (size_t i = 0; i < n; i++) {
            out[i] = (int64_t)load(raw + 8 * i, 8, big);
            if (!is_signed && out[i] < 0)
                return i;
        }
        return n;
    }
}

static double half(uint16_t u)
{
    const int exponent = u >> 10 & 31, fraction = u & 1023;
    double value;
    if (exponent == 31)
        value = fraction ? NAN : INFINITY;
    else if (exponent == 0)
        value = ldexp(fraction, -24);
    else
        value = ldexp(fraction + 1024, exponent - 25);
    return u >> 15 ? -value : value;
}

void graphss_i_npy_reals(
    double *out, const graphss_i_npy *npy, const unsigned char *raw, size_t n)
{
    const bool big = npy->big;
    switch (npy->width) {
    case 2:
        for (size_t i = 0; i < n; i++)
            out[i] = half((uint16_t)load(raw + 2 * i, 2, big));
        return;
    case 4:
        for (size_t i = 0; i < n; i++) {
            const uint32_t u = (uint32_t)load(raw + 4 * i, 4, big);
            float value;
            memcpy(&value, &u, sizeof value);
            out[i] = value;
        }
        return;
    default:
        for (size_t i = 0; i < n; i++) {
            const uint64_t u = load(raw + 8 * i, 8, big);
            memcpy(&out[i], &u, sizeof u);
        }
        return;
    }
}
