/* csv.c - the tokenizer behind nodes.csv, edges.csv and edge lists. One pass over the bytes;
 * unquoting happens in place, so a record costs no allocation once the list of fields has
 * its size. */
#include "data/formats/csv.h"
#include "data/formats/zip.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>

static const size_t most_fields = (size_t)1 << 20;

const char *const graphss_i_csv_from[] = {"src_id", "src", "source", "from", NULL};
const char *const graphss_i_csv_to[] = {"dst_id", "dst", "target", "to", "destination", NULL};
const char *const graphss_i_csv_weight[] = {"weight", "weights", NULL};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_newline(char c)
{
    return c == '\n' || c == '\r';
}

/* Steps over one line break, which may be two bytes. */
static void newline(graphss_i_csv *csv)
{
    const bool pair = csv->at[0] == '\r' && csv->at + 1 < csv->end && csv->at[1] == '\n';
    csv->at += pair ? 2 : 1;
    csv->line++;
    csv->line_begin = csv->at;
}

/* Skips blank lines and comments. */
static void skip_lines(graphss_i_csv *csv)
{
    while (csv->at < csv->end) {
        char *p = csv->at;
        while (p < csv->end && is_blank(*p))
            p++;
        if (p < csv->end && !is_newline(*p) &&
            !(*p && csv->comments[0] && strchr(csv->comments, *p)))
            return;
        while (p < csv->end && !is_newline(*p))
            p++;
        csv->at = p;
        if (p < csv->end)
            newline(csv);
    }
}

/* Describes a file that is missing or not a text table; "" if the type is unknown. */
static const char *other_form(const char *text, size_t length)
{
    if (length >= 2 && (!memcmp(text, "\xff\xfe", 2) || !memcmp(text, "\xfe\xff", 2)))
        return "is UTF-16, want UTF-8";
    if (length >= 4 && text[0] && !text[1] && text[2] && !text[3])
        return "looks like UTF-16, want UTF-8";
    return "";
}

graphss_status graphss_i_csv_read(
    graphss_ctx *ctx, char **bytes, size_t *n, const char *path, uint64_t max)
{
    char *text = NULL;
    size_t length = 0, longer = 0;
    const graphss_status st = graphss_i_packed_read(ctx, &text, &length, path, max);
    if (st)
        return st;
    path = graphss_i_packed_name(path);
    const char *form = other_form(text, length);
    if (*form) {
        graphss_release(ctx, text);
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s %s", path, form);
    }
    if (!graphss_i_is_utf8((const unsigned char *)text, length)) {
        graphss_i_log(ctx, GRAPHSS_LOG_WARN, "%s: not UTF-8, taken as Latin-1", path);
        char *latin = graphss_i_utf8_from_latin(ctx, text, length, &longer);
        graphss_release(ctx, text);
        if (!latin)
            return GRAPHSS_ERR_NOMEM;
        if (longer > max) {
            graphss_release(ctx, latin);
            return graphss_i_fail(ctx, GRAPHSS_ERR_LIMIT,
                "%s: %zu bytes as UTF-8, at most %llu are allowed", path, longer,
                (unsigned long long)max);
        }
        text = latin;
        length = longer;
    }
    *bytes = text;
    *n = length;
    return GRAPHSS_OK;
}

void graphss_i_csv_start(graphss_i_csv *csv, const char *file, char *bytes, size_t n,
    const char *comments, bool blanks)
{
    *csv = (graphss_i_csv){.file = file,
        .at = bytes,
        .end = bytes + n,
        .line_begin = bytes,
        .line = 1,
        .comments = comments};
    if (n >= 3 && !memcmp(bytes, "\xEF\xBB\xBF", 3))
        csv->at = csv->line_begin = bytes + 3;
    skip_lines(csv);

    size_t commas = 0, semicolons = 0, tabs = 0;
    bool quoted = false;
    for (const char *p = csv->at; p < csv->end && (quoted || !is_newline(*p)); p++) {
        if (*p == '"')
            quoted = !quoted;
        if (quoted)
            continue;
        commas += *p == ',';
        semicolons += *p == ';';
        tabs += *p == '\t';
    }
    csv->delimiter = ' ';
    if (tabs > 0 && !blanks)
        csv->delimiter = '\t';
    if (semicolons > 0 && (csv->delimiter == ' ' || semicolons > tabs))
        csv->delimiter = ';';
    if (commas > 0 && commas >= semicolons && (csv->delimiter != '\t' || commas > tabs))
        csv->delimiter = ',';
}

static graphss_status place_fail(
    graphss_ctx *ctx, const graphss_i_csv *csv, size_t line, size_t column, const char *text)
{
    return graphss_i_fail(
        ctx, GRAPHSS_ERR_DATA, "%s:%zu:%zu: %s", csv->file, line, column, text);
}

graphss_status graphss_i_csv_fail(graphss_ctx *ctx, const graphss_i_csv *csv,
    const graphss_i_csv_field *field, const char *wanted)
{
    char found[48];
    const size_t room = sizeof found - 4;
    const size_t n = field->length < room ? field->length : room;
    for (size_t i = 0; i < n; i++)
        found[i] = iscntrl((unsigned char)field->text[i]) ? '?' : field->text[i];
    snprintf(found + n, sizeof found - n, "%s", field->length > n ? "..." : "");
    return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s:%zu:%zu: found '%s', want %s", csv->file,
        field->line, field->column, found, wanted);
}

static bool ends_field(const graphss_i_csv *csv, char c)
{
    return is_newline(c) || c == csv->delimiter || (csv->delimiter == ' ' && c == '\t');
}

/* at is on the opening quote; afterwards after the closing one and the blanks that follow. */
static graphss_status quoted_field(
    graphss_ctx *ctx, graphss_i_csv *csv, graphss_i_csv_field *field)
{
    char *out = ++csv->at;
    field->text = out;
    field->quoted = true;
    for (;;) {
        if (csv->at == csv->end)
            return place_fail(
                ctx, csv, field->line, field->column, "a quote that is never closed");
        const char c = *csv->at;
        if (c == '"') {
            csv->at++;
            if (csv->at == csv->end || *csv->at != '"')
                break;
            *out++ = '"';
            csv->at++;
        } else if (is_newline(c)) {
            char *begin = csv->at;
            newline(csv);
            while (begin < csv->at)
                *out++ = *begin++;
        } else {
            *out++ = c;
            csv->at++;
        }
    }
    field->length = (size_t)(out - field->text);
    while (csv->at < csv->end && is_blank(*csv->at) && !ends_field(csv, *csv->at))
        csv->at++;
    if (csv->at < csv->end && !ends_field(csv, *csv->at))
        return place_fail(ctx, csv, csv->line, (size_t)(csv->at - csv->line_begin) + 1,
            "text behind a closing quote");
    return GRAPHSS_OK;
}

static void plain_field(graphss_i_csv *csv, graphss_i_csv_field *field)
{
    field->text = csv->at;
    while (csv->at < csv->end && !ends_field(csv, *csv->at))
        csv->at++;
    const char *last = csv->at;
    while (last > field->text && is_blank(last[-1]))
        last--;
    field->length = (size_t)(last - field->text);
}

static graphss_status next_field(graphss_ctx *ctx, graphss_i_csv *csv)
{
    if (csv->count == csv->room) {
        if (csv->room >= most_fields)
            return graphss_i_fail(ctx, GRAPHSS_ERR_LIMIT, "%s:%zu: more than %zu fields",
                csv->file, csv->line, most_fields);
        const size_t room = csv->room ? 2 * csv->room : 16;
        void *grown = graphss_i_grow(ctx, csv->field, csv->count, room, sizeof *csv->field);
        if (!grown)
            return GRAPHSS_ERR_NOMEM;
        csv->field = grown;
        csv->room = room;
    }
    while (csv->at < csv->end && is_blank(*csv->at) &&
           (csv->delimiter != '\t' || *csv->at == ' '))
        csv->at++;
    graphss_i_csv_field *field = &csv->field[csv->count];
    *field = (graphss_i_csv_field){
        .line = csv->line, .column = (size_t)(csv->at - csv->line_begin) + 1};
    if (csv->at < csv->end && *csv->at == '"') {
        const graphss_status st = quoted_field(ctx, csv, field);
        if (st)
            return st;
    } else {
        plain_field(csv, field);
    }
    if (memchr(field->text, '\0', field->length))
        return place_fail(ctx, csv, field->line, field->column, "a NUL byte in a text file");
    csv->count++;
    return GRAPHSS_OK;
}

graphss_status graphss_i_csv_next(graphss_ctx *ctx, bool *more, graphss_i_csv *csv)
{
    csv->count = 0;
    skip_lines(csv);
    if (csv->at == csv->end) {
        *more = false;
        return GRAPHSS_OK;
    }
    for (;;) {
        const graphss_status st = next_field(ctx, csv);
        if (st)
            return st;
        if (csv->delimiter == ' ')
            while (csv->at < csv->end && is_blank(*csv->at))
                csv->at++;
        if (csv->at == csv->end)
            break;
        if (is_newline(*csv->at)) {
            newline(csv);
            break;
        }
        if (csv->delimiter != ' ')
            csv->at++;
    }
    *more = true;
    return GRAPHSS_OK;
}

void graphss_i_csv_end(graphss_ctx *ctx, graphss_i_csv *csv)
{
    graphss_release(ctx, csv->field);
    *csv = (graphss_i_csv){0};
}

bool graphss_i_csv_is(const graphss_i_csv_field *field, const char *word)
{
    return strlen(word) == field->length && !strncasecmp(field->text, word, field->length);
}

int64_t graphss_i_csv_column(const graphss_i_csv *csv, const char *const *words)
{
    for (size_t i = 0; i < csv->count; i++)
        for (size_t w = 0; words[w]; w++)
            if (graphss_i_csv_is(&csv->field[i], words[w]))
                return (int64_t)i;
    return -1;
}

void graphss_i_csv_warn_header(graphss_ctx *ctx, const graphss_i_csv *csv,
    const graphss_i_csv_field *field, const char *why)
{
    const int most = 40;
    graphss_i_log(ctx, GRAPHSS_LOG_WARN,
        "%s:%zu: '%.*s' and '%.*s' are taken for a header: %s", csv->file, field[0].line,
        field[0].length < (size_t)most ? (int)field[0].length : most, field[0].text,
        field[1].length < (size_t)most ? (int)field[1].length : most, field[1].text, why);
}

bool graphss_i_csv_index(graphss_ctx *ctx, const graphss_i_csv *csv, size_t least)
{
    if (csv->count < least || csv->field[0].length > 0)
        return false;
    graphss_i_log(ctx, GRAPHSS_LOG_WARN,
        "%s:%zu: the first column has no name and is passed over", csv->file,
        csv->field[0].line);
    return true;
}
