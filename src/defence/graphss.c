/* graphss.c - the default method: inspect.c finds states and classes, this hands them over. */
#include "defence/inspect.h"
#include <string.h>

static graphss_status run(graphss_ctx *ctx, double *posterior, double *perturbed,
                          const graphss_i_scene *scene, const graphss_recover_options *opt)
{
    (void)opt;
    graphss_i_inspection found = {0};
    const graphss_status st = graphss_i_inspect(ctx, &found, scene, false);
    if (st)
        return st;
    memcpy(posterior, found.posterior, scene->n * scene->k * sizeof *posterior);
    for (size_t i = 0; i < scene->n; i++)
        perturbed[i] = 1 - found.state[i * GRAPHSS_I_STATES];
    graphss_i_inspection_destroy(ctx, &found);
    return GRAPHSS_OK;
}

const graphss_i_defence graphss_i_graphss = {
    .name = "graphss",
    .summary = "several sources and a state per node, learned from simulated attacks",
    .evasion = "the given model, with a perceptron and a linear model of the current snapshot",
    .options = " ",
    .learns = true,
    .run = run,
};
