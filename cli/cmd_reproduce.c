/* cmd_reproduce.c - the tables and figures of the paper, and ours, as lines of JSON. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct reproduce_arguments {
    bool list;
    const char *predictor;
} reproduce_arguments;

static const graphss_option rows[] = {
    {"list", GRAPHSS_OPTION_BOOL, offsetof(reproduce_arguments, list), 0, 0, NULL, NULL,
        "name the recipes, and stop", 0},
    {"predictor", GRAPHSS_OPTION_STRING, offsetof(reproduce_arguments, predictor), 0, 0, NULL,
        "COMMAND",
        "a program that answers in place of the classifiers, COMMAND IN.npz OUT.npz; with one "
        "of --datasets",
        0},
    {0},
};

static const graphss_option *table_of(void)
{
    return rows;
}

static void defaults(void *options)
{
    *(reproduce_arguments *)options = (reproduce_arguments){0};
}

static void reproduce_defaults(void *options)
{
    *(graphss_reproduce_options *)options =
        (graphss_reproduce_options){.struct_size = sizeof(graphss_reproduce_options)};
}

/* The remark at the head of a recipe, line by line. */
static void list_recipes(cli *app)
{
    json_t *all = json_array();
    const char *name, *text;
    size_t n;
    for (size_t i = 0; (name = graphss_reproduce_recipe(i, &text, &n)) != NULL; i++) {
        char *about = cli_format("%s", "");
        while (n > 0 && *text == '#') {
            const char *end = memchr(text, '\n', n);
            const size_t length = end ? (size_t)(end - text) : n;
            char *longer = cli_format("%s%s%.*s", about, *about ? " " : "",
                (int)(length > 2 ? length - 2 : 0), text + 2);
            free(about);
            about = longer;
            text += length + (end != NULL);
            n -= length + (end != NULL);
        }
        if (app->json)
            json_array_append_new(all, json_pack("{s:s, s:s}", "name", name, "about", about));
        else
            printf("%s\n", about);
        free(about);
    }
    if (app->json)
        cli_json_set(app->json, "recipes", all);
    else
        json_decref(all);
}

static void show(cli *app, const graphss_reproduce_result *done, const char *path)
{
    if (app->json) {
        cli_json_set(app->json, "path", cli_json_text(path));
        cli_json_set(app->json, "cells", json_integer((json_int_t)done->cells));
        cli_json_set(app->json, "before", json_integer((json_int_t)done->before));
        cli_json_set(app->json, "run", json_integer((json_int_t)done->run));
        cli_json_set(app->json, "failed", json_integer((json_int_t)done->failed));
        cli_json_set(app->json, "seconds", cli_json_real(done->seconds));
        cli_json_run(app, app->json);
        return;
    }
    printf("Cells    %zu: %zu recorded before, %zu run now, %zu failed; %.1f s\n", done->cells,
        done->before, done->run, done->failed, done->seconds);
    if (done->first_error[0]) {
        printf("Failed   ");
        terminal_text(&app->term, stdout, done->first_error, 0);
        printf("\n");
    }
    printf("Written  ");
    terminal_text(&app->term, stdout, path, 0);
    printf("\n");
}

/* The program, for the classes of the one dataset. */
static graphss_status open_program(
    cli *app, graphss_predictor *out, const char *command, const char *datasets)
{
    const graphss_read_options read = {
        .struct_size = sizeof read, .data_dirs = app->data_dirs};
    graphss_dataset data = {0};
    if (!datasets || (strncmp(datasets, "synth:", 6) != 0 && strchr(datasets, ',')))
        return cli_usage(app, "reproduce: --predictor answers for one of --datasets");
    graphss_status st = graphss_dataset_read(app->ctx, &data, datasets, &read);
    if (!st)
        st = cli_predictor_open(app, out, command, data.n_classes);
    app->predictor = false; /* its calls are counted in the records */
    graphss_dataset_destroy(app->ctx, &data);
    return st;
}

static graphss_status run(cli *app)
{
    reproduce_arguments own;
    graphss_reproduce_options opt;
    graphss_reproduce_result done = {0};
    graphss_predictor program = {0};
    defaults(&own);
    reproduce_defaults(&opt);
    graphss_status st = cli_apply(app, 0, &own);
    if (!st)
        st = cli_apply(app, 1, &opt);
    if (st)
        return st;
    if (own.list) {
        list_recipes(app);
        return GRAPHSS_OK;
    }
    opt.what = app->n_arguments ? app->argument[0] : NULL;
    opt.data_dirs = app->data_dirs;
    if (!opt.what && !opt.recipe)
        return cli_usage(app, "reproduce: want what to reproduce, such as defence, or all");
    if (opt.what && opt.recipe)
        return cli_usage(app, "reproduce: --recipe says what to run, '%s' cannot", opt.what);
    if (!opt.folder)
        return cli_usage(app, "reproduce: want -o DIR");
    if (own.predictor) {
        st = open_program(app, &program, own.predictor, opt.datasets);
        if (st)
            return st;
        opt.predictor = &program;
        opt.predictor_name = own.predictor;
    }
    char *path = cli_format("%s/records.jsonl", opt.folder);
    st = graphss_reproduce_run(app->ctx, &done, (uint64_t)app->global.seed, &opt);
    terminal_clear(&app->term);
    if (done.cut)
        cli_note(app, "note: %s: %zu bytes of a line that was never finished are gone", path,
            done.cut);
    if (st == GRAPHSS_ERR_CANCELLED)
        cli_note(app, "%zu of %zu cells are in %s; the same command continues",
            done.before + done.run, done.cells, path);
    if (!st)
        show(app, &done, path);
    app->partial = done.first_code;
    if (program.release)
        program.release(program.user);
    free(path);
    return st;
}

const cli_command cli_reproduce = {
    .name = "reproduce",
    .arguments = "WHAT -o DIR",
    .summary = "Run the experiments behind the tables and figures",
    .about = "WHAT is datasets, defence, alert, runtime, parameters, ablation, confusion, "
             "attackers, budget, noise, scale, calibration, the name of a recipe, or "
             "all.\nEach result is written at once as a line of DIR/records.jsonl. Existing "
             "results are not run again, so an interrupted run continues when it is started "
             "again.\nAs many experiments run side by side as there are --threads; each uses "
             "one.\nIf some fail, the rest still runs; the exit code is then that of the "
             "first that failed (4: it took too long or too much memory).\n",
    .examples = "reproduce datasets -o results\n"
                "reproduce defence --mode honest --datasets cora --models gcn -o results\n"
                "reproduce all --datasets cora -o results\n"
                "reproduce defence --datasets cora --predictor 'python3 my_gnn.py' -o mine\n"
                "reproduce --list\n",
    .min_arguments = 0,
    .max_arguments = 1,
    .group = {{"Options", table_of, sizeof(reproduce_arguments), defaults},
        {"Experiments", graphss_reproduce_options_table, sizeof(graphss_reproduce_options),
            reproduce_defaults}},
    .run = run,
};
