/* graphss_store/store.h - the life of a live graph in one SQLite file, or in PostgreSQL:
 * events, snapshots, alerts, the audit trail, an outbox.
 *
 *     graphss_store_open(ctx, &store, "live.db", GRAPHSS_STORE_WRITE);
 *     if (graphss_store_resume(ctx, store, &live, model) == GRAPHSS_ERR_NOT_FOUND) {
 *         graphss_live_new(ctx, &live, model, &snapshot, NULL);
 *         graphss_store_start(ctx, store, live);
 *     }
 *     graphss_store_put(ctx, store, live, &in, &did);    for each batch of lines
 *
 * A batch is applied to the live graph, then stored with the source's offset in one
 * transaction; once graphss_store_put has returned it is on the disk. A process that is killed
 * before that has stored nothing of the batch, and reads it again from the offset. State is
 * the last snapshot and what came after it: graphss_store_resume plays that again, with the
 * same bits. One process writes (a lock on FILE-lock); any number may read meanwhile.
 *
 * A path that begins with postgresql:// is a server's address: the tables are in its schema
 * graphss, and the lock is the server's. Once a connection is lost, writing fails until
 * graphss_store_resume, which connects again.
 *
 * A library of its own, graphss_store, for it links SQLite and the core does not. */
#ifndef GRAPHSS_STORE_H
#define GRAPHSS_STORE_H

#include <graphss/live.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct graphss_store graphss_store;

typedef enum graphss_store_mode {
    GRAPHSS_STORE_READ,
    GRAPHSS_STORE_WRITE,  /* creates the file */
    GRAPHSS_STORE_CHANGE, /* writes to an existing file */
    /* for graphss_store_send alone, on another thread of the process that writes */
    GRAPHSS_STORE_OUTBOX
} graphss_store_mode;

/* IO: another process writes to it, the disk does not, or a server is not reached; DATA: not a
 * store, or one of a later version; NOT_FOUND: a file that is not there, other than WRITE, or
 * PostgreSQL's library. */
GRAPHSS_MUST_CHECK graphss_status graphss_store_open(
    graphss_ctx *ctx, graphss_store **out, const char *path, graphss_store_mode mode);
GRAPHSS_API void graphss_store_close(graphss_ctx *ctx, graphss_store *store);
/* Is it the address of a server, and no file? */
GRAPHSS_API bool graphss_store_is_server(const char *path);
/* The path it was opened with. Borrowed. */
GRAPHSS_API const char *graphss_store_path(const graphss_store *store);

/* Most events kept behind the oldest snapshot; a line counts once more for each full
 * kilobyte, so bytes are bounded, too. When there are more, a snapshot of now is
 * stored, and what is older than the snapshot before it is dropped; verdicts from before can
 * then no longer be replayed. 0 (at first): 1,000,000. */
GRAPHSS_API void graphss_store_keep(graphss_store *store, uint64_t events);

/* Stores the first snapshot. INVALID: there is one already. */
GRAPHSS_MUST_CHECK graphss_status graphss_store_start(
    graphss_ctx *ctx, graphss_store *store, const graphss_live *live);
/* The live graph after the last batch. NOT_FOUND: nothing was stored yet; DATA: another model.
 */
GRAPHSS_MUST_CHECK graphss_status graphss_store_resume(
    graphss_ctx *ctx, graphss_store *store, graphss_live **out, const graphss_model *model);

typedef struct graphss_store_line {
    const char *text; /* without a newline */
    size_t n;
} graphss_store_line;

typedef struct graphss_store_batch {
    const char *source; /* the source this offset belongs to; NULL: none is stored */
    uint64_t offset;
    const graphss_store_line *line; /* [n] */
    size_t n;
    double now; /* time of events without one, seconds since 1970 */
} graphss_store_batch;

/* Applies and stores. Lines that are no events, and events that are refused, are set aside
 * with the reason (graphss_store_refused); did->unreadable counts the former, and
 * did->refused[i].event is the number of a line. On an error the
 * live graph may be ahead of the store: free it and resume. */
GRAPHSS_MUST_CHECK graphss_status graphss_store_put(graphss_ctx *ctx, graphss_store *store,
    graphss_live *live, const graphss_store_batch *batch, graphss_live_batch *did);
/* *offset: 0 for a source that was never read. */
GRAPHSS_MUST_CHECK graphss_status graphss_store_offset(
    graphss_ctx *ctx, uint64_t *offset, graphss_store *store, const char *source);

/* What else changes a live graph goes through the store, too. live may be NULL where no live
 * graph is at hand: it is done when the store is resumed. who and note may be NULL. Errors: as
 * graphss_live_settle, _trust, _watch, _advance. */
GRAPHSS_MUST_CHECK graphss_status graphss_store_settle(graphss_ctx *ctx, graphss_store *store,
    graphss_live *live, uint64_t alert, graphss_alert_state state, const char *who,
    const char *note, double now);
GRAPHSS_MUST_CHECK graphss_status graphss_store_trust(
    graphss_ctx *ctx, graphss_store *store, graphss_live *live, const char *who, double now);
GRAPHSS_MUST_CHECK graphss_status graphss_store_watch(graphss_ctx *ctx, graphss_store *store,
    graphss_live *live, const char *group, const char *const *member, size_t n, double now);
GRAPHSS_MUST_CHECK graphss_status graphss_store_advance(graphss_ctx *ctx, graphss_store *store,
    graphss_live *live, double now, graphss_live_batch *did);
/* Stores a snapshot now and drops what is older than the one before. */
GRAPHSS_MUST_CHECK graphss_status graphss_store_fold(
    graphss_ctx *ctx, graphss_store *store, const graphss_live *live);

/* Another model took over (graphss_live_adopt): stores its first snapshot, and notes `what`,
 * which may be NULL, in the trail. From here on the store is resumed with that model; alerts
 * from before are replayed with the old one. */
GRAPHSS_MUST_CHECK graphss_status graphss_store_adopt(graphss_ctx *ctx, graphss_store *store,
    const graphss_live *live, const char *what, double now);

/* ---- reading ---- */

typedef struct graphss_store_alert {
    uint64_t id, batch;
    const char *group, *suspects; /* suspects: JSON, [{"node":...,"p":...,"score":...},...] */
    graphss_alert_state state;
    double t, settled; /* NaN: not settled */
    double e_value, threshold, p_value;
    uint64_t judged;
    const char *who, *note; /* of the last change of state; NULL: none */
} graphss_store_alert;
/* In the order of their ids; borrowed for the call. A status other than OK from take ends the
 * loop. */
typedef graphss_status (*graphss_store_alert_take)(void *user, const graphss_store_alert *a);
GRAPHSS_MUST_CHECK graphss_status graphss_store_alerts(
    graphss_ctx *ctx, graphss_store *store, graphss_store_alert_take take, void *user);

/* A row of the audit trail, each chained to the one before: hash = SHA-256(previous hash,
 * batch, time, what, text). what: "start", "resume", "alert", "state", "trust", "watch",
 * "fold", "model". */
typedef struct graphss_store_entry {
    uint64_t id, batch;
    double t;
    const char *what, *text, *hash;
} graphss_store_entry;
typedef graphss_status (*graphss_store_entry_take)(void *user, const graphss_store_entry *e);
/* DATA: the chain is broken, with the id. */
GRAPHSS_MUST_CHECK graphss_status graphss_store_audit(
    graphss_ctx *ctx, graphss_store *store, graphss_store_entry_take take, void *user);
/* Events that were rejected: e.text is the line, e.what the reason, e.hash "". */
GRAPHSS_MUST_CHECK graphss_status graphss_store_refused(
    graphss_ctx *ctx, graphss_store *store, graphss_store_entry_take take, void *user);

/* Recomputes an alert from snapshot and events. *same: every number has the same bits.
 * NOT_FOUND: no such alert; DATA: its events were dropped, or another model. */
GRAPHSS_MUST_CHECK graphss_status graphss_store_replay(graphss_ctx *ctx, graphss_store *store,
    bool *same, const graphss_model *model, uint64_t alert);

/* The outbox: an alert that was raised, or changed its state, is a message until it is marked
 * as sent. *json is the caller's to release; NULL: none is due at `now`. */
GRAPHSS_MUST_CHECK graphss_status graphss_store_message(
    graphss_ctx *ctx, graphss_store *store, uint64_t *id, char **json, double now);
/* sent false: it is due again at `again`. */
GRAPHSS_MUST_CHECK graphss_status graphss_store_message_done(
    graphss_ctx *ctx, graphss_store *store, uint64_t id, bool sent, double again);
/* Number of messages that are not sent yet. */
GRAPHSS_MUST_CHECK graphss_status graphss_store_unsent(
    graphss_ctx *ctx, graphss_store *store, size_t *n);

/* The receivers of alerts. NULL: none. */
typedef struct graphss_store_receivers {
    const char *webhook; /* URL that messages are posted to, */
    const char *secret;  /* signed with this by HMAC-SHA256 as Standard Webhooks; or NULL */
    const char *alertmanager; /* its URL, without /api/v2/alerts */
    const char *link;         /* address of the page for people, for Alertmanager */
} graphss_store_receivers;
enum { GRAPHSS_STORE_TROUBLE = 320 };

/* Sends what is due in the outbox, and to Alertmanager all open alerts once a minute: to be
 * called after each batch, and every few seconds otherwise. Takes up to 10 s where a receiver
 * does not answer, and then does nothing for 5 s, 10 s, 20 s, ... 10 minutes, or what the
 * receiver asks for. trouble: why something is not taken yet, or ""; it and sent may be NULL.
 * IO of the store, NOMEM, CANCELLED. */
GRAPHSS_MUST_CHECK graphss_status graphss_store_send(graphss_ctx *ctx, graphss_store *store,
    size_t *sent, char trouble[GRAPHSS_STORE_TROUBLE], const graphss_store_receivers *to,
    double now);

#ifdef __cplusplus
}
#endif
#endif
