#include "graph/blocks.h"
#include "graph/test/testing_kernels.h"
#include "graph/test/testing_random_csr.h"
#include "testing.h"

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
            graphss_i_csr m = random_csr(&rng, 2500, 37, 4, true, true);
            float *x = random_floats(&rng, m.n_rows * k);
            float *y = calloc(m.n_cols * k, sizeof *y), *z = calloc(m.n_cols * k, sizeof *z);
            graphss_i_blocks b = {0};
            assert_true(graphss_i_blocks_suit(&m));
            assert_int_equal(graphss_i_blocks_make(ctx, &b, &m), GRAPHSS_OK);
            assert_int_equal(b.n, 3);
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

/* As dropout has it: fewer entries, and of some rows alone. */
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
