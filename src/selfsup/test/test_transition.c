#include "testing.h"

static void test_warm_up_matrix_of_a_known_case(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    const float prob[4 * 2] = {0.75f, 0.25f, 0.5f, 0.5f, 0, 1, 1, 0};
    const int32_t node[3] = {2, 0, 1}, label[3] = {1, 0, 1};
    double phi[4];
    /* class 0: 0.75 seen as 0, 0.5 as 1; class 1: 0.25 seen as 0, 1.5 as 1 */
    assert_ok(ctx, graphss_transition_warmup(ctx, phi, prob, node, label, 3, 4, 2));
    const double want[4] = {0.6, 0.4, 1.0 / 7, 6.0 / 7};
    for (size_t i = 0; i < 4; i++)
        assert_true(fabs(phi[i] - want[i]) < 1e-12);
    graphss_ctx_free(ctx);
}

static void test_a_class_without_mass_has_a_flat_row(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    const float prob[2] = {1, 0};
    const int32_t node = 0, label = 1;
    double phi[4];
    assert_ok(ctx, graphss_transition_warmup(ctx, phi, prob, &node, &label, 1, 1, 2));
    const double want[4] = {0, 1, 0.5, 0.5};
    assert_memory_equal(phi, want, sizeof want);
    assert_ok(ctx, graphss_transition_warmup(ctx, phi, prob, NULL, NULL, 0, 1, 2));
    for (size_t i = 0; i < 4; i++)
        assert_true(phi[i] == 0.5);
    graphss_ctx_free(ctx);
}

static void test_prior_cells_add_up(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    const double more[9] = {0, 0, 7, 0, 0, 0, 0, 0, 0};
    const graphss_prior prior = {.alpha = 1, .anchor = 100, .diagonal = 0.9, .cell = more};
    double alpha[9];
    assert_ok(ctx, graphss_prior_cells(ctx, alpha, &prior, 3));
    for (size_t t = 0; t < 3; t++)
        for (size_t y = 0; y < 3; y++) {
            const double want = (t == y ? 91 : 6) + more[t * 3 + y];
            assert_true(fabs(alpha[t * 3 + y] - want) < 1e-12);
        }
    const graphss_prior none = {0};
    assert_ok(ctx, graphss_prior_cells(ctx, alpha, &none, 3));
    for (size_t i = 0; i < 9; i++)
        assert_true(alpha[i] > 0);
    graphss_ctx_free(ctx);
}

static void test_counts_leave_silence_out_and_means_follow_them(void **state)
{
    (void)state;
    const int32_t z[5] = {0, 1, 1, -1, 0}, observed[5] = {1, 1, -1, 0, 1};
    double counts[4], phi[4];
    const double alpha[4] = {1, 1, 1, 1};
    graphss_transition_count(counts, z, observed, 5, 2);
    const double want[4] = {0, 2, 0, 1};
    assert_memory_equal(counts, want, sizeof want);
    graphss_transition_mean(phi, alpha, counts, 2);
    const double mean[4] = {0.25, 0.75, 1.0 / 3, 2.0 / 3};
    for (size_t i = 0; i < 4; i++)
        assert_true(fabs(phi[i] - mean[i]) < 1e-15);
    graphss_transition_mean(counts, alpha, counts, 2); /* in place */
    assert_memory_equal(counts, phi, sizeof phi);
    graphss_transition_mean(phi, alpha, NULL, 2);
    for (size_t i = 0; i < 4; i++)
        assert_true(phi[i] == 0.5);
}

static void test_errors_name_what_is_wrong(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    float prob[4] = {0.5f, 0.5f, 0.5f, 0.5f};
    int32_t node[2] = {0, 1}, label[2] = {0, 1};
    double phi[4] = {9, 9, 9, 9};
#define WARMUP graphss_transition_warmup(ctx, phi, prob, node, label, 2, 2, 2)
    node[1] = 2;
    assert_fails(ctx, WARMUP, GRAPHSS_ERR_INVALID, "entry 1 of the list: node 2, want 0 to 1");
    node[1] = -1;
    assert_fails(ctx, WARMUP, GRAPHSS_ERR_INVALID, "node -1");
    node[1] = 1;
    label[0] = 2;
    assert_fails(ctx, WARMUP, GRAPHSS_ERR_INVALID, "node 0: label 2, want 0 to 1");
    label[0] = -1;
    assert_fails(ctx, WARMUP, GRAPHSS_ERR_INVALID, "label -1");
    label[0] = 0;
    prob[3] = NAN;
    assert_fails(ctx, WARMUP, GRAPHSS_ERR_INVALID, "node 1: probability nan of class 1");
    prob[3] = -0.5f;
    assert_fails(ctx, WARMUP, GRAPHSS_ERR_INVALID, "-0.5");
    prob[3] = INFINITY;
    assert_fails(ctx, WARMUP, GRAPHSS_ERR_INVALID, "inf");
    for (size_t i = 0; i < 4; i++)
        assert_true(phi[i] == 9);

    const double cell[4] = {0, 0, -1, 0};
    const graphss_prior bad[] = {
        {.alpha = -1}, {.alpha = NAN}, {.anchor = 1e10}, {.diagonal = 1.5}, {.cell = cell}};
    const char *part[] = {"alpha -1", "alpha nan", "anchor 1e+10", "diagonal 1.5",
                          "cell (1, 0) is -1"};
    for (size_t i = 0; i < 5; i++)
        assert_fails(ctx, graphss_prior_cells(ctx, phi, &bad[i], 2), GRAPHSS_ERR_INVALID,
                     part[i]);
    for (size_t i = 0; i < 4; i++)
        assert_true(phi[i] == 9);
    graphss_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_warm_up_matrix_of_a_known_case),
        cmocka_unit_test(test_a_class_without_mass_has_a_flat_row),
        cmocka_unit_test(test_prior_cells_add_up),
        cmocka_unit_test(test_counts_leave_silence_out_and_means_follow_them),
        cmocka_unit_test(test_errors_name_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
