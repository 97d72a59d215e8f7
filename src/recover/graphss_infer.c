/* graphss_infer.c - the blocked Gibbs sampler over states. See graphss_infer.h.
 *
 *     shares ~ Dirichlet(prior + nodes in each state)
 *     state of a node ~ share likelihood
 *
 * by turns. Nodes have only the shares in common, so that given these each is drawn alone, by
 * a hash of the seed, the sweep and its global number: in any order, on any thread and rank.
 * Counts are whole numbers and the shares drawn from them are the same everywhere, to the bit.
 * A collapsed sampler integrates the shares out and forgets its start sooner, but draws nodes
 * one after the other, which ranks cannot; the test has one as a twin. The chances of classes
 * follow from those of the states at the end. */
#include "recover/graphss_infer.h"
#include "base/ranks.h"
#include "detect/tuning.h"
#include "graph/part.h"
#include <graphss/rng.h>
#include <math.h>
#include <string.h>

void graphss_i_group_destroy(graphss_ctx *ctx, graphss_i_group *g)
{
    void *const block[] = {g->node, g->fixed, g->prob, g->likelihood, g->posterior, g->state};
    for (size_t i = 0; i < sizeof block / sizeof *block; i++)
        graphss_release(ctx, block[i]);
    *g = (graphss_i_group){0};
}

graphss_status graphss_i_group_open(
    graphss_ctx *ctx, graphss_i_group *g, size_t room, size_t k, size_t states)
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

/* P(s) ~ share likelihood, for a node with known shares. */
static void weigh(graphss_i_group *g, size_t i)
{
    double *state = g->state + i * g->states, sum = 0;
    for (size_t s = 0; s < g->states; s++)
        sum += state[s] = g->share[s] * (double)g->likelihood[s * g->room + i];
    for (size_t s = 0; s < g->states; s++)
        state[s] /= sum;
}

/* ---- the sampler ---- */

enum {
    CHAINS = 2,
    DISCARDED = 200, /* sweeps: those of a collapsed sampler would be 50, */
    KEPT = 200,      /* and 100 as good as these (the test prints it) */
    SWEEPS = DISCARDED + KEPT,
    BLOCK = 2048, /* nodes of a task */
    STATES = sizeof((graphss_i_group *)NULL)->share / sizeof(double)
};

/* Nodes that do not count for the shares are left out. */
typedef struct sampler {
    graphss_i_group *g;
    size_t n;
    size_t *at;      /* [n] place in the group */
    uint64_t *id;    /* [n] global number */
    uint32_t *count; /* [tasks x CHAINS x S] nodes in each state */
    uint64_t key[CHAINS];
    bool keep;
    struct state { /* between two sweeps, the same on all ranks */
        double share[CHAINS][STATES], mean[STATES];
        graphss_rng rng;
    } now;
    graphss_i_journal *journal;
} sampler;

static void sampler_close(graphss_ctx *ctx, sampler *m)
{
    graphss_release(ctx, m->at);
    graphss_release(ctx, m->id);
    graphss_release(ctx, m->count);
}

static graphss_status sampler_open(graphss_ctx *ctx, sampler *m, graphss_i_group *g)
{
    const graphss_i_part *part = graphss_i_ctx_part(ctx);
    size_t n = 0;
    m->g = g;
    for (size_t i = 0; i < g->m; i++)
        m->n += !g->fixed[i];
    m->at = graphss_i_alloc(ctx, m->n, sizeof *m->at);
    m->id = graphss_i_alloc(ctx, m->n, sizeof *m->id);
    m->count = graphss_i_alloc(
        ctx, graphss_i_tasks(m->n, BLOCK), CHAINS * g->states * sizeof *m->count);
    if (!m->at || !m->id || !m->count)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < g->m; i++) {
        if (g->fixed[i])
            continue;
        m->at[n] = i;
        m->id[n++] = (uint64_t)(part ? part->id[g->node[i]] : g->node[i]);
        memset(g->state + i * g->states, 0, g->states * sizeof *g->state);
    }
    return GRAPHSS_OK;
}

/* Uniform in [0, 1): draw number `at` of SplitMix64 (Steele, Lea and Flood 2014), which allows
 * any draw directly. */
static double uniform(uint64_t key, uint64_t at)
{
    uint64_t z = key + (at + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static void draw_block(void *arg, size_t task)
{
    sampler *m = arg;
    graphss_i_group *g = m->g;
    const size_t S = g->states, end = graphss_i_task_end(task, m->n, BLOCK);
    uint32_t *count = m->count + task * CHAINS * S;
    double sums[STATES];
    memset(count, 0, CHAINS * S * sizeof *count);
    for (size_t i = task * BLOCK; i < end; i++)
        for (size_t c = 0; c < CHAINS; c++) {
            const size_t at = m->at[i];
            double sum = 0;
            for (size_t s = 0; s < S; s++)
                sums[s] = sum += m->now.share[c][s] * (double)g->likelihood[s * g->room + at];
            if (!(sum > 0)) /* no state has any likelihood */
                for (size_t s = 0; s < S; s++)
                    sums[s] = sum = 1;
            const double u = uniform(m->key[c], m->id[i]) * sum;
            size_t drawn = 0;
            for (size_t s = 0; s + 1 < S; s++)
                drawn += sums[s] <= u;
            count[c * S + drawn]++;
            for (size_t s = 0; s < S && m->keep; s++)
                g->state[at * S + s] +=
                    (sums[s] - (s ? sums[s - 1] : 0)) / (sum * CHAINS * KEPT);
        }
}

/* Marsaglia and Tsang 2000; of a shape below 1 by that of shape + 1. */
static double draw_gamma(graphss_rng *rng, double shape)
{
    if (shape < 1)
        return draw_gamma(rng, shape + 1) * pow(1 - graphss_rng_double(rng), 1 / shape);
    const double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        const double x = graphss_rng_normal(rng), v = pow(1 + c * x, 3);
        if (v > 0 && log(1 - graphss_rng_double(rng)) < x * x / 2 + d - d * v + d * log(v))
            return d * v;
    }
}

/* The prior of a share, in nodes. */
static double prior_of(size_t s)
{
    return s ? TUNE_PRIOR_TAMPERED : TUNE_PRIOR_UNTOUCHED;
}

/* Nodes in each state, of all ranks: whole numbers, which any order adds up to the same; and
 * whether rank 0 finds it time to write (*due). */
static graphss_status count_all(graphss_ctx *ctx, double *all, bool *due, const sampler *m)
{
    const size_t cells = CHAINS * m->g->states;
    for (size_t j = 0; j < cells; j++)
        all[j] = 0;
    for (size_t task = 0; task < graphss_i_tasks(m->n, BLOCK); task++)
        for (size_t j = 0; j < cells; j++)
            all[j] += m->count[task * cells + j];
    all[cells] = graphss_i_rank(ctx) == 0 && graphss_i_journal_due(m->journal);
    const graphss_status st = graphss_i_ranks_sum(ctx, all, cells + 1);
    *due = !st && all[cells] > 0;
    return st;
}

/* share becomes a draw from the Dirichlet of the counts, mean [S] grows by its mean. */
static void draw_shares(
    double *share, double *mean, const double *count, size_t S, graphss_rng *rng)
{
    double total = 0, drawn = 0;
    for (size_t s = 0; s < S; s++)
        total += prior_of(s) + count[s];
    for (size_t s = 0; s < S; s++) {
        mean[s] += (prior_of(s) + count[s]) / total;
        drawn += share[s] = draw_gamma(rng, prior_of(s) + count[s]);
    }
    for (size_t s = 0; s < S; s++)
        share[s] /= drawn;
}

static void put_state(const void *of, size_t at, void *row)
{
    const graphss_i_group *g = of;
    memcpy(row, g->state + at * g->states, g->states * sizeof *g->state);
}

static void take_state(void *of, size_t at, const void *row)
{
    graphss_i_group *g = of;
    memcpy(g->state + at * g->states, row, g->states * sizeof *g->state);
}

static graphss_status sample(graphss_ctx *ctx, sampler *m, uint64_t seed)
{
    graphss_i_group *g = m->g;
    const size_t S = g->states;
    const graphss_i_journal_rows rows = {S * sizeof *g->state, g, put_state, take_state};
    double count[CHAINS * STATES + 1];
    uint64_t done = 0;
    bool due;
    m->now = (struct state){.rng = graphss_rng_make(seed, GRAPHSS_STREAM_SAMPLER)};
    for (size_t c = 0; c < CHAINS; c++)
        memcpy(m->now.share[c], g->share, sizeof g->share);
    struct state kept = m->now;
    graphss_status st =
        graphss_i_journal_round(ctx, m->journal, &rows, &done, &kept, sizeof kept);
    if (done)
        m->now = kept;
    for (size_t i = 0; i < g->m && !done;
         i++) /* an incomplete round may have left something */
        memset(g->state + i * S, 0, S * sizeof *g->state);
    for (size_t sweep = (size_t)done; sweep < SWEEPS && !st; sweep++) {
        m->keep = sweep >= DISCARDED;
        for (size_t c = 0; c < CHAINS; c++)
            m->key[c] = graphss_rng_u64(&m->now.rng);
        graphss_i_parallel(ctx, graphss_i_tasks(m->n, BLOCK), draw_block, m);
        st = count_all(ctx, count, &due, m);
        if (sweep == DISCARDED)
            memset(m->now.mean, 0, sizeof m->now.mean);
        for (size_t c = 0; c < CHAINS && !st; c++)
            draw_shares(m->now.share[c], m->now.mean, count + c * S, S, &m->now.rng);
        if (due)
            graphss_i_journal_add(
                ctx, m->journal, &rows, NULL, 0, g->m, sweep + 1, &m->now, sizeof m->now);
        if (!st)
            st = graphss_i_progress(ctx, "infer", sweep + 1, SWEEPS, NULL);
    }
    for (size_t s = 0; s < S; s++)
        g->share[s] = m->now.mean[s] / (CHAINS * KEPT);
    return st;
}

graphss_status graphss_i_group_infer(
    graphss_ctx *ctx, graphss_i_group *g, uint64_t seed, graphss_i_journal *journal)
{
    sampler m = {.journal = journal};
    double prior = 0;
    for (size_t s = 0; s < g->states; s++)
        prior += g->share[s] = prior_of(s);
    for (size_t s = 0; s < g->states; s++)
        g->share[s] /= prior; /* if no node counts */
    graphss_status st = sampler_open(ctx, &m, g);
    if (!st)
        st = graphss_i_journal_stage(ctx, journal, g->node, g->m);
    g->n_free = m.n;
    st = graphss_engine_agree(ctx, st, NULL);
    if (!st)
        st = graphss_i_ranks_total(ctx, &g->n_free);
    if (!st && g->n_free)
        st = sample(ctx, &m, seed);
    for (size_t i = 0; i < g->m && !st; i++) {
        if (g->fixed[i])
            weigh(g, i);
        mix(g, i);
    }
    sampler_close(ctx, &m);
    return graphss_engine_agree(ctx, st, NULL);
}
