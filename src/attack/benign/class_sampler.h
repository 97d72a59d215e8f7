/* class_sampler.h - draws edges and features from the distribution of each class in a dataset.
 * Classes are 0..n_classes-1, and n_classes for nodes of unknown label. */
#ifndef GRAPHSS_MIXING_H
#define GRAPHSS_MIXING_H

#include "base/base.h"
#include <graphss/benign.h>
#include <graphss/dataset.h>

typedef struct graphss_i_mixing {
    const graphss_dataset *data; /* borrowed */
    size_t n_classes;            /* with the unknown one */
    int64_t *end_start;          /* [n_classes + 1] into end */
    int32_t *end;                /* other ends of the edges of each class's nodes */
    int64_t *member_start;       /* [n_classes + 1] into member */
    int32_t *member;             /* the nodes of each class */
} graphss_i_mixing;

graphss_status graphss_i_mixing_init(
    graphss_ctx *ctx, graphss_i_mixing *m, const graphss_dataset *data);
void graphss_i_mixing_destroy(graphss_ctx *ctx, graphss_i_mixing *m);

size_t graphss_i_mixing_class(const graphss_i_mixing *m, int32_t node);
/* The other end of a random edge of the class; -1: the class has no edges. */
int32_t graphss_i_mixing_end(const graphss_i_mixing *m, size_t class, graphss_rng *rng);
/* A random feature of a random node of the class, and its value there; -1 if the node has
 * none. */
int32_t graphss_i_mixing_feature(
    const graphss_i_mixing *m, size_t class, float *value, graphss_rng *rng);

/* ---- benign churn with a budget for each node ---- */

typedef struct graphss_i_churning {
    int64_t edges;       /* edges added or removed, each by a coin flip */
    int64_t features;    /* features removed and added in turn */
    int64_t joins, cuts; /* further edges added, and removed */
    int64_t adds, drops; /* further features added, and removed; values change if features are
                          * dense */
    int64_t values; /* further features that take the value of another feature of the class */
} graphss_i_churning;

/* As graphss_benign_churn, without its checks: node i has the budget each[i * stride]. The
 * changes are appended to flips, which the caller releases even on errors. */
graphss_status graphss_i_churn(graphss_ctx *ctx, graphss_flips *flips,
    const graphss_dataset *data, const int32_t *node, size_t n, uint64_t seed,
    const graphss_i_churning *each, size_t stride);

#endif
