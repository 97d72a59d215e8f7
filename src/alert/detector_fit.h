/* detector_fit.h - what rehearsed attacks on training nodes teach: gates that tell attacked
 * nodes from others, by how they look and by how they changed, and one attack from another. It
 * takes the classifier and a snapshot, so it can be learned once, on the snapshot the
 * classifier was trained on, and be kept with it (graphss_alert_learn). */
#ifndef GRAPHSS_GATES_H
#define GRAPHSS_GATES_H

#include "detect/detector_sim.h"
#include "stats/logistic.h"
#include <graphss/model.h>

/* Nodes are seen as they are now, and against their past. */
enum { GRAPHSS_I_EYE_NOW, GRAPHSS_I_EYE_PAST, GRAPHSS_I_EYES };

typedef struct graphss_i_gates {
    graphss_i_logistic hit[GRAPHSS_I_EYES]; /* attacked, or not */
    /* this attack, or untouched; by the mean and spread of the gates above */
    graphss_i_logistic kind[GRAPHSS_I_REHEARSED][GRAPHSS_I_EYES];
} graphss_i_gates;

struct graphss_i_look;

/* Rehearses on what x sees now; of x all up to the clean nodes is filled. */
graphss_status graphss_i_gates_learn(graphss_ctx *ctx, graphss_i_gates *out,
                                     const struct graphss_i_look *x);
/* The model keeps it as plain numbers. */
graphss_status graphss_i_gates_keep(graphss_ctx *ctx, graphss_model *model,
                                    const graphss_i_gates *gates);
/* false: the model has none, or none of this version. */
bool graphss_i_gates_recall(graphss_i_gates *out, const graphss_model *model);

#endif
