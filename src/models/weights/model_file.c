/* model_file.c - writes models; model_load.c reads them. The state of an optimiser is taken
 * over here, too. See model_file.h. */
#include "models/weights/model_file.h"
#include "models/model_private.h"
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum {
    SPLIT_TENSORS = 5,
    NAME_TENSORS = 2,
    COLUMN_TENSORS = GRAPHSS_I_COLUMN_TENSORS,
    TENSORS_MOST =
        GRAPHSS_I_KEPT + GRAPHSS_I_PARAMS_MOST + SPLIT_TENSORS + NAME_TENSORS + COLUMN_TENSORS
};

static size_t list_tensors(graphss_i_tensor *out, const graphss_model *model)
{
    size_t n = 0;
    for (size_t i = 0; i < GRAPHSS_I_KEPT; i++) { /* first: they begin at multiples of 8 */
        const graphss_i_model_kept *kept = &model->kept[i];
        if (!kept->rows)
            continue;
        out[n] = (graphss_i_tensor){.dtype = "F64", .rows = kept->rows, .cols = kept->cols};
        out[n].data = kept->value;
        snprintf(out[n++].name, sizeof out->name, "%s", graphss_i_kept_called[i]);
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
        snprintf(out[n++].name, sizeof out->name, "%s", graphss_i_column_tensor[i]);
    }
    if (model->column_mean) {
        out[n] = (graphss_i_tensor){.dtype = "F32", .rows = model->n_features};
        out[n].data = model->column_mean;
        snprintf(out[n++].name, sizeof out->name, "%s", GRAPHSS_I_MEANS_CALLED);
    }
    const graphss_split *s = &model->split;
    const struct {
        const char *name;
        int32_t *data;
        size_t n;
    } list[SPLIT_TENSORS] = {{"split.train", s->train, s->n_train},
        {"split.val", s->val, s->n_val}, {"split.test", s->test, s->n_test},
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
        graphss_i_double_text(
            text, sizeof text, graphss_i_predictor_agreement(model->predictor));
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
        bad |= json_array_append_new(
            names, json_string(graphss_names_get(&model->class_names, k)));
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

graphss_status graphss_model_save(
    graphss_ctx *ctx, const graphss_model *model, const char *path)
{
    if (GRAPHSS_I_LACKS(ctx, {"model", model}, {"path", path}))
        return GRAPHSS_ERR_INVALID;
    graphss_i_tensor list[TENSORS_MOST];
    const size_t n = list_tensors(list, model);
    return graphss_i_safetensors_write(ctx, path, metadata_of(model), list, n);
}

/* The state of a training for one that continues it. The file of a model has only weights;
 * here Adam's moments are added, since the paper's code continues with them. / */
size_t graphss_i_model_state_size(const graphss_model *model)
{
    return model->adam.m ? sizeof(graphss_i_model_state) +
                               (model->params.count + 2 * model->adam.count) * sizeof(float)
                         : 0;
}

void graphss_i_model_state_put(graphss_i_model_state *state, const graphss_model *model)
{
    const graphss_i_adam *adam = &model->adam;
    float *moments = state->value + model->params.count;
    memcpy(state->value, model->params.value, model->params.count * sizeof *state->value);
    memcpy(moments, adam->m, adam->count * sizeof *moments);
    memcpy(moments + adam->count, adam->v, adam->count * sizeof *moments);
    state->step = adam->step;
    state->filled = true;
}

graphss_status graphss_i_model_state_take(graphss_ctx *ctx, graphss_model **out,
    const graphss_model *like, const graphss_i_model_state *state)
{
    const size_t weights = like->params.count, n = like->adam.count;
    graphss_model *model = NULL;
    const graphss_status st = graphss_i_model_like(ctx, &model, like, like->seed);
    if (st)
        return st;
    const float *moments = state->value + weights;
    graphss_i_adam adam = {.count = n, .step = state->step};
    adam.m = graphss_i_copy(ctx, moments, n, sizeof *moments);
    adam.v = graphss_i_copy(ctx, moments + n, n, sizeof *moments);
    model->adam = adam;
    if (!adam.m || !adam.v) {
        graphss_model_free(ctx, model);
        return GRAPHSS_ERR_NOMEM;
    }
    memcpy(model->params.value, state->value, weights * sizeof *state->value);
    *out = model;
    return GRAPHSS_OK;
}
