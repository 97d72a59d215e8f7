/* cmd_info.c - what a dataset holds, after clean-up. */
#include <math.h>
#include <stdlib.h>

#include "cli.h"

typedef struct degrees {
    size_t least, median, most;
    double mean;
} degrees;

static int by_size(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static degrees measure_degrees(const graphss_graph *graph)
{
    const size_t n = graph->n_nodes;
    if (n == 0)
        return (degrees){0};
    size_t *degree = cli_alloc(n, sizeof *degree);
    for (size_t i = 0; i < n; i++)
        degree[i] = graphss_graph_degree(graph, i);
    qsort(degree, n, sizeof *degree, by_size);
    const degrees d = {degree[0], degree[n / 2], degree[n - 1],
        2.0 * (double)graphss_graph_edges(graph) / (double)n};
    free(degree);
    return d;
}

/* Share of entries that are not zero. */
static double density(const graphss_features *f)
{
    const double all = (double)f->n_rows * (double)f->n_cols;
    if (!(all > 0))
        return NAN;
    const size_t stored = graphss_features_stored(f);
    if (!graphss_features_dense(f))
        return (double)stored / all;
    size_t filled = 0;
    for (size_t i = 0; i < stored; i++)
        filled += f->value[i] != 0;
    return (double)filled / all;
}

static void show(cli *app, const graphss_dataset *data, const degrees *d, double homophily,
    const size_t *size, size_t unknown)
{
    cli_print_dataset(app, data);
    printf(
        "Degree   %zu to %zu, median %zu, mean %.2f\n", d->least, d->most, d->median, d->mean);
    if (isfinite(homophily))
        printf("Alike    %.1f %% of edges join nodes of one class (homophily)\n",
            100 * homophily);
    const double filled = density(&data->features);
    if (isfinite(filled))
        printf("Features %s, %s, %.3g %% filled\n",
            graphss_feature_kind_text(data->features.kind),
            graphss_features_dense(&data->features) ? "dense" : "sparse", 100 * filled);
    if (data->split.n_train > 0)
        printf("Split    came with %zu train, %zu validation, %zu test nodes\n",
            data->split.n_train, data->split.n_val, data->split.n_test);
    printf("Names    %s nodes, %s classes\n", data->node_names.count ? "named" : "numbered",
        data->class_names.count ? "named" : "numbered");
    printf("Hash     %s\n", data->hash);
    if (!data->label)
        return;

    enum { MOST_SHOWN = 50, LABEL = 32 };
    size_t largest = unknown, label = 0;
    char buffer[24];
    for (size_t k = 0; k < data->n_classes; k++) {
        if (size[k] > largest)
            largest = size[k];
        const size_t columns = terminal_columns(&app->term, cli_class_name(data, k, buffer));
        if (columns > label && k < MOST_SHOWN)
            label = columns > LABEL ? LABEL : columns;
    }
    printf("Classes\n");
    for (size_t k = 0; k < data->n_classes && k < MOST_SHOWN; k++) {
        printf("  ");
        const size_t used =
            terminal_text(&app->term, stdout, cli_class_name(data, k, buffer), label);
        printf("%*s %8zu  ", (int)(label - used), "", size[k]);
        draw_bar(&app->term, stdout, (double)size[k], (double)largest, 30);
        printf("\n");
    }
    if (data->n_classes > MOST_SHOWN)
        printf("  ... and %zu more\n", data->n_classes - MOST_SHOWN);
    if (unknown > 0)
        printf("  (%zu nodes without a label)\n", unknown);
}

static void fill(cli *app, const graphss_dataset *data, const degrees *d, double homophily,
    const size_t *size, size_t unknown)
{
    json_decref(app->json);
    app->json = cli_json_dataset(data);
    json_t *json = app->json;
    cli_json_set(
        json, "feature_kind", cli_json_text(graphss_feature_kind_text(data->features.kind)));
    cli_json_set(json, "feature_density", cli_json_real(density(&data->features)));
    cli_json_set(json, "homophily", cli_json_real(homophily));

    json_t *degree = json_object();
    cli_json_set(degree, "min", json_integer((json_int_t)d->least));
    cli_json_set(degree, "median", json_integer((json_int_t)d->median));
    cli_json_set(degree, "max", json_integer((json_int_t)d->most));
    cli_json_set(degree, "mean", cli_json_real(d->mean));
    cli_json_set(json, "degree", degree);

    const graphss_cleaning *c = &data->cleaned;
    json_t *cleaned = json_object();
    cli_json_set(cleaned, "directed", json_integer(c->directed));
    cli_json_set(cleaned, "duplicates", json_integer(c->duplicates));
    cli_json_set(cleaned, "loops", json_integer(c->loops));
    cli_json_set(cleaned, "zeros", json_integer(c->zeros));
    cli_json_set(cleaned, "weighted", json_integer(c->weighted));
    cli_json_set(cleaned, "isolated", json_integer(c->isolated));
    cli_json_set(json, "cleaned", cleaned);

    json_t *classes = json_array();
    char buffer[24];
    for (size_t k = 0; k < data->n_classes; k++) {
        json_t *one = json_object();
        cli_json_set(one, "name", cli_json_text(cli_class_name(data, k, buffer)));
        cli_json_set(one, "nodes", json_integer((json_int_t)size[k]));
        json_array_append_new(classes, one);
    }
    cli_json_set(json, "class_sizes", classes);
    cli_json_set(json, "unlabelled", json_integer((json_int_t)unknown));
    cli_json_set(json, "named_nodes", json_boolean(data->node_names.count > 0));

    json_t *split = json_null();
    if (data->split.n_train > 0) {
        split = json_object();
        cli_json_set(split, "train", json_integer((json_int_t)data->split.n_train));
        cli_json_set(split, "val", json_integer((json_int_t)data->split.n_val));
        cli_json_set(split, "test", json_integer((json_int_t)data->split.n_test));
    }
    cli_json_set(json, "split", split);
}

static graphss_status run(cli *app)
{
    graphss_dataset data = {0};
    const graphss_status st = cli_read_dataset(app, &data, app->argument[0]);
    if (st)
        return st;
    size_t *size = cli_alloc(data.n_classes, sizeof *size);
    size_t unknown = 0;
    for (size_t i = 0; data.label && i < data.graph.n_nodes; i++) {
        if (data.label[i] >= 0)
            size[data.label[i]]++;
        else
            unknown++;
    }
    const degrees d = measure_degrees(&data.graph);
    const double homophily =
        data.label ? graphss_graph_homophily(&data.graph, data.label) : NAN;
    if (app->json)
        fill(app, &data, &d, homophily, size, unknown);
    else
        show(app, &data, &d, homophily, size, unknown);
    free(size);
    graphss_dataset_destroy(app->ctx, &data);
    return GRAPHSS_OK;
}

const cli_command cli_info = {
    .name = "info",
    .arguments = "DATASET",
    .summary = "Describe a dataset, after clean-up",
    .about =
        "Graphs are read as undirected, without loops and duplicates; repairs are listed.\n",
    .examples = "info cora\ninfo my_folder/\ninfo --json data/cora.npz\n",
    .judges_data = true,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run,
};
