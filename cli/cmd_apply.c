/* cmd_apply.c - makes the changes of a flips file, or takes them back. */
#include <stddef.h>
#include <string.h>

#include "cli.h"

typedef struct apply_arguments {
    const char *flips, *output, *victim;
    bool undo, force;
} apply_arguments;

#define FIELD(name) offsetof(apply_arguments, name)
static const graphss_option rows[] = {
    {"flips", GRAPHSS_OPTION_STRING, FIELD(flips), 0, 0, NULL, "FLIPS",
        "the changes, as attack wrote them", 0},
    {"output", GRAPHSS_OPTION_STRING, FIELD(output), 0, 0, NULL, "OUT.npz", "where to write",
        'o'},
    {"undo", GRAPHSS_OPTION_BOOL, FIELD(undo), 0, 0, NULL, NULL,
        "undo the changes, last one first", 0},
    {"victim", GRAPHSS_OPTION_STRING, FIELD(victim), 0, 0, NULL, "ID",
        "only the changes made for this node", 0},
    {"force", GRAPHSS_OPTION_BOOL, FIELD(force), 0, 0, NULL, NULL,
        "accept data other than the list was made for, if every change fits", 0},
    {0},
};

static const graphss_option *table_of(void)
{
    return rows;
}

static void defaults(void *options)
{
    *(apply_arguments *)options = (apply_arguments){0};
}

typedef struct apply_count {
    size_t links, features;
} apply_count;

/* Whether all of the list is applied, or only the changes of one victim. */
static apply_count count_made(const graphss_flips *flips, const graphss_apply_options *opt)
{
    apply_count c = {0};
    for (size_t i = 0; i < flips->count; i++) {
        const graphss_flip *flip = &flips->item[i];
        if (opt->one_only && flip->victim != opt->victim)
            continue;
        if (flip->kind == GRAPHSS_FLIP_EDGE)
            c.links++;
        else
            c.features++;
    }
    return c;
}

static void report(cli *app, const apply_arguments *own, const apply_count *made,
    const graphss_dataset *before, const graphss_dataset *after)
{
    const size_t links = made->links, features = made->features;
    if (app->json) {
        cli_json_set(app->json, "path", cli_json_text(own->output));
        cli_json_set(app->json, "undo", json_boolean(own->undo));
        cli_json_set(app->json, "links_flipped", json_integer((json_int_t)links));
        cli_json_set(app->json, "features_flipped", json_integer((json_int_t)features));
        cli_json_set(app->json, "before", cli_json_dataset(before));
        cli_json_set(app->json, "dataset", cli_json_dataset(after));
        cli_json_run(app, app->json);
        return;
    }
    cli_show_dataset(app, after);
    printf("Changes  %zu links and %zu features%s%s\nWritten  ", links, features,
        own->victim ? " for one victim" : "", own->undo ? ", taken back" : "");
    terminal_text(&app->term, stdout, own->output, 0);
    printf("\n");
}

static graphss_status read_flips(
    cli *app, graphss_flips *out, const char *path, const graphss_dataset *data)
{
    const graphss_status st = graphss_flips_read(app->ctx, out, path, data);
    const cli_file_type kind = st ? cli_file_type_of(path) : CLI_FILE_NONE;
    if (st && kind >= CLI_FILE_FOLDER && kind != CLI_FILE_FLIPS)
        return cli_wrong_file(app, path, kind, "a list of changes that attack wrote");
    return st;
}

static graphss_status run(cli *app)
{
    apply_arguments own = {0};
    graphss_dataset data = {0}, changed = {0};
    graphss_flips flips = {0};
    graphss_status st = cli_apply(app, 0, &own);
    if (st)
        return st;
    if (!own.flips)
        return cli_usage(app, "apply: want --flips FLIPS");
    if (!own.output)
        return cli_usage(app, "apply: want -o OUT.npz");
    if (!cli_has_extension(own.output, ".npz"))
        return cli_usage(app, "apply: %s: want a name that ends in .npz", own.output);
    const char *const input[] = {app->argument[0], own.flips};
    st = cli_check_output(app, own.output, input, 2);
    if (st)
        return st;

    graphss_apply_options opt = {
        .struct_size = sizeof opt, .undo = own.undo, .force = own.force};
    st = cli_read_dataset(app, &data, app->argument[0]);
    if (!st)
        st = read_flips(app, &flips, own.flips, &data);
    if (!st && own.victim) {
        const int64_t node = graphss_dataset_find(&data, own.victim);
        if (node < 0)
            st = cli_fail(
                app, GRAPHSS_ERR_DATA, "--victim: %s has no node '%s'", data.name, own.victim);
        opt.one_only = true;
        opt.victim = (int32_t)node;
    }
    const apply_count made = count_made(&flips, &opt);
    if (!st && own.victim && made.links + made.features == 0)
        st = cli_fail(app, GRAPHSS_ERR_DATA, "--victim: %s has no change for node '%s'",
            own.flips, own.victim);
    if (!st) {
        st = graphss_flips_apply(app->ctx, &changed, &data, &flips, &opt);
        if (st == GRAPHSS_ERR_DATA)
            st = cli_fail(app, st, "%s: %s", own.flips, graphss_ctx_error(app->ctx));
    }
    if (!st)
        st = graphss_dataset_write(app->ctx, &changed, own.output);
    if (!st)
        report(app, &own, &made, &data, &changed);
    graphss_flips_destroy(app->ctx, &flips);
    graphss_dataset_destroy(app->ctx, &changed);
    graphss_dataset_destroy(app->ctx, &data);
    return st;
}

const cli_command cli_apply_command = {
    .name = "apply",
    .arguments = "DATASET --flips FLIPS -o OUT.npz",
    .summary = "Apply the changes of a flips file, or undo them",
    .about = "A list that does not fit the data is refused, and nothing is written.\n",
    .examples = "apply cora --flips cora.flips -o attacked.npz\n"
                "apply attacked.npz --flips cora.flips --undo -o clean.npz\n",
    .min_arguments = 1,
    .max_arguments = 1,
    .group = {{"Options", table_of, sizeof(apply_arguments), defaults}},
    .run = run,
};
