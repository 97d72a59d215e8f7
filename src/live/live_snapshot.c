/* live_snapshot.c - the live graph, or the trusted one, as a dataset. */
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
static const float *features_of(const graphss_live *x, size_t i, bool trusted, size_t *n,
                                const int32_t **column)
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
                                   const graphss_live *x, const int32_t *number, size_t nodes,
                                   bool trusted)
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

static graphss_status copy_names(graphss_ctx *ctx, graphss_names *out,
                                 const graphss_i_live_names *from)
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

graphss_status graphss_live_snapshot(graphss_ctx *ctx, graphss_dataset *out,
                                     const graphss_live *x, bool trusted)
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
