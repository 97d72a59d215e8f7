/* tape.h - gradients, decided once.
 *
 * A model is written down once as a list of operations on matrices (rows x cols, row-major):
 *
 *     graphss_i_var h = graphss_i_tape_spmm(t, a, graphss_i_tape_sparse_input(t, x, w0, 0));
 *     graphss_i_var y = graphss_i_tape_matmul(t, graphss_i_tape_relu(t, h), w1);
 *     graphss_i_tape_cross_entropy(t, y, node, label, n);
 *     graphss_i_tape_finish(t);
 *
 * and then replayed each epoch: forward fills every value, backward every gradient, with no
 * allocation in between. Why a tape and not hand-written forward/backward pairs per model:
 * models and defences share their operations, and a mistake in a gradient is made and found
 * once, in the operation's own test. Why record once: shapes never change, so
 * finish() can give all matrices places in one block, reusing a place as soon as its matrix
 * is dead; a two-layer GCN then needs two N x hidden matrices in all, not six.
 *
 * Recording never fails at once: a first error sticks and finish() reports it. */
#ifndef GRAPHSS_TAPE_H
#define GRAPHSS_TAPE_H

#include "base/base.h"
#include "graph/bits.h"
#include "graph/products.h"

typedef struct graphss_i_tape graphss_i_tape;
typedef int32_t graphss_i_var; /* an operation's result; negative: recording failed */

/* A sparse square matrix and its transpose; the same pointer twice when symmetric. */
typedef struct graphss_i_pair {
    const graphss_i_csr *m, *transposed;
} graphss_i_pair;

graphss_status graphss_i_tape_new(graphss_ctx *ctx, graphss_i_tape **out);
void graphss_i_tape_free(graphss_ctx *ctx, graphss_i_tape *tape);

/* ---- leaves; the arrays are borrowed until the tape is freed ---- */

graphss_i_var graphss_i_tape_constant(
    graphss_i_tape *t, const float *value, size_t rows, size_t cols);
/* backward writes its gradient to grad (overwriting; zero where nothing flows) */
graphss_i_var graphss_i_tape_weight(
    graphss_i_tape *t, const float *value, float *grad, size_t rows, size_t cols);

/* ---- linear ---- */

/* X W, X sparse and constant; dropout drops stored entries of X while training */
graphss_i_var graphss_i_tape_sparse_input(
    graphss_i_tape *t, const graphss_i_csr *x, graphss_i_var w, double dropout);
/* The same for a bit matrix and its transpose; dropout drops bits while training */
graphss_i_var graphss_i_tape_bits_input(graphss_i_tape *t, const graphss_i_bits *x,
    const graphss_i_bits *transposed, graphss_i_var w, double dropout);
/* M x */
graphss_i_var graphss_i_tape_spmm(graphss_i_tape *t, graphss_i_pair m, graphss_i_var x);
/* factor (x + M x + ... + M^steps x) */
graphss_i_var graphss_i_tape_spmm_sum(
    graphss_i_tape *t, graphss_i_pair m, graphss_i_var x, size_t steps, double factor);
/* M x with the pattern of m and the values of edge (nnz x 1), which get a gradient too.
 * transposed lists, for each entry of m's transpose, its place in m. */
graphss_i_var graphss_i_tape_spmm_edges(graphss_i_tape *t, const graphss_i_csr *m,
    const graphss_i_csr *transposed, const int64_t *transposed_at, graphss_i_var edge,
    graphss_i_var x);
/* (nnz x 1): edge_ij / sqrt(d_i d_j), d the row sums of the matrix with the pattern of m
 * (square) and the values of edge (nnz x 1): symmetric normalisation of weights that get a
 * gradient, through the sums too. Loops count where the pattern has them. 0 where a sum is
 * not positive. transposed, place: as above. */
graphss_i_var graphss_i_tape_normalise_edges(graphss_i_tape *t, const graphss_i_csr *m,
    const graphss_i_csr *transposed, const int64_t *transposed_at, graphss_i_var edge);
/* a b */
graphss_i_var graphss_i_tape_matmul(graphss_i_tape *t, graphss_i_var a, graphss_i_var b);
/* (nnz x 1): a_i . b_j for each entry (i, j) of m's pattern */
graphss_i_var graphss_i_tape_edge_dot(graphss_i_tape *t, const graphss_i_csr *m,
    const graphss_i_csr *transposed, const int64_t *transposed_at, graphss_i_var a,
    graphss_i_var b);
/* (nnz x 1): numbers for the pattern of m that fill recomputes from x in each forward
 * pass; they are treated as constants, no gradient flows back to x. fill must write every
 * number, and the same ones whatever the threads. */
typedef void (*graphss_i_fill_edges)(graphss_ctx *ctx, float *edge, const graphss_i_csr *m,
    const float *x, size_t cols, const void *user);
graphss_i_var graphss_i_tape_detached_edges(graphss_i_tape *t, const graphss_i_csr *m,
    graphss_i_var x, graphss_i_fill_edges fill, const void *user);

/* (rows x heads): x_i[h] . w[h]; x (rows x heads c) and w (1 x heads c) have the columns of
 * each head side by side */
graphss_i_var graphss_i_tape_head_dots(
    graphss_i_tape *t, graphss_i_var x, graphss_i_var w, size_t heads);
/* (nnz x heads): for each head the softmax over the row i of m's pattern of
 * leaky(to_i + from_j), where leaky multiplies what is negative by slope. to and from are
 * (n x heads). transposed, place: as above. */
graphss_i_var graphss_i_tape_attention(graphss_i_tape *t, const graphss_i_csr *m,
    const graphss_i_csr *transposed, const int64_t *place, graphss_i_var to,
    graphss_i_var from, double slope);
/* As spmm_edges, with a value for each entry and head (nnz x heads): the columns of x that
 * belong to a head are summed with its values */
graphss_i_var graphss_i_tape_spmm_heads(graphss_i_tape *t, const graphss_i_csr *m,
    const graphss_i_csr *transposed, const int64_t *place, graphss_i_var edge,
    graphss_i_var x);
/* (rows x cols / heads): the mean over the heads */
graphss_i_var graphss_i_tape_mean_heads(graphss_i_tape *t, graphss_i_var x, size_t heads);
/* M l + r, where x = [l | r] has twice as many columns */
graphss_i_var graphss_i_tape_spmm_beside(graphss_i_tape *t, graphss_i_pair m, graphss_i_var x);

/* A symmetric pattern some of whose entries are learned: each pair of nodes has one number,
 * stored in two entries. */
typedef struct graphss_i_pair_pattern {
    graphss_i_csr m;        /* without values; it is its own transpose */
    int64_t *transposed_at; /* [nnz] position of (j, i), for the entry (i, j) */
    int32_t *source;        /* [nnz] the pair of an entry, or -1: its value is 1 */
    int64_t *entry;         /* [n_pairs] one of the two entries of each pair */
    const float *weight;    /* factors of the pairs of b below; read again in each pass */
    size_t n_pairs;
} graphss_i_pair_pattern;
/* (nnz x 1): values for the pattern. a has the numbers of the first pairs, b of the others,
 * which are multiplied by p->weight; either may be -1: it has none. */
graphss_i_var graphss_i_tape_spread_pairs(
    graphss_i_tape *t, const graphss_i_pair_pattern *p, graphss_i_var a, graphss_i_var b);

/* ---- pointwise ---- */

graphss_i_var graphss_i_tape_add_bias(
    graphss_i_tape *t, graphss_i_var x, graphss_i_var bias); /* 1 x cols, to each row */
graphss_i_var graphss_i_tape_relu(graphss_i_tape *t, graphss_i_var x);
/* both at once, and then dropout, which may be 0 */
graphss_i_var graphss_i_tape_bias_relu(
    graphss_i_tape *t, graphss_i_var x, graphss_i_var bias, double dropout);
graphss_i_var graphss_i_tape_dropout(graphss_i_tape *t, graphss_i_var x, double rate);
graphss_i_var graphss_i_tape_add(graphss_i_tape *t, graphss_i_var a, graphss_i_var b);
graphss_i_var graphss_i_tape_multiply(graphss_i_tape *t, graphss_i_var a, graphss_i_var b);
graphss_i_var graphss_i_tape_scale(graphss_i_tape *t, graphss_i_var x, double factor);
/* x where it is positive and not below the threshold, else 0 */
graphss_i_var graphss_i_tape_keep_above(graphss_i_tape *t, graphss_i_var x, double threshold);
graphss_i_var graphss_i_tape_exp(graphss_i_tape *t, graphss_i_var x);
graphss_i_var graphss_i_tape_elu(graphss_i_tape *t, graphss_i_var x);
/* A draw from N(mean, variance), entry by entry; the mean when not training, unless always */
graphss_i_var graphss_i_tape_gaussian(
    graphss_i_tape *t, graphss_i_var mean, graphss_i_var variance, bool always);

/* ---- row by row ---- */

/* While training, whole rows become zero at this rate and the others are scaled up. */
graphss_i_var graphss_i_tape_drop_rows(graphss_i_tape *t, graphss_i_var x, double rate);
graphss_i_var graphss_i_tape_softmax(graphss_i_tape *t, graphss_i_var x);
/* x^(1 / temperature), each row divided by its sum: the largest stand out more the smaller
 * the temperature. x >= 0, and treated as constant: no gradient flows back. */
graphss_i_var graphss_i_tape_sharpen(graphss_i_tape *t, graphss_i_var x, double temperature);

/* ---- losses; their value is 1 x 1, several add up ---- */

/* mean over the n listed rows of -log softmax(x[node])[label]; the lists are borrowed */
graphss_i_var graphss_i_tape_cross_entropy(
    graphss_i_tape *t, graphss_i_var x, const int32_t *node, const int32_t *label, size_t n);
/* factor times that */
graphss_i_var graphss_i_tape_cross_entropy_part(graphss_i_tape *t, graphss_i_var x,
    const int32_t *node, const int32_t *label, size_t n, double factor);
/* factor times the sum of (x - y)^2 */
graphss_i_var graphss_i_tape_squared_distance(
    graphss_i_tape *t, graphss_i_var x, graphss_i_var y, double factor);
/* factor times the mean over the listed rows i of -sum_c target[i][c] log softmax(x[i])[c].
 * target [rows x cols] is borrowed and read again in each pass; a row is listed if it sums to
 * 1, and not if it is 0. Without any the loss is 0. */
graphss_i_var graphss_i_tape_soft_cross_entropy(
    graphss_i_tape *t, graphss_i_var x, const float *target, double factor);
/* factor times rows times the mean of (r_i . r_j - [i and j are connected])^2 over all edges
 * and, drawn again in each training pass, `reach` pairs a node that are not connected. 0 when
 * not training. edges is borrowed. */
graphss_i_var graphss_i_tape_edge_loss(graphss_i_tape *t, graphss_i_var r,
    const graphss_graph *edges, size_t reach, double factor);
/* factor times the sum of all squares */
graphss_i_var graphss_i_tape_sum_squares(graphss_i_tape *t, graphss_i_var x, double factor);
/* factor times the sum of (mean^2 + variance - log variance) / 2: the divergence from the
 * standard normal, but for a constant */
graphss_i_var graphss_i_tape_gaussian_kl(
    graphss_i_tape *t, graphss_i_var mean, graphss_i_var variance, double factor);

/* ---- running ---- */

/* Operations recorded until this is switched off are skipped in passes that do not train; they
 * must lead only to losses. */
void graphss_i_tape_only_training(graphss_i_tape *t, bool only);

/* Keeps a value readable after forward; all others may be overwritten. */
void graphss_i_tape_keep(graphss_i_tape *t, graphss_i_var x);
/* Plans memory. What backward differentiates is the sum of the losses recorded. */
graphss_status graphss_i_tape_finish(graphss_i_tape *t);

/* Promises that rows of the network do not see each other: a perceptron. */
void graphss_i_tape_apart(graphss_i_tape *t);
/* Products with the input compute from now on only the rows from the least to the largest of
 * the n listed; the others are 0, and so must be their gradients. n 0: all rows again. */
void graphss_i_tape_rows(graphss_i_tape *t, const int32_t *row, size_t n);

/* key drives dropout: the same key, the same masks. training false: nothing is dropped. */
void graphss_i_tape_forward(graphss_i_tape *t, bool training, uint64_t key);
/* The forward without dropout that precedes a training pass with this key and the same
 * weights: common work is done once. */
void graphss_i_tape_forward_before(graphss_i_tape *t, uint64_t key);
/* After a forward, once: the gradient of what that pass computed. */
void graphss_i_tape_backward(graphss_i_tape *t);

/* True if a training pass uses dropout, so that its values differ from those of other passes.
 */
bool graphss_i_tape_draws(const graphss_i_tape *t);
const float *graphss_i_tape_value(const graphss_i_tape *t, graphss_i_var x);
double graphss_i_tape_loss(const graphss_i_tape *t);  /* of the last forward */
size_t graphss_i_tape_bytes(const graphss_i_tape *t); /* memory of all matrices */

/* Pairs of nodes that might be connected, as the tape wants them. */

/* Pairs i < j, numbered in the order of rows, for graphss_i_tape_edge_dot. {0} is empty. */
typedef struct graphss_i_pairs {
    graphss_i_csr m, transposed; /* n x n; above and below the diagonal, columns ascending */
    int64_t *transposed_at;      /* [pairs] number of the pair of an entry of transposed */
} graphss_i_pairs;

/* Of each row of near [n_from x each], or -1, a pair with from; each pair once. */
graphss_status graphss_i_pairs_make(graphss_ctx *ctx, graphss_i_pairs *out, size_t n,
    const int32_t *from, size_t n_from, const int32_t *near, size_t each);
void graphss_i_pairs_destroy(graphss_ctx *ctx, graphss_i_pairs *p);
size_t graphss_i_pairs_count(const graphss_i_pairs *p);

/* The pattern of edges and loops, whose entries are 1, with a's and then b's pairs. Neither
 * holds edges, nor the other's pairs. b may be NULL. LIMIT: more than 2^31 - 1 pairs. */
graphss_status graphss_i_pattern_make(graphss_ctx *ctx, graphss_i_pair_pattern *out,
    const graphss_graph *graph, const graphss_i_pairs *a, const graphss_i_pairs *b);
void graphss_i_pattern_destroy(graphss_ctx *ctx, graphss_i_pair_pattern *p);

#endif
