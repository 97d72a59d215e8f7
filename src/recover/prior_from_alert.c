/* prior_from_alert.c - how much is to be found before the method says that nodes were hit.
 *
 * Where labelled nodes are few and there is no past, states are learned so badly that up to a
 * quarter of the nodes of a clean snapshot was thought hit; and with a past honest change of a
 * sort that is not simulated passes for hostile. The quick look of alert keeps its rate of
 * false alarms, so what it finds is the prior. */
#include "alert/alert_check.h"
#include "alert/detector.h"
#include "recover/graphss_private.h"

/* The weight of untouched nodes in the prior, and what is added where alert finds little. Of
 * the attacks it missed when these were chosen one, on few nodes, had a p-value above 0.24. */
static const double PRIOR_UNTOUCHED = 0.02, QUIET = 0.25, QUIET_UNTOUCHED = 3, UNSURE = 0.05,
                    UNSURE_UNTOUCHED = 0.3, ENOUGH_LABELS = 1600;

graphss_status graphss_i_doubt(graphss_ctx *ctx, void *arg, size_t job)
{
    inspection *x = arg;
    (void)job; /* the only one */
    const graphss_i_defence_input *scene = x->scene;
    const graphss_split *split = scene->split;
    const double labels = (double)(split->n_train + split->n_val);
    const double worth =
        scene->before || !graphss_i_val_teaches(split) ? 1 : 1 - labels / ENOUGH_LABELS;
    x->untouched = PRIOR_UNTOUCHED;
    if (worth <= 0 || labels >= (double)scene->n || !graphss_i_look_possible(split))
        return GRAPHSS_OK;
    const graphss_recover_input in = {.struct_size = sizeof in,
                                      .current = scene->current,
                                      .previous = scene->before ? &scene->previous : NULL,
                                      .model = scene->model,
                                      .split = split,
                                      .seed = scene->seed};
    graphss_alert_scores seen = {0};
    graphss_verdict v = {0};
    graphss_status st = graphss_i_alert_look(ctx, &seen, &in, NULL);
    if (!st)
        st = graphss_i_alert_judge(ctx, &v, &seen, NULL, 0, scene->seed, NULL);
    graphss_alert_scores_destroy(ctx, &seen);
    if (v.n_group == 0) /* nobody to compare with: it cannot tell */
        return st;
    x->calm = !st && v.p_value > UNSURE;
    const double quiet = scene->before ? UNSURE : QUIET; /* it misses less with a past */
    x->untouched += worth * (v.p_value > quiet    ? QUIET_UNTOUCHED
                             : v.p_value > UNSURE ? UNSURE_UNTOUCHED
                                                  : 0);
    return st;
}
