/* state_model.h - the states a node may be in, learned from simulated attacks: what each
 * state makes of the evidence, and how a node in it looks. */
#ifndef GRAPHSS_SUSPICION_H
#define GRAPHSS_SUSPICION_H

#include "detect/evidence.h"
#include "detect/attack_sim.h"
#include "kernels/kernels.h"

/* Untouched; one state per simulated attack; odd but like nothing known. */
enum { GRAPHSS_I_STATES = GRAPHSS_I_ATTACKS + 2 };
_Static_assert((int)GRAPHSS_I_STATES <= (int)GRAPHSS_I_ROW &&
                   (int)GRAPHSS_I_SAYS == (int)GRAPHSS_I_ROW,
               "states, and the evidence for a class, are rows of kernels");
const char *graphss_i_state_name(size_t state);

/* Rows gathered from views. */
typedef struct graphss_i_sample {
    size_t n, room;
    float *says, *odd, *weight;
    int32_t *label, *node;
} graphss_i_sample;

void graphss_i_sample_destroy(graphss_ctx *ctx, graphss_i_sample *s);
graphss_status graphss_i_sample_init(graphss_ctx *ctx, graphss_i_sample *s, size_t room,
                                     size_t k);
/* Appends a node of a view; there must be room. */
void graphss_i_sample_add(graphss_i_sample *s, const graphss_i_view *v, size_t k, int32_t node,
                          int32_t label, double weight);

enum {
    GRAPHSS_I_GATE = 1 + 2 * GRAPHSS_I_ODD, /* columns of the gate: 1, z, z^2 */
    GRAPHSS_I_WHITE = (GRAPHSS_I_ODD + GRAPHSS_I_ROW - 1) / GRAPHSS_I_ROW * GRAPHSS_I_ROW
};

typedef struct graphss_i_suspicion {
    size_t f, s; /* columns used: with history or without */
    double w[GRAPHSS_I_STATES][GRAPHSS_I_SAYS];
    float mean[GRAPHSS_I_ODD], unit[GRAPHSS_I_ODD]; /* of all nodes now: 1 / spread */
    float centre[GRAPHSS_I_ODD];                    /* of untouched nodes, scaled so */
    double *reference;                              /* [n_reference] ascending */
    size_t n_reference;
    double own;   /* weight of the classifier where it is heard alone */
    double noise; /* share of labels that are wrong */
    /* What is read node by node, states side by side. */
    const graphss_i_kernels *kernels;
    float classes[GRAPHSS_I_SAYS * GRAPHSS_I_ROW]; /* [f x ROW] w */
    float gate[GRAPHSS_I_GATE * GRAPHSS_I_ROW]; /* [1 + 2 s][a]: of attack a less untouched */
    float white[GRAPHSS_I_ODD * GRAPHSS_I_WHITE]; /* [s x WHITE] oddness of covariance 1 */
} graphss_i_suspicion;

void graphss_i_suspicion_destroy(graphss_ctx *ctx, graphss_i_suspicion *u);
/* untouched: nodes nobody attacked. attacked[a]: rows of simulated attack a, not empty;
 * those from GRAPHSS_I_MANY on are parts of others and may be. */
graphss_status graphss_i_suspicion_fit(graphss_ctx *ctx, graphss_i_suspicion *u,
                                       const graphss_i_view *now, size_t n, size_t k,
                                       const graphss_i_sample *untouched,
                                       const graphss_i_sample *attacked, bool history);
/* likelihood [STATES] of how the node looks, over that of an untouched one;
 * p [k x GRAPHSS_I_ROW] class probabilities, in each state. */
void graphss_i_suspicion_node(double *likelihood, float *p, const graphss_i_suspicion *u,
                              const graphss_i_view *v, size_t node, size_t k);
/* q[c] = sum_r state[r] p[c][r]: class probabilities whatever the state */
void graphss_i_suspicion_mix(double *q, const double *state, const float *p, size_t k);

#endif
