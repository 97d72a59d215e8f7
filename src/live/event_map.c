/* event_map.c - see event_map.h. */
#include "live/event_map.h"
#include "base/json_fault.h"
#include <math.h>
#include <string.h>

enum { MAP_BYTES = 1 << 20, COLUMNS = 10000 };

/* ---- the file ---- */

static const char *text_of(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

static graphss_status only(graphss_ctx *ctx, const char *path, json_t *object,
    const char *const *known, const char *const *also)
{
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        bool good = false;
        for (const char *const *k = known; *k && !good; k++)
            good = !strcmp(*k, name);
        for (const char *const *k = also; k && *k && !good; k++)
            good = !strcmp(*k, name);
        if (!good)
            return graphss_i_fail(
                ctx, GRAPHSS_ERR_DATA, "%s: unknown member '%s'", path, name);
    }
    return GRAPHSS_OK;
}

static graphss_status lacks(graphss_ctx *ctx, const char *path, const char *name)
{
    return graphss_i_fail(
        ctx, GRAPHSS_ERR_DATA, "%s: a table without a text '%s'", path, name);
}

static graphss_status take_nodes(
    graphss_ctx *ctx, graphss_i_map_table *t, const char *path, json_t *o)
{
    static const char *const known[] = {"table", "id", "prefix", "label", "features", NULL};
    const graphss_status st = only(ctx, path, o, known, NULL);
    if (st)
        return st;
    const json_t *features = json_object_get(o, "features");
    const char *id = text_of(o, "id"), *label = text_of(o, "label");
    if (!id)
        return lacks(ctx, path, "id");
    if (features && (!json_is_array(features) || json_array_size(features) > COLUMNS))
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s: 'features' of %s is not a list of at most %d columns", path, t->name,
            (int)COLUMNS);
    const size_t n = json_array_size(features);
    t->column = graphss_i_alloc(ctx, n + 2, sizeof *t->column);
    if (!t->column)
        return GRAPHSS_ERR_NOMEM;
    t->label = label != NULL;
    t->prefix[0] = text_of(o, "prefix") ? text_of(o, "prefix") : "";
    t->column[t->n++] = id;
    if (label)
        t->column[t->n++] = label;
    for (size_t i = 0; i < n; i++) {
        const char *name = json_string_value(json_array_get(features, i));
        if (!name)
            return graphss_i_fail(
                ctx, GRAPHSS_ERR_DATA, "%s: a feature of %s is not text", path, t->name);
        t->column[t->n++] = name;
    }
    return GRAPHSS_OK;
}

static graphss_status take_links(
    graphss_ctx *ctx, graphss_i_map_table *t, const char *path, json_t *o)
{
    static const char *const known[] = {"table", "u", "v", "u_prefix", "v_prefix", NULL};
    static const char *const end[] = {"u", "v"}, *const prefix[] = {"u_prefix", "v_prefix"};
    const graphss_status st = only(ctx, path, o, known, NULL);
    if (st)
        return st;
    t->links = true;
    t->column = graphss_i_alloc(ctx, 2, sizeof *t->column);
    if (!t->column)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < 2; i++) {
        if (!text_of(o, end[i]))
            return lacks(ctx, path, end[i]);
        t->column[t->n++] = text_of(o, end[i]);
        t->prefix[i] = text_of(o, prefix[i]) ? text_of(o, prefix[i]) : "";
    }
    return GRAPHSS_OK;
}

static graphss_status take_tables(
    graphss_ctx *ctx, graphss_i_map *m, const char *path, const char *member)
{
    const json_t *list = json_object_get(m->root, member);
    graphss_status st = GRAPHSS_OK;
    if (list && !json_is_array(list))
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: '%s' is no list", path, member);
    for (size_t i = 0; i < json_array_size(list) && !st; i++) {
        json_t *o = json_array_get(list, i);
        graphss_i_map_table *t = &m->table[m->n];
        const char *name = text_of(o, "table");
        if (!name)
            return lacks(ctx, path, "table");
        if (graphss_i_map_find(m, name))
            return graphss_i_fail(
                ctx, GRAPHSS_ERR_DATA, "%s: table %s is there twice", path, name);
        t->name = name;
        m->n++;
        st = !strcmp(member, "nodes") ? take_nodes(ctx, t, path, o)
                                      : take_links(ctx, t, path, o);
    }
    return st;
}

graphss_status graphss_i_map_read(
    graphss_ctx *ctx, graphss_i_map *out, const char *path, const char *const *also)
{
    static const char *const known[] = {"nodes", "links", NULL};
    graphss_i_map m = {0};
    char *bytes = NULL;
    size_t n = 0;
    bool starved = false;
    json_error_t error;
    graphss_status st = graphss_i_file_read(ctx, &bytes, &n, path, MAP_BYTES);
    if (st)
        return st;
    m.root = graphss_i_json_load(bytes, n, JSON_REJECT_DUPLICATES, &error, &starved);
    graphss_release(ctx, bytes);
    if (!m.root)
        return starved ? graphss_i_nomem(ctx, n)
                       : graphss_i_fail(
                             ctx, GRAPHSS_ERR_DATA, "%s:%d: %s", path, error.line, error.text);
    st = json_is_object(m.root)
             ? only(ctx, path, m.root, known, also)
             : graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: it is no object", path);
    const size_t tables = st ? 0
                             : json_array_size(json_object_get(m.root, "nodes")) +
                                   json_array_size(json_object_get(m.root, "links"));
    if (!st) {
        m.table = graphss_i_calloc(ctx, tables, sizeof *m.table);
        st = m.table ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    }
    if (!st)
        st = take_tables(ctx, &m, path, "nodes");
    if (!st)
        st = take_tables(ctx, &m, path, "links");
    if (st)
        graphss_i_map_destroy(ctx, &m);
    else
        *out = m;
    return st;
}

void graphss_i_map_destroy(graphss_ctx *ctx, graphss_i_map *map)
{
    for (size_t i = 0; i < map->n; i++)
        graphss_release(ctx, map->table[i].column);
    graphss_release(ctx, map->table);
    json_decref(map->root);
    *map = (graphss_i_map){0};
}

const graphss_i_map_table *graphss_i_map_find(const graphss_i_map *map, const char *name)
{
    for (size_t i = 0; i < map->n; i++)
        if (!strcmp(map->table[i].name, name))
            return &map->table[i];
    return NULL;
}

const char *graphss_i_map_text(
    const graphss_i_map *map, const char *name, const char *otherwise)
{
    const char *text = text_of(map->root, name);
    return text ? text : otherwise;
}

/* ---- rows ---- */

typedef struct writer {
    graphss_ctx *ctx;
    const graphss_i_row_change *change;
    graphss_status (*take)(void *user, const char *line, size_t n);
    void *user;
    int64_t n; /* events so far */
} writer;

static graphss_status give(writer *w, graphss_event *e)
{
    char *line = NULL;
    e->t = w->change->t;
    e->source = w->change->source;
    e->seq = w->change->seq < 0 ? -1 : w->change->seq + w->n;
    w->n++;
    graphss_status st = graphss_event_text(w->ctx, &line, e);
    if (!st)
        st = w->take(w->user, line, strlen(line));
    graphss_release(w->ctx, line);
    return st;
}

/* A line that is no event, for people to see among the refused. */
static graphss_status complain(writer *w, size_t column, const graphss_i_cell *cell)
{
    const graphss_i_map_table *t = w->change->table;
    char *line = graphss_i_format(w->ctx, "table %s, column %s: found '%.*s', want a number",
        t->name, t->column[column], (int)(cell->n < 100 ? cell->n : 100), cell->text);
    const graphss_status st = line ? w->take(w->user, line, strlen(line)) : GRAPHSS_ERR_NOMEM;
    graphss_release(w->ctx, line);
    return st;
}

/* Id of a node; *out is NULL where the cell has none. */
static graphss_status id_of(
    writer *w, char **out, const graphss_i_cell *cell, const char *prefix)
{
    *out = NULL;
    if (!cell || !cell->there || !cell->text)
        return GRAPHSS_OK;
    *out = graphss_i_format(w->ctx, "%s%.*s", prefix, (int)cell->n, cell->text);
    return *out ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

static bool number_of(double *out, const graphss_i_cell *cell)
{
    if (!cell->text) {
        *out = 0;
        return true;
    }
    if (cell->n == 1 && (*cell->text == 't' || *cell->text == 'f')) {
        *out = *cell->text == 't';
        return true;
    }
    return graphss_i_parse_double(out, cell->text, cell->n) && isfinite(*out) &&
           fabs(*out) <= 3e38;
}

static graphss_status node_row(writer *w)
{
    const graphss_i_map_table *t = w->change->table;
    const graphss_i_cell *before = w->change->before, *after = w->change->after;
    const size_t first = 1 + t->label;
    char *was = NULL, *is = NULL, *label = NULL;
    const char **feature = graphss_i_alloc(w->ctx, t->n, sizeof *feature);
    float *value = graphss_i_alloc(w->ctx, t->n, sizeof *value);
    graphss_status st = feature && value ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    if (!st)
        st = id_of(w, &was, before, t->prefix[0]);
    if (!st)
        st = id_of(w, &is, after, t->prefix[0]);
    if (!st && was && (!is || strcmp(was, is) != 0))
        st = give(w, &(graphss_event){.op = GRAPHSS_EVENT_REMOVE_NODE, .u = was});
    if (!st && is) {
        graphss_event e = {
            .op = GRAPHSS_EVENT_ADD_NODE, .u = is, .feature = feature, .value = value};
        for (size_t c = first; c < t->n && !st; c++) {
            double x;
            if (!after[c].there)
                continue;
            if (!number_of(&x, &after[c])) {
                st = complain(w, c, &after[c]);
                continue;
            }
            feature[e.n_features] = t->column[c];
            value[e.n_features++] = (float)x;
        }
        if (!st)
            st = give(w, &e);
    }
    if (!st && is && t->label && after[1].there) {
        if (after[1].text) {
            label = graphss_i_format(w->ctx, "%.*s", (int)after[1].n, after[1].text);
            st = label ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
        }
        if (!st)
            st = give(
                w, &(graphss_event){.op = GRAPHSS_EVENT_SET_LABEL, .u = is, .label = label});
    }
    graphss_release(w->ctx, label);
    graphss_release(w->ctx, is);
    graphss_release(w->ctx, was);
    graphss_release(w->ctx, value);
    graphss_release(w->ctx, feature);
    return st;
}

static graphss_status link_row(writer *w)
{
    const graphss_i_map_table *t = w->change->table;
    const graphss_i_cell *row[2] = {w->change->before, w->change->after};
    char *id[2][2] = {{NULL, NULL}, {NULL, NULL}};
    graphss_status st = GRAPHSS_OK;
    for (size_t r = 0; r < 2; r++)
        for (size_t end = 0; end < 2 && row[r] && !st; end++) {
            const graphss_i_cell *cell = &row[r][end];
            if (r == 1 && !cell->there && row[0]) /* the same as before */
                cell = &row[0][end];
            st = id_of(w, &id[r][end], cell, t->prefix[end]);
        }
    const bool was = id[0][0] && id[0][1], is = id[1][0] && id[1][1];
    const bool same = was && is && !strcmp(id[0][0], id[1][0]) && !strcmp(id[0][1], id[1][1]);
    if (!st && was && !same)
        st = give(w,
            &(graphss_event){.op = GRAPHSS_EVENT_REMOVE_EDGE, .u = id[0][0], .v = id[0][1]});
    if (!st && is && !same)
        st = give(
            w, &(graphss_event){.op = GRAPHSS_EVENT_ADD_EDGE, .u = id[1][0], .v = id[1][1]});
    for (size_t r = 0; r < 4; r++)
        graphss_release(w->ctx, id[r / 2][r % 2]);
    return st;
}

graphss_status graphss_i_map_row(graphss_ctx *ctx, const graphss_i_row_change *change,
    graphss_status (*take)(void *user, const char *line, size_t n), void *user)
{
    writer w = {ctx, change, take, user, 0};
    return change->table->links ? link_row(&w) : node_row(&w);
}
