/* store.c - batches, and the tables they go to. See graphss_store/store.h. */
#include "store/store_private.h"
#include <math.h>
#include <stdarg.h>
#include <string.h>

static const uint64_t KEEP = 1000000;

const char *const graphss_i_store_schema[] = {
    "create table batch(id integer primary key, what text not null, text text, t real)",
    "create table event(batch integer, place integer, line blob not null,"
    " primary key(batch, place)) without rowid",
    "create table refused(id integer primary key, batch integer, cause text, line blob,"
    " t real)",
    "create table source(name text primary key, place integer) without rowid",
    "create table snapshot(batch integer, part integer, bytes blob not null,"
    " primary key(batch, part))",
    "create table alert(id integer primary key, batch integer, grp text, state integer,"
    " t real, settled real, e_value real, threshold real, p_value real, judged integer,"
    " suspects text, who text, note text)",
    "create table audit(id integer primary key, batch integer, t real, what text, text text,"
    " hash text not null)",
    "create table outbox(id integer primary key, json text not null, due real not null)",
    NULL};

/* ---- statements ---- */

enum { VALUES = 16 };

static graphss_status ask(graphss_ctx *ctx, graphss_store *s, graphss_i_query *q,
    const char *sql, const char *types, va_list list)
{
    graphss_i_value value[VALUES] = {{0}};
    size_t n = 0;
    for (; types[n]; n++) {
        graphss_i_value *v = &value[n];
        v->type = types[n];
        if (v->type == 'i')
            v->i = va_arg(list, uint64_t);
        else if (v->type == 'r')
            v->r = va_arg(list, double);
        else if (v->type == 'b')
            v->n = va_arg(list, size_t);
        if (v->type == 't' || v->type == 'b')
            v->text = va_arg(list, const char *);
    }
    *q = (graphss_i_query){.store = s};
    return s->base->ask(ctx, q, sql, value, n);
}

graphss_status graphss_i_store_ask(graphss_ctx *ctx, graphss_store *s, graphss_i_query *q,
    const char *sql, const char *types, ...)
{
    va_list list;
    va_start(list, types);
    const graphss_status st = ask(ctx, s, q, sql, types, list);
    va_end(list);
    return st;
}

bool graphss_i_store_row(graphss_ctx *ctx, graphss_i_query *q, graphss_status *st)
{
    bool is = false;
    if (!*st)
        *st = q->store->base->row(ctx, q, &is);
    return is;
}

void graphss_i_store_done(graphss_i_query *q)
{
    if (q->of)
        q->store->base->done(q);
    q->of = NULL;
}

graphss_status graphss_i_store_run(
    graphss_ctx *ctx, graphss_store *s, const char *sql, const char *types, ...)
{
    va_list list;
    graphss_i_query q = {0};
    va_start(list, types);
    graphss_status st = ask(ctx, s, &q, sql, types, list);
    va_end(list);
    while (graphss_i_store_row(ctx, &q, &st))
        ;
    graphss_i_store_done(&q);
    return st;
}

bool graphss_i_store_null(const graphss_i_query *q, int column)
{
    return q->store->base->null(q, column);
}

uint64_t graphss_i_store_int(const graphss_i_query *q, int column)
{
    return graphss_i_store_null(q, column) ? 0 : q->store->base->number(q, column);
}

double graphss_i_store_real(const graphss_i_query *q, int column)
{
    return graphss_i_store_null(q, column) ? NAN : q->store->base->real(q, column);
}

const char *graphss_i_store_text(const graphss_i_query *q, int column)
{
    size_t n;
    return graphss_i_store_bytes(q, column, &n);
}

const char *graphss_i_store_bytes(const graphss_i_query *q, int column, size_t *n)
{
    *n = 0;
    return graphss_i_store_null(q, column) ? NULL : q->store->base->bytes(q, column, n);
}

graphss_status graphss_i_store_number(
    graphss_ctx *ctx, graphss_store *s, uint64_t *out, const char *sql)
{
    graphss_i_query q = {0};
    graphss_status st = graphss_i_store_ask(ctx, s, &q, sql, "");
    if (graphss_i_store_row(ctx, &q, &st))
        *out = graphss_i_store_int(&q, 0);
    graphss_i_store_done(&q);
    return st;
}

graphss_status graphss_i_store_end(graphss_ctx *ctx, graphss_store *s, graphss_status st)
{
    if (!st) {
        st = graphss_i_store_run(ctx, s, "commit", "");
        s->doubt = s->doubt || st;
    }
    if (st)
        s->base->rollback(s);
    return st;
}

/* ---- opening ---- */

/* The size of a line against --keep: one, and one more for each full kilobyte, so that the
 * setting bounds bytes and not only lines. */
static uint64_t weight(size_t bytes)
{
    return 1 + bytes / 1024;
}

graphss_status graphss_i_store_measure(graphss_ctx *ctx, graphss_store *s)
{
    graphss_status st = graphss_i_store_number(ctx, s, &s->batch,
        "select coalesce(max(b), 0) from (select max(id) as b from batch"
        " union all select max(batch) from snapshot) as x");
    if (st || s->lock < 0)
        return st;
    return graphss_i_store_number(ctx, s, &s->behind,
        "with newest(b) as (select coalesce(max(batch), -1) from snapshot) select"
        " (select coalesce(sum(1 + length(line) / 1024), 0) from event, newest where batch > "
        "b)"
        " + (select coalesce(sum(1 + length(line) / 1024), 0) from refused, newest"
        "    where batch > b)"
        " + (select coalesce(sum(1 + coalesce(length(text), 0) / 1024), 0) from batch, newest"
        "    where id > b)");
}

graphss_status graphss_store_open(
    graphss_ctx *ctx, graphss_store **out, const char *path, graphss_store_mode mode)
{
    if (GRAPHSS_I_LACKS(ctx, {"path", path}, {"place for the store", out}))
        return GRAPHSS_ERR_INVALID;
    graphss_store *s = graphss_i_calloc(ctx, 1, sizeof *s);
    if (!s)
        return GRAPHSS_ERR_NOMEM;
    s->lock = -1;
    s->keep = KEEP;
    s->base = graphss_store_is_server(path) ? &graphss_i_postgresql : &graphss_i_sqlite;
    s->name = s->path = graphss_i_strdup(ctx, path);
    graphss_status st = s->path ? s->base->open(ctx, s, mode) : GRAPHSS_ERR_NOMEM;
    if (!st)
        st = graphss_i_store_measure(ctx, s);
    if (st)
        graphss_store_close(ctx, s);
    else
        *out = s;
    return st;
}

void graphss_store_close(graphss_ctx *ctx, graphss_store *s)
{
    if (!s)
        return;
    s->base->close(ctx, s);
    graphss_release(ctx, s->path);
    graphss_release(ctx, s);
}

bool graphss_store_is_server(const char *path)
{
    return !strncmp(path, "postgresql://", 13) || !strncmp(path, "postgres://", 11);
}

const char *graphss_store_path(const graphss_store *s)
{
    return s->path;
}

void graphss_store_keep(graphss_store *s, uint64_t events)
{
    s->keep = events ? events : KEEP;
}

/* ---- batches ---- */

graphss_status graphss_i_store_begin_batch(
    graphss_ctx *ctx, graphss_store *s, const char *what, const char *text, double now)
{
    return graphss_i_store_run(
        ctx, s, "insert into batch values(?, ?, ?, ?)", "ittr", s->batch + 1, what, text, now);
}

graphss_status graphss_store_start(
    graphss_ctx *ctx, graphss_store *s, const graphss_live *live)
{
    if (GRAPHSS_I_LACKS(ctx, {"store", s}, {"live graph", live}))
        return GRAPHSS_ERR_INVALID;
    uint64_t snapshots = 0;
    graphss_status st =
        graphss_i_store_number(ctx, s, &snapshots, "select count(*) from snapshot");
    if (!st && snapshots)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "%s: it has a live graph already", s->name);
    if (!st)
        st = graphss_i_store_run(ctx, s, "begin immediate", "");
    if (st)
        return st;
    st = graphss_i_store_snapshot(ctx, s, live);
    if (!st)
        st = graphss_i_store_note(ctx, s, NAN, "start", NULL);
    return graphss_i_store_end(ctx, s, st);
}

static graphss_status put_refused(graphss_ctx *ctx, graphss_store *s,
    const graphss_store_line *line, const char *cause, double now)
{
    return graphss_i_store_run(ctx, s,
        "insert into refused(batch, cause, line, t) values(?, ?, ?, ?)", "itbr", s->batch + 1,
        cause, line->n, line->text, now);
}

/* The lines that are events, many by one statement: a server takes as long for one as for
 * all. */
static graphss_status put_lines(graphss_ctx *ctx, graphss_store *s,
    const graphss_store_line *line, char *const *bad, size_t n)
{
    enum { MOST = 256, EACH = 3 };
    static const char head[] = "insert into event values ", row[] = "(?, ?, ?),";
    char *sql = graphss_i_alloc(ctx, sizeof head + MOST * sizeof row, 1);
    graphss_i_value *value = graphss_i_alloc(ctx, (size_t)EACH * MOST, sizeof *value);
    graphss_status st = sql && value ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < n && !st;) {
        char *end = st ? NULL : stpcpy(sql, head);
        size_t m = 0;
        for (; i < n && m < (size_t)EACH * MOST; i++) {
            if (bad[i])
                continue;
            value[m++] = (graphss_i_value){.type = 'i', .i = s->batch + 1};
            value[m++] = (graphss_i_value){.type = 'i', .i = i};
            value[m++] = (graphss_i_value){.type = 'b', .text = line[i].text, .n = line[i].n};
            end = stpcpy(end, row);
        }
        if (m == 0)
            break;
        end[-1] = 0;
        graphss_i_query q = {.store = s};
        st = s->base->ask(ctx, &q, sql, value, m);
        (void)graphss_i_store_row(ctx, &q, &st);
        graphss_i_store_done(&q);
    }
    graphss_release(ctx, value);
    graphss_release(ctx, sql);
    return st;
}

/* Stores lines, rejected lines, alerts and the offset; within a transaction. */
static graphss_status put_rows(graphss_ctx *ctx, graphss_store *s, const graphss_live *live,
    const graphss_store_batch *b, const graphss_live_batch *did, const size_t *place,
    char *const *bad)
{
    graphss_status st = graphss_i_store_begin_batch(ctx, s, "events", NULL, b->now);
    if (!st)
        st = put_lines(ctx, s, b->line, bad, b->n);
    for (size_t i = 0; i < b->n && !st; i++)
        if (bad[i])
            st = put_refused(ctx, s, &b->line[i], bad[i], b->now);
    for (size_t i = 0; i < did->n_refused && !st; i++)
        st = put_refused(
            ctx, s, &b->line[place[did->refused[i].event]], did->refused[i].cause, b->now);
    if (!st && b->source)
        st = graphss_i_store_run(ctx, s,
            "insert into source values(?, ?) on conflict(name) do update "
            "set place = excluded.place",
            "ti", b->source, b->offset);
    if (!st)
        st = graphss_i_store_alerts_put(
            ctx, s, live, did->first_alert, did->first_alert + did->n_alerts);
    return st;
}

/* The batch is stored by now, so a snapshot that cannot be written is no failure of it: it is
 * tried again later. */
void graphss_i_store_fold_if_due(graphss_ctx *ctx, graphss_store *s, const graphss_live *live)
{
    if (2 * s->behind < s->keep)
        return;
    if (graphss_store_fold(ctx, s, live) == GRAPHSS_OK)
        return;
    s->behind = s->keep / 4;
    graphss_i_log(ctx, GRAPHSS_LOG_WARN, "old events are kept for now, no snapshot: %s",
        graphss_ctx_error(ctx));
}

/* The line is stored by now; without memory only the reason is lost. */
static void tell_refused(
    graphss_ctx *ctx, graphss_live_batch *did, size_t line, const char *cause)
{
    graphss_live_refused *more =
        graphss_i_grow(ctx, did->refused, did->n_refused, did->n_refused + 1, sizeof *more);
    if (!more)
        return;
    did->refused = more;
    did->refused[did->n_refused++] = (graphss_live_refused){line, cause};
}

graphss_status graphss_store_put(graphss_ctx *ctx, graphss_store *s, graphss_live *live,
    const graphss_store_batch *b, graphss_live_batch *given)
{
    if (GRAPHSS_I_LACKS(ctx, {"store", s}, {"live graph", live}, {"batch", b},
            {"lines", GRAPHSS_I_FILLED(b ? b->line : NULL, b ? b->n : 0)}))
        return GRAPHSS_ERR_INVALID;
    size_t n_events = 0, lost = 0;
    graphss_live_batch did = {0};
    if (s->doubt && b->source) { /* whether it is of the batch whose commit failed */
        uint64_t at = 0;
        const graphss_status found = graphss_store_offset(ctx, &at, s, b->source);
        if (found || (b->offset && at == b->offset)) {
            if (given && !found)
                *given = did;
            return found;
        }
    }
    s->doubt = false;
    graphss_event *event = graphss_i_calloc(ctx, b->n, sizeof *event);
    size_t *place = graphss_i_alloc(ctx, b->n, sizeof *place);
    char **bad = graphss_i_calloc(ctx, b->n, sizeof *bad);
    graphss_live_status before;
    graphss_live_status_get(live, &before);
    graphss_status st = event && place && bad
                            ? graphss_i_store_parse(ctx, event, &n_events, place, bad, b->line,
                                  b->n, b->now, before.now)
                            : GRAPHSS_ERR_NOMEM;
    if (!st)
        st = graphss_live_apply(ctx, live, event, n_events, &did);
    if (!st)
        st = graphss_i_store_run(ctx, s, "begin immediate", "");
    if (!st)
        st = graphss_i_store_end(ctx, s, put_rows(ctx, s, live, b, &did, place, bad));
    for (size_t i = 0; i < did.n_refused; i++)
        did.refused[i].event = place[did.refused[i].event];
    if (!st)
        s->batch++;
    for (size_t i = 0; i < b->n; i++) {
        const bool ahead = bad && bad[i] && !strcmp(bad[i], graphss_i_store_ahead);
        s->behind += st ? 0 : weight(b->line[i].n);
        if (ahead && !st)
            tell_refused(ctx, &did, i, graphss_i_store_ahead);
        else if (bad && bad[i])
            lost++;
        graphss_release(ctx, bad ? bad[i] : NULL);
        if (event && i < n_events)
            graphss_event_destroy(ctx, &event[i]);
    }
    graphss_release(ctx, bad);
    graphss_release(ctx, place);
    graphss_release(ctx, event);
    if (!st)
        graphss_i_store_fold_if_due(ctx, s, live);
    did.unreadable = lost;
    if (given && !st)
        *given = did;
    else
        graphss_live_batch_destroy(ctx, &did);
    return st;
}

graphss_status graphss_store_offset(
    graphss_ctx *ctx, uint64_t *offset, graphss_store *s, const char *source)
{
    if (GRAPHSS_I_LACKS(
            ctx, {"store", s}, {"source", source}, {"place for the offset", offset}))
        return GRAPHSS_ERR_INVALID;
    graphss_i_query q = {0};
    uint64_t found = 0;
    graphss_status st = graphss_i_store_ask(
        ctx, s, &q, "select place from source where name = ?", "t", source);
    if (graphss_i_store_row(ctx, &q, &st))
        found = graphss_i_store_int(&q, 0);
    graphss_i_store_done(&q);
    if (!st)
        *offset = found;
    return st;
}
