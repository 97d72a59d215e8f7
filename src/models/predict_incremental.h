/* predict_incremental.h - a pass over a snapshot that differs from another one in a few nodes.
 */
#ifndef GRAPHSS_AGAIN_H
#define GRAPHSS_AGAIN_H

#include "models/input.h"
#include "models/tape/params.h"
#include <graphss/model.h>

/* The intermediate results of a pass, for the next one. {0} is empty. */
typedef struct graphss_i_forward_cache {
    graphss_i_product first; /* X W0, unless the method is dense */
    float *second;           /* [n x k] relu(P X W0 + b0) W1, of two layers */
    graphss_i_params params; /* padded; with second */
} graphss_i_forward_cache;

/* A snapshot with its pass and the result. */
typedef struct graphss_i_base {
    const graphss_graph *graph;
    const graphss_features *features;
    const float *prob;             /* [n x k] */
    graphss_i_forward_cache *pass; /* used as scratch, and restored afterwards */
} graphss_i_base;

/* p[c] = exp(x[c] - max) / sum; p may be x. */
void graphss_i_softmax_row(float *p, const float *x, size_t k);
void graphss_i_forward_cache_destroy(graphss_ctx *ctx, graphss_i_forward_cache *pass);
/* Two layers that propagate, once each. */
bool graphss_i_has_two_layers(const graphss_model *model);
/* pass->first and params are filled, and m is P; computes the rest and prob. */
graphss_status graphss_i_forward_cache_make(graphss_ctx *ctx, float *prob,
    graphss_i_forward_cache *pass, const graphss_model *model, const graphss_i_csr *m);
/* For the same nodes under the same numbers. *done: prob is filled; else too much changed.
 * wanted [n] or NULL: other rows of prob may be those of the known snapshot. */
graphss_status graphss_i_predict_changed(graphss_ctx *ctx, float *prob, bool *done,
    const graphss_model *model, const graphss_graph *graph, const graphss_features *features,
    const graphss_i_base *base, const uint8_t *wanted);

#endif
