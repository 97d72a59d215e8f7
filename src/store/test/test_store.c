/* The store: what was stored survives any crash, and replays with the same bits. */
#include "testing.h"

#include "live/postgresql.h"
#include "store/store_private.h"
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

typedef struct world {
    graphss_dataset data;
    graphss_split split;
    graphss_model *model;
    graphss_observation seen;
} world;

static void world_make(graphss_ctx *ctx, world *w)
{
    graphss_train_options opt;
    graphss_split_options split;
    *w = (world){0};
    assert_ok(ctx, graphss_dataset_read(ctx, &w->data,
                       "synth:nodes=400,degree=6,classes=3,features=60,seed=3", NULL));
    graphss_split_options_init(&split);
    assert_ok(ctx, graphss_split_make(ctx, &w->split, w->data.label, w->data.graph.n_nodes,
                       w->data.n_classes, 1, &split));
    graphss_train_options_init(&opt, "gcn", GRAPHSS_MODE_DEFAULT, &w->data.features);
    opt.epochs = 60;
    const graphss_train_input in = {.struct_size = sizeof in,
        .graph = &w->data.graph,
        .features = &w->data.features,
        .n_classes = w->data.n_classes,
        .split = &w->split,
        .seed = 1};
    assert_ok(ctx, graphss_model_train(ctx, &w->model, NULL, &in, &opt));
    w->seen = graphss_dataset_observe(&w->data);
    assert_ok(ctx, graphss_alert_train(ctx, w->model, &w->seen, 1));
}

static void world_destroy(graphss_ctx *ctx, world *w)
{
    graphss_model_free(ctx, w->model);
    graphss_split_destroy(ctx, &w->split);
    graphss_dataset_destroy(ctx, &w->data);
}

enum { LINES = 600, BATCH = 10, LINE = 96 };

/* Event i of a stream: benign, and from the middle on an attack: eight edges in turn join a
 * node to nodes of one other class. */
static void line_of(char *out, size_t i, const world *w)
{
    graphss_rng rng = graphss_rng_make(i, GRAPHSS_STREAM_SAMPLER);
    const int n = (int)w->data.graph.n_nodes;
    const bool hostile = i > LINES / 2;
    int u = hostile ? (int)(i / 8) % n : (int)graphss_rng_below(&rng, (uint64_t)n), v = u;
    const int wanted = (w->data.label[u] + hostile) % (int)w->data.n_classes;
    while (v == u || w->data.label[v] != wanted)
        v = (int)graphss_rng_below(&rng, (uint64_t)n);
    if (i % 97 == 50)
        snprintf(out, LINE, "{\"op\":\"set\",\"u\":\"nobody %d\",\"features\":{}}", (int)i);
    else if (i % 97 == 60)
        snprintf(out, LINE, "{\"op\":\"+link\"");
    else
        snprintf(out, LINE,
            "{\"op\":\"%clink\",\"u\":\"%d\",\"v\":\"%d\",\"t\":%d,\"source\":\"a\","
            "\"seq\":%d}",
            !hostile && i % 4 == 3 ? '-' : '+', u, v, 1000 + 30 * (int)i, (int)i);
}

static graphss_status put(
    graphss_ctx *ctx, graphss_store *store, graphss_live *live, const world *w, uint64_t from)
{
    char text[BATCH][LINE];
    graphss_store_line line[BATCH];
    for (size_t i = 0; i < BATCH; i++) {
        line_of(text[i], from + i, w);
        line[i] = (graphss_store_line){text[i], strlen(text[i])};
    }
    const graphss_store_batch batch = {.source = "a",
        .offset = from + BATCH,
        .line = line,
        .n = BATCH,
        .now = 1000 + 30 * (double)from};
    graphss_live_batch did = {0};
    const graphss_status st = graphss_store_put(ctx, store, live, &batch, &did);
    graphss_live_batch_destroy(ctx, &did);
    return st;
}

/* Opens or resumes, and continues to the end of the stream. */
static graphss_status go_on(
    graphss_ctx *ctx, const char *path, const world *w, void **bytes, size_t *n)
{
    graphss_store *store = NULL;
    graphss_live *live = NULL;
    graphss_live_options opt;
    uint64_t at = 0;
    graphss_live_options_init(&opt);
    opt.warm_up = 20;
    opt.check_every = 300;
    opt.period = 6000;
    graphss_status st = graphss_store_open(ctx, &store, path, GRAPHSS_STORE_WRITE);
    if (!st)
        st = graphss_store_resume(ctx, store, &live, w->model);
    if (st == GRAPHSS_ERR_NOT_FOUND) {
        st = graphss_live_new(ctx, &live, w->model, &w->seen, &opt);
        if (!st)
            st = graphss_store_start(ctx, store, live);
    }
    if (!st)
        st = graphss_store_offset(ctx, &at, store, "a");
    if (store)
        graphss_store_keep(store, LINES); /* two snapshots on the way */
    for (; at < LINES && !st; at += BATCH)
        st = put(ctx, store, live, w, at);
    if (!st && bytes)
        st = graphss_live_save(ctx, bytes, n, live);
    graphss_live_free(ctx, live);
    graphss_store_close(ctx, store);
    return st;
}

/* GRAPHSS_TEST_STORE is the address of a server that the tests may use alone: then all stores
 * are there, one after another. */
static const char *server(void)
{
    return getenv("GRAPHSS_TEST_STORE");
}

static void place_store(char *path, size_t room, const char *name)
{
    if (server())
        snprintf(path, room, "%s", server());
    else
        testing_temporary(path, room, name);
}

static void drop_schema(const char *address)
{
    const char *const keyword[] = {"dbname", NULL};
    const char *const value[] = {address, NULL};
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    libpq pq;
    assert_ok(ctx, graphss_i_libpq_find(ctx, &pq));
    pg_conn *db = graphss_i_libpq_connect(&pq, keyword, value);
    pg_result *result = pq.exec(db, "drop schema if exists graphss cascade");
    assert_int_equal(pq.result(result), COMMAND_OK);
    pq.clear(result);
    pq.finish(db);
    graphss_ctx_free(ctx);
}

static void remove_store(const char *path)
{
    static const char *const suffix[] = {"", "-wal", "-shm", "-lock"};
    char name[300];
    if (graphss_store_is_server(path)) {
        drop_schema(path);
        return;
    }
    for (size_t i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "%s%s", path, suffix[i]);
        remove(name);
    }
}

TEST_CTX(killed_at_any_moment_it_loses_and_repeats_nothing)
{
    world w;
    char path[256], whole[256];
    void *bytes[2] = {NULL, NULL};
    size_t n[2], kills = 0;
    world_make(ctx, &w);
    place_store(whole, sizeof whole, "whole.db");
    place_store(path, sizeof path, "killed.db");
    remove_store(whole);
    remove_store(path);
    assert_ok(ctx, go_on(ctx, whole, &w, &bytes[0], &n[0]));
    remove_store(whole);
    graphss_rng rng = graphss_rng_make(1, GRAPHSS_STREAM_SAMPLER);
    for (int status = 1; kills < 100; kills++) {
        if (status == 0) /* it came to its end: once more from the start */
            remove_store(path);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            const graphss_status st = go_on(ctx, path, &w, NULL, NULL);
            if (st)
                fprintf(stderr, "%s\n", graphss_ctx_error(ctx));
            _exit(st ? 1 : 0);
        }
        /* Later crashes come later, so that the stream advances. */
        const long wait = (long)graphss_rng_below(&rng, 2000000 * (kills % 40 + 5));
        nanosleep(
            &(struct timespec){.tv_nsec = wait % 1000000000, .tv_sec = wait / 1000000000},
            NULL);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    }
    assert_ok(ctx, go_on(ctx, path, &w, &bytes[1], &n[1]));
    assert_int_equal(n[0], n[1]);
    assert_memory_equal(bytes[0], bytes[1], n[0]);
    graphss_release(ctx, bytes[0]);
    graphss_release(ctx, bytes[1]);
    remove_store(path);
    world_destroy(ctx, &w);
}

typedef struct counts {
    size_t alerts, entries, refused;
    uint64_t last;
} counts;

static graphss_status count_alert(void *user, const graphss_store_alert *a)
{
    counts *c = user;
    c->alerts++;
    c->last = a->id;
    return a->suspects && a->group ? GRAPHSS_OK : GRAPHSS_ERR_DATA;
}

static graphss_status count_entry(void *user, const graphss_store_entry *e)
{
    (void)e;
    ++*(size_t *)user;
    return GRAPHSS_OK;
}

TEST_CTX(verdicts_replay_with_the_same_bits)
{
    world w;
    char path[256];
    graphss_store *store = NULL, *second = NULL;
    graphss_live *live = NULL;
    counts c = {0};
    bool same = false;
    uint64_t id = 0;
    char *json = NULL;
    world_make(ctx, &w);
    place_store(path, sizeof path, "replay.db");
    remove_store(path);
    assert_ok(ctx, go_on(ctx, path, &w, NULL, NULL));
    assert_ok(ctx, graphss_store_open(ctx, &store, path, GRAPHSS_STORE_CHANGE));
    assert_fails(ctx, graphss_store_open(ctx, &second, path, GRAPHSS_STORE_WRITE),
        GRAPHSS_ERR_IO, "another process");
    assert_ok(ctx, graphss_store_alerts(ctx, store, count_alert, &c));
    assert_true(c.alerts > 0);
    assert_ok(ctx, graphss_store_replay(ctx, store, &same, w.model, c.last));
    assert_true(same);
    assert_ok(ctx, graphss_store_refused(ctx, store, count_entry, &c.refused));
    assert_true(c.refused > 0);
    assert_ok(ctx, graphss_store_message(ctx, store, &id, &json, 0));
    assert_non_null(json);
    graphss_release(ctx, json);
    assert_ok(ctx, graphss_store_message_done(ctx, store, id, true, 0));
    assert_fails(
        ctx, graphss_store_trust(ctx, store, NULL, "anna", 1), GRAPHSS_ERR_INVALID, "open");
    assert_ok(ctx, graphss_store_settle(
                       ctx, store, NULL, c.last, GRAPHSS_ALERT_CONFIRMED, "anna", "seen", 1));
    assert_fails(ctx,
        graphss_store_settle(ctx, store, NULL, c.last, GRAPHSS_ALERT_DISMISSED, "b", NULL, 1),
        GRAPHSS_ERR_INVALID, "confirmed");
    assert_ok(ctx, graphss_store_resume(ctx, store, &live, w.model));
    graphss_live_alert a;
    graphss_live_alert_get(live, &a, (size_t)c.last - 1);
    assert_int_equal(a.state, GRAPHSS_ALERT_CONFIRMED);
    assert_ok(ctx, graphss_store_audit(ctx, store, count_entry, &c.entries));
    assert_true(c.entries >= 3);
    graphss_live_free(ctx, live);
    graphss_store_close(ctx, store);
    remove_store(path);
    world_destroy(ctx, &w);
}

typedef struct starved {
    const world *w;
    char path[256];
} starved;

/* The context's memory is limited; SQLite's own is not. */
static graphss_status live_once(graphss_ctx *ctx, void *arg)
{
    static const char *const member[] = {"1", "2"};
    const graphss_store_receivers nobody = {0};
    const starved *x = arg;
    graphss_store *store = NULL;
    graphss_live *live = NULL;
    graphss_live_batch did = {0};
    char *json = NULL;
    uint64_t id, offset;
    bool same = false;
    remove_store(x->path);
    graphss_status st = graphss_store_open(ctx, &store, x->path, GRAPHSS_STORE_WRITE);
    if (!st)
        st = graphss_live_new(ctx, &live, x->w->model, &x->w->seen, NULL);
    if (!st)
        st = graphss_store_start(ctx, store, live);
    if (!st)
        st = graphss_store_watch(ctx, store, live, "some", member, 2, 1);
    if (!st)
        st = put(ctx, store, live, x->w, 50);
    if (!st)
        st = graphss_store_advance(ctx, store, live, 1e6, &did);
    graphss_live_batch_destroy(ctx, &did);
    if (!st)
        st = graphss_store_trust(ctx, store, live, "anna", 2);
    if (!st)
        st = graphss_store_fold(ctx, store, live);
    if (!st)
        st = graphss_store_adopt(ctx, store, live, "again", 3);
    graphss_live_free(ctx, live);
    live = NULL;
    if (!st)
        st = graphss_store_resume(ctx, store, &live, x->w->model);
    if (!st)
        st = graphss_store_offset(ctx, &offset, store, "a");
    if (!st)
        st = graphss_store_alerts(ctx, store, NULL, NULL);
    if (!st)
        st = graphss_store_audit(ctx, store, NULL, NULL);
    if (!st)
        st = graphss_store_refused(ctx, store, NULL, NULL);
    if (!st)
        st = graphss_store_message(ctx, store, &id, &json, 1e9);
    if (!st)
        st = graphss_store_message_done(ctx, store, 7, false, 0);
    size_t unsent;
    if (!st)
        st = graphss_store_unsent(ctx, store, &unsent);
    if (!st)
        st = graphss_store_send(ctx, store, NULL, NULL, &nobody, 1e9);
    if (!st) {
        assert_int_equal(
            graphss_store_replay(ctx, store, &same, x->w->model, 1), GRAPHSS_ERR_NOT_FOUND);
        assert_int_equal(
            graphss_store_settle(ctx, store, live, 1, GRAPHSS_ALERT_CONFIRMED, NULL, NULL, 1),
            GRAPHSS_ERR_INVALID);
    }
    graphss_release(ctx, json);
    graphss_live_free(ctx, live);
    graphss_store_close(ctx, store);
    return st;
}

static graphss_status count_what(void *user, const graphss_store_entry *e)
{
    size_t *n = user;
    n[0] += !strcmp(e->what, "fold");
    n[1] += !strcmp(e->what, "model");
    return GRAPHSS_OK;
}

/* Lines that are no events, and long ones, count against what is kept. */
TEST_CTX(what_is_kept_is_bounded_in_bytes)
{
    enum { LONG = 100000, ROUNDS = 60 };
    world w;
    char path[256];
    graphss_store *store = NULL;
    graphss_live *live = NULL;
    graphss_live_status now;
    size_t n[2] = {0};
    world_make(ctx, &w);
    place_store(path, sizeof path, "bounded.db");
    remove_store(path);
    char *bad = malloc(LONG);
    assert_non_null(bad);
    memset(bad, 'x', LONG);
    const graphss_store_line line = {bad, LONG};
    assert_ok(ctx, graphss_store_open(ctx, &store, path, GRAPHSS_STORE_WRITE));
    graphss_store_keep(store, 1000); /* a megabyte */
    assert_ok(ctx, graphss_live_new(ctx, &live, w.model, &w.seen, NULL));
    assert_ok(ctx, graphss_store_start(ctx, store, live));
    for (int i = 0; i < ROUNDS; i++) {
        const graphss_store_batch b = {.line = &line, .n = 1, .now = i};
        assert_ok(ctx, graphss_store_put(ctx, store, live, &b, NULL));
        if (i == ROUNDS / 2) { /* what is behind is known to who opens it, too */
            graphss_store_close(ctx, store);
            assert_ok(ctx, graphss_store_open(ctx, &store, path, GRAPHSS_STORE_WRITE));
            graphss_store_keep(store, 1000);
        }
    }
    assert_ok(ctx, graphss_store_audit(ctx, store, count_what, n));
    assert_int_equal(n[0], ROUNDS / 6); /* of 98 kB each, 6 are more than half a megabyte */
    FILE *f = server() ? NULL : fopen(path, "rb");
    assert_true(f || server());
    if (f) {
        assert_int_equal(fseek(f, 0, SEEK_END), 0);
        assert_true(ftell(f) < 3000000);
        fclose(f);
    }
    /* The same data and seed, another model: the store is not resumed with it ... */
    graphss_model *other = NULL;
    graphss_train_options opt;
    graphss_train_options_init(&opt, "gcn", GRAPHSS_MODE_DEFAULT, &w.data.features);
    opt.epochs = 30;
    const graphss_train_input in = {.struct_size = sizeof in,
        .graph = &w.data.graph,
        .features = &w.data.features,
        .n_classes = w.data.n_classes,
        .split = &w.split,
        .seed = 1};
    graphss_live *next = NULL, *again = NULL;
    assert_ok(ctx, graphss_model_train(ctx, &other, NULL, &in, &opt));
    assert_fails(ctx, graphss_store_resume(ctx, store, &again, other), GRAPHSS_ERR_DATA,
        "another model");
    /* ... until it took over. */
    assert_ok(ctx, graphss_live_adopt(ctx, &next, other, live));
    assert_ok(ctx, graphss_store_adopt(ctx, store, next, NULL, 100));
    assert_fails(ctx, graphss_store_resume(ctx, store, &again, w.model), GRAPHSS_ERR_DATA,
        "another model");
    assert_ok(ctx, put(ctx, store, next, &w, 0));
    assert_ok(ctx, graphss_store_resume(ctx, store, &again, other));
    graphss_live_status_get(again, &now);
    assert_true(now.applied > 0);
    n[1] = 0;
    assert_ok(ctx, graphss_store_audit(ctx, store, count_what, n));
    assert_int_equal(n[1], 1);
    free(bad);
    graphss_live_free(ctx, live);
    graphss_live_free(ctx, next);
    graphss_live_free(ctx, again);
    graphss_model_free(ctx, other);
    graphss_store_close(ctx, store);
    remove_store(path);
    world_destroy(ctx, &w);
}

/* One wrong time must not set the clock of the stream; one that the clock bears out may. */
TEST(a_time_far_ahead_is_set_aside)
{
    enum { DAY = 86400 };
    static const struct {
        const char *text;
        bool taken;
    } event[] = {{"{\"op\":\"+link\",\"u\":\"1\",\"v\":\"2\",\"t\":9000000}", true},
        {"{\"op\":\"-link\",\"u\":\"1\",\"v\":\"2\",\"t\":4000000000}", false},
        {"{\"op\":\"-link\",\"u\":\"1\",\"v\":\"3\",\"t\":11000000}", true},
        {"{\"op\":\"-link\",\"u\":\"1\",\"v\":\"3\",\"t\":80000000}", true}};
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    world w;
    char path[256];
    graphss_store *store = NULL;
    graphss_live *live = NULL, *again = NULL;
    graphss_live_status now;
    graphss_store_line line[4];
    graphss_live_batch did = {0};
    world_make(ctx, &w);
    place_store(path, sizeof path, "ahead.db");
    remove_store(path);
    for (size_t i = 0; i < 4; i++)
        line[i] = (graphss_store_line){event[i].text, strlen(event[i].text)};
    assert_ok(ctx, graphss_store_open(ctx, &store, path, GRAPHSS_STORE_WRITE));
    assert_ok(ctx, graphss_live_new(ctx, &live, w.model, &w.seen, NULL));
    assert_ok(ctx, graphss_store_start(ctx, store, live));
    const graphss_store_batch b = {.line = line, .n = 4, .now = 80000000 - DAY / 2};
    assert_ok(ctx, graphss_store_put(ctx, store, live, &b, &did));
    assert_int_equal(did.applied, 3);
    assert_int_equal(did.n_refused, 1);
    assert_int_equal(did.refused[0].event, 1);
    assert_non_null(strstr(did.refused[0].cause, "ahead"));
    assert_int_equal(did.unreadable, 0);
    graphss_live_batch_destroy(ctx, &did);
    graphss_live_status_get(live, &now);
    assert_true(now.now == 80000000);
    assert_ok(ctx, graphss_store_resume(ctx, store, &again, w.model));
    graphss_live_status_get(again, &now);
    assert_true(now.now == 80000000 && now.applied == 3);
    graphss_live_free(ctx, live);
    graphss_live_free(ctx, again);
    graphss_store_close(ctx, store);
    remove_store(path);
    world_destroy(ctx, &w);
    graphss_ctx_free(ctx);
}

/* RFC 4231, cases 1, 2 and 6. */
TEST(signatures_are_those_of_the_standard)
{
    static const char want[][65] = {
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"};
    char key[3][132];
    static const char *const text[] = {"Hi There", "what do ya want for nothing?",
        "Test Using Larger Than Block-Size Key - Hash Key First"};
    const size_t n_key[] = {20, 4, 131};
    memset(key[0], 0x0b, sizeof key[0]);
    memcpy(key[1], "Jefe", 4);
    memset(key[2], 0xaa, sizeof key[2]);
    for (size_t i = 0; i < 3; i++) {
        unsigned char out[32];
        char hex[65];
        graphss_i_hmac_sha256(out, key[i], n_key[i], text[i], strlen(text[i]));
        for (size_t b = 0; b < sizeof out; b++)
            snprintf(hex + 2 * b, 3, "%02x", out[b]);
        assert_string_equal(hex, want[i]);
    }
}

TEST_CTX(each_allocation_fails)
{
    world w;
    world_make(ctx, &w);
    starved x = {.w = &w};
    place_store(x.path, sizeof x.path, "starved.db");
    testing_allocations_fail(live_once, &x, 16); /* each round writes to the disk */
    remove_store(x.path);
    world_destroy(ctx, &w);
}

int main(void)
{
    return testing_run();
}
