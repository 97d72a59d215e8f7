/* test_table.c - one table in four formats, and what each must escape. */
#include "lab/report/document.h"
#include "lab/report/runs.h"
#include "testing.h"

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

TEST_CTX(markdown)
{
    made m;
    make(&m, ctx);
    graphss_i_table_markdown(&m.writer, m.table);
    assert_string_equal(m.writer.text,
        "| method | victims, % | difference, points |\n|---|---:|---:|\n"
        "| a\\|b&lt;c&gt;&amp;\"d\" 100 %\\_#{$}~^\\\\, \\*x\\* ? | **65.3 ± 1.3** | −2.3 |\n"
        "| plain | – | +0.5 |\n");
    done(&m);
}

TEST_CTX(latex)
{
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
}

TEST_CTX(csv_keeps_all_digits)
{
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
}

TEST_CTX(html)
{
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
}

TEST_CTX(texts_do_no_harm_where_they_are_opened)
{
    graphss_i_writer csv = {.ctx = ctx}, html = {.ctx = ctx};
    graphss_i_put_csv(&csv, "=1+1");
    assert_string_equal(csv.text, "\"'=1+1\"");
    graphss_i_put_xml(&html, "a\u202eb\xc2\x85<");
    assert_string_equal(html.text, "a[U+202E]b[U+0085]&lt;");
    graphss_i_writer_done(&csv);
    graphss_i_writer_done(&html);
}

TEST_CTX(runs_are_numbers_and_sort_by_the_most)
{
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

/* ---- select ---- */

static void assert_near(double found, double wanted, double slack)
{
    if (!(fabs(found - wanted) <= slack))
        fail_msg("found %.17g, want %.17g", found, wanted);
}

TEST(mean_and_deviation)
{
    const double value[] = {2, 4, NAN, 4, 6};
    const graphss_i_stat s = graphss_i_stat_of(value, 5);
    /* mean 4; squares 4 + 0 + 0 + 4 = 8; 8 / 3 */
    assert_int_equal(s.n, 4);
    assert_near(s.mean, 4, 0);
    assert_near(s.sd, sqrt(8.0 / 3), 1e-15);
    assert_near(s.low, 2, 0);
    assert_near(s.high, 6, 0);
    /* t(0.975, 3) = 3.182 */
    assert_near(graphss_i_stat_half(&s), 3.182 * sqrt(8.0 / 3) / 2, 1e-12);
    const graphss_i_stat one = graphss_i_stat_of(value, 1), none = graphss_i_stat_of(value, 0);
    assert_true(one.n == 1 && one.mean == 2 && isnan(one.sd));
    assert_true(isnan(graphss_i_stat_half(&one)));
    assert_true(none.n == 0 && isnan(none.mean));
}

static const char lines[] =
    "{\"what\":\"defence\",\"dataset\":\"cora\",\"model\":\"gcn\",\"method\":\"graphss\","
    "\"train\":\"evasion\",\"seed\":1,\"metrics\":{\"victims\":0.9,\"victims_before\":0.8}}\n"
    "{\"what\":\"defence\",\"dataset\":\"cora\",\"model\":\"gcn\",\"method\":\"graphss\","
    "\"train\":\"evasion\",\"seed\":2,\"metrics\":{\"victims\":0.7,\"victims_before\":0.6}}\n"
    "{\"what\":\"defence\",\"dataset\":\"cora\",\"model\":\"gcn\",\"method\":\"svd\","
    "\"train\":\"retrain\",\"seed\":2,\"metrics\":{\"victims\":0.4,\"victims_before\":0.6}}\n"
    "{\"what\":\"defence\",\"dataset\":\"cora\",\"model\":\"gcn\",\"method\":\"svd\","
    "\"train\":\"retrain\",\"seed\":1,\"metrics\":{\"victims\":0.5,\"victims_before\":0.8}}\n"
    "{\"what\":\"defence\",\"dataset\":\"cora\",\"model\":\"any\",\"method\":\"mlp\","
    "\"train\":\"retrain\",\"seed\":1,\"metrics\":{\"victims\":0.1}}\n"
    "{\"what\":\"defence\",\"dataset\":\"cora\",\"model\":\"gcn\",\"method\":\"rgcn\","
    "\"train\":\"retrain\",\"seed\":1,\"error\":{\"code\":4,\"message\":\"x\"}}\n"
    "{\"what\":\"budget\",\"dataset\":\"zebra\",\"value\":10}\n"
    "{\"what\":\"budget\",\"dataset\":\"ape\",\"value\":9}\n"
    "{\"what\":\"budget\",\"dataset\":\"citeseer\",\"value\":9}\n";

TEST_CTX(long_names_of_generated_graphs_are_shortened)
{
    static const char two[] =
        "{\"what\":\"alert\",\"dataset\":\"synth:nodes=9\"}\n"
        "{\"what\":\"alert\",\"dataset\":\"cora\"}\n"
        "{\"what\":\"alert\",\"dataset\":\"synth:nodes=3000,degree=5\"}\n"
        "{\"what\":\"alert\",\"dataset\":\"synth:nodes=3000,degree=6\"}\n";
    const char *const five = "synth:nodes=3000,degree=5", *const six =
                                                              "synth:nodes=3000,degree=6";
    graphss_i_runs r = {0};
    assert_ok(ctx, graphss_i_runs_parse(ctx, &r, two, strlen(two), "lines"));
    assert_int_equal(graphss_i_long_names(&r).n, 2);
    assert_string_equal(graphss_i_dataset_name(&r, five), "synth-1");
    assert_string_equal(graphss_i_short_id(&r, six), "synth-2");
    assert_string_equal(graphss_i_dataset_name(&r, "synth:nodes=9"), "synth:nodes=9");
    assert_string_equal(graphss_i_dataset_name(&r, "cora"), "Cora");
    assert_string_equal(graphss_i_short_id(&r, "cora"), "cora");
    graphss_i_runs_destroy(&r);
    const size_t n =
        (size_t)(strstr(two, six) - two) - strlen("{\"what\":\"alert\",\"dataset\":\"");
    assert_ok(ctx, graphss_i_runs_parse(ctx, &r, two, n, "lines"));
    assert_string_equal(graphss_i_dataset_name(&r, five), "synth");
    graphss_i_runs_destroy(&r);
}

static void read_lines(graphss_ctx *ctx, graphss_i_runs *out)
{
    assert_ok(ctx, graphss_i_runs_parse(ctx, out, lines, strlen(lines), "lines"));
}

TEST_CTX(pairs_are_of_the_same_trial)
{
    graphss_i_runs r = {0};
    read_lines(ctx, &r);
    const graphss_i_query ours = {.model = "gcn", .method = "graphss"};
    const graphss_i_query svd = {.model = "gcn", .method = "svd"};
    /* 0.9 - 0.5 and 0.7 - 0.4, not 0.9 - 0.4 and 0.7 - 0.5 */
    const graphss_i_stat d = graphss_i_stat_pairs(&r, &ours, "victims", &svd, "victims");
    assert_int_equal(d.n, 2);
    assert_near(d.mean, 0.35, 1e-12);
    assert_near(d.sd, sqrt(0.005), 1e-12);
    graphss_i_runs_destroy(&r);
}

TEST_CTX(trials_count_once_and_errors_never)
{
    graphss_i_runs r = {0};
    read_lines(ctx, &r);
    const graphss_i_query all = {.what = "defence", .model = "gcn"};
    const graphss_i_stat before = graphss_i_stat_trials(&r, &all, "victims_before");
    assert_int_equal(before.n, 2);
    assert_near(before.mean, 0.7, 1e-12);
    const graphss_i_query failed = {.method = "rgcn"};
    assert_int_equal(graphss_i_runs_count(&r, &failed), 0);
    graphss_i_runs_destroy(&r);
}

TEST_CTX(methods_with_a_network_of_their_own_stand_under_each_classifier)
{
    graphss_i_runs r = {0};
    read_lines(ctx, &r);
    const graphss_i_query gcn = {.what = "defence", .model = "gcn"};
    const graphss_i_variants list = graphss_i_variants_of(&r, &gcn);
    assert_int_equal(list.n, 3);
    assert_string_equal(list.variant[0].name, "MLP");
    assert_string_equal(list.variant[1].name, "GNN-SVD");
    assert_string_equal(list.variant[2].name, "GraphSS");
    const graphss_i_query mlp = {.what = "defence", .model = "gcn", .method = "mlp"};
    assert_int_equal(graphss_i_stat_metric(&r, &mlp, "victims").n, 1);
    const graphss_i_query ours = {.what = "defence", .model = "gcn", .method = "graphss"};
    assert_int_equal(graphss_i_stat_metric(&r, &ours, "victims").n, 2);
    const graphss_i_list models =
        graphss_i_models_of(&r, &(graphss_i_query){.dataset = "cora"});
    assert_int_equal(models.n, 1);
    graphss_i_runs_destroy(&r);
}

TEST_CTX(known_names_come_first_and_numbers_by_size)
{
    graphss_i_runs r = {0};
    read_lines(ctx, &r);
    const graphss_i_query budget = {.what = "budget"};
    const graphss_i_list d = graphss_i_distinct(&r, &budget, GRAPHSS_I_DATASET);
    assert_int_equal(d.n, 3);
    assert_string_equal(d.text[0], "citeseer");
    assert_string_equal(d.text[1], "ape");
    assert_string_equal(d.text[2], "zebra");
    const graphss_i_list v = graphss_i_distinct(&r, &budget, GRAPHSS_I_VALUE);
    assert_int_equal(v.n, 2);
    assert_string_equal(v.text[0], "9");
    graphss_i_runs_destroy(&r);
}

/* n runs, in each 60 % against 50 % of the victims. */
static graphss_i_result duel_of(graphss_ctx *ctx, int n)
{
    char text[2048] = "";
    for (int seed = 1; seed <= n; seed++) {
        const size_t at = strlen(text);
        snprintf(text + at, sizeof text - at,
            "{\"what\":\"defence\",\"method\":\"graphss\",\"seed\":%d,"
            "\"metrics\":{\"victims\":0.6}}\n"
            "{\"what\":\"defence\",\"method\":\"svd\",\"seed\":%d,"
            "\"metrics\":{\"victims\":0.5}}\n",
            seed, seed);
    }
    graphss_i_runs r = {0};
    graphss_i_stat diff;
    graphss_i_score score = {0};
    assert_ok(ctx, graphss_i_runs_parse(ctx, &r, text, strlen(text), "duel"));
    const graphss_i_query cell = {.what = "defence"};
    const graphss_i_variants list = graphss_i_variants_of(&r, &cell);
    assert_int_equal(list.n, 2);
    const graphss_i_variant *ours = graphss_i_ours(&r, &cell, &list);
    assert_true(ours == &list.variant[1]);
    const graphss_i_result who = graphss_i_duel(&r, &cell, ours, &list.variant[0], &diff);
    assert_near(diff.mean, 10, 1e-9);
    assert_int_equal(diff.n, n);
    graphss_i_score_cell(&score, &r, &cell, &list, ours, GRAPHSS_I_RIVAL);
    assert_int_equal(score.count[who], 1);
    assert_int_equal(score.ahead, who == GRAPHSS_I_TOO_FEW);
    assert_int_equal(graphss_i_score_judged(&score), who != GRAPHSS_I_TOO_FEW);
    graphss_i_runs_destroy(&r);
    return who;
}

TEST_CTX(fewer_than_three_runs_are_not_judged)
{
    assert_int_equal(duel_of(ctx, 1), GRAPHSS_I_TOO_FEW);
    assert_int_equal(duel_of(ctx, 2), GRAPHSS_I_TOO_FEW);
    assert_int_equal(duel_of(ctx, 3), GRAPHSS_I_BETTER);
}

TEST(verdicts)
{
    const graphss_i_paper_cell paper = {.mean = 60, .sd = 1};
    assert_string_equal(graphss_i_verdict((graphss_i_stat){62, 1, 0, 0, 5}, &paper), "agrees");
    assert_string_equal(graphss_i_verdict((graphss_i_stat){64, 1, 0, 0, 5}, &paper), "near");
    assert_string_equal(
        graphss_i_verdict((graphss_i_stat){54, NAN, 0, 0, 1}, &paper), "differs");
    assert_string_equal(
        graphss_i_verdict((graphss_i_stat){NAN, NAN, 0, 0, 0}, &paper), "not run");
}

TEST(the_paper_is_read_as_printed)
{
    graphss_i_paper_cell c;
    size_t n = 0, defence = 0, at = 0;
    assert_true(graphss_i_paper_find(&c, "defence", "cora", "gcn", "graphss", "victims"));
    assert_true(c.mean == 65.38 && c.sd == 2.59);
    assert_true(graphss_i_paper_find(&c, "defence", "coauthor_cs", "sage", "none", "victims"));
    assert_true(c.mean == 42.70 && c.sd == 1.10);
    assert_true(graphss_i_paper_find(&c, "runtime", "pubmed", "sgc", "defence", "seconds"));
    assert_true(c.mean == 163.29 && c.sd == 3.28);
    assert_true(graphss_i_paper_find(&c, "runtime", "cora", "", "grand", "seconds"));
    assert_true(c.mean == 53.42);
    assert_true(graphss_i_paper_find(&c, "datasets", "pubmed", "", "", "edges"));
    assert_true(c.mean == 88651 && isnan(c.sd));
    assert_false(graphss_i_paper_find(&c, "defence", "cora", "gcn", "keep-last", "victims"));
    for (; graphss_i_paper_next(&c, &at); n++) {
        defence += !strcmp(c.what, "defence");
        assert_true(isfinite(c.mean) && c.mean > 0);
    }
    assert_int_equal(n, 240);
    assert_int_equal(defence, 5 * 3 * 10);
}

/* Records as they are read: later lines win, broken ones are named. */
static const char two_lines[] =
    "{\"what\":\"defence\",\"dataset\":\"cora\",\"seed\":7,\"set\":2,\"value\":0.5,"
    "\"metrics\":{\"victims\":0.25,\"ece\":null},\"curve\":{\"x\":[0,1],\"y\":[0,\"q\"]},"
    "\"matrix\":{\"before\":[[1,2],[3,4]],\"attacked\":[[1,2],[3]]}}\n"
    "\n"
    "{\"what\":\"alert\",\"error\":{\"code\":4,\"message\":\"no memory\"}}\n";

static graphss_status parse(graphss_ctx *ctx, graphss_i_runs *out, const char *text)
{
    return graphss_i_runs_parse(ctx, out, text, strlen(text), "r.jsonl");
}

TEST_CTX(fields_are_read)
{
    graphss_i_runs r = {0};
    size_t n = 0, k = 0;
    assert_ok(ctx, parse(ctx, &r, two_lines));
    assert_int_equal(r.n, 2);
    assert_string_equal(r.record[0].what, "defence");
    assert_string_equal(r.record[0].dataset, "cora");
    assert_string_equal(r.record[0].model, "");
    assert_string_equal(r.record[0].set, "2");
    assert_string_equal(r.record[0].value_text, "0.5");
    assert_int_equal(r.record[0].seed, 7);
    assert_true(graphss_i_metric(&r.record[0], "victims") == 0.25);
    assert_true(isnan(graphss_i_metric(&r.record[0], "ece")));
    assert_true(isnan(graphss_i_metric(&r.record[0], "nothing")));
    const double *y = graphss_i_numbers(&r.arena, &r.record[0], "curve", "y", &n);
    assert_int_equal(n, 2);
    assert_true(y[0] == 0 && isnan(y[1]));
    const double *m = graphss_i_counts(&r.arena, &r.record[0], "matrix", "before", &k);
    assert_int_equal(k, 2);
    assert_true(m[1] == 2 && m[2] == 3);
    assert_null(graphss_i_counts(&r.arena, &r.record[0], "matrix", "attacked", &k));
    assert_null(r.record[0].error);
    assert_string_equal(r.record[1].error, "no memory");
    assert_int_equal(r.record[1].error_code, 4);
    assert_int_equal(r.record[1].line, 3);
    graphss_i_runs_destroy(&r);
}

TEST_CTX(of_two_lines_of_a_cell_the_later_counts)
{
    graphss_i_runs r = {0};
    assert_ok(ctx, parse(ctx, &r,
                       "{\"what\":\"noise\",\"value\":1,\"metrics\":{\"test\":1}}\n"
                       "{\"what\":\"noise\",\"value\":2,\"metrics\":{\"test\":2}}\n"
                       "{\"what\":\"noise\",\"value\":1,\"metrics\":{\"test\":3}}\n"));
    assert_int_equal(r.n, 2);
    assert_int_equal(r.replaced, 1);
    assert_true(graphss_i_metric(&r.record[0], "test") == 3);
    assert_true(graphss_i_metric(&r.record[1], "test") == 2);
    graphss_i_runs_destroy(&r);
}

TEST_CTX(a_last_line_without_end_is_left_out)
{
    graphss_i_runs r = {0};
    assert_ok(ctx, parse(ctx, &r, "{\"what\":\"alert\"}\n{\"what\":\"ale"));
    assert_int_equal(r.n, 1);
    assert_true(r.cut);
    graphss_i_runs_destroy(&r);
    assert_ok(ctx, parse(ctx, &r, "{\"what\":\"alert\"}")); /* whole, only no line end */
    assert_int_equal(r.n, 1);
    assert_false(r.cut);
    graphss_i_runs_destroy(&r);
    assert_ok(ctx, parse(ctx, &r, ""));
    assert_int_equal(r.n, 0);
    graphss_i_runs_destroy(&r);
}

TEST_CTX(broken_lines_are_named)
{
    static const struct {
        const char *text, *part;
    } list[] = {
        {"{\"what\":\"alert\"}\n{\"what\":\n", "r.jsonl:2:"},
        {"[1]\n", "want a JSON object"},
        {"{\"seed\":1}\n", "no \"what\""},
        {"{\"what\":1}\n", "\"what\" is no text"},
        {"{\"what\":\"a\",\"model\":[]}\n", "\"model\" is no text"},
        {"{\"what\":\"a\",\"seed\":0.5}\n", "\"seed\""},
        {"{\"what\":\"a\",\"metrics\":3}\n", "\"metrics\""},
        {"{\"what\":\"a\",\"format\":2}\n", "\"format\" is not 1"},
        {"{\"what\":\"a\",\"what\":\"b\"}\n", "r.jsonl:1:"},
        {"\xff\n", "r.jsonl:1:"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        graphss_i_runs r = {0};
        assert_fails(ctx, parse(ctx, &r, list[i].text), GRAPHSS_ERR_DATA, list[i].part);
        assert_null(r.record);
    }
}

static graphss_status parse_once(graphss_ctx *ctx, void *arg)
{
    graphss_i_runs r = {0};
    const graphss_status st = parse(ctx, &r, arg);
    if (!st)
        graphss_i_runs_destroy(&r);
    return st;
}

TEST(each_allocation_of_a_selection_may_fail)
{
    static char text[] = "{\"what\":\"alert\",\"set\":1}\n{\"what\":\"noise\"}\n";
    testing_each_allocation_fails(parse_once, text);
}

int main(void)
{
    return testing_run();
}
