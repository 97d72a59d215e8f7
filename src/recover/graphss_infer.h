/* graphss_infer.h - states and classes of a group of nodes and the shares of the states,
 * together, by a Gibbs sampler. */
#ifndef GRAPHSS_GRAPHSS_INFER_H
#define GRAPHSS_GRAPHSS_INFER_H

#include "recover/journal.h"

/* A group of nodes with S states; the first is "untouched". {0} is empty. */
typedef struct graphss_i_group {
    size_t m, room, k, states;
    int32_t *node; /* [m] */
    /* [m] not 0: nodes with a label, or trusted, which do not count for the shares */
    uint8_t *fixed;
    float *prob; /* [S][room x k] classes in each state */
    /* [S][room] likelihood of the node's anomalies, up to a factor a node */
    float *likelihood;
    double *posterior; /* [m x k] out */
    double *state;     /* [m x S] out */
    double share[8];   /* [S] out: of the nodes that are not fixed */
    size_t n_free;     /* nodes that are not fixed, of all ranks */
} graphss_i_group;

graphss_status graphss_i_group_open(
    graphss_ctx *ctx, graphss_i_group *g, size_t room, size_t k, size_t states);
void graphss_i_group_destroy(graphss_ctx *ctx, graphss_i_group *g);
/* Fills posterior, state and share. On several ranks the groups of all are one: shares and
 * states have the same bits however the nodes are dealt out. All ranks call it together. A
 * stage of the journal, which may be NULL. */
graphss_status graphss_i_group_infer(
    graphss_ctx *ctx, graphss_i_group *g, uint64_t seed, graphss_i_journal *journal);

#endif
