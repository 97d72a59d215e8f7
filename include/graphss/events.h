/* graphss/events.h - a change of a graph as a line of JSON, and where such lines come from.
 *
 *     const char line[] = "{\"op\":\"+link\",\"u\":\"anna\",\"v\":\"bot7\",\"seq\":17}";
 *     graphss_event event = {0};
 *     graphss_event_parse(ctx, &event, line, sizeof line - 1);
 *     graphss_event_destroy(ctx, &event);
 *
 * A line may also have the members "t":"2026-11-18T04:00:00Z" and "source":"crm". op is
 * "+link", "-link" (u, v), "+node", "set" (u, features), "-node" (u) or "label" (u, label).
 * features is an object of numbers by feature name. t is seconds since 1970 or a time in UTC
 * as above; source and seq identify an event, so that it is applied once. Refused are other
 * members, duplicate members, NUL in a name, and lines over GRAPHSS_EVENT_BYTES. docs/live.md
 * has the rules. */
#ifndef GRAPHSS_EVENTS_H
#define GRAPHSS_EVENTS_H

#include <graphss/dataset.h>
#include <graphss/flips.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GRAPHSS_EVENT_BYTES = 1 << 20, /* of a line */
    GRAPHSS_EVENT_NAME = 1 << 10   /* of a name, without NUL */
};

typedef enum graphss_event_op {
    GRAPHSS_EVENT_ADD_EDGE,
    GRAPHSS_EVENT_REMOVE_EDGE,
    GRAPHSS_EVENT_ADD_NODE,
    GRAPHSS_EVENT_REMOVE_NODE,
    GRAPHSS_EVENT_SET_FEATURES,
    GRAPHSS_EVENT_SET_LABEL,
    GRAPHSS_EVENT_OPS
} graphss_event_op;
/* "+link", "-link", "+node", "-node", "set", "label"; "?" for any other value. */
GRAPHSS_API const char *graphss_event_op_text(graphss_event_op op);

/* A plain value. What the parser allocated belongs to block; in an event of your own block is
 * NULL and the texts are yours. */
typedef struct graphss_event {
    graphss_event_op op;
    double t;                   /* seconds since 1970; NaN: not given */
    const char *source;         /* NULL: not given */
    int64_t seq;                /* >= 0, rising within a source; -1: not given */
    const char *u, *v;          /* v: of edges, else NULL */
    const char *label;          /* of SET_LABEL: name of the class; NULL: no longer known */
    size_t n_features;          /* of ADD_NODE and SET_FEATURES */
    const char *const *feature; /* [n_features] names */
    const float *value;         /* [n_features]; 0 takes a feature away */
    void *block;
} graphss_event;

/* Reads a line of n bytes, without its newline. DATA (the text has what was found and what was
 * wanted), NOMEM. Time O(n). */
GRAPHSS_MUST_CHECK graphss_status graphss_event_parse(
    graphss_ctx *ctx, graphss_event *out, const char *line, size_t n);
GRAPHSS_API void graphss_event_destroy(graphss_ctx *ctx, graphss_event *event);
/* The event as a line, without a newline; graphss_event_parse gives the same event back. The
 * caller releases it. NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_event_text(
    graphss_ctx *ctx, char **line, const graphss_event *event);
/* "2026-11-18T04:00:00Z" (also with a fraction of a second) to seconds since 1970; false if it
 * is not such a time. */
GRAPHSS_API bool graphss_time_parse(double *seconds, const char *text, size_t n);
/* The other way, whole seconds; out [GRAPHSS_TIME_TEXT]. "" of NaN and of years over 9999. */
enum { GRAPHSS_TIME_TEXT = 24 };
GRAPHSS_API void graphss_time_text(char *out, double seconds);
/* "90", "15m", "6h", "30d", "2w" to seconds; false if it is not such a duration. */
GRAPHSS_API bool graphss_duration_parse(double *seconds, const char *text);

/* The events that turn one dataset into another, nodes matched by name: nodes that are gone,
 * nodes that came, features, edges; in the order of their numbers. Each is passed to `take`,
 * borrowed for the call; a status other than OK ends the loop. Errors: as
 * graphss_observation_match. */
typedef graphss_status (*graphss_event_take)(void *user, const graphss_event *event);
GRAPHSS_MUST_CHECK graphss_status graphss_events_between(graphss_ctx *ctx,
    const graphss_dataset *from, const graphss_dataset *to, graphss_event_take take,
    void *user);

/* ---- sources ---- */

/* Where events come from. A source is read by one thread. */
typedef struct graphss_event_source graphss_event_source;

/* "-" or "stdin"; "FILE.jsonl" (to its end); "tail:FILE.jsonl" (waits for more);
 * "flips:FILE" (names as in the dataset; data may be NULL for the others);
 * "postgresql:MAP.json" and "kafka:MAP.json" (docs/live.md). NOT_FOUND, IO, NOMEM; DATA: the
 * mapping. */
GRAPHSS_MUST_CHECK graphss_status graphss_event_source_open(graphss_ctx *ctx,
    graphss_event_source **out, const char *where, const graphss_dataset *data);
/* Continues after `offset`, the offset of the last line of an earlier run. INVALID: it is
 * beyond the end; IO. Standard input cannot seek and is read from where it is; its events are
 * identified by source and seq. */
GRAPHSS_MUST_CHECK graphss_status graphss_event_source_resume(
    graphss_ctx *ctx, graphss_event_source *source, uint64_t offset);
typedef enum graphss_event_next {
    GRAPHSS_EVENT_LINE, /* a line */
    GRAPHSS_EVENT_NONE, /* none yet: ask again */
    GRAPHSS_EVENT_END,  /* the source has ended */
    GRAPHSS_EVENT_PART  /* a line; the next is of the same transaction, and is to be stored
                         * in the same batch, however long that becomes */
} graphss_event_next;
/* The next line, waiting at most `seconds` for one. line is borrowed until the next call; a
 * line that is too long is cut, so that the parser refuses it. *offset: the end of the line.
 * IO, NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_event_source_next(graphss_ctx *ctx,
    graphss_event_next *what, const char **line, size_t *n, uint64_t *offset,
    graphss_event_source *source, double seconds);
/* Everything up to `offset` is on the disk: the source may forget it. Until then a database
 * keeps its log, and a broker its position. IO, NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_event_source_stored(
    graphss_ctx *ctx, graphss_event_source *source, uint64_t offset);
/* Why nothing comes now, such as a database that does not answer; NULL: nothing is wrong.
 * Borrowed until the next call. Each request for a line tries again. */
GRAPHSS_API const char *graphss_event_source_trouble(const graphss_event_source *source);
/* The tables of a database as a dataset: nodes.csv and edges.csv in a folder, read in one
 * transaction. start: in the same transaction creates the slot that later changes are read
 * from, and the publication if it is missing, so that `where` as a source continues from this
 * dataset. Only of "postgresql:MAP.json"; INVALID: another kind; IO, DATA, NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_event_source_extract(
    graphss_ctx *ctx, const char *where, const char *folder, bool start);
/* The name offsets are stored under: the text it was opened with. Borrowed. */
GRAPHSS_API const char *graphss_event_source_name(const graphss_event_source *source);
GRAPHSS_API void graphss_event_source_free(graphss_ctx *ctx, graphss_event_source *source);
/* The i-th kind of source, for people; NULL past the last. */
GRAPHSS_API const char *graphss_event_source_kind(size_t i);

#ifdef __cplusplus
}
#endif
#endif
