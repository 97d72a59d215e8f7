/* part_scene.c - see part_scene.h. */
#include "observation/part_scene.h"
#include "base/ranks.h"
#include "data/build.h"
#include "models/model_private.h"
#include <string.h>

void graphss_i_scene_close(graphss_ctx *ctx, graphss_i_scene *s)
{
    if (s->now)
        s->now->past = NULL;
    graphss_split_destroy(ctx, &s->split);
    graphss_split_destroy(ctx, &s->previous_split);
    *s = (graphss_i_scene){0};
}

static graphss_status check_columns(graphss_ctx *ctx, const graphss_i_part *part,
                                    const graphss_model *model, const char *which)
{
    if (part->features.n_cols == 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                              "the nodes of the %s snapshot have no features", which);
    if (part->features.n_cols == graphss_model_features(model))
        return GRAPHSS_OK;
    return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
                          "the %s snapshot has %zu features, the model was trained on %zu",
                          which, part->features.n_cols, graphss_model_features(model));
}

static graphss_status check(graphss_ctx *ctx, const graphss_i_scene *s,
                            const graphss_part_input *in)
{
    graphss_status st = check_columns(ctx, s->now, in->model, "current");
    if (!st && s->past)
        st = check_columns(ctx, s->past, in->model, "previous");
    if (st)
        return st;
    if (in->model->predictor)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                              "a predictor answers on one machine, not on several ranks");
    if (in->model->type->norm == GRAPHSS_I_NORM_LEARNED)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                              "%s does not run on several ranks: its weights of edges depend "
                              "on both ends",
                              in->model->type->name);
    if (graphss_i_ctx_part(ctx) != s->now)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                              "the context does not work on the part that is given");
    if (in->previous && in->previous->now != s->now)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                              "the earlier snapshot was opened for another part");
    st = graphss_i_split_check(ctx, in->split, s->n_all);
    return st ? st
              : graphss_i_check_split(ctx, in->split, s->n_all,
                                      graphss_model_classes(in->model), "current");
}

static graphss_status look_back(graphss_ctx *ctx, graphss_i_scene *s,
                                const graphss_part_input *in)
{
    graphss_split all = {0};
    graphss_status st =
        graphss_split_translate(ctx, &all, in->split, in->previous->after, s->n_all_past);
    if (!st)
        st = graphss_i_part_split(ctx, &s->previous_split, s->past, &all);
    graphss_split_destroy(ctx, &all);
    s->before = in->previous->before;
    s->now->past = s->past;
    /* With one rank rows are ascending as they are, and there is no other copy. */
    s->previous.graph = s->past->ascending.offset ? &s->past->ascending : &s->past->graph;
    s->previous.features = &s->past->features;
    s->in.previous = &s->previous;
    return st;
}

void graphss_part_input_init(graphss_part_input *in)
{
    *in = (graphss_part_input){.struct_size = sizeof *in};
}

graphss_status graphss_i_scene_open(graphss_ctx *ctx, graphss_i_scene *s,
                                    const graphss_part_input *in)
{
    if (GRAPHSS_I_TAKE(ctx, graphss_part_input, NULL, in) ||
        GRAPHSS_I_LACKS(ctx, {"part", in->current}, {"table", in->table}, {"model", in->model},
                        {"split", in->split}))
        return GRAPHSS_ERR_INVALID;
    /* Parts are constant to who hands them over; what they count changes. */
    graphss_i_part *now = graphss_i_ctx_part(ctx);
    *s = (graphss_i_scene){.now = now, .table = in->table, .whole = in->split};
    if (!now || &in->current->own != now)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                              "the context does not work on the part that is given");
    s->n_all = now->n_all;
    if (in->previous) {
        s->past = (graphss_i_part *)(uintptr_t)&in->previous->own;
        s->n_all_past = s->past->n_all;
    }
    graphss_status st = check(ctx, s, in);
    if (!st)
        st = graphss_i_part_split(ctx, &s->split, now, in->split);
    s->split.n_test = 0;
    s->in = (graphss_defence_input){.struct_size = sizeof s->in,
                                    .current = {&now->graph, &now->features, NULL},
                                    .model = in->model,
                                    .split = &s->split,
                                    .seed = in->seed};
    if (!st && in->previous)
        st = look_back(ctx, s, in);
    st = graphss_engine_agree(ctx, st, NULL);
    if (st)
        graphss_i_scene_close(ctx, s);
    return st;
}
