/* local_net.h - a trained model around one node, with edges whose strength can be varied.
 *
 * The prediction for the victim depends on the nodes within as many hops as the model
 * propagates. This is that subgraph, with b candidate pairs (victim, u) added: strength p_c =
 * 0 leaves pair c as it is, 1 flips it (joins or cuts), and in between the edge counts for its
 * fraction, in the sums and in the degrees of both ends. The margin max_{k != y} z_k - z_y of
 * the victim's logits and its exact gradient with respect to p come from one pass over the
 * tape. */
#ifndef GRAPHSS_LOCAL_NET_H
#define GRAPHSS_LOCAL_NET_H

#include "graph/edits.h"
#include "models/model_private.h"
#include <stddef.h>

/* State shared by all victims of a run. */
typedef struct graphss_i_local_model {
    const graphss_model *model; /* borrowed */
    graphss_i_norm norm;
    bool loops;
    size_t hops;       /* before the first bias */
    size_t depth;      /* propagations in all */
    size_t width;      /* columns of xw */
    float *xw;         /* [n x width] X W_0, rows prepared as the model does */
    int32_t *local_id; /* [n] number in the piece, or -1 */
} graphss_i_local_model;

/* INVALID: a model that ignores edges; SHAPE: another number of features. */
graphss_status graphss_i_local_model_init(graphss_ctx *ctx, graphss_i_local_model *lm,
    const graphss_model *model, size_t n_nodes, const graphss_features *features);
void graphss_i_local_model_destroy(graphss_ctx *ctx, graphss_i_local_model *lm);

typedef struct graphss_i_local_net {
    const graphss_i_local_model *lm;
    size_t n, b, n_classes;      /* nodes, candidates */
    int32_t *node;               /* [n] number in the graph; the victim first */
    int32_t *candidate;          /* [b] number in the piece */
    double *sign;                /* [b] +1: p joins, -1: p cuts */
    double *degree;              /* [n] with loops, candidates at 0 */
    graphss_i_csr m, transposed; /* n x n; rows beyond reach are empty */
    int64_t *entry;              /* of the transpose: its place in m */
    int32_t *which;              /* [nnz] the candidate of an entry, or -1 */
    float *gathered;             /* [n x width] rows of xw */
    float *grad;                 /* [nnz] of m's values */
    double *d_now, *d_grad;      /* [n] scratch */
    int32_t row, label;          /* of the loss: 0, y */
    graphss_i_tape *tape;
} graphss_i_local_net;

/* candidate: b different nodes, none the victim. */
graphss_status graphss_i_local_net_init(graphss_ctx *ctx, graphss_i_local_net *net,
    graphss_i_local_model *lm, const graphss_i_rows *edges, int32_t victim, int32_t label,
    const int32_t *candidate, size_t b);
void graphss_i_local_net_destroy(graphss_ctx *ctx, graphss_i_local_net *net);

/* The margin at p [b]; grad [b] may be NULL. */
double graphss_i_local_net_margin(graphss_i_local_net *net, double *grad, const double *p);

/* ---- the nearest point with entries in [0, 1] and a bounded sum ---- */

/* p becomes argmin |q - p|^2 over 0 <= q <= 1, sum q <= budget: q = clip(p - mu) for the
 * least mu >= 0 that keeps the sum. */
void graphss_i_project_budget(double *p, size_t n, double budget);

#endif
