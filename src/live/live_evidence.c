/* live_evidence.c - evidence about some nodes of the live graph, and of the trusted one.
 *
 * class_evidence.h wants a snapshot in compressed rows. Here only the rows that it reads are
 * laid out: those of the nodes, and of the neighbours it samples. These rows are stored one
 * after another in the order of their numbers, so that offset[v] and offset[v + 1] are right
 * for each of them, and all other offsets are never read. Nodes keep their numbers. So a row
 * of evidence costs its neighbourhood, and has the bits it has in a whole snapshot. Beliefs
 * and label counts are kept from one batch to the next and computed again where a node
 * changed. */
#include "detect/tuning.h"
#include "live/live_private.h"
#include "observation/observation.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Prior odds that a changed node was tampered with; as those of an alert's scores. */
static const double PRIOR_ODDS = 1.0 / 9;

enum { KNOWN_BELIEF = 1, KNOWN_LABELS = 2, KNOWN_ALONE = 4 };

/* ---- life ---- */

static void view_close(graphss_ctx *ctx, graphss_i_live_view *v)
{
    void *const all[] = {v->base.belief, v->base.ratio, v->base.labels, v->base.alone,
        v->offset, v->feature_offset, v->target, v->column, v->value, v->known};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        graphss_release(ctx, all[i]);
    *v = (graphss_i_live_view){0};
}

static bool grow(graphss_ctx *ctx, void *array, size_t old, size_t room, size_t bytes)
{
    void *block = NULL;
    memcpy(&block, array, sizeof block);
    block = graphss_i_grow(ctx, block, old, room, bytes);
    if (block)
        memcpy(array, &block, sizeof block);
    return block != NULL;
}

static graphss_status view_reserve(
    graphss_ctx *ctx, graphss_i_live_view *v, size_t room, size_t k, bool alone)
{
    const size_t old = v->room, wide = k * sizeof(float);
    if (!grow(ctx, &v->base.belief, old, room, wide) ||
        !grow(ctx, &v->base.ratio, old, room, wide) ||
        !grow(ctx, &v->base.labels, old, room, wide) ||
        (alone && !grow(ctx, &v->base.alone, old, room, wide)) ||
        !grow(ctx, &v->offset, 0, room + 1, sizeof *v->offset) ||
        !grow(ctx, &v->feature_offset, 0, room + 1, sizeof *v->feature_offset) ||
        !grow(ctx, &v->known, old, room, 1))
        return GRAPHSS_ERR_NOMEM;
    memset(v->known + old, 0, room - old);
    v->room = room;
    return GRAPHSS_OK;
}

graphss_status graphss_i_live_evidence_reserve(graphss_ctx *ctx, graphss_live *x, size_t room)
{
    if (!x->has_states)
        return GRAPHSS_OK;
    if (!grow(ctx, &x->propagated, x->now.room, room, x->k * sizeof *x->propagated))
        return GRAPHSS_ERR_NOMEM;
    memset(x->propagated + x->now.room * x->k, 0,
        (room - x->now.room) * x->k * sizeof *x->propagated);
    const graphss_status st = view_reserve(ctx, &x->now, room, x->k, false);
    return st ? st : view_reserve(ctx, &x->past, room, x->k, true);
}

/* The columns that keep their zeros are chosen on the first snapshot, for good. */
graphss_status graphss_i_live_evidence_open(
    graphss_ctx *ctx, graphss_live *x, const graphss_observation *snapshot)
{
    graphss_defence_input in;
    graphss_i_standardised scaled = {0};
    graphss_defence_input_init(&in);
    in.current = *snapshot;
    in.model = x->model;
    graphss_status st = graphss_i_standardise_open(ctx, &scaled, &in);
    if (!st && scaled.mean) {
        x->keep_zero = graphss_i_copy(ctx, scaled.mean, x->d, sizeof *x->keep_zero);
        st = x->keep_zero ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    }
    graphss_i_standardise_close(ctx, &scaled);
    if (!st)
        st = graphss_i_state_model_recall(
            ctx, &x->states, &x->has_states, x->model, x->d, x->is_dense || x->keep_zero);
    return st;
}

graphss_status graphss_i_live_evidence_learn(graphss_ctx *ctx, graphss_live *x,
    const graphss_graph *graph, const graphss_features *features, const int32_t *label)
{
    if (!x->has_states)
        return GRAPHSS_OK;
    const size_t n = graph->n_nodes, k = x->k;
    graphss_i_evidence_base b = {.graph = graph, .label = label, .n = n, .k = k};
    b.propagated = graphss_i_alloc(ctx, n, k * sizeof *b.propagated);
    graphss_status st =
        b.propagated ? graphss_i_evidence_propagate(ctx, &b) : GRAPHSS_ERR_NOMEM;
    if (!st)
        memcpy(x->propagated, b.propagated, n * k * sizeof *x->propagated);
    graphss_release(ctx, b.propagated);
    graphss_i_reference_destroy(ctx, &x->coherence);
    if (!st && !x->is_dense && !x->keep_zero)
        st = graphss_i_reference_open(ctx, &x->coherence, features, label);
    return st;
}

void graphss_i_live_evidence_close(graphss_ctx *ctx, graphss_live *x)
{
    view_close(ctx, &x->now);
    view_close(ctx, &x->past);
    graphss_i_reference_destroy(ctx, &x->coherence);
    graphss_release(ctx, x->propagated);
    x->propagated = NULL;
    graphss_i_state_model_destroy(ctx, &x->states);
    graphss_release(ctx, x->keep_zero);
    x->keep_zero = NULL;
}

/* ---- invalidating ---- */

void graphss_i_live_evidence_renew(graphss_live *x)
{
    for (size_t i = 0; i < x->n_renewed; i++) {
        x->version[x->renewed[i]] = x->batch;
        if (x->has_states)
            x->now.known[x->renewed[i]] &= (uint8_t)~KNOWN_BELIEF;
    }
    for (size_t i = 0; i < x->n_touched; i++) {
        x->version[x->touched[i]] = x->batch;
        if (x->has_states)
            x->now.known[x->touched[i]] = 0;
    }
}

/* Labels enter the beliefs of a node and the counts of its neighbours, now and in the past.
 * They change rarely, so all cached values of the past are dropped. */
void graphss_i_live_evidence_label(graphss_ctx *ctx, graphss_live *x, size_t node)
{
    const size_t degree = graphss_i_live_length(&x->edges, node);
    const int32_t *key = degree ? graphss_i_live_keys(&x->edges, node) : NULL;
    x->version[node] = x->batch;
    for (size_t j = 0; j < degree; j++)
        x->version[key[j]] = x->batch;
    if (!x->has_states)
        return;
    x->now.known[node] = 0;
    for (size_t j = 0; j < degree; j++)
        x->now.known[key[j]] = 0;
    memset(x->past.known, 0, x->n);
    for (size_t i = 0; i < x->n_changed; i++) {
        graphss_release(ctx, x->changed[i].evidence);
        x->changed[i].evidence = NULL;
    }
}

bool graphss_i_live_fresh(const graphss_live *x, const graphss_i_live_changed *c)
{
    const size_t node = (size_t)c->node, degree = graphss_i_live_length(&x->edges, node);
    const int32_t *key = degree ? graphss_i_live_keys(&x->edges, node) : NULL;
    bool fresh = c->judged_at && x->version[node] <= c->judged_at;
    for (size_t j = 0; j < degree && fresh; j++)
        fresh = x->version[key[j]] <= c->judged_at;
    return fresh;
}

/* ---- rows of nodes at hand ---- */

/* The rows of one of the two graphs. */
static const int32_t *edges_of(const graphss_live *x, bool past, size_t node, size_t *n)
{
    if (past)
        return graphss_i_live_was_edges(x, node, n);
    *n = graphss_i_live_length(&x->edges, node);
    return *n ? graphss_i_live_keys(&x->edges, node) : NULL;
}

static const float *features_of(
    const graphss_live *x, bool past, size_t node, size_t *n, const int32_t **column)
{
    const graphss_i_live_changed *c =
        past && x->record[node] >= 0 ? &x->changed[x->record[node]] : NULL;
    *column = NULL;
    if (c && c->features) {
        *n = c->n_was_features;
        *column = c->was_column;
        return c->was_value;
    }
    if (x->is_dense) {
        *n = x->d;
        return x->dense + node * x->d;
    }
    *n = graphss_i_live_length(&x->sparse, node);
    *column = *n ? graphss_i_live_keys(&x->sparse, node) : NULL;
    return *n ? (const float *)graphss_i_live_payload(&x->sparse, node) : NULL;
}

/* The base's rows of one node. */
static void know(graphss_live *x, graphss_i_live_view *v, bool past, size_t node)
{
    const size_t k = x->k;
    if (past && !(v->known[node] & KNOWN_ALONE)) {
        const graphss_i_live_changed *c =
            x->record[node] >= 0 ? &x->changed[x->record[node]] : NULL;
        memcpy(v->base.alone + node * k,
            c && c->features ? c->was_alone : x->net.alone + node * k, k * sizeof(float));
    }
    if (!(v->known[node] & KNOWN_BELIEF))
        graphss_i_evidence_believe(&v->base, node);
    if (!(v->known[node] & KNOWN_LABELS)) {
        size_t n;
        const int32_t *key = edges_of(x, past, node, &n);
        float *labels = v->base.labels + node * k;
        memset(labels, 0, k * sizeof *labels);
        for (size_t j = 0; j < n; j++)
            if (x->label[key[j]] >= 0)
                labels[x->label[key[j]]] += 1;
    }
    v->known[node] |= KNOWN_BELIEF | KNOWN_LABELS | KNOWN_ALONE;
}

static int by_number(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The j-th of the neighbours that class evidence samples, of `most`. */
static int32_t sampled(const int32_t *key, size_t n, size_t j, size_t most)
{
    return key[j * n / most];
}

/* list: the nodes, and now their sampled neighbours, ascending, each once: of the past no
 * anomalies are wanted, which alone read rows of neighbours. Returns their number. */
static size_t gather(graphss_live *x, bool past, int32_t *list, const int32_t *node, size_t m)
{
    graphss_i_live_net *net = &x->net;
    size_t n = 0;
    if (++net->epoch == 0) {
        memset(net->stamp, 0, net->room * sizeof *net->stamp);
        net->epoch = 1;
    }
    for (size_t i = 0; i < m; i++) {
        size_t degree;
        const int32_t *key = edges_of(x, past, (size_t)node[i], &degree);
        const size_t most = past ? 0 : degree < TUNE_SAMPLED ? degree : TUNE_SAMPLED;
        for (size_t j = 0; j <= most; j++) {
            const int32_t u = j < most ? sampled(key, degree, j, most) : node[i];
            if (net->stamp[u] != net->epoch) {
                net->stamp[u] = net->epoch;
                list[n++] = u;
            }
        }
    }
    qsort(list, n, sizeof *list, by_number);
    return n;
}

static bool reserve(graphss_ctx *ctx, void *array, size_t room, size_t bytes)
{
    void *block = NULL;
    memcpy(&block, array, sizeof block);
    graphss_release(ctx, block);
    block = graphss_i_alloc(ctx, room, bytes);
    memcpy(array, &block, sizeof block);
    return block != NULL;
}

static graphss_status reserve_rows(graphss_ctx *ctx, graphss_live *x, graphss_i_live_view *v,
    bool past, const int32_t *list, size_t n)
{
    size_t targets = 1, entries = 1, count;
    const int32_t *column;
    for (size_t i = 0; i < n; i++) {
        (void)edges_of(x, past, (size_t)list[i], &count);
        targets += count;
        (void)features_of(x, past, (size_t)list[i], &count, &column);
        entries += x->keep_zero ? x->d : count;
    }
    if (targets > v->targets) {
        v->targets = 0;
        if (!reserve(ctx, &v->target, 2 * targets, sizeof *v->target))
            return GRAPHSS_ERR_NOMEM;
        v->targets = 2 * targets;
    }
    if (entries > v->entries) {
        v->entries = 0;
        if (!reserve(ctx, &v->column, 2 * entries, sizeof *v->column) ||
            !reserve(ctx, &v->value, 2 * entries, sizeof *v->value))
            return GRAPHSS_ERR_NOMEM;
        v->entries = 2 * entries;
    }
    return GRAPHSS_OK;
}

/* Features of a node as detectors see them: see observation/standardise.c. Returns the number
 * of entries. */
static size_t put_features(
    int32_t *column, float *value, const graphss_live *x, bool past, size_t node)
{
    const graphss_i_scaling *s = &x->model->scaling;
    size_t n;
    const int32_t *from;
    const float *given = features_of(x, past, node, &n, &from);
    if (!x->keep_zero) {
        for (size_t j = 0; j < n; j++) {
            column[j] = from ? from[j] : (int32_t)j;
            value[j] = given[j];
        }
        return n;
    }
    for (size_t c = 0, at = 0; c < x->d; c++) {
        const bool there = at < n && (from ? (size_t)from[at] == c : true);
        const float own = there ? given[at++] : 0;
        column[c] = (int32_t)c;
        value[c] = x->keep_zero[c] != 0
                       ? s->gain[c] * own
                       : (float)((double)s->gain[c] * ((double)own - (double)s->mean[c]));
    }
    return x->d;
}

static void lay_out(
    graphss_live *x, graphss_i_live_view *v, bool past, const int32_t *list, size_t n)
{
    int64_t at = 0, feature_at = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t node = (size_t)list[i];
        size_t degree;
        const int32_t *key = edges_of(x, past, node, &degree);
        v->offset[node] = at;
        if (degree)
            memcpy(v->target + at, key, degree * sizeof *key);
        at += (int64_t)degree;
        v->offset[node + 1] = at;
        v->feature_offset[node] = feature_at;
        feature_at += (int64_t)put_features(
            v->column + feature_at, v->value + feature_at, x, past, node);
        v->feature_offset[node + 1] = feature_at;
    }
    v->graph = (graphss_graph){x->n, v->offset, v->target};
    v->features = (graphss_features){
        x->n, x->d, v->feature_offset, v->column, v->value, x->feature_kind};
}

/* The base of one of the two graphs holds what evidence of these nodes reads. */
static graphss_status bring(
    graphss_ctx *ctx, graphss_live *x, bool past, const int32_t *node, size_t m)
{
    graphss_i_live_view *v = past ? &x->past : &x->now;
    graphss_i_evidence_base *b = &v->base;
    const size_t most = m * (TUNE_SAMPLED + 1) < x->n ? m * (TUNE_SAMPLED + 1) : x->n;
    int32_t *list = graphss_i_alloc(ctx, most, sizeof *list);
    if (!list)
        return GRAPHSS_ERR_NOMEM;
    const size_t n = gather(x, past, list, node, m);
    const graphss_status st = reserve_rows(ctx, x, v, past, list, n);
    if (!st) {
        lay_out(x, v, past, list, n);
        b->graph = &v->graph;
        b->features = &v->features;
        b->classes = &x->states.classes;
        b->prob = past ? x->trusted_prob : graphss_i_live_answer(&x->net, 0);
        b->label = x->label;
        b->propagated = x->propagated;
        b->reference = &x->coherence;
        b->n = x->n;
        b->k = x->k;
        for (size_t i = 0; i < m; i++) {
            size_t degree;
            const int32_t *key = edges_of(x, past, (size_t)node[i], &degree);
            know(x, v, past, (size_t)node[i]);
            for (size_t j = 0; j < degree; j++)
                know(x, v, past, (size_t)key[j]);
        }
    }
    graphss_release(ctx, list);
    return st;
}

/* was [m]: room for the evidence in the trusted snapshot of each changed node that lacks it,
 * NULL for others. These nodes, *n, are listed. */
static graphss_status make_room(graphss_ctx *ctx, graphss_live *x, float **was,
    int32_t *lacking, size_t *n, const int32_t *node, size_t m)
{
    for (size_t i = 0; i < m; i++) {
        graphss_i_live_changed *c =
            x->record[node[i]] >= 0 ? &x->changed[x->record[node[i]]] : NULL;
        if (!c || c->is_new || c->evidence)
            continue;
        was[i] = c->evidence = graphss_i_alloc(ctx, x->k, GRAPHSS_I_ROW * sizeof *was[i]);
        if (!was[i])
            return GRAPHSS_ERR_NOMEM;
        lacking[(*n)++] = node[i];
    }
    return GRAPHSS_OK;
}

/* evidence, anomaly: as graphss_i_evidence_of, of the graph as it is. That in the trusted
 * snapshot of the changed nodes that lack it is kept with them. */
static graphss_status evidence_of(graphss_ctx *ctx, graphss_live *x, float *evidence,
    float *anomaly, const int32_t *node, size_t m)
{
    int32_t *lacking = graphss_i_alloc(ctx, m, sizeof *lacking);
    float **was = graphss_i_calloc(ctx, m, sizeof *was);
    size_t n = 0;
    graphss_status st =
        lacking && was ? make_room(ctx, x, was, lacking, &n, node, m) : GRAPHSS_ERR_NOMEM;
    if (!st && n)
        st = bring(ctx, x, true, lacking, n);
    if (!st)
        st = bring(ctx, x, false, node, m);
    if (!st) {
        x->now.base.alone = x->net.alone;
        st = graphss_i_evidence_of_both(
            ctx, evidence, anomaly, &x->now.base, was, &x->past.base, node, m);
        x->now.base.alone = NULL;
    }
    for (size_t i = 0; i < m && st && was; i++)
        if (was[i]) {
            x->changed[x->record[node[i]]].evidence = NULL;
            graphss_release(ctx, was[i]);
        }
    graphss_release(ctx, was);
    graphss_release(ctx, lacking);
    return st;
}

/* weight [GRAPHSS_I_STATES]: likelihood of each state over that of untouched, change included.
 * Returns the log odds of tampering, all ways of it alike. */
static double weigh_states(double *weight, const graphss_live *x, size_t node,
    const float *evidence, const float *anomaly)
{
    graphss_i_change_counts counts;
    float row[GRAPHSS_I_CHANGES];
    double change = 1, sum = 0;
    const graphss_live_kind kind = graphss_i_live_kind_of(x, node, &counts);
    if (kind != GRAPHSS_LIVE_SAME && kind != GRAPHSS_LIVE_NEW) {
        graphss_i_change_row(
            row, &counts, evidence, x->changed[x->record[node]].evidence, x->k);
        change = graphss_i_change_odds(&x->states, row);
    }
    graphss_i_state_odds(weight, &x->states, anomaly);
    for (size_t s = 1; s < GRAPHSS_I_STATES; s++) {
        weight[s] *= change / (GRAPHSS_I_STATES - 1);
        sum += weight[s];
    }
    return log(sum);
}

/* p [k]: classes of a node, its states weighed. room [k] */
static void read_states(double *p, double *room, const graphss_live *x, const double *weight,
    const float *evidence)
{
    double all = 0;
    memset(p, 0, x->k * sizeof *p);
    for (size_t s = 0; s < GRAPHSS_I_STATES; s++) {
        const double w = s ? PRIOR_ODDS * weight[s] : 1;
        graphss_i_state_read(room, &x->states, (graphss_i_tampered)s, evidence);
        for (size_t c = 0; c < x->k; c++)
            p[c] += w * room[c];
        all += w;
    }
    for (size_t c = 0; c < x->k; c++)
        p[c] /= all;
}

graphss_status graphss_i_live_evidence(graphss_ctx *ctx, graphss_live *x, double *suspicion,
    float *evidence, double *posterior, const int32_t *node, size_t m)
{
    const size_t wide = x->k * GRAPHSS_I_ROW;
    float *own = evidence ? evidence : graphss_i_alloc(ctx, m, wide * sizeof *own);
    float *anomaly = graphss_i_alloc(ctx, m, GRAPHSS_I_ANOMALIES * sizeof *anomaly);
    double *room = graphss_i_alloc(ctx, x->k, sizeof *room), weight[GRAPHSS_I_STATES];
    graphss_status st = own && anomaly && room ? evidence_of(ctx, x, own, anomaly, node, m)
                                               : GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < m && !st; i++) {
        const double odds = weigh_states(
            weight, x, (size_t)node[i], own + i * wide, anomaly + i * GRAPHSS_I_ANOMALIES);
        if (suspicion)
            suspicion[i] = odds;
        if (posterior)
            read_states(posterior + i * x->k, room, x, weight, own + i * wide);
    }
    graphss_release(ctx, room);
    graphss_release(ctx, anomaly);
    if (!evidence)
        graphss_release(ctx, own);
    return st;
}
