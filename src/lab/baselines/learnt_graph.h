/* learnt_graph.h - a graph whose edges have weights that are learnt: the S of Pro-GNN.
 *
 *     graphss_i_learnt s = {0};
 *     graphss_i_learnt_make(ctx, &s, &on, alike, near, row_normalise, scale, rank);
 *     ... a tape with the leaf s.weight, whose gradient goes to s.grad ...
 *     graphss_i_learnt_step(&s, rate, momentum, gamma, lambda);
 *     graphss_i_learnt_low_rank(ctx, &s, amount);
 *     graphss_i_learnt_clip(&s, amount);
 *     graphss_i_learnt_destroy(ctx, &s);
 *
 * S is symmetric. Weights exist on a support alone: the edges of the graph, and of each node
 * to the others it is most alike or near; elsewhere S is 0 and stays so. The pattern has
 * loops, which weigh 1: the tape sees S + I. */
#ifndef GRAPHSS_LEARNT_GRAPH_H
#define GRAPHSS_LEARNT_GRAPH_H

#include "graph/normalise.h"
#include <graphss/recover.h>

typedef struct graphss_i_learnt {
    size_t n, nnz, rank;
    graphss_i_propagation
        pattern;            /* edges of the support and loops; the values are not used */
    int64_t *transposed_at; /* [nnz] of entry (i, j): where (j, i) stands */
    float *start;           /* [nnz] A: 1 or 0; loops 0 */
    float *weight;          /* [nnz] S; loops 1 */
    float *grad;            /* [nnz] of the classifier's loss; from a tape */
    float *speed;           /* [nnz] of the descent */
    float *alike;           /* [nnz] x_i . x_j; loops |x_i|^2 */
    float *change;          /* [nnz] room */
    double *root, *pull;    /* [n] room */
    double *value, *vector; /* [rank], [n x rank] the largest eigenpairs of S */
    float *left, *right;    /* [n x rank] room */
} graphss_i_learnt;

/* S = A. alike, near: as in candidates.h. The features count as the classifier sees them:
 * divided by their row's sum if asked, then multiplied by scale. rank: eigenpairs that
 * low_rank looks at, less in a small graph. */
graphss_status graphss_i_learnt_make(graphss_ctx *ctx, graphss_i_learnt *s,
                                     const graphss_observation *on, size_t alike, size_t near,
                                     bool row_normalise, double scale, size_t rank);
void graphss_i_learnt_destroy(graphss_ctx *ctx, graphss_i_learnt *s);

/* tr(X^T L X), L = D^-1/2 (diag(d) - S) D^-1/2, d = row sums of S, D = diag(d + 0.001): how
 * much the features differ along the edges. */
double graphss_i_learnt_roughness(const graphss_i_learnt *s);
/* out [nnz] += factor times its gradient, S kept symmetric: half of what the pair
 * S_ij = S_ji has together. Uses root and pull. Loops get nothing. */
void graphss_i_learnt_roughness_gradient(graphss_i_learnt *s, float *out, double factor);

/* One step with momentum down |S - A|_F + gamma loss + lambda roughness. */
void graphss_i_learnt_step(graphss_i_learnt *s, double rate, double momentum, double gamma,
                           double lambda);
/* The proximal step of amount |S|_*, within the support. Exact would be: each eigenvalue of S
 * is moved towards 0 by amount, and of the result, which is dense, the support is kept. Here
 * that is done for the rank eigenvalues of largest magnitude; the others are treated as if
 * each had the magnitude of their root mean square. Then all weights are multiplied by one
 * number, so that their sum is what it was: a dense step hardly changes the sum, what edges
 * lose goes to other pairs. Progress stage: "factorise". */
graphss_status graphss_i_learnt_low_rank(graphss_ctx *ctx, graphss_i_learnt *s, double amount);
/* The proximal step of amount |S|_1, then the weights back into [0, 1]. */
void graphss_i_learnt_clip(graphss_i_learnt *s, double amount);

#endif
