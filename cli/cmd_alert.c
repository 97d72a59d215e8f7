/* cmd_alert.c - was a snapshot, or a group of its nodes, tampered with? */
#include <stddef.h>
#include <stdlib.h>

#include "commands.h"

typedef struct alert_arguments {
    const char *model_file, *current, *previous, *split, *group;
    int64_t list;
} alert_arguments;

#define FIELD(name) offsetof(alert_arguments, name)
static const graphss_option rows[] = {
    {"model-file", GRAPHSS_OPTION_STRING, FIELD(model_file), 0, 0, NULL, "MODEL",
     "a model that train wrote", 0},
    {"current", GRAPHSS_OPTION_STRING, FIELD(current), 0, 0, NULL, "DATASET",
     "the snapshot to judge; its labels are not looked at", 0},
    {"previous", GRAPHSS_OPTION_STRING, FIELD(previous), 0, 0, NULL, "DATASET",
     "the snapshot before; nodes are matched by name", 0},
    {"split", GRAPHSS_OPTION_STRING, FIELD(split), 0, 0, NULL, "FILE.npz",
     "labelled nodes of the current snapshot; default: those of the model", 0},
    {"group", GRAPHSS_OPTION_STRING, FIELD(group), 0, 0, NULL, "FILE",
     "judge these nodes, one id a line; default: all without a label", 0},
    {"show", GRAPHSS_OPTION_INT, FIELD(list), 0, 1e9, NULL, "N",
     "how many suspicious nodes to name for people (default 10)", 0},
    {0},
};

enum { OWN, JUDGE }; /* groups */

static const graphss_option *table_of(void)
{
    return rows;
}

static void defaults(void *options)
{
    *(alert_arguments *)options = (alert_arguments){.list = 10};
}

static void judge_defaults(void *options)
{
    *(graphss_alert_options *)options = graphss_alert_options_default();
}

/* The name of a node, or its number in buffer. */
static const char *node_name(const graphss_dataset *data, int32_t node, char buffer[24])
{
    if (data->node_names.count)
        return graphss_names_get(&data->node_names, (size_t)node);
    snprintf(buffer, 24, "%d", (int)node);
    return buffer;
}

static void fill(cli *app, const graphss_alert *a, const graphss_dataset *data,
                 const graphss_alert_options *opt)
{
    char buffer[24];
    json_t *flagged = json_array(), *nodes = json_array();
    for (size_t i = 0; i < a->n_flagged; i++) {
        const int32_t node = a->flagged[i];
        json_t *row = json_object();
        json_array_append_new(flagged, cli_json_text(node_name(data, node, buffer)));
        cli_json_set(row, "node", cli_json_text(node_name(data, node, buffer)));
        cli_json_set(row, "perturbed", cli_json_real(a->perturbed[node]));
        cli_json_set(row, "score", cli_json_real(a->node_score[node]));
        cli_json_set(row, "p_value", cli_json_real(a->node_p_value[node]));
        json_array_append_new(nodes, row);
    }
    cli_json_set(app->json, "alert", json_boolean(a->alert));
    cli_json_set(app->json, "p_value", cli_json_real(a->p_value));
    cli_json_set(app->json, "score", cli_json_real(a->score));
    cli_json_set(app->json, "threshold", cli_json_real(a->threshold));
    cli_json_set(app->json, "kind", cli_json_text(a->kind));
    cli_json_set(app->json, "share", cli_json_real(a->share));
    cli_json_set(app->json, "nodes", json_integer((json_int_t)a->n_group));
    cli_json_set(app->json, "calibration_nodes", json_integer((json_int_t)a->n_calibration));
    cli_json_set(app->json, "flagged_nodes", flagged);
    cli_json_set(app->json, "flagged", nodes);
    cli_json_set(app->json, "seconds", cli_json_real(a->seconds));
    cli_json_set(app->json, "options", cli_json_options(opt, graphss_alert_options_table()));
    cli_json_set(app->json, "dataset", cli_json_dataset(data));
    cli_json_run(app, app->json);
}

static void show(cli *app, const graphss_alert *a, const graphss_dataset *data,
                 const graphss_alert_options *opt, size_t most)
{
    char buffer[24];
    cli_show_dataset(app, data);
    printf("%s  p = %.4f at a false-alarm rate of %g\n", a->alert ? "ALERT  " : "calm   ",
           a->p_value, opt->false_alarm_rate);
    printf(
        "Score    %.4f, threshold %.4f: mean suspicion of %zu nodes, against %zu clean ones\n",
        a->score, a->threshold, a->n_group, a->n_calibration);
    printf("Attack   %s, about %.1f %% of the nodes without a label; %.2f s\n", a->kind,
           100 * a->share, a->seconds);
    if (a->n_flagged && most)
        printf("\n%10s %10s  node\n", "perturbed", "p");
    for (size_t i = 0; i < a->n_flagged && i < most; i++) {
        const int32_t node = a->flagged[i];
        printf("%9.1f%% %10.4f  ", 100 * a->perturbed[node], a->node_p_value[node]);
        terminal_text(&app->term, stdout, node_name(data, node, buffer), 0);
        printf("\n");
    }
    if (most && a->n_flagged > most)
        printf("... and %zu more\n", a->n_flagged - most);
}

static graphss_status run(cli *app)
{
    alert_arguments own;
    graphss_alert_options opt;
    graphss_model *model = NULL;
    graphss_dataset current = {0}, previous = {0};
    graphss_split split = {0};
    graphss_alert alert = {0};
    int32_t *node = NULL;
    size_t n = 0;

    defaults(&own);
    judge_defaults(&opt);
    graphss_status st = cli_apply(app, OWN, &own);
    if (!st)
        st = cli_apply(app, JUDGE, &opt);
    if (st)
        return st;
    if (!own.model_file)
        return cli_usage(app, "alert: want --model-file MODEL");
    if (!own.current)
        return cli_usage(app, "alert: want --current DATASET");

    st = graphss_model_load(app->ctx, &model, own.model_file);
    if (!st)
        st = cli_read_dataset(app, &current, own.current);
    if (!st)
        st = graphss_model_fits(app->ctx, model, &current);
    if (!st && own.previous)
        st = cli_read_dataset(app, &previous, own.previous);
    if (!st && own.previous)
        st = graphss_model_fits(app->ctx, model, &previous);
    if (!st)
        st = cli_current_split(app, &split, own.split, model, &current,
                               own.previous ? &previous : NULL);
    if (!st && own.group)
        st = graphss_node_list_read(app->ctx, &node, &n, own.group, &current);
    if (st)
        goto done;
    if (own.group && n == 0) {
        st = cli_fail(app, GRAPHSS_ERR_DATA, "%s: no node is listed", own.group);
        goto done;
    }

    const graphss_observation before = {&previous.graph, &previous.features,
                                        &previous.node_names};
    const graphss_recover_input in = {
        .current = {&current.graph, &current.features, &current.node_names},
        .previous = own.previous ? &before : NULL,
        .model = model,
        .split = &split,
        .seed = (uint64_t)app->global.seed};
    st = graphss_alert_run(app->ctx, &alert, &in, node, n, &opt);
    terminal_clear(&app->term);
    if (st)
        goto done;
    app->alerted = alert.alert;
    if (app->json)
        fill(app, &alert, &current, &opt);
    else
        show(app, &alert, &current, &opt, (size_t)own.list);
done:
    graphss_alert_destroy(app->ctx, &alert);
    graphss_release(app->ctx, node);
    graphss_split_destroy(app->ctx, &split);
    graphss_dataset_destroy(app->ctx, &previous);
    graphss_dataset_destroy(app->ctx, &current);
    graphss_model_free(app->ctx, model);
    return st;
}

const cli_command cli_alert = {
    .name = "alert",
    .arguments = "--model-file MODEL --current DATASET",
    .summary = "Tell whether a snapshot or a group of its nodes was tampered with",
    .about = "Learns from simulated attacks on half of the validation nodes what tampered "
             "nodes look like, scores every node, and compares the group with the other "
             "half, which is taken to be clean. Exit code 1: an alert was raised.\n",
    .examples = "alert --model-file cora.model --current today.npz\n"
                "alert --model-file cora.model --current today.npz --previous before.npz\n"
                "alert --model-file cora.model --current today.npz --group nodes.txt --json\n",
    .min_arguments = 0,
    .max_arguments = 0,
    .group = {{"Options", table_of, sizeof(alert_arguments), defaults},
              {"The verdict", graphss_alert_options_table, sizeof(graphss_alert_options),
               judge_defaults}},
    .run = run,
};
