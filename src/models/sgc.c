/* sgc.c - simplified graph convolution (Wu et al., ICML 2019): logits = A_hat^hops X W + b.
 * Linear, so it takes ten times GCN's learning rate and next to no weight decay. The paper's
 * public code puts three of them on top of each other, h_{l+1} = A_hat^hops h_l W_l + b_l:
 * linear still, and six hops in all. */
#include "models/model_type.h"

static void adjust(graphss_train_options *opt)
{
    opt->hops = 2;
    if (opt->mode == GRAPHSS_MODE_DEFAULT) {
        opt->layers = 1;
        opt->learning_rate = 0.1;
        opt->weight_decay = 1e-5;
        opt->dropout = 0.5;
    }
}

static graphss_i_var record(graphss_i_tape *t, const graphss_train_options *opt,
    const graphss_i_input *x, const graphss_i_var *w)
{
    const size_t layers = (size_t)opt->layers, stride = opt->bias ? 2 : 1;
    const graphss_i_pair m = {&x->p->m, graphss_i_propagation_transposed(x->p)};
    graphss_i_var h = graphss_i_input_apply(t, x, w[0], opt->dropout);
    for (size_t l = 0;; l++) {
        if (opt->bias)
            h = graphss_i_tape_add_bias(t, h, w[l * stride + 1]);
        if (l + 1 == layers)
            return h;
        h = graphss_i_tape_dropout(t, h, opt->dropout);
        h = graphss_i_tape_matmul(t, h, w[(l + 1) * stride]);
        for (int64_t hop = 0; hop < opt->hops; hop++)
            h = graphss_i_tape_spmm(t, m, h);
    }
}

const graphss_i_model_type graphss_i_sgc_model = {
    .name = "sgc",
    .summary = "simplified graph convolution, linear (Wu et al. 2019)",
    .adjust = adjust,
    .norm = GRAPHSS_I_NORM_SYMMETRIC,
    .hops_by_option = true,
    .paper_drawn = true,
    .declare = graphss_i_layered_declare,
    .record = record,
};
