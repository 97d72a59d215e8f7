/* copy.h - makes a node look like a node of another class. The attack "copy" uses it, and so
 * do defences that simulate attacks. */
#ifndef GRAPHSS_COPY_H
#define GRAPHSS_COPY_H

#include "attack/sandbox.h"
#include <graphss/attack.h>

typedef struct graphss_i_copying {
    bool itself;     /* connect to the copied node and its neighbours; else only to its
                      * neighbours */
    int64_t joins;   /* edges to it or its neighbours, at most */
    int64_t cuts;    /* own edges removed, at most; also at most half as many as were added */
    int64_t taken;   /* features of the copied node added, at most */
    int64_t dropped; /* own features removed that the copied node lacks, at most; one stays */
    double share;    /* probability that such a feature is added or removed; 1: all */
} graphss_i_copying; /* dense features: at most `taken` + `dropped` values are copied */

/* Changes the victim towards a random node of another class. If many draws find none, the
 * victim is left unchanged. in: graph, features, label; s holds the current graph. edges,
 * words: the number of changes made. */
graphss_status graphss_i_copy_node(graphss_ctx *ctx, graphss_i_sandbox *s,
                                   graphss_flips *flips, const graphss_attack_input *in,
                                   int32_t victim, const graphss_i_copying *how,
                                   graphss_rng *rng, size_t *edges, size_t *words);

#endif
