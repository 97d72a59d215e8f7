/* cmd_split.c - draws train, validation and test nodes and writes them as .npz. */
#include <stddef.h>

#include "cli.h"

typedef struct split_output {
    const char *output;
} split_output;

static const graphss_option rows[] = {
    {"output", GRAPHSS_OPTION_STRING, offsetof(split_output, output), 0, 0, NULL, "FILE.npz",
        "where to write", 'o'},
    {0},
};

static const graphss_option *table_of(void)
{
    return rows;
}

static void defaults(void *options)
{
    *(split_output *)options = (split_output){0};
}

static graphss_status run(cli *app)
{
    split_output own = {0};
    cli_split_options opt = {0};
    graphss_dataset data = {0};
    graphss_split split = {0};
    graphss_status st = cli_apply(app, 0, &own);
    if (!st)
        st = cli_split_apply(app, 1, &opt);
    if (st)
        return st;
    if (!own.output)
        return cli_usage(app, "split: want -o FILE.npz");
    if (!cli_has_extension(own.output, ".npz"))
        return cli_usage(app, "split: %s: want a name that ends in .npz", own.output);
    const char *const input[] = {app->argument[0], opt.from};
    st = cli_check_output(app, own.output, input, 2);
    if (st)
        return st;

    st = cli_read_dataset(app, &data, app->argument[0]);
    if (!st)
        st = cli_split_choose(app, &split, &data, &opt);
    if (!st)
        st = graphss_split_write(app->ctx, &split, own.output);
    if (st)
        goto done;
    if (app->json) {
        cli_json_set(app->json, "path", cli_json_text(own.output));
        cli_json_set(app->json, "train", json_integer((json_int_t)split.n_train));
        cli_json_set(app->json, "val", json_integer((json_int_t)split.n_val));
        cli_json_set(app->json, "test", json_integer((json_int_t)split.n_test));
        if (!opt.from)
            cli_json_set(app->json, "noise", cli_json_real(opt.make.noise));
        cli_json_set(app->json, "labels_flipped", json_integer((json_int_t)split.n_flipped));
        cli_json_set(app->json, "seed", json_integer(app->global.seed));
        cli_json_set(app->json, "dataset", cli_json_dataset(&data));
    } else {
        cli_show_dataset(app, &data);
        cli_print_split(app, &split, &opt);
        printf("Written  ");
        terminal_text(&app->term, stdout, own.output, 0);
        printf("\n");
    }
done:
    graphss_split_destroy(app->ctx, &split);
    graphss_dataset_destroy(app->ctx, &data);
    return st;
}

const cli_command cli_split = {
    .name = "split",
    .arguments = "DATASET -o FILE.npz",
    .summary = "Draw training, validation and test nodes and noisy labels",
    .about = "The file holds train, val, test (node indices) and train_labels, val_labels. "
             "Labels of your own data are written as they are. Of the public datasets and of "
             "generated graphs a tenth is made wrong on purpose; --noise sets the share.\n",
    .examples = "split cora -o cora_split.npz\n"
                "split cora --train 0.1 --val 0.1 --noise 0 --seed 7 -o few.npz\n",
    .min_arguments = 1,
    .max_arguments = 1,
    .group = {{"Options", table_of, sizeof(split_output), defaults}, CLI_SPLIT_GROUPS},
    .run = run,
};
