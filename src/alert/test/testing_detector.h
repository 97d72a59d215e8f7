/* testing_look.h - the small world, attacked by hand and looked at. */
#ifndef GRAPHSS_TESTING_LOOK_H
#define GRAPHSS_TESTING_LOOK_H

#include "alert/detector.h"
#include "observation/test/testing_attacked_world.h"

typedef struct seen_world {
    attacked_world a;
    graphss_i_look look;
} seen_world;

static inline void seen_world_make(graphss_ctx *ctx, seen_world *s)
{
    attacked_world_make(ctx, &s->a);
    s->look = (graphss_i_look){0};
    assert_ok(ctx, graphss_i_look_at(ctx, &s->look, &s->a.in));
}

static inline void seen_world_destroy(graphss_ctx *ctx, seen_world *s)
{
    graphss_i_look_destroy(ctx, &s->look);
    attacked_world_destroy(ctx, &s->a);
}

static inline bool has_word(const graphss_features *x, size_t node, size_t word)
{
    for (int64_t e = x->offset[node]; e < x->offset[node + 1]; e++)
        if ((size_t)x->column[e] == word)
            return true;
    return false;
}

#endif
