/* graphss.c - the default method: graphss_run.c finds states and classes, this hands them
 * over. */
#include "recover/graphss_run.h"
#include <string.h>

/* An attack is named when this share of the nodes is thought hit; where alert is calm a larger
 * one, for states learned from few nodes are found in some of any snapshot. */
static const double WORTH_NAMING = 0.01, WORTH_NAMING_CALM = 0.05;

/* Which kind of attack, on which share of the nodes. */
static void tell(graphss_i_report *report, const graphss_i_inspection *found)
{
    double share[GRAPHSS_I_STATES] = {0}; /* states of one name are one kind */
    size_t most = 1;
    for (size_t r = 1; r < GRAPHSS_I_STATES; r++) {
        for (size_t q = 1; q < GRAPHSS_I_STATES; q++)
            if (!strcmp(graphss_i_state_name(q), graphss_i_state_name(r)))
                share[r] += found->share[q];
        most = share[r] > share[most] ? r : most;
    }
    report->share = 1 - found->share[0];
    const double least = found->calm ? WORTH_NAMING_CALM : WORTH_NAMING;
    report->kind = report->share < least ? "none" : graphss_i_state_name(most);
}

static graphss_status run(graphss_ctx *ctx, double *posterior, double *perturbed,
                          const graphss_i_defence_input *scene,
                          const graphss_recover_options *opt)
{
    (void)opt;
    graphss_i_inspection found = {0};
    const graphss_status st = graphss_i_inspect(ctx, &found, scene);
    if (st)
        return st;
    memcpy(posterior, found.posterior, scene->n * scene->k * sizeof *posterior);
    for (size_t i = 0; i < scene->n; i++)
        perturbed[i] = 1 - found.state[i * GRAPHSS_I_STATES];
    tell(scene->report, &found);
    graphss_i_inspection_destroy(ctx, &found);
    return GRAPHSS_OK;
}

const graphss_i_defence graphss_i_graphss_defence = {
    .name = "graphss",
    .summary = "several sources and a state per node, learned from simulated attacks",
    .evasion = "the given model; of the current snapshot a perceptron, linear models, counts "
               "of words",
    .options = " ",
    .learns = true,
    .finds = true,
    .paper = &graphss_i_graphss_paper,
    .run = run,
};
