/* cmd_predict.c - labels and probabilities of every node, by a trained model. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct predict_arguments {
    const char *model_file, *output;
} predict_arguments;

static const graphss_option rows[] = {
    {"model-file", GRAPHSS_OPTION_STRING, offsetof(predict_arguments, model_file), 0, 0, NULL,
        "MODEL", "a model that train wrote", 0},
    {"output", GRAPHSS_OPTION_STRING, offsetof(predict_arguments, output), 0, 0, NULL, "OUT",
        "where to write: OUT.npz, or a table as OUT.csv or OUT.tsv", 'o'},
    {0},
};

static const graphss_option *table_of(void)
{
    return rows;
}

static void defaults(void *options)
{
    *(predict_arguments *)options = (predict_arguments){0};
}

/* The part of the model's split that is labelled now; empty if the nodes are others. */
static graphss_status find_split(
    cli *app, graphss_split *out, const graphss_model *model, const graphss_dataset *data)
{
    const graphss_observation seen = graphss_dataset_observe(data);
    const graphss_status st = graphss_split_match(app->ctx, out, model, &seen);
    if (st == GRAPHSS_ERR_DATA || st == GRAPHSS_ERR_SHAPE)
        return GRAPHSS_OK;
    return st ? st : cli_split_add_new(app, out, model, &seen);
}

static graphss_status run(cli *app)
{
    predict_arguments own = {0};
    graphss_model *model = NULL;
    graphss_dataset data = {0};
    graphss_predictions p = {0}; /* the names are not its own */

    graphss_status st = cli_apply(app, 0, &own);
    if (st)
        return st;
    if (!own.model_file)
        return cli_usage(app, "predict: want --model-file MODEL");
    if (!own.output)
        return cli_usage(app, "predict: want -o OUT.npz, OUT.csv or OUT.tsv");
    const char *const input[] = {app->argument[0], own.model_file};
    st = cli_check_labels(app, own.output);
    if (!st)
        st = cli_check_output(app, own.output, input, 2);
    if (st)
        return st;

    st = cli_check_swapped(app, own.model_file, app->argument[0]);
    if (!st)
        st = cli_load_model(app, &model, own.model_file);
    if (!st)
        st = cli_read_dataset(app, &data, app->argument[0]);
    if (!st)
        st = app->part ? graphss_model_fits(app->ctx, model, &data)
                       : cli_align(app, model, &data, NULL);
    if (st)
        goto done;
    if (strcmp(graphss_model_dataset_hash(model), data.hash) != 0)
        cli_note(app, "note: this is not the graph the model was trained on (%s)",
            graphss_model_dataset_name(model));

    p.n_nodes = data.graph.n_nodes;
    p.n_classes = graphss_model_classes(model);
    p.node_names = data.node_names;
    p.class_names = *graphss_model_class_names(model);
    if (cli_leads(app))
        st = cli_alloc_large(app, &p.prob, p.n_nodes, p.n_classes * sizeof *p.prob);
    if (!st && cli_leads(app))
        st = cli_alloc_large(app, &p.label, p.n_nodes, sizeof *p.label);
    if (st)
        goto done;
    const double began = cli_seconds();
    st = app->part
             ? graphss_part_predict(app->ctx, p.prob, model, app->part)
             : graphss_model_predict(app->ctx, p.prob, model, &data.graph, &data.features);
    if (st || !cli_leads(app))
        goto done;
    graphss_labels_argmax(p.label, p.prob, p.n_nodes, p.n_classes);
    const double seconds = cli_seconds() - began;
    terminal_clear(&app->term);
    st = find_split(app, &p.split, model, &data);
    if (!st)
        st = cli_write_labels(app, &p, NULL, own.output);
    if (st)
        goto done;
    if (app->json) {
        cli_json_set(app->json, "path", cli_json_text(own.output));
        cli_json_set(app->json, "nodes", json_integer((json_int_t)p.n_nodes));
        cli_json_set(app->json, "classes", json_integer((json_int_t)p.n_classes));
        cli_json_set(app->json, "seconds", cli_json_real(seconds));
        cli_json_set(app->json, "model", cli_json_text(graphss_model_options(model)->model));
        cli_json_set(app->json, "dataset", cli_json_dataset(&data));
        cli_json_set(app->json, "same_dataset",
            json_boolean(!strcmp(graphss_model_dataset_hash(model), data.hash)));
        cli_ranks_json(app);
        cli_json_run(app, app->json);
    } else {
        cli_show_dataset(app, &data);
        printf("Labels   %zu nodes in %.3f s\nWritten  ", p.n_nodes, seconds);
        terminal_text(&app->term, stdout, own.output, 0);
        printf("\n");
    }
done:
    graphss_split_destroy(app->ctx, &p.split);
    free(p.prob);
    free(p.label);
    graphss_dataset_destroy(app->ctx, &data);
    graphss_model_free(app->ctx, model);
    return st;
}

static const char *whole(cli *app)
{
    static const char *const option[] = {"predictor", NULL};
    return cli_ranks_whole(app, option);
}

const cli_command cli_predict = {
    .name = "predict",
    .arguments = "DATASET --model-file MODEL -o OUT.npz|.csv|.tsv",
    .summary = "Label every node with a trained model",
    .about = "OUT.npz holds labels and probabilities; node_names and class_names if there are "
             "names; train, val and test if the nodes are those of the model. OUT.csv and "
             "OUT.tsv have a line for each node: node, label, probability. The dataset's own "
             "labels are not used.\n",
    .examples = "predict cora --model-file cora.model -o cora_labels.npz\n"
                "predict people/ --model-file people.model -o labels.csv\n",
    .ranks = CLI_SHARED,
    .whole = whole,
    .min_arguments = 1,
    .max_arguments = 1,
    .group = {{"Options", table_of, sizeof(predict_arguments), defaults}},
    .run = run,
};
