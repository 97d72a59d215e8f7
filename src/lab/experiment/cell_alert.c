/* cell_alert.c - does an alert separate groups of attacked nodes from others?
 *
 * Honest mode: graphss_alert_score and _judge. The paper has no formula for its alert; in
 * paper mode a group scores the mean of 1 - P(Y_a) over its nodes, P the posterior of the
 * paper's method without retraining, Y_a the classifier's labels before the attack. */
#include "lab/experiment/cell.h"
#include "lab/experiment/records.h"
#include <math.h>
#include <string.h>

/* Results for groups and nodes. The context owns the arrays. */
typedef struct verdicts {
    double *node_score; /* [nodes] */
    double *score;      /* [groups] */
    double *p_value;    /* [groups] NaN: the mode has none */
    double *point;      /* room for two lists of corners, of nodes or groups */
    graphss_i_scored *group, *node;
    size_t n_groups, n_nodes; /* judged */
} verdicts;

static graphss_status score_default(graphss_ctx *ctx, verdicts *v,
    const graphss_i_job_state *s, const graphss_defence_input *in,
    const graphss_alert_options *opt)
{
    const graphss_snapshots *made = &s->trial.snapshots;
    graphss_alert_scores scores = {0};
    graphss_status st = graphss_alert_score(ctx, &scores, in, opt);
    for (size_t g = 0; g < v->n_groups && !st; g++) {
        const int64_t from = made->group_start[g];
        graphss_alert_verdict verdict = {0};
        st = graphss_alert_test_group(ctx, &verdict, &scores, made->group_node + from,
            (size_t)(made->group_start[g + 1] - from), in->seed + g, opt);
        v->score[g] = verdict.score;
        v->p_value[g] = verdict.p_value;
    }
    if (!st)
        memcpy(v->node_score, scores.score, scores.n_nodes * sizeof *v->node_score);
    graphss_alert_scores_destroy(ctx, &scores);
    return st;
}

static graphss_status score_paper(graphss_ctx *ctx, verdicts *v, const graphss_i_job_state *s,
    const graphss_defence_input *in)
{
    const graphss_snapshots *made = &s->trial.snapshots;
    const size_t n = made->current.graph.n_nodes, k = made->current.n_classes;
    graphss_recover_options opt;
    graphss_recover_options_init(
        &opt, graphss_recover_method_find("graphss"), GRAPHSS_MODE_PAPER, in->model);
    opt.paper.retrain_epochs = 0;
    graphss_recover_result r = {0};
    const graphss_status st = graphss_recover_run(ctx, &r, in, &opt);
    if (st)
        return st;
    for (size_t i = 0; i < n; i++)
        v->node_score[i] = 1 - r.predictions.posterior[i * k + (size_t)s->trial.before[i]];
    for (size_t g = 0; g < v->n_groups; g++) {
        double sum = 0;
        for (int64_t i = made->group_start[g]; i < made->group_start[g + 1]; i++)
            sum += v->node_score[made->group_node[i]];
        v->score[g] = sum / (double)(made->group_start[g + 1] - made->group_start[g]);
        v->p_value[g] = NAN;
    }
    graphss_recover_result_destroy(ctx, &r);
    return GRAPHSS_OK;
}

/* Keeps at most this many corners, with the first and the last. */
enum { MOST_POINTS = 200 };

static int set_roc(json_t *record, const char *key, double *x, double *y,
    const graphss_i_scored *item, size_t n)
{
    size_t points = graphss_i_roc(x, y, item, n);
    if (points == 0)
        return 0;
    if (points > MOST_POINTS) {
        for (size_t i = 0; i < MOST_POINTS; i++) {
            const size_t from = i * (points - 1) / (MOST_POINTS - 1);
            x[i] = x[from];
            y[i] = y[from];
        }
        points = MOST_POINTS;
    }
    return graphss_i_set_curve(record, key, graphss_i_json_numbers(x, points),
        graphss_i_json_numbers(y, points), "false alarms", "detections");
}

static int set_groups(
    json_t *record, json_t *m, const verdicts *v, const uint8_t *attacked, double rate)
{
    json_t *groups = json_object(), *hit = json_array();
    double alarms[2] = {0, 0}, count[2] = {0, 0};
    int bad = 0;
    for (size_t g = 0; g < v->n_groups; g++) {
        bad |= json_array_append_new(hit, json_integer(attacked[g]));
        alarms[attacked[g] != 0] += v->p_value[g] <= rate;
        count[attacked[g] != 0]++;
    }
    bad |= json_object_set_new(groups, "score", graphss_i_json_numbers(v->score, v->n_groups));
    if (!isnan(v->p_value[0])) {
        bad |= json_object_set_new(
            groups, "p_value", graphss_i_json_numbers(v->p_value, v->n_groups));
        bad |= graphss_i_set_real(m, "false_alarms", alarms[0] / count[0]);
        bad |= graphss_i_set_real(m, "detections", alarms[1] / count[1]);
    }
    bad |= json_object_set_new(groups, "attacked", hit);
    return bad | json_object_set_new(record, "groups", groups);
}

static graphss_status take_room(graphss_ctx *ctx, verdicts *v, const graphss_snapshots *made)
{
    const size_t n = made->current.graph.n_nodes;
    v->n_groups = made->n_groups;
    v->n_nodes = made->split.n_test;
    const size_t most = v->n_nodes > v->n_groups ? v->n_nodes : v->n_groups;
    v->node_score = graphss_i_alloc(ctx, n, sizeof *v->node_score);
    v->score = graphss_i_alloc(ctx, v->n_groups, sizeof *v->score);
    v->p_value = graphss_i_alloc(ctx, v->n_groups, sizeof *v->p_value);
    v->point = graphss_i_alloc(ctx, 2 * (most + 1), sizeof *v->point);
    v->group = graphss_i_alloc(ctx, v->n_groups, sizeof *v->group);
    return v->node_score && v->score && v->p_value && v->point && v->group ? GRAPHSS_OK
                                                                           : GRAPHSS_ERR_NOMEM;
}

graphss_status graphss_i_cell_alert(graphss_ctx *ctx, json_t *record,
    const graphss_i_job_state *s, const graphss_i_job *job, const graphss_i_cell *cell)
{
    (void)cell;
    const graphss_snapshots *made = &s->trial.snapshots;
    const size_t n = made->current.graph.n_nodes;
    verdicts v = {0};
    graphss_observation previous;
    const graphss_defence_input in = graphss_i_protocol_input(
        &s->trial, job->setting != GRAPHSS_SETTING_NEW ? &previous : NULL);
    graphss_i_job_options opt;
    graphss_status st = graphss_i_job_options_fill(ctx, &opt, job);
    if (!st)
        st = take_room(ctx, &v, made);
    const double began = graphss_i_seconds();
    if (!st)
        st = job->mode == GRAPHSS_MODE_PAPER ? score_paper(ctx, &v, s, &in)
                                             : score_default(ctx, &v, s, &in, &opt.alert);
    const double seconds = graphss_i_seconds() - began;
    if (!st && !(v.node = graphss_i_score_nodes(ctx, v.node_score, s)))
        st = GRAPHSS_ERR_NOMEM;
    if (st)
        goto done;
    for (size_t g = 0; g < v.n_groups; g++)
        v.group[g] = (graphss_i_scored){v.score[g], made->attacked[g]};
    graphss_i_scored_sort(v.group, v.n_groups);

    json_t *m = json_object();
    double *x = v.point, *y = v.point + (v.n_nodes > v.n_groups ? v.n_nodes : v.n_groups) + 1;
    int bad = graphss_i_set_trial(m, s, true);
    bad |= graphss_i_set_real(m, "auc", graphss_i_auc(v.group, v.n_groups));
    bad |= graphss_i_set_real(m, "node_auc", graphss_i_auc(v.node, v.n_nodes));
    bad |= graphss_i_set_real(m, "seconds", seconds);
    bad |= graphss_i_set_real(m, "seconds_per_100", 100 * seconds / (double)n);
    bad |= set_groups(record, m, &v, made->attacked, opt.alert.false_alarm_rate);
    bad |= set_roc(record, "curve", x, y, v.group, v.n_groups);
    bad |= set_roc(record, "node_curve", x, y, v.node, v.n_nodes);
    if (!strcmp(job->what, "calibration") && job->mode == GRAPHSS_MODE_DEFAULT)
        bad |= json_object_set_new(
            record, "p_values", graphss_i_json_numbers(v.p_value, v.n_groups));
    bad |= json_object_set_new(record, "metrics", m);
    st = bad ? graphss_i_nomem(ctx, 0) : GRAPHSS_OK;
done:
    graphss_release(ctx, v.node);
    graphss_release(ctx, v.group);
    graphss_release(ctx, v.point);
    graphss_release(ctx, v.p_value);
    graphss_release(ctx, v.score);
    graphss_release(ctx, v.node_score);
    return st;
}
