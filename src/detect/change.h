/* change.h - how a node changed since an earlier snapshot: what came and went, and which way
 * its evidence moved. Honest change mostly speaks for the class a node had; an attack against
 * it. */
#ifndef GRAPHSS_CHANGE_H
#define GRAPHSS_CHANGE_H

#include "detect/class_evidence.h"

typedef struct graphss_i_change_counts {
    size_t edges_added, edges_removed, features_added, features_removed;
} graphss_i_change_counts;

/* Node `node` of now was node `was` of past. before [nodes of now]: the number a node had, -1
 * for none; NULL: all have kept theirs. A dense measurement that differs counts as added. */
graphss_i_change_counts graphss_i_change_count(const graphss_graph *graph,
    const graphss_features *features, size_t node, const graphss_graph *past_graph,
    const graphss_features *past_features, size_t was, const int32_t *before);

enum {
    GRAPHSS_I_MOVES = 4 + GRAPHSS_I_PLAIN_SOURCES + 3, /* what moved: `alert` goes by these */
    GRAPHSS_I_CHANGES = GRAPHSS_I_MOVES + GRAPHSS_I_PLAIN_SOURCES + 1 /* and where it stands */
};
/* out [GRAPHSS_I_CHANGES]; evidence rows [k x GRAPHSS_I_ROW] of the node now and before. */
void graphss_i_change_row(float *out, const graphss_i_change_counts *counts, const float *now,
    const float *past, size_t k);

#endif
