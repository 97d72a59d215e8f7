/* serve_private.h - shared by the files of the server.
 *
 * Threads: that of graphss_server_run owns engine and store; one of libmicrohttpd reads and
 * writes connections; one for each further source of events. They meet in the queue. One more
 * sends alerts out, with a connection of its own to the store. */
#ifndef GRAPHSS_SERVE_PRIVATE_H
#define GRAPHSS_SERVE_PRIVATE_H

#include "base/base.h"
#include "serve/request.h"
#include "serve/tokens.h"
#include <graphss_serve/serve.h>
#include <pthread.h>
#include <stdatomic.h>

/* Text that grows, for JSON, HTML and metrics. An append that finds no memory sets `failed`,
 * and all later ones do nothing: the caller checks once, at the end. */

typedef struct graphss_i_text {
    graphss_ctx *ctx;
    char *at; /* [n], and a NUL; NULL: nothing yet */
    size_t n, room;
    bool failed;
} graphss_i_text;

void graphss_i_text_put(graphss_i_text *t, const char *bytes, size_t n);
void graphss_i_text_add(graphss_i_text *t, const char *text);
void graphss_i_text_format(graphss_i_text *t, const char *format, ...) GRAPHSS_PRINTF(2, 3);
/* A string of JSON with its quotes. Bytes that are no UTF-8 become '?'; NULL becomes null. */
void graphss_i_text_json(graphss_i_text *t, const char *text);
/* Text of HTML, or of an attribute in quotes. Characters that would change how others are
 * shown become '?'. */
void graphss_i_text_html(graphss_i_text *t, const char *text);
/* A name as a part of a path. */
void graphss_i_text_url(graphss_i_text *t, const char *text);
/* The shortest text of a number; null (of JSON) where it is not finite. */
void graphss_i_text_real(graphss_i_text *t, double x);
/* About 3 digits, for people: "0.0123", "4.1e-06", "1230". */
void graphss_i_text_short(graphss_i_text *t, double x);
/* With this many digits (at most 3) after the point. */
void graphss_i_text_fixed(graphss_i_text *t, double x, int digits);
/* "2026-11-18T04:00:00Z" as a string of JSON; null where it is none. */
void graphss_i_text_when(graphss_i_text *t, double seconds);
/* Empties it, and keeps its room. */
void graphss_i_text_clear(graphss_i_text *t);
void graphss_i_text_destroy(graphss_i_text *t);

/* An answer: its text lives elsewhere. */
typedef struct graphss_i_reply {
    int status;
    const char *type; /* constant text */
    const char *text; /* [n]; NULL: none */
    size_t n;
    const char *allow; /* of 405 */
    int retry_after;   /* seconds; 0: not given */
    const char *see;   /* where a form leads, of 303 */
} graphss_i_reply;

enum { GRAPHSS_I_REFUSED_SHOWN = 20, GRAPHSS_I_REASON = 160 };
typedef struct graphss_i_refusal {
    size_t line; /* of its job, from 1 */
    char reason[GRAPHSS_I_REASON];
} graphss_i_refusal;

/* A request, or a batch of a source, on its way. Made and freed by the thread that reads it;
 * the engine's thread has it between push and done. */
typedef struct graphss_i_job {
    struct graphss_i_job *next;
    graphss_i_request request;
    char *target;
    char *body;
    size_t n_body, body_room;
    char who[GRAPHSS_I_WHO + 1]; /* "" where there are no tokens */
    graphss_i_role role;
    double since; /* when it was pushed */
    /* of events */
    graphss_store_line *line;
    size_t n_lines, n_done, n_refused;
    graphss_i_refusal *refusal; /* [min(n_refused, GRAPHSS_I_REFUSED_SHOWN)] or NULL */
    const char *source;         /* the source of the offset; NULL: none */
    uint64_t offset;
    /* the answer */
    graphss_i_reply reply;
    char *text; /* of the reply; released with the job */
    bool done;
    void *connection; /* of libmicrohttpd; NULL: the source waits for `done` */
    int refused;      /* a status to refuse it with before it is read */
    bool read;        /* all of it is here */
} graphss_i_job;

/* Numbers for /metrics, counted since the start. */
enum { GRAPHSS_I_BUCKETS = 10, GRAPHSS_I_STATUSES = 6 };
extern const double graphss_i_bucket[GRAPHSS_I_BUCKETS]; /* upper ends, seconds */
typedef struct graphss_i_histogram {
    uint64_t count[GRAPHSS_I_BUCKETS + 1]; /* the last: above all ends */
    double sum;
} graphss_i_histogram;
void graphss_i_histogram_add(graphss_i_histogram *h, double seconds);
typedef struct graphss_i_counts {
    uint64_t lines, applied, duplicates, refused, unreadable, batches, store_failures;
    uint64_t busy, unauthorised, limited;
    uint64_t answered[GRAPHSS_I_STATUSES]; /* by the first digit of the status */
    graphss_i_histogram apply, request;
} graphss_i_counts;

/* State that the engine's thread publishes for the others, protected by `lock`. */
typedef struct graphss_i_view {
    graphss_live_status status;
    graphss_live_group all; /* name is not kept */
    uint64_t alerts_by_state[4];
    double at;           /* wall clock of the last batch; NaN: none yet */
    double rate;         /* events a second, over the last minute */
    double model_loaded; /* wall clock */
    bool ready;
    char model_type[32], error[256];
} graphss_i_view;

typedef struct graphss_i_queue {
    graphss_i_job *first, **last;
    size_t n;
} graphss_i_queue;

typedef struct graphss_i_feed {
    graphss_server *server;
    graphss_event_source *source;
    pthread_t thread;
    bool started;
    graphss_ctx *ctx;
    graphss_status status; /* why it ended */
    char error[256];
    bool over;
    uint64_t lines;
} graphss_i_feed;

/* Sends the messages of the outbox. Without a start there are no receivers. */
typedef struct graphss_i_sender {
    pthread_t thread;
    pthread_cond_t wake;
    bool started;
    graphss_ctx *ctx;
    graphss_store *store;
    /* protected by lock */
    bool stop;
    uint64_t sent;
    size_t unsent;
    char trouble[GRAPHSS_STORE_TROUBLE]; /* why something was not taken; "": all was */
    bool news;                           /* it is another one than was told */
} graphss_i_sender;

typedef struct graphss_i_http graphss_i_http;

struct graphss_server {
    graphss_serve_options opt; /* its texts are copies */
    graphss_store *store;
    graphss_model *model;
    graphss_live *live; /* NULL: it is being loaded from the store again */
    graphss_i_tokens tokens;
    unsigned char secret[GRAPHSS_I_SECRET];
    char *address;

    /* protected by lock */
    pthread_mutex_t lock;
    pthread_cond_t work, done; /* for the engine's thread; for sources */
    graphss_ctx *shared;       /* memory that crosses threads */
    graphss_i_queue asked, events;
    size_t n_lines; /* that wait */
    bool draining, stop;
    graphss_i_counts counts;
    graphss_i_view view;
    uint64_t version; /* of what the page shows */
    double beat;      /* when the engine's thread last came round */

    /* the engine's thread alone */
    double last_event;   /* monotonic: when the last batch came */
    double retry, pause; /* after the store failed: when to go on, and how long was waited */
    double recent[60];   /* events in each of the last seconds */
    int64_t recent_at;
    double published, beaten, listened; /* when that was last done */
    bool model_due;                     /* model_file has another model, or may have */
    double watchdog;                    /* seconds between signs of life; 0: none wanted */
    bool dirty;

    atomic_bool reload; /* set by any thread, or a signal */

    graphss_i_feed feed[GRAPHSS_SERVE_SOURCES];
    size_t n_feeds;
    graphss_i_sender sender;
    graphss_i_http *http;
};

/* ---- queue.c ---- */

void *graphss_i_shared_alloc(graphss_server *s, size_t count, size_t size);
void *graphss_i_shared_grow(
    graphss_server *s, void *block, size_t old_count, size_t count, size_t size);
void graphss_i_shared_release(graphss_server *s, void *block);
graphss_i_job *graphss_i_job_new(graphss_server *s);
void graphss_i_job_free(graphss_server *s, graphss_i_job *job);
/* Divides the body into lines. 0, or the status to refuse it with. */
int graphss_i_job_lines(graphss_server *s, graphss_i_job *job);
/* 0, or the status to answer with: 429 (full), 503 (it ends). */
int graphss_i_push(graphss_server *s, graphss_i_job *job);
/* All questions that wait, in order, after at most `seconds`; *events: there are any. */
graphss_i_job *graphss_i_take(graphss_server *s, double seconds, bool *events);
/* Lines [from, from + n) of a job. */
typedef struct graphss_i_segment {
    graphss_i_job *job;
    size_t from, n;
} graphss_i_segment;
/* The first waiting events, at most this many lines; they stay in the queue until they are
 * done. Returns the number of segments. */
size_t graphss_i_events_gather(
    graphss_server *s, graphss_i_segment *out, size_t most, size_t lines);
/* The first segment of the queue is done: its job, if that was the last of it. */
graphss_i_job *graphss_i_events_done(graphss_server *s, const graphss_i_segment *segment);
/* Marks a job as answered. */
void graphss_i_finish(graphss_server *s, graphss_i_job *job);

/* ---- server.c: on the engine's thread ---- */

/* Performs what graphss_server_reload requested. */
void graphss_i_reload(graphss_ctx *ctx, graphss_server *s);

/* ---- worker.c ---- */

double graphss_i_wall(void);

/* ---- answers.c: on the engine's thread ---- */

/* Answers a query; the text is appended to t, the reply has its type. */
graphss_status graphss_i_answer(
    graphss_ctx *ctx, graphss_server *s, graphss_i_job *job, graphss_i_text *t);
/* The answer to events that were applied. */
void graphss_i_answer_events(graphss_i_text *t, const graphss_i_job *job);
/* {"error": "..."} */
void graphss_i_answer_error(graphss_i_text *t, const char *text);

/* ---- reasons.c ---- */

/* What is known of a node, and sentences that say why it is suspicious. */
typedef struct graphss_i_why {
    graphss_live_node node;
    graphss_live_edges edges;
    graphss_live_features features;
    double chance; /* that it was tampered with; NaN: no detector */
} graphss_i_why;
graphss_status graphss_i_why_get(
    graphss_ctx *ctx, graphss_i_why *out, graphss_live *live, size_t node);
void graphss_i_why_destroy(graphss_ctx *ctx, graphss_i_why *why);
/* The i-th sentence, plain text; false: there is none. */
bool graphss_i_why_sentence(
    graphss_i_text *t, const graphss_i_why *why, const graphss_live *live, size_t i);

/* ---- metrics.c, openapi.c ---- */

void graphss_i_metrics(graphss_i_text *t, graphss_server *s);
void graphss_i_openapi(graphss_i_text *t);

/* ---- page.c ---- */

graphss_status graphss_i_page(
    graphss_ctx *ctx, graphss_server *s, graphss_i_job *job, graphss_i_text *t);
extern const char graphss_i_page_css[], graphss_i_page_js[];

/* ---- feeds.c ---- */

graphss_status graphss_i_feeds_start(graphss_ctx *ctx, graphss_server *s);
void graphss_i_feeds_stop(graphss_ctx *ctx, graphss_server *s);

/* ---- sender.c ---- */

/* Does nothing without receivers. */
graphss_status graphss_i_sender_start(graphss_ctx *ctx, graphss_server *s);
/* Logs once what keeps alerts from leaving, and once that they leave again. */
void graphss_i_sender_report(graphss_ctx *ctx, graphss_server *s);
void graphss_i_sender_stop(graphss_server *s);

/* ---- http.c ---- */

graphss_status graphss_i_http_start(graphss_ctx *ctx, graphss_server *s);
/* Wakes the reading thread: the engine answered, or the content of the page changed. */
void graphss_i_http_wake(graphss_i_http *http, graphss_i_job *job);
void graphss_i_http_changed(graphss_i_http *http);
/* Cuts connections that take too long. */
void graphss_i_http_tick(graphss_i_http *http);
/* Accepts no further connections; then, once nothing waits, ends. */
void graphss_i_http_quiesce(graphss_i_http *http);
void graphss_i_http_stop(graphss_ctx *ctx, graphss_server *s);

/* ---- listen.c ---- */

/* Notifies systemd, if it wants that: "READY=1", "STOPPING=1", "WATCHDOG=1". */
void graphss_i_notify(const char *text);
/* Seconds between signs of life that systemd wants; 0: none. */
double graphss_i_notify_watchdog(void);
/* A listening socket that systemd handed over; -1: none. */
int graphss_i_notify_socket(void);

/* Shared by the files of the page. */

/* ---- page_drawings.c: SVG without text where it is stretched, so that letters keep their
 * size
 * ---- */

/* p-values (log scale, 1 at the top), or evidence with a line at the threshold. */
void graphss_i_page_plot(graphss_i_text *t, const graphss_live_past_test *past, size_t n,
    bool p_value, double threshold);
/* A node among its neighbours: edges that were added, cut, and are as they were. */
void graphss_i_page_neighbours(
    graphss_i_text *t, const graphss_live *live, size_t node, const graphss_i_why *why);

#endif
