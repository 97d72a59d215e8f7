/* svd.c - GNN-SVD (Entezari et al., WSDM 2020): the classifier propagates over a low-rank
 * approximation of the adjacency matrix, where edges that an attacker added hardly show.
 *
 *   A ~ Q L Q^T (the 15 eigenpairs of A that are largest in magnitude),
 *   gcn, sgc: P = D^-1/2 (Q L Q^T + I) D^-1/2,  sage: P = D^-1 (Q L Q^T + I),
 *   D = row sums of Q L Q^T + I;  a sum that is not positive leaves its node alone.
 *
 * Entries may be negative and are kept, as in the authors' code. The matrix in brackets is
 * dense and never built: P x = left (right x) + diagonal x, with left [n x r], right [r x n].
 * Its authors choose the rank for each graph by validation; so does --rank 0.
 * Minimises the classifier's own loss. Sees edges, features and training labels. Costs
 * O(restarts * edges * r) once and O(n * r * hidden) a layer and epoch. */
#include "lab/baselines/baselines.h"
#include "models/model_private.h"
#include "recover/network.h"
#include "recover/option_rows.h"
#include <math.h>
#include <string.h>

static const double tolerance = 1e-7; /* what follows is in single precision */

/* The eigenpairs of a graph, the largest first. */
typedef struct factors {
    const graphss_graph *graph; /* borrowed */
    size_t rank;
    double *l, *q; /* [rank], [n x rank] */
} factors;

static void factors_destroy(graphss_ctx *ctx, factors *f)
{
    graphss_release(ctx, f->l);
    graphss_release(ctx, f->q);
}

static graphss_status factorise(
    graphss_ctx *ctx, factors *f, const graphss_graph *graph, size_t rank)
{
    f->graph = graph;
    f->rank = rank;
    f->l = graphss_i_alloc(ctx, rank, sizeof *f->l);
    f->q = graphss_i_alloc(ctx, graph->n_nodes, rank * sizeof *f->q);
    const graphss_i_csr a = {.n_rows = graph->n_nodes,
        .n_cols = graph->n_nodes,
        .offset = graph->offset,
        .column = graph->target};
    return f->l && f->q ? graphss_i_eigen_largest(ctx, f->l, f->q, &a, rank, tolerance)
                        : GRAPHSS_ERR_NOMEM;
}

typedef struct low_rank {
    const graphss_i_model_type *type;
    size_t n, rank;
    float *left, *right;    /* [n x rank], [rank x n] */
    graphss_i_csr diagonal; /* n x n */
} low_rank;

static void release(graphss_ctx *ctx, void *state)
{
    low_rank *s = state;
    graphss_release(ctx, s->left);
    graphss_release(ctx, s->right);
    graphss_i_csr_destroy(ctx, &s->diagonal);
}

static graphss_status allocate(graphss_ctx *ctx, low_rank *s)
{
    const size_t n = s->n;
    graphss_i_csr *d = &s->diagonal;
    d->n_rows = d->n_cols = n;
    s->left = graphss_i_alloc(ctx, n, s->rank * sizeof *s->left);
    s->right = graphss_i_alloc(ctx, n, s->rank * sizeof *s->right);
    d->offset = graphss_i_alloc(ctx, n + 1, sizeof *d->offset);
    d->column = graphss_i_alloc(ctx, n, sizeof *d->column);
    d->value = graphss_i_alloc(ctx, n, sizeof *d->value);
    return s->left && s->right && d->offset && d->column && d->value ? GRAPHSS_OK
                                                                     : GRAPHSS_ERR_NOMEM;
}

/* total [rank] is room for Q^T 1. */
static void fill(low_rank *s, double *total, const factors *f, bool by_row)
{
    const size_t n = s->n, rank = s->rank;
    memset(total, 0, rank * sizeof *total);
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0; r < rank; r++)
            total[r] += f->q[i * f->rank + r];
    for (size_t i = 0; i < n; i++) {
        const double *q = f->q + i * f->rank;
        double degree = 1;
        for (size_t r = 0; r < rank; r++)
            degree += q[r] * f->l[r] * total[r];
        const bool alone = !(degree > 0);
        const double by_left = alone ? 0 : by_row ? 1 / degree : 1 / sqrt(degree);
        const double by_right = by_row ? 1 : by_left;
        for (size_t r = 0; r < rank; r++) {
            s->left[i * rank + r] = (float)(by_left * q[r] * f->l[r]);
            s->right[r * n + i] = (float)(by_right * q[r]);
        }
        s->diagonal.offset[i] = (int64_t)i;
        s->diagonal.column[i] = (int32_t)i;
        s->diagonal.value[i] = alone ? 1 : (float)(1 / degree);
    }
    s->diagonal.offset[n] = (int64_t)n;
}

/* user: two factors, one of them of this snapshot. */
static graphss_status prepare(graphss_ctx *ctx, void *state, const graphss_observation *on,
    const graphss_recover_options *opt, const void *user)
{
    low_rank *s = state;
    const factors *f = user;
    f += f->graph != on->graph;
    s->n = on->graph->n_nodes;
    s->rank = (size_t)opt->svd.rank;
    s->type = graphss_i_model_type_find(opt->fit.model);
    graphss_status st =
        s->type ? allocate(ctx, s) : graphss_i_model_unknown(ctx, opt->fit.model);
    if (st)
        return st;
    double *total = graphss_i_alloc(ctx, s->rank, sizeof *total);
    if (!total)
        return GRAPHSS_ERR_NOMEM;
    fill(s, total, f, s->type->norm == GRAPHSS_I_NORM_ROW);
    graphss_release(ctx, total);
    return GRAPHSS_OK;
}

static graphss_i_var propagate(graphss_i_tape *t, const low_rank *s, graphss_i_var x)
{
    const graphss_i_var left = graphss_i_tape_constant(t, s->left, s->n, s->rank);
    const graphss_i_var right = graphss_i_tape_constant(t, s->right, s->rank, s->n);
    const graphss_i_pair own = {&s->diagonal, &s->diagonal};
    const graphss_i_var far =
        graphss_i_tape_matmul(t, left, graphss_i_tape_matmul(t, right, x));
    return graphss_i_tape_add(t, far, graphss_i_tape_spmm(t, own, x));
}

/* As graphss_i_layered_record, with another P. */
static graphss_i_var record(graphss_i_tape *t, const void *state, const graphss_i_input *x,
    const graphss_i_var *w, const graphss_recover_options *opt, bool training)
{
    (void)training;
    const low_rank *s = state;
    const graphss_train_options *fit = &opt->fit;
    const size_t stride = fit->bias ? 2 : 1;
    const int64_t hops = s->type->hops_by_option ? fit->hops : 1;
    graphss_i_var h = graphss_i_input_apply(t, x, w[0], fit->dropout);
    for (int64_t hop = 0; hop < hops; hop++)
        h = propagate(t, s, h);
    for (size_t l = 0;; l++) {
        if (fit->bias)
            h = graphss_i_tape_add_bias(t, h, w[l * stride + 1]);
        if (l + 1 == (size_t)fit->layers)
            return h;
        h = graphss_i_tape_dropout(t, graphss_i_tape_relu(t, h), fit->dropout);
        h = propagate(t, s, graphss_i_tape_matmul(t, h, w[(l + 1) * stride]));
    }
}

static const graphss_i_network network = {
    .state_size = sizeof(low_rank), .prepare = prepare, .release = release, .record = record};

static graphss_status run_rank(graphss_ctx *ctx, double *posterior,
    const graphss_i_defence_input *input, const graphss_recover_options *given, size_t rank,
    const factors *f)
{
    graphss_recover_options opt = *given;
    opt.svd.rank = (int64_t)rank;
    if (input->retrain || input->previous.graph)
        return graphss_i_network_run(ctx, posterior, &network, input, &opt, NULL, NULL, f);
    opt.fit = input->model->opt;
    return graphss_i_network_run(ctx, posterior, &network, input, &opt, &input->model->params,
        &input->model->scaling, f);
}

/* Of the authors' candidates 5, 10, 15, 50, 100, 200 four, each some four times the next. */
static const size_t ranks[] = {200, 50, 15, 5};
enum { RANKS = sizeof ranks / sizeof *ranks };

static graphss_status run(graphss_ctx *ctx, double *posterior, double *perturbed,
    const graphss_i_defence_input *input, const graphss_recover_options *opt)
{
    (void)perturbed;
    factors f[2] = {{0}, {0}}; /* of current, of previous */
    const size_t count = input->n * input->k;
    size_t most = (size_t)opt->svd.rank, chosen = most;
    double best = -1, *tried = NULL;
    const bool before = !input->retrain && input->previous.graph;
    const size_t smaller = before && input->previous.graph->n_nodes < input->n
                               ? input->previous.graph->n_nodes
                               : input->n;
    for (size_t r = 0; r < RANKS && most == 0; r++)
        most = ranks[r] + 2 <= smaller && input->split->n_val ? ranks[r] : 0;
    most = most ? most : 15;
    graphss_status st = factorise(ctx, &f[0], input->current.graph, most);
    if (!st && before)
        st = factorise(ctx, &f[1], input->previous.graph, most);
    if (st)
        goto done;
    if (opt->svd.rank || !input->split->n_val) {
        st = run_rank(ctx, posterior, input, opt, most, f);
        goto done;
    }
    tried = graphss_i_alloc(ctx, count, sizeof *tried);
    if (!tried)
        st = GRAPHSS_ERR_NOMEM;
    for (size_t r = 0; r < RANKS && !st; r++) {
        if (ranks[r] > most)
            continue;
        st = run_rank(ctx, tried, input, opt, ranks[r], f);
        const double now = st ? -1 : graphss_i_validation(tried, input);
        if (now > best) {
            best = now;
            chosen = ranks[r];
            memcpy(posterior, tried, count * sizeof *tried);
        }
    }
    if (!st)
        graphss_i_log(ctx, GRAPHSS_LOG_INFO, "rank %zu: validation accuracy %.1f %%", chosen,
            100 * best);
done:
    graphss_release(ctx, tried);
    factors_destroy(ctx, &f[0]);
    factors_destroy(ctx, &f[1]);
    return st;
}

static void adjust(graphss_recover_options *opt)
{
    opt->svd.rank = opt->mode == GRAPHSS_MODE_PAPER ? 15 : 0;
    if (opt->svd.rank == 0 && opt->fit.patience == 0)
        opt->fit.patience = 30; /* several fits: slow ones end early */
}

static const graphss_option options[] = {
    GRAPHSS_I_COMMON_ROWS, GRAPHSS_I_ROW_RANK(svd), GRAPHSS_I_FIT_ROWS, {0}};

const graphss_i_defence graphss_i_svd_defence = {
    .name = "svd",
    .summary = "GNN-SVD: a low-rank adjacency matrix (Entezari et al. 2020)",
    .evasion = "trained on the previous snapshot's low-rank adjacency matrix, or without one "
               "the given model; then that of the current snapshot",
    .retrain = "trained on the current snapshot's low-rank adjacency matrix",
    .options = options,
    .learns = true,
    .needs_edges = true,
    .on_model = true,
    .adjust = adjust,
    .run = run,
};
