/* store_private.h - shared by the files of the store. */
#ifndef GRAPHSS_STORE_PRIVATE_H
#define GRAPHSS_STORE_PRIVATE_H

#include "base/base.h"
#include <graphss_store/store.h>

/* A value of a statement: i, r (NaN is NULL), t (text, NULL is NULL), b (n bytes at text). */
typedef struct graphss_i_value {
    char type;
    uint64_t i;
    double r;
    const char *text;
    size_t n;
} graphss_i_value;

/* A statement and the row it is at. */
typedef struct graphss_i_query {
    graphss_store *store;
    void *of;    /* the database's own */
    size_t next; /* row, where the database gives all at once */
} graphss_i_query;

/* The functions of a database. Statements are those that SQLite and PostgreSQL both
 * understand, with `?` for values; whole numbers have 64 bits. */
typedef struct graphss_i_database {
    /* Opens; locks, unless the mode is READ or OUTBOX; makes the tables in mode WRITE. */
    graphss_status (*open)(graphss_ctx *ctx, graphss_store *s, graphss_store_mode mode);
    void (*close)(graphss_ctx *ctx, graphss_store *s);
    /* After an error: connects again. *again: it had to, so another may have written. */
    graphss_status (*revive)(graphss_ctx *ctx, graphss_store *s, bool *again);
    /* Rolls back an open transaction. */
    void (*rollback)(graphss_store *s);
    graphss_status (*ask)(graphss_ctx *ctx, graphss_i_query *q, const char *sql,
        const graphss_i_value *value, size_t n);
    graphss_status (*row)(graphss_ctx *ctx, graphss_i_query *q, bool *is);
    void (*done)(graphss_i_query *q);
    bool (*null)(const graphss_i_query *q, int column);
    uint64_t (*number)(const graphss_i_query *q, int column);
    double (*real)(const graphss_i_query *q, int column);
    /* Ends with a zero byte. Borrowed until the next row. */
    const char *(*bytes)(const graphss_i_query *q, int column, size_t *n);
} graphss_i_database;

extern const graphss_i_database graphss_i_sqlite, graphss_i_postgresql;

struct graphss_store {
    const graphss_i_database *base;
    void *db; /* its connection */
    char *path;
    const char *name; /* as errors call it: the path, or no password */
    bool doubt;       /* a commit failed: it may have been done all the same */
    int lock;         /* file descriptor, -1: reading */
    /* most lines after the newest snapshot, twice; how many there are */
    uint64_t keep, behind;
    uint64_t batch; /* the last one */
    double pushed;  /* to Alertmanager, when */
    double send_again;
    size_t send_failures;                /* in a row */
    char trouble[GRAPHSS_STORE_TROUBLE]; /* of the last of them; "": none */
};

/* One statement: text, then its values. Values are given as (type, value) pairs:
 *     graphss_i_store_run(ctx, s, "insert into source values(?, ?)", "ti", name, offset)
 * i: uint64_t, r: double, t: const char *, b: size_t n, then const void *. */
graphss_status graphss_i_store_run(
    graphss_ctx *ctx, graphss_store *s, const char *sql, const char *types, ...);
/* The same, to be stepped by the caller, who calls graphss_i_store_done in any case. */
graphss_status graphss_i_store_ask(graphss_ctx *ctx, graphss_store *s, graphss_i_query *out,
    const char *sql, const char *types, ...);
/* True: a row. Otherwise *st is OK at the end of the rows. */
bool graphss_i_store_row(graphss_ctx *ctx, graphss_i_query *q, graphss_status *st);
void graphss_i_store_done(graphss_i_query *q);
bool graphss_i_store_null(const graphss_i_query *q, int column);
uint64_t graphss_i_store_int(const graphss_i_query *q, int column);
double graphss_i_store_real(const graphss_i_query *q, int column);      /* NULL is NaN */
const char *graphss_i_store_text(const graphss_i_query *q, int column); /* NULL is NULL */
const char *graphss_i_store_bytes(const graphss_i_query *q, int column, size_t *n);
/* The first number of the first row. */
graphss_status graphss_i_store_number(
    graphss_ctx *ctx, graphss_store *s, uint64_t *out, const char *sql);

/* ---- store.c ---- */

/* Reads from the tables: the last batch, and what follows the newest snapshot. */
graphss_status graphss_i_store_measure(graphss_ctx *ctx, graphss_store *s);
/* Ends a transaction: commits if st is OK, else rolls back; returns the status of both. */
graphss_status graphss_i_store_end(graphss_ctx *ctx, graphss_store *s, graphss_status st);
/* Statements that make the tables, with the types of SQLite. */
extern const char *const graphss_i_store_schema[];
enum { GRAPHSS_I_STORE_VERSION = 1 };
/* A row of the table batch, the next number; within a transaction. */
graphss_status graphss_i_store_begin_batch(
    graphss_ctx *ctx, graphss_store *s, const char *what, const char *text, double now);
/* ---- store_audit.c ---- */

graphss_status graphss_i_store_note(
    graphss_ctx *ctx, graphss_store *s, double t, const char *what, const char *text);
/* Alerts [from, to) of a live graph, with audit and outbox. */
graphss_status graphss_i_store_alerts_put(
    graphss_ctx *ctx, graphss_store *s, const graphss_live *live, size_t from, size_t to);
/* Stores a snapshot if too many lines follow the newest. */
void graphss_i_store_fold_if_due(graphss_ctx *ctx, graphss_store *s, const graphss_live *live);

/* ---- store_send.c ---- */

/* RFC 2104; out [32]. */
void graphss_i_hmac_sha256(
    unsigned char *out, const void *key, size_t n_key, const void *text, size_t n);
/* ---- store_replay.c ---- */

/* The state after batch `until`, computed from a snapshot before it; until 0: after the last
 * one. */
graphss_status graphss_i_store_state(graphss_ctx *ctx, graphss_store *s, graphss_live **out,
    const graphss_model *model, uint64_t until);
graphss_status graphss_i_store_snapshot(
    graphss_ctx *ctx, graphss_store *s, const graphss_live *live);
/* The lines as events; those that are none are listed in bad [n], with texts that the caller
 * releases; graphss_i_store_ahead is one of them: one wrong time would set the clock of the
 * stream, which never goes back, where no test becomes due and all edges have ended. event
 * [n]; returns how many are events. place [n]: the line of each. now: of arrival; stream: of
 * the events before, NaN: there are none. */
extern const char graphss_i_store_ahead[];
graphss_status graphss_i_store_parse(graphss_ctx *ctx, graphss_event *event, size_t *n_events,
    size_t *place, char **bad, const graphss_store_line *line, size_t n, double now,
    double stream);
/* JSON of the suspects of an alert; the caller releases. */
graphss_status graphss_i_store_suspects(
    graphss_ctx *ctx, char **json, const graphss_live *live, size_t alert);

#endif
