/* predictions.c - labels, probabilities and posteriors of a run in one .npz. */
#include "data/build.h"
#include "data/formats/npz.h"
#include <graphss/predictions.h>
#include <math.h>

graphss_status graphss_predictions_write(
    graphss_ctx *ctx, const graphss_predictions *p, const char *path)
{
    if (GRAPHSS_I_LACKS(ctx, {"predictions", p}, {"path", path}))
        return GRAPHSS_ERR_INVALID;
    const size_t n = p->n_nodes;
    if (!p->label || (p->node_names.count && p->node_names.count != n))
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "predictions without labels, or %zu names of %zu nodes", p->node_names.count, n);
    int64_t *label = graphss_i_widen(ctx, p->label, n);
    if (!label)
        return GRAPHSS_ERR_NOMEM;
    graphss_i_split_out lists = {0};
    graphss_split nodes = p->split; /* labels are not for this file */
    nodes.train_label = nodes.val_label = NULL;
    graphss_i_array_out array[6 + 3] = {
        {.name = "labels", .dtype = "<i8", .n_dims = 1, .shape = {n, 1}, .data = label}};
    size_t count = 1;
    if (p->prob)
        array[count++] = (graphss_i_array_out){.name = "probabilities",
            .dtype = "<f4",
            .n_dims = 2,
            .shape = {n, p->n_classes},
            .data = p->prob};
    if (p->posterior)
        array[count++] = (graphss_i_array_out){.name = "posterior",
            .dtype = "<f8",
            .n_dims = 2,
            .shape = {n, p->n_classes},
            .data = p->posterior};
    if (p->perturbed)
        array[count++] = (graphss_i_array_out){.name = "perturbed",
            .dtype = "<f8",
            .n_dims = 1,
            .shape = {n, 1},
            .data = p->perturbed};
    if (p->node_names.count)
        array[count++] = (graphss_i_array_out){
            .name = "node_names", .dtype = "<U", .names = &p->node_names};
    if (p->class_names.count)
        array[count++] = (graphss_i_array_out){
            .name = "class_names", .dtype = "<U", .names = &p->class_names};
    graphss_status st = graphss_i_split_lists(ctx, &nodes);
    if (st == GRAPHSS_OK && nodes.n_train + nodes.n_val + nodes.n_test > 0)
        st = graphss_i_split_out_init(ctx, &lists, &nodes);
    for (size_t i = 0; i < lists.n_arrays; i++)
        array[count++] = lists.array[i];
    if (st == GRAPHSS_OK)
        st = graphss_i_npz_write(ctx, path, array, count);
    graphss_i_split_out_destroy(ctx, &lists);
    graphss_release(ctx, label);
    return st;
}

/* Checks the shape of an n x k array, where k may not be known yet (0). */
static graphss_status check_shape(
    graphss_ctx *ctx, size_t *k, const graphss_i_npz *npz, const char *array, size_t n)
{
    graphss_i_array_info info;
    const graphss_status st = graphss_i_npz_info(ctx, &info, npz, array);
    if (st)
        return st;
    if (info.n_dims != 2 || info.shape[0] != n || info.shape[1] == 0 ||
        (*k && info.shape[1] != *k))
        return graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, npz, array,
            "%zu x %zu, want %zu nodes x classes", info.shape[0], info.shape[1], n);
    *k = info.shape[1];
    return GRAPHSS_OK;
}

static graphss_status check_finite(graphss_ctx *ctx, const float *single, const double *wide,
    size_t n, const graphss_i_npz *npz, const char *array)
{
    for (size_t i = 0; i < n; i++) {
        const double value = single ? (double)single[i] : wide[i];
        if (!isfinite(value))
            return graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, npz, array,
                "entry %zu is %g, want a finite number", i, value);
    }
    return GRAPHSS_OK;
}

/* Labels if the file has only probabilities. */
static graphss_status label_likeliest(graphss_ctx *ctx, graphss_predictions *p)
{
    p->label = graphss_i_alloc(ctx, p->n_nodes, sizeof *p->label);
    for (size_t i = 0; i < p->n_nodes && p->label; i++)
        p->label[i] = (int32_t)graphss_i_top(p->prob + i * p->n_classes, p->n_classes);
    return p->label ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

static graphss_status read_parts(graphss_ctx *ctx, graphss_predictions *p, graphss_i_npz *npz)
{
    size_t count = 0;
    const bool labelled =
        graphss_i_npz_has(npz, "labels") || !graphss_i_npz_has(npz, "probabilities");
    graphss_i_array_info info;
    graphss_status st =
        labelled ? graphss_i_npz_int32(ctx, &p->label, &p->n_nodes, npz, "labels", SIZE_MAX)
                 : graphss_i_npz_info(ctx, &info, npz, "probabilities");
    if (st)
        return st;
    if (!labelled)
        p->n_nodes = info.shape[0];
    if (graphss_i_npz_has(npz, "probabilities")) {
        st = check_shape(ctx, &p->n_classes, npz, "probabilities", p->n_nodes);
        if (st == GRAPHSS_OK)
            st = graphss_i_npz_float(ctx, &p->prob, &count, npz, "probabilities", SIZE_MAX);
        if (st == GRAPHSS_OK)
            st = check_finite(ctx, p->prob, NULL, count, npz, "probabilities");
    }
    if (!st && !labelled)
        st = label_likeliest(ctx, p);
    if (st == GRAPHSS_OK && graphss_i_npz_has(npz, "posterior")) {
        st = check_shape(ctx, &p->n_classes, npz, "posterior", p->n_nodes);
        if (st == GRAPHSS_OK)
            st = graphss_i_npz_double(ctx, &p->posterior, &count, npz, "posterior", SIZE_MAX);
        if (st == GRAPHSS_OK)
            st = check_finite(ctx, NULL, p->posterior, count, npz, "posterior");
    }
    if (st == GRAPHSS_OK && graphss_i_npz_has(npz, "perturbed")) {
        st = graphss_i_npz_double(ctx, &p->perturbed, &count, npz, "perturbed", p->n_nodes);
        if (st == GRAPHSS_OK)
            st = check_finite(ctx, NULL, p->perturbed, count, npz, "perturbed");
    }
    if (st == GRAPHSS_OK &&
        graphss_i_npz_wants(ctx, npz, "node_names", "nodes go by position"))
        st = graphss_i_npz_names(ctx, &p->node_names, npz, "node_names", p->n_nodes);
    if (st == GRAPHSS_OK &&
        graphss_i_npz_wants(ctx, npz, "class_names", "classes go by number"))
        st = graphss_i_npz_names(
            ctx, &p->class_names, npz, "class_names", p->n_classes ? p->n_classes : SIZE_MAX);
    if (st)
        return st;
    if (p->class_names.count)
        p->n_classes = p->class_names.count;

    const bool known = p->n_classes > 0; /* otherwise from the largest label */
    for (size_t i = 0; i < p->n_nodes; i++) {
        const int32_t label = p->label[i];
        if (label < -1 || label == INT32_MAX || (known && label >= (int64_t)p->n_classes))
            return graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, npz, "labels",
                "entry %zu is %d, want a class or -1", i, (int)label);
        if (!known && label >= (int64_t)p->n_classes)
            p->n_classes = (size_t)label + 1;
    }
    return graphss_i_npz_split(ctx, &p->split, npz, p->n_nodes, p->n_classes);
}

graphss_status graphss_predictions_read(
    graphss_ctx *ctx, graphss_predictions *out, const char *path)
{
    if (GRAPHSS_I_LACKS(ctx, {"path", path}, {"place for the predictions", out}))
        return GRAPHSS_ERR_INVALID;
    graphss_i_npz *npz = NULL;
    graphss_predictions made = {0};
    graphss_status st = graphss_i_npz_open(ctx, &npz, path, 0);
    if (st)
        return st;
    st = read_parts(ctx, &made, npz);
    graphss_i_npz_close(ctx, npz);
    if (st) {
        graphss_predictions_destroy(ctx, &made);
        return st;
    }
    *out = made;
    return GRAPHSS_OK;
}

void graphss_predictions_destroy(graphss_ctx *ctx, graphss_predictions *p)
{
    if (!p)
        return;
    graphss_split_destroy(ctx, &p->split);
    graphss_names_destroy(ctx, &p->class_names);
    graphss_names_destroy(ctx, &p->node_names);
    graphss_release(ctx, p->perturbed);
    graphss_release(ctx, p->posterior);
    graphss_release(ctx, p->prob);
    graphss_release(ctx, p->label);
    *p = (graphss_predictions){0};
}
