/* mlp.c - a perceptron on the features alone: the baseline that no edge can mislead. */
#include "models/model_type.h"

/* Without neighbours to average over it bears less noise than the others. */
static void adjust(graphss_train_options *opt)
{
    if (opt->mode == GRAPHSS_MODE_DEFAULT)
        opt->dropout = 0.5;
}

const graphss_i_model_type graphss_i_mlp_model = {
    .name = "mlp",
    .summary = "multi-layer perceptron, features only",
    .adjust = adjust,
    .norm = GRAPHSS_I_NORM_NONE,
    .paper_drawn = true,
    .declare = graphss_i_layered_declare,
    .record = graphss_i_layered_record,
};
