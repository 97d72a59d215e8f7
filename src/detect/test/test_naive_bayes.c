/* What words say by counts. */
#include "detect/naive_bayes.h"
#include "models/test/testing_world.h"

enum { N = WORLD_NODES, K = 2 };

static bool holds(const graphss_features *x, int32_t node, int32_t word)
{
    for (int64_t e = x->offset[node]; e < x->offset[node + 1]; e++)
        if (x->column[e] == word)
            return x->value[e] != 0;
    return false;
}

/* log((n_wc + 0.1) / (n_c + 1)), word by word over all training nodes */
static double naive(const world *w, int32_t word, int32_t class)
{
    double nodes = 0, with = 0;
    for (size_t t = 0; t < w->split.n_train; t++) {
        nodes += w->split.train_label[t] == class;
        with +=
            w->split.train_label[t] == class && holds(&w->features, w->split.train[t], word);
    }
    return log((with + 0.1) / (nodes + 1));
}

static void test_weights_are_those_of_naive_counts(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    world w;
    graphss_i_lexicon x = {0};
    double margin[N], z[K];
    world_make(ctx, &w, 5);
    w.features.value[1] = 0; /* stored, and not there */
    w.features.value[2] = 7; /* no more than there */
    assert_ok(ctx, graphss_i_lexicon_learn(ctx, &x, &w.features, &w.split, K));
    for (int32_t j = 0; j < WORLD_WORDS; j++) {
        const double a = naive(&w, j, 0), b = naive(&w, j, 1);
        assert_float_equal(x.weight[j * K], (a - b) / 2, 1e-5);
        assert_float_equal(x.weight[j * K + 1], (b - a) / 2, 1e-5);
    }
    for (int32_t i = 0; i < N; i++) {
        float p[K];
        double says = 0;
        for (int32_t j = 0; j < WORLD_WORDS; j++)
            says += holds(&w.features, i, j) ? naive(&w, j, 0) - naive(&w, j, 1) : 0;
        margin[i] = fabs(says);
        graphss_i_lexicon_read(p, z, &x, graphss_i_row_of(&w.features, (size_t)i), K);
        assert_float_equal(p[0], 1 / (1 + exp(-says / x.unit)), 1e-5);
        assert_float_equal(p[1], 1 / (1 + exp(says / x.unit)), 1e-5);
    }
    size_t below = 0; /* the unit is the median of the margins */
    for (size_t i = 0; i < N; i++)
        below += margin[i] < x.unit - 1e-6;
    assert_in_range(below, N / 2 - 8, N / 2);
    graphss_i_lexicon_destroy(ctx, &x);
    world_destroy(ctx, &w);
    graphss_ctx_free(ctx);
}

/* Labels of validation nodes and words of nodes without one do not matter to the weights. */
static void test_training_labels_alone_are_counted(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    world w;
    graphss_i_lexicon x[2] = {{0}, {0}};
    bool train[N] = {0};
    world_make(ctx, &w, 5);
    for (size_t t = 0; t < w.split.n_train; t++)
        train[w.split.train[t]] = true;
    for (size_t turn = 0; turn < 2; turn++) {
        assert_ok(ctx, graphss_i_lexicon_learn(ctx, &x[turn], &w.features, &w.split, K));
        for (size_t t = 0; t < w.split.n_val; t++)
            w.split.val_label[t] = 1 - w.split.val_label[t];
        for (size_t i = 0; i < N; i++)
            for (int64_t e = w.features.offset[i]; e < w.features.offset[i + 1]; e++)
                w.features.value[e] *= train[i];
    }
    assert_memory_equal(x[0].weight, x[1].weight, WORLD_WORDS * K * sizeof(float));
    assert_true(x[0].unit != x[1].unit);
    for (size_t turn = 0; turn < 2; turn++)
        graphss_i_lexicon_destroy(ctx, &x[turn]);
    world_destroy(ctx, &w);
    graphss_ctx_free(ctx);
}

static void test_dense_features_say_nothing(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    float value[6] = {1, 2, 3, 4, 5, 6}, p[3] = {0};
    double z[3];
    int32_t node[2] = {0, 1}, label[2] = {0, 2};
    const graphss_features dense = {.n_rows = 3, .n_cols = 2, .value = value};
    const graphss_split split = {.train = node, .train_label = label, .n_train = 2};
    graphss_i_lexicon x = {0};
    assert_ok(ctx, graphss_i_lexicon_learn(ctx, &x, &dense, &split, 3));
    graphss_i_lexicon_read(p, z, &x, graphss_i_row_of(&dense, 1), 3);
    for (size_t c = 0; c < 3; c++)
        assert_float_equal(p[c], 1.0 / 3, 1e-6);
    graphss_i_lexicon_destroy(ctx, &x);
    graphss_ctx_free(ctx);
}

/* A graph whose nodes have no words: no margin, and nothing is divided by it. */
static void test_no_words_say_nothing(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    int64_t offset[4] = {0};
    int32_t nothing[1] = {0}, node[2] = {0, 1}, label[2] = {0, 1};
    float none[1] = {0}, p[2] = {0};
    double z[2];
    const graphss_features empty = {
        .n_rows = 3, .n_cols = 2, .offset = offset, .column = nothing, .value = none};
    const graphss_split split = {.train = node, .train_label = label, .n_train = 2};
    graphss_i_lexicon x = {0};
    assert_ok(ctx, graphss_i_lexicon_learn(ctx, &x, &empty, &split, 2));
    graphss_i_lexicon_read(p, z, &x, graphss_i_row_of(&empty, 2), 2);
    assert_float_equal(p[0], 0.5, 1e-6);
    assert_float_equal(p[1], 0.5, 1e-6);
    graphss_i_lexicon_destroy(ctx, &x);
    graphss_ctx_free(ctx);
}

static graphss_status learn(graphss_ctx *ctx, void *arg)
{
    const world *w = arg;
    graphss_i_lexicon x = {0};
    const graphss_status st = graphss_i_lexicon_learn(ctx, &x, &w->features, &w->split, K);
    graphss_i_lexicon_destroy(ctx, &x);
    return st;
}

static void test_failing_allocations_leave_nothing(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    world w;
    world_make(ctx, &w, 5);
    testing_each_allocation_fails(learn, &w);
    world_destroy(ctx, &w);
    graphss_ctx_free(ctx);
}

static void test_softmax_is_that_of_the_formula(void **state)
{
    (void)state;
    const double z[] = {-1.5, 0.25, 3, 2.75}, unit = 0.8;
    const double far[] = {5000, 4000, -9000, 5000}; /* exp of them is not finite */
    float p[4];
    double sum = 0;
    for (size_t c = 0; c < 4; c++)
        sum += exp(z[c] / unit);
    graphss_i_softmax_of(p, z, unit, 4);
    for (size_t c = 0; c < 4; c++)
        assert_float_equal(p[c], exp(z[c] / unit) / sum, 1e-6);
    graphss_i_softmax_of(p, far, 1, 4);
    assert_true(p[0] == 0.5f && p[1] == 0 && p[2] == 0 && p[3] == 0.5f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_softmax_is_that_of_the_formula),
        cmocka_unit_test(test_weights_are_those_of_naive_counts),
        cmocka_unit_test(test_training_labels_alone_are_counted),
        cmocka_unit_test(test_dense_features_say_nothing),
        cmocka_unit_test(test_no_words_say_nothing),
        cmocka_unit_test(test_failing_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
