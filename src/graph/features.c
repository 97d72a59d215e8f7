/* features.c - node features as a value. Making them sound is src/data/build.c. */
#include "base/base.h"
#include "graph/check.h"
#include <limits.h>

bool graphss_features_dense(const graphss_features *features)
{
    return features && !features->offset;
}

size_t graphss_features_stored(const graphss_features *features)
{
    if (!features)
        return 0;
    return features->offset ? (size_t)features->offset[features->n_rows]
                            : features->n_rows * features->n_cols;
}

graphss_status graphss_features_copy(
    graphss_ctx *ctx, graphss_features *out, const graphss_features *features)
{
    if (GRAPHSS_I_LACKS(ctx, {"features", features}, {"place for the features", out}))
        return GRAPHSS_ERR_INVALID;
    const size_t stored = graphss_features_stored(features);
    graphss_features made = *features;
    made.offset = NULL;
    made.column = NULL;
    made.value = NULL;
    if (features->offset) {
        made.offset =
            graphss_i_copy(ctx, features->offset, features->n_rows + 1, sizeof *made.offset);
        made.column = graphss_i_copy(ctx, features->column, stored, sizeof *made.column);
        if (!made.offset || !made.column)
            goto fail;
    }
    if (features->value) {
        made.value = graphss_i_copy(ctx, features->value, stored, sizeof *made.value);
        if (!made.value)
            goto fail;
    }
    *out = made;
    return GRAPHSS_OK;
fail:
    graphss_features_destroy(ctx, &made);
    return GRAPHSS_ERR_NOMEM;
}

static graphss_status check_columns(graphss_ctx *ctx, const graphss_features *f)
{
    for (size_t i = 0; i < f->n_rows; i++)
        for (int64_t e = f->offset[i]; e < f->offset[i + 1]; e++) {
            const int32_t j = f->column[e];
            if (j < 0 || (size_t)j >= f->n_cols)
                return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                    "row %zu: feature %d, want one of %zu", i, (int)j, f->n_cols);
            if (e > f->offset[i] && j <= f->column[e - 1])
                return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                    "row %zu: feature %d after %d, want ascending", i, (int)j,
                    (int)f->column[e - 1]);
        }
    return GRAPHSS_OK;
}

graphss_status graphss_features_check(graphss_ctx *ctx, const graphss_features *f)
{
    if (GRAPHSS_I_LACKS(ctx, {"features", f}))
        return GRAPHSS_ERR_INVALID;
    size_t cells;
    if (f->n_rows > INT32_MAX)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "%zu rows, want at most %d", f->n_rows, INT32_MAX);
    if (!f->offset) {
        if (f->column)
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "columns but no offsets");
        if (!graphss_i_mul(&cells, f->n_rows, f->n_cols))
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                "%zu rows of %zu features are more than fit in memory", f->n_rows, f->n_cols);
        return cells && !f->value
                   ? graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                         "%zu rows of %zu features, but no values", f->n_rows, f->n_cols)
                   : GRAPHSS_OK;
    }
    if (f->offset[0] != 0)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "the first offset of the features is not 0");
    for (size_t i = 0; i < f->n_rows; i++)
        if (f->offset[i + 1] < f->offset[i])
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                "row %zu: it ends at %lld before it begins at %lld", i,
                (long long)f->offset[i + 1], (long long)f->offset[i]);
    if (f->offset[f->n_rows] > 0 && (!f->column || !f->value))
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "offsets but no %s", f->column ? "values" : "columns");
    return check_columns(ctx, f);
}

graphss_status graphss_i_check_snapshot(
    graphss_ctx *ctx, const graphss_graph *graph, const graphss_features *features)
{
    const graphss_status st = graphss_graph_check(ctx, graph);
    return st ? st : graphss_features_check(ctx, features);
}

void graphss_features_destroy(graphss_ctx *ctx, graphss_features *features)
{
    if (!features)
        return;
    graphss_release(ctx, features->value);
    graphss_release(ctx, features->column);
    graphss_release(ctx, features->offset);
    *features = (graphss_features){0};
}

const char *graphss_feature_kind_text(graphss_feature_kind kind)
{
    switch (kind) {
    case GRAPHSS_FEATURES_NONE:
        return "none";
    case GRAPHSS_FEATURES_BINARY:
        return "binary";
    case GRAPHSS_FEATURES_COUNTS:
        return "counts";
    case GRAPHSS_FEATURES_REAL:
        return "real";
    }
    return "unknown";
}
