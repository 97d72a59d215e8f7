/* flips.c - the list of changes and its text format. Files may be written by hand, so a line
 * that cannot be read is refused with its number. */
#include "base/base.h"
#include "data/build.h"
#include <graphss/flips.h>
#include <math.h>
#include <string.h>

enum { FIELDS = 6, SHOWN = 60 };
static const char *const kind_name[] = {"link", "feature"};
static const uint64_t largest_file = (uint64_t)1 << 32;

void graphss_flips_destroy(graphss_ctx *ctx, graphss_flips *flips)
{
    if (!flips)
        return;
    graphss_release(ctx, flips->item);
    *flips = (graphss_flips){0};
}

graphss_status graphss_flips_add(graphss_ctx *ctx, graphss_flips *flips, graphss_flip flip)
{
    if (GRAPHSS_I_LACKS(ctx, {"list of changes", flips}))
        return GRAPHSS_ERR_INVALID;
    if (flips->count == flips->room) {
        const size_t room = flips->room ? 2 * flips->room : 64;
        graphss_flip *grown =
            graphss_i_grow(ctx, flips->item, flips->count, room, sizeof *grown);
        if (!grown)
            return GRAPHSS_ERR_NOMEM;
        flips->item = grown;
        flips->room = room;
    }
    flips->item[flips->count++] = flip;
    return GRAPHSS_OK;
}

size_t graphss_flips_count(const graphss_flips *flips, graphss_flip_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; flips && i < flips->count; i++)
        n += flips->item[i].kind == kind;
    return n;
}

graphss_status graphss_flips_victims(
    graphss_ctx *ctx, int32_t **victims, size_t *n, const graphss_flips *flips)
{
    if (GRAPHSS_I_LACKS(ctx, {"list of changes", flips}, {"place for the victims", victims},
            {"place for their number", n}))
        return GRAPHSS_ERR_INVALID;
    int32_t last = -1, *list = NULL;
    size_t count = 0;
    for (size_t i = 0; i < flips->count; i++) {
        const int32_t victim = flips->item[i].victim;
        if (victim < 0)
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                "change %zu: victim %d, want 0 or more", i, (int)victim);
        last = victim > last ? victim : last;
    }
    uint8_t *seen = graphss_i_calloc(ctx, (size_t)last + 1, sizeof *seen);
    if (flips->count)
        list = graphss_i_alloc(ctx, flips->count, sizeof *list);
    if (!seen || (flips->count && !list)) {
        graphss_release(ctx, list);
        graphss_release(ctx, seen);
        return GRAPHSS_ERR_NOMEM;
    }
    for (size_t i = 0; i < flips->count; i++)
        if (!seen[flips->item[i].victim]) {
            seen[flips->item[i].victim] = 1;
            list[count++] = flips->item[i].victim;
        }
    graphss_release(ctx, seen);
    *victims = list;
    *n = count;
    return GRAPHSS_OK;
}

/* ---- the lines of the head: one table for reading and writing ---- */

typedef struct head_line {
    const char *key;
    size_t offset, size;
} head_line;

#define AT(field) offsetof(graphss_flips, field), sizeof((graphss_flips *)0)->field
static const head_line head[] = {
    {"dataset", AT(dataset)},
    {"hash", AT(hash)},
    {"model", AT(model)},
    {"method", AT(method)},
    {"mode", AT(mode)},
    {"budget", AT(budget)},
    {"victims", AT(victims)},
    {"seed", AT(seed)},
    {"version", AT(version)},
};
#undef AT
enum { HEAD = sizeof head / sizeof *head };
static const char rows_key[] = "features", rows_divided[] = "rows divided by their sums";

static char *head_text(graphss_flips *flips, const head_line *line)
{
    return (char *)flips + line->offset;
}

/* ---- writing ---- */

/* A growing text. */
typedef struct text {
    char *bytes;
    size_t used, room;
} text;

static graphss_status make_room(graphss_ctx *ctx, text *t, size_t n)
{
    if (t->room - t->used >= n)
        return GRAPHSS_OK;
    const size_t room = 2 * t->room + n + 4096;
    char *grown = graphss_i_grow(ctx, t->bytes, t->used, room, 1);
    if (!grown)
        return GRAPHSS_ERR_NOMEM;
    t->bytes = grown;
    t->room = room;
    return GRAPHSS_OK;
}

static graphss_status put(graphss_ctx *ctx, text *t, const char *bytes, size_t n)
{
    const graphss_status st = make_room(ctx, t, n);
    if (st)
        return st;
    memcpy(t->bytes + t->used, bytes, n);
    t->used += n;
    return GRAPHSS_OK;
}

static graphss_status put_text(graphss_ctx *ctx, text *t, const char *string)
{
    return put(ctx, t, string, strlen(string));
}

static graphss_status put_node(
    graphss_ctx *ctx, text *t, const graphss_dataset *data, int32_t node)
{
    char number[32];
    if (data->node_names.count == 0) {
        snprintf(number, sizeof number, "%d", (int)node);
        return put_text(ctx, t, number);
    }
    const char *name = graphss_names_get(&data->node_names, (size_t)node);
    const graphss_status st = make_room(ctx, t, 2 * strlen(name) + 1);
    if (!st)
        t->used += graphss_name_escape(t->bytes + t->used, name);
    return st;
}

static graphss_status put_flip(
    graphss_ctx *ctx, text *t, const graphss_flip *f, const graphss_dataset *data)
{
    char number[64];
    graphss_status st = put_node(ctx, t, data, f->victim);
    if (!st)
        st = put_text(ctx, t, f->kind == GRAPHSS_FLIP_EDGE ? "\tlink\t" : "\tfeature\t");
    if (!st)
        st = put_node(ctx, t, data, f->node);
    if (!st)
        st = put_text(ctx, t, "\t");
    if (!st && f->kind == GRAPHSS_FLIP_EDGE)
        st = put_node(ctx, t, data, f->target);
    if (!st && f->kind == GRAPHSS_FLIP_FEATURE) {
        snprintf(number, sizeof number, "%d", (int)f->target);
        st = put_text(ctx, t, number);
    }
    const float value[] = {f->old_value, f->new_value};
    for (size_t i = 0; i < 2 && !st; i++) {
        number[0] = '\t';
        graphss_i_double_text(number + 1, sizeof number - 1, (double)value[i]);
        st = put_text(ctx, t, number);
    }
    return st ? st : put_text(ctx, t, "\n");
}

/* Copies a value without newlines. */
static graphss_status put_head(graphss_ctx *ctx, text *t, const char *key, const char *value)
{
    graphss_status st = put_text(ctx, t, "# ");
    if (!st)
        st = put_text(ctx, t, key);
    if (!st)
        st = put_text(ctx, t, ": ");
    for (; *value && !st; value++) {
        const char c = *value == '\n' || *value == '\r' ? ' ' : *value;
        st = put(ctx, t, &c, 1);
    }
    return st ? st : put_text(ctx, t, "\n");
}

static graphss_status check_ids(
    graphss_ctx *ctx, const graphss_flips *flips, const graphss_dataset *data)
{
    const size_t n = data->graph.n_nodes, d = data->features.n_cols;
    for (size_t i = 0; i < flips->count; i++) {
        const graphss_flip *f = &flips->item[i];
        const size_t most = f->kind == GRAPHSS_FLIP_EDGE ? n : d;
        if (f->kind != GRAPHSS_FLIP_EDGE && f->kind != GRAPHSS_FLIP_FEATURE)
            return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE, "change %zu is of no known kind", i);
        if (f->victim < 0 || (size_t)f->victim >= n || f->node < 0 || (size_t)f->node >= n ||
            f->target < 0 || (size_t)f->target >= most)
            return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
                "change %zu: victim %d, node %d, target %d, but the data has "
                "%zu nodes and %zu features",
                i, (int)f->victim, (int)f->node, (int)f->target, n, d);
    }
    return GRAPHSS_OK;
}

graphss_status graphss_flips_write(graphss_ctx *ctx, const graphss_flips *flips,
    const char *path, const graphss_dataset *data)
{
    if (GRAPHSS_I_LACKS(ctx, {"list of changes", flips}, {"path", path}, {"dataset", data}))
        return GRAPHSS_ERR_INVALID;
    graphss_status st = check_ids(ctx, flips, data);
    if (st)
        return st;
    text t = {0};
    graphss_i_output out = {0};
    graphss_flips shown = *flips; /* for its texts */
    if (!shown.version[0])
        snprintf(shown.version, sizeof shown.version, "%s", graphss_version());
    st = put_text(ctx, &t, "# graphss flips 1\n");
    for (size_t i = 0; i < HEAD && !st; i++)
        if (*head_text(&shown, &head[i]))
            st = put_head(ctx, &t, head[i].key, head_text(&shown, &head[i]));
    if (!st && flips->normalised_rows)
        st = put_head(ctx, &t, rows_key, rows_divided);
    if (!st)
        st = put_text(ctx, &t, "# victim\tkind\tnode\ttarget\told\tnew\n");
    for (size_t i = 0; i < flips->count && !st; i++)
        st = put_flip(ctx, &t, &flips->item[i], data);
    if (!st)
        st = graphss_i_output_open(ctx, &out, path);
    if (!st) {
        st = graphss_i_output_write(ctx, &out, t.bytes, t.used);
        if (st)
            graphss_i_output_abandon(ctx, &out);
        else
            st = graphss_i_output_commit(ctx, &out);
    }
    graphss_release(ctx, t.bytes);
    return st;
}

/* ---- reading ---- */

typedef struct reading {
    graphss_ctx *ctx;
    const char *path;
    size_t line;
    const graphss_dataset *data;
    graphss_node_index *index;
    graphss_i_intern columns; /* over the names of the columns; slots NULL: none */
} reading;

static graphss_status refuse(
    const reading *r, const char *what, const char *found, const char *wanted)
{
    return graphss_i_fail(r->ctx, GRAPHSS_ERR_DATA, "%s:%zu: %s '%.*s', want %s", r->path,
        r->line, what, SHOWN, found, wanted);
}

static graphss_status read_node(int32_t *out, const reading *r, char *field)
{
    const int64_t node =
        graphss_i_name_unescape(field) ? graphss_node_index_find(r->index, field) : -1;
    if (node < 0)
        return refuse(r, "no node is called", field, "one of the dataset");
    *out = (int32_t)node;
    return GRAPHSS_OK;
}

static graphss_status read_column(int32_t *out, const reading *r, char *field)
{
    int64_t column = -1;
    const size_t length = strlen(field);
    if (!graphss_i_parse_int(&column, field, length) || column < 0 ||
        (uint64_t)column >= r->data->features.n_cols) {
        column = -1;
        if (r->columns.slots && graphss_i_name_unescape(field))
            column = graphss_i_intern_find(&r->columns, field, strlen(field));
    }
    if (column < 0)
        return refuse(r, "no feature column is called", field, "one of the dataset");
    *out = (int32_t)column;
    return GRAPHSS_OK;
}

static graphss_status read_value(float *out, const reading *r, const char *field)
{
    double value;
    if (!graphss_i_parse_double(&value, field, strlen(field)) || !isfinite((float)value))
        return refuse(r, "found", field, "a number");
    *out = (float)value;
    return GRAPHSS_OK;
}

static graphss_status read_flip(graphss_flip *out, const reading *r, char *line)
{
    char *field[FIELDS] = {line};
    size_t n = 1;
    for (char *at = strchr(line, '\t'); at; at = strchr(at + 1, '\t')) {
        *at = '\0';
        if (n < FIELDS)
            field[n] = at + 1;
        n++;
    }
    if (n != FIELDS)
        return graphss_i_fail(r->ctx, GRAPHSS_ERR_DATA,
            "%s:%zu: %zu fields, want %d with tabs between: victim kind "
            "node target old new",
            r->path, r->line, n, FIELDS);
    int kind = -1;
    graphss_flip f = {.line = (uint32_t)r->line};
    for (int32_t k = 0; k < 2; k++)
        if (strcmp(field[1], kind_name[k]) == 0)
            kind = k;
    if (kind < 0)
        return refuse(r, "kind", field[1], "link or feature");
    f.kind = (graphss_flip_kind)kind;
    graphss_status st = read_node(&f.victim, r, field[0]);
    if (!st)
        st = read_node(&f.node, r, field[2]);
    if (!st)
        st = f.kind == GRAPHSS_FLIP_EDGE ? read_node(&f.target, r, field[3])
                                         : read_column(&f.target, r, field[3]);
    if (!st)
        st = read_value(&f.old_value, r, field[4]);
    if (!st)
        st = read_value(&f.new_value, r, field[5]);
    if (st)
        return st;
    if (f.kind == GRAPHSS_FLIP_EDGE) {
        if (f.node == f.target)
            return refuse(r, "a link from a node to itself:", field[2], "two nodes");
        if ((f.old_value != 0 && f.old_value != 1) || f.new_value != 1 - f.old_value)
            return refuse(r, "a link changes from", field[4], "from 0 to 1 or from 1 to 0");
    }
    *out = f;
    return GRAPHSS_OK;
}

/* Reads "# key: value" and ignores unknown keys. false: the value is too long. */
static bool read_head(graphss_flips *flips, const char *line)
{
    line++;
    while (*line == ' ')
        line++;
    const char *colon = strstr(line, ": ");
    if (!colon)
        return true;
    const size_t length = (size_t)(colon - line);
    const char *value = colon + 2;
    if (length == strlen(rows_key) && strncmp(line, rows_key, length) == 0)
        flips->normalised_rows = strcmp(value, rows_divided) == 0;
    for (size_t i = 0; i < HEAD; i++) {
        if (length != strlen(head[i].key) || strncmp(line, head[i].key, length) != 0)
            continue;
        if (strlen(value) >= head[i].size)
            return false;
        memcpy(head_text(flips, &head[i]), value, strlen(value) + 1);
    }
    return true;
}

static graphss_status read_lines(graphss_flips *made, reading *r, char *bytes, size_t size)
{
    graphss_status st = GRAPHSS_OK;
    for (size_t at = 0; at < size && !st;) {
        char *line = bytes + at;
        char *end = memchr(line, '\n', size - at);
        end = end ? end : bytes + size;
        at = (size_t)(end - bytes) + 1;
        r->line++;
        if (end > line && end[-1] == '\r')
            end--;
        *end = '\0';
        if (r->line > UINT32_MAX)
            return graphss_i_fail(r->ctx, GRAPHSS_ERR_LIMIT, "%s: too many lines", r->path);
        if (strlen(line) != (size_t)(end - line))
            return graphss_i_fail(
                r->ctx, GRAPHSS_ERR_DATA, "%s:%zu: a NUL byte, want text", r->path, r->line);
        if (*line == '#') {
            if (!read_head(made, line))
                st = refuse(r, "a value too long:", line, "a shorter one");
        } else if (*line) {
            graphss_flip f;
            st = read_flip(&f, r, line);
            if (!st)
                st = graphss_flips_add(r->ctx, made, f);
        }
    }
    return st;
}

graphss_status graphss_flips_read(
    graphss_ctx *ctx, graphss_flips *out, const char *path, const graphss_dataset *data)
{
    if (GRAPHSS_I_LACKS(
            ctx, {"path", path}, {"dataset", data}, {"place for the changes", out}))
        return GRAPHSS_ERR_INVALID;
    graphss_flips made = {0};
    reading r = {.ctx = ctx, .path = path, .data = data};
    char *bytes = NULL;
    size_t size = 0;
    graphss_status st = graphss_i_file_read(ctx, &bytes, &size, path, largest_file);
    if (st)
        return st;
    st = graphss_node_index_new(ctx, &r.index, data);
    if (!st && data->column_names.count) {
        /* The list is borrowed; only the hash slots are allocated. */
        r.columns.list = (graphss_i_name_list){.count = data->column_names.count,
            .start = data->column_names.start,
            .text = data->column_names.text};
        st = graphss_i_intern_index(ctx, &r.columns);
    }
    if (!st)
        st = read_lines(&made, &r, bytes, size);
    graphss_release(ctx, r.columns.slot);
    graphss_node_index_free(ctx, r.index);
    graphss_release(ctx, bytes);
    if (st) {
        graphss_flips_destroy(ctx, &made);
        return st;
    }
    *out = made;
    return GRAPHSS_OK;
}
