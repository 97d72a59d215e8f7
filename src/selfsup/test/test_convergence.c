#include "testing.h"

enum { CHAINS = 4, LENGTH = 2000 };

/* x_t = rho x_t-1 + noise; each chain around its own middle. */
static void make_chains(double *x, double rho, double apart)
{
    for (size_t c = 0; c < CHAINS; c++) {
        graphss_rng rng = graphss_rng_make(7, c + 1);
        double last = graphss_rng_normal(&rng) / sqrt(1 - rho * rho);
        for (size_t i = 0; i < LENGTH; i++) {
            last = rho * last + graphss_rng_normal(&rng);
            x[c * LENGTH + i] = last + apart * (double)c;
        }
    }
}

static void test_a_case_done_by_hand(void **state)
{
    (void)state;
    /* Pieces (1, 3) and (2, 6): means 2 and 4, variances 2 and 8, W = 5, B / n = 2,
     * var+ = 5 / 2 + 2. */
    const double x[5] = {1, 3, 100, 2, 6};
    assert_true(fabs(graphss_trace_r_hat(x, 1, 5) - sqrt(4.5 / 5)) < 1e-12);
}

static void test_independent_draws_count_in_full(void **state)
{
    (void)state;
    static double x[CHAINS * LENGTH];
    make_chains(x, 0, 0);
    assert_true(fabs(graphss_trace_r_hat(x, CHAINS, LENGTH) - 1) < 0.005);
    const double ess = graphss_trace_effective_draws(x, CHAINS, LENGTH);
    assert_true(ess > 0.85 * CHAINS * LENGTH && ess <= CHAINS * LENGTH);
}

static void test_correlated_draws_count_less(void **state)
{
    (void)state;
    static double x[CHAINS * LENGTH];
    make_chains(x, 0.8, 0);
    /* (1 - rho) / (1 + rho) of them */
    const double want = CHAINS * LENGTH / 9.0;
    const double ess = graphss_trace_effective_draws(x, CHAINS, LENGTH);
    assert_true(ess > 0.8 * want && ess < 1.25 * want);
}

static void test_chains_that_disagree_are_seen(void **state)
{
    (void)state;
    static double x[CHAINS * LENGTH];
    make_chains(x, 0, 1);
    assert_true(graphss_trace_r_hat(x, CHAINS, LENGTH) > 1.3);
    assert_true(graphss_trace_effective_draws(x, CHAINS, LENGTH) < 20);
    for (size_t i = 0; i < LENGTH; i++) /* one chain that wanders is seen too */
        x[i] = (double)i;
    assert_true(graphss_trace_r_hat(x, 1, LENGTH) > 1.5);
}

static void test_constants_and_short_traces(void **state)
{
    (void)state;
    double x[16];
    for (size_t i = 0; i < 16; i++)
        x[i] = 3;
    assert_true(graphss_trace_r_hat(x, 2, 8) == 1);
    assert_true(graphss_trace_effective_draws(x, 2, 8) == 16);
    for (size_t i = 8; i < 16; i++)
        x[i] = 4;
    assert_true(isinf(graphss_trace_r_hat(x, 2, 8)));
    assert_true(graphss_trace_effective_draws(x, 2, 8) < 16);
    assert_true(isnan(graphss_trace_r_hat(x, 2, 3)));
    assert_true(isnan(graphss_trace_effective_draws(x, 2, 3)));
    assert_true(isnan(graphss_trace_r_hat(x, 0, 8)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_case_done_by_hand),
        cmocka_unit_test(test_independent_draws_count_in_full),
        cmocka_unit_test(test_correlated_draws_count_less),
        cmocka_unit_test(test_chains_that_disagree_are_seen),
        cmocka_unit_test(test_constants_and_short_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
