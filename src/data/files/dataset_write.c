/* dataset_write.c - a dataset as .npz in the gnn-benchmark layout. Reading the file back gives
 * the same dataset: class names are written if the labels alone do not determine the classes
 * (one of them has no node). */
#include "data/build.h"
#include "data/formats/npz.h"
#include "graph/check.h"
#include <string.h>

enum { MOST_ARRAYS = 20 };

typedef struct list {
    graphss_i_array_out array[MOST_ARRAYS];
    size_t count;
} list;

static void add(list *l, const char *name, const char *dtype, size_t n, const void *data)
{
    l->array[l->count++] = (graphss_i_array_out){
        .name = name, .dtype = dtype, .n_dims = 1, .shape = {n, 1}, .data = data};
}

static void add_names(list *l, const char *name, const graphss_names *names)
{
    if (names->count)
        l->array[l->count++] =
            (graphss_i_array_out){.name = name, .dtype = "<U", .names = names};
}

static graphss_status check_labels(graphss_ctx *ctx, const graphss_dataset *data)
{
    for (size_t i = 0; data->label && i < data->graph.n_nodes; i++)
        if (data->label[i] < -1 ||
            (data->label[i] >= 0 && (size_t)data->label[i] >= data->n_classes))
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                "node %zu has label %d, and there are %zu classes", i, (int)data->label[i],
                data->n_classes);
    return GRAPHSS_OK;
}

/* Whether reading the labels would number the classes as they are now. */
static graphss_status labels_suffice(graphss_ctx *ctx, bool *out, const graphss_dataset *data)
{
    uint8_t *seen = graphss_i_calloc(ctx, data->n_classes, sizeof *seen);
    if (!seen)
        return GRAPHSS_ERR_NOMEM;
    size_t distinct = 0;
    for (size_t i = 0; data->label && i < data->graph.n_nodes; i++)
        if (data->label[i] >= 0 && !seen[data->label[i]]) {
            seen[data->label[i]] = 1;
            distinct++;
        }
    graphss_release(ctx, seen);
    *out = distinct == data->n_classes;
    return GRAPHSS_OK;
}

graphss_status graphss_dataset_write(
    graphss_ctx *ctx, const graphss_dataset *data, const char *path)
{
    if (GRAPHSS_I_LACKS(ctx, {"dataset", data}, {"path", path}))
        return GRAPHSS_ERR_INVALID;
    const graphss_graph *g = &data->graph;
    const graphss_features *f = &data->features;
    if (!g->offset)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "an empty dataset cannot be written");
    graphss_status st = check_labels(ctx, data);
    if (!st)
        st = graphss_i_check_snapshot(ctx, g, f);
    if (!st)
        st = graphss_i_split_lists(ctx, &data->split);
    if (st)
        return st;
    const size_t nnz = (size_t)g->offset[g->n_nodes];
    const int64_t shape[2] = {(int64_t)g->n_nodes, (int64_t)g->n_nodes};
    const int64_t attr_shape[2] = {(int64_t)f->n_rows, (int64_t)f->n_cols};
    list l = {.count = 0};
    graphss_names numbers = {0};
    graphss_i_split_out split = {0};
    int64_t *label = NULL;
    bool suffice = true;
    st = GRAPHSS_ERR_NOMEM;
    float *ones = graphss_i_alloc(ctx, nnz, sizeof *ones);
    if (!ones)
        goto done;
    for (size_t e = 0; e < nnz; e++)
        ones[e] = 1;
    add(&l, "adj_data", "<f4", nnz, ones);
    add(&l, "adj_indices", "<i4", nnz, g->target);
    add(&l, "adj_indptr", "<i8", g->n_nodes + 1, g->offset);
    add(&l, "adj_shape", "<i8", 2, shape);

    if (f->n_cols && f->offset) {
        const size_t stored = graphss_features_stored(f);
        add(&l, "attr_data", "<f4", stored, f->value);
        add(&l, "attr_indices", "<i4", stored, f->column);
        add(&l, "attr_indptr", "<i8", f->n_rows + 1, f->offset);
        add(&l, "attr_shape", "<i8", 2, attr_shape);
    } else if (f->n_cols) {
        l.array[l.count++] = (graphss_i_array_out){.name = "attr_matrix",
            .dtype = "<f4",
            .n_dims = 2,
            .shape = {f->n_rows, f->n_cols},
            .data = f->value};
    }
    if (data->label) {
        label = graphss_i_widen(ctx, data->label, g->n_nodes);
        if (!label)
            goto done;
        add(&l, "labels", "<i8", g->n_nodes, label);
    }
    st = labels_suffice(ctx, &suffice, data);
    if (st == GRAPHSS_OK && !suffice && data->class_names.count == 0)
        st = graphss_i_names_number(ctx, &numbers, data->n_classes);
    if (st == GRAPHSS_OK && data->split.train)
        st = graphss_i_split_out_init(ctx, &split, &data->split);
    if (st)
        goto done;
    add_names(&l, "class_names", data->class_names.count ? &data->class_names : &numbers);
    add_names(&l, "node_names", &data->node_names);
    add_names(&l, "attr_names", &data->column_names);
    for (size_t i = 0; i < split.n_arrays; i++)
        l.array[l.count++] = split.array[i];
    st = graphss_i_npz_write(ctx, path, l.array, l.count);
done:
    graphss_i_split_out_destroy(ctx, &split);
    graphss_names_destroy(ctx, &numbers);
    graphss_release(ctx, label);
    graphss_release(ctx, ones);
    return st;
}
