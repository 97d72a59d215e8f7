/* state_model.h - what may have happened to a node, and how its evidence is to be read then.
 *
 * A node is untouched, or its edges, its features, or both were tampered with, the latter by a
 * recipe or a search (rehearsal.h). A
 * gate, one multinomial logit on the anomalies x of a node, gives the odds of each state s,
 *     log P(x | s) / P(x | untouched) = g_s . (1, z, z^2),   z = standardised x,
 * and a reader, one conditional logit a state, the classes by the evidence e of the sources,
 *     P(y | s, e) ~ exp(sum over sources of w_s e[y]),   w_s >= 0.
 * No weight is negative: evidence is ignored, never turned round. For nodes with a past a
 * second gate tells hostile from benign change. All of it is learned from a rehearsal on a
 * clean snapshot, once, and kept in the model file. */
#ifndef GRAPHSS_STATE_MODEL_H
#define GRAPHSS_STATE_MODEL_H

#include "detect/change.h"
#include "detect/rehearsal.h"
#include <graphss/recover.h>

enum {
    GRAPHSS_I_GATE_WIDTH = 1 + 2 * GRAPHSS_I_ANOMALIES,
    GRAPHSS_I_CHANGE_WIDTH = 1 + 2 * GRAPHSS_I_CHANGES,
    GRAPHSS_I_MOVE_WIDTH = 1 + 2 * GRAPHSS_I_MOVES
};

/* Nodes are compared with their like: what changed since the past. Of a node that did not
 * change, and of one without a past, the score is how it looks. */
typedef enum graphss_i_stratum {
    GRAPHSS_I_UNCHANGED,
    GRAPHSS_I_NO_PAST,
    GRAPHSS_I_ONE_EDGE,
    GRAPHSS_I_SOME_EDGES,
    GRAPHSS_I_SOME_FEATURES,
    GRAPHSS_I_EDGES_AND_FEATURES,
    GRAPHSS_I_STRATA
} graphss_i_stratum;
enum { GRAPHSS_I_QUANTILES = 256 };

/* {0} is empty. */
typedef struct graphss_i_state_model {
    graphss_i_class_model classes;
    double reader[GRAPHSS_I_STATES][GRAPHSS_I_SOURCES];
    double mean[GRAPHSS_I_ANOMALIES], spread[GRAPHSS_I_ANOMALIES];
    double gate[GRAPHSS_I_STATES][GRAPHSS_I_GATE_WIDTH]; /* that of untouched is 0 */
    double change_mean[GRAPHSS_I_CHANGES], change_spread[GRAPHSS_I_CHANGES];
    double change[GRAPHSS_I_CHANGE_WIDTH]; /* log odds that a change is hostile */
    double clean_share; /* share of the clean snapshot's nodes that look tampered with */
    double rehearsed;   /* number of nodes rehearsed with */
    /* For alerts (reference.h): both gates again, each fitted without the nodes of one half,
     * and quantiles of the scores of nodes that nobody attacked, in ascending order. */
    double half_gate[2][GRAPHSS_I_STATES][GRAPHSS_I_GATE_WIDTH];
    double move_mean[GRAPHSS_I_MOVES], move_spread[GRAPHSS_I_MOVES];
    double half_change[2][GRAPHSS_I_MOVE_WIDTH];
    double reference[GRAPHSS_I_STRATA][GRAPHSS_I_QUANTILES];
} graphss_i_state_model;

void graphss_i_state_model_destroy(graphss_ctx *ctx, graphss_i_state_model *m);

/* odds [GRAPHSS_I_STATES]: likelihood of each state over that of untouched. */
void graphss_i_state_odds(double *odds, const graphss_i_state_model *m, const float *anomaly);
/* Likelihood that a change is hostile over that it is benign. */
double graphss_i_change_odds(const graphss_i_state_model *m, const float *change);
/* p [k]: classes of a node in a state; evidence [k x GRAPHSS_I_ROW] */
void graphss_i_state_read(double *p, const graphss_i_state_model *m, graphss_i_tampered state,
    const float *evidence);

/* The gate before its odds are cut: w . (1, z, z^2) of a row x [columns]. */
double graphss_i_gate_value(
    const double *w, const double *mean, const double *spread, const float *x, size_t columns);

/* ---- learning (state_fit.c) ---- */

/* Rehearses on a clean snapshot. *learned is false, and *out empty, where there are too few
 * labelled nodes or classes. */
graphss_status graphss_i_state_model_learn(graphss_ctx *ctx, graphss_i_state_model *out,
    bool *learned, const graphss_model *model, const graphss_graph *graph,
    const graphss_features *features, const graphss_split *split);
/* Rehearses on the snapshot a model was trained on, and lets the model keep what that taught;
 * nothing where the split cannot teach. in: checked, no past; its split, or the model's. */
graphss_status graphss_i_states_train(
    graphss_ctx *ctx, graphss_model *model, const graphss_defence_input *in);
/* The same on several ranks (part_rehearse.c), on a sample of at most so many nodes. */
struct graphss_i_part;
graphss_status graphss_i_part_rehearse(graphss_ctx *ctx, graphss_model *model,
    const struct graphss_i_part *part, uint64_t seed, size_t most);
/* The classifier without edges: [n x k]. */
graphss_status graphss_i_predict_alone(graphss_ctx *ctx, float *prob,
    const graphss_model *model, const graphss_features *features);

/* ---- the model file ---- */

/* The model keeps a copy. */
graphss_status graphss_i_state_model_keep(
    graphss_ctx *ctx, graphss_model *model, const graphss_i_state_model *m);
/* *known is false where the model has none, or none of this version and shape. */
graphss_status graphss_i_state_model_recall(graphss_ctx *ctx, graphss_i_state_model *out,
    bool *known, const graphss_model *model, size_t n_cols, bool dense);

#endif
