/* copy.h - a node is made to look like a node of another class. The attack "copy" does it, and
 * so do defences that rehearse it. */
#ifndef GRAPHSS_COPY_H
#define GRAPHSS_COPY_H

#include "attack/sandbox.h"
#include <graphss/attack.h>

typedef struct graphss_i_copying {
    bool itself;     /* joins the node copied, and its neighbours; else its neighbours alone */
    int64_t joins;   /* edges to it or its neighbours, at most */
    int64_t cuts;    /* own edges, at most, and at most half as many as were joined */
    int64_t taken;   /* words of the node copied, at most */
    int64_t dropped; /* own words that it lacks, at most; one stays */
    double share;    /* the chance that such a word is taken or dropped; 1: all */
} graphss_i_copying; /* of dense features `taken` + `dropped` values are taken over, at most */

/* Changes the victim towards a random node of another class. Where many tries meet none it is
 * left alone. in: graph, features, label; s holds that graph as it is now. edges, words: the
 * changes made. */
graphss_status graphss_i_copy_node(graphss_ctx *ctx, graphss_i_sandbox *s,
                                   graphss_flips *flips, const graphss_attack_input *in,
                                   int32_t victim, const graphss_i_copying *how,
                                   graphss_rng *rng, size_t *edges, size_t *words);

#endif
