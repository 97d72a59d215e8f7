/* training.c - train a model, predict every node, compare with the truth: what `train` and
 * `demo` share. */
#include <math.h>
#include <stdlib.h>

#include "cli.h"

graphss_status cli_teach(cli *app, graphss_model *model, const graphss_dataset *data)
{
    const graphss_observation seen = graphss_dataset_observe(data);
    const graphss_status st =
        graphss_alert_train(app->ctx, model, &seen, (uint64_t)app->global.seed);
    terminal_clear(&app->term);
    return st;
}

/* Fits a model to the answers of a program. */
static graphss_status fit_program(cli *app, cli_fit *fit, const char *command,
    const graphss_dataset *data, const graphss_split *split,
    const graphss_train_options *options)
{
    graphss_predictor p;
    graphss_predictor_use use;
    graphss_status st = cli_predictor_open(app, &p, command, data->n_classes);
    if (st)
        return st;
    st = graphss_model_from_predictor(app->ctx, &fit->model, &p,
        &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
            .graph = &data->graph,
            .features = &data->features,
            .n_classes = data->n_classes,
            .split = split,
            .seed = (uint64_t)app->global.seed},
        options);
    if (st) {
        p.release(p.user);
        return st;
    }
    graphss_model_predictor_use(&use, fit->model);
    cli_note(app, "note: fitted to the program, with which it agrees on %.1f %% of the nodes",
        100 * use.agreement);
    if (app->json)
        cli_json_set(app->json, "agreement", cli_json_real(use.agreement));
    return GRAPHSS_OK;
}

/* Share of listed nodes with that label; NaN without any. */
static double share_of(
    const int32_t *found, const int32_t *node, const int32_t *label, size_t n)
{
    size_t same = 0;
    for (size_t i = 0; i < n; i++)
        same += found[node[i]] == label[i];
    return n ? (double)same / (double)n : NAN;
}

/* The same on several ranks. alert fits its detector when it first needs it. */
static graphss_status fit_part(cli *app, cli_fit *fit, const graphss_dataset *table,
    const graphss_split *split, const graphss_train_options *options)
{
    graphss_status st = graphss_part_train(app->ctx, &fit->model, &fit->log, app->part,
        &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
            .n_classes = table->n_classes,
            .split = split,
            .seed = (uint64_t)app->global.seed},
        options);
    terminal_clear(&app->term);
    if (!st)
        st = graphss_part_describe(app->ctx, fit->model, app->part, table);
    if (!st)
        st =
            graphss_part_rehearse(app->ctx, fit->model, app->part, (uint64_t)app->global.seed);
    terminal_clear(&app->term);
    if (!st)
        st = cli_alloc_large(app, &fit->label, table->graph.n_nodes, sizeof *fit->label);
    if (!st)
        st = graphss_part_label(app->ctx, fit->label, fit->model, app->part);
    if (st) {
        cli_fit_done(app, fit);
        return st;
    }
    fit->test_accuracy =
        table->label && split->n_test > 0
            ? graphss_labels_accuracy(fit->label, table->label, split->test, split->n_test)
            : NAN;
    return GRAPHSS_OK;
}

graphss_status cli_fit_run(cli *app, cli_fit *fit, const graphss_dataset *data,
    const graphss_split *split, const graphss_train_options *options)
{
    const size_t n = data->graph.n_nodes, k = data->n_classes;
    *fit = (cli_fit){0};
    const char *command = cli_given(app, "predictor");
    if (app->part)
        return fit_part(app, fit, data, split, options);
    graphss_status st =
        command ? fit_program(app, fit, command, data, split, options)
                : graphss_model_train(app->ctx, &fit->model, &fit->log,
                      &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                          .graph = &data->graph,
                          .features = &data->features,
                          .n_classes = k,
                          .split = split,
                          .seed = (uint64_t)app->global.seed},
                      options);
    terminal_clear(&app->term);
    if (!st)
        st = graphss_model_set_dataset(app->ctx, fit->model, data);
    if (!st)
        st = cli_teach(app, fit->model, data);
    if (!st)
        st = cli_alloc_large(app, &fit->label, n, sizeof *fit->label);
    if (!st)
        st = graphss_model_label(
            app->ctx, fit->label, fit->model, &data->graph, &data->features);
    if (st)
        goto done;
    if (command) {
        fit->log.train_accuracy =
            share_of(fit->label, split->train, split->train_label, split->n_train);
        fit->log.val_accuracy =
            share_of(fit->label, split->val, split->val_label, split->n_val);
    }
    fit->test_accuracy =
        data->label && split->n_test > 0
            ? graphss_labels_accuracy(fit->label, data->label, split->test, split->n_test)
            : NAN;
done:
    if (st)
        cli_fit_done(app, fit);
    return st;
}

void cli_fit_done(cli *app, cli_fit *fit)
{
    graphss_model_free(app->ctx, fit->model);
    graphss_training_destroy(app->ctx, &fit->log);
    free(fit->label);
    *fit = (cli_fit){0};
}

void cli_fit_curves(cli *app, const cli_fit *fit)
{
    draw_curve(
        &app->term, stdout, "Training loss by epoch", fit->log.loss, fit->log.epochs, 1, "");
    draw_curve(&app->term, stdout, "Validation accuracy by epoch", fit->log.val_acc,
        fit->log.epochs, 100, " %");
}

void cli_fit_json(json_t *object, const cli_fit *fit)
{
    cli_json_set(object, "train_accuracy", cli_json_real(fit->log.train_accuracy));
    cli_json_set(object, "val_accuracy", cli_json_real(fit->log.val_accuracy));
    cli_json_set(object, "test_accuracy", cli_json_real(fit->test_accuracy));
    cli_json_set(object, "epochs", json_integer((json_int_t)fit->log.epochs));
    cli_json_set(object, "best_epoch", json_integer((json_int_t)fit->log.best_epoch));
    cli_json_set(object, "seconds", cli_json_real(fit->log.seconds));
}

char **cli_class_names(const graphss_dataset *data, size_t n_classes)
{
    char **name = cli_alloc(n_classes, sizeof *name);
    char buffer[24];
    for (size_t k = 0; k < n_classes; k++)
        name[k] = cli_format("%s", cli_class_name(data, k, buffer));
    return name;
}

void cli_class_names_done(char **name, size_t n_classes)
{
    for (size_t k = 0; k < n_classes; k++)
        free(name[k]);
    free(name);
}
