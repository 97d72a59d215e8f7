/* graphss/predictor.h - a classifier of yours in place of a model.
 *
 *     graphss_status ask(void *user, float *prob, const graphss_graph *graph,
 *                        const graphss_features *features, char *why, size_t size);
 *     const graphss_predictor mine = {.struct_size = sizeof mine, .probabilities = ask};
 *     graphss_train_input in = {.struct_size = sizeof in, .graph = &data.graph,
 *                               .features = &data.features, .n_classes = data.n_classes,
 *                               .split = &split, .seed = 1};
 *     graphss_model_from_predictor(ctx, &model, &mine, &in, NULL);
 *
 * The model takes its probabilities from the predictor. If weights are needed (the surrogate
 * of an attacker, the weight of a feature in the detector), it has those of a classifier of
 * ours that was fitted to the predictor's answers. The model records how often the two agree.
 * The stated false-alarm rate does not depend on that agreement, the power of the alert does.
 */
#ifndef GRAPHSS_PREDICTOR_H
#define GRAPHSS_PREDICTOR_H

#include <graphss/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Functions that answer for snapshots. They are called one at a time, but not always on the
 * caller's thread. They must give the same answers for the same snapshot, and may not use the
 * model they answer for. On an error they return a status and write the reason to `why`, of
 * `size` bytes. */
typedef struct graphss_predictor {
    size_t struct_size; /* sizeof(graphss_predictor) */
    /* prob [n_nodes x n_classes]: class probabilities of all nodes; rows sum to 1. */
    graphss_status (*probabilities)(void *user, float *prob, const graphss_graph *graph,
        const graphss_features *features, char *why, size_t size);
    /* prob [n x n_classes]: of the n listed nodes alone. NULL: it answers for all only. */
    graphss_status (*some)(void *user, float *prob, const int32_t *node, size_t n,
        const graphss_graph *graph, const graphss_features *features, char *why, size_t size);
    void (*release)(void *user); /* when the model is freed, or NULL */
    void *user;
    size_t hops; /* a node's answer depends on nodes up to this distance; 0: unknown */
} graphss_predictor;

/* A model that answers as the predictor does on any snapshot. The input is a snapshot known to
 * be clean: the predictor is asked twice about it, and refused where its
 * answers differ, and a classifier of ours is fitted to them (opt: how, NULL:
 * graphss_train_options_init for gcn). in->split: what it was trained with; NULL: one is
 * drawn, with the predictor's own answers for labels. It warns if the agreement is below 90 %.
 * The predictor is copied; release is called when the model is freed, and not on an error.
 * Errors: those of graphss_model_train; DATA (answers that are no probabilities, or not the
 * same twice); what the predictor returns. */
GRAPHSS_MUST_CHECK graphss_status graphss_model_from_predictor(graphss_ctx *ctx,
    graphss_model **out, const graphss_predictor *predictor, const graphss_train_input *in,
    const graphss_train_options *opt);

/* Gives a model another predictor, or its first one: a model that was made from one and saved
 * has none when it is loaded, and any other model then answers as the predictor does. The
 * agreement stays as it was; of a model without one it is unknown (NaN). INVALID, NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_model_set_predictor(
    graphss_ctx *ctx, graphss_model *model, const graphss_predictor *predictor);

/* A snapshot and the answers of a classifier: prob [n_nodes x n_classes]. */
typedef struct graphss_answers {
    const graphss_graph *graph;
    const graphss_features *features;
    const float *prob;
} graphss_answers;

/* A model made of probabilities alone. On known snapshots it returns their answers. On others
 * (simulated attacks) it returns the answers of the nearest known one, changed by as much as a
 * classifier of ours, fitted to the clean answers, changes its own. All arrays of known are
 * borrowed until the model is freed. The first of the n known is clean. As above otherwise. */
GRAPHSS_MUST_CHECK graphss_status graphss_model_from_answers(graphss_ctx *ctx,
    graphss_model **out, const graphss_answers *known, size_t n, size_t n_classes,
    const graphss_split *split, uint64_t seed, const graphss_train_options *opt);

/* State of a model's predictor. */
typedef struct graphss_predictor_use {
    size_t calls;         /* number of calls for all nodes since it was set */
    size_t some;          /* number of calls for some nodes */
    double agreement;     /* share of held-out nodes on which the fitted classifier agrees */
    bool by_answers;      /* graphss_model_from_answers */
    uint64_t reserved[4]; /* 0 */
} graphss_predictor_use;

/* False: the model has no predictor, and *use is empty. use may be NULL. */
GRAPHSS_API bool graphss_model_predictor_use(
    graphss_predictor_use *use, const graphss_model *model);

#ifdef __cplusplus
}
#endif
#endif
