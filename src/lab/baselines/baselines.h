/* baselines.h - the published defences, and the parts they share: learned graphs, candidate
 * edges, nearest neighbours, leading eigenvectors. */
#ifndef GRAPHSS_BASELINES_H
#define GRAPHSS_BASELINES_H

#include "base/base.h"
#include "graph/normalise.h"
#include "graph/products.h"
#include "recover/defence.h"
#include <graphss/graph.h>
#include <graphss/recover.h>
#include <graphss_lab/baselines.h>

#define DEFENCE(name) extern const graphss_i_defence graphss_i_##name##_defence;
#include "lab/baselines/baselines.def"
#undef DEFENCE

/* The method of a name as a mode has it, or NULL. */
const graphss_i_defence *graphss_i_lab_defence(const char *name, int mode);

/* A graph whose edges have weights that are learnt: the S of Pro-GNN.
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
typedef struct graphss_i_learnt {
    size_t n, nnz, rank;
    graphss_i_propagation
        pattern;            /* edges of the support and loops; the values are not used */
    int64_t *transposed_at; /* [nnz] position of (j, i), for the entry (i, j) */
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

/* S = A. alike, near: as in baselines.h. The features count as the classifier sees them:
 * divided by their row's sum if asked, then multiplied by scale. rank: eigenpairs that
 * low_rank looks at, less in a small graph. */
graphss_status graphss_i_learnt_make(graphss_ctx *ctx, graphss_i_learnt *s,
    const graphss_observation *on, size_t alike, size_t near, bool row_normalise, double scale,
    size_t rank);
void graphss_i_learnt_destroy(graphss_ctx *ctx, graphss_i_learnt *s);

/* tr(X^T L X), L = D^-1/2 (diag(d) - S) D^-1/2, d = row sums of S, D = diag(d + 0.001): how
 * much the features differ along the edges. */
double graphss_i_learnt_roughness(const graphss_i_learnt *s);
/* out [nnz] += factor times its gradient, S kept symmetric: half of what the pair
 * S_ij = S_ji has together. Uses root and pull. Loops get nothing. */
void graphss_i_learnt_roughness_gradient(graphss_i_learnt *s, float *out, double factor);

/* One step with momentum down |S - A|_F + gamma loss + lambda roughness. */
void graphss_i_learnt_step(
    graphss_i_learnt *s, double rate, double momentum, double gamma, double lambda);
/* The proximal step of amount |S|_*, within the support. Exact would be: each eigenvalue of S
 * is moved towards 0 by amount, and of the result, which is dense, the support is kept. Here
 * that is done for the rank eigenvalues of largest magnitude; the others are treated as if
 * each had the magnitude of their root mean square. Then all weights are multiplied by one
 * number, so that their sum is what it was: a dense step hardly changes the sum, what edges
 * lose goes to other pairs. Progress stage: "factorise". */
graphss_status graphss_i_learnt_low_rank(graphss_ctx *ctx, graphss_i_learnt *s, double amount);
/* The proximal step of amount |S|_1, then the weights back into [0, 1]. */
void graphss_i_learnt_clip(graphss_i_learnt *s, double amount);

/* ---- pairs of nodes that might be connected: those that are, and those alike ---- */

/* out: the edges of graph; of each node to the `alike` others whose features are most alike
 * (largest positive cosine); and to the `near` others, two edges away and not connected, with
 * the most common neighbours, each counted as one over its degree. Of equals the first. Time
 * O(nodes * entries of the features + sum of squared degrees), memory O(edges + nodes (alike +
 * near)). Progress stage: "compare". */
graphss_status graphss_i_candidates(graphss_ctx *ctx, graphss_graph *out,
    const graphss_graph *graph, const graphss_features *features, size_t alike, size_t near);

/* ---- finds the nodes with the most similar features ---- */

/* near [n_from x each]: for each node of `from` up to `each` nodes of `among` with the largest
 * cosine, in no order, -1 where there are fewer. Of equal ones the smaller number comes
 * first. Never the node itself, one it is connected with (graph NULL: edges do not matter), or
 * one whose cosine is not positive.
 *
 * A search through the lists of nodes that have a column, row by row: O(sum over from of the
 * lengths of its columns' lists) time, O(n_among + stored features) memory, nothing of the
 * size of n_from times n_among. stage names the work for progress. NOMEM, CANCELLED. */
graphss_status graphss_i_nearest(graphss_ctx *ctx, int32_t *near, size_t each,
    const graphss_features *features, const graphss_graph *graph, const int32_t *from,
    size_t n_from, const int32_t *among, size_t n_among, const char *stage);

/* ---- the largest eigenpairs of a sparse symmetric matrix, by ARPACK ---- */

/* value [rank], vector [n_rows x rank]: the eigenpairs of A that are largest in magnitude,
 * the largest first, so that sum_r value[r] v_r v_r^T is the best approximation of that rank:
 * A is symmetric, its singular values are the magnitudes of its eigenvalues. Memory O(rank *
 * n_rows). tolerance: of an eigenvalue, relative. INVALID: fewer than rank + 2 rows. LIMIT: no
 * convergence. Progress stage: "factorise". */
graphss_status graphss_i_eigen_largest(graphss_ctx *ctx, double *value, double *vector,
    const graphss_i_csr *a, size_t rank, double tolerance);

#endif
