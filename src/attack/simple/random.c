/* random.c - flips drawn uniformly: any other node, any column. On a sparse graph nearly all
 * of them are new edges and new words. */
#include "attack/simple/random_attacks.h"

static bool draw_edge(graphss_i_control_state *s, int32_t node, int32_t *target)
{
    for (int i = 0; i < GRAPHSS_I_CONTROL_TRIES; i++) {
        *target = (int32_t)graphss_rng_below(&s->rng, s->in->graph->n_nodes);
        if (graphss_i_control_may_flip(s, node, *target))
            return true;
    }
    return false;
}

static bool draw_word(graphss_i_control_state *s, int32_t node, int32_t *column)
{
    (void)node;
    for (int i = 0; i < GRAPHSS_I_CONTROL_TRIES; i++) {
        *column = (int32_t)graphss_rng_below(&s->rng, s->world.words.d);
        if (s->feature_turn[*column] != s->turn)
            return true;
    }
    return false;
}

static graphss_status run(graphss_ctx *ctx, graphss_flips *out, graphss_attack_log *log,
    const graphss_attack_input *in, const graphss_attack_options *opt)
{
    const graphss_i_control control = {draw_edge, draw_word};
    return graphss_i_control_run(ctx, out, log, in, opt, &control);
}

const graphss_i_attack_method graphss_i_random_attack = {
    .name = "random",
    .summary = "links and features drawn uniformly, as a control",
    .domain = true,
    .run = run,
};
