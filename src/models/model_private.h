/* model_private.h - what a trained model is made of. */
#ifndef GRAPHSS_MODEL_PRIVATE_H
#define GRAPHSS_MODEL_PRIVATE_H

#include "models/model_type.h"
#include <graphss/dataset.h>

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
    char dataset_name[64];
    char dataset_hash[65];
};

/* A model with its weights declared, allocated and zero. Takes no ownership. */
graphss_status graphss_i_model_new(graphss_ctx *ctx, graphss_model **out,
                                   const graphss_train_options *opt, size_t n_features,
                                   size_t n_classes, uint64_t seed);

#endif
