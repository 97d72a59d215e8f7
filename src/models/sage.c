/* sage.c - GraphSAGE (Hamilton et al., NeurIPS 2017) with the aggregator called gcn: the mean over
 * the neighbours and the node itself, h_{l+1} = relu(mean(h_j : j in N(i) + i) W_l + b_l). The node is always one
 * of its neighbours, so self_loops has no meaning here. */
#include "models/model_type.h"

static graphss_i_norm norm(const graphss_train_options *opt)
{
    (void)opt;
    return GRAPHSS_I_NORM_ROW;
}

static bool loops(const graphss_train_options *opt)
{
    (void)opt;
    return true;
}

static size_t hops(const graphss_train_options *opt)
{
    (void)opt;
    return 1;
}

const graphss_i_model_type graphss_i_sage = {
    .name = "sage",
    .summary = "GraphSAGE, mean of neighbours and self (Hamilton et al. 2017)",
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
