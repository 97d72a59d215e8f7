#include "models/model_private.h"
#include "models/test/testing_world.h"
#include "models/unchecked.h"
#include <stdlib.h>

typedef struct trained {
    world w;
    graphss_model *model;
    graphss_i_model_state *state;
} trained;

static void start(graphss_ctx *ctx, trained *t)
{
    graphss_train_options opt;
    graphss_train_options_init(&opt, "gcn", GRAPHSS_MODE_PAPER, NULL);
    opt.epochs = 12;
    opt.hidden = 8;
    world_make(ctx, &t->w, 7);
    t->model = NULL;
    assert_ok(ctx, graphss_model_train(
                       ctx, &t->model, NULL,
                       &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                                              .graph = &t->w.graph,
                                              .features = &t->w.features,
                                              .n_classes = 2,
                                              .split = &t->w.split,
                                              .seed = 3},
                       &opt));
    t->state = calloc(1, graphss_i_model_state_size(t->model));
    assert_non_null(t->state);
    graphss_i_model_state_put(t->state, t->model);
}

static void stop(graphss_ctx *ctx, trained *t)
{
    free(t->state);
    graphss_model_free(ctx, t->model);
    world_destroy(ctx, &t->w);
}

/* To go on from a state is to go on from the model: that takes weights, moments and step. */
static void test_a_state_goes_on_as_its_model_does(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    trained t;
    start(ctx, &t);
    assert_true(t.state->filled);
    graphss_train_options other = t.model->opt;
    graphss_model *like = NULL, *taken = NULL, *next[2] = {NULL};
    other.epochs = 3;
    assert_ok(ctx, graphss_model_train(
                       ctx, &like, NULL,
                       &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                                              .graph = &t.w.graph,
                                              .features = &t.w.features,
                                              .n_classes = 2,
                                              .split = &t.w.split,
                                              .seed = 3},
                       &other));
    assert_ok(ctx, graphss_i_model_state_take(ctx, &taken, like, t.state));
    const graphss_model *from[2] = {t.model, taken};
    for (int i = 0; i < 2; i++)
        assert_ok(ctx, graphss_i_continue(
                           ctx, &next[i], NULL, from[i],
                           &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                                                  .graph = &t.w.graph,
                                                  .features = &t.w.features,
                                                  .split = &t.w.split,
                                                  .seed = 5},
                           7));
    assert_memory_equal(next[0]->params.value, next[1]->params.value,
                        next[0]->params.count * sizeof *next[0]->params.value);
    assert_int_equal(next[0]->adam.step, next[1]->adam.step);
    for (int i = 0; i < 2; i++)
        graphss_model_free(ctx, next[i]);
    graphss_model_free(ctx, taken);
    graphss_model_free(ctx, like);
    stop(ctx, &t);
    graphss_ctx_free(ctx);
}

static void test_a_model_without_moments_has_no_state(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    trained t;
    start(ctx, &t);
    graphss_train_options opt;
    graphss_train_options_init(&opt, "gcn", GRAPHSS_MODE_DEFAULT, NULL);
    graphss_model *model = NULL;
    opt.epochs = 2;
    assert_ok(ctx, graphss_model_train(
                       ctx, &model, NULL,
                       &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                                              .graph = &t.w.graph,
                                              .features = &t.w.features,
                                              .n_classes = 2,
                                              .split = &t.w.split,
                                              .seed = 3},
                       &opt));
    assert_int_equal(graphss_i_model_state_size(model), 0);
    graphss_model_free(ctx, model);
    stop(ctx, &t);
    graphss_ctx_free(ctx);
}

static graphss_status take_once(graphss_ctx *ctx, void *arg)
{
    const trained *t = arg;
    graphss_model *model = NULL;
    const graphss_status st = graphss_i_model_state_take(ctx, &model, t->model, t->state);
    graphss_model_free(ctx, model);
    return st;
}

static void test_failing_allocations_leave_nothing(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    trained t;
    start(ctx, &t);
    testing_each_allocation_fails(take_once, &t);
    stop(ctx, &t);
    graphss_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_state_goes_on_as_its_model_does),
        cmocka_unit_test(test_a_model_without_moments_has_no_state),
        cmocka_unit_test(test_failing_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
