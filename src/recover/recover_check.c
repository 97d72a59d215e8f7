/* recover_check.c - checks that a method can work on an input. */
#include "models/model_private.h"
#include "recover/defence.h"

graphss_status graphss_i_check_labels(graphss_ctx *ctx, const graphss_split *split, size_t n,
    size_t k, const graphss_i_defence *m, const char *which)
{
    const graphss_status st = graphss_i_check_split(ctx, split, n, k, which);
    if (st || !m->learns)
        return st;
    for (size_t i = 1; i < split->n_train; i++)
        if (split->train_label[i] != split->train_label[0])
            return GRAPHSS_OK;
    return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
        "all %zu training labels are class %d: %s needs at least two classes", split->n_train,
        (int)split->train_label[0], m->name);
}

graphss_status graphss_i_check_way(graphss_ctx *ctx, bool *retrain, const graphss_i_defence *m,
    const graphss_defence_input *in, int train)
{
    *retrain =
        train == GRAPHSS_RECOVER_RETRAIN || (train == GRAPHSS_RECOVER_AUTO && m->retrain);
    if (train != GRAPHSS_RECOVER_AUTO && !m->evasion && !m->retrain)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "--train %s has no meaning for %s: nothing is trained",
            train == GRAPHSS_RECOVER_RETRAIN ? "retrain" : "evasion", m->name);
    if (*retrain && !m->retrain)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "--train retrain has no meaning for %s, which is %s", m->name, m->evasion);
    if (train == GRAPHSS_RECOVER_EVASION && !m->evasion)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "--train evasion has no meaning for %s, which is %s", m->name, m->retrain);
    if (!in->previous && m->needs_previous)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "%s needs the previous snapshot, none is given", m->name);
    if (!in->previous && m->evasion_previous && m->evasion && !*retrain)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "%s with --train evasion is trained on the previous snapshot, "
            "none is given",
            m->name);
    return GRAPHSS_OK;
}

graphss_status graphss_i_check_trusted(graphss_ctx *ctx, const graphss_i_defence *m,
    const graphss_recover_options *opt, size_t n, bool shared)
{
    if (opt->n_trusted == 0)
        return GRAPHSS_OK;
    if (!m->finds)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "trusted nodes have no meaning for %s%s, which does not estimate perturbed nodes",
            m->name, opt->mode == GRAPHSS_MODE_PAPER ? " in paper mode" : "");
    if (shared)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "trusted nodes do not work on several ranks");
    if (!opt->trusted)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "no trusted nodes given: NULL, want %zu", opt->n_trusted);
    for (size_t i = 0; i < opt->n_trusted; i++)
        if (opt->trusted[i] < 0 || (size_t)opt->trusted[i] >= n)
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                "a trusted node is %d, the snapshot has 0..%zu", (int)opt->trusted[i], n - 1);
    return GRAPHSS_OK;
}

graphss_status graphss_i_check_method(
    graphss_ctx *ctx, const graphss_i_defence *m, const graphss_defence_input *in)
{
    graphss_status st = graphss_i_check_shapes(ctx, in);
    if (!st && m->needs_edges && graphss_graph_edges(in->current.graph) == 0)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "the current snapshot has no links, and %s works on links", m->name);
    const graphss_i_model_type *type = in->model->type;
    if (!st && m->on_model && type->norm == GRAPHSS_I_NORM_NONE)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "%s has no meaning for %s, which does not use links", m->name, type->name);
    return st;
}
