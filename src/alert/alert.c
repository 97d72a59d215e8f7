/* alert.c - a verdict and its details: share, type of attack, suspicious nodes, reasons. The
 * share of attacked nodes is estimated from p-values: among clean nodes a share t has a
 * p-value of at most t, for any score; the excess over that was attacked. */
#include "alert/alert_private.h"
#include "detect/tuning.h"
#include "observation/part_scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SHARE_LEAST = 0.01;

/* A suspect, to be sorted. */
typedef struct ranked {
    double perturbed, score;
    int32_t node;
} ranked;

static int more_suspect_first(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->perturbed != y->perturbed)
        return x->perturbed < y->perturbed ? 1 : -1;
    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return x->node - y->node;
}

static double prior_of(double share)
{
    return fmin(fmax(share, SHARE_LEAST), 1 - SHARE_LEAST);
}

/* prior [k]: share of attacked nodes among the new ones with that predicted class, or `share`
 * if they are few. The class with the most is the wave of *r. list [n] is scratch. */
static void find_wave(graphss_alert_result *r, double *prior, int32_t *list,
    const graphss_alert_scores *s, double share)
{
    double most = 0;
    r->wave_class = -1;
    for (size_t c = 0; c < s->n_classes; c++) {
        size_t n = 0;
        for (size_t i = 0; i < r->n_group; i++) {
            const int32_t v = r->group[i];
            if (s->stratum[v] == GRAPHSS_ALERT_NO_PAST && s->predicted[v] == (int32_t)c)
                list[n++] = v;
        }
        prior[c] = prior_of(share);
        if (!s->past || n < TUNE_NEEDED)
            continue;
        const double hit = graphss_i_excess(s->p_value, list, n, 1, 1);
        prior[c] = prior_of(hit);
        if (hit * (double)n > most && hit > TUNE_WAVE) {
            most = hit * (double)n;
            r->wave_class = (int32_t)c;
            r->wave_nodes = n;
        }
    }
}

/* chance = prior r / (prior r + 1 - prior), r: the odds of the score; none without change */
static graphss_status estimate_chances(
    graphss_ctx *ctx, graphss_alert_result *r, const graphss_alert_scores *s, double share)
{
    double *prior = graphss_i_alloc(ctx, s->n_classes, sizeof *prior);
    int32_t *list = graphss_i_alloc(ctx, r->n_group, sizeof *list);
    const graphss_status st = prior && list ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    if (!st)
        find_wave(r, prior, list, s, share);
    for (size_t v = 0; v < r->n_nodes && !st; v++) {
        const double odds = exp(fmin(TUNE_ODDS_MOST, fmax(-TUNE_ODDS_MOST, s->score[v])));
        const double p =
            s->stratum[v] == GRAPHSS_ALERT_NO_PAST ? prior[s->predicted[v]] : prior_of(share);
        r->perturbed[v] =
            s->stratum[v] == GRAPHSS_ALERT_UNCHANGED ? 0 : p * odds / (p * odds + 1 - p);
    }
    graphss_release(ctx, list);
    graphss_release(ctx, prior);
    return st;
}

/* Suspects are listed while few of the list are expected to be innocent: the mean of 1 -
 * perturbed over the list is at most TUNE_LISTED_INNOCENT. */
static graphss_status list_suspects(graphss_ctx *ctx, graphss_alert_result *r)
{
    const size_t n = r->n_group;
    ranked *list = graphss_i_alloc(ctx, n, sizeof *list);
    r->flagged = graphss_i_alloc(ctx, n, sizeof *r->flagged);
    if (!list || !r->flagged) {
        graphss_release(ctx, list);
        return GRAPHSS_ERR_NOMEM;
    }
    for (size_t i = 0; i < n; i++)
        list[i] = (ranked){r->perturbed[r->group[i]], r->node_score[r->group[i]], r->group[i]};
    qsort(list, n, sizeof *list, more_suspect_first);
    double innocent = 0;
    for (size_t i = 0; i < n && r->alert; i++) {
        innocent += 1 - list[i].perturbed;
        if (innocent > TUNE_LISTED_INNOCENT * (double)(i + 1) && i > 0)
            break;
        r->flagged[r->n_flagged++] = list[i].node;
    }
    graphss_release(ctx, list);
    return GRAPHSS_OK;
}

/* The type of tampering that is most likely for most of the flagged nodes. */
static graphss_perturbation name_attack(const graphss_alert_result *r, const uint8_t *what)
{
    static const graphss_perturbation kind[GRAPHSS_I_STATES] = {GRAPHSS_PERTURBATION_NONE,
        GRAPHSS_PERTURBATION_EDGES, GRAPHSS_PERTURBATION_FEATURES, GRAPHSS_PERTURBATION_BOTH};
    double sum[GRAPHSS_I_STATES] = {0};
    size_t best = 1;
    for (size_t i = 0; i < r->n_flagged; i++)
        sum[what[r->flagged[i]]] += r->perturbed[r->flagged[i]];
    for (size_t s = 2; s < GRAPHSS_I_STATES; s++)
        best = sum[s] > sum[best] ? s : best;
    return r->alert ? kind[best] : GRAPHSS_PERTURBATION_NONE;
}

/* ---- reasons ---- */

static void clearest(
    int32_t *class_id, double *p, const float *evidence, size_t source, size_t k)
{
    size_t best = 0;
    for (size_t c = 1; c < k; c++)
        if (evidence[c * GRAPHSS_I_ROW + source] > evidence[best * GRAPHSS_I_ROW + source])
            best = c;
    *class_id = (int32_t)best;
    *p = exp((double)evidence[best * GRAPHSS_I_ROW + source]);
}

/* Suspects that are an own node, by their place in the list. */
typedef struct stretch {
    size_t *place;
    int32_t *own, *was; /* own numbers, and those of the past */
    size_t n;
} stretch;

static void reason_of(graphss_alert_reason *why, const graphss_i_alert_context *x,
    const float *row, int32_t own, int32_t was)
{
    const graphss_observation *o = &x->in->current, *p = x->in->previous;
    why->before = -1;
    clearest(&why->now, &why->p_now, row, SOURCE_NOW, x->k);
    clearest(&why->features, &why->p_features, row, SOURCE_FEATURES, x->k);
    clearest(&why->edges, &why->p_edges, row, SOURCE_EDGES, x->k);
    if (was < 0)
        return;
    const graphss_i_change_counts c = graphss_i_change_count(
        o->graph, o->features, (size_t)own, p->graph, p->features, (size_t)was, x->before);
    why->edges_added = c.edges_added;
    why->edges_removed = c.edges_removed;
    why->features_added = c.features_added;
    why->features_removed = c.features_removed;
}

/* Reasons for a range of flagged nodes; row: scratch. past: at least one of them has a past.
 */
static graphss_status reasons_of(graphss_ctx *ctx, graphss_alert_result *r,
    const graphss_i_alert_context *x, stretch *s, float *row)
{
    const size_t wide = x->k * GRAPHSS_I_ROW;
    size_t m = 0;
    graphss_status st = graphss_i_evidence_of(ctx, row, NULL, &x->now.base, s->own, s->n);
    for (size_t i = 0; i < s->n && !st; i++) {
        const int32_t was = x->before ? x->before[s->own[i]] : -1;
        reason_of(&r->reason[s->place[i]], x, row + i * wide, s->own[i], was);
        if (was >= 0) {
            s->place[m] = s->place[i];
            s->was[m++] = was;
        }
    }
    size_t most = m;
    if (!st)
        st = graphss_i_ranks_most(ctx, &most);
    if (!st && most)
        st = graphss_i_evidence_of(ctx, row, NULL, &x->past.base, s->was, m);
    for (size_t i = 0; i < m && !st; i++) {
        graphss_alert_reason *why = &r->reason[s->place[i]];
        clearest(&why->before, &why->p_before, row + i * wide, SOURCE_NOW, x->k);
    }
    s->n = 0;
    return st;
}

/* Reasons that other ranks found: of each one rank has it, and the others zeros. */
static graphss_status share_reasons(graphss_ctx *ctx, graphss_alert_result *r)
{
    graphss_i_pieces all = {0};
    const size_t size = sizeof *r->reason;
    graphss_status st = graphss_i_ranks_pieces(ctx, &all, r->reason, r->n_flagged * size);
    for (size_t k = 0; k < graphss_i_ranks(ctx) && !st; k++) {
        const graphss_alert_reason *own = (const void *)(all.block + k * all.most);
        for (size_t i = 0; i < r->n_flagged; i++)
            if (own[i].p_now > 0)
                r->reason[i] = own[i];
    }
    graphss_i_pieces_destroy(ctx, &all);
    return st;
}

static graphss_status give_reasons(
    graphss_ctx *ctx, graphss_alert_result *r, const graphss_i_alert_context *x)
{
    enum { STRETCH = 1024 };
    float *row = graphss_i_alloc(ctx, STRETCH, x->k * GRAPHSS_I_ROW * sizeof *row);
    stretch s = {.place = graphss_i_alloc(ctx, STRETCH, sizeof *s.place),
        .own = graphss_i_alloc(ctx, STRETCH, sizeof *s.own),
        .was = graphss_i_alloc(ctx, STRETCH, sizeof *s.was)};
    r->reason = graphss_i_calloc(ctx, r->n_flagged, sizeof *r->reason);
    graphss_status st =
        row && s.place && s.own && s.was && r->reason ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t at = 0; at < r->n_flagged && !st; at += STRETCH) {
        for (size_t i = at; i < r->n_flagged && i < at + STRETCH; i++) {
            s.place[s.n] = i;
            s.own[s.n] = graphss_i_alert_own(x, r->flagged[i]);
            s.n += s.own[s.n] >= 0;
        }
        st = reasons_of(ctx, r, x, &s, row);
    }
    if (!st && x->part)
        st = share_reasons(ctx, r);
    graphss_release(ctx, row);
    graphss_release(ctx, s.place);
    graphss_release(ctx, s.own);
    graphss_release(ctx, s.was);
    return st;
}

/* ---- a run ---- */

/* With a past, a node without one is a new node. */
static graphss_alert_changes count_changes(const graphss_i_alert_context *x)
{
    graphss_alert_changes c = {0};
    for (size_t v = 0; v < x->n && x->before; v++) {
        const graphss_alert_stratum s = (graphss_alert_stratum)x->scores.stratum[v];
        const bool known = s != GRAPHSS_ALERT_NO_PAST;
        c.nodes_known += known;
        c.nodes_new += !known;
        c.edges_changed +=
            s == GRAPHSS_ALERT_ONE_EDGE || s == GRAPHSS_ALERT_EDGES || s == GRAPHSS_ALERT_BOTH;
        c.features_changed += s == GRAPHSS_ALERT_FEATURES || s == GRAPHSS_ALERT_BOTH;
    }
    c.nodes_gone = x->before ? x->n_past - c.nodes_known : 0;
    return c;
}

/* The nodes that are judged: of those given, or of all, the ones with a stratum of change. */
static graphss_status list_group(graphss_ctx *ctx, graphss_alert_result *r,
    const graphss_alert_scores *s, const int32_t *node, size_t n)
{
    size_t m = 0;
    r->group = graphss_i_alloc(ctx, node ? n : s->n_nodes, sizeof *r->group);
    if (!r->group)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < (node ? n : s->n_nodes); i++) {
        const int32_t v = node ? node[i] : (int32_t)i;
        if (s->stratum[v] != GRAPHSS_ALERT_UNCHANGED &&
            (s->past || s->labelled[v] != GRAPHSS_I_TRAINS))
            r->group[m++] = v;
    }
    r->n_group = m;
    return GRAPHSS_OK;
}

static graphss_status explain(
    graphss_ctx *ctx, graphss_alert_result *r, const graphss_i_alert_context *x, size_t n)
{
    const graphss_alert_scores *s = &x->scores;
    const double share = graphss_i_excess(s->p_value, r->group, r->n_group, 1, 1);
    r->share = n ? share * (double)r->n_group / (double)n : 0;
    r->node_score = graphss_i_copy(ctx, s->score, r->n_nodes, sizeof *s->score);
    r->node_p_value = graphss_i_copy(ctx, s->p_value, r->n_nodes, sizeof *s->p_value);
    r->perturbed = graphss_i_alloc(ctx, r->n_nodes, sizeof *r->perturbed);
    if (!r->node_score || !r->node_p_value || !r->perturbed)
        return GRAPHSS_ERR_NOMEM;
    graphss_status st = estimate_chances(ctx, r, s, share);
    if (!r->alert)
        r->wave_class = -1;
    if (!st)
        st = list_suspects(ctx, r);
    if (!st)
        st = give_reasons(ctx, r, x);
    if (!st)
        r->kind = name_attack(r, x->what);
    return st;
}

/* in: checked. scene: NULL alone. */
static graphss_status run(graphss_ctx *ctx, graphss_alert_result *out,
    const graphss_defence_input *in, const graphss_i_scene *scene, const int32_t *node,
    size_t n, const graphss_alert_options *opt)
{
    const double start = graphss_i_seconds();
    graphss_i_alert_context x = {.scene = scene};
    graphss_alert_verdict v = {0};
    graphss_alert_result r = {0};
    graphss_status st = graphss_i_alert_open(ctx, &x, in, opt);
    if (!st)
        st = graphss_alert_test_group(ctx, &v, &x.scores, node, n, in->seed, opt);
    if (!st)
        st = graphss_i_progress(ctx, "judge", 1, 1, NULL);
    r = (graphss_alert_result){.alert = v.alert,
        .p_value = v.p_value,
        .score = v.score,
        .threshold = v.threshold,
        .kind = GRAPHSS_PERTURBATION_NONE,
        .contaminated = x.scores.contaminated,
        .n_calibration = v.n_calibration,
        .n_nodes = x.n,
        .wave_class = -1};
    if (!st) {
        r.changes = count_changes(&x);
        st = list_group(ctx, &r, &x.scores, node, n);
    }
    if (!st)
        st = explain(ctx, &r, &x, node ? n : x.n);
    graphss_i_alert_close(ctx, &x);
    if (st) {
        graphss_alert_result_destroy(ctx, &r);
        return st;
    }
    r.seconds = graphss_i_seconds() - start;
    *out = r;
    return GRAPHSS_OK;
}

graphss_status graphss_alert_run(graphss_ctx *ctx, graphss_alert_result *out,
    const graphss_defence_input *in, const int32_t *node, size_t n,
    const graphss_alert_options *given)
{
    if (GRAPHSS_I_LACKS(ctx, {"input", in}, {"place for the alert", out}))
        return GRAPHSS_ERR_INVALID;
    graphss_alert_options opt;
    graphss_status st = graphss_i_alert_options_take(ctx, &opt, given);
    if (!st)
        st = graphss_i_check_input(ctx, in);
    if (!st && in->previous)
        graphss_i_warn_of_strangers(ctx, &in->current, in->previous);
    return st ? st : run(ctx, out, in, NULL, node, n, &opt);
}

graphss_status graphss_part_alert(graphss_ctx *ctx, graphss_alert_result *out,
    const graphss_part_input *in, const int32_t *node, size_t n,
    const graphss_alert_options *given)
{
    if (GRAPHSS_I_LACKS(ctx, {"input", in}, {"place for the alert", out}))
        return GRAPHSS_ERR_INVALID;
    graphss_alert_options opt;
    graphss_i_scene scene = {0};
    graphss_alert_result made = {0};
    graphss_status st = graphss_i_alert_options_take(ctx, &opt, given);
    if (!st)
        st = graphss_i_scene_open(ctx, &scene, in);
    if (!st)
        st = run(ctx, &made, &scene.in, &scene, node, n, &opt);
    graphss_i_scene_close(ctx, &scene);
    st = graphss_engine_agree(ctx, st, NULL);
    if (st)
        graphss_alert_result_destroy(ctx, &made);
    else
        *out = made;
    return st;
}

void graphss_alert_result_destroy(graphss_ctx *ctx, graphss_alert_result *alert)
{
    if (!alert)
        return;
    void *const block[] = {alert->group, alert->node_score, alert->node_p_value,
        alert->perturbed, alert->flagged, alert->reason};
    for (size_t i = 0; i < sizeof block / sizeof *block; i++)
        graphss_release(ctx, block[i]);
    *alert = (graphss_alert_result){0};
}
