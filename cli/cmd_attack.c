/* cmd_attack.c - chooses changes that mislead a model, and reports how well they do. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "attacker.h"
#include "cli.h"

typedef struct attack_arguments {
    const char *model_file, *output, *victim_file, *split, *predictor, *previous;
    bool evasion, poisoning, list;
} attack_arguments;

#define FIELD(name) offsetof(attack_arguments, name)
static const graphss_option rows[] = {
    {"model-file", GRAPHSS_OPTION_STRING, FIELD(model_file), 0, 0, NULL, "MODEL",
        "the model to mislead, as train wrote it", 0},
    {"predictor", GRAPHSS_OPTION_STRING, FIELD(predictor), 0, 0, NULL, "COMMAND",
        "a program that answers in place of the model: COMMAND IN.npz OUT.npz", 0},
    {"output", GRAPHSS_OPTION_STRING, FIELD(output), 0, 0, NULL, "FLIPS",
        "write the changes here; without it the attack is only measured", 'o'},
    {"victim-file", GRAPHSS_OPTION_STRING, FIELD(victim_file), 0, 0, NULL, "FILE",
        "attack these nodes, one id per line, in this order", 0},
    {"split", GRAPHSS_OPTION_STRING, FIELD(split), 0, 0, NULL, "FILE.npz",
        "draw victims from its test nodes; without it, from the model's", 0},
    {"previous", GRAPHSS_OPTION_STRING, FIELD(previous), 0, 0, NULL, "DATASET",
        "method adaptive: an earlier snapshot that the defence knows, often DATASET itself",
        0},
    {"evasion", GRAPHSS_OPTION_BOOL, FIELD(evasion), 0, 0, NULL, NULL,
        "do not train the model again (the default)", 0},
    {"poisoning", GRAPHSS_OPTION_BOOL, FIELD(poisoning), 0, 0, NULL, NULL,
        "train the model again on the attacked graph, then measure", 0},
    {"list", GRAPHSS_OPTION_BOOL, FIELD(list), 0, 0, NULL, NULL,
        "describe the methods, and stop", 0},
    {0},
};

static const graphss_option *table_of(void)
{
    return rows;
}

static void defaults(void *options)
{
    *(attack_arguments *)options = (attack_arguments){0};
}

static void victim_defaults(void *options)
{
    graphss_victim_options_init(options);
}

/* All that a run holds. */
typedef struct attack_run {
    attack_arguments own;
    attacker_options opt;
    graphss_victim_options rules;
    graphss_dataset data, previous;
    graphss_model *model;
    graphss_split split;     /* of a file, or the model's */
    int32_t *before, *after; /* [nodes] labels */
    float *prob;             /* [nodes x classes] before */
    graphss_victims victims;
    attacker attack;
    attacker_score score_before, score_after;
    attacker_aim aim;
    double began, read_seconds, measure_seconds;
} attack_run;

static graphss_status read_arguments(cli *app, attack_run *r)
{
    if (app->n_arguments == 0)
        return cli_usage(app, "attack: an argument is missing, want: graphss attack %s",
            app->command->arguments);
    graphss_status st = attacker_apply(app, 1, &r->opt, GRAPHSS_KNOWLEDGE_PREDICTIONS);
    graphss_victim_options_init(&r->rules);
    if (!st)
        st = cli_apply(app, 3, &r->rules);
    if (st)
        return st;
    const attack_arguments *own = &r->own;
    if (!own->model_file)
        return cli_usage(app, "attack: want --model-file MODEL");
    if (own->evasion && own->poisoning)
        return cli_usage(app, "--evasion and --poisoning exclude each other");
    if (own->previous && !r->opt.attack.against)
        return cli_usage(
            app, "--previous is for the attacked defence: it needs --method adaptive");
    if (own->poisoning && own->predictor)
        return cli_usage(app, "--poisoning trains the model again, --predictor cannot be");
    if (own->poisoning && r->opt.attack.independent)
        return cli_usage(app, "--poisoning trains on one attacked graph, --independent makes "
                              "one for each victim");
    for (const graphss_option *row = graphss_victim_options_table();
         own->victim_file && row->name; row++)
        if (cli_given(app, row->name))
            return cli_usage(
                app, "--victim-file names the victims, --%s would draw them", row->name);
    if (!own->output)
        return GRAPHSS_OK;
    const char *const input[] = {app->argument[0], own->model_file, own->victim_file,
        own->split, r->opt.knows.surrogate, r->opt.knows.labels};
    return cli_check_output(app, own->output, input, sizeof input / sizeof *input);
}

static graphss_status read_inputs(cli *app, attack_run *r)
{
    graphss_status st = cli_load_model(app, &r->model, r->own.model_file);
    if (!st)
        st = cli_read_dataset(app, &r->data, app->argument[0]);
    if (!st)
        st = graphss_model_fits(app->ctx, r->model, &r->data);
    if (!st && r->own.previous) {
        st = cli_read_dataset(app, &r->previous, r->own.previous);
        r->opt.previous = &r->previous;
    }
    if (!st && r->own.previous)
        st = graphss_model_fits(app->ctx, r->model, &r->previous);
    if (st)
        return st;
    const size_t k = graphss_model_classes(r->model);
    const graphss_observation seen = graphss_dataset_observe(&r->data);
    if (!r->own.split)
        st = cli_check_model_names(app, r->model, r->own.model_file, &seen, app->argument[0]);
    if (st)
        return st;
    st = r->own.split ? cli_read_split(app, &r->split, r->own.split, &r->data, k)
                      : graphss_split_match(app->ctx, &r->split, r->model, &seen);
    if (st)
        return st;
    const graphss_split *all = graphss_model_split(r->model);
    const size_t whole = all->n_train + all->n_val + all->n_test;
    const size_t there = r->split.n_train + r->split.n_val + r->split.n_test;
    if (!r->own.split && there < whole)
        return cli_fail(app, GRAPHSS_ERR_SHAPE,
            "%zu of the %zu nodes of the model's split are not in %s: give one "
            "that fits with --split FILE.npz",
            whole - there, whole, r->data.name);
    if (r->split.n_test == 0 && !r->own.victim_file)
        return cli_fail(app, GRAPHSS_ERR_DATA,
            "the split has no test nodes to draw victims from: give some with "
            "--victim-file");
    return GRAPHSS_OK;
}

static graphss_status choose_victims(cli *app, attack_run *r)
{
    if (r->own.victim_file)
        return cli_read_nodes(
            app, &r->victims.node, &r->victims.count, r->own.victim_file, &r->data);
    const graphss_victim_input in = {.struct_size = sizeof in,
        .graph = &r->data.graph,
        .candidate = r->split.test,
        .n_candidates = r->split.n_test,
        .prob = r->prob,
        .label = r->data.label,
        .n_classes = graphss_model_classes(r->model),
        .seed = (uint64_t)app->global.seed};
    return graphss_victims_choose(app->ctx, &r->victims, &in, &r->rules);
}

/* Each victim on a graph of its own, so the labels of the other nodes stay as they were. */
static graphss_status measure_one_by_one(cli *app, attack_run *r)
{
    const size_t n = r->data.graph.n_nodes;
    int32_t *label = NULL;
    graphss_status st = cli_alloc_large(app, &label, n, sizeof *label);
    memcpy(r->after, r->before, n * sizeof *r->after);
    for (size_t i = 0; i < r->victims.count && !st; i++) {
        const graphss_apply_options only = {
            .struct_size = sizeof only, .one_only = true, .victim = r->victims.node[i]};
        graphss_graph graph = {0};
        graphss_features features = {0};
        st = graphss_flips_apply_parts(app->ctx, &graph, &features, &r->data.graph,
            &r->data.features, &r->attack.flips, &only);
        if (!st)
            st = graphss_model_label(app->ctx, label, r->model, &graph, &features);
        if (!st)
            r->after[r->victims.node[i]] = label[r->victims.node[i]];
        graphss_features_destroy(app->ctx, &features);
        graphss_graph_destroy(app->ctx, &graph);
        if (!st)
            st = cli_progress(app, "measure", i + 1, r->victims.count);
    }
    free(label);
    terminal_clear(&app->term);
    return st;
}

static graphss_status measure_together(cli *app, attack_run *r)
{
    graphss_graph graph = {0};
    graphss_features features = {0};
    graphss_model *again = NULL;
    graphss_status st = graphss_flips_apply_parts(app->ctx, &graph, &features, &r->data.graph,
        &r->data.features, &r->attack.flips, NULL);
    if (!st && r->own.poisoning)
        st = graphss_model_train(app->ctx, &again, NULL,
            &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                .graph = &graph,
                .features = &features,
                .n_classes = graphss_model_classes(r->model),
                .split = &r->split,
                .seed = graphss_model_seed(r->model)},
            graphss_model_options(r->model));
    terminal_clear(&app->term);
    if (!st)
        st = graphss_model_label(
            app->ctx, r->after, again ? again : r->model, &graph, &features);
    if (!st && r->attack.target.against)
        st = attacker_aim_measure(app, &r->aim, &r->attack, &r->data, &graph, &features,
            &r->split, r->victims.node, r->victims.count);
    graphss_model_free(app->ctx, again);
    graphss_features_destroy(app->ctx, &features);
    graphss_graph_destroy(app->ctx, &graph);
    return st;
}

static graphss_status attack(cli *app, attack_run *r)
{
    const size_t n = r->data.graph.n_nodes, k = graphss_model_classes(r->model);
    graphss_status st = cli_alloc_large(app, &r->prob, n, k * sizeof *r->prob);
    if (!st)
        st = cli_alloc_large(app, &r->before, n, sizeof *r->before);
    if (!st)
        st = cli_alloc_large(app, &r->after, n, sizeof *r->after);
    if (!st)
        st = graphss_model_predict(
            app->ctx, r->prob, r->model, &r->data.graph, &r->data.features);
    if (st)
        return st;
    graphss_labels_argmax(r->before, r->prob, n, k);
    st = choose_victims(app, r);
    if (!st)
        st = attacker_run(app, &r->attack, &r->data, &r->split, r->model, r->before,
            r->victims.node, r->victims.count, &r->opt);
    if (st)
        return st;
    graphss_flips *flips = &r->attack.flips;
    snprintf(
        flips->mode, sizeof flips->mode, "%s", r->own.poisoning ? "poisoning" : "evasion");
    if (r->victims.rule)
        snprintf(flips->victims, sizeof flips->victims, "%s", r->victims.rule);
    else
        snprintf(
            flips->victims, sizeof flips->victims, "%zu nodes of a file", r->victims.count);
    const double began = cli_seconds();
    st = r->opt.attack.independent ? measure_one_by_one(app, r) : measure_together(app, r);
    r->measure_seconds = cli_seconds() - began;
    if (st)
        return st;
    r->score_before =
        attacker_measure(r->before, &r->data, &r->split, r->victims.node, r->victims.count);
    r->score_after =
        attacker_measure(r->after, &r->data, &r->split, r->victims.node, r->victims.count);
    /* there is no single graph on which to predict the others */
    if (r->opt.attack.independent)
        r->score_after.others = r->score_after.test = NAN;
    return GRAPHSS_OK;
}

static const char *what_happens(const attack_run *r)
{
    return r->own.poisoning ? "poisoning: the model is trained again on the attacked graph"
                            : "evasion: the model is not retrained";
}

static void fill(cli *app, const attack_run *r)
{
    json_t *json = app->json;
    if (r->own.output)
        cli_json_set(json, "path", cli_json_text(r->own.output));
    cli_json_set(json, "threat", cli_json_text(r->attack.flips.mode));
    cli_json_set(json, "threat_text", cli_json_text(what_happens(r)));
    cli_json_set(json, "seconds", cli_json_real(cli_seconds() - r->began));
    cli_json_set(json, "read_seconds", cli_json_real(r->read_seconds));
    attacker_json(json, &r->attack, &r->data, &r->opt);
    cli_json_set(json, "measure_seconds", cli_json_real(r->measure_seconds));
    attacker_json_scores(json, &r->score_before, &r->score_after);
    if (r->attack.target.against)
        attacker_json_aim(json, &r->attack, &r->aim);
    cli_json_set(json, "victim_rule", cli_json_text(r->attack.flips.victims));
    cli_json_set(json, "model", cli_json_text(graphss_model_options(r->model)->model));
    cli_json_set(json, "dataset", cli_json_dataset(&r->data));
    cli_json_run(app, json);
}

static void show(cli *app, const attack_run *r)
{
    cli_show_dataset(app, &r->data);
    printf("Model    %s, %s\n", graphss_model_options(r->model)->model, what_happens(r));
    printf("Victims  ");
    terminal_text(&app->term, stdout, r->attack.flips.victims, 0);
    printf("\n");
    attacker_show(app, &r->attack, &r->data, &r->opt);
    printf("\nAccuracy against the truth\n");
    attacker_show_scores(app, "victims", &r->score_before, &r->score_after);
    if (r->attack.target.against)
        attacker_show_aim(app, &r->attack, &r->aim);
    printf("\nTime     %.2f s: reading %.2f, surrogate %.2f, changes %.2f, measuring %.2f\n",
        cli_seconds() - r->began, r->read_seconds, r->attack.surrogate_seconds,
        r->attack.seconds, r->measure_seconds);
    if (r->own.output) {
        printf("Written  ");
        terminal_text(&app->term, stdout, r->own.output, 0);
        printf("\n");
    }
}

static void list_methods(cli *app)
{
    json_t *all = json_array();
    for (size_t i = 0; graphss_attack_name(i); i++) {
        const char *name = graphss_attack_name(i);
        json_t *method = json_object();
        cli_json_set(method, "name", json_string(name));
        cli_json_set(method, "summary", json_string(graphss_attack_summary(i)));
        cli_json_set(
            method, "needs_surrogate", json_boolean(graphss_attack_needs_surrogate(name)));
        cli_json_set(method, "needs_model", json_boolean(graphss_attack_needs_model(name)));
        cli_json_set(method, "links_only", json_boolean(graphss_attack_edges_only(name)));
        json_array_append_new(all, method);
        if (!app->json)
            printf("%-10s %s%s\n", name, graphss_attack_summary(i),
                graphss_attack_edges_only(name) ? "; links only" : "");
    }
    if (app->json)
        cli_json_set(app->json, "methods", all);
    else
        json_decref(all);
}

static graphss_status run(cli *app)
{
    attack_run r = {.began = cli_seconds()};
    graphss_status st = cli_apply(app, 0, &r.own);
    if (!st && r.own.list) {
        list_methods(app);
        return GRAPHSS_OK;
    }
    if (!st)
        st = read_arguments(app, &r);
    if (!st)
        st = read_inputs(app, &r);
    r.read_seconds = cli_seconds() - r.began;
    if (!st)
        st = attack(app, &r);
    if (!st && r.own.output)
        st = graphss_flips_write(app->ctx, &r.attack.flips, r.own.output, &r.data);
    if (!st && app->json)
        fill(app, &r);
    else if (!st)
        show(app, &r);
    attacker_done(app, &r.attack);
    graphss_victims_destroy(app->ctx, &r.victims);
    free(r.prob);
    free(r.after);
    free(r.before);
    graphss_split_destroy(app->ctx, &r.split);
    graphss_dataset_destroy(app->ctx, &r.previous);
    graphss_dataset_destroy(app->ctx, &r.data);
    graphss_model_free(app->ctx, r.model);
    return st;
}

const cli_command cli_attack = {
    .name = "attack",
    .arguments = "DATASET --model-file MODEL [-o FLIPS]",
    .summary = "Choose changes of links and features that mislead a model",
    .about = "--list describes the methods. The budget is --links and --features for each "
             "victim, links first; if only one is given, the other is 0. With --kind links, "
             "features or both there is one --budget instead. --knows says which labels the "
             "attacker assumes for nodes without a published label; --labels gives them in a "
             "file. The attack is evasion unless --poisoning asks to train the model again. "
             "--method adaptive searches against a defence, --against names it.\n",
    .examples = "attack cora --model-file cora.model -o cora.flips\n"
                "attack cora --model-file cora.model --links 5 --features 0 --method dice\n"
                "attack cora --model-file cora.model --kind both --budget 10 --independent\n"
                "attack cora --model-file cora.model --victim-file nodes.txt -o some.flips\n"
                "attack cora --model-file cora.model --poisoning --json\n"
                "attack cora --model-file cora.model --method adaptive --against jaccard\n"
                "attack cora --model-file cora.model --links 50% --features 50%\n"
                "attack --list\n",
    .min_arguments = 0,
    .max_arguments = 1,
    .ranks = CLI_LED,
    .group = {{"Options", table_of, sizeof(attack_arguments), defaults}, ATTACKER_GROUPS,
        {"Victims", graphss_victim_options_table, sizeof(graphss_victim_options),
            victim_defaults}},
    .run = run,
};
