/* Events: parsing, refusals, times, sources, the difference of two datasets. */
#include "testing.h"

static graphss_status parse(graphss_ctx *ctx, graphss_event *e, const char *line)
{
    return graphss_event_parse(ctx, e, line, strlen(line));
}

TEST(a_line_is_read_and_written_back)
{
    static const char *const line[] = {
        "{\"op\":\"+link\",\"u\":\"anna\",\"v\":\"bot7\",\"t\":1763438400.0,\"source\":"
        "\"crm\","
        "\"seq\":17}",
        "{\"op\":\"-link\",\"u\":\"\\u00E4\",\"v\":\"b\"}",
        "{\"op\":\"+node\",\"u\":\"x\",\"features\":{\"age\":31.0,\"f\":-2.5}}",
        "{\"op\":\"-node\",\"u\":\"x\"}",
        "{\"op\":\"set\",\"u\":\"x\",\"features\":{\"posts\":12.0}}",
        "{\"op\":\"label\",\"u\":\"x\",\"label\":\"bot\"}",
        "{\"op\":\"label\",\"u\":\"x\",\"label\":null}",
    };
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    for (size_t i = 0; i < sizeof line / sizeof *line; i++) {
        graphss_event e = {0};
        char *text = NULL;
        assert_ok(ctx, parse(ctx, &e, line[i]));
        assert_ok(ctx, graphss_event_text(ctx, &text, &e));
        assert_string_equal(text, line[i]);
        graphss_release(ctx, text);
        graphss_event_destroy(ctx, &e);
    }
    graphss_ctx_free(ctx);
}

TEST(bad_lines_are_refused_with_the_reason)
{
    static const char *const line[][2] = {
        {"", "column"},
        {"{}", "op"},
        {"[1]", "no object"},
        {"{\"op\":\"+link\",\"u\":\"a\"}", "'v'"},
        {"{\"op\":\"+edge\",\"u\":\"a\",\"v\":\"b\"}", "'op'"},
        {"{\"op\":\"-node\",\"u\":\"a\",\"v\":\"b\"}", "'v'"},
        {"{\"op\":\"-node\",\"u\":\"\"}", "'u'"},
        {"{\"op\":\"-node\",\"u\":7}", "'u'"},
        {"{\"op\":\"-node\",\"u\":\"a\",\"u\":\"b\"}", "column"},
        {"{\"op\":\"-node\",\"u\":\"a\\u0000b\"}", "column"},
        {"{\"op\":\"-node\",\"u\":\"a\",\"extra\":1}", "extra"},
        {"{\"op\":\"-node\",\"u\":\"a\",\"t\":\"yesterday\"}", "'t'"},
        {"{\"op\":\"-node\",\"u\":\"a\",\"t\":-1}", "'t'"},
        {"{\"op\":\"-node\",\"u\":\"a\",\"seq\":1.5}", "'seq'"},
        {"{\"op\":\"-node\",\"u\":\"a\",\"seq\":-1}", "'seq'"},
        {"{\"op\":\"set\",\"u\":\"a\"}", "'features'"},
        {"{\"op\":\"set\",\"u\":\"a\",\"features\":{\"x\":\"1\"}}", "'x'"},
        {"{\"op\":\"set\",\"u\":\"a\",\"features\":{\"x\":1e300}}", "'x'"},
        {"{\"op\":\"label\",\"u\":\"a\"}", "'label'"},
        {"{\"op\":\"-node\",\"u\":\"a\"} x", "column"},
    };
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    for (size_t i = 0; i < sizeof line / sizeof *line; i++) {
        graphss_event e;
        assert_fails(ctx, parse(ctx, &e, line[i][0]), GRAPHSS_ERR_DATA, line[i][1]);
    }
    graphss_ctx_free(ctx);
}

TEST(times_and_durations)
{
    static const struct {
        const char *text;
        double seconds;
    } good[] = {{"1970-01-01T00:00:00Z", 0}, {"2000-02-29T12:30:15Z", 951827415},
        {"2026-11-18T04:00:00Z", 1794974400}, {"2026-11-18 04:00:00.25Z", 1794974400.25}};
    static const char *const bad[] = {"2026-11-18", "2026-02-29T00:00:00Z",
        "2026-11-18T24:00:00Z", "2026-11-18T04:00:00+01:00", "2026-11-18T04:00:00.Z"};
    char text[GRAPHSS_TIME_TEXT];
    double t;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(graphss_time_parse(&t, good[i].text, strlen(good[i].text)));
        assert_true(t == good[i].seconds);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(graphss_time_parse(&t, bad[i], strlen(bad[i])));
    for (double s = 0; s < 4e9; s += 86399.0 * 13) {
        double back;
        graphss_time_text(text, s);
        assert_true(graphss_time_parse(&back, text, strlen(text)) && back == s);
    }
    assert_true(graphss_duration_parse(&t, "30d") && t == 2592000);
    assert_true(graphss_duration_parse(&t, "90") && t == 90);
    assert_false(graphss_duration_parse(&t, "soon") || graphss_duration_parse(&t, "") ||
                 graphss_duration_parse(&t, "-1d"));
    graphss_live_options opt;
    graphss_live_options_init(&opt);
    assert_true(graphss_false_alarms_parse(&opt, "2/day") && opt.false_alarms == 2 &&
                opt.period == 86400);
    assert_false(graphss_false_alarms_parse(&opt, "1") ||
                 graphss_false_alarms_parse(&opt, "0/day") ||
                 graphss_false_alarms_parse(&opt, "1/moon"));
}

TEST(a_file_is_read_line_by_line_and_resumed)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    char path[256], where[300];
    testing_temporary(path, sizeof path, "events.jsonl");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "one\r\ntwo\n");
    fprintf(f, "%0*d\nfour", GRAPHSS_EVENT_BYTES + 10, 3);
    fclose(f);
    graphss_event_source *s = NULL;
    graphss_event_next what;
    const char *line;
    size_t n;
    uint64_t offset = 0, second = 0;
    assert_ok(ctx, graphss_event_source_open(ctx, &s, path, NULL));
    const size_t want[] = {3, 3, GRAPHSS_EVENT_BYTES, 4};
    for (size_t i = 0; i < 4; i++) {
        assert_ok(ctx, graphss_event_source_next(ctx, &what, &line, &n, &offset, s, 0));
        assert_int_equal(what, GRAPHSS_EVENT_LINE);
        assert_true(i == 2 ? n >= want[i] : n == want[i]);
        second = i == 1 ? offset : second;
    }
    assert_ok(ctx, graphss_event_source_next(ctx, &what, &line, &n, &offset, s, 0));
    assert_int_equal(what, GRAPHSS_EVENT_END);
    graphss_event_source_free(ctx, s);
    snprintf(where, sizeof where, "tail:%s", path);
    assert_ok(ctx, graphss_event_source_open(ctx, &s, where, NULL));
    assert_ok(ctx, graphss_event_source_resume(ctx, s, second));
    assert_ok(ctx, graphss_event_source_next(ctx, &what, &line, &n, &offset, s, 0.2));
    assert_int_equal(what, GRAPHSS_EVENT_LINE);
    assert_true(n >= GRAPHSS_EVENT_BYTES);
    assert_ok(ctx, graphss_event_source_next(ctx, &what, &line, &n, &offset, s, 0.05));
    assert_int_equal(what, GRAPHSS_EVENT_NONE); /* "four" may go on */
    f = fopen(path, "a");
    fprintf(f, "teen\n");
    fclose(f);
    assert_ok(ctx, graphss_event_source_next(ctx, &what, &line, &n, &offset, s, 1));
    assert_int_equal(what, GRAPHSS_EVENT_LINE);
    assert_memory_equal(line, "fourteen", 8);
    assert_fails(ctx, graphss_event_source_resume(ctx, s, 1 << 30), GRAPHSS_ERR_INVALID,
        "another file");
    graphss_event_source_free(ctx, s);
    remove(path);
    graphss_ctx_free(ctx);
}

static graphss_status parse_once(graphss_ctx *ctx, void *arg)
{
    graphss_event e = {0};
    char *text = NULL;
    graphss_status st = parse(ctx, &e, arg);
    if (!st)
        st = graphss_event_text(ctx, &text, &e);
    graphss_release(ctx, text);
    graphss_event_destroy(ctx, &e);
    return st;
}

static graphss_status read_once(graphss_ctx *ctx, void *arg)
{
    graphss_event_source *s = NULL;
    graphss_event_next what;
    const char *line;
    size_t n;
    uint64_t offset;
    graphss_status st = graphss_event_source_open(ctx, &s, arg, NULL);
    if (!st)
        st = graphss_event_source_resume(ctx, s, 1);
    if (!st)
        st = graphss_event_source_next(ctx, &what, &line, &n, &offset, s, 0);
    graphss_event_source_free(ctx, s);
    return st;
}

TEST(each_allocation_fails)
{
    char line[] = "{\"op\":\"set\",\"u\":\"a\",\"features\":{\"x\":1,\"y\":2}}";
    (void)state;
    testing_each_allocation_fails(parse_once, line);
    char path[256];
    testing_temporary(path, sizeof path, "starved.jsonl");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "one\ntwo\n");
    fclose(f);
    testing_each_allocation_fails(read_once, path);
    remove(path);
}

int main(void)
{
    return testing_run();
}
