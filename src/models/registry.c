/* registry.c - the table of classifiers, and the options they share. */
#include "models/model_type.h"
#include <math.h>
#include <string.h>

static const graphss_i_model_type *const types[] = {
#define MODEL(name) &graphss_i_##name##_model,
#include "models/models.def"
#undef MODEL
};

const graphss_i_model_type *graphss_i_model_type_at(size_t i)
{
    return i < sizeof types / sizeof *types ? types[i] : NULL;
}

const graphss_i_model_type *graphss_i_model_type_find(const char *name)
{
    for (size_t i = 0; name && i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i]->name, name))
            return types[i];
    return NULL;
}

bool graphss_i_model_type_loops(
    const graphss_i_model_type *type, const graphss_train_options *opt)
{
    return type->loops == GRAPHSS_I_LOOPS_ALWAYS ||
           (type->loops == GRAPHSS_I_LOOPS_OPTION && opt->self_loops);
}

size_t graphss_i_model_type_hops(
    const graphss_i_model_type *type, const graphss_train_options *opt)
{
    return type->propagates ? 0 : type->hops_by_option ? (size_t)opt->hops : 1;
}

graphss_status graphss_i_model_unknown(graphss_ctx *ctx, const char *name)
{
    name = name ? name : "";
    return graphss_i_no_such_name(ctx, "--model", name, strlen(name), graphss_model_name);
}

const char *graphss_model_name(size_t i)
{
    const graphss_i_model_type *type = graphss_i_model_type_at(i);
    return type ? type->name : NULL;
}

const char *graphss_model_summary(size_t i)
{
    const graphss_i_model_type *type = graphss_i_model_type_at(i);
    return type ? type->summary : NULL;
}

/* Chosen by validation accuracy over seeds 11 to 20 on Cora and Citeseer, then left alone.
 * With dropout this heavy, weight decay brings nothing (docs/method.md). */
static const graphss_train_options honest = {
    .struct_size = sizeof honest,
    .mode = GRAPHSS_MODE_DEFAULT,
    .layers = 2,
    .hidden = 128,
    .hops = 1,
    .dropout = 0.8,
    .learning_rate = 0.01,
    .epochs = 200,
    .self_loops = true,
    .row_normalise = true,
    .unit_scale = true,
    .bias = true,
};

/* The values of the paper's public code: its two-layer models have three weight layers, and no
 * loops (docs/method.md). */
static const graphss_train_options paper = {
    .struct_size = sizeof paper,
    .mode = GRAPHSS_MODE_PAPER,
    .layers = 3,
    .hidden = 200,
    .hops = 1,
    .learning_rate = 1e-3,
    .epochs = 200,
    .row_normalise = true,
    .bias = true,
};

void graphss_train_options_init(graphss_train_options *opt, const char *model,
    graphss_mode mode, const graphss_features *features)
{
    static const double dense_most = 0.3;
    const graphss_i_model_type *type = graphss_i_model_type_find(model);
    *opt = mode == GRAPHSS_MODE_PAPER ? paper : honest;
    opt->model = type ? type->name : model;
    if (type && type->adjust)
        type->adjust(opt);
    graphss_i_train_options_scale(opt, features);
    if (features && opt->standardise && opt->dropout > dense_most)
        opt->dropout = dense_most;
}

/* Columns of measurements have units of their own, and their sum means nothing. */
void graphss_i_train_options_scale(
    graphss_train_options *opt, const graphss_features *features)
{
    if (!features || !graphss_features_dense(features) || opt->mode != GRAPHSS_MODE_DEFAULT)
        return;
    opt->standardise = true;
    opt->row_normalise = false;
}

const char *const graphss_i_mode_names[] = {"default", "paper", NULL};

const char *graphss_mode_text(graphss_mode mode)
{
    const bool known = (int)mode >= 0 && mode <= GRAPHSS_MODE_PAPER;
    return known ? graphss_i_mode_names[mode] : "?";
}

static const char *const activation_names[] = {"relu", "elu", NULL};

#define FIELD(f) offsetof(graphss_train_options, f)
static const graphss_option table[] = {
    {"model", GRAPHSS_OPTION_STRING, FIELD(model), 0, 0, NULL, "NAME", "the classifier", 'm'},
    {"mode", GRAPHSS_OPTION_CHOICE, FIELD(mode), 0, 0, graphss_i_mode_names, "MODE",
        "preset: default (tuned) or paper (as its public code ran)", 0},
    {"layers", GRAPHSS_OPTION_INT, FIELD(layers), 1, 30, NULL, "N", "weight layers", 0},
    {"hidden", GRAPHSS_OPTION_INT, FIELD(hidden), 1, 65536, NULL, "N",
        "width of the hidden layers", 0},
    {"hops", GRAPHSS_OPTION_INT, FIELD(hops), 0, 64, NULL, "N",
        "sgc: how many times features are propagated", 0},
    {"dropout", GRAPHSS_OPTION_REAL, FIELD(dropout), 0, 0.99, NULL, "SHARE",
        "share of inputs and hidden units dropped while training", 0},
    {"weight-decay", GRAPHSS_OPTION_REAL, FIELD(weight_decay), 0, 1e3, NULL, "X",
        "L2 penalty on the first layer's weights", 0},
    {"learning-rate", GRAPHSS_OPTION_REAL, FIELD(learning_rate), 1e-12, 1e3, NULL, "X",
        "step size of Adam", 0},
    {"epochs", GRAPHSS_OPTION_INT, FIELD(epochs), 0, 1e7, NULL, "N",
        "maximum number of epochs; 0: initial weights", 0},
    {"patience", GRAPHSS_OPTION_INT, FIELD(patience), 0, 1e7, NULL, "N",
        "stop after N + 1 epochs without a better one; 0: never", 0},
    {"self-loops", GRAPHSS_OPTION_BOOL, FIELD(self_loops), 0, 1, NULL, "yes|no",
        "gcn, sgc: count a node as its own neighbour", 0},
    {"row-normalise", GRAPHSS_OPTION_BOOL, FIELD(row_normalise), 0, 1, NULL, "yes|no",
        "divide each feature row by the sum of its absolute values", 0},
    {"unit-scale", GRAPHSS_OPTION_BOOL, FIELD(unit_scale), 0, 1, NULL, "yes|no",
        "scale all features by one number so that rows have length one on average", 0},
    {"standardise", GRAPHSS_OPTION_BOOL, FIELD(standardise), 0, 1, NULL, "yes|no",
        "give each feature mean 0 and spread 1; by default dense ones, in place of rows", 0,
        true},
    {"bias", GRAPHSS_OPTION_BOOL, FIELD(bias), 0, 1, NULL, "yes|no", "add a bias per column",
        0},
    {"heads", GRAPHSS_OPTION_INT, FIELD(heads), 0, 1024, NULL, "N",
        "gat: attention heads of a hidden layer, which share its width", 0, true},
    {"output-heads", GRAPHSS_OPTION_INT, FIELD(output_heads), 0, 1024, NULL, "N",
        "gat: attention heads of the last layer, which are averaged", 0, true},
    {"activation", GRAPHSS_OPTION_CHOICE, FIELD(activation), 0, 0, activation_names, "NAME",
        "gat: between layers, relu or elu", 0, true},
    {NULL, 0, 0, 0, 0, NULL, NULL, NULL, 0},
};

const graphss_option *graphss_train_options_table(void)
{
    return table;
}

bool graphss_model_uses(const char *model, const char *option)
{
    const graphss_i_model_type *type = graphss_i_model_type_find(model);
    if (!type || !option || !graphss_option_find(table, option))
        return false;
    if (!strcmp(option, "hops"))
        return type->hops_by_option;
    if (!strcmp(option, "self-loops"))
        return type->norm != GRAPHSS_I_NORM_NONE && type->loops == GRAPHSS_I_LOOPS_OPTION;
    if (!strcmp(option, "heads") || !strcmp(option, "output-heads") ||
        !strcmp(option, "activation"))
        return type->attends;
    return true;
}
