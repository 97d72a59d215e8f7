/* The gate: a known answer, its gradient, the quiet direction. */
#include "testing.h"

#include "stats/logistic.h"

enum { N = 400, COLUMNS = 3 };

typedef struct rows {
    float x[2 * N * COLUMNS];
    uint8_t hit[2 * N];
    double weight[2 * N];
    size_t from[N], to[N];
} rows;

/* Hits are shifted by `shift` in each column; behind them the first N rows, moved. */
static void make(rows *r, const double *shift, const double *moved)
{
    graphss_rng rng = graphss_rng_make(1, GRAPHSS_STREAM_SYNTH);
    for (size_t i = 0; i < N; i++) {
        r->hit[i] = i % 2;
        r->weight[i] = 1;
        r->from[i] = i;
        r->to[i] = N + i;
        r->hit[N + i] = 0;
        r->weight[N + i] = 0;
        for (size_t j = 0; j < COLUMNS; j++) {
            const double x = graphss_rng_normal(&rng) + (r->hit[i] ? shift[j] : 0);
            r->x[i * COLUMNS + j] = (float)x;
            r->x[(N + i) * COLUMNS + j] = (float)(x + moved[j]);
        }
    }
}

static graphss_i_logistic_rows as_input(const rows *r, double quiet)
{
    return (graphss_i_logistic_rows){.x = r->x,
                                     .n = 2 * N,
                                     .columns = COLUMNS,
                                     .hit = r->hit,
                                     .weight = r->weight,
                                     .penalty = 1e-3,
                                     .quiet_from = r->from,
                                     .quiet_to = r->to,
                                     .n_quiet = N,
                                     .quiet = quiet};
}

/* What is maximised, written once more. */
static double objective(const graphss_i_logistic *logit, const graphss_i_logistic_rows *in)
{
    double value = 0, total = 0, mean = 0;
    for (size_t i = 0; i < in->n; i++) {
        const double odds = graphss_i_logistic_odds(logit, in->x + i * in->columns);
        value -= in->weight[i] * log1p(exp(in->hit[i] ? -odds : odds));
        total += in->weight[i];
    }
    for (size_t i = 0; i < in->n_quiet; i++)
        mean += (graphss_i_logistic_odds(logit, in->x + in->quiet_to[i] * in->columns) -
                 graphss_i_logistic_odds(logit, in->x + in->quiet_from[i] * in->columns)) /
                (double)in->n_quiet;
    for (size_t j = 1; j < 1 + 2 * logit->columns; j++)
        value -= 0.5 * total * in->penalty * logit->w[j] * logit->w[j];
    return value - 0.5 * total * in->quiet * mean * mean;
}

static void test_no_step_from_the_fit_is_uphill(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    static rows r;
    make(&r, (double[]){1, 0.5, 0}, (double[]){1, 0, 0});
    for (double quiet = 0; quiet <= 10; quiet += 10) {
        const graphss_i_logistic_rows in = as_input(&r, quiet);
        graphss_i_logistic logit;
        graphss_i_logistic_measure(&logit, r.x, in.n, COLUMNS);
        assert_ok(ctx, graphss_i_logistic_fit(ctx, &logit, &in));
        const double best = objective(&logit, &in);
        for (size_t j = 0; j < 1 + 2 * COLUMNS; j++)
            for (int sign = -1; sign <= 1; sign += 2) {
                graphss_i_logistic near = logit;
                near.w[j] += 0.02 * sign;
                assert_true(objective(&near, &in) < best);
            }
    }
    graphss_ctx_free(ctx);
}

static void test_the_fit_does_not_depend_on_where_it_starts(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    static rows r;
    make(&r, (double[]){1, 0.5, 0}, (double[]){1, 0, 0});
    const graphss_i_logistic_rows in = as_input(&r, 1);
    graphss_i_logistic logit[2];
    for (size_t g = 0; g < 2; g++) {
        graphss_i_logistic_measure(&logit[g], r.x, in.n, COLUMNS);
        logit[g].w[1] = g ? -1.5 : 0;
        logit[g].w[2] = g ? 0.7 : 0;
        assert_ok(ctx, graphss_i_logistic_fit(ctx, &logit[g], &in));
    }
    for (size_t j = 0; j < 1 + 2 * COLUMNS; j++)
        assert_float_equal(logit[0].w[j], logit[1].w[j], 1e-3);
    graphss_ctx_free(ctx);
}

static void test_a_quiet_direction_moves_nothing_on_average(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    static rows r;
    make(&r, (double[]){1.5, 1.5, 0}, (double[]){1, 0, 0});
    double moved[2] = {0}, apart[2] = {0};
    for (int q = 0; q < 2; q++) {
        const graphss_i_logistic_rows in = as_input(&r, q ? 100 : 0);
        graphss_i_logistic logit;
        graphss_i_logistic_measure(&logit, r.x, in.n, COLUMNS);
        assert_ok(ctx, graphss_i_logistic_fit(ctx, &logit, &in));
        for (size_t i = 0; i < N; i++) {
            const double odds = graphss_i_logistic_odds(&logit, r.x + i * COLUMNS);
            moved[q] += (graphss_i_logistic_odds(&logit, r.x + (N + i) * COLUMNS) - odds) / N;
            apart[q] += (r.hit[i] ? odds : -odds) / N;
        }
    }
    assert_true(moved[0] > 0.5);
    assert_true(fabs(moved[1]) < 0.05);
    assert_true(apart[1] > 0.3); /* what the other columns tell is kept */
    graphss_ctx_free(ctx);
}

static void test_mean_and_spread_are_those_of_the_rows(void **state)
{
    (void)state;
    const float x[] = {1, 10, 3, 10, 5, 10};
    graphss_i_logistic logit;
    graphss_i_logistic_measure(&logit, x, 3, 2);
    assert_float_equal(logit.mean[0], 3, 1e-12);
    assert_float_equal(logit.spread[0], sqrt(8.0 / 3), 1e-6);
    assert_float_equal(logit.mean[1], 10, 1e-12);
    assert_float_equal(graphss_i_logistic_odds(&logit, x), 0, 1e-12);
}

static graphss_status fit(graphss_ctx *ctx, void *arg)
{
    const rows *r = arg;
    const graphss_i_logistic_rows in = as_input(r, 1);
    graphss_i_logistic logit;
    graphss_i_logistic_measure(&logit, r->x, in.n, COLUMNS);
    return graphss_i_logistic_fit(ctx, &logit, &in);
}

static void test_failing_allocations_leave_nothing(void **state)
{
    (void)state;
    static rows r;
    make(&r, (double[]){1, 0, 0}, (double[]){0, 1, 0});
    testing_each_allocation_fails(fit, &r);
}

static void test_columns_are_widened_by_their_squares_and_cut_off(void **state)
{
    (void)state;
    const graphss_i_logistic logit = {
        .columns = COLUMNS, .mean = {1, -2, 0}, .spread = {2, 0.5, 1}};
    for (int step = -40; step <= 40; step++) {
        const float x[COLUMNS] = {(float)step / 2, (float)step / 8, (float)-step};
        double g[1 + 2 * COLUMNS];
        graphss_i_logistic_widen(g, &logit, x);
        assert_true(g[0] == 1);
        for (size_t j = 0; j < COLUMNS; j++) {
            const double z = ((double)x[j] - logit.mean[j]) / logit.spread[j];
            assert_float_equal(g[1 + j], fmax(-5, fmin(5, z)), 1e-12);
            assert_float_equal(g[1 + COLUMNS + j], fmin(9, z * z), 1e-12);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_are_widened_by_their_squares_and_cut_off),
        cmocka_unit_test(test_no_step_from_the_fit_is_uphill),
        cmocka_unit_test(test_the_fit_does_not_depend_on_where_it_starts),
        cmocka_unit_test(test_a_quiet_direction_moves_nothing_on_average),
        cmocka_unit_test(test_mean_and_spread_are_those_of_the_rows),
        cmocka_unit_test(test_failing_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
