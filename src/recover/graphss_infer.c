/* graphss_infer.c - the Gibbs sampler over states and classes. See graphss_infer.h. */
#include "recover/graphss_infer.h"
#include "detect/tuning.h"
#include "graph/part.h"
#include <graphss/selfsup.h>
#include <stdlib.h>
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

/* P(y) = sum over s of P(s) P(y | s) */
static void mix(graphss_i_group *g, size_t i)
{
    const double *state = g->state + i * g->states;
    double *posterior = g->posterior + i * g->k;
    memset(posterior, 0, g->k * sizeof *posterior);
    for (size_t s = 0; s < g->states; s++) {
        const float *p = g->prob + (s * g->room + i) * g->k;
        double sum = 0;
        for (size_t c = 0; c < g->k; c++)
            sum += (double)p[c];
        for (size_t c = 0; c < g->k; c++)
            posterior[c] += state[s] / sum * (double)p[c];
    }
}

/* P(s) ~ share likelihood: a node whose shares are known. */
static void weigh(graphss_i_group *g, size_t i)
{
    double *state = g->state + i * g->states, sum = 0;
    for (size_t s = 0; s < g->states; s++)
        sum += state[s] = g->share[s] * (double)g->likelihood[s * g->room + i];
    for (size_t s = 0; s < g->states; s++)
        state[s] /= sum;
}

/* Nodes without a label, of all ranks in the order of their global numbers. */
typedef struct free_rows {
    float *likelihood; /* [n x S] */
    double *state;     /* [n x S] */
    size_t n;
} free_rows;

/* The sampler sees likelihoods alone: no source speaks of classes, whose chances follow from
 * those of the states. */
static graphss_status sample(graphss_ctx *ctx, free_rows *f, double *share, size_t states,
                             uint64_t seed)
{
    enum { CLASSES = 2 }; /* all the same to it */
    graphss_selfsup_result found = {0};
    graphss_state state[GRAPHSS_STATES_MAX] = {0};
    float *even = graphss_i_alloc(ctx, f->n, CLASSES * sizeof *even);
    float *column = graphss_i_alloc(ctx, f->n, states * sizeof *column);
    graphss_status st = even && column ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < f->n * CLASSES && !st; i++)
        even[i] = 1.0f / CLASSES;
    for (size_t s = 0; s < states && !st; s++) {
        for (size_t i = 0; i < f->n; i++)
            column[s * f->n + i] = f->likelihood[i * states + s];
        state[s] =
            (graphss_state){.concentration = s ? TUNE_PRIOR_TAMPERED : TUNE_PRIOR_UNTOUCHED,
                            .likelihood = column + s * f->n};
    }
    const graphss_selfsup_input in = {.struct_size = sizeof in,
                                      .n = f->n,
                                      .n_classes = CLASSES,
                                      .prob = even,
                                      .state = state,
                                      .n_states = states,
                                      .seed = seed};
    graphss_selfsup_options opt;
    graphss_selfsup_options_init(&opt);
    opt.chains = 2;
    if (!st)
        st = graphss_selfsup_run(ctx, &found, &in, &opt);
    if (!st) {
        memcpy(f->state, found.state, f->n * states * sizeof *f->state);
        memcpy(share, found.share, states * sizeof *share);
    }
    graphss_selfsup_result_destroy(ctx, &found);
    graphss_release(ctx, even);
    graphss_release(ctx, column);
    return st;
}

/* ---- the nodes of all ranks ---- */

/* A node without a label on its way to the sampler; the state comes back the same way. */
typedef struct entry {
    int64_t id;
    size_t from; /* where it came in */
} entry;

static int by_id(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* What rank 0, which samples, and the others send each other. Alone it is all one's own. */
typedef struct post {
    size_t *in, *out;  /* [ranks] nodes to and from this rank */
    int64_t *id;       /* [m] of the own nodes; */
    float *likelihood; /* [m x S] */
    double *state;     /* [m x S] */
    size_t m, total;   /* nodes of this rank; of all, on rank 0 */
    int64_t *all_id;   /* on rank 0 [total], as they came in */
    float *all_likelihood;
    double *all_state;
    entry *order; /* [total] by id */
} post;

static void post_close(graphss_ctx *ctx, post *p)
{
    void *const block[] = {
        p->in,        p->out,  p->id, p->likelihood, p->state, p->all_id, p->all_likelihood,
        p->all_state, p->order};
    for (size_t i = 0; i < sizeof block / sizeof *block; i++)
        graphss_release(ctx, block[i]);
}

static graphss_status post_open(graphss_ctx *ctx, post *p, const graphss_i_group *g)
{
    const graphss_i_part *part = graphss_i_ctx_part(ctx);
    const size_t ranks = graphss_i_ranks(ctx), S = g->states;
    for (size_t i = 0; i < g->m; i++)
        p->m += !g->fixed[i];
    p->in = graphss_i_calloc(ctx, ranks, sizeof *p->in);
    p->out = graphss_i_calloc(ctx, ranks, sizeof *p->out);
    p->id = graphss_i_alloc(ctx, p->m, sizeof *p->id);
    p->likelihood = graphss_i_alloc(ctx, p->m, S * sizeof *p->likelihood);
    p->state = graphss_i_alloc(ctx, p->m, S * sizeof *p->state);
    if (!p->in || !p->out || !p->id || !p->likelihood || !p->state)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0, j = 0; i < g->m; i++) {
        if (g->fixed[i])
            continue;
        p->id[j] = part ? part->id[g->node[i]] : g->node[i];
        for (size_t s = 0; s < S; s++)
            p->likelihood[j * S + s] = g->likelihood[s * g->room + i];
        j++;
    }
    p->out[0] = p->m;
    return GRAPHSS_OK;
}

static graphss_status post_send(graphss_ctx *ctx, post *p, free_rows *f, size_t S)
{
    graphss_status st = graphss_i_ranks_counts(ctx, p->in, p->out);
    if (st)
        return st;
    for (size_t r = 0; r < graphss_i_ranks(ctx); r++)
        p->total += p->in[r];
    p->all_id = graphss_i_alloc(ctx, p->total, sizeof *p->all_id);
    p->all_likelihood = graphss_i_alloc(ctx, p->total, S * sizeof *p->all_likelihood);
    p->all_state = graphss_i_alloc(ctx, p->total, S * sizeof *p->all_state);
    p->order = graphss_i_alloc(ctx, p->total, sizeof *p->order);
    f->likelihood = graphss_i_alloc(ctx, p->total, S * sizeof *f->likelihood);
    f->state = graphss_i_alloc(ctx, p->total, S * sizeof *f->state);
    const bool made = p->all_id && p->all_likelihood && p->all_state && p->order &&
                      f->likelihood && f->state;
    st = graphss_engine_agree(ctx, made ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    if (!st)
        st = graphss_i_ranks_exchange(ctx, p->all_id, p->in, p->id, p->out, sizeof *p->id);
    if (!st)
        st = graphss_i_ranks_exchange(ctx, p->all_likelihood, p->in, p->likelihood, p->out,
                                      S * sizeof *p->likelihood);
    if (st)
        return st;
    f->n = p->total;
    for (size_t i = 0; i < f->n; i++)
        p->order[i] = (entry){p->all_id[i], i};
    qsort(p->order, f->n, sizeof *p->order, by_id);
    for (size_t i = 0; i < f->n; i++)
        memcpy(f->likelihood + i * S, p->all_likelihood + p->order[i].from * S,
               S * sizeof *f->likelihood);
    return GRAPHSS_OK;
}

static graphss_status post_return(graphss_ctx *ctx, post *p, const free_rows *f,
                                  graphss_i_group *g)
{
    const size_t S = g->states;
    graphss_i_pieces share = {0};
    for (size_t i = 0; i < f->n; i++)
        memcpy(p->all_state + p->order[i].from * S, f->state + i * S, S * sizeof *f->state);
    graphss_status st = graphss_i_ranks_exchange(ctx, p->state, p->out, p->all_state, p->in,
                                                 S * sizeof *p->state);
    if (!st)
        st = graphss_i_ranks_pieces(ctx, &share, g->share, sizeof g->share);
    if (!st)
        memcpy(g->share, share.block, sizeof g->share); /* what rank 0 has */
    graphss_i_pieces_destroy(ctx, &share);
    for (size_t i = 0, j = 0; i < g->m && !st; i++)
        if (!g->fixed[i])
            memcpy(g->state + i * S, p->state + j++ * S, S * sizeof *p->state);
    return st;
}

graphss_status graphss_i_group_infer(graphss_ctx *ctx, graphss_i_group *g, uint64_t seed)
{
    free_rows f = {0};
    post p = {0};
    for (size_t s = 0; s < g->states; s++) /* the prior, where nobody has a say */
        g->share[s] = (s ? TUNE_PRIOR_TAMPERED : TUNE_PRIOR_UNTOUCHED) /
                      (TUNE_PRIOR_UNTOUCHED + (double)(g->states - 1) * TUNE_PRIOR_TAMPERED);
    graphss_status st = post_open(ctx, &p, g);
    g->n_free = p.m;
    if (!st)
        st = post_send(ctx, &p, &f, g->states);
    if (!st && f.n)
        st = sample(ctx, &f, g->share, g->states, seed);
    st = graphss_engine_agree(ctx, st, NULL);
    if (!st)
        st = post_return(ctx, &p, &f, g);
    if (!st)
        st = graphss_i_ranks_total(ctx, &g->n_free);
    for (size_t i = 0; i < g->m && !st; i++) {
        if (g->fixed[i])
            weigh(g, i);
        mix(g, i);
    }
    graphss_release(ctx, f.likelihood);
    graphss_release(ctx, f.state);
    post_close(ctx, &p);
    return st;
}
