/* model_import.c - a model from matrices that were trained elsewhere.
 *
 * Names are split into a layer and a role (weight_names.c). A matrix without a role is
 * refused: ignoring a batch norm or a skip connection would give another classifier. Shapes
 * give the widths, the caller's options the rest, and only a probe against the answers of the
 * original model shows that both are right. */
#include "data/build.h"
#include "data/formats/npz.h"
#include "models/model_private.h"
#include "models/weights/model_file.h"
#include <graphss/dataset.h>
#include <graphss/labels.h>
#include <math.h>
#include <stdlib.h>

static const double PROBE_OFF = 1e-4; /* most that a probability may differ */

enum { LAYERS_MOST = 30 };

typedef struct layer {
    const char *name; /* with its dot; not ended by 0 */
    size_t length;
    const graphss_tensor *part[GRAPHSS_I_ROLES];
    bool transposed[GRAPHSS_I_ROLES];
    size_t in, out; /* of the weights: out is heads * cols of a gat */
    size_t heads, cols;
} layer;

typedef struct network {
    layer layer[LAYERS_MOST];
    size_t n;
    graphss_layout layout;
    graphss_train_options opt;
    size_t d, k;
} network;

void graphss_import_options_init(graphss_train_options *opt, const char *model)
{
    graphss_train_options_init(opt, model, GRAPHSS_MODE_DEFAULT, NULL);
    opt->row_normalise = opt->unit_scale = opt->standardise = false;
}

/* ---- the role of each matrix ---- */

/* By the numbers in them first: convs.2 precedes convs.10. */
static int compare_layers(const void *a, const void *b)
{
    const layer *x = a, *y = b;
    size_t i = 0, j = 0;
    while (i < x->length && j < y->length) {
        const char *p = x->name + i, *q = y->name + j;
        if (*p >= '0' && *p <= '9' && *q >= '0' && *q <= '9') {
            char *after_p, *after_q;
            const unsigned long m = strtoul(p, &after_p, 10), n = strtoul(q, &after_q, 10);
            if (m != n)
                return m < n ? -1 : 1;
            i += (size_t)(after_p - p);
            j += (size_t)(after_q - q);
            continue;
        }
        if (*p != *q)
            return *p < *q ? -1 : 1;
        i++;
        j++;
    }
    return (int)(i < x->length) - (int)(j < y->length);
}

static graphss_status refuse_name(graphss_ctx *ctx, const network *net, const char *name)
{
    char known[256] = "";
    for (size_t i = 0; i < graphss_i_weight_names_count; i++) {
        const graphss_i_weight_name *row = &graphss_i_weight_names[i];
        const size_t used = strlen(known);
        if (row->layout == net->layout && strcmp(row->model, net->opt.model) == 0)
            snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", row->end);
    }
    if (!*known)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "the layout %s has no model %s%s",
            graphss_layout_text(net->layout), net->opt.model,
            strcmp(net->opt.model, "sage") == 0
                ? ": its SAGEConv has two matrices, want sage-mean"
                : "");
    const bool norm = strstr(name, "running_") || strstr(name, "norm") || strstr(name, "bn");
    return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
        "%s: no part of a %s in the layout %s, whose names end in %s%s", name, net->opt.model,
        graphss_layout_text(net->layout), known,
        norm ? ": a batch or layer norm cannot be expressed" : "");
}

/* Puts a tensor in the place its name gives. */
static graphss_status place(graphss_ctx *ctx, network *net, const graphss_tensor *x)
{
    if (!x->name || !x->value || x->n_dims < 1 || x->n_dims > 3)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "%s: %zu dimensions, want 1, 2 or 3, a name and values",
            x->name ? x->name : "a tensor without a name", x->n_dims);
    const graphss_i_weight_name *row =
        graphss_i_weight_name_find(net->layout, net->opt.model, x->name);
    if (!row)
        return refuse_name(ctx, net, x->name);
    const size_t length = strlen(x->name) - strlen(row->end);
    size_t l = 0;
    while (l < net->n && (net->layer[l].length != length ||
                             memcmp(net->layer[l].name, x->name, length) != 0))
        l++;
    if (l == LAYERS_MOST)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "more than %d layers", LAYERS_MOST);
    if (l == net->n)
        net->layer[net->n++] = (layer){.name = x->name, .length = length};
    if (net->layer[l].part[row->role])
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s and %s: two of a kind in one layer",
            net->layer[l].part[row->role]->name, x->name);
    net->layer[l].part[row->role] = x;
    net->layer[l].transposed[row->role] = row->transposed;
    return GRAPHSS_OK;
}

static size_t count_of(const graphss_tensor *x)
{
    size_t n = 1;
    for (size_t i = 0; i < x->n_dims; i++)
        n *= x->shape[i];
    return n;
}

/* ---- do they fit? ---- */

static graphss_status check_finite(graphss_ctx *ctx, const graphss_tensor *x)
{
    const size_t n = count_of(x);
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x->value[i]))
            return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "%s: entry %zu is %g, want a finite number", x->name, i, (double)x->value[i]);
    return n ? GRAPHSS_OK
             : graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE, "%s: holds no numbers", x->name);
}

static graphss_status missing(
    graphss_ctx *ctx, const network *net, const layer *l, graphss_i_role role)
{
    return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%.*s%s is missing: a layer of %s has it",
        (int)l->length, l->name,
        graphss_i_weight_name_of(net->layout, net->opt.model, role)->end, net->opt.model);
}

/* The two sides of a matrix, in to out. */
static graphss_status sides(
    graphss_ctx *ctx, size_t *in, size_t *out, const layer *l, graphss_i_role role)
{
    const graphss_tensor *x = l->part[role];
    if (x->n_dims != 2)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_SHAPE, "%s: %zu dimensions, want 2", x->name, x->n_dims);
    *in = x->shape[l->transposed[role] ? 1 : 0];
    *out = x->shape[l->transposed[role] ? 0 : 1];
    return GRAPHSS_OK;
}

static graphss_status check_same_sides(graphss_ctx *ctx, const layer *l, graphss_i_role role)
{
    size_t in = 0, out = 0;
    graphss_status st = sides(ctx, &in, &out, l, role);
    if (!st && (in != l->in || out != l->out))
        st = graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE, "%s is %zu to %zu, %s is %zu to %zu",
            l->part[role]->name, in, out, l->part[GRAPHSS_I_ROLE_WEIGHT]->name, l->in, l->out);
    return st;
}

static graphss_status check_attention(graphss_ctx *ctx, const network *net, layer *l)
{
    for (graphss_i_role role = GRAPHSS_I_ROLE_SOURCE; role <= GRAPHSS_I_ROLE_TARGET; role++) {
        const graphss_tensor *x = l->part[role];
        if (!x)
            return missing(ctx, net, l, role);
        if (x->n_dims < 2 || (x->n_dims == 3 && x->shape[0] != 1))
            return graphss_i_fail(
                ctx, GRAPHSS_ERR_SHAPE, "%s: want 1 x heads x columns", x->name);
        l->heads = x->shape[x->n_dims - 2];
        l->cols = x->shape[x->n_dims - 1];
        if (l->heads * l->cols != l->out)
            return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
                "%s: %zu heads of %zu columns, the weights have %zu", x->name, l->heads,
                l->cols, l->out);
    }
    const graphss_tensor *twin = l->part[GRAPHSS_I_ROLE_TWIN];
    const graphss_tensor *own = l->part[GRAPHSS_I_ROLE_WEIGHT];
    if (twin && (count_of(twin) != count_of(own) ||
                    memcmp(twin->value, own->value, count_of(own) * sizeof *own->value) != 0))
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s differs from %s: sources and targets of links with weights "
            "of their own cannot be expressed",
            twin->name, own->name);
    return GRAPHSS_OK;
}

static graphss_status check_bias(
    graphss_ctx *ctx, const network *net, const layer *l, bool last)
{
    const graphss_tensor *x = l->part[GRAPHSS_I_ROLE_BIAS];
    if (!x)
        return GRAPHSS_OK;
    const size_t found = count_of(x), wanted = last ? l->cols : l->out;
    if (found == wanted ||
        (last && net->layout == GRAPHSS_LAYOUT_DGL && found == l->heads * l->cols))
        return GRAPHSS_OK;
    const bool beside = last && l->heads > 1 && found == l->out;
    return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE, "%s: %zu numbers, want %zu%s", x->name,
        found, wanted,
        beside ? ": heads of the last layer side by side (concat=True) "
                 "cannot be expressed, their mean can"
               : "");
}

static graphss_status check_layer(graphss_ctx *ctx, network *net, size_t i)
{
    layer *l = &net->layer[i];
    const bool attends = strcmp(net->opt.model, "gat") == 0, last = i + 1 == net->n;
    graphss_status st = GRAPHSS_OK;
    if (!l->part[GRAPHSS_I_ROLE_WEIGHT])
        return missing(ctx, net, l, GRAPHSS_I_ROLE_WEIGHT);
    for (size_t r = 0; r < GRAPHSS_I_ROLES && !st; r++)
        if (l->part[r])
            st = check_finite(ctx, l->part[r]);
    if (!st)
        st = sides(ctx, &l->in, &l->out, l, GRAPHSS_I_ROLE_WEIGHT);
    l->heads = 1;
    l->cols = l->out;
    if (!st && attends)
        st = check_attention(ctx, net, l);
    if (!st && strcmp(net->opt.model, "sage-mean") == 0)
        st = l->part[GRAPHSS_I_ROLE_SELF] ? check_same_sides(ctx, l, GRAPHSS_I_ROLE_SELF)
                                          : missing(ctx, net, l, GRAPHSS_I_ROLE_SELF);
    if (!st)
        st = check_bias(ctx, net, l, last);
    if (!st && i > 0 && l->in != net->layer[i - 1].out)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
            "%s takes %zu columns, the layer before it gives %zu: another "
            "layout, or a matrix that is transposed?",
            l->part[GRAPHSS_I_ROLE_WEIGHT]->name, l->in, net->layer[i - 1].out);
    if (!st && i > 0 && !last && l->out != net->layer[0].out)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
            "%s gives %zu columns, the first layer %zu: hidden layers of "
            "different widths cannot be expressed",
            l->part[GRAPHSS_I_ROLE_WEIGHT]->name, l->out, net->layer[0].out);
    if (!st && i > 0 && !last && l->heads != net->layer[0].heads)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
            "%s has %zu heads, the first layer %zu: hidden layers must have "
            "the same",
            l->part[GRAPHSS_I_ROLE_WEIGHT]->name, l->heads, net->layer[0].heads);
    return st;
}

static graphss_status understand(
    graphss_ctx *ctx, network *net, const graphss_tensor *tensor, size_t n)
{
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < n && !st; i++)
        st = place(ctx, net, &tensor[i]);
    if (!st && net->n == 0)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "no weights at all");
    if (st)
        return st;
    qsort(net->layer, net->n, sizeof *net->layer, compare_layers);
    bool biased = false;
    for (size_t i = 0; i < net->n && !st; i++) {
        st = check_layer(ctx, net, i);
        biased |= net->layer[i].part[GRAPHSS_I_ROLE_BIAS] != NULL;
    }
    if (!st && net->n > 1 && strcmp(net->opt.model, "sgc") == 0)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
            "%zu layers of sgc, want one: more with something between them "
            "cannot be expressed",
            net->n);
    if (st)
        return st;
    const layer *first = &net->layer[0], *last = &net->layer[net->n - 1];
    net->d = first->in;
    net->k = last->cols;
    net->opt.layers = (int64_t)net->n;
    net->opt.hidden = net->n > 1 ? (int64_t)first->out : net->opt.hidden;
    net->opt.bias = biased;
    if (strcmp(net->opt.model, "gat") == 0) {
        net->opt.heads = net->n > 1 ? (int64_t)first->heads : 1;
        net->opt.output_heads = (int64_t)last->heads;
    }
    return GRAPHSS_OK;
}

/* ---- into a model ---- */

static float *matrix_of(graphss_model *model, size_t l, const char *called, size_t *cols)
{
    char name[GRAPHSS_I_PARAM_NAME];
    snprintf(name, sizeof name, "%zu.%s", l, called);
    for (size_t i = 0; i < model->params.n; i++)
        if (strcmp(model->params.param[i].name, name) == 0) {
            *cols = model->params.param[i].cols;
            return model->params.value + model->params.param[i].offset;
        }
    return NULL;
}

/* Columns from `at` on of to [in x cols] = x, which is in x out, or transposed. */
static void put_matrix(float *to, size_t cols, size_t at, const layer *l, graphss_i_role role)
{
    const float *x = l->part[role]->value;
    for (size_t i = 0; i < l->in; i++)
        for (size_t j = 0; j < l->out; j++)
            to[i * cols + at + j] = l->transposed[role] ? x[j * l->in + i] : x[i * l->out + j];
}

/* The mean over blocks of n numbers. */
static void put_mean(float *to, size_t n, const graphss_tensor *x)
{
    const size_t blocks = count_of(x) / n;
    for (size_t j = 0; j < n; j++) {
        double sum = 0;
        for (size_t b = 0; b < blocks; b++)
            sum += (double)x->value[b * n + j];
        to[j] = (float)(sum / (double)blocks);
    }
}

static void fill(graphss_model *model, const network *net)
{
    for (size_t i = 0; i < net->n; i++) {
        const layer *l = &net->layer[i];
        size_t cols;
        float *to = matrix_of(model, i, "weight", &cols);
        put_matrix(to, cols, 0, l, GRAPHSS_I_ROLE_WEIGHT);
        if (l->part[GRAPHSS_I_ROLE_SELF])
            put_matrix(to, cols, l->out, l, GRAPHSS_I_ROLE_SELF);
        static const char *const attention[] = {"att_src", "att_dst"};
        for (size_t a = 0; a < 2; a++)
            if (l->part[GRAPHSS_I_ROLE_SOURCE + a]) {
                to = matrix_of(model, i, attention[a], &cols);
                put_mean(to, cols, l->part[GRAPHSS_I_ROLE_SOURCE + a]);
            }
        if (l->part[GRAPHSS_I_ROLE_BIAS]) {
            to = matrix_of(model, i, "bias", &cols);
            put_mean(to, cols, l->part[GRAPHSS_I_ROLE_BIAS]);
        }
    }
}

graphss_status graphss_model_from_tensors(graphss_ctx *ctx, graphss_model **out,
    const graphss_tensor *tensor, size_t n, graphss_layout layout,
    const graphss_train_options *how)
{
    if (GRAPHSS_I_LACKS(ctx, {"weights", GRAPHSS_I_FILLED(tensor, n)}, {"options", how},
            {"place for the model", out}))
        return GRAPHSS_ERR_INVALID;
    const graphss_i_model_type *type = graphss_i_model_type_find(how->model);
    if (!type)
        return graphss_i_model_unknown(ctx, how->model);
    if ((int)layout < 0 || layout > GRAPHSS_LAYOUT_DEEPROBUST)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "layout %d, want 0 to %d", (int)layout,
            (int)GRAPHSS_LAYOUT_DEEPROBUST);
    network *net = graphss_i_calloc(ctx, 1, sizeof *net);
    if (!net)
        return GRAPHSS_ERR_NOMEM;
    net->layout = layout;
    net->opt = *how;
    net->opt.model = type->name;
    net->opt.unit_scale = net->opt.standardise = false;
    graphss_status st = understand(ctx, net, tensor, n);
    if (!st)
        st = graphss_i_model_new(ctx, out, &net->opt, net->d, net->k, 0);
    if (!st)
        fill(*out, net);
    graphss_release(ctx, net);
    return st;
}

/* ---- from a file ---- */

static float from_half(uint16_t h)
{
    const int exponent = h >> 10 & 31;
    const double mantissa = h & 1023, sign = h >> 15 ? -1 : 1;
    if (exponent == 31)
        return mantissa > 0 ? NAN : (float)(sign * INFINITY);
    return (float)(sign * (exponent ? ldexp(1 + mantissa / 1024, exponent - 15)
                                    : ldexp(mantissa / 1024, -14)));
}

static float from_brain(uint16_t h)
{
    const uint32_t bits = (uint32_t)h << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The bytes of a number of this type; 0: not read. */
static size_t size_of(const char *dtype)
{
    return strcmp(dtype, "F32") == 0                                 ? 4
           : strcmp(dtype, "F64") == 0                               ? 8
           : strcmp(dtype, "F16") == 0 || strcmp(dtype, "BF16") == 0 ? 2
                                                                     : 0;
}

static float number_at(const char *data, const char *dtype, size_t i)
{
    float single;
    double large;
    uint16_t half;
    switch (size_of(dtype)) {
    case 4:
        memcpy(&single, data + 4 * i, sizeof single);
        return single;
    case 8:
        memcpy(&large, data + 8 * i, sizeof large);
        return (float)large;
    default:
        memcpy(&half, data + 2 * i, sizeof half);
        return *dtype == 'B' ? from_brain(half) : from_half(half);
    }
}

/* One entry of the header; its values are released by the caller. */
static graphss_status read_tensor(graphss_ctx *ctx, graphss_tensor *out,
    const graphss_i_safetensors *file, const char *name, json_t *entry)
{
    graphss_tensor x = {.name = name};
    json_int_t from = 0, to = 0;
    const char *dtype = "";
    json_t *shape = NULL;
    if (json_unpack(entry, "{s:s, s:o, s:[I, I]}", "dtype", &dtype, "shape", &shape,
            "data_offsets", &from, &to) != 0 ||
        !json_is_array(shape))
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s: %s: want dtype, shape and data_offsets", file->path, name);
    const size_t size = size_of(dtype);
    x.n_dims = json_array_size(shape);
    size_t count = 1;
    for (size_t i = 0; i < x.n_dims && x.n_dims <= 3; i++) {
        const json_int_t side = json_integer_value(json_array_get(shape, i));
        x.shape[i] = side > 0 && side <= INT32_MAX ? (size_t)side : 0;
        if (!graphss_i_mul(&count, count, x.shape[i]))
            count = 0;
    }
    size_t bytes;
    if (size == 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s: %s: found %s, want F32, F64, F16 or BF16", file->path, name, dtype);
    if (x.n_dims < 1 || x.n_dims > 3 || count == 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s: %s: want 1 to 3 dimensions, none of them 0", file->path, name);
    if (!graphss_i_mul(&bytes, count, size) || from < 0 || to < from ||
        (uint64_t)(to - from) != bytes || (uint64_t)to > file->n_data)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s: %s: bytes %lld to %lld of %zu do not hold its %zu numbers", file->path, name,
            (long long)from, (long long)to, file->n_data, count);
    float *value = graphss_i_alloc(ctx, count, sizeof *value);
    if (!value)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < count; i++)
        value[i] = number_at(file->data + from, dtype, i);
    x.value = value;
    *out = x;
    return GRAPHSS_OK;
}

graphss_status graphss_model_import(graphss_ctx *ctx, graphss_model **out, const char *path,
    graphss_layout layout, const graphss_train_options *how)
{
    if (GRAPHSS_I_LACKS(ctx, {"path", path}, {"options", how}, {"place for the model", out}))
        return GRAPHSS_ERR_INVALID;
    graphss_i_safetensors file = {0};
    graphss_status st = graphss_i_safetensors_open(ctx, &file, path);
    if (st)
        return st;
    size_t n = 0;
    graphss_tensor *list =
        graphss_i_calloc(ctx, json_object_size(file.header) + 1, sizeof *list);
    const char *name;
    json_t *entry;
    if (!list)
        st = GRAPHSS_ERR_NOMEM;
    json_object_foreach(file.header, name, entry) if (!st && strcmp(name, "__metadata__") != 0)
    {
        st = read_tensor(ctx, &list[n], &file, name, entry);
        n += !st;
    }
    if (!st) {
        st = graphss_model_from_tensors(ctx, out, list, n, layout, how);
        if (st && st != GRAPHSS_ERR_NOMEM)
            graphss_i_fail_in(ctx, st, path);
    }
    for (size_t i = 0; i < n; i++)
        graphss_release(ctx, (void *)(uintptr_t)list[i].value);
    graphss_release(ctx, list);
    graphss_i_safetensors_close(ctx, &file);
    return st;
}

graphss_status graphss_model_set_split(
    graphss_ctx *ctx, graphss_model *model, const graphss_split *split)
{
    if (GRAPHSS_I_LACKS(ctx, {"model", model}, {"split", split}))
        return GRAPHSS_ERR_INVALID;
    graphss_split copy = {0};
    graphss_status st =
        graphss_i_split_check(ctx, split, model->n_nodes ? model->n_nodes : (size_t)INT32_MAX);
    const struct {
        const int32_t *label;
        size_t n;
    } part[] = {{split->train_label, split->n_train}, {split->val_label, split->n_val}};
    for (size_t p = 0; p < 2 && !st; p++)
        for (size_t i = 0; i < part[p].n && !st; i++)
            if (!part[p].label || part[p].label[i] < 0 ||
                (size_t)part[p].label[i] >= model->n_classes)
                st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                    "the split has no label, or one that is no class of the "
                    "model, want 0..%zu",
                    model->n_classes - 1);
    if (!st)
        st = graphss_split_copy(ctx, &copy, split);
    if (st)
        return st;
    graphss_split_destroy(ctx, &model->split);
    model->split = copy;
    return GRAPHSS_OK;
}

/* ---- is it the same classifier? ---- */

graphss_status graphss_model_probe(graphss_ctx *ctx, double *off, const graphss_model *model,
    const graphss_graph *graph, const graphss_features *features, const float *prob)
{
    if (GRAPHSS_I_LACKS(ctx, {"model", model}, {"graph", graph}, {"features", features},
            {"probabilities", prob}))
        return GRAPHSS_ERR_INVALID;
    const size_t n = graph->n_nodes, k = model->n_classes;
    float *own = graphss_i_alloc(ctx, n, k * sizeof *own);
    graphss_status st =
        own ? graphss_model_predict(ctx, own, model, graph, features) : GRAPHSS_ERR_NOMEM;
    double largest = 0;
    size_t at = 0, labels = 0;
    for (size_t i = 0; i < n && !st; i++) {
        labels += graphss_i_top(own + i * k, k) != graphss_i_top(prob + i * k, k);
        for (size_t c = 0; c < k; c++) {
            const double apart = fabs((double)own[i * k + c] - (double)prob[i * k + c]);
            if (!(apart <= largest)) { /* NaN as well */
                largest = isnan(apart) ? INFINITY : apart;
                at = i;
            }
        }
    }
    if (!st && largest > PROBE_OFF)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "the model differs from the one behind the probe: at node %zu a probability is "
            "off by %.4g (most allowed %g), and %zu of %zu nodes have another label. Check "
            "loops (self-loops), the number of hops, the scaling of features, the activation, "
            "a transpose",
            at, largest, PROBE_OFF, labels, n);
    if (off && !st)
        *off = largest;
    graphss_release(ctx, own);
    return st;
}

graphss_status graphss_model_probe_file(
    graphss_ctx *ctx, double *off, const graphss_model *model, const char *path)
{
    if (GRAPHSS_I_LACKS(ctx, {"model", model}, {"path", path}))
        return GRAPHSS_ERR_INVALID;
    graphss_dataset data = {0};
    graphss_i_npz *npz = NULL;
    float *prob = NULL;
    size_t n = 0;
    graphss_status st = graphss_dataset_read(ctx, &data, path, NULL);
    if (!st)
        st = graphss_i_npz_open(ctx, &npz, path, 0);
    if (!st)
        st = graphss_i_npz_float(
            ctx, &prob, &n, npz, "probabilities", data.graph.n_nodes * model->n_classes);
    if (!st)
        st = graphss_model_probe(ctx, off, model, &data.graph, &data.features, prob);
    if (npz)
        graphss_i_npz_close(ctx, npz);
    graphss_release(ctx, prob);
    graphss_dataset_destroy(ctx, &data);
    return st;
}
