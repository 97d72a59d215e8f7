#include "graph/products.h"
#include "graph/test/testing_random_csr.h"
#include "testing.h"
#include <dirent.h>
#include <signal.h>
#include <sys/time.h>

int omp_get_max_threads(void);
void omp_set_num_threads(int threads);

typedef struct shape {
    size_t m, n, k;
} shape;

static const shape shapes[] = {{1, 1, 1}, {3, 5, 2}, {7, 200, 64}, {200, 7, 333}, {64, 64, 64},
    {513, 17, 31}, {33, 129, 65}, {300, 200, 40}, {200, 15, 700}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void check_gemm(
    graphss_ctx *ctx, graphss_rng *rng, shape s, bool ta, bool tb, float beta)
{
    float *a = random_floats(rng, s.m * s.k), *b = random_floats(rng, s.k * s.n);
    float *c = random_floats(rng, s.m * s.n), *before = random_floats(rng, s.m * s.n);
    memcpy(before, c, s.m * s.n * sizeof *c);
    if (beta == 0)
        c[0] = NAN; /* must be overwritten, not scaled */
    graphss_i_gemm(ctx, c, a, ta, b, tb, s.m, s.n, s.k, beta);
    for (size_t i = 0; i < s.m; i++)
        for (size_t j = 0; j < s.n; j++) {
            double want = beta * before[i * s.n + j], size = fabs(want);
            for (size_t p = 0; p < s.k; p++) {
                const double term = (double)(ta ? a[p * s.m + i] : a[i * s.k + p]) *
                                    (tb ? b[j * s.k + p] : b[p * s.n + j]);
                want += term;
                size += fabs(term);
            }
            if (!(fabs(c[i * s.n + j] - want) <= 2e-6 * size))
                fail_msg("%zu x %zu x %zu, %d%d: [%zu][%zu] is %g, want %g", s.m, s.n, s.k, ta,
                    tb, i, j, c[i * s.n + j], want);
        }
    free(a);
    free(b);
    free(c);
    free(before);
}

TEST(gemm_equals_its_naive_twin)
{
    graphss_rng rng = graphss_rng_make(1, 1);
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    for (size_t t = 0; t < SHAPES; t++)
        for (int way = 0; way < 8; way++)
            check_gemm(ctx, &rng, shapes[t], way & 1, way & 2, way & 4 ? 0.5f : 0);
    graphss_ctx_free(ctx);
}

/* Of every third row, and of the first and the last. */
static void check_rows(graphss_ctx *ctx, graphss_rng *rng, shape s)
{
    float *a = random_floats(rng, s.m * s.k), *b = random_floats(rng, s.k * s.n);
    float *whole = random_floats(rng, s.m * s.n), *some = random_floats(rng, s.m * s.n);
    float *picked = random_floats(rng, s.m * s.k);
    float *room = malloc((graphss_i_gemm_room(s.m, s.n, s.k) + 1) * sizeof *room);
    int32_t *row = malloc(s.m * sizeof *row);
    size_t count = 0;
    for (size_t i = 0; i < s.m; i++)
        if (i % 3 == 1 || i == 0 || i + 1 == s.m) {
            memcpy(picked + count * s.k, a + i * s.k, s.k * sizeof *a);
            row[count++] = (int32_t)i;
        }
    graphss_i_gemm(ctx, whole, a, false, b, false, s.m, s.n, s.k, 0);
    graphss_i_gemm_rows(some, picked, row, count, b, s.m, s.n, s.k, room);
    for (size_t i = 0; i < count; i++)
        assert_memory_equal(some + i * s.n, whole + (size_t)row[i] * s.n, s.n * sizeof *some);
    free(row);
    free(room);
    free(picked);
    free(some);
    free(whole);
    free(b);
    free(a);
}

TEST(some_rows_have_the_bits_of_the_whole)
{
    static const shape tall[] = {{5000, 5, 128}, {20001, 7, 64}, {30, 2, 16}, {2000, 15, 208}};
    graphss_rng rng = graphss_rng_make(2, 1);
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    for (size_t t = 0; t < SHAPES; t++)
        check_rows(ctx, &rng, shapes[t]);
    for (size_t t = 0; t < sizeof tall / sizeof *tall; t++)
        check_rows(ctx, &rng, tall[t]);
    graphss_ctx_free(ctx);
}

TEST(gemm_without_inner_columns_scales)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    float c[4] = {1, 2, 3, 4}, none = 0;
    graphss_i_gemm(ctx, c, &none, false, &none, false, 2, 2, 0, 2);
    assert_true(c[0] == 2 && c[3] == 8);
    graphss_i_gemm(ctx, c, &none, false, &none, false, 2, 2, 0, 0);
    assert_true(c[0] == 0 && c[3] == 0);
    graphss_i_gemm(ctx, c, &none, false, &none, false, 0, 2, 3, 0);
    graphss_i_gemm(ctx, c, &none, false, &none, false, 2, 0, 3, 0);
    graphss_ctx_free(ctx);
}

TEST(gemm_does_not_depend_on_threads)
{
    const shape large[] = {{3000, 200, 300}, {300, 200, 3000}, {3000, 7, 200}, {200, 7, 30000},
        {3000, 200, 7}, {64, 64, 5000}};
    graphss_rng rng = graphss_rng_make(2, 1);
    for (size_t t = 0; t < 6; t++) {
        const shape s = large[t];
        float *a = random_floats(&rng, s.m * s.k), *b = random_floats(&rng, s.k * s.n);
        for (int way = 0; way < 4; way++) {
            float *c[3];
            for (size_t threads = 1; threads <= 3; threads++) {
                graphss_ctx *ctx = testing_ctx(NULL, threads);
                c[threads - 1] = malloc(s.m * s.n * sizeof **c);
                graphss_i_gemm(ctx, c[threads - 1], a, way & 1, b, way & 2, s.m, s.n, s.k, 0);
                graphss_ctx_free(ctx);
            }
            assert_memory_equal(c[0], c[1], s.m * s.n * sizeof **c);
            assert_memory_equal(c[0], c[2], s.m * s.n * sizeof **c);
            for (int j = 0; j < 3; j++)
                free(c[j]);
        }
        free(a);
        free(b);
    }
}

/* Threads of this process. */
static size_t count_threads(void)
{
    DIR *dir = opendir("/proc/self/task");
    if (!dir)
        skip();
    size_t n = 0;
    for (const struct dirent *d = readdir(dir); d; d = readdir(dir))
        n += d->d_name[0] != '.';
    closedir(dir);
    return n;
}

TEST(gemm_starts_no_openmp_team_and_leaves_its_setting)
{
    graphss_rng rng = graphss_rng_make(3, 1);
    const size_t n = 600;
    float *a = random_floats(&rng, n * n), *c = malloc(n * n * sizeof *c);
    omp_set_num_threads(5);
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    graphss_i_gemm(ctx, c, a, false, a, false, n, n, n, 0);
    const size_t before = count_threads();
    for (int round = 0; round < 3; round++)
        graphss_i_gemm(ctx, c, a, false, a, true, n, n, n, 0);
    assert_int_equal(count_threads(), before);
    assert_true(before < 5);
    assert_int_equal(omp_get_max_threads(), 5);
    graphss_ctx_free(ctx);
    free(a);
    free(c);
}

static volatile sig_atomic_t rung;

static void on_alarm(int number)
{
    (void)number;
    rung++;
}

/* A program's handlers run on the stack of whatever they interrupt: none may meet a product
 * that has no stack. */
TEST(signals_do_not_disturb_a_product)
{
    enum { TIMES = 400 };
    const shape s = {600, 200, 300};
    graphss_rng rng = graphss_rng_make(5, 1);
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    float *a = random_floats(&rng, s.m * s.k), *b = random_floats(&rng, s.k * s.n);
    float *c = random_floats(&rng, s.m * s.n), *want = random_floats(&rng, s.m * s.n);
    graphss_i_gemm(ctx, want, a, false, b, false, s.m, s.n, s.k, 0);
    struct sigaction ours = {.sa_handler = on_alarm, .sa_flags = SA_RESTART}, before;
    const struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    assert_int_equal(sigaction(SIGALRM, &ours, &before), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
    for (int i = 0; i < TIMES; i++) {
        graphss_i_gemm(ctx, c, a, false, b, false, s.m, s.n, s.k, 0);
        assert_memory_equal(c, want, s.m * s.n * sizeof *c);
    }
    assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
    assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
    assert_true(rung > 0); /* held back, not lost */
    free(want);
    free(c);
    free(b);
    free(a);
    graphss_ctx_free(ctx);
}

int main(void)
{
    return testing_run();
}
