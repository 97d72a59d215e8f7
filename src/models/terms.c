/* terms.c - a model and data in each other's terms: what the model remembers of its data, and
 * other data brought into its order. Files list words and classes as they meet them, so that
 * the same column number may be another word in the next export. */
#include "data/build.h"
#include "models/model_private.h"
#include <string.h>

graphss_status graphss_model_describe(graphss_ctx *ctx, graphss_model *model,
                                      const graphss_dataset *data)
{
    graphss_names classes = {0}, nodes = {0}, columns = {0};
    graphss_status st = graphss_i_names_copy(ctx, &classes, &data->class_names);
    if (!st)
        st = graphss_i_names_copy(ctx, &nodes, &data->node_names);
    if (!st)
        st = graphss_i_names_copy(ctx, &columns, &data->column_names);
    if (st) {
        graphss_names_destroy(ctx, &nodes);
        graphss_names_destroy(ctx, &classes);
        return st;
    }
    graphss_names_destroy(ctx, &model->class_names);
    graphss_names_destroy(ctx, &model->node_names);
    graphss_names_destroy(ctx, &model->column_names);
    model->class_names = classes;
    model->node_names = nodes;
    model->column_names = columns;
    model->n_nodes = data->graph.n_nodes;
    snprintf(model->dataset_name, sizeof model->dataset_name, "%s", data->name);
    snprintf(model->dataset_hash, sizeof model->dataset_hash, "%s", data->hash);
    return GRAPHSS_OK;
}

static graphss_status check_features(graphss_ctx *ctx, const graphss_model *model,
                                     const graphss_dataset *data)
{
    if (data->features.n_cols == model->n_features)
        return GRAPHSS_OK;
    return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
                          "%s has %zu features, the model was trained on %zu (%s)", data->name,
                          data->features.n_cols, model->n_features, model->dataset_name);
}

/* Fails at the first name that differs; names that one of both lacks are not compared. */
static graphss_status check_names(graphss_ctx *ctx, const graphss_names *found,
                                  const graphss_names *known, const char *what,
                                  const graphss_dataset *data)
{
    for (size_t i = 0; i < found->count && i < known->count; i++)
        if (strcmp(graphss_names_get(found, i), graphss_names_get(known, i)) != 0)
            return graphss_i_fail(
                ctx, GRAPHSS_ERR_SHAPE, "%s %zu is '%.80s' in %s and '%.80s' to the model",
                what, i, graphss_names_get(found, i), data->name, graphss_names_get(known, i));
    return GRAPHSS_OK;
}

static graphss_status too_many_classes(graphss_ctx *ctx, const graphss_model *model,
                                       const graphss_dataset *data)
{
    return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
                          "%s has %zu classes, the model knows %zu (%s)", data->name,
                          data->n_classes, model->n_classes, model->dataset_name);
}

graphss_status graphss_model_fits(graphss_ctx *ctx, const graphss_model *model,
                                  const graphss_dataset *data)
{
    graphss_status st = check_features(ctx, model, data);
    if (!st)
        st = check_names(ctx, &data->column_names, &model->column_names, "feature", data);
    if (st)
        return st;
    if (data->n_classes && data->n_classes != model->n_classes)
        return too_many_classes(ctx, model, data);
    return check_names(ctx, &data->class_names, &model->class_names, "class", data);
}

/* to [names]: the place of each among the known ones, or -1; how many have one. */
static graphss_status find_names(graphss_ctx *ctx, int32_t *to, size_t *found,
                                 const graphss_names *names, const graphss_names *known)
{
    graphss_i_intern table = {
        .list = {.count = known->count, .start = known->start, .text = known->text}};
    const graphss_status st = graphss_i_intern_index(ctx, &table); /* the list is borrowed */
    *found = 0;
    for (size_t i = 0; i < names->count && !st; i++) {
        const char *name = graphss_names_get(names, i);
        to[i] = (int32_t)graphss_i_intern_find(&table, name, strlen(name));
        *found += to[i] >= 0;
    }
    graphss_release(ctx, table.slot);
    return st;
}

static bool in_place(const int32_t *to, size_t n, size_t known)
{
    for (size_t i = 0; i < n; i++)
        if (to[i] != (int32_t)i)
            return false;
    return n == known;
}

/* ---- features ---- */

/* out: the columns of x at to[column], those at -1 left out */
static graphss_status move_columns(graphss_ctx *ctx, graphss_features *out,
                                   const graphss_features *x, const int32_t *to, size_t n_cols)
{
    const bool dense = graphss_features_dense(x);
    const size_t stored = graphss_features_stored(x);
    int64_t *offset = graphss_i_alloc(ctx, x->n_rows + 1, sizeof *offset);
    int32_t *column = graphss_i_alloc(ctx, stored, sizeof *column);
    float *value = graphss_i_alloc(ctx, stored, sizeof *value);
    size_t n = 0;
    if (!offset || !column || !value) {
        graphss_release(ctx, offset);
        graphss_release(ctx, column);
        graphss_release(ctx, value);
        return GRAPHSS_ERR_NOMEM;
    }
    for (size_t i = 0; i < x->n_rows; i++) {
        const size_t from = dense ? i * x->n_cols : (size_t)x->offset[i];
        const size_t end = dense ? from + x->n_cols : (size_t)x->offset[i + 1];
        offset[i] = (int64_t)n;
        for (size_t e = from; e < end; e++) {
            const int32_t at = to[dense ? e - from : (size_t)x->column[e]];
            if (at < 0 || x->value[e] == 0)
                continue;
            column[n] = at;
            value[n++] = x->value[e];
        }
    }
    offset[x->n_rows] = (int64_t)n;
    return graphss_i_features_from_rows(ctx, out, x->n_rows, n_cols, offset, column, value, n,
                                        "features");
}

/* made, names: empty where nothing moves. */
static graphss_status adopt_columns(graphss_ctx *ctx, graphss_features *made,
                                    graphss_names *names, graphss_adoption *what,
                                    const graphss_model *model, const graphss_dataset *data)
{
    const graphss_names *own = &data->column_names, *known = &model->column_names;
    if (own->count == 0 || known->count == 0)
        return check_features(ctx, model, data);
    size_t found = 0;
    int32_t *to = graphss_i_alloc(ctx, own->count, sizeof *to);
    graphss_status st = to ? find_names(ctx, to, &found, own, known) : GRAPHSS_ERR_NOMEM;
    if (!st && found == 0)
        st =
            graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
                           "%s has no feature that the model knows: its first is '%.80s', the "
                           "model's '%.80s' (%s)",
                           data->name, graphss_names_get(own, 0), graphss_names_get(known, 0),
                           model->dataset_name);
    if (!st && !in_place(to, own->count, known->count)) {
        what->columns = true;
        what->unknown = own->count - found;
        what->missing = known->count - (found < known->count ? found : known->count);
        st = graphss_i_names_copy(ctx, names, known);
        if (!st)
            st = move_columns(ctx, made, &data->features, to, known->count);
    }
    graphss_release(ctx, to);
    return st;
}

/* ---- classes ---- */

/* label, names: likewise. */
static graphss_status adopt_classes(graphss_ctx *ctx, int32_t **label, graphss_names *names,
                                    graphss_adoption *what, const graphss_model *model,
                                    const graphss_dataset *data)
{
    const graphss_names *own = &data->class_names, *known = &model->class_names;
    const size_t n = data->graph.n_nodes;
    if (own->count == 0 || known->count == 0)
        return data->n_classes <= model->n_classes ? GRAPHSS_OK
                                                   : too_many_classes(ctx, model, data);
    size_t found = 0;
    int32_t *to = graphss_i_alloc(ctx, own->count, sizeof *to);
    graphss_status st = to ? find_names(ctx, to, &found, own, known) : GRAPHSS_ERR_NOMEM;
    for (size_t c = 0; c < own->count && !st; c++)
        if (to[c] < 0)
            st = graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
                                "%s has a class '%.80s', which the model does not know (%s)",
                                data->name, graphss_names_get(own, c), model->dataset_name);
    if (!st && !in_place(to, own->count, known->count)) {
        what->classes = true;
        st = graphss_i_names_copy(ctx, names, known);
        if (!st && data->label) {
            *label = graphss_i_alloc(ctx, n, sizeof **label);
            st = *label ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
        }
        for (size_t i = 0; i < n && !st && data->label; i++)
            (*label)[i] = data->label[i] < 0 ? -1 : to[data->label[i]];
    }
    graphss_release(ctx, to);
    return st;
}

graphss_status graphss_model_adopt(graphss_ctx *ctx, const graphss_model *model,
                                   graphss_dataset *data, graphss_adoption *what)
{
    graphss_adoption done = {0};
    graphss_dataset made = *data; /* shallow: what does not move stays the data's */
    graphss_features features = {0};
    graphss_names columns = {0}, classes = {0};
    int32_t *label = NULL;
    graphss_status st = adopt_columns(ctx, &features, &columns, &done, model, data);
    if (!st)
        st = adopt_classes(ctx, &label, &classes, &done, model, data);
    if (!st && done.columns) {
        made.features = features;
        made.column_names = columns;
    }
    if (!st && done.classes) {
        made.label = label;
        made.class_names = classes;
        made.n_classes = model->n_classes;
        made.split = (graphss_split){0};
    }
    if (!st && (done.columns || done.classes))
        st = graphss_dataset_refresh(ctx, &made);
    if (st) {
        graphss_features_destroy(ctx, &features);
        graphss_names_destroy(ctx, &columns);
        graphss_names_destroy(ctx, &classes);
        graphss_release(ctx, label);
        return st;
    }
    if (done.columns) {
        graphss_features_destroy(ctx, &data->features);
        graphss_names_destroy(ctx, &data->column_names);
    }
    if (done.classes) {
        graphss_release(ctx, data->label);
        graphss_names_destroy(ctx, &data->class_names);
        graphss_split_destroy(ctx, &data->split);
    }
    *data = made;
    if (what)
        *what = done;
    return GRAPHSS_OK;
}
