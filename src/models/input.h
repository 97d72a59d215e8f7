/* input.h - the first layer's product P^hops X W, by the cheapest of three methods.
 *
 * The methods, compared by cost before training:
 *   sparse  P (... (P (X W))): a product with X's stored entries, then hops with P's
 *   bits    the same, where each row of X holds zeros and one other number: see graph/bits.h
 *   dense   (P^hops X) W: the matrix in brackets is computed once, then one GEMM an epoch
 * Sparse wins on most bags of words (Cora, Coauthor CS), bits on those that are fuller than a
 * sixth (Amazon Photo, 35 %); dense where X is full, or nearly so and hops are many. */
#ifndef GRAPHSS_INPUT_H
#define GRAPHSS_INPUT_H

#include "graph/bits.h"
#include "graph/normalise.h"
#include "models/tape/tape.h"
#include <graphss/model.h>

typedef struct graphss_i_input {
    size_t n_rows, n_cols, hops;
    /* One of these, the others are empty. */
    graphss_i_csr sparse;            /* X, its pattern borrowed from the features */
    graphss_i_bits bits, transposed; /* X and its transpose */
    float *dense;                    /* [n_rows x n_cols] P^hops X */

    const float *product; /* [n_rows x product_cols] X W itself, borrowed */

    size_t product_cols;
    float *number;                  /* [n_rows] of bits */
    const graphss_i_propagation *p; /* borrowed */
} graphss_i_input;

/* What is done to features before a classifier sees them, learned from the snapshot it is
 * trained on: scale gain_c (x_ic / sum_i - mean_c). */
typedef struct graphss_i_scaling {
    bool row_normalise;
    double scale;
    float *mean, *gain; /* [n_cols] each, one block; NULL: columns are not scaled */
} graphss_i_scaling;

/* As opt says; the arrays are destroyed by the caller. A column without spread has gain 0. */
graphss_status graphss_i_scaling_learn(graphss_ctx *ctx, graphss_i_scaling *out,
    const graphss_features *features, const graphss_train_options *opt);
graphss_status graphss_i_scaling_copy(
    graphss_ctx *ctx, graphss_i_scaling *out, const graphss_i_scaling *from, size_t n_cols);
void graphss_i_scaling_destroy(graphss_ctx *ctx, graphss_i_scaling *scaling);

/* 1 / sqrt(mean_i |x_i|^2), rows as row_normalise says: the factor that gives rows of length
 * one on average, so that one learning rate and one weight decay suit long and short rows. 1
 * if all are 0. */
double graphss_i_input_scale(const graphss_features *features, bool row_normalise);

/* features and p are borrowed as long as the input is used. Columns with a mean of their own
 * use the dense method, however the features are stored. DATA: a value that is not finite. */
graphss_status graphss_i_input_make(graphss_ctx *ctx, graphss_i_input *out,
    const graphss_features *features, const graphss_i_propagation *p, size_t hops,
    const graphss_i_scaling *scaling);
void graphss_i_input_destroy(graphss_ctx *ctx, graphss_i_input *input);

/* X W of a snapshot. {0} is empty, and it stays empty with the dense method. */
typedef struct graphss_i_product {
    float *value; /* [n_rows x n_cols] */
    size_t n_rows, n_cols;
    bool bits; /* the method; methods round differently */
} graphss_i_product;

/* A snapshot whose product with the same weights is known: equal rows are copied from there.
 * there [rows]: the number of a row in it, -1 for none; NULL: the same. */
typedef struct graphss_i_known {
    const graphss_features *features;
    const graphss_i_product *product;
    const int32_t *there;
} graphss_i_known;

/* As graphss_i_input_make, to predict with weights w [n_cols x cols] only: the product is
 * computed at once, and borrowed as long as the input is used. known: or NULL. */
graphss_status graphss_i_input_multiply(graphss_ctx *ctx, graphss_i_input *out,
    graphss_i_product *product, const graphss_features *features,
    const graphss_i_propagation *p, size_t hops, const graphss_i_scaling *scaling,
    const float *w, size_t cols, const graphss_i_known *known);
/* value [n x cols]: the rows of the same product for other features. *same: whether these use
 * the same method; else nothing is written. entries: of P. */
graphss_status graphss_i_product_rows(graphss_ctx *ctx, float *value, bool *same,
    const graphss_i_product *product, const graphss_features *features, size_t entries,
    size_t hops, const graphss_i_scaling *scaling, const float *w, const int32_t *row,
    size_t n);
void graphss_i_product_destroy(graphss_ctx *ctx, graphss_i_product *product);

/* Records P^hops drop(X) w on a tape (dense method: drop(P^hops X) w). If the product is
 * known, w is ignored. */
graphss_i_var graphss_i_input_apply(
    graphss_i_tape *t, const graphss_i_input *input, graphss_i_var w, double dropout);

#endif
