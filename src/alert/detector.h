/* detector.h - the quick look behind an alert: what every node shows by itself, weighed by
 * what a rehearsal on training nodes taught and compared with validation nodes, on which
 * nothing is fitted. Costs one forward pass over each snapshot, with history one more over
 * validation nodes that are churned, and where the model brings no lesson one over rehearsed
 * nodes. */
#ifndef GRAPHSS_LOOK_H
#define GRAPHSS_LOOK_H

#include "alert/detector_fit.h"
#include "models/predict_incremental.h"
#include "observation/observation.h"
#include "observation/standardise.h"
#include <graphss/alert.h>

/* {0} is empty; the arrays belong to it. */
typedef struct graphss_i_look {
    graphss_i_standardised seen;
    const graphss_recover_input *in; /* of seen */
    const graphss_split *split;
    graphss_split own; /* the model's, where none was given */
    size_t n, k;
    int32_t *before;   /* [n] or NULL */
    int32_t *believed; /* [n] */
    float *prob, *past_prob;
    graphss_i_forward_cache
        *pass; /* of the classifier, for snapshots that differ in a few nodes */
    graphss_i_voice voice[GRAPHSS_I_VOICES];
    graphss_i_glance now, past;

    int32_t *fit, *calm; /* nodes to learn from; clean nodes to compare with */
    size_t n_fit, n_calm;

    graphss_i_gates gates;

    graphss_i_change *change; /* [n] against the past, or NULL */
    double *odds;             /* [n] log of the ratio attacked : not */
} graphss_i_look;

/* How a node may differ from its past; nodes are judged among their like. Links that came or
 * went, and no words: by their number, for a node that others linked to has one such link,
 * and one that linked to others has several. Words with links and without: churn of both
 * moves nodes more than churn of words. The draws of a verdict go by these numbers, so new
 * kinds are added at the end. */
typedef enum graphss_i_changed {
    GRAPHSS_I_SAME,
    GRAPHSS_I_ONE_EDGE,
    GRAPHSS_I_TWO_EDGES,
    GRAPHSS_I_FEW_EDGES,   /* three or four */
    GRAPHSS_I_MANY_EDGES,  /* five to eight */
    GRAPHSS_I_OTHER_WORDS, /* and no links */
    GRAPHSS_I_WORDS_AND_EDGES,
    GRAPHSS_I_NO_PAST,
    GRAPHSS_I_MORE_EDGES, /* nine to sixteen */
    GRAPHSS_I_MOST_EDGES,
    GRAPHSS_I_CHANGED
} graphss_i_changed;

/* Links or words are not what they were. */
static inline bool graphss_i_changed_kind(size_t kind)
{
    return kind != GRAPHSS_I_SAME && kind != GRAPHSS_I_NO_PAST;
}

/* Clean nodes of one kind. The arrays are the caller's, with room for all clean nodes. */
typedef struct graphss_i_calm {
    int32_t *node;
    double *odds;
    size_t n;
    bool rehearsed; /* they were churned */
} graphss_i_calm;

/* Training nodes it takes: a third is attacked, a third churned. Clean nodes it takes; those
 * of a kind that has fewer are replaced by churned ones. */
enum { GRAPHSS_I_FIT_LEAST = 3, GRAPHSS_I_CALM_LEAST = 20 };

/* A rehearsed snapshot, seen. {0} is empty. */
typedef struct graphss_i_stage {
    graphss_graph graph;
    graphss_features features;
    float *prob; /* [n x k] */
    graphss_i_glance seen;
} graphss_i_stage;

/* Plays the rehearsal, of which victims and churned nodes are set, on what x sees now. */
graphss_status graphss_i_stage_open(graphss_ctx *ctx, graphss_i_stage *s,
                                    const graphss_i_look *x, graphss_i_rehearsal *in);
void graphss_i_stage_close(graphss_ctx *ctx, graphss_i_stage *s);

/* Are there labelled nodes enough for a look? */
bool graphss_i_look_possible(const graphss_split *split);
/* Fills odds and change. Graphs and features were looked at (graphss_i_check_input). */
graphss_status graphss_i_look_at(graphss_ctx *ctx, graphss_i_look *x,
                                 const graphss_recover_input *in);
/* The change of one node, for another one to be churned by. */
graphss_i_churning graphss_i_look_likewise(const graphss_i_look *x, size_t model, size_t node);
/* kind [n]: graphss_i_changed of each node; list [GRAPHSS_I_CHANGED]: the clean nodes of each.
 * Kinds with few clean nodes, or such that cannot be compared with, get churned ones; nodes
 * that did not change, while all clean nodes did, count as changed. labelled [n]: training or
 * validation node. Both in calibration.c. */
graphss_status graphss_i_look_calm(graphss_ctx *ctx, graphss_i_calm *list,
                                   const graphss_i_look *x, int32_t *kind,
                                   const uint8_t *labelled);
/* All of it as scores (alert_scores.c). */
graphss_status graphss_i_look_scores(graphss_ctx *ctx, graphss_alert_scores *out,
                                     const graphss_i_look *x,
                                     const graphss_alert_options *opt);
/* graphss_alert_look on input that was looked at. */
graphss_status graphss_i_alert_look(graphss_ctx *ctx, graphss_alert_scores *out,
                                    const graphss_recover_input *in,
                                    const graphss_alert_options *opt);
/* odds [n_gates] of a node by gates of both eyes; *change is set where it has a past. */
void graphss_i_look_odds(double *odds, const graphss_i_look *x,
                         const graphss_i_logistic (*gate)[GRAPHSS_I_EYES], size_t n_gates,
                         const graphss_i_glance *seen, size_t node, graphss_i_change *change);
void graphss_i_look_destroy(graphss_ctx *ctx, graphss_i_look *x);
/* Which attack on some of the nodes explains them best: graphss_i_rehearsed (attack_type.c).
 */
graphss_status graphss_i_look_name(graphss_ctx *ctx, size_t *kind, const graphss_i_look *x,
                                   const int32_t *node, size_t n);

#endif
