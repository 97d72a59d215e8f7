/* multinomial_logit.h - multinomial logistic regression of a row's state on its columns:
 *     P(state r of row i) ~ exp(w[r] . x[i]). */
#ifndef GRAPHSS_SOFTMAX_H
#define GRAPHSS_SOFTMAX_H

#include "base/base.h"

typedef struct graphss_i_softmax {
    const float *x;       /* [n x f] */
    size_t n, f, k;       /* rows, columns, states */
    const int32_t *label; /* [n] in [0, k) */
    const float *weight;  /* [n] >= 0, not all 0 */
    double penalty;       /* on the squares of w, per unit of weight; > 0 */
} graphss_i_softmax;

/* w [k x f] minimises the penalised loss. Time O(steps n f k + f^3). */
graphss_status graphss_i_softmax_fit(graphss_ctx *ctx, double *w, const graphss_i_softmax *in);

#endif
