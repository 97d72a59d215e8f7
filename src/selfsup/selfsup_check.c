/* selfsup_check.c - the options of self-supervision, and all checks of its input, made before
 * anything is allocated. */
#include "selfsup/selfsup_private.h"
#include <float.h>
#include <math.h>

void graphss_selfsup_input_init(graphss_selfsup_input *in)
{
    *in = (graphss_selfsup_input){.struct_size = sizeof *in};
}

void graphss_selfsup_options_init(graphss_selfsup_options *opt)
{
    *opt = (graphss_selfsup_options){.struct_size = sizeof(graphss_selfsup_options),
        .sweeps = 100,
        .warmup = 40,
        .chains = 4,
        .update = GRAPHSS_UPDATE_DRAW,
        .phi = GRAPHSS_PHI_DYNAMIC,
        .phi_every = 10,
        .retrain_every = 10,
        .refit_rule = GRAPHSS_REFIT_ALWAYS};
}

void graphss_selfsup_options_init_paper(graphss_selfsup_options *opt)
{
    graphss_selfsup_options_init(opt);
    opt->chains = 1;
    opt->update = GRAPHSS_UPDATE_ARGMAX;
    opt->refit_rule = GRAPHSS_REFIT_AGREEMENT;
    opt->frozen = true;
}

#define FIELD(name) offsetof(graphss_selfsup_options, name)

static const char *const updates[] = {"draw", "argmax", NULL};
static const char *const phis[] = {"dynamic", "fixed", NULL};
static const char *const refit_rules[] = {"always", "agreement", NULL};

static const graphss_option table[] = {
    {"sweeps", GRAPHSS_OPTION_INT, FIELD(sweeps), 1, 1e6, NULL, "N",
        "sweeps over all nodes, warm-up included", 0},
    {"warmup", GRAPHSS_OPTION_INT, FIELD(warmup), 0, 1e6, NULL, "N",
        "first sweeps, with the transition matrix of the training nodes", 0},
    {"burn-in", GRAPHSS_OPTION_INT, FIELD(burn_in), 0, 1e6, NULL, "N",
        "sweeps after warm-up that are not averaged", 0},
    {"chains", GRAPHSS_OPTION_INT, FIELD(chains), 1, 64, NULL, "N",
        "independent runs of the sampler", 0},
    {"update", GRAPHSS_OPTION_CHOICE, FIELD(update), 0, 0, updates, "HOW",
        "draw labels (exact) or take the likeliest (the paper's code)", 0},
    {"phi", GRAPHSS_OPTION_CHOICE, FIELD(phi), 0, 0, phis, "HOW",
        "learn the transition matrix or keep that of warm-up", 0},
    {"phi-every", GRAPHSS_OPTION_INT, FIELD(phi_every), 1, 1e6, NULL, "N",
        "with argmax: sweeps between two updates of the transition matrix", 0},
    {"retrain-every", GRAPHSS_OPTION_INT, FIELD(retrain_every), 1, 1e6, NULL, "N",
        "sweeps between two refits of the classifier", 0},
    {"refit-rule", GRAPHSS_OPTION_CHOICE, FIELD(refit_rule), 0, 0, refit_rules, "HOW",
        "when to refit: always, or if agreement with the first source rose", 0},
    {"frozen", GRAPHSS_OPTION_BOOL, FIELD(frozen), 0, 1, NULL, NULL,
        "with argmax and phi fixed: never change a label, as the paper's code", 0},
    {0}};

const graphss_option *graphss_selfsup_options_table(void)
{
    return table;
}

graphss_status graphss_i_check_prob(
    graphss_ctx *ctx, const float *prob, size_t n, size_t K, const char *where)
{
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t k = 0; k < K; k++) {
            const float x = prob[i * K + k];
            if (!(x >= 0 && x <= FLT_MAX))
                return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                    "%s: node %zu, class %zu: %g is no probability", where, i, k, (double)x);
            sum += (double)x;
        }
        if (!(sum > 0))
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                "%s: node %zu: every class has probability 0", where, i);
    }
    return GRAPHSS_OK;
}

static graphss_status check_phi(graphss_ctx *ctx, const double *phi, size_t K, size_t source)
{
    for (size_t t = 0; t < K; t++) {
        double sum = 0;
        for (size_t y = 0; y < K; y++) {
            const double x = phi[t * K + y];
            if (!(x >= 0 && x <= 1))
                return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                    "source %zu: phi (%zu, %zu) is %g, want 0 to 1", source, t, y, x);
            sum += x;
        }
        if (fabs(sum - 1) > 1e-4)
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                "source %zu: row %zu of phi sums to %g, want 1", source, t, sum);
    }
    return GRAPHSS_OK;
}

static graphss_status check_source(graphss_ctx *ctx, const graphss_selfsup_input *in, size_t m)
{
    const graphss_source *source = &in->source[m];
    const size_t K = in->n_classes;
    graphss_status st = GRAPHSS_OK;
    if (!source->label)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "source %zu: no labels", m);
    for (size_t i = 0; i < in->n; i++)
        if (source->label[i] < -1 || source->label[i] >= (int64_t)K)
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                "source %zu, node %zu: label %d, want -1 to %zu", m, i, (int)source->label[i],
                K - 1);
    if (source->phi)
        st = check_phi(ctx, source->phi, K, m);
    for (size_t s = 1; !st && source->tampered && source->tampered_phi && s < in->n_states;
         s++)
        st = check_phi(ctx, source->tampered_phi + (s - 1) * K * K, K, m);
    return st;
}

static graphss_status check_state(graphss_ctx *ctx, const graphss_selfsup_input *in, size_t s)
{
    const graphss_state *state = &in->state[s];
    if (!(state->concentration > 0 && state->concentration <= 1e12))
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "state %zu: concentration %g, want above 0, at most 1e12", s,
            state->concentration);
    for (size_t i = 0; state->likelihood && i < in->n; i++)
        if (!(state->likelihood[i] >= 0 && state->likelihood[i] <= FLT_MAX))
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                "state %zu, node %zu: likelihood %g, want 0 or more", s, i,
                (double)state->likelihood[i]);
    if (!state->prob)
        return GRAPHSS_OK;
    if (s == 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "state 0: has probabilities of its own, want the input's");
    char where[48];
    snprintf(where, sizeof where, "state %zu", s);
    return graphss_i_check_prob(ctx, state->prob, in->n, in->n_classes, where);
}

static graphss_status check_argmax(
    graphss_ctx *ctx, const graphss_selfsup_input *in, const graphss_selfsup_options *opt)
{
    if (in->n_sources != 1 || in->n_states > 0 || opt->chains != 1)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "update argmax: found %zu sources, %zu states, %lld chains; "
            "want one source, one chain and no switch",
            in->n_sources, in->n_states, (long long)opt->chains);
    return GRAPHSS_OK;
}

graphss_status graphss_i_selfsup_check(
    graphss_ctx *ctx, const graphss_selfsup_input *in, const graphss_selfsup_options *opt)
{
    graphss_status st = graphss_options_check(ctx, opt, table);
    if (st)
        return st;
    if (opt->warmup + opt->burn_in >= opt->sweeps)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "%lld sweeps of warm-up and %lld of burn-in leave none of %lld",
            (long long)opt->warmup, (long long)opt->burn_in, (long long)opt->sweeps);
    size_t cells;
    if (in->n == 0 || in->n_classes < 2 || in->n_classes > 65535 ||
        !graphss_i_mul(&cells, in->n, in->n_classes))
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "%zu nodes and %zu classes, want at least 1 and 2 to 65535", in->n, in->n_classes);
    if (in->n_sources > GRAPHSS_SOURCES_MAX || in->n_states > GRAPHSS_STATES_MAX ||
        in->n_states == 1)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "%zu sources and %zu states, want at most %d sources, and no "
            "states or 2 to %d",
            in->n_sources, in->n_states, (int)GRAPHSS_SOURCES_MAX, (int)GRAPHSS_STATES_MAX);
    if (in->refit && opt->refit_rule == GRAPHSS_REFIT_AGREEMENT && in->n_sources == 0)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "--refit-rule agreement: no source to agree with");
    if (opt->update == GRAPHSS_UPDATE_ARGMAX)
        st = check_argmax(ctx, in, opt);
    if (!st)
        st = graphss_i_check_prob(ctx, in->prob, in->n, in->n_classes, "probabilities");
    for (size_t m = 0; !st && m < in->n_sources; m++)
        st = check_source(ctx, in, m);
    for (size_t s = 0; !st && s < in->n_states; s++)
        st = check_state(ctx, in, s);
    return st;
}
