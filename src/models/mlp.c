/* mlp.c - a perceptron on the features alone: the baseline that no link can mislead. */
#include "models/model_type.h"

static graphss_i_norm norm(const graphss_train_options *opt)
{
    (void)opt;
    return GRAPHSS_I_NORM_NONE;
}

static bool loops(const graphss_train_options *opt)
{
    (void)opt;
    return false;
}

static size_t hops(const graphss_train_options *opt)
{
    (void)opt;
    return 0;
}

const graphss_i_model_type graphss_i_mlp = {
    .name = "mlp",
    .summary = "multi-layer perceptron, features only",
    .preset =
        {
            [GRAPHSS_MODE_HONEST] = {.layers = 2,
                                     .hidden = 64,
                                     .hops = 1,
                                     .dropout = 0.7,
                                     .weight_decay = 5e-4,
                                     .learning_rate = 0.01,
                                     .epochs = 200,
                                     .patience = 0,
                                     .self_loops = true,
                                     .row_normalise = true,
                                     .unit_scale = true,
                                     .bias = true},
            [GRAPHSS_MODE_PAPER] = {.layers = 3,
                                    .hidden = 200,
                                    .hops = 1,
                                    .learning_rate = 1e-3,
                                    .epochs = 200,
                                    .self_loops = false,
                                    .row_normalise = true,
                                    .bias = true},
        },
    .norm = norm,
    .loops = loops,
    .hops = hops,
    .declare = graphss_i_layered_declare,
    .record = graphss_i_layered_record,
};
