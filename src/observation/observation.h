/* observation.h - checks of what alert and recover are given, and the match with the previous
 * snapshot. */
#ifndef GRAPHSS_OBSERVATION_PRIVATE_H
#define GRAPHSS_OBSERVATION_PRIVATE_H

#include "base/base.h"
#include <graphss/observation.h>

/* Do the parts of each snapshot, and the two, fit together? DATA, SHAPE. */
graphss_status graphss_i_check_shapes(graphss_ctx *ctx, const graphss_recover_input *in);
/* The same, do they fit the model, and are graphs and features sound? INVALID. Once at the
 * entry of an operation. */
graphss_status graphss_i_check_input(graphss_ctx *ctx, const graphss_recover_input *in);
/* Has the split of the snapshot called `which` training nodes, and are nodes and labels in
 * range? DATA, SHAPE. */
graphss_status graphss_i_check_split(graphss_ctx *ctx, const graphss_split *split, size_t n,
                                     size_t k, const char *which);

/* ---- the previous snapshot (match.c) ---- */

/* before [nodes of now]: the node of the past or -1; after [nodes of past], unless NULL: the
 * other way round. The caller's to release. DATA: no node is in both. */
graphss_status graphss_i_match_past(graphss_ctx *ctx, int32_t **before, int32_t **after,
                                    const graphss_observation *now,
                                    const graphss_observation *past);
/* A warning where numbers tell which node is which and next to nobody is who it was: once at
 * the entry of an operation, of snapshots that were looked at. */
void graphss_i_warn_of_strangers(graphss_ctx *ctx, const graphss_observation *now,
                                 const graphss_observation *past);
/* Has the node the words and edges it had? before [nodes of now]: as found above. */
bool graphss_i_unchanged(const graphss_observation *now, const graphss_observation *past,
                         const int32_t *before, size_t node);

#endif
