/* alert.c - a look, a verdict, and what is behind it.
 *
 * The share of nodes hit is what p-values tell: of clean nodes a share t has a p-value of at
 * most t, whatever the score is; what is more than that was hit. */
#include "alert/alert_check.h"
#include "alert/detector.h"
#include <graphss/recover.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SHARE_LEAST = 0.01, RATIO_MOST = 8;

/* Suspicion beside the node, to be sorted. */
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

/* max over t of (F(t) - t - its standard deviation) / (1 - t), F: p-values of the nodes */
static double estimate_share(const double *p_value, const int32_t *node, size_t n,
                             size_t n_calm)
{
    static const double at[] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.3};
    double share = 0;
    for (size_t a = 0; a < sizeof at / sizeof *at; a++) {
        const double t = at[a];
        size_t below = 0;
        for (size_t i = 0; i < n; i++)
            below += p_value[node[i]] <= t;
        const double spread = sqrt(t * (1 - t) * (1 / (double)n + 1 / (double)n_calm));
        share = fmax(share, ((double)below / (double)n - t - spread) / (1 - t));
    }
    return fmin(share, 1);
}

/* chance = share r / (share r + 1 - share), r: the ratio the odds tell */
static void estimate_chances(double *perturbed, const double *odds, size_t n, double share)
{
    const double prior = fmin(fmax(share, SHARE_LEAST), 1 - SHARE_LEAST);
    for (size_t i = 0; i < n; i++) {
        const double r = exp(fmin(RATIO_MOST, fmax(-RATIO_MOST, odds[i])));
        perturbed[i] = prior * r / (prior * r + 1 - prior);
    }
}

/* The nodes behind an alert; without one there are none: of any snapshot some nodes look odd.
 */
static graphss_status flag(graphss_ctx *ctx, graphss_alert *r, double rate)
{
    const size_t n = r->n_group;
    const int32_t *node = r->group;
    ranked *list = graphss_i_alloc(ctx, n, sizeof *list);
    if (!r->flagged)
        r->flagged = graphss_i_alloc(ctx, n, sizeof *r->flagged);
    const bool good = list && r->flagged;
    if (good) {
        r->n_flagged = 0;
        for (size_t i = 0; i < n; i++)
            list[i] = (ranked){r->perturbed[node[i]], r->node_score[node[i]], node[i]};
        qsort(list, n, sizeof *list, more_suspect_first);
        while (r->alert && r->n_flagged < n && list[r->n_flagged].perturbed > 0.5) {
            r->flagged[r->n_flagged] = list[r->n_flagged].node;
            r->n_flagged++;
        }
        for (size_t i = 0; i < n && r->alert && list[0].perturbed <= 0.5; i++)
            if (r->node_p_value[list[i].node] <= rate)
                r->flagged[r->n_flagged++] = list[i].node;
    }
    graphss_release(ctx, list);
    return good ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

/* The clean nodes of all kinds that the group has, but for those in it: those that
 * graphss_alert_judge takes. */
static graphss_status list_calibration(graphss_ctx *ctx, graphss_alert *r,
                                       const graphss_alert_scores *seen, const int32_t *node,
                                       size_t n, bool open)
{
    uint8_t *in_group = graphss_i_calloc(ctx, seen->n_nodes, sizeof *in_group);
    size_t *has = graphss_i_calloc(ctx, seen->n_kinds, sizeof *has);
    size_t *others = graphss_i_calloc(ctx, seen->n_kinds, sizeof *others);
    const size_t room = (size_t)seen->start[seen->n_kinds] + seen->n_free + 1;
    r->calibration = graphss_i_alloc(ctx, room, sizeof *r->calibration);
    const bool good = in_group && has && others && r->calibration;
    size_t listed = 0;
    for (size_t i = 0; i < n && good; i++) {
        in_group[node[i]] = 1;
        has[seen->kind[node[i]]]++;
    }
    for (size_t i = 0; i < seen->n_free && good; i++) {
        const int32_t u = seen->free_node[i];
        const size_t k = (size_t)seen->kind[u];
        if (has[k] && !in_group[u] && graphss_i_alert_joined(seen, k, open)) {
            r->calibration[listed++] = u;
            others[k]++;
        }
    }
    for (size_t k = 0; k < seen->n_kinds && good; k++) {
        const bool replaced = graphss_i_alert_replaced(seen, k, others[k]);
        for (int64_t i = seen->start[k]; i < seen->start[k + 1] && has[k] && !replaced; i++)
            if (!in_group[seen->calm_node[i]])
                r->calibration[listed++] = seen->calm_node[i];
    }
    r->n_calibration = listed;
    graphss_release(ctx, others);
    graphss_release(ctx, has);
    graphss_release(ctx, in_group);
    return good ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

static graphss_alert_changes count_changes(const graphss_i_look *look)
{
    graphss_alert_changes c = {0};
    for (size_t i = 0; i < look->n && look->before; i++) {
        const bool known = look->before[i] >= 0;
        c.nodes_known += known;
        c.nodes_new += !known;
        c.edges_changed += known && look->change[i].links > 0;
        c.features_changed += known && look->change[i].words > 0;
    }
    c.nodes_gone = look->before ? look->in->previous->graph->n_nodes - c.nodes_known : 0;
    return c;
}

static graphss_status explain(graphss_ctx *ctx, graphss_alert *r, const graphss_i_look *look,
                              const int32_t *node, size_t n, const graphss_alert_options *opt)
{
    graphss_status st = GRAPHSS_OK;
    size_t kind;
    r->share = estimate_share(r->node_p_value, node, n, look->n_calm);
    r->kind = "none";
    estimate_chances(r->perturbed, look->odds, r->n_nodes, r->share);
    if (r->alert) {
        st = graphss_i_look_name(ctx, &kind, look, node, n);
        if (!st)
            st = graphss_i_progress(ctx, "name", 1, 1, NULL);
        if (!st)
            r->kind = graphss_i_rehearsed_name(kind);
    }
    return st ? st : flag(ctx, r, opt->false_alarm_rate);
}

graphss_status graphss_alert_run(graphss_ctx *ctx, graphss_alert *out,
                                 const graphss_recover_input *in, const int32_t *node,
                                 size_t n, const graphss_alert_options *given)
{
    if (GRAPHSS_I_LACKS(ctx, {"input", in}, {"place for the alert", out}))
        return GRAPHSS_ERR_INVALID;
    const double start = graphss_i_seconds();
    graphss_alert_options opt;
    graphss_i_look look = {0};
    graphss_alert_scores seen = {0};
    graphss_verdict v;
    graphss_alert r = {0};
    graphss_status st = graphss_i_alert_options_take(ctx, &opt, given);
    if (!st)
        st = graphss_i_check_input(ctx, in);
    if (!st && in->previous)
        graphss_i_warn_of_strangers(ctx, &in->current, in->previous);
    if (!st)
        st = graphss_i_look_at(ctx, &look, in);
    if (!st)
        st = graphss_i_look_scores(ctx, &seen, &look, &opt);
    if (!st)
        st = graphss_alert_judge(ctx, &v, &seen, node, n, in->seed, &opt);
    if (!st)
        st = graphss_i_progress(ctx, "judge", 1, 1, NULL);
    if (st)
        goto done;
    if (!node) {
        node = seen.free_node;
        n = seen.n_free;
    }
    r = (graphss_alert){.alert = v.alert,
                        .p_value = v.p_value,
                        .score = v.score,
                        .threshold = v.threshold,
                        .n_group = v.n_group,
                        .n_nodes = seen.n_nodes,
                        .changes = count_changes(&look),
                        .node_score = seen.score,
                        .node_p_value = seen.p_value};
    seen.score = seen.p_value = NULL;
    r.perturbed = graphss_i_alloc(ctx, r.n_nodes, sizeof *r.perturbed);
    r.group = graphss_i_copy(ctx, node, n, sizeof *node);
    st = r.perturbed && r.group
             ? list_calibration(ctx, &r, &seen, node, n, !opt.validation_only)
             : GRAPHSS_ERR_NOMEM;
    if (!st)
        st = explain(ctx, &r, &look, node, n, &opt);
done:
    graphss_alert_scores_destroy(ctx, &seen);
    graphss_i_look_destroy(ctx, &look);
    if (st) {
        graphss_alert_destroy(ctx, &r);
        return st;
    }
    r.seconds = graphss_i_seconds() - start;
    *out = r;
    return GRAPHSS_OK;
}

graphss_status graphss_alert_revise(graphss_ctx *ctx, graphss_alert *alert,
                                    const double *perturbed, double share, const char *kind,
                                    const graphss_alert_options *given)
{
    if (GRAPHSS_I_LACKS(ctx, {"alert", alert}, {"chances", perturbed}))
        return GRAPHSS_ERR_INVALID;
    graphss_alert_options opt;
    const graphss_status st = graphss_i_alert_options_take(ctx, &opt, given);
    if (st)
        return st;
    memcpy(alert->perturbed, perturbed, alert->n_nodes * sizeof *perturbed);
    alert->share = share;
    alert->kind = kind;
    return flag(ctx, alert, opt.false_alarm_rate);
}
