/* state_model.h - the latent state of a node, and how its evidence is read in each state.
 *
 * A node is untouched, or its edges, its features, or both were tampered with, the latter by a
 * recipe or a search (rehearsal.h). A
 * gate, one multinomial logit on the anomalies x of a node, gives the odds of each state s,
 *     log P(x | s) / P(x | untouched) = g_s . (1, z, z^2),   z = standardised x,
 * and a reader, one conditional logit a state, the classes by the evidence e of the sources,
 *     P(y | s, e) ~ exp(sum over sources of w_s e[y]),   w_s >= 0.
 * No weight is negative: evidence may be ignored, but never reversed. For nodes with a past a
 * second gate tells hostile from benign change. All of it is learned from a rehearsal on a
 * clean snapshot, once, and kept in the model file. */
#ifndef GRAPHSS_STATE_MODEL_H
#define GRAPHSS_STATE_MODEL_H

#include "base/base.h"
#include "detect/class_evidence.h"
#include "detect/rehearsal.h"
#include <graphss/recover.h>

/* How a node changed since an earlier snapshot: what was added and removed, and how its
 * evidence moved. Benign change mostly supports the class the node had; an attack contradicts
 * it. */

typedef struct graphss_i_change_counts {
    size_t edges_added, edges_removed, features_added, features_removed;
} graphss_i_change_counts;

/* Node `node` of now was node `was` of past. before [nodes of now]: the number a node had, -1
 * for none; NULL: all have kept theirs. A dense measurement that differs counts as added. */
graphss_i_change_counts graphss_i_change_count(const graphss_graph *graph,
    const graphss_features *features, size_t node, const graphss_graph *past_graph,
    const graphss_features *past_features, size_t was, const int32_t *before);

enum {
    /* how the evidence moved: `alert` uses these */
    GRAPHSS_I_MOVES = 4 + GRAPHSS_I_PLAIN_SOURCES + 3,
    GRAPHSS_I_CHANGES = GRAPHSS_I_MOVES + GRAPHSS_I_PLAIN_SOURCES + 1 /* and where it stands */
};
/* out [GRAPHSS_I_CHANGES]; evidence rows [k x GRAPHSS_I_ROW] of the node now and before. */
void graphss_i_change_row(float *out, const graphss_i_change_counts *counts, const float *now,
    const float *past, size_t k);

enum {
    GRAPHSS_I_GATE_WIDTH = 1 + 2 * GRAPHSS_I_ANOMALIES,
    GRAPHSS_I_CHANGE_WIDTH = 1 + 2 * GRAPHSS_I_CHANGES,
    GRAPHSS_I_MOVE_WIDTH = 1 + 2 * GRAPHSS_I_MOVES
};

/* Strata of nodes, by their change since the past. The score of an unchanged node, and of one
 * without a past, depends on its present state alone. */
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
/* Rehearses on the snapshot a model was trained on, and stores the result in the model; does
 * nothing if the split has too few labels. in: checked, no past; its split, or the model's. */
graphss_status graphss_i_states_train(
    graphss_ctx *ctx, graphss_model *model, const graphss_defence_input *in);
/* The same on several ranks (part_rehearse.c), on a sample of at most this many nodes. */
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

/* A gate: a multinomial logit on standardised columns and their squares,
 *     log odds of state s against the first = w_s . (1, z, z^2),   z = (x - mean) / spread. */

/* Mean and deviation of the first columns of x [rows x wide] over the rows with use[i]. */
void graphss_i_gate_measure(double *mean, double *spread, const float *x, const uint8_t *use,
    size_t rows, size_t wide, size_t columns);

typedef struct graphss_i_gate_rows {
    const float *x;             /* [rows x wide], of which the first columns count */
    const uint8_t *state, *use; /* [rows]; rows with use[i] count */
    size_t rows, wide, columns, states;
    const double *mean, *spread; /* [columns] */
    double penalty;
} graphss_i_gate_rows;

/* w [(states - 1) x (1 + 2 columns)]: log odds of each state against the first, for equal
 * shares of both. Stays as it is where the first or all others have no row. */
graphss_status graphss_i_gate_fit(graphss_ctx *ctx, double *w, const graphss_i_gate_rows *in);

#endif
