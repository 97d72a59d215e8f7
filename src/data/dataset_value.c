/* dataset_value.c - a dataset as a plain value: copy, destroy, find a node. */
#include "data/build.h"
#include <string.h>

graphss_status graphss_dataset_copy(
    graphss_ctx *ctx, graphss_dataset *out, const graphss_dataset *data)
{
    if (GRAPHSS_I_LACKS(ctx, {"dataset", data}, {"place for the dataset", out}))
        return GRAPHSS_ERR_INVALID;
    graphss_dataset made = *data;
    made.graph = (graphss_graph){0};
    made.features = (graphss_features){0};
    made.label = NULL;
    made.node_names = made.class_names = made.column_names = (graphss_names){0};
    made.split = (graphss_split){0};
    made.missing = (graphss_missing_cells){0};

    graphss_status st = graphss_graph_copy(ctx, &made.graph, &data->graph);
    if (st == GRAPHSS_OK)
        st = graphss_features_copy(ctx, &made.features, &data->features);
    if (st == GRAPHSS_OK && data->label) {
        made.label = graphss_i_copy(ctx, data->label, data->graph.n_nodes, sizeof *made.label);
        st = made.label ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    }
    if (st == GRAPHSS_OK)
        st = graphss_i_names_copy(ctx, &made.node_names, &data->node_names);
    if (st == GRAPHSS_OK)
        st = graphss_i_names_copy(ctx, &made.class_names, &data->class_names);
    if (st == GRAPHSS_OK)
        st = graphss_i_names_copy(ctx, &made.column_names, &data->column_names);
    if (st == GRAPHSS_OK)
        st = graphss_split_copy(ctx, &made.split, &data->split);
    if (st == GRAPHSS_OK && data->missing.count) {
        const size_t n = data->missing.count;
        made.missing.node = graphss_i_copy(ctx, data->missing.node, n, sizeof(int32_t));
        made.missing.column = graphss_i_copy(ctx, data->missing.column, n, sizeof(int32_t));
        made.missing.count = n;
        st = made.missing.node && made.missing.column ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    }
    if (st) {
        graphss_dataset_destroy(ctx, &made);
        return st;
    }
    *out = made;
    return GRAPHSS_OK;
}

graphss_status graphss_dataset_normalise_rows(graphss_ctx *ctx, graphss_dataset *data)
{
    if (GRAPHSS_I_LACKS(ctx, {"dataset", data}))
        return GRAPHSS_ERR_INVALID;
    graphss_features divided = {0};
    const graphss_status st = graphss_features_normalise_rows(ctx, &divided, &data->features);
    if (st)
        return st;
    graphss_features_destroy(ctx, &data->features);
    data->features = divided;
    return graphss_dataset_refresh(ctx, data);
}

void graphss_dataset_destroy(graphss_ctx *ctx, graphss_dataset *data)
{
    if (!data)
        return;
    graphss_release(ctx, data->missing.node);
    graphss_release(ctx, data->missing.column);
    graphss_split_destroy(ctx, &data->split);
    graphss_names_destroy(ctx, &data->column_names);
    graphss_names_destroy(ctx, &data->class_names);
    graphss_names_destroy(ctx, &data->node_names);
    graphss_release(ctx, data->label);
    graphss_features_destroy(ctx, &data->features);
    graphss_graph_destroy(ctx, &data->graph);
    *data = (graphss_dataset){0};
}

int64_t graphss_i_find_number(const graphss_dataset *data, const char *id, size_t length)
{
    int64_t node;
    if (!graphss_i_parse_int(&node, id, length) || node < 0 ||
        (uint64_t)node >= data->graph.n_nodes)
        return -1;
    return node;
}

int64_t graphss_dataset_find(const graphss_dataset *data, const char *id)
{
    if (!data || !id)
        return -1;
    if (data->node_names.count == 0)
        return graphss_i_find_number(data, id, strlen(id));
    for (size_t i = 0; i < data->node_names.count; i++)
        if (strcmp(graphss_names_get(&data->node_names, i), id) == 0)
            return (int64_t)i;
    return -1;
}
