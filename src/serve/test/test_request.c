/* Parsing and authorising requests. */
#include "testing.h"

#include "serve/http.h"
#include <netinet/in.h>

static int parse(graphss_i_request *r, char *room, const char *method, const char *target)
{
    const char *allow;
    strcpy(room, target);
    return graphss_i_request_parse(r, method, room, &allow);
}

TEST(routes_are_found_and_names_decoded)
{
    graphss_i_request r;
    char room[GRAPHSS_I_TARGET + 100];
    (void)state;
    assert_int_equal(parse(&r, room, "GET", "/v1/nodes/a%2Fb%20c?limit=3&x=%41+b"), 0);
    assert_int_equal(r.ask, GRAPHSS_I_ASK_NODE);
    assert_string_equal(r.name, "a/b c");
    assert_string_equal(graphss_i_pair_get(r.query, r.n_query, "x"), "A b");
    assert_null(graphss_i_pair_get(r.query, r.n_query, "y"));
    assert_int_equal(parse(&r, room, "HEAD", "/"), 0);
    assert_true(r.head && r.ask == GRAPHSS_I_ASK_PAGE);
    assert_int_equal(parse(&r, room, "POST", "/v1/alerts/7/confirm"), 0);
    assert_int_equal(r.ask, GRAPHSS_I_ASK_ALERT_CONFIRM);
    assert_string_equal(r.name, "7");
    for (int i = 0; i < GRAPHSS_I_ASKS; i++) { /* each route finds itself */
        const graphss_i_route *route = graphss_i_route_of((graphss_i_ask)i);
        assert_non_null(route->path);
        assert_int_equal(parse(&r, room, route->method, route->path), 0);
        assert_int_equal(r.ask, i);
    }
}

TEST(broken_targets_are_refused)
{
    static const struct {
        const char *method, *target;
        int status;
    } bad[] = {{"GET", "/v1/nodes/%", 400}, {"GET", "/v1/nodes/%4", 400},
        {"GET", "/v1/nodes/%zz", 400}, {"GET", "/v1/nodes/%00", 400},
        {"GET", "/v1/nodes/%C3", 400}, {"GET", "/v1/nodes/%C0%80", 400},
        {"GET", "/v1/nodes/", 404}, {"GET", "/v1/nodes/a/b", 404}, {"GET", "//v1/nodes", 404},
        {"GET", "/../etc/passwd", 404}, {"GET", "/..%2f..%2fetc/passwd", 404},
        {"GET", "/v1/../v1/status", 404}, {"GET", "", 400}, {"GET", "http://elsewhere/", 400},
        {"POST", "/v1/status", 405}, {"PUT", "/v1/groups", 405},
        {"GET", "/v1/status?a=%", 400},
        {"GET", "/?a=1&a=1&a=1&a=1&a=1&a=1&a=1&a=1&a=1&a=1&a=1&a=1&a=1&a=1&a=1&a=1&a=1", 400}};
    graphss_i_request r;
    char room[GRAPHSS_I_TARGET + 100];
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (parse(&r, room, bad[i].method, bad[i].target) != bad[i].status)
            fail_msg("%s %s: want %d", bad[i].method, bad[i].target, bad[i].status);
    char *longest = calloc(1, GRAPHSS_I_TARGET + 50);
    assert_non_null(longest);
    memset(longest, 'a', GRAPHSS_I_TARGET + 10);
    longest[0] = '/';
    assert_int_equal(parse(&r, room, "GET", longest), 414);
    memcpy(longest, "/v1/nodes/", 10);
    longest[2000] = 0;
    assert_int_equal(parse(&r, room, "GET", longest), 414);
    free(longest);
}

TEST(hosts_origins_and_types)
{
    assert_true(graphss_i_host_is_ours("localhost:8321", NULL));
    assert_true(graphss_i_host_is_ours("127.0.0.1", NULL));
    assert_true(graphss_i_host_is_ours("[::1]:80", NULL));
    assert_true(graphss_i_host_is_ours("graphs.example:443", "a,graphs.example"));
    assert_false(graphss_i_host_is_ours("evil.example", NULL));
    assert_false(graphss_i_host_is_ours("localhost.evil.example", NULL));
    assert_false(graphss_i_host_is_ours("localhost:80@evil", NULL));
    assert_false(graphss_i_host_is_ours("", "a"));
    assert_false(graphss_i_host_is_ours(NULL, "a"));
    assert_true(graphss_i_origin_fits(NULL, "localhost:1"));
    assert_true(graphss_i_origin_fits("http://localhost:1", "localhost:1"));
    assert_false(graphss_i_origin_fits("http://localhost:2", "localhost:1"));
    assert_false(graphss_i_origin_fits("null", "localhost:1"));
    assert_true(graphss_i_body_is(GRAPHSS_I_BODY_JSON, "application/JSON; charset=utf-8"));
    assert_false(graphss_i_body_is(GRAPHSS_I_BODY_JSON, "text/plain"));
    assert_false(graphss_i_body_is(GRAPHSS_I_BODY_JSON, NULL));
}

TEST(tokens_are_found_by_their_hash_alone)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    graphss_i_tokens tokens;
    char path[256], *token = NULL, *other = NULL, header[400];
    (void)state;
    testing_temporary(path, sizeof path, "request.tokens");
    remove(path);
    assert_ok(ctx, graphss_server_token_add(ctx, &other, path, "read", "karl"));
    assert_ok(ctx, graphss_server_token_add(ctx, &token, path, "admin", "anna@x"));
    assert_fails(ctx, graphss_server_token_add(ctx, &token, path, "root", "a"),
        GRAPHSS_ERR_INVALID, "want read, write or admin");
    assert_fails(ctx, graphss_server_token_add(ctx, &token, path, "read", "a b"),
        GRAPHSS_ERR_INVALID, "a name");
    assert_ok(ctx, graphss_i_tokens_read(ctx, &tokens, path));
    assert_int_equal(tokens.n, 2);
    snprintf(header, sizeof header, "Bearer %s", token);
    const graphss_i_token *found = graphss_i_tokens_find(&tokens, header);
    assert_non_null(found);
    assert_int_equal(found->role, GRAPHSS_I_ROLE_ADMIN);
    assert_string_equal(found->name, "anna@x");
    header[20] = header[20] == '0' ? '1' : '0';
    assert_null(graphss_i_tokens_find(&tokens, header));
    snprintf(
        header, sizeof header, "Bearer %s", tokens.item[0].hash); /* not the hash itself */
    assert_null(graphss_i_tokens_find(&tokens, header));
    assert_null(graphss_i_tokens_find(&tokens, NULL));
    assert_null(graphss_i_tokens_find(&tokens, "Bearer "));
    assert_null(graphss_i_tokens_find(&tokens, "Basic !!!"));
    assert_null(graphss_i_tokens_find(&tokens, "Basic YWJj"));
    graphss_i_tokens_destroy(ctx, &tokens);
    char bad[] = "# who\nread karl 00\n";
    assert_fails(ctx, graphss_i_tokens_parse(ctx, &tokens, bad, "t"), GRAPHSS_ERR_DATA, "t:2");
    remove(path);
    graphss_release(ctx, token);
    graphss_release(ctx, other);
    graphss_ctx_free(ctx);
}

TEST(an_address_has_its_share)
{
    static graphss_i_limits limits;
    struct sockaddr_in a = {.sin_family = AF_INET}, b = {.sin_family = AF_INET};
    (void)state;
    a.sin_addr.s_addr = 1;
    b.sin_addr.s_addr = 2;
    const struct sockaddr *one = (const struct sockaddr *)&a,
                          *other = (const struct sockaddr *)&b;
    size_t taken = 0;
    for (size_t i = 0; i < 100; i++)
        taken += graphss_i_limits_take(&limits, one, 10, 5);
    assert_int_equal(taken, 20);
    assert_true(graphss_i_limits_take(&limits, other, 10, 5));
    assert_true(graphss_i_limits_take(&limits, one, 10, 5.2));
    assert_true(graphss_i_limits_take(&limits, NULL, 0, 5));
    size_t failed = 0;
    for (size_t i = 0; i < 100; i++)
        failed += graphss_i_limits_failed(&limits, one, 6);
    assert_int_equal(failed, 20);
    assert_true(graphss_i_limits_failed(&limits, one, 10));
}

static graphss_status read_tokens(graphss_ctx *ctx, void *arg)
{
    graphss_i_tokens tokens = {0};
    char text[300];
    (void)arg;
    snprintf(text, sizeof text, "read a %064d\nwrite b %064d\n", 0, 1);
    const graphss_status st = graphss_i_tokens_parse(ctx, &tokens, text, "t");
    graphss_i_tokens_destroy(ctx, &tokens);
    return st;
}

TEST(each_allocation_fails)
{
    testing_each_allocation_fails(read_tokens, NULL);
}

TEST(text_is_escaped_for_where_it_stands)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    graphss_i_text t = {.ctx = ctx};
    (void)state;
    graphss_i_text_json(&t, "a\"\\\n<\xFF\xC3\xA9");
    assert_string_equal(t.at, "\"a\\\"\\\\\\u000a\\u003c?\xC3\xA9\"");
    graphss_i_text_clear(&t);
    graphss_i_text_html(&t, "<a href='x'>&\"\xE2\x80\xAE");
    assert_string_equal(t.at, "&lt;a href=&#39;x&#39;&gt;&amp;&quot;?");
    graphss_i_text_clear(&t);
    graphss_i_text_url(&t, "a b/\xC3\xA9");
    assert_string_equal(t.at, "a%20b%2F%C3%A9");
    static const struct {
        double x;
        const char *text;
    } number[] = {{0, "0"}, {0.05, "0.05"}, {0.0123, "0.012"}, {4.1e-6, "4.1e-6"},
        {1230, "1230"}, {3, "3"}, {12.34, "12.3"}, {-2.5, "-2.5"}, {1.6e10, "1.6e10"}};
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        graphss_i_text_clear(&t);
        graphss_i_text_short(&t, number[i].x);
        assert_string_equal(t.at, number[i].text);
    }
    graphss_i_text_destroy(&t);
    graphss_ctx_free(ctx);
}

int main(void)
{
    return testing_run();
}
