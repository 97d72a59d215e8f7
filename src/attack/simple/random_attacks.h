/* random_attacks.h - attacks without a model. Random and dice, the controls for the others,
 * draw their changes. A control says how to draw one edge and one feature; budgets,
 * influencers and the order of victims are the same for all of them. The draws for a victim
 * depend on the seed and the victim, not on who else is attacked. Below them: changes that
 * imitate another node. */
#ifndef GRAPHSS_CONTROLS_H
#define GRAPHSS_CONTROLS_H

#include "attack/attack_method.h"
#include "base/base.h"
#include <graphss/attack.h>

typedef struct graphss_i_control_state {
    const graphss_attack_input *in;
    graphss_i_sandbox world;
    graphss_rng rng;
    float *on;          /* [d] value of an added feature */
    int32_t *edge_turn; /* [n], [d] the last victim for which this edge or feature was changed,
                         * from 1 */
    int32_t *feature_turn;
    int32_t turn; /* number of the current victim, from 1 */
} graphss_i_control_state;

/* Both draw an edge or feature of `node` that was not changed for this victim before; false if
 * there is none, or if many draws found none. */
typedef struct graphss_i_control {
    bool (*edge)(graphss_i_control_state *s, int32_t node, int32_t *target);
    bool (*word)(graphss_i_control_state *s, int32_t node, int32_t *column);
} graphss_i_control;

/* Maximum number of draws until one is accepted. */
enum { GRAPHSS_I_CONTROL_TRIES = 1000 };

/* True if the edge may be added, or removed without isolating an end. */
bool graphss_i_control_may_flip(
    const graphss_i_control_state *s, int32_t node, int32_t target);

graphss_status graphss_i_control_run(graphss_ctx *ctx, graphss_flips *out,
    graphss_attack_log *log, const graphss_attack_input *in, const graphss_attack_options *opt,
    const graphss_i_control *control);

/* Makes a node look like a node of another class. The attack "copy" uses it, and so
 * do defences that simulate attacks. */
typedef struct graphss_i_copying {
    bool itself;     /* connect to the copied node and its neighbours; else only to its
                      * neighbours */
    int64_t joins;   /* edges to it or its neighbours, at most */
    int64_t cuts;    /* own edges removed, at most; also at most half as many as were added */
    int64_t taken;   /* features of the copied node added, at most */
    int64_t dropped; /* most own features removed that the copied node lacks; one stays */
    double share;    /* probability that such a feature is added or removed; 1: all */
} graphss_i_copying; /* dense features: at most `taken` + `dropped` values are copied */

/* Changes the victim towards a random node of another class. If many draws find none, the
 * victim is left unchanged. in: graph, features, label; s holds the current graph. edges,
 * words: the number of changes made. */
graphss_status graphss_i_copy_node(graphss_ctx *ctx, graphss_i_sandbox *s,
    graphss_flips *flips, const graphss_attack_input *in, int32_t victim,
    const graphss_i_copying *how, graphss_rng *rng, size_t *edges, size_t *words);

#endif
