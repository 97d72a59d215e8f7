#include "attack/simple/move.h"
#include <string.h>

enum { TRIES = 200 };
const double graphss_i_moves[GRAPHSS_I_MOVES] = {0.4, 0.7, 1};

/* count [n_classes] of the first n changes: new edges of the victim to nodes of other classes
 */
static void count_edges(size_t *count, const graphss_attack_input *in, int32_t victim,
                        const graphss_flip *flip, size_t n)
{
    memset(count, 0, in->n_classes * sizeof *count);
    for (size_t i = 0; i < n; i++) {
        if (flip[i].victim != victim || flip[i].kind != GRAPHSS_FLIP_EDGE ||
            flip[i].new_value == 0)
            continue;
        const int32_t end = flip[i].node == victim ? flip[i].target : flip[i].node;
        if (in->label[end] >= 0 && in->label[end] != in->label[victim])
            count[in->label[end]]++;
    }
}

/* A random node of the other class with the most new edges; -1: none was found. */
static int32_t look_for(const graphss_attack_input *in, int32_t victim, const size_t *count,
                        graphss_rng *rng)
{
    size_t most = 0;
    for (size_t c = 0; c < in->n_classes; c++)
        most = count[c] > most ? count[c] : most;
    for (int i = 0; i < TRIES; i++) {
        const int32_t u = (int32_t)graphss_rng_below(rng, in->graph->n_nodes);
        if (in->label[u] >= 0 && in->label[u] != in->label[victim] &&
            count[in->label[u]] == most)
            return u;
    }
    return -1;
}

static graphss_status move_row(graphss_ctx *ctx, graphss_flips *flips,
                               const graphss_features *x, int32_t node, int32_t like,
                               double share)
{
    const size_t d = x->n_cols;
    graphss_status st = GRAPHSS_OK;
    for (size_t j = 0; j < d && !st; j++) {
        const float own = x->value[(size_t)node * d + j];
        const float there = x->value[(size_t)like * d + j];
        const graphss_flip flip = {.victim = node,
                                   .kind = GRAPHSS_FLIP_FEATURE,
                                   .node = node,
                                   .target = (int32_t)j,
                                   .old_value = own,
                                   .new_value = own + (float)share * (there - own)};
        if (flip.new_value != own)
            st = graphss_flips_add(ctx, flips, flip);
    }
    return st;
}

graphss_status graphss_i_move(graphss_ctx *ctx, graphss_flips *flips,
                              const graphss_attack_input *in, const double *share,
                              graphss_rng *rng)
{
    const size_t edges = flips->count; /* what follows are features */
    size_t *count = graphss_i_alloc(ctx, in->n_classes, sizeof *count);
    graphss_status st = count ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t v = 0; v < in->n_victims && !st; v++) {
        if (share[v] == 0)
            continue;
        count_edges(count, in, in->victim[v], flips->item, edges);
        const int32_t like = look_for(in, in->victim[v], count, rng);
        if (like >= 0)
            st = move_row(ctx, flips, in->features, in->victim[v], like, share[v]);
    }
    graphss_release(ctx, count);
    return st;
}
