/* test_runs.c - records as they are read: later lines win, broken ones are named. */
#include "testing.h"

#include "lab/report/runs.h"

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

static void test_fields_are_read(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
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
    graphss_ctx_free(ctx);
}

static void test_of_two_lines_of_a_cell_the_later_counts(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
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
    graphss_ctx_free(ctx);
}

static void test_a_last_line_without_end_is_left_out(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
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
    graphss_ctx_free(ctx);
}

static void test_broken_lines_are_named(void **state)
{
    (void)state;
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
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        graphss_i_runs r = {0};
        assert_fails(ctx, parse(ctx, &r, list[i].text), GRAPHSS_ERR_DATA, list[i].part);
        assert_null(r.record);
    }
    graphss_ctx_free(ctx);
}

static graphss_status parse_once(graphss_ctx *ctx, void *arg)
{
    graphss_i_runs r = {0};
    const graphss_status st = parse(ctx, &r, arg);
    if (!st)
        graphss_i_runs_destroy(&r);
    return st;
}

static void test_each_allocation_may_fail(void **state)
{
    (void)state;
    static char text[] = "{\"what\":\"alert\",\"set\":1}\n{\"what\":\"noise\"}\n";
    testing_each_allocation_fails(parse_once, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields_are_read),
        cmocka_unit_test(test_of_two_lines_of_a_cell_the_later_counts),
        cmocka_unit_test(test_a_last_line_without_end_is_left_out),
        cmocka_unit_test(test_broken_lines_are_named),
        cmocka_unit_test(test_each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
