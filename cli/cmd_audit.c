/* cmd_audit.c - the audit trail of a store: list it, check its chain, compute a verdict again.
 */
#include <graphss_store/store.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct audit_arguments {
    const char *store, *model_file;
} audit_arguments;

#define FIELD(name) offsetof(audit_arguments, name)
static const graphss_option rows[] = {
    {"store", GRAPHSS_OPTION_STRING, FIELD(store), 0, 0, NULL, "FILE", "the store of watch",
        0},
    {"model-file", GRAPHSS_OPTION_STRING, FIELD(model_file), 0, 0, NULL, "MODEL",
        "the classifier it was watched with, for replay", 0},
    {0},
};

static const graphss_option *table_of(void)
{
    return rows;
}

static void defaults(void *options)
{
    *(audit_arguments *)options = (audit_arguments){0};
}

typedef struct shown {
    cli *app;
    json_t *list;
    size_t n;
} shown;

static graphss_status show(void *user, const graphss_store_entry *e)
{
    shown *s = user;
    char when[GRAPHSS_TIME_TEXT];
    graphss_time_text(when, e->t);
    s->n++;
    if (s->list) {
        json_t *o = json_object();
        cli_json_set(o, "id", json_integer((json_int_t)e->id));
        cli_json_set(o, "batch", json_integer((json_int_t)e->batch));
        cli_json_set(o, "t", cli_json_text(when));
        cli_json_set(o, "what", cli_json_text(e->what));
        cli_json_set(o, "text", e->text ? cli_json_text(e->text) : json_null());
        cli_json_set(o, "hash", cli_json_text(e->hash));
        json_array_append_new(s->list, o);
        return GRAPHSS_OK;
    }
    printf("%llu  %s  %s  ", (unsigned long long)e->id, when, e->what);
    terminal_text(&s->app->term, stdout, e->text ? e->text : "", 0);
    printf("\n");
    return GRAPHSS_OK;
}

static graphss_status list(cli *app, graphss_store *store, bool refused)
{
    shown s = {.app = app, .list = app->json ? json_array() : NULL};
    const graphss_status st = refused ? graphss_store_refused(app->ctx, store, show, &s)
                                      : graphss_store_audit(app->ctx, store, show, &s);
    if (!st && app->json) {
        cli_json_set(app->json, "entries", s.list);
        cli_json_run(app, app->json);
    } else {
        json_decref(s.list);
    }
    if (!st && !app->json)
        printf("%zu entr%s%s\n", s.n, s.n == 1 ? "y" : "ies",
            refused ? " set aside" : ", each fits the one before");
    return st;
}

static graphss_status replay(
    cli *app, graphss_store *store, const char *model_file, const char *id)
{
    graphss_model *model = NULL;
    bool same = false;
    char *end = NULL;
    const unsigned long long alert = strtoull(id, &end, 10);
    if (*end || alert == 0)
        return cli_usage(app, "audit replay: found '%s', want the number of an alert", id);
    graphss_status st = cli_load_model(app, &model, model_file);
    if (!st)
        st = graphss_store_replay(app->ctx, store, &same, model, alert);
    graphss_model_free(app->ctx, model);
    if (st)
        return st;
    if (app->json) {
        cli_json_set(app->json, "alert", json_integer((json_int_t)alert));
        cli_json_set(app->json, "same", json_boolean(same));
        cli_json_run(app, app->json);
    } else {
        printf("alert %llu: %s\n", alert,
            same ? "computed again, every number has the same bits"
                 : "computed again, and it is another verdict");
    }
    return same ? GRAPHSS_OK
                : cli_fail(app, GRAPHSS_ERR_DATA, "alert %llu does not follow from the events",
                      alert);
}

static graphss_status run(cli *app)
{
    audit_arguments own = {0};
    graphss_store *store = NULL;
    const char *what = app->argument[0];
    graphss_status st = cli_apply(app, 0, &own);
    if (st)
        return st;
    const bool replays = !strcmp(what, "replay"), refused = !strcmp(what, "refused");
    if (!replays && !refused && strcmp(what, "list"))
        return cli_usage(app, "audit: found '%s', want list, refused or replay", what);
    if (!own.store)
        return cli_usage(app, "audit: want --store FILE");
    if (replays && (app->n_arguments < 2 || !own.model_file))
        return cli_usage(app, "audit replay: want the number of an alert, and --model-file");
    st = graphss_store_open(app->ctx, &store, own.store, GRAPHSS_STORE_READ);
    if (!st)
        st = replays ? replay(app, store, own.model_file, app->argument[1])
                     : list(app, store, refused);
    graphss_store_close(app->ctx, store);
    return st;
}

const cli_command cli_audit = {
    .name = "audit",
    .arguments = "list|refused|replay [ID] --store FILE",
    .summary = "Show the history of a store, and recompute a verdict",
    .about = "list shows the audit trail, whose entries are chained by hashes, and fails if "
             "one was changed. refused shows rejected events, and why. replay recomputes an "
             "alert from snapshot and events.\n",
    .examples = "audit list --store live.db\n"
                "audit replay 1 --store live.db --model-file model\n",
    .min_arguments = 1,
    .max_arguments = 2,
    .group = {{"Options", table_of, sizeof(audit_arguments), defaults}},
    .run = run,
};
