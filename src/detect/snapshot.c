/* snapshot.c - see snapshot.h. */
#include "detect/snapshot.h"
#include "detect/tuning.h"
#include "graph/part.h"
#include "models/model_private.h"

void graphss_i_snapshot_close(graphss_ctx *ctx, graphss_i_snapshot *s)
{
    graphss_i_evidence_base_destroy(ctx, &s->base);
    graphss_release(ctx, s->prob);
    graphss_release(ctx, s->label);
    *s = (graphss_i_snapshot){0};
}

graphss_status graphss_i_snapshot_open(graphss_ctx *ctx, graphss_i_snapshot *s,
    const graphss_i_class_model *classes, const graphss_model *model,
    const graphss_observation *o, const graphss_split *split, const float *prob)
{
    graphss_i_part *part = graphss_i_part_of(ctx, o->graph), *was = graphss_i_ctx_part(ctx);
    const graphss_graph *graph = part ? &part->graph : o->graph;
    const size_t n = graph->n_nodes, rows = n + (part ? part->n_ghost : 0), k = classes->k;
    float *alone = graphss_i_alloc(ctx, n, k * sizeof *alone);
    graphss_status st = GRAPHSS_OK;
    s->label = graphss_i_alloc(ctx, rows, sizeof *s->label);
    if (!prob)
        s->prob = graphss_i_alloc(ctx, n, k * sizeof *s->prob);
    if (!alone || !s->label || (!prob && !s->prob))
        st = GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < rows && !st; i++)
        s->label[i] = -1;
    for (size_t i = 0; i < split->n_train && !st; i++)
        s->label[split->train[i]] = split->train_label[i];
    if (part) { /* it may be that of the snapshot before */
        st = graphss_engine_agree(ctx, st, NULL);
        graphss_i_ctx_set_part(ctx, part);
    }
    if (!st && part)
        st = graphss_i_part_bring(ctx, part, s->label, sizeof *s->label);
    if (!st && !prob)
        st = graphss_i_predict(ctx, s->prob, model, graph, o->features);
    if (!st)
        st = graphss_i_predict_alone(ctx, alone, model, o->features);
    s->base = (graphss_i_evidence_base){.graph = graph,
        .features = o->features,
        .classes = classes,
        .prob = prob ? prob : s->prob,
        .label = s->label,
        .n = n,
        .k = k};
    if (!st)
        st = graphss_i_evidence_base_fill(ctx, &s->base, alone, NULL);
    graphss_i_ctx_set_part(ctx, was);
    graphss_release(ctx, alone);
    return st;
}

graphss_status graphss_i_states_find(graphss_ctx *ctx, graphss_i_state_model *out, bool *known,
    const graphss_model *model, const graphss_observation *current, const graphss_split *split,
    const graphss_observation *previous, const graphss_split *previous_split)
{
    const graphss_features *f = current->features;
    const graphss_status st = graphss_i_state_model_recall(
        ctx, out, known, model, f->n_cols, graphss_features_dense(f));
    if (st || *known)
        return st;
    if (graphss_i_part_of(ctx, current->graph))
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "the model brings no rehearsal of attacks: its split has too few labelled "
            "nodes, or train did not write it");
    const bool past =
        previous && previous_split->n_val + previous_split->n_train >= TUNE_NEEDED;
    const graphss_observation *o = past ? previous : current;
    return graphss_i_state_model_learn(
        ctx, out, known, model, o->graph, o->features, past ? previous_split : split);
}
