/* network.c - trains and runs a defence's own classifier. If it predicts another snapshot than
 * it was trained on, that gets a tape of its own with the same weights. */
#include "recover/network.h"
#include "models/fit.h"
#include "models/model_type.h"
#include <math.h>
#include <string.h>

/* Everything that must outlive the tape. */
typedef struct place {
    graphss_i_propagation p; /* none: records propagate by themselves */
    graphss_i_input x;
    void *state;
    graphss_i_tape *tape;
    graphss_i_var logits;
} place;

static void leave(graphss_ctx *ctx, place *at, const graphss_i_network *type)
{
    graphss_i_tape_free(ctx, at->tape);
    if (at->state && type->release)
        type->release(ctx, at->state);
    graphss_release(ctx, at->state);
    graphss_i_input_destroy(ctx, &at->x);
    graphss_i_propagation_destroy(ctx, &at->p);
}

/* adam NULL: for prediction only. */
static graphss_status settle(graphss_ctx *ctx, place *at, const graphss_i_network *type,
    const graphss_observation *on, const graphss_recover_options *opt, const void *user,
    const graphss_i_scaling *scaling, graphss_i_params *params, graphss_i_adam *adam,
    const graphss_split *split)
{
    graphss_i_var w[GRAPHSS_I_PARAMS_MOST];
    graphss_status st = GRAPHSS_OK;
    if (type->prepare) {
        at->state = graphss_i_calloc(ctx, 1, type->state_size);
        st = at->state ? type->prepare(ctx, at->state, on, opt, user) : GRAPHSS_ERR_NOMEM;
    }
    if (!st)
        st = graphss_i_propagation_make(ctx, &at->p, on->graph, GRAPHSS_I_NORM_NONE, false);
    if (!st)
        st = graphss_i_input_make(ctx, &at->x, on->features, &at->p, 0, scaling);
    if (!st)
        st = graphss_i_tape_new(ctx, &at->tape);
    if (st)
        return st;
    graphss_i_weights_record(at->tape, w, params, adam);
    at->logits = type->record(at->tape, at->state, &at->x, w, opt, adam != NULL);
    graphss_i_tape_keep(at->tape, at->logits);
    if (adam && type->lose)
        type->lose(at->tape, at->logits, at->state, &at->x, w, opt, split);
    else if (adam)
        graphss_i_tape_cross_entropy(
            at->tape, at->logits, split->train, split->train_label, split->n_train);
    return graphss_i_tape_finish(at->tape);
}

/* posterior[i][c] = exp(x[i][c] - max) / sum */
void graphss_i_softmax_rows(double *posterior, const float *x, size_t n, size_t k)
{
    for (size_t i = 0; i < n; i++, x += k, posterior += k) {
        double top = x[0], sum = 0;
        for (size_t c = 1; c < k; c++)
            top = fmax(top, x[c]);
        for (size_t c = 0; c < k; c++)
            sum += posterior[c] = exp(x[c] - top);
        for (size_t c = 0; c < k; c++)
            posterior[c] /= sum;
    }
}

static graphss_status fit(graphss_ctx *ctx, place *at, const graphss_i_network *type,
    const graphss_i_defence_input *input, const graphss_split *split,
    const graphss_recover_options *opt, graphss_i_params *params, graphss_i_adam *adam,
    bool frozen)
{
    const graphss_i_training on = {
        params, adam, at->tape, at->logits, input->k, split, input->seed};
    if (type->fit)
        return type->fit(ctx, at->state, &on, opt, frozen);
    return graphss_i_fit(ctx, NULL, params, adam, at->tape, at->logits, input->k, split,
        input->seed, &opt->fit, "train", NULL);
}

graphss_status graphss_i_network_run(graphss_ctx *ctx, double *posterior,
    const graphss_i_network *type, const graphss_i_defence_input *input,
    const graphss_recover_options *opt, const graphss_i_params *given,
    const graphss_i_scaling *scaling, const void *user)
{
    place trained = {0}, asked = {0};
    graphss_i_params params = {0};
    graphss_i_adam adam = {0};
    graphss_i_scaling own = {.scale = 1};
    const place *answer = &asked;
    const size_t d = input->current.features->n_cols;
    graphss_status st = type->declare
                            ? type->declare(ctx, &params, opt, d, input->k)
                            : graphss_i_layered_declare(ctx, &params, &opt->fit, d, input->k);
    if (!st)
        st = graphss_i_params_allocate(ctx, &params);
    if (st)
        goto done;
    if (given) {
        if (given->count != params.count) {
            st = graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
                "the model has %zu weights, this method wants %zu", given->count,
                params.count);
            goto done;
        }
        memcpy(params.value, given->value, params.count * sizeof *params.value);
    } else {
        const graphss_split *split;
        const graphss_observation on = graphss_i_defence_training(input, &split);
        graphss_rng rng = graphss_rng_make(input->seed, GRAPHSS_STREAM_INIT);
        graphss_i_params_glorot(&params, &rng);
        scaling = &own;
        st = graphss_i_scaling_learn(ctx, &own, on.features, &opt->fit);
        if (!st)
            st = graphss_i_adam_init(ctx, &adam, &params);
        if (!st)
            st = settle(ctx, &trained, type, &on, opt, user, scaling, &params, &adam, split);
        if (!st)
            st = fit(ctx, &trained, type, input, split, opt, &params, &adam, false);
        if (input->retrain)
            answer = &trained;
    }
    const bool adapts = type->fit && !given;
    if (!st && answer == &asked)
        st = settle(ctx, &asked, type, &input->current, opt, user, scaling, &params,
            adapts ? &adam : NULL, input->split);
    if (!st && answer == &asked && adapts)
        st = fit(ctx, &asked, type, input, input->split, opt, &params, &adam, true);
    if (!st) {
        graphss_i_tape_forward(answer->tape, false, input->seed);
        graphss_i_softmax_rows(
            posterior, graphss_i_tape_value(answer->tape, answer->logits), input->n, input->k);
    }
done:
    leave(ctx, &asked, type);
    leave(ctx, &trained, type);
    graphss_i_scaling_destroy(ctx, &own);
    graphss_i_adam_destroy(ctx, &adam);
    graphss_i_params_destroy(ctx, &params);
    return st;
}
