/* source_kafka.c - topics of Kafka: lines of events, or the envelopes of Debezium.
 *
 * All partitions of the topics are read by this one consumer, for a graph needs all of its
 * events. An event is stamped with "kafka:TOPIC/PARTITION" as its source and the offset of its
 * message as its number, so that the live graph applies it once; graphss_live_follow goes on
 * behind the last numbers the graph has, which are stored with it. The broker is told, too,
 * once a batch is stored, for people who watch the lag of the group.
 *
 * librdkafka is opened at run time. */
#include "live/event_map.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#if __has_include(<librdkafka/rdkafka.h>)
#include "base/base.h"
#include "base/json_fault.h"
#include <librdkafka/rdkafka.h>

enum { ERROR = 512, LINES = 1000, WAIT = 10000 /* ms for an answer about topics */ };

typedef struct rdkafka {
    __typeof__(rd_kafka_conf_new) *conf_new;
    __typeof__(rd_kafka_conf_destroy) *conf_destroy;
    __typeof__(rd_kafka_conf_set) *conf_set;
    __typeof__(rd_kafka_new) *create;
    __typeof__(rd_kafka_destroy) *destroy;
    __typeof__(rd_kafka_poll_set_consumer) *poll_set_consumer;
    __typeof__(rd_kafka_consumer_poll) *poll;
    __typeof__(rd_kafka_consumer_close) *close;
    __typeof__(rd_kafka_message_destroy) *message_destroy;
    __typeof__(rd_kafka_message_timestamp) *timestamp;
    __typeof__(rd_kafka_topic_name) *topic_name;
    __typeof__(rd_kafka_topic_new) *topic_new;
    __typeof__(rd_kafka_topic_destroy) *topic_destroy;
    __typeof__(rd_kafka_metadata) *metadata;
    __typeof__(rd_kafka_metadata_destroy) *metadata_destroy;
    __typeof__(rd_kafka_topic_partition_list_new) *list_new;
    __typeof__(rd_kafka_topic_partition_list_add) *list_add;
    __typeof__(rd_kafka_topic_partition_list_destroy) *list_destroy;
    __typeof__(rd_kafka_assign) *assign;
    __typeof__(rd_kafka_committed) *committed;
    __typeof__(rd_kafka_commit) *commit;
    __typeof__(rd_kafka_err2str) *text;
} rdkafka;

static const char *const names[] = {"rd_kafka_conf_new", "rd_kafka_conf_destroy",
    "rd_kafka_conf_set", "rd_kafka_new", "rd_kafka_destroy", "rd_kafka_poll_set_consumer",
    "rd_kafka_consumer_poll", "rd_kafka_consumer_close", "rd_kafka_message_destroy",
    "rd_kafka_message_timestamp", "rd_kafka_topic_name", "rd_kafka_topic_new",
    "rd_kafka_topic_destroy", "rd_kafka_metadata", "rd_kafka_metadata_destroy",
    "rd_kafka_topic_partition_list_new", "rd_kafka_topic_partition_list_add",
    "rd_kafka_topic_partition_list_destroy", "rd_kafka_assign", "rd_kafka_committed",
    "rd_kafka_commit", "rd_kafka_err2str"};

typedef struct reader {
    rdkafka k;
    rd_kafka_t *consumer;
    graphss_i_map map;
    /* all partitions, and the offset each continues from */
    rd_kafka_topic_partition_list_t *list;
    char **source; /* [list->cnt] as events call them */
    int64_t *done; /* [list->cnt] behind the last message that was given, -1: none */
    bool assigned;
    uint64_t given; /* lines */
} reader;

/* ---- opening ---- */

static graphss_status set(graphss_ctx *ctx, const reader *r, rd_kafka_conf_t *conf,
    const char *name, const char *value)
{
    char error[ERROR];
    return r->k.conf_set(conf, name, value, error, sizeof error) == RD_KAFKA_CONF_OK
               ? GRAPHSS_OK
               : graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "kafka: %s", error);
}

static graphss_status connect_to(graphss_ctx *ctx, reader *r, const char *path)
{
    char error[ERROR] = "";
    rd_kafka_conf_t *conf = r->k.conf_new();
    const char *brokers = graphss_i_map_text(&r->map, "brokers", NULL), *name;
    json_t *properties = json_object_get(r->map.root, "properties"), *value;
    graphss_status st = GRAPHSS_OK;
    if (!brokers)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: no text 'brokers'", path);
    const char *const own[][2] = {{"bootstrap.servers", brokers},
        {"group.id", graphss_i_map_text(&r->map, "group", "graphss")},
        {"enable.auto.commit", "false"}, {"enable.auto.offset.store", "false"},
        {"auto.offset.reset", "earliest"}, {"isolation.level", "read_committed"}};
    for (size_t i = 0; i < sizeof own / sizeof *own && !st; i++)
        st = set(ctx, r, conf, own[i][0], own[i][1]);
    json_object_foreach(properties, name, value)
    {
        if (!st && !json_is_string(value))
            st = graphss_i_fail(
                ctx, GRAPHSS_ERR_DATA, "%s: property %s is not text", path, name);
        if (!st)
            st = set(ctx, r, conf, name, json_string_value(value));
    }
    if (!st) {
        r->consumer = r->k.create(RD_KAFKA_CONSUMER, conf, error, sizeof error);
        if (!r->consumer)
            st = graphss_i_fail(ctx, GRAPHSS_ERR_IO, "kafka: %s", error);
    }
    if (!r->consumer)
        r->k.conf_destroy(conf);
    else
        r->k.poll_set_consumer(r->consumer);
    return st;
}

/* The partitions of a topic go to the list. */
static graphss_status list_topic(graphss_ctx *ctx, reader *r, const char *topic)
{
    const rd_kafka_metadata_t *found = NULL;
    rd_kafka_topic_t *handle = r->k.topic_new(r->consumer, topic, NULL);
    rd_kafka_resp_err_t error =
        handle ? r->k.metadata(r->consumer, 0, handle, &found, WAIT) : RD_KAFKA_RESP_ERR__FAIL;
    if (!error && found->topic_cnt == 1)
        error = found->topics[0].err;
    graphss_status st =
        error ? graphss_i_fail(
                    ctx, GRAPHSS_ERR_IO, "kafka: topic %s: %s", topic, r->k.text(error))
        : found->topic_cnt != 1 || !found->topics[0].partition_cnt
            ? graphss_i_fail(ctx, GRAPHSS_ERR_IO, "kafka: topic %s: not there", topic)
            : GRAPHSS_OK;
    for (int p = 0; !st && p < found->topics[0].partition_cnt; p++)
        r->k.list_add(r->list, topic, found->topics[0].partitions[p].id);
    if (found)
        r->k.metadata_destroy(found);
    if (handle)
        r->k.topic_destroy(handle);
    return st;
}

static graphss_status list_topics(graphss_ctx *ctx, reader *r, const char *path)
{
    const json_t *topics = json_object_get(r->map.root, "topics");
    graphss_status st = GRAPHSS_OK;
    r->list = r->k.list_new(8);
    for (size_t i = 0; i < json_array_size(topics) && !st; i++) {
        const char *topic = json_string_value(json_array_get(topics, i));
        st = topic ? list_topic(ctx, r, topic)
                   : graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: a topic is not text", path);
    }
    if (!st && !r->list->cnt)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: no list 'topics'", path);
    const size_t n = st ? 0 : (size_t)r->list->cnt;
    r->source = graphss_i_calloc(ctx, n, sizeof *r->source);
    r->done = graphss_i_alloc(ctx, n, sizeof *r->done);
    if (!st && (!r->source || !r->done))
        st = GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < n && !st; i++) {
        const rd_kafka_topic_partition_t *p = &r->list->elems[i];
        r->done[i] = -1;
        r->source[i] = graphss_i_format(ctx, "kafka:%s/%d", p->topic, (int)p->partition);
        st = r->source[i] ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    }
    return st;
}

graphss_status graphss_i_kafka_open(
    graphss_ctx *ctx, graphss_event_source *s, const char *rest, const graphss_dataset *data)
{
    static const char *const members[] = {"brokers", "topics", "group", "properties", NULL};
    (void)data;
    reader *r = graphss_i_calloc(ctx, 1, sizeof *r);
    if (!r)
        return GRAPHSS_ERR_NOMEM;
    graphss_status st = graphss_i_map_read(ctx, &r->map, rest, members);
    if (!st)
        st = graphss_i_library_find(ctx, &r->k, "librdkafka.so.1",
            "Kafka's library (librdkafka1)", names, sizeof names / sizeof *names);
    if (st) {
        graphss_i_map_destroy(ctx, &r->map);
        graphss_release(ctx, r);
        return st;
    }
    s->self = r;
    st = connect_to(ctx, r, rest);
    return st ? st : list_topics(ctx, r, rest);
}

void graphss_i_kafka_close(graphss_ctx *ctx, graphss_event_source *s)
{
    reader *r = s->self;
    for (int i = 0; r->source && i < r->list->cnt; i++)
        graphss_release(ctx, r->source[i]);
    graphss_release(ctx, r->source);
    graphss_release(ctx, r->done);
    if (r->list)
        r->k.list_destroy(r->list);
    if (r->consumer) {
        (void)r->k.close(r->consumer);
        r->k.destroy(r->consumer);
    }
    graphss_i_map_destroy(ctx, &r->map);
    graphss_release(ctx, r);
}

/* ---- places ---- */

graphss_status graphss_i_kafka_follow(
    graphss_ctx *ctx, graphss_event_source *s, const graphss_live *live)
{
    (void)ctx;
    reader *r = s->self;
    for (int i = 0; i < r->list->cnt; i++) {
        const int64_t seq = graphss_live_seen(live, r->source[i]);
        if (seq >= 0)
            r->list->elems[i].offset = seq / GRAPHSS_I_ROW_EVENTS + 1;
    }
    return GRAPHSS_OK;
}

/* Partitions without applied events continue at the group's offset. */
static graphss_status assign(graphss_ctx *ctx, reader *r)
{
    rd_kafka_topic_partition_list_t *unknown = r->k.list_new(r->list->cnt);
    for (int i = 0; i < r->list->cnt; i++)
        if (r->list->elems[i].offset < 0)
            r->k.list_add(unknown, r->list->elems[i].topic, r->list->elems[i].partition);
    rd_kafka_resp_err_t error =
        unknown->cnt ? r->k.committed(r->consumer, unknown, WAIT) : RD_KAFKA_RESP_ERR_NO_ERROR;
    for (int i = 0, at = 0; i < r->list->cnt && !error; i++) {
        rd_kafka_topic_partition_t *p = &r->list->elems[i];
        if (p->offset < 0) {
            const int64_t found = unknown->elems[at++].offset;
            p->offset = found >= 0 ? found : RD_KAFKA_OFFSET_BEGINNING;
        }
    }
    r->k.list_destroy(unknown);
    if (!error)
        error = r->k.assign(r->consumer, r->list);
    r->assigned = !error;
    return error ? graphss_i_fail(ctx, GRAPHSS_ERR_IO, "kafka: %s", r->k.text(error))
                 : GRAPHSS_OK;
}

graphss_status graphss_i_kafka_stored(
    graphss_ctx *ctx, graphss_event_source *s, uint64_t offset)
{
    (void)ctx;
    reader *r = s->self;
    if (offset != r->given) /* some of the taken lines wait for the next call */
        return GRAPHSS_OK;
    rd_kafka_topic_partition_list_t *list = r->k.list_new(r->list->cnt);
    for (int i = 0; i < r->list->cnt; i++)
        if (r->done[i] >= 0)
            r->k.list_add(list, r->list->elems[i].topic, r->list->elems[i].partition)->offset =
                r->done[i];
    if (list->cnt) /* in the background: nothing is lost if it fails */
        (void)r->k.commit(r->consumer, list, 1);
    r->k.list_destroy(list);
    return GRAPHSS_OK;
}

/* ---- messages ---- */

typedef struct put_line {
    graphss_ctx *ctx;
    graphss_event_source *s;
} put_line;

static graphss_status put(void *user, const char *line, size_t n)
{
    const put_line *p = user;
    reader *r = p->s->self;
    return graphss_i_source_put(p->ctx, p->s, line, n, ++r->given, false);
}

static graphss_status put_text(put_line *p, const char *text)
{
    return put(p, text, strlen(text));
}

/* A line that is an event already gets source and number. */
static graphss_status stamp(put_line *p, json_t *o, const char *source, int64_t seq, double t)
{
    bool good = json_object_set_new(o, "source", json_string(source)) == 0 &&
                json_object_set_new(o, "seq", json_integer(seq)) == 0;
    if (good && !json_object_get(o, "t") && !isnan(t))
        good = json_object_set_new(o, "t", json_real(t)) == 0;
    char *text = good ? json_dumps(o, JSON_COMPACT) : NULL;
    const graphss_status st = text ? put_text(p, text) : graphss_i_nomem(p->ctx, 1);
    free(text);
    return st;
}

/* Values of a row of an envelope, as texts that the caller releases. */
static graphss_status cells(graphss_ctx *ctx, graphss_i_cell *cell, char **kept,
    const graphss_i_map_table *t, const json_t *row)
{
    for (size_t c = 0; c < t->n; c++) {
        const json_t *value = json_object_get(row, t->column[c]);
        cell[c] = (graphss_i_cell){.there = value != NULL};
        if (!value || json_is_null(value))
            continue;
        if (json_is_string(value)) {
            cell[c].text = json_string_value(value);
            cell[c].n = json_string_length(value);
            continue;
        }
        if (json_is_boolean(value)) {
            cell[c].text = json_is_true(value) ? "t" : "f";
            cell[c].n = 1;
            continue;
        }
        char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
        kept[c] = text ? graphss_i_strdup(ctx, text) : NULL;
        free(text);
        if (!kept[c])
            return graphss_i_nomem(ctx, 1);
        cell[c].text = kept[c];
        cell[c].n = strlen(kept[c]);
    }
    return GRAPHSS_OK;
}

/* Debezium: op c, u, d or r (of its first snapshot); before, after; source.schema and .table
 * (.db where there is no schema); ts_ms. */
static graphss_status envelope(put_line *p, const json_t *e, const char *source, int64_t seq)
{
    const reader *r = p->s->self;
    const json_t *from = json_object_get(e, "source");
    const char *schema = json_string_value(json_object_get(from, "schema"));
    const char *table = json_string_value(json_object_get(from, "table"));
    const json_t *row[2] = {json_object_get(e, "before"), json_object_get(e, "after")};
    const json_t *ms = json_object_get(e, "ts_ms");
    graphss_ctx *ctx = p->ctx;
    if (!schema)
        schema = json_string_value(json_object_get(from, "db"));
    if (!table || !schema)
        return put_text(p, "an envelope without source.schema (or db) and source.table");
    char *full = graphss_i_format(ctx, "%s.%s", schema, table);
    if (!full)
        return GRAPHSS_ERR_NOMEM;
    const graphss_i_map_table *t = graphss_i_map_find(&r->map, full);
    graphss_release(ctx, full);
    if (!t)
        return GRAPHSS_OK;
    graphss_i_cell *cell = graphss_i_calloc(ctx, 2 * t->n, sizeof *cell);
    char **kept = graphss_i_calloc(ctx, 2 * t->n, sizeof *kept);
    graphss_status st = cell && kept ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < 2 && !st; i++)
        if (json_is_object(row[i]))
            st = cells(ctx, cell + i * t->n, kept + i * t->n, t, row[i]);
    if (!st)
        st = graphss_i_map_row(ctx,
            &(graphss_i_row_change){.table = t,
                .before = json_is_object(row[0]) ? cell : NULL,
                .after = json_is_object(row[1]) ? cell + t->n : NULL,
                .t = json_is_number(ms) ? json_number_value(ms) / 1000 : (double)NAN,
                .source = source,
                .seq = seq},
            put, p);
    for (size_t i = 0; kept && i < 2 * t->n; i++)
        graphss_release(ctx, kept[i]);
    graphss_release(ctx, kept);
    graphss_release(ctx, cell);
    return st;
}

static graphss_status take_message(
    graphss_ctx *ctx, graphss_event_source *s, const rd_kafka_message_t *m, size_t partition)
{
    reader *r = s->self;
    put_line p = {ctx, s};
    bool starved = false;
    json_error_t error;
    rd_kafka_timestamp_type_t type;
    const int64_t ms = r->k.timestamp(m, &type), seq = m->offset * GRAPHSS_I_ROW_EVENTS;
    const double t =
        type == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE ? (double)NAN : (double)ms / 1000;
    r->done[partition] = m->offset + 1;
    if (!m->payload) /* a tombstone */
        return GRAPHSS_OK;
    const size_t before = s->n_lines;
    json_t *o =
        graphss_i_json_load(m->payload, m->len, JSON_REJECT_DUPLICATES, &error, &starved);
    if (starved)
        return graphss_i_nomem(ctx, m->len);
    json_t *e =
        json_is_object(json_object_get(o, "payload")) ? json_object_get(o, "payload") : o;
    graphss_status st = !json_is_object(o)
                            ? put(&p, m->payload, m->len) /* the parser says what is wrong */
                        : r->map.n ? envelope(&p, e, r->source[partition], seq)
                                   : stamp(&p, o, r->source[partition], seq, t);
    json_decref(o);
    for (size_t i = before; i + 1 < s->n_lines; i++)
        s->line[i].part = true; /* the number of a message counts once all of it is stored */
    return st;
}

graphss_status graphss_i_kafka_more(graphss_ctx *ctx, graphss_event_source *s, double seconds)
{
    reader *r = s->self;
    graphss_status st = r->assigned ? GRAPHSS_OK : assign(ctx, r);
    int wait = seconds > 60 ? 60000 : seconds > 0 ? (int)(1000 * seconds) : 0;
    while (!st && s->n_lines < LINES) {
        rd_kafka_message_t *m = r->k.poll(r->consumer, wait);
        if (!m)
            break;
        if (m->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            size_t at = 0;
            while (at < (size_t)r->list->cnt &&
                   (r->list->elems[at].partition != m->partition ||
                       strcmp(r->list->elems[at].topic, r->k.topic_name(m->rkt)) != 0))
                at++;
            if (at < (size_t)r->list->cnt)
                st = take_message(ctx, s, m, at);
            if (!st)
                st = graphss_i_source_say(ctx, s, NULL);
        } else if (m->err != RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            st = graphss_i_source_say(ctx, s, r->k.text(m->err));
        }
        r->k.message_destroy(m);
        wait = s->n_lines ? 0 : wait;
    }
    return st;
}

#else /* built without librdkafka-dev */

graphss_status graphss_i_kafka_open(
    graphss_ctx *ctx, graphss_event_source *s, const char *rest, const graphss_dataset *data)
{
    (void)s;
    (void)data;
    return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
        "kafka:%s: this build has no Kafka; it needs librdkafka-dev", rest);
}

graphss_status graphss_i_kafka_more(graphss_ctx *ctx, graphss_event_source *s, double seconds)
{
    (void)ctx;
    (void)s;
    (void)seconds;
    return GRAPHSS_OK;
}

graphss_status graphss_i_kafka_follow(
    graphss_ctx *ctx, graphss_event_source *s, const graphss_live *live)
{
    (void)ctx;
    (void)s;
    (void)live;
    return GRAPHSS_OK;
}

graphss_status graphss_i_kafka_stored(
    graphss_ctx *ctx, graphss_event_source *s, uint64_t offset)
{
    (void)ctx;
    (void)s;
    (void)offset;
    return GRAPHSS_OK;
}

void graphss_i_kafka_close(graphss_ctx *ctx, graphss_event_source *s)
{
    (void)ctx;
    (void)s;
}

#endif
