/* postgresql.h - a connection to PostgreSQL, and the tables of a mapping in it.
 *
 * libpq is opened at run time; the few types it needs are opaque. */
#ifndef GRAPHSS_POSTGRESQL_H
#define GRAPHSS_POSTGRESQL_H

#include "live/event_map.h"

typedef struct pg_conn pg_conn;
typedef struct pg_result pg_result;

typedef struct libpq {
    pg_conn *(*connect)(const char *const *keyword, const char *const *value, int expand);
    int (*status)(const pg_conn *db);
    char *(*error)(const pg_conn *db);
    void (*finish)(pg_conn *db);
    pg_result *(*exec)(pg_conn *db, const char *sql);
    pg_result *(*ask)(pg_conn *db, const char *sql, int n, const unsigned *type,
        const char *const *value, const int *length, const int *format, int result_format);
    int (*result)(const pg_result *r);
    char *(*result_error)(const pg_result *r, int field);
    void (*clear)(pg_result *r);
    int (*rows)(const pg_result *r);
    char *(*value)(const pg_result *r, int row, int column);
    int (*length)(const pg_result *r, int row, int column);
    int (*copy)(pg_conn *db, char **bytes, int async);
    void (*release)(void *block);
    char *(*literal)(pg_conn *db, const char *text, size_t n);
    char *(*identifier)(pg_conn *db, const char *text, size_t n);
    void (*reset)(pg_conn *db);
    int (*transaction)(const pg_conn *db); /* 0: none */
    int (*is_null)(const pg_result *r, int row, int column);
    char *(*host)(const pg_conn *db);
    char *(*name)(const pg_conn *db);
    void (*(*notices)(pg_conn *db, void (*take)(void *, const char *), void *user))(
        void *, const char *);
} libpq;

enum { CONNECTION_OK = 0, SQLSTATE = 'C', PRIMARY = 'M' }; /* libpq-fe.h, postgres_ext.h */
/* NOT_FOUND: libpq is not installed. */
graphss_status graphss_i_libpq_find(graphss_ctx *ctx, libpq *out);
/* Connects; notices of the server are dropped, which libpq would print. NULL: no memory. */
pg_conn *graphss_i_libpq_connect(
    const libpq *pq, const char *const *keyword, const char *const *value);

enum { COMMAND_OK = 1, TUPLES_OK = 2, COPY_OUT = 3 }; /* libpq-fe.h */

/* A table as the server numbers it. */
typedef struct graphss_i_pg_relation {
    uint32_t oid;
    const graphss_i_map_table *table; /* NULL: not mapped */
    int *place;                       /* [table->n] column of the server, or -1 */
} graphss_i_pg_relation;

typedef struct graphss_i_pg {
    libpq pq;
    pg_conn *db;
    graphss_i_map map;
    const char *connection, *slot, *publication;
    graphss_i_pg_relation *relation;
    size_t n_relations;
    uint64_t given, stored; /* places in the log */
    double again, idle;     /* when to connect, and when to drop foreign messages */
    int changes;            /* asked for at once */
    /* of the transaction at hand */
    graphss_event_source *source;
    double t;
    bool skip;
    size_t lines;
} graphss_i_pg;

/* Reads the mapping, opens libpq and connects; replication: with a connection that makes slots
 * with a snapshot. */
graphss_status graphss_i_pg_open(
    graphss_ctx *ctx, graphss_i_pg **out, const char *path, bool replication);
void graphss_i_pg_free(graphss_ctx *ctx, graphss_i_pg *r);
graphss_status graphss_i_pg_connect(graphss_ctx *ctx, graphss_i_pg *r, bool replication);
void graphss_i_pg_disconnect(graphss_i_pg *r);
/* IO, with the server's message. result may be NULL. */
graphss_status graphss_i_pg_fail(
    graphss_ctx *ctx, const graphss_i_pg *r, const pg_result *result, const char *what);
/* Is it an error of this SQLSTATE? */
bool graphss_i_pg_state_is(const graphss_i_pg *r, const pg_result *result, const char *state);
/* Runs a statement and ignores its result. */
graphss_status graphss_i_pg_run(graphss_ctx *ctx, graphss_i_pg *r, const char *sql);
/* Checks that tables have their columns, that deleted rows carry their ids, and, if
 * `published`, that they are in the publication. */
graphss_status graphss_i_pg_check_tables(graphss_ctx *ctx, graphss_i_pg *r, bool published);

/* SQL that grows; broken: no memory. The text is the caller's to release. */
typedef struct graphss_i_sql {
    graphss_ctx *ctx;
    const graphss_i_pg *r;
    char *text;
    size_t n, room;
    bool broken;
} graphss_i_sql;
void graphss_i_sql_add(graphss_i_sql *b, const char *text);
/* Quotes a literal, or an identifier. */
void graphss_i_sql_quoted(graphss_i_sql *b, const char *text, bool identifier);
/* schema.table as "schema"."table". */
void graphss_i_sql_table(graphss_i_sql *b, const char *name);

#endif
