/* gnnguard.c - GNNGuard (Zhang and Zitnik, NeurIPS 2020): in each layer edges count by how
 * alike the two nodes are there, and edges between unlike nodes not at all.
 *
 *   s_ij = cosine of the layer's inputs of i and j, 0 where below the threshold in this or
 *          an earlier layer
 *   b_ij = s_ij / sum_j s_ij,  b_ii = 1 / (1 + edges of i that are left)
 *   w_ij = exp(b_ij) where b_ij > 0,  P = D^-1/2 w D^-1/2,  D = row sums of w
 *   h <- relu(P h W + b), the last without relu
 *
 * Minimises cross-entropy; the weights of edges are treated as constants there, as in the
 * authors' code. Left out of it: the learned pruning and the memory between layers. Sees
 * edges, features and training labels. A GCN of its own: which model is given matters for
 * the undefended answer only. Costs a GCN and a dot product per edge, layer and pass. */
#include "graph/normalise.h"
#include "graph/similarity.h"
#include "recover/network.h"
#include "recover/option_rows.h"
#include <math.h>
#include <string.h>

typedef struct guard {
    graphss_i_propagation p; /* the pattern: edges and loops */
    int64_t *transposed_at;  /* [nnz] of entry (i, j) in the transpose: position of (j, i) */
    float *first;            /* [nnz] weights of the first layer, from the features */
    float *root;             /* [n] room of a pass */
    float threshold;
} guard;

static void release(graphss_ctx *ctx, void *state)
{
    guard *g = state;
    graphss_release(ctx, g->transposed_at);
    graphss_release(ctx, g->first);
    graphss_release(ctx, g->root);
    graphss_i_propagation_destroy(ctx, &g->p);
}

/* edge [nnz]: similarities, loops ignored; becomes w. Dropped edges become 0. */
static void weigh(float *edge, const graphss_i_csr *m, float threshold)
{
    for (size_t i = 0; i < m->n_rows; i++) {
        double sum = 0;
        size_t left = 0;
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++) {
            if ((size_t)m->column[e] == i)
                continue;
            if (!(edge[e] >= threshold) || edge[e] <= 0) {
                edge[e] = 0;
                continue;
            }
            sum += edge[e];
            left++;
        }
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++) {
            if ((size_t)m->column[e] == i)
                edge[e] = expf(1 / (float)(1 + left));
            else if (edge[e] > 0)
                edge[e] = expf((float)(edge[e] / sum));
        }
    }
}

/* edge <- D^-1/2 edge D^-1/2; root [n] is room */
static void normalise(float *edge, const graphss_i_csr *m, float *root)
{
    for (size_t i = 0; i < m->n_rows; i++) {
        double sum = 0;
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
            sum += edge[e];
        root[i] = (float)(1 / sqrt(sum));
    }
    for (size_t i = 0; i < m->n_rows; i++)
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
            edge[e] *= root[i] * root[m->column[e]];
}

/* From dot products, the diagonal among them, to cosines; NaN never comes out. root [n]. */
static void cosines(float *edge, const graphss_i_csr *m, float *root)
{
    for (size_t i = 0; i < m->n_rows; i++)
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
            if ((size_t)m->column[e] == i)
                root[i] = edge[e] > 0 ? 1 / sqrtf(edge[e]) : 0;
    for (size_t i = 0; i < m->n_rows; i++)
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
            edge[e] *= root[i] * root[m->column[e]];
}

/* user: the guard */
static void fill(graphss_ctx *ctx, float *edge, const graphss_i_csr *m, const float *x,
    size_t cols, const void *user)
{
    const guard *g = user;
    memset(edge, 0, (size_t)m->offset[m->n_rows] * sizeof *edge);
    graphss_i_sddmm(ctx, edge, m, x, x, cols);
    cosines(edge, m, g->root);
    for (size_t e = 0; e < (size_t)m->offset[m->n_rows]; e++)
        edge[e] = g->first[e] > 0 ? edge[e] : 0;
    weigh(edge, m, g->threshold);
    normalise(edge, m, g->root);
}

/* alike: per edge of the graph; edge: per entry of the pattern, which has loops besides */
static void with_loops(float *edge, const graphss_i_csr *m, const float *alike)
{
    for (size_t i = 0; i < m->n_rows; i++)
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
            edge[e] = (size_t)m->column[e] == i ? 0 : *alike++;
}

static graphss_status prepare(graphss_ctx *ctx, void *state, const graphss_observation *on,
    const graphss_recover_options *opt, const void *user)
{
    (void)user;
    guard *g = state;
    const size_t n = on->graph->n_nodes, edges = (size_t)on->graph->offset[n];
    g->threshold = (float)opt->gnnguard.threshold;
    graphss_status st =
        graphss_i_propagation_make(ctx, &g->p, on->graph, GRAPHSS_I_NORM_SYMMETRIC, true);
    if (st)
        return st;
    const size_t nnz = (size_t)g->p.m.offset[n];
    g->transposed_at = graphss_i_alloc(ctx, nnz, sizeof *g->transposed_at);
    g->first = graphss_i_alloc(ctx, nnz, sizeof *g->first);
    g->root = graphss_i_alloc(ctx, n, sizeof *g->root);
    int64_t *next = graphss_i_alloc(ctx, n, sizeof *next);
    float *alike = graphss_i_alloc(ctx, edges, sizeof *alike);
    if (g->transposed_at && g->first && g->root && next && alike) {
        graphss_i_csr_transposed_at(g->transposed_at, next, &g->p.m);
        graphss_i_edge_similarity(
            ctx, alike, on->graph, on->features, GRAPHSS_SIMILARITY_COSINE);
        with_loops(g->first, &g->p.m, alike);
        weigh(g->first, &g->p.m, g->threshold);
        normalise(g->first, &g->p.m, g->root);
    } else {
        st = GRAPHSS_ERR_NOMEM;
    }
    graphss_release(ctx, alike);
    graphss_release(ctx, next);
    return st;
}

static graphss_i_var record(graphss_i_tape *t, const void *state, const graphss_i_input *x,
    const graphss_i_var *w, const graphss_recover_options *opt, bool training)
{
    (void)training;
    const guard *g = state;
    const graphss_i_csr *m = &g->p.m;
    const size_t stride = opt->fit.bias ? 2 : 1;
    const size_t nnz = (size_t)m->offset[m->n_rows];
    graphss_i_var h = graphss_i_input_apply(t, x, w[0], opt->fit.dropout);
    graphss_i_var weight = graphss_i_tape_constant(t, g->first, nnz, 1);
    for (size_t l = 0;; l++) {
        h = graphss_i_tape_spmm_edges(t, m, m, g->transposed_at, weight, h);
        if (opt->fit.bias)
            h = graphss_i_tape_add_bias(t, h, w[l * stride + 1]);
        if (l + 1 == (size_t)opt->fit.layers)
            return h;
        h = graphss_i_tape_relu(t, h);
        weight = graphss_i_tape_detached_edges(t, m, h, fill, g);
        h = graphss_i_tape_dropout(t, h, opt->fit.dropout);
        h = graphss_i_tape_matmul(t, h, w[(l + 1) * stride]);
    }
}

static const graphss_i_network network = {
    .state_size = sizeof(guard), .prepare = prepare, .release = release, .record = record};

static void adjust(graphss_recover_options *opt)
{
    if (opt->mode == GRAPHSS_MODE_DEFAULT)
        graphss_train_options_init(&opt->fit, "gcn", GRAPHSS_MODE_DEFAULT, NULL);
    opt->fit.layers = 2;
    opt->gnnguard.threshold = 0.1;
}

static const graphss_option options[] = {
    GRAPHSS_I_COMMON_ROWS, GRAPHSS_I_ROW_THRESHOLD(gnnguard), GRAPHSS_I_FIT_ROWS, {0}};

const graphss_i_defence graphss_i_gnnguard_defence = {
    .name = "gnnguard",
    .summary = "GNNGuard: links count by how alike their ends are (Zhang and Zitnik 2020)",
    .evasion = "trained on the previous snapshot, then the current one",
    .retrain = "trained on the current snapshot",
    .options = options,
    .learns = true,
    .needs_edges = true,
    .evasion_previous = true,
    .adjust = adjust,
    .network = &network,
};
