/* store_sqlite.c - a store in a file of SQLite's. */
#include "store/store_private.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum {
    WAIT = 10000 /* milliseconds, for who writes */,
    APPLICATION = 1196577619 /* "GRSS" */
};

static graphss_status fault(graphss_ctx *ctx, const graphss_store *s)
{
    const int code = sqlite3_errcode(s->db);
    if (code == SQLITE_NOMEM)
        return graphss_i_nomem(ctx, 0);
    return graphss_i_fail(ctx,
        code == SQLITE_NOTADB || code == SQLITE_CORRUPT ? GRAPHSS_ERR_DATA : GRAPHSS_ERR_IO,
        "%s: %s", s->name, sqlite3_errmsg(s->db));
}

/* ---- statements ---- */

static int bind(sqlite3_stmt *statement, int i, const graphss_i_value *v)
{
    if (v->type == 'i')
        return sqlite3_bind_int64(statement, i, (sqlite3_int64)v->i);
    if (v->type == 'r')
        return isnan(v->r) ? sqlite3_bind_null(statement, i)
                           : sqlite3_bind_double(statement, i, v->r);
    if (v->type == 't')
        return sqlite3_bind_text(statement, i, v->text, -1, SQLITE_STATIC);
    return sqlite3_bind_blob64(statement, i, v->text, v->n, SQLITE_STATIC);
}

static graphss_status ask(graphss_ctx *ctx, graphss_i_query *q, const char *sql,
    const graphss_i_value *value, size_t n)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(q->store->db, sql, -1, &statement, NULL);
    for (size_t i = 0; i < n && code == SQLITE_OK; i++)
        code = bind(statement, (int)i + 1, &value[i]);
    const graphss_status st = code == SQLITE_OK ? GRAPHSS_OK : fault(ctx, q->store);
    if (st)
        sqlite3_finalize(statement);
    else
        q->of = statement;
    return st;
}

static graphss_status row(graphss_ctx *ctx, graphss_i_query *q, bool *is)
{
    const int code = sqlite3_step(q->of);
    *is = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE ? GRAPHSS_OK : fault(ctx, q->store);
}

static void done(graphss_i_query *q)
{
    sqlite3_finalize(q->of);
}

static bool null(const graphss_i_query *q, int column)
{
    return sqlite3_column_type(q->of, column) == SQLITE_NULL;
}

static uint64_t number(const graphss_i_query *q, int column)
{
    return (uint64_t)sqlite3_column_int64(q->of, column);
}

static double real(const graphss_i_query *q, int column)
{
    return sqlite3_column_double(q->of, column);
}

static const char *bytes(const graphss_i_query *q, int column, size_t *n)
{
    const char *text = (const char *)sqlite3_column_text(q->of, column);
    *n = (size_t)sqlite3_column_bytes(q->of, column);
    return text;
}

static void rollback(graphss_store *s)
{
    if (!sqlite3_get_autocommit(s->db))
        (void)sqlite3_exec(s->db, "rollback", NULL, NULL, NULL);
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

static graphss_status make_tables(graphss_ctx *ctx, graphss_store *s)
{
    char version[96];
    snprintf(
        version, sizeof version, "pragma user_version = %d", (int)GRAPHSS_I_STORE_VERSION);
    graphss_status st = graphss_i_store_run(ctx, s, "pragma journal_mode = wal", "");
    if (!st)
        st = graphss_i_store_run(ctx, s, "begin immediate", "");
    if (st)
        return st;
    for (size_t i = 0; graphss_i_store_schema[i] && !st; i++)
        st = graphss_i_store_run(ctx, s, graphss_i_store_schema[i], "");
    if (!st)
        st = graphss_i_store_run(ctx, s, version, "");
    snprintf(version, sizeof version, "pragma application_id = %d", (int)APPLICATION);
    if (!st)
        st = graphss_i_store_run(ctx, s, version, "");
    return graphss_i_store_end(ctx, s, st);
}

static graphss_status prepare(graphss_ctx *ctx, graphss_store *s, graphss_store_mode mode)
{
    uint64_t version = 0, tables = 0;
    graphss_status st = graphss_i_store_number(ctx, s, &version, "pragma user_version");
    if (!st)
        st = graphss_i_store_number(ctx, s, &tables, "select count(*) from sqlite_master");
    if (!st && mode == GRAPHSS_STORE_WRITE && tables == 0) {
        st = make_tables(ctx, s);
        version = GRAPHSS_I_STORE_VERSION;
    }
    if (!st && version != GRAPHSS_I_STORE_VERSION)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: no store of version %d", s->name,
            (int)GRAPHSS_I_STORE_VERSION);
    if (!st && mode != GRAPHSS_STORE_READ)
        st = graphss_i_store_run(ctx, s, "pragma synchronous = full", "");
    return st;
}

static graphss_status open_file(graphss_ctx *ctx, graphss_store *s, graphss_store_mode mode)
{
    sqlite3 *db = NULL;
    if (mode != GRAPHSS_STORE_WRITE && access(s->path, F_OK) != 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_NOT_FOUND, "%s: %s", s->path, strerror(errno));
    graphss_status st = mode == GRAPHSS_STORE_READ || mode == GRAPHSS_STORE_OUTBOX
                            ? GRAPHSS_OK
                            : take_lock(ctx, s);
    if (st)
        return st;
    const int flags = mode == GRAPHSS_STORE_READ ? SQLITE_OPEN_READONLY
                      : mode == GRAPHSS_STORE_WRITE
                          ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                          : SQLITE_OPEN_READWRITE;
    const int code = sqlite3_open_v2(s->path, &db, flags, NULL);
    s->db = db;
    if (code != SQLITE_OK)
        return db ? fault(ctx, s) : graphss_i_nomem(ctx, 0);
    sqlite3_busy_timeout(db, WAIT);
    return prepare(ctx, s, mode);
}

static void close_file(graphss_ctx *ctx, graphss_store *s)
{
    (void)ctx;
    sqlite3_close(s->db);
    if (s->lock >= 0)
        close(s->lock);
}

static graphss_status revive(graphss_ctx *ctx, graphss_store *s, bool *again)
{
    (void)ctx;
    (void)s;
    *again = false;
    return GRAPHSS_OK;
}

const graphss_i_database graphss_i_sqlite = {
    open_file, close_file, revive, rollback, ask, row, done, null, number, real, bytes};
