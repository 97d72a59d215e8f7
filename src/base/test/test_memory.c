#include "base/base.h"
#include "testing.h"

static void test_blocks_are_aligned_and_counted(void **state)
{
    (void)state;
    testing_memory memory = {0};
    graphss_ctx *ctx = testing_ctx(&memory, 1);
    const long before = memory.blocks;
    float *block = graphss_i_calloc(ctx, 1000, sizeof *block);
    assert_non_null(block);
    assert_int_equal((uintptr_t)block % 64, 0);
    for (size_t i = 0; i < 1000; i++)
        assert_true(block[i] == 0);
    graphss_release(ctx, block);
    assert_int_equal(memory.blocks, before);
    graphss_ctx_free(ctx);
    assert_int_equal(memory.blocks, 0);
}

static void test_a_product_that_overflows_is_out_of_memory(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    assert_null(graphss_i_alloc(ctx, SIZE_MAX / 4, 8));
    assert_int_equal(graphss_ctx_status(ctx), GRAPHSS_ERR_NOMEM);
    graphss_ctx_free(ctx);
}

static void test_growing_keeps_the_contents(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    int *block = graphss_i_alloc(ctx, 3, sizeof *block);
    for (int i = 0; i < 3; i++)
        block[i] = i + 7;
    block = graphss_i_grow(ctx, block, 3, 100, sizeof *block);
    for (int i = 0; i < 3; i++)
        assert_int_equal(block[i], i + 7);
    graphss_release(ctx, block);
    graphss_ctx_free(ctx);
}

static void test_a_large_block_can_be_used_to_its_end(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    const size_t n = ((size_t)33 << 20) + 5;
    char *block = graphss_i_alloc(ctx, n, 1);
    assert_non_null(block);
    block[0] = block[n - 1] = 'x';
    graphss_release(ctx, block);
    graphss_ctx_free(ctx);
}

static void test_a_context_needs_memory(void **state)
{
    (void)state;
    for (long granted = 0; granted < 3; granted++) {
        testing_memory memory = {.left = granted};
        const graphss_ctx_options opt = {
            .struct_size = sizeof opt,
            .allocator = {testing_alloc, testing_release, &memory},
            .threads = 4};
        assert_null(graphss_ctx_new(&opt));
        assert_int_equal(memory.blocks, 0);
    }
}

static void test_errors_carry_their_place(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    assert_string_equal(graphss_ctx_error(ctx), "");
    graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "row %d", 7);
    assert_int_equal(graphss_i_fail_in(ctx, GRAPHSS_ERR_DATA, "file.csv"), GRAPHSS_ERR_DATA);
    assert_string_equal(graphss_ctx_error(ctx), "file.csv: row 7");
    for (int s = GRAPHSS_OK; s <= GRAPHSS_ERR_INTERNAL; s++)
        assert_string_not_equal(graphss_status_text((graphss_status)s), "unknown status");
    graphss_ctx_free(ctx);
}

static bool stop_at_three(void *user, const char *stage, size_t done, size_t total,
                          const char *note)
{
    (void)user, (void)stage, (void)total, (void)note;
    return done < 3;
}

static void test_progress_cancels(void **state)
{
    (void)state;
    const graphss_ctx_options opt = {
        .struct_size = sizeof opt, .progress = stop_at_three, .threads = 1};
    graphss_ctx *ctx = graphss_ctx_new(&opt);
    assert_int_equal(graphss_i_progress(ctx, "walk", 2, 9, NULL), GRAPHSS_OK);
    assert_fails(ctx, graphss_i_progress(ctx, "walk", 3, 9, NULL), GRAPHSS_ERR_CANCELLED,
                 "walk cancelled at 3 of 9");
    graphss_ctx_free(ctx);
}

static void test_the_first_of_the_largest_is_the_top(void **state)
{
    (void)state;
    const double x[] = {-3, 2, 5, 5, -INFINITY};
    const float y[] = {-3, 2, 5, 5, -INFINITY};
    assert_int_equal(graphss_i_top_double(x, 5), 2);
    assert_int_equal(graphss_i_top_double(x, 1), 0);
    assert_int_equal(graphss_i_top(y, 5), 2);
    assert_int_equal(graphss_i_top(y, 2), 1);
}

/* Against a count of them all: lists of no number to 40, of few values, so that many are
 * equal, asked for each value, for what is between, and for what is beyond. */
static void test_numbers_below_another_are_counted(void **state)
{
    (void)state;
    enum { MOST = 40, VALUES = 6 };
    graphss_rng rng = graphss_rng_make(1, 1);
    for (size_t n = 0; n <= MOST; n++) {
        double x[MOST + 1] = {0};
        for (size_t i = 0; i < n; i++)
            x[i] = (double)graphss_rng_below(&rng, VALUES);
        if (n > 8) {
            x[0] = -INFINITY;
            x[1] = INFINITY;
        }
        qsort(x, n, sizeof *x, graphss_i_compare_doubles);
        for (int twice = -3; twice <= 2 * VALUES + 1; twice++) {
            const double asked = twice == -3               ? -INFINITY
                                 : twice == 2 * VALUES + 1 ? INFINITY
                                                           : twice / 2.0;
            size_t less = 0;
            for (size_t i = 0; i < n; i++)
                less += x[i] < asked;
            assert_int_equal(graphss_i_count_less(x, n, asked), less);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_of_the_largest_is_the_top),
        cmocka_unit_test(test_numbers_below_another_are_counted),
        cmocka_unit_test(test_blocks_are_aligned_and_counted),
        cmocka_unit_test(test_a_product_that_overflows_is_out_of_memory),
        cmocka_unit_test(test_growing_keeps_the_contents),
        cmocka_unit_test(test_a_large_block_can_be_used_to_its_end),
        cmocka_unit_test(test_a_context_needs_memory),
        cmocka_unit_test(test_errors_carry_their_place),
        cmocka_unit_test(test_progress_cancels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
