/* attack_sim.h - attacks by the defender on nodes whose labels it knows, to learn from them
 * what tampered evidence looks like. */
#ifndef GRAPHSS_SIMULATE_H
#define GRAPHSS_SIMULATE_H

#include "attack/nettack/nettack_cache.h"

typedef enum graphss_i_tampering {
    GRAPHSS_I_BOTH,     /* links, then features */
    GRAPHSS_I_FEW,      /* the same with small budgets, which look unlike the rest */
    GRAPHSS_I_EDGES,    /* links alone */
    GRAPHSS_I_FEATURES, /* features alone */
    GRAPHSS_I_COPIED,   /* links and features of a random node of another class */
    GRAPHSS_I_BORROWED, /* features alone of such a node */
    GRAPHSS_I_DICE,     /* links to other classes in place of links to the own */
    GRAPHSS_I_RANDOM,   /* links and features drawn at random */
    GRAPHSS_I_PRAISED,  /* words, and links, for the class the node has; or for another */
    GRAPHSS_I_CHURN,    /* no attack: as much change as a living graph has */
    GRAPHSS_I_SIMULATED
} graphss_i_tampering;

enum { GRAPHSS_I_BUDGETS = 3, GRAPHSS_I_BELIEFS = 2 };
/* What is learned of changed nodes: a lesson for each kind before churn, one more of those of
 * the first kind with the largest budget, which look unlike the rest, one of those that
 * were slandered, while the others of their kind were praised, and one of those that were
 * dressed up, while the others were copied in place of what they had. */
enum {
    GRAPHSS_I_MANY = GRAPHSS_I_CHURN,
    GRAPHSS_I_SLANDERED,
    GRAPHSS_I_DRESSED,
    GRAPHSS_I_ATTACKS
};
/* Of the nodes that are praised with one budget, is that in this place slandered: praised for
 * a class that it has not? */
static inline bool graphss_i_slandered(size_t place)
{
    return place / 4 % 2;
}
/* Of those that are copied, does that one keep all its words and take others beside them? */
static inline bool graphss_i_dressed(size_t place)
{
    return place / 2 % 2;
}

/* Attacks the listed nodes, a third of them with each of three budgets, since the true one is
 * unknown, and appends the changes to *out. Each third is attacked as if it were the only one,
 * so that a change may be there twice. in: graph, features, label (believed; those of
 * victims known), classes, model, victims, seed. surrogate [GRAPHSS_I_BELIEFS]: what attackers
 * believe; `turn` says which budget meets which. apart: churn is also of links or words alone,
 * and of links that only come. ground: of the input's features, or NULL. */
graphss_status graphss_i_simulate(graphss_ctx *ctx, graphss_flips *out,
                                  const graphss_attack_input *in, graphss_i_tampering kind,
                                  const float *const *surrogate, size_t turn, bool apart,
                                  const graphss_i_ground *ground);

#endif
