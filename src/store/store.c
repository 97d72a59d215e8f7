/* store.c - the file, its transactions, batches. See graphss_store/store.h. */
#include "store/store_private.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { VERSION = 1 };
static const uint64_t KEEP = 1000000;

static const char SCHEMA[] =
    "begin immediate;"
    "create table batch(id integer primary key, what text not null, text text, t real);"
    "create table event(batch integer, place integer, line blob not null,"
    "  primary key(batch, place)) without rowid;"
    "create table refused(id integer primary key, batch integer, cause text, line blob, t "
    "real);"
    "create table source(name text primary key, place integer) without rowid;"
    "create table snapshot(batch integer, part integer, bytes blob not null,"
    "  primary key(batch, part));"
    "create table alert(id integer primary key, batch integer, grp text, state integer, t "
    "real,"
    "  settled real, e_value real, threshold real, p_value real, judged integer, suspects "
    "text,"
    "  who text, note text);"
    "create table audit(id integer primary key, batch integer, t real, what text, text text,"
    "  hash text not null);"
    "create table outbox(id integer primary key, json text not null, due real not null);"
    "pragma user_version = 1;"
    "pragma application_id = 1196577619;" /* "GRSS" */
    "commit;";

/* ---- statements ---- */

graphss_status graphss_i_store_fault(graphss_ctx *ctx, graphss_store *s)
{
    const int code = sqlite3_errcode(s->db);
    if (code == SQLITE_NOMEM)
        return graphss_i_nomem(ctx, 0);
    return graphss_i_fail(ctx,
        code == SQLITE_NOTADB || code == SQLITE_CORRUPT ? GRAPHSS_ERR_DATA : GRAPHSS_ERR_IO,
        "%s: %s", s->path, sqlite3_errmsg(s->db));
}

static graphss_status ask(graphss_ctx *ctx, graphss_store *s, sqlite3_stmt **out,
    const char *sql, const char *types, va_list list)
{
    sqlite3_stmt *q = NULL;
    int code = sqlite3_prepare_v2(s->db, sql, -1, &q, NULL);
    for (int i = 1; types[i - 1] && code == SQLITE_OK; i++) {
        const char type = types[i - 1];
        if (type == 'i') {
            code = sqlite3_bind_int64(q, i, (sqlite3_int64)va_arg(list, uint64_t));
        } else if (type == 'r') {
            const double x = va_arg(list, double);
            code = isnan(x) ? sqlite3_bind_null(q, i) : sqlite3_bind_double(q, i, x);
        } else if (type == 't') {
            code = sqlite3_bind_text(q, i, va_arg(list, const char *), -1, SQLITE_STATIC);
        } else {
            const size_t n = va_arg(list, size_t);
            code = sqlite3_bind_blob64(q, i, va_arg(list, const void *), n, SQLITE_STATIC);
        }
    }
    if (code == SQLITE_OK) {
        *out = q;
        return GRAPHSS_OK;
    }
    const graphss_status st = graphss_i_store_fault(ctx, s);
    sqlite3_finalize(q);
    return st;
}

graphss_status graphss_i_store_ask(graphss_ctx *ctx, graphss_store *s, sqlite3_stmt **out,
    const char *sql, const char *types, ...)
{
    va_list list;
    va_start(list, types);
    const graphss_status st = ask(ctx, s, out, sql, types, list);
    va_end(list);
    return st;
}

bool graphss_i_store_row(
    graphss_ctx *ctx, graphss_store *s, sqlite3_stmt *q, graphss_status *st)
{
    if (*st)
        return false;
    const int code = sqlite3_step(q);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        *st = graphss_i_store_fault(ctx, s);
    return code == SQLITE_ROW;
}

graphss_status graphss_i_store_run(
    graphss_ctx *ctx, graphss_store *s, const char *sql, const char *types, ...)
{
    va_list list;
    sqlite3_stmt *q = NULL;
    va_start(list, types);
    graphss_status st = ask(ctx, s, &q, sql, types, list);
    va_end(list);
    while (graphss_i_store_row(ctx, s, q, &st))
        ;
    sqlite3_finalize(q);
    return st;
}

double graphss_i_store_real(sqlite3_stmt *q, int column)
{
    return sqlite3_column_type(q, column) == SQLITE_NULL ? NAN
                                                         : sqlite3_column_double(q, column);
}

graphss_status graphss_i_store_end(graphss_ctx *ctx, graphss_store *s, graphss_status st)
{
    if (!st)
        st = graphss_i_store_run(ctx, s, "commit", "");
    if (st && !sqlite3_get_autocommit(s->db))
        (void)sqlite3_exec(s->db, "rollback", NULL, NULL, NULL);
    return st;
}

/* ---- the file ---- */

static graphss_status take_lock(graphss_ctx *ctx, graphss_store *s)
{
    char *path = graphss_i_format(ctx, "%s-lock", s->path);
    if (!path)
        return GRAPHSS_ERR_NOMEM;
    graphss_status st = GRAPHSS_OK;
    s->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (s->lock < 0)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_IO, "%s: %s", path, strerror(errno));
    else if (flock(s->lock, LOCK_EX | LOCK_NB) != 0)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_IO, "%s: another process writes to it", s->path);
    graphss_release(ctx, path);
    return st;
}

static graphss_status one_number(
    graphss_ctx *ctx, graphss_store *s, uint64_t *out, const char *sql)
{
    sqlite3_stmt *q = NULL;
    graphss_status st = graphss_i_store_ask(ctx, s, &q, sql, "");
    if (graphss_i_store_row(ctx, s, q, &st))
        *out = (uint64_t)sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return st;
}

/* What a line counts for against --keep: one, and one more for each full kilobyte, so that
 * the setting bounds bytes and not lines alone. */
static uint64_t weight(size_t bytes)
{
    return 1 + bytes / 1024;
}

/* Of lines behind the newest snapshot, as they are on the disk. */
static graphss_status weigh(graphss_ctx *ctx, graphss_store *s)
{
    return one_number(ctx, s, &s->behind,
        "with newest(b) as (select coalesce(max(batch), -1) from snapshot) select"
        " (select coalesce(sum(1 + length(line) / 1024), 0) from event, newest where batch > "
        "b)"
        " + (select coalesce(sum(1 + length(line) / 1024), 0) from refused, newest"
        "    where batch > b)"
        " + (select coalesce(sum(1 + coalesce(length(text), 0) / 1024), 0) from batch, newest"
        "    where id > b)");
}

static graphss_status prepare(graphss_ctx *ctx, graphss_store *s, graphss_store_mode mode)
{
    uint64_t version = 0, tables = 0;
    graphss_status st = one_number(ctx, s, &version, "pragma user_version");
    if (!st)
        st = one_number(ctx, s, &tables, "select count(*) from sqlite_master");
    if (!st && mode == GRAPHSS_STORE_WRITE && tables == 0) {
        st = graphss_i_store_run(ctx, s, "pragma journal_mode = wal", "");
        if (!st && sqlite3_exec(s->db, SCHEMA, NULL, NULL, NULL) != SQLITE_OK)
            st = graphss_i_store_fault(ctx, s);
        version = VERSION;
    }
    if (!st && version != VERSION)
        st = graphss_i_fail(
            ctx, GRAPHSS_ERR_DATA, "%s: no store of version %d", s->path, (int)VERSION);
    if (!st && mode != GRAPHSS_STORE_READ)
        st = graphss_i_store_run(ctx, s, "pragma synchronous = full", "");
    if (!st)
        st = one_number(ctx, s, &s->batch,
            "select max((select coalesce(max(id), 0) from batch),"
            " (select coalesce(max(batch), 0) from snapshot))");
    return !st && mode == GRAPHSS_STORE_WRITE ? weigh(ctx, s) : st;
}

graphss_status graphss_store_open(
    graphss_ctx *ctx, graphss_store **out, const char *path, graphss_store_mode mode)
{
    if (GRAPHSS_I_LACKS(ctx, {"path", path}, {"place for the store", out}))
        return GRAPHSS_ERR_INVALID;
    if (mode != GRAPHSS_STORE_WRITE && access(path, F_OK) != 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_NOT_FOUND, "%s: %s", path, strerror(errno));
    graphss_store *s = graphss_i_calloc(ctx, 1, sizeof *s);
    if (!s)
        return GRAPHSS_ERR_NOMEM;
    s->lock = -1;
    s->keep = KEEP;
    s->path = graphss_i_strdup(ctx, path);
    graphss_status st = s->path ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    if (!st && mode != GRAPHSS_STORE_READ && mode != GRAPHSS_STORE_OUTBOX)
        st = take_lock(ctx, s);
    const int flags = mode == GRAPHSS_STORE_READ ? SQLITE_OPEN_READONLY
                      : mode == GRAPHSS_STORE_WRITE
                          ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                          : SQLITE_OPEN_READWRITE;
    if (!st && sqlite3_open_v2(path, &s->db, flags, NULL) != SQLITE_OK)
        st = s->db ? graphss_i_store_fault(ctx, s) : graphss_i_nomem(ctx, 0);
    if (!st) {
        sqlite3_busy_timeout(s->db, 10000);
        st = prepare(ctx, s, mode);
    }
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
    sqlite3_close(s->db);
    if (s->lock >= 0)
        close(s->lock);
    graphss_release(ctx, s->path);
    graphss_release(ctx, s);
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
    graphss_status st = one_number(ctx, s, &snapshots, "select count(*) from snapshot");
    if (!st && snapshots)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "%s: it has a live graph already", s->path);
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
    return graphss_i_store_run(ctx, s, "insert into refused values(null, ?, ?, ?, ?)", "itTr",
        s->batch + 1, cause, line->n, line->text, now);
}

/* Lines, what was refused, alerts and the offset; within a transaction. */
static graphss_status put_rows(graphss_ctx *ctx, graphss_store *s, const graphss_live *live,
    const graphss_store_batch *b, const graphss_live_batch *did, const size_t *place,
    char *const *bad)
{
    graphss_status st = graphss_i_store_begin_batch(ctx, s, "events", NULL, b->now);
    sqlite3_stmt *q = NULL;
    if (!st)
        st = graphss_i_store_ask(ctx, s, &q, "insert into event values(?, ?, ?)", "");
    for (size_t i = 0; i < b->n && !st; i++) {
        if (bad[i]) {
            st = put_refused(ctx, s, &b->line[i], bad[i], b->now);
            continue;
        }
        sqlite3_bind_int64(q, 1, (sqlite3_int64)s->batch + 1);
        sqlite3_bind_int64(q, 2, (sqlite3_int64)i);
        sqlite3_bind_blob64(q, 3, b->line[i].text, b->line[i].n, SQLITE_STATIC);
        (void)graphss_i_store_row(ctx, s, q, &st);
        sqlite3_reset(q);
    }
    sqlite3_finalize(q);
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

graphss_status graphss_store_put(graphss_ctx *ctx, graphss_store *s, graphss_live *live,
    const graphss_store_batch *b, graphss_live_batch *given)
{
    if (GRAPHSS_I_LACKS(ctx, {"store", s}, {"live graph", live}, {"batch", b},
            {"lines", GRAPHSS_I_FILLED(b ? b->line : NULL, b ? b->n : 0)}))
        return GRAPHSS_ERR_INVALID;
    size_t n_events = 0, lost = 0;
    graphss_live_batch did = {0};
    graphss_event *event = graphss_i_calloc(ctx, b->n, sizeof *event);
    size_t *place = graphss_i_alloc(ctx, b->n, sizeof *place);
    char **bad = graphss_i_calloc(ctx, b->n, sizeof *bad);
    graphss_status st = event && place && bad ? graphss_i_store_parse(ctx, event, &n_events,
                                                    place, bad, b->line, b->n, b->now)
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
        s->behind += st ? 0 : weight(b->line[i].n);
        if (bad && bad[i])
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
    sqlite3_stmt *q = NULL;
    uint64_t found = 0;
    graphss_status st = graphss_i_store_ask(
        ctx, s, &q, "select place from source where name = ?", "t", source);
    if (graphss_i_store_row(ctx, s, q, &st))
        found = (uint64_t)sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    if (!st)
        *offset = found;
    return st;
}
