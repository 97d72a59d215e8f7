/* test_report.c - whole reports from report/ of tests/data.tar.xz, whose records are made up.
 */
#include "testing.h"

#include <sys/stat.h>

#include "base/base.h"

static const char folder[] = GRAPHSS_SEEDS "/data/report";

static char *report_as(graphss_ctx *ctx, const char *ending, graphss_report_summary *summary)
{
    char path[256], *text = NULL;
    size_t n = 0;
    testing_temporary(path, sizeof path, ending);
    assert_ok(ctx, graphss_report_write(ctx, summary, folder, path, NULL));
    assert_ok(ctx, graphss_i_file_read(ctx, &text, &n, path, 1 << 24));
    unlink(path);
    return text;
}

TEST_CTX(the_page_is_whole_and_asks_for_nothing)
{
    graphss_report_summary made = {0};
    char *page = report_as(ctx, "report.html", &made);
    assert_int_equal(made.errors, 1);
    assert_true(made.cells == 44 && made.tables > 10 && made.plots > 8);
    assert_non_null(strstr(page, "default-src 'none'"));
    assert_null(strstr(page, "src=\""));
    assert_null(strstr(page, "@import"));
    assert_null(strstr(page, "url(http"));
    /* "xmlns" names the format and is no request */
    for (const char *at = strstr(page, "http"); at; at = strstr(at + 1, "http"))
        assert_true(
            !strncmp(at, "http-equiv", 10) || !strncmp(at, "http://www.w3.org/2000/svg", 26));
    assert_non_null(strstr(page, "prefers-color-scheme:dark"));
    assert_non_null(strstr(page, "</html>\n"));
    /* a message of an error, with everything that means something to HTML */
    assert_non_null(strstr(page, "&lt;b&gt; &amp; &quot;quotes&quot;"));
    assert_null(strstr(page, "<b>"));
    graphss_release(ctx, page);
}

TEST_CTX(markdown_says_what_was_found_and_what_is_missing)
{
    char *page = report_as(ctx, "report.md", NULL);
    /* (66 + 64 + 68) / 3 = 66.0, sd 2; the paper has 65.38 +- 2.59 */
    assert_non_null(strstr(page, "| GCN | GraphSS | before | 3 | 66.0 ± 2.0 | 65.4 ± 2.6 | "
                                 "+0.6 | agrees |"));
    /* before the attack: 80, 82, 84; the paper has 81.46 +- 0.89 */
    assert_non_null(
        strstr(page, "| GCN | before the attack | – | 3 | 82.0 ± 2.0 | 81.5 ± 0.9 | +0.5 |"));
    /* jaccard 60, 62, 64 of the same victims: +6, +2, +4; half width 4.303 * 2 / sqrt 3 = 5 */
    assert_non_null(strstr(page, "| GNN-Jaccard | 1 | 0 | 1 | 0 | 0 | 0 | +4.0 | +4.0 |"));
    assert_non_null(strstr(page, "| undefended | 1 | 1 | 0 | 0 | 0 | 0 | +44.0 | +44.0 |"));
    assert_non_null(
        strstr(page, "| paper, seen | 1 | 3 | 82.0 | 22.0 | 62.0 | 66.0 | +1.0 | 2 "
                     "| 1 | 0 | 0 | 0 |"));
    assert_non_null(
        strstr(page, "links changed per victim 1 → 2: GraphSS 40.0 → 30.0 % of the "
                     "victims right (2 runs)."));
    assert_non_null(strstr(page, "Not run: Label noise, Scale."));
    assert_null(strstr(page, "## Scale"));
    char command[512];
    snprintf(
        command, sizeof command, "    graphss reproduce all --datasets cora -o %s\n", folder);
    assert_non_null(strstr(page, command));
    assert_non_null(strstr(page, "1 cell ended in an error"));
    /* 22.75 s in the paper, 2.275 s here */
    assert_non_null(strstr(page, "| 2.28 | 22.75 ± 0.65 | −20.48 | 10.0 |"));
    /* a quarter of the p-values is at most 0.05 */
    assert_non_null(strstr(page, "| Cora | 1 | 4 | 0.0 | 25.0 | 25.0 | 25.0 | 75.0 |"));
    graphss_release(ctx, page);
}

TEST_CTX(attackers_are_listed_with_the_harm_done)
{
    char *page = report_as(ctx, "report.md", NULL);
    /* in the order of the recipe: nobody first, although it came later */
    const char *nobody = strstr(page, "| nobody | nobody | 1 | 80.0 | 80.0 | – | 80.0 | 0.0 | "
                                      "– | – | 80.0 | 80.0 | none | 1.0 |  |\n");
    /* gains 30 and 40 of 60 and 60 points: 35 / 60; others -2 and -1 */
    const char *links =
        strstr(page, "| 3 links | rehearsed | 2 | 80.0 ± 14.1 | 20.0 ± 14.1 | – | 55.0 ± 7.1 "
                     "| +35.0 | 1.0 | 58 | 80.0 ± 0.0 | 78.5 ± 0.7 | links (1), copied (1) | "
                     "21.0 | others −1.5 |\n");
    assert_non_null(nobody);
    assert_non_null(links);
    assert_true(nobody < links);
    assert_non_null(strstr(page, "| DICE | 80.0 | **70.0** | 50.0 |\n"));
    /* methods and harm are judged separately: another method leads under DICE, others are
     * harmed by the links */
    assert_non_null(
        strstr(page, "| honest, new | unrehearsed | 1 | 1 | 40.0 | 70.0 | 50.0 | 25 "
                     "| 0 | 1 | +10.0 | DICE on Cora | 0 |\n"));
    assert_non_null(strstr(page, "| honest, new | rehearsed | 1 | 2 | 20.0 | 20.0 | 55.0 | 58 "
                                 "| 1 | 1 | +35.0 | 3 links on Cora | 1 |\n"));
    graphss_release(ctx, page);
}

TEST_CTX(the_three_answers_stand_first)
{
    char *page = report_as(ctx, "report.md", NULL);
    const char *found = strstr(page, "## What was found");
    const char *first = strstr(page,
        "* **Does the paper reproduce?** Yes, as far as it was run: GraphSS's own row: 1 of 1 "
        "agree, 0 within five points, 0 differ (in the mean +0.6 "
        "points, most +0.6 in Cora GCN). All of its Table 2: of "
        "150 cells 4 were run; 4 agree");
    assert_true(first && first < found);
    assert_non_null(
        strstr(first, "rivals and the trivial baselines?** Our protocol: against the "
                      "trivial baselines better in 2 of 2 comparisons"));
    /* the leading rival, then the nodes that were not attacked: worst first */
    assert_non_null(
        strstr(first, "Our protocol: 2 in 6 cells, worst GNN-Jaccard under DICE on "
                      "Cora GCN, setting new (−20.0 points, 1 run); undefended for "
                      "nodes that are no victims under 3 links on Cora GCN, "
                      "setting new (−1.5 points, 2 runs). The paper's protocol: "
                      "nowhere in 1 cell.\n"));
    assert_non_null(
        strstr(page, "| honest, new | Attackers | DICE | Cora | GCN | GNN-Jaccard | "
                     "victims | 1 | −20.0 |\n| honest, new | Attackers | 3 links |"));
    graphss_release(ctx, page);
}

/* A report of one record shows it, and lists in its last line what is missing. */
TEST_CTX(a_partial_report_has_no_empty_parts)
{
    static const char record[] =
        "{\"what\":\"alert\",\"mode\":\"honest\",\"setting\":\"new\",\"dataset\":\"cora\","
        "\"model\":\"gcn\",\"method\":\"alert\",\"seed\":1,\"metrics\":{\"auc\":0.9},"
        "\"groups\":{\"p_value\":[0.15,0.5],\"attacked\":[0,0]},"
        "\"repeat\":{\"options\":{\"alert\":{\"false-alarm-rate\":0.2}}}}\n";
    char from[256], path[256], *page = NULL;
    size_t n = 0, headings = 0;
    testing_temporary(from, sizeof from, "one.jsonl");
    testing_temporary(path, sizeof path, "one.md");
    FILE *file = fopen(from, "w");
    assert_non_null(file);
    assert_true(fputs(record, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_ok(ctx, graphss_report_write(ctx, NULL, from, path, NULL));
    assert_ok(ctx, graphss_i_file_read(ctx, &page, &n, path, 1 << 20));
    for (const char *at = page; (at = strstr(at, "\n## ")); at++)
        headings++;
    assert_int_equal(headings, 3); /* found, alert, run */
    assert_non_null(strstr(page, "Not run: Datasets, Defence, Attackers, Runtime,"));
    /* at the requested rate, 0.2, one of two groups is a false alarm */
    assert_non_null(strstr(page, "| honest, new | 1 | 1 | 0.900 | – | 2 | 50.0 |"));
    assert_non_null(strstr(page, "raise an alarm at p ≤ 0.2 and"));
    graphss_release(ctx, page);
    unlink(from);
    unlink(path);
}

TEST_CTX(modes_and_settings_are_never_mixed)
{
    char *page = report_as(ctx, "report.md", NULL);
    /* honest GraphSS is two points above that of paper mode: 68.0, and no paper beside it */
    assert_non_null(strstr(page, "| GCN | GraphSS | before | 3 | 68.0 ± 2.0 | 86.0 ± 0.0 |"));
    assert_null(strstr(page, "67.0 ± "));
    assert_non_null(strstr(page, "### Defence, paper mode, setting seen"));
    assert_non_null(strstr(page, "### Defence, honest mode, setting new"));
    graphss_release(ctx, page);
}

TEST_CTX(latex_and_csv_hold_the_tables)
{
    graphss_report_summary made = {0};
    char *tex = report_as(ctx, "tables.tex", &made);
    char *csv = report_as(ctx, "tables.csv", NULL);
    size_t begun = 0, ended = 0;
    for (const char *at = tex; (at = strstr(at, "\\begin{table}")); at++)
        begun++;
    for (const char *at = tex; (at = strstr(at, "\\end{table}")); at++)
        ended++;
    assert_int_equal(begun, made.tables);
    assert_int_equal(ended, made.tables);
    assert_non_null(strstr(tex, "\\_under\\_ 100 \\%"));
    assert_non_null(
        strstr(csv, "defence-paper-seen-cora-all,GCN / GraphSS,paper,%,65.38,2.59,"));
    graphss_release(ctx, csv);
    graphss_release(ctx, tex);
}

TEST_CTX(plots_become_files)
{
    char path[256], plots[256], command[600], *text = NULL;
    size_t n = 0;
    testing_temporary(path, sizeof path, "plots.md");
    testing_temporary(plots, sizeof plots, "plots");
    const size_t top = strlen(plots);
    snprintf(plots + top, sizeof plots - top, "/below"); /* made with the folder it is in */
    const graphss_report_options opt = {.struct_size = sizeof opt, .plots = plots};
    assert_ok(ctx, graphss_report_write(ctx, NULL, folder, path, &opt));
    snprintf(command, sizeof command, "%s/fig-matrix-honest-new-cora-gcn-3.svg", plots);
    assert_ok(ctx, graphss_i_file_read(ctx, &text, &n, command, 1 << 20));
    assert_non_null(strstr(text, "<style>"));
    graphss_release(ctx, text);
    assert_ok(ctx, graphss_i_file_read(ctx, &text, &n, path, 1 << 24));
    /* relative to the page: without the page's own folder */
    snprintf(
        command, sizeof command, "](%s/fig-matrix", plots + (strrchr(path, '/') - path) + 1);
    assert_non_null(strstr(text, command));
    graphss_release(ctx, text);
    plots[top] = '\0';
    snprintf(command, sizeof command, "rm -r '%s' '%s'", plots, path);
    assert_int_equal(system(command), 0);
}

TEST_CTX(errors_leave_nothing_behind)
{
    char path[256];
    testing_temporary(path, sizeof path, "none.html");
    assert_fails(ctx, graphss_report_write(ctx, NULL, folder, "report.pdf", NULL),
        GRAPHSS_ERR_INVALID, "want a name that ends in .html, .md, .tex or .csv");
    assert_fails(ctx, graphss_report_write(ctx, NULL, "/nowhere", path, NULL),
        GRAPHSS_ERR_NOT_FOUND, "/nowhere");
    assert_fails(ctx, graphss_report_write(ctx, NULL, folder, "/nowhere/r.html", NULL),
        GRAPHSS_ERR_IO, "/nowhere");
    const graphss_report_options opt = {.struct_size = sizeof opt, .plots = "/dev/null/plots"};
    assert_fails(ctx, graphss_report_write(ctx, NULL, folder, path, &opt), GRAPHSS_ERR_IO,
        "/dev/null: cannot make the folder");
    assert_int_not_equal(access(path, F_OK), 0);
}

static graphss_status write_once(graphss_ctx *ctx, void *arg)
{
    const graphss_status st = graphss_report_write(ctx, NULL, folder, arg, NULL);
    if (st)
        assert_int_not_equal(access(arg, F_OK), 0);
    unlink(arg);
    return st;
}

TEST(each_allocation_may_fail)
{
    char path[256];
    testing_temporary(path, sizeof path, "starved.html");
    testing_allocations_fail(write_once, path, 12);
}

int main(void)
{
    return testing_run();
}
