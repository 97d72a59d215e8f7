/* alert_scores.c - the odds of a look as scores, with the clean nodes to compare with.
 *
 * The luck of a few hundred validation nodes moves the rate of one snapshot between 0 and
 * 30 %. A node that has the links and words it had was not attacked, so those outside the
 * group are as good to compare with. Where the nodes without a label as a whole show no sign
 * of an attack, those outside the group are, too, and there are more of them. */
#include "alert/alert_check.h"
#include "alert/detector.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A snapshot is quiet above this p-value with a past, and without one up to this score, which
 * is beyond what draws show: by how nodes look alone validation nodes are often a little
 * calmer than others, by how they changed not. */
static const double PRIOR_ODDS = 1.0 / 9, QUIET_PAST = 0.05, QUIET_NOW = 4.5;
enum { QUIET_DRAWS = 1999 };

static double score_of(double odds)
{
    return 1 / (1 + exp(-odds) / PRIOR_ODDS);
}

/* Conformal p-values of all nodes among the clean ones of their kind. */
static graphss_status rank_nodes(graphss_ctx *ctx, graphss_alert_scores *s)
{
    const size_t total = (size_t)s->start[s->n_kinds];
    double *calm = graphss_i_copy(ctx, s->calm_score, total + 1, sizeof *calm);
    if (!calm)
        return GRAPHSS_ERR_NOMEM;
    for (size_t k = 0; k < s->n_kinds; k++)
        qsort(calm + s->start[k], (size_t)(s->start[k + 1] - s->start[k]), sizeof *calm,
              graphss_i_compare_doubles);
    for (size_t i = 0; i < s->n_nodes; i++) {
        const size_t from = (size_t)s->start[s->kind[i]];
        const size_t n = (size_t)s->start[s->kind[i] + 1] - from;
        const size_t less = graphss_i_count_less(calm + from, n, s->score[i]);
        s->p_value[i] = (double)(n - less + 1) / (double)(n + 1);
    }
    graphss_release(ctx, calm);
    return GRAPHSS_OK;
}

static graphss_status fill(graphss_ctx *ctx, graphss_alert_scores *s, const graphss_i_look *x)
{
    const size_t n = x->n;
    graphss_i_calm list[GRAPHSS_I_CHANGED] = {0};
    uint8_t *labelled = graphss_i_calloc(ctx, n, sizeof *labelled);
    s->n_nodes = n;
    s->n_kinds = GRAPHSS_I_CHANGED;
    s->score = graphss_i_alloc(ctx, n, sizeof *s->score);
    s->p_value = graphss_i_alloc(ctx, n, sizeof *s->p_value);
    s->kind = graphss_i_alloc(ctx, n, sizeof *s->kind);
    s->start = graphss_i_calloc(ctx, s->n_kinds + 1, sizeof *s->start);
    s->free_node = graphss_i_alloc(ctx, n, sizeof *s->free_node);
    s->settled = graphss_i_calloc(ctx, s->n_kinds, sizeof *s->settled);
    s->changed = graphss_i_calloc(ctx, s->n_kinds, sizeof *s->changed);
    s->rehearsed = graphss_i_calloc(ctx, s->n_kinds, sizeof *s->rehearsed);
    bool good = labelled && s->settled && s->changed && s->rehearsed && s->score &&
                s->p_value && s->kind && s->start && s->free_node;
    for (size_t c = 0; c < GRAPHSS_I_CHANGED; c++) {
        list[c].node = graphss_i_alloc(ctx, x->n_calm, sizeof *list[c].node);
        list[c].odds = graphss_i_alloc(ctx, x->n_calm, sizeof *list[c].odds);
        good = good && list[c].node && list[c].odds;
    }
    graphss_status st = good ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    if (st)
        goto done;
    for (size_t i = 0; i < x->split->n_train; i++)
        labelled[x->split->train[i]] = 1;
    for (size_t i = 0; i < x->split->n_val; i++)
        labelled[x->split->val[i]] = 1;
    for (size_t i = 0; i < n; i++) {
        s->score[i] = score_of(x->odds[i]);
        if (!labelled[i])
            s->free_node[s->n_free++] = (int32_t)i;
    }
    s->settled[GRAPHSS_I_SAME] = 1;
    st = graphss_i_look_calm(ctx, list, x, s->kind, labelled);
    if (st)
        goto done;
    for (size_t c = 0; c < GRAPHSS_I_CHANGED; c++) {
        s->start[c + 1] = s->start[c] + (int64_t)list[c].n;
        s->rehearsed[c] = list[c].rehearsed;
        s->changed[c] = graphss_i_changed_kind(c);
    }
    const size_t total = (size_t)s->start[s->n_kinds];
    s->calm_node = graphss_i_calloc(ctx, total + 1, sizeof *s->calm_node);
    s->calm_score = graphss_i_calloc(ctx, total + 1, sizeof *s->calm_score);
    if (!s->calm_node || !s->calm_score) {
        st = GRAPHSS_ERR_NOMEM;
        goto done;
    }
    for (size_t c = 0; c < GRAPHSS_I_CHANGED; c++)
        for (size_t i = 0; i < list[c].n; i++) {
            s->calm_node[s->start[c] + (int64_t)i] = list[c].node[i];
            s->calm_score[s->start[c] + (int64_t)i] = score_of(list[c].odds[i]);
        }
    st = rank_nodes(ctx, s);
    if (!st)
        st = graphss_i_alert_sort(ctx, s);
done:
    for (size_t c = 0; c < GRAPHSS_I_CHANGED; c++) {
        graphss_release(ctx, list[c].node);
        graphss_release(ctx, list[c].odds);
    }
    graphss_release(ctx, labelled);
    return st;
}

graphss_status graphss_i_look_scores(graphss_ctx *ctx, graphss_alert_scores *out,
                                     const graphss_i_look *x, const graphss_alert_options *opt)
{
    const graphss_alert_options own = {.struct_size = sizeof own,
                                       .false_alarm_rate = 0.05,
                                       .draws = QUIET_DRAWS,
                                       .validation_only = true};
    graphss_alert_scores s = {0};
    graphss_verdict v;
    graphss_status st = fill(ctx, &s, x);
    if (!st && s.n_free && !opt->validation_only) {
        st = graphss_i_alert_judge(ctx, &v, &s, NULL, 0, x->in->seed, &own);
        s.quiet =
            !st && v.n_group && (x->before ? v.p_value > QUIET_PAST : v.score <= QUIET_NOW);
    }
    if (st)
        graphss_alert_scores_destroy(ctx, &s);
    else
        *out = s;
    return st;
}

graphss_status graphss_alert_look(graphss_ctx *ctx, graphss_alert_scores *out,
                                  const graphss_recover_input *in,
                                  const graphss_alert_options *given)
{
    if (GRAPHSS_I_LACKS(ctx, {"input", in}, {"place for the scores", out}))
        return GRAPHSS_ERR_INVALID;
    const graphss_status st = graphss_i_check_input(ctx, in);
    if (!st && in->previous)
        graphss_i_warn_of_strangers(ctx, &in->current, in->previous);
    return st ? st : graphss_i_alert_look(ctx, out, in, given);
}

graphss_status graphss_i_alert_look(graphss_ctx *ctx, graphss_alert_scores *out,
                                    const graphss_recover_input *in,
                                    const graphss_alert_options *given)
{
    graphss_alert_options opt;
    graphss_i_look look = {0};
    graphss_status st = graphss_i_alert_options_take(ctx, &opt, given);
    if (!st)
        st = graphss_i_look_at(ctx, &look, in);
    if (!st)
        st = graphss_i_look_scores(ctx, out, &look, &opt);
    graphss_i_look_destroy(ctx, &look);
    return st;
}
