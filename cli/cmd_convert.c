/* cmd_convert.c - any readable dataset as .npz. */
#include <stddef.h>

#include "cli.h"

typedef struct convert_options {
    const char *output;
} convert_options;

static const graphss_option rows[] = {
    {"output", GRAPHSS_OPTION_STRING, offsetof(convert_options, output), 0, 0, NULL,
        "FILE.npz", "where to write", 'o'},
    {0},
};

static const graphss_option *table_of(void)
{
    return rows;
}

static void defaults(void *options)
{
    *(convert_options *)options = (convert_options){0};
}

static graphss_status run(cli *app)
{
    convert_options opt = {0};
    graphss_dataset data = {0};
    graphss_status st = cli_apply(app, 0, &opt);
    if (st)
        return st;
    if (!opt.output)
        return cli_usage(app, "convert: want -o FILE.npz");
    if (!cli_has_extension(opt.output, ".npz"))
        return cli_usage(app, "convert: %s: want a name that ends in .npz", opt.output);
    st = cli_check_output(app, opt.output, app->argument, 1);
    if (st)
        return st;
    st = cli_read_dataset(app, &data, app->argument[0]);
    if (st)
        return st;
    st = graphss_dataset_write(app->ctx, &data, opt.output);
    if (st)
        goto done;
    if (app->json) {
        cli_json_set(app->json, "path", cli_json_text(opt.output));
        cli_json_set(app->json, "dataset", cli_json_dataset(&data));
    } else {
        cli_show_dataset(app, &data);
        printf("Written  ");
        terminal_text(&app->term, stdout, opt.output, 0);
        printf("\n");
    }
done:
    graphss_dataset_destroy(app->ctx, &data);
    return st;
}

const cli_command cli_convert = {
    .name = "convert",
    .arguments = "DATASET -o FILE.npz",
    .summary = "Write any readable dataset as .npz",
    .about = "The file has the gnn-benchmark layout, which numpy and scipy read.\n",
    .examples = "convert my_folder/ -o my.npz\nconvert data/ind.cora -o cora.npz\n"
                "convert synth:nodes=5000,degree=8 -o made.npz\n",
    .judges_data = true,
    .min_arguments = 1,
    .max_arguments = 1,
    .group = {{"Options", table_of, sizeof(convert_options), defaults}},
    .run = run,
};
