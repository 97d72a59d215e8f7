/* live_read.c - read access to a live graph and its nodes. */
#include "live/live_private.h"
#include "models/model_private.h"
#include <math.h>
#include <string.h>

void graphss_live_status_get(const graphss_live *x, graphss_live_status *out)
{
    double dismissed = 0;
    for (size_t i = 0; i < x->n_alerts; i++)
        dismissed += x->alert[i].state == GRAPHSS_ALERT_DISMISSED &&
                     x->alert[i].settled > x->now_t - x->opt.period;
    const double left = x->opt.false_alarms - dismissed;
    *out = (graphss_live_status){
        .n_nodes = x->n_live,
        .n_edges = x->edges.entries / 2,
        .n_features = x->d,
        .n_classes = x->k,
        .applied = x->applied,
        .duplicates = x->duplicates,
        .refused = x->refused,
        .expired = x->expired,
        .now = x->now_t,
        .trusted_since = x->trusted_since,
        .changed_nodes = x->n_changed,
        .checks = x->checks,
        .judged = x->judged,
        .warm = x->warm,
        .n_groups = x->n_groups,
        .n_alerts = x->n_alerts,
        .open_alerts = graphss_i_live_open_alerts(x),
        .false_alarms = x->opt.false_alarms,
        .period = x->opt.period,
        .dismissed = dismissed,
        .budget_left = left > 0 ? left : 0,
        .incremental = !x->obstacle,
        .whole_pass_cause = x->obstacle,
        .suspicion = x->has_states,
        .bytes = graphss_i_live_rows_bytes(&x->edges) + graphss_i_live_rows_bytes(&x->sparse) +
                 graphss_i_live_net_bytes(&x->net) +
                 (x->is_dense ? x->room * x->d * sizeof *x->dense : 0) +
                 x->room * x->k * sizeof(float) * (x->has_states ? 9 : 1) +
                 x->names.text_room + x->names.slots * sizeof *x->names.table +
                 x->names.room * sizeof *x->names.start,
        .warm_up = x->opt.warm_up,
    };
    for (int kind = 0; kind < GRAPHSS_LIVE_KINDS; kind++)
        out->known[kind] = x->reference[kind].n;
}

int64_t graphss_live_seen(const graphss_live *x, const char *source)
{
    const int64_t at = graphss_i_live_names_find(&x->seen.source, source ? source : "");
    return at < 0 ? -1 : x->seen.seq[at];
}

int64_t graphss_live_find(const graphss_live *x, const char *name)
{
    return name ? graphss_i_live_names_find(&x->names, name) : -1;
}

size_t graphss_live_capacity(const graphss_live *x)
{
    return x->n;
}

const char *graphss_live_name(const graphss_live *x, size_t node)
{
    return node < x->n && x->alive[node] ? graphss_i_live_names_get(&x->names, node) : NULL;
}

const float *graphss_live_prob(const graphss_live *x, size_t node)
{
    return node < x->n && x->alive[node] ? graphss_i_live_answer(&x->net, node) : NULL;
}

const char *graphss_live_class(const graphss_live *x, size_t c, char *out)
{
    const graphss_names *names = graphss_model_class_names(x->model);
    if (names && c < names->count)
        return graphss_names_get(names, c);
    snprintf(out, 32, "%zu", c);
    return out;
}

const char *graphss_live_kind_text(graphss_live_kind kind)
{
    static const char *const text[] = {"same", "one edge", "few edges", "many edges",
        "features", "edges and features", "new"};
    return (size_t)kind < sizeof text / sizeof *text ? text[kind] : "?";
}

_Static_assert((int)GRAPHSS_LIVE_SOURCES == (int)GRAPHSS_I_PLAIN_SOURCES,
    "sources of evidence that presume nothing was tampered with");

const char *graphss_live_source_text(size_t i)
{
    static const char *const text[GRAPHSS_LIVE_SOURCES] = {"classifier",
        "classifier without edges", "its features", "its edges", "features of its neighbours",
        "labels two steps away", "labels propagated"};
    return i < GRAPHSS_LIVE_SOURCES ? text[i] : "?";
}

static graphss_status check_node(graphss_ctx *ctx, const graphss_live *x, int64_t node)
{
    if (node >= 0 && (size_t)node < x->n && x->alive[node])
        return GRAPHSS_OK;
    return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "there is no node %lld", (long long)node);
}

graphss_status graphss_live_node_get(
    graphss_ctx *ctx, graphss_live *x, graphss_live_node *out, size_t node)
{
    if (GRAPHSS_I_LACKS(ctx, {"live graph", x}, {"place for the node", out}))
        return GRAPHSS_ERR_INVALID;
    graphss_status st = check_node(ctx, x, node > INT32_MAX ? -1 : (int64_t)node);
    if (st)
        return st;
    graphss_i_change_counts counts;
    const graphss_live_kind kind = graphss_i_live_kind_of(x, node, &counts);
    const bool is_new = kind == GRAPHSS_LIVE_NEW;
    graphss_live_node v = {
        .label = x->label[node],
        .predicted = (int32_t)graphss_i_top(graphss_i_live_answer(&x->net, node), x->k),
        .trusted = is_new ? -1 : (int32_t)graphss_i_top(x->trusted_prob + node * x->k, x->k),
        .recovered = -1,
        .recovered_prob = NAN,
        .degree = graphss_i_live_length(&x->edges, node),
        .features = x->is_dense ? x->d : graphss_i_live_length(&x->sparse, node),
        .kind = kind,
        .edges_added = counts.edges_added,
        .edges_removed = counts.edges_removed,
        .features_changed = counts.features_added + counts.features_removed,
        .since = x->record[node] >= 0 ? x->changed[x->record[node]].since : NAN,
        .suspicion = NAN,
        .p_value = 1,
    };
    for (size_t s = 0; s < GRAPHSS_LIVE_SOURCES; s++)
        v.says[s] = -1;
    if (x->has_states) {
        const int32_t list = (int32_t)node;
        float *evidence = graphss_i_alloc(ctx, x->k, GRAPHSS_I_ROW * sizeof *evidence);
        double *posterior = graphss_i_alloc(ctx, x->k, sizeof *posterior);
        st = evidence && posterior
                 ? graphss_i_live_evidence(ctx, x, &v.suspicion, evidence, posterior, &list, 1)
                 : GRAPHSS_ERR_NOMEM;
        for (size_t s = 0; s < GRAPHSS_LIVE_SOURCES && !st; s++) {
            size_t best = 0;
            for (size_t c = 1; c < x->k; c++)
                if (evidence[c * GRAPHSS_I_ROW + s] > evidence[best * GRAPHSS_I_ROW + s])
                    best = c;
            v.says[s] = (int32_t)best;
            v.surely[s] = exp((double)evidence[best * GRAPHSS_I_ROW + s]);
        }
        if (!st) {
            v.recovered = (int32_t)graphss_i_top_double(posterior, x->k);
            v.recovered_prob = posterior[v.recovered];
            if (kind != GRAPHSS_LIVE_SAME)
                v.p_value = graphss_i_score_counts_rank(&x->reference[kind], v.suspicion, 1);
        }
        graphss_release(ctx, evidence);
        graphss_release(ctx, posterior);
    }
    if (!st)
        *out = v;
    return st;
}

graphss_status graphss_live_recover(graphss_ctx *ctx, graphss_live *x, double *suspicion,
    double *posterior, const int32_t *node, size_t n)
{
    if (GRAPHSS_I_LACKS(ctx, {"live graph", x}, {"nodes", GRAPHSS_I_FILLED(node, n)}))
        return GRAPHSS_ERR_INVALID;
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < n && !st; i++)
        st = check_node(ctx, x, node[i]);
    if (!st && x->has_states)
        return graphss_i_live_evidence(ctx, x, suspicion, NULL, posterior, node, n);
    for (size_t i = 0; i < n && !st; i++) { /* without a detector: the classifier's answer */
        const float *prob = graphss_i_live_answer(&x->net, (size_t)node[i]);
        if (suspicion)
            suspicion[i] = NAN;
        for (size_t c = 0; c < x->k && posterior; c++)
            posterior[i * x->k + c] = (double)prob[c];
    }
    return st;
}

graphss_status graphss_live_edges_get(
    graphss_ctx *ctx, graphss_live_edges *out, const graphss_live *x, size_t node)
{
    if (GRAPHSS_I_LACKS(ctx, {"live graph", x}, {"place for the edges", out}))
        return GRAPHSS_ERR_INVALID;
    const graphss_status st = check_node(ctx, x, node > INT32_MAX ? -1 : (int64_t)node);
    if (st)
        return st;
    size_t n = graphss_i_live_length(&x->edges, node), m;
    const int32_t *now = n ? graphss_i_live_keys(&x->edges, node) : NULL;
    const int32_t *was = graphss_i_live_was_edges(x, node, &m);
    graphss_live_edges e = {.node = graphss_i_alloc(ctx, n + m, sizeof *e.node),
        .state = graphss_i_alloc(ctx, n + m, sizeof *e.state)};
    if (!e.node || !e.state) {
        graphss_live_edges_destroy(ctx, &e);
        return GRAPHSS_ERR_NOMEM;
    }
    for (size_t i = 0, j = 0; i < n || j < m;) {
        const bool gone = i == n || (j < m && was[j] < now[i]);
        const bool added = !gone && (j == m || now[i] < was[j]);
        e.node[e.n] = gone ? was[j] : now[i];
        e.state[e.n++] = gone ? -1 : added;
        i += !gone;
        j += !added;
    }
    *out = e;
    return GRAPHSS_OK;
}

void graphss_live_edges_destroy(graphss_ctx *ctx, graphss_live_edges *edges)
{
    graphss_release(ctx, edges->node);
    graphss_release(ctx, edges->state);
    *edges = (graphss_live_edges){0};
}

graphss_status graphss_live_features_get(
    graphss_ctx *ctx, graphss_live_features *out, const graphss_live *x, size_t node)
{
    if (GRAPHSS_I_LACKS(ctx, {"live graph", x}, {"place for the features", out}))
        return GRAPHSS_ERR_INVALID;
    const graphss_status st = check_node(ctx, x, node > INT32_MAX ? -1 : (int64_t)node);
    if (st)
        return st;
    const graphss_i_live_changed *c =
        x->record[node] >= 0 ? &x->changed[x->record[node]] : NULL;
    const size_t n = x->is_dense ? x->d : graphss_i_live_length(&x->sparse, node);
    const float *now = x->is_dense ? x->dense + node * x->d
                       : n         ? (const float *)graphss_i_live_payload(&x->sparse, node)
                                   : NULL;
    const int32_t *key = n && !x->is_dense ? graphss_i_live_keys(&x->sparse, node) : NULL;
    const bool recorded = c && c->features && !c->is_new;
    const size_t m = recorded ? c->n_was_features : 0;
    graphss_live_features list = {0};
    if (c && (recorded || c->is_new)) {
        list.item = graphss_i_alloc(ctx, n + m, sizeof *list.item);
        if (!list.item)
            return GRAPHSS_ERR_NOMEM;
        for (size_t i = 0, j = 0; i < n || j < m;) {
            const int32_t a = i == n ? INT32_MAX : key ? key[i] : (int32_t)i;
            const int32_t b = j == m          ? INT32_MAX
                              : c->was_column ? c->was_column[j]
                                              : (int32_t)j;
            const graphss_live_feature f = {.column = a < b ? a : b,
                .was = b <= a ? c->was_value[j] : 0,
                .now = a <= b ? now[i] : 0};
            if (memcmp(&f.was, &f.now, sizeof f.now) != 0)
                list.item[list.n++] = f;
            i += a <= b;
            j += b <= a;
        }
    }
    *out = list;
    return GRAPHSS_OK;
}

void graphss_live_features_destroy(graphss_ctx *ctx, graphss_live_features *features)
{
    graphss_release(ctx, features->item);
    *features = (graphss_live_features){0};
}

const char *graphss_live_column(const graphss_live *x, size_t column, char *out)
{
    if (x->columns.n && column < x->d)
        return graphss_i_live_names_get(&x->columns, column);
    snprintf(out, 32, "%zu", column);
    return out;
}

/* The same graph in a network of its own. */
graphss_status graphss_live_verify(
    graphss_ctx *ctx, size_t *different, double *farthest, graphss_live *x)
{
    if (GRAPHSS_I_LACKS(ctx, {"live graph", x}))
        return GRAPHSS_ERR_INVALID;
    const size_t k = x->k;
    graphss_i_live_net net = {0};
    graphss_dataset all = {0};
    int32_t *node = graphss_i_alloc(ctx, x->n, sizeof *node);
    int32_t *changed = graphss_i_alloc(ctx, x->n, sizeof *changed);
    float *prob = graphss_i_alloc(ctx, x->n_live, k * sizeof *prob);
    size_t n = 0, n_changed, recomputed, wrong = 0;
    double most = 0;
    graphss_status st = node && changed && prob ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < x->n && !st; i++)
        if (x->alive[i])
            node[n++] = (int32_t)i;
    if (!st && !x->obstacle) {
        const graphss_i_live_data data = graphss_i_live_data_of(x);
        st = graphss_i_live_net_open(ctx, &net, x->model);
        if (!st)
            st = graphss_i_live_net_extend(ctx, &net, x->n);
        if (!st)
            st = graphss_i_live_net_update(
                ctx, &net, &data, node, n, node, n, changed, &n_changed, &recomputed);
        for (size_t i = 0; i < n && !st; i++)
            wrong +=
                memcmp(graphss_i_live_answer(&net, (size_t)node[i]),
                    graphss_i_live_answer(&x->net, (size_t)node[i]), k * sizeof(float)) != 0;
    }
    if (!st && farthest && n) {
        st = graphss_live_snapshot(ctx, &all, x, false);
        if (!st)
            st = graphss_i_predict(ctx, prob, x->model, &all.graph, &all.features);
        for (size_t i = 0; i < n && !st; i++)
            for (size_t c = 0; c < k; c++)
                most = fmax(
                    most, fabs((double)prob[i * k + c] -
                               (double)graphss_i_live_answer(&x->net, (size_t)node[i])[c]));
    }
    if (!st && different)
        *different = wrong;
    if (!st && farthest)
        *farthest = most;
    graphss_dataset_destroy(ctx, &all);
    graphss_i_live_net_close(ctx, &net);
    graphss_release(ctx, prob);
    graphss_release(ctx, changed);
    graphss_release(ctx, node);
    return st;
}
