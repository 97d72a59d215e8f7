/* sgc.c - simplified graph convolution (Wu et al., ICML 2019): logits = A_hat^hops X W + b.
 * Linear, so it takes ten times GCN's learning rate and next to no weight decay. */
#include "models/model_type.h"

static void adjust(graphss_train_options *opt)
{
    opt->layers = 1;
    opt->hops = 2;
    if (opt->mode == GRAPHSS_MODE_HONEST) {
        opt->learning_rate = 0.1;
        opt->weight_decay = 1e-5;
        opt->dropout = 0.5;
    }
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
    .adjust = adjust,
    .norm = GRAPHSS_I_NORM_SYMMETRIC,
    .hops_by_option = true,
    .declare = declare,
    .record = graphss_i_layered_record,
};
