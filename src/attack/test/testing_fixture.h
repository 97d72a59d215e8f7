/* testing_fixture.h - a generated dataset, a model trained on it and some victims, for tests
 * of attacks. */
#ifndef GRAPHSS_TESTING_SCENE_H
#define GRAPHSS_TESTING_SCENE_H

#include "testing.h"

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
    assert_ok(ctx, graphss_dataset_read(
                       ctx, &s->data,
                       "synth:nodes=300,classes=3,features=80,degree=6,homophily=0.8,seed=5",
                       NULL));
    assert_ok(ctx, graphss_split_make(ctx, &s->split, s->data.label, s->data.graph.n_nodes,
                                      s->data.n_classes, 1, NULL));
    if (model) {
        graphss_train_options opt;
        graphss_train_options_init(&opt, model, GRAPHSS_MODE_DEFAULT, NULL);
        opt.epochs = 60;
        opt.hidden = 16;
        assert_ok(ctx, graphss_model_train(
                           ctx, &s->model, NULL,
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
static inline double fixture_margin(graphss_ctx *ctx, const fixture *s,
                                    const graphss_flips *flips, bool one_only)
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
            assert_ok(ctx,
                      graphss_model_predict(ctx, prob, s->model, &now.graph, &now.features));
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
