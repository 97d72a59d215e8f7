/* ranks.c - the program as one of several ranks (--engine mpi). All run the same command, each
 * on its shard. Only rank 0 prints and writes files. An error of any rank is the error of all,
 * and rank 0 prints it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

bool cli_leads(const cli *app)
{
    return app->engine.rank == 0;
}

/* The value of --engine, read before the command line is parsed, so that rank 0 alone reports
 * mistakes in it. */
static const char *engine_of(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--engine") == 0 && i + 1 < argc)
            return argv[i + 1];
        if (strncmp(argv[i], "--engine=", 9) == 0)
            return argv[i] + 9;
    }
    return NULL;
}

graphss_status cli_ranks_start(cli *app, int argc, char **argv)
{
    const char *name = engine_of(argc, argv);
    if (!name)
        return GRAPHSS_OK;
    graphss_engine engine = {.struct_size = sizeof engine};
    const graphss_status st = graphss_engine_open(app->ctx, &engine, name);
    if (st)
        return st;
    app->engine = engine;
    if (!cli_leads(app) && !freopen("/dev/null", "w", stdout))
        return cli_fail(app, GRAPHSS_ERR_IO, "/dev/null cannot be opened");
    return graphss_ctx_join(app->ctx, &app->engine);
}

size_t cli_ranks_threads(const cli *app)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (app->global.threads || app->engine.ranks == 0)
        return (size_t)app->global.threads;
    return cores > app->engine.neighbours ? (size_t)(cores / app->engine.neighbours) : 1;
}

graphss_status cli_ranks_check(cli *app)
{
    if (app->engine.ranks == 0 || app->command->ranks)
        return GRAPHSS_OK;
    return cli_usage(app,
        "%s does not run with --engine: on several ranks there are train, predict, evaluate, "
        "alert, recover, attack and shard",
        app->command->name);
}

/* All ranks read the same file. One that cannot goes on, and meets the error where it is told.
 */
static const char *whole_model(cli *app)
{
    const char *path = cli_given(app, "model-file");
    graphss_model *model = NULL;
    graphss_predictor_use use;
    const char *what = NULL;
    if (!path || graphss_model_load(app->ctx, &model, path))
        return NULL;
    if (graphss_model_predictor_use(&use, model))
        what = "a predictor";
    else if (strcmp(graphss_model_options(model)->model, "gat") == 0)
        what = "gat";
    graphss_model_free(app->ctx, model);
    return what;
}

const char *cli_ranks_whole(cli *app, const char *const *option)
{
    for (; *option; option++)
        if (cli_given(app, *option))
            return *option;
    return whole_model(app);
}

graphss_status cli_ranks_run(cli *app)
{
    const graphss_engine engine = app->engine;
    const char *whole = engine.ranks && app->command->whole ? app->command->whole(app) : NULL;
    if (engine.ranks == 0 || (app->command->ranks != CLI_LED && !whole))
        return app->command->run(app);
    if (whole)
        cli_note(app,
            "note: %s is not for parts: rank 0 reads the whole dataset and works alone",
            whole);
    if (!cli_leads(app))
        return GRAPHSS_OK; /* and waits in cli_ranks_agree */
    app->engine = (graphss_engine){0};
    graphss_status st = graphss_ctx_join(app->ctx, NULL);
    if (!st)
        st = app->command->run(app);
    app->engine = engine;
    const graphss_status joined = graphss_ctx_join(app->ctx, &app->engine);
    return st ? st : joined;
}

graphss_status cli_ranks_agree(cli *app, graphss_status own)
{
    if (app->engine.ranks == 0 || !app->ctx)
        return own;
    const graphss_status st =
        graphss_engine_agree(app->ctx, own, app->error[0] ? app->error : NULL);
    if (st)
        snprintf(app->error, sizeof app->error, "%s", graphss_ctx_error(app->ctx));
    return st;
}

void cli_ranks_end(cli *app)
{
    if (app->engine.ranks == 0)
        return;
    app->engine.close(app->engine.user);
    app->engine = (graphss_engine){0};
}

graphss_status cli_read_part(cli *app, graphss_dataset *table, const char *where)
{
    if (cli_file_type_of(where) != CLI_FILE_FOLDER)
        return cli_fail(app, GRAPHSS_ERR_DATA,
            "%s: want a folder of shards, as graphss shard writes it", where);
    return graphss_part_open(app->ctx, &app->part, table, where);
}

graphss_status cli_read_past(
    cli *app, graphss_dataset *table, const char *where, const graphss_dataset *now)
{
    if (cli_file_type_of(where) != CLI_FILE_FOLDER)
        return cli_fail(app, GRAPHSS_ERR_DATA,
            "%s: want a folder of shards, as graphss shard writes it", where);
    return graphss_part_open_past(app->ctx, &app->past, table, where, app->part, now);
}

size_t cli_edges(const cli *app, const graphss_dataset *data)
{
    return app->part ? graphss_part_measure(app->part).edges
                     : graphss_graph_edges(&data->graph);
}

void cli_ranks_json(cli *app)
{
    if (!app->part)
        return;
    const graphss_part_sizes sizes = graphss_part_measure(app->part);
    json_t *object = json_object();
    cli_json_set(object, "name", cli_json_text("mpi"));
    cli_json_set(object, "ranks", json_integer(app->engine.ranks));
    cli_json_set(object, "rank_nodes", json_integer((json_int_t)sizes.nodes));
    cli_json_set(object, "rank_ghosts", json_integer((json_int_t)sizes.ghosts));
    cli_json_set(object, "rank_halo_bytes", json_integer((json_int_t)sizes.halo_bytes));
    cli_json_set(app->json, "engine", object);
    json_t *dataset = json_object_get(app->json, "dataset");
    if (dataset)
        cli_json_set(dataset, "edges", json_integer((json_int_t)sizes.edges));
}
