/* The conditional logit and what solves it. */
#include "stats/logit.h"
#include "testing.h"

enum { N = 4000, K = 4, F = 3, WIDE = GRAPHSS_I_ROW };

typedef struct choices {
    float x[N * K * WIDE], weight[N]; /* behind column F: what nobody may heed */
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

TEST(weights_and_noise_come_back)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
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
    graphss_ctx_free(ctx);
}

TEST(the_gradient_is_zero_at_the_fit)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
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
    graphss_ctx_free(ctx);
}

TEST(rising_weights_turn_nothing_round)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    const double truth[F] = {2, -2, 0.5};
    choices *c = make(truth, 0, 5);
    graphss_i_choice in = problem(c);
    in.rising = true;
    double w[F];
    assert_ok(ctx, graphss_i_choice_fit(ctx, w, NULL, &in));
    assert_true(w[0] > 0.5);
    assert_float_equal(w[1], 0, 0);
    free(c);
    graphss_ctx_free(ctx);
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

int main(void)
{
    return testing_run();
}
