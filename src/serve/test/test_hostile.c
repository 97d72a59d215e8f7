/* Clients that mean no good: each is refused or cut, and the others are served. */
#include "serving.h"

#include <errno.h>
#include <time.h>

static void expect_alive(const serving *s)
{
    assert_answer(client_get(s, "/v1/status"), 200, "\"nodes\":300");
}

/* A request as it stands, and the status it gets; 0: the connection is cut without one. */
static void expect_raw(const serving *s, const char *request, size_t n, int status)
{
    answer a = client_raw(s, request, n);
    if (a.status != status)
        fail_msg("%.60s...: got %d, want %d", request, a.status, status);
    answer_free(&a);
}

#define EXPECT_RAW(s, request, status) expect_raw(s, request, sizeof(request) - 1, status)
#define HOST "Host: localhost\r\nConnection: close\r\n"

TEST(broken_requests)
{
    serving s;
    (void)state;
    serving_init(&s, "broken.db");
    s.opt.body = 65536;
    serving_start(&s);
    EXPECT_RAW(
        &s, "GET /v1/status HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", 421);
    EXPECT_RAW(&s, "GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\n" HOST "\r\n", 404);
    EXPECT_RAW(&s, "GET /v1/nodes/%FF HTTP/1.1\r\n" HOST "\r\n", 400);
    EXPECT_RAW(&s,
        "POST /v1/events HTTP/1.1\r\n" HOST "Content-Type: application/jsonl\r\n"
        "Content-Length: 1073741824\r\n\r\n",
        413);
    EXPECT_RAW(&s,
        "POST /v1/events HTTP/1.1\r\n" HOST "Content-Type: application/jsonl\r\n"
        "Content-Length: -1\r\n\r\n",
        400);
    EXPECT_RAW(&s, "GET /v1/status HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nabcde", 413);
    answer a = client_raw(&s, "\0\0\0\0", 4);
    answer_free(&a);
    a = client_raw(&s, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11); /* TLS */
    answer_free(&a);
    expect_alive(&s);

    /* JSON that is none, and events that are no text */
    static const char *const bad[] = {
        "{", "[1,", "\"a\"", "{\"a\":1}x", "{\"a\":1,\"a\":2}", "\xFF\xFE{}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_answer(client_post(&s, "/v1/groups", bad[i]), 400, "error");
    char *deep = malloc(60001);
    assert_non_null(deep);
    memset(deep, '[', 60000);
    deep[60000] = 0;
    assert_answer(client_post(&s, "/v1/groups", deep), 400, "no object");
    assert_answer(client_ask(&s, "POST", "/v1/events", NULL, "application/jsonl", deep), 202,
        "\"refused\":1");
    assert_answer(client_ask(&s, "POST", "/v1/events", NULL, "application/jsonl",
                      "\xFF\xFE\n{\"op\":\"+link\",\"u\":\"\xC3\",\"v\":\"1\"}"),
        202, "\"refused\":2");
    free(deep);

    /* a body in chunks that has no end: cut once it is too long */
    const int fd = client_connect(&s);
    char chunk[4200], head[] = "POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                               "application/jsonl\r\nTransfer-Encoding: chunked\r\n\r\n";
    memcpy(chunk, "1000\r\n", 6);
    memset(chunk + 6, 'x', 4096);
    memcpy(chunk + 6 + 4096, "\r\n", 2);
    size_t sent = 0;
    assert_true(client_send(fd, head, sizeof head - 1));
    while (sent < 100000 && client_send(fd, chunk, 4104)) {
        sent++;
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    close(fd);
    assert_true(sent < 100000);
    expect_alive(&s);
    serving_end(&s);
}

TEST(slow_clients_are_cut)
{
    enum { MANY = 40 };
    serving s;
    int fd[MANY];
    (void)state;
    serving_init(&s, "slow.db");
    s.opt.wait = 0.6;
    s.opt.connections = 60;
    s.opt.connections_each = 60;
    serving_start(&s);
    for (size_t i = 0; i < MANY; i++) {
        fd[i] = client_connect(&s);
        assert_true(client_send(fd[i], "GET /v1/status HTTP/1.1\r\n", 25));
    }
    expect_alive(&s);
    /* A byte now and then keeps none of them. */
    size_t alive = MANY;
    for (size_t round = 0; round < 60 && alive; round++) {
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        alive = 0;
        for (size_t i = 0; i < MANY; i++) {
            char one;
            const bool sent = client_send(fd[i], round % 2 ? "a" : "b", 1);
            const ssize_t got = recv(fd[i], &one, 1, MSG_DONTWAIT);
            alive += sent && got != 0 && !(got < 0 && errno == ECONNRESET);
        }
    }
    assert_int_equal(alive, 0);
    for (size_t i = 0; i < MANY; i++)
        close(fd[i]);
    expect_alive(&s);
    serving_end(&s);
}

TEST(a_flood_is_refused_and_told_when_to_come_again)
{
    serving s;
    size_t refused = 0;
    (void)state;
    serving_init(&s, "flood.db");
    s.opt.rate = 20;
    serving_start(&s);
    for (size_t i = 0; i < 120; i++) {
        answer a = client_get(&s, "/v2/health/live");
        refused += a.status == 429 && strstr(a.text, "Retry-After: 1");
        assert_true(a.status == 429 || a.status == 200);
        answer_free(&a);
    }
    assert_true(refused > 0);
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    expect_alive(&s);
    serving_end(&s);
}

TEST(the_queue_is_bounded)
{
    serving s;
    (void)state;
    serving_init(&s, "queue.db");
    s.opt.queue = 100;
    serving_start(&s);
    char *many = some_events(&s, 0, 101, false);
    assert_answer(client_ask(&s, "POST", "/v1/events", NULL, "application/jsonl", many), 413,
        "too large");
    free(many);
    expect_alive(&s);
    serving_end(&s);
}

TEST(tokens_and_roles)
{
    serving s;
    char path[256], reader[200], writer[200], admin[200], *token = NULL;
    static const char *const roles[] = {"read", "write", "admin"};
    char *const header[] = {reader, writer, admin};
    (void)state;
    serving_init(&s, "roles.db");
    testing_temporary(path, sizeof path, "roles.tokens");
    remove(path);
    for (size_t i = 0; i < 3; i++) {
        assert_ok(s.ctx, graphss_server_token_add(s.ctx, &token, path, roles[i], roles[i]));
        snprintf(header[i], 200, "Authorization: Bearer %s\r\n", token);
        graphss_release(s.ctx, token);
    }
    s.opt.tokens = path;
    serving_start(&s);
    const char *event = "{\"op\":\"+link\",\"u\":\"1\",\"v\":\"2\"}",
               *type = "application/jsonl";
    assert_answer(client_get(&s, "/v2/health/ready"), 200, "true");
    assert_answer(client_get(&s, "/v1/status"), 401, "WWW-Authenticate: Basic");
    assert_answer(client_get(&s, "/metrics"), 401, "");
    assert_answer(client_ask(&s, "GET", "/v1/status", reader, NULL, NULL), 200, "nodes");
    assert_answer(client_ask(&s, "POST", "/v1/events", reader, type, event), 403, "role");
    assert_answer(client_ask(&s, "POST", "/v1/events", writer, type, event), 202, "");
    assert_answer(
        client_ask(&s, "POST", "/v1/snapshots", writer, "application/json", "{}"), 403, "");
    assert_answer(client_ask(&s, "POST", "/v1/snapshots", admin, "application/json",
                      "{\"who\":\"somebody\"}"),
        201, "");
    assert_answer(
        client_ask(&s, "GET", "/v1/audit", reader, NULL, NULL), 200, "\"text\":\"admin\"");
    answer page = client_ask(&s, "GET", "/", reader, NULL, NULL); /* readers have no buttons */
    assert_int_equal(page.status, 200);
    assert_null(strstr(page.body, "name=\"action\""));
    answer_free(&page);
    size_t limited = 0;
    for (size_t i = 0; i < 40; i++) {
        char guess[200];
        snprintf(guess, sizeof guess, "Authorization: Bearer %064zu\r\n", i);
        answer a = client_ask(&s, "GET", "/v1/status", guess, NULL, NULL);
        assert_true(a.status == 401 || a.status == 429);
        limited += a.status == 429;
        answer_free(&a);
    }
    assert_true(limited > 0);
    assert_answer(client_ask(&s, "GET", "/v1/status", reader, NULL, NULL), 200, "nodes");
    remove(path);
    serving_end(&s);
}

TEST(other_addresses_want_tokens_and_tls)
{
    serving s;
    char path[256];
    char *token = NULL;
    (void)state;
    serving_init(&s, "open.db");
    testing_temporary(path, sizeof path, "open.tokens");
    remove(path);
    assert_ok(s.ctx, graphss_server_token_add(s.ctx, &token, path, "read", "a"));
    graphss_release(s.ctx, token);
    s.opt.listen = "0.0.0.0:0";
    assert_fails(s.ctx, serving_new(&s), GRAPHSS_ERR_INVALID, "--tokens is wanted");
    serving_stop(&s);
    s.opt.tokens = path;
    assert_fails(s.ctx, serving_new(&s), GRAPHSS_ERR_INVALID, "--behind-proxy");
    serving_stop(&s);
    s.opt.listen = "everywhere";
    assert_fails(s.ctx, serving_new(&s), GRAPHSS_ERR_INVALID, "ADDRESS:PORT");
    serving_stop(&s);
    s.opt.listen = "0.0.0.0:0";
    s.opt.behind_proxy = true;
    serving_start(&s);
    assert_answer(client_get(&s, "/v2/health/live"), 200, "true");
    remove(path);
    serving_end(&s);
}

TEST(a_unix_socket)
{
    serving s;
    char path[256], where[300];
    (void)state;
    serving_init(&s, "unix.db");
    testing_temporary(path, sizeof path, "s");
    snprintf(where, sizeof where, "unix:%s", path);
    s.opt.listen = where;
    serving_start(&s);
    assert_answer(client_get(&s, "/v1/status"), 200, "\"nodes\":300");
    serving_stop(&s);
    assert_int_not_equal(access(path, F_OK), 0);
    serving_end(&s);
}

int main(void)
{
    return testing_run();
}
