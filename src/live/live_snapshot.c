/* live_snapshot.c - the live graph, or the trusted one, as a dataset; and that dataset under
 * another model. */
#include "data/build.h"
#include "live/live_private.h"
#include <math.h>
#include <string.h>

/* Which nodes are in it, number by number, and the number each gets; -1: not in it. */
static size_t number_nodes(int32_t *number, const graphss_live *x, bool trusted)
{
    size_t n = 0;
    for (size_t i = 0; i < x->n; i++) {
        const graphss_i_live_changed *c = x->record[i] >= 0 ? &x->changed[x->record[i]] : NULL;
        const bool in = trusted && c ? !c->is_new : x->alive[i];
        number[i] = in ? (int32_t)n++ : -1;
    }
    return n;
}

static const graphss_i_live_changed *past_of(const graphss_live *x, size_t i, bool trusted)
{
    return trusted && x->record[i] >= 0 ? &x->changed[x->record[i]] : NULL;
}

static const int32_t *edges_of(const graphss_live *x, size_t i, bool trusted, size_t *n)
{
    if (trusted)
        return graphss_i_live_was_edges(x, i, n);
    *n = graphss_i_live_length(&x->edges, i);
    return *n ? graphss_i_live_keys(&x->edges, i) : NULL;
}

/* Entries of the features of node i. */
static const float *features_of(
    const graphss_live *x, size_t i, bool trusted, size_t *n, const int32_t **column)
{
    const graphss_i_live_changed *c = past_of(x, i, trusted);
    if (c && c->features) {
        *n = c->n_was_features;
        *column = c->was_column;
        return c->was_value;
    }
    if (x->is_dense) {
        *n = x->d;
        *column = NULL;
        return x->dense + i * x->d;
    }
    *n = graphss_i_live_length(&x->sparse, i);
    *column = *n ? graphss_i_live_keys(&x->sparse, i) : NULL;
    return *n ? (const float *)graphss_i_live_payload(&x->sparse, i) : NULL;
}

static graphss_status put_graph(graphss_ctx *ctx, graphss_graph *g, const graphss_live *x,
    const int32_t *number, size_t nodes, bool trusted)
{
    size_t entries = 0, n;
    for (size_t i = 0; i < x->n; i++)
        if (number[i] >= 0) {
            (void)edges_of(x, i, trusted, &n);
            entries += n;
        }
    g->n_nodes = nodes;
    g->offset = graphss_i_alloc(ctx, nodes + 1, sizeof *g->offset);
    g->target = graphss_i_alloc(ctx, entries, sizeof *g->target);
    if (!g->offset || !g->target)
        return GRAPHSS_ERR_NOMEM;
    g->offset[0] = 0;
    for (size_t i = 0, at = 0; i < x->n; i++) {
        if (number[i] < 0)
            continue;
        const int32_t *key = edges_of(x, i, trusted, &n);
        for (size_t j = 0; j < n; j++)
            g->target[at++] = number[key[j]];
        g->offset[number[i] + 1] = (int64_t)at;
    }
    return GRAPHSS_OK;
}

static graphss_status put_features(graphss_ctx *ctx, graphss_features *f,
    const graphss_live *x, const int32_t *number, size_t nodes, bool trusted)
{
    size_t entries = 0, n;
    const int32_t *column;
    for (size_t i = 0; i < x->n; i++)
        if (number[i] >= 0) {
            (void)features_of(x, i, trusted, &n, &column);
            entries += n;
        }
    f->n_rows = nodes;
    f->n_cols = x->d;
    f->kind = x->feature_kind;
    f->value = graphss_i_alloc(ctx, entries, sizeof *f->value);
    if (!x->is_dense) {
        f->offset = graphss_i_alloc(ctx, nodes + 1, sizeof *f->offset);
        f->column = graphss_i_alloc(ctx, entries, sizeof *f->column);
    }
    if (!f->value || (!x->is_dense && (!f->offset || !f->column)))
        return GRAPHSS_ERR_NOMEM;
    if (f->offset)
        f->offset[0] = 0;
    for (size_t i = 0, at = 0; i < x->n; i++) {
        if (number[i] < 0)
            continue;
        const float *value = features_of(x, i, trusted, &n, &column);
        if (n)
            memcpy(f->value + at, value, n * sizeof *value);
        if (n && f->column)
            memcpy(f->column + at, column, n * sizeof *column);
        at += n;
        if (f->offset)
            f->offset[number[i] + 1] = (int64_t)at;
    }
    return GRAPHSS_OK;
}

static graphss_status put_names(graphss_ctx *ctx, graphss_names *names, const graphss_live *x,
    const int32_t *number, size_t nodes, bool trusted)
{
    size_t bytes = 0;
    for (int fill = 0; fill < 2; fill++) {
        size_t at = 0;
        for (size_t i = 0; i < x->n; i++) {
            if (number[i] < 0)
                continue;
            const graphss_i_live_changed *c = past_of(x, i, trusted);
            const char *name =
                c && c->was_name ? c->was_name : graphss_i_live_names_get(&x->names, i);
            const size_t size = strlen(name) + 1;
            if (fill) {
                names->start[number[i]] = at;
                memcpy(names->text + at, name, size);
            }
            at += size;
        }
        bytes = at;
        if (!fill) {
            names->start = graphss_i_alloc(ctx, nodes + 1, sizeof *names->start);
            names->text = graphss_i_alloc(ctx, bytes, 1);
            if (!names->start || !names->text)
                return GRAPHSS_ERR_NOMEM;
            names->count = nodes;
        }
    }
    names->start[nodes] = bytes;
    return GRAPHSS_OK;
}

static graphss_status copy_names(
    graphss_ctx *ctx, graphss_names *out, const graphss_i_live_names *from)
{
    if (from->n == 0)
        return GRAPHSS_OK;
    out->start = graphss_i_alloc(ctx, from->n + 1, sizeof *out->start);
    out->text = graphss_i_copy(ctx, from->text, from->used, 1);
    if (!out->start || !out->text)
        return GRAPHSS_ERR_NOMEM;
    memcpy(out->start, from->start, from->n * sizeof *out->start);
    out->start[from->n] = from->used;
    out->count = from->n;
    return GRAPHSS_OK;
}

graphss_status graphss_live_snapshot(
    graphss_ctx *ctx, graphss_dataset *out, const graphss_live *x, bool trusted)
{
    if (GRAPHSS_I_LACKS(ctx, {"live graph", x}, {"place for the dataset", out}))
        return GRAPHSS_ERR_INVALID;
    graphss_dataset data = {.n_classes = x->k};
    int32_t *number = graphss_i_alloc(ctx, x->n, sizeof *number);
    if (!number)
        return GRAPHSS_ERR_NOMEM;
    const size_t nodes = number_nodes(number, x, trusted);
    graphss_status st = put_graph(ctx, &data.graph, x, number, nodes, trusted);
    if (!st)
        st = put_features(ctx, &data.features, x, number, nodes, trusted);
    if (!st)
        st = put_names(ctx, &data.node_names, x, number, nodes, trusted);
    if (!st)
        st = copy_names(ctx, &data.column_names, &x->columns);
    const graphss_names *classes = graphss_model_class_names(x->model);
    if (!st && classes && classes->count)
        st = graphss_i_names_copy(ctx, &data.class_names, classes);
    if (!st) {
        data.label = graphss_i_alloc(ctx, nodes, sizeof *data.label);
        st = data.label ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    }
    for (size_t i = 0; i < x->n && !st; i++)
        if (number[i] >= 0)
            data.label[number[i]] = x->label[i];
    snprintf(data.name, sizeof data.name, "live");
    snprintf(data.format, sizeof data.format, "live");
    graphss_release(ctx, number);
    if (st)
        graphss_dataset_destroy(ctx, &data);
    else
        *out = data;
    return st;
}

/* ---- another model ---- */

/* Edges with an expiry, by their new numbers. Edges renewed or removed since are left out. */
static graphss_status carry_endings(
    graphss_ctx *ctx, graphss_live *to, const graphss_live *from, const int32_t *number)
{
    graphss_status st = GRAPHSS_OK;
    to->ending = graphss_i_alloc(ctx, from->n_ending, sizeof *to->ending);
    if (!to->ending)
        return GRAPHSS_ERR_NOMEM;
    to->ending_room = from->n_ending;
    for (size_t i = 0; i < from->n_ending && !st; i++) {
        const graphss_i_live_ending e =
            from->ending[(from->ending_first + i) % from->ending_room];
        const int64_t at = graphss_i_live_rows_at(&from->edges, (size_t)e.u, e.v);
        if (at < 0 || graphss_i_live_payload(&from->edges, (size_t)e.u)[at] != e.t)
            continue;
        const int32_t u = number[e.u], v = number[e.v];
        bool added;
        st = graphss_i_live_rows_put(ctx, &to->edges, (size_t)u, v, e.t, &added);
        if (!st)
            st = graphss_i_live_rows_put(ctx, &to->edges, (size_t)v, u, e.t, &added);
        to->ending[to->n_ending++] = (graphss_i_live_ending){u, v, e.t};
    }
    return st;
}

static graphss_status carry_groups(
    graphss_ctx *ctx, graphss_live *to, const graphss_live *from)
{
    graphss_status st = GRAPHSS_OK;
    for (size_t g = 1; g < from->n_groups && !st; g++) {
        st = graphss_i_live_group_add(ctx, to, from->group[g].name);
        const graphss_i_live_names *member = &from->group[g].member;
        for (size_t i = 0; i < member->n && !st; i++)
            st = graphss_i_live_names_put(
                ctx, &to->group[g].member, i, graphss_i_live_names_get(member, i));
    }
    return st;
}

static graphss_status carry_alerts(
    graphss_ctx *ctx, graphss_live *to, const graphss_live *from, const int32_t *number)
{
    to->alert = graphss_i_calloc(ctx, from->n_alerts, sizeof *to->alert);
    if (!to->alert)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < from->n_alerts; i++) {
        const graphss_i_live_alert *old = &from->alert[i];
        graphss_i_live_alert *a = &to->alert[to->n_alerts++];
        const size_t n = old->n_suspects;
        *a = *old;
        a->suspect = graphss_i_copy(ctx, old->suspect, n, sizeof *a->suspect);
        a->suspect_p = graphss_i_copy(ctx, old->suspect_p, n, sizeof *a->suspect_p);
        a->suspect_score =
            graphss_i_copy(ctx, old->suspect_score, n, sizeof *a->suspect_score);
        if (!a->suspect || !a->suspect_p || !a->suspect_score)
            return GRAPHSS_ERR_NOMEM;
        for (size_t j = 0; j < n; j++)
            a->suspect[j] = a->suspect[j] < 0 ? -1 : number[a->suspect[j]];
    }
    return GRAPHSS_OK;
}

/* Clock, counters, what was seen of each source. */
static graphss_status carry_rest(graphss_ctx *ctx, graphss_live *to, const graphss_live *from)
{
    graphss_status st = GRAPHSS_OK;
    to->now_t = to->trusted_since = from->now_t;
    to->next_check = from->next_check;
    to->applied = from->applied;
    to->duplicates = from->duplicates;
    to->refused = from->refused;
    to->expired = from->expired;
    to->checks = from->checks;
    to->judged = from->judged;
    to->warm = from->warm;
    const size_t n = from->seen.source.n;
    to->seen.seq = graphss_i_copy(ctx, from->seen.seq, n, sizeof *to->seen.seq);
    to->seen.room = n;
    for (size_t i = 0; i < n && to->seen.seq && !st; i++)
        st = graphss_i_live_names_put(
            ctx, &to->seen.source, i, graphss_i_live_names_get(&from->seen.source, i));
    return to->seen.seq ? st : GRAPHSS_ERR_NOMEM;
}

graphss_status graphss_live_adopt(
    graphss_ctx *ctx, graphss_live **out, const graphss_model *model, const graphss_live *from)
{
    graphss_live *to = NULL;
    graphss_dataset data = {0};
    if (GRAPHSS_I_LACKS(
            ctx, {"model", model}, {"live graph", from}, {"place for the live graph", out}))
        return GRAPHSS_ERR_INVALID;
    if (graphss_i_live_open_alerts(from))
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "another model takes over once no alert is open: dismiss or "
            "confirm first");
    int32_t *number = graphss_i_alloc(ctx, from->n, sizeof *number);
    graphss_status st =
        number ? graphss_live_snapshot(ctx, &data, from, false) : GRAPHSS_ERR_NOMEM;
    if (!st)
        st = graphss_dataset_align(ctx, NULL, &data, model);
    if (!st) {
        const graphss_observation seen = graphss_dataset_observe(&data);
        (void)number_nodes(number, from, false);
        st = graphss_live_new(ctx, &to, model, &seen, &from->opt);
    }
    for (size_t i = 0; !st && i < to->n; i++)
        to->label[i] = to->label[i] < 0 ? data.label[i] : to->label[i];
    if (!st)
        st = graphss_i_live_evidence_learn(ctx, to, &data.graph, &data.features, to->label);
    if (!st)
        st = carry_endings(ctx, to, from, number);
    if (!st)
        st = carry_groups(ctx, to, from);
    if (!st)
        st = carry_alerts(ctx, to, from, number);
    if (!st)
        st = carry_rest(ctx, to, from);
    if (!st) {
        memcpy(to->past_test, from->past_test, from->n_past_tests * sizeof *to->past_test);
        to->n_past_tests = from->n_past_tests;
    }
    graphss_release(ctx, number);
    graphss_dataset_destroy(ctx, &data);
    if (st)
        graphss_live_free(ctx, to);
    else
        *out = to;
    return st;
}
