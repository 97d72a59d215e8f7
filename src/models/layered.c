/* layered.c - the classifiers that differ only in how they propagate: GCN, GraphSAGE with
 * the gcn aggregator, SGC (one layer, several hops), MLP (no propagation). */
#include "models/model_type.h"

void graphss_i_weights_record(
    graphss_i_tape *t, graphss_i_var *w, const graphss_i_params *p, const graphss_i_adam *adam)
{
    for (size_t i = 0; i < p->n; i++) {
        const graphss_i_param *m = &p->param[i];
        w[i] = graphss_i_tape_weight(
            t, p->value + m->offset, adam ? adam->grad + m->offset : NULL, m->rows, m->cols);
    }
}

graphss_status graphss_i_layered_declare(graphss_ctx *ctx, graphss_i_params *p,
    const graphss_train_options *opt, size_t d, size_t k)
{
    const size_t layers = (size_t)opt->layers, hidden = (size_t)opt->hidden;
    for (size_t l = 0; l < layers; l++) {
        char name[GRAPHSS_I_PARAM_NAME];
        const size_t rows = l == 0 ? d : hidden, cols = l + 1 == layers ? k : hidden;
        snprintf(name, sizeof name, "%zu.weight", l);
        graphss_status st = graphss_i_params_declare(ctx, p, name, rows, cols, l == 0);
        if (st)
            return st;
        graphss_i_params_hidden(p, l > 0, l + 1 < layers);
        if (!opt->bias)
            continue;
        snprintf(name, sizeof name, "%zu.bias", l);
        st = graphss_i_params_declare(ctx, p, name, 1, cols, false);
        if (st)
            return st;
        graphss_i_params_hidden(p, false, l + 1 < layers);
    }
    return GRAPHSS_OK;
}

graphss_i_var graphss_i_layered_record(graphss_i_tape *t, const graphss_train_options *opt,
    const graphss_i_input *x, const graphss_i_var *w)
{
    const size_t layers = (size_t)opt->layers, stride = opt->bias ? 2 : 1;
    const graphss_i_pair m = {&x->p->m, graphss_i_propagation_transposed(x->p)};
    graphss_i_var h = graphss_i_input_apply(t, x, w[0], opt->dropout);
    for (size_t l = 0;; l++) {
        if (l + 1 == layers)
            return opt->bias ? graphss_i_tape_add_bias(t, h, w[l * stride + 1]) : h;
        h = opt->bias ? graphss_i_tape_bias_relu(t, h, w[l * stride + 1], opt->dropout)
                      : graphss_i_tape_dropout(t, graphss_i_tape_relu(t, h), opt->dropout);
        h = graphss_i_tape_matmul(t, h, w[(l + 1) * stride]);
        if (x->p->norm != GRAPHSS_I_NORM_NONE)
            h = graphss_i_tape_spmm(t, m, h);
    }
}
