/* alert_scores.c - what every node of a snapshot shows by itself. */
#include "defence/defence.h"
#include <graphss/alert.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Conformal p-values of all nodes among the clean ones of their kind. */
static graphss_status rank_nodes(graphss_ctx *ctx, graphss_alert_scores *s)
{
    double *calm =
        graphss_i_copy(ctx, s->calm_score, (size_t)s->start[s->n_kinds] + 1, sizeof *calm);
    if (!calm)
        return GRAPHSS_ERR_NOMEM;
    for (size_t k = 0; k < s->n_kinds; k++)
        qsort(calm + s->start[k], (size_t)(s->start[k + 1] - s->start[k]), sizeof *calm,
              compare);
    for (size_t i = 0; i < s->n_nodes; i++) {
        const size_t from = (size_t)s->start[s->kind[i]];
        const size_t n = (size_t)s->start[s->kind[i] + 1] - from;
        size_t low = 0, high = n;
        while (low < high) {
            const size_t mid = (low + high) / 2;
            if (calm[from + mid] < s->score[i])
                low = mid + 1;
            else
                high = mid;
        }
        s->p_value[i] = (double)(n - low + 1) / (double)(n + 1);
    }
    graphss_release(ctx, calm);
    return GRAPHSS_OK;
}

/* All nodes that are neither for training nor for validation. */
static graphss_status list_free(graphss_ctx *ctx, graphss_alert_scores *s,
                                const graphss_split *split)
{
    uint8_t *labelled = graphss_i_calloc(ctx, s->n_nodes, sizeof *labelled);
    s->free_node = graphss_i_alloc(ctx, s->n_nodes, sizeof *s->free_node);
    const bool good = labelled && s->free_node;
    for (size_t i = 0; good && i < split->n_train; i++)
        labelled[split->train[i]] = 1;
    for (size_t i = 0; good && i < split->n_val; i++)
        labelled[split->val[i]] = 1;
    for (size_t i = 0; good && i < s->n_nodes; i++)
        if (!labelled[i])
            s->free_node[s->n_free++] = (int32_t)i;
    graphss_release(ctx, labelled);
    return good ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

graphss_status graphss_alert_look(graphss_ctx *ctx, graphss_alert_scores *out,
                                  const graphss_recover_input *in,
                                  const graphss_alert_options *given)
{
    const graphss_alert_options opt = given ? *given : graphss_alert_options_default();
    const graphss_recover_options method =
        graphss_recover_options_default("graphss", GRAPHSS_MODE_HONEST, in->model);
    graphss_recovery recovery = {0};
    graphss_i_report report = {.hold_out = true};
    graphss_alert_scores s = {.n_kinds = 1};
    graphss_status st = graphss_options_check(ctx, &opt, graphss_alert_options_table());
    if (!st)
        st = graphss_i_recover(ctx, &recovery, in, &method, &report);
    if (st)
        goto done;
    const size_t n = recovery.predictions.n_nodes, n_calm = report.n_calibration;
    s.n_nodes = n;
    s.score = report.score;
    report.score = NULL;
    s.p_value = graphss_i_alloc(ctx, n, sizeof *s.p_value);
    s.kind = graphss_i_calloc(ctx, n, sizeof *s.kind);
    s.start = graphss_i_calloc(ctx, s.n_kinds + 1, sizeof *s.start);
    s.calm_node = graphss_i_alloc(ctx, n_calm + 1, sizeof *s.calm_node);
    s.calm_score = graphss_i_calloc(ctx, n_calm + 1, sizeof *s.calm_score);
    if (!s.p_value || !s.kind || !s.start || !s.calm_node || !s.calm_score) {
        st = GRAPHSS_ERR_NOMEM;
        goto done;
    }
    s.start[1] = (int64_t)n_calm;
    for (size_t i = 0; i < n_calm; i++) {
        s.calm_node[i] = report.calibration[i];
        s.calm_score[i] = s.score[report.calibration[i]];
    }
    st = rank_nodes(ctx, &s);
    if (!st)
        st = list_free(ctx, &s, in->split ? in->split : graphss_model_split(in->model));
done:
    graphss_i_report_destroy(ctx, &report);
    graphss_recovery_destroy(ctx, &recovery);
    if (st)
        graphss_alert_scores_destroy(ctx, &s);
    else
        *out = s;
    return st;
}
