/* model_align.c - stores in a model what data it was trained on, and aligns other data with
 * it. Files list words and classes in order of appearance, so the same column number may be
 * another word in the next export. */
#include "base/ranks.h"
#include "data/build.h"
#include "graph/rows.h"
#include "models/model_private.h"
#include <string.h>

/* Checks that there is a name for each item, or none at all. */
static graphss_status check_counts(graphss_ctx *ctx, const graphss_dataset *data)
{
    const struct {
        size_t names, things;
        const char *what;
    } list[] = {{data->class_names.count, data->n_classes, "classes"},
        {data->column_names.count, data->features.n_cols, "features"},
        {data->node_names.count, data->graph.n_nodes, "nodes"}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i].names && list[i].names != list[i].things)
            return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE, "%s: %zu names for %zu %s",
                data->name, list[i].names, list[i].things, list[i].what);
    return GRAPHSS_OK;
}

graphss_status graphss_model_set_dataset(
    graphss_ctx *ctx, graphss_model *model, const graphss_dataset *data)
{
    if (GRAPHSS_I_LACKS(ctx, {"model", model}, {"dataset", data}))
        return GRAPHSS_ERR_INVALID;
    graphss_names classes = {0}, nodes = {0}, columns = {0};
    float *mean = NULL;
    graphss_status st = check_counts(ctx, data);
    if (!st && data->features.n_cols != model->n_features)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
            "%s has %zu features, the model was trained on %zu", data->name,
            data->features.n_cols, model->n_features);
    if (!st && data->n_classes && data->n_classes != model->n_classes)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE, "%s has %zu classes, the model %zu",
            data->name, data->n_classes, model->n_classes);
    if (!st)
        st = graphss_i_names_copy(ctx, &classes, &data->class_names);
    if (!st)
        st = graphss_i_names_copy(ctx, &nodes, &data->node_names);
    if (!st)
        st = graphss_i_names_copy(ctx, &columns, &data->column_names);
    if (!st && columns.count && (!model->scaling.mean || model->scaling.row_normalise))
        st = graphss_i_column_means(ctx, &mean, &data->features);
    if (st) {
        graphss_names_destroy(ctx, &columns);
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
    graphss_release(ctx, model->column_mean);
    model->column_mean = mean;
    model->n_nodes = data->graph.n_nodes;
    snprintf(model->dataset_name, sizeof model->dataset_name, "%s", data->name);
    snprintf(model->dataset_hash, sizeof model->dataset_hash, "%s", data->hash);
    return GRAPHSS_OK;
}

/* True if only one side has names. */
static void warn_of_position(graphss_ctx *ctx, const graphss_model *model,
    const graphss_dataset *data, bool named, const char *what)
{
    graphss_i_log(ctx, GRAPHSS_LOG_WARN,
        "%s has %snames of %s and the model (%s) has %s: they go by position", data->name,
        named ? "" : "no ", what, model->dataset_name, named ? "none" : "some");
}

static graphss_status check_features(
    graphss_ctx *ctx, const graphss_model *model, const graphss_dataset *data)
{
    if (data->features.n_cols == model->n_features)
        return GRAPHSS_OK;
    return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
        "%s has %zu features, the model was trained on %zu (%s)", data->name,
        data->features.n_cols, model->n_features, model->dataset_name);
}

/* Fails at the first name that differs; names that one side lacks are not compared. */
static graphss_status check_names(graphss_ctx *ctx, const graphss_names *found,
    const graphss_names *known, const char *what, const graphss_dataset *data)
{
    for (size_t i = 0; i < found->count && i < known->count; i++)
        if (strcmp(graphss_names_get(found, i), graphss_names_get(known, i)) != 0)
            return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
                "%s %zu is '%.80s' in %s and '%.80s' to the model", what, i,
                graphss_names_get(found, i), data->name, graphss_names_get(known, i));
    return GRAPHSS_OK;
}

static graphss_status other_classes(
    graphss_ctx *ctx, const graphss_model *model, const graphss_dataset *data)
{
    return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
        "%s has %zu classes, the model knows %zu (%s)", data->name, data->n_classes,
        model->n_classes, model->dataset_name);
}

graphss_status graphss_model_fits(
    graphss_ctx *ctx, const graphss_model *model, const graphss_dataset *data)
{
    if (GRAPHSS_I_LACKS(ctx, {"model", model}, {"dataset", data}))
        return GRAPHSS_ERR_INVALID;
    graphss_status st = check_features(ctx, model, data);
    if (!st)
        st = check_names(ctx, &data->column_names, &model->column_names, "feature", data);
    if (st)
        return st;
    if (data->n_classes && data->n_classes != model->n_classes)
        return other_classes(ctx, model, data);
    return check_names(ctx, &data->class_names, &model->class_names, "class", data);
}

static bool same_names(const graphss_names *a, const graphss_names *b)
{
    for (size_t i = 0; i < a->count && a->count == b->count; i++)
        if (strcmp(graphss_names_get(a, i), graphss_names_get(b, i)) != 0)
            return false;
    return a->count == b->count;
}

/* to [names]: the place of each among the known ones, or -1; how many have one. SHAPE: two
 * have the same name. */
static graphss_status find_names(graphss_ctx *ctx, int32_t *to, size_t *found,
    const graphss_names *names, const graphss_names *known)
{
    uint8_t *taken = graphss_i_calloc(ctx, known->count, sizeof *taken);
    if (!taken)
        return GRAPHSS_ERR_NOMEM;
    graphss_i_intern table = {
        .list = {.count = known->count, .start = known->start, .text = known->text}};
    graphss_status st = graphss_i_intern_index(ctx, &table); /* the list is borrowed */
    *found = 0;
    for (size_t i = 0; i < names->count && !st; i++) {
        const char *name = graphss_names_get(names, i);
        to[i] = (int32_t)graphss_i_intern_find(&table, name, strlen(name));
        *found += to[i] >= 0;
        if (to[i] >= 0 && taken[to[i]]++)
            st = graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
                "two are called '%.80s', and the model's are in another order, so they cannot "
                "be matched",
                name);
    }
    graphss_release(ctx, taken);
    graphss_release(ctx, table.slot);
    return st;
}

/* ---- features ---- */

/* out: the columns of x moved to to[column], those at -1 left out. lacking [n_lacking]:
 * columns that x lacks. In standardised ones the mean carries no evidence, while 0 might. */
static graphss_status move_columns(graphss_ctx *ctx, graphss_features *out,
    const graphss_features *x, const int32_t *to, size_t n_cols, const int32_t *lacking,
    size_t n_lacking, const float *mean)
{
    const size_t stored = graphss_features_stored(x) + (mean ? x->n_rows * n_lacking : 0);
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
        const graphss_i_row row = graphss_i_row_of(x, i);
        offset[i] = (int64_t)n;
        for (size_t j = 0; j < row.n; j++) {
            const int32_t at = to[graphss_i_row_at(row, j)];
            if (at < 0 || row.value[j] == 0)
                continue;
            column[n] = at;
            value[n++] = row.value[j];
        }
        for (size_t j = 0; j < n_lacking && mean; j++) {
            column[n] = lacking[j];
            value[n++] = mean[lacking[j]];
        }
    }
    offset[x->n_rows] = (int64_t)n;
    return graphss_i_features_from_rows(
        ctx, out, x->n_rows, n_cols, offset, column, value, n, "features");
}

/* True if it is a value of a text column (COLUMN=VALUE) of which the data have other values.
 * Then no node has this one, and 0 is right. */
static bool is_unused_value(const char *name, const graphss_names *own)
{
    const char *equals = strchr(name, '=');
    if (!equals)
        return false;
    for (size_t i = 0; i < own->count; i++)
        if (!strncmp(graphss_names_get(own, i), name, (size_t)(equals - name) + 1))
            return true;
    return false;
}

/* The columns of the model that get no data and need the mean; returns how many. */
static size_t list_lacking(int32_t *lacking, uint8_t *found, const int32_t *to,
    const graphss_names *own, const graphss_names *known)
{
    size_t m = 0;
    for (size_t c = 0; c < own->count; c++)
        if (to[c] >= 0)
            found[to[c]] = 1;
    for (size_t c = 0; c < known->count; c++)
        if (!found[c] && !is_unused_value(graphss_names_get(known, c), own))
            lacking[m++] = (int32_t)c;
    return m;
}

/* Lists the first few by name. */
static void warn_of_lacking(graphss_ctx *ctx, const graphss_model *model,
    const graphss_dataset *data, const int32_t *lacking, size_t n)
{
    enum { NAMED = 3 };
    char list[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < n && i < NAMED; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s'%.60s'", i ? ", " : "",
            graphss_names_get(&model->column_names, (size_t)lacking[i]));
    if (n > NAMED)
        snprintf(list + used, sizeof list - used, " and %zu more", n - NAMED);
    graphss_i_log(ctx, GRAPHSS_LOG_WARN,
        "%s has no %s, which the model was trained on: read as %s", data->name, list,
        model->scaling.mean ? "the mean" : "0");
}

/* made, names: empty if nothing moves. */
static graphss_status align_columns(graphss_ctx *ctx, graphss_features *made,
    graphss_names *names, graphss_alignment *what, const graphss_model *model,
    const graphss_dataset *data)
{
    const graphss_names *own = &data->column_names, *known = &model->column_names;
    if (own->count == 0 || known->count == 0) {
        const graphss_status st = check_features(ctx, model, data);
        if (!st && (own->count || known->count))
            warn_of_position(ctx, model, data, own->count, "features");
        return st;
    }
    if (same_names(own, known))
        return GRAPHSS_OK;
    size_t found = 0;
    int32_t *to = graphss_i_alloc(ctx, own->count, sizeof *to);
    graphss_status st = to ? find_names(ctx, to, &found, own, known) : GRAPHSS_ERR_NOMEM;
    if (!st && found == 0)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
            "%s has no feature that the model knows: its first is '%.80s', the "
            "model's '%.80s' (%s)",
            data->name, graphss_names_get(own, 0), graphss_names_get(known, 0),
            model->dataset_name);
    if (!st) {
        what->columns = true;
        what->unknown = own->count - found;
        what->missing = known->count - found;
        uint8_t *held = graphss_i_calloc(ctx, known->count, sizeof *held);
        int32_t *lacking = graphss_i_alloc(ctx, what->missing + 1, sizeof *lacking);
        st = held && lacking ? graphss_i_names_copy(ctx, names, known) : GRAPHSS_ERR_NOMEM;
        if (!st) {
            what->missing = list_lacking(lacking, held, to, own, known);
            st = move_columns(ctx, made, &data->features, to, known->count, lacking,
                what->missing, model->scaling.mean);
        }
        if (!st && what->missing)
            warn_of_lacking(ctx, model, data, lacking, what->missing);
        graphss_release(ctx, lacking);
        graphss_release(ctx, held);
    }
    graphss_release(ctx, to);
    return st;
}

/* ---- classes ---- */

/* The class below k whose number is this text, else -1. */
static int32_t number_of(const char *text, size_t k)
{
    int64_t value = -1;
    const bool good = graphss_i_parse_int(&value, text, strlen(text));
    return good && value >= 0 && (size_t)value < k ? (int32_t)value : -1;
}

/* If one side has no names, its classes are called 0, 1, 2 ... if that matches all; else
 * position counts, and classes beyond the model's are -1. */
static void number_classes(
    graphss_ctx *ctx, int32_t *to, const graphss_model *model, const graphss_dataset *data)
{
    const graphss_names *own = &data->class_names, *known = &model->class_names;
    bool all = own->count || known->count;
    for (size_t c = 0; c < data->n_classes; c++) {
        to[c] = own->count ? number_of(graphss_names_get(own, c), model->n_classes) : -1;
        for (size_t k = 0; k < known->count && to[c] < 0; k++)
            if (number_of(graphss_names_get(known, k), (size_t)INT32_MAX) == (int32_t)c)
                to[c] = (int32_t)k;
        all = all && to[c] >= 0;
    }
    for (size_t c = 0; c < data->n_classes && !all; c++)
        to[c] = c < model->n_classes ? (int32_t)c : -1;
    if (!all && (own->count || known->count))
        warn_of_position(ctx, model, data, own->count, "classes");
}

/* How many nodes have a class that the model does not know; names the first few of these. */
static void warn_of_classes(graphss_ctx *ctx, const graphss_model *model,
    const graphss_dataset *data, const int32_t *to)
{
    enum { NAMED = 3 };
    char list[256] = "";
    size_t used = 0, nodes = 0, unknown = 0;
    for (size_t i = 0; data->label && i < data->graph.n_nodes; i++)
        nodes += data->label[i] >= 0 && to[data->label[i]] < 0;
    if (nodes == 0)
        return;
    for (size_t c = 0; c < data->n_classes; c++) {
        char number[24];
        snprintf(number, sizeof number, "%zu", c);
        if (to[c] < 0 && unknown++ < NAMED)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s'%.60s'",
                used ? ", " : "",
                data->class_names.count ? graphss_names_get(&data->class_names, c) : number);
    }
    if (unknown > NAMED)
        snprintf(list + used, sizeof list - used, " and %zu more", unknown - NAMED);
    graphss_i_log(ctx, GRAPHSS_LOG_WARN,
        "%s: %zu node%s %s a class that the model does not know (%s): the label is "
        "left out, and the node gets one of the model's classes (%s)",
        data->name, nodes, nodes == 1 ? "" : "s", nodes == 1 ? "has" : "have", list,
        model->dataset_name);
}

/* label, names: empty if nothing changes. *to_out [classes of the data]: their numbers in the
 * model, -1 for a class it does not know, or NULL; the caller frees it. */
static graphss_status align_classes(graphss_ctx *ctx, int32_t **to_out, int32_t **label,
    graphss_names *names, graphss_alignment *what, const graphss_model *model,
    const graphss_dataset *data)
{
    const graphss_names *own = &data->class_names, *known = &model->class_names;
    const bool named = own->count && known->count;
    const size_t n = data->graph.n_nodes;
    if (named ? same_names(own, known) : data->n_classes == 0)
        return GRAPHSS_OK;
    size_t found = 0;
    graphss_status st = GRAPHSS_OK;
    int32_t *to = graphss_i_alloc(ctx, data->n_classes, sizeof *to);
    if (!to)
        return GRAPHSS_ERR_NOMEM;
    if (named)
        st = find_names(ctx, to, &found, own, known);
    else
        number_classes(ctx, to, model, data);
    for (size_t c = 0; c < data->n_classes && !st; c++) {
        what->classes = what->classes || to[c] != (int32_t)c;
        what->unknown_classes += to[c] < 0;
    }
    what->classes = what->classes || named;
    if (!st && what->classes) {
        st = graphss_i_names_copy(ctx, names, known);
        if (!st && data->label) {
            *label = graphss_i_alloc(ctx, n, sizeof **label);
            st = *label ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
        }
        for (size_t i = 0; i < n && !st && data->label; i++)
            (*label)[i] = data->label[i] < 0 ? -1 : to[data->label[i]];
    }
    if (!st && what->unknown_classes)
        warn_of_classes(ctx, model, data, to);
    *to_out = to;
    return st;
}

/* Translates the labels of a split. Numbers beyond the data's classes stay, and nodes of a
 * class that the model does not know are removed. */
static void renumber(
    int32_t *node, int32_t *label, size_t *n, const int32_t *to, size_t n_classes)
{
    size_t kept = 0;
    if (!label)
        return;
    for (size_t i = 0; i < *n; i++) {
        const bool own = label[i] >= 0 && (size_t)label[i] < n_classes;
        const int32_t now = own ? to[label[i]] : label[i];
        if (own && now < 0)
            continue;
        node[kept] = node[i];
        label[kept++] = now;
    }
    *n = kept;
}

graphss_status graphss_dataset_align(graphss_ctx *ctx, graphss_alignment *out,
    graphss_dataset *data, const graphss_model *model)
{
    if (GRAPHSS_I_LACKS(ctx, {"model", model}, {"dataset", data}))
        return GRAPHSS_ERR_INVALID;
    graphss_alignment done = {0};
    graphss_dataset made = *data; /* shallow: unmoved parts are the data's */
    graphss_features features = {0}, filled = {0};
    graphss_names columns = {0}, classes = {0};
    int32_t *label = NULL, *to = NULL;
    graphss_status st = check_counts(ctx, data);
    if (!st)
        st = graphss_i_model_fill(ctx, &filled, &done.filled, model, data);
    if (!st && done.filled)
        made.features = filled;
    if (!st)
        st = align_columns(ctx, &features, &columns, &done, model, &made);
    if (!st)
        st = align_classes(ctx, &to, &label, &classes, &done, model, data);
    if (!st && done.columns) {
        made.features = features;
        made.column_names = columns;
    }
    if (!st && done.classes) {
        made.label = label;
        made.class_names = classes;
        made.n_classes = model->n_classes;
    }
    if (!st && (done.columns || done.classes || done.filled))
        st = graphss_dataset_refresh(ctx, &made);
    if (st || done.columns)
        graphss_features_destroy(ctx, &filled);
    if (st) {
        graphss_features_destroy(ctx, &features);
        graphss_names_destroy(ctx, &columns);
        graphss_names_destroy(ctx, &classes);
        graphss_release(ctx, label);
        graphss_release(ctx, to);
        return st;
    }
    if (done.columns || done.filled)
        graphss_features_destroy(ctx, &data->features);
    if (done.columns || done.filled) { /* missing cells are filled now, or have moved */
        graphss_release(ctx, data->missing.node);
        graphss_release(ctx, data->missing.column);
        made.missing = (graphss_missing_cells){0};
    }
    if (done.columns)
        graphss_names_destroy(ctx, &data->column_names);
    if (done.classes) {
        graphss_release(ctx, data->label);
        graphss_names_destroy(ctx, &data->class_names);
        graphss_split *split = &made.split; /* its arrays are the data's */
        renumber(split->train, split->train_label, &split->n_train, to, data->n_classes);
        renumber(split->val, split->val_label, &split->n_val, to, data->n_classes);
    }
    graphss_release(ctx, to);
    *data = made;
    if (out)
        *out = done;
    return GRAPHSS_OK;
}

/* See model_private.h. */
graphss_status graphss_i_column_means(
    graphss_ctx *ctx, float **out, const graphss_features *features)
{
    const size_t d = features->n_cols;
    float *mean = graphss_i_alloc(ctx, d, sizeof *mean);
    double *sum = graphss_i_calloc(ctx, d, sizeof *sum);
    if (!mean || !sum) {
        graphss_release(ctx, mean);
        graphss_release(ctx, sum);
        return GRAPHSS_ERR_NOMEM;
    }
    for (size_t i = 0; i < features->n_rows; i++) {
        const graphss_i_row row = graphss_i_row_of(features, i);
        for (size_t j = 0; j < row.n; j++)
            sum[graphss_i_row_at(row, j)] += (double)row.value[j];
    }
    double n_rows = (double)features->n_rows;
    graphss_status st = graphss_i_ranks_sum(ctx, sum, d);
    if (!st)
        st = graphss_i_ranks_sum(ctx, &n_rows, 1);
    for (size_t c = 0; c < d; c++)
        mean[c] = (float)(sum[c] / n_rows);
    graphss_release(ctx, sum);
    if (st)
        graphss_release(ctx, mean);
    else
        *out = mean;
    return st;
}

const float *graphss_i_model_means(const graphss_model *model)
{
    if (model->column_mean)
        return model->column_mean;
    return model->scaling.row_normalise ? NULL : model->scaling.mean;
}

/* to [columns of the data]: their numbers to the model, -1: none. */
static graphss_status find_columns(
    graphss_ctx *ctx, int32_t *to, const graphss_model *model, const graphss_dataset *data)
{
    const graphss_names *own = &data->column_names, *known = &model->column_names;
    graphss_i_intern table = {
        .list = {.count = known->count, .start = known->start, .text = known->text}};
    const graphss_status st = graphss_i_intern_index(ctx, &table); /* the list is borrowed */
    for (size_t c = 0; c < data->features.n_cols && !st; c++) {
        if (own->count && known->count) {
            const char *name = graphss_names_get(own, c);
            to[c] = (int32_t)graphss_i_intern_find(&table, name, strlen(name));
        } else {
            to[c] = c < model->n_features ? (int32_t)c : -1;
        }
    }
    graphss_release(ctx, table.slot);
    return st;
}

/* The missing columns of each node: start [nodes + 1] into column. */
static void sort_by_node(
    size_t *start, int32_t *column, const graphss_dataset *data, const int32_t *to)
{
    const graphss_missing_cells *m = &data->missing;
    const size_t n = data->features.n_rows;
    for (size_t i = 0; i <= n; i++)
        start[i] = 0;
    for (size_t e = 0; e < m->count; e++)
        start[m->node[e] + 1] += to[m->column[e]] >= 0;
    for (size_t i = 0; i < n; i++)
        start[i + 1] += start[i];
    const size_t all = start[n];
    for (size_t e = m->count; e-- > 0;) /* from the end: start[i + 1] moves down to start[i] */
        if (to[m->column[e]] >= 0)
            column[--start[m->node[e] + 1]] = m->column[e];
    for (size_t i = 0; i < n; i++)
        start[i] = start[i + 1];
    start[n] = all;
}

static bool is_listed(const int32_t *list, size_t n, size_t column)
{
    for (size_t i = 0; i < n; i++)
        if ((size_t)list[i] == column)
            return true;
    return false;
}

graphss_status graphss_i_model_fill(graphss_ctx *ctx, graphss_features *out, size_t *filled,
    const graphss_model *model, const graphss_dataset *data)
{
    const graphss_features *x = &data->features;
    const float *mean = graphss_i_model_means(model);
    *filled = 0;
    if (!mean || data->missing.count == 0)
        return GRAPHSS_OK;
    const size_t room = graphss_features_stored(x) + data->missing.count;
    int32_t *to = graphss_i_alloc(ctx, x->n_cols, sizeof *to);
    size_t *start = graphss_i_alloc(ctx, x->n_rows + 1, sizeof *start);
    int32_t *gap = graphss_i_alloc(ctx, data->missing.count, sizeof *gap);
    int64_t *offset = graphss_i_alloc(ctx, x->n_rows + 1, sizeof *offset);
    int32_t *column = graphss_i_alloc(ctx, room, sizeof *column);
    float *value = graphss_i_alloc(ctx, room, sizeof *value);
    graphss_status st = to && start && gap && offset && column && value
                            ? find_columns(ctx, to, model, data)
                            : GRAPHSS_ERR_NOMEM;
    if (st) {
        graphss_release(ctx, offset);
        graphss_release(ctx, column);
        graphss_release(ctx, value);
        goto done;
    }
    size_t n = 0;
    sort_by_node(start, gap, data, to);
    for (size_t i = 0; i < x->n_rows; i++) {
        const graphss_i_row row = graphss_i_row_of(x, i);
        const size_t end = start[i + 1];
        offset[i] = (int64_t)n;
        for (size_t j = 0; j < row.n; j++) {
            const size_t c = graphss_i_row_at(row, j);
            if (row.value[j] == 0 || is_listed(gap + start[i], end - start[i], c))
                continue;
            column[n] = (int32_t)c;
            value[n++] = row.value[j];
        }
        for (size_t g = start[i]; g < end; g++) {
            column[n] = gap[g];
            value[n++] = mean[to[gap[g]]];
            ++*filled;
        }
    }
    offset[x->n_rows] = (int64_t)n;
    st = graphss_i_features_from_rows(
        ctx, out, x->n_rows, x->n_cols, offset, column, value, n, "features");
done:
    graphss_release(ctx, gap);
    graphss_release(ctx, start);
    graphss_release(ctx, to);
    return st;
}
