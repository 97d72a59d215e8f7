/* p-values of groups and of nodes. */
#include "testing.h"

static void draw(double *x, size_t n, double shift, uint64_t seed)
{
    graphss_rng rng = graphss_rng_make(seed, GRAPHSS_STREAM_SYNTH);
    for (size_t i = 0; i < n; i++)
        x[i] = graphss_rng_normal(&rng) + shift;
}

static double p_of(graphss_ctx *ctx, const double *score, size_t n, const double *calm,
                   size_t n_calm, uint64_t seed)
{
    const graphss_alert_options opt = {.false_alarm_rate = 0.05, .draws = 199};
    double p = -1, threshold = 0, mean = 0;
    assert_ok(ctx,
              graphss_alert_test(ctx, &p, &threshold, score, n, calm, n_calm, seed, &opt));
    for (size_t i = 0; i < n; i++)
        mean += score[i] / (double)n;
    if (p <= 0.05)
        assert_true(mean >= threshold - 1e-9);
    if (p > 0.06)
        assert_true(mean <= threshold + 1e-9);
    return p;
}

static void test_clean_groups_alert_as_often_as_promised(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    enum { TRIALS = 2000 };
    const struct {
        size_t n, n_calm;
    } size[] = {{10, 60}, {60, 10}, {40, 40}, {1, 99}};
    for (size_t s = 0; s < 4; s++) {
        size_t alerts = 0;
        for (uint64_t t = 0; t < TRIALS; t++) {
            double score[60], calm[99];
            draw(score, size[s].n, 0, 1000 * t + s);
            draw(calm, size[s].n_calm, 0, 1000 * t + s + 500);
            alerts += p_of(ctx, score, size[s].n, calm, size[s].n_calm, t) <= 0.05;
        }
        /* 5 % of 2000 is 100, with a deviation of 9.7 */
        assert_in_range(alerts, 60, 140);
    }
    graphss_ctx_free(ctx);
}

static void test_a_shifted_group_is_noticed_and_a_lower_one_is_not(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    double score[40], calm[80];
    draw(calm, 80, 0, 1);
    draw(score, 40, 2, 2);
    assert_true(p_of(ctx, score, 40, calm, 80, 1) < 0.01);
    draw(score, 40, -2, 2);
    assert_true(p_of(ctx, score, 40, calm, 80, 1) > 0.99);
    graphss_ctx_free(ctx);
}

static void test_a_tiny_case_is_counted_by_hand(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    /* of the 4 ways to choose the one node, one is as high: p tends to 1 / 4 */
    const double score[] = {5}, calm[] = {1, 2, 3};
    const graphss_alert_options opt = {.false_alarm_rate = 0.05, .draws = 100000};
    double p, threshold;
    assert_ok(ctx, graphss_alert_test(ctx, &p, &threshold, score, 1, calm, 3, 1, &opt));
    assert_float_equal(p, 0.25, 0.01);
    assert_float_equal(graphss_alert_rank(5, calm, 3), 0.25, 1e-12);
    assert_float_equal(graphss_alert_rank(2, calm, 3), 0.75, 1e-12);
    assert_float_equal(graphss_alert_rank(0, calm, 3), 1, 1e-12);
    /* equal scores are no evidence */
    const double same[] = {1, 1}, ones[] = {1, 1, 1};
    assert_ok(ctx, graphss_alert_test(ctx, &p, &threshold, same, 2, ones, 3, 1, NULL));
    assert_float_equal(p, 1, 1e-12);
    graphss_ctx_free(ctx);
}

static void test_what_cannot_be_judged_is_an_error(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    const double x[] = {1, NAN};
    double p = 7, threshold = 7;
    graphss_alert_options opt = graphss_alert_options_default();
    assert_fails(ctx, graphss_alert_test(ctx, &p, &threshold, x, 0, x, 1, 1, &opt),
                 GRAPHSS_ERR_INVALID, "0 scores");
    assert_fails(ctx, graphss_alert_test(ctx, &p, &threshold, x, 1, x, 0, 1, &opt),
                 GRAPHSS_ERR_INVALID, "0 of clean nodes");
    assert_fails(ctx, graphss_alert_test(ctx, &p, &threshold, x, 2, x, 1, 1, &opt),
                 GRAPHSS_ERR_INVALID, "finite");
    opt.false_alarm_rate = 0;
    assert_fails(ctx, graphss_alert_test(ctx, &p, &threshold, x, 1, x, 1, 1, &opt),
                 GRAPHSS_ERR_INVALID, "false-alarm-rate");
    assert_float_equal(p, 7, 0);
    assert_float_equal(threshold, 7, 0);
    graphss_ctx_free(ctx);
}

static graphss_status judge(graphss_ctx *ctx, void *arg)
{
    (void)arg;
    const double x[] = {1, 2, 3};
    double p, threshold;
    return graphss_alert_test(ctx, &p, &threshold, x, 3, x, 2, 1, NULL);
}

static void test_failing_allocations_leave_nothing(void **state)
{
    (void)state;
    testing_each_allocation_fails(judge, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean_groups_alert_as_often_as_promised),
        cmocka_unit_test(test_a_shifted_group_is_noticed_and_a_lower_one_is_not),
        cmocka_unit_test(test_a_tiny_case_is_counted_by_hand),
        cmocka_unit_test(test_what_cannot_be_judged_is_an_error),
        cmocka_unit_test(test_failing_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
