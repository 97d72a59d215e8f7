/* features_only.c - a perceptron on the features: no edge can mislead it, but changed words
 * do. Costs one training. */
#include "recover/defence.h"

static void adjust(graphss_recover_options *opt)
{
    graphss_train_options_init(&opt->fit, "mlp", opt->mode, NULL);
}

static graphss_status run(graphss_ctx *ctx, double *posterior, double *perturbed,
    const graphss_i_defence_input *input, const graphss_recover_options *opt)
{
    (void)perturbed;
    const graphss_split *split;
    const graphss_observation on = graphss_i_defence_training(input, &split);
    return graphss_i_train_and_ask(
        ctx, posterior, input, on.graph, input->current.graph, &opt->fit);
}

const graphss_i_defence graphss_i_features_only_defence = {
    .name = "mlp",
    .summary = "a perceptron that sees the features only",
    .evasion = "a perceptron trained on the previous snapshot's features",
    .retrain = "a perceptron trained on the current snapshot's features",
    .options = graphss_i_training_options,
    .learns = true,
    .evasion_previous = true,
    .adjust = adjust,
    .run = run,
};
