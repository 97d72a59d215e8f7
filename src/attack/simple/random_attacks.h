/* random_attacks.h - attacks that draw their changes instead of computing them: what the
 * others are measured against. A control says how to draw one edge and one feature; budgets,
 * kinds, influencers and the order of victims are the same for all of them.
 *
 * The draws for a victim depend on the seed and the victim, not on who else is attacked. */
#ifndef GRAPHSS_CONTROLS_H
#define GRAPHSS_CONTROLS_H

#include "attack/attack_method.h"
#include "attack/sandbox.h"

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

/* Both draw an edge or feature of `node` that was not changed for this victim before; false:
 * there is none, or many draws found none. */
typedef struct graphss_i_control {
    bool (*edge)(graphss_i_control_state *s, int32_t node, int32_t *target);
    bool (*word)(graphss_i_control_state *s, int32_t node, int32_t *column);
} graphss_i_control;

/* Maximum number of draws until one is accepted. */
enum { GRAPHSS_I_CONTROL_TRIES = 1000 };

/* True if the edge may be added, or removed without isolating an end. */
bool graphss_i_control_may_flip(const graphss_i_control_state *s, int32_t node,
                                int32_t target);

graphss_status graphss_i_control_run(graphss_ctx *ctx, graphss_flips *out,
                                     graphss_attack_log *log, const graphss_attack_input *in,
                                     const graphss_attack_options *opt,
                                     const graphss_i_control *control);

#endif
