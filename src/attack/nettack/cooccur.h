/* cooccur.h - which words occur together, and which may therefore be added unnoticed.
 *
 * Two words are joined where some node holds both; deg_j is the number of words joined to
 * j, inv_j = 1 / (deg_j + 1e-8). Word i may be added to a node when the inv of the node's
 * words joined to i sum to more than half of the inv of all its words (Zuegner et al.,
 * KDD 2018, section 4.1).
 *
 * Rows of the joined-relation are bit sets, made for the words that the attack may ask for
 * and worked out on the spot for others. */
#ifndef GRAPHSS_COOCCUR_H
#define GRAPHSS_COOCCUR_H

#include "attack/feature_index.h"

typedef struct graphss_i_cooccur {
    size_t d, blocks;                 /* blocks = 64-bit blocks of a row */
    const graphss_i_feature_index *x; /* borrowed */
    uint64_t **row;  /* [d] blocks each, or NULL: not kept. Its own bit may be set */
    uint64_t *block; /* [kept x blocks] where the rows live */
    size_t kept;
} graphss_i_cooccur;

/* Scratch of one caller. */
typedef struct graphss_i_cooccur_scratch {
    uint64_t *row; /* [blocks] */
    double *sum;   /* [d] */
} graphss_i_cooccur_scratch;

enum { GRAPHSS_I_COOCCUR_BYTES = 1 << 30 }; /* kept rows, usually */

/* Stores rows for the features with wanted[j], as many as fit into max_bytes. */
graphss_status graphss_i_cooccur_init(graphss_ctx *ctx, graphss_i_cooccur *c,
                                      const graphss_i_feature_index *x, const uint8_t *wanted,
                                      size_t max_bytes);
/* Shares the rows with x, which has the same features. */
graphss_status graphss_i_cooccur_copy(graphss_ctx *ctx, graphss_i_cooccur *c,
                                      const graphss_i_cooccur *from,
                                      const graphss_i_feature_index *x);
void graphss_i_cooccur_destroy(graphss_ctx *ctx, graphss_i_cooccur *c);

/* allowed[i] = 1 where word i may be added to a node of n words, else 0. */
void graphss_i_cooccur_allowed(uint8_t *allowed, const graphss_i_cooccur *c,
                               const int32_t *word, size_t n,
                               graphss_i_cooccur_scratch *scratch);
/* Updates the stored rows after the features of a node in x changed from old to now. */
void graphss_i_cooccur_update(graphss_i_cooccur *c, const int32_t *old, size_t n_old,
                              const int32_t *now, size_t n_now);

#endif
