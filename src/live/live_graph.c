/* live_graph.c - changes of graph and features, and what the trusted snapshot had instead.
 *
 * The trusted snapshot is not a second graph: a node that changes keeps a copy of the row it
 * had (its record in `changed`), and all others are as they were. */
#include "live/live_private.h"
#include "models/model_private.h"
#include <math.h>
#include <string.h>

/* *array grows to room rows of `bytes`; the new ones are filled with a byte. */
static bool grow(
    graphss_ctx *ctx, void *array, size_t old, size_t room, size_t bytes, int fill)
{
    void *block = NULL;
    memcpy(&block, array, sizeof block);
    block = graphss_i_grow(ctx, block, old, room, bytes);
    if (!block)
        return false;
    memset((char *)block + old * bytes, fill, (room - old) * bytes);
    memcpy(array, &block, sizeof block);
    return true;
}

graphss_status graphss_i_live_reserve(graphss_ctx *ctx, graphss_live *x, size_t n)
{
    if (n <= x->room)
        return GRAPHSS_OK;
    if (n > INT32_MAX - 1)
        return graphss_i_fail(ctx, GRAPHSS_ERR_LIMIT, "%zu nodes are too many", n);
    const size_t old = x->room, room = n + n / 8 + 64;
    const size_t f = sizeof(float), i4 = sizeof(int32_t);
    graphss_status st = graphss_i_live_net_extend(ctx, &x->net, room);
    if (!st)
        st = graphss_i_live_rows_extend(ctx, &x->edges, room);
    if (!st && !x->is_dense)
        st = graphss_i_live_rows_extend(ctx, &x->sparse, room);
    if (!st)
        st = graphss_i_live_evidence_reserve(ctx, x, room);
    if (st)
        return st;
    if (!grow(ctx, &x->alive, old, room, 1, 0) || !grow(ctx, &x->label, old, room, i4, 0xff) ||
        (x->is_dense && !grow(ctx, &x->dense, old, room, x->d * f, 0)) ||
        !grow(ctx, &x->trusted_prob, old, room, x->k * f, 0) ||
        !grow(ctx, &x->record, old, room, i4, 0xff) ||
        !grow(ctx, &x->version, old, room, i4, 0) || !grow(ctx, &x->mark, old, room, 1, 0) ||
        !grow(ctx, &x->featured, old, room, i4, 0) ||
        !grow(ctx, &x->edged, old, room, i4, 0) || !grow(ctx, &x->touched, old, room, i4, 0) ||
        !grow(ctx, &x->renewed, old, room, i4, 0))
        return GRAPHSS_ERR_NOMEM;
    x->room = room;
    return GRAPHSS_OK;
}

void graphss_i_live_mark(graphss_live *x, int32_t node, unsigned what)
{
    const unsigned more = (what | GRAPHSS_I_TOUCHED) & ~(unsigned)x->mark[node];
    if (more & GRAPHSS_I_FEATURED)
        x->featured[x->n_featured++] = node;
    if (more & GRAPHSS_I_EDGED)
        x->edged[x->n_edged++] = node;
    if (more & GRAPHSS_I_TOUCHED)
        x->touched[x->n_touched++] = node;
    x->mark[node] = (uint8_t)(x->mark[node] | more);
}

/* ---- the trusted snapshot ---- */

void graphss_i_live_changed_destroy(graphss_ctx *ctx, graphss_i_live_changed *c)
{
    graphss_release(ctx, c->was_edge);
    graphss_release(ctx, c->was_column);
    graphss_release(ctx, c->was_value);
    graphss_release(ctx, c->was_name);
    graphss_release(ctx, c->was_alone);
    graphss_release(ctx, c->evidence);
    *c = (graphss_i_live_changed){0};
}

static graphss_i_live_changed *record_of(graphss_ctx *ctx, graphss_live *x, int32_t node)
{
    if (x->record[node] >= 0)
        return &x->changed[x->record[node]];
    if (x->n_changed == x->changed_room) {
        const size_t room = x->changed_room + x->changed_room / 2 + 64;
        graphss_i_live_changed *more =
            graphss_i_grow(ctx, x->changed, x->n_changed, room, sizeof *more);
        if (!more)
            return NULL;
        x->changed = more;
        x->changed_room = room;
    }
    x->record[node] = (int32_t)x->n_changed;
    x->changed[x->n_changed] = (graphss_i_live_changed){
        .node = node, .suspicion = NAN, .p_value = 1, .since = x->now_t};
    return &x->changed[x->n_changed++];
}

static graphss_status remember_edges(graphss_ctx *ctx, graphss_live *x, int32_t node)
{
    graphss_i_live_changed *c = record_of(ctx, x, node);
    if (!c)
        return GRAPHSS_ERR_NOMEM;
    if (c->is_new || c->edges)
        return GRAPHSS_OK;
    const size_t n = graphss_i_live_length(&x->edges, (size_t)node);
    c->was_edge = n ? graphss_i_copy(ctx, graphss_i_live_keys(&x->edges, (size_t)node), n,
                          sizeof *c->was_edge)
                    : graphss_i_alloc(ctx, 0, sizeof *c->was_edge);
    c->n_was_edges = n;
    c->edges = c->was_edge != NULL;
    return c->edges ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

static graphss_status remember_features(graphss_ctx *ctx, graphss_live *x, int32_t node)
{
    graphss_i_live_changed *c = record_of(ctx, x, node);
    if (!c)
        return GRAPHSS_ERR_NOMEM;
    if (c->is_new || c->features)
        return GRAPHSS_OK;
    const size_t i = (size_t)node;
    const size_t n = x->is_dense ? x->d : graphss_i_live_length(&x->sparse, i);
    const float none = 0;
    const int32_t no_column = 0;
    const float *value = x->is_dense ? x->dense + i * x->d
                         : n         ? (const float *)graphss_i_live_payload(&x->sparse, i)
                                     : &none;
    const int32_t *column =
        x->is_dense || !n ? &no_column : graphss_i_live_keys(&x->sparse, i);
    c->was_value = graphss_i_copy(ctx, value, n, sizeof *value);
    c->was_column = x->is_dense ? NULL : graphss_i_copy(ctx, column, n, sizeof *column);
    c->was_alone = graphss_i_copy(ctx, x->net.alone + i * x->k, x->k, sizeof(float));
    c->n_was_features = n;
    c->features = c->was_value && (x->is_dense || c->was_column) && c->was_alone;
    return c->features ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

const int32_t *graphss_i_live_was_edges(const graphss_live *x, size_t node, size_t *n)
{
    const graphss_i_live_changed *c =
        x->record[node] >= 0 ? &x->changed[x->record[node]] : NULL;
    if (c && (c->edges || c->is_new)) {
        *n = c->n_was_edges;
        return c->was_edge;
    }
    *n = graphss_i_live_length(&x->edges, node);
    return *n ? graphss_i_live_keys(&x->edges, node) : NULL;
}

/* Entries of ascending a that are not in ascending b. */
static size_t missing(const int32_t *a, size_t n, const int32_t *b, size_t m)
{
    size_t gone = 0;
    for (size_t i = 0, j = 0; i < n; i++) {
        while (j < m && b[j] < a[i])
            j++;
        gone += j == m || b[j] != a[i];
    }
    return gone;
}

static bool same_features(const graphss_live *x, size_t node, const graphss_i_live_changed *r)
{
    const size_t n = r->n_was_features, bytes = n * sizeof *r->was_value;
    if (x->is_dense)
        return !memcmp(x->dense + node * n, r->was_value, bytes);
    return n == graphss_i_live_length(&x->sparse, node) &&
           (n == 0 ||
               (!memcmp(graphss_i_live_keys(&x->sparse, node), r->was_column, bytes) &&
                   !memcmp(graphss_i_live_payload(&x->sparse, node), r->was_value, bytes)));
}

graphss_live_kind graphss_i_live_kind_of(
    const graphss_live *x, size_t node, graphss_i_change_counts *counts)
{
    graphss_i_change_counts c = {0};
    const graphss_i_live_changed *r =
        x->record[node] >= 0 ? &x->changed[x->record[node]] : NULL;
    if (r && !r->is_new) {
        const size_t n = graphss_i_live_length(&x->edges, node);
        const int32_t *now = n ? graphss_i_live_keys(&x->edges, node) : NULL;
        if (r->edges) {
            c.edges_added = missing(now, n, r->was_edge, r->n_was_edges);
            c.edges_removed = missing(r->was_edge, r->n_was_edges, now, n);
        }
        if (r->features && x->is_dense) {
            for (size_t j = 0; j < x->d; j++)
                c.features_added += x->dense[node * x->d + j] != r->was_value[j];
        } else if (r->features) {
            const size_t m = graphss_i_live_length(&x->sparse, node);
            const int32_t *column = m ? graphss_i_live_keys(&x->sparse, node) : NULL;
            c.features_added = missing(column, m, r->was_column, r->n_was_features);
            c.features_removed = missing(r->was_column, r->n_was_features, column, m);
        }
    }
    if (counts)
        *counts = c;
    const size_t edges = c.edges_added + c.edges_removed;
    const bool features = r && r->features && !same_features(x, node, r);
    if (r && r->is_new)
        return GRAPHSS_LIVE_NEW;
    if (edges && features)
        return GRAPHSS_LIVE_BOTH;
    if (features)
        return GRAPHSS_LIVE_FEATURES;
    return edges == 0   ? GRAPHSS_LIVE_SAME
           : edges == 1 ? GRAPHSS_LIVE_ONE_EDGE
           : edges <= 4 ? GRAPHSS_LIVE_FEW_EDGES
                        : GRAPHSS_LIVE_MANY_EDGES;
}

graphss_status graphss_i_live_trust_now(graphss_ctx *ctx, graphss_live *x)
{
    for (size_t i = 0; i < x->n_changed; i++) {
        x->record[x->changed[i].node] = -1;
        graphss_i_live_changed_destroy(ctx, &x->changed[i]);
    }
    x->n_changed = 0;
    if (x->n)
        memcpy(x->trusted_prob, graphss_i_live_answer(&x->net, 0),
            x->n * x->k * sizeof *x->trusted_prob);
    if (x->past.known)
        memset(x->past.known, 0, x->n);
    x->n_free = x->n_freed;
    x->trusted_since = x->now_t;
    for (size_t g = 0; g < x->n_groups; g++)
        graphss_i_bets_trust(&x->group[g].bets);
    return GRAPHSS_OK;
}

/* ---- changes ---- */

graphss_status graphss_i_live_add_node(
    graphss_ctx *ctx, graphss_live *x, int32_t *node, const char *name)
{
    const bool reuse = x->n_free > 0;
    const size_t i = reuse ? (size_t)x->freed[x->n_free - 1] : x->n;
    graphss_status st = graphss_i_live_reserve(ctx, x, i + 1);
    if (!st)
        st = graphss_i_live_names_put(ctx, &x->names, i, name);
    if (st)
        return st;
    if (reuse) { /* the last free one; those that wait for trust close up */
        x->n_free--;
        memmove(x->freed + x->n_free, x->freed + x->n_free + 1,
            (x->n_freed - x->n_free - 1) * sizeof *x->freed);
        x->n_freed--;
        if (x->is_dense)
            memset(x->dense + i * x->d, 0, x->d * sizeof *x->dense);
        for (size_t a = 0; a < x->n_alerts; a++) /* these meant another node */
            for (size_t j = 0; j < x->alert[a].n_suspects; j++)
                if (x->alert[a].suspect[j] == (int32_t)i)
                    x->alert[a].suspect[j] = -1;
    } else {
        x->n++;
    }
    if (x->has_states)
        memset(x->propagated + i * x->k, 0, x->k * sizeof *x->propagated);
    x->alive[i] = 1;
    x->label[i] = -1;
    x->n_live++;
    graphss_i_live_changed *c = record_of(ctx, x, (int32_t)i);
    if (!c)
        return GRAPHSS_ERR_NOMEM;
    c->is_new = true;
    graphss_i_live_mark(x, (int32_t)i, GRAPHSS_I_FEATURED | GRAPHSS_I_EDGED);
    *node = (int32_t)i;
    return GRAPHSS_OK;
}

graphss_status graphss_i_live_remove_edge(
    graphss_ctx *ctx, graphss_live *x, int32_t u, int32_t v, bool *changed)
{
    *changed = graphss_i_live_rows_at(&x->edges, (size_t)u, v) >= 0;
    if (!*changed)
        return GRAPHSS_OK;
    graphss_status st = remember_edges(ctx, x, u);
    if (!st)
        st = remember_edges(ctx, x, v);
    if (st)
        return st;
    graphss_i_live_rows_drop(&x->edges, (size_t)u, v);
    graphss_i_live_rows_drop(&x->edges, (size_t)v, u);
    graphss_i_live_mark(x, u, GRAPHSS_I_EDGED);
    graphss_i_live_mark(x, v, GRAPHSS_I_EDGED);
    return GRAPHSS_OK;
}

graphss_status graphss_i_live_add_edge(
    graphss_ctx *ctx, graphss_live *x, int32_t u, int32_t v, uint32_t ends, bool *changed)
{
    *changed = graphss_i_live_rows_at(&x->edges, (size_t)u, v) < 0;
    graphss_status st = *changed ? remember_edges(ctx, x, u) : GRAPHSS_OK;
    if (!st && *changed)
        st = remember_edges(ctx, x, v);
    bool added = false;
    if (!st)
        st = graphss_i_live_rows_put(ctx, &x->edges, (size_t)u, v, ends, &added);
    if (!st)
        st = graphss_i_live_rows_put(ctx, &x->edges, (size_t)v, u, ends, &added);
    if (!st && *changed) {
        graphss_i_live_mark(x, u, GRAPHSS_I_EDGED);
        graphss_i_live_mark(x, v, GRAPHSS_I_EDGED);
    }
    return st;
}

graphss_status graphss_i_live_remove_node(graphss_ctx *ctx, graphss_live *x, int32_t node)
{
    const size_t i = (size_t)node;
    graphss_status st = remember_edges(ctx, x, node);
    if (!st)
        st = remember_features(ctx, x, node);
    graphss_i_live_changed *c = st ? NULL : record_of(ctx, x, node);
    if (c && !c->was_name) {
        c->was_name = graphss_i_strdup(ctx, graphss_i_live_names_get(&x->names, i));
        st = c->was_name ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    }
    if (!st && x->label[i] >= 0) {
        x->label[i] = -1;
        graphss_i_live_evidence_label(ctx, x, i);
    }
    while (!st && graphss_i_live_length(&x->edges, i)) {
        bool changed;
        st = graphss_i_live_remove_edge(ctx, x, node,
            graphss_i_live_keys(&x->edges, i)[graphss_i_live_length(&x->edges, i) - 1],
            &changed);
    }
    if (!st && !x->is_dense)
        st = graphss_i_live_rows_set(ctx, &x->sparse, i, NULL, NULL, 0);
    if (!st && x->n_freed == x->freed_room) {
        const size_t room = x->freed_room + x->freed_room / 2 + 64;
        int32_t *more = graphss_i_grow(ctx, x->freed, x->n_freed, room, sizeof *more);
        st = more ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
        if (more) {
            x->freed = more;
            x->freed_room = room;
        }
    }
    if (st)
        return st;
    x->freed[x->n_freed++] = node;
    graphss_i_live_names_drop(&x->names, i);
    if (x->is_dense)
        memset(x->dense + i * x->d, 0, x->d * sizeof *x->dense);
    x->alive[i] = 0;
    x->n_live--;
    graphss_i_live_mark(x, node, GRAPHSS_I_FEATURED | GRAPHSS_I_EDGED);
    return GRAPHSS_OK;
}

graphss_status graphss_i_live_set_feature(
    graphss_ctx *ctx, graphss_live *x, int32_t node, int32_t column, float value)
{
    const size_t i = (size_t)node;
    const int64_t at = x->is_dense ? -1 : graphss_i_live_rows_at(&x->sparse, i, column);
    const float old = x->is_dense ? x->dense[i * x->d + (size_t)column]
                      : at < 0    ? 0
                                  : ((const float *)graphss_i_live_payload(&x->sparse, i))[at];
    if (old == value)
        return GRAPHSS_OK;
    graphss_status st = remember_features(ctx, x, node);
    if (st)
        return st;
    graphss_i_live_mark(x, node, GRAPHSS_I_FEATURED);
    if (x->is_dense) {
        x->dense[i * x->d + (size_t)column] = value;
    } else if (value == 0) {
        graphss_i_live_rows_drop(&x->sparse, i, column);
    } else {
        uint32_t bits;
        bool added;
        memcpy(&bits, &value, sizeof bits);
        st = graphss_i_live_rows_put(ctx, &x->sparse, i, column, bits, &added);
    }
    return st;
}

/* ---- probabilities ---- */

graphss_i_live_data graphss_i_live_data_of(const graphss_live *x)
{
    return (graphss_i_live_data){&x->edges, &x->sparse, x->is_dense ? x->dense : NULL, x->d};
}

/* Where rows cannot be computed one by one: all of them. */
static graphss_status whole_pass(graphss_ctx *ctx, graphss_live *x)
{
    graphss_dataset all = {0};
    const size_t k = x->k;
    float *prob = graphss_i_alloc(ctx, x->n_live, k * sizeof *prob);
    graphss_status st = prob ? graphss_live_snapshot(ctx, &all, x, false) : GRAPHSS_ERR_NOMEM;
    x->n_renewed = 0;
    for (int alone = 0; alone < 2 && !st && x->n_live; alone++) {
        st = alone ? graphss_i_predict_alone(ctx, prob, x->model, &all.features)
                   : graphss_i_predict(ctx, prob, x->model, &all.graph, &all.features);
        for (size_t i = 0, at = 0; i < x->n && !st; i++) {
            if (!x->alive[i])
                continue;
            float *kept = alone ? x->net.alone + i * k : graphss_i_live_answer(&x->net, i);
            if (!alone && memcmp(kept, prob + at * k, k * sizeof *kept))
                x->renewed[x->n_renewed++] = (int32_t)i;
            memcpy(kept, prob + at++ * k, k * sizeof *kept);
        }
    }
    graphss_dataset_destroy(ctx, &all);
    graphss_release(ctx, prob);
    return st;
}

graphss_status graphss_i_live_recompute(graphss_ctx *ctx, graphss_live *x, size_t *recomputed)
{
    graphss_status st = GRAPHSS_OK;
    *recomputed = x->n_renewed = 0;
    if (x->n_featured + x->n_edged > 0 && x->obstacle) {
        st = whole_pass(ctx, x);
        *recomputed = x->n_live;
    } else if (x->n_featured + x->n_edged > 0) {
        const graphss_i_live_data data = graphss_i_live_data_of(x);
        st = graphss_i_live_net_update(ctx, &x->net, &data, x->featured, x->n_featured,
            x->edged, x->n_edged, x->renewed, &x->n_renewed, recomputed);
    }
    return st;
}
