/* dice.c - disconnect internally, connect externally (Waniek et al., Nature Human Behaviour
 * 2018): a fair coin decides between cutting an edge to a node of the same class and joining
 * one of another, classes being what the attacker believes. Where the coin's side has no
 * candidate the other one is taken.
 *
 * For features the same idea: a coin decides between taking away a word of the node and
 * adding a word of a random node of another class. */
#include "attack/simple/random_attacks.h"

static int32_t believed(const graphss_i_control_state *s, int32_t node)
{
    return s->in->label[node];
}

/* A random neighbour of the same class, by counting twice. */
static bool draw_cut(graphss_i_control_state *s, int32_t node, int32_t *target)
{
    const graphss_i_rows *edges = &s->world.edges;
    size_t left = 0;
    for (int pass = 0; pass < 2; pass++) {
        size_t count = 0;
        for (int32_t e = 0; e < edges->length[node]; e++) {
            const int32_t other = edges->item[node][e];
            if (believed(s, other) != believed(s, node) ||
                !graphss_i_control_may_flip(s, node, other))
                continue;
            if (pass == 1 && count == left) {
                *target = other;
                return true;
            }
            count++;
        }
        if (count == 0)
            return false;
        left = (size_t)graphss_rng_below(&s->rng, count);
    }
    return false;
}

static bool other_class(const graphss_i_control_state *s, int32_t node, int32_t other)
{
    return believed(s, other) >= 0 && believed(s, other) != believed(s, node);
}

static bool draw_join(graphss_i_control_state *s, int32_t node, int32_t *target)
{
    for (int i = 0; i < GRAPHSS_I_CONTROL_TRIES; i++) {
        *target = (int32_t)graphss_rng_below(&s->rng, s->in->graph->n_nodes);
        if (other_class(s, node, *target) &&
            !graphss_i_rows_has(&s->world.edges, (size_t)node, *target) &&
            graphss_i_control_may_flip(s, node, *target))
            return true;
    }
    return false;
}

static bool draw_edge(graphss_i_control_state *s, int32_t node, int32_t *target)
{
    if (graphss_rng_below(&s->rng, 2) == 0)
        return draw_cut(s, node, target) || draw_join(s, node, target);
    return draw_join(s, node, target) || draw_cut(s, node, target);
}

static bool draw_removal(graphss_i_control_state *s, int32_t node, int32_t *column)
{
    const int32_t n = s->world.words.length[node];
    for (int i = 0; n > 0 && i < GRAPHSS_I_CONTROL_TRIES; i++) {
        *column = s->world.words.column[node][graphss_rng_below(&s->rng, (uint64_t)n)];
        if (s->feature_turn[*column] != s->turn)
            return true;
    }
    return false;
}

static bool draw_addition(graphss_i_control_state *s, int32_t node, int32_t *column)
{
    for (int i = 0; i < GRAPHSS_I_CONTROL_TRIES; i++) {
        const int32_t from = (int32_t)graphss_rng_below(&s->rng, s->in->graph->n_nodes);
        const int32_t n = s->world.words.length[from];
        if (n == 0 || !other_class(s, node, from))
            continue;
        *column = s->world.words.column[from][graphss_rng_below(&s->rng, (uint64_t)n)];
        if (s->feature_turn[*column] != s->turn &&
            graphss_i_sandbox_feature(&s->world, (size_t)node, *column) == 0)
            return true;
    }
    return false;
}

static bool draw_word(graphss_i_control_state *s, int32_t node, int32_t *column)
{
    if (graphss_rng_below(&s->rng, 2) == 0)
        return draw_removal(s, node, column) || draw_addition(s, node, column);
    return draw_addition(s, node, column) || draw_removal(s, node, column);
}

static graphss_status run(graphss_ctx *ctx, graphss_flips *out, graphss_attack_log *log,
    const graphss_attack_input *in, const graphss_attack_options *opt)
{
    const graphss_i_control control = {draw_edge, draw_word};
    return graphss_i_control_run(ctx, out, log, in, opt, &control);
}

const graphss_i_attack_method graphss_i_dice_attack = {
    .name = "dice",
    .summary = "cut inside the class, join across classes (Waniek et al. 2018)",
    .domain = true,
    .run = run,
};
