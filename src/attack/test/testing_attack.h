/* testing_attack.h - small worlds to attack, and the surrogate's margin by its definition. */
#ifndef GRAPHSS_TESTING_ATTACK_H
#define GRAPHSS_TESTING_ATTACK_H

#include "data/build.h"
#include "testing.h"
#include <graphss/attack.h>

enum { TINY_N = 14, TINY_D = 11, TINY_K = 3 };

typedef struct tiny_world {
    graphss_dataset data;
    float w[TINY_D * TINY_K];
} tiny_world;

/* A connected random graph with random words and weights. kind: BINARY, COUNTS or REAL. */
static inline void tiny_make(
    graphss_ctx *ctx, tiny_world *t, uint64_t seed, graphss_feature_kind kind)
{
    graphss_rng rng = graphss_rng_make(seed, 99);
    int32_t from[4 * TINY_N], to[4 * TINY_N];
    size_t m = 0;
    *t = (tiny_world){0};
    for (int32_t i = 1; i < TINY_N; i++) {
        from[m] = i;
        to[m++] = (int32_t)graphss_rng_below(&rng, (uint64_t)i);
    }
    while (m < 2 * TINY_N) {
        from[m] = (int32_t)graphss_rng_below(&rng, TINY_N);
        to[m++] = (int32_t)graphss_rng_below(&rng, TINY_N);
    }
    assert_ok(ctx, graphss_graph_build(ctx, &t->data.graph, NULL, TINY_N, from, to, m));
    float *x = graphss_i_calloc(ctx, TINY_N * TINY_D, sizeof *x);
    for (size_t e = 0; e < TINY_N * TINY_D; e++) {
        if (graphss_rng_below(&rng, 3) != 0)
            continue;
        x[e] = 1;
        if (kind == GRAPHSS_FEATURES_COUNTS)
            x[e] = (float)(1 + graphss_rng_below(&rng, 4));
        if (kind == GRAPHSS_FEATURES_REAL)
            x[e] = (float)(0.1 + graphss_rng_double(&rng));
    }
    assert_ok(
        ctx, graphss_i_features_from_dense(ctx, &t->data.features, TINY_N, TINY_D, x, "x"));
    t->data.label = graphss_i_alloc(ctx, TINY_N, sizeof *t->data.label);
    t->data.n_classes = TINY_K;
    for (size_t i = 0; i < TINY_N; i++)
        t->data.label[i] = (int32_t)graphss_rng_below(&rng, TINY_K);
    for (size_t e = 0; e < TINY_D * TINY_K; e++)
        t->w[e] = (float)graphss_rng_normal(&rng);
    assert_ok(ctx, graphss_dataset_refresh(ctx, &t->data));
}

static inline graphss_attack_input tiny_input(
    const tiny_world *t, const int32_t *victim, size_t n_victims)
{
    return (graphss_attack_input){.struct_size = sizeof(graphss_attack_input),
        .graph = &t->data.graph,
        .features = &t->data.features,
        .label = t->data.label,
        .n_classes = TINY_K,
        .surrogate = t->w,
        .victim = victim,
        .n_victims = n_victims,
        .seed = 5};
}

/* Dense copies, for the slow and simple way. */
typedef struct dense_world {
    int a[TINY_N][TINY_N];
    double x[TINY_N][TINY_D];
} dense_world;

static inline void dense_make(
    dense_world *d, const graphss_graph *g, const graphss_features *f)
{
    *d = (dense_world){0};
    for (size_t i = 0; i < TINY_N; i++) {
        for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++)
            d->a[i][g->target[e]] = 1;
        for (size_t j = 0; j < TINY_D; j++)
            if (!f->offset)
                d->x[i][j] = f->value[i * TINY_D + j];
        for (int64_t e = f->offset ? f->offset[i] : 0; f->offset && e < f->offset[i + 1]; e++)
            d->x[i][f->column[e]] = f->value[e];
    }
}

/* logits of u: row u of (D^-1/2 (A + I) D^-1/2)^2 X W, by full matrices. */
static inline void dense_logits(double *logits, const dense_world *d, const float *w, size_t u)
{
    double hat[TINY_N][TINY_N], degree[TINY_N];
    for (size_t i = 0; i < TINY_N; i++) {
        degree[i] = 1;
        for (size_t j = 0; j < TINY_N; j++)
            degree[i] += d->a[i][j];
    }
    for (size_t i = 0; i < TINY_N; i++)
        for (size_t j = 0; j < TINY_N; j++)
            hat[i][j] = (d->a[i][j] + (i == j)) / sqrt(degree[i] * degree[j]);
    for (size_t c = 0; c < TINY_K; c++) {
        logits[c] = 0;
        for (size_t x = 0; x < TINY_N; x++) {
            double square = 0, xw = 0;
            for (size_t v = 0; v < TINY_N; v++)
                square += hat[u][v] * hat[v][x];
            for (size_t j = 0; j < TINY_D; j++)
                xw += d->x[x][j] * (double)w[j * TINY_K + c];
            logits[c] += square * xw;
        }
    }
}

static inline double dense_margin(const dense_world *d, const float *w, size_t u, size_t label)
{
    double logits[TINY_K], best = -INFINITY;
    dense_logits(logits, d, w, u);
    for (size_t c = 0; c < TINY_K; c++)
        if (c != label && logits[c] > best)
            best = logits[c];
    return logits[label] - best;
}

/* A generated dataset, a model trained on it and some victims, for tests
 * of attacks. */
enum { SCENE_VICTIMS = 12 };

typedef struct fixture {
    graphss_dataset data;
    graphss_split split;
    graphss_model *model;
    int32_t victim[SCENE_VICTIMS];
    graphss_attack_input in;
} fixture;

/* model NULL: none is trained. */
static inline void fixture_make(graphss_ctx *ctx, fixture *s, const char *model)
{
    memset(s, 0, sizeof *s);
    assert_ok(
        ctx, graphss_dataset_read(ctx, &s->data,
                 "synth:nodes=300,classes=3,features=80,degree=6,homophily=0.8,seed=5", NULL));
    assert_ok(ctx, graphss_split_make(ctx, &s->split, s->data.label, s->data.graph.n_nodes,
                       s->data.n_classes, 1, NULL));
    if (model) {
        graphss_train_options opt;
        graphss_train_options_init(&opt, model, GRAPHSS_MODE_DEFAULT, NULL);
        opt.epochs = 60;
        opt.hidden = 16;
        assert_ok(ctx, graphss_model_train(ctx, &s->model, NULL,
                           &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                               .graph = &s->data.graph,
                               .features = &s->data.features,
                               .n_classes = s->data.n_classes,
                               .split = &s->split,
                               .seed = 1},
                           &opt));
    }
    size_t n = 0;
    for (size_t i = 0; n < SCENE_VICTIMS; i++)
        if (graphss_graph_degree(&s->data.graph, (size_t)s->split.test[i]) >= 3)
            s->victim[n++] = s->split.test[i];
    s->in = (graphss_attack_input){.struct_size = sizeof(graphss_attack_input),
        .graph = &s->data.graph,
        .features = &s->data.features,
        .label = s->data.label,
        .n_classes = s->data.n_classes,
        .model = s->model,
        .victim = s->victim,
        .n_victims = SCENE_VICTIMS,
        .seed = 1};
}

static inline void fixture_destroy(graphss_ctx *ctx, fixture *s)
{
    graphss_model_free(ctx, s->model);
    graphss_split_destroy(ctx, &s->split);
    graphss_dataset_destroy(ctx, &s->data);
}

/* The mean over the victims of log P(label) - log P(best other) after the changes; each on
 * a graph of its own when one_only. */
static inline double fixture_margin(
    graphss_ctx *ctx, const fixture *s, const graphss_flips *flips, bool one_only)
{
    const size_t n = s->data.graph.n_nodes, k = s->data.n_classes;
    float *prob = calloc(n * k, sizeof *prob);
    double sum = 0;
    assert_non_null(prob);
    for (size_t i = 0; i < SCENE_VICTIMS; i++) {
        graphss_dataset now = {0};
        const graphss_apply_options opt = {
            .struct_size = sizeof opt, .one_only = one_only, .victim = s->victim[i]};
        if (i == 0 || one_only) {
            assert_ok(ctx, graphss_flips_apply(ctx, &now, &s->data, flips, &opt));
            assert_ok(
                ctx, graphss_model_predict(ctx, prob, s->model, &now.graph, &now.features));
            graphss_dataset_destroy(ctx, &now);
        }
        const float *p = prob + (size_t)s->victim[i] * k;
        const int32_t y = s->data.label[s->victim[i]];
        float other = 0;
        for (size_t c = 0; c < k; c++)
            other = (int32_t)c != y && p[c] > other ? p[c] : other;
        sum += log(p[y]) - log(other);
    }
    free(prob);
    return sum / SCENE_VICTIMS;
}

#endif
