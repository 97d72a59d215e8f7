/* model_private.h - the fields of a trained model. */
#ifndef GRAPHSS_MODEL_PRIVATE_H
#define GRAPHSS_MODEL_PRIVATE_H

#include "models/model_type.h"
#include "models/predict_incremental.h"
#include <graphss/dataset.h>
#include <graphss/model.h>
#include <graphss/predictor.h>

/* What was learned from rehearsed attacks on the training snapshot and is stored with the
 * model: numbers without meaning here. No rows: nothing was learned. */
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
    graphss_split split; /* the split it was trained with, labels included */
    graphss_names class_names;
    size_t n_nodes;             /* of its data; 0: not stored */
    graphss_names node_names;   /* of its data; empty: nodes are called 0, 1, 2 ... */
    graphss_names column_names; /* the same */
    /* [n_features] means of its data, if columns have names and are not standardised; else
     * NULL */
    float *column_mean;
    graphss_i_model_kept kept[GRAPHSS_I_KEPT];
    struct graphss_i_predictor *predictor; /* answers in place of the weights, or NULL */
    char dataset_name[64];
    char dataset_hash[65];
};

/* A model with its weights declared, allocated and zero. Takes no ownership. */
graphss_status graphss_i_model_new(graphss_ctx *ctx, graphss_model **out,
    const graphss_train_options *opt, size_t n_features, size_t n_classes, uint64_t seed);
/* One with the weights, scaling and classes of another; no moments, no split. */
graphss_status graphss_i_model_like(
    graphss_ctx *ctx, graphss_model **out, const graphss_model *from, uint64_t seed);

/* Copies it into the model under one of the numbers above, in place of an earlier one; NULL
 * removes it. */
graphss_status graphss_i_model_keep(graphss_ctx *ctx, graphss_model *model, size_t which,
    const double *value, size_t rows, size_t cols);
void graphss_i_model_drop(graphss_ctx *ctx, graphss_model *model, size_t which);

/* State that a further training needs, as plain numbers, so that one process can pass it to
 * another (model_file.c). */
typedef struct graphss_i_model_state {
    bool filled;
    size_t step;
    float value[]; /* weights, then Adam's two moments */
} graphss_i_model_state;

/* Size of the state of models like this one; 0: it has no moments. */
size_t graphss_i_model_state_size(const graphss_model *model);
void graphss_i_model_state_put(graphss_i_model_state *state, const graphss_model *model);
graphss_status graphss_i_model_state_take(graphss_ctx *ctx, graphss_model **out,
    const graphss_model *like, const graphss_i_model_state *state);

/* ---- a model whose answers come from a predictor (graphss/predictor.h) ---- */

/* The predictor of a model. */
typedef struct graphss_i_predictor graphss_i_predictor;

/* Without functions: a model that was loaded, until it is given some. */
graphss_status graphss_i_predictor_new(
    graphss_ctx *ctx, graphss_model *model, double agreement);
void graphss_i_predictor_free(graphss_ctx *ctx, graphss_i_predictor *p);
double graphss_i_predictor_agreement(const graphss_i_predictor *p);

/* The predictor's answers for all nodes. */
graphss_status graphss_i_predictor_ask(graphss_ctx *ctx, float *prob,
    const graphss_model *model, const graphss_graph *graph, const graphss_features *features);
/* graphss_i_predict_again for such a model. */
graphss_status graphss_i_predictor_again(graphss_ctx *ctx, float *prob,
    const graphss_model *model, const graphss_graph *graph, const graphss_features *features,
    const graphss_i_base *base, const int32_t *there, const uint8_t *wanted);
/* The answers of the model's own weights (model.c). */
graphss_status graphss_i_predict_by_weights(graphss_ctx *ctx, float *prob,
    const graphss_model *model, const graphss_graph *graph, const graphss_features *features);

/* Train and predict on snapshots that were checked before, or that the
 * library made: simulated ones are many. The same as the public ones otherwise. */
graphss_status graphss_i_train(graphss_ctx *ctx, graphss_model **out, graphss_training *log,
    const graphss_train_input *in, const graphss_train_options *opt);
/* graphss_model_train without its warning, for callers that leave columns unstandardised on
 * purpose. */
graphss_status graphss_i_train_checked(graphss_ctx *ctx, graphss_model **out,
    graphss_training *log, const graphss_train_input *in, const graphss_train_options *opt);
graphss_status graphss_i_continue(graphss_ctx *ctx, graphss_model **out, graphss_training *log,
    const graphss_model *from, const graphss_train_input *in, int64_t epochs);
graphss_status graphss_i_predict(graphss_ctx *ctx, float *prob, const graphss_model *model,
    const graphss_graph *graph, const graphss_features *features);
/* The same; *pass is for snapshots that differ in a few nodes, and the caller destroys it. */
graphss_status graphss_i_predict_first(graphss_ctx *ctx, float *prob,
    graphss_i_forward_cache *pass, const graphss_model *model, const graphss_graph *graph,
    const graphss_features *features);
/* As graphss_i_predict, bit for bit, but faster if little differs from the known snapshot.
 * there [n]: the number a node had in it, -1 for none; NULL: all have the same. wanted [n] or
 * NULL: the nodes whose rows of prob are needed. */
graphss_status graphss_i_predict_again(graphss_ctx *ctx, float *prob,
    const graphss_model *model, const graphss_graph *graph, const graphss_features *features,
    const graphss_i_base *base, const int32_t *there, const uint8_t *wanted);

/* Empty cells of data to be labelled get the means of the data a model was
 * trained on: those of the data itself would move with every snapshot. */

/* *out [n_cols]: the mean of each column, the caller's. NOMEM. */
graphss_status graphss_i_column_means(
    graphss_ctx *ctx, float **out, const graphss_features *features);
/* The means that the model keeps, or NULL. */
const float *graphss_i_model_means(const graphss_model *model);
/* Fills the missing cells of data->missing with the model's means, in *filled and *out; if
 * there are none *out is unchanged. Columns the model does not know stay unchanged. NOMEM,
 * SHAPE. */
graphss_status graphss_i_model_fill(graphss_ctx *ctx, graphss_features *out, size_t *filled,
    const graphss_model *model, const graphss_dataset *data);

#endif
