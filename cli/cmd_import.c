/* cmd_import.c - imports weights that were trained elsewhere as a model, and exports ours. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const char *const layouts[] = {"pyg", "dgl", "deeprobust", NULL};
static const char *const activations[] = {"relu", "elu", NULL};

typedef struct import_arguments {
    int layout, activation;
    const char *type, *probe, *split, *output;
    int64_t hops;
    bool self_loops, row_normalise;
} import_arguments;

#define FIELD(name) offsetof(import_arguments, name)
static const graphss_option rows[] = {
    {"layout", GRAPHSS_OPTION_CHOICE, FIELD(layout), 0, 0, layouts, "NAME",
        "the library whose names the weights have: pyg, dgl or deeprobust", 0},
    {"type", GRAPHSS_OPTION_STRING, FIELD(type), 0, 0, NULL, "MODEL",
        "the classifier: gcn, sgc, sage, sage-mean, gat or mlp", 0},
    {"hops", GRAPHSS_OPTION_INT, FIELD(hops), 0, 64, NULL, "N",
        "sgc: how many times features are propagated (K)", 0},
    {"self-loops", GRAPHSS_OPTION_BOOL, FIELD(self_loops), 0, 1, NULL, "yes|no",
        "gcn, sgc: each node counts among its neighbours", 0},
    {"row-normalise", GRAPHSS_OPTION_BOOL, FIELD(row_normalise), 0, 1, NULL, "yes|no",
        "feature rows are divided by their sum first (NormalizeFeatures)", 0},
    {"activation", GRAPHSS_OPTION_CHOICE, FIELD(activation), 0, 0, activations, "NAME",
        "gat: between layers, relu or elu", 0},
    {"probe", GRAPHSS_OPTION_STRING, FIELD(probe), 0, 0, NULL, "FILE.npz",
        "a graph with the origin's probabilities, which the model must give too", 0},
    {"split", GRAPHSS_OPTION_STRING, FIELD(split), 0, 0, NULL, "FILE.npz",
        "the split it was trained with, in node numbers of the probe; for alert and recover",
        0},
    {"output", GRAPHSS_OPTION_STRING, FIELD(output), 0, 0, NULL, "MODEL",
        "where to write the model", 'o'},
    {0},
};

static const graphss_option *table_of(void)
{
    return rows;
}

static void defaults(void *options)
{
    *(import_arguments *)options = (import_arguments){
        .type = "gcn", .hops = 2, .self_loops = true, .activation = GRAPHSS_ACTIVATION_ELU};
}

/* What the model should remember of the data it was trained on. */
static graphss_status describe(cli *app, graphss_model *model, const import_arguments *own)
{
    graphss_dataset data = {0};
    graphss_split split = {0};
    graphss_status st = cli_read_dataset(app, &data, own->probe);
    data.n_classes = graphss_model_classes(model);
    if (!st && own->split)
        st = cli_read_split(app, &split, own->split, &data, data.n_classes);
    if (!st)
        st = graphss_model_set_dataset(app->ctx, model, &data);
    if (!st && own->split)
        st = graphss_model_set_split(app->ctx, model, &split);
    if (!st && own->split)
        st = cli_teach(app, model, &data);
    terminal_clear(&app->term);
    graphss_split_destroy(app->ctx, &split);
    graphss_dataset_destroy(app->ctx, &data);
    return st;
}

static void show(cli *app, const graphss_model *model, const import_arguments *own, double off)
{
    const graphss_train_options *opt = graphss_model_options(model);
    if (app->json) {
        cli_json_set(app->json, "path", cli_json_text(own->output));
        cli_json_set(app->json, "model", cli_json_text(opt->model));
        cli_json_set(
            app->json, "features", json_integer((json_int_t)graphss_model_features(model)));
        cli_json_set(
            app->json, "classes", json_integer((json_int_t)graphss_model_classes(model)));
        cli_json_set(app->json, "agreement", own->probe ? cli_json_real(off) : json_null());
        cli_json_set(
            app->json, "options", cli_json_options(opt, graphss_train_options_table()));
        cli_json_run(app, app->json);
        return;
    }
    printf("Model    %s, %lld layer%s, %zu features, %zu classes\n", opt->model,
        (long long)opt->layers, cli_s((size_t)opt->layers), graphss_model_features(model),
        graphss_model_classes(model));
    if (own->probe)
        printf("Probe    probabilities agree to %.2g\n", off);
    printf("Written  ");
    terminal_text(&app->term, stdout, own->output, 0);
    printf("\n");
}

static graphss_status run(cli *app)
{
    import_arguments own;
    graphss_model *model = NULL;
    double off = 0;
    defaults(&own);
    graphss_status st = cli_apply(app, 0, &own);
    if (!st)
        st = cli_check_name(app, "type", own.type, graphss_model_name);
    if (st)
        return st;
    if (!cli_given(app, "layout"))
        return cli_usage(app, "import: want --layout pyg, dgl or deeprobust");
    if (!cli_given(app, "type"))
        return cli_usage(app, "import: want --type gcn, sgc, sage, sage-mean, gat or mlp");
    if (!own.output)
        return cli_usage(app, "import: want -o MODEL");
    if (own.split && !own.probe)
        return cli_usage(app, "import: --split needs --probe, whose nodes it lists");
    const char *const input[] = {app->argument[0], own.probe, own.split};
    st = cli_check_output(app, own.output, input, 3);
    if (st)
        return st;
    graphss_train_options how;
    graphss_import_options_init(&how, own.type);
    how.hops = own.hops;
    how.self_loops = own.self_loops;
    how.row_normalise = own.row_normalise;
    how.activation = own.activation;
    st = graphss_model_import(
        app->ctx, &model, app->argument[0], (graphss_layout)own.layout, &how);
    if (!st && own.probe)
        st = graphss_model_probe_file(app->ctx, &off, model, own.probe);
    if (!st && own.probe)
        st = describe(app, model, &own);
    if (!st && !own.probe)
        cli_warn(app, "without --probe it is unknown whether the model answers as its "
                      "original does: give a graph with the original's probabilities");
    if (!st)
        st = graphss_model_save(app->ctx, model, own.output);
    if (!st)
        show(app, model, &own, off);
    graphss_model_free(app->ctx, model);
    return st;
}

const cli_command cli_import = {
    .name = "import",
    .arguments = "FILE.safetensors --layout NAME --type MODEL [--probe FILE.npz] -o MODEL",
    .summary = "Take over weights trained in PyTorch Geometric, DGL or DeepRobust",
    .about = "FILE holds a state_dict in safetensors. Its names do not say whether loops are "
             "added, how features are scaled or how many hops there are: --probe is a graph "
             "(any .npz dataset) with an array `probabilities` from the original model, and a "
             "difference of more than 0.0001 anywhere is refused (try --no-self-loops, "
             "--row-normalise, another --hops). What cannot be expressed (batch norm, skip "
             "connections, edge weights) is refused by name.\n",
    .examples =
        "import gcn.safetensors --layout pyg --type gcn --probe cora_probe.npz -o gcn.model\n"
        "import sgc.safetensors --layout dgl --type sgc --hops 3 --probe p.npz -o sgc.model\n"
        "import gat.safetensors --layout pyg --type gat --activation elu --probe p.npz "
        "--split split.npz -o gat.model\n",
    .min_arguments = 1,
    .max_arguments = 1,
    .group = {{"Options", table_of, sizeof(import_arguments), defaults}},
    .run = run,
};

/* ---- the other way ---- */

typedef struct export_arguments {
    int layout;
    const char *output;
} export_arguments;

static const graphss_option export_rows[] = {
    {"layout", GRAPHSS_OPTION_CHOICE, offsetof(export_arguments, layout), 0, 0, layouts,
        "NAME", "the library whose names the weights get: pyg, dgl or deeprobust", 0},
    {"output", GRAPHSS_OPTION_STRING, offsetof(export_arguments, output), 0, 0, NULL,
        "FILE.safetensors", "where to write", 'o'},
    {0},
};

static const graphss_option *export_table(void)
{
    return export_rows;
}

static void export_defaults(void *options)
{
    *(export_arguments *)options = (export_arguments){0};
}

static graphss_status run_export(cli *app)
{
    export_arguments own = {0};
    graphss_model *model = NULL;
    graphss_status st = cli_apply(app, 0, &own);
    if (st)
        return st;
    if (!cli_given(app, "layout"))
        return cli_usage(app, "export: want --layout pyg, dgl or deeprobust");
    if (!own.output)
        return cli_usage(app, "export: want -o FILE.safetensors");
    st = cli_check_output(app, own.output, app->argument, 1);
    if (!st)
        st = cli_load_model(app, &model, app->argument[0]);
    if (!st)
        st = graphss_model_export(app->ctx, model, own.output, (graphss_layout)own.layout);
    if (!st && app->json) {
        cli_json_set(app->json, "path", cli_json_text(own.output));
        cli_json_set(app->json, "model", cli_json_text(graphss_model_options(model)->model));
        cli_json_set(app->json, "layout", cli_json_text(layouts[own.layout]));
    } else if (!st) {
        printf("Model    %s, in the names of %s\nWritten  ",
            graphss_model_options(model)->model, layouts[own.layout]);
        terminal_text(&app->term, stdout, own.output, 0);
        printf("\n");
    }
    graphss_model_free(app->ctx, model);
    return st;
}

const cli_command cli_export = {
    .name = "export",
    .arguments = "MODEL --layout NAME -o FILE.safetensors",
    .summary = "Write a model's weights for PyTorch Geometric, DGL or DeepRobust",
    .about = "The first layer's weights include the one number all features are scaled by. If "
             "rows are divided by their sum (row-normalise in the file's metadata), do the "
             "same there. A model that standardises its features is refused.\n",
    .examples = "export cora.model --layout pyg -o cora.safetensors\n",
    .min_arguments = 1,
    .max_arguments = 1,
    .group = {{"Options", export_table, sizeof(export_arguments), export_defaults}},
    .run = run_export,
};
