#include "attack/attack_method.h"
#include <string.h>

graphss_status graphss_i_sandbox_init(graphss_ctx *ctx, graphss_i_sandbox *s,
    const graphss_graph *graph, const graphss_features *features)
{
    graphss_i_sandbox made = {0};
    graphss_status st = graphss_i_rows_init(ctx, &made.edges, graph);
    if (!st)
        st = graphss_i_feature_index_rows(ctx, &made.words, features);
    if (st)
        graphss_i_sandbox_destroy(ctx, &made);
    else
        *s = made;
    return st;
}

void graphss_i_sandbox_destroy(graphss_ctx *ctx, graphss_i_sandbox *s)
{
    graphss_i_feature_index_destroy(ctx, &s->words);
    graphss_i_rows_destroy(ctx, &s->edges);
    *s = (graphss_i_sandbox){0};
}

float graphss_i_sandbox_feature(const graphss_i_sandbox *s, size_t node, int32_t column)
{
    bool there;
    const size_t at = graphss_i_feature_index_find(&there, &s->words, node, column);
    return there ? (float)graphss_i_feature_index_value(&s->words, node, at) : 0;
}

bool graphss_i_sandbox_may_cut(const graphss_i_sandbox *s, int32_t a, int32_t b)
{
    return s->edges.length[a] > 1 && s->edges.length[b] > 1;
}

graphss_status graphss_i_sandbox_flip_edge(graphss_ctx *ctx, graphss_i_sandbox *s,
    graphss_flips *flips, int32_t victim, int32_t a, int32_t b)
{
    const bool there = graphss_i_rows_has(&s->edges, (size_t)a, b);
    const graphss_flip flip = {.victim = victim,
        .kind = GRAPHSS_FLIP_EDGE,
        .node = a,
        .target = b,
        .old_value = there,
        .new_value = !there};
    if (!graphss_i_rows_flip_edge(ctx, &s->edges, a, b))
        return GRAPHSS_ERR_NOMEM;
    return graphss_flips_add(ctx, flips, flip);
}

graphss_status graphss_i_sandbox_set_feature(graphss_ctx *ctx, graphss_i_sandbox *s,
    graphss_flips *flips, int32_t victim, int32_t node, int32_t column, float value)
{
    const graphss_flip flip = {.victim = victim,
        .kind = GRAPHSS_FLIP_FEATURE,
        .node = node,
        .target = column,
        .old_value = graphss_i_sandbox_feature(s, (size_t)node, column),
        .new_value = value};
    const graphss_status st =
        graphss_i_feature_index_set(ctx, &s->words, (size_t)node, column, value);
    return st ? st : graphss_flips_add(ctx, flips, flip);
}

graphss_status graphss_i_sandbox_take_back(
    graphss_ctx *ctx, graphss_i_sandbox *s, const graphss_flips *flips, size_t from)
{
    for (size_t i = flips->count; i-- > from;) {
        const graphss_flip *f = &flips->item[i];
        if (f->kind == GRAPHSS_FLIP_EDGE) {
            if (!graphss_i_rows_flip_edge(ctx, &s->edges, f->node, f->target))
                return GRAPHSS_ERR_NOMEM;
        } else {
            const graphss_status st = graphss_i_feature_index_set(
                ctx, &s->words, (size_t)f->node, f->target, f->old_value);
            if (st)
                return st;
        }
    }
    return GRAPHSS_OK;
}
