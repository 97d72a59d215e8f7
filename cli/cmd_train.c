/* cmd_train.c - from a dataset to a trained classifier. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct train_arguments {
    const char *model, *output, *plot, *predictor, *flips;
    const char *checkpoint;
    double checkpoint_every;
    bool curves, poisoned;
} train_arguments;

#define FIELD(name) offsetof(train_arguments, name)
static const graphss_option rows[] = {
    {"model", GRAPHSS_OPTION_STRING, FIELD(model), 0, 0, NULL, "NAME", "the classifier", 0},
    {"predictor", GRAPHSS_OPTION_STRING, FIELD(predictor), 0, 0, NULL, "COMMAND",
        "a program that answers, COMMAND IN.npz OUT.npz: the model is fitted to it", 0},
    {"output", GRAPHSS_OPTION_STRING, FIELD(output), 0, 0, NULL, "MODEL",
        "write the model here; without it the model is only measured", 'o'},
    {"poisoned", GRAPHSS_OPTION_BOOL, FIELD(poisoned), 0, 0, NULL, NULL,
        "the data may have been attacked before: find links and training labels not to be "
        "trusted, and train without them",
        0},
    {"flips", GRAPHSS_OPTION_STRING, FIELD(flips), 0, 0, NULL, "FLIPS",
        "with --poisoned: write the distrusted links here, for apply", 0},
    {"checkpoint", GRAPHSS_OPTION_STRING, FIELD(checkpoint), 0, 0, NULL, "FILE",
        "keep the state of the training here and, after an interruption, go on from it; the "
        "file "
        "is removed when the model is written",
        0},
    {"checkpoint-every", GRAPHSS_OPTION_REAL, FIELD(checkpoint_every), 0, 1e9, NULL, "SECONDS",
        "how often it is kept", 0},
    {"curves", GRAPHSS_OPTION_BOOL, FIELD(curves), 0, 0, NULL, NULL,
        "draw loss and validation accuracy", 0},
    {"plot", GRAPHSS_OPTION_STRING, FIELD(plot), 0, 0, NULL, "FILE.svg",
        "write the same curves as a picture", 0},
    {0},
};

enum { OWN, SPLIT, TRAINING = SPLIT + 2 }; /* groups */

static const graphss_option *table_of(void)
{
    return rows;
}

static void defaults(void *options)
{
    *(train_arguments *)options = (train_arguments){.model = "gcn", .checkpoint_every = 120};
}

static void train_defaults(void *options)
{
    graphss_train_options_init(options, "gcn", GRAPHSS_MODE_DEFAULT, NULL);
}

/* Labels of a part of the split that are not the truth. */
static size_t count_wrong(
    const int32_t *node, const int32_t *label, size_t n, const int32_t *truth)
{
    size_t wrong = 0;
    for (size_t i = 0; truth && i < n; i++)
        wrong += truth[node[i]] >= 0 && label[i] != truth[node[i]];
    return wrong;
}

static size_t count_known(const graphss_split *split, const int32_t *truth)
{
    size_t known = 0;
    for (size_t i = 0; truth && i < split->n_test; i++)
        known += truth[split->test[i]] >= 0;
    return known;
}

/* The share of the most frequent class among the validation labels. */
static double largest_share(const graphss_split *split, size_t n_classes)
{
    size_t *count = cli_alloc(n_classes, sizeof *count), most = 0;
    memset(count, 0, n_classes * sizeof *count);
    for (size_t i = 0; i < split->n_val; i++)
        count[split->val_label[i]]++;
    for (size_t c = 0; c < n_classes; c++)
        most = count[c] > most ? count[c] : most;
    free(count);
    return (double)most / (double)split->n_val;
}

/* Warns of a class without training nodes, which the model never predicts. */
static void note_untrained(cli *app, const graphss_split *split, const graphss_dataset *data)
{
    enum { NAMED = 3 };
    size_t *count = cli_alloc(data->n_classes, sizeof *count), lacking = 0;
    char list[256] = "", number[24];
    int used = 0;
    memset(count, 0, data->n_classes * sizeof *count);
    for (size_t i = 0; i < split->n_train; i++)
        count[split->train_label[i]]++;
    for (size_t c = 0; c < data->n_classes; c++)
        if (count[c] == 0 && lacking++ < NAMED && used < 200)
            used += snprintf(list + used, sizeof list - (size_t)used, "%s'%.40s'",
                used ? ", " : "", cli_class_name(data, c, number));
    free(count);
    if (lacking)
        cli_note(app, "note: no training node is of class %s%s, which can not be learned",
            list, lacking > NAMED ? " and others" : "");
}

static graphss_status write_plot(cli *app, const char *path, const cli_fit *fit,
    const char *model, const graphss_dataset *data)
{
    const size_t n = fit->log.epochs;
    double *loss = cli_alloc(n, sizeof *loss), *accuracy = cli_alloc(n, sizeof *accuracy);
    for (size_t i = 0; i < n; i++) {
        loss[i] = fit->log.loss[i];
        accuracy[i] = 100 * (double)fit->log.val_acc[i];
    }
    double least = 100 * fit->log.val_accuracy;
    for (size_t i = 0; i < n; i++)
        least = fmin(least, accuracy[i]);
    char *title = cli_format("%s on %s", model, data->name);
    const double best_x[] = {(double)fit->log.best_epoch, (double)fit->log.best_epoch};
    const double best_y[] = {least, 100 * fit->log.val_accuracy};
    const graphss_plot_series losses[] = {{"training loss", NULL, loss, n}};
    const graphss_plot_series accuracies[] = {
        {"validation accuracy", NULL, accuracy, n}, {"epoch kept", best_x, best_y, 2}};
    const graphss_plot panel[] = {
        {.title = title, .y_label = "loss", .series = losses, .n_series = 1},
        {.x_label = "epoch", .y_label = "accuracy, %", .series = accuracies, .n_series = 2}};
    const graphss_status st = graphss_plot_write(app->ctx, panel, 2, path);
    free(title);
    free(accuracy);
    free(loss);
    return st;
}

/* ---- --poisoned ---- */

/* data and split become what is trusted; found keeps what is not. */
static graphss_status distrust(cli *app, graphss_poisoned_result *found, graphss_dataset *data,
    graphss_split *split, const graphss_train_options *opt, const char *path)
{
    graphss_flips flips = {0};
    graphss_status st = graphss_poisoned_run(app->ctx, found,
        &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
            .graph = &data->graph,
            .features = &data->features,
            .n_classes = data->n_classes,
            .split = split,
            .seed = (uint64_t)app->global.seed},
        opt);
    terminal_clear(&app->term);
    if (!st && path)
        st = graphss_poisoned_flips(app->ctx, &flips, &data->graph, found->foreign);
    if (!st && path) {
        snprintf(flips.dataset, sizeof flips.dataset, "%.63s", data->name);
        snprintf(flips.hash, sizeof flips.hash, "%s", data->hash);
        snprintf(flips.seed, sizeof flips.seed, "%llu", (unsigned long long)app->global.seed);
        st = graphss_flips_write(app->ctx, &flips, path, data);
    }
    graphss_flips_destroy(app->ctx, &flips);
    if (st)
        return st;
    const graphss_graph whole = data->graph;
    const graphss_split all = *split;
    data->graph = found->trusted;
    *split = found->split;
    found->trusted = whole;
    found->split = all;
    return GRAPHSS_OK;
}

static void show_distrust(cli *app, const graphss_poisoned_result *found,
    const graphss_dataset *data, const char *path)
{
    enum { NAMED = 5 };
    char buffer[24];
    const graphss_split *all = &found->split;
    const size_t links = graphss_graph_edges(&found->trusted);
    printf("Links    %zu of %zu are not trusted and left out", found->distrusted, links);
    if (path) {
        printf(": ");
        terminal_text(&app->term, stdout, path, 0);
    }
    printf("\nLabels   %zu of %zu training labels are doubted and left out", found->doubted,
        all->n_train);
    size_t named = 0;
    for (size_t j = 0; j < all->n_train && named <= NAMED; j++)
        if (found->doubt[j] > 0.5F) {
            printf("%s%s", named ? ", " : ": ",
                named == NAMED
                    ? "..."
                    : cli_name_at(&data->node_names, (size_t)all->train[j], buffer));
            named++;
        }
    printf("\n");
}

static void fill_distrust(cli *app, const graphss_poisoned_result *found,
    const graphss_dataset *data, const char *path)
{
    const graphss_split *all = &found->split;
    json_t *json = json_object(), *list = json_array();
    char buffer[24];
    cli_json_set(
        json, "links", json_integer((json_int_t)graphss_graph_edges(&found->trusted)));
    cli_json_set(json, "distrusted_links", json_integer((json_int_t)found->distrusted));
    cli_json_set(json, "share", cli_json_real(found->share));
    cli_json_set(json, "flips", cli_json_text(path));
    cli_json_set(json, "doubted_labels", json_integer((json_int_t)found->doubted));
    for (size_t j = 0; j < all->n_train; j++)
        if (found->doubt[j] > 0.5F) {
            json_t *one = json_object();
            cli_json_set(one, "node",
                cli_json_text(cli_name_at(&data->node_names, (size_t)all->train[j], buffer)));
            cli_json_set(one, "doubt", cli_json_real((double)found->doubt[j]));
            json_array_append_new(list, one);
        }
    cli_json_set(json, "doubted", list);
    cli_json_set(app->json, "poisoned", json);
}

static void show(cli *app, const cli_fit *fit, const graphss_dataset *data,
    const graphss_split *split, const graphss_train_options *opt, const train_arguments *own)
{
    const size_t known = count_known(split, data->label);
    printf("\n%s: %zu epochs, weights of epoch %zu kept, %.2f s, %.0f MB at the peak\n",
        opt->model, fit->log.epochs, fit->log.best_epoch, fit->log.seconds,
        (double)cli_peak_memory() / 1e6);
    text_table t = {0};
    table_init(&t, "lrrl", true);
    table_add(&t, "nodes");
    table_add(&t, "number");
    table_add(&t, "accuracy");
    table_add(&t, "against");
    table_add(&t, "train");
    table_add(&t, "%zu", split->n_train);
    table_add(&t, "%.1f %%", 100 * fit->log.train_accuracy);
    table_add(&t, "the labels it saw, %zu of them wrong",
        count_wrong(split->train, split->train_label, split->n_train, data->label));
    if (split->n_val > 0) {
        table_add(&t, "validation");
        table_add(&t, "%zu", split->n_val);
        table_add(&t, "%.1f %%", 100 * fit->log.val_accuracy);
        table_add(&t, "the labels it saw, %zu of them wrong",
            count_wrong(split->val, split->val_label, split->n_val, data->label));
    }
    if (known > 0) {
        table_add(&t, "test");
        table_add(&t, "%zu", known);
        table_add(&t, "%.1f %%", 100 * fit->test_accuracy);
        table_add(&t, "the truth");
        table_add(&t, "test");
        table_add(&t, "%zu", known);
        table_add(&t, "%.1f %%", 100 * cli_majority(split, data));
        table_add(&t, "the truth, by always saying the largest class");
    }
    table_print(&t, &app->term, stdout, 2);
    if (own->curves) {
        printf("\n");
        cli_fit_curves(app, fit);
    }
    const char *const path[] = {own->output, own->plot};
    const char *const what[] = {"Model    ", "Plot     "};
    for (size_t i = 0; i < 2; i++)
        if (path[i]) {
            printf("%s", what[i]);
            terminal_text(&app->term, stdout, path[i], 0);
            printf("\n");
        }
}

static void fill(cli *app, const cli_fit *fit, const graphss_dataset *data,
    const graphss_split *split, const cli_split_options *split_opt,
    const graphss_train_options *opt, const train_arguments *own)
{
    json_t *json = app->json;
    cli_json_set(json, "model", cli_json_text(opt->model));
    cli_json_set(json, "mode", cli_json_text(graphss_mode_text(opt->mode)));
    cli_fit_json(json, fit);
    cli_json_set(json, "majority_accuracy", cli_json_real(cli_majority(split, data)));
    cli_json_set(json, "path", cli_json_text(own->output));
    cli_json_set(json, "train_nodes", json_integer((json_int_t)split->n_train));
    cli_json_set(json, "val_nodes", json_integer((json_int_t)split->n_val));
    cli_json_set(
        json, "test_nodes", json_integer((json_int_t)count_known(split, data->label)));
    if (!split_opt->from)
        cli_json_set(json, "noise", cli_json_real(split_opt->make.noise));
    cli_json_set(json, "train_labels_flipped",
        json_integer((json_int_t)count_wrong(
            split->train, split->train_label, split->n_train, data->label)));
    cli_json_set(json, "val_labels_flipped",
        json_integer(
            (json_int_t)count_wrong(split->val, split->val_label, split->n_val, data->label)));
    cli_json_set(json, "options", cli_json_options(opt, graphss_train_options_table()));
    cli_json_set(json, "dataset", cli_json_dataset(data));
    cli_ranks_json(app);
    cli_json_run(app, json);
}

/* Each file that is written is another one, and none that is read. */
static graphss_status check_outputs(cli *app, const train_arguments *own, const char *split)
{
    enum { OUTPUTS = 4 };
    static const char *const option[OUTPUTS] = {"output", "plot", "flips", "checkpoint"};
    const char *const path[OUTPUTS] = {own->output, own->plot, own->flips, own->checkpoint};
    const char *const input[] = {app->argument[0], split};
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < OUTPUTS && !st; i++) {
        for (size_t j = 0; j < i && path[i]; j++)
            if (path[j] && strcmp(path[i], path[j]) == 0)
                return cli_usage(
                    app, "--%s and --%s both name %s", option[j], option[i], path[i]);
        if (path[i])
            st = cli_check_output(app, path[i], input, 2);
    }
    return st;
}

static graphss_status run(cli *app)
{
    train_arguments own = {0};
    cli_split_options split_opt = {0};
    graphss_dataset data = {0};
    graphss_split split = {0};
    cli_fit fit = {0};
    graphss_poisoned_result found = {0};

    defaults(&own);
    graphss_status st = cli_apply(app, OWN, &own);
    if (!st)
        st = cli_check_name(app, "model", own.model, graphss_model_name);
    if (!st)
        st = cli_split_apply(app, SPLIT, &split_opt);
    if (st)
        return st;
    graphss_train_options opt;
    graphss_train_options_init(&opt, own.model, (graphss_mode)split_opt.mode, NULL);
    st = cli_apply(app, TRAINING, &opt);
    if (!st)
        st = cli_check_use(app, TRAINING, own.model, graphss_model_uses, graphss_model_name);
    if (st)
        return st;
    if (own.plot && !cli_has_extension(own.plot, ".svg"))
        return cli_usage(app, "--plot: %s: want a name that ends in .svg", own.plot);
    if (own.checkpoint && cli_given(app, "predictor"))
        return cli_usage(app, "--checkpoint is of our own training, not of --predictor");
    if (own.flips && !own.poisoned)
        return cli_usage(app, "--flips is of --poisoned");
    if (own.poisoned && own.predictor)
        return cli_usage(app, "--poisoned is of our own training, not of --predictor");
    if ((st = check_outputs(app, &own, split_opt.from)))
        return st;

    st = cli_read_dataset(app, &data, app->argument[0]);
    if (!st)
        st = cli_split_choose(app, &split, &data, &split_opt);
    if (st)
        goto done;
    if (app->part)
        graphss_part_options_init(&opt, own.model, (graphss_mode)split_opt.mode, app->part);
    else
        graphss_train_options_init(
            &opt, own.model, (graphss_mode)split_opt.mode, &data.features);
    if ((st = cli_apply(app, TRAINING, &opt)))
        goto done;
    if (!app->json) {
        cli_show_dataset(app, &data);
        cli_show_split(app, &split, &split_opt);
        fflush(stdout);
    }
    note_untrained(app, &split, &data);
    if (own.poisoned) {
        st = distrust(app, &found, &data, &split, &opt, own.flips);
        if (st)
            goto done;
        if (!app->json)
            show_distrust(app, &found, &data, own.flips);
    }
    char of[96]; /* what is trained on */
    snprintf(of, sizeof of, "%s%s", data.hash, own.poisoned ? " poisoned" : "");
    st = graphss_ctx_checkpoint(app->ctx, own.checkpoint, of, own.checkpoint_every);
    if (st)
        goto done;
    st = cli_fit_run(app, &fit, &data, &split, &opt);
    if (!st && own.output && cli_leads(app))
        st = graphss_model_save(app->ctx, fit.model, own.output);
    if (!st && own.checkpoint && cli_leads(app) &&
        graphss_checkpoint_remove(app->ctx, own.checkpoint))
        cli_warn(app, "%s", graphss_ctx_error(app->ctx));
    if (!st && split.n_val && fit.log.val_accuracy <= largest_share(&split, data.n_classes))
        cli_warn(app,
            "it is no better than always saying the largest class: try %sanother "
            "--dropout, --learning-rate or --model",
            split.n_flipped ? "--noise 0, or " : "");
    if (!st && own.plot && cli_leads(app))
        st = write_plot(app, own.plot, &fit, own.model, &data);
    if (st)
        goto done;
    if (app->json)
        fill(app, &fit, &data, &split, &split_opt, &opt, &own);
    else
        show(app, &fit, &data, &split, &opt, &own);
    if (app->json && own.poisoned)
        fill_distrust(app, &found, &data, own.flips);
done:
    graphss_poisoned_result_destroy(app->ctx, &found);
    cli_fit_done(app, &fit);
    graphss_split_destroy(app->ctx, &split);
    graphss_dataset_destroy(app->ctx, &data);
    return st;
}

static const char *whole(cli *app)
{
    static const char *const option[] = {"predictor", "poisoned", NULL};
    const char *model = cli_given(app, "model");
    return model && strcmp(model, "gat") == 0 ? model : cli_ranks_whole(app, option);
}

const cli_command cli_train = {
    .name = "train",
    .arguments = "DATASET [--model NAME] [-o MODEL]",
    .summary = "Train a node classifier and keep its best validation epoch",
    .about = "Options override the preset of --mode. The model file (safetensors) holds "
             "the split and the training labels. Defaults shown are those of gcn.\n"
             "Labels of your own data are used as they are. Of the public datasets and of "
             "generated graphs a tenth is made wrong on purpose, as in the benchmark; "
             "--noise sets the share.\n"
             "--poisoned is for data that nobody knows to be clean. The model is trained on "
             "the links it trusts: `apply --flips` makes the snapshot it knows as clean, and "
             "`recover --poisoned` labels the poisoned one.\n",
    .examples = "train cora --model gcn -o cora.model\n"
                "train cora --model sage --hidden 64 --dropout 0.5 --curves\n"
                "train cora --split public --model sgc\n"
                "train my_folder/ --train 0.6 --val 0.2 -o my.model --plot my.svg\n"
                "train poisoned.npz --poisoned --flips cut.tsv -o clean.model\n"
                "train cora --mode paper --json\n"
                "train my_folder/ --predictor 'python3 my_gnn.py' -o my.model\n",
    .judges_data = true,
    .ranks = CLI_SHARED,
    .whole = whole,
    .min_arguments = 1,
    .max_arguments = 1,
    .group = {{"Options", table_of, sizeof(train_arguments), defaults}, CLI_SPLIT_GROUPS,
        {"Training", graphss_train_options_table, sizeof(graphss_train_options),
            train_defaults}},
    .run = run,
};
