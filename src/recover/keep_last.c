/* keep_last.c - the model's answer on the previous snapshot, for nodes that were there; its
 * answer on the current one for the others. Costs one forward pass, and is hard to beat if the
 * previous snapshot has the victims. */
#include "recover/defence.h"
#include <string.h>

static graphss_status run(graphss_ctx *ctx, double *posterior, double *perturbed,
    const graphss_i_defence_input *input, const graphss_recover_options *opt)
{
    (void)perturbed, (void)opt;
    const size_t k = input->k, n_before = input->previous.graph->n_nodes;
    double *last = graphss_i_alloc(ctx, n_before, k * sizeof *last);
    if (!last)
        return GRAPHSS_ERR_NOMEM;
    const graphss_status st = graphss_i_posterior_of(
        ctx, last, input->model, input->previous.graph, input->previous.features);
    if (!st) {
        graphss_i_widen_prob(posterior, input->prob, input->n * k);
        for (size_t i = 0; i < input->n; i++)
            if (input->before[i] >= 0)
                memcpy(
                    posterior + i * k, last + (size_t)input->before[i] * k, k * sizeof *last);
    }
    graphss_release(ctx, last);
    return st;
}

const graphss_i_defence graphss_i_keep_last_defence = {
    .name = "keep-last",
    .summary = "the answer on the previous snapshot, for nodes it has",
    .evasion = "the given model on the previous snapshot",
    .options = graphss_i_common_options,
    .needs_previous = true,
    .run = run,
};
