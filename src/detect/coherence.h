/* coherence.h - how well the features of a node fit together.
 *
 * Features of a clean node occur together elsewhere, too; those that an attacker adds were
 * chosen as evidence for a class, and hardly occur with the node's own or with each other. For
 * a pair (i, j) among R reference nodes, of which c_i have i and c_ij have both,
 *     affinity(i, j) = log((c_ij + 1/2) / (c_i c_j / R + 1/2)).
 * Reference nodes are training nodes, which are not judged themselves. */
#ifndef GRAPHSS_COHERENCE_H
#define GRAPHSS_COHERENCE_H

#include "base/base.h"
#include "graph/rows.h"

enum {
    COHERENCE_ALL,     /* mean affinity of all pairs */
    COHERENCE_WITHIN,  /* of pairs that both speak for the node's class */
    COHERENCE_BETWEEN, /* of pairs of which one does */
    COHERENCE_BEST,    /* mean over features that do of their best affinity */
    GRAPHSS_I_COHERENCES
};

/* Which reference nodes have a feature, one bit each. {0} is empty. */
typedef struct graphss_i_reference {
    size_t n, width; /* reference nodes, 64-bit words a feature */
    uint64_t *bits;  /* [d x width] */
    double *count;   /* [d] */
    uint16_t *both;  /* [d x d] nodes that have both features, or NULL: counted when wanted */
    size_t d;
    const struct graphss_i_kernels *kernels;
} graphss_i_reference;

/* Training nodes, those with label[v] >= 0: all, or evenly spaced ones. Dense features have no
 * reference. */
graphss_status graphss_i_reference_open(graphss_ctx *ctx, graphss_i_reference *out,
    const graphss_features *features, const int32_t *label);
void graphss_i_reference_destroy(graphss_ctx *ctx, graphss_i_reference *r);

/* out [GRAPHSS_I_COHERENCES]: 0 without a reference or with fewer than three features. own:
 * the ratio of each feature for the node's class, [d x k] at column `top`. Looks at up to
 * TUNE_SAMPLED features, evenly spaced. */
void graphss_i_coherence(float *out, const graphss_i_reference *r, graphss_i_row row,
    const float *own, size_t k, size_t top);

#endif
