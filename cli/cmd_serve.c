/* cmd_serve.c - a live graph behind HTTP. */
#include <graphss_serve/serve.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "live_graph.h"

typedef struct serve_arguments {
    const char *model_file, *graph, *new_token;
    const char *events; /* the last one; all are in app->item */
} serve_arguments;

#define FIELD(name) offsetof(serve_arguments, name)
static const graphss_option rows[] = {
    {"model-file", GRAPHSS_OPTION_STRING, FIELD(model_file), 0, 0, NULL, "MODEL",
        "the classifier, as train wrote it", 0},
    {"graph", GRAPHSS_OPTION_STRING, FIELD(graph), 0, 0, NULL, "DATASET",
        "the first trusted snapshot; an existing store has its own", 0},
    {"events", GRAPHSS_OPTION_STRING, FIELD(events), 0, 0, NULL, "SOURCE",
        "a source of events besides HTTP; may be given again", 0},
    {"new-token", GRAPHSS_OPTION_STRING, FIELD(new_token), 0, 0, NULL, "ROLE:NAME",
        "add a token to the file of --tokens, print it, and end; ROLE is read, write or admin",
        0},
    {0},
};

static const graphss_option *table_of(void)
{
    return rows;
}

static void defaults(void *options)
{
    *(serve_arguments *)options = (serve_arguments){0};
}

static void serve_defaults(void *options)
{
    graphss_serve_options_init(options);
}

static graphss_status new_token(cli *app, const char *text, const char *path)
{
    char role[16];
    char *token = NULL;
    const char *colon = strchr(text, ':');
    if (!path || !colon || (size_t)(colon - text) >= sizeof role)
        return cli_usage(app, "serve: want --new-token ROLE:NAME and --tokens FILE");
    snprintf(role, sizeof role, "%.*s", (int)(colon - text), text);
    const graphss_status st =
        graphss_server_token_add(app->ctx, &token, path, role, colon + 1);
    if (st)
        return st;
    if (app->json)
        cli_json_set(app->json, "token", cli_json_text(token));
    else
        printf("%s\n", token);
    graphss_release(app->ctx, token);
    return GRAPHSS_OK;
}

/* The sources of --events. */
static graphss_status open_sources(
    cli *app, graphss_serve_options *opt, const graphss_dataset *data)
{
    for (size_t i = 0; i < app->n_items; i++) {
        if (app->item[i].group != 0 || strcmp(app->item[i].row->name, "events") != 0)
            continue;
        if (opt->n_sources == GRAPHSS_SERVE_SOURCES)
            return cli_usage(app, "serve: more than %d sources", (int)GRAPHSS_SERVE_SOURCES);
        const graphss_status st = graphss_event_source_open(
            app->ctx, &opt->source[opt->n_sources], app->item[i].text, data);
        if (st)
            return st;
        opt->n_sources++;
    }
    return GRAPHSS_OK;
}

/* Static because a signal handler can reach nothing else. */
static graphss_server *volatile running;

static void on_hangup(int signal_number)
{
    (void)signal_number;
    graphss_server_reload(running);
}

static graphss_status serve(cli *app, graphss_store *store, graphss_model *model,
    graphss_live *live, const graphss_serve_options *opt)
{
    graphss_server *server = NULL;
    graphss_status st = graphss_server_new(app->ctx, &server, store, model, live, opt);
    if (!st) {
        if (app->json)
            cli_json_set(app->json, "address", cli_json_text(graphss_server_address(server)));
        else
            printf("Serving  %s\n", graphss_server_address(server));
        fflush(stdout);
        running = server;
        signal(SIGHUP, on_hangup);
        st = graphss_server_run(app->ctx, server);
        signal(SIGHUP, SIG_IGN);
        running = NULL;
    }
    graphss_server_free(app->ctx, server);
    return st;
}

static graphss_status run(cli *app)
{
    serve_arguments own;
    graphss_serve_options how;
    live_arguments shared;
    graphss_live_options opt;
    graphss_model *model = NULL;
    graphss_dataset data = {0};
    graphss_store *store = NULL;
    graphss_live *live = NULL;
    char *secret = NULL;
    defaults(&own);
    graphss_serve_options_init(&how);
    live_arguments_defaults(&shared);
    graphss_live_options_init(&opt);
    graphss_status st = cli_apply(app, 0, &own);
    if (!st)
        st = cli_apply(app, 1, &how);
    if (!st)
        st = cli_apply(app, 2, &shared);
    if (!st)
        st = cli_apply(app, 3, &opt);
    if (!st)
        st = live_take_options(app, &opt, &shared);
    if (st)
        return st;
    if (own.new_token)
        return new_token(app, own.new_token, how.tokens);
    if (!own.model_file || !shared.store)
        return cli_usage(app, "serve: want --model-file MODEL, --store FILE and, if the store "
                              "is new, --graph DATASET");
    const char *const input[] = {own.graph, own.model_file};
    st = live_take_receivers(app, &how.tell, &secret, &shared);
    if (!st && !graphss_store_is_server(shared.store))
        st = cli_check_output(app, shared.store, input, 2);
    if (!st)
        st = cli_load_model(app, &model, own.model_file);
    if (!st && own.graph) {
        st = cli_read_dataset(app, &data, own.graph);
        if (!st)
            st = cli_align(app, model, &data, NULL);
    }
    if (!st)
        st = graphss_store_open(app->ctx, &store, shared.store, GRAPHSS_STORE_WRITE);
    if (!st)
        st = live_open(app, &live, store, model, own.graph ? &data : NULL, &shared, &opt);
    if (!st)
        st = open_sources(app, &how, own.graph ? &data : NULL);
    how.model_file = own.model_file;
    if (!st) {
        graphss_store_keep(store, (uint64_t)shared.keep);
        live_warn(app, live);
        st = serve(app, store, model, live, &how);
        model = NULL; /* it was the server's */
        live = NULL;
    }
    free(secret);
    for (size_t i = 0; i < how.n_sources; i++)
        graphss_event_source_free(app->ctx, how.source[i]);
    graphss_live_free(app->ctx, live);
    graphss_store_close(app->ctx, store);
    graphss_dataset_destroy(app->ctx, &data);
    graphss_model_free(app->ctx, model);
    return st;
}

const cli_command cli_serve = {
    .name = "serve",
    .arguments = "--model-file MODEL --store FILE [--graph DATASET]",
    .summary = "Serve a graph that changes over HTTP: events in, alerts and a page out",
    .about =
        "The engine of watch behind HTTP (docs/service.md). Events come by POST /v1/events "
        "and from the sources of --events; the page for people is at /, metrics for "
        "Prometheus at /metrics. Only this machine can reach it unless --tokens and either "
        "TLS or --behind-proxy are given. SIGTERM answers the waiting requests and ends; "
        "SIGHUP reads tokens and model again. docs/operations.md says how to run it.\n",
    .examples = "serve --model-file model --graph monday.npz --store live.db\n"
                "serve --model-file model --store live.db --listen unix:/run/graphss.sock "
                "--events tail:events.jsonl\n"
                "serve --new-token write:crm --tokens tokens\n",
    .max_arguments = 0,
    .group = {{"Options", table_of, sizeof(serve_arguments), defaults},
        {"The service", graphss_serve_options_table, sizeof(graphss_serve_options),
            serve_defaults},
        {"The live graph", live_arguments_table, sizeof(live_arguments),
            live_arguments_defaults},
        {"Its test", graphss_live_options_table, sizeof(graphss_live_options),
            live_options_defaults}},
    .run = run,
};
