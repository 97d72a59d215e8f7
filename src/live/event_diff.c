/* event_diff.c - the events that turn one dataset into another. */
#include "base/base.h"
#include "graph/rows.h"
#include <graphss/events.h>
#include <graphss/observation.h>
#include <math.h>
#include <string.h>

typedef struct walk {
    const graphss_dataset *from, *to;
    int32_t *was, *is; /* [nodes of to], [nodes of from]: the same node in the other, or -1 */
    const char **name; /* [n_cols] */
    char *numbers;     /* names of columns without one */
    float *value;      /* [n_cols] */
    graphss_event_take take;
    void *user;
} walk;

static const char *name_of(const graphss_dataset *data, size_t node, char *room, size_t size)
{
    if (data->node_names.count)
        return graphss_names_get(&data->node_names, node);
    snprintf(room, size, "%zu", node);
    return room;
}

static graphss_status give(
    const walk *w, graphss_event_op op, const char *u, const char *v, size_t n_features)
{
    const graphss_event e = {.op = op,
        .t = NAN,
        .seq = -1,
        .u = u,
        .v = v,
        .n_features = n_features,
        .feature = w->name,
        .value = w->value};
    return w->take(w->user, &e);
}

enum { COLUMN = 24 }; /* of a number as text */

static const char *column_name(walk *w, size_t at, size_t column)
{
    if (w->to->column_names.count)
        return graphss_names_get(&w->to->column_names, column);
    snprintf(w->numbers + at * COLUMN, COLUMN, "%zu", column);
    return w->numbers + at * COLUMN;
}

/* The features of a node that must be set; was -1: it is new. */
static size_t differing(walk *w, size_t node, int32_t was)
{
    const graphss_features *to = &w->to->features, *from = &w->from->features;
    const graphss_i_row none = {0}, now = graphss_i_row_of(to, node);
    const graphss_i_row old = was < 0 ? none : graphss_i_row_of(from, (size_t)was);
    size_t n = 0, a = 0, b = 0;
    for (size_t c = 0; c < to->n_cols; c++) {
        const float x = graphss_i_row_value(now, &a, c);
        const float y = was < 0 ? 0 : graphss_i_row_value(old, &b, c);
        if (x != y) {
            w->name[n] = column_name(w, n, c);
            w->value[n++] = x;
        }
    }
    return n;
}

static graphss_status nodes(walk *w)
{
    char room[32];
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < w->from->graph.n_nodes && !st; i++)
        if (w->is[i] < 0)
            st = give(
                w, GRAPHSS_EVENT_REMOVE_NODE, name_of(w->from, i, room, sizeof room), NULL, 0);
    for (size_t i = 0; i < w->to->graph.n_nodes && !st; i++) {
        const size_t n = differing(w, i, w->was[i]);
        if (n || w->was[i] < 0)
            st = give(w, w->was[i] < 0 ? GRAPHSS_EVENT_ADD_NODE : GRAPHSS_EVENT_SET_FEATURES,
                name_of(w->to, i, room, sizeof room), NULL, n);
    }
    return st;
}

/* Edges of a that b lacks; other [nodes of a]: the same node in b. */
static graphss_status edges(walk *w, graphss_event_op op, const graphss_dataset *a,
    const graphss_dataset *b, const int32_t *other)
{
    char u[32], v[32];
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < a->graph.n_nodes; i++)
        for (int64_t e = a->graph.offset[i]; e < a->graph.offset[i + 1] && !st; e++) {
            const size_t j = (size_t)a->graph.target[e];
            if (j < i)
                continue;
            const bool gone_with_node =
                op == GRAPHSS_EVENT_REMOVE_EDGE && (other[i] < 0 || other[j] < 0);
            if (!gone_with_node && (other[i] < 0 || other[j] < 0 ||
                                       !graphss_graph_has_edge(&b->graph, other[i], other[j])))
                st = give(w, op, name_of(a, i, u, sizeof u), name_of(a, j, v, sizeof v), 0);
        }
    return st;
}

graphss_status graphss_events_between(graphss_ctx *ctx, const graphss_dataset *from,
    const graphss_dataset *to, graphss_event_take take, void *user)
{
    if (GRAPHSS_I_LACKS(ctx, {"dataset", from}, {"other dataset", to}))
        return GRAPHSS_ERR_INVALID;
    if (!take)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "nothing to take the events");
    if (from->features.n_cols != to->features.n_cols)
        return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE, "%zu features, then %zu: want as many",
            from->features.n_cols, to->features.n_cols);
    walk w = {.from = from, .to = to, .take = take, .user = user};
    const graphss_observation a = graphss_dataset_observe(from);
    const graphss_observation b = graphss_dataset_observe(to);
    const size_t d = to->features.n_cols;
    w.name = graphss_i_alloc(ctx, d, sizeof *w.name);
    w.numbers = graphss_i_alloc(ctx, d, COLUMN);
    w.value = graphss_i_alloc(ctx, d, sizeof *w.value);
    graphss_status st = w.name && w.numbers && w.value
                            ? graphss_observation_match(ctx, &w.was, &b, &a)
                            : GRAPHSS_ERR_NOMEM;
    if (!st)
        st = graphss_observation_match(ctx, &w.is, &a, &b);
    if (!st)
        st = nodes(&w);
    if (!st)
        st = edges(&w, GRAPHSS_EVENT_REMOVE_EDGE, from, to, w.is);
    if (!st)
        st = edges(&w, GRAPHSS_EVENT_ADD_EDGE, to, from, w.was);
    graphss_release(ctx, w.is);
    graphss_release(ctx, w.was);
    graphss_release(ctx, w.value);
    graphss_release(ctx, w.numbers);
    graphss_release(ctx, w.name);
    return st;
}
