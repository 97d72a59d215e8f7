/* test_table.c - one table in four formats, and what each must escape. */
#include "testing.h"

#include "lab/report/document.h"

typedef struct made {
    graphss_i_arena arena;
    graphss_i_table *table;
    graphss_i_writer writer;
} made;

static const char nasty[] = "a|b<c>&\"d\" 100 %_#{$}~^\\, *x* \xff";

static void make(made *m, graphss_ctx *ctx)
{
    *m = (made){.arena = {.ctx = ctx}, .writer = {.ctx = ctx}};
    m->table = graphss_i_table_new(&m->arena, "id/1", "Title & <co>", "A note");
    graphss_i_add_head(m->table, "method");
    graphss_i_add_column(m->table, "victims", "%", 1, false);
    graphss_i_add_column(m->table, "difference", "points", 1, true);
    graphss_i_add_text(m->table, nasty);
    graphss_i_add_stat(m->table, (graphss_i_stat){65.25, 1.26, 0, 0, 5});
    graphss_i_mark_strong(m->table);
    graphss_i_add_number(m->table, -2.34);
    graphss_i_add_text(m->table, "plain");
    graphss_i_add_number(m->table, NAN);
    graphss_i_add_number(m->table, 0.5);
    assert_int_equal(graphss_i_table_rows(m->table), 2);
}

static void done(made *m)
{
    assert_int_equal(m->writer.status, GRAPHSS_OK);
    graphss_i_writer_done(&m->writer);
    graphss_i_arena_done(&m->arena);
}

TEST(markdown)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    made m;
    make(&m, ctx);
    graphss_i_table_markdown(&m.writer, m.table);
    assert_string_equal(m.writer.text,
        "| method | victims, % | difference, points |\n|---|---:|---:|\n"
        "| a\\|b&lt;c&gt;&amp;\"d\" 100 %\\_#{$}~^\\\\, \\*x\\* ? | **65.3 ± 1.3** | −2.3 |\n"
        "| plain | – | +0.5 |\n");
    done(&m);
    graphss_ctx_free(ctx);
}

TEST(latex)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    made m;
    make(&m, ctx);
    graphss_i_table_latex(&m.writer, m.table);
    assert_non_null(
        strstr(m.writer.text, "a\\textbar{}b\\textless{}c\\textgreater{}\\&\\textquotedbl{}d"
                              "\\textquotedbl{} 100 \\%\\_\\#\\{\\$\\}\\textasciitilde{}"
                              "\\textasciicircum{}\\textbackslash{}, *x* ? & "
                              "\\textbf{65.3 $\\pm$ 1.3} & $-$2.3 \\\\\n"));
    assert_non_null(strstr(m.writer.text, "\\begin{tabular}{lrr}"));
    assert_non_null(strstr(m.writer.text, "plain & -- & +0.5 \\\\"));
    assert_non_null(strstr(m.writer.text, "\\label{tab:id-1}"));
    done(&m);
    graphss_ctx_free(ctx);
}

TEST(csv_keeps_all_digits)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    made m;
    make(&m, ctx);
    graphss_i_table_csv(&m.writer, m.table);
    const char row[] = "\"a|b<c>&\"\"d\"\" 100 %_#{$}~^\\, *x* ?\"";
    char wanted[512];
    snprintf(wanted, sizeof wanted,
        "id/1,%s,victims,%%,65.25,1.26,5,\nid/1,%s,difference,points,-2.34,,,\n"
        "id/1,plain,victims,%%,,,,\nid/1,plain,difference,points,0.5,,,\n",
        row, row);
    assert_string_equal(m.writer.text, wanted);
    done(&m);
    graphss_ctx_free(ctx);
}

TEST(html)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    made m;
    make(&m, ctx);
    graphss_i_table_html(&m.writer, m.table);
    assert_non_null(strstr(m.writer.text, "<table id=\"t-id-1\">"));
    assert_non_null(strstr(m.writer.text, "<caption>Title &amp; &lt;co&gt;"));
    assert_non_null(strstr(m.writer.text, ">a|b&lt;c&gt;&amp;&quot;d&quot; 100"));
    assert_non_null(strstr(m.writer.text, "data-key=\"65.25\" title=\"n = 5\"><strong>65.3"
                                          "<span class=\"sd\"> &plusmn; 1.3</span></strong>"));
    assert_non_null(strstr(m.writer.text, "data-key=\"\"><span><span class=\"none\">"));
    assert_null(strstr(m.writer.text, "\xff"));
    done(&m);
    graphss_ctx_free(ctx);
}

TEST(texts_do_no_harm_where_they_are_opened)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    graphss_i_writer csv = {.ctx = ctx}, html = {.ctx = ctx};
    graphss_i_put_csv(&csv, "=1+1");
    assert_string_equal(csv.text, "\"'=1+1\"");
    graphss_i_put_xml(&html, "a\u202eb\xc2\x85<");
    assert_string_equal(html.text, "a[U+202E]b[U+0085]&lt;");
    graphss_i_writer_done(&csv);
    graphss_i_writer_done(&html);
    graphss_ctx_free(ctx);
}

TEST(runs_are_numbers_and_sort_by_the_most)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    graphss_i_arena arena = {.ctx = ctx};
    graphss_i_writer writer = {.ctx = ctx};
    graphss_i_table *t = graphss_i_table_new(&arena, "t", "t", "");
    graphss_i_add_column(t, "n", "", 0, false);
    graphss_i_add_runs(t, 2, 25);
    graphss_i_add_runs(t, 3, 3);
    graphss_i_table_html(&writer, t);
    assert_non_null(strstr(writer.text, "class=\"num\" data-label=\"n\" data-key=\"25\">"
                                        "<span>2–25</span>"));
    assert_non_null(strstr(writer.text, "data-key=\"3\"><span>3</span>"));
    graphss_i_writer_done(&writer);
    graphss_i_arena_done(&arena);
    graphss_ctx_free(ctx);
}

TEST(numbers_have_fixed_decimals)
{
    static const struct {
        double value;
        int decimals;
        const char *text;
    } list[] = {{0.05, 1, "0.1"}, {-0.04, 1, "0.0"}, {1234.5678, 2, "1234.57"}, {-7, 0, "-7"},
        {NAN, 1, "-"}, {INFINITY, 1, "-"}, {99.95, 1, "100.0"}, {1e300, 1, "1e+300"},
        {0.0999, 3, "0.100"}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char text[64];
        graphss_i_fixed_text(text, sizeof text, list[i].value, list[i].decimals);
        assert_string_equal(text, list[i].text);
    }
}

static graphss_status build(graphss_ctx *ctx, void *arg)
{
    (void)arg;
    graphss_i_arena arena = {.ctx = ctx};
    graphss_i_writer writer = {.ctx = ctx};
    graphss_i_table *t = graphss_i_table_new(&arena, "t", "t", "");
    graphss_i_add_head(t, "x");
    for (int i = 0; i < 2000; i++)
        graphss_i_add_text(t, "text");
    if (!arena.status) {
        graphss_i_table_csv(&writer, t);
        graphss_i_table_html(&writer, t);
    }
    const graphss_status st = arena.status ? arena.status : writer.status;
    graphss_i_writer_done(&writer);
    graphss_i_arena_done(&arena);
    return st;
}

TEST(each_allocation_may_fail)
{
    testing_each_allocation_fails(build, NULL);
}

int main(void)
{
    return testing_run();
}
