/* sage.c - GraphSAGE (Hamilton et al., NeurIPS 2017) with two aggregators. The one called gcn
 * is the mean over the neighbours and the node itself, h_{l+1} = relu(mean(h_j : j in N(i) +
 * i) W_l + b_l). The node is always one of its neighbours, so self_loops has no meaning here.
 * The other, mean, keeps weights of its own for the node. */
#include "models/model_type.h"

const graphss_i_model_type graphss_i_sage_model = {
    .name = "sage",
    .summary = "GraphSAGE, mean of neighbours and self (Hamilton et al. 2017)",
    .norm = GRAPHSS_I_NORM_ROW,
    .loops = GRAPHSS_I_LOOPS_ALWAYS,
    .paper_gain = 1.4142135623730951, /* sqrt(2), the gain its library used before a relu */
    .paper_drawn = true,
    .declare = graphss_i_layered_declare,
    .record = graphss_i_layered_record,
};

/* GraphSAGE (Hamilton et al., NeurIPS 2017) with the mean aggregator and a
 * matrix of its own for the node itself, the usual form elsewhere (SAGEConv of PyTorch
 * Geometric): h_{l+1} = relu(mean(h_j : j in N(i)) N_l + h_i S_l + b_l). A node without
 * neighbours has the mean 0.
 *
 * The two matrices of a layer are one, [N_l | S_l], so that one product makes both halves. */
static graphss_status declare(graphss_ctx *ctx, graphss_i_params *p,
    const graphss_train_options *opt, size_t d, size_t k)
{
    const size_t layers = (size_t)opt->layers, hidden = (size_t)opt->hidden;
    graphss_status st = GRAPHSS_OK;
    for (size_t l = 0; l < layers && !st; l++) {
        char name[GRAPHSS_I_PARAM_NAME];
        const size_t rows = l == 0 ? d : hidden, cols = l + 1 == layers ? k : hidden;
        snprintf(name, sizeof name, "%zu.weight", l);
        st = graphss_i_params_declare(ctx, p, name, rows, 2 * cols, l == 0);
        if (st || !opt->bias)
            continue;
        snprintf(name, sizeof name, "%zu.bias", l);
        st = graphss_i_params_declare(ctx, p, name, 1, cols, false);
    }
    return st;
}

static graphss_i_var record(graphss_i_tape *t, const graphss_train_options *opt,
    const graphss_i_input *x, const graphss_i_var *w)
{
    const size_t layers = (size_t)opt->layers, stride = opt->bias ? 2 : 1;
    const graphss_i_pair m = {&x->p->m, graphss_i_propagation_transposed(x->p)};
    graphss_i_var h = graphss_i_input_apply(t, x, w[0], opt->dropout);
    for (size_t l = 0;; l++) {
        h = graphss_i_tape_spmm_beside(t, m, h);
        if (l + 1 == layers)
            return opt->bias ? graphss_i_tape_add_bias(t, h, w[l * stride + 1]) : h;
        h = opt->bias ? graphss_i_tape_bias_relu(t, h, w[l * stride + 1], opt->dropout)
                      : graphss_i_tape_dropout(t, graphss_i_tape_relu(t, h), opt->dropout);
        h = graphss_i_tape_matmul(t, h, w[(l + 1) * stride]);
    }
}

const graphss_i_model_type graphss_i_sage_mean_model = {
    .name = "sage-mean",
    .summary = "GraphSAGE, self beside the mean of neighbours (Hamilton et al. 2017)",
    .norm = GRAPHSS_I_NORM_ROW,
    .loops = GRAPHSS_I_LOOPS_NEVER,
    .propagates = true,
    .declare = declare,
    .record = record,
};
