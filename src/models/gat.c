/* gat.c - graph attention network (Velickovic et al., ICLR 2018). Of each head
 *
 *   g = h W,  a_ij = softmax over j in N(i) + i of leaky(g_i . t + g_j . s),
 *   out_i = sum_j a_ij g_j
 *
 * with leaky's slope 0.2. Hidden layers put their heads side by side, the last takes their
 * mean; then comes the bias, and between layers elu or relu. While training, inputs of layers
 * and the weights a_ij are dropped. As GATConv of PyTorch Geometric, loops included. */
#include "models/model_type.h"

static const double slope = 0.2;

enum { WEIGHT, SOURCE, TARGET, BIAS }; /* matrices of a layer */

typedef struct shape {
    size_t rows, heads, cols; /* columns of a head */
    bool last;
} shape;

static shape shape_of(const graphss_train_options *opt, size_t l, size_t d, size_t k)
{
    const bool last = l + 1 == (size_t)opt->layers;
    const int64_t heads = last ? opt->output_heads : opt->heads;
    shape s = {.rows = l == 0 ? d : (size_t)opt->hidden, .last = last};
    s.heads = heads > 0 ? (size_t)heads : 1;
    s.cols = last ? k : (size_t)opt->hidden / s.heads;
    return s;
}

static void adjust(graphss_train_options *opt)
{
    opt->heads = 8;
    opt->output_heads = 1;
    opt->activation = GRAPHSS_ACTIVATION_ELU;
    opt->hidden = opt->mode == GRAPHSS_MODE_DEFAULT ? 64 : opt->hidden;
    opt->dropout = opt->mode == GRAPHSS_MODE_DEFAULT ? 0.6 : opt->dropout;
}

static graphss_status declare_layer(
    graphss_ctx *ctx, graphss_i_params *p, size_t l, shape s, bool bias)
{
    static const char *const called[] = {"weight", "att_src", "att_dst", "bias"};
    const size_t wide = s.heads * s.cols;
    graphss_status st = GRAPHSS_OK;
    for (int i = WEIGHT; i <= (bias ? BIAS : TARGET) && !st; i++) {
        char name[GRAPHSS_I_PARAM_NAME];
        snprintf(name, sizeof name, "%zu.%s", l, called[i]);
        st = graphss_i_params_declare(ctx, p, name, i == WEIGHT ? s.rows : 1,
            i == BIAS && s.last ? s.cols : wide, i == WEIGHT && l == 0);
    }
    return st;
}

static graphss_status declare(graphss_ctx *ctx, graphss_i_params *p,
    const graphss_train_options *opt, size_t d, size_t k)
{
    const size_t layers = (size_t)opt->layers;
    graphss_status st = GRAPHSS_OK;
    if (layers > 1 && opt->heads > 1 && opt->hidden % opt->heads)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "--hidden: found %lld, want a multiple of the %lld --heads, "
            "which share it",
            (long long)opt->hidden, (long long)opt->heads);
    for (size_t l = 0; l < layers && !st; l++)
        st = declare_layer(ctx, p, l, shape_of(opt, l, d, k), opt->bias);
    return st;
}

static graphss_i_var activate(
    graphss_i_tape *t, const graphss_train_options *opt, graphss_i_var h)
{
    return opt->activation == GRAPHSS_ACTIVATION_ELU ? graphss_i_tape_elu(t, h)
                                                     : graphss_i_tape_relu(t, h);
}

static graphss_i_var record(graphss_i_tape *t, const graphss_train_options *opt,
    const graphss_i_input *x, const graphss_i_var *w)
{
    const size_t layers = (size_t)opt->layers, stride = opt->bias ? 4 : 3;
    const graphss_i_csr *m = &x->p->m;
    const int64_t *place = x->p->place;
    graphss_i_var h = graphss_i_input_apply(t, x, w[WEIGHT], opt->dropout);
    for (size_t l = 0;; l++, w += stride) {
        const shape s = shape_of(opt, l, 0, 0);
        const graphss_i_var from = graphss_i_tape_head_dots(t, h, w[SOURCE], s.heads);
        const graphss_i_var to = graphss_i_tape_head_dots(t, h, w[TARGET], s.heads);
        graphss_i_var a = graphss_i_tape_attention(t, m, m, place, to, from, slope);
        a = graphss_i_tape_dropout(t, a, opt->dropout);
        h = graphss_i_tape_spmm_heads(t, m, m, place, a, h);
        if (s.last)
            h = graphss_i_tape_mean_heads(t, h, s.heads);
        if (opt->bias)
            h = graphss_i_tape_add_bias(t, h, w[BIAS]);
        if (l + 1 == layers)
            return h;
        h = graphss_i_tape_dropout(t, activate(t, opt, h), opt->dropout);
        h = graphss_i_tape_matmul(t, h, w[stride + WEIGHT]);
    }
}

const graphss_i_model_type graphss_i_gat_model = {
    .name = "gat",
    .summary = "graph attention network (Velickovic et al. 2018)",
    .adjust = adjust,
    .norm = GRAPHSS_I_NORM_LEARNED,
    .loops = GRAPHSS_I_LOOPS_ALWAYS,
    .propagates = true,
    .attends = true,
    .declare = declare,
    .record = record,
};
