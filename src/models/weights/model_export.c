/* model_export.c - a model's weights by the names of another library. */
#include "models/model_private.h"
#include "models/weights/model_file.h"

enum { PARTS = 5, TENSORS_MOST = PARTS * 30 };

/* One matrix, as the file has it. */
typedef struct part {
    graphss_i_role role;
    const float *from; /* [rows x stride], columns from at on */
    size_t rows, cols, stride, at;
    size_t heads; /* of attention's vectors; else 0 */
    double factor;
} part;

static const float *find(
    const graphss_model *model, size_t l, const char *called, size_t *rows, size_t *cols)
{
    char name[GRAPHSS_I_PARAM_NAME];
    snprintf(name, sizeof name, "%zu.%s", l, called);
    for (size_t i = 0; i < model->params.n; i++) {
        const graphss_i_param *m = &model->params.param[i];
        if (strcmp(m->name, name) == 0) {
            *rows = m->rows;
            *cols = m->cols;
            return model->params.value + m->offset;
        }
    }
    return NULL;
}

/* The parts of a layer; how many. */
static size_t list_parts(part *out, const graphss_model *model, size_t l)
{
    const bool two = strcmp(model->type->name, "sage-mean") == 0;
    const bool last = l + 1 == (size_t)model->opt.layers;
    const int64_t asked = last ? model->opt.output_heads : model->opt.heads;
    size_t n = 0, rows, cols;
    const float *w = find(model, l, "weight", &rows, &cols);
    const size_t width = two ? cols / 2 : cols;
    const double factor = l == 0 ? model->scaling.scale : 1;
    out[n++] = (part){GRAPHSS_I_ROLE_WEIGHT, w, rows, width, cols, 0, 0, factor};
    if (two)
        out[n++] = (part){GRAPHSS_I_ROLE_SELF, w, rows, width, cols, width, 0, factor};
    static const char *const attention[] = {"att_src", "att_dst"};
    for (size_t a = 0; a < 2; a++) {
        w = find(model, l, attention[a], &rows, &cols);
        if (w)
            out[n++] = (part){GRAPHSS_I_ROLE_SOURCE + a, w, 1, cols, cols, 0,
                asked > 0 ? (size_t)asked : 1, 1};
    }
    w = find(model, l, "bias", &rows, &cols);
    if (w)
        out[n++] = (part){GRAPHSS_I_ROLE_BIAS, w, 1, cols, cols, 0, 0, 1};
    return n;
}

/* The numbers of a part in the order of the file. */
static void put(float *to, const part *p, bool transposed)
{
    for (size_t i = 0; i < p->rows; i++)
        for (size_t j = 0; j < p->cols; j++)
            to[transposed ? j * p->rows + i : i * p->cols + j] =
                (float)(p->factor * (double)p->from[i * p->stride + p->at + j]);
}

static graphss_status make(graphss_ctx *ctx, graphss_i_tensor *out, const part *p, size_t l,
    const graphss_model *model, graphss_layout layout)
{
    const graphss_i_weight_name *row =
        graphss_i_weight_name_of(layout, model->type->name, p->role);
    char prefix[24];
    if (!row)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "the layout %s has no model %s",
            graphss_layout_text(layout), model->type->name);
    float *value = graphss_i_alloc(ctx, p->rows * p->cols, sizeof *value);
    if (!value)
        return GRAPHSS_ERR_NOMEM;
    put(value, p, row->transposed);
    graphss_i_layer_name(prefix, sizeof prefix, layout, l);
    *out = (graphss_i_tensor){.dtype = "F32", .data = value};
    snprintf(out->name, sizeof out->name, "%s%s", prefix, row->end);
    if (p->role == GRAPHSS_I_ROLE_BIAS) {
        out->rows = p->cols;
    } else if (p->heads) {
        out->boxed = true;
        out->rows = p->heads;
        out->cols = p->cols / p->heads;
    } else {
        out->rows = row->transposed ? p->cols : p->rows;
        out->cols = row->transposed ? p->rows : p->cols;
    }
    return GRAPHSS_OK;
}

/* What the names cannot express, for people. */
static json_t *notes_of(const graphss_model *model)
{
    json_t *meta = json_object();
    char text[64];
    int bad = !meta;
    bad |= json_object_set_new(meta, "format", json_string("pt"));
    for (const graphss_option *row = graphss_train_options_table(); row->name && !bad; row++) {
        if (!graphss_model_uses(model->type->name, row->name))
            continue;
        graphss_option_text(text, sizeof text, &model->opt, row);
        bad |= json_object_set_new(meta, row->name, json_string(text));
    }
    if (bad) {
        json_decref(meta);
        return NULL;
    }
    return meta;
}

graphss_status graphss_model_export(
    graphss_ctx *ctx, const graphss_model *model, const char *path, graphss_layout layout)
{
    if (GRAPHSS_I_LACKS(ctx, {"model", model}, {"path", path}))
        return GRAPHSS_ERR_INVALID;
    graphss_i_tensor list[TENSORS_MOST];
    size_t n = 0;
    graphss_status st = GRAPHSS_OK;
    if (model->scaling.mean)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "the model standardises its features, which the layout %s cannot express: want "
            "one trained with --no-standardise",
            graphss_layout_text(layout));
    if (model->predictor)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "the model stands for a predictor, its weights are not its own");
    for (size_t l = 0; l < (size_t)model->opt.layers && !st; l++) {
        part parts[PARTS];
        const size_t count = list_parts(parts, model, l);
        for (size_t i = 0; i < count && !st; i++) {
            st = make(ctx, &list[n], &parts[i], l, model, layout);
            n += !st;
        }
    }
    if (!st)
        st = graphss_i_safetensors_write(ctx, path, notes_of(model), list, n);
    while (n > 0)
        graphss_release(ctx, list[--n].data);
    return st;
}
