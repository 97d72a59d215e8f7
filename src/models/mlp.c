/* mlp.c - a perceptron on the features alone: the baseline that no link can mislead. */
#include "models/model_type.h"

const graphss_i_model_type graphss_i_mlp = {
    .name = "mlp",
    .summary = "multi-layer perceptron, features only",
    .norm = GRAPHSS_I_NORM_NONE,
    .declare = graphss_i_layered_declare,
    .record = graphss_i_layered_record,
};
