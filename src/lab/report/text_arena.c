/* text_arena.c - see text_arena.h. The escapes of all formats are here together, since each
 * treats other characters as special. */
#include "lab/report/text_arena.h"
#include <graphss/dataset.h>

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

/* ---- arena ---- */

typedef struct graphss_i_chunk {
    struct graphss_i_chunk *before;
    size_t used, room;
    _Alignas(16) unsigned char bytes[];
} graphss_i_chunk;

enum { CHUNK = 16384 };

void *graphss_i_arena_take(graphss_i_arena *arena, size_t count, size_t size)
{
    size_t bytes = 0, whole = 0;
    if (arena->status)
        return NULL;
    if (!graphss_i_mul(&bytes, count, size) || !graphss_i_add(&bytes, bytes, 16) ||
        !graphss_i_add(&whole, bytes, sizeof(graphss_i_chunk))) {
        arena->status = graphss_i_nomem(arena->ctx, SIZE_MAX);
        return NULL;
    }
    bytes = bytes / 16 * 16;
    graphss_i_chunk *last = arena->last;
    if (!last || last->room - last->used < bytes) {
        const size_t room = bytes > CHUNK / 4 ? bytes : CHUNK;
        graphss_i_chunk *fresh = graphss_i_calloc(arena->ctx, sizeof *fresh + room, 1);
        if (!fresh) {
            arena->status = GRAPHSS_ERR_NOMEM;
            return NULL;
        }
        fresh->room = room;
        fresh->before = last;
        arena->last = last = fresh;
    }
    void *block = last->bytes + last->used;
    last->used += bytes;
    return block;
}

void *graphss_i_arena_room(
    graphss_i_arena *arena, void *block, size_t n, size_t *room, size_t size)
{
    if (n < *room)
        return block;
    const size_t wanted = *room ? 2 * *room : 8;
    void *larger = graphss_i_arena_take(arena, wanted, size);
    if (!larger)
        return NULL;
    if (n)
        memcpy(larger, block, n * size);
    *room = wanted;
    return larger;
}

const char *graphss_i_arena_say(graphss_i_arena *arena, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int n = vsnprintf(NULL, 0, format, args);
    char *text = n < 0 ? NULL : graphss_i_arena_take(arena, (size_t)n + 1, 1);
    if (text)
        vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    va_end(args);
    return text ? text : "";
}

const char *graphss_i_fixed(graphss_i_arena *arena, double value, int decimals)
{
    char text[64];
    graphss_i_fixed_text(text, sizeof text, value, decimals);
    if (!isfinite(value))
        return "–";
    return text[0] == '-' ? graphss_i_arena_say(arena, "−%s", text + 1)
                          : graphss_i_arena_say(arena, "%s", text);
}

void graphss_i_arena_done(graphss_i_arena *arena)
{
    while (arena->last) {
        graphss_i_chunk *before = arena->last->before;
        graphss_release(arena->ctx, arena->last);
        arena->last = before;
    }
}

/* ---- writer ---- */

void graphss_i_put_bytes(graphss_i_writer *writer, const char *text, size_t n)
{
    if (writer->status)
        return;
    size_t wanted = 0;
    if (!graphss_i_add(&wanted, writer->n, n) || !graphss_i_add(&wanted, wanted, 1)) {
        writer->status = graphss_i_nomem(writer->ctx, SIZE_MAX);
        return;
    }
    if (wanted > writer->room) {
        const size_t room = wanted > 2 * writer->room ? wanted + 4096 : 2 * writer->room;
        char *larger = graphss_i_grow(writer->ctx, writer->text, writer->n, room, 1);
        if (!larger) {
            writer->status = GRAPHSS_ERR_NOMEM;
            return;
        }
        writer->text = larger;
        writer->room = room;
    }
    memcpy(writer->text + writer->n, text, n);
    writer->n += n;
    writer->text[writer->n] = 0;
}

void graphss_i_put(graphss_i_writer *writer, const char *text)
{
    graphss_i_put_bytes(writer, text, strlen(text));
}

void graphss_i_putf(graphss_i_writer *writer, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n > 0)
        graphss_i_put_bytes(writer, text, n < (int)sizeof text ? (size_t)n : sizeof text - 1);
}

size_t graphss_i_fixed_text(char *out, size_t size, double value, int decimals)
{
    static const int64_t power[] = {
        1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000};
    if (!isfinite(value))
        return (size_t)snprintf(out, size, "-");
    if (fabs(value) >= 1e9)
        return graphss_i_double_text(out, size, value);
    const int64_t whole = llround(fabs(value) * (double)power[decimals]);
    const char *sign = value < 0 && whole ? "-" : "";
    if (decimals == 0)
        return (size_t)snprintf(out, size, "%s%" PRId64, sign, whole);
    return (size_t)snprintf(out, size, "%s%" PRId64 ".%0*" PRId64, sign,
        whole / power[decimals], decimals, whole % power[decimals]);
}

void graphss_i_put_fixed(graphss_i_writer *writer, double value, int decimals)
{
    char text[64];
    graphss_i_fixed_text(text, sizeof text, value, decimals);
    graphss_i_put(writer, text);
}

/* Bytes of the UTF-8 character at text, 0 when XML may not hold it. */
static size_t character(uint32_t *c, const char *text)
{
    *c = 0;
    const size_t n = graphss_i_utf8_take(c, (const unsigned char *)text, strnlen(text, 4));
    return *c < 0x20 || *c == 0x7f || *c == 0xfffe || *c == 0xffff ? 0 : n;
}

typedef struct escape {
    char c;
    const char *text;
} escape;

static void put_escaped(graphss_i_writer *writer, const char *text, const escape *list)
{
    while (*text) {
        uint32_t c;
        const size_t n = character(&c, text);
        const escape *e = list;
        while (e->text && e->c != *text)
            e++;
        if (e->text)
            graphss_i_put(writer, e->text);
        else if (n && graphss_i_is_hidden(c))
            graphss_i_putf(writer, "[U+%04X]", (unsigned)c);
        else if (n == 0)
            graphss_i_put(writer, "?");
        else
            graphss_i_put_bytes(writer, text, n);
        text += n ? n : 1;
    }
}

void graphss_i_put_xml(graphss_i_writer *writer, const char *text)
{
    static const escape list[] = {{'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"},
        {'"', "&quot;"}, {'\'', "&#39;"}, {0, NULL}};
    put_escaped(writer, text, list);
}

void graphss_i_put_latex(graphss_i_writer *writer, const char *text)
{
    static const escape list[] = {{'\\', "\\textbackslash{}"}, {'~', "\\textasciitilde{}"},
        {'^', "\\textasciicircum{}"}, {'<', "\\textless{}"}, {'>', "\\textgreater{}"},
        {'|', "\\textbar{}"}, {'"', "\\textquotedbl{}"}, {'{', "\\{"}, {'}', "\\}"},
        {'%', "\\%"}, {'&', "\\&"}, {'#', "\\#"}, {'$', "\\$"}, {'_', "\\_"}, {0, NULL}};
    put_escaped(writer, text, list);
}

void graphss_i_put_markdown(graphss_i_writer *writer, const char *text)
{
    static const escape list[] = {{'\\', "\\\\"}, {'`', "\\`"}, {'*', "\\*"}, {'_', "\\_"},
        {'[', "\\["}, {']', "\\]"}, {'|', "\\|"}, {'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"},
        {0, NULL}};
    put_escaped(writer, text, list);
}

void graphss_i_put_csv(graphss_i_writer *writer, const char *text)
{
    static const escape list[] = {{'"', "\"\""}, {0, NULL}};
    const char *guard = graphss_name_guard(text);
    const bool quoted = *guard || strpbrk(text, "\",;\t\r\n") || text[0] == ' ';
    if (quoted)
        graphss_i_put(writer, "\"");
    graphss_i_put(writer, guard);
    put_escaped(writer, text, list);
    if (quoted)
        graphss_i_put(writer, "\"");
}

graphss_i_safe_name graphss_i_safe(const char *text)
{
    graphss_i_safe_name out;
    size_t n = 0;
    for (; *text && n + 1 < sizeof out.text; text++) {
        const char c = *text;
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '-' || c == '_';
        out.text[n++] = (char)(plain ? c : '-');
    }
    out.text[n] = 0;
    return out;
}

void graphss_i_put_name(graphss_i_writer *writer, const char *text)
{
    const graphss_i_safe_name name = graphss_i_safe(text);
    graphss_i_put(writer, name.text);
}

graphss_status graphss_i_writer_save(graphss_i_writer *writer, const char *path)
{
    if (writer->status)
        return writer->status;
    graphss_i_output out = {0};
    graphss_status st = graphss_i_output_open(writer->ctx, &out, path);
    if (st)
        return st;
    st =
        graphss_i_output_write(writer->ctx, &out, writer->text ? writer->text : "", writer->n);
    if (st) {
        graphss_i_output_abandon(writer->ctx, &out);
        return st;
    }
    return graphss_i_output_commit(writer->ctx, &out);
}

void graphss_i_writer_done(graphss_i_writer *writer)
{
    graphss_release(writer->ctx, writer->text);
    *writer = (graphss_i_writer){.ctx = writer->ctx, .status = writer->status};
}
