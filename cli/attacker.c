/* attacker.c - see attacker.h. */
#include "attacker.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const graphss_option rows[] = {
    {"cumulative", GRAPHSS_OPTION_BOOL, offsetof(attacker_knowledge, cumulative), 0, 0, NULL,
        NULL, "attack each victim after the changes for the victims before it (the default)",
        0},
    {"surrogate", GRAPHSS_OPTION_STRING, offsetof(attacker_knowledge, surrogate), 0, 0, NULL,
        "FROM",
        "the attacker's linear model: 'train' one, the 'model' itself, or W of FILE.npz", 0},
    {"labels", GRAPHSS_OPTION_STRING, offsetof(attacker_knowledge, labels), 0, 0, NULL,
        "FILE.npz", "the labels the attacker assumes, instead of --knows", 0},
    {0},
};

const graphss_option *attacker_table(void)
{
    return rows;
}

void attacker_defaults(void *options)
{
    *(attacker_knowledge *)options = (attacker_knowledge){0};
}

void attacker_attack_defaults(void *options)
{
    graphss_attack_options_init(options);
}

graphss_status attacker_apply(
    cli *app, int group, attacker_options *options, graphss_knowledge knows)
{
    attacker_attack_defaults(&options->attack);
    options->attack.knows = knows;
    options->knows_given = cli_given(app, "knows");
    attacker_defaults(&options->knows);
    graphss_status st = cli_apply(app, group, &options->attack);
    if (!st)
        st = cli_apply(app, group + 1, &options->knows);
    if (st)
        return st;
    graphss_attack_options *a = &options->attack;
    st = cli_check_name(app, "method", a->method, graphss_attack_name);
    if (!st)
        st = cli_check_use(app, group, a->method, graphss_attack_uses, graphss_attack_name);
    if (st)
        return st;
    if (options->knows.surrogate && !graphss_attack_needs_surrogate(a->method))
        return cli_usage(
            app, "--surrogate has no meaning for %s, which needs none", a->method);
    const bool links = cli_given(app, "links"), features = cli_given(app, "features");
    if (a->kind != GRAPHSS_ATTACK_LF && (links || features))
        return cli_usage(app, "--%s is a budget of --kind lf: for --kind %s give --budget N",
            links ? "links" : "features", cli_given(app, "kind"));
    if (a->kind == GRAPHSS_ATTACK_LF && cli_given(app, "budget"))
        return cli_usage(app, "--budget needs --kind links, features or both; the budgets "
                              "of --kind lf are --links and --features");
    if (graphss_attack_uses(a->method, "against")) {
        if (!a->against)
            a->against = graphss_target_name(0);
        st = cli_check_name(app, "against", a->against, graphss_target_name);
        if (st)
            return st;
    }
    if (options->knows.cumulative && a->independent)
        return cli_usage(app, "--cumulative and --independent exclude each other");
    /* If only --links is given, no features are changed. */
    if (links && !features)
        a->features = 0;
    if (features && !links)
        a->edges = 0;
    if (graphss_attack_edges_only(a->method) && !features)
        a->features = 0;
    return GRAPHSS_OK;
}

/* [nodes] labels the attacker assumes; release with free. */
static graphss_status believed_labels(cli *app, int32_t **out, const graphss_dataset *data,
    const graphss_split *split, size_t n_classes, const int32_t *before,
    const attacker_options *options)
{
    const size_t n = data->graph.n_nodes;
    const char *path = options->knows.labels;
    int32_t *label = NULL;
    graphss_predictions p = {0};
    graphss_status st = cli_alloc_large(app, &label, n, sizeof *label);
    if (st)
        return st;
    if (!path) {
        st = graphss_attack_believe(app->ctx, label, data, split, before, n_classes,
            (uint64_t)app->global.seed, (graphss_knowledge)options->attack.knows);
        if (!st && options->as_published && !options->knows_given)
            st = graphss_protocol_believed(app->ctx, label, data, split, options->label_noise,
                (uint64_t)app->global.seed);
        if (st)
            free(label);
        else
            *out = label;
        return st;
    }
    st = graphss_predictions_read(app->ctx, &p, path);
    if (!st && p.n_nodes != n)
        st = cli_fail(app, GRAPHSS_ERR_SHAPE, "%s: labels of %zu nodes, %s has %zu", path,
            p.n_nodes, data->name, n);
    for (size_t i = 0; i < n && !st; i++) {
        label[i] = p.label[i];
        if (label[i] >= 0 && (size_t)label[i] >= n_classes)
            st = cli_fail(app, GRAPHSS_ERR_DATA,
                "%s: array 'labels': node %zu has %d, want below %zu classes", path, i,
                (int)label[i], n_classes);
    }
    graphss_predictions_destroy(app->ctx, &p);
    if (st)
        free(label);
    else
        *out = label;
    return st;
}

static graphss_status make_surrogate(cli *app, attacker *a, float **w,
    const graphss_dataset *data, const graphss_split *split, const graphss_model *model,
    const attacker_options *options)
{
    const graphss_mode mode = (graphss_mode)options->attack.mode;
    const size_t d = data->features.n_cols, k = graphss_model_classes(model);
    const char *from = options->knows.surrogate;
    const double began = cli_seconds();
    graphss_status st;
    if (!from && options->as_published) {
        snprintf(a->surrogate, sizeof a->surrogate,
            "weights of the model's training, first and last layer, as published");
        st = graphss_protocol_surrogate(
            app->ctx, w, data, split, graphss_model_seed(model), graphss_model_options(model));
        terminal_clear(&app->term);
        a->surrogate_seconds = cli_seconds() - began;
        return st;
    }
    if (!from)
        from = mode == GRAPHSS_MODE_PAPER ? "model" : "train";
    if (strcmp(from, "train") == 0) {
        snprintf(a->surrogate, sizeof a->surrogate,
            "a linear model trained on the labels of the split");
        st = graphss_surrogate_train(app->ctx, w,
            &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                .graph = &data->graph,
                .features = &data->features,
                .n_classes = k,
                .split = split,
                .seed = (uint64_t)app->global.seed});
    } else if (strcmp(from, "model") == 0) {
        snprintf(a->surrogate, sizeof a->surrogate, "the model's own weights%s",
            mode == GRAPHSS_MODE_PAPER ? ", first and last layer" : ", multiplied");
        st = graphss_surrogate_from_model(app->ctx, w, model, mode);
    } else {
        snprintf(a->surrogate, sizeof a->surrogate, "W of %s", from);
        st = graphss_surrogate_read(app->ctx, w, from, d, k);
    }
    terminal_clear(&app->term);
    a->surrogate_seconds = cli_seconds() - began;
    return st;
}

/* The defence as the attacker can run it. */
static void take_aim(cli *app, attacker *a, const graphss_dataset *data,
    const graphss_split *split, const graphss_model *model, const attacker_options *options)
{
    graphss_target_init(&a->target);
    a->target.against = options->attack.against;
    a->target.in.current = graphss_dataset_observe(data);
    a->target.in.model = model;
    a->target.in.split = split;
    a->target.in.seed = (uint64_t)app->global.seed;
    if (options->previous) {
        a->past = graphss_dataset_observe(options->previous);
        a->target.in.previous = &a->past;
    }
}

graphss_status attacker_run(cli *app, attacker *a, const graphss_dataset *data,
    const graphss_split *split, const graphss_model *model, const int32_t *before,
    const int32_t *victim, size_t n_victims, const attacker_options *options)
{
    const size_t k = graphss_model_classes(model);
    float *w = NULL;
    int32_t *label = NULL;
    graphss_status st = believed_labels(app, &label, data, split, k, before, options);
    if (!st && graphss_attack_needs_surrogate(options->attack.method))
        st = make_surrogate(app, a, &w, data, split, model, options);
    if (st)
        goto done;
    graphss_attack_input in = {.struct_size = sizeof in,
        .graph = &data->graph,
        .features = &data->features,
        .label = label,
        .n_classes = k,
        .surrogate = w,
        .model = model,
        .victim = victim,
        .n_victims = n_victims,
        .seed = (uint64_t)app->global.seed};
    if (options->attack.against) {
        take_aim(app, a, data, split, model, options);
        in.ask = graphss_target_ask;
        in.asked = &a->target;
    }
    const double began = cli_seconds();
    st = graphss_attack_run(app->ctx, &a->flips, &a->log, &in, &options->attack);
    a->seconds = cli_seconds() - began;
    terminal_clear(&app->term);
    if (st)
        goto done;
    snprintf(a->flips.dataset, sizeof a->flips.dataset, "%s", data->name);
    snprintf(a->flips.hash, sizeof a->flips.hash, "%s", data->hash);
    snprintf(a->flips.model, sizeof a->flips.model, "%s, seed %llu, trained on %s",
        graphss_model_options(model)->model, (unsigned long long)graphss_model_seed(model),
        graphss_model_dataset_name(model));
done:
    free(label);
    graphss_release(app->ctx, w);
    return st;
}

void attacker_done(cli *app, attacker *a)
{
    graphss_attack_log_destroy(app->ctx, &a->log);
    graphss_flips_destroy(app->ctx, &a->flips);
    *a = (attacker){0};
}

static const char *summary_of(const char *method)
{
    for (size_t i = 0; graphss_attack_name(i); i++)
        if (strcmp(graphss_attack_name(i), method) == 0)
            return graphss_attack_summary(i);
    return "";
}

/* Where the labels that the attacker believes come from. */
static const char *what_is_known(const attacker_options *options)
{
    if (options->knows.labels)
        return "labels";
    if (options->as_published && !options->knows_given)
        return "published";
    return graphss_knowledge_text((graphss_knowledge)options->attack.knows);
}

static void show_known(cli *app, const attacker_options *options)
{
    static const char *const text[] = {
        "the true classes", "the model's predictions", "classes drawn at random"};
    printf("Knows    ");
    if (options->knows.labels) {
        printf("the labels of ");
        terminal_text(&app->term, stdout, options->knows.labels, 0);
    } else if (options->as_published && !options->knows_given) {
        printf("noisy labels of all nodes, as published");
    } else {
        printf("%s", text[options->attack.knows]);
        if (options->attack.knows != GRAPHSS_KNOWLEDGE_TRUTH)
            printf(", and the labels that were given out");
    }
}

static size_t changes_wanted(const attacker *a)
{
    size_t sum = 0;
    for (size_t i = 0; i < a->log.n_victims; i++)
        sum += a->log.victim[i].wanted;
    return sum;
}

static size_t links_joined(const attacker *a)
{
    size_t sum = 0;
    for (size_t i = 0; i < a->flips.count; i++)
        sum += a->flips.item[i].kind == GRAPHSS_FLIP_EDGE && a->flips.item[i].new_value == 1;
    return sum;
}

void attacker_show(
    cli *app, const attacker *a, const graphss_dataset *data, const attacker_options *options)
{
    char budget[160], domain[160];
    const size_t links = graphss_flips_count(&a->flips, GRAPHSS_FLIP_EDGE);
    const size_t features = a->flips.count - links, wanted = changes_wanted(a);
    graphss_attack_budget_text(budget, sizeof budget, &options->attack);
    graphss_attack_domain_text(domain, sizeof domain, &data->features, &options->attack);
    printf("Attack   %s: %s\n", options->attack.method, summary_of(options->attack.method));
    printf("Budget   %s\n", budget);
    if (a->target.against)
        printf("Against  %s %s a past, %zu snapshots queried\n", a->target.against,
            a->target.in.previous ? "with" : "without", a->log.n_queries);
    if (features > 0)
        printf("Features %s\n", domain);
    show_known(app, options);
    if (a->surrogate[0]) {
        printf("; ");
        terminal_text(&app->term, stdout, a->surrogate, 0);
    }
    printf("\n");
    printf("Changes  %zu links (%zu joined, %zu cut) and %zu features in %.2f s\n", links,
        links_joined(a), links - links_joined(a), features, a->seconds);
    if (a->flips.count < wanted)
        printf("         %zu of %zu requested changes could not be made: too few links or "
               "features were left to change\n",
            wanted - a->flips.count, wanted);
}

static void set_count(json_t *json, const char *key, size_t value)
{
    cli_json_set(json, key, json_integer((json_int_t)value));
}

void attacker_json(json_t *json, const attacker *a, const graphss_dataset *data,
    const attacker_options *options)
{
    char text[160];
    const size_t links = graphss_flips_count(&a->flips, GRAPHSS_FLIP_EDGE);
    cli_json_set(json, "method", cli_json_text(options->attack.method));
    cli_json_set(json, "knows", cli_json_text(what_is_known(options)));
    graphss_attack_budget_text(text, sizeof text, &options->attack);
    cli_json_set(json, "budget", cli_json_text(text));
    graphss_attack_domain_text(text, sizeof text, &data->features, &options->attack);
    cli_json_set(json, "feature_domain", cli_json_text(text));
    if (a->surrogate[0])
        cli_json_set(json, "surrogate", cli_json_text(a->surrogate));
    if (a->target.against) {
        cli_json_set(json, "against", cli_json_text(a->target.against));
        cli_json_set(json, "against_past", json_boolean(a->target.in.previous != NULL));
        set_count(json, "queries", a->log.n_queries);
    }
    set_count(json, "victims", a->log.n_victims);
    set_count(json, "links_flipped", links);
    set_count(json, "links_joined", links_joined(a));
    set_count(json, "links_cut", links - links_joined(a));
    set_count(json, "features_flipped", a->flips.count - links);
    set_count(json, "changes_wanted", changes_wanted(a));
    cli_json_set(json, "attack_seconds", cli_json_real(a->seconds));
    cli_json_set(json, "surrogate_seconds", cli_json_real(a->surrogate_seconds));
    cli_json_set(
        json, "options", cli_json_options(&options->attack, graphss_attack_options_table()));
}

/* ---- before and after ---- */

attacker_score attacker_measure(const int32_t *label, const graphss_dataset *data,
    const graphss_split *split, const int32_t *victim, size_t n_victims)
{
    attacker_score s = {.victims = NAN,
        .others = NAN,
        .test = NAN,
        .n_victims = n_victims,
        .n_test = split->n_test};
    const size_t n = data->graph.n_nodes;
    bool *hit = cli_alloc(n, sizeof *hit);
    int32_t *other = cli_alloc(split->n_test, sizeof *other);
    for (size_t i = 0; i < n_victims; i++)
        hit[victim[i]] = true;
    for (size_t i = 0; i < split->n_test; i++)
        if (!hit[split->test[i]])
            other[s.n_others++] = split->test[i];
    if (data->label) {
        s.victims = graphss_labels_accuracy(label, data->label, victim, n_victims);
        s.others = graphss_labels_accuracy(label, data->label, other, s.n_others);
        s.test = graphss_labels_accuracy(label, data->label, split->test, split->n_test);
    }
    free(other);
    free(hit);
    return s;
}

static void add_share(text_table *t, double share)
{
    if (isnan(share))
        table_add(t, "-");
    else
        table_add(t, "%.1f %%", 100 * share);
}

void attacker_show_scores(
    cli *app, const char *who, const attacker_score *before, const attacker_score *after)
{
    const struct {
        const char *what;
        size_t n;
        double before, after;
    } row[] = {{who, before->n_victims, before->victims, after->victims},
        {"other test nodes", before->n_others, before->others, after->others},
        {"all test nodes", before->n_test, before->test, after->test}};
    text_table t = {0};
    table_init(&t, "lrrr", true);
    table_add(&t, "nodes");
    table_add(&t, "number");
    table_add(&t, "before");
    table_add(&t, "after");
    for (size_t i = 0; i < 3; i++) {
        table_add(&t, "%s", row[i].what);
        table_add(&t, "%zu", row[i].n);
        add_share(&t, row[i].before);
        add_share(&t, row[i].after);
    }
    table_print(&t, &app->term, stdout, 2);
}

void attacker_json_scores(
    json_t *json, const attacker_score *before, const attacker_score *after)
{
    cli_json_set(json, "accuracy_before", cli_json_real(before->victims));
    cli_json_set(json, "accuracy_after", cli_json_real(after->victims));
    cli_json_set(json, "others", json_integer((json_int_t)before->n_others));
    cli_json_set(json, "others_accuracy_before", cli_json_real(before->others));
    cli_json_set(json, "others_accuracy_after", cli_json_real(after->others));
    cli_json_set(json, "test_accuracy_before", cli_json_real(before->test));
    cli_json_set(json, "test_accuracy_after", cli_json_real(after->test));
}

/* ---- the defence that was aimed at ---- */

graphss_status attacker_aim_measure(cli *app, attacker_aim *aim, const attacker *a,
    const graphss_dataset *data, const graphss_graph *graph, const graphss_features *features,
    const graphss_split *split, const int32_t *victim, size_t n_victims)
{
    int32_t *label = NULL;
    graphss_status st = cli_alloc_large(app, &label, data->graph.n_nodes, sizeof *label);
    if (!st)
        st = graphss_target_label(app->ctx, label, &a->target, &data->graph, &data->features);
    if (!st)
        aim->before = attacker_measure(label, data, split, victim, n_victims);
    if (!st)
        st = graphss_target_label(app->ctx, label, &a->target, graph, features);
    terminal_clear(&app->term);
    if (!st) {
        aim->after = attacker_measure(label, data, split, victim, n_victims);
        for (size_t i = 0; i < n_victims; i++)
            aim->unnoticed += data->label && label[victim[i]] >= 0 &&
                              label[victim[i]] != data->label[victim[i]];
    }
    free(label);
    return st;
}

static bool of_alert(const attacker *a)
{
    return strcmp(a->target.against, "alert") == 0;
}

void attacker_show_aim(cli *app, const attacker *a, const attacker_aim *aim)
{
    if (of_alert(a)) {
        printf("\nUnnoticed %zu of %zu victims have a wrong label that no alert names\n",
            aim->unnoticed, aim->after.n_victims);
        return;
    }
    printf("\nAccuracy of %s, which was aimed at\n", a->target.against);
    attacker_show_scores(app, "victims", &aim->before, &aim->after);
}

void attacker_json_aim(json_t *json, const attacker *a, const attacker_aim *aim)
{
    json_t *aimed = json_object();
    if (of_alert(a)) {
        set_count(aimed, "victims", aim->after.n_victims);
        set_count(aimed, "unnoticed", aim->unnoticed);
    } else {
        attacker_json_scores(aimed, &aim->before, &aim->after);
    }
    cli_json_set(json, "aimed_at", aimed);
}
