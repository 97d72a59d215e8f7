/* graphss/transition.h - the probability that a true class is observed as another label.
 *
 *     double phi[K * K];
 *     graphss_transition_warmup(ctx, phi, prob, split.train, split.train_label,
 *                               split.n_train, n_nodes, K);
 *
 * A transition matrix phi is n_classes x n_classes, row by row, and its rows sum to 1:
 * phi[t][y] = P(observed y | true t). Row t has the prior Dirichlet(alpha[t]) and, once nodes
 * of class t were observed counts[t][y] times as y, the posterior Dirichlet(alpha[t] +
 * counts[t]). docs/selfsup.md sets the fields against the paper's symbols. */
#ifndef GRAPHSS_TRANSITION_H
#define GRAPHSS_TRANSITION_H

#include <graphss/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The Dirichlet prior of the rows of one matrix. Cell (t, y) gets
 *     alpha + anchor * (t == y ? diagonal : (1 - diagonal) / (n_classes - 1)) + cell[t][y].
 * {.alpha = 1} is the paper's. An anchor of the size of a class weighs "this source is right
 * with probability `diagonal`" as much as the data. */
typedef struct graphss_prior {
    double alpha;       /* every cell, in [0, 1e9] */
    double anchor;      /* every row, in [0, 1e9]: weight of the prior, as a number of nodes */
    double diagonal;    /* fraction of the anchor on the diagonal, [0, 1] */
    const double *cell; /* [n_classes x n_classes] more counts, >= 0; NULL: none. Borrowed */
} graphss_prior;

/* alpha [n_classes x n_classes], every cell at least 1e-6: a chain cannot leave a cell of
 * chance 0. INVALID: a number out of its range. */
GRAPHSS_MUST_CHECK graphss_status graphss_prior_cells(
    graphss_ctx *ctx, double *alpha, const graphss_prior *prior, size_t n_classes);

/* phi', the paper's warm-up matrix: phi'[k][y] is the sum of prob[node][k] over the listed
 * nodes with label y, rows normalised. A row without any mass is flat.
 *
 *   phi    [n_classes x n_classes]  out
 *   prob   [n_nodes x n_classes]    class probabilities from any classifier
 *   node   [n]                      ids below n_nodes: the training nodes
 *   label [n] their labels by the annotators
 *
 * Errors: INVALID (a node or label out of range, a probability that is negative or not
 * finite). Time O(n * n_classes). */
GRAPHSS_MUST_CHECK graphss_status graphss_transition_warmup(graphss_ctx *ctx, double *phi,
    const float *prob, const int32_t *node, const int32_t *label, size_t n, size_t n_nodes,
    size_t n_classes);

/* counts[t][y] = nodes with z = t and observed = y; a label of -1 in either does not count.
 * Labels are in [-1, n_classes). */
GRAPHSS_API void graphss_transition_count(
    double *counts, const int32_t *z, const int32_t *observed, size_t n, size_t n_classes);

/* phi[t][y] = (alpha[t][y] + counts[t][y]) / sum of row t: the posterior mean. A row without
 * any mass is flat. counts NULL: the prior mean. phi may be alpha or counts. */
GRAPHSS_API void graphss_transition_mean(
    double *phi, const double *alpha, const double *counts, size_t n_classes);

#ifdef __cplusplus
}
#endif
#endif
