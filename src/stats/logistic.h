/* logistic.h - binary logistic regression on standardised columns and their squares:
 *     odds = exp(w . (1, z, z^2)), z = (column - mean) / spread
 * If both sides have the same total weight, the odds are the ratio of their densities. An
 * invariance penalty can be added: pairs of rows whose difference should not change the odds.
 */
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
    /* Invariance penalty: rows x[quiet_from[i]] and x[quiet_to[i]] are the same node before
     * and after a change that should not count; quiet is the penalty on the square of the mean
     * difference. */
    const size_t *quiet_from, *quiet_to;
    size_t n_quiet;
    double quiet;
} graphss_i_logistic_rows;

/* Sets mean and spread from the rows, equally weighted, and all weights to 0. */
void graphss_i_logistic_measure(graphss_i_logistic *logit, const float *x, size_t n,
                                size_t columns);
/* Fits the weights. Call graphss_i_logistic_measure first; the search starts at the current
 * weights. Time O(rounds n columns^2). */
graphss_status graphss_i_logistic_fit(graphss_ctx *ctx, graphss_i_logistic *logit,
                                      const graphss_i_logistic_rows *rows);
/* g [1 + 2 columns] = 1, z, z^2, where z and z^2 are clipped */
void graphss_i_logistic_widen(double *g, const graphss_i_logistic *logit, const float *x);
/* log odds of one row */
double graphss_i_logistic_odds(const graphss_i_logistic *logit, const float *x);

#endif
