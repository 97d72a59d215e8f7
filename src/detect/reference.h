/* reference.h - the distribution of the scores of nodes that were not attacked.
 *
 * The score of a node is the log odds that it was tampered with: by the gate without a past,
 * or by the gate of change if it has a past. Nodes with known labels are the reference, and
 * the gates were fitted on some of them, whose scores are then too low. So each gate is fitted
 * twice, without one half of the nodes, and a node is scored by the gate that was fitted
 * without it (cross-fitting). */
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
 * reference of a stratum of change has nodes with such benign changes, that of UNCHANGED all
 * nodes of the clean snapshot, and that of NO_PAST all nodes that changed benignly, scored
 * without a past. */
graphss_status graphss_i_reference_fit(
    graphss_ctx *ctx, graphss_i_state_model *m, const graphss_i_reference_rows *in);

/* The half a node belongs to, by its number in the snapshot the gates were fitted on. */
size_t graphss_i_half_of(int32_t number);
/* Log odds of tampered against untouched; anomaly [GRAPHSS_I_ANOMALIES], change
 * [GRAPHSS_I_CHANGES] of a node in this half. */
double graphss_i_score_static(
    const graphss_i_state_model *m, size_t half, const float *anomaly);
double graphss_i_score_change(
    const graphss_i_state_model *m, size_t half, const float *change);
/* The score of a node with a past, from its row of change. */
graphss_i_stratum graphss_i_stratum_of(const float *change);

#endif
