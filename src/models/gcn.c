/* gcn.c - graph convolutional network (Kipf & Welling, ICLR 2017):
 * h_{l+1} = relu(A_hat h_l W_l + b_l), A_hat = D^-1/2 (A + I) D^-1/2; the last without relu.
 * The paper preset is what its public code ran: three weight layers, A without loops. */
#include "models/model_type.h"

static graphss_i_norm norm(const graphss_train_options *opt)
{
    (void)opt;
    return GRAPHSS_I_NORM_SYMMETRIC;
}

static bool loops(const graphss_train_options *opt)
{
    return opt->self_loops;
}

static size_t hops(const graphss_train_options *opt)
{
    (void)opt;
    return 1;
}

const graphss_i_model_type graphss_i_gcn = {
    .name = "gcn",
    .summary = "graph convolutional network (Kipf and Welling 2017)",
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
