/* node_changes.c - see node_changes.h. Edges are compared by the names of their ends, features
 * column by column: both snapshots are in the terms of the model. */
#include <stdlib.h>
#include <string.h>

#include "snapshot_page.h"

enum { NAMED = 5 }; /* edges and features that a sentence names */

graphss_status cli_node_changes_open(cli *app, cli_node_changes *c, const cli_snapshot_pair *s)
{
    *c = (cli_node_changes){.now = &s->current};
    if (!s->in.previous)
        return GRAPHSS_OK;
    c->then = &s->previous;
    graphss_status st =
        graphss_observation_match(app->ctx, &c->match, &s->in.current, s->in.previous);
    if (!st)
        st = cli_alloc_large(app, &c->back, c->then->graph.n_nodes, sizeof *c->back);
    for (size_t i = 0; i < c->then->graph.n_nodes && !st; i++)
        c->back[i] = -1;
    for (size_t i = 0; i < c->now->graph.n_nodes && !st; i++)
        if (c->match[i] >= 0)
            c->back[c->match[i]] = (int32_t)i;
    return st;
}

void cli_node_changes_close(cli *app, cli_node_changes *c)
{
    graphss_release(app->ctx, c->match);
    free(c->back);
    *c = (cli_node_changes){0};
}

/* A list that names its first few: "a, b, c and 4 more". */
typedef struct name_list {
    char *text;
    size_t length, count;
    FILE *file;
} name_list;

static void list_open(name_list *l)
{
    *l = (name_list){0};
    l->file = open_memstream(&l->text, &l->length);
}

static void list_add(name_list *l, const char *name, const char *more)
{
    if (l->count++ < NAMED && l->file)
        fprintf(l->file, "%s%.80s%s", l->count > 1 ? ", " : "", name, more);
}

/* "3 edges added to a, b, c", or NULL if there are none. */
static char *list_close(name_list *l, const char *one, const char *many)
{
    if (l->count > NAMED && l->file)
        fprintf(l->file, " and %zu more", l->count - NAMED);
    const bool bad = !l->file || fclose(l->file) != 0;
    char *sentence = l->count && !bad ? cli_format("%zu %s %s", l->count,
                                            l->count == 1 ? one : many, l->text)
                                      : NULL;
    free(l->text);
    return sentence;
}

static bool has_edge(const graphss_graph *g, int32_t from, int32_t to)
{
    for (int64_t e = g->offset[from]; e < g->offset[from + 1]; e++)
        if (g->target[e] == to)
            return true;
    return false;
}

static char *tell_new(const cli_node_changes *c, int32_t node)
{
    const graphss_graph *g = &c->now->graph;
    name_list l;
    char buffer[24];
    list_open(&l);
    for (int64_t e = g->offset[node]; e < g->offset[node + 1]; e++)
        list_add(&l, cli_name_at(&c->now->node_names, (size_t)g->target[e], buffer), "");
    char *edges = list_close(&l, "edge to", "edges to");
    char *sentence = edges ? cli_format("new since the previous snapshot, with %s", edges)
                           : cli_format("new since the previous snapshot, without an edge");
    free(edges);
    return sentence;
}

/* Edges of the one graph that the other has not; to [nodes]: numbers in the other. */
static char *tell_edges(const graphss_dataset *data, int32_t node, const graphss_graph *other,
    int32_t there, const int32_t *to, const char *one, const char *many)
{
    const graphss_graph *g = &data->graph;
    name_list l;
    char buffer[24];
    list_open(&l);
    for (int64_t e = g->offset[node]; e < g->offset[node + 1]; e++) {
        const int32_t end = to[g->target[e]];
        if (end < 0 || !has_edge(other, there, end))
            list_add(&l, cli_name_at(&data->node_names, (size_t)g->target[e], buffer), "");
    }
    return list_close(&l, one, many);
}

/* ---- features ---- */

static size_t row_size(const graphss_features *x, int32_t row)
{
    if (graphss_features_dense(x))
        return x->n_cols;
    return x->column ? (size_t)(x->offset[row + 1] - x->offset[row]) : 0;
}

static void entry(
    const graphss_features *x, int32_t row, size_t i, size_t *column, float *value)
{
    const bool dense = graphss_features_dense(x);
    const size_t at = dense ? (size_t)row * x->n_cols + i : (size_t)x->offset[row] + i;
    *column = dense ? i : (size_t)x->column[at];
    *value = x->value[at];
}

static char *tell_features(const cli_node_changes *c, int32_t node, int32_t there)
{
    const graphss_features *now = &c->now->features, *then = &c->then->features;
    if (now->n_cols == 0 || now->n_cols != then->n_cols)
        return NULL;
    const size_t n = row_size(now, node), m = row_size(then, there);
    name_list l;
    list_open(&l);
    for (size_t i = 0, j = 0; i < n || j < m;) { /* columns ascend in both */
        size_t a = SIZE_MAX, b = SIZE_MAX;
        float x = 0, y = 0;
        if (i < n)
            entry(now, node, i, &a, &x);
        if (j < m)
            entry(then, there, j, &b, &y);
        const size_t column = a < b ? a : b;
        const float is = a == column ? x : 0, was = b == column ? y : 0;
        char buffer[24], change[64];
        snprintf(change, sizeof change, " from %g to %g", (double)was, (double)is);
        if (is != was)
            list_add(&l, cli_name_at(&c->now->column_names, column, buffer), change);
        i += a == column;
        j += b == column;
    }
    return list_close(&l, "feature changed:", "features changed:");
}

size_t cli_node_changes_tell(
    const cli_node_changes *c, int32_t node, char *reason[CLI_REASONS_MOST])
{
    size_t n = 0;
    if (!c->then)
        return 0;
    const int32_t there = c->match[node];
    if (there < 0) {
        reason[n++] = tell_new(c, node);
        return n;
    }
    char *found[] = {tell_edges(c->now, node, &c->then->graph, there, c->match,
                         "edge added to", "edges added to"),
        tell_edges(c->then, there, &c->now->graph, node, c->back, "removed edge to",
            "removed edges to"),
        tell_features(c, node, there)};
    for (size_t i = 0; i < sizeof found / sizeof *found; i++)
        if (found[i])
            reason[n++] = found[i];
    return n;
}
