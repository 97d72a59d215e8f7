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

int main(void)
{
    return testing_run();
}
