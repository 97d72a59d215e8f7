/* model_file.c - see model_file.h. Saving; model_load.c reads it back. */
#include "models/model_file.h"
#include "models/predictor.h"
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum {
    ALIGN = 8,
    SPLIT_TENSORS = 5,
    NAME_TENSORS = 2,
    COLUMN_TENSORS = GRAPHSS_I_COLUMN_TENSORS,
    TENSORS_MOST = 1 + GRAPHSS_I_PARAMS_MOST + SPLIT_TENSORS + NAME_TENSORS + COLUMN_TENSORS
};

static size_t entries(const graphss_i_tensor *x)
{
    return x->rows * (x->cols ? x->cols : 1);
}

static size_t bytes_of(const graphss_i_tensor *x)
{
    return entries(x) * graphss_i_entry_size(x);
}

static size_t list_tensors(graphss_i_tensor *out, const graphss_model *model)
{
    size_t n = 0;
    const graphss_i_model_lesson *lesson = &model->lesson;
    if (lesson->rows) { /* first, since it is to begin at a multiple of 8 */
        out[n] =
            (graphss_i_tensor){.dtype = "F64", .rows = lesson->rows, .cols = lesson->cols};
        out[n].data = lesson->value;
        snprintf(out[n++].name, sizeof out->name, "%s", GRAPHSS_I_LESSON_CALLED);
    }
    for (size_t i = 0; i < model->params.n; i++) {
        const graphss_i_param *m = &model->params.param[i];
        out[n] = (graphss_i_tensor){.dtype = "F32", .rows = m->rows, .cols = m->cols};
        out[n].data = model->params.value + m->offset;
        snprintf(out[n++].name, sizeof out->name, "%s", m->name);
    }
    const graphss_i_scaling *scaling = &model->scaling;
    float *const column[COLUMN_TENSORS] = {scaling->mean, scaling->gain};
    for (size_t i = 0; i < COLUMN_TENSORS && scaling->mean; i++) {
        out[n] =
            (graphss_i_tensor){.dtype = "F32", .rows = model->n_features, .data = column[i]};
        snprintf(out[n++].name, sizeof out->name, "%s", graphss_i_columns_called[i]);
    }
    const graphss_split *s = &model->split;
    const struct {
        const char *name;
        int32_t *data;
        size_t n;
    } list[SPLIT_TENSORS] = {{"split.train", s->train, s->n_train},
                             {"split.val", s->val, s->n_val},
                             {"split.test", s->test, s->n_test},
                             {"split.train_labels", s->train_label, s->n_train},
                             {"split.val_labels", s->val_label, s->n_val}};
    for (size_t i = 0; i < SPLIT_TENSORS; i++) {
        out[n] = (graphss_i_tensor){.dtype = "I32", .rows = list[i].data ? list[i].n : 0};
        out[n].data = list[i].data;
        snprintf(out[n++].name, sizeof out->name, "%s", list[i].name);
    }
    /* Last, since the others are to begin at multiples of 4. */
    const graphss_names *names[NAME_TENSORS] = {&model->node_names, &model->column_names};
    static const char *const called[NAME_TENSORS] = {"names.nodes", "names.features"};
    for (size_t i = 0; i < NAME_TENSORS; i++) {
        if (names[i]->count == 0)
            continue;
        out[n] = (graphss_i_tensor){.dtype = "U8", .rows = names[i]->start[names[i]->count]};
        out[n].data = names[i]->text;
        snprintf(out[n++].name, sizeof out->name, "%s", called[i]);
    }
    return n;
}

static int set_text(json_t *object, const char *key, const char *text)
{
    return json_object_set_new(object, key, json_string(text));
}

static json_t *metadata_of(const graphss_model *model)
{
    json_t *meta = json_object(), *names = json_array();
    char text[128];
    int bad = !meta || !names;
    bad |= set_text(meta, "format", "graphss");
    bad |= set_text(meta, "format_version",
                    model->predictor      ? "3"
                    : model->scaling.mean ? "2"
                                          : "1");
    if (model->predictor) {
        graphss_i_double_text(text, sizeof text,
                              graphss_i_predictor_agreement(model->predictor));
        bad |= set_text(meta, "predictor_agreement", text);
    }
    bad |= set_text(meta, "library_version", graphss_version());
    bad |= set_text(meta, "dataset", model->dataset_name);
    bad |= set_text(meta, "dataset_hash", model->dataset_hash);
    snprintf(text, sizeof text, "%" PRIu64, model->seed);
    bad |= set_text(meta, "seed", text);
    snprintf(text, sizeof text, "%zu", model->n_features);
    bad |= set_text(meta, "features", text);
    snprintf(text, sizeof text, "%zu", model->n_classes);
    bad |= set_text(meta, "classes", text);
    snprintf(text, sizeof text, "%zu", model->n_nodes);
    bad |= set_text(meta, "nodes", text);
    graphss_i_double_text(text, sizeof text, model->scaling.scale);
    bad |= set_text(meta, "feature_scale", text);
    for (const graphss_option *row = graphss_train_options_table(); row->name; row++) {
        char key[64];
        if (graphss_i_option_unsaid(&model->opt, row))
            continue;
        snprintf(key, sizeof key, "option.%s", row->name);
        graphss_option_text(text, sizeof text, &model->opt, row);
        bad |= set_text(meta, key, text);
    }
    for (size_t k = 0; k < model->class_names.count; k++)
        bad |= json_array_append_new(names,
                                     json_string(graphss_names_get(&model->class_names, k)));
    char *list = json_dumps(names, JSON_COMPACT);
    bad |= !list || set_text(meta, "class_names", list);
    free(list);
    json_decref(names);
    if (bad) {
        json_decref(meta);
        return NULL;
    }
    return meta;
}

/* The JSON header as text, or NULL. jansson allocates by itself. */
static char *header_of(const graphss_model *model, const graphss_i_tensor *list, size_t n)
{
    json_t *header = json_object(), *meta = metadata_of(model);
    int bad = !header || !meta;
    if (!bad)
        bad |= json_object_set_new(header, "__metadata__", meta);
    uint64_t at = 0;
    for (size_t i = 0; i < n && !bad; i++) {
        const uint64_t end = at + bytes_of(&list[i]);
        json_t *shape = list[i].cols ? json_pack("[I, I]", (json_int_t)list[i].rows,
                                                 (json_int_t)list[i].cols)
                                     : json_pack("[I]", (json_int_t)list[i].rows);
        json_t *entry = json_pack("{s:s, s:o, s:[I, I]}", "dtype", list[i].dtype, "shape",
                                  shape, "data_offsets", (json_int_t)at, (json_int_t)end);
        bad |= json_object_set_new(header, list[i].name, entry);
        at = end;
    }
    char *text = bad ? NULL : json_dumps(header, JSON_COMPACT);
    json_decref(header);
    return text;
}

static graphss_status write_all(graphss_ctx *ctx, graphss_i_output *out, const char *header,
                                const graphss_i_tensor *list, size_t n)
{
    const size_t length = strlen(header), padded = (length + ALIGN - 1) / ALIGN * ALIGN;
    unsigned char head[8];
    for (int i = 0; i < 8; i++)
        head[i] = (unsigned char)((uint64_t)padded >> (8 * i));
    graphss_status st = graphss_i_output_write(ctx, out, head, sizeof head);
    if (!st)
        st = graphss_i_output_write(ctx, out, header, length);
    if (!st)
        st = graphss_i_output_write(ctx, out, "       ", padded - length);
    for (size_t i = 0; i < n && !st; i++)
        st = graphss_i_output_write(ctx, out, list[i].data, bytes_of(&list[i]));
    return st;
}

graphss_status graphss_model_save(graphss_ctx *ctx, const graphss_model *model,
                                  const char *path)
{
    if (GRAPHSS_I_LACKS(ctx, {"model", model}, {"path", path}))
        return GRAPHSS_ERR_INVALID;
    graphss_i_tensor list[TENSORS_MOST];
    const size_t n = list_tensors(list, model);
    graphss_i_output out = {0};
    char *header = header_of(model, list, n);
    if (!header)
        return graphss_i_fail(ctx, GRAPHSS_ERR_NOMEM,
                              "%s: no memory for its header, or a name that is not UTF-8",
                              path);
    graphss_status st = graphss_i_output_open(ctx, &out, path);
    if (!st)
        st = write_all(ctx, &out, header, list, n);
    if (!st)
        st = graphss_i_output_commit(ctx, &out);
    else
        graphss_i_output_abandon(ctx, &out);
    free(header);
    return st;
}
