#include "graph/bits.h"
#include "graph/test/testing_random_csr.h"
#include "testing.h"

static bool bit_at(const graphss_i_bits *b, size_t i, size_t j)
{
    return b->word[j / 32 * b->n_rows + i] >> j % 32 & 1;
}

static graphss_i_bits made(graphss_ctx *ctx, const graphss_i_csr *m)
{
    graphss_i_bits b = {0};
    assert_ok(ctx, graphss_i_bits_make(ctx, &b, m));
    return b;
}

static graphss_i_bits transposed(graphss_ctx *ctx, const graphss_i_bits *b)
{
    graphss_i_bits t = {0};
    t.word = graphss_i_alloc(ctx, graphss_i_bits_words(b->n_cols, b->n_rows), sizeof *t.word);
    assert_non_null(t.word);
    graphss_i_bits_transpose(ctx, &t, b, 0, b->n_rows);
    return t;
}

TEST(bits_are_where_entries_are_and_turn_over)
{
    static const size_t shape[][2] = {{1, 1}, {32, 32}, {33, 31}, {5, 100}, {100, 70}};
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    graphss_rng rng = graphss_rng_make(1, 1);
    for (size_t s = 0; s < sizeof shape / sizeof *shape; s++) {
        const size_t n = shape[s][0], d = shape[s][1];
        graphss_i_csr m = random_csr(&rng, n, d, 1 + d / 5, false, true);
        graphss_i_bits b = made(ctx, &m), t = transposed(ctx, &b);
        size_t set = 0;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < d; j++) {
                set += bit_at(&b, i, j);
                assert_int_equal(bit_at(&t, j, i), bit_at(&b, i, j));
            }
        assert_int_equal(set, m.offset[n]);
        for (size_t i = 0; i < n; i++)
            for (int64_t e = m.offset[i]; e < m.offset[i + 1]; e++)
                assert_true(bit_at(&b, i, (size_t)m.column[e]));
        graphss_i_bits_destroy(ctx, &t);
        graphss_i_bits_destroy(ctx, &b);
        random_csr_free(&m);
    }
    graphss_ctx_free(ctx);
}

TEST(rows_of_one_number_suit)
{
    int64_t offset[] = {0, 2, 2, 3};
    int32_t column[] = {0, 2, 1};
    float value[] = {3, 3, -1}, r[3];
    const graphss_i_csr m = {3, 3, offset, column, value, true};
    assert_true(graphss_i_bits_suit(r, &m));
    assert_true(r[0] == 3 && r[1] == 1 && r[2] == -1);
    value[1] = 2;
    assert_false(graphss_i_bits_suit(r, &m));
}

TEST(product_equals_the_sparse_one_on_any_number_of_threads)
{
    enum { N = 2500, D = 150, MEAN = 40 };
    static const size_t ks[] = {1, 7, 16, 64, 200, 208};
    graphss_rng rng = graphss_rng_make(2, 1);
    graphss_ctx *one = testing_ctx(NULL, 1), *two = testing_ctx(NULL, 2);
    graphss_i_csr m = random_csr(&rng, N, D, MEAN, false, true);
    float *r = random_floats(&rng, N);
    m.value = malloc((size_t)m.offset[N] * sizeof *m.value);
    for (size_t i = 0; i < N; i++)
        for (int64_t e = m.offset[i]; e < m.offset[i + 1]; e++)
            m.value[e] = r[i];
    graphss_i_bits b = made(one, &m);
    b.r = r;
    graphss_i_bits t = transposed(one, &b);
    for (size_t q = 0; q < sizeof ks / sizeof *ks; q++) {
        const size_t k = ks[q];
        float *x = random_floats(&rng, D * k), *want = malloc(N * k * sizeof *want);
        float *y = malloc(N * k * sizeof *y), *again = malloc(N * k * sizeof *again);
        graphss_i_spmm(one, want, &m, x, k);
        graphss_i_bits_multiply(one, y, &b, 0, N, x, k);
        graphss_i_bits_multiply(two, again, &b, 0, N / 3, x, k);
        graphss_i_bits_multiply(two, again, &b, N / 3, N, x, k);
        assert_memory_equal(y, again, N * k * sizeof *y);
        for (size_t j = 0; j < N * k; j++)
            assert_true(fabsf(y[j] - want[j]) < 1e-4f * (1 + fabsf(want[j])));
        memset(x, 0, D * k * sizeof *x);
        graphss_i_spmm_transposed(one, x, &m, y, k);
        graphss_i_bits_multiply(one, want, &t, 0, D, y, k); /* D x k of it */
        graphss_i_bits_multiply(two, again, &t, 0, D, y, k);
        assert_memory_equal(want, again, D * k * sizeof *y);
        for (size_t j = 0; j < D * k; j++)
            assert_true(fabsf(want[j] - x[j]) < 1e-3f * (1 + fabsf(x[j])));
        free(x);
        free(y);
        free(want);
        free(again);
    }
    graphss_i_bits_destroy(one, &t);
    graphss_i_bits_destroy(one, &b);
    random_csr_free(&m);
    free(r);
    graphss_ctx_free(one);
    graphss_ctx_free(two);
}

TEST_CTX(a_matrix_without_columns_gives_zeros)
{
    const graphss_i_bits none = {.n_rows = 3};
    float y[6] = {1, 2, 3, 4, 5, 6};
    graphss_i_bits_multiply(ctx, y, &none, 0, 3, NULL, 2);
    for (size_t j = 0; j < 6; j++)
        assert_true(y[j] == 0);
}

static graphss_status make_and_drop(graphss_ctx *ctx, void *arg)
{
    graphss_i_bits b = {0};
    graphss_status st = graphss_i_bits_make(ctx, &b, arg);
    graphss_i_bits_destroy(ctx, &b);
    return st;
}

TEST(each_allocation_may_fail)
{
    graphss_rng rng = graphss_rng_make(3, 1);
    graphss_i_csr m = random_csr(&rng, 10, 10, 3, false, true);
    testing_each_allocation_fails(make_and_drop, &m);
    random_csr_free(&m);
}

int main(void)
{
    return testing_run();
}
