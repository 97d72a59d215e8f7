/* snapshot.h - a snapshot with the classifier's answers and training labels, ready to compute
 * evidence; and its state model. Shared by alert and recover. */
#ifndef GRAPHSS_DETECT_SNAPSHOT_H
#define GRAPHSS_DETECT_SNAPSHOT_H

#include "detect/state_model.h"
#include <graphss/observation.h>

/* {0} is empty. */
typedef struct graphss_i_snapshot {
    graphss_i_evidence_base base;
    float *prob;    /* [n x k] own, or NULL: the caller's */
    int32_t *label; /* [n] training labels, -1: none */
} graphss_i_snapshot;

/* classes, o and prob are borrowed. prob [n x k]; NULL: the classifier is asked. Of a part all
 * ranks call it together, each with what of the split it has. */
graphss_status graphss_i_snapshot_open(graphss_ctx *ctx, graphss_i_snapshot *s,
    const graphss_i_class_model *classes, const graphss_model *model,
    const graphss_observation *o, const graphss_split *split, const float *prob);
void graphss_i_snapshot_close(graphss_ctx *ctx, graphss_i_snapshot *s);

/* What the model brings; else it is learned, from the past where that has labelled nodes
 * enough, or from the snapshot. *known is false where neither has. previous: NULL for none. */
graphss_status graphss_i_states_find(graphss_ctx *ctx, graphss_i_state_model *out, bool *known,
    const graphss_model *model, const graphss_observation *current, const graphss_split *split,
    const graphss_observation *previous, const graphss_split *previous_split);

#endif
