/* aux_models.h - models the defender trains of the current snapshot: what features alone say,
 * and what attackers might believe. */
#ifndef GRAPHSS_WITNESSES_H
#define GRAPHSS_WITNESSES_H

#include "detect/attack_sim.h"
#include "detect/naive_bayes.h"
#include <graphss/recover.h>

/* {0} is empty; everything belongs to it. */
typedef struct graphss_i_witnesses {
    graphss_model *mlp;                 /* a perceptron on the features */
    float *attacker[GRAPHSS_I_BELIEFS]; /* [n_cols x k] linear: logits = A_hat^2 X W */
    float *words; /* [n_cols x k] what words say, by none of these; rows centred */
    graphss_i_lexicon lexicon; /* and by counts alone */
} graphss_i_witnesses;

void graphss_i_witnesses_destroy(graphss_ctx *ctx, graphss_i_witnesses *w);
/* Four trainings, and a count, with the labels of the split. beside, an errand of the caller's
 * or NULL, is run first, beside them. On errors *w is still to be destroyed. */
graphss_status graphss_i_witnesses_train(graphss_ctx *ctx, graphss_i_witnesses *w,
                                         const graphss_observation *now,
                                         const graphss_split *split, size_t k, uint64_t seed,
                                         graphss_i_parallel_job beside, void *arg);
/* prob [n x k] by the perceptron. base: features of as many nodes, of which the answers are
 * there; those of rows that are the same are taken over. NULL: none. */
graphss_status graphss_i_witnesses_ask(graphss_ctx *ctx, float *prob,
                                       const graphss_i_witnesses *w,
                                       const graphss_features *features, size_t k,
                                       const graphss_features *base, const float *base_prob);

#endif
