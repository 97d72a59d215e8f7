/* test_page.c - the page of one snapshot: it has everything, and no text becomes markup. */
#include "base/base.h"
#include "lab/report/document.h"
#include "testing.h"
#include <graphss_lab/report.h>

static const char *const reasons[] = {"2 links added to <b>x</b>", "1 feature changed: age"};
static const char *const unseen[] = {"labels"};
static const graphss_page_line lines[] = {{"attack", "links & more"}};
static const graphss_page_node nodes[] = {
    {.name = "anna", .perturbed = 0.75, .p_value = NAN, .reason = reasons, .n_reasons = 2},
    {.name = "<script>", .perturbed = NAN, .p_value = 0.5, .label = "bot", .before = "human"}};

static graphss_page sample(void)
{
    return (graphss_page){.title = "Alert: people",
        .verdict = "It looks tampered with.",
        .alarming = true,
        .fact = lines,
        .n_facts = 1,
        .node = nodes,
        .n_nodes = 2,
        .nodes_more = 3,
        .change = lines,
        .n_changes = 1,
        .unseen = unseen,
        .n_unseen = 1,
        .setting = lines,
        .n_settings = 1};
}

TEST_CTX(the_page_holds_all_and_runs_nothing_of_it)
{
    const graphss_page page = sample();
    char path[256], text[40000];
    testing_temporary(path, sizeof path, "page.html");
    assert_ok(ctx, graphss_page_write(ctx, &page, path));
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    unlink(path);
    static const char *const parts[] = {"<title>Alert: people</title>",
        "It looks tampered with.", "links &amp; more",
        "2 links added to &lt;b&gt;x&lt;/b&gt;; 1 feature changed: age", "&lt;script&gt;",
        "bot (classifier: human)", "The first 2 of 5.", "75.0"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(text, parts[i]))
            fail_msg("the page lacks %s", parts[i]);
    assert_null(strstr(text, "<b>x"));
}

TEST_CTX(what_is_not_there_is_refused)
{
    graphss_page page = sample();
    assert_fails(
        ctx, graphss_page_write(ctx, &page, "/nowhere/x.html"), GRAPHSS_ERR_IO, "/nowhere");
    page.node = NULL;
    assert_fails(ctx, graphss_page_write(ctx, &page, "x.html"), GRAPHSS_ERR_INVALID, "nodes");
    assert_fails(ctx, graphss_page_write(ctx, &page, NULL), GRAPHSS_ERR_INVALID, "path");
}

static graphss_status write_page(graphss_ctx *ctx, void *path)
{
    const graphss_page page = sample();
    return graphss_page_write(ctx, &page, path);
}

TEST(each_allocation_may_fail)
{
    char path[256];
    testing_temporary(path, sizeof path, "starved.html");
    testing_each_allocation_fails(write_page, path);
    unlink(path);
}

/* ---- plot ---- */

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

TEST_CTX(points_land_on_the_corners_of_the_frame)
{
    const graphss_plot plot = {.series = &one_line, .n_series = 1};
    char *text = written(ctx, &plot, 1);
    /* The frame is 72..696 by 58..266; the middle point lies in its middle. */
    assert_non_null(strstr(text, "d=\"M72.00 266.00h0L384.00 162.00L696.00 58.00\""));
    graphss_release(ctx, text);
}

TEST_CTX(ticks_are_round_numbers)
{
    const graphss_plot plot = {.series = &one_line, .n_series = 1};
    char *text = written(ctx, &plot, 1);
    assert_non_null(strstr(text, ">0.15<"));
    assert_non_null(strstr(text, ">0.3<"));
    assert_non_null(strstr(text, ">0<"));
    assert_null(strstr(text, "0.30000"));
    graphss_release(ctx, text);
}

TEST_CTX(text_is_escaped_and_broken_bytes_are_replaced)
{
    const graphss_plot plot = {
        .title = "<b> & \"q\" \xff\x01 \xc3\xa9", .series = &one_line, .n_series = 1};
    char *text = written(ctx, &plot, 1);
    assert_non_null(strstr(text, "&lt;b&gt; &amp; &quot;q&quot; ?? \xc3\xa9</text>"));
    graphss_release(ctx, text);
}

TEST_CTX(series_differ_without_colour)
{
    const graphss_plot_series two[] = {one_line, {"b", NULL, rising, 3}};
    const graphss_plot plot = {.series = two, .n_series = 2};
    char *text = written(ctx, &plot, 1);
    /* Each once as a line and once in the legend. */
    assert_int_equal(count(text, "stroke-dasharray=\"none\""), 2);
    assert_int_equal(count(text, "stroke-dasharray=\"7 4\""), 2);
    graphss_release(ctx, text);
}

TEST_CTX(values_that_are_not_finite_leave_a_gap)
{
    const double y[] = {0, NAN, 1, INFINITY, 0};
    const graphss_plot_series line = {NULL, NULL, y, 5};
    const graphss_plot plot = {.series = &line, .n_series = 1};
    char *text = written(ctx, &plot, 1);
    assert_int_equal(count(text, "h0"), 3);
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    graphss_release(ctx, text);
}

TEST_CTX(empty_constant_and_huge_series_are_drawn)
{
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
}

TEST_CTX(errors_are_refused)
{
    const graphss_plot_series broken = {"a", NULL, NULL, 3};
    const graphss_plot plot = {.series = &broken, .n_series = 1};
    const graphss_plot good = {.series = &one_line, .n_series = 1};
    assert_fails(
        ctx, graphss_plot_write(ctx, &good, 0, "x.svg"), GRAPHSS_ERR_INVALID, "want 1 to 64");
    assert_fails(
        ctx, graphss_plot_write(ctx, &plot, 1, "x.svg"), GRAPHSS_ERR_INVALID, "has no values");
    assert_fails(ctx, graphss_plot_write(ctx, &good, 1, "/nonexistent/folder/x.svg"),
        GRAPHSS_ERR_IO, "/nonexistent/folder");
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

TEST(each_allocation_of_a_plot_may_fail)
{
    graphss_plot plot = {.series = &one_line, .n_series = 1};
    testing_each_allocation_fails(write_and_remove, &plot);
}

/* Axes at round numbers, and panels that cope with any values. */
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

TEST(ticks_are_round)
{
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

TEST_CTX(lines_differ_without_colour_and_are_named)
{
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
}

TEST_CTX(bars_have_hatching_whiskers_and_values)
{
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
}

TEST_CTX(heat_maps_are_shaded_by_the_logarithm_and_counted)
{
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
}

TEST_CTX(empty_and_odd_panels_are_drawn)
{
    const double x[] = {-1, 0, 1e308, NAN}, y[] = {0, -5, INFINITY, 1};
    graphss_i_line line[20];
    for (size_t i = 0; i < 20; i++)
        line[i] = (graphss_i_line){"a name that is much longer than the panel can be wide, "
                                   "and then some more of it",
            x, y, NULL, NULL, 4};
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
}

TEST_CTX(ours_come_first_and_what_has_no_room_is_said)
{
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
}

int main(void)
{
    return testing_run();
}
