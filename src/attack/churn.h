/* churn.h - benign churn with a budget for each node. */
#ifndef GRAPHSS_CHURN_H
#define GRAPHSS_CHURN_H

#include "base/base.h"
#include <graphss/benign.h>

/* As graphss_benign_churn, without its checks: node i has the budget each[i * stride]. The
 * changes are appended to flips, which the caller releases even on errors. */
graphss_status graphss_i_churn(graphss_ctx *ctx, graphss_flips *flips,
                               const graphss_dataset *data, const int32_t *node, size_t n,
                               uint64_t seed, const graphss_benign_options *each,
                               size_t stride);

#endif
