#include "graph/blocks.h"
#include "graph/products.h"
#include "graph/test/testing_random_csr.h"
#include "testing.h"

static void assert_same_bits(const float *a, const float *b, size_t n)
{
    assert_memory_equal(a, b, n * sizeof *a);
}

TEST(spmm_and_sddmm_do_not_depend_on_threads)
{
    const size_t ks[] = {1, 7, 16, 64, 200};
    graphss_rng rng = graphss_rng_make(1, 1);
    graphss_i_csr m = random_csr(&rng, 4000, 3000, 10, true, true);
    const size_t nnz = (size_t)m.offset[4000];
    for (size_t t = 0; t < 5; t++) {
        const size_t k = ks[t];
        float *x = random_floats(&rng, 3000 * k), *a = random_floats(&rng, 4000 * k);
        float *y1 = random_floats(&rng, 4000 * k), *d1 = calloc(nnz, sizeof *d1);
        graphss_ctx *one = testing_ctx(NULL, 1);
        graphss_i_spmm(one, y1, &m, x, k);
        graphss_i_sddmm(one, d1, &m, a, x, k);
        for (size_t threads = 2; threads <= 3; threads++) {
            graphss_ctx *more = testing_ctx(NULL, threads);
            float *y = random_floats(&rng, 4000 * k), *d = calloc(nnz, sizeof *d);
            graphss_i_spmm(more, y, &m, x, k);
            graphss_i_sddmm(more, d, &m, a, x, k);
            assert_same_bits(y1, y, 4000 * k);
            assert_same_bits(d1, d, nnz);
            free(y);
            free(d);
            graphss_ctx_free(more);
        }
        for (size_t i = 0; i < 4000; i++) /* every row was written */
            if (m.offset[i] == m.offset[i + 1])
                assert_true(y1[i * k] == 0);
        graphss_ctx_free(one);
        free(x);
        free(a);
        free(y1);
        free(d1);
    }
    random_csr_free(&m);
}

TEST(one_row_may_hold_all_entries)
{
    enum { N = 5000, K = 200 };
    int64_t offset[101];
    int32_t *column = malloc(N * sizeof *column);
    for (int i = 0; i <= 100; i++)
        offset[i] = i > 50 ? N : 0;
    for (int j = 0; j < N; j++)
        column[j] = j;
    graphss_i_csr m = {100, N, offset, column, NULL, true};
    float *x = malloc((size_t)N * K * sizeof *x), *y = malloc(100 * K * sizeof *y);
    for (int j = 0; j < N * K; j++)
        x[j] = 1;
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    graphss_i_spmm(ctx, y, &m, x, K);
    for (int j = 0; j < 100 * K; j++)
        assert_true(y[j] == (j / K == 50 ? N : 0));
    graphss_ctx_free(ctx);
    free(column);
    free(x);
    free(y);
}

TEST(transposed_product_equals_product_with_transpose)
{
    const size_t ks[] = {1, 3, 7, 16, 17, 64, 200, 333};
    graphss_rng rng = graphss_rng_make(2, 1);
    for (size_t t = 0; t < 8; t++)
        for (size_t threads = 1; threads <= 3; threads++) {
            const size_t k = ks[t];
            graphss_ctx *ctx = testing_ctx(NULL, threads);
            graphss_i_csr m = random_csr(&rng, 700, 300, 12, threads > 1, true), mt = {0};
            float *x = random_floats(&rng, 700 * k), *y = calloc(300 * k, sizeof *y);
            float *want = random_floats(&rng, 300 * k);
            graphss_i_spmm_transposed(ctx, y, &m, x, k);
            assert_ok(ctx, graphss_i_csr_transpose(ctx, &mt, &m));
            graphss_i_spmm(ctx, want, &mt, x, k);
            assert_same_bits(y, want, 300 * k);
            graphss_i_csr_destroy(ctx, &mt);
            graphss_ctx_free(ctx);
            random_csr_free(&m);
            free(x);
            free(y);
            free(want);
        }
}

TEST(transposing_twice_gives_the_matrix_back)
{
    graphss_rng rng = graphss_rng_make(3, 1);
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    for (int valued = 0; valued < 2; valued++) {
        graphss_i_csr m = random_csr(&rng, 50, 70, 6, valued, true), t = {0}, tt = {0};
        assert_ok(ctx, graphss_i_csr_transpose(ctx, &t, &m));
        assert_int_equal(t.n_rows, 70);
        assert_int_equal(t.n_cols, 50);
        for (size_t i = 0; i < 70; i++)
            for (int64_t e = t.offset[i]; e + 1 < t.offset[i + 1]; e++)
                assert_true(t.column[e] < t.column[e + 1]);
        assert_ok(ctx, graphss_i_csr_transpose(ctx, &tt, &t));
        assert_memory_equal(m.offset, tt.offset, 51 * sizeof *m.offset);
        assert_memory_equal(m.column, tt.column, (size_t)m.offset[50] * sizeof *m.column);
        assert_true(!m.value == !tt.value);
        if (valued)
            assert_same_bits(m.value, tt.value, (size_t)m.offset[50]);
        graphss_i_csr_destroy(ctx, &t);
        graphss_i_csr_destroy(ctx, &tt);
        random_csr_free(&m);
    }
    graphss_ctx_free(ctx);
}

TEST(empty_matrices_are_fine)
{
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    int64_t none[4] = {0};
    graphss_i_csr nothing = {0}, flat = {0, 5, none, NULL, NULL, true};
    graphss_i_csr tall = {3, 0, none, NULL, NULL, true}, t = {0};
    float y[6] = {1, 1, 1, 1, 1, 1};
    graphss_i_spmm(ctx, NULL, &nothing, NULL, 4);
    graphss_i_spmm(ctx, y, &tall, NULL, 2);
    for (int j = 0; j < 6; j++)
        assert_true(y[j] == 0);
    graphss_i_sddmm(ctx, NULL, &tall, NULL, NULL, 2);
    graphss_i_spmm_transposed(ctx, NULL, &tall, y, 2);
    assert_ok(ctx, graphss_i_csr_transpose(ctx, &t, &flat));
    assert_int_equal(t.n_rows, 5);
    assert_int_equal(t.offset[5], 0);
    graphss_i_csr_destroy(ctx, &t);
    assert_ok(ctx, graphss_i_csr_transpose(ctx, &t, &nothing));
    graphss_i_csr_destroy(ctx, &t);
    graphss_i_csr_destroy(ctx, &nothing);
    graphss_ctx_free(ctx);
}

/* A symmetric pattern, with loops and an empty row; each place found by search. */
TEST(places_are_where_the_transposed_entry_stands)
{
    enum { NODES = 50 };
    graphss_rng rng = graphss_rng_make(6, 1);
    bool joined[NODES][NODES] = {{false}};
    for (int e = 0; e < 200; e++) {
        const size_t a = graphss_rng_below(&rng, NODES - 1);
        const size_t b = graphss_rng_below(&rng, NODES - 1);
        joined[a][b] = joined[b][a] = true;
    }
    int64_t offset[NODES + 1] = {0}, transposed_at[NODES * NODES], next[NODES];
    int32_t column[NODES * NODES];
    for (size_t i = 0; i < NODES; i++) {
        offset[i + 1] = offset[i];
        for (size_t j = 0; j < NODES; j++)
            if (joined[i][j])
                column[offset[i + 1]++] = (int32_t)j;
    }
    const graphss_i_csr m = {NODES, NODES, offset, column, NULL, true};
    graphss_i_csr_transposed_at(transposed_at, next, &m);
    for (int32_t i = 0; i < NODES; i++)
        for (int64_t e = offset[i]; e < offset[i + 1]; e++) {
            int64_t there = offset[column[e]];
            while (column[there] != i)
                there++;
            assert_int_equal(transposed_at[e], there);
        }
}

TEST(transpose_refuses_rows_that_no_column_can_name)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    graphss_i_csr m = {.n_rows = (size_t)INT32_MAX + 1, .n_cols = 1}, t = {0};
    assert_fails(ctx, graphss_i_csr_transpose(ctx, &t, &m), GRAPHSS_ERR_LIMIT, "rows");
    graphss_ctx_free(ctx);
}

static graphss_status transpose(graphss_ctx *ctx, void *arg)
{
    graphss_i_csr t = {0};
    const graphss_status st = graphss_i_csr_transpose(ctx, &t, arg);
    graphss_i_csr_destroy(ctx, &t);
    return st;
}

TEST(each_allocation_may_fail)
{
    graphss_rng rng = graphss_rng_make(5, 1);
    graphss_i_csr m = random_csr(&rng, 20, 30, 4, true, false);
    testing_each_allocation_fails(transpose, &m);
    random_csr_free(&m);
}

/* ---- gemm ---- */

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
    size_t count = 0, *row = malloc(s.m * sizeof *row);
    for (size_t i = 0; i < s.m; i++)
        if (i % 3 == 1 || i == 0 || i + 1 == s.m) {
            memcpy(picked + count * s.k, a + i * s.k, s.k * sizeof *a);
            row[count++] = i;
        }
    graphss_i_gemm(ctx, whole, a, false, b, false, s.m, s.n, s.k, 0);
    graphss_i_gemm(ctx, some, picked, false, b, false, count, s.n, s.k, 0);
    for (size_t i = 0; i < count; i++)
        assert_memory_equal(some + i * s.n, whole + row[i] * s.n, s.n * sizeof *some);
    free(row);
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

/* A panel of n columns, padded with zeros, times rows and columns of a. */
static void check_panel(
    const graphss_i_kernels *kern, graphss_rng *rng, size_t m, size_t n, size_t k, bool add)
{
    const size_t wide = n <= kern->width ? kern->width : 2 * kern->width, apart = n + 3;
    float *a = random_floats(rng, m * k), *b = random_floats(rng, wide * k);
    float *c = random_floats(rng, m * apart), *before = malloc(m * apart * sizeof *before);
    for (int transposed = 0; transposed < 2; transposed++) {
        memcpy(before, c, m * apart * sizeof *c);
        kern->gemm(c, apart, a, transposed ? 1 : k, transposed ? m : 1, b, m, n, k, add);
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < apart; j++) {
                double want = j < n && !add ? 0 : before[i * apart + j], size = fabs(want);
                for (size_t p = 0; p < k && j < n; p++) {
                    const double left = transposed ? a[p * m + i] : a[i * k + p];
                    want += left * b[p * wide + j];
                    size += fabs(left * b[p * wide + j]);
                }
                assert_true(fabs(c[i * apart + j] - want) <= 2e-6 * size);
            }
    }
    free(a);
    free(b);
    free(c);
    free(before);
}

TEST(every_set_multiplies_panels)
{
    graphss_rng rng = graphss_rng_make(6, 1);
    FOR_EACH_SET(kern)
    for (size_t n = 1; n <= 2 * kern->width; n += n < 3 ? 1 : 2)
        for (size_t m = 1; m < 30; m += 4)
            for (int add = 0; add < 2; add++)
                check_panel(kern, &rng, m, n, 1 + m * n % 40, add);
}

/* ---- blocks ---- */

static const size_t widths[] = {1, 7, 8, 16, 33, 104, 208, 211};

static double twin(const graphss_i_csr *m, const float *x, size_t k, size_t column, size_t c)
{
    double sum = 0;
    for (size_t i = 0; i < m->n_rows; i++)
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
            if ((size_t)m->column[e] == column)
                sum += (double)m->value[e] * x[i * k + c];
    return sum;
}

TEST(the_product_equals_its_naive_twin_and_the_other_method_bit_for_bit)
{
    graphss_rng rng = graphss_rng_make(3, 1);
    for (size_t threads = 1; threads <= 2; threads++) {
        graphss_ctx *ctx = testing_ctx(NULL, threads);
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
            const size_t k = widths[w];
            graphss_i_csr m = random_csr(&rng, 4500, 37, 4, true, true);
            float *x = random_floats(&rng, m.n_rows * k);
            float *y = calloc(m.n_cols * k, sizeof *y), *z = calloc(m.n_cols * k, sizeof *z);
            graphss_i_blocks b = {0};
            assert_true(graphss_i_blocks_suit(&m));
            assert_int_equal(graphss_i_blocks_make(ctx, &b, &m), GRAPHSS_OK);
            assert_true(b.n > 2);
            graphss_i_blocks_multiply(ctx, y, &b, 0, m.n_rows, x, k);
            graphss_i_spmm_transposed(ctx, z, &m, x, k);
            assert_memory_equal(y, z, m.n_cols * k * sizeof *y);
            for (size_t j = 0; j < m.n_cols; j += 5)
                assert_true(fabs(y[j * k + k / 2] - twin(&m, x, k, j, k / 2)) < 1e-3);
            graphss_i_blocks_destroy(ctx, &b);
            random_csr_free(&m);
            free(x);
            free(y);
            free(z);
        }
        graphss_ctx_free(ctx);
    }
}

TEST(every_set_multiplies_a_block)
{
    const int32_t offset[] = {0, 2, 2, 3};
    const uint16_t row[] = {0, 2, 1};
    const float value[] = {2, -1, 0.5f};
    graphss_rng rng = graphss_rng_make(4, 1);
    FOR_EACH_SET(kern)
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        const size_t k = widths[w], c0 = k / 4, c1 = k - k / 5;
        float *x = random_floats(&rng, 3 * k), *y = random_floats(&rng, 3 * k);
        float *before = malloc(3 * k * sizeof *before);
        memcpy(before, y, 3 * k * sizeof *y);
        kern->spmm_block(y, offset, row, value, x, k, 3, c0, c1);
        for (size_t j = 0; j < 3; j++)
            for (size_t c = 0; c < k; c++) {
                double want = before[j * k + c];
                for (int32_t e = offset[j]; e < offset[j + 1] && c >= c0 && c < c1; e++)
                    want += (double)value[e] * x[row[e] * k + c];
                assert_true(fabs(y[j * k + c] - want) <= 1e-5);
            }
        free(x);
        free(y);
        free(before);
    }
}

/* As with dropout: fewer entries, and only some rows. */
TEST(blocks_take_other_entries)
{
    enum { K = 24, FROM = 1100, TO = 2000 };
    graphss_rng rng = graphss_rng_make(5, 1);
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    graphss_i_csr m = random_csr(&rng, 3000, 20, 5, true, false), few = m;
    float *x = random_floats(&rng, m.n_rows * K);
    float *y = calloc(m.n_cols * K, sizeof *y), *z = calloc(m.n_cols * K, sizeof *z);
    graphss_i_blocks b = {0};
    assert_int_equal(graphss_i_blocks_make(ctx, &b, &m), GRAPHSS_OK);
    few.offset = calloc(m.n_rows + 1, sizeof *few.offset);
    for (size_t i = FROM; i < m.n_rows; i++) /* the first entry of each row, if there is one */
        few.offset[i + 1] = few.offset[i] + (i < TO && m.offset[i] < m.offset[i + 1]);
    few.column = malloc((size_t)few.offset[m.n_rows] * sizeof *few.column);
    few.value = malloc((size_t)few.offset[m.n_rows] * sizeof *few.value);
    for (size_t i = FROM; i < TO; i++)
        if (few.offset[i] < few.offset[i + 1]) {
            few.column[few.offset[i]] = m.column[m.offset[i]];
            few.value[few.offset[i]] = 2 * m.value[m.offset[i]];
        }
    graphss_i_blocks_fill(ctx, &b, &few, FROM, TO);
    graphss_i_blocks_multiply(ctx, y, &b, FROM, TO, x, K);
    graphss_i_spmm_transposed(ctx, z, &few, x, K);
    assert_memory_equal(y, z, m.n_cols * K * sizeof *y);
    graphss_i_blocks_destroy(ctx, &b);
    random_csr_free(&m);
    free(few.offset);
    free(few.column);
    free(few.value);
    free(x);
    free(y);
    free(z);
    graphss_ctx_free(ctx);
}

TEST(few_entries_for_many_columns_do_not_suit)
{
    graphss_rng rng = graphss_rng_make(6, 1);
    graphss_i_csr wide = random_csr(&rng, 50, 1000000, 2, true, false);
    graphss_i_csr ones = random_csr(&rng, 50, 10, 2, false, false);
    int64_t none = 0;
    const graphss_i_csr empty = {.n_cols = 5, .offset = &none};
    assert_false(graphss_i_blocks_suit(&wide));
    assert_false(graphss_i_blocks_suit(&ones));
    assert_false(graphss_i_blocks_suit(&empty));
    random_csr_free(&wide);
    random_csr_free(&ones);
}

static graphss_status make_once(graphss_ctx *ctx, void *arg)
{
    graphss_i_blocks b = {0};
    const graphss_status st = graphss_i_blocks_make(ctx, &b, arg);
    graphss_i_blocks_destroy(ctx, &b);
    return st;
}

TEST(memory_may_run_out)
{
    graphss_rng rng = graphss_rng_make(7, 1);
    graphss_i_csr m = random_csr(&rng, 100, 10, 4, true, false);
    testing_each_allocation_fails(make_once, &m);
    random_csr_free(&m);
}

int main(void)
{
    return testing_run();
}
