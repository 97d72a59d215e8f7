/* alert_score.c - scores every node of a snapshot, and finds its reference. A node with a past
 * is scored, if it changed, by its change; one without a past by its anomalies
 * (detect/reference.h). The reference of a stratum of change comes from changes that were
 * rehearsed when the model was trained. Nodes without a past are compared with the validation
 * nodes, and with rehearsed clean nodes, since validation nodes may have been attacked, too.
 * Benign change moves the scores of all nodes, victims move only the upper end. So the lower
 * part of a reference is shifted to that of the tested nodes, and the rest is compared. */
#include "alert/alert_private.h"
#include "detect/tuning.h"
#include "observation/part_scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 4096 }; /* nodes whose rows are held at a time */

void graphss_i_alert_close(graphss_ctx *ctx, graphss_i_alert_context *x)
{
    graphss_alert_scores_destroy(ctx, &x->scores);
    graphss_i_snapshot_close(ctx, &x->now);
    graphss_i_snapshot_close(ctx, &x->past);
    graphss_i_state_model_destroy(ctx, &x->states);
    graphss_split_destroy(ctx, &x->own);
    graphss_split_destroy(ctx, &x->past_split);
    graphss_release(ctx, x->matched);
    graphss_release(ctx, x->number);
    graphss_release(ctx, x->what);
    graphss_release(ctx, x->compared);
    graphss_i_standardise_close(ctx, &x->seen);
}

double graphss_i_excess(
    const double *p_value, const int32_t *node, size_t n, double tolerance, double errors)
{
    static const double at[] = {0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3};
    double share = 0;
    for (size_t a = 0; a < sizeof at / sizeof *at && n; a++) {
        const double honest = tolerance * at[a];
        size_t below = 0;
        if (honest >= 0.5) /* no evidence */
            break;
        for (size_t i = 0; i < n; i++)
            below += p_value[node ? (size_t)node[i] : i] <= at[a];
        const double error = sqrt(honest * (1 - honest) / (double)n);
        share =
            fmax(share, ((double)below / (double)n - honest - errors * error) / (1 - honest));
    }
    return fmin(share, 1);
}

/* ---- the snapshots ---- */

/* The same on several ranks, where it was done when the parts were opened. */
static graphss_status take_scene(graphss_ctx *ctx, graphss_i_alert_context *x)
{
    const graphss_i_scene *s = x->scene;
    const graphss_observation table = {&s->table->graph, NULL, &s->table->node_names};
    x->part = s->now;
    x->n = s->n_all;
    x->n_own = s->now->n_own;
    x->n_past = s->n_all_past;
    x->k = graphss_model_classes(x->in->model);
    x->split = s->whole;
    x->before = s->before;
    return graphss_i_match_trained(ctx, &x->number, x->in->model, &table);
}

static graphss_status match(graphss_ctx *ctx, graphss_i_alert_context *x)
{
    const graphss_defence_input *in = x->in;
    if (x->scene)
        return take_scene(ctx, x);
    x->n = x->n_own = in->current.graph->n_nodes;
    x->n_past = in->previous ? in->previous->graph->n_nodes : 0;
    x->k = graphss_model_classes(in->model);
    x->split = in->split ? in->split : &x->own;
    graphss_status st = GRAPHSS_OK;
    int32_t *after = NULL;
    if (!in->split)
        st = graphss_split_match(ctx, &x->own, in->model, &in->current);
    if (!st)
        st = graphss_i_check_split(ctx, x->split, x->n, x->k, "current");
    if (!st)
        st = graphss_i_match_trained(ctx, &x->number, in->model, &in->current);
    if (!st && in->previous)
        st = graphss_i_match_past(ctx, &x->matched, &after, &in->current, in->previous);
    x->before = x->matched;
    if (!st && in->previous)
        st = graphss_split_translate(
            ctx, &x->past_split, x->split, after, in->previous->graph->n_nodes);
    graphss_release(ctx, after);
    return st;
}

/* The labelled nodes whose own label is part of their evidence. */
static const graphss_split *own_split(const graphss_i_alert_context *x)
{
    return x->scene ? &x->scene->split : x->split;
}

static const graphss_split *own_past_split(const graphss_i_alert_context *x)
{
    return x->scene ? &x->scene->previous_split : &x->past_split;
}

static graphss_status find_states(graphss_ctx *ctx, graphss_i_alert_context *x)
{
    bool known = false;
    const graphss_status st = graphss_i_states_find(ctx, &x->states, &known, x->in->model,
        &x->in->current, own_split(x), x->in->previous, own_past_split(x));
    if (st || known)
        return st;
    return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
        "%zu validation and %zu training node%s, want %d of the former or twice as many of "
        "the "
        "latter to learn from; recover --method label-propagation (or keep-last, with "
        "--previous) does without",
        x->split->n_val, x->split->n_train, x->split->n_train == 1 ? "" : "s", TUNE_NEEDED);
}

/* ---- scores ---- */

static uint8_t likeliest_state(const graphss_i_state_model *m, const float *anomaly)
{
    double odds[GRAPHSS_I_STATES];
    graphss_i_state_odds(odds, m, anomaly);
    size_t best = 1;
    for (size_t s = 2; s < GRAPHSS_I_STATES; s++)
        best = odds[s] > odds[best] ? s : best;
    return best == GRAPHSS_I_SEARCHED ? GRAPHSS_I_TAMPERED_BOTH : (uint8_t)best;
}

static uint8_t what_changed(graphss_i_stratum s)
{
    return s == GRAPHSS_I_EDGES_AND_FEATURES ? GRAPHSS_I_TAMPERED_BOTH
           : s == GRAPHSS_I_SOME_FEATURES    ? GRAPHSS_I_TAMPERED_FEATURES
                                             : GRAPHSS_I_TAMPERED_EDGES;
}

/* i: an own number */
static void score_static(graphss_i_alert_context *x, int32_t i, const float *anomaly)
{
    const size_t v = graphss_i_alert_number(x, (size_t)i);
    x->scores.stratum[v] = GRAPHSS_I_NO_PAST;
    x->scores.score[v] =
        graphss_i_score_static(&x->states, graphss_i_half_of(x->number[v]), anomaly);
    x->what[v] = likeliest_state(&x->states, anomaly);
}

static void score_change(
    graphss_i_alert_context *x, int32_t i, const float *now, const float *past)
{
    const size_t v = graphss_i_alert_number(x, (size_t)i);
    float row[GRAPHSS_I_CHANGES];
    const graphss_observation *o = &x->in->current, *p = x->in->previous;
    const graphss_i_change_counts c = graphss_i_change_count(o->graph, o->features, (size_t)i,
        p->graph, p->features, (size_t)x->before[i], x->before);
    graphss_i_change_row(row, &c, now, past, x->k);
    graphss_i_stratum s = graphss_i_stratum_of(row);
    if (s == GRAPHSS_I_UNCHANGED) /* values of sparse features that changed are not counted */
        s = GRAPHSS_I_SOME_FEATURES;
    x->scores.stratum[v] = (uint8_t)s;
    x->scores.score[v] =
        graphss_i_score_change(&x->states, graphss_i_half_of(x->number[v]), row);
    x->what[v] = what_changed(s);
}

/* Nodes [m] of one chunk, all with a past or all without. */
typedef struct chunk {
    int32_t *node, *was; /* [CHUNK] */
    size_t m;
    float *now, *past, *anomaly;
} chunk;

static graphss_status score_chunk(
    graphss_ctx *ctx, graphss_i_alert_context *x, chunk *c, bool changed)
{
    const size_t wide = x->k * GRAPHSS_I_ROW;
    graphss_status st = graphss_i_evidence_of(ctx, changed ? c->now : NULL,
        changed ? NULL : c->anomaly, &x->now.base, c->node, c->m);
    if (!st && changed)
        st = graphss_i_evidence_of(ctx, c->past, NULL, &x->past.base, c->was, c->m);
    for (size_t i = 0; i < c->m && !st; i++)
        if (changed)
            score_change(x, c->node[i], c->now + i * wide, c->past + i * wide);
        else
            score_static(x, c->node[i], c->anomaly + i * GRAPHSS_I_ANOMALIES);
    c->m = 0;
    return st;
}

/* The nodes of one sort: 0 without a past, 1 changed. sort [n] */
static graphss_status score_sort(
    graphss_ctx *ctx, graphss_i_alert_context *x, const uint8_t *sort, uint8_t which)
{
    const size_t rows = x->n < CHUNK ? x->n : CHUNK, wide = x->k * GRAPHSS_I_ROW;
    size_t chunks = 0, done = 0;
    chunk c = {.node = graphss_i_alloc(ctx, rows, sizeof *c.node),
        .was = graphss_i_alloc(ctx, rows, sizeof *c.was),
        .now = graphss_i_alloc(ctx, which ? rows : 0, wide * sizeof *c.now),
        .past = graphss_i_alloc(ctx, which ? rows : 0, wide * sizeof *c.past),
        .anomaly =
            graphss_i_alloc(ctx, which ? 0 : rows, GRAPHSS_I_ANOMALIES * sizeof *c.anomaly)};
    graphss_status st =
        c.node && c.was && c.now && c.past && c.anomaly ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < x->n_own; i++)
        chunks += sort[i] == which;
    chunks = (chunks + rows - 1) / rows;
    if (!st)
        st = graphss_i_ranks_most(ctx, &chunks); /* evidence is computed together */
    for (size_t i = 0; i <= x->n_own && !st; i++) {
        if (c.m == rows || (i == x->n_own && c.m)) {
            st = score_chunk(ctx, x, &c, which);
            done++;
        }
        if (i < x->n_own && sort[i] == which) {
            c.node[c.m] = (int32_t)i;
            c.was[c.m++] = x->before ? x->before[i] : -1;
        }
    }
    for (; done < chunks && !st; done++)
        st = score_chunk(ctx, x, &c, which);
    void *const block[] = {c.node, c.was, c.now, c.past, c.anomaly};
    for (size_t i = 0; i < sizeof block / sizeof *block; i++)
        graphss_release(ctx, block[i]);
    return st;
}

/* x [n x size] of each rank's own nodes becomes that of all. */
static graphss_status tell(graphss_ctx *ctx, const graphss_i_part *part, void *x, size_t size)
{
    char *all = x, *own = graphss_i_alloc(ctx, part->n_own, size);
    graphss_status st = graphss_engine_agree(ctx, own ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    for (size_t i = 0; i < part->n_own && !st; i++)
        memcpy(own + i * size, all + (size_t)part->id[i] * size, size);
    if (!st)
        st = graphss_i_part_gather(ctx, all, part, own, size);
    graphss_release(ctx, own);
    return st;
}

static graphss_status tell_all(graphss_ctx *ctx, graphss_i_alert_context *x)
{
    graphss_alert_scores *s = &x->scores;
    graphss_status st = tell(ctx, x->part, s->score, sizeof *s->score);
    if (!st)
        st = tell(ctx, x->part, s->stratum, sizeof *s->stratum);
    if (!st)
        st = tell(ctx, x->part, s->predicted, sizeof *s->predicted);
    return st ? st : tell(ctx, x->part, x->what, sizeof *x->what);
}

/* A node that did not change since a clean past was not tampered with: no score is lower. */
static void put_unchanged_last(graphss_alert_scores *s)
{
    double least = -TUNE_ODDS_MOST;
    for (size_t v = 0; v < s->n_nodes; v++)
        least = fmin(least, s->score[v]);
    for (size_t v = 0; v < s->n_nodes; v++)
        s->score[v] = s->stratum[v] == GRAPHSS_I_UNCHANGED ? least : s->score[v];
}

static graphss_status score_nodes(graphss_ctx *ctx, graphss_i_alert_context *x)
{
    enum { STATIC, CHANGED, SAME };
    const graphss_defence_input *in = x->in;
    const graphss_i_class_model *classes = &x->states.classes;
    graphss_alert_scores *s = &x->scores;
    size_t count[3] = {0};
    uint8_t *sort = graphss_i_alloc(ctx, x->n_own, sizeof *sort);
    s->n_nodes = x->n;
    s->n_classes = x->k;
    s->past = x->before != NULL;
    s->score = graphss_i_calloc(ctx, x->n, sizeof *s->score);
    s->p_value = graphss_i_alloc(ctx, x->n, sizeof *s->p_value);
    s->stratum = graphss_i_calloc(ctx, x->n, sizeof *s->stratum);
    s->predicted = graphss_i_alloc(ctx, x->n, sizeof *s->predicted);
    s->labelled = graphss_i_calloc(ctx, x->n, sizeof *s->labelled);
    s->order = graphss_i_alloc(ctx, x->n, sizeof *s->order);
    x->what = graphss_i_calloc(ctx, x->n, sizeof *x->what);
    graphss_status st = sort && s->score && s->p_value && s->stratum && s->predicted &&
                                s->labelled && s->order && x->what
                            ? GRAPHSS_OK
                            : GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < x->n_own && !st; i++) {
        sort[i] = !x->before || x->before[i] < 0                                  ? STATIC
                  : graphss_i_unchanged(&in->current, in->previous, x->before, i) ? SAME
                                                                                  : CHANGED;
        count[sort[i]]++;
    }
    for (size_t i = 0; i < 3 && !st; i++)
        st = graphss_i_ranks_total(ctx, &count[i]);
    if (!st)
        st = graphss_i_snapshot_open(
            ctx, &x->now, classes, in->model, &in->current, own_split(x), NULL);
    if (!st && count[CHANGED])
        st = graphss_i_snapshot_open(
            ctx, &x->past, classes, in->model, in->previous, own_past_split(x), NULL);
    if (!st && count[STATIC])
        st = score_sort(ctx, x, sort, STATIC);
    if (!st && count[CHANGED])
        st = score_sort(ctx, x, sort, CHANGED);
    for (size_t i = 0; i < x->n_own && !st; i++)
        s->predicted[graphss_i_alert_number(x, i)] =
            (int32_t)graphss_i_top(x->now.base.prob + i * x->k, x->k);
    if (!st && x->part)
        st = tell_all(ctx, x);
    if (!st && s->past)
        put_unchanged_last(s);
    for (size_t i = 0; i < x->split->n_train && !st; i++)
        s->labelled[x->split->train[i]] = GRAPHSS_I_TRAINS;
    for (size_t i = 0; i < x->split->n_val && !st; i++)
        s->labelled[x->split->val[i]] = GRAPHSS_I_VALIDATES;
    graphss_release(ctx, sort);
    return st;
}

/* ---- the reference ---- */

static int higher_first(const void *a, const void *b)
{
    return graphss_i_compare_doubles(b, a);
}

/* Trusted nodes are never flagged. If there are enough of them besides the nodes the model was
 * trained with, they are the reference, else the validation nodes are: all, or with a past,
 * where only new nodes are compared, some, evenly spaced. */
static graphss_status choose_compared(
    graphss_ctx *ctx, graphss_i_alert_context *x, const graphss_alert_options *opt)
{
    graphss_alert_scores *s = &x->scores;
    const size_t given = x->split->n_val;
    size_t n = 0;
    x->compared = graphss_i_alloc(ctx, opt->n_trusted + given, sizeof *x->compared);
    if (!x->compared)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < opt->n_trusted; i++) {
        const int32_t v = opt->trusted[i];
        if (v < 0 || (size_t)v >= x->n)
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                "a trusted node is %d, the snapshot has 0..%zu", (int)v, x->n - 1);
        s->stratum[v] = GRAPHSS_ALERT_UNCHANGED;
        if (s->labelled[v] != GRAPHSS_I_TRAINS)
            x->compared[n++] = v;
    }
    if (n < TUNE_NEEDED) {
        n = x->before && given > TUNE_REHEARSED_MOST ? TUNE_REHEARSED_MOST : given;
        for (size_t i = 0; i < n; i++)
            x->compared[i] = x->split->val[i * given / n];
    }
    x->n_compared = n;
    return GRAPHSS_OK;
}

/* Scores [m] of nodes as if they had no past. */
static graphss_status score_without_past(graphss_ctx *ctx, const graphss_i_alert_context *x,
    const int32_t *node, double *static_score, size_t m)
{
    int32_t *own = graphss_i_alloc(ctx, m, sizeof *own);
    size_t *place = graphss_i_alloc(ctx, m, sizeof *place), n = 0;
    float *anomaly = graphss_i_alloc(ctx, m, GRAPHSS_I_ANOMALIES * sizeof *anomaly);
    graphss_status st = own && place && anomaly ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < m && !st; i++) {
        static_score[i] = x->before ? 0 : x->scores.score[node[i]];
        own[n] = graphss_i_alert_own(x, node[i]);
        place[n] = i;
        n += x->before && own[n] >= 0;
    }
    if (!st && x->before)
        st = graphss_i_evidence_of(ctx, NULL, anomaly, &x->now.base, own, n);
    for (size_t i = 0; i < n && !st; i++)
        static_score[place[i]] = graphss_i_score_static(&x->states,
            graphss_i_half_of(x->number[graphss_i_alert_number(x, (size_t)own[i])]),
            anomaly + i * GRAPHSS_I_ANOMALIES);
    if (!st && x->before && x->part) /* of each node one rank has the score, the others 0 */
        st = graphss_i_ranks_sum(ctx, static_score, m);
    graphss_release(ctx, anomaly);
    graphss_release(ctx, place);
    graphss_release(ctx, own);
    return st;
}

static size_t count_at_least(const double *descending, size_t n, double score)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (descending[middle] >= score)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The lower quartile: a share of victims raises it less than the median. */
static double lower(double *score, size_t n)
{
    qsort(score, n, sizeof *score, graphss_i_compare_doubles);
    return n ? score[n / 4] : 0;
}

/* By how much the lower part of all nodes is above that of the n validation nodes, *of_val,
 * and that of both above the rehearsed ones, *of_all; not below 0. With a past only new nodes
 * are judged, who may all be hostile, so that their scores say nothing. */
static graphss_status match_scores(graphss_ctx *ctx, const graphss_i_alert_context *x,
    const double *static_score, size_t n, double *of_val, double *of_all)
{
    const graphss_alert_scores *s = &x->scores;
    const double clean = x->states.reference[GRAPHSS_I_UNCHANGED][GRAPHSS_I_QUANTILES / 4];
    double *all = graphss_i_alloc(ctx, x->n + n, sizeof *all);
    size_t m = 0;
    if (!all)
        return GRAPHSS_ERR_NOMEM;
    for (size_t v = 0; v < x->n && !x->before; v++)
        if (!s->labelled[v])
            all[m++] = s->score[v];
    const double of_free = lower(all, m);
    memcpy(all + m, static_score, n * sizeof *all);
    const double of_both = lower(all, m + n);
    *of_val =
        m && n ? fmax(0, of_free - lower(memcpy(all, static_score, n * sizeof *all), n)) : 0;
    *of_all = m || n ? fmax(0, of_both - clean) : 0;
    graphss_release(ctx, all);
    return GRAPHSS_OK;
}

/* x->scores.contaminated: at least the fraction of n scores without a past, moved down, that
 * are beyond those rehearsed; unchanged where none certainly are. */
static graphss_status find_contaminated(graphss_ctx *ctx, graphss_i_alert_context *x,
    const double *static_score, size_t n, double moved)
{
    const double *honest = x->states.reference[GRAPHSS_I_UNCHANGED]; /* ascending */
    double *p = graphss_i_alloc(ctx, n, sizeof *p);
    if (!p)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < n; i++) {
        size_t below = 0;
        while (below < GRAPHSS_I_QUANTILES && honest[below] + moved < static_score[i])
            below++;
        p[i] = (double)(GRAPHSS_I_QUANTILES - below + 1) / (double)(GRAPHSS_I_QUANTILES + 1);
    }
    if (graphss_i_excess(p, NULL, n, TUNE_STATIC_TOLERANCE, TUNE_CONTAMINATED_ERRORS) > 0)
        x->scores.contaminated =
            fmax(x->scores.contaminated, graphss_i_excess(p, NULL, n, 1, 1));
    graphss_release(ctx, p);
    return GRAPHSS_OK;
}

/* The attack may be in the past already: a sample of the unchanged nodes is tested. */
static graphss_status doubt_past(graphss_ctx *ctx, graphss_i_alert_context *x)
{
    const graphss_alert_scores *s = &x->scores;
    size_t still = 0, n = 0, at = 0;
    double of_val, moved;
    for (size_t v = 0; v < x->n; v++)
        still += s->stratum[v] == GRAPHSS_I_UNCHANGED && s->labelled[v] != GRAPHSS_I_TRAINS;
    const size_t most = still < TUNE_REHEARSED_MOST ? still : TUNE_REHEARSED_MOST;
    int32_t *node = graphss_i_alloc(ctx, most, sizeof *node);
    double *static_score = graphss_i_alloc(ctx, most, sizeof *static_score);
    graphss_status st = node && static_score ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t v = 0; v < x->n && !st; v++)
        if (s->stratum[v] == GRAPHSS_I_UNCHANGED && s->labelled[v] != GRAPHSS_I_TRAINS &&
            n * still <= most * at++)
            node[n++] = (int32_t)v;
    /* else training nodes, which static_score calmer, were rehearsed with, too */
    const bool enough = n >= TUNE_NEEDED && x->split->n_val >= TUNE_REHEARSED_LEAST;
    if (!st && enough)
        st = score_without_past(ctx, x, node, static_score, n);
    if (!st && enough)
        st = match_scores(ctx, x, static_score, n, &of_val, &moved);
    if (!st && enough)
        st = find_contaminated(ctx, x, static_score, n, moved);
    graphss_release(ctx, static_score);
    graphss_release(ctx, node);
    return st;
}

/* References of all strata, the highest scores first. UNCHANGED needs none, so its place holds
 * the scores without a past of the rehearsed nodes. */
static graphss_status fill_reference(graphss_ctx *ctx, graphss_i_alert_context *x)
{
    graphss_alert_scores *s = &x->scores;
    const size_t n_val = x->n_compared;
    size_t fresh = 0;
    double of_val = 0, of_all = 0;
    for (size_t v = 0; v < x->n; v++)
        fresh += s->stratum[v] == GRAPHSS_I_NO_PAST;
    double *static_score = graphss_i_alloc(ctx, n_val, sizeof *static_score);
    s->reference = graphss_i_alloc(
        ctx, GRAPHSS_I_STRATA * GRAPHSS_I_QUANTILES + n_val, sizeof *s->reference);
    graphss_status st = static_score && s->reference ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    const size_t asked = fresh && n_val >= TUNE_NEEDED ? n_val : 0;
    if (!st && asked)
        st = score_without_past(ctx, x, x->compared, static_score, asked);
    if (!st)
        st = match_scores(ctx, x, static_score, asked, &of_val, &of_all);
    double *out = s->reference;
    for (size_t k = 0; k < GRAPHSS_I_STRATA && !st; k++) {
        const bool looks = k <= GRAPHSS_I_NO_PAST;
        const double *made = x->states.reference[looks ? GRAPHSS_I_UNCHANGED : k];
        const size_t own = k == GRAPHSS_I_NO_PAST ? asked : 0;
        s->start[k] = (size_t)(out - s->reference);
        s->synthetic[k] = !looks;
        for (size_t i = 0; i < own; i++)
            *out++ = static_score[i] + of_val + TUNE_STATIC_MARGIN;
        for (size_t i = 0; i < GRAPHSS_I_QUANTILES && !own; i++)
            *out++ = made[i] + (looks ? of_all : 0);
        qsort(s->reference + s->start[k], (size_t)(out - s->reference) - s->start[k],
            sizeof *out, higher_first);
    }
    if (!st && asked)
        st = find_contaminated(ctx, x, static_score, asked, of_all);
    if (!st && x->before)
        st = doubt_past(ctx, x);
    s->start[GRAPHSS_I_STRATA] = st ? 0 : (size_t)(out - s->reference);
    graphss_release(ctx, static_score);
    return st;
}

static void rank_nodes(graphss_alert_scores *s)
{
    for (size_t v = 0; v < s->n_nodes; v++) {
        const size_t k = s->stratum[v];
        const size_t by = k == GRAPHSS_I_NO_PAST && s->contaminated > 0 ? 0 : k;
        const size_t from = s->start[by], m = s->start[by + 1] - from;
        s->p_value[v] =
            k == GRAPHSS_I_UNCHANGED
                ? 1
                : (double)(count_at_least(s->reference + from, m, s->score[v]) + 1) /
                      (double)(m + 1);
    }
}

/* A node to be put in order. */
typedef struct placed {
    double score;
    int32_t class_id, node;
    uint8_t stratum;
} placed;

static int in_order(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->stratum != y->stratum)
        return x->stratum - y->stratum;
    if (x->class_id != y->class_id)
        return x->class_id - y->class_id;
    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return x->node - y->node;
}

static graphss_status sort_nodes(graphss_ctx *ctx, graphss_alert_scores *s)
{
    placed *list = graphss_i_alloc(ctx, s->n_nodes, sizeof *list);
    if (!list)
        return GRAPHSS_ERR_NOMEM;
    for (size_t v = 0; v < s->n_nodes; v++)
        list[v] = (placed){s->score[v], s->predicted[v], (int32_t)v, s->stratum[v]};
    qsort(list, s->n_nodes, sizeof *list, in_order);
    for (size_t v = 0; v < s->n_nodes; v++)
        s->order[v] = list[v].node;
    graphss_release(ctx, list);
    return GRAPHSS_OK;
}

/* ---- all of it ---- */

graphss_status graphss_i_alert_open(graphss_ctx *ctx, graphss_i_alert_context *x,
    const graphss_defence_input *in, const graphss_alert_options *opt)
{
    graphss_alert_options own = *opt;
    graphss_alert_verdict v = {0};
    own.validation_only = true;
    graphss_status st = graphss_i_standardise_open(ctx, &x->seen, in);
    x->in = &x->seen.in;
    if (!st)
        st = match(ctx, x);
    if (!st)
        st = find_states(ctx, x);
    if (!st)
        st = score_nodes(ctx, x);
    if (!st)
        st = choose_compared(ctx, x, opt);
    if (!st)
        st = fill_reference(ctx, x);
    if (!st) {
        rank_nodes(&x->scores);
        st = sort_nodes(ctx, &x->scores);
    }
    if (!st)
        st = graphss_alert_test_group(ctx, &v, &x->scores, NULL, 0, in->seed, &own);
    x->scores.quiet = !st && v.p_value > TUNE_QUIET;
    return st ? st : graphss_i_progress(ctx, "score", 1, 1, NULL);
}

graphss_status graphss_alert_score(graphss_ctx *ctx, graphss_alert_scores *out,
    const graphss_defence_input *in, const graphss_alert_options *given)
{
    if (GRAPHSS_I_LACKS(ctx, {"input", in}, {"place for the scores", out}))
        return GRAPHSS_ERR_INVALID;
    graphss_alert_options opt;
    graphss_i_alert_context x = {0};
    graphss_status st = graphss_i_alert_options_take(ctx, &opt, given);
    if (!st)
        st = graphss_i_check_input(ctx, in);
    if (!st && in->previous)
        graphss_i_warn_of_strangers(ctx, &in->current, in->previous);
    if (!st)
        st = graphss_i_alert_open(ctx, &x, in, &opt);
    if (!st) {
        *out = x.scores;
        x.scores = (graphss_alert_scores){0};
    }
    graphss_i_alert_close(ctx, &x);
    return st;
}

graphss_status graphss_part_score(graphss_ctx *ctx, graphss_alert_scores *out,
    const graphss_part_input *in, const graphss_alert_options *given)
{
    if (GRAPHSS_I_LACKS(ctx, {"input", in}, {"place for the scores", out}))
        return GRAPHSS_ERR_INVALID;
    graphss_alert_options opt;
    graphss_i_scene scene = {0};
    graphss_i_alert_context x = {.scene = &scene};
    graphss_status st = graphss_i_alert_options_take(ctx, &opt, given);
    if (!st)
        st = graphss_i_scene_open(ctx, &scene, in);
    if (!st)
        st = graphss_i_alert_open(ctx, &x, &scene.in, &opt);
    st = graphss_engine_agree(ctx, st, NULL);
    if (!st) {
        *out = x.scores;
        x.scores = (graphss_alert_scores){0};
    }
    graphss_i_alert_close(ctx, &x);
    graphss_i_scene_close(ctx, &scene);
    return st;
}

graphss_status graphss_alert_train(
    graphss_ctx *ctx, graphss_model *model, const graphss_observation *snapshot, uint64_t seed)
{
    if (GRAPHSS_I_LACKS(ctx, {"model", model}, {"snapshot", snapshot}))
        return GRAPHSS_ERR_INVALID;
    const graphss_defence_input in = {
        .struct_size = sizeof in, .current = *snapshot, .model = model, .seed = seed};
    const graphss_status st = graphss_i_check_input(ctx, &in);
    return st ? st : graphss_i_states_train(ctx, model, &in);
}
