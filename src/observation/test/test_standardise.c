/* Snapshots as a classifier of measurements sees them. */
#include "models/test/testing_world.h"
#include "observation/standardise.h"
#include <math.h>

static graphss_model *trained(graphss_ctx *ctx, const world *w)
{
    graphss_train_options opt;
    graphss_train_options_init(&opt, "gcn", GRAPHSS_MODE_DEFAULT, &w->features);
    graphss_model *model = NULL;
    opt.epochs = 10;
    assert_ok(ctx, graphss_model_train(
                       ctx, &model, NULL,
                       &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                                              .graph = &w->graph,
                                              .features = &w->features,
                                              .n_classes = 2,
                                              .split = &w->split,
                                              .seed = 1},
                       &opt));
    return model;
}

static void test_the_classifier_says_the_same_of_what_is_seen(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    world w;
    world_make(ctx, &w, 1);
    world_measure(ctx, &w, 1);
    for (size_t i = 0; i < WORLD_NODES; i++)
        w.features.value[i * WORLD_WORDS] *= 1e4F;
    for (size_t i = 0; i < WORLD_NODES; i += 4) /* a column with zeros */
        w.features.value[i * WORLD_WORDS + 1] = 0;
    graphss_model *model = trained(ctx, &w);
    const graphss_observation past = {.graph = &w.graph, .features = &w.features};
    const graphss_defence_input in = {.struct_size = sizeof in,
                                      .current = past,
                                      .previous = &past,
                                      .model = model,
                                      .seed = 1};
    graphss_i_standardised scaled = {0};
    assert_ok(ctx, graphss_i_standardise_open(ctx, &scaled, &in));
    const float *x = scaled.in.current.features->value;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < WORLD_NODES; i++) {
        sum += x[i * WORLD_WORDS];
        squares += x[i * WORLD_WORDS] * x[i * WORLD_WORDS];
    }
    assert_true(fabs(sum) < 1e-3 && fabs(squares / WORLD_NODES - 1) < 1e-3);
    assert_true(x[1] == 0 && x[WORLD_WORDS + 1] > 0);
    assert_memory_equal(x, scaled.in.previous->features->value,
                        WORLD_NODES * WORLD_WORDS * sizeof *x);
    float before[WORLD_NODES * 2], after[WORLD_NODES * 2];
    assert_ok(ctx, graphss_model_predict(ctx, before, model, &w.graph, &w.features));
    assert_ok(ctx, graphss_model_predict(ctx, after, scaled.in.model, &w.graph,
                                         scaled.in.current.features));
    for (size_t i = 0; i < WORLD_NODES * 2; i++)
        assert_true(fabs(before[i] - after[i]) < 1e-4);
    graphss_i_standardise_close(ctx, &scaled);
    graphss_model_free(ctx, model);
    world_destroy(ctx, &w);
    graphss_ctx_free(ctx);
}

static void test_words_are_seen_as_they_are(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    world w;
    world_make(ctx, &w, 1);
    graphss_model *model = trained(ctx, &w);
    const graphss_defence_input in = {.struct_size = sizeof in,
                                      .current = {.graph = &w.graph, .features = &w.features},
                                      .model = model};
    graphss_i_standardised scaled = {0};
    assert_ok(ctx, graphss_i_standardise_open(ctx, &scaled, &in));
    assert_ptr_equal(scaled.in.current.features, &w.features);
    assert_ptr_equal(scaled.in.model, model);
    graphss_i_standardise_close(ctx, &scaled);
    graphss_model_free(ctx, model);
    world_destroy(ctx, &w);
    graphss_ctx_free(ctx);
}

static graphss_status look(graphss_ctx *ctx, void *arg)
{
    graphss_i_standardised scaled = {0};
    const graphss_status st = graphss_i_standardise_open(ctx, &scaled, arg);
    graphss_i_standardise_close(ctx, &scaled);
    return st;
}

static void test_each_allocation_may_fail(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    world w;
    world_make(ctx, &w, 1);
    world_measure(ctx, &w, 1);
    graphss_model *model = trained(ctx, &w);
    const graphss_observation past = {.graph = &w.graph, .features = &w.features};
    graphss_defence_input in = {
        .struct_size = sizeof in, .current = past, .previous = &past, .model = model};
    testing_each_allocation_fails(look, &in);
    graphss_model_free(ctx, model);
    world_destroy(ctx, &w);
    graphss_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_classifier_says_the_same_of_what_is_seen),
        cmocka_unit_test(test_words_are_seen_as_they_are),
        cmocka_unit_test(test_each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
