/* logit.h - two regressions over plain arrays. Conditional logit: one weight per column of
 * evidence, shared by all classes, P(class c of row i) ~ exp(w . x[i][c]). It is fitted by
 * Newton's method; if some of the given labels are wrong, by EM around it. Multinomial logit:
 * see below. */
#ifndef GRAPHSS_LOGIT_H
#define GRAPHSS_LOGIT_H

#include "base/base.h"
#include "kernels/kernels.h"

typedef struct graphss_i_choice {
    const float *x; /* [n x k x GRAPHSS_I_ROW]; columns from f on must be finite: their weight
                     * is 0 */
    size_t n, k, f; /* f <= GRAPHSS_I_ROW */
    const int32_t *label; /* [n] in [0, k) */
    const float *weight;  /* [n] */
    double penalty;       /* on the squares of the weights, per unit of weight */
    const double *centre; /* [f] the penalty is on the distance from it; NULL: from 0 */
    bool noisy;           /* also estimate a uniform rate of wrong labels */
    double noise;         /* > 0: the known rate of wrong labels, not estimated */
    bool rising;          /* restrict weights to be non-negative */
} graphss_i_choice;

/* w [f]. *noise becomes the share of wrong labels; may be NULL. Time O(rounds n (k + f) f). */
graphss_status graphss_i_choice_fit(
    graphss_ctx *ctx, double *w, double *noise, const graphss_i_choice *in);
/* p [k] of one row x [k x GRAPHSS_I_ROW] */
void graphss_i_choice_row(double *p, const double *w, const float *x, size_t k, size_t f);

/* a [f x f] = L L^T, in its lower triangle. false: not positive definite. */
bool graphss_i_cholesky(double *a, size_t f);
/* Solves L L^T x = b in place. */
void graphss_i_cholesky_solve(double *b, const double *l, size_t f);

/* Multinomial logistic regression of a row's state on its columns:
 *     P(state r of row i) ~ exp(w[r] . x[i]). */
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
