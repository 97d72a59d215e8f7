/* alert_snapshot.c - scores from the method graphss, p-values from selfsup/alert.c. */
#include "defence/defence.h"
#include <graphss/alert.h>
#include <stdlib.h>
#include <string.h>

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

/* in_group [n_nodes]; *n_group counts them. Without a list: all nodes without a label. */
static graphss_status choose_group(graphss_ctx *ctx, uint8_t *in_group, size_t *n_group,
                                   const graphss_recover_input *in, const int32_t *node,
                                   size_t n)
{
    const size_t n_nodes = in->current.graph->n_nodes;
    const graphss_split *split = in->split ? in->split : graphss_model_split(in->model);
    *n_group = 0;
    for (size_t i = 0; node && i < n; i++) {
        if (node[i] < 0 || (size_t)node[i] >= n_nodes)
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                                  "the group has node %d, the snapshot has 0..%zu",
                                  (int)node[i], n_nodes - 1);
        if (in_group[node[i]]++)
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "node %d is twice in the group",
                                  (int)node[i]);
    }
    if (!node) {
        memset(in_group, 1, n_nodes);
        for (size_t i = 0; i < split->n_train; i++)
            in_group[split->train[i]] = 0;
        for (size_t i = 0; i < split->n_val; i++)
            in_group[split->val[i]] = 0;
    }
    for (size_t i = 0; i < n_nodes; i++)
        *n_group += in_group[i];
    if (*n_group == 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "the group to judge has no nodes");
    return GRAPHSS_OK;
}

/* Scores of the group and of the calibration nodes that are not in it. */
static graphss_status judge(graphss_ctx *ctx, graphss_alert *r, const graphss_i_report *report,
                            const uint8_t *in_group, uint64_t seed,
                            const graphss_alert_options *opt)
{
    double *score = graphss_i_alloc(ctx, r->n_group, sizeof *score);
    double *calm = graphss_i_alloc(ctx, report->n_calibration + 1, sizeof *calm);
    ranked *list = graphss_i_alloc(ctx, r->n_group, sizeof *list);
    r->flagged = graphss_i_alloc(ctx, r->n_group, sizeof *r->flagged);
    r->calibration = graphss_i_alloc(ctx, report->n_calibration + 1, sizeof *r->calibration);
    graphss_status st =
        score && calm && list && r->flagged && r->calibration ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    if (st)
        goto done;
    size_t n = 0, n_calm = 0;
    for (size_t i = 0; i < r->n_nodes; i++)
        if (in_group[i]) {
            score[n] = r->node_score[i];
            r->score += score[n] / (double)r->n_group;
            list[n++] = (ranked){r->perturbed[i], r->node_score[i], (int32_t)i};
        }
    for (size_t i = 0; i < report->n_calibration; i++)
        if (!in_group[report->calibration[i]]) {
            r->calibration[n_calm] = report->calibration[i];
            calm[n_calm++] = r->node_score[report->calibration[i]];
        }
    r->n_calibration = n_calm;
    st =
        graphss_alert_test(ctx, &r->p_value, &r->threshold, score, n, calm, n_calm, seed, opt);
    if (st)
        goto done;
    r->alert = r->p_value <= opt->false_alarm_rate;
    for (size_t i = 0; i < r->n_nodes; i++)
        r->node_p_value[i] = graphss_alert_rank(r->node_score[i], calm, n_calm);
    qsort(list, n, sizeof *list, more_suspect_first);
    while (r->n_flagged < n && list[r->n_flagged].perturbed > 0.5) {
        r->flagged[r->n_flagged] = list[r->n_flagged].node;
        r->n_flagged++;
    }
done:
    graphss_release(ctx, list);
    graphss_release(ctx, calm);
    graphss_release(ctx, score);
    return st;
}

graphss_status graphss_alert_run(graphss_ctx *ctx, graphss_alert *out,
                                 const graphss_recover_input *in, const int32_t *node,
                                 size_t n, const graphss_alert_options *given)
{
    const double start = graphss_i_seconds();
    const graphss_alert_options opt = given ? *given : graphss_alert_options_default();
    const graphss_recover_options method =
        graphss_recover_options_default("graphss", GRAPHSS_MODE_HONEST, in->model);
    graphss_recovery recovery = {0};
    graphss_i_report report = {.hold_out = true};
    graphss_alert r = {0};
    uint8_t *in_group = NULL;
    graphss_status st = graphss_options_check(ctx, &opt, graphss_alert_options_table());
    if (!st)
        st = graphss_i_recover(ctx, &recovery, in, &method, &report);
    if (st)
        goto done;
    r.n_nodes = recovery.predictions.n_nodes;
    r.kind = recovery.kind;
    r.share = recovery.share;
    r.node_score = report.score;
    r.perturbed = recovery.predictions.perturbed;
    report.score = NULL;
    recovery.predictions.perturbed = NULL;
    in_group = graphss_i_calloc(ctx, r.n_nodes, sizeof *in_group);
    r.node_p_value = graphss_i_alloc(ctx, r.n_nodes, sizeof *r.node_p_value);
    st = in_group && r.node_p_value ? choose_group(ctx, in_group, &r.n_group, in, node, n)
                                    : GRAPHSS_ERR_NOMEM;
    if (!st)
        st = judge(ctx, &r, &report, in_group, in->seed, &opt);
done:
    graphss_release(ctx, in_group);
    graphss_i_report_destroy(ctx, &report);
    graphss_recovery_destroy(ctx, &recovery);
    if (st) {
        graphss_alert_destroy(ctx, &r);
        return st;
    }
    r.seconds = graphss_i_seconds() - start;
    *out = r;
    return GRAPHSS_OK;
}
