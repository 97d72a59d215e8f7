/* Models of the current snapshot. */
#include "detect/aux_models.h"
#include "models/test/testing_world.h"

enum { N = WORLD_NODES, K = 2 };

static graphss_observation see(const world *w)
{
    return (graphss_observation){.graph = &w->graph, .features = &w->features};
}

static void test_words_are_centred_and_attackers_differ(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    world w;
    world_make(ctx, &w, 4);
    const graphss_observation now = see(&w);
    graphss_i_witnesses got = {0};
    assert_ok(ctx, graphss_i_witnesses_train(ctx, &got, &now, &w.split, K, 1, NULL, NULL));
    for (size_t j = 0; j < WORLD_WORDS; j++)
        assert_true(fabsf(got.words[j * K] + got.words[j * K + 1]) < 1e-5f);
    for (size_t a = 0; a < GRAPHSS_I_BELIEFS; a++)
        for (size_t b = a + 1; b < GRAPHSS_I_BELIEFS; b++)
            assert_memory_not_equal(got.attacker[a], got.attacker[b],
                                    WORLD_WORDS * K * sizeof(float));
    graphss_i_witnesses_destroy(ctx, &got);
    world_destroy(ctx, &w);
    graphss_ctx_free(ctx);
}

/* Other words, as many as before: those of a pair change places. */
static void swap_words(graphss_features *x, size_t row)
{
    int32_t *const end = x->column + x->offset[row + 1];
    for (int32_t *word = x->column + x->offset[row]; word < end; word++)
        if (*word % 2 == 0 && word + 1 < end && word[1] == *word + 1)
            word++; /* both are there */
        else
            *word ^= 1;
}

/* What the words of nodes without a label are, who may be victims, does not matter to the
 * perceptron, be they sparse (turns 0, 1) or dense (2, 3), nor to the linear models: those see
 * the mean of all numbers and, if dense, the units of columns. */
static void test_models_see_labelled_rows_alone(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    world w;
    world_make(ctx, &w, 4);
    bool labelled[N] = {0};
    for (size_t i = 0; i < w.split.n_train; i++)
        labelled[w.split.train[i]] = true;
    for (size_t i = 0; i < w.split.n_val; i++)
        labelled[w.split.val[i]] = true;
    static float value[N * WORLD_WORDS], as_it_was[N * WORLD_WORDS], prob[4][N * K];
    static float linear[2][1 + GRAPHSS_I_BELIEFS][WORLD_WORDS * K];
    const graphss_features dense = {N, WORLD_WORDS, NULL, NULL, value, w.features.kind};
    const graphss_features asked = {N, WORLD_WORDS, NULL, NULL, as_it_was, w.features.kind};
    memset(value, 0, sizeof value);
    for (size_t i = 0; i < N; i++)
        for (int64_t e = w.features.offset[i]; e < w.features.offset[i + 1]; e++)
            value[i * WORLD_WORDS + (size_t)w.features.column[e]] = w.features.value[e];
    memcpy(as_it_was, value, sizeof value);
    for (int turn = 0; turn < 4; turn++) {
        graphss_observation now = see(&w);
        graphss_i_witnesses got = {0};
        for (size_t i = 0; i < N && turn % 2; i++) {
            if (labelled[i])
                continue;
            if (turn == 1)
                swap_words(&w.features, i);
            for (size_t j = 0; j < WORLD_WORDS; j++)
                value[i * WORLD_WORDS + j] += 1;
        }
        if (turn > 1)
            now.features = &dense;
        assert_ok(ctx, graphss_i_witnesses_train(ctx, &got, &now, &w.split, K, 1, NULL, NULL));
        assert_ok(ctx, graphss_model_predict(ctx, prob[turn], got.mlp, &w.graph, &asked));
        for (size_t b = 0; b <= GRAPHSS_I_BELIEFS && turn < 2; b++)
            memcpy(linear[turn][b], b ? got.attacker[b - 1] : got.words, sizeof linear[0][0]);
        graphss_i_witnesses_destroy(ctx, &got);
    }
    assert_memory_equal(prob[0], prob[1], sizeof prob[0]);
    assert_memory_equal(prob[2], prob[3], sizeof prob[0]);
    assert_memory_equal(linear[0], linear[1], sizeof linear[0]);
    world_destroy(ctx, &w);
    graphss_ctx_free(ctx);
}

/* Between few labelled nodes there are few links: all are taken, and others' words matter. */
static void test_with_few_labels_linear_models_see_all_rows(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    static float words[2][WORLD_WORDS * K];
    world w;
    world_make(ctx, &w, 4);
    w.split.n_train = N / 2 - w.split.n_val - 1;
    for (int turn = 0; turn < 2; turn++) {
        const graphss_observation now = see(&w);
        graphss_i_witnesses got = {0};
        assert_ok(ctx, graphss_i_witnesses_train(ctx, &got, &now, &w.split, K, 1, NULL, NULL));
        memcpy(words[turn], got.words, sizeof words[turn]);
        graphss_i_witnesses_destroy(ctx, &got);
        for (size_t i = 0; i < w.split.n_test; i++)
            swap_words(&w.features, (size_t)w.split.test[i]);
    }
    assert_memory_not_equal(words[0], words[1], sizeof words[0]);
    world_destroy(ctx, &w);
    graphss_ctx_free(ctx);
}

/* Rows that are as they were take their answers over, the others are asked for. */
static void test_answers_for_changed_rows_are_those_for_all(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    world w, other;
    world_make(ctx, &w, 4);
    world_make(ctx, &other, 4);
    const graphss_observation now = see(&w);
    graphss_i_witnesses got = {0};
    float before[N * K], want[N * K], asked[N * K];
    assert_ok(ctx, graphss_i_witnesses_train(ctx, &got, &now, &w.split, K, 1, NULL, NULL));
    assert_ok(ctx, graphss_i_witnesses_ask(ctx, before, &got, &w.features, K, NULL, NULL));
    assert_ok(ctx, graphss_model_predict(ctx, want, got.mlp, &w.graph, &w.features));
    assert_memory_equal(before, want, sizeof want);
    for (size_t i = 3; i < N; i += 7)
        other.features.value[other.features.offset[i]] *= 4;
    for (size_t c = 0; c < K; c++)
        before[c] = 0.25f; /* node 0 did not change: what is there is believed */
    assert_ok(ctx, graphss_model_predict(ctx, want, got.mlp, &w.graph, &other.features));
    assert_ok(ctx, graphss_i_witnesses_ask(ctx, asked, &got, &other.features, K, &w.features,
                                           before));
    assert_memory_equal(asked, before, K * sizeof *asked);
    assert_memory_equal(asked + K, want + K, (N - 1) * K * sizeof *asked);
    assert_memory_not_equal(asked + 3 * K, before + 3 * K, K * sizeof *asked);
    graphss_i_witnesses_destroy(ctx, &got);
    world_destroy(ctx, &other);
    world_destroy(ctx, &w);
    graphss_ctx_free(ctx);
}

static graphss_status train_and_drop(graphss_ctx *ctx, void *arg)
{
    const world *w = arg;
    const graphss_observation now = see(w);
    graphss_i_witnesses got = {0};
    float prob[N * K];
    graphss_status st =
        graphss_i_witnesses_train(ctx, &got, &now, &w->split, K, 1, NULL, NULL);
    if (!st)
        st = graphss_i_witnesses_ask(ctx, prob, &got, &w->features, K, NULL, NULL);
    graphss_i_witnesses_destroy(ctx, &got);
    return st;
}

static void test_failing_allocations_leave_nothing(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    static world w;
    world_make(ctx, &w, 6);
    testing_allocations_fail(train_and_drop, &w, 60);
    world_destroy(ctx, &w);
    graphss_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_are_centred_and_attackers_differ),
        cmocka_unit_test(test_models_see_labelled_rows_alone),
        cmocka_unit_test(test_with_few_labels_linear_models_see_all_rows),
        cmocka_unit_test(test_answers_for_changed_rows_are_those_for_all),
        cmocka_unit_test(test_failing_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
