/* copy.c - no gradient and no surrogate: a victim takes edges and words of a random node of
 * another class, like an account that imitates another. A coin decides between two ways:
 * adding edges to that node and its neighbours, or to its neighbours alone and removing an own
 * edge for every two. Words are copied with their values; of dense features only the values
 * are. */
#include "attack/attack_method.h"
#include "attack/simple/random_attacks.h"
#include <math.h>

enum { TRIES = 50 };

/* A node of another class, or -1. */
static int32_t model_for(const graphss_attack_input *in, int32_t victim, graphss_rng *rng)
{
    for (int i = 0; i < TRIES; i++) {
        const int32_t c = (int32_t)graphss_rng_below(rng, in->graph->n_nodes);
        if (in->label[c] >= 0 && in->label[c] != in->label[victim])
            return c;
    }
    return -1;
}

static graphss_status copy_edges(graphss_ctx *ctx, graphss_i_sandbox *s, graphss_flips *flips,
    const graphss_attack_input *in, int32_t victim, int32_t from, const graphss_i_copying *how,
    graphss_rng *rng)
{
    graphss_status st = GRAPHSS_OK;
    int64_t made = 0;
    if (how->itself && how->joins && !graphss_i_rows_has(&s->edges, (size_t)victim, from)) {
        st = graphss_i_sandbox_flip_edge(ctx, s, flips, victim, victim, from);
        made++;
    }
    const graphss_graph *g = in->graph;
    const size_t there = graphss_graph_degree(g, (size_t)from);
    const size_t own = graphss_graph_degree(g, (size_t)victim);
    for (int i = 0; i < TRIES && !st && there && made < how->joins; i++) {
        const int32_t u = g->target[g->offset[from] + (int64_t)graphss_rng_below(rng, there)];
        if (u == victim || graphss_i_rows_has(&s->edges, (size_t)victim, u))
            continue;
        st = graphss_i_sandbox_flip_edge(ctx, s, flips, victim, victim, u);
        made++;
    }
    const int64_t cuts = how->cuts < made / 2 ? how->cuts : made / 2;
    for (int64_t cut = 0, i = 0; i < TRIES && !st && own > 1 && cut < cuts; i++) {
        const int32_t u = g->target[g->offset[victim] + (int64_t)graphss_rng_below(rng, own)];
        if (!graphss_i_rows_has(&s->edges, (size_t)victim, u) ||
            !graphss_i_sandbox_may_cut(s, victim, u))
            continue;
        st = graphss_i_sandbox_flip_edge(ctx, s, flips, victim, victim, u);
        cut++;
    }
    return st;
}

/* Adds features that only the copied node has, then removes features that only the victim
 * has. */
static graphss_status copy_words(graphss_ctx *ctx, graphss_i_sandbox *s, graphss_flips *flips,
    int32_t victim, int32_t from, const graphss_i_copying *how, graphss_rng *rng)
{
    graphss_status st = GRAPHSS_OK;
    for (int drop = 0; drop < 2 && !st; drop++) {
        const int32_t giver = drop ? victim : from, other = drop ? from : victim;
        const int64_t most = drop ? how->dropped : how->taken;
        const int32_t n = s->words.length[giver];
        int32_t *word = graphss_i_alloc(ctx, (size_t)n, sizeof *word);
        if (!word)
            return GRAPHSS_ERR_NOMEM;
        for (int32_t i = 0; i < n; i++)
            word[i] = s->words.column[giver][i];
        graphss_rng_shuffle(rng, word, (size_t)n);
        int64_t made = 0;
        for (int32_t i = 0; i < n && !st && made < most; i++) {
            if (graphss_i_sandbox_feature(s, (size_t)other, word[i]) != 0 ||
                graphss_rng_double(rng) >= how->share || (drop && s->words.length[victim] < 2))
                continue;
            const float value =
                drop ? 0 : graphss_i_sandbox_feature(s, (size_t)giver, word[i]);
            st = graphss_i_sandbox_set_feature(ctx, s, flips, victim, victim, word[i], value);
            made++;
        }
        graphss_release(ctx, word);
    }
    return st;
}

/* The same for dense features: copies values that differ. */
static graphss_status copy_values(graphss_ctx *ctx, graphss_i_sandbox *s, graphss_flips *flips,
    int32_t victim, int32_t from, const graphss_i_copying *how, graphss_rng *rng)
{
    const size_t d = s->words.d;
    int32_t *word = graphss_i_alloc(ctx, d, sizeof *word);
    graphss_status st = word ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t j = 0; j < d && word; j++)
        word[j] = (int32_t)j;
    if (!st)
        graphss_rng_shuffle(rng, word, d);
    int64_t made = 0;
    for (size_t j = 0; j < d && !st && made < how->taken + how->dropped; j++) {
        const float value = graphss_i_sandbox_feature(s, (size_t)from, word[j]);
        if (graphss_i_sandbox_feature(s, (size_t)victim, word[j]) == value ||
            graphss_rng_double(rng) >= how->share)
            continue;
        st = graphss_i_sandbox_set_feature(ctx, s, flips, victim, victim, word[j], value);
        made++;
    }
    graphss_release(ctx, word);
    return st;
}

graphss_status graphss_i_copy_node(graphss_ctx *ctx, graphss_i_sandbox *s,
    graphss_flips *flips, const graphss_attack_input *in, int32_t victim,
    const graphss_i_copying *how, graphss_rng *rng, size_t *edges, size_t *words)
{
    const size_t first = flips->count;
    const int32_t from = model_for(in, victim, rng);
    *edges = *words = 0;
    if (from < 0)
        return GRAPHSS_OK;
    graphss_status st = GRAPHSS_OK;
    if (how->joins)
        st = copy_edges(ctx, s, flips, in, victim, from, how, rng);
    const size_t second = flips->count;
    if (!st && (how->taken || how->dropped))
        st = (graphss_features_dense(in->features) ? copy_values : copy_words)(
            ctx, s, flips, victim, from, how, rng);
    *edges = second - first;
    *words = flips->count - second;
    return st;
}

/* ---- the attack ---- */

/* How the budget is divided: a third of the edge changes are removals, or none; half of the
 * word changes are additions. A common budget is divided by coin flips. */
static graphss_i_copying share_out(graphss_i_attack_budget budget, graphss_rng *rng)
{
    const bool itself = graphss_rng_below(rng, 2) == 0;
    for (size_t i = 0; i < budget.either; i++)
        *(graphss_rng_below(rng, 2) == 0 ? &budget.edges : &budget.features) += 1;
    const int64_t edges = (int64_t)budget.edges, words = (int64_t)budget.features;
    const int64_t cuts = itself ? 0 : edges / 3;
    return (graphss_i_copying){.itself = itself,
        .joins = edges - cuts,
        .cuts = cuts,
        .taken = words - words / 2,
        .dropped = words / 2,
        .share = 1};
}

static graphss_status run(graphss_ctx *ctx, graphss_flips *out, graphss_attack_log *log,
    const graphss_attack_input *in, const graphss_attack_options *opt)
{
    graphss_i_sandbox s = {0};
    if (opt->influencers)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "copy changes the victim itself: want --influencers 0");
    graphss_status st = graphss_i_sandbox_init(ctx, &s, in->graph, in->features);
    if (!st && !(log->victim = graphss_i_calloc(ctx, in->n_victims, sizeof *log->victim)))
        st = GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < in->n_victims && !st; i++) {
        const size_t before = out->count;
        const int32_t victim = in->victim[i];
        graphss_rng rng =
            graphss_rng_make(in->seed, GRAPHSS_STREAM_ATTACK + ((uint64_t)victim + 1) * 256);
        const graphss_i_attack_budget budget =
            graphss_i_attack_budget_of(opt, in, victim, (size_t)s.edges.length[victim]);
        const graphss_i_copying how = share_out(budget, &rng);
        graphss_attack_victim *report = &log->victim[i];
        *report = (graphss_attack_victim){.node = victim,
            .loss_before = NAN,
            .loss_after = NAN,
            .wanted = budget.edges + budget.features + budget.either};
        st = graphss_i_copy_node(
            ctx, &s, out, in, victim, &how, &rng, &report->n_edges, &report->n_features);
        if (!st && opt->independent)
            st = graphss_i_sandbox_take_back(ctx, &s, out, before);
        log->n_victims++;
        if (!st)
            st = graphss_i_progress(ctx, "attack", i + 1, in->n_victims, NULL);
    }
    if (!st)
        st = graphss_i_attack_log_steps(ctx, log, out);
    graphss_i_sandbox_destroy(ctx, &s);
    return st;
}

const graphss_i_attack_method graphss_i_copy_attack = {
    .name = "copy",
    .summary = "links and features of a random node of another class, as a control",
    .run = run,
};
