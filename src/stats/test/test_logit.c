/* The conditional logit and its solver. */
#include "stats/logit.h"
#include "testing.h"

enum { N = 4000, K = 4, F = 3, WIDE = GRAPHSS_I_ROW };

typedef struct choices {
    float x[N * K * WIDE], weight[N]; /* beyond column F: values that must be ignored */
    int32_t label[N];
} choices;

/* Labels drawn from exp(w . x), a share of them replaced by another class. */
static choices *make(const double *w, double noise, uint64_t seed)
{
    choices *c = malloc(sizeof *c);
    graphss_rng rng = graphss_rng_make(seed, GRAPHSS_STREAM_SYNTH);
    for (size_t i = 0; i < N; i++) {
        double p[K], left = graphss_rng_double(&rng);
        for (size_t k = 0; k < K; k++)
            for (size_t j = 0; j < WIDE; j++)
                c->x[(i * K + k) * WIDE + j] =
                    j < F ? (float)graphss_rng_normal(&rng) : (float)(1 + i % 5 * k);
        graphss_i_choice_row(p, w, c->x + i * K * WIDE, K, F);
        size_t y = 0;
        while (y + 1 < K && left >= p[y])
            left -= p[y++];
        if (graphss_rng_double(&rng) < noise)
            y = (y + 1 + graphss_rng_below(&rng, K - 1)) % K;
        c->label[i] = (int32_t)y;
        c->weight[i] = 1;
    }
    return c;
}

static graphss_i_choice problem(const choices *c)
{
    return (graphss_i_choice){.x = c->x,
        .n = N,
        .k = K,
        .f = F,
        .label = c->label,
        .weight = c->weight,
        .penalty = 1e-6};
}

TEST_CTX(weights_and_noise_come_back)
{
    const double want[F] = {2.5, -3, 0};
    choices *c = make(want, 0.15, 3);
    graphss_i_choice in = problem(c);
    in.noisy = true;
    double w[F], noise;
    assert_ok(ctx, graphss_i_choice_fit(ctx, w, &noise, &in));
    for (size_t j = 0; j < F; j++)
        assert_float_equal(w[j], want[j], 0.35);
    assert_float_equal(noise, 0.15, 0.03);
    /* without the thought of wrong labels the weights are far too small */
    in.noisy = false;
    assert_ok(ctx, graphss_i_choice_fit(ctx, w, NULL, &in));
    assert_true(w[0] < 1.9);
    free(c);
}

TEST_CTX(the_gradient_is_zero_at_the_fit)
{
    const double truth[F] = {1, -0.5, 0.3};
    choices *c = make(truth, 0, 4);
    const graphss_i_choice in = problem(c);
    double w[F], gradient[F] = {0};
    assert_ok(ctx, graphss_i_choice_fit(ctx, w, NULL, &in));
    for (size_t i = 0; i < N; i++) {
        double p[K];
        graphss_i_choice_row(p, w, c->x + i * K * WIDE, K, F);
        for (size_t k = 0; k < K; k++)
            for (size_t j = 0; j < F; j++)
                gradient[j] += ((int32_t)k == c->label[i] ? 1 - p[k] : -p[k]) *
                               (double)c->x[(i * K + k) * WIDE + j] / N;
    }
    for (size_t j = 0; j < F; j++)
        assert_float_equal(gradient[j], 2e-6 * w[j], 1e-5);
    free(c);
}

TEST_CTX(rising_weights_turn_nothing_round)
{
    const double truth[F] = {2, -2, 0.5};
    choices *c = make(truth, 0, 5);
    graphss_i_choice in = problem(c);
    in.rising = true;
    double w[F];
    assert_ok(ctx, graphss_i_choice_fit(ctx, w, NULL, &in));
    assert_true(w[0] > 0.5);
    assert_float_equal(w[1], 0, 0);
    free(c);
}

TEST(cholesky_solves_and_refuses)
{
    double a[9] = {4, 0, 0, 2, 5, 0, 1, 3, 6}; /* the lower triangle counts */
    const double full[9] = {4, 2, 1, 2, 5, 3, 1, 3, 6}, x[3] = {1, -2, 3};
    double b[3] = {0};
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++)
            b[i] += full[i * 3 + j] * x[j];
    assert_true(graphss_i_cholesky(a, 3));
    graphss_i_cholesky_solve(b, a, 3);
    for (size_t i = 0; i < 3; i++)
        assert_float_equal(b[i], x[i], 1e-12);
    double bad[4] = {1, 0, 2, 1};
    assert_false(graphss_i_cholesky(bad, 2));
}

static graphss_status fit(graphss_ctx *ctx, void *arg)
{
    const graphss_i_choice in = problem(arg);
    double w[F];
    return graphss_i_choice_fit(ctx, w, NULL, &in);
}

TEST(failing_allocations_leave_nothing)
{
    const double truth[F] = {1, 0, 0};
    choices *c = make(truth, 0, 6);
    testing_each_allocation_fails(fit, c);
    free(c);
}

/* ---- multinomial logit ---- */

enum { ROWS = 1500, CLASSES = 3, COLUMNS = 4 };

typedef struct looks {
    float x[ROWS * COLUMNS], weight[ROWS];
    int32_t label[ROWS];
} looks;

/* Labels drawn from exp(w . x); a third of the rows counts double. */
static looks *make_rows(const double *w, uint64_t seed)
{
    looks *c = malloc(sizeof *c);
    graphss_rng rng = graphss_rng_make(seed, GRAPHSS_STREAM_SYNTH);
    for (size_t i = 0; i < ROWS; i++) {
        double p[CLASSES], sum = 0, left = graphss_rng_double(&rng);
        c->x[i * COLUMNS] = 1;
        for (size_t j = 1; j < COLUMNS; j++)
            c->x[i * COLUMNS + j] = (float)graphss_rng_normal(&rng);
        for (size_t r = 0; r < CLASSES; r++) {
            p[r] = 0;
            for (size_t j = 0; j < COLUMNS; j++)
                p[r] += w[r * COLUMNS + j] * (double)c->x[i * COLUMNS + j];
            sum += p[r] = exp(p[r]);
        }
        size_t y = 0;
        while (y + 1 < CLASSES && left >= p[y] / sum)
            left -= p[y++] / sum;
        c->label[i] = (int32_t)y;
        c->weight[i] = i % 3 ? 1 : 2;
    }
    return c;
}

static graphss_i_softmax softmax_problem(const looks *c)
{
    return (graphss_i_softmax){.x = c->x,
        .n = ROWS,
        .f = COLUMNS,
        .k = CLASSES,
        .label = c->label,
        .weight = c->weight,
        .penalty = 1e-3};
}

static const double truth[CLASSES * COLUMNS] = {0, 0, 0, 0, 0.5, 1.5, 0, -1, -0.5, 0, 2, 0};

TEST_CTX(differences_of_weights_come_back)
{
    looks *c = make_rows(truth, 1);
    graphss_i_softmax in = softmax_problem(c);
    in.penalty = 1e-5;
    double w[CLASSES * COLUMNS];
    assert_ok(ctx, graphss_i_softmax_fit(ctx, w, &in));
    for (size_t r = 1; r < CLASSES; r++)
        for (size_t j = 0; j < COLUMNS; j++)
            assert_float_equal(
                w[r * COLUMNS + j] - w[j], truth[r * COLUMNS + j] - truth[j], 0.4);
    free(c);
}

/* The naive gradient of sum_i weight_i loss_i / sum_i weight_i + penalty |w|^2. */
TEST_CTX(the_softmax_gradient_is_zero_at_the_fit)
{
    looks *c = make_rows(truth, 2);
    const graphss_i_softmax in = softmax_problem(c);
    double w[CLASSES * COLUMNS], gradient[CLASSES * COLUMNS] = {0}, total = 0;
    assert_ok(ctx, graphss_i_softmax_fit(ctx, w, &in));
    for (size_t i = 0; i < ROWS; i++)
        total += (double)c->weight[i];
    for (size_t i = 0; i < ROWS; i++) {
        double p[CLASSES], sum = 0;
        for (size_t r = 0; r < CLASSES; r++) {
            p[r] = 0;
            for (size_t j = 0; j < COLUMNS; j++)
                p[r] += w[r * COLUMNS + j] * (double)c->x[i * COLUMNS + j];
            sum += p[r] = exp(p[r]);
        }
        for (size_t r = 0; r < CLASSES; r++)
            for (size_t j = 0; j < COLUMNS; j++)
                gradient[r * COLUMNS + j] += (double)c->weight[i] / total *
                                             (p[r] / sum - (c->label[i] == (int32_t)r)) *
                                             (double)c->x[i * COLUMNS + j];
    }
    for (size_t j = 0; j < CLASSES * COLUMNS; j++)
        assert_float_equal(gradient[j] + 2e-3 * w[j], 0, 2e-3);
    free(c);
}

TEST(threads_change_nothing)
{
    looks *c = make_rows(truth, 3);
    const graphss_i_softmax in = softmax_problem(c);
    double w[2][CLASSES * COLUMNS];
    for (size_t t = 0; t < 2; t++) {
        graphss_ctx *ctx = testing_ctx(NULL, 1 + 2 * t);
        assert_ok(ctx, graphss_i_softmax_fit(ctx, w[t], &in));
        graphss_ctx_free(ctx);
    }
    assert_memory_equal(w[0], w[1], sizeof w[0]);
    free(c);
}

TEST_CTX(a_column_that_is_no_number_is_refused)
{
    looks *c = make_rows(truth, 4);
    c->x[5] = NAN;
    const graphss_i_softmax in = softmax_problem(c);
    double w[CLASSES * COLUMNS];
    assert_fails(ctx, graphss_i_softmax_fit(ctx, w, &in), GRAPHSS_ERR_DATA, "no number");
    free(c);
}

static graphss_status fit_softmax(graphss_ctx *ctx, void *arg)
{
    const graphss_i_softmax in = softmax_problem(arg);
    double w[CLASSES * COLUMNS];
    return graphss_i_softmax_fit(ctx, w, &in);
}

TEST(failing_allocations_of_a_softmax_leave_nothing)
{
    looks *c = make_rows(truth, 5);
    testing_each_allocation_fails(fit_softmax, c);
    free(c);
}

int main(void)
{
    return testing_run();
}
