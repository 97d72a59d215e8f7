/* sgc.c - simplified graph convolution (Wu et al., ICML 2019): logits = A_hat^hops X W + b. */
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
    return (size_t)opt->hops;
}

static graphss_status declare(graphss_ctx *ctx, graphss_i_params *p,
                              const graphss_train_options *opt, size_t d, size_t k)
{
    if (opt->layers != 1)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                              "--layers: found %lld, want 1: sgc has one layer (see --hops)",
                              (long long)opt->layers);
    return graphss_i_layered_declare(ctx, p, opt, d, k);
}

const graphss_i_model_type graphss_i_sgc = {
    .name = "sgc",
    .summary = "simplified graph convolution, linear (Wu et al. 2019)",
    .preset =
        {
            [GRAPHSS_MODE_HONEST] = {.layers = 1,
                                     .hidden = 64,
                                     .hops = 2,
                                     .dropout = 0.5,
                                     .weight_decay = 1e-5,
                                     .learning_rate = 0.1,
                                     .epochs = 200,
                                     .patience = 0,
                                     .self_loops = true,
                                     .row_normalise = true,
                                     .unit_scale = true,
                                     .bias = true},
            [GRAPHSS_MODE_PAPER] = {.layers = 1,
                                    .hidden = 200,
                                    .hops = 2,
                                    .learning_rate = 1e-3,
                                    .epochs = 200,
                                    .self_loops = false,
                                    .row_normalise = true,
                                    .bias = true},
        },
    .norm = norm,
    .loops = loops,
    .hops = hops,
    .declare = declare,
    .record = graphss_i_layered_record,
};
