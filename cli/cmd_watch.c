/* cmd_watch.c - a live graph in a terminal: events in, alerts out, kept in a store. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "live_graph.h"

typedef struct watch_arguments {
    const char *model_file, *events, *output;
    int64_t batch;
    double wait, idle;
} watch_arguments;

#define FIELD(name) offsetof(watch_arguments, name)
static const graphss_option rows[] = {
    {"model-file", GRAPHSS_OPTION_STRING, FIELD(model_file), 0, 0, NULL, "MODEL",
        "the classifier, as train wrote it", 0},
    {"events", GRAPHSS_OPTION_STRING, FIELD(events), 0, 0, NULL, "SOURCE",
        "- (standard input), FILE, tail:FILE (waits for more), flips:FILE, "
        "postgresql:MAP.json "
        "or "
        "kafka:MAP.json",
        0},
    {"batch", GRAPHSS_OPTION_INT, FIELD(batch), 1, 100000, NULL, "N",
        "most events applied at once", 0},
    {"wait", GRAPHSS_OPTION_REAL, FIELD(wait), 0, 3600, NULL, "SECONDS",
        "longest time to wait for a batch to fill", 0},
    {"idle", GRAPHSS_OPTION_REAL, FIELD(idle), 0, 1e9, NULL, "SECONDS",
        "end after this time without an event (default: never)", 0},
    {"output", GRAPHSS_OPTION_STRING, FIELD(output), 0, 0, NULL, "OUT.npz",
        "write the graph as it is at the end, with the labels that trained the model or came",
        'o'},
    {0},
};

static const graphss_option *table_of(void)
{
    return rows;
}

static void defaults(void *options)
{
    *(watch_arguments *)options = (watch_arguments){.batch = 100, .wait = 1};
}

/* ---- batches ---- */

typedef struct batch {
    char **text; /* [most] */
    graphss_store_line *line;
    size_t n, room, most;
    uint64_t offset;
    bool over;
} batch;

static void make_room(batch *b)
{
    const size_t room = 2 * b->room;
    char **text = cli_alloc(room, sizeof *text);
    graphss_store_line *line = cli_alloc(room, sizeof *line);
    memcpy(text, b->text, b->n * sizeof *text);
    memcpy(line, b->line, b->n * sizeof *line);
    free(b->text);
    free(b->line);
    b->text = text;
    b->line = line;
    b->room = room;
}

/* Reports once that events stopped coming, and why, and once that they come again. */
static void show_trouble(cli *app, const graphss_event_source *source, bool *told)
{
    const char *trouble = graphss_event_source_trouble(source);
    if (trouble && !*told)
        cli_warn(app, "no events: %s; it is tried again", trouble);
    else if (!trouble && *told)
        cli_note(app, "note: events come again");
    *told = trouble != NULL;
}

/* Fills a batch, waiting for at most `wait` seconds. A transaction is not divided. */
static graphss_status fill(cli *app, batch *b, graphss_event_source *source, double wait)
{
    const double until = cli_seconds() + wait;
    bool part = false;
    b->n = 0;
    while (b->n < b->most || part) {
        graphss_event_next what;
        const char *line;
        size_t n;
        const double left = until - cli_seconds();
        graphss_status st = graphss_event_source_next(
            app->ctx, &what, &line, &n, &b->offset, source, left > 0 ? left : 0);
        if (st)
            return st;
        b->over = what == GRAPHSS_EVENT_END;
        if (what != GRAPHSS_EVENT_LINE && what != GRAPHSS_EVENT_PART) {
            if (b->over || cli_seconds() >= until)
                return GRAPHSS_OK;
            continue;
        }
        part = what == GRAPHSS_EVENT_PART;
        if (n == 0)
            continue;
        if (b->n == b->room)
            make_room(b);
        b->text[b->n] = cli_alloc(n + 1, 1);
        memcpy(b->text[b->n], line, n);
        b->line[b->n] = (graphss_store_line){b->text[b->n], n};
        b->n++;
    }
    return GRAPHSS_OK;
}

typedef struct totals {
    size_t events, duplicates, refused, alerts, batches;
    double seconds;
} totals;

static void show_alerts(cli *app, const graphss_live *live, const graphss_live_batch *did)
{
    for (size_t i = 0; i < did->n_alerts; i++) {
        graphss_live_alert a;
        char when[GRAPHSS_TIME_TEXT];
        graphss_live_alert_get(live, &a, did->first_alert + i);
        graphss_time_text(when, a.t);
        app->alerted = true;
        if (app->json)
            continue;
        terminal_clear(&app->term);
        printf("ALERT %llu  %s  group ", (unsigned long long)a.id, when);
        terminal_text(&app->term, stdout, a.group, 0);
        printf(": evidence %.3g of %.3g, %llu changed nodes since the trusted snapshot\n",
            a.e_value, a.threshold, (unsigned long long)a.judged);
        for (size_t j = 0; j < a.n_suspects && j < 5; j++) {
            const char *name = graphss_live_name(live, (size_t)a.suspect[j]);
            printf("  ");
            terminal_text(&app->term, stdout, name ? name : "?", 0);
            printf("  p = %.3g\n", a.suspect_p[j]);
        }
        fflush(stdout);
    }
}

static graphss_status send_alerts(
    cli *app, graphss_store *store, const graphss_store_receivers *to, bool *told)
{
    char trouble[GRAPHSS_STORE_TROUBLE] = "";
    if (!to->webhook && !to->alertmanager)
        return GRAPHSS_OK;
    const graphss_status st =
        graphss_store_send(app->ctx, store, NULL, trouble, to, live_now());
    if (trouble[0] && !*told)
        cli_warn(app, "alerts wait: %s; it is tried again", trouble);
    *told = trouble[0] != 0;
    return st;
}

static graphss_status watch_all(cli *app, graphss_store *store, graphss_live *live,
    graphss_event_source *source, const watch_arguments *own,
    const graphss_store_receivers *to, totals *t)
{
    batch b = {.most = (size_t)own->batch, .room = (size_t)own->batch};
    graphss_status st = GRAPHSS_OK;
    bool told = false, unsent = false;
    b.text = cli_alloc(b.room, sizeof *b.text);
    b.line = cli_alloc(b.room, sizeof *b.line);
    for (double last = cli_seconds(); !b.over && !st;) {
        graphss_live_batch did = {0};
        st = fill(app, &b, source, own->wait);
        show_trouble(app, source, &told);
        last = b.n ? cli_seconds() : last;
        b.over = b.over || (own->idle > 0 && cli_seconds() - last >= own->idle);
        if (!st && b.n) {
            const graphss_store_batch in = {.source = graphss_event_source_name(source),
                .offset = b.offset,
                .line = b.line,
                .n = b.n,
                .now = live_now()};
            st = graphss_store_put(app->ctx, store, live, &in, &did);
            if (!st)
                st = graphss_event_source_stored(app->ctx, source, b.offset);
        }
        if (!st) {
            t->events += did.applied;
            t->duplicates += did.duplicates;
            t->refused += did.n_refused + did.unreadable;
            t->alerts += did.n_alerts;
            t->batches += b.n > 0;
            t->seconds += did.seconds;
            show_alerts(app, live, &did);
            st = cli_progress(app, "watch", t->events, 0);
        }
        if (!st)
            st = send_alerts(app, store, to, &unsent);
        graphss_live_batch_destroy(app->ctx, &did);
        for (size_t i = 0; i < b.n; i++)
            free(b.text[i]);
    }
    free(b.text);
    free(b.line);
    return st;
}

static void report(cli *app, const graphss_live *live, const totals *t)
{
    graphss_live_status s;
    graphss_live_group g;
    graphss_live_status_get(live, &s);
    graphss_live_group_get(live, &g, 0);
    app->alerted = s.open_alerts > 0;
    if (app->json) {
        json_t *o = app->json;
        cli_json_set(o, "alert", json_boolean(s.open_alerts > 0));
        cli_json_set(o, "open_alerts", json_integer((json_int_t)s.open_alerts));
        cli_json_set(o, "alerts_raised", json_integer((json_int_t)t->alerts));
        cli_json_set(o, "events", json_integer((json_int_t)t->events));
        cli_json_set(o, "duplicates", json_integer((json_int_t)t->duplicates));
        cli_json_set(o, "refused", json_integer((json_int_t)t->refused));
        cli_json_set(o, "nodes", json_integer((json_int_t)s.n_nodes));
        cli_json_set(o, "links", json_integer((json_int_t)s.n_edges));
        cli_json_set(o, "changed_nodes", json_integer((json_int_t)s.changed_nodes));
        cli_json_set(o, "checks", json_integer((json_int_t)s.checks));
        cli_json_set(o, "judged", json_integer((json_int_t)s.judged));
        cli_json_set(o, "warm_up", json_integer((json_int_t)s.warm));
        cli_json_set(o, "e_value", cli_json_real(g.e_value));
        cli_json_set(o, "threshold", cli_json_real(g.threshold));
        cli_json_set(o, "p_value", cli_json_real(g.p_value));
        cli_json_set(o, "budget_left", cli_json_real(s.budget_left));
        cli_json_set(o, "incremental", json_boolean(s.incremental));
        cli_json_set(o, "seconds", cli_json_real(t->seconds));
        cli_json_run(app, o);
        return;
    }
    terminal_clear(&app->term);
    printf("%s\n", s.open_alerts  ? "ALERT: tampering, see graphss alerts list"
                   : !s.suspicion ? "Nothing is judged: the model has no detector"
                   : s.checks
                       ? "No sign of tampering"
                       : "No test yet: the times of events decide when the first is made");
    printf("Events   %zu applied, %zu known already, %zu rejected\n", t->events, t->duplicates,
        t->refused);
    printf("Graph    %zu nodes, %zu links, %zu nodes changed since the trusted snapshot\n",
        s.n_nodes, s.n_edges, s.changed_nodes);
    printf("Evidence %.3g of %.3g, p = %.3g, after %llu tests of %llu changes\n", g.e_value,
        g.threshold, g.p_value, (unsigned long long)s.checks, (unsigned long long)s.judged);
    printf("Budget   %.3g of %.3g false alarms left\n", s.budget_left, s.false_alarms);
}

/* The graph as it is; its labels are those the model trained on, and those that came. */
static graphss_status write_graph(cli *app, graphss_live *live, const char *path)
{
    graphss_dataset now = {0};
    graphss_status st = graphss_live_snapshot(app->ctx, &now, live, false);
    if (!st)
        st = graphss_dataset_write(app->ctx, &now, path);
    size_t known = 0;
    for (size_t i = 0; !st && now.label && i < now.graph.n_nodes; i++)
        known += now.label[i] >= 0;
    if (!st)
        cli_note(app, "note: the labels of %s are those that trained the model or came: %zu",
            path, known);
    graphss_dataset_destroy(app->ctx, &now);
    return st;
}

static graphss_status run(cli *app)
{
    watch_arguments own;
    live_arguments shared;
    graphss_live_options opt;
    graphss_model *model = NULL;
    graphss_dataset data = {0};
    graphss_store *store = NULL;
    graphss_live *live = NULL;
    graphss_event_source *source = NULL;
    totals t = {0};
    uint64_t offset = 0;
    defaults(&own);
    live_arguments_defaults(&shared);
    graphss_live_options_init(&opt);
    graphss_status st = cli_apply(app, 0, &own);
    if (!st)
        st = cli_apply(app, 1, &shared);
    if (!st)
        st = cli_apply(app, 2, &opt);
    if (!st)
        st = live_take_options(app, &opt, &shared);
    if (st)
        return st;
    if (!own.model_file || !shared.store || !own.events)
        return cli_usage(
            app, "watch: want --model-file MODEL, --store FILE and --events SOURCE");
    char *secret = NULL;
    graphss_store_receivers to = {0};
    const char *const input[] = {app->argument[0], own.model_file};
    st = live_take_receivers(app, &to, &secret, &shared);
    if (!st && !graphss_store_is_server(shared.store))
        st = cli_check_output(app, shared.store, input, 2);
    if (!st)
        st = cli_load_model(app, &model, own.model_file);
    if (!st)
        st = cli_read_dataset(app, &data, app->argument[0]);
    if (!st)
        st = cli_align(app, model, &data, NULL);
    if (!st)
        st = graphss_store_open(app->ctx, &store, shared.store, GRAPHSS_STORE_WRITE);
    if (!st)
        st = live_open(app, &live, store, model, &data, &shared, &opt);
    if (!st)
        st = graphss_event_source_open(app->ctx, &source, own.events, &data);
    if (!st)
        st = graphss_store_offset(app->ctx, &offset, store, graphss_event_source_name(source));
    if (!st)
        st = graphss_live_follow(app->ctx, live, source, offset);
    if (!st) {
        graphss_store_keep(store, (uint64_t)shared.keep);
        live_warn(app, live);
        st = watch_all(app, store, live, source, &own, &to, &t);
    }
    if (!st && own.output)
        st = write_graph(app, live, own.output);
    if (!st)
        report(app, live, &t);
    free(secret);
    graphss_event_source_free(app->ctx, source);
    graphss_live_free(app->ctx, live);
    graphss_store_close(app->ctx, store);
    graphss_dataset_destroy(app->ctx, &data);
    graphss_model_free(app->ctx, model);
    return st;
}

const cli_command cli_watch = {
    .name = "watch",
    .arguments = "DATASET --model-file MODEL --store FILE --events SOURCE",
    .summary = "Watch a graph that changes, and raise alerts",
    .about =
        "Applies events to the graph, keeps labels and suspicion up to date, and tests "
        "whether changes are like earlier ones, with a stated number of false alarms over "
        "time (docs/live.md). Ends with the events; tail:FILE waits for more. An existing "
        "store continues from its last batch. Exit code 1 while an alert is open.\n",
    .examples = "watch monday.npz --model-file model --store live.db --events day.jsonl\n"
                "watch monday.npz --model-file model --store live.db --events - "
                "--false-alarms 1/week\n",
    .min_arguments = 1,
    .max_arguments = 1,
    .group = {{"Options", table_of, sizeof(watch_arguments), defaults},
        {"The live graph", live_arguments_table, sizeof(live_arguments),
            live_arguments_defaults},
        {"Its test", graphss_live_options_table, sizeof(graphss_live_options),
            live_options_defaults}},
    .run = run,
};
