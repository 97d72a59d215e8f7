/* Every endpoint, over a socket. */
#include "serving.h"
#include <time.h>

#include <signal.h>
#include <sys/resource.h>

/* Prometheus' own check of the metrics, if its tool is installed. */
static void check_by_promtool(const serving *s)
{
    if (system("command -v promtool >/dev/null 2>&1") != 0) {
        print_message(
            "promtool (Debian: prometheus) is not here, so metrics are not checked\n");
        return;
    }
    answer a = client_get(s, "/metrics");
    FILE *tool = popen("promtool check metrics >&2", "w");
    assert_non_null(tool);
    fwrite(a.body, 1, strlen(a.body), tool);
    assert_int_equal(pclose(tool), 0);
    answer_free(&a);
}

TEST(health_and_descriptions)
{
    serving s;
    (void)state;
    serving_init(&s, "health.db");
    serving_start(&s);
    assert_answer(client_get(&s, "/v2/health/live"), 200, "\"live\":true");
    assert_answer(client_get(&s, "/v2/health/ready"), 200, "\"ready\":true");
    assert_answer(client_get(&s, "/v2"), 200, "\"name\":\"graphss\"");
    assert_answer(client_get(&s, "/v2/models/graphss"), 200, "\"platform\":\"graphss\"");
    assert_answer(client_get(&s, "/v2/models/graphss/ready"), 200, "true");
    assert_answer(client_get(&s, "/v2/models/other"), 404, "called graphss");
    assert_answer(client_get(&s, "/openapi.json"), 200, "\"/v1/alerts/{id}/ack\"");
    assert_answer(client_get(&s, "/metrics"), 200, "graphss_nodes 300\n");
    check_by_promtool(&s);
    assert_answer(client_get(&s, "/v1/status"), 200, "\"state\":\"learning\"");
    assert_answer(
        client_ask(&s, "HEAD", "/v1/status", NULL, NULL, NULL), 200, "Content-Length");
    assert_answer(client_get(&s, "/nothing"), 404, "nothing is here");
    assert_answer(client_ask(&s, "DELETE", "/v1/status", NULL, NULL, NULL), 405, "Allow: GET");
    serving_end(&s);
}

TEST(events_are_applied_once_and_bad_ones_named)
{
    serving s;
    (void)state;
    serving_init(&s, "events.db");
    serving_start(&s);
    const char *lines = "{\"op\":\"+link\",\"u\":\"1\",\"v\":\"200\",\"seq\":1}\r\n\n"
                        "{\"op\":\"+link\"\n"
                        "{\"op\":\"set\",\"u\":\"nobody\",\"features\":{}}\n"
                        "{\"op\":\"+link\",\"u\":\"2\",\"v\":\"200\",\"seq\":2}";
    for (int again = 0; again < 2; again++) {
        answer a = client_ask(&s, "POST", "/v1/events", NULL, "application/x-ndjson", lines);
        assert_int_equal(a.status, 202);
        assert_non_null(strstr(a.body, "\"lines\":4,\"accepted\":2,\"refused\":2"));
        assert_non_null(strstr(a.body, "\"line\":2"));
        assert_non_null(strstr(a.body, "\"line\":3"));
        answer_free(&a);
    }
    assert_answer(client_get(&s, "/v1/status"), 200, "\"duplicates\":2");
    assert_answer(client_get(&s, "/v1/refused?limit=2"), 200, "\"total\":4");
    assert_answer(client_get(&s, "/v1/nodes/200"), 200, "\"edges_added\":[\"1\",\"2\"]");
    char when[GRAPHSS_TIME_TEXT], set[160], since[64];
    graphss_time_text(when, (double)time(NULL) + 3600);
    snprintf(since, sizeof since, "\"since\":\"%s\"", when);
    snprintf(set, sizeof set,
        "{\"op\":\"set\",\"u\":\"5\",\"features\":{\"59\":3,\"58\":0},\"t\":\"%s\"}", when);
    assert_answer(client_ask(&s, "POST", "/v1/events", NULL, "application/jsonl",
                      "{\"op\":\"set\",\"u\":\"5\",\"features\":{},\"t\":4000000000}"),
        202, "\"reason\":\"a time more than a day ahead");
    assert_answer(
        client_ask(&s, "POST", "/v1/events", NULL, "application/jsonl", set), 202, "");
    assert_answer(client_get(&s, "/v1/nodes/5"), 200, "\"name\":\"59\",\"was\":");
    assert_answer(client_get(&s, "/v1/nodes/5"), 200, "\"now\":3}");
    assert_answer(client_get(&s, "/v1/nodes/5"), 200, since);
    assert_answer(client_ask(&s, "POST", "/v1/events", NULL, "text/plain", lines), 415,
        "Content-Type is");
    assert_answer(
        client_ask(&s, "POST", "/v1/events", NULL, "application/jsonl", ""), 400, "");
    serving_end(&s);
}

static size_t times(const char *text, const char *part)
{
    size_t n = 0;
    while ((text = strstr(text, part))) {
        text += strlen(part);
        n++;
    }
    return n;
}

/* Nodes that an alert lists, but that were likely not tampered with, are no labels. */
TEST(labels_of_an_attack_are_of_likely_nodes_alone)
{
    serving s;
    (void)state;
    serving_init(&s, "likely.db");
    serving_start(&s);
    serving_attack(&s);
    assert_answer(
        client_post(&s, "/v1/alerts/1/confirm", "{\"who\":\"anna\"}"), 200, "\"confirmed\"");
    answer alert = client_get(&s, "/v1/alerts/1"), labels = client_get(&s, "/v1/labels");
    const size_t all = times(alert.body, "\"score\":"),
                 unlikely = times(alert.body, "\"score\":-");
    assert_true(unlikely > 0 && unlikely < all);
    assert_int_equal(times(labels.body, "\"tampered\":true"), all - unlikely);
    answer_free(&alert);
    answer_free(&labels);
    serving_end(&s);
}

TEST(an_attack_is_an_alert_that_is_settled_once)
{
    serving s;
    (void)state;
    serving_init(&s, "alerts.db");
    serving_start(&s);
    assert_answer(client_get(&s, "/v1/alerts"), 200, "{\"alerts\":[]}");
    serving_attack(&s);
    assert_answer(client_get(&s, "/v1/status"), 200, "\"state\":\"alert\"");
    assert_answer(client_get(&s, "/v1/alerts?state=firing"), 200, "\"state\":\"open\"");
    assert_answer(client_get(&s, "/v1/alerts?state=dismissed"), 200, "{\"alerts\":[]}");
    assert_answer(client_get(&s, "/v1/alerts?state=odd"), 400, "want firing");
    assert_answer(client_get(&s, "/v1/alerts/1"), 200, "\"suspects\":[{\"node\":");
    assert_answer(client_get(&s, "/v1/alerts/1/undo"), 200, "\"op\":\"-link\"");
    assert_answer(client_get(&s, "/v1/nodes?limit=3"), 200, "\"why\":[\"It changed since");
    assert_answer(client_get(&s, "/metrics"), 200, "graphss_alert_firing 1\n");
    assert_answer(client_post(&s, "/v1/snapshots", "{}"), 409, "dismiss or confirm");
    assert_answer(
        client_post(&s, "/v1/alerts/1/ack", "{\"who\":\"anna\"}"), 200, "\"acknowledged\"");
    assert_answer(client_get(&s, "/v1/labels"), 200, "Content-Length: 0");
    assert_answer(
        client_post(&s, "/v1/alerts/1/confirm", "{\"who\":\"anna\",\"labels\":{\"7\":\"1\"}}"),
        200, "\"confirmed\"");
    assert_answer(client_get(&s, "/v1/labels"), 200, "\"tampered\":true,\"alert\":1");
    assert_answer(client_get(&s, "/v1/nodes/7"), 200, "\"label\":\"1\"");
    assert_answer(client_post(&s, "/v1/alerts/1/dismiss", ""), 409, "is confirmed");
    assert_answer(client_post(&s, "/v1/alerts/9/dismiss", "{}"), 404, "no such alert");
    assert_answer(client_post(&s, "/v1/alerts/x/dismiss", "{}"), 404, "no such alert");
    assert_answer(
        client_post(&s, "/v1/snapshots", "{\"who\":\"anna\"}"), 201, "\"changed_nodes\":0");
    assert_answer(client_get(&s, "/v1/audit?limit=1"), 200, "\"what\":\"trust\"");
    serving_end(&s);
}

/* Waits until /metrics reports it. */
static void wait_for_metric(const serving *s, const char *line)
{
    for (size_t i = 0; i < 1000; i++) {
        answer a = client_get(s, "/metrics");
        const bool there = strstr(a.body, line) != NULL;
        answer_free(&a);
        if (there)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    fail_msg("no \"%s\" in /metrics", line);
}

/* A message that is posted to the listening socket: answered with 204, if it has that part. */
static void take_message(int listening, const char *part)
{
    static const char taken[] = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
    char text[1 << 15];
    size_t n = 0, length = 0;
    const char *body = NULL;
    const struct timeval limit = {.tv_sec = 20};
    const int fd = accept(listening, NULL, NULL);
    assert_true(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    while (!body || n < (size_t)(body - text) + length) {
        const ssize_t got = recv(fd, text + n, sizeof text - 1 - n, 0);
        assert_true(got > 0);
        text[n += (size_t)got] = 0;
        body = strstr(text, "\r\n\r\n");
        if (!body)
            continue;
        body += 4;
        const char *field = strstr(text, "Content-Length: ");
        assert_non_null(field);
        length = strtoul(field + 16, NULL, 10);
    }
    assert_non_null(strstr(text, "webhook-signature: v1,"));
    if (!strstr(body, part))
        fail_msg("no \"%s\" in: %s", part, body);
    assert_true(client_send(fd, taken, sizeof taken - 1));
    close(fd);
}

/* A receiver that takes connections and never answers delays no client. */
TEST(alerts_leave_and_a_dead_receiver_stops_nothing)
{
    serving s;
    char url[64];
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    const struct timeval limit = {.tv_sec = 20};
    (void)state;
    const int listening = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(listening >= 0);
    setsockopt(listening, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    assert_int_equal(bind(listening, (const struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(listening, 4), 0);
    assert_int_equal(getsockname(listening, (struct sockaddr *)&at, &size), 0);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/hook", ntohs(at.sin_port));
    serving_init(&s, "out.db");
    s.opt.tell = (graphss_store_receivers){.webhook = url, .secret = "topsecret"};
    serving_start(&s);
    wait_for_metric(&s, "graphss_outbox_messages 0\n");
    serving_attack(&s);
    /* The request hangs; other answers are not delayed, and the message is taken later. */
    assert_answer(client_get(&s, "/v1/status"), 200, "\"state\":\"alert\"");
    assert_answer(client_get(&s, "/metrics"), 200, "graphss_outbox_sent_total 0\n");
    take_message(listening, "\"state\":\"open\"");
    wait_for_metric(&s, "graphss_outbox_sent_total 1\n");
    wait_for_metric(&s, "graphss_outbox_messages 0\n");
    assert_answer(
        client_post(&s, "/v1/alerts/1/dismiss", "{\"who\":\"anna\"}"), 200, "\"dismissed\"");
    /* It ends while a request hangs, long before the receiver's time is over. */
    nanosleep(&(struct timespec){.tv_sec = 1, .tv_nsec = 500000000}, NULL);
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    serving_stop(&s);
    clock_gettime(CLOCK_MONOTONIC, &to);
    assert_true(to.tv_sec - from.tv_sec < 6);
    close(accept(listening, NULL, NULL)); /* the request that hung */
    /* An unsent message is sent by the next run. */
    s.keep_store = true;
    serving_start(&s);
    take_message(listening, "\"state\":\"dismissed\"");
    wait_for_metric(&s, "graphss_outbox_messages 0\n");
    serving_end(&s);
    close(listening);
}

TEST(groups_and_inference)
{
    serving s;
    (void)state;
    serving_init(&s, "groups.db");
    serving_start(&s);
    assert_answer(client_post(&s, "/v1/groups", "{\"name\":\"new\",\"nodes\":[\"1\",\"2\"]}"),
        201, "\"members\":2");
    assert_answer(client_get(&s, "/v1/groups"), 200, "\"name\":\"new\"");
    assert_answer(client_get(&s, "/v1/groups/new"), 200, "\"threshold\"");
    assert_answer(client_get(&s, "/v1/groups/old"), 404, "no such group");
    assert_answer(
        client_post(&s, "/v1/groups", "{\"name\":\"all\",\"nodes\":[\"1\"]}"), 400, "want");
    assert_answer(
        client_post(&s, "/v1/groups", "{\"name\":\"x\",\"nodes\":[1]}"), 400, "strings");
    assert_answer(client_post(&s, "/v1/groups", "[]"), 400, "no object");
    assert_answer(
        client_post(&s, "/v2/models/graphss/infer",
            "{\"id\":\"q\",\"inputs\":[{\"name\":\"node\",\"data\":[\"1\",\"2\"]}]}"),
        200, "\"shape\":[2,3]");
    assert_answer(
        client_post(&s, "/v2/models/graphss/infer", "{\"inputs\":[{\"data\":[\"nobody\"]}]}"),
        404, "not there");
    assert_answer(client_post(&s, "/v2/models/graphss/infer", "{\"inputs\":[]}"), 400, "want");
    assert_answer(client_get(&s, "/v1/nodes/nobody"), 404, "no such node");
    assert_answer(client_get(&s, "/v1/nodes?limit=0"), 400, "limit");
    serving_end(&s);
}

TEST(it_goes_on_where_it_was)
{
    serving s;
    (void)state;
    serving_init(&s, "again.db");
    serving_start(&s);
    serving_attack(&s);
    serving_stop(&s);
    s.keep_store = true;
    serving_start(&s);
    assert_answer(client_get(&s, "/v1/alerts/1"), 200, "\"state\":\"open\"");
    char *again = some_events(&s, 800, 900, true);
    assert_answer(client_ask(&s, "POST", "/v1/events", NULL, "application/jsonl", again), 202,
        "\"lines\":100");
    assert_answer(client_get(&s, "/v1/status"), 200, "\"duplicates\":100");
    free(again);
    serving_end(&s);
}

/* Without a test the page must not say that there is no sign of tampering. */
TEST(the_page_is_not_calm_before_the_first_test)
{
    for (int tested = 0; tested < 2; tested++) {
        serving s;
        serving_init(&s, "untested.db");
        s.live.period = 1e9;
        if (!tested)
            s.live.check_every = 1e8;
        serving_start(&s);
        char *calm = some_events(&s, 0, 300, false);
        assert_answer(client_ask(&s, "POST", "/v1/events", NULL, "application/jsonl", calm),
            202, "\"accepted\":300");
        assert_answer(client_get(&s, "/"), 200,
            tested ? "No sign of tampering" : "there was no test yet");
        assert_answer(client_get(&s, "/v1/status"), 200,
            tested ? "\"state\":\"calm\"" : "\"state\":\"learning\"");
        free(calm);
        serving_end(&s);
    }
}

TEST(the_page_settles_alerts_by_its_own_forms_alone)
{
    serving s;
    char form[400], token[65] = "";
    (void)state;
    serving_init(&s, "page.db");
    serving_start(&s);
    assert_answer(client_get(&s, "/"), 200, "Still learning");
    serving_attack(&s);
    assert_answer(client_get(&s, "/page.css"), 200, "text/css");
    assert_answer(client_get(&s, "/page.js"), 200, "EventSource");
    assert_answer(client_get(&s, "/?node=38"), 200, "<path class=\"added\"");
    assert_answer(client_get(&s, "/?node=%3Cscript%3E"), 200, "value=\"&lt;script&gt;\"");
    answer a = client_get(&s, "/");
    assert_non_null(strstr(a.text, "Alert since "));
    assert_non_null(strstr(a.text, "default-src 'none'; style-src 'self'"));
    assert_null(strstr(a.body, " style="));
    const char *at = strstr(a.body, "name=\"form\" value=\"");
    assert_non_null(at);
    memcpy(token, at + 19, 64);
    answer_free(&a);
    const char *const type = "application/x-www-form-urlencoded";
    snprintf(form, sizeof form, "form=%064d&alert=1&action=ack", 0);
    assert_answer(client_ask(&s, "POST", "/act", NULL, type, form), 403, "not of this page");
    snprintf(form, sizeof form, "form=%s&alert=1&action=ack&note=so+it%%20is", token);
    assert_answer(
        client_ask(&s, "POST", "/act", "Origin: http://evil.example\r\n", type, form), 403,
        "");
    assert_answer(
        client_ask(&s, "POST", "/act", "Sec-Fetch-Site: cross-site\r\n", type, form), 403, "");
    assert_answer(client_ask(&s, "POST", "/act", NULL, type, form), 303, "Location: /#alerts");
    assert_answer(client_get(&s, "/"), 200, "By page: so it is");
    assert_answer(client_ask(&s, "POST", "/act", NULL, type, form), 409, "acknowledged");
    snprintf(form, sizeof form, "form=%s&alert=1&action=burn", token);
    assert_answer(client_ask(&s, "POST", "/act", NULL, type, form), 400, "want an alert");
    snprintf(form, sizeof form, "form=%s&alert=1&action=dismiss", token);
    assert_answer(client_ask(&s, "POST", "/act", NULL, type, form), 303, "");
    assert_answer(client_get(&s, "/v1/alerts/1"), 200, "\"dismissed\"");
    serving_end(&s);
}

/* Polls until the answer has a part. */
static void wait_for(const serving *s, const char *target, const char *part)
{
    for (size_t i = 0; i < 1000; i++) {
        answer a = client_get(s, target);
        const bool there = strstr(a.text, part) != NULL;
        answer_free(&a);
        if (there)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    fail_msg("no \"%s\" in %s", part, target);
}

/* With a full disk changes of the graph are refused, and nothing of them is kept. */
TEST(a_full_disk_refuses_and_forgets_nothing)
{
    serving s;
    struct rlimit limit, none;
    (void)state;
    serving_init(&s, "full.db");
    serving_start(&s);
    serving_attack(&s);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    none = limit;
    none.rlim_cur = 1;
    static const char *const change[] = {
        "/v1/alerts/1/ack", "/v1/alerts/1/confirm", "/v1/groups"};
    for (size_t i = 0; i < 3; i++) {
        wait_for(&s, "/v2/health/ready", "\"ready\":true");
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
        answer a =
            client_post(&s, change[i], i < 2 ? "{}" : "{\"name\":\"x\",\"nodes\":[\"1\"]}");
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        assert_int_equal(a.status, 503);
        assert_non_null(strstr(a.text, "Retry-After"));
        answer_free(&a);
    }
    wait_for(&s, "/v2/health/ready", "\"ready\":true");
    assert_answer(client_get(&s, "/v1/alerts/1"), 200, "\"state\":\"open\"");
    assert_answer(client_get(&s, "/v1/status"), 200, "\"open_alerts\":1");
    assert_answer(client_get(&s, "/v1/groups"), 200, "{\"groups\":[{\"name\":\"all\"");
    assert_answer(client_get(&s, "/v1/groups/x"), 404, "");
    char *more = some_events(&s, 900, 1000, true);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    answer a = client_ask(&s, "POST", "/v1/events", NULL, "application/jsonl", more);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(a.status, 503);
    answer_free(&a);
    wait_for(&s, "/v2/health/ready", "\"ready\":true");
    assert_answer(client_ask(&s, "POST", "/v1/events", NULL, "application/jsonl", more), 202,
        "\"accepted\":100");
    assert_answer(client_get(&s, "/v1/status"), 200, "\"duplicates\":0");
    assert_answer(client_post(&s, "/v1/alerts/1/ack", "{}"), 200, "acknowledged");
    free(more);
    serving_end(&s);
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

TEST(a_new_model_and_new_tokens_are_taken)
{
    serving s;
    char tokens[256], admin[100], late[100], *token = NULL, *second = NULL;
    graphss_model *old = NULL, *new = NULL;
    graphss_live *live = NULL;
    (void)state;
    serving_init(&s, "reload.db");
    testing_temporary(tokens, sizeof tokens, "reload.tokens");
    testing_temporary(s.model_path, sizeof s.model_path, "reload.model");
    remove(tokens);
    assert_ok(s.ctx, graphss_server_token_add(s.ctx, &token, tokens, "admin", "anna"));
    snprintf(admin, sizeof admin, "Authorization: Bearer %s\r\n", token);
    s.opt.tokens = tokens;
    s.opt.model_file = s.model_path;
    serving_train(&s, &old, 1);
    serving_train(&s, &new, 2);
    serving_start(&s);
#define ASK(method, path, body) \
    client_ask(&s, method, path, admin, (body) ? "application/json" : NULL, body)
    char *calm = some_events(&s, 0, 300, false), *hostile = some_events(&s, 300, 900, true);
    assert_answer(
        client_ask(&s, "POST", "/v1/events", admin, "application/jsonl", calm), 202, "");
    assert_answer(
        client_ask(&s, "POST", "/v1/events", admin, "application/jsonl", hostile), 202, "");
    assert_answer(
        ASK("POST", "/v1/groups", "{\"name\":\"new\",\"nodes\":[\"1\",\"2\"]}"), 201, "");
    /* Unreadable files change nothing; a new token is accepted. */
    write_file(s.model_path, "no model");
    assert_ok(s.ctx, graphss_server_token_add(s.ctx, &second, tokens, "read", "karl"));
    snprintf(late, sizeof late, "Authorization: Bearer %s\r\n", second);
    assert_answer(client_ask(&s, "GET", "/v1/status", late, NULL, NULL), 401, "");
    graphss_server_reload(s.server);
    for (int i = 0, status = 401; status != 200; i++) {
        answer a = client_ask(&s, "GET", "/v1/status", late, NULL, NULL);
        status = a.status;
        answer_free(&a);
        assert_true(i < 1000);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    /* While an alert is open the model waits, then it takes over. */
    assert_ok(s.ctx, graphss_model_save(s.ctx, new, s.model_path));
    graphss_server_reload(s.server);
    nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
    answer a = ASK("GET", "/v1/audit", NULL);
    assert_null(strstr(a.body, "\"what\":\"model\""));
    answer_free(&a);
    assert_answer(ASK("POST", "/v1/alerts/1/dismiss", "{}"), 200, "dismissed");
    for (int i = 0, there = 0; !there; i++) {
        a = ASK("GET", "/v1/audit", NULL);
        there = strstr(a.body, "\"what\":\"model\"") != NULL;
        answer_free(&a);
        assert_true(i < 1000);
    }
    assert_answer(ASK("GET", "/v1/status", NULL), 200, "\"changed_nodes\":0");
    assert_answer(ASK("GET", "/v1/groups", NULL), 200, "\"name\":\"new\"");
    assert_answer(ASK("GET", "/v1/alerts/1", NULL), 200, "\"dismissed\"");
    assert_answer(
        client_ask(&s, "POST", "/v1/events", admin, "application/jsonl", hostile), 202, "");
    assert_answer(ASK("GET", "/v1/status", NULL), 200, "\"duplicates\":600");
    serving_stop(&s);
    assert_ok(s.ctx, graphss_store_open(s.ctx, &s.store, s.path, GRAPHSS_STORE_WRITE));
    assert_fails(s.ctx, graphss_store_resume(s.ctx, s.store, &live, old), GRAPHSS_ERR_DATA,
        "another model");
    assert_ok(s.ctx, graphss_store_resume(s.ctx, s.store, &live, new));
    graphss_live_free(s.ctx, live);
    graphss_model_free(s.ctx, old);
    graphss_model_free(s.ctx, new);
    graphss_release(s.ctx, token);
    graphss_release(s.ctx, second);
    free(calm);
    free(hostile);
    remove(tokens);
    remove(s.model_path);
    serving_end(&s);
}

/* ---- no memory ---- */

static graphss_status serve_briefly(graphss_ctx *ctx, void *arg)
{
    const serving *s = arg;
    graphss_model *model = NULL;
    graphss_store *store = NULL;
    graphss_live *live = NULL;
    graphss_server *server = NULL;
    graphss_status st = graphss_model_load(ctx, &model, s->model_path);
    if (!st)
        st = graphss_store_open(ctx, &store, s->path, GRAPHSS_STORE_WRITE);
    if (!st)
        st = graphss_store_resume(ctx, store, &live, model);
    if (!st) {
        st = graphss_server_new(ctx, &server, store, model, live, &s->opt);
        model = NULL;
    }
    if (!st) {
        graphss_server_stop(server);
        st = graphss_server_run(ctx, server);
    }
    graphss_server_free(ctx, server);
    graphss_store_close(ctx, store);
    graphss_model_free(ctx, model);
    return st;
}

static graphss_status add_token(graphss_ctx *ctx, void *arg)
{
    char *token = NULL;
    const graphss_status st = graphss_server_token_add(ctx, &token, arg, "read", "anna");
    graphss_release(ctx, token);
    return st;
}

TEST(each_allocation_fails)
{
    serving s;
    char path[256];
    (void)state;
    serving_init(&s, "starved.db");
    testing_temporary(path, sizeof path, "starved.tokens");
    testing_temporary(s.model_path, sizeof s.model_path, "starved.model");
    s.opt.tokens = path;
    s.opt.tell.webhook = "http://127.0.0.1:9/"; /* nothing is ever sent */
    remove(path);
    testing_each_allocation_fails(add_token, path);
    serving_start(&s);
    assert_ok(s.ctx, graphss_model_save(s.ctx, s.model, s.model_path));
    serving_stop(&s);
    testing_allocations_fail(serve_briefly, &s, 16);
    remove(path);
    remove(s.model_path);
    serving_end(&s);
}

int main(void)
{
    return testing_run();
}
