/* testing_world.h - a small world for tests of models: two groups of nodes, mostly connected
 * among themselves, with words that hint at their group. */
#ifndef GRAPHSS_TESTING_WORLD_H
#define GRAPHSS_TESTING_WORLD_H

#include "data/build.h"
#include "testing.h"

enum { WORLD_NODES = 120, WORLD_WORDS = 20, WORLD_EDGES = 360 };

typedef struct world {
    graphss_graph graph;
    graphss_features features;
    graphss_split split;
    int32_t label[WORLD_NODES];
} world;

static inline void world_make(graphss_ctx *ctx, world *w, uint64_t seed)
{
    graphss_rng rng = graphss_rng_make(seed, GRAPHSS_STREAM_SYNTH);
    int32_t from[WORLD_EDGES], to[WORLD_EDGES];
    memset(w, 0, sizeof *w);
    for (int32_t i = 0; i < WORLD_NODES; i++)
        w->label[i] = i % 2;
    for (int e = 0; e < WORLD_EDGES; e++) {
        from[e] = (int32_t)graphss_rng_below(&rng, WORLD_NODES);
        to[e] = (int32_t)graphss_rng_below(&rng, WORLD_NODES);
        if (graphss_rng_double(&rng) < 0.9) /* same group */
            to[e] = (to[e] & ~1) | (from[e] & 1);
    }
    assert_ok(
        ctx, graphss_graph_build(ctx, &w->graph, NULL, WORLD_NODES, from, to, WORLD_EDGES));

    int64_t *offset = graphss_i_alloc(ctx, WORLD_NODES + 1, sizeof *offset);
    int32_t *column = graphss_i_alloc(ctx, WORLD_NODES * 4, sizeof *column);
    for (int32_t i = 0; i < WORLD_NODES; i++) {
        offset[i] = 4 * i;
        for (int k = 0; k < 4; k++) {
            const bool hint = graphss_rng_double(&rng) < 0.7;
            const int32_t word = (int32_t)graphss_rng_below(&rng, WORLD_WORDS / 2);
            column[4 * i + k] = 2 * word + (hint ? w->label[i] : 1 - w->label[i]);
        }
    }
    offset[WORLD_NODES] = 4 * WORLD_NODES;
    assert_ok(ctx, graphss_i_features_from_rows(ctx, &w->features, WORLD_NODES, WORLD_WORDS,
                       offset, column, NULL, 4 * WORLD_NODES, "words"));
    assert_ok(ctx, graphss_split_make(ctx, &w->split, w->label, WORLD_NODES, 2, seed, NULL));
}

/* Measurements in place of words: around the label's number, no two the same. */
static inline void world_measure(graphss_ctx *ctx, world *w, uint64_t seed)
{
    graphss_rng rng = graphss_rng_make(seed, GRAPHSS_STREAM_SYNTH);
    float *value = graphss_i_alloc(ctx, WORLD_NODES * WORLD_WORDS, sizeof *value);
    for (size_t i = 0; i < WORLD_NODES * WORLD_WORDS; i++)
        value[i] = (float)w->label[i / WORLD_WORDS] + (float)graphss_rng_double(&rng) + 0.1F;
    graphss_features_destroy(ctx, &w->features);
    assert_ok(ctx, graphss_i_features_from_dense(
                       ctx, &w->features, WORLD_NODES, WORLD_WORDS, value, "measured"));
    assert_true(graphss_features_dense(&w->features));
}

static inline void world_destroy(graphss_ctx *ctx, world *w)
{
    graphss_graph_destroy(ctx, &w->graph);
    graphss_features_destroy(ctx, &w->features);
    graphss_split_destroy(ctx, &w->split);
}

#endif
