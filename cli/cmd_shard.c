/* cmd_shard.c - cuts a dataset into the parts that ranks work on, and puts them together. */
#include <stddef.h>
#include <string.h>

#include "cli.h"

typedef struct shard_options {
    const char *output, *partition;
    int64_t parts;
    bool merge;
} shard_options;

#define FIELD(name) offsetof(shard_options, name)
static const graphss_option rows[] = {
    {"output", GRAPHSS_OPTION_STRING, FIELD(output), 0, 0, NULL, "DIR",
        "where to write: a new folder, or FILE.npz with --merge", 'o'},
    {"parts", GRAPHSS_OPTION_INT, FIELD(parts), 1, 65536, NULL, "R",
        "how many shards: one for each rank that will work on them", 0},
    {"partition", GRAPHSS_OPTION_STRING, FIELD(partition), 0, 0, NULL, "HOW",
        "blocks: nodes in their order; scotch: few edges between parts; or a file with the "
        "part "
        "of a node in each line",
        0},
    {"merge", GRAPHSS_OPTION_BOOL, FIELD(merge), 0, 0, NULL, NULL,
        "the argument is a folder of shards: write it as one dataset", 0},
    {0},
};

static const graphss_option *table_of(void)
{
    return rows;
}

static void defaults(void *options)
{
    *(shard_options *)options = (shard_options){.partition = "blocks", .parts = 2};
}

static graphss_status choose_parts(
    cli *app, int32_t **part, const graphss_dataset *data, const shard_options *opt)
{
    const size_t n = data->graph.n_nodes, parts = (size_t)opt->parts;
    if (strcmp(opt->partition, "blocks") == 0)
        return graphss_partition_blocks(app->ctx, part, n, parts);
    if (strcmp(opt->partition, "scotch") == 0)
        return graphss_partition_scotch(app->ctx, part, &data->graph, parts);
    return graphss_partition_read(app->ctx, part, n, parts, opt->partition);
}

static void show_written(cli *app, const graphss_dataset *data, const char *path)
{
    if (app->json) {
        cli_json_set(app->json, "path", cli_json_text(path));
        cli_json_set(app->json, "dataset", cli_json_dataset(data));
        return;
    }
    cli_show_dataset(app, data);
    printf("Written  ");
    terminal_text(&app->term, stdout, path, 0);
    printf("\n");
}

static void show_cut(cli *app, const graphss_shards_summary *s, const char *partition)
{
    const double share = s->entries ? (double)s->cut / (double)s->entries : 0;
    if (app->json) {
        cli_json_set(app->json, "parts", json_integer((json_int_t)s->parts));
        cli_json_set(app->json, "partition", cli_json_text(partition));
        cli_json_set(app->json, "cut_edges", json_integer((json_int_t)(s->cut / 2)));
        cli_json_set(app->json, "cut_share", cli_json_real(share));
        cli_json_set(app->json, "least_nodes", json_integer((json_int_t)s->least_nodes));
        cli_json_set(app->json, "most_nodes", json_integer((json_int_t)s->most_nodes));
        return;
    }
    printf("Parts    %zu of %zu to %zu nodes, %.1f %% of the edges between two of them\n",
        s->parts, s->least_nodes, s->most_nodes, 100 * share);
}

static graphss_status cut(cli *app, const graphss_dataset *data, const shard_options *opt)
{
    graphss_shards_summary summary = {0};
    int32_t *part = NULL;
    graphss_status st = choose_parts(app, &part, data, opt);
    if (!st)
        st = graphss_shards_write(
            app->ctx, &summary, data, part, (size_t)opt->parts, opt->output);
    graphss_release(app->ctx, part);
    terminal_clear(&app->term);
    if (st)
        return st;
    if (data->missing.count)
        cli_note(app, "note: %zu empty cells are written as the mean they were filled with",
            data->missing.count);
    show_written(app, data, opt->output);
    show_cut(app, &summary, opt->partition);
    return GRAPHSS_OK;
}

/* On several ranks each reads a slice of the lines. The written shards are read again, which
 * checks them. */
static graphss_status cut_slices(cli *app, const shard_options *opt)
{
    graphss_shards_summary summary = {0};
    graphss_dataset data = {0};
    if (opt->merge)
        return cli_usage(app, "shard: --merge works on one machine, without --engine");
    if (cli_given(app, "parts") && opt->parts != app->engine.ranks)
        return cli_usage(app, "shard: --parts %lld for %d ranks, want one for each",
            (long long)opt->parts, (int)app->engine.ranks);
    if (strcmp(opt->partition, "blocks") != 0)
        return cli_usage(app,
            "shard: --partition %s needs the whole graph: with --engine "
            "nodes stay in their order",
            opt->partition);
    graphss_status st = graphss_part_write(app->ctx, &summary, app->argument[0], opt->output,
        (graphss_missing_rule)app->global.missing);
    if (!st)
        st = cli_read_dataset(app, &data, opt->output);
    terminal_clear(&app->term);
    if (!st) {
        show_written(app, &data, opt->output);
        show_cut(app, &summary, opt->partition);
        if (app->json)
            cli_ranks_json(app);
    }
    graphss_dataset_destroy(app->ctx, &data);
    return st;
}

static graphss_status run(cli *app)
{
    shard_options opt;
    graphss_dataset data = {0};
    defaults(&opt);
    graphss_status st = cli_apply(app, 0, &opt);
    if (st)
        return st;
    if (!opt.output)
        return cli_usage(app, "shard: want -o %s", opt.merge ? "FILE.npz" : "DIR");
    if (app->engine.ranks)
        return cut_slices(app, &opt);
    if (opt.merge && (cli_given(app, "parts") || cli_given(app, "partition")))
        return cli_usage(app, "shard: --merge makes one dataset, --%s has no meaning",
            cli_given(app, "parts") ? "parts" : "partition");
    if (opt.merge && !cli_has_extension(opt.output, ".npz"))
        return cli_usage(app, "shard: %s: want a name that ends in .npz", opt.output);
    if (!opt.merge && !cli_given(app, "parts"))
        return cli_usage(app, "shard: want --parts R, one for each rank");
    if (opt.merge)
        st = cli_check_output(app, opt.output, app->argument, 1);
    if (!st)
        st = cli_read_dataset(app, &data, app->argument[0]);
    if (st)
        return st;
    if (opt.merge) {
        st = graphss_dataset_write(app->ctx, &data, opt.output);
        if (!st)
            show_written(app, &data, opt.output);
    } else {
        st = cut(app, &data, &opt);
    }
    graphss_dataset_destroy(app->ctx, &data);
    return st;
}

const cli_command cli_shard = {
    .name = "shard",
    .arguments = "DATASET -o DIR --parts R [--partition HOW]",
    .summary = "Cut a dataset into parts for several machines",
    .about = "Writes part-0000.npz ... and shards.json, with a checksum of each part. Any "
             "command reads the folder as the original dataset; mpiexec -n R graphss --engine "
             "mpi ... works on it with a part to each rank (docs/distributed.md).\n\nWith "
             "--engine mpi each rank reads a slice of a plain edge list or of nodes.csv and "
             "edges.csv, and none needs memory for the whole.\n",
    .examples = "shard cora -o cora.shards --parts 2\n"
                "shard my_folder/ -o my.shards --parts 4 --partition scotch\n"
                "shard my.npz -o my.shards --parts 8 --partition my.part\n"
                "shard --merge my.shards -o again.npz\n"
                "shard my_folder/ -o my.shards --engine mpi\n",
    .judges_data = true,
    .ranks = CLI_SHARED,
    .min_arguments = 1,
    .max_arguments = 1,
    .group = {{"Options", table_of, sizeof(shard_options), defaults}},
    .run = run,
};
