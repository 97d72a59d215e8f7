/* live_net.h - a classifier over a graph that changes, row by row.
 *
 * A network is a chain of stages, each an array with a row per node:
 *     row i of stage 0   = scaled features of i times the first weights
 *     row i of a stage   = act(sum over j of P[i][j] x[j] + bias) W,   x the stage before
 * and the last is the softmax of that sum. All rows are kept. A row is always computed from
 * the rows of its neighbours in ascending order, never by adding a difference, and dense
 * products go row by row through one kernel: so it has the same bits whenever and with
 * whichever other rows it is computed. */
#ifndef GRAPHSS_LIVE_NET_H
#define GRAPHSS_LIVE_NET_H

#include "live/live_rows.h"
#include "models/model_private.h"

enum { GRAPHSS_I_LIVE_STAGES = 2 * GRAPHSS_I_PARAMS_MOST };

typedef struct graphss_i_live_stage {
    bool propagate, beside, relu; /* beside: mean of the left half, plus own right half */
    size_t in, mid, width; /* of a row before, between sum and W, and here; whole cache lines
                            * but for the last stage, whose width is k */
    float *bias;           /* [mid] or NULL */
    float *weight;         /* [mid x width] or NULL: none */
    float *value;          /* [room x width] */
} graphss_i_live_stage;

/* {0} is empty. */
typedef struct graphss_i_live_net {
    graphss_i_live_stage stage[GRAPHSS_I_LIVE_STAGES];
    size_t n_stages, room, k;
    graphss_i_norm norm;
    bool loops;
    const graphss_i_scaling *scaling; /* of the model */
    float *degree_scale;              /* [room] 1 / sqrt(d) or 1 / d */
    float *alone;                     /* [room x k] the answer without edges */
    /* scratch */
    uint32_t *stamp, epoch; /* [room] */
    int32_t *list, *next;   /* [room] */
    int64_t *offset;
    int32_t *column;
    float *value, *sum, *rows, *dense;
    uint8_t *differs;
    size_t rows_room, entries_room;
} graphss_i_live_net;

/* The graph and features of the network. Rows of features: dense values if dense_value is not
 * NULL, else sparse. */
typedef struct graphss_i_live_data {
    const graphss_i_live_rows *edges, *sparse;
    const float *dense; /* [n x d] or NULL */
    size_t d;
} graphss_i_live_data;

/* NULL if the model's rows can be computed in this way, else the reason why not: constant
 * text. */
const char *graphss_i_live_net_obstacle(const graphss_model *model);
graphss_status graphss_i_live_net_open(
    graphss_ctx *ctx, graphss_i_live_net *net, const graphss_model *model);
void graphss_i_live_net_close(graphss_ctx *ctx, graphss_i_live_net *net);
/* Room for n rows. */
graphss_status graphss_i_live_net_extend(graphss_ctx *ctx, graphss_i_live_net *net, size_t n);
/* Recomputes what depends on the nodes whose features changed, [n_featured], and whose edges
 * did, [n_edged]. changed: room for all nodes; it lists rows of the last stage that differ
 * afterwards, and *recomputed counts those that were computed. */
graphss_status graphss_i_live_net_update(graphss_ctx *ctx, graphss_i_live_net *net,
    const graphss_i_live_data *data, const int32_t *featured, size_t n_featured,
    const int32_t *edged, size_t n_edged, int32_t *changed, size_t *n_changed,
    size_t *recomputed);
/* [k] of a node. */
static inline float *graphss_i_live_answer(const graphss_i_live_net *net, size_t node)
{
    return net->stage[net->n_stages - 1].value + node * net->k;
}
size_t graphss_i_live_net_bytes(const graphss_i_live_net *net);

#endif
