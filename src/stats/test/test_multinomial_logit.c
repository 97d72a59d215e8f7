/* Softmax regression between states. */
#include "stats/logit.h"
#include "testing.h"

enum { N = 1500, K = 3, F = 4 };

typedef struct looks {
    float x[N * F], weight[N];
    int32_t label[N];
} looks;

/* Labels drawn from exp(w . x); a third of the rows counts double. */
static looks *make(const double *w, uint64_t seed)
{
    looks *c = malloc(sizeof *c);
    graphss_rng rng = graphss_rng_make(seed, GRAPHSS_STREAM_SYNTH);
    for (size_t i = 0; i < N; i++) {
        double p[K], sum = 0, left = graphss_rng_double(&rng);
        c->x[i * F] = 1;
        for (size_t j = 1; j < F; j++)
            c->x[i * F + j] = (float)graphss_rng_normal(&rng);
        for (size_t r = 0; r < K; r++) {
            p[r] = 0;
            for (size_t j = 0; j < F; j++)
                p[r] += w[r * F + j] * (double)c->x[i * F + j];
            sum += p[r] = exp(p[r]);
        }
        size_t y = 0;
        while (y + 1 < K && left >= p[y] / sum)
            left -= p[y++] / sum;
        c->label[i] = (int32_t)y;
        c->weight[i] = i % 3 ? 1 : 2;
    }
    return c;
}

static graphss_i_softmax problem(const looks *c)
{
    return (graphss_i_softmax){.x = c->x,
        .n = N,
        .f = F,
        .k = K,
        .label = c->label,
        .weight = c->weight,
        .penalty = 1e-3};
}

static const double truth[K * F] = {0, 0, 0, 0, 0.5, 1.5, 0, -1, -0.5, 0, 2, 0};

TEST(differences_of_weights_come_back)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    looks *c = make(truth, 1);
    graphss_i_softmax in = problem(c);
    in.penalty = 1e-5;
    double w[K * F];
    assert_ok(ctx, graphss_i_softmax_fit(ctx, w, &in));
    for (size_t r = 1; r < K; r++)
        for (size_t j = 0; j < F; j++)
            assert_float_equal(w[r * F + j] - w[j], truth[r * F + j] - truth[j], 0.4);
    free(c);
    graphss_ctx_free(ctx);
}

/* The naive gradient of sum_i weight_i loss_i / sum_i weight_i + penalty |w|^2. */
TEST(the_gradient_is_zero_at_the_fit)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    looks *c = make(truth, 2);
    const graphss_i_softmax in = problem(c);
    double w[K * F], gradient[K * F] = {0}, total = 0;
    assert_ok(ctx, graphss_i_softmax_fit(ctx, w, &in));
    for (size_t i = 0; i < N; i++)
        total += (double)c->weight[i];
    for (size_t i = 0; i < N; i++) {
        double p[K], sum = 0;
        for (size_t r = 0; r < K; r++) {
            p[r] = 0;
            for (size_t j = 0; j < F; j++)
                p[r] += w[r * F + j] * (double)c->x[i * F + j];
            sum += p[r] = exp(p[r]);
        }
        for (size_t r = 0; r < K; r++)
            for (size_t j = 0; j < F; j++)
                gradient[r * F + j] += (double)c->weight[i] / total *
                                       (p[r] / sum - (c->label[i] == (int32_t)r)) *
                                       (double)c->x[i * F + j];
    }
    for (size_t j = 0; j < K * F; j++)
        assert_float_equal(gradient[j] + 2e-3 * w[j], 0, 2e-3);
    free(c);
    graphss_ctx_free(ctx);
}

TEST(threads_change_nothing)
{
    looks *c = make(truth, 3);
    const graphss_i_softmax in = problem(c);
    double w[2][K * F];
    for (size_t t = 0; t < 2; t++) {
        graphss_ctx *ctx = testing_ctx(NULL, 1 + 2 * t);
        assert_ok(ctx, graphss_i_softmax_fit(ctx, w[t], &in));
        graphss_ctx_free(ctx);
    }
    assert_memory_equal(w[0], w[1], sizeof w[0]);
    free(c);
}

TEST(a_column_that_is_no_number_is_refused)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    looks *c = make(truth, 4);
    c->x[5] = NAN;
    const graphss_i_softmax in = problem(c);
    double w[K * F];
    assert_fails(ctx, graphss_i_softmax_fit(ctx, w, &in), GRAPHSS_ERR_DATA, "no number");
    free(c);
    graphss_ctx_free(ctx);
}

static graphss_status fit(graphss_ctx *ctx, void *arg)
{
    const graphss_i_softmax in = problem(arg);
    double w[K * F];
    return graphss_i_softmax_fit(ctx, w, &in);
}

TEST(failing_allocations_leave_nothing)
{
    looks *c = make(truth, 5);
    testing_each_allocation_fails(fit, c);
    free(c);
}

int main(void)
{
    return testing_run();
}
