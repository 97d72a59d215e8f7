/* network.h - a classifier that a defence brings along: its weights, the matrices it needs of
 * a snapshot, its tape, its training. A method fills graphss_i_network and calls _run. */
#ifndef GRAPHSS_NETWORK_H
#define GRAPHSS_NETWORK_H

#include "models/input.h"
#include "models/tape/params.h"
#include "recover/defence.h"

/* The data of a training. */
typedef struct graphss_i_training {
    graphss_i_params *params;
    graphss_i_adam *adam;
    graphss_i_tape *tape; /* ends in cross-entropy on split->train */
    graphss_i_var logits; /* kept, [n x k] */
    size_t k;
    const graphss_split *split;
    uint64_t seed;
} graphss_i_training;

typedef struct graphss_i_network {
    /* State that depends on the snapshot; state_size bytes, zeroed. release accepts a state
     * that prepare left half filled. Both NULL: none. */
    size_t state_size;
    graphss_status (*prepare)(graphss_ctx *ctx, void *state, const graphss_observation *on,
        const graphss_recover_options *opt, const void *user);
    void (*release)(graphss_ctx *ctx, void *state);

    /* Declares its weights for d features and k classes. NULL: those of the layers of
     * opt->fit. */
    graphss_status (*declare)(graphss_ctx *ctx, graphss_i_params *p,
        const graphss_recover_options *opt, size_t d, size_t k);
    /* Records the logits [n x k] and, when training, losses besides cross-entropy. x without
     * propagation: graphss_i_input_apply gives drop(X) W. */
    graphss_i_var (*record)(graphss_i_tape *t, const void *state, const graphss_i_input *x,
        const graphss_i_var *w, const graphss_recover_options *opt, bool training);
    /* Where training is more than Adam on the recorded losses (NULL: it is that): trains
     * weights and what of the state is learnt, and leaves the best of both there. frozen: the
     * weights stay as they are, which is asked for on a snapshot they were not trained on. */
    graphss_status (*fit)(graphss_ctx *ctx, void *state, const graphss_i_training *on,
        const graphss_recover_options *opt, bool frozen);
    /* Records a loss besides the cross-entropy, given the logits. NULL: only the cross-entropy
     * of the training nodes. */
    void (*lose)(graphss_i_tape *t, graphss_i_var logits, const void *state,
        const graphss_i_input *x, const graphss_i_var *w, const graphss_recover_options *opt,
        const graphss_split *split);
} graphss_i_network;

/* Trains on the snapshot the input names and fills the posterior of the current one. given:
 * weights of another model in the declared layout, with its scaling; then nothing is trained.
 * NULL: train. user goes to prepare. */
graphss_status graphss_i_network_run(graphss_ctx *ctx, double *posterior,
    const graphss_i_network *type, const graphss_i_defence_input *input,
    const graphss_recover_options *opt, const graphss_i_params *given,
    const graphss_i_scaling *scaling, const void *user);

/* posterior [n x k] of logits x */
void graphss_i_softmax_rows(double *posterior, const float *x, size_t n, size_t k);

#endif
