/* detector_sim.h - attacks and benign churn on chosen nodes of the current snapshot, to see
 * what they would look like: Nettack on links and words, on links, on words, and nodes copied
 * from another class. */
#ifndef GRAPHSS_REHEARSE_H
#define GRAPHSS_REHEARSE_H

#include "attack/benign/churn.h"
#include "detect/node_features.h"

typedef enum graphss_i_rehearsed {
    GRAPHSS_I_REHEARSED_BOTH, /* links and words */
    GRAPHSS_I_REHEARSED_EDGES,
    GRAPHSS_I_REHEARSED_WORDS,
    GRAPHSS_I_REHEARSED_COPIED, /* links and words of a node of another class */
    GRAPHSS_I_REHEARSED         /* how many */
} graphss_i_rehearsed;
/* "links and features", "links", "features", "copied" */
const char *graphss_i_rehearsed_name(size_t kind);

typedef struct graphss_i_rehearsal {
    const graphss_i_glance *now;
    const int32_t *believed; /* [n] classes */
    const int32_t *victim;   /* [n_victims] to attack, */
    size_t n_victims;
    const int32_t *churned; /* [n_churned] others, to churn, */
    size_t n_churned;
    const graphss_i_churning *churn; /* [n_churned] each so much */
    uint64_t seed;
} graphss_i_rehearsal;

/* The i-th victim is attacked in the way graphss_i_rehearsal_kind(i). Both outputs are the
 * caller's. Time O(nodes + links + words + victims * (columns + least(nodes, 2000))). */
size_t graphss_i_rehearsal_kind(size_t i);
/* Budgets in turn: 1 link and 10 words, 2 and 20, 5 and 50. */
graphss_i_churning graphss_i_rehearsal_budget(size_t i);
graphss_status graphss_i_rehearse(graphss_ctx *ctx, graphss_graph *graph,
                                  graphss_features *features, const graphss_i_rehearsal *in);

#endif
