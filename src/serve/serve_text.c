/* serve_text.c - see serve_text.h. */
#include "serve/serve_private.h"
#include <graphss/events.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

static bool reserve(graphss_i_text *t, size_t more)
{
    if (t->failed)
        return false;
    if (t->at && more < t->room - t->n)
        return true;
    size_t room = 2 * t->room + 256;
    room = room > t->n + more ? room : t->n + more + 1;
    char *grown = graphss_i_grow(t->ctx, t->at, t->n, room, 1);
    if (!grown) {
        t->failed = true;
        return false;
    }
    t->at = grown;
    t->room = room;
    return true;
}

void graphss_i_text_put(graphss_i_text *t, const char *bytes, size_t n)
{
    if (!reserve(t, n))
        return;
    if (n)
        memcpy(t->at + t->n, bytes, n);
    t->n += n;
    t->at[t->n] = 0;
}

void graphss_i_text_add(graphss_i_text *t, const char *text)
{
    graphss_i_text_put(t, text, strlen(text));
}

void graphss_i_text_format(graphss_i_text *t, const char *format, ...)
{
    char line[512];
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    const int n = vsnprintf(line, sizeof line, format, list);
    if (n >= 0 && (size_t)n < sizeof line) {
        graphss_i_text_put(t, line, (size_t)n);
    } else if (n >= 0 && reserve(t, (size_t)n)) {
        (void)vsnprintf(t->at + t->n, (size_t)n + 1, format, again);
        t->n += (size_t)n;
    }
    va_end(again);
    va_end(list);
}

/* Calls put for each character of a text; 0xFFFD replaces invalid UTF-8. */
static void each_character(graphss_i_text *t, const char *text,
    void (*put)(graphss_i_text *, uint32_t, const char *, size_t))
{
    const size_t n = strlen(text);
    for (size_t i = 0; i < n;) {
        uint32_t c = 0;
        const size_t length = graphss_i_utf8_take(&c, (const unsigned char *)text + i, n - i);
        put(t, length ? c : 0xFFFD, text + i, length ? length : 1);
        i += length ? length : 1;
    }
}

static void put_json(graphss_i_text *t, uint32_t c, const char *bytes, size_t n)
{
    if (c == '"' || c == '\\')
        graphss_i_text_format(t, "\\%c", (char)c);
    else if (c < 0x20 || c == '<' || c == 0x7F || c == 0x2028 || c == 0x2029)
        graphss_i_text_format(t, "\\u%04x", (unsigned)c);
    else if (c == 0xFFFD && n == 1)
        graphss_i_text_put(t, "?", 1);
    else
        graphss_i_text_put(t, bytes, n);
}

void graphss_i_text_json(graphss_i_text *t, const char *text)
{
    if (!text) {
        graphss_i_text_add(t, "null");
        return;
    }
    graphss_i_text_put(t, "\"", 1);
    each_character(t, text, put_json);
    graphss_i_text_put(t, "\"", 1);
}

static void put_html(graphss_i_text *t, uint32_t c, const char *bytes, size_t n)
{
    if (c == '<')
        graphss_i_text_add(t, "&lt;");
    else if (c == '>')
        graphss_i_text_add(t, "&gt;");
    else if (c == '&')
        graphss_i_text_add(t, "&amp;");
    else if (c == '"')
        graphss_i_text_add(t, "&quot;");
    else if (c == '\'')
        graphss_i_text_add(t, "&#39;");
    else if ((c == 0xFFFD && n == 1) || graphss_i_is_hidden(c))
        graphss_i_text_put(t, "?", 1);
    else
        graphss_i_text_put(t, bytes, n);
}

void graphss_i_text_html(graphss_i_text *t, const char *text)
{
    each_character(t, text ? text : "", put_html);
}

void graphss_i_text_url(graphss_i_text *t, const char *text)
{
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
            c == '-' || c == '_' || c == '.' || c == '~')
            graphss_i_text_put(t, text, 1);
        else
            graphss_i_text_format(t, "%%%02X", c);
    }
}

void graphss_i_text_real(graphss_i_text *t, double x)
{
    char number[40];
    if (!isfinite(x)) {
        graphss_i_text_add(t, "null");
        return;
    }
    graphss_i_text_put(t, number, graphss_i_double_text(number, sizeof number, x));
}

void graphss_i_text_fixed(graphss_i_text *t, double x, int digits)
{
    static const double scale[] = {1, 10, 100, 1000};
    if (!isfinite(x) || fabs(x) > 1e12) {
        graphss_i_text_real(t, x);
        return;
    }
    const long long n = llround(fabs(x) * scale[digits]);
    const long long whole = n / (long long)scale[digits], rest = n % (long long)scale[digits];
    graphss_i_text_format(t, "%s%lld", x < 0 && n ? "-" : "", whole);
    if (digits)
        graphss_i_text_format(t, ".%0*lld", digits, rest);
}

/* "1.50" to "1.5", and "3.0" to "3", in the text appended since `from`. */
static void trim(graphss_i_text *t, size_t from)
{
    if (t->failed || !memchr(t->at + from, '.', t->n - from))
        return;
    while (t->at[t->n - 1] == '0')
        t->n--;
    t->n -= t->at[t->n - 1] == '.';
    t->at[t->n] = 0;
}

void graphss_i_text_short(graphss_i_text *t, double x)
{
    const double size = fabs(x);
    const size_t from = t->n;
    if (!isfinite(x)) {
        graphss_i_text_add(t, "-");
    } else if (size >= 100 && size < 1e6) {
        graphss_i_text_fixed(t, x, 0);
    } else if (size >= 10 && size < 100) {
        graphss_i_text_fixed(t, x, 1);
        trim(t, from);
    } else if (size >= 1 && size < 10) {
        graphss_i_text_fixed(t, x, 2);
        trim(t, from);
    } else if (size == 0 || (size >= 0.01 && size < 1)) {
        graphss_i_text_fixed(t, x, size == 0 ? 0 : 3);
        trim(t, from);
    } else {
        const int power = (int)floor(log10(size));
        graphss_i_text_fixed(t, x / pow(10, power), 1);
        graphss_i_text_format(t, "e%d", power);
    }
}

void graphss_i_text_when(graphss_i_text *t, double seconds)
{
    char when[GRAPHSS_TIME_TEXT];
    graphss_time_text(when, seconds);
    graphss_i_text_json(t, *when ? when : NULL);
}

void graphss_i_text_clear(graphss_i_text *t)
{
    t->n = 0;
    t->failed = false;
}

void graphss_i_text_destroy(graphss_i_text *t)
{
    graphss_release(t->ctx, t->at);
    *t = (graphss_i_text){.ctx = t->ctx};
}
