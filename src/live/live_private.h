/* live_private.h - the fields of a live graph. */
#ifndef GRAPHSS_LIVE_PRIVATE_H
#define GRAPHSS_LIVE_PRIVATE_H

#include "detect/state_model.h"
#include "live/live_names.h"
#include "live/live_net.h"
#include "live/sequential.h"
#include <graphss/live.h>

/* A node that differs, or differed, from the trusted snapshot: its former state, and what was
 * computed about it. */
typedef struct graphss_i_live_changed {
    int32_t node;
    bool is_new;          /* the trusted snapshot lacks it */
    bool edges, features; /* was_* are set, for these were changed */
    bool judged;          /* it was ranked, with this suspicion: */
    double ranked;
    uint32_t judged_at; /* the batch that suspicion is of; 0: none */
    int32_t *was_edge;  /* [n_was_edges] neighbours in the trusted snapshot */
    size_t n_was_edges;
    int32_t *was_column; /* [n_was_features], NULL where features are dense */
    float *was_value;    /* [n_was_features] */
    size_t n_was_features;
    char *was_name;   /* of a removed node, else NULL */
    float *was_alone; /* [k] the classifier's answer without edges, with features */
    float *evidence;  /* [k x GRAPHSS_I_ROW] in the trusted snapshot, or NULL: not computed */
    double suspicion, p_value;
    double since; /* the time of its first change */
} graphss_i_live_changed;

typedef struct graphss_i_live_group {
    char *name;
    graphss_i_live_names member; /* names, numbered from 0 */
    graphss_i_bets bets;
    uint64_t alert; /* the open one; 0: none */
} graphss_i_live_group;

typedef struct graphss_i_live_alert {
    size_t group;
    graphss_alert_state state;
    double t, settled, e_value, threshold, p_value;
    uint64_t judged;
    size_t n_suspects;
    int32_t *suspect;
    double *suspect_p, *suspect_score;
} graphss_i_live_alert;

/* An edge that ends at `t` unless it was renewed. */
typedef struct graphss_i_live_ending {
    int32_t u, v;
    uint32_t t;
} graphss_i_live_ending;

/* Sources and the last seq of each. */
typedef struct graphss_i_live_seen {
    graphss_i_live_names source;
    int64_t *seq; /* [source.room] */
    size_t room;
} graphss_i_live_seen;

/* Rows of evidence of the graph as it is, or as it was trusted: see live_evidence.c. */
typedef struct graphss_i_live_view {
    graphss_i_evidence_base base;
    graphss_graph graph;              /* rows of the nodes at hand only */
    graphss_features features;        /* the same */
    int64_t *offset, *feature_offset; /* [room + 1] */
    int32_t *target, *column;
    float *value;
    size_t room, targets, entries; /* rooms */
    uint8_t *known;                /* [room] KNOWN_*: rows of the base that are up to date */
} graphss_i_live_view;

struct graphss_live {
    const graphss_model *model;
    graphss_live_options opt;
    size_t n, n_live, d, k; /* numbers in use, nodes */
    uint8_t *alive;         /* [room] */
    size_t room;
    graphss_i_live_names names;
    graphss_i_live_rows edges;  /* payload: when it ends, 0: never */
    graphss_i_live_rows sparse; /* features, unless they are dense */
    float *dense;               /* [room x d] */
    bool is_dense;
    graphss_feature_kind feature_kind;
    graphss_i_live_names columns; /* names of features; none: numbers */
    int32_t *label;               /* [room] */
    graphss_i_live_net net;
    const char *obstacle; /* to computing rows one by one */

    /* the trusted snapshot */
    float *trusted_prob; /* [room x k] */
    double trusted_since;
    int32_t *record; /* [room] into changed, -1: none */
    graphss_i_live_changed *changed;
    size_t n_changed, changed_room;
    int32_t *freed; /* numbers of nodes that are gone; for others once a snapshot is trusted */
    size_t n_freed, freed_room, n_free; /* the first n_free may be given out */

    /* suspicion */
    bool has_states;
    graphss_i_state_model states;
    float *keep_zero; /* [d] or NULL: see observation/standardise.h */
    /* From the first snapshot, since they need all edges and labels: labels propagated, [room
     * x k], and which features occur together. */
    float *propagated;
    graphss_i_reference coherence;
    graphss_i_live_view now, past;
    uint32_t *version, batch; /* [room] the batch that last changed a node, and the last one */

    /* the test */
    /* By kind; that of SAME, which is never ranked, is of nodes that changed again. */
    graphss_i_score_counts reference[GRAPHSS_LIVE_KINDS];
    graphss_i_live_group *group;
    size_t n_groups;
    graphss_i_live_alert *alert;
    size_t n_alerts;
    double now_t, next_check;
    uint64_t applied, duplicates, refused, expired, checks, judged, warm;
    graphss_live_past_test past_test[GRAPHSS_LIVE_PAST_TESTS];
    size_t n_past_tests;

    graphss_i_live_seen seen;
    graphss_i_live_ending *ending; /* a ring */
    size_t ending_first, n_ending, ending_room;

    /* of the batch at hand */
    int32_t *featured, *edged, *touched, *renewed; /* [room] */
    size_t n_featured, n_edged, n_touched, n_renewed;
    uint8_t *mark; /* [room] FEATURED | EDGED | TOUCHED */
    bool spoiled;
};

enum { GRAPHSS_I_FEATURED = 1, GRAPHSS_I_EDGED = 2, GRAPHSS_I_TOUCHED = 4 };

/* ---- live.c ---- */

/* An empty one for a model, of d features. */
graphss_status graphss_i_live_new(graphss_ctx *ctx, graphss_live **out,
    const graphss_model *model, const graphss_live_options *opt, size_t d, bool dense);
/* Computes all probabilities. */
graphss_status graphss_i_live_pass(graphss_ctx *ctx, graphss_live *live);

/* ---- live_graph.c: changes of graph and features ---- */

graphss_status graphss_i_live_reserve(graphss_ctx *ctx, graphss_live *live, size_t n);
graphss_status graphss_i_live_add_node(
    graphss_ctx *ctx, graphss_live *live, int32_t *node, const char *name);
graphss_status graphss_i_live_remove_node(graphss_ctx *ctx, graphss_live *live, int32_t node);
/* ends: when, 0: never. *changed: it was not there. */
graphss_status graphss_i_live_add_edge(
    graphss_ctx *ctx, graphss_live *live, int32_t u, int32_t v, uint32_t ends, bool *changed);
graphss_status graphss_i_live_remove_edge(
    graphss_ctx *ctx, graphss_live *live, int32_t u, int32_t v, bool *changed);
graphss_status graphss_i_live_set_feature(
    graphss_ctx *ctx, graphss_live *live, int32_t node, int32_t column, float value);
void graphss_i_live_mark(graphss_live *live, int32_t node, unsigned what);
/* Updates the probabilities of what is marked. */
graphss_status graphss_i_live_recompute(
    graphss_ctx *ctx, graphss_live *live, size_t *recomputed);
graphss_i_live_data graphss_i_live_data_of(const graphss_live *live);
/* The graph as it is becomes the trusted one. */
graphss_status graphss_i_live_trust_now(graphss_ctx *ctx, graphss_live *live);
void graphss_i_live_changed_destroy(graphss_ctx *ctx, graphss_i_live_changed *changed);
/* Neighbours of a node in the trusted snapshot. */
const int32_t *graphss_i_live_was_edges(const graphss_live *live, size_t node, size_t *n);
/* The kind of change of a node, and counts where they are wanted. */
graphss_live_kind graphss_i_live_kind_of(
    const graphss_live *live, size_t node, graphss_i_change_counts *counts);

/* ---- live_evidence.c ---- */

graphss_status graphss_i_live_evidence_open(
    graphss_ctx *ctx, graphss_live *live, const graphss_observation *snapshot);
/* propagated and coherence, from the first snapshot. */
graphss_status graphss_i_live_evidence_learn(graphss_ctx *ctx, graphss_live *live,
    const graphss_graph *graph, const graphss_features *features, const int32_t *label);
void graphss_i_live_evidence_close(graphss_ctx *ctx, graphss_live *live);
graphss_status graphss_i_live_evidence_reserve(
    graphss_ctx *ctx, graphss_live *live, size_t room);
/* After a batch: drops the cached values of the nodes it changed. */
void graphss_i_live_evidence_renew(graphss_live *live);
/* The label of a node changed. */
void graphss_i_live_evidence_label(graphss_ctx *ctx, graphss_live *live, size_t node);
/* Is the suspicion of a changed node that of the graph as it is? Time O(degree). */
bool graphss_i_live_fresh(const graphss_live *live, const graphss_i_live_changed *changed);
/* suspicion [m] of nodes, evidence [m x k x GRAPHSS_I_ROW] and posterior [m x k] of their
 * classes; each may be NULL. */
graphss_status graphss_i_live_evidence(graphss_ctx *ctx, graphss_live *live, double *suspicion,
    float *evidence, double *posterior, const int32_t *node, size_t m);

/* ---- live_test.c ---- */

/* Ranks the changed nodes that the batch touched, and checks where that is due. */
graphss_status graphss_i_live_judge(
    graphss_ctx *ctx, graphss_live *live, graphss_live_batch *out);
graphss_status graphss_i_live_group_add(
    graphss_ctx *ctx, graphss_live *live, const char *name);
/* Suspicion of all changed nodes, where it is not up to date. */
graphss_status graphss_i_live_refresh(graphss_ctx *ctx, graphss_live *live);
size_t graphss_i_live_open_alerts(const graphss_live *live);
double graphss_i_live_threshold(const graphss_live *live, size_t group);

#endif
