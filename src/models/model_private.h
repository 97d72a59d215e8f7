/* model_private.h - what a trained model is made of. */
#ifndef GRAPHSS_MODEL_PRIVATE_H
#define GRAPHSS_MODEL_PRIVATE_H

#include "models/model_type.h"
#include <graphss/dataset.h>

/* What was learned from rehearsed attacks on the training snapshot and is kept with the model:
 * numbers that mean nothing here. Without rows: nothing was learned. */
typedef struct graphss_i_model_kept {
    size_t rows, cols;
    double *value; /* [rows x cols], finite */
} graphss_i_model_kept;

enum {
    GRAPHSS_I_KEPT_STATES, /* of alert and recover (detect/state_model.c) */
    GRAPHSS_I_KEPT
};

struct graphss_model {
    const graphss_i_model_type *type;
    graphss_train_options opt;
    size_t n_features, n_classes;
    uint64_t seed;
    graphss_i_scaling scaling; /* learned from the training snapshot */
    graphss_i_params params;
    graphss_i_adam adam; /* paper mode: as training left it, padded; lost when saved */
    graphss_split split; /* what it was trained with, labels included */
    graphss_names class_names;
    size_t n_nodes;             /* of the data it was described by; 0: none */
    graphss_names node_names;   /* of that data; empty: nodes are called 0, 1, 2 ... */
    graphss_names column_names; /* likewise */
    float *column_mean; /* [n_features] of that data, where columns have names and scaling has
                         * no such means; else NULL */
    graphss_i_model_kept kept[GRAPHSS_I_KEPT];
    struct graphss_i_predictor *predictor; /* answers in place of the weights, or NULL */
    char dataset_name[64];
    char dataset_hash[65];
};

/* A model with its weights declared, allocated and zero. Takes no ownership. */
graphss_status graphss_i_model_new(graphss_ctx *ctx, graphss_model **out,
                                   const graphss_train_options *opt, size_t n_features,
                                   size_t n_classes, uint64_t seed);
/* One with the weights, scaling and classes of another; no moments, no split. */
graphss_status graphss_i_model_like(graphss_ctx *ctx, graphss_model **out,
                                    const graphss_model *from, uint64_t seed);

/* The model keeps a copy under one of the numbers above, in place of what it had; or nothing.
 */
graphss_status graphss_i_model_keep(graphss_ctx *ctx, graphss_model *model, size_t which,
                                    const double *value, size_t rows, size_t cols);
void graphss_i_model_drop(graphss_ctx *ctx, graphss_model *model, size_t which);

/* State that a further training needs, as plain numbers, so that one process can pass it to
 * another (model_state.c). */
typedef struct graphss_i_model_state {
    bool filled;
    size_t step;
    float value[]; /* weights, then Adam's two moments */
} graphss_i_model_state;

/* Size of the state of models like this one; 0: it has no moments. */
size_t graphss_i_model_state_size(const graphss_model *model);
void graphss_i_model_state_put(graphss_i_model_state *state, const graphss_model *model);
graphss_status graphss_i_model_state_take(graphss_ctx *ctx, graphss_model **out,
                                          const graphss_model *like,
                                          const graphss_i_model_state *state);

#endif
