/* read_npz.c - datasets in .npz: the layout of gnn-benchmark, nettack and DeepRobust, a lone
 * matrix as scipy.sparse.save_npz writes it, and PyG's (read_pyg.c).
 *
 * Optional arrays that hold Python objects are passed over, those we know with a warning;
 * required ones are refused. */
#include "data/build.h"
#include "data/files/readers.h"
#include <math.h>
#include <string.h>

/* A matrix in compressed rows as the file holds it. */
typedef struct rows {
    size_t n_rows, n_cols, nnz;
    int64_t *offset; /* [n_rows + 1] */
    int32_t *column; /* [nnz] */
    float *value;    /* [nnz], or NULL: all ones */
} rows;

static void rows_destroy(graphss_ctx *ctx, rows *r)
{
    graphss_release(ctx, r->value);
    graphss_release(ctx, r->column);
    graphss_release(ctx, r->offset);
    *r = (rows){0};
}

typedef struct array_name {
    char text[64];
} array_name;

static array_name name_of(const char *prefix, const char *part)
{
    array_name name;
    snprintf(name.text, sizeof name.text, "%s%s", prefix, part);
    return name;
}

static graphss_status read_shape(
    graphss_ctx *ctx, size_t shape[2], graphss_i_npz *npz, const char *prefix)
{
    const array_name name = name_of(prefix, "shape");
    int64_t *value = NULL;
    size_t n = 0;
    graphss_status st = graphss_i_npz_int64(ctx, &value, &n, npz, name.text, 2);
    for (size_t i = 0; st == GRAPHSS_OK && i < 2; i++) {
        if (value[i] < 0 || value[i] > INT32_MAX)
            st = graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, npz, name.text,
                "entry %zu is %lld, want 0..%d", i, (long long)value[i], INT32_MAX);
        else
            shape[i] = (size_t)value[i];
    }
    graphss_release(ctx, value);
    return st;
}

static graphss_status want_square(graphss_ctx *ctx, size_t n_rows, size_t n_cols,
    const graphss_i_npz *npz, const char *prefix)
{
    if (n_rows == n_cols)
        return GRAPHSS_OK;
    return graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, npz, name_of(prefix, "shape").text,
        "%zu x %zu, want a square matrix", n_rows, n_cols);
}

static graphss_status read_rows(
    graphss_ctx *ctx, rows *out, graphss_i_npz *npz, const char *prefix)
{
    rows r = {0};
    size_t shape[2], n;
    graphss_status st = read_shape(ctx, shape, npz, prefix);
    if (st)
        return st;
    r.n_rows = shape[0];
    r.n_cols = shape[1];
    st = graphss_i_npz_int64(
        ctx, &r.offset, &n, npz, name_of(prefix, "indptr").text, r.n_rows + 1);
    if (st == GRAPHSS_OK)
        st = graphss_i_npz_int32(
            ctx, &r.column, &r.nnz, npz, name_of(prefix, "indices").text, SIZE_MAX);
    const array_name data = name_of(prefix, "data");
    if (st == GRAPHSS_OK && graphss_i_npz_has(npz, data.text))
        st = graphss_i_npz_float(ctx, &r.value, &n, npz, data.text, r.nnz);
    if (st) {
        rows_destroy(ctx, &r);
        return st;
    }
    *out = r;
    return GRAPHSS_OK;
}

/* The graph of compressed rows; columns instead of rows make no difference to it. */
static graphss_status read_graph(
    graphss_ctx *ctx, graphss_dataset *data, graphss_i_npz *npz, const char *prefix)
{
    rows r = {0};
    graphss_status st = read_rows(ctx, &r, npz, prefix);
    if (st)
        return st;
    st = want_square(ctx, r.n_rows, r.n_cols, npz, prefix);
    if (st == GRAPHSS_OK) {
        st = graphss_i_graph_from_rows(ctx, &data->graph, r.n_rows, r.offset, r.column,
            r.value, r.nnz, prefix, &data->cleaned);
        if (st)
            st = graphss_i_npz_fail_in(ctx, st, npz);
    }
    rows_destroy(ctx, &r);
    return st;
}

graphss_status graphss_i_npz_check_ends(graphss_ctx *ctx, const int32_t *end, size_t m,
    size_t n, const graphss_i_npz *npz, const char *array)
{
    for (size_t e = 0; e < m; e++)
        if (end[e] < 0 || (size_t)end[e] >= n)
            return graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, npz, array,
                "entry %zu is %d, want below %zu", e, (int)end[e], n);
    return GRAPHSS_OK;
}

/* scipy's coordinate format. Its number of nodes is only a number in the file, so the memory
 * for that many nodes is checked against the limits before the graph is built. */
static graphss_status read_pairs(graphss_ctx *ctx, graphss_dataset *data, graphss_i_npz *npz)
{
    size_t shape[2], m = 0, n = 0;
    int32_t *from = NULL, *to = NULL;
    float *weight = NULL;
    graphss_status st = read_shape(ctx, shape, npz, "");
    if (st == GRAPHSS_OK)
        st = want_square(ctx, shape[0], shape[1], npz, "");
    if (st == GRAPHSS_OK)
        st = graphss_i_npz_claim(ctx, npz, "shape", shape[0], 3 * sizeof(int64_t));
    if (st == GRAPHSS_OK)
        st = graphss_i_npz_int32(ctx, &from, &m, npz, "row", SIZE_MAX);
    if (st == GRAPHSS_OK)
        st = graphss_i_npz_int32(ctx, &to, &n, npz, "col", m);
    if (st == GRAPHSS_OK && graphss_i_npz_has(npz, "data"))
        st = graphss_i_npz_float(ctx, &weight, &n, npz, "data", m);
    if (st == GRAPHSS_OK)
        st = graphss_i_npz_check_ends(ctx, from, m, shape[0], npz, "row");
    if (st == GRAPHSS_OK)
        st = graphss_i_npz_check_ends(ctx, to, m, shape[0], npz, "col");
    for (size_t e = 0; st == GRAPHSS_OK && weight && e < m; e++)
        if (!isfinite(weight[e]))
            st = graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, npz, "data",
                "entry %zu is %g, want a finite number", e, (double)weight[e]);
    if (st == GRAPHSS_OK)
        st = graphss_i_graph_from_pairs(
            ctx, &data->graph, shape[0], from, to, weight, m, &data->cleaned);
    graphss_release(ctx, weight);
    graphss_release(ctx, to);
    graphss_release(ctx, from);
    return st;
}

static graphss_status read_scipy(graphss_ctx *ctx, graphss_dataset *data, graphss_i_npz *npz)
{
    graphss_names format = {0};
    graphss_status st = graphss_i_npz_names(ctx, &format, npz, "format", 1);
    if (st)
        return st;
    const char *text = graphss_names_get(&format, 0);
    if (strcmp(text, "csr") == 0 || strcmp(text, "csc") == 0)
        st = read_graph(ctx, data, npz, "");
    else if (strcmp(text, "coo") == 0)
        st = read_pairs(ctx, data, npz);
    else
        st = graphss_i_npz_fail(
            ctx, GRAPHSS_ERR_DATA, npz, "format", "'%.8s', want csr, csc or coo", text);
    graphss_names_destroy(ctx, &format);
    return st;
}

static graphss_status read_sparse_features(
    graphss_ctx *ctx, graphss_dataset *data, graphss_i_npz *npz, const char *prefix)
{
    rows r = {0};
    graphss_status st = read_rows(ctx, &r, npz, prefix);
    if (st)
        return st;
    st = graphss_i_features_from_rows(
        ctx, &data->features, r.n_rows, r.n_cols, r.offset, r.column, r.value, r.nnz, prefix);
    return st ? graphss_i_npz_fail_in(ctx, st, npz) : GRAPHSS_OK;
}

graphss_status graphss_i_npz_dense_features(
    graphss_ctx *ctx, graphss_dataset *data, graphss_i_npz *npz, const char *array)
{
    graphss_i_array_info info;
    float *value = NULL;
    size_t n = 0;
    graphss_status st = graphss_i_npz_info(ctx, &info, npz, array);
    if (st)
        return st;
    if (info.n_dims != 2 || info.shape[1] > INT32_MAX)
        return graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, npz, array,
            "%zu x %zu in %zu dimensions, want nodes x columns", info.shape[0], info.shape[1],
            info.n_dims);
    st = graphss_i_npz_float(ctx, &value, &n, npz, array, SIZE_MAX);
    if (st)
        return st;
    st = graphss_i_features_from_dense(
        ctx, &data->features, info.shape[0], info.shape[1], value, array);
    return st ? graphss_i_npz_fail_in(ctx, st, npz) : GRAPHSS_OK;
}

static bool has_rows(const graphss_i_npz *npz, const char *prefix)
{
    return graphss_i_npz_has(npz, name_of(prefix, "indptr").text) &&
           graphss_i_npz_has(npz, name_of(prefix, "indices").text);
}

static graphss_status read_features(
    graphss_ctx *ctx, graphss_dataset *data, graphss_i_npz *npz)
{
    static const char *const prefixes[] = {"attr_", "attr_matrix."};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (has_rows(npz, prefixes[i]))
            return read_sparse_features(ctx, data, npz, prefixes[i]);
    if (graphss_i_npz_wants(ctx, npz, "attr_matrix", NULL))
        return graphss_i_npz_dense_features(ctx, data, npz, "attr_matrix");
    return GRAPHSS_OK;
}

graphss_status graphss_i_npz_optional_names(graphss_ctx *ctx, graphss_names *out,
    graphss_i_npz *npz, const char *array, size_t want, const char *without)
{
    return graphss_i_npz_wants(ctx, npz, array, without)
               ? graphss_i_npz_names(ctx, out, npz, array, want)
               : GRAPHSS_OK;
}

/* Snapshots and lists of nodes find a node by its name, so two of one name are one lost. */
static graphss_status tell_twice(
    graphss_ctx *ctx, const graphss_names *names, const char *path)
{
    graphss_i_intern table = {
        .list = {.count = names->count, .start = names->start, .text = names->text}};
    size_t twice = 0, first = 0, again = 0;
    const graphss_status st = graphss_i_intern_index(ctx, &table);
    for (size_t i = 0; i < names->count && !st; i++) {
        const size_t begin = names->start[i], length = names->start[i + 1] - begin - 1;
        const size_t at = (size_t)graphss_i_intern_find(&table, names->text + begin, length);
        if (at != i && twice++ == 0) {
            first = at;
            again = i;
        }
    }
    graphss_release(ctx, table.slot);
    if (twice)
        graphss_i_log(ctx, GRAPHSS_LOG_WARN,
            "%s: array 'node_names': entry %zu is '%.80s' like entry %zu (%zu such entr%s): "
            "nodes are found by name, and of equal names the first counts",
            path, again, graphss_names_get(names, again), first, twice,
            twice == 1 ? "y" : "ies");
    return st;
}

/* Classes with names come first, in their order; "" is no label. */
static graphss_status read_text_labels(
    graphss_ctx *ctx, graphss_dataset *data, graphss_i_npz *npz, const char *array)
{
    graphss_names text = {0};
    graphss_i_intern classes = {0};
    const size_t n = data->graph.n_nodes;
    int32_t *class_of = graphss_i_alloc(ctx, n, sizeof *class_of);
    graphss_status st =
        class_of ? graphss_i_npz_names(ctx, &text, npz, array, n) : GRAPHSS_ERR_NOMEM;
    for (size_t k = 0; k < data->class_names.count && !st; k++) {
        const char *name = graphss_names_get(&data->class_names, k);
        size_t index = 0;
        st = graphss_i_intern_add(ctx, &index, NULL, &classes, name, strlen(name));
    }
    for (size_t i = 0; i < n && !st; i++) {
        const char *name = graphss_names_get(&text, i);
        size_t index = 0;
        class_of[i] = -1;
        if (*name)
            st = graphss_i_intern_add(ctx, &index, NULL, &classes, name, strlen(name));
        if (*name && !st)
            class_of[i] = (int32_t)index;
    }
    if (!st) {
        graphss_names_destroy(ctx, &data->class_names);
        data->n_classes = 0;
        st = graphss_i_labels_from_texts(ctx, data, &classes, class_of, n, array);
    }
    graphss_i_intern_destroy(ctx, &classes);
    graphss_names_destroy(ctx, &text);
    graphss_release(ctx, class_of);
    return st;
}

graphss_status graphss_i_npz_labels(
    graphss_ctx *ctx, graphss_dataset *data, graphss_i_npz *npz, const char *array)
{
    graphss_status st = graphss_i_npz_optional_names(
        ctx, &data->class_names, npz, "class_names", SIZE_MAX, "classes go by number");
    data->n_classes = data->class_names.count;
    if (st || !graphss_i_npz_wants(ctx, npz, array, NULL))
        return st;
    graphss_i_array_info info;
    st = graphss_i_npz_info(ctx, &info, npz, array);
    if (st)
        return st;
    if (info.kind == 'U' || info.kind == 'S') {
        st = read_text_labels(ctx, data, npz, array);
        return st == GRAPHSS_ERR_NOMEM ? st : st ? graphss_i_npz_fail_in(ctx, st, npz) : st;
    }
    int64_t *label = NULL;
    size_t n = 0;
    st = graphss_i_npz_int64(ctx, &label, &n, npz, array, data->graph.n_nodes);
    if (st)
        return st;
    st = graphss_i_labels_from_ints(ctx, data, label, n, array);
    graphss_release(ctx, label);
    return st ? graphss_i_npz_fail_in(ctx, st, npz) : GRAPHSS_OK;
}

graphss_status graphss_i_npz_names_and_split(
    graphss_ctx *ctx, graphss_dataset *data, graphss_i_npz *npz, const char *path)
{
    graphss_status st = graphss_i_npz_optional_names(ctx, &data->node_names, npz, "node_names",
        data->graph.n_nodes, "nodes go by position");
    if (st == GRAPHSS_OK)
        st = tell_twice(ctx, &data->node_names, path);
    if (st == GRAPHSS_OK)
        st = graphss_i_npz_optional_names(ctx, &data->column_names, npz, "attr_names",
            data->features.n_cols, "features go by position");
    if (st == GRAPHSS_OK)
        st = graphss_i_npz_split(ctx, &data->split, npz, data->graph.n_nodes, data->n_classes);
    return st;
}

static graphss_status read_parts(
    graphss_ctx *ctx, graphss_dataset *data, graphss_i_npz *npz, const char *path)
{
    static const char *const prefixes[] = {"adj_", "adj_matrix."};
    graphss_status st = GRAPHSS_OK;
    const char *prefix = NULL;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes && !prefix; i++)
        prefix = has_rows(npz, prefixes[i]) ? prefixes[i] : NULL;
    if (!prefix && graphss_i_npz_has(npz, "format")) {
        st = read_scipy(ctx, data, npz);
        return st ? st : graphss_i_dataset_finish(ctx, data, path, "scipy");
    }
    if (!prefix && graphss_i_npz_is_pyg(npz)) {
        st = graphss_i_npz_read_pyg(ctx, data, npz, path);
        return st ? st : graphss_i_dataset_finish(ctx, data, path, "pyg");
    }
    if (!prefix)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s: no graph in it: want arrays adj_indptr, adj_indices and "
            "adj_shape, scipy's format, shape, indices and indptr, or PyG's "
            "edge_index, x and y",
            path);
    st = read_graph(ctx, data, npz, prefix);
    if (st == GRAPHSS_OK)
        st = read_features(ctx, data, npz);
    if (st == GRAPHSS_OK)
        st = graphss_i_npz_labels(ctx, data, npz, "labels");
    if (st == GRAPHSS_OK)
        st = graphss_i_npz_names_and_split(ctx, data, npz, path);
    return st ? st : graphss_i_dataset_finish(ctx, data, path, "npz");
}

graphss_status graphss_i_read_npz(graphss_ctx *ctx, graphss_dataset *out, const char *path,
    uint64_t max_bytes, graphss_missing_rule missing)
{
    (void)missing;
    graphss_i_npz *npz = NULL;
    graphss_dataset data = {0};
    graphss_status st = graphss_i_npz_open(ctx, &npz, path, max_bytes);
    if (st)
        return st;
    st = read_parts(ctx, &data, npz, path);
    graphss_i_npz_close(ctx, npz);
    if (st) {
        graphss_dataset_destroy(ctx, &data);
        return st;
    }
    *out = data;
    return GRAPHSS_OK;
}
