/* target.c - see graphss_lab/target.h. */
#include "base/base.h"
#include <graphss_lab/target.h>
#include <math.h>
#include <string.h>

static const char *const special[] = {"recover", "alert"};
enum { SPECIAL = sizeof special / sizeof *special };

void graphss_target_init(graphss_target *target)
{
    *target = (graphss_target){.struct_size = sizeof *target, .against = special[0]};
    graphss_defence_input_init(&target->in);
}

const char *graphss_target_name(size_t i)
{
    return i < SPECIAL ? special[i]
                       : graphss_recover_method_name(graphss_lab_method_at(i - SPECIAL));
}

/* What is known of a snapshot after a query. {0} is empty. */
typedef struct answer {
    double *posterior; /* [n x k] */
    double *perturbed; /* [n] in an alert: the chance that a node is perturbed; or NULL */
} answer;

static void destroy(graphss_ctx *ctx, answer *a)
{
    graphss_release(ctx, a->perturbed);
    graphss_release(ctx, a->posterior);
}

static graphss_status ask_method(graphss_ctx *ctx, answer *a, const graphss_defence_input *in,
    const graphss_recover_method *method)
{
    graphss_recover_options opt;
    graphss_recover_result found = {0};
    graphss_recover_options_init(&opt, method, GRAPHSS_MODE_DEFAULT, in->model);
    const graphss_status st = graphss_recover_run(ctx, &found, in, &opt);
    a->posterior = found.predictions.posterior;
    found.predictions.posterior = NULL;
    graphss_recover_result_destroy(ctx, &found);
    return st;
}

static graphss_status ask_alert(graphss_ctx *ctx, answer *a, const graphss_defence_input *in)
{
    graphss_alert_result found = {0};
    graphss_status st = ask_method(ctx, a, in, graphss_recover_method_find("none"));
    if (!st)
        st = graphss_alert_run(ctx, &found, in, NULL, 0, NULL);
    if (!st && found.alert) {
        a->perturbed = found.perturbed;
        found.perturbed = NULL;
    }
    graphss_alert_result_destroy(ctx, &found);
    return st;
}

static graphss_status ask(graphss_ctx *ctx, answer *a, const graphss_target *target,
    const graphss_graph *graph, const graphss_features *features)
{
    if (GRAPHSS_I_LACKS(ctx, {"target", target}) ||
        GRAPHSS_I_TAKE(ctx, graphss_target, NULL, target) ||
        GRAPHSS_I_LACKS(ctx, {"name", target->against}, {"model", target->in.model},
            {"graph", graph}, {"features", features}))
        return GRAPHSS_ERR_INVALID;
    graphss_defence_input in = target->in;
    in.current.graph = graph;
    in.current.features = features;
    const char *name = target->against;
    if (!strcmp(name, "alert"))
        return ask_alert(ctx, a, &in);
    const graphss_recover_method *method = graphss_lab_method_find(
        strcmp(name, "recover") ? name
                                : graphss_recover_method_name(graphss_recover_method_at(0)));
    return method ? ask_method(ctx, a, &in, method)
                  : graphss_i_no_such_name(
                        ctx, "--against", name, strlen(name), graphss_target_name);
}

/* The log odds of a probability that may be 0 or 1. */
static double log_odds(double p)
{
    return log(fmax(p, 1e-12)) - log(fmax(1 - p, 1e-12));
}

graphss_status graphss_target_ask(void *user, graphss_ctx *ctx, double *loss,
    const graphss_attack_input *in, const graphss_graph *graph,
    const graphss_features *features)
{
    answer a = {0};
    const graphss_status st = ask(ctx, &a, user, graph, features);
    if (!st)
        graphss_attack_margins(loss, in, a.posterior);
    for (size_t i = 0; i < in->n_victims && !st && a.perturbed; i++)
        loss[i] = fmax(loss[i], log_odds(a.perturbed[in->victim[i]]));
    destroy(ctx, &a);
    return st;
}

graphss_status graphss_target_label(graphss_ctx *ctx, int32_t *label,
    const graphss_target *target, const graphss_graph *graph, const graphss_features *features)
{
    answer a = {0};
    const graphss_status st = ask(ctx, &a, target, graph, features);
    for (size_t i = 0; !st && i < graph->n_nodes; i++) {
        const size_t k = graphss_model_classes(target->in.model);
        const bool flagged = a.perturbed && a.perturbed[i] >= 0.5;
        label[i] = flagged ? -1 : (int32_t)graphss_i_top_double(a.posterior + i * k, k);
    }
    destroy(ctx, &a);
    return st;
}
