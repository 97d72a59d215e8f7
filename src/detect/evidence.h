/* evidence.h - what a snapshot says of each node: evidence for each class from several
 * sources, and how odd the node looks. */
#ifndef GRAPHSS_EVIDENCE_H
#define GRAPHSS_EVIDENCE_H

#include "base/base.h"
#include "detect/naive_bayes.h"
#include <graphss/graph.h>
#include <graphss/split.h>

enum {
    GRAPHSS_I_SAYS = 16,     /* columns of evidence per class, */
    GRAPHSS_I_SAYS_NOW = 14, /* of which the first so many need no history */
    GRAPHSS_I_ODD = 45,      /* likewise for oddness */
    GRAPHSS_I_ODD_NOW = 38
};

/* Columns of odd, filled by open (evidence.c) or by look (votes.c). */
enum {
    ODD_WORDS,
    ODD_DEGREE,
    ODD_SIMILAR,
    ODD_LEAST_SIMILAR,
    ODD_MLP_VOTE,
    ODD_PROB_VOTE,
    ODD_MLP_VOTE_MLP,
    ODD_MLP_DOT_VOTE,
    ODD_PROB_DOT_VOTE,
    ODD_MLP_DOT_PROB,
    ODD_MLP_MOST,
    ODD_PROB_MOST,
    ODD_MLP_ENTROPY,
    ODD_PROB_ENTROPY,
    ODD_VOTE_ENTROPY,
    ODD_VOTE_MLP_ENTROPY,
    ODD_MLP_IS_VOTE,
    ODD_PROB_IS_VOTE,
    ODD_PROB_IS_MLP,
    ODD_WORDS_2,
    ODD_DEGREE_2,
    ODD_MARGIN,
    ODD_LARGEST,
    ODD_STRONG_WORDS,
    ODD_AGAINST,
    ODD_TRIANGLES,
    ODD_DEGREE_NEAR,
    ODD_DEGREE_NEAR_LEAST,
    ODD_MARGIN_NEAR,
    ODD_MARGIN_NEAR_MOST,
    ODD_TWIN_ALIKE,
    ODD_TWIN_LINKS,
    ODD_TWIN_WORDS,
    ODD_TWIN_APART,
    ODD_TWIN_VOTES_APART,
    ODD_PROB_ALIKE,
    ODD_VOTE_ALIKE,
    ODD_PROB_IS_ALIKE,
    ODD_PAST_DIVERGENCE,
    ODD_PAST_DISTANCE,
    ODD_PAST_SAME,
    ODD_DEGREE_GAIN,
    ODD_DEGREE_CHANGE,
    ODD_WORDS_GAIN,
    ODD_WORDS_CHANGE
};
_Static_assert((int)ODD_WORDS_CHANGE + 1 == (int)GRAPHSS_I_ODD &&
                   (int)ODD_PAST_DIVERGENCE == (int)GRAPHSS_I_ODD_NOW,
               "columns of oddness");

/* What is the same for the snapshot and all that is simulated on it. All borrowed. */
typedef struct graphss_i_lens {
    size_t n, k;
    const graphss_split *split;
    const float *surrogate;           /* [n_cols x k] linear word evidence, rows centred */
    const graphss_i_lexicon *lexicon; /* what they say by counts */
    double strength;                  /* typical margin of it: the unit of what words say */
    const int32_t *before;            /* [n] node of the past or -1; NULL: no history */
    const float *before_prob;   /* [n x k] in numbers of now; rows without history unread */
    const float *before_degree; /* [n] */
    const float *before_words;  /* [n] */
    const struct graphss_i_view *base; /* an open view of nearly the same snapshot: what has
                                        * not changed is taken from it; NULL: none */
    const uint8_t *wanted; /* [n] with a base: the nodes that are looked at closely. Of others
                            * whose row has not changed all is taken from the base, though
                            * something around them may have. In a look: the nodes that are
                            * filled. NULL: all */
} graphss_i_lens;

typedef struct graphss_i_view {
    graphss_graph graph;
    graphss_features features;
    bool borrowed;   /* graph and features are somebody else's */
    float *prob;     /* [n x k] the classifier */
    float *mlp;      /* [n x k] a perceptron on the features */
    float *alike;    /* [n x k] the classifier, over links between nodes that are alike */
    float *cosine;   /* [stored links] of the two ends' features */
    uint8_t *closed; /* [stored links] do the ends share a neighbour? */
    int32_t *twin;   /* [n] the node it looks copied from, or -1 */
    float *rest;     /* [n x k] what the words say that the twin lacks */
    float *counts;   /* [n x k] what the words say by counts in labels */
    float *linear;   /* [n x k] and by a linear model */
    float *belief;   /* [n x k] what neighbours vote with; first prob */
    float *trust;    /* [n] chance that a node is untouched; first 1 */
    float *says;     /* [n x k x GRAPHSS_I_SAYS] */
    float *odd;      /* [n x GRAPHSS_I_ODD] */
    double *norm;    /* [n] length of a feature row */
    double *margin;  /* [n] of its word evidence */
    uint8_t *wanted; /* [n] nodes that are learned from; NULL: all */
} graphss_i_view;

void graphss_i_view_destroy(graphss_ctx *ctx, graphss_i_view *v);
/* graph, features, prob and mlp are there; allocates and fills what does not depend on
 * belief, alike excepted. lens->strength is set first, see below. Time O(links * words). */
graphss_status graphss_i_view_open(graphss_ctx *ctx, graphss_i_view *v,
                                   const graphss_i_lens *lens);
/* alike is there, too. Fills says and the rest of odd from belief and trust. Time O(links *
 * classes). */
graphss_status graphss_i_view_look(graphss_ctx *ctx, graphss_i_view *v,
                                   const graphss_i_lens *lens);
/* Median over nodes of the margin of word evidence, > 0. */
graphss_status graphss_i_feature_strength(graphss_ctx *ctx, double *strength,
                                          const graphss_features *features,
                                          const float *surrogate, size_t k);
/* [n] entries that are not 0 */
void graphss_i_count_features(float *words, const graphss_features *features);

#endif
