/* sandbox.h - a graph and its features that can be edited one change at a time, for the
 * attacks that draw their changes and for change that is no attack. */
#ifndef GRAPHSS_SANDBOX_H
#define GRAPHSS_SANDBOX_H

#include "attack/feature_index.h"
#include <graphss/flips.h>

typedef struct graphss_i_sandbox {
    graphss_i_rows edges;
    graphss_i_feature_index words;
} graphss_i_sandbox;

/* Graph and features are borrowed and never written. */
graphss_status graphss_i_sandbox_init(graphss_ctx *ctx, graphss_i_sandbox *s,
                                      const graphss_graph *graph,
                                      const graphss_features *features);
void graphss_i_sandbox_destroy(graphss_ctx *ctx, graphss_i_sandbox *s);

/* The current value of a feature at a node; 0: absent. */
float graphss_i_sandbox_feature(const graphss_i_sandbox *s, size_t node, int32_t column);
/* True if removing the edge between a and b leaves neither end isolated. */
bool graphss_i_sandbox_may_cut(const graphss_i_sandbox *s, int32_t a, int32_t b);

/* Makes the change and appends it to flips. */
graphss_status graphss_i_sandbox_flip_edge(graphss_ctx *ctx, graphss_i_sandbox *s,
                                           graphss_flips *flips, int32_t victim, int32_t a,
                                           int32_t b);
graphss_status graphss_i_sandbox_set_feature(graphss_ctx *ctx, graphss_i_sandbox *s,
                                             graphss_flips *flips, int32_t victim,
                                             int32_t node, int32_t column, float value);
/* Undoes the changes of flips from number `from` on, last one first; they stay in the list. */
graphss_status graphss_i_sandbox_take_back(graphss_ctx *ctx, graphss_i_sandbox *s,
                                           const graphss_flips *flips, size_t from);

#endif
