/* rgcn.c - RGCN (Zhu et al., KDD 2019): hidden units are Gaussian, and a node of large
 * variance counts less among its neighbours.
 *
 *   first layer   m = elu(X M_0), s = relu(X S_0);  later: m = elu(m M_l), s = relu(s S_l)
 *   then          m <- P1 (m a), s <- P2 (s a a),  a = exp(-gamma s)
 *   P1 = D^-1/2 (A + I) D^-1/2,  P2 = D^-1 (A + I) D^-1
 *   logits        m + e sqrt(s + 1e-8), e ~ N(0, I)
 *   loss          cross-entropy + beta1 sum_i mean_c (m^2 + s - log(s + 1e-8)) / 2 of the
 *                 first layer before its propagation + beta2 (|M_0|^2 + |S_0|^2)
 *
 * Sees edges, features and training labels. A network of its own: which model is given
 * matters for the undefended answer only. Its authors draw e when predicting, too
 * (--sample); the mean is steadier. Costs twice a GCN. */
#include "graph/normalise.h"
#include "recover/network.h"
#include "recover/option_rows.h"

typedef struct matrices {
    graphss_i_propagation p1;
    graphss_i_csr p2; /* the pattern is that of p1 */
} matrices;

static void release(graphss_ctx *ctx, void *state)
{
    matrices *s = state;
    graphss_i_csr_destroy(ctx, &s->p2);
    graphss_i_propagation_destroy(ctx, &s->p1);
}

static graphss_status prepare(graphss_ctx *ctx, void *state, const graphss_observation *on,
    const graphss_recover_options *opt, const void *user)
{
    (void)opt, (void)user;
    matrices *s = state;
    graphss_status st =
        graphss_i_propagation_make(ctx, &s->p1, on->graph, GRAPHSS_I_NORM_SYMMETRIC, true);
    if (st)
        return st;
    const size_t nnz = (size_t)s->p1.m.offset[s->p1.m.n_rows];
    s->p2 = s->p1.m;
    s->p2.borrowed = true;
    s->p2.value = graphss_i_alloc(ctx, nnz, sizeof *s->p2.value);
    if (!s->p2.value)
        return GRAPHSS_ERR_NOMEM;
    for (size_t e = 0; e < nnz; e++) /* 1 / (d_i d_j) */
        s->p2.value[e] = s->p1.m.value[e] * s->p1.m.value[e];
    return GRAPHSS_OK;
}

static graphss_status declare(graphss_ctx *ctx, graphss_i_params *p,
    const graphss_recover_options *opt, size_t d, size_t k)
{
    const size_t layers = (size_t)opt->fit.layers, hidden = (size_t)opt->fit.hidden;
    graphss_status st = GRAPHSS_OK;
    for (size_t l = 0; l < layers && !st; l++) {
        const size_t rows = l ? hidden : d, cols = l + 1 < layers ? hidden : k;
        char name[GRAPHSS_I_PARAM_NAME];
        snprintf(name, sizeof name, "%zu.mean", l);
        st = graphss_i_params_declare(ctx, p, name, rows, cols, false);
        snprintf(name, sizeof name, "%zu.variance", l);
        if (!st)
            st = graphss_i_params_declare(ctx, p, name, rows, cols, false);
    }
    return st;
}

static graphss_i_var record(graphss_i_tape *t, const void *state, const graphss_i_input *x,
    const graphss_i_var *w, const graphss_recover_options *opt, bool training)
{
    const matrices *s = state;
    const graphss_i_pair p1 = {&s->p1.m, &s->p1.m}, p2 = {&s->p2, &s->p2};
    const double dropout = opt->fit.dropout;
    graphss_i_var mean = -1, variance = -1;
    for (size_t l = 0; l < (size_t)opt->fit.layers; l++) {
        const graphss_i_var *m = w + 2 * l, *v = w + 2 * l + 1;
        if (l == 0) {
            mean = graphss_i_input_apply(t, x, *m, dropout);
            variance = graphss_i_input_apply(t, x, *v, dropout);
        } else {
            mean = graphss_i_tape_matmul(t, graphss_i_tape_dropout(t, mean, dropout), *m);
            variance =
                graphss_i_tape_matmul(t, graphss_i_tape_dropout(t, variance, dropout), *v);
        }
        mean = graphss_i_tape_elu(t, mean);
        variance = graphss_i_tape_relu(t, variance);
        if (l == 0 && training) {
            graphss_i_tape_gaussian_kl(
                t, mean, variance, opt->rgcn.beta1 / (double)opt->fit.hidden);
            graphss_i_tape_sum_squares(t, *m, opt->rgcn.beta2);
            graphss_i_tape_sum_squares(t, *v, opt->rgcn.beta2);
        }
        const graphss_i_var a =
            graphss_i_tape_exp(t, graphss_i_tape_scale(t, variance, -opt->rgcn.gamma));
        mean = graphss_i_tape_spmm(t, p1, graphss_i_tape_multiply(t, mean, a));
        variance = graphss_i_tape_multiply(t, variance, graphss_i_tape_multiply(t, a, a));
        variance = graphss_i_tape_spmm(t, p2, variance);
    }
    return graphss_i_tape_gaussian(t, mean, variance, opt->rgcn.sample);
}

static const graphss_i_network network = {.state_size = sizeof(matrices),
    .prepare = prepare,
    .release = release,
    .declare = declare,
    .record = record};

static void adjust(graphss_recover_options *opt)
{
    const bool paper = opt->mode == GRAPHSS_MODE_PAPER;
    opt->fit.layers = 2;
    opt->fit.hidden = 32;
    opt->fit.dropout = 0.6;
    opt->fit.learning_rate = 0.01;
    opt->fit.weight_decay = 0;
    opt->fit.epochs = 200;
    opt->rgcn.gamma = 1;
    opt->rgcn.beta1 = 5e-4;
    opt->rgcn.beta2 = 5e-4;
    opt->rgcn.sample = paper;
}

static const graphss_option options[] = {GRAPHSS_I_COMMON_ROWS, GRAPHSS_I_ROW_GAMMA(rgcn),
    GRAPHSS_I_ROWS_RGCN(rgcn), GRAPHSS_I_FIT_ROWS, {0}};

const graphss_i_defence graphss_i_rgcn_defence = {
    .name = "rgcn",
    .summary = "RGCN: Gaussian hidden units, large variances count less (Zhu et al. 2019)",
    .evasion = "trained on the previous snapshot, then the current one",
    .retrain = "trained on the current snapshot",
    .options = options,
    .learns = true,
    .needs_edges = true,
    .evasion_previous = true,
    .adjust = adjust,
    .network = &network,
};
