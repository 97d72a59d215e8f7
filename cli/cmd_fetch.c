/* cmd_fetch.c - downloads the public datasets. Licence and source are always shown: the
 * files belong to others. */
#include <stddef.h>
#include <string.h>

#include "cli.h"

typedef struct fetch_arguments {
    const char *base_url;
    bool offline, force, list;
} fetch_arguments;

#define FIELD(name) offsetof(fetch_arguments, name)
static const graphss_option rows[] = {
    {"list", GRAPHSS_OPTION_BOOL, FIELD(list), 0, 0, NULL, NULL,
        "list what can be fetched, with licences and sources", 0},
    {"offline", GRAPHSS_OPTION_BOOL, FIELD(offline), 0, 0, NULL, NULL,
        "only check the files on disk", 0},
    {"force", GRAPHSS_OPTION_BOOL, FIELD(force), 0, 0, NULL, NULL,
        "download even if the file is there", 0},
    {"base-url", GRAPHSS_OPTION_STRING, FIELD(base_url), 0, 0, NULL, "URL",
        "a mirror to take the files from", 0},
    {0},
};

static const graphss_option *table_of(void)
{
    return rows;
}

static void defaults(void *options)
{
    *(fetch_arguments *)options = (fetch_arguments){0};
}

/* The i-th dataset of the manifest: the first file of each. */
static const graphss_fetch_item *dataset_at(size_t i)
{
    for (size_t j = 0; graphss_fetch_item_at(j); j++) {
        const graphss_fetch_item *item = graphss_fetch_item_at(j);
        bool first = true;
        for (size_t k = 0; k < j && first; k++)
            first = strcmp(graphss_fetch_item_at(k)->dataset, item->dataset) != 0;
        if (first && i-- == 0)
            return item;
    }
    return NULL;
}

static const char *dataset_name(const void *user, size_t i)
{
    (void)user;
    const graphss_fetch_item *item = dataset_at(i);
    return item ? item->dataset : NULL;
}

static void list(cli *app)
{
    if (app->json) {
        json_t *all = json_array();
        for (size_t i = 0; dataset_at(i); i++) {
            json_t *one = json_object();
            cli_json_set(one, "name", cli_json_text(dataset_at(i)->dataset));
            cli_json_set(one, "licence", cli_json_text(dataset_at(i)->licence));
            cli_json_set(one, "source", cli_json_text(dataset_at(i)->source));
            json_array_append_new(all, one);
        }
        cli_json_set(app->json, "datasets", all);
        return;
    }
    text_table t = {0};
    table_init(&t, "lll", true);
    table_add(&t, "name");
    table_add(&t, "source");
    table_add(&t, "licence");
    for (size_t i = 0; dataset_at(i); i++) {
        table_add(&t, "%s", dataset_at(i)->dataset);
        table_add(&t, "%s", dataset_at(i)->source);
        table_add(&t, "%s", dataset_at(i)->licence);
    }
    table_print(&t, &app->term, stdout, 0);
}

/* Fetches one dataset and reports it into object (NULL: to people). */
static graphss_status fetch_one(cli *app, json_t *object, const graphss_fetch_item *item,
    const graphss_fetch_options *opt, uint64_t *bytes)
{
    graphss_fetch_result result = {0};
    if (!app->json)
        cli_note(app, "%s: %s; licence: %s", item->dataset, item->source, item->licence);
    const graphss_status st = graphss_fetch_run(app->ctx, &result, item->dataset, opt);
    terminal_clear(&app->term);
    if (st)
        return st;
    *bytes += result.bytes;
    if (object) {
        cli_json_set(object, "name", cli_json_text(item->dataset));
        cli_json_set(object, "path", cli_json_text(result.path));
        cli_json_set(object, "bytes", json_integer((json_int_t)result.bytes));
        cli_json_set(object, "sha256", cli_json_text(result.sha256));
        cli_json_set(object, "files", json_integer((json_int_t)result.files));
        cli_json_set(object, "fetched", json_integer((json_int_t)result.fetched));
        cli_json_set(object, "checked", json_boolean(!result.unchecked));
        cli_json_set(object, "licence", cli_json_text(item->licence));
        cli_json_set(object, "source", cli_json_text(item->source));
    } else {
        if (result.unchecked)
            printf(
                "%s: already there, %.1f MB, in another form than fetch downloads, so there "
                "is no checksum to compare; nothing downloaded (--force downloads)\n  ",
                item->dataset, (double)result.bytes / 1e6);
        else if (result.fetched == 0)
            printf("%s: already there, %.1f MB, all checksums right; nothing downloaded\n  ",
                item->dataset, (double)result.bytes / 1e6);
        else
            printf("%s: %zu of %zu files downloaded, %.1f MB, all checksums right\n  ",
                item->dataset, result.fetched, result.files, (double)result.bytes / 1e6);
        terminal_text(&app->term, stdout, result.path, 0);
        printf("\n  sha256 %s\n", result.sha256);
    }
    graphss_release(app->ctx, result.path);
    return GRAPHSS_OK;
}

static graphss_status run(cli *app)
{
    fetch_arguments own = {0};
    graphss_status st = cli_apply(app, 0, &own);
    if (st)
        return st;
    if (own.list) {
        list(app);
        return GRAPHSS_OK;
    }
    if (app->n_arguments == 0)
        return cli_usage(app, "fetch: want a name or 'all' (graphss fetch --list names them)");

    const graphss_fetch_options opt = {.struct_size = sizeof opt,
        .dir = app->global.data_dir ? app->data_dirs[0] : app->xdg_dir,
        .base_url = own.base_url,
        .offline = own.offline,
        .force = own.force,
        .data_dirs = app->global.data_dir ? NULL : app->data_dirs};
    const char *name = app->argument[0];
    uint64_t bytes = 0;
    if (strcmp(name, "all") != 0) {
        for (size_t i = 0; dataset_at(i); i++)
            if (strcmp(dataset_at(i)->dataset, name) == 0)
                return fetch_one(app, app->json, dataset_at(i), &opt, &bytes);
        const char *nearest = cli_nearest(name, dataset_name, NULL);
        char known[256] = "";
        for (size_t i = 0, used = 0; dataset_at(i) && used < sizeof known; i++)
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
                dataset_at(i)->dataset);
        return cli_usage(app, "fetch: no dataset '%s'%s%s%s; there are %s", name,
            nearest ? ", did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "",
            known);
    }
    json_t *all = app->json ? json_array() : NULL;
    for (size_t i = 0; dataset_at(i) && !st; i++) {
        json_t *one = app->json ? json_object() : NULL;
        st = fetch_one(app, one, dataset_at(i), &opt, &bytes);
        if (st)
            json_decref(one);
        else if (one)
            json_array_append_new(all, one);
    }
    if (st) {
        json_decref(all);
        return st;
    }
    if (app->json) {
        cli_json_set(app->json, "path", cli_json_text(opt.dir));
        cli_json_set(app->json, "bytes", json_integer((json_int_t)bytes));
        cli_json_set(app->json, "sha256", json_null());
        cli_json_set(app->json, "datasets", all);
    }
    return GRAPHSS_OK;
}

const cli_command cli_fetch = {
    .name = "fetch",
    .arguments = "NAME|all",
    .summary = "Download, verify and store a public dataset",
    .about = "Files go to the first --data-dir, else to $XDG_DATA_HOME/graphss. Datasets that "
             "are in a data folder already (GRAPHSS_DATA) are not downloaded. An interrupted "
             "download resumes; a file that does not match its checksum is removed.\n",
    .examples = "fetch cora\nfetch all\nfetch --list\nfetch cora --offline\n",
    .max_arguments = 1,
    .group = {{"Options", table_of, sizeof(fetch_arguments), defaults}},
    .run = run,
};
