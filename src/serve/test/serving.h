/* serving.h - a server on a thread, and a small client, for the tests of src/serve. */
#ifndef GRAPHSS_TEST_SERVING_H
#define GRAPHSS_TEST_SERVING_H

#include "testing.h"

#include <arpa/inet.h>
#include <graphss_serve/serve.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>

typedef struct serving {
    graphss_ctx *ctx;
    graphss_dataset data;
    graphss_split split;
    graphss_model *model; /* the server's */
    graphss_store *store;
    graphss_server *server;
    graphss_status status;
    char path[256];
    pthread_t thread;
    atomic_bool stop;
    int port;
    graphss_serve_options opt;
    graphss_live_options live;
    bool keep_store; /* the file of an earlier run goes on */
    char model_path[256];
} serving;

static inline bool serving_goes_on(
    void *user, const char *stage, size_t done, size_t total, const char *note)
{
    serving *s = user;
    (void)stage;
    (void)done;
    (void)total;
    (void)note;
    return !atomic_load(&s->stop);
}

static inline void serving_remove(const char *path)
{
    static const char *const suffix[] = {"", "-wal", "-shm", "-lock"};
    char name[300];
    for (size_t i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "%s%s", path, suffix[i]);
        remove(name);
    }
}

static inline void serving_train(serving *s, graphss_model **model, uint64_t seed)
{
    graphss_train_options opt;
    graphss_train_options_init(&opt, "gcn", GRAPHSS_MODE_DEFAULT, &s->data.features);
    opt.epochs = 60;
    const graphss_train_input in = {.struct_size = sizeof in,
        .graph = &s->data.graph,
        .features = &s->data.features,
        .n_classes = s->data.n_classes,
        .split = &s->split,
        .seed = seed};
    assert_ok(s->ctx, graphss_model_train(s->ctx, model, NULL, &in, &opt));
    const graphss_observation seen = graphss_dataset_observe(&s->data);
    assert_ok(s->ctx, graphss_alert_train(s->ctx, *model, &seen, 1));
}

/* Fills all that a test may change before serving_start. */
static inline void serving_init(serving *s, const char *name)
{
    const graphss_ctx_options own = {
        .struct_size = sizeof own, .threads = 1, .progress = serving_goes_on, .user = s};
    graphss_split_options split;
    *s = (serving){0};
    s->ctx = graphss_ctx_new(&own);
    assert_non_null(s->ctx);
    assert_ok(s->ctx, graphss_dataset_read(s->ctx, &s->data,
                          "synth:nodes=300,degree=6,classes=3,features=60,seed=3", NULL));
    graphss_split_options_init(&split);
    assert_ok(s->ctx, graphss_split_make(s->ctx, &s->split, s->data.label,
                          s->data.graph.n_nodes, s->data.n_classes, 1, &split));
    graphss_serve_options_init(&s->opt);
    graphss_live_options_init(&s->live);
    s->opt.listen = "127.0.0.1:0";
    s->opt.batch = 20;
    s->live.warm_up = 20;
    s->live.check_every = 300;
    s->live.period = 6000;
    testing_temporary(s->path, sizeof s->path, name);
}

static inline void *serving_run(void *arg)
{
    serving *s = arg;
    s->status = graphss_server_run(s->ctx, s->server);
    return NULL;
}

/* The error of graphss_server_new. */
static inline graphss_status serving_new(serving *s)
{
    graphss_live *live = NULL;
    if (!s->keep_store)
        serving_remove(s->path);
    serving_train(s, &s->model, 1);
    const graphss_observation seen = graphss_dataset_observe(&s->data);
    assert_ok(s->ctx, graphss_store_open(s->ctx, &s->store, s->path, GRAPHSS_STORE_WRITE));
    if (graphss_store_resume(s->ctx, s->store, &live, s->model) != GRAPHSS_OK) {
        assert_ok(s->ctx, graphss_live_new(s->ctx, &live, s->model, &seen, &s->live));
        assert_ok(s->ctx, graphss_store_start(s->ctx, s->store, live));
    }
    return graphss_server_new(s->ctx, &s->server, s->store, s->model, live, &s->opt);
}

/* Ends it, and keeps the store. */
static inline void serving_stop(serving *s)
{
    atomic_store(&s->stop, true);
    if (s->server) {
        assert_int_equal(pthread_join(s->thread, NULL), 0);
        if (s->status)
            fail_msg("the server ended: %s", graphss_ctx_error(s->ctx));
    }
    graphss_server_free(s->ctx, s->server);
    graphss_store_close(s->ctx, s->store);
    s->server = NULL;
    s->store = NULL;
    atomic_store(&s->stop, false);
}

static inline void serving_end(serving *s)
{
    serving_stop(s);
    serving_remove(s->path);
    graphss_split_destroy(s->ctx, &s->split);
    graphss_dataset_destroy(s->ctx, &s->data);
    graphss_ctx_free(s->ctx);
}

/* ---- the client ---- */

typedef struct answer {
    int status; /* 0: none came */
    char *text; /* [n] head and body, and a NUL; released by answer_free */
    size_t n;
    const char *body;
} answer;

static inline int client_connect(const serving *s)
{
    const bool is_unix = !strncmp(s->opt.listen, "unix:", 5);
    const int fd = socket(is_unix ? AF_UNIX : AF_INET, SOCK_STREAM, 0);
    const struct timeval limit = {.tv_sec = 20};
    assert_true(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    int done;
    if (is_unix) {
        struct sockaddr_un to = {.sun_family = AF_UNIX};
        snprintf(to.sun_path, sizeof to.sun_path, "%s", s->opt.listen + 5);
        done = connect(fd, (struct sockaddr *)&to, sizeof to);
    } else {
        const struct sockaddr_in to = {.sin_family = AF_INET,
            .sin_port = htons((uint16_t)s->port),
            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        done = connect(fd, (const struct sockaddr *)&to, sizeof to);
    }
    assert_int_equal(done, 0);
    return fd;
}

/* False: the other side closed. */
static inline bool client_send(int fd, const char *bytes, size_t n)
{
    while (n) {
        const ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        bytes += sent;
        n -= (size_t)sent;
    }
    return true;
}

/* Reads to the end of the connection. */
static inline answer client_read(int fd)
{
    answer a = {0};
    size_t room = 1 << 16;
    a.text = malloc(room);
    assert_non_null(a.text);
    for (ssize_t got; (got = recv(fd, a.text + a.n, room - a.n - 1, 0)) > 0;) {
        a.n += (size_t)got;
        if (room - a.n < 2) {
            room *= 2;
            a.text = realloc(a.text, room);
            assert_non_null(a.text);
        }
    }
    a.text[a.n] = 0;
    if (a.n > 12 && !strncmp(a.text, "HTTP/1.", 7))
        a.status = atoi(a.text + 9);
    a.body = strstr(a.text, "\r\n\r\n");
    a.body = a.body ? a.body + 4 : a.text + a.n;
    return a;
}

static inline void answer_free(answer *a)
{
    free(a->text);
    *a = (answer){0};
}

/* Sends any bytes; reads until the other side closes. */
static inline answer client_raw(const serving *s, const char *bytes, size_t n)
{
    const int fd = client_connect(s);
    (void)client_send(fd, bytes, n);
    (void)shutdown(fd, SHUT_WR);
    answer a = client_read(fd);
    close(fd);
    return a;
}

/* A whole request; headers: further lines, each with its end. type NULL: no body. */
static inline answer client_ask(const serving *s, const char *method, const char *target,
    const char *headers, const char *type, const char *body)
{
    char head[1 << 14];
    const int fd = client_connect(s);
    int n = snprintf(head, sizeof head,
        "%s %s HTTP/1.1\r\nHost: localhost:%d\r\nConnection: close\r\n%s", method, target,
        s->port, headers ? headers : "");
    assert_true(n > 0 && (size_t)n < sizeof head - 200);
    n += type ? snprintf(head + n, sizeof head - (size_t)n,
                    "Content-Type: %s\r\nContent-Length: %zu\r\n\r\n", type, strlen(body))
              : snprintf(head + n, sizeof head - (size_t)n, "\r\n");
    (void)(client_send(fd, head, (size_t)n) && (!type || client_send(fd, body, strlen(body))));
    answer a = client_read(fd);
    close(fd);
    return a;
}

static inline answer client_get(const serving *s, const char *target)
{
    return client_ask(s, "GET", target, NULL, NULL, NULL);
}

static inline answer client_post(const serving *s, const char *target, const char *json)
{
    return client_ask(s, "POST", target, NULL, "application/json", json);
}

/* Waits until it is ready. */
static inline void serving_wait(const serving *s)
{
    for (size_t i = 0; i < 2000; i++) {
        answer a = client_get(s, "/v2/health/ready");
        const bool ready = a.status == 200;
        answer_free(&a);
        if (ready)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    fail_msg("the server does not become ready");
}

static inline void serving_start(serving *s)
{
    assert_ok(s->ctx, serving_new(s));
    const char *colon = strrchr(graphss_server_address(s->server), ':');
    s->port = atoi(colon + 1);
    assert_int_equal(pthread_create(&s->thread, NULL, serving_run, s), 0);
    serving_wait(s);
}

#define assert_answer(a, wanted, part) \
    do { \
        answer answer_ = (a); \
        if (answer_.status != (wanted)) \
            fail_msg( \
                "%s: got %d, want %d: %s", #a, answer_.status, (int)(wanted), answer_.text); \
        if (!strstr(answer_.text, (part))) \
            fail_msg("%s: no \"%s\" in: %s", #a, (part), answer_.text); \
        answer_free(&answer_); \
    } while (0)

/* ---- events ---- */

/* Appends events [from, to): benign ones, or an attack in which eight edges in turn join a
 * node to nodes of one other class. Released by free. */
static inline char *some_events(const serving *s, size_t from, size_t to, bool hostile)
{
    const int n = (int)s->data.graph.n_nodes;
    char *text = malloc((to - from) * 128 + 1);
    size_t at = 0;
    assert_non_null(text);
    for (size_t i = from; i < to; i++) {
        graphss_rng rng = graphss_rng_make(i, GRAPHSS_STREAM_SAMPLER);
        int u = hostile ? (int)(i / 8) % n : (int)graphss_rng_below(&rng, (uint64_t)n), v = u;
        const int wanted = (s->data.label[u] + hostile) % (int)s->data.n_classes;
        while (v == u || s->data.label[v] != wanted)
            v = (int)graphss_rng_below(&rng, (uint64_t)n);
        at += (size_t)sprintf(text + at,
            "{\"op\":\"%clink\",\"u\":\"%d\",\"v\":\"%d\",\"t\":%d,"
            "\"source\":\"a\",\"seq\":%d}\n",
            !hostile && i % 4 == 3 ? '-' : '+', u, v, 1000 + 30 * (int)i, (int)i);
    }
    text[at] = 0;
    return text;
}

/* Calm, then an attack: an alert is raised. */
static inline void serving_attack(const serving *s)
{
    char *calm = some_events(s, 0, 300, false), *hostile = some_events(s, 300, 900, true);
    assert_answer(client_ask(s, "POST", "/v1/events", NULL, "application/jsonl", calm), 202,
        "\"accepted\":300");
    assert_answer(client_ask(s, "POST", "/v1/events", NULL, "application/jsonl", hostile), 202,
        "\"accepted\":600");
    free(calm);
    free(hostile);
}

#endif
