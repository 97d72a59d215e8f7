/* testing_attacked_world.h - the small world, attacked by hand, for tests of defences. */
#ifndef GRAPHSS_TESTING_ATTACKED_WORLD_H
#define GRAPHSS_TESTING_ATTACKED_WORLD_H

#include "models/test/testing_world.h"

enum { VICTIMS = 20, EDGES = 8 };

/* world.graph is previous; current has each victim tied to EDGES nodes of the other group. */
typedef struct attacked_world {
    world w;
    graphss_graph current;
    graphss_model *model;
    int32_t victim[VICTIMS];
    graphss_observation previous;
    graphss_defence_input in;
} attacked_world;

static inline void attacked_world_make(graphss_ctx *ctx, attacked_world *a)
{
    memset(a, 0, sizeof *a);
    world_make(ctx, &a->w, 5);
    const graphss_graph *g = &a->w.graph;
    const size_t kept = (size_t)g->offset[g->n_nodes], m = kept + EDGES * VICTIMS;
    int32_t *from = malloc(m * sizeof *from), *to = malloc(m * sizeof *to);
    size_t e = 0;
    for (size_t i = 0; i < g->n_nodes; i++)
        for (int64_t j = g->offset[i]; j < g->offset[i + 1]; j++, e++) {
            from[e] = (int32_t)i;
            to[e] = g->target[j];
        }
    graphss_rng rng = graphss_rng_make(1, GRAPHSS_STREAM_ATTACK);
    for (size_t v = 0; v < VICTIMS; v++) {
        a->victim[v] = a->w.split.test[v];
        for (int j = 0; j < EDGES; j++, e++) {
            from[e] = a->victim[v];
            to[e] = (int32_t)(2 * graphss_rng_below(&rng, WORLD_NODES / 2)) + 1 -
                    a->w.label[a->victim[v]];
        }
    }
    assert_ok(ctx, graphss_graph_build(ctx, &a->current, NULL, g->n_nodes, from, to, m));
    free(from), free(to);
    graphss_train_options opt;
    graphss_train_options_init(&opt, "gcn", GRAPHSS_MODE_DEFAULT, NULL);
    opt.epochs = 60;
    opt.hidden = 16;
    opt.dropout = 0.3;
    assert_ok(ctx, graphss_model_train(ctx, &a->model, NULL,
                       &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                           .graph = g,
                           .features = &a->w.features,
                           .n_classes = 2,
                           .split = &a->w.split,
                           .seed = 1},
                       &opt));
    a->previous = (graphss_observation){&a->w.graph, &a->w.features, NULL};
    a->in = (graphss_defence_input){.struct_size = sizeof(graphss_defence_input),
        .current = {&a->current, &a->w.features, NULL},
        .previous = &a->previous,
        .model = a->model,
        .seed = 1};
}

static inline void attacked_world_destroy(graphss_ctx *ctx, attacked_world *a)
{
    graphss_model_free(ctx, a->model);
    graphss_graph_destroy(ctx, &a->current);
    world_destroy(ctx, &a->w);
}

/* The preset of a method, with a fit that is over soon. */
static inline graphss_recover_options quick_preset(const char *method, const attacked_world *a)
{
    graphss_recover_options opt;
    graphss_recover_options_init(
        &opt, graphss_lab_method_find(method), GRAPHSS_MODE_DEFAULT, a->model);
    opt.fit.epochs = 30;
    opt.fit.hidden = 16;
    return opt;
}

static inline graphss_recover_result answer(
    graphss_ctx *ctx, const attacked_world *a, const graphss_recover_options *opt)
{
    graphss_recover_result r = {0};
    assert_ok(ctx, graphss_recover_run(ctx, &r, &a->in, opt));
    return r;
}

static inline bool same_posteriors(
    const graphss_recover_result *x, const graphss_recover_result *y)
{
    return memcmp(x->predictions.posterior, y->predictions.posterior,
               WORLD_NODES * 2 * sizeof(double)) == 0;
}

static inline bool stop_at_third_report(
    void *user, const char *stage, size_t done, size_t total, const char *note)
{
    (void)stage, (void)done, (void)total, (void)note;
    return ++*(int *)user < 3;
}

/* A run of the method that is cancelled at its third report of progress. */
static inline void assert_can_be_cancelled(const attacked_world *a, const char *method)
{
    int calls = 0;
    const graphss_ctx_options options = {.struct_size = sizeof options,
        .threads = 1,
        .progress = stop_at_third_report,
        .user = &calls};
    graphss_ctx *impatient = graphss_ctx_new(&options);
    const graphss_recover_options opt = quick_preset(method, a);
    graphss_recover_result r = {0};
    assert_int_equal(graphss_recover_run(impatient, &r, &a->in, &opt), GRAPHSS_ERR_CANCELLED);
    assert_null(r.predictions.label);
    graphss_ctx_free(impatient);
}

/* Every way of training that each method supports, from its preset. */
static inline double accuracy_of(
    graphss_ctx *ctx, const attacked_world *a, const char *method, int train)
{
    graphss_recover_options opt;
    graphss_recover_options_init(
        &opt, graphss_lab_method_find(method), GRAPHSS_MODE_DEFAULT, a->model);
    opt.train = train;
    graphss_recover_result r = {0};
    assert_ok(ctx, graphss_recover_run(ctx, &r, &a->in, &opt));
    const double share = graphss_labels_accuracy(
        r.predictions.label, a->w.label, a->w.split.test, a->w.split.n_test);
    graphss_recover_result_destroy(ctx, &r);
    return share;
}

#endif
