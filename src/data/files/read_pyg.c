/* read_pyg.c - the arrays of a PyG Data object, as numpy.savez writes them:
 *
 *     np.savez("graph.npz", edge_index=data.edge_index, x=data.x, y=data.y,
 *              train_mask=data.train_mask, val_mask=..., test_mask=...)
 *
 * Only edge_index is required. Each edge may stand once or in both directions. */
#include "data/files/readers.h"

bool graphss_i_npz_is_pyg(const graphss_i_npz *npz)
{
    return graphss_i_npz_has(npz, "edge_index");
}

/* The number of nodes: rows of x, else entries of y, else num_nodes, else one more than the
 * largest end. A number without an array is checked against the limits before memory of that
 * size is allocated. */
static graphss_status count_nodes(
    graphss_ctx *ctx, size_t *n, graphss_i_npz *npz, const int32_t *end, size_t m)
{
    static const char *const array[] = {"x", "y"};
    graphss_i_array_info info;
    for (size_t i = 0; i < 2; i++)
        if (graphss_i_npz_has(npz, array[i])) {
            const graphss_status st = graphss_i_npz_info(ctx, &info, npz, array[i]);
            *n = info.n_dims ? info.shape[0] : 1;
            return st;
        }
    *n = 0;
    const char *named = "edge_index";
    if (graphss_i_npz_has(npz, "num_nodes")) {
        int64_t *value = NULL;
        size_t count = 0;
        named = "num_nodes";
        graphss_status st = graphss_i_npz_int64(ctx, &value, &count, npz, named, 1);
        if (!st && (value[0] < 0 || value[0] > INT32_MAX))
            st = graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, npz, named,
                "found %lld, want 0..%d", (long long)value[0], INT32_MAX);
        if (!st)
            *n = (size_t)value[0];
        graphss_release(ctx, value);
        if (st)
            return st;
    } else {
        for (size_t e = 0; e < m; e++)
            if (end[e] >= 0 && (size_t)end[e] >= *n)
                *n = (size_t)end[e] + 1;
    }
    return graphss_i_npz_claim(ctx, npz, named, *n, 3 * sizeof(int64_t));
}

static graphss_status read_edges(graphss_ctx *ctx, graphss_dataset *data, graphss_i_npz *npz)
{
    static const char array[] = "edge_index";
    graphss_i_array_info info;
    int32_t *end = NULL;
    size_t ends = 0, n = 0;
    graphss_status st = graphss_i_npz_info(ctx, &info, npz, array);
    if (st)
        return st;
    if (info.n_dims != 2 || info.shape[0] != 2)
        return graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, npz, array,
            "%zu x %zu in %zu dimensions, want 2 x edges: the first row "
            "where edges begin, the second where they end",
            info.shape[0], info.shape[1], info.n_dims);
    st = graphss_i_npz_int32(ctx, &end, &ends, npz, array, SIZE_MAX);
    if (!st)
        st = count_nodes(ctx, &n, npz, end, ends);
    if (!st)
        st = graphss_i_npz_check_ends(ctx, end, ends, n, npz, array);
    if (!st)
        st = graphss_i_graph_from_pairs(
            ctx, &data->graph, n, end, end + ends / 2, NULL, ends / 2, &data->cleaned);
    graphss_release(ctx, end);
    return st;
}

/* Arrays that PyG writes and we do not use. */
static void tell_unused(graphss_ctx *ctx, const graphss_i_npz *npz, const char *path)
{
    static const char *const array[] = {"edge_attr", "edge_weight", "edge_type"};
    for (size_t i = 0; i < sizeof array / sizeof *array; i++)
        if (graphss_i_npz_has(npz, array[i]))
            graphss_i_log(ctx, GRAPHSS_LOG_NOTICE,
                "%s: array '%s' is not used: all edges count alike", path, array[i]);
}

graphss_status graphss_i_npz_read_pyg(
    graphss_ctx *ctx, graphss_dataset *data, graphss_i_npz *npz, const char *path)
{
    graphss_status st = read_edges(ctx, data, npz);
    if (!st && graphss_i_npz_wants(ctx, npz, "x", NULL))
        st = graphss_i_npz_dense_features(ctx, data, npz, "x");
    else if (!st)
        data->features.n_rows = data->graph.n_nodes;
    if (!st)
        st = graphss_i_npz_labels(ctx, data, npz, "y");
    if (!st)
        st = graphss_i_npz_names_and_split(ctx, data, npz, path);
    if (!st)
        tell_unused(ctx, npz, path);
    return st;
}
