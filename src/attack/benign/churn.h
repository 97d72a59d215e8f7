/* churn.h - benign churn with a budget for each node. */
#ifndef GRAPHSS_CHURN_H
#define GRAPHSS_CHURN_H

#include "base/base.h"
#include <graphss/benign.h>

typedef struct graphss_i_churning {
    int64_t edges;       /* joined or cut, a coin decides for each */
    int64_t features;    /* go and come in turn */
    int64_t joins, cuts; /* and so many edges that are joined, and cut */
    int64_t adds,
        drops;      /* and so many words that come, and go; of dense features values change */
    int64_t values; /* and so many words that take the value of another word of the class */
} graphss_i_churning;

/* As graphss_benign_churn, without its checks: node i has the budget each[i * stride]. The
 * changes are appended to flips, which the caller releases even on errors. */
graphss_status graphss_i_churn(graphss_ctx *ctx, graphss_flips *flips,
                               const graphss_dataset *data, const int32_t *node, size_t n,
                               uint64_t seed, const graphss_i_churning *each, size_t stride);

#endif
