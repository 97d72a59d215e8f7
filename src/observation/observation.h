/* observation.h - checks the input of alert and recover, and matches it with the previous
 * snapshot. */
#ifndef GRAPHSS_OBSERVATION_PRIVATE_H
#define GRAPHSS_OBSERVATION_PRIVATE_H

#include "base/base.h"
#include "models/model_private.h"
#include <graphss/observation.h>
#include <graphss/recover.h>

/* Checks that the parts of each snapshot, and the two snapshots, fit together. DATA, SHAPE. */
graphss_status graphss_i_check_shapes(graphss_ctx *ctx, const graphss_defence_input *in);
/* Checks also that they fit the model and that graphs and features are sound. INVALID. Called
 * once at the entry of an operation. */
graphss_status graphss_i_check_input(graphss_ctx *ctx, const graphss_defence_input *in);
/* Checks that the split of the snapshot called `which` has training nodes, and that nodes and
 * labels are in range. DATA, SHAPE. */
graphss_status graphss_i_check_split(
    graphss_ctx *ctx, const graphss_split *split, size_t n, size_t k, const char *which);

/* number [nodes of current], freed by the caller: the name of each node in the snapshot the
 * model was trained on, as its number there; its own number if it has no such name. */
graphss_status graphss_i_match_trained(graphss_ctx *ctx, int32_t **number,
    const graphss_model *model, const graphss_observation *current);

/* ---- the previous snapshot (match.c) ---- */

/* before [nodes of now]: the node in the previous snapshot or -1; after [nodes of past],
 * unless NULL: the inverse. The caller releases both. DATA: no node is in both. */
graphss_status graphss_i_match_past(graphss_ctx *ctx, int32_t **before, int32_t **after,
    const graphss_observation *now, const graphss_observation *past);
/* after alone, from before. DATA: no node is in both. */
graphss_status graphss_i_match_inverse(graphss_ctx *ctx, int32_t **after,
    const int32_t *before, const graphss_observation *now, const graphss_observation *past);
/* Warns if nodes are matched by number and almost none resembles its counterpart. Called once
 * at the entry of an operation, on checked snapshots. */
void graphss_i_warn_of_strangers(
    graphss_ctx *ctx, const graphss_observation *now, const graphss_observation *past);
/* True if the node has the same features and edges as before. before [nodes of now]: as found
 * above. */
bool graphss_i_unchanged(const graphss_observation *now, const graphss_observation *past,
    const int32_t *before, size_t node);

/* Applies the classifier's standardisation of columns to both snapshots.
 *
 *     graphss_i_standardised scaled = {0};
 *     graphss_i_standardise_open(ctx, &scaled, in);
 *     ... scaled.in ...
 *     graphss_i_standardise_close(ctx, &scaled); */

/* {0} is empty. `in` points into the struct, so it must not be moved. */
typedef struct graphss_i_standardised {
    graphss_defence_input in;
    graphss_features current, past; /* empty: unchanged */
    graphss_observation previous;
    graphss_model model; /* shallow: the given model with its scaling removed */
    /* [2 n_cols] scaling left to the model: means to subtract, and ones */
    float *mean;
} graphss_i_standardised;

graphss_status graphss_i_standardise_open(
    graphss_ctx *ctx, graphss_i_standardised *scaled, const graphss_defence_input *in);
void graphss_i_standardise_close(graphss_ctx *ctx, graphss_i_standardised *scaled);

#endif
