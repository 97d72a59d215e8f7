/* store_private.h - what the files of the store share. */
#ifndef GRAPHSS_STORE_PRIVATE_H
#define GRAPHSS_STORE_PRIVATE_H

#include "base/base.h"
#include <graphss_store/store.h>
#include <sqlite3.h>

struct graphss_store {
    sqlite3 *db;
    char *path;
    int lock;              /* file descriptor, -1: reading */
    uint64_t keep, behind; /* what may lie behind the newest snapshot, twice; what does */
    uint64_t batch;        /* the last one */
    double pushed;         /* to Alertmanager, when */
    double send_again;
    size_t send_failures;                /* in a row */
    char trouble[GRAPHSS_STORE_TROUBLE]; /* of the last of them; "": none */
};

/* One statement: text, then its values. Values are given as (type, value) pairs:
 *     graphss_i_store_run(ctx, s, "insert into source values(?, ?)", "ti", name, offset)
 * i: uint64_t, r: double (NaN is NULL), t: const char * (NULL is NULL), T: size_t n, then
 * const char *text [n], b: size_t n, then const void *. */
graphss_status graphss_i_store_run(
    graphss_ctx *ctx, graphss_store *s, const char *sql, const char *types, ...);
/* The same, to be stepped by the caller; finalised by him. */
graphss_status graphss_i_store_ask(graphss_ctx *ctx, graphss_store *s, sqlite3_stmt **out,
    const char *sql, const char *types, ...);
/* True: a row. Otherwise *st says whether that was the end. */
bool graphss_i_store_row(
    graphss_ctx *ctx, graphss_store *s, sqlite3_stmt *q, graphss_status *st);
graphss_status graphss_i_store_fault(graphss_ctx *ctx, graphss_store *s);
double graphss_i_store_real(sqlite3_stmt *q, int column); /* NULL is NaN */

/* ---- store.c ---- */

/* Ends a transaction: commits where st is OK, else rolls back; returns what came of it. */
graphss_status graphss_i_store_end(graphss_ctx *ctx, graphss_store *s, graphss_status st);
/* A row of the table batch, the next number; within a transaction. */
graphss_status graphss_i_store_begin_batch(
    graphss_ctx *ctx, graphss_store *s, const char *what, const char *text, double now);
/* ---- store_audit.c ---- */

graphss_status graphss_i_store_note(
    graphss_ctx *ctx, graphss_store *s, double t, const char *what, const char *text);
/* Alerts [from, to) of a live graph, with audit and outbox. */
graphss_status graphss_i_store_alerts_put(
    graphss_ctx *ctx, graphss_store *s, const graphss_live *live, size_t from, size_t to);
/* A snapshot, once there is too much behind the newest. */
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
 * releases. event [n]; returns how many are events. place [n]: the line of each. */
graphss_status graphss_i_store_parse(graphss_ctx *ctx, graphss_event *event, size_t *n_events,
    size_t *place, char **bad, const graphss_store_line *line, size_t n, double now);
/* JSON of the suspects of an alert; the caller releases. */
graphss_status graphss_i_store_suspects(
    graphss_ctx *ctx, char **json, const graphss_live *live, size_t alert);

#endif
