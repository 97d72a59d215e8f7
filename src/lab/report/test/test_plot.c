/* test_plot.c - what a plot's file holds, and that nothing is left when it cannot be. */
#include "testing.h"

#include "base/base.h"

static const double rising[] = {0.1, 0.2, 0.3};
static const graphss_plot_series one_line = {"a", NULL, rising, 3};

static char *written(graphss_ctx *ctx, const graphss_plot *plot, size_t n_plots)
{
    char path[256];
    testing_temporary(path, sizeof path, "plot.svg");
    char *text = NULL;
    size_t n = 0;
    assert_ok(ctx, graphss_plot_write(ctx, plot, n_plots, path));
    assert_ok(ctx, graphss_i_file_read(ctx, &text, &n, path, 1 << 20));
    unlink(path);
    return text;
}

static size_t count(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        n++;
    return n;
}

static void test_points_land_on_the_corners_of_the_frame(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    const graphss_plot plot = {.series = &one_line, .n_series = 1};
    char *text = written(ctx, &plot, 1);
    /* The frame is 72..696 by 58..266; the middle point lies in its middle. */
    assert_non_null(strstr(text, "d=\"M72.00 266.00h0L384.00 162.00L696.00 58.00\""));
    graphss_release(ctx, text);
    graphss_ctx_free(ctx);
}

static void test_ticks_are_round_numbers(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    const graphss_plot plot = {.series = &one_line, .n_series = 1};
    char *text = written(ctx, &plot, 1);
    assert_non_null(strstr(text, ">0.15<"));
    assert_non_null(strstr(text, ">0.3<"));
    assert_non_null(strstr(text, ">0<"));
    assert_null(strstr(text, "0.30000"));
    graphss_release(ctx, text);
    graphss_ctx_free(ctx);
}

static void test_text_is_escaped_and_broken_bytes_are_replaced(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    const graphss_plot plot = {
        .title = "<b> & \"q\" \xff\x01 \xc3\xa9", .series = &one_line, .n_series = 1};
    char *text = written(ctx, &plot, 1);
    assert_non_null(strstr(text, "&lt;b&gt; &amp; &quot;q&quot; ?? \xc3\xa9</text>"));
    graphss_release(ctx, text);
    graphss_ctx_free(ctx);
}

static void test_series_differ_without_colour(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    const graphss_plot_series two[] = {one_line, {"b", NULL, rising, 3}};
    const graphss_plot plot = {.series = two, .n_series = 2};
    char *text = written(ctx, &plot, 1);
    /* Each once as a line and once in the legend. */
    assert_int_equal(count(text, "stroke-dasharray=\"none\""), 2);
    assert_int_equal(count(text, "stroke-dasharray=\"7 4\""), 2);
    graphss_release(ctx, text);
    graphss_ctx_free(ctx);
}

static void test_values_that_are_not_finite_leave_a_gap(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    const double y[] = {0, NAN, 1, INFINITY, 0};
    const graphss_plot_series line = {NULL, NULL, y, 5};
    const graphss_plot plot = {.series = &line, .n_series = 1};
    char *text = written(ctx, &plot, 1);
    assert_int_equal(count(text, "h0"), 3);
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    graphss_release(ctx, text);
    graphss_ctx_free(ctx);
}

static void test_empty_constant_and_huge_series_are_drawn(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    const double flat[] = {5, 5}, huge[] = {-1.7e308, 1.7e308}, tiny[] = {1, 1 + 1e-15};
    const graphss_plot_series line[] = {
        {0}, {NULL, NULL, flat, 2}, {NULL, NULL, huge, 2}, {NULL, tiny, tiny, 2}};
    graphss_plot plot[5] = {{0}};
    for (size_t i = 0; i < 4; i++)
        plot[i] = (graphss_plot){.series = &line[i], .n_series = 1};
    char *text = written(ctx, plot, 5);
    assert_int_equal(count(text, "<path"), 4);
    assert_non_null(strstr(text, "</svg>\n"));
    graphss_release(ctx, text);
    graphss_ctx_free(ctx);
}

static void test_errors_are_refused(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    const graphss_plot_series broken = {"a", NULL, NULL, 3};
    const graphss_plot plot = {.series = &broken, .n_series = 1};
    const graphss_plot good = {.series = &one_line, .n_series = 1};
    assert_fails(ctx, graphss_plot_write(ctx, &good, 0, "x.svg"), GRAPHSS_ERR_INVALID,
                 "want 1 to 64");
    assert_fails(ctx, graphss_plot_write(ctx, &plot, 1, "x.svg"), GRAPHSS_ERR_INVALID,
                 "has no values");
    assert_fails(ctx, graphss_plot_write(ctx, &good, 1, "/nonexistent/folder/x.svg"),
                 GRAPHSS_ERR_IO, "/nonexistent/folder");
    graphss_ctx_free(ctx);
}

static graphss_status write_and_remove(graphss_ctx *ctx, void *arg)
{
    char path[256];
    testing_temporary(path, sizeof path, "plot-nomem.svg");
    const graphss_status st = graphss_plot_write(ctx, arg, 1, path);
    const bool there = access(path, F_OK) == 0;
    assert_int_equal(there, st == GRAPHSS_OK);
    unlink(path);
    return st;
}

static void test_each_allocation_may_fail(void **state)
{
    (void)state;
    graphss_plot plot = {.series = &one_line, .n_series = 1};
    testing_each_allocation_fails(write_and_remove, &plot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_points_land_on_the_corners_of_the_frame),
        cmocka_unit_test(test_ticks_are_round_numbers),
        cmocka_unit_test(test_text_is_escaped_and_broken_bytes_are_replaced),
        cmocka_unit_test(test_series_differ_without_colour),
        cmocka_unit_test(test_values_that_are_not_finite_leave_a_gap),
        cmocka_unit_test(test_empty_constant_and_huge_series_are_drawn),
        cmocka_unit_test(test_errors_are_refused),
        cmocka_unit_test(test_each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
