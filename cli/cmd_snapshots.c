/* cmd_snapshots.c - a past and an attacked present, as a folder of files to try defences on.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "attacker.h"
#include "cli.h"

typedef struct snapshot_arguments {
    const char *output, *model_file, *model;
    bool benign, force;
} snapshot_arguments;

#define FIELD(name) offsetof(snapshot_arguments, name)
static const graphss_option rows[] = {
    {"output", GRAPHSS_OPTION_STRING, FIELD(output), 0, 0, NULL, "DIR", "where to write", 'o'},
    {"benign", GRAPHSS_OPTION_BOOL, FIELD(benign), 0, 0, NULL, NULL,
        "no attack: benign change of the same size at the same nodes", 0},
    {"model-file", GRAPHSS_OPTION_STRING, FIELD(model_file), 0, 0, NULL, "MODEL",
        "the model to mislead; without it one is trained on the previous snapshot", 0},
    {"model", GRAPHSS_OPTION_STRING, FIELD(model), 0, 0, NULL, "NAME",
        "the classifier to train", 0},
    {"force", GRAPHSS_OPTION_BOOL, FIELD(force), 0, 0, NULL, NULL,
        "write into a folder that holds files", 0},
    {0},
};

enum { OWN, PLAN, ATTACKER, SPLIT = ATTACKER + 2 }; /* groups */

static const graphss_option *table_of(void)
{
    return rows;
}

static void defaults(void *options)
{
    *(snapshot_arguments *)options = (snapshot_arguments){.model = "gcn"};
}

static void snapshot_defaults(void *options)
{
    graphss_snapshot_options_init(options);
}

typedef struct snapshot_run {
    snapshot_arguments own;
    graphss_snapshot_options plan;
    cli_split_options split_opt;
    attacker_options opt;
    graphss_dataset data;
    graphss_split split;
    graphss_snapshots made;
    graphss_model *model;
    int32_t *before, *after; /* [nodes] the model's labels on current, clean and changed */
    attacker attack;
    attacker_score score_before, score_after;
    double began;
} snapshot_run;

static graphss_status read_arguments(cli *app, snapshot_run *r)
{
    defaults(&r->own);
    snapshot_defaults(&r->plan);
    graphss_status st = cli_apply(app, OWN, &r->own);
    if (!st)
        st = cli_apply(app, PLAN, &r->plan);
    if (!st)
        st = attacker_apply(app, ATTACKER, &r->opt, GRAPHSS_KNOWLEDGE_PREDICTIONS);
    if (!st)
        st = cli_split_apply(app, SPLIT, &r->split_opt);
    if (st)
        return st;
    st = cli_check_name(app, "model", r->own.model, graphss_model_name);
    if (st)
        return st;
    /* One --mode for both: the attack's row comes first. */
    r->split_opt.mode = r->opt.attack.mode;
    if (r->split_opt.mode == GRAPHSS_MODE_PAPER && !cli_given(app, "noise-kind"))
        r->split_opt.make.noise_kind = GRAPHSS_NOISE_PAPER;
    r->opt.as_published = r->split_opt.mode == GRAPHSS_MODE_PAPER;
    if (r->opt.as_published && !r->opt.knows_given)
        /* with noise, as the paper's code has it */
        r->opt.attack.knows = GRAPHSS_KNOWLEDGE_TRUTH;
    if (!r->own.output)
        return cli_usage(app, "snapshots: want -o DIR");
    if (r->opt.attack.independent)
        return cli_usage(app, "snapshots: one graph for all victims, --independent makes one "
                              "for each");
    if (r->own.benign && r->plan.background)
        return cli_usage(app, "--benign and --background exclude each other");
    if (r->own.benign && r->opt.attack.kind != GRAPHSS_ATTACK_LF)
        return cli_usage(app, "--benign: want --links and --features, not --kind");
    if ((r->own.benign || r->plan.background) &&
        (r->opt.attack.edges_share > 0 || r->opt.attack.features_share > 0))
        return cli_usage(app, "--benign and --background change as much at each node: want "
                              "numbers for --links and --features, not shares");
    return GRAPHSS_OK;
}

static graphss_status get_model(cli *app, snapshot_run *r)
{
    if (r->own.model_file) {
        const graphss_status st = cli_load_model(app, &r->model, r->own.model_file);
        if (st)
            return st;
        if (r->split_opt.mode == GRAPHSS_MODE_PAPER &&
            graphss_model_options(r->model)->row_normalise)
            cli_note(app,
                "note: %s divides feature rows by their sums, which undoes much of "
                "the paper's attack; train it with --no-row-normalise",
                r->own.model_file);
        return graphss_model_fits(app->ctx, r->model, &r->data);
    }
    const graphss_dataset *past = &r->made.previous;
    const graphss_mode mode = (graphss_mode)r->split_opt.mode;
    graphss_train_options opt;
    graphss_train_options_init(&opt, r->own.model, mode, &past->features);
    if (mode == GRAPHSS_MODE_PAPER) {
        graphss_protocol_options published;
        graphss_protocol_options_init(&published, r->own.model, mode);
        graphss_protocol_suit(&published, past);
        opt = published.train;
    }
    graphss_status st = graphss_model_train(app->ctx, &r->model, NULL,
        &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
            .graph = &past->graph,
            .features = &past->features,
            .n_classes = past->n_classes,
            .split = &r->made.previous_split,
            .seed = (uint64_t)app->global.seed},
        &opt);
    terminal_clear(&app->term);
    if (!st)
        st = graphss_model_set_dataset(app->ctx, r->model, past);
    return st ? st : cli_teach(app, r->model, past);
}

static graphss_status churn(cli *app, snapshot_run *r, const int32_t *node, size_t n)
{
    const graphss_benign_options opt = {.struct_size = sizeof opt,
        .edges = r->opt.attack.edges,
        .features = r->opt.attack.features};
    graphss_flips flips = {0};
    graphss_status st = graphss_benign_churn(
        app->ctx, &flips, &r->made.current, node, n, (uint64_t)app->global.seed, &opt);
    if (!st)
        st = graphss_snapshots_change(app->ctx, &r->made, &flips);
    graphss_flips_destroy(app->ctx, &flips);
    return st;
}

static graphss_status assail(cli *app, snapshot_run *r)
{
    graphss_snapshots *s = &r->made;
    r->opt.previous = r->plan.setting == GRAPHSS_SETTING_NEW ? NULL : &s->previous;
    graphss_status st = attacker_run(app, &r->attack, &s->current, &s->split, r->model,
        r->before, s->victim, s->n_victims, &r->opt);
    if (st)
        return st;
    snprintf(r->attack.flips.mode, sizeof r->attack.flips.mode, "evasion");
    snprintf(r->attack.flips.victims, sizeof r->attack.flips.victims,
        "%zu nodes: a share of %g of %lld of %zu groups of test nodes", s->n_victims,
        r->plan.victims, (long long)r->plan.attacked_groups, s->n_groups);
    return graphss_snapshots_change(app->ctx, s, &r->attack.flips);
}

static graphss_status make(cli *app, snapshot_run *r)
{
    graphss_snapshots *s = &r->made;
    graphss_status st = cli_read_dataset(app, &r->data, app->argument[0]);
    if (!st && r->split_opt.mode == GRAPHSS_MODE_PAPER)
        st = graphss_dataset_normalise_rows(app->ctx, &r->data);
    if (!st && r->opt.as_published && r->opt.attack.kind == GRAPHSS_ATTACK_LF &&
        !cli_given(app, "links") && !cli_given(app, "features"))
        graphss_protocol_budget(&r->opt.attack.edges, &r->opt.attack.features, &r->data);
    if (!st)
        st = cli_split_choose(app, &r->split, &r->data, &r->split_opt);
    r->opt.label_noise = r->split_opt.make.noise;
    if (!st)
        st = graphss_snapshots_plan(
            app->ctx, s, &r->data, &r->split, (uint64_t)app->global.seed, &r->plan);
    if (!st)
        st = get_model(app, r);
    const size_t n = r->data.graph.n_nodes;
    if (!st)
        st = cli_alloc_large(app, &r->before, n, sizeof *r->before);
    if (!st)
        st = cli_alloc_large(app, &r->after, n, sizeof *r->after);
    if (!st)
        st = graphss_model_label(
            app->ctx, r->before, r->model, &s->current.graph, &s->current.features);
    if (!st && s->n_churned)
        st = churn(app, r, s->churned, s->n_churned);
    if (!st && s->n_victims)
        st = r->own.benign ? churn(app, r, s->victim, s->n_victims) : assail(app, r);
    if (!st)
        st = graphss_model_label(
            app->ctx, r->after, r->model, &s->current.graph, &s->current.features);
    if (st)
        return st;
    r->score_before =
        attacker_measure(r->before, &r->data, &s->split, s->victim, s->n_victims);
    r->score_after = attacker_measure(r->after, &r->data, &s->split, s->victim, s->n_victims);
    /* Nobody was attacked: the changed nodes are not victims. */
    if (r->own.benign) {
        for (size_t g = 0; g < s->n_groups; g++)
            s->attacked[g] = 0;
        memcpy(s->churned, s->victim, s->n_victims * sizeof *s->churned);
        s->n_churned = s->n_victims;
        s->n_victims = 0;
    }
    return GRAPHSS_OK;
}

/* Writes the model beside the snapshots, if it was trained here. */
static graphss_status write_all(cli *app, snapshot_run *r)
{
    graphss_status st =
        graphss_snapshots_write(app->ctx, &r->made, r->own.output, r->own.force);
    if (st || r->own.model_file)
        return st;
    char *path = cli_format("%s/model", r->own.output);
    st = graphss_model_save(app->ctx, r->model, path);
    free(path);
    return st;
}

static void fill(cli *app, const snapshot_run *r)
{
    const graphss_snapshots *s = &r->made;
    json_t *json = app->json, *attacked = json_array();
    const size_t links = graphss_flips_count(&s->flips, GRAPHSS_FLIP_EDGE);
    cli_json_set(json, "path", cli_json_text(r->own.output));
    cli_json_set(json, "setting",
        cli_json_text(graphss_setting_text((graphss_setting)r->plan.setting)));
    if (!r->split_opt.from)
        cli_json_set(json, "noise", cli_json_real(r->split_opt.make.noise));
    cli_json_set(json, "benign", json_boolean(r->own.benign));
    cli_json_set(json, "seconds", cli_json_real(cli_seconds() - r->began));
    attacker_json(json, &r->attack, &r->data, &r->opt);
    cli_json_set(json, "victims", json_integer((json_int_t)s->n_victims));
    cli_json_set(json, "churned", json_integer((json_int_t)s->n_churned));
    cli_json_set(json, "links_flipped", json_integer((json_int_t)links));
    cli_json_set(json, "features_flipped", json_integer((json_int_t)(s->flips.count - links)));
    for (size_t g = 0; g < s->n_groups; g++)
        json_array_append_new(attacked, json_boolean(s->attacked[g]));
    cli_json_set(json, "groups_attacked", attacked);
    attacker_json_scores(json, &r->score_before, &r->score_after);
    cli_json_set(json, "model", cli_json_text(graphss_model_options(r->model)->model));
    cli_json_set(json, "previous", cli_json_dataset(&s->previous));
    cli_json_set(json, "current", cli_json_dataset(&s->current));
    cli_json_run(app, json);
}

static void show(cli *app, const snapshot_run *r)
{
    const graphss_snapshots *s = &r->made;
    cli_show_dataset(app, &r->data);
    cli_show_split(app, &r->split, &r->split_opt);
    printf("Setting  %s: %zu nodes and %zu links before, %zu and %zu now\n",
        graphss_setting_text((graphss_setting)r->plan.setting), s->previous.graph.n_nodes,
        graphss_graph_edges(&s->previous.graph), s->current.graph.n_nodes,
        graphss_graph_edges(&s->current.graph));
    printf("Groups   %zu of the test nodes; %zu victims, %zu nodes changed benignly\n",
        s->n_groups, s->n_victims, s->n_churned);
    if (r->attack.log.n_victims)
        attacker_show(app, &r->attack, &r->data, &r->opt);
    printf("\nAccuracy of %s, not retrained, against the truth\n",
        graphss_model_options(r->model)->model);
    attacker_show_scores(
        app, r->own.benign ? "changed nodes" : "victims", &r->score_before, &r->score_after);
    printf("\nWritten  ");
    terminal_text(&app->term, stdout, r->own.output, 0);
    printf("\n");
}

static graphss_status run(cli *app)
{
    snapshot_run r = {.began = cli_seconds()};
    graphss_status st = read_arguments(app, &r);
    if (!st)
        st = graphss_snapshots_check_folder(app->ctx, r.own.output, r.own.force);
    if (!st)
        st = make(app, &r);
    if (!st)
        st = write_all(app, &r);
    if (!st && app->json)
        fill(app, &r);
    else if (!st)
        show(app, &r);
    attacker_done(app, &r.attack);
    free(r.after);
    free(r.before);
    graphss_model_free(app->ctx, r.model);
    graphss_snapshots_destroy(app->ctx, &r.made);
    graphss_split_destroy(app->ctx, &r.split);
    graphss_dataset_destroy(app->ctx, &r.data);
    return st;
}

const cli_command cli_snapshots = {
    .name = "snapshots",
    .arguments = "DATASET [--setting SETTING] -o DIR",
    .summary = "Write a previous and an attacked current snapshot of a graph",
    .about = "DIR gets previous.npz, current.npz, split.npz (of current), previous_split.npz, "
             "flips.tsv, groups.npz (the attacked nodes, for evaluation only), a list of "
             "nodes for each group, and the model if one was trained. Nodes are matched by "
             "name. In --mode paper the snapshots hold feature rows divided by their sums, "
             "and the model does not divide them again.\n",
    .examples = "snapshots cora --setting new -o cora_new\n"
                "snapshots cora --setting growing --missing 0.3 --links 5 --features 0 -o g\n"
                "snapshots cora --groups 10 --attacked-groups 3 --background -o alert\n"
                "snapshots cora --benign -o benign\n"
                "snapshots cora --mode paper -o paper\n",
    .min_arguments = 1,
    .max_arguments = 1,
    .group = {{"Options", table_of, sizeof(snapshot_arguments), defaults},
        {"Snapshots", graphss_snapshot_options_table, sizeof(graphss_snapshot_options),
            snapshot_defaults},
        ATTACKER_GROUPS, CLI_SPLIT_GROUPS},
    .run = run,
};
