/* Rows of sixteen: each kernel beside its formula in double. */
#include "graph/test/testing_kernels.h"
#include "graph/test/testing_random_csr.h"
#include "kernels/kernels.h"
#include "testing.h"

enum { ROW = GRAPHSS_I_ROW, N = 37, MOST = 20 };
static const size_t classes[] = {1, 2, 3, 7, 15, MOST};
enum { CASES = sizeof classes / sizeof *classes };

static void assert_close(double got, double want, double size, const char *set)
{
    if (!(fabs(got - want) <= 1e-6 * size + 1e-12))
        fail_msg("%s: got %.9g, want %.9g", set, got, want);
}

/* p [k] = softmax of z [k] */
static void softmax_twin(double *p, const double *z, size_t k)
{
    double most = z[0], sum = 0;
    for (size_t c = 1; c < k; c++)
        most = fmax(most, z[c]);
    for (size_t c = 0; c < k; c++)
        sum += p[c] = exp(z[c] - most);
    for (size_t c = 0; c < k; c++)
        p[c] /= sum;
}

/* Whatever the spread: chances down to e^-80 are right but for the rounding of differences,
 * which is up to 4e-6 where they are near 80. */
TEST(softmax_of_rows)
{
    graphss_rng rng = graphss_rng_make(1, 1);
    const float spread[] = {1e-3F, 1, 20};
    FOR_EACH_SET(kern)
    for (size_t s = 0; s < 3; s++)
        for (size_t t = 0; t < CASES; t++) {
            const size_t k = classes[t];
            float *z = random_floats(&rng, N * k), *p = malloc(N * k * sizeof *p);
            for (size_t j = 0; j < N * k; j++)
                p[j] = z[j] *= spread[s];
            kern->softmax(p, k, 1, N - 1);
            for (size_t i = 0; i < N; i++) {
                double in[MOST], want[MOST];
                for (size_t c = 0; c < k; c++)
                    in[c] = (double)z[i * k + c];
                softmax_twin(want, in, k);
                for (size_t c = 0; c < k; c++)
                    if (i == 0 || i == N - 1)
                        assert_true(p[i * k + c] == z[i * k + c]); /* not asked for */
                    else if (want[c] > 1.8e-35)
                        assert_true(fabs((double)p[i * k + c] - want[c]) <= 6e-6 * want[c]);
                    else
                        assert_true(p[i * k + c] >= 0 && p[i * k + c] < 2e-35F);
            }
            free(p);
            free(z);
        }
}

TEST(softmax_at_the_ends)
{
    FOR_EACH_SET(kern)
    {
        float far[4] = {0, -1e30F, -INFINITY, -88}, bad[3] = {0, NAN, 1};
        kern->softmax(far, 4, 0, 1);
        assert_float_equal(far[0], 1, 0);
        for (size_t c = 1; c < 4; c++)
            assert_true(far[c] >= 0 && far[c] < 1e-36F);
        kern->softmax(bad, 3, 0, 1);
        assert_true(isnan(bad[0]) && isnan(bad[1]) && isnan(bad[2]));
    }
}

static void choice_twin(double *p, const float *w, const float *x, size_t k)
{
    double z[MOST];
    for (size_t c = 0; c < k; c++) {
        z[c] = 0;
        for (size_t j = 0; j < ROW; j++)
            z[c] += (double)w[j] * (double)x[c * ROW + j];
    }
    softmax_twin(p, z, k);
}

TEST(choice_and_what_bends_it)
{
    const double least = 0.02;
    graphss_rng rng = graphss_rng_make(2, 1);
    FOR_EACH_SET(kern)
    for (size_t t = 0; t < CASES; t++) {
        const size_t k = classes[t];
        float *w = random_floats(&rng, ROW), *x = random_floats(&rng, N * k * ROW);
        float *left = random_floats(&rng, N * k), *weight = random_floats(&rng, N);
        float p[N * MOST], gradient[ROW], hessian[ROW * ROW];
        double g[ROW] = {0}, h[ROW * ROW] = {0}, g_size = 0, h_size = 0;
        kern->choice(p, w, x, N, k);
        for (size_t i = 0; i < N; i++) {
            double want[MOST], mean[ROW] = {0};
            const float *row = x + i * k * ROW;
            choice_twin(want, w, row, k);
            for (size_t c = 0; c < k; c++) {
                assert_close((double)p[i * k + c], want[c], 4, kern->name);
                for (size_t j = 0; j < ROW; j++)
                    mean[j] += (double)p[i * k + c] * (double)row[c * ROW + j];
            }
            for (size_t c = 0; c < k; c++)
                for (size_t j = 0; j < ROW; j++) {
                    const double d = (double)row[c * ROW + j] - mean[j];
                    const double term = (double)left[i * k + c] * (double)row[c * ROW + j];
                    g[j] += term;
                    g_size += fabs(term);
                    for (size_t l = 0; l < ROW && (double)p[i * k + c] >= least; l++) {
                        const double square = (double)weight[i] * (double)p[i * k + c] * d *
                                              ((double)row[c * ROW + l] - mean[l]);
                        h[j * ROW + l] += square;
                        h_size += fabs(square);
                    }
                }
        }
        kern->choice_bend(gradient, hessian, x, p, left, weight, N, k, (float)least);
        for (size_t j = 0; j < ROW; j++)
            assert_close((double)gradient[j], g[j], g_size, kern->name);
        for (size_t j = 0; j < ROW * ROW; j++)
            assert_close((double)hessian[j], h[j], h_size, kern->name);
        free(weight);
        free(left);
        free(x);
        free(w);
    }
}

/* Every state is a choice with weights of its own; columns behind f are not read. */
TEST(choices_of_sixteen_states)
{
    graphss_rng rng = graphss_rng_make(3, 1);
    FOR_EACH_SET(kern)
    for (size_t t = 0; t < CASES; t++)
        for (size_t f = 1; f <= ROW; f += 5) {
            const size_t k = classes[t];
            float *w = random_floats(&rng, ROW * ROW), *x = random_floats(&rng, k * ROW);
            float p[MOST * ROW];
            for (size_t c = 0; c < k; c++)
                for (size_t j = f; j < ROW; j++)
                    x[c * ROW + j] = NAN;
            kern->choices(p, w, x, k, f);
            for (size_t s = 0; s < ROW; s++) {
                double z[MOST], want[MOST];
                for (size_t c = 0; c < k; c++) {
                    z[c] = 0;
                    for (size_t j = 0; j < f; j++)
                        z[c] += (double)x[c * ROW + j] * (double)w[j * ROW + s];
                }
                softmax_twin(want, z, k);
                for (size_t c = 0; c < k; c++)
                    assert_close((double)p[c * ROW + s], want[c], 4, kern->name);
            }
            free(x);
            free(w);
        }
}

TEST(a_row_times_a_matrix)
{
    graphss_rng rng = graphss_rng_make(4, 1);
    FOR_EACH_SET(kern)
    for (size_t f = 0; f < 90; f += 11)
        for (size_t m = ROW; m <= 3 * ROW; m += ROW) {
            float *w = random_floats(&rng, (f + 1) * m), *x = random_floats(&rng, f + 1);
            float y[3 * ROW];
            kern->row_times(y, x, w, f, m);
            for (size_t c = 0; c < m; c++) {
                double want = 0, size = 0;
                for (size_t j = 0; j < f; j++) {
                    want += (double)x[j] * (double)w[j * m + c];
                    size += fabs((double)x[j] * (double)w[j * m + c]);
                }
                assert_close((double)y[c], want, size, kern->name);
            }
            free(x);
            free(w);
        }
}

int main(void)
{
    return testing_run();
}
