/* cmd_alerts.c - the alerts of a store: list, show, acknowledge, dismiss, confirm. */
#include <graphss_store/store.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"

typedef struct alerts_arguments {
    const char *store, *who, *note;
} alerts_arguments;

#define FIELD(name) offsetof(alerts_arguments, name)
static const graphss_option rows[] = {
    {"store", GRAPHSS_OPTION_STRING, FIELD(store), 0, 0, NULL, "FILE", "the store of watch",
        0},
    {"who", GRAPHSS_OPTION_STRING, FIELD(who), 0, 0, NULL, "NAME",
        "your name, for the audit trail", 0},
    {"note", GRAPHSS_OPTION_STRING, FIELD(note), 0, 0, NULL, "TEXT",
        "why, for the audit trail", 0},
    {0},
};

static const graphss_option *table_of(void)
{
    return rows;
}

static void defaults(void *options)
{
    *(alerts_arguments *)options = (alerts_arguments){0};
}

static const struct {
    const char *name;
    graphss_alert_state state;
} actions[] = {{"ack", GRAPHSS_ALERT_ACKNOWLEDGED}, {"dismiss", GRAPHSS_ALERT_DISMISSED},
    {"confirm", GRAPHSS_ALERT_CONFIRMED}};

typedef struct shown {
    cli *app;
    json_t *list;  /* with --json */
    uint64_t only; /* 0: all */
    size_t n, open;
} shown;

static json_t *json_of(const graphss_store_alert *a)
{
    char when[GRAPHSS_TIME_TEXT];
    json_t *o = json_object(),
           *suspects = json_loads(a->suspects ? a->suspects : "[]", 0, NULL);
    graphss_time_text(when, a->t);
    cli_json_set(o, "id", json_integer((json_int_t)a->id));
    cli_json_set(o, "group", cli_json_text(a->group));
    cli_json_set(o, "state", cli_json_text(graphss_alert_state_text(a->state)));
    cli_json_set(o, "t", cli_json_text(when));
    cli_json_set(o, "e_value", cli_json_real(a->e_value));
    cli_json_set(o, "threshold", cli_json_real(a->threshold));
    cli_json_set(o, "p_value", cli_json_real(a->p_value));
    cli_json_set(o, "judged", json_integer((json_int_t)a->judged));
    cli_json_set(o, "who", a->who ? cli_json_text(a->who) : json_null());
    cli_json_set(o, "note", a->note ? cli_json_text(a->note) : json_null());
    cli_json_set(o, "suspects", suspects ? suspects : json_array());
    return o;
}

static void print_suspects(cli *app, const char *text)
{
    json_t *list = json_loads(text ? text : "[]", 0, NULL), *one;
    size_t i;
    json_array_foreach(list, i, one)
    {
        printf("  ");
        terminal_text(&app->term, stdout, json_string_value(json_object_get(one, "node")), 0);
        printf("  p = %.3g  log odds %.2f\n", json_number_value(json_object_get(one, "p")),
            json_number_value(json_object_get(one, "score")));
    }
    json_decref(list);
}

static graphss_status show(void *user, const graphss_store_alert *a)
{
    shown *s = user;
    char when[GRAPHSS_TIME_TEXT];
    if (s->only && a->id != s->only)
        return GRAPHSS_OK;
    s->n++;
    s->open += a->state <= GRAPHSS_ALERT_ACKNOWLEDGED;
    if (s->list) {
        json_array_append_new(s->list, json_of(a));
        return GRAPHSS_OK;
    }
    graphss_time_text(when, a->t);
    printf("%llu  %s  %s  group ", (unsigned long long)a->id,
        graphss_alert_state_text(a->state), when);
    terminal_text(&s->app->term, stdout, a->group, 0);
    printf("  evidence %.3g of %.3g  p = %.3g\n", a->e_value, a->threshold, a->p_value);
    if (s->only)
        print_suspects(s->app, a->suspects);
    return GRAPHSS_OK;
}

static bool parse_id(uint64_t *id, const char *text)
{
    char *end = NULL;
    *id = strtoull(text, &end, 10);
    return *text >= '1' && *text <= '9' && !*end;
}

static graphss_status list_alerts(cli *app, graphss_store *store, uint64_t only)
{
    shown s = {.app = app, .list = app->json ? json_array() : NULL, .only = only};
    graphss_status st = graphss_store_alerts(app->ctx, store, show, &s);
    if (!st && only && s.n == 0)
        st = cli_fail(
            app, GRAPHSS_ERR_DATA, "there is no alert %llu", (unsigned long long)only);
    if (!st && s.list) {
        cli_json_set(app->json, "alerts", s.list);
        cli_json_set(app->json, "open", json_integer((json_int_t)s.open));
        cli_json_run(app, app->json);
    } else {
        json_decref(s.list);
    }
    if (!st && !app->json && s.n == 0)
        printf("no alerts\n");
    return st;
}

static graphss_status run(cli *app)
{
    alerts_arguments own = {0};
    graphss_store *store = NULL;
    const char *what = app->argument[0];
    uint64_t id = 0;
    size_t action = 0;
    graphss_status st = cli_apply(app, 0, &own);
    if (st)
        return st;
    while (action < 3 && strcmp(what, actions[action].name))
        action++;
    const bool all = !strcmp(what, "list");
    if (action == 3 && !all && strcmp(what, "show"))
        return cli_usage(
            app, "alerts: found '%s', want list, show, ack, dismiss or confirm", what);
    if (!own.store)
        return cli_usage(app, "alerts: want --store FILE");
    if (all ? app->n_arguments > 1 : app->n_arguments < 2 || !parse_id(&id, app->argument[1]))
        return cli_usage(
            app, all ? "alerts list: want no number" : "alerts %s: want a number", what);
    st = graphss_store_open(
        app->ctx, &store, own.store, action < 3 ? GRAPHSS_STORE_CHANGE : GRAPHSS_STORE_READ);
    if (!st && action < 3) {
        st = graphss_store_settle(app->ctx, store, NULL, id, actions[action].state, own.who,
            own.note, (double)time(NULL));
        if (st == GRAPHSS_ERR_INVALID)
            st = cli_fail(app, GRAPHSS_ERR_DATA, "%s", graphss_ctx_error(app->ctx));
    }
    if (!st)
        st = list_alerts(app, store, id);
    graphss_store_close(app->ctx, store);
    return st;
}

const cli_command cli_alerts = {
    .name = "alerts",
    .arguments = "list|show|ack|dismiss|confirm [ID] --store FILE",
    .summary = "List the alerts of watch, and settle them",
    .about = "An alert is open until it is dismissed (a false alarm) or confirmed; ack "
             "records that someone is investigating. While it is open the trusted snapshot "
             "does not move. Only list and show work while watch is running.\n",
    .examples = "alerts list --store live.db\n"
                "alerts confirm 1 --store live.db --who anna --note \"bot ring\"\n",
    .min_arguments = 1,
    .max_arguments = 2,
    .group = {{"Options", table_of, sizeof(alerts_arguments), defaults}},
    .run = run,
};
