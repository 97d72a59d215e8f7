/* defence.c - the methods of the core, and functions that all methods use. */
#include "recover/defence.h"
#include "models/model_private.h"
#include <math.h>
#include <string.h>

static const graphss_i_defence *const methods[] = {
#define DEFENCE(name) &graphss_i_##name##_defence,
#include "recover/defences.def"
#undef DEFENCE
};
enum { METHODS = sizeof methods / sizeof *methods };

const graphss_recover_method *graphss_recover_method_at(size_t i)
{
    return i < METHODS ? methods[i] : NULL;
}

const graphss_recover_method *graphss_recover_method_find(const char *name)
{
    for (size_t i = 0; name && i < METHODS; i++)
        if (!strcmp(methods[i]->name, name))
            return methods[i];
    return NULL;
}

const char *graphss_recover_method_name(const graphss_recover_method *method)
{
    return method ? method->name : NULL;
}

const char *graphss_recover_method_summary(const graphss_recover_method *method)
{
    return method ? method->summary : NULL;
}

const graphss_i_defence *graphss_i_defence_in(
    const graphss_recover_method *method, graphss_mode mode)
{
    return method && mode == GRAPHSS_MODE_PAPER && method->paper ? method->paper : method;
}

graphss_observation graphss_i_defence_training(
    const graphss_i_defence_input *input, const graphss_split **split)
{
    *split = input->retrain ? input->split : input->previous_split;
    return input->retrain ? input->current : input->previous;
}

void graphss_i_widen_prob(double *posterior, const float *prob, size_t count)
{
    for (size_t i = 0; i < count; i++)
        posterior[i] = prob[i];
}

graphss_status graphss_i_posterior_of(graphss_ctx *ctx, double *posterior,
    const graphss_model *model, const graphss_graph *graph, const graphss_features *features)
{
    const size_t k = graphss_model_classes(model);
    float *prob = graphss_i_alloc(ctx, graph->n_nodes, k * sizeof *prob);
    if (!prob)
        return GRAPHSS_ERR_NOMEM;
    const graphss_status st = graphss_i_predict(ctx, prob, model, graph, features);
    if (!st)
        graphss_i_widen_prob(posterior, prob, graph->n_nodes * k);
    graphss_release(ctx, prob);
    return st;
}

double graphss_i_validation(const double *posterior, const graphss_i_defence_input *input)
{
    const graphss_split *split = input->split;
    size_t right = 0;
    for (size_t j = 0; j < split->n_val; j++) {
        const double *p = posterior + (size_t)split->val[j] * input->k;
        right += graphss_i_top_double(p, input->k) == (size_t)split->val_label[j];
    }
    return split->n_val ? (double)right / (double)split->n_val : NAN;
}

graphss_status graphss_i_train_and_ask(graphss_ctx *ctx, double *posterior,
    const graphss_i_defence_input *input, const graphss_graph *graph,
    const graphss_graph *current, const graphss_train_options *fit)
{
    graphss_model *model = NULL;
    const graphss_split *split;
    const graphss_observation on = graphss_i_defence_training(input, &split);
    graphss_status st = graphss_i_train(ctx, &model, NULL,
        &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
            .graph = graph,
            .features = on.features,
            .n_classes = input->k,
            .split = split,
            .seed = input->seed},
        fit);
    if (!st)
        st = graphss_i_posterior_of(ctx, posterior, model, current, input->current.features);
    graphss_model_free(ctx, model);
    return st;
}
