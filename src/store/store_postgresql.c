/* store_postgresql.c - a store in a schema of a PostgreSQL server.
 *
 * Values go and come in the server's binary form: whole numbers and doubles as eight bytes,
 * most significant first, so that doubles keep their bits. The writer holds an advisory lock
 * of the session. When a connection is lost the lock is, too, and another process may write:
 * so nothing is written on a new connection before graphss_store_resume has read the state
 * again. */
#include "live/postgresql.h"
#include "store/store_private.h"
#include <math.h>
#include <string.h>

enum { INT8 = 20, FLOAT8 = 701, TEXT = 25, BYTEA = 17, LOCK = 1196577619 /* "GRSS" */ };
enum { NUMBER = 8 };

typedef struct server {
    libpq pq;
    pg_conn *connection;
    char name[200];
    graphss_store_mode mode;
} server;

static bool holds_state(const server *x)
{
    return x->mode == GRAPHSS_STORE_WRITE || x->mode == GRAPHSS_STORE_CHANGE;
}

static graphss_status fault(graphss_ctx *ctx, const graphss_store *s, const pg_result *result)
{
    const server *x = s->db;
    char text[400];
    const char *why = result ? x->pq.result_error(result, PRIMARY) : NULL;
    snprintf(text, sizeof text, "%s", why ? why : x->pq.error(x->connection));
    text[strcspn(text, "\n")] = '\0';
    return graphss_i_fail(ctx, GRAPHSS_ERR_IO, "%s: %s", s->name, text);
}

/* ---- statements ---- */

static void put_number(unsigned char *out, uint64_t x)
{
    for (size_t i = 0; i < NUMBER; i++)
        out[i] = (unsigned char)(x >> (8 * (NUMBER - 1 - i)));
}

/* `?` as $1, $2, ...; "immediate" goes. The caller releases. */
static char *translate(graphss_ctx *ctx, const char *sql, size_t n)
{
    char *out = graphss_i_alloc(ctx, strlen(sql) + 12 * n + 1, 1), *end = out;
    size_t k = 0;
    if (!out)
        return NULL;
    if (!strcmp(sql, "begin immediate"))
        sql = "begin";
    for (; *sql; sql++)
        if (*sql == '?')
            end += sprintf(end, "$%zu", ++k);
        else
            *end++ = *sql;
    *end = '\0';
    return out;
}

/* A text as the server takes it; NULL: no memory. The caller releases. */
static char *mended(graphss_ctx *ctx, const char *text)
{
    char *out = graphss_i_strdup(ctx, text);
    if (out && !graphss_i_is_utf8((const unsigned char *)out, strlen(out)))
        graphss_i_utf8_mend(out);
    return out;
}

/* The values of a statement, as libpq wants them. */
typedef struct parameters {
    size_t n;
    unsigned *type;
    const char **value;
    int *length, *format;
    unsigned char *numbers; /* [n x NUMBER] */
    char **texts;           /* [n] our copies */
} parameters;

static void parameters_destroy(graphss_ctx *ctx, parameters *p)
{
    for (size_t i = 0; p->texts && i < p->n; i++)
        graphss_release(ctx, p->texts[i]);
    void *const all[] = {
        p->type, (void *)p->value, p->length, p->format, p->numbers, (void *)p->texts};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        graphss_release(ctx, all[i]);
}

static graphss_status parameters_make(
    graphss_ctx *ctx, parameters *p, const graphss_i_value *value, size_t n)
{
    *p = (parameters){.n = n,
        .type = graphss_i_alloc(ctx, n, sizeof *p->type),
        .value = graphss_i_calloc(ctx, n, sizeof *p->value),
        .length = graphss_i_calloc(ctx, n, sizeof *p->length),
        .format = graphss_i_alloc(ctx, n, sizeof *p->format),
        .numbers = graphss_i_alloc(ctx, n, NUMBER),
        .texts = graphss_i_calloc(ctx, n, sizeof *p->texts)};
    if (!p->type || !p->value || !p->length || !p->format || !p->numbers || !p->texts)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < n; i++) {
        const graphss_i_value *v = &value[i];
        unsigned char *number = p->numbers + i * NUMBER;
        uint64_t bits = v->i;
        p->format[i] = 1;
        if (v->type == 't') {
            p->type[i] = TEXT;
            p->format[i] = 0;
            if (v->text && !(p->texts[i] = mended(ctx, v->text)))
                return GRAPHSS_ERR_NOMEM;
            p->value[i] = p->texts[i];
        } else if (v->type == 'b') {
            p->type[i] = BYTEA;
            p->value[i] = v->n ? v->text : "";
            p->length[i] = (int)v->n;
        } else {
            if (v->type == 'r')
                memcpy(&bits, &v->r, sizeof bits);
            put_number(number, bits);
            p->type[i] = v->type == 'r' ? FLOAT8 : INT8;
            p->value[i] = v->type == 'r' && isnan(v->r) ? NULL : (const char *)number;
            p->length[i] = NUMBER;
        }
    }
    return GRAPHSS_OK;
}

static graphss_status connect_again(graphss_ctx *ctx, graphss_store *s);

static graphss_status ask(graphss_ctx *ctx, graphss_i_query *q, const char *sql,
    const graphss_i_value *value, size_t n)
{
    graphss_store *s = q->store;
    server *x = s->db;
    parameters p = {0};
    pg_result *result = NULL;
    graphss_status st = GRAPHSS_OK;
    if (x->pq.status(x->connection) != CONNECTION_OK) /* readers may continue */
        st = holds_state(x) ? fault(ctx, s, NULL) : connect_again(ctx, s);
    char *text = st ? NULL : translate(ctx, sql, n);
    if (!st)
        st = text ? parameters_make(ctx, &p, value, n) : GRAPHSS_ERR_NOMEM;
    if (!st) {
        result =
            x->pq.ask(x->connection, text, (int)n, p.type, p.value, p.length, p.format, 1);
        const int code = result ? x->pq.result(result) : -1;
        if (code != COMMAND_OK && code != TUPLES_OK)
            st = fault(ctx, s, result);
    }
    parameters_destroy(ctx, &p);
    graphss_release(ctx, text);
    if (st)
        x->pq.clear(result);
    else
        q->of = result;
    q->next = 0;
    return st;
}

static graphss_status row(graphss_ctx *ctx, graphss_i_query *q, bool *is)
{
    const server *x = q->store->db;
    (void)ctx;
    *is = q->next < (size_t)x->pq.rows(q->of);
    q->next += *is;
    return GRAPHSS_OK;
}

static void done(graphss_i_query *q)
{
    ((server *)q->store->db)->pq.clear(q->of);
}

static bool null(const graphss_i_query *q, int column)
{
    return ((server *)q->store->db)->pq.is_null(q->of, (int)q->next - 1, column);
}

static const char *bytes(const graphss_i_query *q, int column, size_t *n)
{
    const server *x = q->store->db;
    *n = (size_t)x->pq.length(q->of, (int)q->next - 1, column);
    return x->pq.value(q->of, (int)q->next - 1, column);
}

static uint64_t number(const graphss_i_query *q, int column)
{
    size_t n;
    uint64_t x = 0;
    const unsigned char *at = (const unsigned char *)bytes(q, column, &n);
    for (size_t i = 0; i < n; i++)
        x = x << 8 | at[i];
    return x;
}

static double real(const graphss_i_query *q, int column)
{
    const uint64_t bits = number(q, column);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void rollback(graphss_store *s)
{
    const server *x = s->db;
    if (x->pq.status(x->connection) == CONNECTION_OK && x->pq.transaction(x->connection))
        x->pq.clear(x->pq.exec(x->connection, "rollback"));
}

/* ---- tables ---- */

/* The types of SQLite as the server calls them; whole numbers have 64 bits in both. */
static char *server_types(graphss_ctx *ctx, const char *sql)
{
    static const char *const word[][2] = {
        {"id integer primary key", "id bigserial primary key"}, {" integer", " bigint"},
        {" blob", " bytea"}, {" real", " double precision"}, {" without rowid", ""}};
    char *out = graphss_i_alloc(ctx, 2 * strlen(sql) + 1, 1), *end = out;
    while (out && *sql) {
        size_t i = 0;
        while (i < sizeof word / sizeof *word && strncmp(sql, word[i][0], strlen(word[i][0])))
            i++;
        if (i < sizeof word / sizeof *word) {
            end = stpcpy(end, word[i][1]);
            sql += strlen(word[i][0]);
        } else {
            *end++ = *sql++;
        }
    }
    if (out)
        *end = '\0';
    return out;
}

static graphss_status make_tables(graphss_ctx *ctx, graphss_store *s)
{
    graphss_status st = graphss_i_store_run(ctx, s, "begin", "");
    if (!st)
        st = graphss_i_store_run(ctx, s, "create schema if not exists graphss", "");
    for (size_t i = 0; graphss_i_store_schema[i] && !st; i++) {
        char *sql = server_types(ctx, graphss_i_store_schema[i]);
        st = sql ? graphss_i_store_run(ctx, s, sql, "") : GRAPHSS_ERR_NOMEM;
        graphss_release(ctx, sql);
    }
    if (!st)
        st = graphss_i_store_run(ctx, s, "create table version(version bigint not null)", "");
    if (!st)
        st = graphss_i_store_run(
            ctx, s, "insert into version values (?)", "i", (uint64_t)GRAPHSS_I_STORE_VERSION);
    return graphss_i_store_end(ctx, s, st);
}

/* A process that was killed may hold the lock a moment longer. */
static graphss_status take_lock(graphss_ctx *ctx, graphss_store *s)
{
    enum { TRIES = 10 };
    uint64_t got = 0;
    graphss_status st = GRAPHSS_OK;
    for (int i = 0; i < TRIES && !got && !st; i++) {
        char sql[96];
        snprintf(sql, sizeof sql,
            "select pg_try_advisory_lock(%d)::int::bigint from pg_sleep(%s)", (int)LOCK,
            i ? "0.2" : "0");
        st = graphss_i_store_number(ctx, s, &got, sql);
    }
    if (!st && !got)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_IO, "%s: another process writes to it", s->name);
    s->lock = st ? -1 : 0;
    return st;
}

static graphss_status prepare(graphss_ctx *ctx, graphss_store *s, bool make)
{
    const server *x = s->db;
    uint64_t made = 0, version = 0, utf8 = 0;
    graphss_status st = graphss_i_store_run(ctx, s, "set search_path to graphss", "");
    if (!st)
        st = graphss_i_store_number(ctx, s, &utf8,
            "select (current_setting('server_encoding') = 'UTF8')::int::bigint");
    if (!st && !utf8)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: want a database in UTF8", s->name);
    if (!st && holds_state(x))
        st = take_lock(ctx, s);
    if (!st)
        st = graphss_i_store_number(ctx, s, &made,
            "select count(*) from pg_tables where schemaname = 'graphss'"
            " and tablename = 'version'");
    if (!st && !made && make)
        st = make_tables(ctx, s);
    else if (!st && !made)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_NOT_FOUND, "%s: no store in its schema graphss", s->name);
    if (!st)
        st = graphss_i_store_number(ctx, s, &version, "select max(version) from version");
    if (!st && version != GRAPHSS_I_STORE_VERSION)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: no store of version %d", s->name,
            (int)GRAPHSS_I_STORE_VERSION);
    return st;
}

/* ---- the connection ---- */

static graphss_status connect_again(graphss_ctx *ctx, graphss_store *s)
{
    server *x = s->db;
    s->lock = -1;
    x->pq.reset(x->connection);
    return x->pq.status(x->connection) == CONNECTION_OK ? prepare(ctx, s, false)
                                                        : fault(ctx, s, NULL);
}

/* A lock that could not be taken again is tried again, too. */
static graphss_status revive(graphss_ctx *ctx, graphss_store *s, bool *again)
{
    server *x = s->db;
    *again = x->pq.status(x->connection) != CONNECTION_OK || (holds_state(x) && s->lock < 0);
    return *again ? connect_again(ctx, s) : GRAPHSS_OK;
}

static graphss_status open_server(graphss_ctx *ctx, graphss_store *s, graphss_store_mode mode)
{
    /* The address' own settings come later and win. A server that does not answer is given up
     * after ten seconds. */
    const char *const keyword[] = {"connect_timeout", "keepalives_idle", "keepalives_interval",
        "tcp_user_timeout", "fallback_application_name", "client_encoding", "dbname", NULL};
    const char *const value[] = {"10", "5", "5", "10000", "graphss", "UTF8", s->path, NULL};
    s->name = "postgresql";
    server *x = graphss_i_calloc(ctx, 1, sizeof *x);
    if (!x)
        return GRAPHSS_ERR_NOMEM;
    s->db = x;
    x->mode = mode;
    graphss_status st = graphss_i_libpq_find(ctx, &x->pq);
    if (st)
        return st;
    x->connection = graphss_i_libpq_connect(&x->pq, keyword, value);
    if (!x->connection)
        return graphss_i_nomem(ctx, 0);
    if (x->pq.status(x->connection) != CONNECTION_OK)
        return fault(ctx, s, NULL);
    const char *host = x->pq.host(x->connection), *db = x->pq.name(x->connection);
    snprintf(x->name, sizeof x->name, "postgresql://%s/%s", host ? host : "", db ? db : "");
    s->name = x->name;
    return prepare(ctx, s, mode == GRAPHSS_STORE_WRITE);
}

static void close_server(graphss_ctx *ctx, graphss_store *s)
{
    server *x = s->db;
    if (x && x->connection)
        x->pq.finish(x->connection);
    graphss_release(ctx, x);
}

const graphss_i_database graphss_i_postgresql = {
    open_server, close_server, revive, rollback, ask, row, done, null, number, real, bytes};
