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
static inline void tiny_make(graphss_ctx *ctx, tiny_world *t, uint64_t seed,
                             graphss_feature_kind kind)
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
    assert_ok(ctx,
              graphss_i_features_from_dense(ctx, &t->data.features, TINY_N, TINY_D, x, "x"));
    t->data.label = graphss_i_alloc(ctx, TINY_N, sizeof *t->data.label);
    t->data.n_classes = TINY_K;
    for (size_t i = 0; i < TINY_N; i++)
        t->data.label[i] = (int32_t)graphss_rng_below(&rng, TINY_K);
    for (size_t e = 0; e < TINY_D * TINY_K; e++)
        t->w[e] = (float)graphss_rng_normal(&rng);
    assert_ok(ctx, graphss_dataset_refresh(ctx, &t->data));
}

static inline graphss_attack_input tiny_input(const tiny_world *t, const int32_t *victim,
                                              size_t n_victims)
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

static inline void dense_make(dense_world *d, const graphss_graph *g,
                              const graphss_features *f)
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

#endif
