/* node_groups.c - groups of nodes, read from a file or made from a number for each node. */
#include "data/build.h"
#include <stdio.h>
#include <string.h>

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* A file of groups while it is read. */
typedef struct group_reader {
    graphss_ctx *ctx;
    const char *path;
    const graphss_node_index *index;
    size_t line;
    size_t *line_of; /* [nodes] the last line each was in */
    graphss_i_name_list names;
} group_reader;

static graphss_status refuse(
    const group_reader *r, const char *what, const char *id, size_t length)
{
    return graphss_i_fail(r->ctx, GRAPHSS_ERR_DATA, "%s:%zu: %s '%.*s'", r->path, r->line,
        what, (int)(length < 80 ? length : 80), id);
}

/* Reads the id at *at, unquotes it in place and moves *at past it. */
static graphss_status take_id(
    const group_reader *r, char **id, size_t *length, char **at, const char *end)
{
    char *from = *at, *to = *at;
    *id = *at;
    if (*from != '"') {
        while (from < end && !blank(*from))
            from++;
        *length = (size_t)(from - *id);
        *at = from;
        return GRAPHSS_OK;
    }
    for (from++;; from++) {
        if (from == end)
            return refuse(r, "a quote that is not closed:", *id, (size_t)(to - *id));
        if (*from == '"' && (++from == end || *from != '"'))
            break;
        *to++ = *from;
    }
    if (from < end && !blank(*from))
        return refuse(r, "text behind a closing quote:", from, (size_t)(end - from));
    *length = (size_t)(to - *id);
    *at = from;
    return GRAPHSS_OK;
}

/* The name of a group: the first word of its line if it ends in a colon and is no id, else the
 * number of the line. */
static graphss_status add_name(group_reader *r, const char *name, size_t length)
{
    char number[24];
    if (!name) {
        length = (size_t)snprintf(number, sizeof number, "%zu", r->line);
        name = number;
    }
    return graphss_i_name_list_add(r->ctx, &r->names, name, length);
}

/* Appends the nodes of one line at *used. *name [*named]: NULL for none */
static graphss_status read_group(const group_reader *r, int32_t *node, size_t *used,
    const char **name, size_t *named, char *begin, const char *end)
{
    for (bool first = true;; first = false) {
        char *id = NULL;
        size_t length = 0;
        while (begin < end && blank(*begin))
            begin++;
        if (begin == end)
            return GRAPHSS_OK;
        const graphss_status st = take_id(r, &id, &length, &begin, end);
        if (st)
            return st;
        const int64_t found = graphss_i_node_index_find(r->index, id, length);
        if (found < 0 && first && length > 1 && id[length - 1] == ':') {
            *name = id;
            *named = length - 1;
            continue;
        }
        if (found < 0)
            return refuse(r, "no node is called", id, length);
        if (r->line_of[found] == r->line)
            return refuse(r, "listed twice:", id, length);
        r->line_of[found] = r->line;
        node[(*used)++] = (int32_t)found;
    }
}

graphss_status graphss_node_groups_read(
    graphss_ctx *ctx, graphss_node_groups *out, const char *path, const graphss_dataset *data)
{
    if (GRAPHSS_I_LACKS(ctx, {"path", path}, {"dataset", data}, {"place for the groups", out}))
        return GRAPHSS_ERR_INVALID;
    group_reader r = {.ctx = ctx, .path = path};
    graphss_node_groups made = {0};
    graphss_node_index *index = NULL;
    char *bytes = NULL;
    size_t size = 0, lines = 1, used = 0;
    graphss_status st =
        graphss_i_file_read(ctx, &bytes, &size, path, graphss_i_machine_memory() / 16);
    if (st)
        return st;
    for (size_t i = 0; i < size; i++)
        lines += bytes[i] == '\n';
    made.start = graphss_i_alloc(ctx, lines + 1, sizeof *made.start);
    made.line = graphss_i_alloc(ctx, lines, sizeof *made.line);
    made.node = graphss_i_alloc(ctx, size / 2 + 1, sizeof *made.node); /* "0 1 2" */
    r.line_of = graphss_i_calloc(ctx, data->graph.n_nodes, sizeof *r.line_of);
    st = made.start && made.line && made.node && r.line_of
             ? graphss_node_index_new(ctx, &index, data)
             : GRAPHSS_ERR_NOMEM;
    r.index = index;
    char *const end = bytes + size;
    for (char *at = bytes; at < end && !st;) {
        char *stop = memchr(at, '\n', (size_t)(end - at));
        const size_t before = used;
        if (!stop)
            stop = end;
        r.line++;
        const char *name = NULL;
        size_t named = 0;
        st = read_group(&r, made.node, &used, &name, &named, at, stop);
        if (!st && used > before) {
            made.start[made.count] = before;
            made.line[made.count++] = r.line;
            st = add_name(&r, name, named);
        }
        at = stop + 1;
    }
    if (!st && made.count == 0)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: no group is listed", path);
    if (!st)
        st = graphss_i_name_list_finish(ctx, &made.names, &r.names);
    if (!st) {
        made.start[made.count] = used;
        *out = made;
        made = (graphss_node_groups){0};
    }
    graphss_i_name_list_destroy(ctx, &r.names);
    graphss_node_index_free(ctx, index);
    graphss_release(ctx, r.line_of);
    graphss_node_groups_destroy(ctx, &made);
    graphss_release(ctx, bytes);
    return st;
}

static graphss_status name_groups(
    graphss_ctx *ctx, graphss_node_groups *made, const graphss_names *names)
{
    graphss_i_name_list list = {0};
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < made->count && !st; i++) {
        char number[24];
        const size_t g = made->line[i] - 1;
        snprintf(number, sizeof number, "%zu", g);
        const char *name = names && names->count ? graphss_names_get(names, g) : number;
        st = graphss_i_name_list_add(ctx, &list, name, strlen(name));
    }
    if (!st)
        st = graphss_i_name_list_finish(ctx, &made->names, &list);
    graphss_i_name_list_destroy(ctx, &list);
    return st;
}

graphss_status graphss_node_groups_make(graphss_ctx *ctx, graphss_node_groups *out,
    const int32_t *group, size_t n, size_t k, const graphss_names *names)
{
    if (GRAPHSS_I_LACKS(ctx, {"groups of the nodes", GRAPHSS_I_FILLED(group, n)},
            {"place for the groups", out}))
        return GRAPHSS_ERR_INVALID;
    if (names && names->count && names->count < k)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "%zu names for %zu groups", names->count, k);
    for (size_t v = 0; v < n; v++)
        if (group[v] >= 0 && (size_t)group[v] >= k)
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                "node %zu is in group %d, want 0..%zu, or less for none", v, (int)group[v],
                k - 1);
    graphss_node_groups made = {.start = graphss_i_alloc(ctx, k + 1, sizeof *made.start),
        .line = graphss_i_alloc(ctx, k, sizeof *made.line),
        .node = graphss_i_alloc(ctx, n, sizeof *made.node)};
    size_t *at = graphss_i_calloc(ctx, k + 1, sizeof *at);
    graphss_status st =
        made.start && made.line && made.node && at ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t v = 0; v < n && !st; v++)
        if (group[v] >= 0)
            at[group[v] + 1]++;
    for (size_t g = 0; g < k && !st; g++) {
        if (at[g + 1]) {
            made.start[made.count] = at[g];
            made.line[made.count++] = g + 1;
        }
        at[g + 1] += at[g];
    }
    if (!st)
        made.start[made.count] = at[k];
    for (size_t v = 0; v < n && !st; v++)
        if (group[v] >= 0)
            made.node[at[group[v]]++] = (int32_t)v;
    if (!st)
        st = name_groups(ctx, &made, names);
    graphss_release(ctx, at);
    if (st)
        graphss_node_groups_destroy(ctx, &made);
    else
        *out = made;
    return st;
}

void graphss_node_groups_destroy(graphss_ctx *ctx, graphss_node_groups *groups)
{
    if (!groups)
        return;
    graphss_names_destroy(ctx, &groups->names);
    graphss_release(ctx, groups->line);
    graphss_release(ctx, groups->node);
    graphss_release(ctx, groups->start);
    *groups = (graphss_node_groups){0};
}
