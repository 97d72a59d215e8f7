/* test_page.c - the page of one snapshot: all is in it, nothing of it is markup. */
#include <graphss_lab/report.h>

#include "testing.h"

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

TEST(the_page_holds_all_and_runs_nothing_of_it)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
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
    graphss_ctx_free(ctx);
}

TEST(what_is_not_there_is_refused)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    graphss_page page = sample();
    assert_fails(
        ctx, graphss_page_write(ctx, &page, "/nowhere/x.html"), GRAPHSS_ERR_IO, "/nowhere");
    page.node = NULL;
    assert_fails(ctx, graphss_page_write(ctx, &page, "x.html"), GRAPHSS_ERR_INVALID, "nodes");
    assert_fails(ctx, graphss_page_write(ctx, &page, NULL), GRAPHSS_ERR_INVALID, "path");
    graphss_ctx_free(ctx);
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

int main(void)
{
    return testing_run();
}
