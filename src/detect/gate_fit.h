/* gate_fit.h - a gate: a multinomial logit on standardised columns and their squares,
 *     log odds of state s against the first = w_s . (1, z, z^2),   z = (x - mean) / spread. */
#ifndef GRAPHSS_GATE_FIT_H
#define GRAPHSS_GATE_FIT_H

#include "base/base.h"

/* Mean and deviation of the first columns of x [rows x wide] over the rows with use[i]. */
void graphss_i_gate_measure(double *mean, double *spread, const float *x, const uint8_t *use,
    size_t rows, size_t wide, size_t columns);

typedef struct graphss_i_gate_rows {
    const float *x;             /* [rows x wide], of which the first columns count */
    const uint8_t *state, *use; /* [rows]; rows with use[i] count */
    size_t rows, wide, columns, states;
    const double *mean, *spread; /* [columns] */
    double penalty;
} graphss_i_gate_rows;

/* w [(states - 1) x (1 + 2 columns)]: log odds of each state against the first, for equal
 * shares of both. Stays as it is where the first or all others have no row. */
graphss_status graphss_i_gate_fit(graphss_ctx *ctx, double *w, const graphss_i_gate_rows *in);

#endif
