/* postgresql.c - see postgresql.h. */
#include "live/postgresql.h"
#include "base/base.h"
#include <string.h>

static const char *const names[] = {"PQconnectdbParams", "PQstatus", "PQerrorMessage",
    "PQfinish", "PQexec", "PQexecParams", "PQresultStatus", "PQresultErrorField", "PQclear",
    "PQntuples", "PQgetvalue", "PQgetlength", "PQgetCopyData", "PQfreemem", "PQescapeLiteral",
    "PQescapeIdentifier", "PQreset", "PQtransactionStatus", "PQgetisnull", "PQhost", "PQdb",
    "PQsetNoticeProcessor"};

graphss_status graphss_i_libpq_find(graphss_ctx *ctx, libpq *out)
{
    return graphss_i_library_find(ctx, out, "libpq.so.5", "PostgreSQL's library (libpq5)",
        names, sizeof names / sizeof *names);
}

static void drop(void *user, const char *text)
{
    (void)user;
    (void)text;
}

pg_conn *graphss_i_libpq_connect(
    const libpq *pq, const char *const *keyword, const char *const *value)
{
    pg_conn *db = pq->connect(keyword, value, 1);
    if (db)
        (void)pq->notices(db, drop, NULL);
    return db;
}

static const char *message(const graphss_i_pg *r, const pg_result *result)
{
    const char *text = result ? r->pq.result_error(result, PRIMARY) : NULL;
    return text ? text : r->pq.error(r->db);
}

bool graphss_i_pg_state_is(const graphss_i_pg *r, const pg_result *result, const char *state)
{
    const char *found = result ? r->pq.result_error(result, SQLSTATE) : NULL;
    return found && !strcmp(found, state);
}

graphss_status graphss_i_pg_fail(
    graphss_ctx *ctx, const graphss_i_pg *r, const pg_result *result, const char *what)
{
    char text[400];
    snprintf(text, sizeof text, "%s", message(r, result));
    text[strcspn(text, "\n")] = '\0';
    return graphss_i_fail(ctx, GRAPHSS_ERR_IO, "postgresql: %s: %s", what, text);
}

/* NULL: *st says why. replication: a connection that makes slots with a snapshot. */
graphss_status graphss_i_pg_connect(graphss_ctx *ctx, graphss_i_pg *r, bool replication)
{
    const char *const keyword[] = {"connect_timeout", "dbname", "fallback_application_name",
        replication ? "replication" : NULL, NULL};
    const char *const value[] = {"10", r->connection, "graphss", "database", NULL};
    r->db = graphss_i_libpq_connect(&r->pq, keyword, value);
    if (!r->db)
        return graphss_i_nomem(ctx, 0);
    return r->pq.status(r->db) == CONNECTION_OK
               ? GRAPHSS_OK
               : graphss_i_pg_fail(ctx, r, NULL, "no connection");
}

void graphss_i_pg_disconnect(graphss_i_pg *r)
{
    if (r->db)
        r->pq.finish(r->db);
    r->db = NULL;
}

/* Runs a query without answer. */
graphss_status graphss_i_pg_run(graphss_ctx *ctx, graphss_i_pg *r, const char *sql)
{
    pg_result *result = r->pq.exec(r->db, sql);
    const int code = result ? r->pq.result(result) : -1;
    const graphss_status st = code == COMMAND_OK || code == TUPLES_OK
                                  ? GRAPHSS_OK
                                  : graphss_i_pg_fail(ctx, r, result, sql);
    r->pq.clear(result);
    return st;
}

/* ---- names ---- */

/* "schema"."table" of a table that is called schema.table. The caller releases. */
static char *quoted_table(graphss_ctx *ctx, const graphss_i_pg *r, const char *name)
{
    const size_t schema = strcspn(name, ".");
    char *a = r->pq.identifier(r->db, name, schema);
    char *b = r->pq.identifier(r->db, name + schema + 1, strlen(name + schema + 1));
    char *both = a && b ? graphss_i_format(ctx, "%s.%s", a, b) : NULL;
    r->pq.release(a);
    r->pq.release(b);
    return both;
}

void graphss_i_sql_add(graphss_i_sql *b, const char *text)
{
    const size_t n = strlen(text);
    if (b->n + n + 1 > b->room && !b->broken) {
        const size_t room = 2 * (b->n + n) + 256;
        char *more = graphss_i_grow(b->ctx, b->text, b->n, room, 1);
        b->broken = !more;
        b->text = more ? more : b->text;
        b->room = more ? room : b->room;
    }
    if (b->broken)
        return;
    memcpy(b->text + b->n, text, n + 1);
    b->n += n;
}

void graphss_i_sql_quoted(graphss_i_sql *b, const char *text, bool identifier)
{
    char *quoted = identifier ? b->r->pq.identifier(b->r->db, text, strlen(text))
                              : b->r->pq.literal(b->r->db, text, strlen(text));
    b->broken = b->broken || !quoted;
    if (quoted)
        graphss_i_sql_add(b, quoted);
    b->r->pq.release(quoted);
}

void graphss_i_sql_table(graphss_i_sql *b, const char *name)
{
    char *quoted = quoted_table(b->ctx, b->r, name);
    b->broken = b->broken || !quoted;
    if (quoted)
        graphss_i_sql_add(b, quoted);
    graphss_release(b->ctx, quoted);
}

/* ---- checks of the tables ---- */

/* Names as a list of literals. */
static void add_names(graphss_i_sql *b, const char *const *name, size_t n)
{
    graphss_i_sql_add(b, "array[");
    for (size_t i = 0; i < n; i++) {
        graphss_i_sql_add(b, i ? "," : "");
        graphss_i_sql_quoted(b, name[i], false);
    }
    graphss_i_sql_add(b, "]::text[]");
}

/* The table has the columns, is in the publication, and its deleted rows carry their ids. */
static graphss_status check_table(
    graphss_ctx *ctx, graphss_i_pg *r, const graphss_i_map_table *t, bool published)
{
    graphss_i_sql b = {.ctx = ctx, .r = r};
    if (!strchr(t->name, '.'))
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "table '%s': want its schema, too, such as public.%s", t->name, t->name);
    graphss_i_sql_add(&b, "select (select min(k) from unnest(");
    add_names(&b, t->column, t->n);
    graphss_i_sql_add(&b,
        ") k where not exists (select 1 from pg_attribute a where a.attrelid = c.oid and "
        "a.attname = k and a.attnum > 0 and not a.attisdropped)), "
        "(c.relreplident <> 'f' and exists (select 1 from unnest(");
    add_names(&b, t->column, t->links ? 2 : 1);
    graphss_i_sql_add(&b,
        ") k where not exists (select 1 from pg_index i join pg_attribute a on a.attrelid "
        "= i.indrelid and a.attnum = any(i.indkey) where i.indrelid = c.oid and a.attname "
        "= k and (c.relreplident = 'd' and i.indisprimary or c.relreplident = 'i' and "
        "i.indisreplident))))::int, (exists (select 1 from pg_publication_tables p where "
        "p.pubname = ");
    graphss_i_sql_quoted(&b, r->publication, false);
    graphss_i_sql_add(&b, " and p.schemaname || '.' || p.tablename = ");
    graphss_i_sql_quoted(&b, t->name, false);
    graphss_i_sql_add(&b, "))::int from pg_class c where c.oid = to_regclass(");
    char *quoted = quoted_table(ctx, r, t->name);
    graphss_i_sql_quoted(&b, quoted ? quoted : "", false);
    graphss_release(ctx, quoted);
    graphss_i_sql_add(&b, ")");
    pg_result *result = b.broken ? NULL : r->pq.exec(r->db, b.text);
    graphss_status st = GRAPHSS_OK;
    if (b.broken) {
        st = GRAPHSS_ERR_NOMEM;
    } else if (!result || r->pq.result(result) != TUPLES_OK) {
        st = graphss_i_pg_fail(ctx, r, result, t->name);
    } else if (r->pq.rows(result) != 1) {
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "postgresql: no table %s", t->name);
    } else if (r->pq.length(result, 0, 0)) {
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "postgresql: table %s has no column '%s'",
            t->name, r->pq.value(result, 0, 0));
    } else if (published && *r->pq.value(result, 0, 2) == '0') {
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "postgresql: table %s is not in the publication %s: ALTER "
            "PUBLICATION %s ADD TABLE %s",
            t->name, r->publication, r->publication, t->name);
    } else if (*r->pq.value(result, 0, 1) == '1') {
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "postgresql: a row that is deleted from %s does not tell its %s: "
            "ALTER TABLE %s REPLICA IDENTITY FULL",
            t->name, t->links ? "ends" : "id", t->name);
    }
    r->pq.clear(result);
    graphss_release(ctx, b.text);
    return st;
}

graphss_status graphss_i_pg_check_tables(graphss_ctx *ctx, graphss_i_pg *r, bool published)
{
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < r->map.n && !st; i++)
        st = check_table(ctx, r, &r->map.table[i], published);
    return st;
}

/* ---- life ---- */

static const char *const members[] = {"connection", "slot", "publication", NULL};

void graphss_i_pg_free(graphss_ctx *ctx, graphss_i_pg *r)
{
    graphss_i_pg_disconnect(r);
    for (size_t i = 0; i < r->n_relations; i++)
        graphss_release(ctx, r->relation[i].place);
    graphss_release(ctx, r->relation);
    graphss_i_map_destroy(ctx, &r->map);
    graphss_release(ctx, r);
}

/* The mapping, libpq and a connection. */
graphss_status graphss_i_pg_open(
    graphss_ctx *ctx, graphss_i_pg **out, const char *path, bool replication)
{
    graphss_i_pg *r = graphss_i_calloc(ctx, 1, sizeof *r);
    if (!r)
        return GRAPHSS_ERR_NOMEM;
    graphss_status st = graphss_i_map_read(ctx, &r->map, path, members);
    if (!st && !r->map.n)
        st = graphss_i_fail(
            ctx, GRAPHSS_ERR_DATA, "%s: no table under 'nodes' or 'links'", path);
    if (!st) {
        r->connection = graphss_i_map_text(&r->map, "connection", "");
        r->slot = graphss_i_map_text(&r->map, "slot", "graphss");
        r->publication = graphss_i_map_text(&r->map, "publication", "graphss");
        st = graphss_i_libpq_find(ctx, &r->pq);
    }
    if (!st)
        st = graphss_i_pg_connect(ctx, r, replication);
    if (st)
        graphss_i_pg_free(ctx, r);
    else
        *out = r;
    return st;
}
