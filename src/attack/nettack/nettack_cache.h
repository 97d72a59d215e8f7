/* nettack_cache.h - what Nettack needs of a snapshot whoever the victims are: made once where
 * many attacks start from the same snapshot, and read by all of them. */
#ifndef GRAPHSS_GROUND_H
#define GRAPHSS_GROUND_H

#include "attack/nettack/cooccur.h"

/* {0} is empty. */
typedef struct graphss_i_ground {
    graphss_i_feature_index x;
    graphss_i_cooccur together;
    float *on;                    /* [d] what an absent word becomes */
    const float *const *believed; /* [n_believed] surrogates, each d x k; borrowed */
    size_t n_believed;
    double *xw; /* [n_believed x n x k] X W of each */
} graphss_i_ground;

/* Words of the listed nodes, those that will be attacked, have their row in `together`. */
typedef struct graphss_i_ground_input {
    const graphss_features *features; /* borrowed */
    graphss_feature_domain domain;
    const int32_t *node; /* [n_nodes] */
    size_t n_nodes, n_classes, n_believed;
    const float *const *believed;
} graphss_i_ground_input;
graphss_status graphss_i_ground_init(graphss_ctx *ctx, graphss_i_ground *ground,
                                     const graphss_i_ground_input *in);
/* X W of that surrogate; NULL: it is none of those believed. */
const double *graphss_i_ground_product(const graphss_i_ground *ground, const float *w,
                                       size_t n_classes);
void graphss_i_ground_destroy(graphss_ctx *ctx, graphss_i_ground *ground);

#endif
