/* rehearsal.h - attacks by the defender on nodes whose labels it knows, to learn what tampered
 * nodes look like and how to read them.
 *
 * A recipe says what is changed (edges, features, both), how (added, swapped, removed), how
 * much, and with which items (the strongest evidence, any of the class, those of one node of
 * it). Each node draws its own from a hash of (seed, round, node), so a rehearsal does not
 * depend on the order of nodes or on the number of threads. Some of the other nodes change
 * benignly. The attacker believes the classifier's predictions. */
#ifndef GRAPHSS_REHEARSAL_H
#define GRAPHSS_REHEARSAL_H

#include "detect/class_model.h"
#include "detect/tuning.h"
#include <graphss/model.h>

/* The type of tampering: none, edges, features, or both, by a recipe (the bits are EDGES and
 * FEATURES) or by a search that avoids what would reveal it. */
typedef enum graphss_i_tampered {
    GRAPHSS_I_UNTOUCHED,
    GRAPHSS_I_TAMPERED_EDGES,
    GRAPHSS_I_TAMPERED_FEATURES,
    GRAPHSS_I_TAMPERED_BOTH,
    GRAPHSS_I_SEARCHED,
    GRAPHSS_I_STATES
} graphss_i_tampered;

typedef struct graphss_i_rehearsal_input {
    const graphss_graph *graph;
    const graphss_features *features;
    const graphss_i_class_model *classes;
    const float *prob;      /* [n x k] the classifier on this snapshot */
    const float *surrogate; /* [n_cols x k] for Nettack; NULL: recipes in its place */
    const int32_t *node;    /* [m] to attack some of */
    size_t m;
    uint64_t seed;
} graphss_i_rehearsal_input;

/* The attacker's knowledge of a snapshot, computed once for all rounds. */
typedef struct graphss_i_rehearsal_room graphss_i_rehearsal_room;
graphss_status graphss_i_rehearsal_open(
    graphss_ctx *ctx, graphss_i_rehearsal_room **out, const graphss_i_rehearsal_input *in);
void graphss_i_rehearsal_close(graphss_ctx *ctx, graphss_i_rehearsal_room *room);

/* Most features that are changed at one node. */
enum { GRAPHSS_I_FEATURES_MOST = TUNE_LOUD_FEATURES / 5 };

/* Rounds there are: recipes first, then Nettack. */
size_t graphss_i_rehearsal_rounds(void);
/* One round. graph and features are the caller's to destroy. state [m]: the type of tampering.
 * Time O(nodes + edges + entries). */
graphss_status graphss_i_rehearsal_round(graphss_ctx *ctx, graphss_graph *graph,
    graphss_features *features, uint8_t *state, graphss_i_rehearsal_room *room, size_t round);

#endif
