/* reference.h - what the scores of nodes look like that nobody attacked.
 *
 * The score of a node is the log odds that it was tampered with: by the gate of looks where it
 * has no past, by that of change where it has one. Nodes whose labels are known are compared
 * with others, and the gates were fitted on some of them, which then look more harmless than
 * they are. So for scores each gate is fitted twice, without one half of the nodes, and a node
 * is scored by the gate that did not meet it (cross-fitting). */
#ifndef GRAPHSS_REFERENCE_H
#define GRAPHSS_REFERENCE_H

#include "detect/state_model.h"

typedef struct graphss_i_reference_rows {
    const int32_t
        *node; /* [m] rehearsed with; row i is of node i % m, the first m are clean */
    size_t m, rows;
    const float *anomaly,
        *change; /* [rows x GRAPHSS_I_ANOMALIES], [rows x GRAPHSS_I_CHANGES] */
    const uint8_t *state, *changed; /* [rows] */
    double penalty;
} graphss_i_reference_rows;

/* Fills half_gate, half_change and reference of a model whose other parts are fitted. The
 * reference of a stratum of change are nodes that changed so benignly, that of UNCHANGED all
 * in the clean snapshot, and that of NO_PAST all that changed benignly, by their looks. */
graphss_status graphss_i_reference_fit(
    graphss_ctx *ctx, graphss_i_state_model *m, const graphss_i_reference_rows *in);

/* The half a node belongs to, by its number in the snapshot the gates were fitted on. */
size_t graphss_i_half_of(int32_t number);
/* Log odds of tampered against untouched; anomaly [GRAPHSS_I_ANOMALIES], change
 * [GRAPHSS_I_CHANGES] of a node in this half. */
double graphss_i_score_look(const graphss_i_state_model *m, size_t half, const float *anomaly);
double graphss_i_score_change(
    const graphss_i_state_model *m, size_t half, const float *change);
/* Of a node with a past, by its row of change. */
graphss_i_stratum graphss_i_stratum_of(const float *change);

#endif
