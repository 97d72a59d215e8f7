/* splits.c - which nodes train, validate and test: --split, --train, --val, --noise. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const char *const mode_names[] = {"default", "paper", NULL};

static const graphss_option split_rows[] = {
    {"split", GRAPHSS_OPTION_STRING, offsetof(cli_split_options, from), 0, 0, NULL, "FILE",
        "take the split from FILE.npz or a model; 'public': the one the dataset came with", 0},
    {"mode", GRAPHSS_OPTION_CHOICE, offsetof(cli_split_options, mode), 0, 0, mode_names,
        "MODE", "preset: honest (tuned), or paper (as in its code)", 0},
    {0},
};

const graphss_option *cli_split_table(void)
{
    return split_rows;
}

void cli_split_defaults(void *options)
{
    cli_split_options *split = options;
    *split = (cli_split_options){0};
    graphss_split_options_init(&split->make);
}

void cli_split_make_defaults(void *options)
{
    graphss_split_options_init(options);
}

graphss_status cli_split_apply(cli *app, int group, cli_split_options *options)
{
    cli_split_defaults(options);
    const graphss_status st = cli_apply(app, group, options);
    if (st)
        return st;
    options->noise_given = cli_given(app, "noise");
    if (options->mode == GRAPHSS_MODE_PAPER)
        options->make.noise_kind = GRAPHSS_NOISE_PAPER;
    for (const graphss_option *row = graphss_split_options_table(); row->name; row++)
        if (cli_given(app, "split") && cli_given(app, row->name))
            return cli_usage(app,
                "--split brings its own nodes and labels, --%s cannot change it", row->name);
    return cli_apply(app, group + 1, &options->make);
}

graphss_status cli_read_split(cli *app, graphss_split *out, const char *path,
    const graphss_dataset *data, size_t n_classes)
{
    const cli_file_type kind = cli_file_type_of(path);
    const graphss_observation seen = graphss_dataset_observe(data);
    graphss_model *model = NULL;
    if (kind == CLI_FILE_MODEL) {
        graphss_status st = graphss_model_load(app->ctx, &model, path);
        if (!st)
            st = graphss_split_match(app->ctx, out, model, &seen);
        graphss_model_free(app->ctx, model);
        return st;
    }
    const graphss_status st =
        graphss_split_read(app->ctx, out, path, data->label, data->graph.n_nodes, n_classes);
    if (st && (kind == CLI_FILE_FLIPS || kind == CLI_FILE_FOLDER))
        return cli_wrong_file(app, path, kind, "a split");
    return st;
}

/* Fills the missing labels of a split from the truth: [n], or NULL if that is unknown. */
static graphss_status labels_of(
    cli *app, int32_t **out, const int32_t *node, size_t n, const graphss_dataset *data)
{
    int32_t *label = cli_alloc(n, sizeof *label);
    for (size_t i = 0; i < n; i++) {
        label[i] = data->label ? data->label[node[i]] : -1;
        if (label[i] < 0) {
            free(label);
            return cli_fail(app, GRAPHSS_ERR_DATA,
                "%s: node %d of the public split has no label", data->name, (int)node[i]);
        }
    }
    *out = label;
    return GRAPHSS_OK;
}

/* Sizes of the public datasets, to recognise one under another file name. There are two
 * versions of Citeseer. */
static const char *const public_hash[] = {
    "7badcb860b1f41b10e2d40ccdffca8299bfa27dd026546e8ea3cfaad070b52e0", /* cora */
    "92d2ce527bf08a0b5429dbbcf56a3fca795f9be6b92088b56b849651c18a4245", /* citeseer, .npz */
    "de575b8d9e2d315d2ade632907991552b30df6750655727f8ac8a09ded4411e2", /* Planetoid's */
    "9d834a5fe31bbf3ac478abc1a90e851b7c3b7120e1257e5d11b9de56684aecb0", /* pubmed */
    "00f07235692ffb539e9ea90d380cf7240c1557cadab1822f7d7ad2753bfbb546", /* amazon_photo */
    "696313123c6179f3ac0da78c630a703e889a24d13d549cb8183b7b7bc04f3eef", /* coauthor_cs */
};

bool cli_is_benchmark(const graphss_dataset *data)
{
    for (size_t i = 0; i < sizeof public_hash / sizeof *public_hash; i++)
        if (strcmp(data->hash, public_hash[i]) == 0)
            return true;
    return cli_is_public_name(data->name);
}

graphss_status cli_split_choose(
    cli *app, graphss_split *out, const graphss_dataset *data, cli_split_options *options)
{
    if (!options->noise_given && options->mode != GRAPHSS_MODE_PAPER &&
        !cli_is_benchmark(data) && strcmp(data->format, "synth") != 0)
        options->make.noise = 0;

    const size_t n = data->graph.n_nodes;
    /* Labels of a split count in the classes of the data, so it must have some. */
    if (data->n_classes == 0 || (!data->label && !options->from))
        return cli_fail(app, GRAPHSS_ERR_DATA,
            "%s has no labels: want an array 'labels', or a column 'label' in "
            "nodes.csv",
            data->name);
    if (!options->from)
        return graphss_split_make(app->ctx, out, data->label, n, data->n_classes,
            (uint64_t)app->global.seed, &options->make);
    if (strcmp(options->from, "public") != 0)
        return cli_read_split(app, out, options->from, data, data->n_classes);
    const graphss_split *from = &data->split;
    if (from->n_train == 0)
        return cli_fail(app, GRAPHSS_ERR_DATA,
            "--split public: %s came without a split; --train and --val make one", data->name);
    graphss_split whole = *from;
    int32_t *train = NULL, *val = NULL; /* labels that it lacks */
    graphss_status st = GRAPHSS_OK;
    if (!from->train_label)
        st = labels_of(app, &train, from->train, from->n_train, data);
    if (!st && !from->val_label)
        st = labels_of(app, &val, from->val, from->n_val, data);
    whole.train_label = train ? train : from->train_label;
    whole.val_label = val ? val : from->val_label;
    if (!st)
        st = graphss_split_copy(app->ctx, out, &whole);
    free(val);
    free(train);
    return st;
}

void cli_show_split(cli *app, const graphss_split *split, const cli_split_options *options)
{
    if (!app->global.quiet)
        cli_print_split(app, split, options);
}

/* True if the command has an option --noise; the demo has none. */
static bool takes_noise(const cli *app)
{
    const cli_group *group = app->command->group;
    for (int g = 0; g < CLI_MAX_GROUPS && group[g].table; g++)
        for (const graphss_option *row = group[g].table(); row->name; row++)
            if (strcmp(row->name, "noise") == 0)
                return true;
    return false;
}

void cli_print_split(cli *app, const graphss_split *split, const cli_split_options *options)
{
    printf("Split    %zu train, %zu validation, %zu test", split->n_train, split->n_val,
        split->n_test);
    if (options->from) {
        printf(", from ");
        terminal_text(&app->term, stdout, options->from, 0);
        printf("\n");
        return;
    }
    printf(", seed %lld\n", (long long)app->global.seed);
    if (options->make.noise <= 0) {
        printf("Noise    none: labels are used as they are\n");
        return;
    }
    printf("Noise    %g %% of the training and validation labels made wrong on purpose%s: %zu",
        100 * options->make.noise,
        options->make.noise_kind == GRAPHSS_NOISE_PAPER ? " by the paper's generator" : "",
        split->n_flipped);
    printf("%s\n", takes_noise(app) ? " (--noise 0: none)" : "");
}

/* [nodes of data] nodes that the model was not trained with; freed by free. */
static graphss_status find_new(
    cli *app, bool **out, const graphss_model *model, const graphss_observation *data)
{
    const size_t n = data->graph->n_nodes;
    const graphss_graph nodes = {.n_nodes = graphss_model_nodes(model)};
    const graphss_observation known = {
        .graph = &nodes, .names = graphss_model_node_names(model)};
    const bool named = known.names && known.names->count,
               other = data->names && data->names->count;
    int32_t *match = NULL;
    bool *new_node = NULL;
    graphss_status st = cli_alloc_large(app, &new_node, n, sizeof *new_node);
    /* A model that does not know its nodes; or nodes that are matched by position. */
    const bool none = nodes.n_nodes == 0 || (named != other && nodes.n_nodes == n);
    if (!st && !none)
        st = graphss_observation_match(app->ctx, &match, data, &known);
    for (size_t i = 0; i < n && !st && !none; i++)
        new_node[i] = match[i] < 0;
    graphss_release(app->ctx, match);
    if (st)
        free(new_node);
    else
        *out = new_node;
    return st;
}

graphss_status cli_split_add_new(cli *app, graphss_split *split, const graphss_model *model,
    const graphss_observation *data)
{
    const size_t n = data->graph->n_nodes;
    graphss_split made = *split, whole = {0};
    bool *add = NULL;
    int32_t *test = NULL;
    graphss_status st = find_new(app, &add, model, data);
    if (!st)
        st = cli_alloc_large(app, &test, n, sizeof *test);
    if (st)
        goto done;
    for (size_t i = 0; i < split->n_train; i++)
        add[split->train[i]] = false;
    for (size_t i = 0; i < split->n_val; i++)
        add[split->val[i]] = false;
    for (size_t i = 0; i < split->n_test; i++)
        add[split->test[i]] = true;
    made.n_test = 0;
    for (size_t i = 0; i < n; i++)
        if (add[i])
            test[made.n_test++] = (int32_t)i;
    made.test = test;
    st = graphss_split_copy(app->ctx, &whole, &made);
    if (st)
        goto done;
    graphss_split_destroy(app->ctx, split);
    *split = whole;
done:
    free(test);
    free(add);
    return st;
}

double cli_majority(const graphss_split *split, const graphss_dataset *data)
{
    size_t *count = cli_alloc(data->n_classes, sizeof *count);
    int32_t best = 0;
    for (size_t i = 0; i < split->n_train; i++)
        count[split->train_label[i]]++;
    for (size_t k = 1; k < data->n_classes; k++)
        if (count[k] > count[best])
            best = (int32_t)k;
    free(count);
    int32_t *label = cli_alloc(data->graph.n_nodes, sizeof *label);
    for (size_t i = 0; i < data->graph.n_nodes; i++)
        label[i] = best;
    const double share =
        data->label ? graphss_labels_accuracy(label, data->label, split->test, split->n_test)
                    : NAN;
    free(label);
    return share;
}
