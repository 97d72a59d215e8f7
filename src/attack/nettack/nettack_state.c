/* nettack_state.c - what Nettack stores about the graph, and how a change updates it. */
#include "attack/nettack/nettack.h"
#include <math.h>
#include <string.h>

static void product_row(double *xw, const graphss_i_nettack_shared *shared, size_t i)
{
    graphss_i_feature_index_product(xw, &shared->x, i, shared->w, shared->k);
}

/* S[i][.] = sum over x in i, N(i) of XW[x][.] d_x^-1/2 */
static void sum_row(graphss_i_nettack_work *work, size_t i)
{
    const size_t k = work->shared->k;
    const double *rsqrt = work->shared->rsqrt;
    double *restrict s = work->s + i * k;
    const double own = rsqrt[work->adj.length[i] + 1];
    for (size_t c = 0; c < k; c++)
        s[c] = work->xw[i * k + c] * own;
    for (int32_t e = 0; e < work->adj.length[i]; e++) {
        const size_t x = (size_t)work->adj.item[i][e];
        const double *restrict xw = work->xw + x * k, r = rsqrt[work->adj.length[x] + 1];
        for (size_t c = 0; c < k; c++)
            s[c] += xw[c] * r;
    }
}

static void touch(graphss_i_nettack_work *work, size_t i)
{
    if (!work->is_touched[i]) {
        work->is_touched[i] = 1;
        work->touched[work->n_touched++] = (int32_t)i;
    }
}

/* Row i of S and those of its neighbours. */
static void sum_around(graphss_i_nettack_work *work, size_t i)
{
    touch(work, i);
    sum_row(work, i);
    for (int32_t e = 0; e < work->adj.length[i]; e++) {
        const size_t w = (size_t)work->adj.item[i][e];
        touch(work, w);
        sum_row(work, w);
    }
}

bool graphss_i_nettack_flip(graphss_i_nettack_work *work, int32_t a, int32_t b)
{
    const int32_t before_a = work->adj.length[a], before_b = work->adj.length[b];
    if (!graphss_i_rows_flip_edge(work->ctx, &work->adj, a, b))
        return false;
    const int32_t after_a = work->adj.length[a], after_b = work->adj.length[b];
    work->count[before_a]--;
    work->count[before_b]--;
    work->count[after_a]++;
    work->count[after_b]++;
    if ((size_t)after_a > work->max_degree)
        work->max_degree = (size_t)after_a;
    if ((size_t)after_b > work->max_degree)
        work->max_degree = (size_t)after_b;
    sum_around(work, (size_t)a);
    sum_around(work, (size_t)b);
    return true;
}

void graphss_i_nettack_settle(graphss_i_nettack_work *work, size_t target)
{
    const graphss_i_nettack_shared *shared = work->shared;
    const size_t k = shared->k, i = (size_t)work->target[target];
    const double *value = work->value + target * shared->d;
    double *xw = work->xw + i * k;
    for (size_t c = 0; c < k; c++)
        xw[c] = 0;
    for (size_t e = 0; e < work->n_candidates[target]; e++) {
        const size_t j = (size_t)work->candidate[target * shared->d + e];
        if (value[j] == 0)
            continue;
        for (size_t c = 0; c < k; c++)
            xw[c] += value[j] * (double)shared->w[j * k + c];
    }
    sum_around(work, i);
    work->unsettled[target] = false;
}

void graphss_i_nettack_reset(graphss_i_nettack_work *work)
{
    for (size_t c = 0; c < work->adj.n_changed; c++) {
        const size_t i = (size_t)work->adj.changed[c];
        work->count[work->adj.length[i]]--;
        work->count[graphss_graph_degree(work->adj.base, i)]++;
    }
    graphss_i_rows_reset(&work->adj);
    for (size_t t = 0; t < work->n_targets; t++) {
        const size_t i = (size_t)work->target[t];
        if (work->rewritten[t])
            product_row(work->xw + i * work->shared->k, work->shared, i);
    }
    for (size_t t = 0; t < work->n_touched; t++) {
        sum_row(work, (size_t)work->touched[t]);
        work->is_touched[work->touched[t]] = 0;
    }
    work->n_touched = 0;
}

/* Features whose co-occurrence is needed: those of nodes that may be changed. */
static graphss_status init_together(graphss_ctx *ctx, graphss_i_nettack_shared *shared)
{
    uint8_t *wanted = graphss_i_calloc(ctx, shared->d, sizeof *wanted);
    if (!wanted)
        return GRAPHSS_ERR_NOMEM;
    const graphss_graph *g = shared->in->graph;
    for (size_t i = 0; i < shared->in->n_victims; i++) {
        const int32_t u = shared->in->victim[i];
        const bool direct = shared->opt->influencers == 0;
        const int64_t from = direct ? 0 : g->offset[u], to = direct ? 1 : g->offset[u + 1];
        for (int64_t e = from; e < to; e++) {
            const int32_t node = direct ? u : g->target[e];
            for (int32_t w = 0; w < shared->x.length[node]; w++)
                wanted[shared->x.column[node][w]] = 1;
        }
    }
    const graphss_status st = graphss_i_cooccur_init(
        ctx, &shared->together, &shared->x, wanted, GRAPHSS_I_COOCCUR_BYTES);
    graphss_release(ctx, wanted);
    return st;
}

/* Opens the features, their co-occurrence, and the values of added features. */
static graphss_status init_words(
    graphss_ctx *ctx, graphss_i_nettack_shared *shared, const graphss_i_ground *ground)
{
    const graphss_features *features = shared->in->features;
    const bool tested = shared->features && shared->opt->cooccurrence_test;
    graphss_status st = ground   ? graphss_i_feature_index_share(ctx, &shared->x, &ground->x)
                        : tested ? graphss_i_feature_index_init(ctx, &shared->x, features)
                                 : graphss_i_feature_index_rows(ctx, &shared->x, features);
    shared->on = graphss_i_alloc(ctx, shared->d, sizeof *shared->on);
    if (!st && !shared->on)
        st = GRAPHSS_ERR_NOMEM;
    if (!st && ground)
        memcpy(shared->on, ground->on, shared->d * sizeof *shared->on);
    else if (!st)
        st = graphss_i_feature_index_on(
            ctx, shared->on, &shared->x, graphss_i_attack_domain(features, shared->opt));
    if (st || !tested)
        return st;
    return ground
               ? graphss_i_cooccur_copy(ctx, &shared->together, &ground->together, &shared->x)
               : init_together(ctx, shared);
}

graphss_status graphss_i_nettack_shared_init(graphss_ctx *ctx,
    graphss_i_nettack_shared *shared, const graphss_attack_input *in,
    const graphss_attack_options *opt, const graphss_i_ground *ground)
{
    *shared = (graphss_i_nettack_shared){.n = in->graph->n_nodes,
        .d = in->features->n_cols,
        .k = in->n_classes,
        .in = in,
        .opt = opt,
        .w = in->surrogate,
        .most_targets = 1,
        .stride = 1};
    shared->features = graphss_i_attack_wants_features(opt);
    if (opt->influencers)
        shared->most_targets =
            (size_t)opt->influencers < shared->n ? (size_t)opt->influencers : shared->n;
    if (ground)
        shared->xw = graphss_i_ground_product(ground, shared->w, shared->k);
    graphss_status st = init_words(ctx, shared, ground);
    shared->rsqrt = graphss_i_alloc(ctx, shared->n + 2, sizeof *shared->rsqrt);
    if (!st && !shared->rsqrt)
        st = GRAPHSS_ERR_NOMEM;
    if (st) {
        graphss_i_nettack_shared_destroy(ctx, shared);
        return st;
    }
    shared->rsqrt[0] = 0;
    for (size_t i = 1; i < shared->n + 2; i++)
        shared->rsqrt[i] = 1 / sqrt((double)i);
    return GRAPHSS_OK;
}

void graphss_i_nettack_shared_destroy(graphss_ctx *ctx, graphss_i_nettack_shared *shared)
{
    graphss_i_cooccur_destroy(ctx, &shared->together);
    graphss_release(ctx, shared->on);
    graphss_release(ctx, shared->rsqrt);
    graphss_i_feature_index_destroy(ctx, &shared->x);
    *shared = (graphss_i_nettack_shared){0};
}

static bool allocate(graphss_ctx *ctx, graphss_i_nettack_work *work)
{
    const size_t n = work->shared->n, k = work->shared->k, d = work->shared->d;
    const size_t most = work->shared->most_targets, words = work->shared->features ? d : 0;
    work->xw = graphss_i_alloc(ctx, n, k * sizeof *work->xw);
    work->s = graphss_i_alloc(ctx, n, k * sizeof *work->s);
    work->count = graphss_i_calloc(ctx, n + 1, sizeof *work->count);
    work->touched = graphss_i_alloc(ctx, n, sizeof *work->touched);
    work->is_touched = graphss_i_calloc(ctx, n, sizeof *work->is_touched);
    work->via = graphss_i_calloc(ctx, n, sizeof *work->via);
    work->near = graphss_i_alloc(ctx, n, sizeof *work->near);
    work->logits = graphss_i_alloc(ctx, k, sizeof *work->logits);
    work->scratch = graphss_i_alloc(ctx, 5 * k, sizeof *work->scratch);
    work->passes = graphss_i_alloc(ctx, n + 1, 2 * sizeof *work->passes);
    work->target = graphss_i_alloc(ctx, most, sizeof *work->target);
    work->target_score = graphss_i_alloc(ctx, most, sizeof *work->target_score);
    work->value = graphss_i_calloc(ctx, most, words * sizeof *work->value);
    work->candidate = graphss_i_alloc(ctx, most, words * sizeof *work->candidate);
    work->n_candidates = graphss_i_calloc(ctx, most, sizeof *work->n_candidates);
    work->n_pulls = graphss_i_calloc(ctx, most, sizeof *work->n_pulls);
    work->reach = graphss_i_alloc(ctx, most, sizeof *work->reach);
    work->unsettled = graphss_i_calloc(ctx, most, sizeof *work->unsettled);
    work->rewritten = graphss_i_calloc(ctx, most, sizeof *work->rewritten);
    work->allowed = graphss_i_alloc(ctx, most, words * sizeof *work->allowed);
    work->pull = graphss_i_alloc(ctx, most, words * sizeof *work->pull);
    work->cooccur.sum = graphss_i_alloc(ctx, words, sizeof *work->cooccur.sum);
    work->cooccur.row = graphss_i_alloc(ctx, words / 64 + 1, sizeof *work->cooccur.row);
    return work->xw && work->s && work->count && work->touched && work->is_touched &&
           work->via && work->near && work->logits && work->scratch && work->passes &&
           work->target && work->target_score && work->value && work->candidate &&
           work->n_candidates && work->reach && work->unsettled && work->rewritten &&
           work->allowed && work->pull && work->n_pulls && work->cooccur.sum &&
           work->cooccur.row;
}

graphss_status graphss_i_nettack_work_init(graphss_ctx *ctx, graphss_i_nettack_work *work,
    const graphss_i_nettack_shared *shared, const graphss_i_nettack_work *same)
{
    *work = (graphss_i_nettack_work){.shared = shared};
    const size_t n = shared->n, k = shared->k;
    graphss_status st = graphss_i_rows_init(ctx, &work->adj, shared->in->graph);
    if (!st && !allocate(ctx, work))
        st = GRAPHSS_ERR_NOMEM;
    if (st) {
        graphss_i_nettack_work_destroy(ctx, work);
        return st;
    }
    for (size_t i = 0; i < n; i++) {
        const size_t degree = (size_t)work->adj.length[i];
        work->count[degree]++;
        if (degree > work->max_degree)
            work->max_degree = degree;
    }
    if (same) {
        memcpy(work->xw, same->xw, n * k * sizeof *work->xw);
        memcpy(work->s, same->s, n * k * sizeof *work->s);
        return GRAPHSS_OK;
    }
    if (shared->xw)
        memcpy(work->xw, shared->xw, n * k * sizeof *work->xw);
    for (size_t i = 0; i < n && !shared->xw; i++)
        product_row(work->xw + i * k, shared, i);
    for (size_t i = 0; i < n; i++)
        sum_row(work, i);
    return GRAPHSS_OK;
}

void graphss_i_nettack_work_destroy(graphss_ctx *ctx, graphss_i_nettack_work *work)
{
    void *const block[] = {work->xw, work->s, work->count, work->touched, work->is_touched,
        work->via, work->near, work->logits, work->scratch, work->passes, work->target,
        work->target_score, work->value, work->candidate, work->n_candidates, work->reach,
        work->unsettled, work->rewritten, work->allowed, work->pull, work->n_pulls,
        work->cooccur.sum, work->cooccur.row};
    for (size_t i = 0; i < sizeof block / sizeof *block; i++)
        graphss_release(ctx, block[i]);
    graphss_i_rows_destroy(ctx, &work->adj);
    *work = (graphss_i_nettack_work){0};
}

enum { ROWS = 256 }; /* a task's share of the nodes */

typedef struct products {
    graphss_i_ground *ground;
    size_t k;
} products;

static void multiply_rows(void *arg, size_t task)
{
    const products *p = arg;
    const graphss_i_feature_index *x = &p->ground->x;
    for (size_t i = task * ROWS; i < graphss_i_task_end(task, x->n, ROWS); i++)
        for (size_t b = 0; b < p->ground->n_believed; b++)
            graphss_i_feature_index_product(
                p->ground->xw + (b * x->n + i) * p->k, x, i, p->ground->believed[b], p->k);
}

graphss_status graphss_i_ground_init(
    graphss_ctx *ctx, graphss_i_ground *ground, const graphss_i_ground_input *in)
{
    *ground = (graphss_i_ground){.believed = in->believed, .n_believed = in->n_believed};
    graphss_status st = graphss_i_feature_index_init(ctx, &ground->x, in->features);
    if (st)
        return st;
    const graphss_i_feature_index *x = &ground->x;
    const size_t k = in->n_classes;
    uint8_t *wanted = graphss_i_calloc(ctx, x->d, sizeof *wanted);
    ground->on = graphss_i_alloc(ctx, x->d, sizeof *ground->on);
    ground->xw = graphss_i_alloc(ctx, x->n, in->n_believed * k * sizeof *ground->xw);
    st = wanted && ground->on && ground->xw
             ? graphss_i_feature_index_on(ctx, ground->on, x, in->domain)
             : GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < in->n_nodes && !st; i++)
        for (int32_t e = 0; e < x->length[in->node[i]]; e++)
            wanted[x->column[in->node[i]][e]] = 1;
    if (!st)
        st =
            graphss_i_cooccur_init(ctx, &ground->together, x, wanted, GRAPHSS_I_COOCCUR_BYTES);
    if (!st) {
        products p = {ground, k};
        graphss_i_parallel(ctx, graphss_i_tasks(x->n, ROWS), multiply_rows, &p);
    }
    graphss_release(ctx, wanted);
    if (st)
        graphss_i_ground_destroy(ctx, ground);
    return st;
}

const double *graphss_i_ground_product(
    const graphss_i_ground *ground, const float *w, size_t n_classes)
{
    for (size_t b = 0; b < ground->n_believed; b++)
        if (ground->believed[b] == w)
            return ground->xw + b * ground->x.n * n_classes;
    return NULL;
}

void graphss_i_ground_destroy(graphss_ctx *ctx, graphss_i_ground *ground)
{
    graphss_i_cooccur_destroy(ctx, &ground->together);
    graphss_release(ctx, ground->xw);
    graphss_release(ctx, ground->on);
    graphss_i_feature_index_destroy(ctx, &ground->x);
    *ground = (graphss_i_ground){0};
}
