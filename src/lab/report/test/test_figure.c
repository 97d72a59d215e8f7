/* test_figure.c - axes at round numbers, and panels that hold whatever they are given. */
#include "testing.h"

#include "lab/report/document.h"

static void assert_near(double found, double wanted, double slack)
{
    if (!(fabs(found - wanted) <= slack))
        fail_msg("found %.17g, want %.17g", found, wanted);
}

static char *drawn(graphss_i_writer *writer, const graphss_i_panel *panel, bool alone)
{
    graphss_i_panel_svg(writer, panel, "p", alone);
    assert_int_equal(writer->status, GRAPHSS_OK);
    assert_null(strstr(writer->text, "nan"));
    assert_null(strstr(writer->text, "inf"));
    assert_null(strstr(writer->text, "=\"-\""));
    assert_non_null(strstr(writer->text, "</svg>\n"));
    return writer->text;
}

static size_t count(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        n++;
    return n;
}

static void test_ticks_are_round(void **state)
{
    (void)state;
    char text[32];
    const graphss_i_axis a = graphss_i_axis_of(0.1, 0.95, false, 5);
    assert_int_equal(a.n_ticks, 4);
    assert_true(a.tick[0] == 0.2 && a.tick[3] == 0.8);
    assert_near(graphss_i_axis_at(&a, 0.95), 1, 1e-12);
    const graphss_i_axis log = graphss_i_axis_of(1000, 1e6, true, 5);
    assert_int_equal(log.n_ticks, 4);
    assert_near(graphss_i_axis_at(&log, 1e4), 1.0 / 3, 1e-12);
    graphss_i_tick_text(text, sizeof text, 20000);
    assert_string_equal(text, "20k");
    graphss_i_tick_text(text, sizeof text, 0.25);
    assert_string_equal(text, "0.25");
    static const double odd[][2] = {{5, 5}, {0, 0}, {NAN, 1}, {3, 1}, {-1e308, 1e308}};
    for (size_t i = 0; i < 5; i++) {
        const graphss_i_axis x = graphss_i_axis_of(odd[i][0], odd[i][1], false, 5);
        assert_true(x.low < x.high && x.n_ticks > 0);
        const graphss_i_axis y = graphss_i_axis_of(odd[i][0], odd[i][1], true, 5);
        assert_true(y.low > 0 && y.low < y.high);
    }
}

static void test_lines_differ_without_colour_and_are_named(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    const double x[] = {1, 2, 3}, y[] = {1, 2, 3}, z[] = {1, NAN, 3.01};
    graphss_i_line line[] = {{"one", x, y, y, y, 3}, {"<two>", x, z, NULL, NULL, 3}};
    const graphss_i_panel p = {.kind = GRAPHSS_I_LINES,
                               .title = "t & t",
                               .x_label = "time, s",
                               .y_label = "right, %",
                               .line = line,
                               .n = 2};
    graphss_i_writer writer = {.ctx = ctx};
    const char *svg = drawn(&writer, &p, true);
    assert_int_equal(count(svg, "stroke-dasharray=\"none\""), 1);
    assert_int_equal(count(svg, "stroke-dasharray=\"6 3\""), 1);
    assert_int_equal(count(svg, "class=\"band"), 1);
    assert_int_equal(count(svg, ">&lt;two&gt;<"), 1);
    assert_int_equal(count(svg, "time, s"), 1);
    assert_int_equal(count(svg, "right, %"), 1);
    assert_int_equal(count(svg, "<style>"), 1);
    /* three and two points, and a marker at each name */
    assert_int_equal(count(svg, "class=\"marker c0\""), 4);
    assert_int_equal(count(svg, "class=\"marker c1\""), 3);
    graphss_i_writer_done(&writer);
    graphss_ctx_free(ctx);
}

static void test_bars_have_hatching_whiskers_and_values(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    graphss_i_bar bar[] = {{"ours", 90, 2, 0}, {"last", 80, NAN, 1}, {"absent", NAN, NAN, 2}};
    const graphss_i_panel p = {.kind = GRAPHSS_I_BARS,
                               .title = "t",
                               .x_label = "%",
                               .y_label = "",
                               .bar = bar,
                               .n = 3,
                               .largest = 100,
                               .decimals = 1,
                               .mark = {{"before", 85}, {NULL, 0}}};
    graphss_i_writer writer = {.ctx = ctx};
    const char *svg = drawn(&writer, &p, false);
    assert_int_equal(count(svg, "class=\"whisker\""), 1);
    assert_int_equal(count(svg, "fill:url(#p-1)"), 1);
    assert_int_equal(count(svg, ">90.0 ± 2.0<"), 1);
    assert_int_equal(count(svg, ">not run<"), 1);
    assert_int_equal(count(svg, ">before<"), 1);
    assert_int_equal(count(svg, "<style>"), 0);
    graphss_i_writer_done(&writer);
    graphss_ctx_free(ctx);
}

static void test_heat_maps_are_shaded_by_the_logarithm_and_counted(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    const double matrix[] = {99, 0, NAN, 9};
    const graphss_i_panel p = {.kind = GRAPHSS_I_HEAT,
                               .title = "t",
                               .x_label = "answer",
                               .y_label = "truth",
                               .matrix = matrix,
                               .n = 2};
    graphss_i_writer writer = {.ctx = ctx};
    const char *svg = drawn(&writer, &p, false);
    /* log 10 / log 100 = 0.5 */
    assert_int_equal(count(svg, "fill-opacity=\"1.000\""), 1);
    assert_int_equal(count(svg, "fill-opacity=\"0.500\""), 1);
    assert_int_equal(count(svg, "fill-opacity=\"0.000\""), 2);
    assert_int_equal(count(svg, ">99<"), 1);
    graphss_i_writer_done(&writer);
    graphss_ctx_free(ctx);
}

static void test_empty_and_odd_panels_are_drawn(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    const double x[] = {-1, 0, 1e308, NAN}, y[] = {0, -5, INFINITY, 1};
    graphss_i_line line[20];
    for (size_t i = 0; i < 20; i++)
        line[i] = (graphss_i_line){"a name that is much longer than the panel can be wide, "
                                   "and then some more of it",
                                   x,
                                   y,
                                   NULL,
                                   NULL,
                                   4};
    for (int kind = 0; kind < 3; kind++)
        for (int log = 0; log < 2; log++) {
            graphss_i_panel p = {.kind = (graphss_i_panel_type)kind,
                                 .title = "",
                                 .x_label = "",
                                 .y_label = "",
                                 .log_x = log,
                                 .log_y = log};
            graphss_i_writer writer = {.ctx = ctx};
            drawn(&writer, &p, true);
            graphss_i_writer_done(&writer);
            if (kind == GRAPHSS_I_LINES) {
                p.line = line;
                p.n = 20;
                drawn(&writer, &p, true);
                graphss_i_writer_done(&writer);
            }
        }
    graphss_ctx_free(ctx);
}

static void test_ours_come_first_and_what_has_no_room_is_said(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    graphss_i_arena arena = {.ctx = ctx};
    graphss_i_figure *f = graphss_i_figure_new(&arena, "f", "f", "A note.");
    graphss_i_line line[GRAPHSS_I_LINES_MOST + 2];
    for (size_t i = 0; i < GRAPHSS_I_LINES_MOST + 2; i++)
        line[i] = (graphss_i_line){.name = graphss_i_arena_say(&arena, "m%zu", i)};
    line[GRAPHSS_I_LINES_MOST + 1].name = "GraphSS";
    assert_int_equal(graphss_i_choose_lines(f, &arena, line, GRAPHSS_I_LINES_MOST + 2, "Cora"),
                     GRAPHSS_I_LINES_MOST);
    assert_string_equal(line[0].name, "GraphSS");
    assert_string_equal(line[1].name, "m0");
    assert_string_equal(f->note, "A note. No room in Cora for: m15, m16.");
    assert_int_equal(graphss_i_choose_lines(f, &arena, line, 2, "Cora"), 2);
    graphss_i_arena_done(&arena);
    graphss_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ticks_are_round),
        cmocka_unit_test(test_lines_differ_without_colour_and_are_named),
        cmocka_unit_test(test_bars_have_hatching_whiskers_and_values),
        cmocka_unit_test(test_heat_maps_are_shaded_by_the_logarithm_and_counted),
        cmocka_unit_test(test_empty_and_odd_panels_are_drawn),
        cmocka_unit_test(test_ours_come_first_and_what_has_no_room_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
