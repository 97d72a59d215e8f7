/* logistic.h - a logistic gate: does a node look like one kind rather than another?
 *     odds = exp(w . (1, z, z^2)), z = column in units of its spread
 * With both sides of the same weight the odds are the ratio of the densities. A direction may
 * be made quiet: what moves nodes that way, on average, does not move the gate. */
#ifndef GRAPHSS_GATE_H
#define GRAPHSS_GATE_H

#include "base/base.h"

enum {
    GRAPHSS_I_LOGISTIC_COLUMNS = 30,
    GRAPHSS_I_LOGISTIC_WIDE = 1 + 2 * GRAPHSS_I_LOGISTIC_COLUMNS
};

typedef struct graphss_i_logistic {
    size_t columns;
    double mean[GRAPHSS_I_LOGISTIC_COLUMNS], spread[GRAPHSS_I_LOGISTIC_COLUMNS];
    double w[GRAPHSS_I_LOGISTIC_WIDE];
} graphss_i_logistic;

typedef struct graphss_i_logistic_rows {
    const float *x; /* [n x columns] */
    size_t n, columns;
    const uint8_t *hit;   /* [n] which side */
    const double *weight; /* [n] */
    double penalty;       /* on the squares of the weights, per unit of weight */
    /* Rows x[quiet_from[i]] and x[quiet_to[i]] are the same node before and after a change
     * that should not count; quiet is the penalty on the square of the mean difference. */
    const size_t *quiet_from, *quiet_to;
    size_t n_quiet;
    double quiet;
} graphss_i_logistic_rows;

/* Mean and spread of the rows, all alike; weights of 0. */
void graphss_i_logistic_measure(graphss_i_logistic *logit, const float *x, size_t n,
                                size_t columns);
/* The gate is measured before; the search starts at its weights. Time O(rounds n columns^2).
 */
graphss_status graphss_i_logistic_fit(graphss_ctx *ctx, graphss_i_logistic *logit,
                                      const graphss_i_logistic_rows *rows);
/* g [1 + 2 columns] = 1, z, z^2; both are cut off far out */
void graphss_i_logistic_widen(double *g, const graphss_i_logistic *logit, const float *x);
/* log of the odds of one row */
double graphss_i_logistic_odds(const graphss_i_logistic *logit, const float *x);

#endif
