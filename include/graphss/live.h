/* graphss/live.h - a graph that changes, watched.
 *
 *     graphss_live *live = NULL;
 *     graphss_observation snapshot = graphss_dataset_observe(&data);
 *     graphss_live_new(ctx, &live, model, &snapshot, NULL);
 *     graphss_event event = {.op = GRAPHSS_EVENT_ADD_EDGE, .u = "a", .v = "b", .seq = -1};
 *     graphss_live_batch did = {0};
 *     graphss_live_apply(ctx, live, &event, 1, &did);     // as often as events come
 *     for (size_t i = 0; i < did.n_alerts; i++) {
 *         graphss_live_alert alert;
 *         graphss_live_alert_get(live, &alert, did.first_alert + i);
 *     }
 *     graphss_live_batch_destroy(ctx, &did);
 *     graphss_live_free(ctx, live);
 *
 * After each batch the class probabilities of all nodes are those of a whole pass over the
 * graph as it is, bit for bit, whatever the order in which edges and features changed
 * (graphss_live_verify compares). The cost is that of the neighbourhoods of what changed. The
 * suspicion of a node, the log odds that it was tampered with, is computed at once for nodes
 * whose own edges or features changed since the trusted snapshot and were touched by the
 * batch, and when it is asked for otherwise.
 *
 * Alerts keep a promise over time: at most `false_alarms` are expected in each `period` of a
 * stream of benign changes, over all groups together (docs/live.md). A live graph is used by
 * one thread at a time. */
#ifndef GRAPHSS_LIVE_H
#define GRAPHSS_LIVE_H

#include <graphss/events.h>
#include <graphss/observation.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct graphss_live graphss_live;

typedef struct graphss_live_options {
    uint32_t struct_size; /* sizeof(graphss_live_options) */
    double false_alarms;  /* most false alarms expected in a period, > 0; 1 */
    double period;        /* seconds; 604800, a week */
    double check_every;   /* seconds between tests, in the time of events; 600 */
    /* an edge added by an event is removed after this many seconds without another "+link"; 0:
     * never */
    double expire;
    /* the trusted snapshot moves forward after this many seconds without an open alert; 0:
     * only on request */
    double trust_after;
    /* number of changed nodes of a stratum that are learned from before any is judged; 100 */
    int64_t warm_up;
    bool add_nodes; /* a "+link" to an unknown node adds it; else it is refused; true */
    uint64_t seed;
} graphss_live_options;

GRAPHSS_API void graphss_live_options_init(graphss_live_options *opt);
GRAPHSS_API const graphss_option *graphss_live_options_table(void);
/* "1/week", "2/day", "1/month" (30 days), "0.5/hour" or "3/90d" to the first two fields; false
 * if it is not such a rate. */
GRAPHSS_API bool graphss_false_alarms_parse(graphss_live_options *opt, const char *text);

/* The snapshot is copied and is the first trusted one; the model is borrowed as long as the
 * live graph is used. Suspicion needs a model that graphss_alert_train was called for. Errors:
 * those of graphss_model_predict; INVALID: an option. */
GRAPHSS_MUST_CHECK graphss_status graphss_live_new(graphss_ctx *ctx, graphss_live **out,
    const graphss_model *model, const graphss_observation *snapshot,
    const graphss_live_options *opt);
GRAPHSS_API void graphss_live_free(graphss_ctx *ctx, graphss_live *live);

/* ---- changes ---- */

typedef struct graphss_live_refused {
    size_t event;      /* its place in the batch */
    const char *cause; /* constant text */
} graphss_live_refused;

/* The effect of a batch. A plain value; the array belongs to it. */
typedef struct graphss_live_batch {
    size_t applied;    /* events that changed something, or asked for what was so already */
    size_t duplicates; /* source and seq were applied before: skipped */
    size_t n_refused;
    graphss_live_refused *refused;
    size_t unreadable;            /* lines that were no events: of graphss_store_put */
    size_t expired;               /* edges that ended */
    size_t recomputed;            /* rows of probabilities computed again, */
    size_t renewed;               /* how many of them changed */
    size_t judged;                /* suspicions computed */
    bool whole_pass;              /* the model cannot be computed row by row */
    size_t checks;                /* tests that became due */
    size_t first_alert, n_alerts; /* alerts that were raised */
    bool trusted;                 /* the trusted snapshot moved forward */
    double seconds;
} graphss_live_batch;

/* Applies n events in their order and brings probabilities and suspicion up to date. An event
 * that cannot be applied is refused and the others are; an event without a time has that of
 * the one before. out may be NULL. On an error (NOMEM, CANCELLED, INVALID for a NULL or a time
 * that is not finite) the live graph is spoiled: free it and load the last saved state. */
GRAPHSS_MUST_CHECK graphss_status graphss_live_apply(graphss_ctx *ctx, graphss_live *live,
    const graphss_event *event, size_t n, graphss_live_batch *out);
GRAPHSS_API void graphss_live_batch_destroy(graphss_ctx *ctx, graphss_live_batch *batch);
/* The last seq of a source ("" for events without one) that was applied, or -1. */
GRAPHSS_API int64_t graphss_live_seen(const graphss_live *live, const char *source);
/* Moves a source past the events that the live graph has: as graphss_event_source_resume, and
 * for sources that number their events (Kafka) by the last numbers applied. */
GRAPHSS_MUST_CHECK graphss_status graphss_live_follow(
    graphss_ctx *ctx, const graphss_live *live, graphss_event_source *source, uint64_t offset);
/* Lets time pass without an event: edges end and tests become due. As graphss_live_apply. */
GRAPHSS_MUST_CHECK graphss_status graphss_live_advance(
    graphss_ctx *ctx, graphss_live *live, double t, graphss_live_batch *out);

/* ---- reading ---- */

/* How a node differs from the trusted snapshot; nodes are compared within a stratum. */
typedef enum graphss_live_kind {
    GRAPHSS_LIVE_SAME,
    GRAPHSS_LIVE_ONE_EDGE,
    GRAPHSS_LIVE_FEW_EDGES,  /* two to four */
    GRAPHSS_LIVE_MANY_EDGES, /* five or more */
    GRAPHSS_LIVE_FEATURES,   /* and no edges */
    GRAPHSS_LIVE_BOTH,
    GRAPHSS_LIVE_NEW,
    GRAPHSS_LIVE_KINDS
} graphss_live_kind;
/* "same", "one edge", "few edges", "many edges", "features", "edges and features", "new" */
GRAPHSS_API const char *graphss_live_kind_text(graphss_live_kind kind);

typedef struct graphss_live_status {
    size_t n_nodes, n_edges, n_features, n_classes;
    uint64_t applied, duplicates, refused, expired; /* since graphss_live_new */
    /* of the last event; NaN if there was none */
    double now;
    double trusted_since; /* when the trusted snapshot was; NaN */
    size_t changed_nodes; /* nodes that differ from the trusted snapshot */
    uint64_t checks;      /* tests so far */
    uint64_t judged;      /* changed nodes that were ranked, */
    uint64_t warm;        /* how many of them only served to learn */
    size_t n_groups, n_alerts, open_alerts;
    double false_alarms, period; /* the promise, */
    double dismissed;            /* alerts dismissed in the last period, */
    double budget_left;          /* the part of it that is left; never below 0 */
    bool incremental; /* rows are updated one by one; else each batch takes a whole pass */
    const char *whole_pass_cause; /* constant text; NULL: incremental */
    bool suspicion;               /* false: the model has no detector, and nothing is judged */
    size_t bytes;                 /* memory held */
    /* Changes of each kind that later ones are compared with (of "same": of nodes that changed
     * again); below warm_up they are not judged. */
    uint64_t known[GRAPHSS_LIVE_KINDS];
    int64_t warm_up;
} graphss_live_status;

GRAPHSS_API void graphss_live_status_get(const graphss_live *live, graphss_live_status *out);

/* The number of a node, or -1. Numbers stay as long as the node is there, and are given to
 * others only after the trusted snapshot has moved. Time O(length). */
GRAPHSS_API int64_t graphss_live_find(const graphss_live *live, const char *name);
/* One more than the largest number in use. */
GRAPHSS_API size_t graphss_live_capacity(const graphss_live *live);
/* Name of a node; NULL if no node has this number. Borrowed until the next change. */
GRAPHSS_API const char *graphss_live_name(const graphss_live *live, size_t node);
/* [n_classes]; NULL if there is no such node. Borrowed until the next change. */
GRAPHSS_API const float *graphss_live_prob(const graphss_live *live, size_t node);
/* Name of a class of the model, or its number; out [32] is used for numbers. */
GRAPHSS_API const char *graphss_live_class(const graphss_live *live, size_t c, char *out);

enum { GRAPHSS_LIVE_SOURCES = 7 };
/* The name of a source of evidence, i below GRAPHSS_LIVE_SOURCES: "classifier", "features
 * alone", ... */
GRAPHSS_API const char *graphss_live_source_text(size_t i);

typedef struct graphss_live_node {
    int32_t label;     /* given by an event or the model's split; -1: none */
    int32_t predicted; /* the likeliest class now, */
    int32_t trusted;   /* in the trusted snapshot (-1: it is new), */
    int32_t recovered; /* and if the chance of tampering is allowed for (-1: no detector) */
    double recovered_prob;   /* its probability */
    size_t degree, features; /* entries */
    graphss_live_kind kind;
    size_t edges_added, edges_removed, features_changed;
    double since;     /* when it first changed after the trusted snapshot; NaN: it did not */
    double suspicion; /* log odds that it was tampered with; NaN: no detector */
    /* its rank among earlier changes of its stratum; 1 if it did not change */
    double p_value;
    int32_t says[GRAPHSS_LIVE_SOURCES];  /* the class each source speaks for, */
    double surely[GRAPHSS_LIVE_SOURCES]; /* its probability by that source alone */
} graphss_live_node;

/* Computes what is not up to date. INVALID: no such node; NOMEM. Time: that of its
 * neighbourhood. */
GRAPHSS_MUST_CHECK graphss_status graphss_live_node_get(
    graphss_ctx *ctx, graphss_live *live, graphss_live_node *out, size_t node);
/* Suspicion of nodes [n] (NaN without a detector), and posterior [n x n_classes] of their
 * classes, tampering allowed for; either may be NULL. INVALID, NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_live_recover(graphss_ctx *ctx, graphss_live *live,
    double *suspicion, double *posterior, const int32_t *node, size_t n);

/* Neighbours of a node and what became of its edges; arrays belong to it. */
typedef struct graphss_live_edges {
    size_t n;
    int32_t *node;
    int8_t *state; /* 0: as trusted, 1: added, -1: gone since */
} graphss_live_edges;
GRAPHSS_MUST_CHECK graphss_status graphss_live_edges_get(
    graphss_ctx *ctx, graphss_live_edges *out, const graphss_live *live, size_t node);
GRAPHSS_API void graphss_live_edges_destroy(graphss_ctx *ctx, graphss_live_edges *edges);

/* Features of a node that are not as in the trusted snapshot; the array belongs to it. */
typedef struct graphss_live_feature {
    int32_t column;
    float was, now;
} graphss_live_feature;
typedef struct graphss_live_features {
    size_t n;
    graphss_live_feature *item;
} graphss_live_features;
/* For a new node all of its features, with was 0. INVALID: no such node; NOMEM. Time
 * O(features). */
GRAPHSS_MUST_CHECK graphss_status graphss_live_features_get(
    graphss_ctx *ctx, graphss_live_features *out, const graphss_live *live, size_t node);
GRAPHSS_API void graphss_live_features_destroy(
    graphss_ctx *ctx, graphss_live_features *features);
/* Name of a feature, or its number; out [32] is used for numbers. */
GRAPHSS_API const char *graphss_live_column(
    const graphss_live *live, size_t column, char *out);

/* The most suspicious changed nodes: up to *n of them into node, most suspicious first; *n
 * becomes their number. INVALID, NOMEM. Time O(changed nodes). */
GRAPHSS_MUST_CHECK graphss_status graphss_live_suspects(
    graphss_ctx *ctx, graphss_live *live, int32_t *node, size_t *n);

/* The graph as it is (trusted: as it was trusted), nodes in the order of their numbers. The
 * caller destroys it. NOMEM. Time O(graph). */
GRAPHSS_MUST_CHECK graphss_status graphss_live_snapshot(
    graphss_ctx *ctx, graphss_dataset *out, const graphss_live *live, bool trusted);
/* Recomputes everything from the graph alone and compares. *different: number of rows of
 * probabilities that differ in any bit; *farthest: the largest difference from
 * graphss_model_predict, whose dense products round differently. Either may be NULL. */
GRAPHSS_MUST_CHECK graphss_status graphss_live_verify(
    graphss_ctx *ctx, size_t *different, double *farthest, graphss_live *live);

/* ---- groups and alerts ---- */

/* Watches a group of nodes by name besides the group "all", number 0. A second call with the
 * same name replaces the members; names without a node count once the node comes. INVALID: an
 * empty name, or "all"; LIMIT: more than GRAPHSS_LIVE_GROUPS. */
enum { GRAPHSS_LIVE_GROUPS = 1024 };
GRAPHSS_MUST_CHECK graphss_status graphss_live_watch(graphss_ctx *ctx, graphss_live *live,
    const char *group, const char *const *member, size_t n);

typedef struct graphss_live_group {
    const char *name; /* borrowed */
    size_t members;   /* nodes named; 0: all */
    double e_value;   /* evidence of change that adds up over tests; an alert at or above */
    double threshold; /* this */
    double p_value;   /* since the trusted snapshot, valid whenever it is read; 1 at first */
    uint64_t judged;  /* changed nodes ranked since the trusted snapshot */
    bool open;        /* it has an alert that was not settled */
} graphss_live_group;
/* i below status.n_groups. */
GRAPHSS_API void graphss_live_group_get(
    const graphss_live *live, graphss_live_group *out, size_t i);

/* Group "all" after a test, for a curve. */
typedef struct graphss_live_past_test {
    double t, p_value, e_value;
    uint64_t open; /* 1 while it has an alert that was not settled */
} graphss_live_past_test;
enum { GRAPHSS_LIVE_PAST_TESTS = 1024 };
/* Past tests in their order: all, or where these were more than GRAPHSS_LIVE_PAST_TESTS fewer
 * of the older ones. Part of the saved state. Borrowed until the next change. */
GRAPHSS_API const graphss_live_past_test *graphss_live_past_tests(
    const graphss_live *live, size_t *n);

typedef enum graphss_alert_state {
    GRAPHSS_ALERT_OPEN,
    GRAPHSS_ALERT_ACKNOWLEDGED, /* acknowledged by a person; still open */
    GRAPHSS_ALERT_DISMISSED,    /* a false alarm */
    GRAPHSS_ALERT_CONFIRMED
} graphss_alert_state;
/* "open", "acknowledged", "dismissed", "confirmed" */
GRAPHSS_API const char *graphss_alert_state_text(graphss_alert_state state);

enum { GRAPHSS_LIVE_SUSPECTS = 100 };
typedef struct graphss_live_alert {
    uint64_t id;       /* 1, 2, 3 ... */
    const char *group; /* borrowed */
    graphss_alert_state state;
    double t, settled; /* when, and when it was dismissed or confirmed (NaN) */
    double e_value, threshold, p_value;
    uint64_t judged;        /* changed nodes since the trusted snapshot, of the group */
    size_t n_suspects;      /* the nodes with the least p-values, in ascending order */
    const int32_t *suspect; /* borrowed; of nodes that are gone since, -1 */
    const double *suspect_p, *suspect_score;
} graphss_live_alert;
/* i below status.n_alerts, by id. */
GRAPHSS_API void graphss_live_alert_get(
    const graphss_live *live, graphss_live_alert *out, size_t i);
/* From OPEN to any other state, from ACKNOWLEDGED to DISMISSED or CONFIRMED. INVALID: no such
 * alert, or it is settled already. Settling restarts the test of its group. */
GRAPHSS_MUST_CHECK graphss_status graphss_live_settle(
    graphss_ctx *ctx, graphss_live *live, uint64_t id, graphss_alert_state state);
/* The graph as it is becomes the trusted snapshot. INVALID while an alert is open: settle it
 * first. */
GRAPHSS_MUST_CHECK graphss_status graphss_live_trust(graphss_ctx *ctx, graphss_live *live);

/* ---- state ---- */

/* Everything but the model as bytes, which the caller releases: graph, trusted snapshot,
 * tests, groups, alerts, the numbers of applied events of each source. Equal states give equal
 * bytes. NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_live_save(
    graphss_ctx *ctx, void **bytes, size_t *n, const graphss_live *live);
/* DATA: malformed, or of another model; NOMEM. All later results have the bits they would have
 * had. */
GRAPHSS_MUST_CHECK graphss_status graphss_live_load(graphss_ctx *ctx, graphss_live **out,
    const graphss_model *model, const void *bytes, size_t n);

/* The present graph under another model, which is borrowed. It becomes the trusted snapshot,
 * and the test learns again what is usual. Names, labels, groups, alerts, the clock and the
 * numbers of applied events are kept; if nodes were removed the others are renumbered.
 * Features and classes are matched by name, as graphss_dataset_align does. INVALID: an alert
 * is open; else as graphss_live_new. `from` is not changed. */
GRAPHSS_MUST_CHECK graphss_status graphss_live_adopt(graphss_ctx *ctx, graphss_live **out,
    const graphss_model *model, const graphss_live *from);

#ifdef __cplusplus
}
#endif
#endif
