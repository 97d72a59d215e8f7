/* States learned from samples. */
#include "detect/state_model.h"
#include "testing.h"

enum { ROWS = 60, K = 3, STATE_ROWS = ROWS * (1 + GRAPHSS_I_ATTACKS) };

/* Rows of one state: column `state` of oddness is large in it; the first source tells the
 * class, or in an attack lies, and praise is no attack. */
static void fill(graphss_i_view *v, int32_t *label, size_t state, graphss_rng *rng)
{
    const bool lies = state && state != 1 + GRAPHSS_I_PRAISED;
    for (size_t i = 0; i < ROWS; i++) {
        const size_t at = state * ROWS + i;
        float *odd = v->odd + at * GRAPHSS_I_ODD;
        for (size_t j = 0; j < GRAPHSS_I_ODD; j++)
            odd[j] = (float)graphss_rng_normal(rng) + (state && j == state ? 6 : 0);
        label[at] = (int32_t)graphss_rng_below(rng, K);
        for (size_t c = 0; c < K; c++) {
            float *says = v->says + (at * K + c) * GRAPHSS_I_SAYS;
            memset(says, 0, GRAPHSS_I_SAYS * sizeof *says);
            says[0] = (float)graphss_rng_normal(rng) +
                      ((int32_t)c == label[at] ? (lies ? -3 : 3) : 0);
        }
    }
}

typedef struct lesson {
    graphss_i_view view;
    float says[STATE_ROWS * K * GRAPHSS_I_SAYS], odd[STATE_ROWS * GRAPHSS_I_ODD];
    int32_t label[STATE_ROWS];
} lesson;

static void lesson_make(lesson *l)
{
    graphss_rng rng = graphss_rng_make(8, GRAPHSS_STREAM_SYNTH);
    l->view = (graphss_i_view){.says = l->says, .odd = l->odd};
    for (size_t r = 0; r <= GRAPHSS_I_ATTACKS; r++)
        fill(&l->view, l->label, r, &rng);
}

static graphss_status learn(graphss_ctx *ctx, graphss_i_suspicion *u, const lesson *l)
{
    graphss_i_sample sample[1 + GRAPHSS_I_ATTACKS] = {0};
    graphss_status st = GRAPHSS_OK;
    for (size_t r = 0; r <= GRAPHSS_I_ATTACKS && !st; r++) {
        st = graphss_i_sample_init(ctx, &sample[r], ROWS, K);
        for (size_t i = 0; i < ROWS && !st; i++)
            graphss_i_sample_add(&sample[r], &l->view, K, (int32_t)(r * ROWS + i),
                                 l->label[r * ROWS + i], 1);
    }
    if (!st)
        st = graphss_i_suspicion_fit(ctx, u, &l->view, STATE_ROWS, K, &sample[0], sample + 1,
                                     false);
    for (size_t r = 0; r <= GRAPHSS_I_ATTACKS; r++)
        graphss_i_sample_destroy(ctx, &sample[r]);
    return st;
}

static void test_states_and_classes_are_told_apart(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    lesson *l = malloc(sizeof *l);
    graphss_i_suspicion u = {0};
    lesson_make(l);
    assert_ok(ctx, learn(ctx, &u, l));
    assert_true(u.w[0][0] > 0.5 && u.w[1][0] < -0.5); /* what lies is turned round, */
    assert_true(u.w[GRAPHSS_I_STATES - 1][0] >= 0);   /* but not in the unknown state, */
    assert_true(u.w[1 + GRAPHSS_I_PRAISED][0] > 0.5); /* nor where it does not lie */
    assert_float_equal(u.w[1 + GRAPHSS_I_PRAISED][1], 0, 0);
    size_t right = 0, class = 0;
    for (size_t i = 0; i < STATE_ROWS; i++) {
        double likelihood[GRAPHSS_I_STATES];
        float p[K * GRAPHSS_I_ROW];
        graphss_i_suspicion_node(likelihood, p, &u, &l->view, i, K);
        assert_float_equal(likelihood[0], 1, 0);
        size_t best = 0;
        for (size_t r = 1; r <= GRAPHSS_I_ATTACKS; r++)
            best = likelihood[r] > likelihood[best] ? r : best;
        right += best == i / ROWS;
        const float *mine = p + i / ROWS;
        size_t top = 0;
        double sum = 0;
        for (size_t c = 0; c < K; c++) {
            sum += (double)mine[c * GRAPHSS_I_ROW];
            top = mine[c * GRAPHSS_I_ROW] > mine[top * GRAPHSS_I_ROW] ? c : top;
        }
        assert_float_equal(sum, 1, 1e-6);
        class += (int32_t)top == l->label[i];
    }
    assert_true(right > STATE_ROWS * 9 / 10);
    assert_true(class > STATE_ROWS * 9 / 10);
    graphss_i_suspicion_destroy(ctx, &u);
    free(l);
    graphss_ctx_free(ctx);
}

/* A source that is right for all of few nodes may be so by luck. */
static void test_few_labelled_nodes_hardly_shake_the_classifier(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    lesson *l = malloc(sizeof *l);
    graphss_i_suspicion u = {0};
    lesson_make(l);
    for (size_t i = 0; i < ROWS; i++)
        l->says[(i * K + (size_t)l->label[i]) * GRAPHSS_I_SAYS + 1] = 1;
    assert_ok(ctx, learn(ctx, &u, l));
    assert_true(u.w[0][1] > 0 && u.w[0][1] < 0.2);
    assert_true(u.w[0][0] > 0.5);
    graphss_i_suspicion_destroy(ctx, &u);
    free(l);
    graphss_ctx_free(ctx);
}

/* Of few labelled nodes the largest budget may have hit none. */
static void test_without_the_largest_budget_the_first_kind_stands_for_it(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    lesson *l = malloc(sizeof *l);
    graphss_i_suspicion u = {0};
    graphss_i_sample sample[1 + GRAPHSS_I_ATTACKS] = {0};
    lesson_make(l);
    for (size_t r = 0; r <= GRAPHSS_I_ATTACKS; r++) {
        assert_ok(ctx, graphss_i_sample_init(ctx, &sample[r], ROWS, K));
        for (size_t i = 0; i < ROWS && r != 1 + GRAPHSS_I_MANY; i++)
            graphss_i_sample_add(&sample[r], &l->view, K, (int32_t)(r * ROWS + i),
                                 l->label[r * ROWS + i], 1);
    }
    assert_ok(ctx, graphss_i_suspicion_fit(ctx, &u, &l->view, STATE_ROWS, K, &sample[0],
                                           sample + 1, false));
    assert_memory_equal(u.w[1 + GRAPHSS_I_MANY], u.w[1 + GRAPHSS_I_BOTH], sizeof u.w[0]);
    for (size_t r = 0; r <= GRAPHSS_I_ATTACKS; r++)
        graphss_i_sample_destroy(ctx, &sample[r]);
    graphss_i_suspicion_destroy(ctx, &u);
    free(l);
    graphss_ctx_free(ctx);
}

static void test_states_have_names(void **state)
{
    (void)state;
    for (size_t r = 0; r < GRAPHSS_I_STATES; r++)
        assert_non_null(graphss_i_state_name(r));
    assert_string_equal(graphss_i_state_name(0), "untouched");
    assert_string_equal(graphss_i_state_name(1 + GRAPHSS_I_RANDOM), "random");
    assert_string_equal(graphss_i_state_name(1 + GRAPHSS_I_COPIED), "copied");
    assert_null(graphss_i_state_name(GRAPHSS_I_STATES));
}

static graphss_status learn_and_forget(graphss_ctx *ctx, void *arg)
{
    graphss_i_suspicion u = {0};
    const graphss_status st = learn(ctx, &u, arg);
    graphss_i_suspicion_destroy(ctx, &u);
    return st;
}

static void test_failing_allocations_leave_nothing(void **state)
{
    (void)state;
    lesson *l = malloc(sizeof *l);
    lesson_make(l);
    testing_allocations_fail(learn_and_forget, l, 50);
    free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states_and_classes_are_told_apart),
        cmocka_unit_test(test_few_labelled_nodes_hardly_shake_the_classifier),
        cmocka_unit_test(test_without_the_largest_budget_the_first_kind_stands_for_it),
        cmocka_unit_test(test_states_have_names),
        cmocka_unit_test(test_failing_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
