#include "attack/simple/random_attacks.h"
#include <math.h>
#include <string.h>

bool graphss_i_control_may_flip(const graphss_i_control_state *s, int32_t node, int32_t target)
{
    return node != target && s->edge_turn[target] != s->turn &&
           (!graphss_i_rows_has(&s->world.edges, (size_t)node, target) ||
               graphss_i_sandbox_may_cut(&s->world, node, target));
}

/* The nodes that may be changed: the victim, or up to `most` of its neighbours. */
static size_t choose_actors(
    graphss_i_control_state *s, int32_t *actor, int32_t victim, size_t most)
{
    actor[0] = victim;
    if (most == 0)
        return 1;
    const size_t degree = (size_t)s->world.edges.length[victim];
    if (degree == 0)
        return 0;
    memcpy(actor, s->world.edges.item[victim], degree * sizeof *actor);
    graphss_rng_shuffle(&s->rng, actor, degree);
    return degree < most ? degree : most;
}

/* Adds or removes a feature; a dense value becomes that of a random node. */
static float new_value(graphss_i_control_state *s, int32_t node, int32_t word)
{
    const float now = graphss_i_sandbox_feature(&s->world, (size_t)node, word);
    if (!graphss_features_dense(s->in->features))
        return now != 0 ? 0 : s->on[word];
    float value = now;
    for (int i = 0; i < GRAPHSS_I_CONTROL_TRIES && value == now; i++)
        value = graphss_i_sandbox_feature(
            &s->world, (size_t)graphss_rng_below(&s->rng, s->in->graph->n_nodes), word);
    return value;
}

static graphss_status change(graphss_ctx *ctx, graphss_i_control_state *s, graphss_flips *out,
    const graphss_i_control *control, int32_t victim, int32_t node, bool edge, bool *done)
{
    int32_t at = 0;
    *done = edge ? control->edge(s, node, &at) : control->word(s, node, &at);
    if (!*done)
        return GRAPHSS_OK;
    (edge ? s->edge_turn : s->feature_turn)[at] = s->turn;
    if (edge)
        return graphss_i_sandbox_flip_edge(ctx, &s->world, out, victim, node, at);
    return graphss_i_sandbox_set_feature(
        ctx, &s->world, out, victim, node, at, new_value(s, node, at));
}

static graphss_status attack_one(graphss_ctx *ctx, graphss_i_control_state *s,
    graphss_flips *out, graphss_attack_victim *report, int32_t *actor, int32_t victim,
    const graphss_attack_options *opt, const graphss_i_control *control)
{
    const uint64_t stream = GRAPHSS_STREAM_ATTACK + ((uint64_t)victim + 1) * 256;
    s->rng = graphss_rng_make(s->in->seed, stream);
    const graphss_i_attack_budget budget =
        graphss_i_attack_budget_of(opt, s->in, victim, (size_t)s->world.edges.length[victim]);
    const size_t actors = choose_actors(s, actor, victim, (size_t)opt->influencers);
    *report = (graphss_attack_victim){.node = victim,
        .loss_before = NAN,
        .loss_after = NAN,
        .wanted = budget.edges + budget.features + budget.either};
    if (actors == 0)
        return GRAPHSS_OK;
    for (size_t i = 0; i < report->wanted; i++) {
        bool edge = i < budget.edges;
        if (budget.either)
            edge = graphss_rng_below(&s->rng, 2) == 0;
        const int32_t node = actor[graphss_rng_below(&s->rng, actors)];
        bool done = false;
        const graphss_status st = change(ctx, s, out, control, victim, node, edge, &done);
        if (st)
            return st;
        *(edge ? &report->n_edges : &report->n_features) += (size_t)done;
    }
    return GRAPHSS_OK;
}

graphss_status graphss_i_control_run(graphss_ctx *ctx, graphss_flips *out,
    graphss_attack_log *log, const graphss_attack_input *in, const graphss_attack_options *opt,
    const graphss_i_control *control)
{
    const size_t n = in->graph->n_nodes, d = in->features->n_cols;
    graphss_i_control_state s = {.in = in};
    int32_t *actor = NULL;
    graphss_status st = graphss_i_sandbox_init(ctx, &s.world, in->graph, in->features);
    if (st)
        goto done;
    s.on = graphss_i_alloc(ctx, d, sizeof *s.on);
    s.edge_turn = graphss_i_calloc(ctx, n, sizeof *s.edge_turn);
    s.feature_turn = graphss_i_calloc(ctx, d, sizeof *s.feature_turn);
    actor = graphss_i_alloc(ctx, n, sizeof *actor);
    log->victim = graphss_i_calloc(ctx, in->n_victims, sizeof *log->victim);
    if (!s.on || !s.edge_turn || !s.feature_turn || !actor || !log->victim) {
        st = GRAPHSS_ERR_NOMEM;
        goto done;
    }
    st = graphss_i_feature_index_on(
        ctx, s.on, &s.world.words, graphss_i_attack_domain(in->features, opt));
    for (size_t i = 0; i < in->n_victims && !st; i++) {
        const size_t before = out->count;
        s.turn = (int32_t)i + 1;
        st = attack_one(ctx, &s, out, &log->victim[i], actor, in->victim[i], opt, control);
        if (!st && opt->independent)
            st = graphss_i_sandbox_take_back(ctx, &s.world, out, before);
        log->n_victims++;
        if (!st)
            st = graphss_i_progress(ctx, "attack", i + 1, in->n_victims, NULL);
    }
    if (!st)
        st = graphss_i_attack_log_steps(ctx, log, out);
done:
    graphss_release(ctx, actor);
    graphss_release(ctx, s.feature_turn);
    graphss_release(ctx, s.edge_turn);
    graphss_release(ctx, s.on);
    graphss_i_sandbox_destroy(ctx, &s.world);
    return st;
}
