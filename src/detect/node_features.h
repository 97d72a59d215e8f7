/* node_features.h - how odd the nodes of a snapshot look, at the cost of one pass over links
 * and words: numbers for a gate (logistic.h) to weigh. No labels, no training, no simulation.
 */
#ifndef GRAPHSS_GLANCE_H
#define GRAPHSS_GLANCE_H

#include "base/base.h"
#include <graphss/graph.h>

enum {
    GRAPHSS_I_VOICES = 2,       /* what words say: by the model's weights, by counting */
    GRAPHSS_I_GLANCE_NOW = 30,  /* columns without history */
    GRAPHSS_I_GLANCE_PAST = 16, /* columns of change */
    GRAPHSS_I_GLANCE_MOST = GRAPHSS_I_GLANCE_NOW
};

/* What words say of classes. */
typedef struct graphss_i_voice {
    float *weight;   /* [n_cols x k], rows centred */
    float *by_class; /* [k x n_cols] the same: of one class it stays in the nearest cache */
    bool counted;    /* a word is there or not, whatever its value */
    double unit;     /* typical margin of a node's words */
    double heat;     /* of the softmax that turns what words say into a belief */
} graphss_i_voice;

/* weight [n_cols x k] of the voice that counts: how much more often nodes that the model
 * puts in a class hold the word than chance has it, in standard deviations. share [k]
 * becomes the mean of prob. */
void graphss_i_voice_count(float *weight, double *share, const graphss_features *features,
                           const float *prob, size_t k);
/* Centres the rows of weight [d x k], and fills by_class. */
void graphss_i_voice_centre(graphss_i_voice *voice, size_t d, size_t k);

/* A snapshot and what its words say. graph, features and prob are borrowed. */
typedef struct graphss_i_glance {
    const graphss_graph *graph;
    const graphss_features *features;
    const float *prob; /* [n x k] the classifier */
    size_t n, k;
    const graphss_i_voice *voice; /* [VOICES], centred */
    /* Or NULL: voice itself, to be tuned while this one is opened: unit and heat are set by
     * the medians over the snapshot. */
    graphss_i_voice *tune;
    /* Or NULL: [n] nodes that are looked at, and their neighbours; the others are not heard.
     */
    const uint8_t *wanted;
    /* Or NULL: open, with the same voices; nodes with the words of the same node there need
     * not be heard again. there [n]: its number, -1 for none; NULL: the same. These are
     * borrowed while this one is opened. */
    const struct graphss_i_glance *heard;
    const int32_t *there;
    float *says[GRAPHSS_I_VOICES]; /* [n x k] */
    float *face;                   /* [n x graphss_i_face_width(k)] what neighbours see */
} graphss_i_glance;

/* What neighbours see of a node stands together, for they are all over the memory: what the
 * classifier believes [k], for each voice a belief out of what it says [k], the margin of
 * each, and log(1 + links). */
static inline size_t graphss_i_face_width(size_t k)
{
    return (1 + GRAPHSS_I_VOICES) * k + GRAPHSS_I_VOICES + 1;
}
static inline float *graphss_i_face(const graphss_i_glance *g, size_t node)
{
    return g->face + node * graphss_i_face_width(g->k);
}
static inline float *graphss_i_face_leans(float *face, size_t voice, size_t k)
{
    return face + (1 + voice) * k;
}
static inline float *graphss_i_face_margin(float *face, size_t k)
{
    return face + (1 + GRAPHSS_I_VOICES) * k;
}
static inline float *graphss_i_face_reach(float *face, size_t k)
{
    return graphss_i_face_margin(face, k) + GRAPHSS_I_VOICES;
}

/* All up to heard is set; fills the rest. Time O(words * k). */
graphss_status graphss_i_glance_open(graphss_ctx *ctx, graphss_i_glance *g);
void graphss_i_glance_close(graphss_ctx *ctx, graphss_i_glance *g);

/* How nodes changed, in counts. */
typedef struct graphss_i_change {
    int32_t links, words;
    int32_t cut, dropped; /* of them: those that are gone */
    int32_t valued;       /* of the words: those that stayed with another value */
} graphss_i_change;

/* column [GLANCE_NOW] of a node now. Time O(links * k + words). */
void graphss_i_glance_now(float *column, const graphss_i_glance *g, size_t node);
/* Fetches what the columns of a node will be made of, to be looked at soon. */
void graphss_i_glance_ahead(const graphss_i_glance *g, size_t node);
/* column [GLANCE_PAST] of a node against its past; before [n] is its number there, or -1
 * (then the columns are 0). */
void graphss_i_glance_past(float *column, graphss_i_change *change, const graphss_i_glance *g,
                           const graphss_i_glance *past, const int32_t *before, size_t node);

#endif
