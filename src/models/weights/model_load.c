/* model_load.c - a model from its file (model_file.h), whose content is not trusted: all of it
 * is checked, and no array is allocated that the file is too small to fill. */
#include "base/json_fault.h"
#include "data/build.h"
#include "models/model_private.h"
#include "models/weights/model_file.h"
#include <math.h>
#include <string.h>

typedef graphss_i_safetensors source;

static graphss_status bad(graphss_ctx *ctx, const source *src, const char *what,
    const char *found, const char *wanted)
{
    return graphss_i_fail(
        ctx, GRAPHSS_ERR_DATA, "%s: %s: found %s, want %s", src->path, what, found, wanted);
}

static graphss_status meta_text(
    graphss_ctx *ctx, const char **out, const source *src, const char *key)
{
    const char *text = json_string_value(json_object_get(src->meta, key));
    if (!text)
        return bad(ctx, src, key, "nothing", "text in __metadata__");
    *out = text;
    return GRAPHSS_OK;
}

static graphss_status meta_size(
    graphss_ctx *ctx, size_t *out, const source *src, const char *key)
{
    const char *text = NULL;
    int64_t value;
    graphss_status st = meta_text(ctx, &text, src, key);
    if (st)
        return st;
    if (!graphss_i_parse_int(&value, text, strlen(text)) || value < 1 || value > INT32_MAX)
        return bad(ctx, src, key, text, "a whole number from 1 to 2147483647");
    *out = (size_t)value;
    return GRAPHSS_OK;
}

/* The seed is 64 bits without sign. */
static graphss_status meta_seed(graphss_ctx *ctx, uint64_t *out, const source *src)
{
    const char *text = NULL;
    graphss_status st = meta_text(ctx, &text, src, "seed");
    if (st)
        return st;
    uint64_t value = 0;
    for (const char *c = text; *c; c++)
        if (*c < '0' || *c > '9' || __builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*c - '0'), &value))
            return bad(ctx, src, "seed", text, "a whole number of 64 bits");
    *out = value;
    return GRAPHSS_OK;
}

static graphss_status meta_scale(graphss_ctx *ctx, double *out, const source *src)
{
    const char *text = NULL;
    graphss_status st = meta_text(ctx, &text, src, "feature_scale");
    if (st)
        return st;
    if (!graphss_i_parse_double(out, text, strlen(text)) || !(*out > 0) || isinf(*out))
        return bad(ctx, src, "feature_scale", text, "a number above 0");
    return GRAPHSS_OK;
}

static graphss_status read_options(
    graphss_ctx *ctx, graphss_train_options *out, const source *src)
{
    const char *name = NULL, *text = NULL;
    graphss_status st = meta_text(ctx, &name, src, "option.model");
    if (st)
        return st;
    if (!graphss_i_model_type_find(name))
        return bad(ctx, src, "option.model", name, "a model of this version");
    graphss_train_options_init(out, name, GRAPHSS_MODE_DEFAULT, NULL);
    for (const graphss_option *row = graphss_train_options_table(); row->name && !st; row++) {
        char key[64];
        snprintf(key, sizeof key, "option.%s", row->name);
        if (row->later && !json_object_get(src->meta, key)) {
            graphss_i_option_unsay(out, row); /* absent if it is off */
            continue;
        }
        st = meta_text(ctx, &text, src, key);
        if (!st && graphss_option_set(ctx, out, row, text))
            st = graphss_i_fail_in(ctx, GRAPHSS_ERR_DATA, src->path);
    }
    return st;
}

/* The position of an array, after its type, shape and position were checked. want_rows
 * SIZE_MAX: any. */
static graphss_status find_tensor(graphss_ctx *ctx, const char **data, size_t *rows,
    const source *src, const graphss_i_tensor *want, size_t want_rows)
{
    json_int_t shape[2] = {0, 1}, from = 0, to = 0;
    const char *dtype = "";
    json_t *entry = json_object_get(src->header, want->name), *list = NULL;
    if (json_unpack(entry, "{s:s, s:o, s:[I, I]}", "dtype", &dtype, "shape", &list,
            "data_offsets", &from, &to) != 0)
        return bad(ctx, src, want->name, "nothing usable", "dtype, shape and data_offsets");
    const int shaped = want->cols ? json_unpack(list, "[I, I!]", &shape[0], &shape[1])
                                  : json_unpack(list, "[I!]", &shape[0]);
    const size_t cols = want->cols ? want->cols : 1;
    if (strcmp(dtype, want->dtype))
        return bad(ctx, src, want->name, dtype, want->dtype);
    if (shaped != 0 || shape[0] < 0 || shape[1] < 0 || (size_t)shape[1] != cols ||
        (want_rows != SIZE_MAX && (size_t)shape[0] != want_rows))
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s: %s: its shape is not the %zu x %zu the header promises", src->path,
            want->name, want_rows == SIZE_MAX ? 0 : want_rows, cols);
    size_t bytes;
    if (!graphss_i_mul(&bytes, (size_t)shape[0], cols) ||
        !graphss_i_mul(&bytes, bytes, graphss_i_entry_size(want)) || from < 0 || to < from ||
        (uint64_t)(to - from) != bytes || (size_t)to > src->n_data)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s: %s: bytes %lld to %lld of %zu do not hold its %lld x %lld numbers", src->path,
            want->name, (long long)from, (long long)to, src->n_data, (long long)shape[0],
            (long long)shape[1]);
    *data = src->data + from;
    *rows = (size_t)shape[0];
    return GRAPHSS_OK;
}

static graphss_status read_weights(graphss_ctx *ctx, graphss_model *model, const source *src)
{
    for (size_t i = 0; i < model->params.n; i++) {
        const graphss_i_param *m = &model->params.param[i];
        graphss_i_tensor want = {.dtype = "F32", .rows = m->rows, .cols = m->cols};
        snprintf(want.name, sizeof want.name, "%s", m->name);
        const char *data = NULL;
        size_t rows;
        const graphss_status st = find_tensor(ctx, &data, &rows, src, &want, m->rows);
        if (st)
            return st;
        float *value = model->params.value + m->offset;
        memcpy(value, data, 4 * m->rows * m->cols);
        for (size_t e = 0; e < m->rows * m->cols; e++)
            if (!isfinite(value[e]))
                return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                    "%s: %s: entry %zu is %g, want a finite number", src->path, m->name, e,
                    (double)value[e]);
    }
    return GRAPHSS_OK;
}

static graphss_status read_columns(graphss_ctx *ctx, graphss_model *model, const source *src)
{
    const size_t d = model->n_features;
    if (!model->opt.standardise)
        return GRAPHSS_OK;
    float *value = graphss_i_alloc(ctx, d, GRAPHSS_I_COLUMN_TENSORS * sizeof *value);
    if (!value)
        return GRAPHSS_ERR_NOMEM;
    model->scaling.mean = value;
    model->scaling.gain = value + d;
    for (size_t i = 0; i < GRAPHSS_I_COLUMN_TENSORS; i++, value += d) {
        graphss_i_tensor want = {.dtype = "F32"};
        const char *data = NULL;
        size_t rows;
        snprintf(want.name, sizeof want.name, "%s", graphss_i_column_tensor[i]);
        const graphss_status st = find_tensor(ctx, &data, &rows, src, &want, d);
        if (st)
            return st;
        memcpy(value, data, d * sizeof *value);
        for (size_t c = 0; c < d; c++)
            if (!isfinite(value[c]))
                return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                    "%s: %s: entry %zu is %g, want a finite number", src->path, want.name, c,
                    (double)value[c]);
    }
    return GRAPHSS_OK;
}

/* If columns have names and are not standardised; older files have none. */
static graphss_status read_means(graphss_ctx *ctx, graphss_model *model, const source *src)
{
    graphss_i_tensor want = {.name = GRAPHSS_I_MEANS_CALLED, .dtype = "F32"};
    const char *data = NULL;
    size_t rows;
    if (!json_object_get(src->header, want.name))
        return GRAPHSS_OK;
    const graphss_status st = find_tensor(ctx, &data, &rows, src, &want, model->n_features);
    if (st)
        return st;
    model->column_mean = graphss_i_copy(ctx, data, rows, sizeof *model->column_mean);
    if (!model->column_mean)
        return GRAPHSS_ERR_NOMEM;
    for (size_t c = 0; c < rows; c++)
        if (!isfinite(model->column_mean[c]))
            return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "%s: %s: entry %zu is %g, want a finite number", src->path, want.name, c,
                (double)model->column_mean[c]);
    return GRAPHSS_OK;
}

/* Of any shape: detect/state_model.c checks whether it can use it, and otherwise learns again.
 */
static graphss_status read_kept(
    graphss_ctx *ctx, graphss_model *model, const source *src, size_t which)
{
    graphss_i_tensor want = {.dtype = "F64"};
    snprintf(want.name, sizeof want.name, "%s", graphss_i_kept_called[which]);
    json_t *shape = json_object_get(json_object_get(src->header, want.name), "shape");
    const json_int_t cols = json_integer_value(json_array_get(shape, 1));
    const char *data = NULL;
    size_t rows;
    if (!json_object_get(src->header, want.name))
        return GRAPHSS_OK;
    if (cols < 1)
        return bad(ctx, src, want.name, "another shape", "rows and columns");
    want.cols = (size_t)cols;
    graphss_status st = find_tensor(ctx, &data, &rows, src, &want, SIZE_MAX);
    double *value = st ? NULL : graphss_i_copy(ctx, data, rows * want.cols, sizeof *value);
    if (!st && !value)
        st = GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; !st && i < rows * want.cols; i++)
        if (!isfinite(value[i]))
            st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "%s: %s: entry %zu is %g, want a finite number", src->path, want.name, i,
                value[i]);
    if (!st)
        st = graphss_i_model_keep(ctx, model, which, value, rows, want.cols);
    graphss_release(ctx, value);
    return st;
}

/* Restores that there was a predictor; the caller sets it again. */
static graphss_status read_predictor(graphss_ctx *ctx, graphss_model *model, const source *src)
{
    static const char *const key = "predictor_agreement";
    const char *text = json_string_value(json_object_get(src->meta, key));
    double agreement;
    if (!text)
        return GRAPHSS_OK;
    if (strcmp(text, "nan") == 0)
        agreement = NAN;
    else if (!graphss_i_parse_double(&agreement, text, strlen(text)) || !(agreement >= 0) ||
             agreement > 1)
        return bad(ctx, src, key, text, "a share from 0 to 1");
    return graphss_i_predictor_new(ctx, model, agreement);
}

static graphss_status read_list(graphss_ctx *ctx, int32_t **out, size_t *n, const source *src,
    const char *name, size_t want_rows, int32_t below)
{
    graphss_i_tensor want = {.dtype = "I32"};
    snprintf(want.name, sizeof want.name, "%s", name);
    const char *data = NULL;
    size_t rows;
    graphss_status st = find_tensor(ctx, &data, &rows, src, &want, want_rows);
    if (st)
        return st;
    int32_t *list = graphss_i_copy(ctx, data, rows, sizeof *list);
    if (!list)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < rows; i++) {
        if (list[i] < 0 || list[i] >= below) {
            st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: %s: entry %zu is %d, want 0..%d",
                src->path, name, i, (int)list[i], (int)below - 1);
            graphss_release(ctx, list);
            return st;
        }
    }
    *out = list;
    *n = rows;
    return GRAPHSS_OK;
}

static graphss_status read_split(
    graphss_ctx *ctx, graphss_split *s, const source *src, size_t n_classes)
{
    const int32_t k = (int32_t)n_classes;
    size_t n;
    graphss_status st =
        read_list(ctx, &s->train, &s->n_train, src, "split.train", SIZE_MAX, INT32_MAX);
    if (!st)
        st = read_list(ctx, &s->val, &s->n_val, src, "split.val", SIZE_MAX, INT32_MAX);
    if (!st)
        st = read_list(ctx, &s->test, &s->n_test, src, "split.test", SIZE_MAX, INT32_MAX);
    if (!st)
        st = read_list(ctx, &s->train_label, &n, src, "split.train_labels", s->n_train, k);
    if (!st)
        st = read_list(ctx, &s->val_label, &n, src, "split.val_labels", s->n_val, k);
    return st;
}

static graphss_status read_class_names(
    graphss_ctx *ctx, graphss_model *model, const source *src)
{
    const char *text = NULL;
    graphss_i_name_list list = {0};
    graphss_status st = meta_text(ctx, &text, src, "class_names");
    if (st)
        return st;
    json_error_t error;
    bool starved;
    json_t *names = graphss_i_json_load(text, strlen(text), 0, &error, &starved);
    const size_t n = json_array_size(names);
    if (starved)
        st = graphss_i_nomem(ctx, strlen(text));
    else if (!json_is_array(names) || (n != 0 && n != model->n_classes))
        st = bad(ctx, src, "class_names", text, "a list with a name for each class");
    for (size_t k = 0; k < n && !st; k++) {
        json_t *item = json_array_get(names, k);
        if (!json_is_string(item))
            st = bad(ctx, src, "class_names", text, "a list of strings");
        else
            st = graphss_i_name_list_add(
                ctx, &list, json_string_value(item), json_string_length(item));
    }
    if (!st && n)
        st = graphss_i_name_list_finish(ctx, &model->class_names, &list);
    graphss_i_name_list_destroy(ctx, &list);
    json_decref(names);
    return st;
}

/* The names of n items, if the file has them. */
static graphss_status read_names(
    graphss_ctx *ctx, graphss_names *out, const source *src, const char *called, size_t n)
{
    graphss_i_tensor want = {.dtype = "U8"};
    graphss_i_name_list list = {0};
    const char *text = NULL;
    size_t bytes = 0;
    snprintf(want.name, sizeof want.name, "%s", called);
    if (!json_object_get(src->header, called))
        return GRAPHSS_OK;
    graphss_status st = find_tensor(ctx, &text, &bytes, src, &want, SIZE_MAX);
    for (size_t at = 0; at < bytes && !st && list.count <= n;) {
        const char *end = memchr(text + at, 0, bytes - at);
        const size_t length = end ? (size_t)(end - text) - at : bytes - at;
        st = end ? graphss_i_name_list_add(ctx, &list, text + at, length)
                 : bad(ctx, src, called, "a last name without an end", "a 0 behind each");
        at += length + 1;
    }
    if (!st && list.count != n)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: %s: found %zu names, want %zu",
            src->path, called, list.count, n);
    if (!st)
        st = graphss_i_name_list_finish(ctx, out, &list);
    graphss_i_name_list_destroy(ctx, &list);
    return st;
}

/* Older files have no names of nodes. */
static graphss_status read_all_names(graphss_ctx *ctx, graphss_model *model, const source *src)
{
    const char *nodes = json_string_value(json_object_get(src->meta, "nodes"));
    graphss_status st = GRAPHSS_OK;
    if (nodes && strcmp(nodes, "0") != 0)
        st = meta_size(ctx, &model->n_nodes, src, "nodes");
    if (!st)
        st = read_names(ctx, &model->node_names, src, "names.nodes", model->n_nodes);
    return st ? st
              : read_names(
                    ctx, &model->column_names, src, "names.features", model->n_features);
}

/* Refuses weights that the file is too small to hold, before they are allocated. */
static graphss_status check_size(
    graphss_ctx *ctx, const source *src, const graphss_train_options *opt, size_t d, size_t k)
{
    graphss_i_params probe = {0};
    const graphss_i_model_type *type = graphss_i_model_type_find(opt->model);
    if (type->declare(ctx, &probe, opt, d, k))
        return graphss_i_fail_in(ctx, GRAPHSS_ERR_DATA, src->path);
    size_t bytes = 0;
    for (size_t i = 0; i < probe.n; i++)
        bytes += 4 * probe.param[i].rows * probe.param[i].cols;
    if (bytes > src->n_data)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s: its options want %zu bytes of weights, the file has %zu", src->path, bytes,
            src->n_data);
    return GRAPHSS_OK;
}

static graphss_status build(graphss_ctx *ctx, graphss_model **out, const source *src)
{
    const char *format = NULL, *name = NULL, *hash = NULL;
    graphss_train_options opt;
    graphss_model *model = NULL;
    size_t d = 0, k = 0, version = 0;
    uint64_t seed = 0;
    double scale = 1;

    graphss_status st = meta_text(ctx, &format, src, "format");
    if (st || strcmp(format, "graphss"))
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s: a safetensors file, but not a GraphSS model", src->path);
    st = meta_size(ctx, &version, src, "format_version");
    if (!st && version > GRAPHSS_I_FORMAT_VERSION)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s: written in format %zu by a later GraphSS; this one reads %d", src->path,
            version, GRAPHSS_I_FORMAT_VERSION);
    if (!st)
        st = read_options(ctx, &opt, src);
    if (!st)
        st = meta_size(ctx, &d, src, "features");
    if (!st)
        st = meta_size(ctx, &k, src, "classes");
    if (!st)
        st = meta_seed(ctx, &seed, src);
    if (!st)
        st = meta_scale(ctx, &scale, src);
    if (!st)
        st = meta_text(ctx, &name, src, "dataset");
    if (!st)
        st = meta_text(ctx, &hash, src, "dataset_hash");
    if (!st)
        st = check_size(ctx, src, &opt, d, k);
    if (!st)
        st = graphss_i_model_new(ctx, &model, &opt, d, k, seed);
    if (st)
        return st;
    snprintf(model->dataset_name, sizeof model->dataset_name, "%s", name);
    snprintf(model->dataset_hash, sizeof model->dataset_hash, "%s", hash);
    model->scaling.scale = scale;
    st = read_weights(ctx, model, src);
    if (!st)
        st = read_predictor(ctx, model, src);
    if (!st)
        st = read_columns(ctx, model, src);
    if (!st)
        st = read_kept(ctx, model, src, GRAPHSS_I_KEPT_STATES);
    if (!st)
        st = read_means(ctx, model, src);
    if (!st)
        st = read_split(ctx, &model->split, src, k);
    if (!st)
        st = read_class_names(ctx, model, src);
    if (!st)
        st = read_all_names(ctx, model, src);
    if (st)
        graphss_model_free(ctx, model);
    else
        *out = model;
    return st;
}

graphss_status graphss_model_load(graphss_ctx *ctx, graphss_model **out, const char *path)
{
    if (GRAPHSS_I_LACKS(ctx, {"path", path}, {"place for the model", out}))
        return GRAPHSS_ERR_INVALID;
    source src = {0};
    graphss_status st = graphss_i_safetensors_open(ctx, &src, path);
    if (!st)
        st = build(ctx, out, &src);
    graphss_i_safetensors_close(ctx, &src);
    return st;
}
