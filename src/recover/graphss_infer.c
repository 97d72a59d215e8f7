/* graphss_infer.c - the Gibbs sampler over states and classes. See graphss_infer.h. */
#include "recover/graphss_infer.h"
#include "detect/tuning.h"
#include <graphss/selfsup.h>
#include <string.h>

void graphss_i_group_destroy(graphss_ctx *ctx, graphss_i_group *g)
{
    void *const block[] = {g->node, g->fixed, g->prob, g->likelihood, g->posterior, g->state};
    for (size_t i = 0; i < sizeof block / sizeof *block; i++)
        graphss_release(ctx, block[i]);
    *g = (graphss_i_group){0};
}

graphss_status graphss_i_group_open(graphss_ctx *ctx, graphss_i_group *g, size_t room,
                                    size_t k, size_t states)
{
    *g = (graphss_i_group){.room = room, .k = k, .states = states, .share = {1}};
    g->node = graphss_i_alloc(ctx, room, sizeof *g->node);
    g->fixed = graphss_i_calloc(ctx, room, sizeof *g->fixed);
    g->prob = graphss_i_alloc(ctx, room, states * k * sizeof *g->prob);
    g->likelihood = graphss_i_alloc(ctx, room, states * sizeof *g->likelihood);
    g->posterior = graphss_i_alloc(ctx, room, k * sizeof *g->posterior);
    g->state = graphss_i_alloc(ctx, room, states * sizeof *g->state);
    return g->node && g->fixed && g->prob && g->likelihood && g->posterior && g->state
               ? GRAPHSS_OK
               : GRAPHSS_ERR_NOMEM;
}

/* P(s) ~ share likelihood, P(y) = sum over s of P(s) prob: a node whose shares are known. */
static void mix(graphss_i_group *g, size_t i)
{
    double *state = g->state + i * g->states, *posterior = g->posterior + i * g->k, sum = 0;
    for (size_t s = 0; s < g->states; s++)
        sum += state[s] = g->share[s] * (double)g->likelihood[s * g->room + i];
    memset(posterior, 0, g->k * sizeof *posterior);
    for (size_t s = 0; s < g->states; s++) {
        state[s] /= sum;
        for (size_t c = 0; c < g->k; c++)
            posterior[c] += state[s] * (double)g->prob[(s * g->room + i) * g->k + c];
    }
}

/* Nodes without a label, moved together. */
typedef struct free_rows {
    float *prob, *likelihood; /* [S x n x k], [S x n] */
    size_t *at;               /* [n] in the group */
    size_t n;
} free_rows;

static graphss_status gather(graphss_ctx *ctx, free_rows *f, const graphss_i_group *g)
{
    for (size_t i = 0; i < g->m; i++)
        f->n += !g->fixed[i];
    f->prob = graphss_i_alloc(ctx, f->n, g->states * g->k * sizeof *f->prob);
    f->likelihood = graphss_i_alloc(ctx, f->n, g->states * sizeof *f->likelihood);
    f->at = graphss_i_alloc(ctx, f->n, sizeof *f->at);
    if (!f->prob || !f->likelihood || !f->at)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0, j = 0; i < g->m; i++)
        if (!g->fixed[i])
            f->at[j++] = i;
    for (size_t s = 0; s < g->states; s++)
        for (size_t j = 0; j < f->n; j++) {
            f->likelihood[s * f->n + j] = g->likelihood[s * g->room + f->at[j]];
            memcpy(f->prob + (s * f->n + j) * g->k, g->prob + (s * g->room + f->at[j]) * g->k,
                   g->k * sizeof *f->prob);
        }
    return GRAPHSS_OK;
}

static graphss_status sample(graphss_ctx *ctx, graphss_i_group *g, const free_rows *f,
                             uint64_t seed)
{
    graphss_selfsup_result found = {0};
    graphss_state state[GRAPHSS_STATES_MAX] = {0};
    for (size_t s = 0; s < g->states; s++)
        state[s] =
            (graphss_state){.concentration = s ? TUNE_PRIOR_TAMPERED : TUNE_PRIOR_UNTOUCHED,
                            .prob = s ? f->prob + s * f->n * g->k
                                      : NULL, /* of the first: those of the input */
                            .likelihood = f->likelihood + s * f->n};
    const graphss_selfsup_input in = {.struct_size = sizeof in,
                                      .n = f->n,
                                      .n_classes = g->k,
                                      .prob = f->prob,
                                      .state = state,
                                      .n_states = g->states,
                                      .seed = seed};
    graphss_selfsup_options opt;
    graphss_selfsup_options_init(&opt);
    opt.chains = 2;
    const graphss_status st = graphss_selfsup_run(ctx, &found, &in, &opt);
    for (size_t j = 0; j < f->n && !st; j++) {
        memcpy(g->posterior + f->at[j] * g->k, found.posterior + j * g->k,
               g->k * sizeof *found.posterior);
        memcpy(g->state + f->at[j] * g->states, found.state + j * g->states,
               g->states * sizeof *found.state);
    }
    if (!st)
        memcpy(g->share, found.share, g->states * sizeof *found.share);
    graphss_selfsup_result_destroy(ctx, &found);
    return st;
}

graphss_status graphss_i_group_infer(graphss_ctx *ctx, graphss_i_group *g, uint64_t seed)
{
    free_rows f = {0};
    graphss_status st = gather(ctx, &f, g);
    for (size_t s = 0; s < g->states; s++) /* the prior, where nobody has a say */
        g->share[s] = (s ? TUNE_PRIOR_TAMPERED : TUNE_PRIOR_UNTOUCHED) /
                      (TUNE_PRIOR_UNTOUCHED + (double)(g->states - 1) * TUNE_PRIOR_TAMPERED);
    if (!st && f.n)
        st = sample(ctx, g, &f, seed);
    for (size_t i = 0; i < g->m && !st; i++)
        if (g->fixed[i])
            mix(g, i);
    g->n_free = f.n;
    graphss_release(ctx, f.prob);
    graphss_release(ctx, f.likelihood);
    graphss_release(ctx, f.at);
    return st;
}
