/* retrain.c - the same classifier, trained from scratch on the current snapshot with the
 * training labels. Costs one training. */
#include "recover/defence.h"

static graphss_status run(graphss_ctx *ctx, double *posterior, double *perturbed,
    const graphss_i_defence_input *input, const graphss_recover_options *opt)
{
    (void)perturbed;
    return graphss_i_train_and_ask(
        ctx, posterior, input, input->current.graph, input->current.graph, &opt->fit);
}

const graphss_i_defence graphss_i_retrain_defence = {
    .name = "retrain",
    .summary = "the same classifier, trained from scratch on the current snapshot",
    .retrain = "the model's classifier, trained on the current snapshot",
    .options = graphss_i_training_options,
    .as_model = true,
    .learns = true,
    .run = run,
};
