/* live.c - a graph that changes: opening, and batches of events. See graphss/live.h. */
#include "live/live_private.h"
#include "observation/observation.h"
#include <math.h>
#include <string.h>

enum { WEEK = 7 * 24 * 3600 };

void graphss_live_options_init(graphss_live_options *opt)
{
    *opt = (graphss_live_options){.struct_size = sizeof *opt,
        .false_alarms = 1,
        .period = WEEK,
        .check_every = 600,
        .warm_up = 100,
        .add_nodes = true};
}

#define FIELD(name) offsetof(graphss_live_options, name)
static const graphss_option table[] = {
    {.name = "check-every",
        .type = GRAPHSS_OPTION_REAL,
        .offset = FIELD(check_every),
        .min = 1,
        .max = 1e9,
        .value = "SECONDS",
        .help = "time between tests, as the events tell it"},
    {.name = "warm-up",
        .type = GRAPHSS_OPTION_INT,
        .offset = FIELD(warm_up),
        .min = 20,
        .max = 1e9,
        .value = "N",
        .help = "changed nodes of a kind that only teach what is usual"},
    {.name = "add-nodes",
        .type = GRAPHSS_OPTION_BOOL,
        .offset = FIELD(add_nodes),
        .help = "a +link to an unknown node adds it"},
    {0},
};
#undef FIELD

const graphss_option *graphss_live_options_table(void)
{
    return table;
}

bool graphss_false_alarms_parse(graphss_live_options *opt, const char *text)
{
    static const struct {
        const char *name;
        double seconds;
    } unit[] = {{"hour", 3600}, {"day", 86400}, {"week", WEEK}, {"month", 30 * 86400.0},
        {"year", 365 * 86400.0}};
    const char *slash = strchr(text, '/');
    double count, seconds = 0;
    if (!slash || !graphss_i_parse_double(&count, text, (size_t)(slash - text)))
        return false;
    for (size_t i = 0; i < sizeof unit / sizeof *unit; i++)
        if (!strcmp(slash + 1, unit[i].name))
            seconds = unit[i].seconds;
    if (seconds == 0 && !graphss_duration_parse(&seconds, slash + 1))
        return false;
    if (!(count > 0) || !isfinite(count) || !(seconds > 0))
        return false;
    opt->false_alarms = count;
    opt->period = seconds;
    return true;
}

static graphss_status check_options(graphss_ctx *ctx, const graphss_live_options *opt)
{
    const struct {
        const char *name;
        double value, least;
    } real[] = {{"false-alarms", opt->false_alarms, 1e-9}, {"period", opt->period, 1},
        {"expire", opt->expire, 0}, {"trust-after", opt->trust_after, 0}};
    for (size_t i = 0; i < sizeof real / sizeof *real; i++)
        if (!(real[i].value >= real[i].least) || !(real[i].value <= 1e12))
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "--%s: found %g, want %g ... 1e12",
                real[i].name, real[i].value, real[i].least);
    return graphss_options_check(ctx, opt, table);
}

/* ---- opening ---- */

static graphss_status take_features(
    graphss_ctx *ctx, graphss_live *x, const graphss_features *f)
{
    if (x->is_dense) {
        memcpy(x->dense, f->value, f->n_rows * f->n_cols * sizeof *x->dense);
        return GRAPHSS_OK;
    }
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < f->n_rows && !st; i++) {
        const graphss_i_row row = graphss_i_row_of(f, i);
        st = graphss_i_live_rows_set(
            ctx, &x->sparse, i, row.column, (const uint32_t *)row.value, row.n);
    }
    return st;
}

static graphss_status take_graph(
    graphss_ctx *ctx, graphss_live *x, const graphss_observation *o)
{
    const graphss_graph *g = o->graph;
    graphss_status st = graphss_i_live_reserve(ctx, x, g->n_nodes);
    const size_t most = st ? 0 : g->n_nodes;
    uint32_t *never = NULL;
    size_t widest = 0;
    for (size_t i = 0; i < most; i++)
        widest = graphss_graph_degree(g, i) > widest ? graphss_graph_degree(g, i) : widest;
    never = graphss_i_calloc(ctx, widest, sizeof *never);
    if (!never)
        st = GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < most && !st; i++) {
        char number[32];
        snprintf(number, sizeof number, "%zu", i);
        const char *name =
            o->names && o->names->count ? graphss_names_get(o->names, i) : number;
        if (graphss_i_live_names_find(&x->names, name) >= 0) {
            st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "two nodes are called '%s'", name);
            break;
        }
        st = graphss_i_live_names_put(ctx, &x->names, i, name);
        if (!st)
            st = graphss_i_live_rows_set(ctx, &x->edges, i, g->target + g->offset[i], never,
                graphss_graph_degree(g, i));
        x->alive[i] = 1;
    }
    graphss_release(ctx, never);
    x->n = x->n_live = g->n_nodes;
    return st ? st : take_features(ctx, x, o->features);
}

static graphss_status take_labels(
    graphss_ctx *ctx, graphss_live *x, const graphss_observation *o)
{
    graphss_split split = {0};
    const graphss_status st = graphss_split_match(ctx, &split, x->model, o);
    for (size_t i = 0; i < split.n_train && !st; i++)
        x->label[split.train[i]] = split.train_label[i];
    graphss_split_destroy(ctx, &split);
    return st;
}

static graphss_status take_columns(graphss_ctx *ctx, graphss_live *x)
{
    const graphss_names *names = graphss_model_column_names(x->model);
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; names && i < names->count && !st; i++)
        st = graphss_i_live_names_find(&x->columns, graphss_names_get(names, i)) >= 0
                 ? graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "two features are called '%s'",
                       graphss_names_get(names, i))
                 : graphss_i_live_names_put(ctx, &x->columns, i, graphss_names_get(names, i));
    return st;
}

/* For a network whose rows are not computed here: room for its answers. */
static graphss_status open_net(graphss_ctx *ctx, graphss_live *x)
{
    x->obstacle = graphss_i_live_net_obstacle(x->model);
    if (!x->obstacle)
        return graphss_i_live_net_open(ctx, &x->net, x->model);
    x->net.k = x->k;
    x->net.n_stages = 1;
    x->net.stage[0].width = x->k;
    return GRAPHSS_OK;
}

/* Field by field, so that the padding stays zero: it is stored, too (live_state.c). */
static void set_options(graphss_live_options *opt, const graphss_live_options *from)
{
    opt->struct_size = from->struct_size;
    opt->false_alarms = from->false_alarms;
    opt->period = from->period;
    opt->check_every = from->check_every;
    opt->expire = from->expire;
    opt->trust_after = from->trust_after;
    opt->warm_up = from->warm_up;
    opt->add_nodes = from->add_nodes;
    opt->seed = from->seed;
}

graphss_status graphss_i_live_new(graphss_ctx *ctx, graphss_live **out,
    const graphss_model *model, const graphss_live_options *opt, size_t d, bool dense)
{
    graphss_live *x = graphss_i_calloc(ctx, 1, sizeof *x);
    if (!x)
        return GRAPHSS_ERR_NOMEM;
    x->model = model;
    set_options(&x->opt, opt);
    x->d = d;
    x->k = graphss_model_classes(model);
    x->is_dense = dense;
    x->edges.has_payload = x->sparse.has_payload = true;
    x->now_t = x->trusted_since = x->next_check = NAN;
    graphss_status st = open_net(ctx, x);
    if (!st)
        st = take_columns(ctx, x);
    if (st)
        graphss_live_free(ctx, x);
    else
        *out = x;
    return st;
}

static void mark_all(graphss_live *x)
{
    for (size_t i = 0; i < x->n; i++)
        graphss_i_live_mark(x, (int32_t)i, GRAPHSS_I_FEATURED | GRAPHSS_I_EDGED);
}

static void unmark(graphss_live *x)
{
    for (size_t i = 0; i < x->n_touched; i++)
        x->mark[x->touched[i]] = 0;
    x->n_featured = x->n_edged = x->n_touched = x->n_renewed = 0;
}

graphss_status graphss_i_live_pass(graphss_ctx *ctx, graphss_live *x)
{
    size_t recomputed;
    mark_all(x);
    const graphss_status st = graphss_i_live_recompute(ctx, x, &recomputed);
    unmark(x);
    return st;
}

graphss_status graphss_live_new(graphss_ctx *ctx, graphss_live **out,
    const graphss_model *model, const graphss_observation *snapshot,
    const graphss_live_options *given)
{
    graphss_live_options opt;
    graphss_live *x = NULL;
    if (GRAPHSS_I_LACKS(
            ctx, {"model", model}, {"snapshot", snapshot}, {"place for the live graph", out}))
        return GRAPHSS_ERR_INVALID;
    const graphss_defence_input in = {
        .struct_size = sizeof in, .current = *snapshot, .model = model};
    graphss_live_options_init(&opt);
    graphss_status st = GRAPHSS_I_TAKE(ctx, graphss_live_options, &opt, given);
    if (!st)
        st = check_options(ctx, &opt);
    if (!st)
        st = graphss_i_check_input(ctx, &in);
    if (!st)
        st = graphss_i_live_new(ctx, &x, model, &opt, snapshot->features->n_cols,
            graphss_features_dense(snapshot->features));
    if (st)
        return st;
    x->feature_kind = snapshot->features->kind;
    st = graphss_i_live_evidence_open(ctx, x, snapshot);
    if (!st)
        st = take_graph(ctx, x, snapshot);
    if (!st)
        st = take_labels(ctx, x, snapshot);
    if (!st)
        st = graphss_i_live_evidence_learn(
            ctx, x, snapshot->graph, snapshot->features, x->label);
    if (!st)
        st = graphss_i_live_group_add(ctx, x, "all");
    if (!st)
        st = graphss_i_live_pass(ctx, x);
    if (!st)
        st = graphss_i_live_trust_now(ctx, x);
    if (st)
        graphss_live_free(ctx, x);
    else
        *out = x;
    return st;
}

void graphss_live_free(graphss_ctx *ctx, graphss_live *x)
{
    if (!x)
        return;
    for (size_t i = 0; i < x->n_changed; i++)
        graphss_i_live_changed_destroy(ctx, &x->changed[i]);
    for (size_t g = 0; g < x->n_groups; g++) {
        graphss_i_live_names_destroy(ctx, &x->group[g].member);
        graphss_release(ctx, x->group[g].name);
    }
    for (size_t i = 0; i < x->n_alerts; i++) {
        graphss_release(ctx, x->alert[i].suspect);
        graphss_release(ctx, x->alert[i].suspect_p);
        graphss_release(ctx, x->alert[i].suspect_score);
    }
    graphss_i_live_names_destroy(ctx, &x->names);
    graphss_i_live_names_destroy(ctx, &x->columns);
    graphss_i_live_names_destroy(ctx, &x->seen.source);
    graphss_i_live_rows_destroy(ctx, &x->edges);
    graphss_i_live_rows_destroy(ctx, &x->sparse);
    graphss_i_live_net_close(ctx, &x->net);
    graphss_i_live_evidence_close(ctx, x);
    void *const all[] = {x->alive, x->dense, x->label, x->trusted_prob, x->record, x->changed,
        x->freed, x->version, x->group, x->alert, x->seen.seq, x->ending, x->featured,
        x->edged, x->touched, x->renewed, x->mark};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        graphss_release(ctx, all[i]);
    graphss_release(ctx, x);
}

/* ---- one event ---- */

/* True if it was applied before; otherwise records it. */
static graphss_status notice(
    graphss_ctx *ctx, graphss_live *x, const graphss_event *e, bool *before)
{
    const char *source = e->source ? e->source : "";
    *before = false;
    if (e->seq < 0)
        return GRAPHSS_OK;
    int64_t at = graphss_i_live_names_find(&x->seen.source, source);
    if (at < 0) {
        at = (int64_t)x->seen.source.n;
        if ((size_t)at == x->seen.room) {
            const size_t room = x->seen.room + x->seen.room / 2 + 8;
            int64_t *seq = graphss_i_grow(ctx, x->seen.seq, (size_t)at, room, sizeof *seq);
            if (!seq)
                return GRAPHSS_ERR_NOMEM;
            x->seen.seq = seq;
            x->seen.room = room;
        }
        const graphss_status st =
            graphss_i_live_names_put(ctx, &x->seen.source, (size_t)at, source);
        if (st)
            return st;
        x->seen.seq[at] = -1;
    }
    *before = e->seq <= x->seen.seq[at];
    if (!*before)
        x->seen.seq[at] = e->seq;
    return GRAPHSS_OK;
}

static graphss_status find_or_add(
    graphss_ctx *ctx, graphss_live *x, int32_t *node, const char *name, const char **cause)
{
    const int64_t found = graphss_i_live_names_find(&x->names, name);
    *node = (int32_t)found;
    if (found >= 0)
        return GRAPHSS_OK;
    if (!x->opt.add_nodes) {
        *cause = "unknown node";
        return GRAPHSS_OK;
    }
    return graphss_i_live_add_node(ctx, x, node, name);
}

/* Seconds since 1970 as an edge keeps them: rounded up, never 0. */
static uint32_t ending_at(double t)
{
    return t < 1 ? 1 : t > 4294967294.0 ? UINT32_MAX : (uint32_t)ceil(t);
}

static graphss_status put_ending(
    graphss_ctx *ctx, graphss_live *x, int32_t u, int32_t v, uint32_t t)
{
    if (x->n_ending == x->ending_room) {
        const size_t room = 2 * x->ending_room + 64;
        graphss_i_live_ending *ring = graphss_i_alloc(ctx, room, sizeof *ring);
        if (!ring)
            return GRAPHSS_ERR_NOMEM;
        for (size_t i = 0; i < x->n_ending; i++)
            ring[i] = x->ending[(x->ending_first + i) % x->ending_room];
        graphss_release(ctx, x->ending);
        x->ending = ring;
        x->ending_first = 0;
        x->ending_room = room;
    }
    x->ending[(x->ending_first + x->n_ending++) % x->ending_room] =
        (graphss_i_live_ending){u, v, t};
    return GRAPHSS_OK;
}

/* Edges that end by now. The ring is in order of time, but for events that came late: these
 * wait for those before them. */
static graphss_status expire(graphss_ctx *ctx, graphss_live *x, graphss_live_batch *out)
{
    graphss_status st = GRAPHSS_OK;
    while (x->n_ending && !st) {
        const graphss_i_live_ending e = x->ending[x->ending_first];
        if (!((double)e.t <= x->now_t))
            break;
        x->ending_first = (x->ending_first + 1) % x->ending_room;
        x->n_ending--;
        const int64_t at = graphss_i_live_rows_at(&x->edges, (size_t)e.u, e.v);
        if (at < 0 || graphss_i_live_payload(&x->edges, (size_t)e.u)[at] != e.t)
            continue; /* gone, or renewed */
        bool changed;
        st = graphss_i_live_remove_edge(ctx, x, e.u, e.v, &changed);
        out->expired++;
        x->expired++;
    }
    return st;
}

static graphss_status apply_edge(
    graphss_ctx *ctx, graphss_live *x, const graphss_event *e, const char **cause)
{
    int32_t u = -1, v = -1;
    bool changed;
    if (!strcmp(e->u, e->v)) {
        *cause = "an edge from a node to itself";
        return GRAPHSS_OK;
    }
    if (e->op == GRAPHSS_EVENT_REMOVE_EDGE) { /* what is missing is removed already */
        u = (int32_t)graphss_i_live_names_find(&x->names, e->u);
        v = (int32_t)graphss_i_live_names_find(&x->names, e->v);
        return u < 0 || v < 0 ? GRAPHSS_OK
                              : graphss_i_live_remove_edge(ctx, x, u, v, &changed);
    }
    graphss_status st = find_or_add(ctx, x, &u, e->u, cause);
    if (!st && !*cause)
        st = find_or_add(ctx, x, &v, e->v, cause);
    if (st || *cause)
        return st;
    const bool ends = x->opt.expire > 0 && !isnan(x->now_t);
    const double t = isnan(e->t) ? x->now_t : e->t;
    const uint32_t end = ends ? ending_at(t + x->opt.expire) : 0;
    st = graphss_i_live_add_edge(ctx, x, u, v, end, &changed);
    return st || !ends ? st : put_ending(ctx, x, u, v, end);
}

/* Number of a feature by name, or by number where the model has no names; -1: none. */
static int64_t column_of(const graphss_live *x, const char *name)
{
    int64_t number = -1;
    if (x->columns.n)
        return graphss_i_live_names_find(&x->columns, name);
    if (!graphss_i_parse_int(&number, name, strlen(name)) || number < 0 ||
        (size_t)number >= x->d)
        return -1;
    return number;
}

static graphss_status apply_features(
    graphss_ctx *ctx, graphss_live *x, const graphss_event *e, const char **cause)
{
    int64_t node = graphss_i_live_names_find(&x->names, e->u);
    for (size_t j = 0; j < e->n_features && !*cause; j++) {
        if (column_of(x, e->feature[j]) < 0)
            *cause = "unknown feature";
        else if (!isfinite(e->value[j]))
            *cause = "a feature that is not a finite number";
    }
    if (!*cause && node < 0 && e->op == GRAPHSS_EVENT_SET_FEATURES)
        *cause = "unknown node";
    if (*cause)
        return GRAPHSS_OK;
    graphss_status st = GRAPHSS_OK;
    if (node < 0) {
        int32_t added = -1;
        st = graphss_i_live_add_node(ctx, x, &added, e->u);
        node = added;
    }
    for (size_t j = 0; j < e->n_features && !st; j++)
        st = graphss_i_live_set_feature(
            ctx, x, (int32_t)node, (int32_t)column_of(x, e->feature[j]), e->value[j]);
    return st;
}

static int64_t class_of(const graphss_live *x, const char *label)
{
    char number[32];
    for (size_t c = 0; c < x->k; c++)
        if (!strcmp(graphss_live_class(x, c, number), label))
            return (int64_t)c;
    return -1;
}

static graphss_status apply_label(
    graphss_ctx *ctx, graphss_live *x, const graphss_event *e, const char **cause)
{
    const int64_t node = graphss_i_live_names_find(&x->names, e->u);
    const int64_t label = e->label ? class_of(x, e->label) : -1;
    if (node < 0)
        *cause = "unknown node";
    else if (e->label && label < 0)
        *cause = "unknown class";
    if (*cause || x->label[node] == label)
        return GRAPHSS_OK;
    x->label[node] = (int32_t)label;
    graphss_i_live_evidence_label(ctx, x, (size_t)node);
    return GRAPHSS_OK;
}

/* *cause: why it cannot be applied, or NULL. */
static graphss_status apply_one(
    graphss_ctx *ctx, graphss_live *x, const graphss_event *e, const char **cause)
{
    switch (e->op) {
    case GRAPHSS_EVENT_ADD_EDGE:
    case GRAPHSS_EVENT_REMOVE_EDGE:
        return apply_edge(ctx, x, e, cause);
    case GRAPHSS_EVENT_ADD_NODE:
    case GRAPHSS_EVENT_SET_FEATURES:
        return apply_features(ctx, x, e, cause);
    case GRAPHSS_EVENT_SET_LABEL:
        return apply_label(ctx, x, e, cause);
    case GRAPHSS_EVENT_REMOVE_NODE: {
        const int64_t node = graphss_i_live_names_find(&x->names, e->u);
        return node < 0 ? GRAPHSS_OK : graphss_i_live_remove_node(ctx, x, (int32_t)node);
    }
    case GRAPHSS_EVENT_OPS:
        break;
    }
    *cause = "unknown operation";
    return GRAPHSS_OK;
}

/* ---- batches ---- */

static graphss_status refuse(graphss_ctx *ctx, graphss_live *x, graphss_live_batch *out,
    size_t event, const char *cause)
{
    graphss_live_refused *more =
        graphss_i_grow(ctx, out->refused, out->n_refused, out->n_refused + 1, sizeof *more);
    if (!more)
        return GRAPHSS_ERR_NOMEM;
    out->refused = more;
    out->refused[out->n_refused++] = (graphss_live_refused){event, cause};
    x->refused++;
    return GRAPHSS_OK;
}

static void advance(graphss_live *x, double t)
{
    if (isnan(t) || (!isnan(x->now_t) && t <= x->now_t))
        return;
    x->now_t = t;
    if (isnan(x->next_check))
        x->next_check = t + x->opt.check_every;
    if (isnan(x->trusted_since))
        x->trusted_since = t;
}

static graphss_status apply_all(graphss_ctx *ctx, graphss_live *x, const graphss_event *event,
    size_t n, graphss_live_batch *out)
{
    graphss_status st = GRAPHSS_OK;
    x->batch++;
    for (size_t i = 0; i < n && !st; i++) {
        bool before = false;
        const char *cause = NULL;
        st = notice(ctx, x, &event[i], &before);
        if (st || before) {
            out->duplicates += before;
            x->duplicates += before;
            continue;
        }
        advance(x, event[i].t);
        st = apply_one(ctx, x, &event[i], &cause);
        if (!st && cause) {
            st = refuse(ctx, x, out, i, cause);
        } else if (!st) {
            out->applied++;
            x->applied++;
        }
    }
    if (!st)
        st = expire(ctx, x, out);
    if (!st)
        st = graphss_i_live_recompute(ctx, x, &out->recomputed);
    out->renewed = x->n_renewed;
    out->whole_pass = x->obstacle && x->n_touched;
    graphss_i_live_evidence_renew(x);
    if (!st)
        st = graphss_i_live_judge(ctx, x, out);
    unmark(x);
    return st;
}

static graphss_status apply(graphss_ctx *ctx, graphss_live *x, const graphss_event *event,
    size_t n, graphss_live_batch *given)
{
    const double start = graphss_i_seconds();
    graphss_live_batch out = {.first_alert = x->n_alerts};
    if (x->spoiled)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "an earlier batch failed half way: load the last saved state");
    const graphss_status st = apply_all(ctx, x, event, n, &out);
    x->spoiled = st != GRAPHSS_OK;
    out.n_alerts = x->n_alerts - out.first_alert;
    out.seconds = graphss_i_seconds() - start;
    if (given && !st)
        *given = out;
    else
        graphss_live_batch_destroy(ctx, &out);
    return st;
}

graphss_status graphss_live_apply(graphss_ctx *ctx, graphss_live *x,
    const graphss_event *event, size_t n, graphss_live_batch *out)
{
    if (GRAPHSS_I_LACKS(ctx, {"live graph", x}, {"events", GRAPHSS_I_FILLED(event, n)}))
        return GRAPHSS_ERR_INVALID;
    for (size_t i = 0; i < n; i++) {
        const graphss_event *e = &event[i];
        const bool edge =
            e->op == GRAPHSS_EVENT_ADD_EDGE || e->op == GRAPHSS_EVENT_REMOVE_EDGE;
        if (!e->u || (edge && !e->v) || (e->n_features && (!e->feature || !e->value)))
            return graphss_i_fail(
                ctx, GRAPHSS_ERR_INVALID, "event %zu lacks a node or features", i);
        if (isinf(e->t))
            return graphss_i_fail(
                ctx, GRAPHSS_ERR_INVALID, "event %zu: a time without end", i);
    }
    return apply(ctx, x, event, n, out);
}

graphss_status graphss_live_advance(
    graphss_ctx *ctx, graphss_live *x, double t, graphss_live_batch *out)
{
    if (GRAPHSS_I_LACKS(ctx, {"live graph", x}))
        return GRAPHSS_ERR_INVALID;
    if (!isfinite(t))
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "a time that is not finite");
    advance(x, t);
    return apply(ctx, x, NULL, 0, out);
}

void graphss_live_batch_destroy(graphss_ctx *ctx, graphss_live_batch *batch)
{
    graphss_release(ctx, batch->refused);
    *batch = (graphss_live_batch){0};
}
