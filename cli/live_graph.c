/* live_graph.c - see live_graph.h. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "live_graph.h"

#define FIELD(name) offsetof(live_arguments, name)
static const graphss_option rows[] = {
    {"store", GRAPHSS_OPTION_STRING, FIELD(store), 0, 0, NULL, "STORE",
        "where events, snapshots and alerts are kept: a file, or postgresql://HOST/DATABASE; "
        "continues an earlier run",
        0},
    {"previous-model", GRAPHSS_OPTION_STRING, FIELD(previous_model), 0, 0, NULL, "MODEL",
        "the model the store was made with, from which --model-file takes over", 0},
    {"false-alarms", GRAPHSS_OPTION_STRING, FIELD(false_alarms), 0, 0, NULL, "RATE",
        "most false alarms expected, such as 1/week or 2/day", 0},
    {"expire", GRAPHSS_OPTION_STRING, FIELD(expire), 0, 0, NULL, "TIME",
        "remove links that were added by an event after this time, such as 30d (default: "
        "never)",
        0},
    {"trust-after", GRAPHSS_OPTION_STRING, FIELD(trust_after), 0, 0, NULL, "TIME",
        "move the trusted snapshot forward after this time without an open alert (default: "
        "1d)",
        0},
    {"groups", GRAPHSS_OPTION_STRING, FIELD(groups), 0, 0, NULL, "FILE",
        "groups that are watched besides all nodes, one a line: a name, then ids", 0},
    {"keep", GRAPHSS_OPTION_INT, FIELD(keep), 100, 1e12, NULL, "N",
        "events kept before they are folded into a snapshot; a long one counts once more for "
        "each kilobyte",
        0},
    {"webhook", GRAPHSS_OPTION_STRING, FIELD(webhook), 0, 0, NULL, "URL",
        "post alerts there, again until they are taken", 0},
    {"webhook-secret", GRAPHSS_OPTION_STRING, FIELD(webhook_secret), 0, 0, NULL, "FILE",
        "sign them with the first line of this file (HMAC-SHA256, Standard Webhooks)", 0},
    {"alertmanager", GRAPHSS_OPTION_STRING, FIELD(alertmanager), 0, 0, NULL, "URL",
        "push open alerts to Alertmanager, such as http://localhost:9093", 0},
    {0},
};

const graphss_option *live_arguments_table(void)
{
    return rows;
}

void live_arguments_defaults(void *options)
{
    *(live_arguments *)options =
        (live_arguments){.false_alarms = "1/week", .trust_after = "1d", .keep = 1000000};
}

void live_options_defaults(void *options)
{
    graphss_live_options_init(options);
}

double live_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

graphss_status live_take_options(
    cli *app, graphss_live_options *opt, const live_arguments *own)
{
    if (!graphss_false_alarms_parse(opt, own->false_alarms))
        return cli_usage(app,
            "--false-alarms: found '%s', want a rate such as 1/week or 2/day",
            own->false_alarms);
    if (own->expire && !graphss_duration_parse(&opt->expire, own->expire))
        return cli_usage(app, "--expire: found '%s', want such as 12h or 30d", own->expire);
    if (!graphss_duration_parse(&opt->trust_after, own->trust_after))
        return cli_usage(
            app, "--trust-after: found '%s', want such as 12h or 7d", own->trust_after);
    opt->seed = (uint64_t)app->global.seed;
    return GRAPHSS_OK;
}

/* ---- receivers ---- */

/* The first line of a file; the caller frees it. NULL: none. */
static char *first_line(const char *path)
{
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    if (!f || getline(&line, &room, f) <= 0) {
        free(line);
        line = NULL;
    }
    if (f)
        fclose(f);
    if (line)
        line[strcspn(line, "\r\n")] = 0;
    return line;
}

graphss_status live_take_receivers(
    cli *app, graphss_store_receivers *out, char **secret, const live_arguments *own)
{
    if (own->webhook_secret) {
        *secret = first_line(own->webhook_secret);
        if (!*secret || !**secret)
            return cli_fail(app, GRAPHSS_ERR_NOT_FOUND, "%s: want a secret in its first line",
                own->webhook_secret);
    }
    *out = (graphss_store_receivers){
        .webhook = own->webhook, .secret = *secret, .alertmanager = own->alertmanager};
    return GRAPHSS_OK;
}

/* ---- groups ---- */

static graphss_status watch_line(
    cli *app, graphss_store *store, graphss_live *live, char *line)
{
    const char *member[4096];
    size_t n = 0;
    char *rest = NULL, *name = strtok_r(line, " \t\r\n", &rest);
    if (!name)
        return GRAPHSS_OK;
    for (char *id; (id = strtok_r(NULL, " \t\r\n", &rest)) != NULL;) {
        if (n == sizeof member / sizeof *member)
            return cli_fail(app, GRAPHSS_ERR_LIMIT, "group %s: more than %zu nodes", name, n);
        member[n++] = id;
    }
    return graphss_store_watch(app->ctx, store, live, name, member, n, live_now());
}

static graphss_status watch_groups(
    cli *app, graphss_store *store, graphss_live *live, const char *path)
{
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    graphss_status st = GRAPHSS_OK;
    if (!f)
        return cli_fail(app, GRAPHSS_ERR_NOT_FOUND, "%s: it cannot be read", path);
    while (!st && getline(&line, &room, f) >= 0)
        st = watch_line(app, store, live, line);
    free(line);
    fclose(f);
    return st;
}

/* The store's graph under the model that follows the one it was made with. */
static graphss_status take_over(cli *app, graphss_live **live, graphss_store *store,
    const graphss_model *model, const live_arguments *own)
{
    graphss_model *before = NULL;
    graphss_live *old = NULL;
    graphss_status st = cli_load_model(app, &before, own->previous_model);
    if (!st)
        st = graphss_store_resume(app->ctx, store, &old, before);
    if (!st)
        st = graphss_live_adopt(app->ctx, live, model, old);
    if (!st)
        st = graphss_store_adopt(app->ctx, store, *live, own->previous_model, live_now());
    graphss_live_free(app->ctx, old);
    graphss_model_free(app->ctx, before);
    return st;
}

graphss_status live_open(cli *app, graphss_live **live, graphss_store *store,
    const graphss_model *model, graphss_dataset *data, const live_arguments *own,
    const graphss_live_options *opt)
{
    graphss_status st = graphss_store_resume(app->ctx, store, live, model);
    if (st == GRAPHSS_ERR_DATA && own->previous_model)
        st = take_over(app, live, store, model, own);
    if (st == GRAPHSS_OK)
        cli_note(app, "note: the store continues where it stopped, with its own options");
    if (st != GRAPHSS_ERR_NOT_FOUND)
        return st;
    if (!data)
        return cli_fail(app, GRAPHSS_ERR_NOT_FOUND,
            "--store: it has no graph yet: want one to begin with (watch DATASET, serve "
            "--graph DATASET)");
    const graphss_observation seen = graphss_dataset_observe(data);
    st = graphss_live_new(app->ctx, live, model, &seen, opt);
    if (!st)
        st = graphss_store_start(app->ctx, store, *live);
    if (!st && own->groups)
        st = watch_groups(app, store, *live, own->groups);
    return st;
}

void live_warn(cli *app, const graphss_live *live)
{
    graphss_live_status s;
    graphss_live_status_get(live, &s);
    if (!s.suspicion)
        cli_warn(app, "the model has no detector, so nothing is judged: train it again, with "
                      "at least 20 "
                      "validation nodes");
    if (!s.incremental)
        cli_warn(app, "each batch is a whole pass: %s", s.whole_pass_cause);
}
