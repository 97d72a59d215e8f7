/* cmd_extract.c - tables of a database as a dataset, and the point changes are read from. */
#include <stddef.h>
#include <stdlib.h>

#include "cli.h"

typedef struct extract_arguments {
    const char *output;
    bool start;
} extract_arguments;

#define FIELD(name) offsetof(extract_arguments, name)
static const graphss_option rows[] = {
    {"output", GRAPHSS_OPTION_STRING, FIELD(output), 0, 0, NULL, "FOLDER",
        "where nodes.csv and edges.csv are written", 'o'},
    {"start", GRAPHSS_OPTION_BOOL, FIELD(start), 0, 0, NULL, NULL,
        "make the slot that watch reads later changes from, and the publication if it is not "
        "there; the server keeps its log until watch has read it",
        0},
    {0},
};

static const graphss_option *table_of(void)
{
    return rows;
}

static void defaults(void *options)
{
    *(extract_arguments *)options = (extract_arguments){0};
}

static graphss_status run(cli *app)
{
    extract_arguments own;
    graphss_dataset data = {0};
    defaults(&own);
    graphss_status st = cli_apply(app, 0, &own);
    if (!st && !own.output)
        st = cli_usage(app, "extract: want -o FOLDER");
    if (!st)
        st = graphss_event_source_extract(app->ctx, app->argument[0], own.output, own.start);
    if (!st)
        st = cli_read_dataset(app, &data, own.output);
    if (!st && app->json) {
        cli_json_set(app->json, "path", cli_json_text(own.output));
        cli_json_set(app->json, "nodes", json_integer((json_int_t)data.graph.n_nodes));
        cli_json_set(
            app->json, "links", json_integer((json_int_t)graphss_graph_edges(&data.graph)));
        cli_json_run(app, app->json);
    } else if (!st) {
        printf("Nodes    %zu\nLinks    %zu\nWritten  ", data.graph.n_nodes,
            graphss_graph_edges(&data.graph));
        terminal_text(&app->term, stdout, own.output, 0);
        printf("\n");
    }
    graphss_dataset_destroy(app->ctx, &data);
    return st;
}

const cli_command cli_extract = {
    .name = "extract",
    .arguments = "postgresql:MAP.json -o FOLDER [--start]",
    .summary = "Write tables of a database as a dataset",
    .about = "MAP.json says which tables are nodes and which are links (docs/live.md). They "
             "are read in one transaction. With --start, watch --events postgresql:MAP.json "
             "continues exactly from there.\n",
    .examples =
        "extract postgresql:shop.json -o shop/ --start\n"
        "watch shop/ --model-file model --store live.db --events postgresql:shop.json\n",
    .min_arguments = 1,
    .max_arguments = 1,
    .group = {{"Options", table_of, sizeof(extract_arguments), defaults}},
    .run = run,
};
