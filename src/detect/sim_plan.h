/* sim_plan.h - simulated attacks on nodes whose labels are known: who is hit, how, in which
 * view, and what is learned from it.
 *
 * A drill is one kind of tampering on half of a block of labelled nodes. Every view holds as
 * many drills as there are blocks, each on a block of its own, so that many labelled nodes
 * make few views: with one block twenty, with twenty one. */
#ifndef GRAPHSS_DRILL_H
#define GRAPHSS_DRILL_H

#include "detect/state_model.h"

enum {
    GRAPHSS_I_DRILLS = 2 * GRAPHSS_I_SIMULATED,
    GRAPHSS_I_VIEWS = 1 + GRAPHSS_I_DRILLS, /* at most; the first is the snapshot itself */
    GRAPHSS_I_KNOWN_LEAST = 20              /* labelled nodes */
};

/* {0} is empty; the arrays belong to it. */
typedef struct graphss_i_drills {
    int32_t *node, *label; /* [blocks * block] labelled nodes in random order */
    size_t blocks, block;
    size_t views; /* the snapshot itself included */
    bool apart;   /* churn is also of links or words alone, see attack_sim.h */
} graphss_i_drills;

/* Do validation nodes teach? Else training nodes do: the classifier knows them, but some tens
 * of the others tell so little that half of a clean snapshot was thought hit. */
bool graphss_i_val_teaches(const graphss_split *split);
/* DATA where there are too few labelled nodes. */
graphss_status graphss_i_drills_plan(graphss_ctx *ctx, graphss_i_drills *d,
                                     const graphss_split *split, uint64_t seed);
void graphss_i_drills_destroy(graphss_ctx *ctx, graphss_i_drills *d);

/* What an attacker does in a drill, each as if it were the only one: else he would join his
 * victims to those of others, whose words say what he wants. in: graph and features of the
 * snapshot, label (believed), classes, model, seed; surrogate, ground: see attack_sim.h. */
graphss_status graphss_i_drills_attack(graphss_ctx *ctx, graphss_flips *flips,
                                       const graphss_i_drills *d, size_t drill,
                                       const graphss_attack_input *in,
                                       const float *const *surrogate,
                                       const graphss_i_ground *ground);
/* The view, from 1 on, with all its drills. flips [GRAPHSS_I_DRILLS]: as above. */
graphss_status graphss_i_drills_merge(graphss_ctx *ctx, graphss_graph *graph,
                                      graphss_features *features, const graphss_i_drills *d,
                                      size_t view, const graphss_attack_input *in,
                                      const graphss_flips *flips);

/* wanted [nodes]: 1 where rows of a view, from 1 on, are taken from below, else as it was. */
void graphss_i_drills_wanted(uint8_t *wanted, const graphss_i_drills *d, size_t view);

/* Rows of labelled nodes; the first n_now untouched ones are of the snapshot itself. */
typedef struct graphss_i_lessons {
    graphss_i_sample untouched, attacked[GRAPHSS_I_ATTACKS];
    size_t n_now;
} graphss_i_lessons;

/* Is there a row of every kind that graphss_i_suspicion_fit needs? Of many labelled nodes each
 * kind hits a part, and of those perhaps none has a past. */
bool graphss_i_samples_suffice(const graphss_i_sample *untouched,
                               const graphss_i_sample *attacked);
void graphss_i_lessons_destroy(graphss_ctx *ctx, graphss_i_lessons *l);
/* view [d->views], looked at; before: only nodes that are not -1 there; NULL: all. On errors
 * *l is still to be destroyed. */
graphss_status graphss_i_lessons_gather(graphss_ctx *ctx, graphss_i_lessons *l,
                                        const graphss_i_drills *d, const graphss_i_view *view,
                                        size_t k, const int32_t *before);

#endif
