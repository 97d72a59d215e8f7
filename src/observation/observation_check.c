/* observation_check.c - checks the caller's input once, at the entry. */
#include "data/build.h"
#include "graph/check.h"
#include "observation/observation.h"

void graphss_defence_input_init(graphss_defence_input *in)
{
    *in = (graphss_defence_input){.struct_size = sizeof *in};
}

const char *graphss_perturbation_text(graphss_perturbation kind)
{
    static const char *const text[] = {
        NULL, "none", "links", "features", "links and features", "copied"};
    return (size_t)kind < sizeof text / sizeof *text ? text[kind] : "?";
}

static graphss_status check_observation(
    graphss_ctx *ctx, const graphss_observation *o, const char *which)
{
    if (o->graph->n_nodes == 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "the %s snapshot has no nodes", which);
    if (o->features->n_cols == 0)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_DATA, "the nodes of the %s snapshot have no features", which);
    if (o->features->n_rows != o->graph->n_nodes)
        return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
            "the %s snapshot has features of %zu nodes, a graph of %zu", which,
            o->features->n_rows, o->graph->n_nodes);
    if (o->names && o->names->count && o->names->count != o->graph->n_nodes)
        return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
            "the %s snapshot has %zu node names for %zu nodes", which, o->names->count,
            o->graph->n_nodes);
    return GRAPHSS_OK;
}

graphss_status graphss_i_check_shapes(graphss_ctx *ctx, const graphss_defence_input *in)
{
    graphss_status st = check_observation(ctx, &in->current, "current");
    if (!st && in->previous)
        st = check_observation(ctx, in->previous, "previous");
    if (st || !in->previous || in->previous->features->n_cols == in->current.features->n_cols)
        return st;
    return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
        "the previous snapshot has %zu features, the current one %zu",
        in->previous->features->n_cols, in->current.features->n_cols);
}

static graphss_status check_parts(
    graphss_ctx *ctx, const graphss_observation *o, const char *which)
{
    const graphss_status st = graphss_i_check_snapshot(ctx, o->graph, o->features);
    return st ? graphss_i_fail_in(ctx, st, which) : st;
}

graphss_status graphss_i_check_input(graphss_ctx *ctx, const graphss_defence_input *in)
{
    if (GRAPHSS_I_TAKE(ctx, graphss_defence_input, NULL, in) ||
        GRAPHSS_I_LACKS(ctx, {"model", in->model},
            {"graph of the current snapshot", in->current.graph},
            {"features of the current snapshot", in->current.features}))
        return GRAPHSS_ERR_INVALID;
    if (in->previous &&
        GRAPHSS_I_LACKS(ctx, {"graph of the previous snapshot", in->previous->graph},
            {"features of the previous snapshot", in->previous->features}))
        return GRAPHSS_ERR_INVALID;
    graphss_status st = graphss_i_check_shapes(ctx, in);
    if (!st && in->current.features->n_cols != graphss_model_features(in->model))
        st = graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
            "the current snapshot has %zu features, the model was trained "
            "on %zu",
            in->current.features->n_cols, graphss_model_features(in->model));
    if (!st)
        st = check_parts(ctx, &in->current, "the current snapshot");
    if (!st && in->previous)
        st = check_parts(ctx, in->previous, "the previous snapshot");
    if (!st && in->split)
        st = graphss_i_split_check(ctx, in->split, in->current.graph->n_nodes);
    return st;
}

static graphss_status check_list(graphss_ctx *ctx, const char *what, const int32_t *node,
    const int32_t *label, size_t n, size_t n_nodes, size_t k)
{
    if (n && !label)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "the split has no %s labels", what);
    for (size_t i = 0; i < n; i++) {
        if (node[i] < 0 || (size_t)node[i] >= n_nodes)
            return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
                "the split's %s node %zu is %d, the current snapshot has "
                "0..%zu: give the split of this snapshot",
                what, i, (int)node[i], n_nodes - 1);
        if (label[i] < 0 || (size_t)label[i] >= k)
            return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "%s node %d has label %d, want 0..%zu", what, (int)node[i], (int)label[i],
                k - 1);
    }
    return GRAPHSS_OK;
}

graphss_status graphss_i_check_split(
    graphss_ctx *ctx, const graphss_split *split, size_t n, size_t k, const char *which)
{
    if (split->n_train == 0)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_DATA, "no training node is in the %s snapshot", which);
    const graphss_status st =
        check_list(ctx, "training", split->train, split->train_label, split->n_train, n, k);
    return st ? st
              : check_list(
                    ctx, "validation", split->val, split->val_label, split->n_val, n, k);
}
