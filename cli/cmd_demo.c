/* cmd_demo.c - the whole story on a generated graph, no file needed: train, attack, alert,
 * recover, report. The trivial rivals are always in the table: a figure means little without
 * them. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "attacker.h"
#include "cli.h"

/* Few words per node and noisy edges, so that neither features nor the graph alone suffice. */
static const char DEMO_GRAPH[] = "synth:nodes=3000,degree=5,classes=6,features=600,"
                                 "homophily=0.75,words=10,topic=0.25,seed=7";
static const int64_t LINKS = 2, WORDS = 10; /* changes per victim */

/* The rows of the table, in order. */
typedef struct rival {
    const char *method, *what;
    bool history; /* is given yesterday's snapshot */
} rival;

static const rival rivals[] = {
    {"none", "the classifier as it is", false},
    {"retrain", "trained again on today's graph", false},
    {"label-propagation", "the neighbours' labels, no features", false},
    {"jaccard", "links between unlike nodes cut", false},
    {"keep-last", "yesterday's answer", true},
    {"graphss", "knows today's graph only", false},
    {"graphss", "knows yesterday's as well", true},
};
enum { RIVALS = sizeof rivals / sizeof *rivals };

typedef struct demo_arguments {
    const char *output;
} demo_arguments;

static const graphss_option rows[] = {
    {"output", GRAPHSS_OPTION_STRING, offsetof(demo_arguments, output), 0, 0, NULL, "DIR",
        "also compare methods with and without a past, and write DIR/report.html", 'o'},
    {0},
};

static const graphss_option *table_of(void)
{
    return rows;
}

static void defaults(void *options)
{
    *(demo_arguments *)options = (demo_arguments){0};
}

typedef struct story {
    demo_arguments own;
    graphss_dataset data;
    graphss_split split;
    cli_split_options split_opt;
    cli_fit gcn;
    graphss_snapshots benign, made; /* a day of ordinary change; a day with an attack */
    attacker attack;
    attacker_options attack_opt;
    graphss_alert_result benign_alert, alert;
    attacker_score before, score[RIVALS];
    double seconds[RIVALS];
    size_t hits; /* victims among the ten nodes flagged first */
} story;

enum { NAMED = 10 };

/* ---- the steps ---- */

static graphss_status train(cli *app, story *s)
{
    graphss_train_options opt;
    graphss_train_options_init(&opt, "gcn", GRAPHSS_MODE_DEFAULT, NULL);
    graphss_status st = cli_read_dataset(app, &s->data, DEMO_GRAPH);
    if (!st)
        st = cli_split_choose(app, &s->split, &s->data, &s->split_opt);
    if (!st)
        st = cli_fit_run(app, &s->gcn, &s->data, &s->split, &opt);
    return st;
}

static graphss_status plan(cli *app, story *s, graphss_snapshots *out)
{
    graphss_snapshot_options opt;
    graphss_snapshot_options_init(&opt);
    return graphss_snapshots_plan(
        app->ctx, out, &s->data, &s->split, (uint64_t)app->global.seed, &opt);
}

/* Benign change of the same size as the attack. */
static graphss_status live(cli *app, story *s)
{
    const graphss_benign_options opt = {
        .struct_size = sizeof opt, .edges = LINKS, .features = WORDS};
    graphss_flips flips = {0};
    graphss_status st = plan(app, s, &s->benign);
    if (!st)
        st = graphss_benign_churn(app->ctx, &flips, &s->benign.current, s->benign.victim,
            s->benign.n_victims, (uint64_t)app->global.seed, &opt);
    if (!st)
        st = graphss_snapshots_change(app->ctx, &s->benign, &flips);
    graphss_flips_destroy(app->ctx, &flips);
    return st;
}

static graphss_status assail(cli *app, story *s)
{
    graphss_snapshots *m = &s->made;
    attacker_attack_defaults(&s->attack_opt.attack);
    attacker_defaults(&s->attack_opt.knows);
    s->attack_opt.attack.edges = LINKS;
    s->attack_opt.attack.features = WORDS;
    graphss_status st = plan(app, s, m);
    if (!st)
        st = attacker_run(app, &s->attack, &m->current, &m->split, s->gcn.model, s->gcn.label,
            m->victim, m->n_victims, &s->attack_opt);
    if (!st)
        st = graphss_snapshots_change(app->ctx, m, &s->attack.flips);
    if (!st)
        s->before =
            attacker_measure(s->gcn.label, &s->data, &m->split, m->victim, m->n_victims);
    return st;
}

static graphss_defence_input look(
    cli *app, const story *s, const graphss_snapshots *m, const graphss_observation *past)
{
    return (graphss_defence_input){.struct_size = sizeof(graphss_defence_input),
        .current = graphss_dataset_observe(&m->current),
        .previous = past,
        .model = s->gcn.model,
        .split = &m->split,
        .seed = (uint64_t)app->global.seed};
}

static graphss_status watch(cli *app, story *s)
{
    const graphss_observation past = graphss_dataset_observe(&s->data);
    const graphss_defence_input benign = look(app, s, &s->benign, &past);
    const graphss_defence_input today = look(app, s, &s->made, &past);
    graphss_status st = graphss_alert_run(app->ctx, &s->benign_alert, &benign, NULL, 0, NULL);
    if (!st)
        st = graphss_alert_run(app->ctx, &s->alert, &today, NULL, 0, NULL);
    terminal_clear(&app->term);
    for (size_t i = 0; !st && i < NAMED && i < s->alert.n_flagged; i++)
        for (size_t v = 0; v < s->made.n_victims; v++)
            s->hits += s->made.victim[v] == s->alert.flagged[i];
    return st;
}

static graphss_status recover(cli *app, story *s)
{
    const graphss_observation past = graphss_dataset_observe(&s->data);
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < RIVALS && !st; i++) {
        const graphss_defence_input in =
            look(app, s, &s->made, rivals[i].history ? &past : NULL);
        graphss_recover_options opt;
        graphss_recover_options_init(&opt, graphss_lab_method_find(rivals[i].method),
            GRAPHSS_MODE_DEFAULT, s->gcn.model);
        graphss_recover_result r = {0};
        st = graphss_recover_run(app->ctx, &r, &in, &opt);
        terminal_clear(&app->term);
        if (!st) {
            s->score[i] = attacker_measure(r.predictions.label, &s->data, &s->made.split,
                s->made.victim, s->made.n_victims);
            s->seconds[i] = r.seconds;
        }
        graphss_recover_result_destroy(app->ctx, &r);
    }
    return st;
}

/* Is a line of records.jsonl one of the demo's graph? */
static bool is_ours(const char *line)
{
    json_t *record = json_loads(line, 0, NULL);
    const char *data = json_string_value(json_object_get(record, "dataset"));
    const bool ours = data && strcmp(data, DEMO_GRAPH) == 0;
    json_decref(record);
    return ours;
}

/* The page shows all records of the folder, so it must hold no others. A last line without a
 * newline is from a run that was killed. */
static graphss_status check_folder(cli *app, const char *folder)
{
    char *records = cli_format("%s/records.jsonl", folder), *line = NULL;
    size_t room = 0, number = 0;
    graphss_status st = GRAPHSS_OK;
    FILE *file = fopen(records, "re");
    for (ssize_t n; file && !st && (n = getline(&line, &room, file)) > 0;) {
        number++;
        if (line[n - 1] == '\n' && !is_ours(line))
            st = cli_usage(app,
                "demo: %s:%zu is a record of something else, which the demo does "
                "not touch: want another folder",
                records, number);
    }
    if (file)
        fclose(file);
    free(line);
    free(records);
    return st;
}

/* The same graph through reproduce and report, as a researcher would run it. */
static graphss_status report(cli *app, story *s)
{
    static const char *const what[] = {"datasets", "defence", "alert", "confusion"};
    if (!s->own.output)
        return GRAPHSS_OK;
    char *page = cli_format("%s/report.html", s->own.output);
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < sizeof what / sizeof *what && !st; i++) {
        const graphss_reproduce_options opt = {.struct_size = sizeof opt,
            .what = what[i],
            .mode = i ? "honest" : NULL,
            .datasets = DEMO_GRAPH,
            .models = i ? "gcn" : NULL,
            .settings = i ? "seen,new" : NULL,
            .methods =
                i == 1 ? "none,keep-last,retrain,label-propagation,jaccard,graphss" : NULL,
            .seeds = i ? 1 : 0,
            .folder = s->own.output};
        graphss_reproduce_result done = {0};
        st = graphss_reproduce_run(app->ctx, &done, (uint64_t)app->global.seed, &opt);
        if (!st && done.failed)
            st = cli_fail(app, GRAPHSS_ERR_DATA, "%s", done.first_error);
    }
    terminal_clear(&app->term);
    if (!st)
        st = graphss_report_write(app->ctx, NULL, s->own.output, page, NULL);
    free(page);
    return st;
}

/* ---- sentences about the results ---- */

static void heading(const cli *app, const char *text)
{
    printf("\n%s%s%s\n", terminal_begin(&app->term, stdout, TERMINAL_BOLD), text,
        terminal_end(&app->term, stdout));
}

static void tell_train(cli *app, const story *s)
{
    printf(
        "A generated graph of documents: links, words, and a subject for each. Two in five\n"
        "subjects are known, some of them wrong; the rest is to be found.\n\n");
    cli_show_dataset(app, &s->data);
    cli_show_split(app, &s->split, &s->split_opt);
    heading(app, "1. Train");
    printf("A GCN learns in %.2f s (%zu epochs). Test accuracy %.1f %%; always the largest "
           "class: %.1f %%.\n",
        s->gcn.log.seconds, s->gcn.log.epochs, 100 * s->gcn.test_accuracy,
        100 * cli_majority(&s->split, &s->data));
    fflush(stdout);
}

static void tell_attack(cli *app, const story *s)
{
    const size_t links = graphss_flips_count(&s->attack.flips, GRAPHSS_FLIP_EDGE);
    heading(app, "2. Attack");
    printf("Nettack changes %lld links and %lld words of each of %zu nodes: %zu of %zu links "
           "in all,\nin %.2f s.\n",
        (long long)LINKS, (long long)WORDS, s->made.n_victims, links,
        graphss_graph_edges(&s->data.graph), s->attack.seconds);
    fflush(stdout);
}

static void tell_verdict(cli *app, const char *what, const graphss_alert_result *a)
{
    const terminal_style style = a->alert ? TERMINAL_RED : TERMINAL_GREEN;
    printf("  %-28s%s%s%s  p = %.4f\n", what, terminal_begin(&app->term, stdout, style),
        a->alert ? "ALERT   " : "no alert", terminal_end(&app->term, stdout), a->p_value);
}

static void tell_alert(cli *app, const story *s)
{
    heading(app, "3. Alert, at a false-alarm rate of 5 %");
    tell_verdict(app, "a day of ordinary change", &s->benign_alert);
    tell_verdict(app, "the day of the attack", &s->alert);
    if (s->alert.kind != GRAPHSS_PERTURBATION_NONE)
        printf("It looks like %s on %.0f %% of the unlabelled nodes (true: %.0f %%). ",
            graphss_perturbation_text(s->alert.kind), 100 * s->alert.share,
            100.0 * (double)s->made.n_victims / (double)s->made.split.n_test);
    printf("Of the %d nodes\nit suspects most, %zu were attacked.\n", NAMED, s->hits);
    fflush(stdout);
}

static void tell_recover(cli *app, const story *s)
{
    text_table t = {0};
    heading(app, "4. Recover");
    printf("Accuracy in %% of the %zu victims and of the %zu other test nodes\n\n",
        s->before.n_victims, s->before.n_others);
    table_init(&t, "lrrrl", true);
    table_add(&t, "method");
    table_add(&t, "victims");
    table_add(&t, "others");
    table_add(&t, "seconds");
    table_add(&t, "what it does");
    table_add(&t, "before the attack");
    table_add(&t, "%.1f", 100 * s->before.victims);
    table_add(&t, "%.1f", 100 * s->before.others);
    table_add(&t, "%s", "");
    table_add(&t, "%s", "");
    for (size_t i = 0; i < RIVALS; i++) {
        table_add(&t, "%s", rivals[i].method);
        table_add(&t, "%.1f", 100 * s->score[i].victims);
        table_add(&t, "%.1f", 100 * s->score[i].others);
        table_add(&t, "%.2f", s->seconds[i]);
        table_add(&t, "%s", rivals[i].what);
    }
    table_print(&t, &app->term, stdout, 2);
}

static void tell_report(cli *app, const story *s)
{
    if (!s->own.output)
        return;
    heading(app, "5. Report");
    printf("Six methods, with and without a past, and their plots: ");
    terminal_text(&app->term, stdout, s->own.output, 0);
    printf("/report.html\n"
           "It is an experiment of its own, with other victims and a model for each past, so "
           "its figures\nare near those above, not the same.\n");
}

/* Commands to paste, which work even if nothing is installed. */
static void tell_next(cli *app)
{
    printf("\nNext: ");
    terminal_text(&app->term, stdout, app->program, 0);
    printf(" fetch cora && ");
    terminal_text(&app->term, stdout, app->program, 0);
    printf(" train cora --model gcn -o cora.model\n");
}

static json_t *verdict(const graphss_alert_result *a)
{
    json_t *o = json_object();
    cli_json_set(o, "alert", json_boolean(a->alert));
    cli_json_set(o, "p_value", cli_json_real(a->p_value));
    return o;
}

static json_t *accuracies(const attacker_score *score)
{
    json_t *o = json_object();
    cli_json_set(o, "victims", cli_json_real(score->victims));
    cli_json_set(o, "others", cli_json_real(score->others));
    cli_json_set(o, "test", cli_json_real(score->test));
    return o;
}

static void fill(cli *app, const story *s)
{
    json_t *table = json_array();
    cli_json_set(app->json, "model", cli_json_text("gcn"));
    cli_fit_json(app->json, &s->gcn);
    cli_json_set(app->json, "majority", cli_json_real(cli_majority(&s->split, &s->data)));
    attacker_json_scores(app->json, &s->before, &s->score[0]);
    cli_json_set(app->json, "alert", json_boolean(s->alert.alert));
    cli_json_set(app->json, "p_value", cli_json_real(s->alert.p_value));
    cli_json_set(app->json, "benign_day", verdict(&s->benign_alert));
    for (size_t i = 0; i < RIVALS; i++) {
        json_t *o = accuracies(&s->score[i]);
        cli_json_set(o, "method", cli_json_text(rivals[i].method));
        cli_json_set(o, "history", json_boolean(rivals[i].history));
        cli_json_set(o, "seconds", cli_json_real(s->seconds[i]));
        json_array_append_new(table, o);
    }
    cli_json_set(app->json, "recovered", table);
    cli_json_set(app->json, "dataset", cli_json_dataset(&s->data));
    cli_json_run(app, app->json);
}

/* A step and its result in words. */
typedef struct chapter {
    graphss_status (*run)(cli *app, story *s);
    void (*tell)(cli *app, const story *s); /* NULL: nothing */
} chapter;

static graphss_status run(cli *app)
{
    static const chapter chapters[] = {{train, tell_train}, {live, NULL},
        {assail, tell_attack}, {watch, tell_alert}, {recover, tell_recover},
        {report, tell_report}};
    story s = {0};
    cli_split_defaults(&s.split_opt);
    graphss_status st = cli_apply(app, 0, &s.own);
    if (!st && s.own.output)
        st = check_folder(app, s.own.output);
    for (size_t i = 0; i < sizeof chapters / sizeof *chapters && !st; i++) {
        st = chapters[i].run(app, &s);
        if (!st && !app->json && chapters[i].tell)
            chapters[i].tell(app, &s);
    }
    if (!st && app->json)
        fill(app, &s);
    else if (!st)
        tell_next(app);
    graphss_alert_result_destroy(app->ctx, &s.alert);
    graphss_alert_result_destroy(app->ctx, &s.benign_alert);
    attacker_done(app, &s.attack);
    graphss_snapshots_destroy(app->ctx, &s.made);
    graphss_snapshots_destroy(app->ctx, &s.benign);
    cli_fit_done(app, &s.gcn);
    graphss_split_destroy(app->ctx, &s.split);
    graphss_dataset_destroy(app->ctx, &s.data);
    return st;
}

const cli_command cli_demo = {
    .name = "demo",
    .arguments = "",
    .summary = "Train, attack, alert and recover on a generated graph",
    .examples = "demo\ndemo -o demo\ndemo --seed 5 --json\n",
    .group = {{"Options", table_of, sizeof(demo_arguments), defaults}},
    .run = run,
};
