/* Sources of other kinds: mappings of tables, rows as events, Kafka by librdkafka's mock. */
#include "testing.h"

#include "live/event_map.h"

static const char MAP[] =
    "{\"nodes\": [{\"table\": \"public.account\", \"id\": \"id\", \"prefix\": \"a\", "
    "\"label\": "
    "\"kind\", \"features\": [\"age\", \"paid\"]}],"
    " \"links\": [{\"table\": \"public.follows\", \"u\": \"who\", \"v\": \"whom\", "
    "\"u_prefix\": \"a\", \"v_prefix\": \"a\"}]%s}";

static void write_map(char *path, size_t n, const char *name, const char *more)
{
    testing_temporary(path, n, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, MAP, more);
    fclose(f);
}

TEST(a_mapping_that_is_wrong_is_refused_with_the_place)
{
    static const char *const bad[][2] = {
        {"[]", "no object"},
        {"{\"nodes\": 1}", "'nodes' is no list"},
        {"{\"nods\": []}", "unknown member 'nods'"},
        {"{\"nodes\": [{}]}", "'table'"},
        {"{\"nodes\": [{\"table\": \"a.b\"}]}", "'id'"},
        {"{\"nodes\": [{\"table\": \"a.b\", \"id\": \"i\", \"u\": \"x\"}]}", "unknown member"},
        {"{\"nodes\": [{\"table\": \"a.b\", \"id\": \"i\", \"features\": [1]}]}", "not text"},
        {"{\"nodes\": [{\"table\": \"a.b\", \"id\": \"i\"}],"
         " \"links\": [{\"table\": \"a.b\", \"u\": \"x\", \"v\": \"y\"}]}",
            "twice"},
        {"{\"links\": [{\"table\": \"a.b\", \"u\": \"x\"}]}", "'v'"},
    };
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    char path[256];
    testing_temporary(path, sizeof path, "bad.json");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        graphss_i_map map = {0};
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(bad[i][0], f);
        fclose(f);
        assert_fails(
            ctx, graphss_i_map_read(ctx, &map, path, NULL), GRAPHSS_ERR_DATA, bad[i][1]);
    }
    remove(path);
    graphss_ctx_free(ctx);
}

/* Lines of events, one after another. */
typedef struct collected {
    char text[2048];
} collected;

static graphss_status collect(void *user, const char *line, size_t n)
{
    collected *all = user;
    const size_t at = strlen(all->text);
    snprintf(all->text + at, sizeof all->text - at, "%.*s\n", (int)n, line);
    return GRAPHSS_OK;
}

static graphss_i_cell cell(const char *text)
{
    return (graphss_i_cell){text, text ? strlen(text) : 0, true};
}

TEST(rows_become_events)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    char path[256];
    graphss_i_map map = {0};
    write_map(path, sizeof path, "map.json", "");
    assert_ok(ctx, graphss_i_map_read(ctx, &map, path, NULL));
    const graphss_i_map_table *account = graphss_i_map_find(&map, "public.account");
    const graphss_i_map_table *follows = graphss_i_map_find(&map, "public.follows");
    assert_true(account && follows && !graphss_i_map_find(&map, "public.other"));
    const graphss_i_cell absent = {0};
    const graphss_i_cell anna[] = {cell("1"), cell("human"), cell("31"), cell("t")};
    const graphss_i_cell other[] = {cell("2"), cell(NULL), cell(NULL), absent};
    const graphss_i_cell wrong[] = {cell("3"), absent, cell("old"), cell("f")};
    const graphss_i_cell ab[] = {cell("1"), cell("2")}, ac[] = {absent, cell("3")};
    const graphss_i_cell none[] = {cell("1"), cell(NULL)};
    const struct {
        const graphss_i_map_table *table;
        const graphss_i_cell *before, *after;
        const char *want;
    } row[] = {
        {account, NULL, anna,
            "{\"op\":\"+node\",\"u\":\"a1\",\"features\":{\"age\":31.0,\"paid\":1.0},\"seq\":"
            "8}\n"
            "{\"op\":\"label\",\"u\":\"a1\",\"label\":\"human\",\"seq\":9}\n"},
        {account, anna, other,
            "{\"op\":\"-node\",\"u\":\"a1\",\"seq\":8}\n"
            "{\"op\":\"+node\",\"u\":\"a2\",\"features\":{\"age\":0.0},\"seq\":9}\n"
            "{\"op\":\"label\",\"u\":\"a2\",\"label\":null,\"seq\":10}\n"},
        {account, anna, NULL, "{\"op\":\"-node\",\"u\":\"a1\",\"seq\":8}\n"},
        {account, NULL, wrong,
            "table public.account, column age: found 'old', want a number\n"
            "{\"op\":\"+node\",\"u\":\"a3\",\"features\":{\"paid\":0.0},\"seq\":8}\n"},
        {follows, NULL, ab, "{\"op\":\"+link\",\"u\":\"a1\",\"v\":\"a2\",\"seq\":8}\n"},
        {follows, ab, ab, ""},
        {follows, ab, ac,
            "{\"op\":\"-link\",\"u\":\"a1\",\"v\":\"a2\",\"seq\":8}\n"
            "{\"op\":\"+link\",\"u\":\"a1\",\"v\":\"a3\",\"seq\":9}\n"},
        {follows, ab, NULL, "{\"op\":\"-link\",\"u\":\"a1\",\"v\":\"a2\",\"seq\":8}\n"},
        {follows, ab, none, "{\"op\":\"-link\",\"u\":\"a1\",\"v\":\"a2\",\"seq\":8}\n"},
        {follows, NULL, none, ""},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        collected all = {""};
        const graphss_i_row_change change = {.table = row[i].table,
            .before = row[i].before,
            .after = row[i].after,
            .t = (double)NAN,
            .seq = 8};
        assert_ok(ctx, graphss_i_map_row(ctx, &change, collect, &all));
        assert_string_equal(all.text, row[i].want);
    }
    graphss_i_map_destroy(ctx, &map);
    remove(path);
    graphss_ctx_free(ctx);
}

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
    assert_ok(ctx, graphss_dataset_read(
                       ctx, &w->data, "synth:nodes=100,degree=4,classes=3,features=20", NULL));
    graphss_split_options_init(&split);
    assert_ok(ctx, graphss_split_make(ctx, &w->split, w->data.label, w->data.graph.n_nodes,
                       w->data.n_classes, 1, &split));
    graphss_train_options_init(&opt, "gcn", GRAPHSS_MODE_DEFAULT, &w->data.features);
    opt.epochs = 2;
    const graphss_train_input in = {.struct_size = sizeof in,
        .graph = &w->data.graph,
        .features = &w->data.features,
        .n_classes = w->data.n_classes,
        .split = &w->split,
        .seed = 1};
    assert_ok(ctx, graphss_model_train(ctx, &w->model, NULL, &in, &opt));
    w->seen = graphss_dataset_observe(&w->data);
}

static void world_destroy(graphss_ctx *ctx, world *w)
{
    graphss_model_free(ctx, w->model);
    graphss_split_destroy(ctx, &w->split);
    graphss_dataset_destroy(ctx, &w->data);
}

static graphss_status map_once(graphss_ctx *ctx, void *path)
{
    static const char *const also[] = {"connection", NULL};
    graphss_i_map map = {0};
    collected all = {""};
    const graphss_i_cell anna[] = {cell("1"), cell("human"), cell("31"), cell("t")};
    graphss_status st = graphss_i_map_read(ctx, &map, path, also);
    if (st)
        return st;
    const graphss_i_row_change change = {
        .table = map.table, .after = anna, .t = (double)NAN, .seq = -1};
    st = graphss_i_map_row(ctx, &change, collect, &all);
    graphss_i_map_destroy(ctx, &map);
    return st;
}

typedef struct follow_arguments {
    const world *w;
    char *path, where[300];
} follow_arguments;

static graphss_status follow_once(graphss_ctx *ctx, void *arg)
{
    const follow_arguments *a = arg;
    graphss_live *live = NULL;
    graphss_event_source *s = NULL;
    graphss_status st = graphss_live_new(ctx, &live, a->w->model, &a->w->seen, NULL);
    if (!st)
        st = graphss_event_source_open(ctx, &s, a->path, NULL);
    if (!st)
        st = graphss_live_follow(ctx, live, s, 1);
    if (!st)
        st = graphss_event_source_stored(ctx, s, 1);
    graphss_event_source_free(ctx, s);
    graphss_live_free(ctx, live);
    return st;
}

/* The server is not there, which is no matter of memory. */
static graphss_status extract_once(graphss_ctx *ctx, void *arg)
{
    const follow_arguments *a = arg;
    const graphss_status st = graphss_event_source_extract(ctx, a->where, "/tmp", false);
    return st == GRAPHSS_ERR_IO || st == GRAPHSS_ERR_INVALID ? GRAPHSS_OK : st;
}

TEST(each_allocation_fails)
{
    char path[256];
    world w;
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    world_make(ctx, &w);
    write_map(path, sizeof path, "starved.json",
        ", \"connection\": \"host=/nowhere port=1 connect_timeout=1\"");
    testing_each_allocation_fails(map_once, path);
    follow_arguments a = {&w, path, ""};
    snprintf(a.where, sizeof a.where, "postgresql:%s", path);
    testing_each_allocation_fails(follow_once, &a);
    testing_each_allocation_fails(extract_once, &a);
    remove(path);
    world_destroy(ctx, &w);
    graphss_ctx_free(ctx);
}

TEST(a_database_that_is_not_there_is_said)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    graphss_event_source *s = NULL;
    char path[256], where[300];
    write_map(path, sizeof path, "away.json",
        ", \"connection\": \"host=/nowhere port=1 connect_timeout=1\"");
    snprintf(where, sizeof where, "postgresql:%s", path);
    const graphss_status st = graphss_event_source_open(ctx, &s, where, NULL);
    assert_true(st == GRAPHSS_ERR_IO || st == GRAPHSS_ERR_INVALID); /* or no libpq */
    assert_null(s);
    assert_int_equal(graphss_event_source_extract(ctx, where, "/tmp", false), st);
    assert_fails(ctx, graphss_event_source_extract(ctx, "tail:x", "/tmp", false),
        GRAPHSS_ERR_INVALID, "postgresql:MAP.json");
    remove(path);
    graphss_ctx_free(ctx);
}

#if __has_include(<librdkafka/rdkafka_mock.h>) && defined(GRAPHSS_RDKAFKA)
#include <librdkafka/rdkafka.h>
#ifdef __clang__
#pragma clang diagnostic ignored "-Wgnu-statement-expression" /* in its macros */
#endif
#include <librdkafka/rdkafka_mock.h>

typedef struct broker {
    rd_kafka_t *producer;
    rd_kafka_mock_cluster_t *cluster;
} broker;

static void broker_make(broker *b)
{
    char error[512];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    assert_int_equal(
        rd_kafka_conf_set(conf, "test.mock.num.brokers", "1", error, sizeof error),
        RD_KAFKA_CONF_OK);
    b->producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, error, sizeof error);
    assert_non_null(b->producer);
    b->cluster = rd_kafka_handle_mock_cluster(b->producer);
    assert_int_equal(rd_kafka_mock_topic_create(b->cluster, "changes", 2, 1), 0);
}

static void broker_destroy(broker *b)
{
    rd_kafka_destroy(b->producer);
}

static void produce(const broker *b, int partition, const char *value)
{
    assert_int_equal(rd_kafka_producev(b->producer, RD_KAFKA_V_TOPIC("changes"),
                         RD_KAFKA_V_PARTITION(partition),
                         RD_KAFKA_V_VALUE((void *)(uintptr_t)value, strlen(value)),
                         RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END),
        0);
}

/* Applies up to `most` lines; with `store` the broker gets the offsets. Returns their number.
 */
static size_t take(
    graphss_ctx *ctx, graphss_event_source *s, graphss_live *live, size_t most, bool store)
{
    size_t taken = 0;
    uint64_t offset = 0;
    for (int idle = 0; taken < most && idle < 20;) {
        graphss_event_next what;
        const char *line;
        size_t n;
        assert_ok(ctx, graphss_event_source_next(ctx, &what, &line, &n, &offset, s, 0.2));
        if (what == GRAPHSS_EVENT_NONE) {
            idle++;
            continue;
        }
        graphss_event e = {0};
        assert_ok(ctx, graphss_event_parse(ctx, &e, line, n));
        assert_ok(ctx, graphss_live_apply(ctx, live, &e, 1, NULL));
        graphss_event_destroy(ctx, &e);
        taken++;
    }
    if (store)
        assert_ok(ctx, graphss_event_source_stored(ctx, s, offset));
    return taken;
}

static void kafka_map(const broker *b, char *path, size_t n, bool tables)
{
    char more[512];
    snprintf(more, sizeof more, ", \"brokers\": \"%s\", \"topics\": [\"changes\"]",
        rd_kafka_mock_cluster_bootstraps(b->cluster));
    testing_temporary(path, n, "kafka.json");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    if (tables)
        fprintf(f, MAP, more);
    else
        fprintf(f, "{%s}", more + 2);
    fclose(f);
}

TEST(each_event_of_a_topic_is_applied_once)
{
    enum { EVENTS = 200 };
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    world w;
    broker b;
    graphss_live *live = NULL;
    graphss_event_source *s = NULL;
    graphss_live_status status;
    char path[256], where[300];
    world_make(ctx, &w);
    broker_make(&b);
    assert_ok(ctx, graphss_live_new(ctx, &live, w.model, &w.seen, NULL));
    kafka_map(&b, path, sizeof path, false);
    snprintf(where, sizeof where, "kafka:%s", path);
    for (int i = 0; i < EVENTS; i++) {
        char line[96];
        snprintf(line, sizeof line, "{\"op\":\"+node\",\"u\":\"new %d\"}", i);
        produce(&b, i % 2, line);
    }
    assert_int_equal(rd_kafka_flush(b.producer, 10000), 0);
    /* Some are applied but the broker does not get the offset: the next reader continues after
     * them. */
    assert_ok(ctx, graphss_event_source_open(ctx, &s, where, NULL));
    assert_ok(ctx, graphss_live_follow(ctx, live, s, 0));
    assert_int_equal(take(ctx, s, live, 77, false), 77);
    graphss_event_source_free(ctx, s);
    assert_ok(ctx, graphss_event_source_open(ctx, &s, where, NULL));
    assert_ok(ctx, graphss_live_follow(ctx, live, s, 0));
    assert_int_equal(take(ctx, s, live, EVENTS - 77, true), EVENTS - 77);
    graphss_live_status_get(live, &status);
    assert_int_equal(status.applied, EVENTS);
    assert_int_equal(status.duplicates, 0);
    assert_int_equal(status.n_nodes, 100 + EVENTS);
    assert_int_equal(
        graphss_live_seen(live, "kafka:changes/1"), (EVENTS / 2 - 1) * GRAPHSS_I_ROW_EVENTS);
    graphss_event_source_free(ctx, s);
    remove(path);
    graphss_live_free(ctx, live);
    broker_destroy(&b);
    world_destroy(ctx, &w);
    graphss_ctx_free(ctx);
}

TEST(envelopes_of_debezium_are_rows)
{
    static const char *const value[] = {
        "{\"payload\":{\"op\":\"r\",\"before\":null,\"after\":{\"id\":7,\"kind\":null,\"age\":"
        "31,\"paid\":true},\"source\":{\"schema\":\"public\",\"table\":\"account\"},\"ts_ms\":"
        "1700000000500}}",
        "{\"op\":\"c\",\"before\":null,\"after\":{\"who\":7,\"whom\":8},\"source\":{"
        "\"schema\":"
        "\"public\",\"table\":\"follows\"}}",
        "{\"op\":\"d\",\"before\":{\"who\":7,\"whom\":8},\"after\":null,\"source\":{"
        "\"schema\":"
        "\"public\",\"table\":\"follows\"}}",
        "{\"op\":\"c\",\"after\":{},\"source\":{\"schema\":\"public\",\"table\":\"other\"}}",
        "{\"op\":\"c\",\"after\":{}}", "no json"};
    static const char *const want[] = {
        "{\"op\":\"+node\",\"u\":\"a7\",\"features\":{\"age\":31.0,\"paid\":1.0},\"t\":"
        "1700000000.5,\"source\":\"kafka:changes/0\",\"seq\":0}",
        "{\"op\":\"label\",\"u\":\"a7\",\"label\":null,\"t\":1700000000.5,\"source\":"
        "\"kafka:changes/0\",\"seq\":1}",
        "{\"op\":\"+link\",\"u\":\"a7\",\"v\":\"a8\",\"source\":\"kafka:changes/"
        "0\",\"seq\":4}",
        "{\"op\":\"-link\",\"u\":\"a7\",\"v\":\"a8\",\"source\":\"kafka:changes/"
        "0\",\"seq\":8}",
        "an envelope without source.schema (or db) and source.table", "no json"};
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    broker b;
    graphss_event_source *s = NULL;
    char path[256], where[300];
    broker_make(&b);
    kafka_map(&b, path, sizeof path, true);
    snprintf(where, sizeof where, "kafka:%s", path);
    for (size_t i = 0; i < sizeof value / sizeof *value; i++)
        produce(&b, 0, value[i]);
    assert_int_equal(rd_kafka_flush(b.producer, 10000), 0);
    assert_ok(ctx, graphss_event_source_open(ctx, &s, where, NULL));
    for (size_t i = 0, idle = 0; i < sizeof want / sizeof *want && idle < 50;) {
        graphss_event_next what;
        const char *line;
        size_t n;
        uint64_t offset;
        assert_ok(ctx, graphss_event_source_next(ctx, &what, &line, &n, &offset, s, 0.2));
        idle += what == GRAPHSS_EVENT_NONE;
        if (what == GRAPHSS_EVENT_NONE)
            continue;
        if (n != strlen(want[i]) || memcmp(line, want[i], n))
            print_message("found %.*s\n", (int)n, line);
        assert_int_equal(n, strlen(want[i]));
        assert_memory_equal(line, want[i], n);
        assert_int_equal(what, i == 0 ? GRAPHSS_EVENT_PART : GRAPHSS_EVENT_LINE);
        i++;
    }
    assert_null(graphss_event_source_trouble(s));
    graphss_event_source_free(ctx, s);
    remove(path);
    broker_destroy(&b);
    graphss_ctx_free(ctx);
}

#else

TEST(each_event_of_a_topic_is_applied_once)
{
    print_message("librdkafka-dev is not installed\n");
    skip();
}

TEST(envelopes_of_debezium_are_rows)
{
    print_message("librdkafka-dev is not installed\n");
    skip();
}

#endif

int main(void)
{
    return testing_run();
}
