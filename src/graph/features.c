/* features.c - node features as a value. Making them sound is src/data/build.c. */
#include "base/base.h"
#include <graphss/graph.h>

bool graphss_features_dense(const graphss_features *features)
{
    return !features->offset;
}

size_t graphss_features_stored(const graphss_features *features)
{
    return features->offset ? (size_t)features->offset[features->n_rows]
                            : features->n_rows * features->n_cols;
}

graphss_status graphss_features_copy(graphss_ctx *ctx, graphss_features *out,
                                     const graphss_features *features)
{
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

void graphss_features_destroy(graphss_ctx *ctx, graphss_features *features)
{
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
