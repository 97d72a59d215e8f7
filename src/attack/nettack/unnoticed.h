/* unnoticed.h - Nettack's tests of whether a change would be noticed (Zuegner et al., KDD
 * 2018, section 4.1): by the features that occur together, and by the distribution of degrees.
 *
 * Two features are joined if some node has both; deg_j is the number of features joined to j,
 * inv_j = 1 / (deg_j + 1e-8). Feature i may be added to a node if the inv of those of its
 * features that are joined to i sum to more than half of the inv of all its features.
 *
 * The rows of this relation are bit sets. They are stored for the features that the attack may
 * change, and computed on demand for others. */
#ifndef GRAPHSS_UNNOTICED_H
#define GRAPHSS_UNNOTICED_H

#include "attack/feature_index.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    const graphss_i_feature_index *x, const uint8_t *wanted, size_t max_bytes);
/* Shares the rows with x, which has the same features. */
graphss_status graphss_i_cooccur_copy(graphss_ctx *ctx, graphss_i_cooccur *c,
    const graphss_i_cooccur *from, const graphss_i_feature_index *x);
void graphss_i_cooccur_destroy(graphss_ctx *ctx, graphss_i_cooccur *c);

/* allowed[i] = 1 if word i may be added to a node of n words, else 0. */
void graphss_i_cooccur_allowed(uint8_t *allowed, const graphss_i_cooccur *c,
    const int32_t *word, size_t n, graphss_i_cooccur_scratch *scratch);
/* Updates the stored rows after the features of a node in x changed from old to now. */
void graphss_i_cooccur_update(
    graphss_i_cooccur *c, const int32_t *old, size_t n_old, const int32_t *now, size_t n_now);

/* Nettack's likelihood-ratio test of the degree distribution.
 *
 * Degrees of at least 2 are taken for a power law. The graph before the attack and the
 * graph after one more flip are fitted apart and together; a flip passes while the ratio
 * of the two stays below a cutoff (Zuegner et al., KDD 2018, section 4.1). */
typedef struct graphss_i_degree_test {
    double n0, s0; /* before the attack: nodes of degree >= 2, sum of their log degrees */
    double ll0;    /* log-likelihood of that */
    double n, s;   /* now */
    double sign;   /* of the last term of the likelihood: -1, or +1 as in the paper's code */
    double cutoff;
} graphss_i_degree_test;

/* count[d] nodes have degree d, for d in 0..max_degree. */
void graphss_i_degree_test_start(graphss_i_degree_test *t, const int32_t *count,
    size_t max_degree, double cutoff, bool sign_error);
/* The ratio when the ends of an edge, of degrees a and b, both gain step (+1 or -1). */
double graphss_i_degree_ratio(const graphss_i_degree_test *t, int32_t a, int32_t b, int step);
/* Records that the flip was made. */
void graphss_i_degree_test_move(graphss_i_degree_test *t, int32_t a, int32_t b, int step);

#endif
