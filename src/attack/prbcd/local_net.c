/* local_net.c - the piece of graph, its normalised matrix as a function of p, the tape.
 *
 * The tape knows nothing of degrees: it gets the values of the normalised matrix as a leaf
 * and gives back the gradient G with respect to them. The step from p to those values and
 * from G to p is here. With a_e the strength of entry e = (i, j), d_i = loop + sum of row i:
 *
 *     symmetric  v_e = a_e (d_i d_j)^-1/2   dv/da = (d_i d_j)^-1/2
 *                                           dv/dd_i = -v_e / (2 d_i), dv/dd_j alike
 *     row        v_e = a_e / d_i            dv/da = 1 / d_i, dv/dd_i = -v_e / d_i
 *
 * and p_c moves a at both directions of its pair and d at both of its ends. */
#include "attack/prbcd/local_net.h"
#include "models/tape/tape_private.h"
#include <math.h>
#include <string.h>

/* ---- the loss: margin of row node[0] against label[0] ---- */

static size_t best_other(const float *x, size_t cols, size_t label)
{
    size_t best = label == 0;
    for (size_t c = 0; c < cols; c++)
        if (c != label && x[c] > x[best])
            best = c;
    return best;
}

static void margin_forward(graphss_i_tape *t, graphss_i_node *node)
{
    const graphss_i_node *in = &t->node[node->in[0]];
    const float *x = in->value + (size_t)node->node[0] * in->cols;
    const size_t label = (size_t)node->label[0];
    node->loss = (double)x[best_other(x, in->cols, label)] - x[label];
}

static void margin_backward(graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    const graphss_i_node *in = &t->node[node->in[0]];
    const size_t from = (size_t)node->node[0] * in->cols, label = (size_t)node->label[0];
    memset(gin[0], 0, in->rows * in->cols * sizeof *gin[0]);
    gin[0][from + best_other(in->value + from, in->cols, label)] = 1;
    gin[0][from + label] = -1;
}

static const graphss_i_op margin = {.forward = margin_forward,
    .backward = margin_backward,
    .needs_input = {true},
    .is_loss = true};

static void record_margin(
    graphss_i_tape *t, graphss_i_var x, const int32_t *row, const int32_t *label)
{
    if (x < 0)
        return;
    graphss_i_node *node = graphss_i_tape_record(t, &margin, x, -1, 1, 1);
    if (node) {
        node->node = row;
        node->label = label;
        node->n = 1;
    }
}

/* The i-th array of weights of a model, on a tape. */
static graphss_i_var weights(graphss_i_tape *t, const graphss_model *model, size_t i)
{
    graphss_tensor w = {0};
    graphss_model_weight(&w, model, i);
    return graphss_i_tape_constant(t, w.value, w.shape[0], w.shape[1]);
}

/* ---- shared by all victims ---- */

static graphss_status first_product(
    graphss_ctx *ctx, graphss_i_local_model *lm, const graphss_features *features)
{
    const graphss_i_propagation none = {.norm = GRAPHSS_I_NORM_NONE};
    graphss_i_input input = {0};
    graphss_i_tape *t = NULL;
    graphss_status st =
        graphss_i_input_make(ctx, &input, features, &none, 0, &lm->model->scaling);
    if (!st)
        st = graphss_i_tape_new(ctx, &t);
    if (st)
        goto done;
    const graphss_i_var y = graphss_i_input_apply(t, &input, weights(t, lm->model, 0), 0);
    graphss_i_tape_keep(t, y);
    st = graphss_i_tape_finish(t);
    if (st)
        goto done;
    graphss_i_tape_forward(t, false, 0);
    graphss_tensor w = {0};
    graphss_model_weight(&w, lm->model, 0);
    lm->width = w.shape[1];
    lm->xw = graphss_i_copy(
        ctx, graphss_i_tape_value(t, y), features->n_rows * lm->width, sizeof *lm->xw);
    if (!lm->xw)
        st = GRAPHSS_ERR_NOMEM;
done:
    graphss_i_tape_free(ctx, t);
    graphss_i_input_destroy(ctx, &input);
    return st;
}

graphss_status graphss_i_local_model_init(graphss_ctx *ctx, graphss_i_local_model *lm,
    const graphss_model *model, size_t n_nodes, const graphss_features *features)
{
    const graphss_train_options *opt = &model->opt;
    const graphss_i_model_type *type = model->type;
    graphss_i_local_model made = {.model = model,
        .norm = type->norm,
        .loops = graphss_i_model_type_loops(type, opt),
        .hops = graphss_i_model_type_hops(type, opt)};
    if (made.norm == GRAPHSS_I_NORM_NONE)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "%s does not use links: there is nothing to attack", model->type->name);
    if (type->propagates)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "--method prbcd cannot follow the gradients of %s: want gcn, "
            "sgc or sage, or --method nettack",
            type->name);
    if (features->n_cols != model->n_features || features->n_rows != n_nodes)
        return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
            "features of %zu nodes with %zu columns, want %zu and %zu", features->n_rows,
            features->n_cols, n_nodes, model->n_features);
    made.depth = made.hops + (size_t)opt->layers - 1;
    graphss_status st = first_product(ctx, &made, features);
    if (!st) {
        made.local_id = graphss_i_alloc(ctx, n_nodes, sizeof *made.local_id);
        if (!made.local_id)
            st = GRAPHSS_ERR_NOMEM;
    }
    for (size_t i = 0; i < n_nodes && !st; i++)
        made.local_id[i] = -1;
    if (st)
        graphss_i_local_model_destroy(ctx, &made);
    else
        *lm = made;
    return st;
}

void graphss_i_local_model_destroy(graphss_ctx *ctx, graphss_i_local_model *lm)
{
    graphss_release(ctx, lm->local_id);
    graphss_release(ctx, lm->xw);
    *lm = (graphss_i_local_model){0};
}

/* ---- the piece ---- */

typedef struct piece {
    int32_t *node; /* [n nodes of the graph] those found */
    size_t n;
    size_t inner;   /* the first ones have their rows stored */
    size_t entries; /* in those rows */
} piece;

static void meet(piece *x, int32_t *local_id, int32_t node)
{
    if (local_id[node] >= 0)
        return;
    local_id[node] = (int32_t)x->n;
    x->node[x->n++] = node;
}

/* Breadth first from the victim and its candidates, ring by ring. */
static void explore(piece *x, graphss_i_local_model *lm, const graphss_i_rows *edges,
    int32_t victim, const int32_t *candidate, size_t b)
{
    x->n = x->inner = 0;
    meet(x, lm->local_id, victim);
    for (size_t ring = 0; ring < lm->depth; ring++) {
        const size_t end = x->n;
        for (; x->inner < end; x->inner++) {
            const int32_t i = x->node[x->inner];
            for (int32_t e = 0; e < edges->length[i]; e++)
                meet(x, lm->local_id, edges->item[i][e]);
            x->entries += (size_t)edges->length[i] + lm->loops;
        }
        for (size_t c = 0; ring == 0 && c < b; c++)
            meet(x, lm->local_id, candidate[c]);
    }
    x->entries += 2 * b; /* at most: pairs that are not edges yet, both ways */
}

static void add_entry(graphss_i_local_net *net, int64_t *e, size_t column, int32_t which)
{
    net->m.column[*e] = (int32_t)column;
    net->which[(*e)++] = which;
}

/* Row by row: the loop, the edges, and the pairs that are candidates. pair [n] tells the
 * candidate of a node of the piece, or -1. */
static void fill_rows(graphss_i_local_net *net, const piece *x, const graphss_i_rows *edges,
    const int32_t *local_id, const int32_t *pair)
{
    int64_t e = 0;
    for (size_t i = 0; i < x->n; i++) {
        const int32_t node = x->node[i];
        net->m.offset[i] = e;
        net->degree[i] = edges->length[node] + (net->lm->loops ? 1 : 0);
        if (i >= x->inner)
            continue;
        if (net->lm->loops)
            add_entry(net, &e, i, -1);
        for (int32_t s = 0; s < edges->length[node]; s++) {
            const int32_t j = local_id[edges->item[node][s]];
            const int32_t which = i == 0 ? pair[j] : j == 0 ? pair[i] : -1;
            add_entry(net, &e, (size_t)j, which);
        }
        for (size_t c = 0; i == 0 && c < net->b; c++)
            if (net->sign[c] > 0)
                add_entry(net, &e, (size_t)net->candidate[c], (int32_t)c);
        if (i > 0 && pair[i] >= 0 && net->sign[pair[i]] > 0)
            add_entry(net, &e, 0, pair[i]);
    }
    net->m.offset[x->n] = e;
}

static void transpose(graphss_i_local_net *net, int64_t *next)
{
    const size_t n = net->n;
    const int64_t nnz = net->m.offset[n];
    memset(net->transposed.offset, 0, (n + 1) * sizeof *net->transposed.offset);
    for (int64_t e = 0; e < nnz; e++)
        net->transposed.offset[net->m.column[e] + 1]++;
    for (size_t i = 0; i < n; i++)
        net->transposed.offset[i + 1] += net->transposed.offset[i];
    memcpy(next, net->transposed.offset, n * sizeof *next);
    for (size_t i = 0; i < n; i++)
        for (int64_t e = net->m.offset[i]; e < net->m.offset[i + 1]; e++) {
            const int64_t at = next[net->m.column[e]]++;
            net->transposed.column[at] = (int32_t)i;
            net->entry[at] = e;
        }
}

static graphss_status allocate(graphss_ctx *ctx, graphss_i_local_net *net, size_t entries)
{
    const size_t n = net->n, b = net->b;
    net->m.n_rows = net->m.n_cols = net->transposed.n_rows = net->transposed.n_cols = n;
    net->candidate = graphss_i_alloc(ctx, b, sizeof *net->candidate);
    net->sign = graphss_i_alloc(ctx, b, sizeof *net->sign);
    net->degree = graphss_i_alloc(ctx, n, sizeof *net->degree);
    net->d_now = graphss_i_alloc(ctx, n, sizeof *net->d_now);
    net->d_grad = graphss_i_alloc(ctx, n, sizeof *net->d_grad);
    net->m.offset = graphss_i_alloc(ctx, n + 1, sizeof *net->m.offset);
    net->m.column = graphss_i_alloc(ctx, entries, sizeof *net->m.column);
    net->m.value = graphss_i_alloc(ctx, entries, sizeof *net->m.value);
    net->transposed.offset = graphss_i_alloc(ctx, n + 1, sizeof *net->transposed.offset);
    net->transposed.column = graphss_i_alloc(ctx, entries, sizeof *net->transposed.column);
    net->transposed.value = graphss_i_alloc(ctx, entries, sizeof *net->transposed.value);
    net->entry = graphss_i_alloc(ctx, entries, sizeof *net->entry);
    net->which = graphss_i_alloc(ctx, entries, sizeof *net->which);
    net->grad = graphss_i_alloc(ctx, entries, sizeof *net->grad);
    net->gathered = graphss_i_alloc(ctx, n * net->lm->width, sizeof *net->gathered);
    const bool whole = net->candidate && net->sign && net->degree && net->d_now &&
                       net->d_grad && net->m.offset && net->m.column && net->m.value &&
                       net->transposed.offset && net->transposed.column &&
                       net->transposed.value && net->entry && net->which && net->grad &&
                       net->gathered;
    return whole ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

/* h = P^hops X W_0 + b_0, then h = P relu(h) W_l + b_l for each further layer, with P's
 * values a leaf that gets a gradient. */
static graphss_status record(graphss_ctx *ctx, graphss_i_local_net *net)
{
    const graphss_i_local_model *lm = net->lm;
    const graphss_train_options *opt = &lm->model->opt;
    const size_t stride = opt->bias ? 2 : 1, nnz = (size_t)net->m.offset[net->n];
    graphss_status st = graphss_i_tape_new(ctx, &net->tape);
    if (st)
        return st;
    graphss_i_tape *t = net->tape;
    const graphss_i_var v = graphss_i_tape_weight(t, net->m.value, net->grad, nnz, 1);
    graphss_i_var h = graphss_i_tape_constant(t, net->gathered, net->n, lm->width);
    for (size_t l = 0; l < (size_t)opt->layers; l++) {
        if (l > 0)
            h = graphss_i_tape_matmul(
                t, graphss_i_tape_relu(t, h), weights(t, lm->model, l * stride));
        for (size_t i = 0; i < (l == 0 ? lm->hops : 1); i++)
            h = graphss_i_tape_spmm_edges(t, &net->m, &net->transposed, net->entry, v, h);
        if (opt->bias)
            h = graphss_i_tape_add_bias(t, h, weights(t, lm->model, l * stride + 1));
    }
    record_margin(t, h, &net->row, &net->label);
    return graphss_i_tape_finish(t);
}

graphss_status graphss_i_local_net_init(graphss_ctx *ctx, graphss_i_local_net *net,
    graphss_i_local_model *lm, const graphss_i_rows *edges, int32_t victim, int32_t label,
    const int32_t *candidate, size_t b)
{
    *net = (graphss_i_local_net){
        .lm = lm, .b = b, .n_classes = lm->model->n_classes, .label = label};
    piece x = {0};
    int32_t *pair = NULL;
    int64_t *next = NULL;
    graphss_status st = GRAPHSS_ERR_NOMEM;
    x.node = graphss_i_alloc(ctx, edges->n, sizeof *x.node);
    if (!x.node)
        return st;
    explore(&x, lm, edges, victim, candidate, b);
    net->n = x.n;
    pair = graphss_i_alloc(ctx, x.n, sizeof *pair);
    next = graphss_i_alloc(ctx, x.n, sizeof *next);
    net->node = graphss_i_copy(ctx, x.node, x.n, sizeof *x.node);
    if (!pair || !next || !net->node)
        goto done;
    st = allocate(ctx, net, x.entries);
    if (st)
        goto done;
    for (size_t i = 0; i < x.n; i++)
        pair[i] = -1;
    for (size_t c = 0; c < b; c++) {
        net->candidate[c] = lm->local_id[candidate[c]];
        net->sign[c] = graphss_i_rows_has(edges, (size_t)victim, candidate[c]) ? -1 : 1;
        pair[net->candidate[c]] = (int32_t)c;
    }
    fill_rows(net, &x, edges, lm->local_id, pair);
    transpose(net, next);
    for (size_t i = 0; i < x.n; i++)
        memcpy(net->gathered + i * lm->width, lm->xw + (size_t)x.node[i] * lm->width,
            lm->width * sizeof *net->gathered);
    st = record(ctx, net);
done:
    for (size_t i = 0; i < x.n; i++)
        lm->local_id[x.node[i]] = -1;
    graphss_release(ctx, next);
    graphss_release(ctx, pair);
    graphss_release(ctx, x.node);
    if (st)
        graphss_i_local_net_destroy(ctx, net);
    return st;
}

void graphss_i_local_net_destroy(graphss_ctx *ctx, graphss_i_local_net *net)
{
    graphss_i_tape_free(ctx, net->tape);
    graphss_i_csr_destroy(ctx, &net->transposed);
    graphss_i_csr_destroy(ctx, &net->m);
    graphss_release(ctx, net->d_grad);
    graphss_release(ctx, net->d_now);
    graphss_release(ctx, net->gathered);
    graphss_release(ctx, net->grad);
    graphss_release(ctx, net->which);
    graphss_release(ctx, net->entry);
    graphss_release(ctx, net->degree);
    graphss_release(ctx, net->sign);
    graphss_release(ctx, net->candidate);
    graphss_release(ctx, net->node);
    *net = (graphss_i_local_net){0};
}

/* ---- from p to values and back ---- */

static double strength(const graphss_i_local_net *net, int64_t e, const double *p)
{
    const int32_t c = net->which[e];
    return c < 0 ? 1 : net->sign[c] > 0 ? p[c] : 1 - p[c];
}

/* dv/da of an entry; 0 for a node without edges or loop, whose row is empty */
static double scale_of(const graphss_i_local_net *net, size_t i, size_t j)
{
    const double di = net->d_now[i], dj = net->d_now[j], least = 1e-9;
    if (di < least || dj < least)
        return 0;
    return net->lm->norm == GRAPHSS_I_NORM_SYMMETRIC ? 1 / sqrt(di * dj) : 1 / di;
}

static void fill_values(graphss_i_local_net *net, const double *p)
{
    memcpy(net->d_now, net->degree, net->n * sizeof *net->d_now);
    for (size_t c = 0; c < net->b; c++) {
        net->d_now[0] += net->sign[c] * p[c];
        net->d_now[net->candidate[c]] += net->sign[c] * p[c];
    }
    for (size_t i = 0; i < net->n; i++)
        for (int64_t e = net->m.offset[i]; e < net->m.offset[i + 1]; e++)
            net->m.value[e] =
                (float)(strength(net, e, p) * scale_of(net, i, (size_t)net->m.column[e]));
}

static void gradient(graphss_i_local_net *net, double *grad)
{
    const bool symmetric = net->lm->norm == GRAPHSS_I_NORM_SYMMETRIC;
    memset(net->d_grad, 0, net->n * sizeof *net->d_grad);
    memset(grad, 0, net->b * sizeof *grad);
    for (size_t i = 0; i < net->n; i++)
        for (int64_t e = net->m.offset[i]; e < net->m.offset[i + 1]; e++) {
            const size_t j = (size_t)net->m.column[e];
            const double g = net->grad[e], scale = scale_of(net, i, j);
            if (scale == 0)
                continue;
            const double gv = g * net->m.value[e];
            if (symmetric) {
                net->d_grad[i] -= gv / (2 * net->d_now[i]);
                net->d_grad[j] -= gv / (2 * net->d_now[j]);
            } else {
                net->d_grad[i] -= gv / net->d_now[i];
            }
            if (net->which[e] >= 0)
                grad[net->which[e]] += g * scale;
        }
    for (size_t c = 0; c < net->b; c++)
        grad[c] = net->sign[c] * (grad[c] + net->d_grad[0] + net->d_grad[net->candidate[c]]);
}

double graphss_i_local_net_margin(graphss_i_local_net *net, double *grad, const double *p)
{
    fill_values(net, p);
    graphss_i_tape_forward(net->tape, grad != NULL, 0);
    const double loss = graphss_i_tape_loss(net->tape);
    if (grad) {
        graphss_i_tape_backward(net->tape);
        gradient(net, grad);
    }
    return loss;
}
