/* appnp.c - APPNP (Gasteiger et al., ICLR 2019): a perceptron's answers, spread.
 *
 *   H = MLP(X),  Z_0 = H,  Z <- alpha P Z + (1 - alpha) H,  logits = Z_steps
 *   P = D^-1/2 (A + I) D^-1/2
 *
 * Minimises cross-entropy. Sees edges, features and training labels. Not meant as a
 * defence, but far neighbours dilute what an attacker added next to a node. A network of
 * its own: which model is given matters for the undefended answer only. Costs a perceptron
 * and steps * edges * classes an epoch. */
#include "graph/normalise.h"
#include "models/model_type.h"
#include "recover/network.h"
#include "recover/option_rows.h"

static void release(graphss_ctx *ctx, void *state)
{
    graphss_i_propagation_destroy(ctx, state);
}

static graphss_status prepare(graphss_ctx *ctx, void *state, const graphss_observation *on,
    const graphss_recover_options *opt, const void *user)
{
    (void)opt, (void)user;
    return graphss_i_propagation_make(ctx, state, on->graph, GRAPHSS_I_NORM_SYMMETRIC, true);
}

static graphss_i_var record(graphss_i_tape *t, const void *state, const graphss_i_input *x,
    const graphss_i_var *w, const graphss_recover_options *opt, bool training)
{
    (void)training;
    const graphss_i_propagation *p = state;
    const graphss_i_pair m = {&p->m, &p->m};
    const graphss_i_var h = graphss_i_layered_record(t, &opt->fit, x, w);
    const graphss_i_var own = graphss_i_tape_scale(t, h, 1 - opt->propagation.alpha);
    graphss_i_var z = h;
    for (int64_t s = 0; s < opt->propagation.steps; s++) {
        z = graphss_i_tape_scale(t, graphss_i_tape_spmm(t, m, z), opt->propagation.alpha);
        z = graphss_i_tape_add(t, z, own);
    }
    return z;
}

static const graphss_i_network network = {.state_size = sizeof(graphss_i_propagation),
    .prepare = prepare,
    .release = release,
    .record = record};

static void adjust(graphss_recover_options *opt)
{
    graphss_train_options_init(&opt->fit, "mlp", GRAPHSS_MODE_DEFAULT, NULL);
    opt->fit.hidden = 64;
    opt->propagation.alpha = 0.9;
    opt->propagation.steps = 10;
}

static const graphss_option options[] = {GRAPHSS_I_COMMON_ROWS,
    GRAPHSS_I_ROW_ALPHA(propagation), GRAPHSS_I_ROW_STEPS(propagation), GRAPHSS_I_FIT_ROWS,
    {0}};

const graphss_i_defence graphss_i_appnp_defence = {
    .name = "appnp",
    .summary = "APPNP: a perceptron's answers spread over the links (Gasteiger et al. 2019)",
    .evasion = "trained on the previous snapshot, then the current one",
    .retrain = "trained on the current snapshot",
    .options = options,
    .learns = true,
    .needs_edges = true,
    .evasion_previous = true,
    .adjust = adjust,
    .network = &network,
};
