/* inspect.h - was a snapshot tampered with, where and how, and what are its classes? */
#ifndef GRAPHSS_INSPECT_H
#define GRAPHSS_INSPECT_H

#include "defence/defence.h"
#include "defence/suspicion.h"

/* {0} is empty; the arrays belong to it. */
typedef struct graphss_i_inspection {
    double *posterior; /* [n x k] */
    double *state;     /* [n x STATES] chance of each state */
    double *score;     /* [n] chance of not being untouched were the shares fixed: what one
                        * node shows, whatever the others do */
    double share[GRAPHSS_I_STATES]; /* of the nodes without a label */
    int32_t *calibration;           /* [n_calibration] labelled nodes nothing was fitted on */
    size_t n_calibration;
} graphss_i_inspection;

/* hold_out: leave half of the labelled nodes for calibration. Needs at least
 * GRAPHSS_I_KNOWN_LEAST validation nodes (or training nodes in their place): DATA.
 * Costs four trainings (a perceptron, three linear models), eighteen simulated attacks and as
 * many forward passes. */
enum { GRAPHSS_I_KNOWN_LEAST = 20 };
graphss_status graphss_i_inspect(graphss_ctx *ctx, graphss_i_inspection *out,
                                 const graphss_i_scene *scene, bool hold_out);
void graphss_i_inspection_destroy(graphss_ctx *ctx, graphss_i_inspection *x);

#endif
