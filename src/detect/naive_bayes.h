/* naive_bayes.h - what words say of classes by how often labelled nodes hold them (naive Bayes).
 * Counts of the labels know nothing of links: an attacker who pleases a linear model of the
 * graph did not have them in mind. */
#ifndef GRAPHSS_LEXICON_H
#define GRAPHSS_LEXICON_H

#include "graph/rows.h"
#include <graphss/split.h>

/* {0} is empty and has nothing to say. */
typedef struct graphss_i_lexicon {
    float *weight; /* [n_cols x k], rows centred; NULL: of dense features */
    double unit;   /* typical margin of a node's words, > 0 */
} graphss_i_lexicon;

void graphss_i_lexicon_destroy(graphss_ctx *ctx, graphss_i_lexicon *x);
/* By the labels of training nodes: validation nodes are what its worth is learned from. Time
 * O(words * k). */
graphss_status graphss_i_lexicon_learn(graphss_ctx *ctx, graphss_i_lexicon *x,
                                       const graphss_features *features,
                                       const graphss_split *split, size_t k);
/* p [k] = softmax(sum over the words of weight / unit); alike for all classes if it has
 * nothing to say. z [k]: scratch. */
void graphss_i_lexicon_read(float *p, double *z, const graphss_i_lexicon *x, graphss_i_row row,
                            size_t k);

/* The largest of z [k] less the next; of one 0. */
double graphss_i_margin(const double *z, size_t k);
/* p [k] = softmax(z / unit) */
void graphss_i_softmax_of(float *p, const double *z, double unit, size_t k);

#endif
