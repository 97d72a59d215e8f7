/* cmd_alert.c - tests whether a snapshot, or a group of its nodes, was attacked. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "snapshot_page.h"

typedef struct alert_arguments {
    const char *model_file, *current, *previous, *split, *trusted, *group, *groups, *output,
        *predictor, *report, *answers, *answers_before;
    int64_t show;
    bool family_wise, fdr;
} alert_arguments;

#define FIELD(name) offsetof(alert_arguments, name)
static const graphss_option rows[] = {
    {"model-file", GRAPHSS_OPTION_STRING, FIELD(model_file), 0, 0, NULL, "MODEL",
        "a model that train wrote", 0},
    {"predictor", GRAPHSS_OPTION_STRING, FIELD(predictor), 0, 0, NULL, "COMMAND",
        "a program that answers in place of the model: COMMAND IN.npz OUT.npz", 0},
    {"answers", GRAPHSS_OPTION_STRING, FIELD(answers), 0, 0, NULL, "FILE.npz",
        "probabilities that any classifier gave for --current, in place of --model-file", 0},
    {"previous-answers", GRAPHSS_OPTION_STRING, FIELD(answers_before), 0, 0, NULL, "FILE.npz",
        "and for --previous; --split is then of the previous snapshot", 0},
    {"current", GRAPHSS_OPTION_STRING, FIELD(current), 0, 0, NULL, "DATASET",
        "the snapshot to test; its labels are not used", 0},
    {"previous", GRAPHSS_OPTION_STRING, FIELD(previous), 0, 0, NULL, "DATASET",
        "an earlier snapshot, known to be clean; nodes are matched by name", 0},
    {"split", GRAPHSS_OPTION_STRING, FIELD(split), 0, 0, NULL, "FILE.npz",
        "labelled nodes of the current snapshot; default: those of the model", 0},
    {"trusted", GRAPHSS_OPTION_STRING, FIELD(trusted), 0, 0, NULL, "FILE",
        "nodes that were surely not tampered with, one id per line: no suspects, and from 20 "
        "on "
        "a "
        "reference in place of the validation nodes",
        0},
    {"group", GRAPHSS_OPTION_STRING, FIELD(group), 0, 0, NULL, "FILE",
        "test these nodes, one id per line; default: all that changed or are new, or without "
        "--previous all without a label",
        0},
    {"groups", GRAPHSS_OPTION_STRING, FIELD(groups), 0, 0, NULL, "FILE",
        "test many groups: a file, one per line, `name:` and ids, or `classes` (by the "
        "classifier), "
        "`labels` (those of the snapshot), `communities`; one verdict each",
        0},
    {"output", GRAPHSS_OPTION_STRING, FIELD(output), 0, 0, NULL, "FILE.tsv",
        "write score, p-value and probability of every node; with --groups a line per group",
        'o'},
    {"report", GRAPHSS_OPTION_STRING, FIELD(report), 0, 0, NULL, "FILE.html",
        "write the verdict, its reasons and its limits as a page that can be sent on", 0},
    {"show", GRAPHSS_OPTION_INT, FIELD(show), 0, 1e9, NULL, "N",
        "how many suspicious nodes to print (default 10)", 0},
    {"family-wise", GRAPHSS_OPTION_BOOL, FIELD(family_wise), 0, 1, NULL, NULL,
        "with --groups: the rate is that of any false alert among all of them (Holm)", 0},
    {"fdr", GRAPHSS_OPTION_BOOL, FIELD(fdr), 0, 1, NULL, NULL,
        "with --groups: the rate is the share of false alerts among the alerts "
        "(Benjamini-Hochberg)",
        0},
    {0},
};

enum { OWN, JUDGE }; /* groups */

static const graphss_option *table_of(void)
{
    return rows;
}

static void defaults(void *options)
{
    *(alert_arguments *)options = (alert_arguments){.show = 10};
}

static void judge_defaults(void *options)
{
    graphss_alert_options_init(options);
}

static json_t *json_changes(const graphss_alert_changes *c)
{
    json_t *json = json_object();
    cli_json_set(json, "nodes_known", json_integer((json_int_t)c->nodes_known));
    cli_json_set(json, "links_changed", json_integer((json_int_t)c->edges_changed));
    cli_json_set(json, "features_changed", json_integer((json_int_t)c->features_changed));
    cli_json_set(json, "nodes_new", json_integer((json_int_t)c->nodes_new));
    cli_json_set(json, "nodes_gone", json_integer((json_int_t)c->nodes_gone));
    return json;
}

static void show_changes(const graphss_alert_changes *c)
{
    if (c->edges_changed + c->features_changed + c->nodes_new + c->nodes_gone == 0)
        printf("Changed  nothing since the previous snapshot\n");
    else
        printf("Changed  links of %zu and features of %zu of %zu nodes, %zu new, %zu gone\n",
            c->edges_changed, c->features_changed, c->nodes_known, c->nodes_new,
            c->nodes_gone);
}

/* Pieces of evidence in a sentence; freed by free. */
static char *tell_evidence(const graphss_alert_reason *why, const graphss_dataset *data)
{
    char now[24], before[24], features[24], edges[24];
    const char *said = cli_class_name(data, (size_t)why->now, now);
    const char *by_features = cli_class_name(data, (size_t)why->features, features);
    const char *by_edges = cli_class_name(data, (size_t)why->edges, edges);
    if (why->before < 0)
        return cli_format("classifier: %s (%.0f %%); features speak for %s (%.0f %%), edges "
                          "for %s (%.0f %%)",
            said, 100 * why->p_now, by_features, 100 * why->p_features, by_edges,
            100 * why->p_edges);
    return cli_format("classifier: %s (%.0f %%), before: %s (%.0f %%); features speak for %s "
                      "(%.0f %%), edges for %s (%.0f %%)",
        said, 100 * why->p_now, cli_class_name(data, (size_t)why->before, before),
        100 * why->p_before, by_features, 100 * why->p_features, by_edges, 100 * why->p_edges);
}

/* The reasons of a suspect, for programs. */
static json_t *json_reasons(
    const cli_node_changes *changes, int32_t node, const graphss_alert_reason *why)
{
    char *reason[CLI_REASONS_MOST], *evidence = tell_evidence(why, changes->now);
    json_t *list = json_array();
    const size_t n = cli_node_changes_tell(changes, node, reason);
    for (size_t i = 0; i < n; i++) {
        json_array_append_new(list, cli_json_text(reason[i]));
        free(reason[i]);
    }
    json_array_append_new(list, cli_json_text(evidence));
    free(evidence);
    return list;
}

static void set_piece(
    json_t *json, const char *name, const graphss_dataset *data, int32_t class_id, double p)
{
    char buffer[24];
    json_t *piece = json_object();
    cli_json_set(
        piece, "class", cli_json_text(cli_class_name(data, (size_t)class_id, buffer)));
    cli_json_set(piece, "probability", cli_json_real(p));
    cli_json_set(json, name, piece);
}

static json_t *json_evidence(const graphss_alert_reason *why, const graphss_dataset *data)
{
    json_t *json = json_object();
    set_piece(json, "classifier", data, why->now, why->p_now);
    if (why->before >= 0)
        set_piece(json, "before", data, why->before, why->p_before);
    set_piece(json, "features", data, why->features, why->p_features);
    set_piece(json, "links", data, why->edges, why->p_edges);
    cli_json_set(json, "links_added", json_integer((json_int_t)why->edges_added));
    cli_json_set(json, "links_removed", json_integer((json_int_t)why->edges_removed));
    cli_json_set(json, "features_added", json_integer((json_int_t)why->features_added));
    cli_json_set(json, "features_removed", json_integer((json_int_t)why->features_removed));
    return json;
}

/* A sentence about new nodes that came together; NULL if there are none. */
static char *tell_wave(const graphss_alert_result *a, const graphss_dataset *data)
{
    char buffer[24];
    return a->wave_class < 0
               ? NULL
               : cli_format(
                     "%zu new nodes are labelled %s, and many of them look tampered with",
                     a->wave_nodes, cli_class_name(data, (size_t)a->wave_class, buffer));
}

/* Of what is relied on and looks tampered with itself; NULL: of nothing. */
static char *tell_doubt(const graphss_alert_result *a, bool past)
{
    const double percent = 100 * a->contaminated;
    if (a->contaminated <= 0)
        return NULL;
    return past ? cli_format(
                      "about %.0f %% of the nodes that did not change look tampered with, "
                      "so the previous snapshot may have been attacked: judge this one "
                      "without --previous, too",
                      percent)
                : cli_format("about %.0f %% of the validation nodes look tampered with: they "
                             "are not compared with",
                      percent);
}

/* What was tested, and what cannot be seen without a past. */
static char *tell_scope(const graphss_alert_result *a, bool past)
{
    if (past && a->n_group == 0)
        return cli_format("None of the tested nodes changed since the previous snapshot, so "
                          "none is suspicious. An attack that is already in the previous "
                          "snapshot cannot be detected this way.");
    if (past)
        return cli_format(
            "Tested: changes of links and features that push nodes to another class more than "
            "benign change does. Not detected: attacks that are already in the previous "
            "snapshot, changes that look benign, nodes that were removed.");
    return cli_format("Tested: nodes whose links and features contradict each other more than "
                      "benign change since the training explains. Not detected: attacks on a "
                      "few %% of the nodes, and attacked nodes that look like others; "
                      "--previous with an earlier snapshot detects much more.");
}

static void fill(cli *app, const graphss_alert_result *a, const graphss_dataset *data,
    const graphss_alert_options *opt, bool past, const cli_node_changes *changes)
{
    char buffer[24];
    json_t *flagged = json_array(), *nodes = json_array();
    for (size_t i = 0; i < a->n_flagged; i++) {
        const int32_t node = a->flagged[i];
        json_t *row = json_object();
        const char *name = cli_name_at(&data->node_names, (size_t)node, buffer);
        json_array_append_new(flagged, cli_json_text(name));
        cli_json_set(row, "node", cli_json_text(name));
        cli_json_set(row, "name", cli_json_text(name));
        cli_json_set(row, "perturbed", cli_json_real(a->perturbed[node]));
        cli_json_set(row, "score", cli_json_real(a->node_score[node]));
        cli_json_set(row, "p_value", cli_json_real(a->node_p_value[node]));
        cli_json_set(row, "reasons", json_reasons(changes, node, &a->reason[i]));
        cli_json_set(row, "evidence", json_evidence(&a->reason[i], data));
        json_array_append_new(nodes, row);
    }
    cli_json_set(app->json, "alert", json_boolean(a->alert));
    cli_json_set(app->json, "p_value", cli_json_real(a->p_value));
    cli_json_set(app->json, "score", cli_json_real(a->score));
    cli_json_set(app->json, "threshold", cli_json_real(a->threshold));
    cli_json_set(app->json, "kind", cli_json_text(graphss_perturbation_text(a->kind)));
    cli_json_set(app->json, "share", cli_json_real(a->share));
    cli_json_set(app->json, "contaminated", cli_json_real(a->contaminated));
    char *scope = tell_scope(a, past);
    cli_json_set(app->json, "scope", cli_json_text(scope));
    free(scope);
    if (a->wave_class >= 0) {
        json_t *wave = json_object();
        cli_json_set(
            wave, "class", cli_json_text(cli_class_name(data, (size_t)a->wave_class, buffer)));
        cli_json_set(wave, "nodes", json_integer((json_int_t)a->wave_nodes));
        cli_json_set(app->json, "wave", wave);
    }
    cli_json_set(app->json, "nodes", json_integer((json_int_t)a->n_group));
    cli_json_set(app->json, "calibration_nodes", json_integer((json_int_t)a->n_calibration));
    if (past)
        cli_json_set(app->json, "changes", json_changes(&a->changes));
    cli_json_set(app->json, "flagged_nodes", flagged);
    cli_json_set(app->json, "flagged", nodes);
    cli_json_set(app->json, "seconds", cli_json_real(a->seconds));
    cli_json_set(app->json, "options", cli_json_options(opt, graphss_alert_options_table()));
    cli_json_set(app->json, "dataset", cli_json_dataset(data));
    cli_ranks_json(app);
    cli_json_run(app, app->json);
}

/* "= 0.0123"; one that would show as 0 is "< 0.00005". */
static const char *p_text(double p, char buffer[24])
{
    if (p < 0.00005)
        return "< 0.00005";
    snprintf(buffer, 24, "= %.4f", p);
    return buffer;
}

static void show(cli *app, const graphss_alert_result *a, const graphss_dataset *data,
    const graphss_alert_options *opt, size_t most, bool past, const cli_node_changes *changes)
{
    char buffer[24];
    cli_show_dataset(app, data);
    if (past)
        show_changes(&a->changes);
    printf("%-9sp %s at a false-alarm rate of %g\n", a->alert ? "ALERT" : "No alert",
        p_text(a->p_value, buffer), opt->false_alarm_rate);
    printf("Score    %.4f, threshold %.4f: %zu node%s ranked among %zu clean one%s\n",
        a->score, a->threshold, a->n_group, cli_s(a->n_group), a->n_calibration,
        cli_s(a->n_calibration));
    cli_show_attack(a->kind, a->share, "nodes");
    printf("; %.2f s\n", a->seconds);
    char *wave = tell_wave(a, data);
    if (wave) {
        printf("Wave     ");
        terminal_text(&app->term, stdout, wave, 0);
        printf("\n");
    }
    free(wave);
    if (!a->alert && !app->global.quiet) {
        char *scope = tell_scope(a, past);
        cli_wrap(stdout, scope, 0, 0);
        free(scope);
    }
    if (a->n_flagged && most)
        printf("\n%10s %10s  node\n", "perturbed", "p");
    for (size_t i = 0; i < a->n_flagged && i < most; i++) {
        const int32_t node = a->flagged[i];
        const char *p = p_text(a->node_p_value[node], buffer);
        printf("%9.1f%% %10s  ", 100 * a->perturbed[node], *p == '=' ? p + 2 : p);
        terminal_text(
            &app->term, stdout, cli_name_at(&data->node_names, (size_t)node, buffer), 0);
        printf("\n");
        char *reason[CLI_REASONS_MOST + 1];
        size_t n = cli_node_changes_tell(changes, node, reason);
        reason[n++] = tell_evidence(&a->reason[i], data);
        for (size_t j = 0; j < n; j++) {
            printf("%4s", "");
            terminal_text(&app->term, stdout, reason[j], 0);
            printf("\n");
            free(reason[j]);
        }
    }
    if (most && a->n_flagged > most)
        printf("... and %zu more\n", a->n_flagged - most);
}

/* Warns of few reference nodes: ranks are then coarse. */
static void note_few(cli *app, size_t clean, bool past)
{
    enum { FEW = 100 };
    if (clean < FEW && !past)
        cli_note(app,
            "note: with %zu clean node%s to compare with and no past small attacks cannot be "
            "detected: --previous with an earlier snapshot helps, and more validation nodes "
            "(train --val)",
            clean, cli_s(clean));
}

/* ---- a page ---- */

static graphss_status write_page(cli *app, const graphss_alert_result *a,
    const cli_snapshot_pair *s, const cli_node_changes *changes, const alert_arguments *own,
    const graphss_alert_options *opt)
{
    char buffer[24];
    cli_page p = {0};
    const graphss_alert_changes *c = &a->changes;
    const size_t n = s->current.graph.n_nodes;
    const char *p_value = p_text(a->p_value, buffer);
    p.page.title = cli_page_keep(
        &p, cli_format("%s: %s", a->alert ? "Alert" : "No alert", s->current.name));
    p.page.alarming = a->alert;
    p.page.verdict = cli_page_keep(&p,
        a->alert ? cli_format(
                       "This snapshot looks tampered with. A clean snapshot looks at least as "
                       "suspicious with probability p %s; an alert is raised at %g or below.",
                       p_value, opt->false_alarm_rate)
                 : cli_format(
                       "Nothing here looks more suspicious than clean data: a clean snapshot "
                       "looks at least as suspicious with probability p %s; an alert is "
                       "raised at %g or below. This does not prove that there was no attack.",
                       p_value, opt->false_alarm_rate));
    cli_page_line(&p, CLI_PAGE_FACTS, "looked for", tell_scope(a, own->previous != NULL));
    char *doubt = tell_doubt(a, own->previous != NULL);
    if (doubt)
        cli_page_line(&p, CLI_PAGE_FACTS, "in doubt", cli_format("%s.", doubt));
    free(doubt);
    if (a->kind != GRAPHSS_PERTURBATION_NONE)
        cli_page_line(&p, CLI_PAGE_FACTS, "attack",
            a->share < 0.0005
                ? cli_format(
                      "It looks like an attack by %s.", graphss_perturbation_text(a->kind))
                : cli_format("It looks like an attack by %s on about %.1f %% of the "
                             "nodes.",
                      graphss_perturbation_text(a->kind), 100 * a->share));
    char *wave = tell_wave(a, &s->current);
    if (wave)
        cli_page_line(&p, CLI_PAGE_FACTS, "wave", cli_format("%s.", wave));
    free(wave);
    cli_page_line(&p, CLI_PAGE_FACTS, "compared",
        cli_format("%zu node%s ranked among %zu that %s taken to be clean; score "
                   "%.4f, threshold %.4f.",
            a->n_group, cli_s(a->n_group), a->n_calibration,
            a->n_calibration == 1 ? "is" : "are", a->score, a->threshold));
    for (size_t i = 0; i < a->n_flagged; i++)
        cli_page_node(&p, changes, a->flagged[i], a->perturbed[a->flagged[i]],
            a->node_p_value[a->flagged[i]], NULL, NULL,
            tell_evidence(&a->reason[i], &s->current));
    p.page.node_note = "The most suspicious first. Tampered with: the probability of it. "
                       "p-value: the share of comparable clean nodes that look at least as "
                       "suspicious. Reasons: what changed at the node since the previous "
                       "snapshot, whoever changed it, and the evidence about its class.";
    if (own->previous) {
        cli_page_line(
            &p, CLI_PAGE_CHANGES, "nodes in both", cli_format("%zu", c->nodes_known));
        cli_page_line(
            &p, CLI_PAGE_CHANGES, "with other edges", cli_format("%zu", c->edges_changed));
        cli_page_line(&p, CLI_PAGE_CHANGES, "with other features",
            cli_format("%zu", c->features_changed));
        cli_page_line(&p, CLI_PAGE_CHANGES, "new nodes", cli_format("%zu", c->nodes_new));
        cli_page_line(&p, CLI_PAGE_CHANGES, "nodes gone", cli_format("%zu", c->nodes_gone));
    }
    if (a->n_group < n)
        cli_page_unseen(&p, cli_format("%zu of %zu nodes: %s.", n - a->n_group, n,
                                own->group ? "they are not in the group, or did not change"
                                : own->previous ? "they did not change"
                                                : "they are labelled"));
    if (c->nodes_gone)
        cli_page_unseen(
            &p, cli_format("%zu node%s of the previous snapshot that this one does not have.",
                    c->nodes_gone, cli_s(c->nodes_gone)));
    cli_page_snapshots(app, &p, s, own->model_file, own->current, own->previous);
    if (own->group)
        cli_page_line(&p, CLI_PAGE_SETTINGS, "group", cli_format("%s", own->group));
    if (own->trusted)
        cli_page_line(&p, CLI_PAGE_SETTINGS, "trusted", cli_format("%s", own->trusted));
    cli_page_options(&p, opt, graphss_alert_options_table());
    const graphss_status st = cli_page_write(app, &p, own->report);
    cli_page_done(&p);
    return st;
}

/* ---- every node, as a file ---- */

static graphss_status write_nodes(
    cli *app, const graphss_alert_result *a, const graphss_dataset *data, const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        return cli_fail(app, GRAPHSS_ERR_NOMEM, "no memory for %s", path);
    fprintf(file, "node\tscore\tp_value\tperturbed\n");
    for (size_t i = 0; i < a->n_nodes; i++) {
        cli_put_name(file, true, &data->node_names, i);
        fprintf(file, "\t%.9g\t%.9g\t%.9g\n", a->node_score[i], a->node_p_value[i],
            a->perturbed[i]);
    }
    const bool bad = ferror(file) != 0;
    const graphss_status st = fclose(file) != 0 || bad
                                  ? cli_fail(app, GRAPHSS_ERR_NOMEM, "no memory for %s", path)
                                  : cli_write_file(app, path, text, size);
    free(text);
    return st;
}

/* ---- many groups, scored once ---- */

static void tell_group(
    cli *app, json_t *list, const char *name, const graphss_alert_verdict *v)
{
    enum { WIDTH = 16 };
    app->alerted = app->alerted || v->alert;
    if (!app->json) {
        char buffer[24];
        const size_t length = strlen(name);
        printf("%*s", length < WIDTH ? (int)(WIDTH - length) : 0, "");
        terminal_text(&app->term, stdout, name, 0);
        if (v->n_group == 0)
            printf("  no alert  p = 1: no node changed\n");
        else
            printf("  %s  p %s  score %.4f, threshold %.4f, %zu node%s\n",
                v->alert ? "ALERT   " : "no alert", p_text(v->p_value, buffer), v->score,
                v->threshold, v->n_group, cli_s(v->n_group));
        return;
    }
    json_t *row = json_object();
    cli_json_set(row, "group", cli_json_text(name));
    cli_json_set(row, "alert", json_boolean(v->alert));
    cli_json_set(row, "p_value", cli_json_real(v->p_value));
    cli_json_set(row, "score", cli_json_real(v->score));
    cli_json_set(row, "threshold", cli_json_real(v->threshold));
    cli_json_set(row, "nodes", json_integer((json_int_t)v->n_group));
    cli_json_set(row, "calibration_nodes", json_integer((json_int_t)v->n_calibration));
    json_array_append_new(list, row);
}

/* A line of the table of groups. */
static void put_group(
    FILE *file, const graphss_names *names, size_t i, const graphss_alert_verdict *v)
{
    cli_put_name(file, true, names, i);
    fprintf(file, "\t%.9g\t%.9g\t%s\t%.9g\t%zu\n", v->score, v->p_value,
        v->alert ? "yes" : "no", v->threshold, v->n_group);
}

enum { GROUP_LEAST = 5 }; /* the least number of nodes of a community that gets a verdict */

/* Groups of nodes that the graph itself has; scores: of its nodes. */
static graphss_status find_groups(cli *app, graphss_node_groups *out, const char *what,
    const graphss_dataset *data, const graphss_alert_scores *scores)
{
    const size_t n = data->graph.n_nodes;
    if (strcmp(what, "classes") == 0)
        return graphss_node_groups_make(
            app->ctx, out, scores->predicted, n, scores->n_classes, &data->class_names);
    if (strcmp(what, "labels") == 0)
        return data->label ? graphss_node_groups_make(app->ctx, out, data->label, n,
                                 data->n_classes, &data->class_names)
                           : GRAPHSS_OK;
    if (app->part)
        return cli_usage(app, "--groups communities does not work with --engine: communities "
                              "are sought in the whole graph");
    int32_t *community = NULL;
    size_t *size = NULL, count = 0;
    graphss_status st = cli_alloc_large(app, &community, n, sizeof *community);
    if (!st)
        st = cli_alloc_large(app, &size, n, sizeof *size);
    if (!st)
        st = graphss_graph_communities(app->ctx, community, &count, &data->graph);
    for (size_t v = 0; v < count && !st; v++)
        size[v] = 0;
    for (size_t v = 0; v < n && !st; v++)
        size[community[v]]++;
    for (size_t v = 0; v < n && !st; v++)
        community[v] = size[community[v]] < GROUP_LEAST ? -1 : community[v];
    if (!st)
        st = graphss_node_groups_make(app->ctx, out, community, n, count, NULL);
    free(size);
    free(community);
    return st;
}

static bool is_file(const char *groups)
{
    return strcmp(groups, "classes") && strcmp(groups, "labels") &&
           strcmp(groups, "communities");
}

/* groups: read from a file, or empty: found (find_groups). path: of a table, or NULL */
static graphss_status judge_groups(cli *app, const cli_snapshot_pair *s,
    graphss_node_groups *groups, const alert_arguments *own, const graphss_alert_options *opt)
{
    const graphss_defence_input *in = &s->in;
    const graphss_dataset *data = &s->current;
    const graphss_alert_correction rule = own->family_wise ? GRAPHSS_ALERT_FAMILY_WISE
                                          : own->fdr       ? GRAPHSS_ALERT_FDR
                                                           : GRAPHSS_ALERT_EACH;
    graphss_alert_verdict *verdict = NULL;
    double *p_value = NULL;
    graphss_alert_scores scores = {0};
    json_t *list = json_array();
    char *text = NULL;
    size_t size = 0, clean = SIZE_MAX;
    FILE *file = open_memstream(&text, &size);
    if (!file) {
        json_decref(list);
        return cli_fail(app, GRAPHSS_ERR_NOMEM, "no memory for the groups");
    }
    fprintf(file, "group\tscore\tp_value\talert\tthreshold\tnodes\n");
    graphss_status st = app->part ? graphss_part_score(app->ctx, &scores, &s->part, opt)
                                  : graphss_alert_score(app->ctx, &scores, in, opt);
    terminal_clear(&app->term);
    if (!st && !is_file(own->groups))
        st = find_groups(app, groups, own->groups, data, &scores);
    if (!st && groups->count == 0)
        st = cli_fail(
            app, GRAPHSS_ERR_DATA, "--groups %s: %s has none", own->groups, data->name);
    if (!st)
        st = cli_alloc_large(app, &verdict, groups->count, sizeof *verdict);
    if (!st)
        st = cli_alloc_large(app, &p_value, groups->count, sizeof *p_value);
    for (size_t i = 0; i < groups->count && !st; i++) {
        const size_t begin = groups->start[i], line = groups->line[i];
        st = graphss_alert_test_group(app->ctx, &verdict[i], &scores, groups->node + begin,
            groups->start[i + 1] - begin, in->seed + line, opt);
        p_value[i] = verdict[i].p_value;
    }
    if (!st)
        st = graphss_alert_correct(app->ctx, p_value, groups->count, rule);
    for (size_t i = 0; i < groups->count && !st; i++) {
        verdict[i].p_value = p_value[i];
        verdict[i].alert = verdict[i].n_group && p_value[i] <= opt->false_alarm_rate;
        tell_group(app, list, graphss_names_get(&groups->names, i), &verdict[i]);
        put_group(file, &groups->names, i, &verdict[i]);
        if (verdict[i].n_group && verdict[i].n_calibration < clean)
            clean = verdict[i].n_calibration;
    }
    free(verdict);
    free(p_value);
    const bool bad = ferror(file) != 0;
    if ((fclose(file) != 0 || bad) && !st)
        st = cli_fail(app, GRAPHSS_ERR_NOMEM, "no memory for the groups");
    if (!st && own->output && cli_leads(app))
        st = cli_write_file(app, own->output, text, size);
    free(text);
    if (!st)
        note_few(app, clean, in->previous != NULL);
    if (!st && app->json) {
        cli_json_set(app->json, "alert", json_boolean(app->alerted));
        cli_json_set(app->json, "groups", json_incref(list));
        cli_json_set(
            app->json, "options", cli_json_options(opt, graphss_alert_options_table()));
        cli_json_set(app->json, "dataset", cli_json_dataset(data));
        cli_ranks_json(app);
        cli_json_run(app, app->json);
    }
    json_decref(list);
    graphss_alert_scores_destroy(app->ctx, &scores);
    return st;
}

static graphss_status run(cli *app)
{
    alert_arguments own;
    graphss_alert_options opt;
    cli_snapshot_pair s = {0};
    graphss_alert_result alert = {0};
    graphss_node_groups groups = {0};
    cli_node_changes changes = {0};
    int32_t *node = NULL, *trusted = NULL;
    size_t n = 0;

    defaults(&own);
    judge_defaults(&opt);
    graphss_status st = cli_apply(app, OWN, &own);
    if (!st)
        st = cli_apply(app, JUDGE, &opt);
    if (st)
        return st;
    st = cli_check_answers(app, own.model_file, own.previous);
    if (st)
        return st;
    if (own.answers)
        own.model_file = own.answers;
    if (!own.current)
        return cli_usage(app, "alert: want --current DATASET");

    if (own.groups && (own.group || cli_given(app, "show") || own.report))
        return cli_usage(app, "--groups excludes --group, --show and --report");
    if ((own.family_wise || own.fdr) && (!own.groups || own.family_wise == own.fdr))
        return cli_usage(app, "--family-wise or --fdr, one of them, is for --groups");
    if (own.report && !cli_has_extension(own.report, ".html"))
        return cli_usage(app, "--report: %s: want a name that ends in .html", own.report);
    const char *const input[] = {own.model_file, own.current, own.previous, own.split,
        own.group, own.groups && is_file(own.groups) ? own.groups : NULL, own.trusted,
        own.answers_before};
    st = own.output ? cli_check_output(app, own.output, input, sizeof input / sizeof *input)
                    : GRAPHSS_OK;
    if (!st && own.report)
        st = cli_check_output(app, own.report, input, sizeof input / sizeof *input);
    if (!st && own.report && own.output && strcmp(own.report, own.output) == 0)
        st = cli_usage(app, "alert: --report and -o are both %s", own.report);
    if (st)
        return st;

    st = cli_snapshot_pair_open(app, &s, own.model_file, own.current, own.previous, own.split);
    if (!st && own.trusted)
        st = cli_read_nodes(app, &trusted, &opt.n_trusted, own.trusted, &s.current);
    opt.trusted = trusted;
    if (!st && own.group)
        st = cli_read_nodes(app, &node, &n, own.group, &s.current);
    if (!st && own.groups && is_file(own.groups))
        st = graphss_node_groups_read(app->ctx, &groups, own.groups, &s.current);
    if (!st && own.groups)
        st = judge_groups(app, &s, &groups, &own, &opt);
    if (st || own.groups)
        goto done;
    st = app->part ? graphss_part_alert(app->ctx, &alert, &s.part, node, n, &opt)
                   : graphss_alert_run(app->ctx, &alert, &s.in, node, n, &opt);
    terminal_clear(&app->term);
    if (!st)
        st = cli_snapshot_pair_rows(app, &s, alert.flagged, alert.n_flagged);
    if (!st && own.output && cli_leads(app))
        st = write_nodes(app, &alert, &s.current, own.output);
    if (!st)
        st = cli_node_changes_open(app, &changes, &s);
    if (!st && own.report && cli_leads(app))
        st = write_page(app, &alert, &s, &changes, &own, &opt);
    if (st)
        goto done;
    app->alerted = alert.alert;
    char *doubt = tell_doubt(&alert, own.previous != NULL);
    if (doubt)
        cli_warn(app, "%s", doubt);
    free(doubt);
    note_few(app, alert.n_calibration, own.previous != NULL);
    if (app->json)
        fill(app, &alert, &s.current, &opt, own.previous != NULL, &changes);
    else
        show(app, &alert, &s.current, &opt, (size_t)own.show, own.previous != NULL, &changes);
    if (own.report && !app->json) {
        printf("Page     ");
        terminal_text(&app->term, stdout, own.report, 0);
        printf("\n");
    }
done:
    cli_node_changes_close(app, &changes);
    graphss_alert_result_destroy(app->ctx, &alert);
    graphss_release(app->ctx, trusted);
    graphss_release(app->ctx, node);
    graphss_node_groups_destroy(app->ctx, &groups);
    cli_snapshot_pair_close(app, &s);
    return st;
}

static const char *whole(cli *app)
{
    static const char *const option[] = {"predictor", "answers", "previous-answers", NULL};
    const char *groups = cli_given(app, "groups");
    return groups && !is_file(groups) && strcmp(groups, "classes") != 0
               ? groups
               : cli_ranks_whole(app, option);
}

const cli_command cli_alert = {
    .name = "alert",
    .arguments = "--model-file MODEL --current DATASET",
    .summary = "Test whether a snapshot or a group of its nodes was attacked",
    .about = "Scores every node by what rehearsed attacks taught when the model was trained, "
             "and compares the group with nodes that were not attacked. With --previous it "
             "tests what changed: an unchanged node is never flagged, and a group without "
             "change never alerts. Exit code 1 means that an alert was raised.\nIn the list "
             "of nodes, `perturbed` is the probability that a node was attacked, and p its "
             "own p-value: the fraction of comparable clean nodes with a score at least as "
             "high. About 3 % of the list are expected to be false. At least 20 validation "
             "nodes are needed, or 40 training nodes in their place.\n",
    .examples = "alert --model-file cora.model --current today.npz\n"
                "alert --model-file cora.model --current today.npz --previous before.npz\n"
                "alert --model-file cora.model --current today.npz --report page.html\n"
                "alert --model-file cora.model --current today.npz --group nodes.txt --json\n"
                "alert --model-file cora.model --current today.npz --groups many.txt --fdr\n"
                "alert --model-file cora.model --current today.npz --previous before.npz "
                "--groups communities --family-wise\n",
    .ranks = CLI_SHARED,
    .whole = whole,
    .min_arguments = 0,
    .max_arguments = 0,
    .group = {{"Options", table_of, sizeof(alert_arguments), defaults},
        {"The verdict", graphss_alert_options_table, sizeof(graphss_alert_options),
            judge_defaults}},
    .run = run,
};
