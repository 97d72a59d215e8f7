/* cmd_events.c - two snapshots as the stream of events that leads from one to the other. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"

typedef struct events_arguments {
    const char *output, *start, *source;
    double every, rate;
    bool shuffle;
} events_arguments;

#define FIELD(name) offsetof(events_arguments, name)
static const graphss_option rows[] = {
    {"output", GRAPHSS_OPTION_STRING, FIELD(output), 0, 0, NULL, "OUT.jsonl",
        "where to write (default: standard output)", 'o'},
    {"start", GRAPHSS_OPTION_STRING, FIELD(start), 0, 0, NULL, "TIME",
        "time of the first event, such as 2026-11-18T04:00:00Z (default: the events have "
        "none)",
        0},
    {"every", GRAPHSS_OPTION_REAL, FIELD(every), 0, 1e9, NULL, "SECONDS",
        "time between events, with --start", 0},
    {"source", GRAPHSS_OPTION_STRING, FIELD(source), 0, 0, NULL, "NAME",
        "name of the source; events are numbered from 0", 0},
    {"shuffle", GRAPHSS_OPTION_BOOL, FIELD(shuffle), 0, 0, NULL, NULL,
        "edges and features in random order, by --seed; new nodes come first, removed ones "
        "last",
        0},
    {"rate", GRAPHSS_OPTION_REAL, FIELD(rate), 0, 1e6, NULL, "N",
        "write N events a second (default: all at once)", 0},
    {0},
};

static const graphss_option *table_of(void)
{
    return rows;
}

static void defaults(void *options)
{
    *(events_arguments *)options = (events_arguments){.source = "events", .every = 60};
}

/* Writes the events as lines: first those of new nodes, last those of removed ones. */
typedef struct lines {
    cli *app;
    char **line;
    int *rank;
    size_t n, room;
} lines;

static int rank_of(const graphss_event *e)
{
    return e->op == GRAPHSS_EVENT_ADD_NODE ? 0 : e->op == GRAPHSS_EVENT_REMOVE_NODE ? 2 : 1;
}

static graphss_status keep(void *user, const graphss_event *event)
{
    lines *all = user;
    if (all->n == all->room) {
        const size_t room = 2 * all->room + 1024;
        char **line = cli_alloc(room, sizeof *line);
        int *rank = cli_alloc(room, sizeof *rank);
        if (all->n) {
            memcpy(line, all->line, all->n * sizeof *line);
            memcpy(rank, all->rank, all->n * sizeof *rank);
        }
        free(all->line);
        free(all->rank);
        all->line = line;
        all->rank = rank;
        all->room = room;
    }
    all->rank[all->n] = rank_of(event);
    const graphss_status st = graphss_event_text(all->app->ctx, &all->line[all->n], event);
    all->n += !st;
    return st;
}

/* Stamps a line with time, source and number. */
static graphss_status stamp(cli *app, char **out, const char *line,
    const events_arguments *own, double start, size_t i)
{
    graphss_event e = {0};
    graphss_status st = graphss_event_parse(app->ctx, &e, line, strlen(line));
    if (st)
        return st;
    e.t = isnan(start) ? e.t : start + own->every * (double)i;
    e.source = own->source;
    e.seq = (int64_t)i;
    st = graphss_event_text(app->ctx, out, &e);
    graphss_event_destroy(app->ctx, &e);
    return st;
}

static void pause_for(double seconds)
{
    if (seconds > 0)
        nanosleep(&(struct timespec){.tv_sec = (time_t)seconds,
                      .tv_nsec = (long)(fmod(seconds, 1) * 1e9)},
            NULL);
}

static graphss_status write_all(cli *app, const lines *all, const int32_t *order,
    const events_arguments *own, double start)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = own->output ? open_memstream(&text, &size) : stdout;
    if (!out)
        return cli_fail(app, GRAPHSS_ERR_NOMEM, "no memory for the events");
    const double began = cli_seconds();
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < all->n && !st; i++) {
        char *line = NULL;
        st = stamp(app, &line, all->line[order[i]], own, start, i);
        if (!st && own->rate > 0 && !own->output) {
            pause_for(began + (double)i / own->rate - cli_seconds());
            st = cli_progress(app, "events", i + 1, all->n);
        }
        if (!st && (fprintf(out, "%s\n", line) < 0 || (own->rate > 0 && fflush(out) != 0)))
            st = cli_fail(app, GRAPHSS_ERR_IO, "standard output: it takes no more");
        graphss_release(app->ctx, line);
    }
    if (own->output) {
        fclose(out);
        if (!st)
            st = cli_write_file(app, own->output, text, size);
        free(text);
    }
    return st;
}

static graphss_status run(cli *app)
{
    events_arguments own;
    graphss_dataset from = {0}, to = {0};
    lines all = {.app = app};
    int32_t *order = NULL;
    double start = NAN;
    defaults(&own);
    graphss_status st = cli_apply(app, 0, &own);
    if (!st && own.start && !graphss_time_parse(&start, own.start, strlen(own.start)))
        st = cli_usage(app,
            "events: --start: found '%s', want a time such as "
            "2026-11-18T04:00:00Z",
            own.start);
    if (!st && own.output)
        st = cli_check_output(app, own.output, app->argument, 2);
    if (!st && app->json && !own.output)
        st = cli_usage(app, "events: --json needs -o OUT.jsonl");
    if (st)
        return st;
    st = cli_read_dataset(app, &from, app->argument[0]);
    if (!st)
        st = cli_read_dataset(app, &to, app->argument[1]);
    if (!st)
        st = graphss_events_between(app->ctx, &from, &to, keep, &all);
    if (!st) {
        graphss_rng rng = graphss_rng_make((uint64_t)app->global.seed, GRAPHSS_STREAM_SAMPLER);
        order = cli_alloc(all.n + 1, sizeof *order);
        size_t n = 0;
        for (int rank = 0; rank < 3; rank++) {
            const size_t first = n;
            for (size_t i = 0; i < all.n; i++)
                if (all.rank[i] == rank)
                    order[n++] = (int32_t)i;
            if (own.shuffle && rank == 1)
                graphss_rng_shuffle(&rng, order + first, n - first);
        }
        st = write_all(app, &all, order, &own, start);
    }
    if (!st && app->json) {
        cli_json_set(app->json, "path", cli_json_text(own.output));
        cli_json_set(app->json, "events", json_integer((json_int_t)all.n));
        cli_json_run(app, app->json);
    } else if (!st && own.output) {
        printf("Events   %zu\nWritten  ", all.n);
        terminal_text(&app->term, stdout, own.output, 0);
        printf("\n");
    }
    for (size_t i = 0; i < all.n; i++)
        graphss_release(app->ctx, all.line[i]);
    free(all.line);
    free(all.rank);
    free(order);
    graphss_dataset_destroy(app->ctx, &from);
    graphss_dataset_destroy(app->ctx, &to);
    return st;
}

const cli_command cli_events = {
    .name = "events",
    .arguments = "FROM TO [-o OUT.jsonl]",
    .summary = "Write the events that turn one snapshot into another",
    .about = "Nodes are matched by name. The events are lines of JSON (docs/live.md), which "
             "watch reads; --rate makes them a stream.\n",
    .examples = "events monday.npz tuesday.npz -o day.jsonl\n"
                "events monday.npz tuesday.npz --start 2026-11-18T00:00:00Z --every 5\n",
    .min_arguments = 2,
    .max_arguments = 2,
    .group = {{"Options", table_of, sizeof(events_arguments), defaults}},
    .run = run,
};
