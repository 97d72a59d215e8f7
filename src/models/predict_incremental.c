/* predict_incremental.c - a pass over a snapshot that differs from another one in a few nodes.
 *
 * Of a network of two layers, Z = relu(P X W0 + b0) W1 and softmax(P Z + b1), the rows of X W0
 * change where features do, those of Z around them and around changed edges, those of the
 * answer one step further. These are recomputed, in the order and by the kernels of a whole
 * pass, so they are the same bit for bit. If most rows of Z would change, a whole pass is as
 * good. */
#include "models/predict_incremental.h"
#include "graph/rows.h"
#include "kernels/kernels.h"
#include "models/model_private.h"
#include <math.h>
#include <string.h>

enum { ROWS = 1024 }; /* rows a task */

void graphss_i_softmax_row(float *p, const float *x, size_t k)
{
    float top = x[0];
    for (size_t c = 1; c < k; c++)
        top = x[c] > top ? x[c] : top;
    double sum = 0;
    for (size_t c = 0; c < k; c++) {
        p[c] = expf(x[c] - top);
        sum += p[c];
    }
    for (size_t c = 0; c < k; c++)
        p[c] = (float)(p[c] / sum);
}

void graphss_i_forward_cache_destroy(graphss_ctx *ctx, graphss_i_forward_cache *pass)
{
    graphss_i_product_destroy(ctx, &pass->first);
    graphss_i_params_destroy(ctx, &pass->params);
    graphss_release(ctx, pass->second);
    *pass = (graphss_i_forward_cache){0};
}

bool graphss_i_has_two_layers(const graphss_model *model)
{
    return model->type->record == graphss_i_layered_record && model->opt.layers == 2 &&
           model->type->norm != GRAPHSS_I_NORM_NONE && !model->type->hops_by_option;
}

static bool has_loops(const graphss_model *model)
{
    return graphss_i_model_type_loops(model->type, &model->opt);
}

/* The weights of a layer, and its bias or NULL. */
static const float *weight_of(const graphss_i_params *p, bool biased, size_t layer)
{
    return p->value + p->param[layer * (biased ? 2 : 1)].offset;
}

static const float *bias_of(const graphss_i_params *p, bool biased, size_t layer)
{
    return biased ? p->value + p->param[2 * layer + 1].offset : NULL;
}

typedef struct rows_job {
    const graphss_i_kernels *kernels;
    float *x; /* [n x k] */
    const float *bias;
    size_t n, k;
} rows_job;

/* x = relu(x + bias) */
static void relu_rows(void *arg, size_t task)
{
    const rows_job *job = arg;
    job->kernels->bias_relu(job->x, job->x, job->bias, job->k, task * ROWS,
        graphss_i_task_end(task, job->n, ROWS));
}

/* x = softmax(x + bias) */
static void answer_rows(void *arg, size_t task)
{
    const rows_job *job = arg;
    const size_t k = job->k, from = task * ROWS, to = graphss_i_task_end(task, job->n, ROWS);
    for (size_t i = from; i < to && job->bias; i++)
        for (size_t c = 0; c < k; c++)
            job->x[i * k + c] += job->bias[c];
    for (size_t i = from; i < to; i++)
        graphss_i_softmax_row(job->x + i * k, job->x + i * k, k);
}

/* h [m.n_rows x width] = relu(m x + bias) */
static void first_layer(graphss_ctx *ctx, float *h, const graphss_i_csr *m, const float *x,
    size_t width, const float *bias)
{
    rows_job job = {graphss_i_ctx_kernels(ctx), h, bias, m->n_rows, width};
    graphss_i_spmm(ctx, h, m, x, width);
    graphss_i_parallel(ctx, graphss_i_tasks(job.n, ROWS), relu_rows, &job);
}

/* prob [m.n_rows x k] = softmax(m z + bias) */
static void second_layer(graphss_ctx *ctx, float *prob, const graphss_i_csr *m, const float *z,
    size_t k, const float *bias)
{
    rows_job job = {graphss_i_ctx_kernels(ctx), prob, bias, m->n_rows, k};
    graphss_i_spmm(ctx, prob, m, z, k);
    graphss_i_parallel(ctx, graphss_i_tasks(job.n, ROWS), answer_rows, &job);
}

graphss_status graphss_i_forward_cache_make(graphss_ctx *ctx, float *prob,
    graphss_i_forward_cache *pass, const graphss_model *model, const graphss_i_csr *m)
{
    const size_t n = m->n_rows, k = model->n_classes, width = pass->first.n_cols;
    const bool biased = model->opt.bias;
    float *h = graphss_i_alloc(ctx, n, width * sizeof *h);
    pass->second = graphss_i_alloc(ctx, n, k * sizeof *pass->second);
    graphss_status st = h && pass->second ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    if (!st) {
        first_layer(ctx, h, m, pass->first.value, width, bias_of(&pass->params, biased, 0));
        graphss_i_gemm(ctx, pass->second, h, false, weight_of(&pass->params, biased, 1), false,
            n, k, width, 0);
        second_layer(ctx, prob, m, pass->second, k, bias_of(&pass->params, biased, 1));
    }
    graphss_release(ctx, h);
    return st;
}

/* ---- what changed ---- */

static bool same_edges(const graphss_graph *a, const graphss_graph *b, size_t i)
{
    const size_t n = graphss_graph_degree(a, i);
    return n == graphss_graph_degree(b, i) &&
           (n == 0 || !memcmp(a->target + a->offset[i], b->target + b->offset[i],
                          n * sizeof *a->target));
}

/* Nodes that are marked, and their neighbours: from the mark `old` to those that have none. */
static void mark_around(uint8_t *mark, const graphss_graph *g, uint8_t old, uint8_t new)
{
    for (size_t i = 0; i < g->n_nodes; i++)
        for (int64_t e = g->offset[i]; e < g->offset[i + 1] && mark[i] && mark[i] <= old; e++)
            mark[g->target[e]] = mark[g->target[e]] ? mark[g->target[e]] : new;
}

static size_t list_marked(
    int32_t *node, const uint8_t *mark, size_t n, uint8_t most, const uint8_t *wanted)
{
    size_t listed = 0;
    for (size_t i = 0; i < n; i++)
        if (mark[i] && mark[i] <= most && (!wanted || wanted[i]))
            node[listed++] = (int32_t)i;
    return listed;
}

/* ---- recomputing rows ---- */

/* Swaps rows of x with saved rows; a second call restores them. */
static void swap_rows(float *x, float *rows, const int32_t *row, size_t n, size_t k)
{
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < k; c++) {
            const float t = x[(size_t)row[i] * k + c];
            x[(size_t)row[i] * k + c] = rows[i * k + c];
            rows[i * k + c] = t;
        }
}

/* z [n x k]: the rows of Z that are listed. */
static graphss_status renew_second(graphss_ctx *ctx, float *z,
    const graphss_i_forward_cache *pass, const graphss_model *model,
    const graphss_graph *graph, const int32_t *row, size_t n)
{
    const size_t k = model->n_classes, width = pass->first.n_cols;
    const bool biased = model->opt.bias;
    graphss_i_csr m = {0};
    float *h = graphss_i_alloc(ctx, n, width * sizeof *h);
    graphss_status st = h ? graphss_i_propagation_rows(
                                ctx, &m, graph, model->type->norm, has_loops(model), row, n)
                          : GRAPHSS_ERR_NOMEM;
    if (!st) {
        first_layer(ctx, h, &m, pass->first.value, width, bias_of(&pass->params, biased, 0));
        graphss_i_gemm(
            ctx, z, h, false, weight_of(&pass->params, biased, 1), false, n, k, width, 0);
    }
    graphss_i_csr_destroy(ctx, &m);
    graphss_release(ctx, h);
    return st;
}

/* The rows of the answer that are listed. */
static graphss_status renew_answer(graphss_ctx *ctx, float *prob,
    const graphss_i_forward_cache *pass, const graphss_model *model,
    const graphss_graph *graph, const int32_t *row, size_t n)
{
    const size_t k = model->n_classes;
    graphss_i_csr m = {0};
    float *answer = graphss_i_alloc(ctx, n, k * sizeof *answer);
    graphss_status st = answer ? graphss_i_propagation_rows(ctx, &m, graph, model->type->norm,
                                     has_loops(model), row, n)
                               : GRAPHSS_ERR_NOMEM;
    if (!st)
        second_layer(
            ctx, answer, &m, pass->second, k, bias_of(&pass->params, model->opt.bias, 1));
    for (size_t i = 0; i < n && !st; i++)
        memcpy(prob + (size_t)row[i] * k, answer + i * k, k * sizeof *prob);
    graphss_i_csr_destroy(ctx, &m);
    graphss_release(ctx, answer);
    return st;
}

enum { CHANGED = 1, NEAR = 2, FAR = 3 }; /* nodes, rows of Z, rows of the answer */

graphss_status graphss_i_predict_changed(graphss_ctx *ctx, float *prob, bool *done,
    const graphss_model *model, const graphss_graph *graph, const graphss_features *features,
    const graphss_i_base *base, const uint8_t *wanted)
{
    const size_t n = graph->n_nodes, k = model->n_classes, width = base->pass->first.n_cols;
    const size_t entries = (size_t)graph->offset[n] + (has_loops(model) ? n : 0);
    graphss_i_forward_cache *pass = base->pass;
    float *first = NULL, *second = NULL;
    uint8_t *mark = graphss_i_calloc(ctx, n, sizeof *mark);
    int32_t *row = graphss_i_alloc(ctx, n, 2 * sizeof *row), *near = row ? row + n : NULL;
    size_t n_rows = 0, n_near = 0;
    graphss_status st = mark && row ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    *done = false;
    for (size_t i = 0; i < n && !st; i++) {
        const bool same = graphss_i_row_same(
            graphss_i_row_of(features, i), graphss_i_row_of(base->features, i));
        if (!same)
            row[n_rows++] = (int32_t)i;
        mark[i] = same && same_edges(graph, base->graph, i) ? 0 : CHANGED;
    }
    if (!st) {
        mark_around(mark, graph, CHANGED, NEAR);
        n_near = list_marked(near, mark, n, NEAR, NULL);
        if (2 * n_near > n)
            goto done;
        first = graphss_i_alloc(ctx, n_rows, width * sizeof *first);
        second = graphss_i_alloc(ctx, n_near, k * sizeof *second);
        st = first && second ? graphss_i_product_rows(ctx, first, done, &pass->first, features,
                                   entries, 1, &model->scaling,
                                   weight_of(&pass->params, model->opt.bias, 0), row, n_rows)
                             : GRAPHSS_ERR_NOMEM;
    }
    if (st || !*done)
        goto done;
    swap_rows(pass->first.value, first, row, n_rows, width);
    st = renew_second(ctx, second, pass, model, graph, near, n_near);
    swap_rows(pass->first.value, first, row, n_rows, width);
    if (st)
        goto done;
    memcpy(prob, base->prob, n * k * sizeof *prob);
    swap_rows(pass->second, second, near, n_near, k);
    mark_around(mark, graph, NEAR, FAR);
    n_rows = list_marked(row, mark, n, FAR, wanted);
    st = renew_answer(ctx, prob, pass, model, graph, row, n_rows);
    swap_rows(pass->second, second, near, n_near, k);
done:
    graphss_release(ctx, second);
    graphss_release(ctx, first);
    graphss_release(ctx, row);
    graphss_release(ctx, mark);
    return st;
}
