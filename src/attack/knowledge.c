/* knowledge.c - which class the attacker assumes for each node. */
#include "data/build.h"
#include <graphss/attack.h>
#include <string.h>

const char *graphss_knowledge_text(graphss_knowledge knows)
{
    const graphss_option *row = graphss_option_find(graphss_attack_options_table(), "knows");
    return (unsigned)knows <= GRAPHSS_KNOWLEDGE_NOTHING ? row->choices[knows] : "?";
}

/* Published labels are known to everybody. */
static void take_split(int32_t *label, const graphss_split *split)
{
    for (size_t i = 0; split->train_label && i < split->n_train; i++)
        label[split->train[i]] = split->train_label[i];
    for (size_t i = 0; split->val_label && i < split->n_val; i++)
        label[split->val[i]] = split->val_label[i];
}

graphss_status graphss_attack_believe(graphss_ctx *ctx, int32_t *label,
                                      const graphss_dataset *data, const graphss_split *split,
                                      const int32_t *predicted, size_t n_classes,
                                      uint64_t seed, graphss_knowledge knows)
{
    if (GRAPHSS_I_LACKS(ctx, {"labels", label}, {"dataset", data}, {"split", split},
                        {"predictions", predicted}))
        return GRAPHSS_ERR_INVALID;
    const size_t n = data->graph.n_nodes;
    if ((unsigned)knows > GRAPHSS_KNOWLEDGE_NOTHING || n_classes == 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                              "knowledge %d of %zu classes, want 0 to 2 and a class",
                              (int)knows, n_classes);
    const graphss_status st = graphss_i_split_check(ctx, split, n);
    if (st)
        return st;
    if (knows == GRAPHSS_KNOWLEDGE_TRUTH) {
        for (size_t i = 0; i < n; i++)
            label[i] = data->label && data->label[i] >= 0 ? data->label[i] : predicted[i];
        return GRAPHSS_OK;
    }
    if (knows == GRAPHSS_KNOWLEDGE_PREDICTIONS) {
        memcpy(label, predicted, n * sizeof *label);
    } else {
        graphss_rng rng = graphss_rng_make(seed, GRAPHSS_STREAM_ATTACK);
        for (size_t i = 0; i < n; i++)
            label[i] = (int32_t)graphss_rng_below(&rng, n_classes);
    }
    take_split(label, split);
    return GRAPHSS_OK;
}
