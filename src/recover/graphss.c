/* graphss.c - the default method: noisy sources, a latent state for each node, Gibbs sampling.
 *
 * Each node is untouched, or its edges, its features, or both were tampered with, the latter
 * by a recipe or a search (detect/state_model.h). Without a past the state of a node is
 * inferred from its anomalies; the reader of each state gives its class. With a past a node
 * that did not change is untouched, and one that changed was either attacked, and keeps what
 * was believed of it before, or changed benignly, and is read as it is now as far as its
 * present state is untouched, too (compare_node). Where the nodes that did not change look
 * tampered with, the past is not clean: they are then read as nodes without a past. Trusted
 * nodes are untouched whatever their anomalies, and like labelled ones they do not count for
 * the shares of the states.
 *
 * On several ranks each has groups of its own nodes. Evidence is asked for by all together
 * (detect/class_evidence.h), so loops over groups go on until the last rank is done. */
#include "detect/snapshot.h"
#include "detect/tuning.h"
#include "graph/part.h"
#include "recover/defence.h"
#include "recover/graphss_infer.h"
#include <math.h>
#include <string.h>

enum { CHUNK = 8192 };   /* nodes whose evidence is in memory at a time */
enum { SAMPLED = 4096 }; /* unchanged nodes by which the past is judged */
enum { NOW, BEFORE, PAST_STATES };
enum { LABELLED = 1, TRUSTED }; /* fixed of a group */

static const graphss_perturbation state_kind[GRAPHSS_I_STATES] = {GRAPHSS_PERTURBATION_NONE,
    GRAPHSS_PERTURBATION_EDGES, GRAPHSS_PERTURBATION_FEATURES, GRAPHSS_PERTURBATION_BOTH,
    GRAPHSS_PERTURBATION_BOTH};

typedef struct recovering {
    const graphss_i_defence_input *in;
    const graphss_recover_options *opt;
    graphss_i_state_model states;
    graphss_i_snapshot now, past;
    graphss_i_group fresh;     /* nodes without a past */
    graphss_i_group still;     /* nodes that did not change */
    graphss_i_group changed;   /* nodes that did */
    graphss_i_group present;   /* the same, without a past */
    size_t n_still, n_changed; /* nodes of these groups on all ranks */
    /* [changed.m] the type of tampering of a changed node */
    uint8_t *what;
    float *evidence, *anomaly, *before; /* of a chunk */
    bool contaminated;
} recovering;

static void close_all(graphss_ctx *ctx, recovering *x)
{
    graphss_i_state_model_destroy(ctx, &x->states);
    graphss_i_snapshot_close(ctx, &x->now);
    graphss_i_snapshot_close(ctx, &x->past);
    graphss_i_group_destroy(ctx, &x->fresh);
    graphss_i_group_destroy(ctx, &x->still);
    graphss_i_group_destroy(ctx, &x->changed);
    graphss_i_group_destroy(ctx, &x->present);
    graphss_release(ctx, x->what);
    graphss_release(ctx, x->evidence);
    graphss_release(ctx, x->anomaly);
    graphss_release(ctx, x->before);
}

/* ---- preparation ---- */

static graphss_status sort_nodes(graphss_ctx *ctx, recovering *x)
{
    const graphss_i_defence_input *s = x->in;
    size_t count[3] = {0};
    uint8_t *group = graphss_i_alloc(ctx, s->n, sizeof *group);
    uint8_t *fixed = graphss_i_calloc(ctx, s->n, sizeof *fixed);
    graphss_i_group *const list[] = {&x->fresh, &x->still, &x->changed};
    graphss_status st = group && fixed ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < s->split->n_train && !st; i++)
        fixed[s->split->train[i]] = LABELLED;
    for (size_t i = 0; i < s->split->n_val && !st; i++)
        fixed[s->split->val[i]] = LABELLED;
    for (size_t i = 0; i < x->opt->n_trusted && !st; i++)
        fixed[x->opt->trusted[i]] = TRUSTED;
    for (size_t i = 0; i < s->n && !st; i++) {
        group[i] = !s->before || s->before[i] < 0                                 ? 0
                   : graphss_i_unchanged(&s->current, &s->previous, s->before, i) ? 1
                                                                                  : 2;
        count[group[i]]++;
    }
    static const size_t states[] = {GRAPHSS_I_STATES, 1, PAST_STATES};
    for (size_t g = 0; g < 3 && !st; g++)
        st = graphss_i_group_open(ctx, list[g], count[g], s->k, states[g]);
    for (size_t i = 0; i < s->n && !st; i++) {
        graphss_i_group *g = list[group[i]];
        g->fixed[g->m] = fixed[i];
        g->node[g->m++] = (int32_t)i;
    }
    x->n_still = x->still.m;
    x->n_changed = x->changed.m;
    if (!st)
        st = graphss_i_ranks_total(ctx, &x->n_still);
    if (!st)
        st = graphss_i_ranks_total(ctx, &x->n_changed);
    graphss_release(ctx, group);
    graphss_release(ctx, fixed);
    return st;
}

static graphss_status allocate(graphss_ctx *ctx, recovering *x)
{
    const size_t rows = x->in->n < CHUNK ? x->in->n : CHUNK;
    const size_t wide = x->in->k * GRAPHSS_I_ROW;
    x->what = graphss_i_alloc(ctx, x->changed.m, sizeof *x->what);
    x->evidence = graphss_i_alloc(ctx, rows, wide * sizeof *x->evidence);
    x->before = graphss_i_alloc(ctx, x->n_changed ? rows : 0, wide * sizeof *x->before);
    x->anomaly = graphss_i_alloc(ctx, rows, GRAPHSS_I_ANOMALIES * sizeof *x->anomaly);
    return x->what && x->evidence && x->before && x->anomaly ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

/* ---- likelihoods and classes in each state ---- */

/* Nodes of a group that are still to be read: all, or those the journal has no rows of. */
typedef struct reading {
    recovering *x;
    graphss_i_group *g;
    uint8_t *what; /* for a group that is compared with its past: x->what; else NULL */
    graphss_i_journal_rows rows;
    size_t n, most, written; /* nodes; the most of any rank; rows that the journal has */
    size_t *at;              /* [n] place in the group, */
    int32_t *node;           /* [n] and number; or, for all, NULL and those of the group */
} reading;

/* A row of the journal: likelihoods, classes in each state, and what changed. */
static void put_node(const void *of, size_t at, void *row)
{
    const reading *r = of;
    const graphss_i_group *g = r->g;
    float *to = row;
    for (size_t s = 0; s < g->states; s++, to += g->k) {
        *to++ = g->likelihood[s * g->room + at];
        memcpy(to, g->prob + (s * g->room + at) * g->k, g->k * sizeof *to);
    }
    *to = r->what ? r->what[at] : 0;
}

static void take_node(void *of, size_t at, const void *row)
{
    reading *r = of;
    graphss_i_group *g = r->g;
    const float *from = row;
    for (size_t s = 0; s < g->states; s++, from += g->k) {
        g->likelihood[s * g->room + at] = *from++;
        memcpy(g->prob + (s * g->room + at) * g->k, from, g->k * sizeof *from);
    }
    if (r->what)
        r->what[at] = (uint8_t)*from;
}

static void reading_close(graphss_ctx *ctx, reading *r)
{
    graphss_release(ctx, r->at);
    if (r->at)
        graphss_release(ctx, r->node);
}

static graphss_status skip_done(graphss_ctx *ctx, reading *r)
{
    const graphss_i_group *g = r->g;
    size_t n = 0;
    uint8_t *done = graphss_i_alloc(ctx, g->m, sizeof *done);
    graphss_status st = done ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    if (!st)
        st = graphss_i_journal_stage(ctx, r->x->in->journal, g->node, g->m);
    if (!st)
        st = graphss_i_journal_read(ctx, r->x->in->journal, &r->rows, done);
    for (size_t i = 0; i < g->m && !st; i++)
        n += !done[i];
    if (!st && n < g->m) {
        r->at = graphss_i_alloc(ctx, n, sizeof *r->at);
        r->node = graphss_i_alloc(ctx, n, sizeof *r->node);
        st = r->at && r->node ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
        r->n = 0;
        for (size_t i = 0; i < g->m && !st; i++)
            if (!done[i]) {
                r->at[r->n] = i;
                r->node[r->n++] = g->node[i];
            }
    }
    graphss_release(ctx, done);
    return st;
}

static graphss_status reading_open(
    graphss_ctx *ctx, reading *r, recovering *x, graphss_i_group *g, uint8_t *what)
{
    *r = (reading){.x = x, .g = g, .what = what, .n = g->m, .node = g->node};
    r->rows = (graphss_i_journal_rows){
        (g->states * (g->k + 1) + 1) * sizeof(float), r, put_node, take_node};
    graphss_status st = x->in->journal ? skip_done(ctx, r) : GRAPHSS_OK;
    st = graphss_engine_agree(ctx, st, NULL);
    r->most = r->n;
    return st ? st : graphss_i_ranks_most(ctx, &r->most);
}

/* The nodes below `end` have been read. */
static void keep_read(graphss_ctx *ctx, reading *r, size_t end)
{
    graphss_i_journal *j = r->x->in->journal;
    if (!j || r->written == end || (end < r->n && !graphss_i_journal_due(j)))
        return;
    graphss_i_journal_add(ctx, j, &r->rows, r->at, r->written, end - r->written, 0, NULL, 0);
    r->written = end;
}

/* A stretch of them, at most CHUNK nodes. */
static size_t chunk_of(const reading *r, size_t at)
{
    return at >= r->n ? 0 : r->n - at < CHUNK ? r->n - at : CHUNK;
}

static void keep_row(float *out, const double *p, size_t k)
{
    for (size_t c = 0; c < k; c++)
        out[c] = (float)p[c];
}

/* Nodes judged without a past. */
static graphss_status read_now(graphss_ctx *ctx, recovering *x, graphss_i_group *g)
{
    const size_t k = g->k, wide = k * GRAPHSS_I_ROW;
    double *p = graphss_i_alloc(ctx, k, sizeof *p), odds[GRAPHSS_I_STATES];
    reading r = {0};
    graphss_status st = graphss_engine_agree(ctx, p ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    if (!st)
        st = reading_open(ctx, &r, x, g, NULL);
    for (size_t from = 0; from < r.most && !st; from += CHUNK) {
        const size_t n = chunk_of(&r, from), first = from < r.n ? from : 0;
        st = graphss_i_evidence_of(
            ctx, x->evidence, x->anomaly, &x->now.base, r.node + first, n);
        for (size_t i = 0; i < n && !st; i++) {
            const size_t at = r.at ? r.at[from + i] : from + i;
            graphss_i_state_odds(odds, &x->states, x->anomaly + i * GRAPHSS_I_ANOMALIES);
            for (size_t s = 0; s < GRAPHSS_I_STATES; s++) {
                graphss_i_state_read(
                    p, &x->states, (graphss_i_tampered)s, x->evidence + i * wide);
                g->likelihood[s * g->room + at] =
                    s && g->fixed[at] == TRUSTED ? 0 : (float)odds[s];
                keep_row(g->prob + (s * g->room + at) * k, p, k);
            }
        }
        if (!st && n)
            keep_read(ctx, &r, from + n);
        if (!st)
            st = graphss_i_progress(
                ctx, "read", from + CHUNK < r.most ? from + CHUNK : r.most, r.most, NULL);
    }
    reading_close(ctx, &r);
    graphss_release(ctx, p);
    return st;
}

static uint8_t what_changed(const graphss_i_change_counts *c)
{
    return (
        uint8_t)((c->edges_added + c->edges_removed ? GRAPHSS_I_TAMPERED_EDGES : 0) |
                 (c->features_added + c->features_removed ? GRAPHSS_I_TAMPERED_FEATURES : 0));
}

/* A changed node whose state without a past is known (x->present). If its change was hostile,
 * it keeps its former classes. If not, its present ones; as far as it looks tampered with all
 * the same, its former classes and those of the readers of the tampered states count alike. */
static void compare_node(
    recovering *x, size_t at, const float *now, const float *past, double *p)
{
    const graphss_i_group *present = &x->present;
    graphss_i_group *g = &x->changed;
    const graphss_i_defence_input *s = x->in;
    const size_t k = g->k, v = (size_t)g->node[at], was = (size_t)s->before[v];
    const graphss_i_change_counts c = graphss_i_change_count(s->current.graph,
        s->current.features, v, s->previous.graph, s->previous.features, was, s->before);
    float change[GRAPHSS_I_CHANGES];
    graphss_i_change_row(change, &c, now, past, k);
    x->what[at] = what_changed(&c);
    g->likelihood[NOW * g->room + at] = 1;
    g->likelihood[BEFORE * g->room + at] =
        g->fixed[at] == TRUSTED ? 0 : (float)graphss_i_change_odds(&x->states, change);
    graphss_i_state_read(p, &x->states, GRAPHSS_I_UNTOUCHED, past);
    keep_row(g->prob + (BEFORE * g->room + at) * k, p, k);
    const double *state = present->state + at * present->states;
    for (size_t y = 0; y < k; y++) {
        p[y] *= (1 - state[0]) / 2;
        for (size_t t = 0; t < present->states; t++)
            p[y] += state[t] * (t ? 0.5 : 1) *
                    (double)present->prob[(t * present->room + at) * k + y];
    }
    keep_row(g->prob + (NOW * g->room + at) * k, p, k);
}

static graphss_status compare_past(graphss_ctx *ctx, recovering *x)
{
    graphss_i_group *g = &x->changed;
    const size_t wide = g->k * GRAPHSS_I_ROW, rows = g->m < CHUNK ? g->m : CHUNK;
    int32_t *was = graphss_i_alloc(ctx, rows, sizeof *was);
    double *p = graphss_i_alloc(ctx, g->k, sizeof *p);
    reading r = {0};
    graphss_status st =
        graphss_engine_agree(ctx, was && p ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    if (!st)
        st = reading_open(ctx, &r, x, g, x->what);
    for (size_t from = 0; from < r.most && !st; from += CHUNK) {
        const size_t n = chunk_of(&r, from), first = from < r.n ? from : 0;
        for (size_t i = 0; i < n; i++)
            was[i] = x->in->before[r.node[from + i]];
        st = graphss_i_evidence_of(ctx, x->evidence, NULL, &x->now.base, r.node + first, n);
        if (!st)
            st = graphss_i_evidence_of(ctx, x->before, NULL, &x->past.base, was, n);
        for (size_t i = 0; i < n && !st; i++)
            compare_node(x, r.at ? r.at[from + i] : from + i, x->evidence + i * wide,
                x->before + i * wide, p);
        if (!st && n)
            keep_read(ctx, &r, from + n);
    }
    reading_close(ctx, &r);
    graphss_release(ctx, was);
    graphss_release(ctx, p);
    return st;
}

/* ---- the result ---- */

/* hit [n]: how far the answer of before counts; 0 of nodes that did not change. Of a part also
 * that of the ghosts. state of x->changed becomes that, too. */
static graphss_status find_hit(graphss_ctx *ctx, recovering *x, double **hit)
{
    graphss_i_part *part = graphss_i_part_of(ctx, x->in->current.graph);
    *hit = graphss_i_calloc(ctx, x->in->n + (part ? part->n_ghost : 0), sizeof **hit);
    for (size_t i = 0; *hit && i < x->changed.m; i++) {
        double *state = x->changed.state + i * PAST_STATES;
        state[NOW] *= (1 + x->present.state[i * GRAPHSS_I_STATES]) / 2;
        state[BEFORE] = 1 - state[NOW];
        (*hit)[x->changed.node[i]] = state[BEFORE];
    }
    if (!*hit)
        return GRAPHSS_ERR_NOMEM;
    return part ? graphss_i_part_bring(ctx, part, *hit, sizeof **hit) : GRAPHSS_OK;
}

/* An unchanged node keeps its former answer as far as a neighbour was attacked. */
static void keep_answer(double *posterior, const recovering *x, const double *hit, size_t v)
{
    const graphss_graph *graph = x->in->current.graph;
    const size_t k = x->in->k;
    double spared = 1;
    for (int64_t e = graph->offset[v]; e < graph->offset[v + 1]; e++)
        spared *= 1 - hit[graph->target[e]];
    for (size_t c = 0; c < k; c++) {
        const double now = (double)x->in->prob[v * k + c];
        posterior[c] =
            spared < 1
                ? spared * now +
                      (1 - spared) * (double)x->past.prob[(size_t)x->in->before[v] * k + c]
                : now;
    }
}

/* take [g->m]: up to `most` of the nodes of a group without a label, evenly spaced; on several
 * ranks by the global numbers of the nodes of all. */
static graphss_status choose_some(graphss_ctx *ctx, uint8_t *take, const graphss_i_group *g,
    const graphss_graph *graph, size_t most)
{
    const graphss_i_part *part = graphss_i_part_of(ctx, graph);
    const size_t own = graph->n_nodes, n = part ? part->n_all : own;
    uint8_t *in = graphss_i_calloc(ctx, own, sizeof *in), *all = in;
    size_t without = 0, at = 0, taken = 0;
    graphss_status st = in ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < g->m && !st; i++)
        in[g->node[i]] = !g->fixed[i];
    if (!st && part) {
        all = graphss_i_alloc(ctx, n, sizeof *all);
        st = graphss_engine_agree(ctx, all ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
        if (!st)
            st = graphss_i_part_gather(ctx, all, part, in, sizeof *all);
    }
    for (size_t v = 0; v < n && !st; v++)
        without += all[v];
    most = most < without ? most : without;
    for (size_t v = 0; v < n && !st; v++)
        if (all[v]) {
            all[v] = at++ * most / without >= taken;
            taken += all[v];
        }
    for (size_t i = 0; i < g->m && !st; i++)
        take[i] = all[part ? part->id[g->node[i]] : g->node[i]];
    if (all != in)
        graphss_release(ctx, all);
    graphss_release(ctx, in);
    return st;
}

/* Nodes of a group, all or, of the unchanged ones, up to `most` of those without a label, with
 * their states without a past. */
static graphss_status read_nodes(graphss_ctx *ctx, recovering *x, graphss_i_group *out,
    const graphss_i_group *g, size_t most)
{
    const bool all = most >= x->n_still;
    uint8_t *take = graphss_i_alloc(ctx, g->m, sizeof *take);
    graphss_status st = take ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    size_t room = g->m;
    if (!st && !all)
        st = choose_some(ctx, take, g, x->in->current.graph, most);
    for (size_t i = 0; i < g->m && !st && !all; i++)
        room -= !take[i];
    if (!st)
        st = graphss_i_group_open(ctx, out, room, g->k, GRAPHSS_I_STATES);
    for (size_t i = 0; i < g->m && !st; i++) {
        if (!all && !take[i])
            continue;
        out->fixed[out->m] = g->fixed[i];
        out->node[out->m++] = g->node[i];
    }
    graphss_release(ctx, take);
    if (!st)
        st = read_now(ctx, x, out);
    return st ? st : graphss_i_group_infer(ctx, out, x->in->seed, x->in->journal);
}

/* Decides whether the past is clean, by a sample of the unchanged nodes. If it is not, all of
 * them are judged without a past. */
static graphss_status judge_past(graphss_ctx *ctx, recovering *x)
{
    graphss_i_group *g = &x->still, seen = {0};
    if (!x->n_still)
        return GRAPHSS_OK;
    graphss_status st = read_nodes(ctx, x, &seen, g, SAMPLED);
    const double n = seen.n_free ? (double)seen.n_free : 1;
    const double chance = sqrt(0.25 / n + 0.25 / fmax(1, x->states.rehearsed));
    x->contaminated =
        !st && 1 - seen.share[0] > x->states.clean_share + TUNE_CONTAMINATED + 3 * chance;
    if (x->contaminated && x->n_still > SAMPLED) {
        graphss_i_group_destroy(ctx, &seen);
        st = read_nodes(ctx, x, &seen, g, SIZE_MAX);
    }
    if (x->contaminated && !st) {
        const graphss_i_group narrow = *g;
        *g = seen;
        seen = narrow;
    }
    graphss_i_group_destroy(ctx, &seen);
    return st;
}

/* Nodes that did not change are untouched where the past is clean, and the classifier's answer
 * stands. */
static void trust_still(recovering *x, const double *hit)
{
    graphss_i_group *g = &x->still;
    for (size_t i = 0; i < g->m && !x->contaminated; i++) {
        g->state[i] = 1; /* its one state */
        keep_answer(g->posterior + i * g->k, x, hit, (size_t)g->node[i]);
    }
}

static void hand_over(double *posterior, double *perturbed, const graphss_i_group *g)
{
    for (size_t i = 0; i < g->m; i++) {
        const size_t v = (size_t)g->node[i];
        memcpy(posterior + v * g->k, g->posterior + i * g->k, g->k * sizeof *posterior);
        perturbed[v] = 1 - g->state[i * g->states];
    }
}

/* The share of attacked nodes among those that are not fixed, and their most frequent type of
 * tampering. */
static graphss_status report(graphss_ctx *ctx, const recovering *x, graphss_i_report *out)
{
    double share[GRAPHSS_I_STATES] = {0}, all = 0, hit = 0;
    const graphss_i_group *const present[] = {&x->fresh, &x->still};
    for (size_t g = 0; g < 2; g++)
        for (size_t i = 0; i < present[g]->m; i++)
            for (size_t s = 0; s < present[g]->states && !present[g]->fixed[i]; s++)
                share[s] += present[g]->state[i * present[g]->states + s];
    for (size_t i = 0; i < x->changed.m; i++)
        if (!x->changed.fixed[i]) {
            share[x->what[i]] += x->changed.state[i * PAST_STATES + BEFORE];
            share[0] += x->changed.state[i * PAST_STATES + NOW];
        }
    const graphss_status st = graphss_i_ranks_sum(ctx, share, GRAPHSS_I_STATES);
    size_t most = 1;
    share[GRAPHSS_I_TAMPERED_BOTH] += share[GRAPHSS_I_SEARCHED];
    share[GRAPHSS_I_SEARCHED] = 0;
    for (size_t s = 0; s < GRAPHSS_I_STATES; s++) {
        all += share[s];
        hit += s ? share[s] : 0;
        most = s && share[s] > share[most] ? s : most;
    }
    /* With a past only changed nodes are suspicious, so a smaller share is worth naming.
     * Without one, the share that looks tampered with in a clean snapshot does not count. */
    const double least = TUNE_WORTH_NAMING / (x->in->before ? 5 : 1);
    const double clean = x->in->before ? 0 : x->states.clean_share;
    out->share = all > 0 ? fmax(0, (hit / all - clean) / (1 - clean)) : 0;
    out->kind = out->share < least ? state_kind[0] : state_kind[most];
    return st;
}

static graphss_status infer(graphss_ctx *ctx, recovering *x)
{
    const graphss_i_defence_input *s = x->in;
    const graphss_i_class_model *classes = &x->states.classes;
    graphss_status st = graphss_i_snapshot_open(
        ctx, &x->now, classes, s->model, &s->current, s->split, s->prob);
    if (!st && x->n_changed)
        st = graphss_i_snapshot_open(
            ctx, &x->past, classes, s->model, &s->previous, s->previous_split, NULL);
    if (!st)
        st = read_now(ctx, x, &x->fresh);
    if (!st)
        st = graphss_i_group_infer(ctx, &x->fresh, s->seed, s->journal);
    if (!st)
        st = judge_past(ctx, x);
    if (!st && x->n_changed)
        st = read_nodes(ctx, x, &x->present, &x->changed, SIZE_MAX);
    if (!st && x->n_changed)
        st = compare_past(ctx, x);
    if (!st)
        st = graphss_i_group_infer(ctx, &x->changed, s->seed, s->journal);
    double *hit = NULL;
    if (!st)
        st = find_hit(ctx, x, &hit);
    if (!st)
        trust_still(x, hit);
    graphss_release(ctx, hit);
    return st;
}

static graphss_status run(graphss_ctx *ctx, double *posterior, double *perturbed,
    const graphss_i_defence_input *in, const graphss_recover_options *opt)
{
    recovering x = {.in = in, .opt = opt};
    bool known = false;
    graphss_status st = graphss_i_states_find(ctx, &x.states, &known, in->model, &in->current,
        in->split, in->before ? &in->previous : NULL, in->previous_split);
    if (!st && !known) {
        graphss_i_log(ctx, GRAPHSS_LOG_WARN,
            "too few labelled nodes to rehearse attacks with: the labels are the "
            "classifier's own");
        graphss_i_widen_prob(posterior, in->prob, in->n * in->k);
        for (size_t i = 0; i < in->n; i++)
            perturbed[i] = 0;
        *in->report = (graphss_i_report){state_kind[0], 0};
    }
    if (st || !known)
        goto done;
    st = sort_nodes(ctx, &x);
    if (!st)
        st = allocate(ctx, &x);
    if (!st)
        st = infer(ctx, &x);
    if (st)
        goto done;
    const graphss_i_group *const list[] = {&x.fresh, &x.still, &x.changed};
    for (size_t g = 0; g < 3; g++)
        hand_over(posterior, perturbed, list[g]);
    st = report(ctx, &x, in->report);
    if (x.contaminated)
        graphss_i_log(ctx, GRAPHSS_LOG_WARN,
            "%.0f %% of the nodes that did not change look tampered with: the "
            "previous snapshot seems to be attacked already, and is not relied on",
            100 * (1 - x.still.share[0]));
done:
    close_all(ctx, &x);
    return st;
}

const graphss_i_defence graphss_i_graphss_defence = {
    .name = "graphss",
    .summary = "noisy sources and a latent state a node, learned from rehearsed attacks",
    .evasion = "the given model, and what was rehearsed when it was trained",
    .options = graphss_i_common_options,
    .learns = true,
    .finds = true,
    .shared = true,
    .keeps = true,
    .paper = &graphss_i_graphss_paper,
    .run = run,
};
