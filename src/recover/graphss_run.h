/* graphss_run.h - was a snapshot tampered with, where and how, and what are its classes? */
#ifndef GRAPHSS_INSPECT_H
#define GRAPHSS_INSPECT_H

#include "detect/state_model.h"
#include "recover/defence.h"

/* {0} is empty; the arrays belong to it. */
typedef struct graphss_i_inspection {
    double *posterior;              /* [n x k] */
    double *state;                  /* [n x STATES] chance of each state */
    double share[GRAPHSS_I_STATES]; /* of the nodes without a label */
    bool
        calm; /* the quick look of alert was asked, where its word counts, and found nothing */
} graphss_i_inspection;

/* Needs at least GRAPHSS_I_KNOWN_LEAST (sim_plan.h) validation nodes, or training nodes in
 * their place: DATA. Costs four trainings (a perceptron, three linear models), twenty
 * simulated attacks, and forward passes and memory for each of their views, of which there are
 * twenty where few nodes have labels and one where many have (sim_plan.h). */
graphss_status graphss_i_inspect(graphss_ctx *ctx, graphss_i_inspection *out,
                                 const graphss_i_defence_input *scene);
void graphss_i_inspection_destroy(graphss_ctx *ctx, graphss_i_inspection *x);

#endif
