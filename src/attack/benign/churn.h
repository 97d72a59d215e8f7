/* churn.h - benign churn with a budget for each node. */
#ifndef GRAPHSS_CHURN_H
#define GRAPHSS_CHURN_H

#include "base/base.h"
#include <graphss/benign.h>

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
                               const graphss_dataset *data, const int32_t *node, size_t n,
                               uint64_t seed, const graphss_i_churning *each, size_t stride);

#endif
