/* row_normalise.c - features with each row divided by its sum, as the paper's code has it
 * before an attack. Training (src/models/input.c) divides by the sum of absolute values, which
 * is the same for words and counts. */
#include "base/base.h"
#include <graphss/graph.h>
#include <math.h>

graphss_status graphss_features_normalise_rows(
    graphss_ctx *ctx, graphss_features *out, const graphss_features *features)
{
    if (GRAPHSS_I_LACKS(ctx, {"features", features}, {"place for the features", out}))
        return GRAPHSS_ERR_INVALID;
    graphss_features made = {0};
    const graphss_status st = graphss_features_copy(ctx, &made, features);
    if (st)
        return st;
    for (size_t i = 0; i < made.n_rows && made.n_cols; i++) {
        const size_t from = made.offset ? (size_t)made.offset[i] : i * made.n_cols;
        const size_t to = made.offset ? (size_t)made.offset[i + 1] : from + made.n_cols;
        double sum = 0;
        for (size_t e = from; e < to; e++)
            sum += made.value[e];
        /* Not divided again: the rounding would change rows that are divided already. */
        if (sum == 0 || fabs(sum - 1) < 1e-5)
            continue;
        for (size_t e = from; e < to; e++)
            made.value[e] = (float)(made.value[e] / sum);
    }
    if (made.kind == GRAPHSS_FEATURES_BINARY || made.kind == GRAPHSS_FEATURES_COUNTS)
        made.kind = GRAPHSS_FEATURES_REAL;
    *out = made;
    return GRAPHSS_OK;
}
