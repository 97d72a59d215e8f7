/* cmd_recover.c - labels for a snapshot that may have been tampered with. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "snapshot_page.h"

typedef struct recover_arguments {
    const char *method, *model_file, *current, *previous, *split, *trusted, *output, *flips,
        *predictor, *report, *answers, *answers_before, *checkpoint;
    double checkpoint_every;
    bool list, poisoned;
} recover_arguments;

#define FIELD(name) offsetof(recover_arguments, name)
static const graphss_option rows[] = {
    {"method", GRAPHSS_OPTION_STRING, FIELD(method), 0, 0, NULL, "NAME", "the defence", 'm'},
    {"poisoned", GRAPHSS_OPTION_BOOL, FIELD(poisoned), 0, 0, NULL, NULL,
        "the snapshot may have been attacked before the model was trained on it: method "
        "poisoned",
        0},
    {"model-file", GRAPHSS_OPTION_STRING, FIELD(model_file), 0, 0, NULL, "MODEL",
        "a model that train wrote", 0},
    {"predictor", GRAPHSS_OPTION_STRING, FIELD(predictor), 0, 0, NULL, "COMMAND",
        "a program that answers in place of the model: COMMAND IN.npz OUT.npz", 0},
    {"answers", GRAPHSS_OPTION_STRING, FIELD(answers), 0, 0, NULL, "FILE.npz",
        "probabilities that any classifier gave for --current, in place of --model-file", 0},
    {"previous-answers", GRAPHSS_OPTION_STRING, FIELD(answers_before), 0, 0, NULL, "FILE.npz",
        "and for --previous; --split is then of the previous snapshot", 0},
    {"current", GRAPHSS_OPTION_STRING, FIELD(current), 0, 0, NULL, "DATASET",
        "the snapshot to label; its labels are not used", 0},
    {"previous", GRAPHSS_OPTION_STRING, FIELD(previous), 0, 0, NULL, "DATASET",
        "an earlier snapshot, known to be clean; nodes are matched by name", 0},
    {"split", GRAPHSS_OPTION_STRING, FIELD(split), 0, 0, NULL, "FILE.npz",
        "training nodes of the current snapshot; default: those of the model", 0},
    {"trusted", GRAPHSS_OPTION_STRING, FIELD(trusted), 0, 0, NULL, "FILE",
        "method graphss: nodes that were surely not tampered with, one id per line", 0},
    {"output", GRAPHSS_OPTION_STRING, FIELD(output), 0, 0, NULL, "OUT",
        "where to write: OUT.npz, or a table as OUT.csv or OUT.tsv", 'o'},
    {"flips", GRAPHSS_OPTION_STRING, FIELD(flips), 0, 0, NULL, "FLIPS",
        "methods graphss, poisoned: also write the changes that would undo the attack, for "
        "apply",
        0},
    {"report", GRAPHSS_OPTION_STRING, FIELD(report), 0, 0, NULL, "FILE.html",
        "also write the findings and reasons as a page that can be sent on", 0},
    {"checkpoint", GRAPHSS_OPTION_STRING, FIELD(checkpoint), 0, 0, NULL, "DIR",
        "method graphss: save the progress in this folder and, after an interruption, "
        "continue from it; it is removed when the output is written",
        0},
    {"checkpoint-every", GRAPHSS_OPTION_REAL, FIELD(checkpoint_every), 0, 1e9, NULL, "SECONDS",
        "how often it is kept", 0},
    {"list", GRAPHSS_OPTION_BOOL, FIELD(list), 0, 0, NULL, NULL,
        "name the methods and their options, and stop", 0},
    {0},
};

enum { OWN, METHOD }; /* groups */

static const graphss_option *table_of(void)
{
    return rows;
}

static void defaults(void *options)
{
    *(recover_arguments *)options =
        (recover_arguments){.method = "graphss", .checkpoint_every = 120};
}

static void method_defaults(void *options)
{
    graphss_recover_options_init(
        options, graphss_recover_method_find("graphss"), GRAPHSS_MODE_DEFAULT, NULL);
}

static bool uses(const graphss_recover_method *method, const char *option)
{
    return graphss_recover_method_uses(method, GRAPHSS_MODE_DEFAULT, option) ||
           graphss_recover_method_uses(method, GRAPHSS_MODE_PAPER, option);
}

/* Methods have presets of their own; an option that graphss does not use has no default to
 * show. */
static bool settled(const graphss_option *row)
{
    return !strcmp(row->name, "method") || !strcmp(row->name, "train") ||
           graphss_recover_method_uses(
               graphss_recover_method_find("graphss"), GRAPHSS_MODE_DEFAULT, row->name);
}

/* The preset of an option of a method, in the first mode that has it. */
static void show_preset(
    char *out, size_t size, const graphss_recover_method *method, const char *option)
{
    const graphss_mode mode = graphss_recover_method_uses(method, GRAPHSS_MODE_DEFAULT, option)
                                  ? GRAPHSS_MODE_DEFAULT
                                  : GRAPHSS_MODE_PAPER;
    graphss_recover_options preset;
    graphss_recover_options_init(&preset, method, mode, NULL);
    graphss_option_text(out, size, &preset,
        graphss_option_find(graphss_recover_method_options(method, mode), option));
}

static void list_methods(cli *app)
{
    json_t *all = json_array();
    const graphss_recover_method *none = graphss_recover_method_find("none");
    const graphss_recover_method *retrain = graphss_recover_method_find("retrain");
    for (size_t i = 0; graphss_lab_method_at(i); i++) {
        const graphss_recover_method *m = graphss_lab_method_at(i);
        const char *name = graphss_recover_method_name(m);
        json_t *options = json_array();
        if (!app->json)
            printf("%-18s %s\n", name, graphss_recover_method_summary(m));
        const char *before = "                   options: ";
        for (const graphss_option *row = graphss_lab_options_table(); row->name; row++) {
            if (!uses(m, row->name))
                continue;
            json_array_append_new(options, json_string(row->name));
            if (!app->json && !uses(none, row->name) && !uses(retrain, row->name)) {
                char value[64];
                show_preset(value, sizeof value, m, row->name);
                printf("%s--%s %s", before, row->name, value);
                before = ", ";
            }
        }
        if (!app->json && before[0] == ',')
            printf("\n");
        json_t *method = json_object();
        cli_json_set(method, "name", json_string(name));
        cli_json_set(method, "summary", json_string(graphss_recover_method_summary(m)));
        cli_json_set(method, "options", options);
        json_array_append_new(all, method);
    }
    if (app->json)
        cli_json_set(app->json, "methods", all);
    else
        json_decref(all);
}

/* A probability above one half. */
static const double SUSPICIOUS = 0.5;

/* The mode the user asked for. */
static graphss_status choose_mode(cli *app, graphss_mode *mode)
{
    graphss_recover_options opt;
    method_defaults(&opt);
    for (size_t i = 0; i < app->n_items; i++)
        if (app->item[i].group == METHOD && !strcmp(app->item[i].row->name, "mode")) {
            const graphss_status st =
                graphss_option_set(app->ctx, &opt, app->item[i].row, app->item[i].text);
            if (st)
                return st;
        }
    *mode = opt.mode;
    return GRAPHSS_OK;
}

/* The preset of the method, with the given options applied to it. */
static graphss_status choose_options(
    cli *app, graphss_recover_options *opt, const char *name, const graphss_model *model)
{
    const graphss_recover_method *method = graphss_lab_method_find(name);
    graphss_mode mode = GRAPHSS_MODE_DEFAULT;
    graphss_status st = choose_mode(app, &mode);
    if (!st)
        st = cli_check_name(app, "method", name, cli_method_name);
    if (st)
        return st;
    const graphss_option *table = graphss_recover_method_options(method, mode);
    graphss_recover_options_init(opt, method, mode, model);
    for (size_t i = 0; i < app->n_items && !st; i++) {
        if (app->item[i].group != METHOD)
            continue;
        const char *option = app->item[i].row->name;
        const graphss_option *row = graphss_option_find(table, option);
        if (!row && !uses(method, option))
            return cli_usage(app, "--%s has no meaning for %s", option, name);
        if (!row)
            return cli_usage(app, "--%s has no meaning for %s in %s mode", option, name,
                graphss_mode_text(mode));
        st = graphss_option_set(app->ctx, opt, row, app->item[i].text);
    }
    return st;
}

/* For each name of a column, its first position; NULL: columns have no names. */
static json_t *columns_of(const graphss_dataset *data)
{
    json_t *place = data->column_names.count ? json_object() : NULL;
    for (size_t j = 0; j < data->column_names.count; j++) {
        const char *name = graphss_names_get(&data->column_names, j);
        if (!json_object_get(place, name))
            cli_json_set(place, name, json_integer((json_int_t)j));
    }
    return place;
}

/* The column by that name, or -1. */
static int32_t column_in(json_t *place, const graphss_dataset *from, int32_t at)
{
    if (!place || from->column_names.count == 0)
        return at;
    const json_t *found =
        json_object_get(place, graphss_names_get(&from->column_names, (size_t)at));
    return found ? (int32_t)json_integer_value(found) : -1;
}

/* The list refers to the file, so features have the numbers they have there. One that the file
 * lacks cannot be listed. */
static graphss_status write_flips(cli *app, graphss_flips *flips, const char *path,
    const char *file, const cli_snapshot_pair *s, const graphss_recover_result *r)
{
    graphss_dataset as_read = {0};
    const graphss_dataset *data = s->moved ? &as_read : &s->current;
    graphss_status st = graphss_recover_flips(app->ctx, flips, &s->in, r, SUSPICIOUS);
    if (!st && s->moved)
        st = cli_read_dataset(app, &as_read, file);
    if (!st) {
        size_t kept = 0;
        json_t *place = columns_of(&as_read);
        for (size_t i = 0; i < flips->count; i++) {
            graphss_flip f = flips->item[i];
            if (s->moved && f.kind == GRAPHSS_FLIP_FEATURE)
                f.target = column_in(place, &s->current, f.target);
            if (f.target >= 0)
                flips->item[kept++] = f;
        }
        json_decref(place);
        flips->count = kept;
        snprintf(flips->dataset, sizeof flips->dataset, "%.63s", data->name);
        snprintf(flips->hash, sizeof flips->hash, "%s", data->hash);
        snprintf(flips->seed, sizeof flips->seed, "%llu", (unsigned long long)s->in.seed);
        st = graphss_flips_write(app->ctx, flips, path, data);
    }
    graphss_dataset_destroy(app->ctx, &as_read);
    return st;
}

static void show(cli *app, const graphss_recover_result *r, const recover_arguments *own,
    const graphss_dataset *data, const graphss_recover_options *opt,
    const graphss_flips *flips)
{
    const size_t links = graphss_flips_count(flips, GRAPHSS_FLIP_EDGE);
    const size_t features = graphss_flips_count(flips, GRAPHSS_FLIP_FEATURE);
    if (app->json) {
        json_t *options =
            cli_json_options(opt, graphss_recover_method_options(opt->method, opt->mode));
        cli_json_set(options, "method", cli_json_text(r->method));
        cli_json_set(app->json, "path", cli_json_text(own->output));
        cli_json_set(app->json, "method", cli_json_text(r->method));
        cli_json_set(app->json, "train", cli_json_text(r->train));
        cli_json_set(app->json, "how", cli_json_text(r->how));
        cli_json_set(app->json, "nodes", json_integer((json_int_t)data->graph.n_nodes));
        cli_json_set(app->json, "changed", json_integer((json_int_t)r->changed));
        cli_json_set(app->json, "abstained", json_integer((json_int_t)r->abstained));
        if (r->kind) {
            cli_json_set(app->json, "kind", cli_json_text(graphss_perturbation_text(r->kind)));
            cli_json_set(app->json, "share", cli_json_real(r->share));
        }
        if (r->foreign) {
            cli_json_set(
                app->json, "distrusted_links", json_integer((json_int_t)r->distrusted));
            cli_json_set(app->json, "doubted_labels", json_integer((json_int_t)r->doubted));
        }
        if (own->trusted)
            cli_json_set(app->json, "trusted", json_integer((json_int_t)opt->n_trusted));
        if (own->flips) {
            cli_json_set(app->json, "flips", cli_json_text(own->flips));
            cli_json_set(app->json, "links_flipped", json_integer((json_int_t)links));
            cli_json_set(app->json, "features_flipped", json_integer((json_int_t)features));
        }
        cli_json_set(app->json, "new_nodes", json_integer((json_int_t)r->new_nodes));
        cli_json_set(app->json, "seconds", cli_json_real(r->seconds));
        cli_json_set(app->json, "options", options);
        cli_json_set(app->json, "dataset", cli_json_dataset(data));
        cli_ranks_json(app);
        cli_json_run(app, app->json);
        return;
    }
    cli_show_dataset(app, data);
    char *method = cli_format("%s (%s): %s", r->method, r->train, r->how);
    printf("Method   ");
    cli_wrap(stdout, method, 9, 9);
    free(method);
    if (r->foreign)
        printf("Distrust %u of %zu links, %u training label%s\n", (unsigned)r->distrusted,
            graphss_graph_edges(&data->graph), (unsigned)r->doubted,
            r->doubted == 1 ? "" : "s");
    if (own->trusted)
        printf(
            "Trusted  %zu node%s, read as untouched\n", opt->n_trusted, cli_s(opt->n_trusted));
    if (r->kind) {
        cli_show_attack(r->kind, r->share,
            own->trusted ? "other nodes without a label" : "nodes without a label");
        printf("\n");
    }
    printf("Labels   %zu of %zu differ from the model's own", r->changed, data->graph.n_nodes);
    if (opt->abstain > 0)
        printf(", %zu withheld", r->abstained);
    if (r->new_nodes)
        printf("; %zu node%s new", r->new_nodes, r->new_nodes == 1 ? " is" : "s are");
    printf("; %.3f s, %.0f MB\nWritten  ", r->seconds, (double)r->peak_memory / 1e6);
    terminal_text(&app->term, stdout, own->output, 0);
    printf("\n");
    if (own->report) {
        printf("Page     ");
        terminal_text(&app->term, stdout, own->report, 0);
        printf("\n");
    }
    if (!own->flips)
        return;
    printf("Changes  %zu link%s and %zu feature%s would clean it: ", links, cli_s(links),
        features, cli_s(features));
    terminal_text(&app->term, stdout, own->flips, 0);
    printf("\n");
}

typedef struct changed_node {
    size_t node;
    double chance;
} changed_node;

static int surest_first(const void *a, const void *b)
{
    const changed_node *x = a, *y = b;
    if (x->chance != y->chance)
        return x->chance < y->chance ? 1 : -1;
    return x->node < y->node ? -1 : 1;
}

/* The nodes whose label differs from the classifier's, most certain first; returns how many.
 * Freed by free. */
static changed_node *list_changed(
    size_t *count, const graphss_predictions *p, const int32_t *classifier)
{
    changed_node *list = cli_alloc(p->n_nodes, sizeof *list);
    size_t n = 0;
    for (size_t i = 0; i < p->n_nodes; i++)
        if (p->label[i] >= 0 && p->label[i] != classifier[i])
            list[n++] = (changed_node){i, cli_label_chance(p, i)};
    qsort(list, n, sizeof *list, surest_first);
    *count = n;
    return list;
}

/* ---- a page ---- */

/* Nodes that got another label, then others that look tampered with. */
static void add_nodes(cli_page *page, const graphss_predictions *p, const int32_t *classifier,
    const cli_node_changes *changes, bool knows)
{
    size_t n = 0;
    char buffer[24], other[24];
    changed_node *list = list_changed(&n, p, classifier);
    for (size_t i = 0; i < n; i++) {
        const size_t node = list[i].node;
        cli_page_node(page, changes, (int32_t)node, p->perturbed ? p->perturbed[node] : NAN,
            NAN, cli_name_at(&p->class_names, (size_t)p->label[node], buffer),
            cli_name_at(&p->class_names, (size_t)classifier[node], other), NULL);
    }
    for (size_t i = 0; i < p->n_nodes && knows && p->perturbed; i++)
        if (p->perturbed[i] >= SUSPICIOUS && p->label[i] == classifier[i])
            cli_page_node(page, changes, (int32_t)i, p->perturbed[i], NAN,
                cli_name_at(&p->class_names, (size_t)p->label[i], buffer), NULL, NULL);
    free(list);
}

static graphss_status write_page(cli *app, const graphss_recover_result *r,
    const cli_snapshot_pair *s, const int32_t *classifier, const recover_arguments *own,
    const graphss_recover_options *opt)
{
    cli_page p = {0};
    cli_node_changes changes = {0};
    const size_t n = s->current.graph.n_nodes;
    const bool knows = r->kind != GRAPHSS_PERTURBATION_NOT_ESTIMATED,
               attacked = knows && r->kind != GRAPHSS_PERTURBATION_NONE;
    graphss_status st = cli_node_changes_open(app, &changes, s);
    if (st)
        goto done;
    p.page.title = cli_page_keep(&p, cli_format("Recovered labels: %s", s->current.name));
    p.page.alarming = attacked;
    p.page.word = attacked ? "attacked" : knows ? "no attack" : "labels";
    p.page.verdict = cli_page_keep(
        &p, cli_format(
                "%s%zu of %zu labels differ from the classifier's labels of this snapshot%s.",
                attacked ? "The snapshot looks tampered with. "
                : knows  ? "No attack was found. "
                         : "",
                r->changed, n, r->changed ? "; they are listed below, the surest first" : ""));
    if (attacked)
        cli_page_line(&p, CLI_PAGE_FACTS, "attack",
            cli_format("It looks like an attack by %s on about %.1f %% of the nodes %s.",
                graphss_perturbation_text(r->kind), 100 * r->share,
                own->trusted ? "neither labelled nor trusted" : "without a label"));
    cli_page_line(
        &p, CLI_PAGE_FACTS, "method", cli_format("%s (%s): %s.", r->method, r->train, r->how));
    if (r->abstained)
        cli_page_line(&p, CLI_PAGE_FACTS, "withheld",
            cli_format("%zu label%s not sure enough to be given.", r->abstained,
                r->abstained == 1 ? " is" : "s are"));
    add_nodes(&p, &r->predictions, classifier, &changes, knows);
    p.page.node_note =
        "Nodes whose label is not the classifier's own, and nodes that look tampered with. "
        "Reasons: what changed at the node since the previous snapshot, whoever changed it.";
    if (own->previous) {
        const size_t then = s->previous.graph.n_nodes;
        cli_page_line(
            &p, CLI_PAGE_CHANGES, "nodes then, nodes now", cli_format("%zu, %zu", then, n));
        cli_page_line(&p, CLI_PAGE_CHANGES, "new nodes", cli_format("%zu", r->new_nodes));
        cli_page_line(&p, CLI_PAGE_CHANGES, "edges then, edges now",
            cli_format("%zu, %zu", graphss_graph_edges(&s->previous.graph),
                graphss_graph_edges(&s->current.graph)));
    }
    if (!knows)
        cli_page_unseen(&p, cli_format("Whether there was an attack: the method %s labels "
                                       "nodes and has no opinion on that.",
                                r->method));
    cli_page_snapshots(app, &p, s, own->model_file, own->current, own->previous);
    cli_page_line(&p, CLI_PAGE_SETTINGS, "labels", cli_format("%s", own->output));
    if (own->trusted)
        cli_page_line(&p, CLI_PAGE_SETTINGS, "trusted", cli_format("%s", own->trusted));
    for (const graphss_option *row = graphss_recover_method_options(opt->method, opt->mode);
         row->name; row++) {
        char text[256];
        graphss_option_text(text, sizeof text, opt, row);
        cli_page_line(&p, CLI_PAGE_SETTINGS, row->name, cli_format("%s", text));
    }
    st = cli_page_write(app, &p, own->report);
done:
    cli_node_changes_close(app, &changes);
    cli_page_done(&p);
    return st;
}

/* "anna  human -> bot  97 %" */
static void show_changed(cli *app, const graphss_predictions *p, const int32_t *classifier)
{
    enum { MOST = 10 };
    size_t n = 0;
    char buffer[24];
    changed_node *list = list_changed(&n, p, classifier);
    text_table t = {0};
    table_init(&t, "llr", false);
    for (size_t i = 0; i < n && i < MOST; i++) {
        const size_t node = list[i].node;
        char *was =
            cli_format("%s", cli_name_at(&p->class_names, (size_t)classifier[node], buffer));
        table_add(&t, "%s", cli_name_at(&p->node_names, node, buffer));
        table_add(
            &t, "%s -> %s", was, cli_name_at(&p->class_names, (size_t)p->label[node], buffer));
        if (list[i].chance < 0.995)
            table_add(&t, "%.0f %%", 100 * list[i].chance);
        else
            table_add(&t, "> 99 %%");
        free(was);
    }
    printf("\n");
    table_print(&t, &app->term, stdout, 2);
    if (n > MOST)
        printf("  ... and %zu more\n", n - MOST);
    free(list);
}

/* The next recovery is of these snapshots. */
static graphss_status keep_checkpoint(
    cli *app, const recover_arguments *own, const cli_snapshot_pair *s)
{
    char *of = cli_format("%s %s", s->current.hash, own->previous ? s->previous.hash : "");
    const graphss_status st =
        graphss_ctx_checkpoint(app->ctx, own->checkpoint, of, own->checkpoint_every);
    free(of);
    return st;
}

static graphss_status run(cli *app)
{
    recover_arguments own;
    graphss_recover_options opt;
    cli_snapshot_pair s = {0};
    graphss_recover_result r = {0};
    graphss_flips flips = {0};
    int32_t *trusted = NULL;

    defaults(&own);
    graphss_status st = cli_apply(app, OWN, &own);
    if (st)
        return st;
    if (own.list) {
        list_methods(app);
        return GRAPHSS_OK;
    }
    if (own.poisoned && cli_given(app, "method") && strcmp(own.method, "poisoned") != 0)
        return cli_usage(app, "--poisoned is the method poisoned, found %s", own.method);
    if (own.poisoned)
        own.method = "poisoned";
    st = cli_check_answers(app, own.model_file, own.previous);
    if (st)
        return st;
    if (own.answers)
        own.model_file = own.answers;
    if (!own.current)
        return cli_usage(app, "recover: want --current DATASET");
    if (!own.output)
        return cli_usage(app, "recover: want -o OUT.npz, OUT.csv or OUT.tsv");
    const char *const input[] = {
        own.model_file, own.current, own.previous, own.split, own.trusted, own.answers_before};
    enum { INPUTS = sizeof input / sizeof *input };
    st = cli_check_labels(app, own.output);
    if (!st)
        st = cli_check_output(app, own.output, input, INPUTS);
    if (!st && own.flips)
        st = cli_check_output(app, own.flips, input, INPUTS);
    if (!st)
        st = choose_options(app, &opt, own.method, NULL);
    const bool cuts = own.flips && !own.trusted && strcmp(own.method, "poisoned") == 0;
    if (!st && (own.flips || own.trusted) && !cuts &&
        !graphss_recover_method_finds(graphss_lab_method_find(own.method), opt.mode))
        st = cli_usage(app, "--%s has no meaning for %s in %s mode",
            own.flips ? "flips" : "trusted", own.method, graphss_mode_text(opt.mode));
    if (!st && own.checkpoint &&
        (strcmp(own.method, "graphss") != 0 || opt.mode != GRAPHSS_MODE_DEFAULT))
        st = cli_usage(app, "--checkpoint has no meaning for %s in %s mode", own.method,
            graphss_mode_text(opt.mode));
    if (!st && own.report && !cli_has_extension(own.report, ".html"))
        st = cli_usage(app, "--report: %s: want a name that ends in .html", own.report);
    if (!st && own.report)
        st = cli_check_output(app, own.report, input, INPUTS);
    if (!st && own.flips && strcmp(own.flips, own.output) == 0)
        st = cli_usage(app, "recover: --flips and -o are both %s", own.flips);
    if (st)
        return st;

    st = cli_snapshot_pair_open(app, &s, own.model_file, own.current, own.previous, own.split);
    if (!st)
        st = choose_options(app, &opt, own.method, s.model);
    if (!st && own.trusted)
        st = cli_read_nodes(app, &trusted, &opt.n_trusted, own.trusted, &s.current);
    opt.trusted = trusted;
    if (!st && own.checkpoint)
        st = keep_checkpoint(app, &own, &s);
    if (!st)
        st = app->part ? graphss_part_recover(app->ctx, &r, &s.part, &opt)
                       : graphss_recover_run(app->ctx, &r, &s.in, &opt);
    terminal_clear(&app->term);
    if (!cli_leads(app)) /* which has the answers */
        goto done;
    if (!st)
        st = graphss_split_copy(app->ctx, &r.predictions.split, &s.split);
    if (!st && !own.split)
        st = cli_split_add_new(app, &r.predictions.split, s.model, &s.in.current);
    if (!st)
        st = cli_write_labels(app, &r.predictions, r.model_label, own.output);
    if (!st && own.flips)
        st = write_flips(app, &flips, own.flips, own.current, &s, &r);
    if (!st && own.checkpoint && graphss_checkpoint_remove(app->ctx, own.checkpoint))
        cli_warn(app, "%s", graphss_ctx_error(app->ctx));
    if (!st && own.report)
        st = write_page(app, &r, &s, r.model_label, &own, &opt);
    if (!st)
        show(app, &r, &own, &s.current, &opt, &flips);
    if (!st && !app->json && r.changed)
        show_changed(app, &r.predictions, r.model_label);
done:
    graphss_flips_destroy(app->ctx, &flips);
    graphss_recover_result_destroy(app->ctx, &r);
    graphss_release(app->ctx, trusted);
    cli_snapshot_pair_close(app, &s);
    return st;
}

static const char *whole(cli *app)
{
    static const char *const in_parts[] = {"graphss", "none", "label-propagation"};
    static const char *const option[] = {
        "poisoned", "predictor", "answers", "previous-answers", "flips", "report", "trusted",
        NULL};
    const char *method = cli_given(app, "method"), *mode = cli_given(app, "mode");
    bool shared = !method || !graphss_lab_method_find(method); /* an error, told by all */
    for (size_t i = 0; i < sizeof in_parts / sizeof *in_parts && !shared; i++)
        shared = strcmp(method, in_parts[i]) == 0;
    if (!shared)
        return method;
    return mode && strcmp(mode, "paper") == 0 ? "paper mode" : cli_ranks_whole(app, option);
}

const cli_command cli_recover = {
    .name = "recover",
    .arguments = "--model-file MODEL --current DATASET -o OUT.npz|.csv|.tsv",
    .summary = "Label a snapshot that may have been attacked",
    .about = "OUT.npz holds labels, posterior (a row per node) and perturbed (for each node a "
             "number between 0 and 1), train, val and test (which nodes the model was trained "
             "on), and node_names if the nodes have names; OUT.csv and OUT.tsv a line for "
             "each node: node, label, probability, classifier_label, perturbed. The nodes "
             "that changed are shown, the surest first.\nA method uses links, features and "
             "the labels of the split, never the truth. Each method uses some of the options "
             "and has its own preset; --list shows both.\n",
    .examples =
        "recover --model-file cora.model --current attacked.npz -o out.npz\n"
        "recover --model-file my.model --current today/ --previous before/ -o out.csv\n"
        "recover --model-file cora.model --current new.npz --previous old.npz "
        "--method keep-last -o out.npz\n"
        "recover --mode paper --model-file DIR/model --current DIR/current.npz "
        "--previous DIR/previous.npz -o out.npz\n"
        "recover --model-file cora.model --current new.npz --previous old.npz "
        "--flips back.tsv -o out.npz\n"
        "recover --model-file my.model --current today/ --poisoned -o out.csv\n"
        "recover --list\n",
    .ranks = CLI_SHARED,
    .whole = whole,
    .min_arguments = 0,
    .max_arguments = 0,
    .group = {{"Options", table_of, sizeof(recover_arguments), defaults},
        {"The method", graphss_lab_options_table, sizeof(graphss_recover_options),
            method_defaults}},
    .settled = settled,
    .run = run,
};
