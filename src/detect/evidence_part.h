/* evidence_part.h - evidence where the nodes are shared among ranks. */
#ifndef GRAPHSS_EVIDENCE_PART_H
#define GRAPHSS_EVIDENCE_PART_H

#include "detect/class_evidence.h"
#include "graph/part.h"

/* graphss_i_evidence_of for a base that has a part: an excerpt of it (graph/excerpt.h) after
 * the other is a base of its own. All ranks call it together, each for nodes of its own. */
graphss_status graphss_i_evidence_of_part(graphss_ctx *ctx, float *evidence, float *anomaly,
    const graphss_i_evidence_base *base, const int32_t *node, size_t m);

/* graphss_i_reference_open: the training nodes of all ranks, in the order of their global
 * numbers. label [n_own] */
graphss_status graphss_i_reference_open_part(graphss_ctx *ctx, graphss_i_reference *out,
    const graphss_i_part *part, const graphss_features *features, const int32_t *label);

#endif
