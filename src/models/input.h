/* input.h - the first layer's product P^hops X W, by the cheapest road.
 *
 * Two roads, compared by cost before training:
 *   sparse  P (... (P (X W))): a product with X's stored entries, then hops with P's
 *   dense   (P^hops X) W: the matrix in brackets is computed once, then one GEMM an epoch
 * Dense wins where X is dense enough that GEMM's speed makes up for its zeros (Amazon Photo,
 * 35 % filled), and saves the hops; it loses on bags of words (Coauthor CS). */
#ifndef GRAPHSS_INPUT_H
#define GRAPHSS_INPUT_H

#include "graph/normalise.h"
#include "models/tape.h"

typedef struct graphss_i_input {
    size_t n_rows, n_cols, hops;
    graphss_i_csr sparse; /* X, its pattern borrowed from the features; when dense is NULL */
    float *dense;         /* [n_rows x n_cols] P^hops X */
    const graphss_i_propagation *p; /* borrowed */
} graphss_i_input;

/* 1 / sqrt(mean_i |x_i|^2), rows as row_normalise says: the number that gives rows of length
 * one on average, so that one learning rate and one weight decay suit long and short rows.
 * 1 where there is nothing to scale. */
double graphss_i_input_scale(const graphss_features *features, bool row_normalise);

/* All features are multiplied by scale. features and p are borrowed as long as the input is used. DATA: a
 * value that is not finite. */
graphss_status graphss_i_input_make(graphss_ctx *ctx, graphss_i_input *out,
                                    const graphss_features *features,
                                    const graphss_i_propagation *p, size_t hops,
                                    bool row_normalise, double scale);
void graphss_i_input_destroy(graphss_ctx *ctx, graphss_i_input *input);

/* Records P^hops drop(X) w on a tape (on the dense road: drop(P^hops X) w). */
graphss_i_var graphss_i_input_apply(graphss_i_tape *t, const graphss_i_input *input,
                                    graphss_i_var w, double dropout);

#endif
