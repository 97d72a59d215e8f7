/* moves.h - what an adaptive attacker can do to a node: ways to choose edges and ways to
 * choose features that make it look like another class. The search finds out which of them
 * work against a defence (adaptive.c). */
#ifndef GRAPHSS_MOVES_H
#define GRAPHSS_MOVES_H

#include "attack/attack_method.h"
#include "attack/feature_index.h"

/* One change of the victim. Of its edges: the other end, and 1 to join or 0 to cut. Of its
 * features: the column and the new value. */
typedef struct graphss_i_change {
    int32_t target;
    float value;
} graphss_i_change;

typedef enum graphss_i_edge_move {
    GRAPHSS_I_EDGES_LOUD,  /* joins nodes that speak strongest for the class */
    GRAPHSS_I_EDGES_ANY,   /* joins any nodes of the class */
    GRAPHSS_I_EDGES_DONOR, /* joins a node of the class and its neighbours */
    GRAPHSS_I_EDGES_ALIKE, /* joins nodes of the class with similar features */
    GRAPHSS_I_EDGES_SWAP,  /* cuts edges to its own class for half of the budget, then LOUD */
    GRAPHSS_I_EDGES_CUT,   /* cuts edges to its own class */
    GRAPHSS_I_EDGES_NONE,
    GRAPHSS_I_EDGE_MOVES
} graphss_i_edge_move;

typedef enum graphss_i_feature_move {
    GRAPHSS_I_FEATURES_LOUD,  /* adds those that speak strongest for the class */
    GRAPHSS_I_FEATURES_SOME,  /* adds some of these, drawn */
    GRAPHSS_I_FEATURES_DONOR, /* takes over features of a node of the class */
    GRAPHSS_I_FEATURES_SWAP,  /* drops own ones for half of the budget, then SOME */
    GRAPHSS_I_FEATURES_DROP,  /* drops those that speak strongest for its own class */
    GRAPHSS_I_FEATURES_FEW,   /* LOUD with a quarter of the budget */
    GRAPHSS_I_FEATURES_NONE,
    GRAPHSS_I_FEATURE_MOVES
} graphss_i_feature_move;

/* What the attacker knows before the first query; made once. */
typedef struct graphss_i_known {
    const graphss_attack_input *in;
    size_t n, d, k;
    graphss_i_feature_index words;
    float *on;        /* [d] value of an added feature */
    float *speaks;    /* [k x d] how much a feature speaks for a class */
    int32_t *loudest; /* [k x d] features of a class, strongest first */
    int32_t *member;  /* nodes believed to be of a class, strongest first; no victims */
    int64_t *first;   /* [k + 1] into that */
    int32_t *wanted;  /* [n_victims x (k - 1)] classes to push to, the nearest first */
    uint8_t *drawn;   /* [max(n, d)] scratch, all 0 between calls */
} graphss_i_known;

/* Needs surrogate and model. The caller destroys it, also on errors. */
graphss_status graphss_i_known_init(graphss_ctx *ctx, graphss_i_known *known,
    const graphss_attack_input *in, const graphss_attack_options *opt);
void graphss_i_known_destroy(graphss_ctx *ctx, graphss_i_known *known);

/* Fills out [most] with changes that push the node to the class, and returns their number: at
 * most `most`, each target once, none without effect; at least one edge and one feature remain
 * if there were any. `donor` is a node to copy from, or -1. */
size_t graphss_i_choose_edges(graphss_i_change *out, size_t most, graphss_i_known *known,
    int32_t node, int32_t class_, int32_t donor, graphss_i_edge_move move, graphss_rng *rng);
size_t graphss_i_choose_features(graphss_i_change *out, size_t most, graphss_i_known *known,
    int32_t node, int32_t class_, int32_t donor, graphss_i_feature_move move,
    graphss_rng *rng);
/* A node believed to be of the class and not a victim; -1 if there is none. */
int32_t graphss_i_choose_donor(const graphss_i_known *known, int32_t class_, graphss_rng *rng);

#endif
