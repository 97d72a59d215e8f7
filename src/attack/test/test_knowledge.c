/* What an attacker takes nodes for. */
#include "testing.h"
#include <graphss/attack.h>

enum { N = 200, K = 4 };

typedef struct world {
    int32_t truth[N], predicted[N], train[2], val[1], given[2], val_given[1];
    graphss_dataset data;
    graphss_split split;
} world;

/* Node i is of class i % 4, but the model says one more; the truth of node 7 is unknown. */
static world make_world(void)
{
    world w = {.train = {0, 1}, .val = {2}, .given = {3, 3}, .val_given = {1}};
    for (int i = 0; i < N; i++) {
        w.truth[i] = i % K;
        w.predicted[i] = (i + 1) % K;
    }
    w.truth[7] = -1;
    return w;
}

static void edge_world(world *w)
{
    w->data.graph.n_nodes = N;
    w->data.n_classes = K;
    w->data.label = w->truth;
    w->split = (graphss_split){.n_train = 2,
                               .n_val = 1,
                               .train = w->train,
                               .val = w->val,
                               .train_label = w->given,
                               .val_label = w->val_given};
}

static void test_truth_is_the_truth_and_else_the_prediction(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    int32_t label[N];
    world w = make_world();
    edge_world(&w);
    assert_ok(ctx, graphss_attack_believe(ctx, label, &w.data, &w.split, w.predicted, K, 1,
                                          GRAPHSS_KNOWLEDGE_TRUTH));
    for (int i = 0; i < N; i++)
        assert_int_equal(label[i], i == 7 ? w.predicted[i] : w.truth[i]);
    w.data.label = NULL;
    assert_ok(ctx, graphss_attack_believe(ctx, label, &w.data, &w.split, w.predicted, K, 1,
                                          GRAPHSS_KNOWLEDGE_TRUTH));
    assert_memory_equal(label, w.predicted, sizeof label);
    graphss_ctx_free(ctx);
}

static void test_predictions_do_not_depend_on_the_truth(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    int32_t label[N];
    world w = make_world();
    edge_world(&w);
    w.data.label = NULL;
    assert_ok(ctx, graphss_attack_believe(ctx, label, &w.data, &w.split, w.predicted, K, 1,
                                          GRAPHSS_KNOWLEDGE_PREDICTIONS));
    assert_int_equal(label[0], 3); /* as given out */
    assert_int_equal(label[1], 3);
    assert_int_equal(label[2], 1);
    for (int i = 3; i < N; i++)
        assert_int_equal(label[i], w.predicted[i]);
    graphss_ctx_free(ctx);
}

static void test_nothing_draws_all_classes_alike(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    int32_t label[N], again[N], other[N];
    int count[K] = {0}, right = 0, differ = 0;
    world w = make_world();
    edge_world(&w);
    assert_ok(ctx, graphss_attack_believe(ctx, label, &w.data, &w.split, w.predicted, K, 1,
                                          GRAPHSS_KNOWLEDGE_NOTHING));
    assert_ok(ctx, graphss_attack_believe(ctx, again, &w.data, &w.split, w.predicted, K, 1,
                                          GRAPHSS_KNOWLEDGE_NOTHING));
    assert_ok(ctx, graphss_attack_believe(ctx, other, &w.data, &w.split, w.predicted, K, 2,
                                          GRAPHSS_KNOWLEDGE_NOTHING));
    assert_memory_equal(label, again, sizeof label);
    assert_int_equal(label[0], 3);
    assert_int_equal(label[2], 1);
    for (int i = 3; i < N; i++) {
        assert_in_range(label[i], 0, K - 1);
        count[label[i]]++;
        right += label[i] == w.truth[i];
        differ += label[i] != other[i];
    }
    for (int k = 0; k < K; k++) /* 49 on average, 6 the deviation */
        assert_in_range(count[k], 25, 75);
    assert_in_range(right, 25, 75);
    assert_true(differ > 100);
    graphss_ctx_free(ctx);
}

static void test_unsound_input_is_refused_and_labels_left_alone(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    int32_t label[N] = {9};
    world w = make_world();
    edge_world(&w);
    assert_fails(ctx,
                 graphss_attack_believe(ctx, label, &w.data, &w.split, NULL, K, 1,
                                        GRAPHSS_KNOWLEDGE_NOTHING),
                 GRAPHSS_ERR_INVALID, "predictions");
    assert_fails(ctx,
                 graphss_attack_believe(ctx, label, &w.data, &w.split, w.predicted, K, 1,
                                        (graphss_knowledge)3),
                 GRAPHSS_ERR_INVALID, "knowledge 3");
    w.train[1] = N;
    assert_fails(ctx,
                 graphss_attack_believe(ctx, label, &w.data, &w.split, w.predicted, K, 1,
                                        GRAPHSS_KNOWLEDGE_NOTHING),
                 GRAPHSS_ERR_SHAPE, "training node 1 is 200");
    assert_int_equal(label[0], 9);
    assert_string_equal(graphss_knowledge_text(GRAPHSS_KNOWLEDGE_PREDICTIONS), "predictions");
    assert_string_equal(graphss_knowledge_text((graphss_knowledge)-1), "?");
    graphss_ctx_free(ctx);
}

static graphss_status believe(graphss_ctx *ctx, void *user)
{
    world *w = user;
    int32_t label[N];
    return graphss_attack_believe(ctx, label, &w->data, &w->split, w->predicted, K, 1,
                                  GRAPHSS_KNOWLEDGE_NOTHING);
}

static void test_each_allocation_may_fail(void **state)
{
    (void)state;
    world w = make_world();
    edge_world(&w);
    testing_each_allocation_fails(believe, &w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truth_is_the_truth_and_else_the_prediction),
        cmocka_unit_test(test_predictions_do_not_depend_on_the_truth),
        cmocka_unit_test(test_nothing_draws_all_classes_alike),
        cmocka_unit_test(test_unsound_input_is_refused_and_labels_left_alone),
        cmocka_unit_test(test_each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
