/* none.c - no defence: the model's prediction on the current snapshot. Gains and losses of all
 * other methods are measured against it. */
#include "recover/defence.h"

static graphss_status run(graphss_ctx *ctx, double *posterior, double *perturbed,
    const graphss_i_defence_input *input, const graphss_recover_options *opt)
{
    (void)ctx, (void)perturbed, (void)opt;
    graphss_i_widen_prob(posterior, input->prob, input->n * input->k);
    return GRAPHSS_OK;
}

const graphss_i_defence graphss_i_none_defence = {
    .name = "none",
    .summary = "the model's own answer, undefended",
    .evasion = "the given model on the current snapshot",
    .options = graphss_i_common_options,
    .shared = true,
    .run = run,
};
