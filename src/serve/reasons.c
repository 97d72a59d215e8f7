/* reasons.c - why a node is suspicious, in words. The sentences follow the state model: how
 * the node changed, and which sources of evidence support another class than the classifier.
 */
#include "serve/serve_private.h"
#include <math.h>
#include <string.h>

enum { NAMED = 3 }; /* neighbours and features that a sentence names */

graphss_status graphss_i_why_get(
    graphss_ctx *ctx, graphss_i_why *out, graphss_live *live, size_t node)
{
    graphss_i_why why = {0};
    graphss_status st = graphss_live_node_get(ctx, live, &why.node, node);
    if (!st)
        st = graphss_live_edges_get(ctx, &why.edges, live, node);
    if (!st)
        st = graphss_live_features_get(ctx, &why.features, live, node);
    why.chance = 1 / (1 + exp(-why.node.suspicion));
    if (st)
        graphss_i_why_destroy(ctx, &why);
    else
        *out = why;
    return st;
}

void graphss_i_why_destroy(graphss_ctx *ctx, graphss_i_why *why)
{
    graphss_live_edges_destroy(ctx, &why->edges);
    graphss_live_features_destroy(ctx, &why->features);
}

static void put_percent(graphss_i_text *t, double share)
{
    graphss_i_text_fixed(t, 100 * share, share > 0.995 || share < 0.1 ? 1 : 0);
    graphss_i_text_add(t, " %");
}

static void put_neighbours(
    graphss_i_text *t, const graphss_i_why *why, const graphss_live *live, int state, size_t n)
{
    size_t named = 0;
    for (size_t i = 0; i < why->edges.n && named < NAMED; i++) {
        if (why->edges.state[i] != state)
            continue;
        const char *name = graphss_live_name(live, (size_t)why->edges.node[i]);
        graphss_i_text_add(t, named ? ", " : " ");
        graphss_i_text_add(t, name ? name : "a node that is gone");
        named++;
    }
    if (n > named)
        graphss_i_text_format(t, " and %zu more", n - named);
}

/* How it changed. */
static bool say_change(graphss_i_text *t, const graphss_i_why *why, const graphss_live *live)
{
    const graphss_live_node *v = &why->node;
    char when[GRAPHSS_TIME_TEXT], room[32];
    if (v->kind == GRAPHSS_LIVE_SAME)
        return false;
    graphss_time_text(when, v->since);
    if (v->kind == GRAPHSS_LIVE_NEW)
        graphss_i_text_format(t, "It is new%s%s", *when ? " since " : "", when);
    else
        graphss_i_text_format(t, "It changed%s%s", *when ? " since " : "", when);
    if (v->edges_added) {
        graphss_i_text_format(t, "; %zu edge%s added, to", v->edges_added,
            v->edges_added == 1 ? " was" : "s were");
        put_neighbours(t, why, live, 1, v->edges_added);
    }
    if (v->edges_removed) {
        graphss_i_text_format(t, "; %zu edge%s removed, to", v->edges_removed,
            v->edges_removed == 1 ? " was" : "s were");
        put_neighbours(t, why, live, -1, v->edges_removed);
    }
    if (why->features.n && v->kind != GRAPHSS_LIVE_NEW) {
        graphss_i_text_format(
            t, "; %zu feature%s changed:", why->features.n, why->features.n == 1 ? "" : "s");
        for (size_t i = 0; i < why->features.n && i < NAMED; i++) {
            const graphss_live_feature *f = &why->features.item[i];
            graphss_i_text_format(t, "%s %s from ", i ? "," : "",
                graphss_live_column(live, (size_t)f->column, room));
            graphss_i_text_short(t, (double)f->was);
            graphss_i_text_add(t, " to ");
            graphss_i_text_short(t, (double)f->now);
        }
        if (why->features.n > NAMED)
            graphss_i_text_format(t, " and %zu more", why->features.n - NAMED);
    }
    graphss_i_text_add(t, ".");
    return true;
}

/* The i-th source, surest first, that speaks for another class than the classifier. */
static int dissenter(const graphss_live_node *v, size_t i)
{
    int found = -1;
    bool used[GRAPHSS_LIVE_SOURCES] = {false};
    for (size_t round = 0; round <= i; round++) {
        found = -1;
        for (int s = 1; s < GRAPHSS_LIVE_SOURCES; s++)
            if (!used[s] && v->says[s] >= 0 && v->says[s] != v->predicted &&
                (found < 0 || v->surely[s] > v->surely[found]))
                found = s;
        if (found < 0)
            return -1;
        used[found] = true;
    }
    return found;
}

static bool say_dissent(
    graphss_i_text *t, const graphss_live_node *v, const graphss_live *live, size_t i)
{
    char room[32], other[32];
    const int s = dissenter(v, i);
    if (s < 0)
        return false;
    graphss_i_text_format(t, "The classifier says %s, but ",
        graphss_live_class(live, (size_t)v->predicted, room));
    graphss_i_text_format(t, "%s%s say%s %s (", s == 1 ? "the " : "",
        graphss_live_source_text((size_t)s), s == 1 ? "s" : "",
        graphss_live_class(live, (size_t)v->says[s], other));
    put_percent(t, v->surely[s]);
    graphss_i_text_add(t, ").");
    return true;
}

static bool say_label(graphss_i_text *t, const graphss_live_node *v, const graphss_live *live)
{
    char was[32], now[32];
    if (v->trusted < 0 || v->trusted == v->predicted)
        return false;
    graphss_i_text_format(t, "Its label went from %s to %s.",
        graphss_live_class(live, (size_t)v->trusted, was),
        graphss_live_class(live, (size_t)v->predicted, now));
    return true;
}

static bool say_rank(graphss_i_text *t, const graphss_live_node *v)
{
    if (v->kind == GRAPHSS_LIVE_SAME || isnan(v->suspicion) || v->p_value >= 1)
        return false;
    graphss_i_text_add(t, "Of earlier changes of this kind (");
    graphss_i_text_add(t, graphss_live_kind_text(v->kind));
    graphss_i_text_add(t, "), ");
    put_percent(t, v->p_value);
    graphss_i_text_add(t, " looked as suspicious.");
    return true;
}

bool graphss_i_why_sentence(
    graphss_i_text *t, const graphss_i_why *why, const graphss_live *live, size_t i)
{
    for (size_t kind = 0, said = 0; kind < 6; kind++) {
        const size_t before = t->n;
        const bool is = kind == 0   ? say_change(t, why, live)
                        : kind == 1 ? say_label(t, &why->node, live)
                        : kind == 5 ? say_rank(t, &why->node)
                                    : say_dissent(t, &why->node, live, kind - 2);
        if (!is)
            continue;
        if (said++ == i)
            return true;
        t->n = before; /* not this one */
        if (t->at)
            t->at[before] = 0;
    }
    return false;
}
