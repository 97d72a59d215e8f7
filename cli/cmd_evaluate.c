/* cmd_evaluate.c - how right are the labels of a file? Rows are matched by node name where
 * both sides have names, so that the labels of one snapshot can be held against another. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"

typedef struct evaluate_arguments {
    const char *truth, *nodes, *split;
    int part;
} evaluate_arguments;

static const char *const part_names[] = {"test", "val", "train", NULL};

#define FIELD(name) offsetof(evaluate_arguments, name)
static const graphss_option rows[] = {
    {"truth", GRAPHSS_OPTION_STRING, FIELD(truth), 0, 0, NULL, "DATASET",
     "the dataset with the true labels", 0},
    {"nodes", GRAPHSS_OPTION_STRING, FIELD(nodes), 0, 0, NULL, "FILE",
     "only these nodes: one id a line, or FLIPS for its victims", 0},
    {"split", GRAPHSS_OPTION_STRING, FIELD(split), 0, 0, NULL, "FILE",
     "only the nodes of one part of this split (FILE.npz or 'public')", 0},
    {"part", GRAPHSS_OPTION_CHOICE, FIELD(part), 0, 0, part_names, "PART",
     "the part of --split", 0},
    {0},
};

static const graphss_option *table_of(void)
{
    return rows;
}

static void defaults(void *options)
{
    *(evaluate_arguments *)options = (evaluate_arguments){0};
}

enum { MISSING = -2, MOST_CLASSES = 1 << 20 };

/* label [n_nodes of data]: the answer for each node of the truth, MISSING for none. */
static graphss_status match(cli *app, int32_t *label, const graphss_predictions *p,
                            const graphss_dataset *data, const char *truth)
{
    const size_t n = data->graph.n_nodes;
    const graphss_graph rows_of = {.n_nodes = p->n_nodes};
    const graphss_observation known = {&data->graph, NULL, &data->node_names};
    const graphss_observation answer = {&rows_of, NULL, &p->node_names};
    if (!p->node_names.count && p->n_nodes != n)
        return cli_fail(app, GRAPHSS_ERR_SHAPE,
                        "%s has %zu labels and no node names, %s has %zu nodes: want as "
                        "many, or names to match them by",
                        app->argument[0], p->n_nodes, data->name, n);
    bool by_position = false;
    graphss_status st =
        cli_check_names(app, &by_position, &known, truth, &answer, app->argument[0]);
    if (!st && by_position)
        memcpy(label, p->label, n * sizeof *label);
    if (st || by_position)
        return st;
    graphss_node_index *index = NULL;
    st = graphss_node_index_new(app->ctx, &index, data);
    if (st)
        return st;
    for (size_t i = 0; i < n; i++)
        label[i] = MISSING;
    size_t matched = 0;
    for (size_t i = 0; i < p->n_nodes && !st; i++) {
        char number[24];
        snprintf(number, sizeof number, "%zu", i);
        const char *name = p->node_names.count ? graphss_names_get(&p->node_names, i) : number;
        const int64_t node = graphss_node_index_find(index, name);
        if (node < 0)
            continue;
        if (label[node] != MISSING)
            st = cli_fail(app, GRAPHSS_ERR_DATA, "%s: node '%s' is there twice",
                          app->argument[0], name);
        label[node] = p->label[i];
        matched++;
    }
    if (!st && matched == 0)
        st = cli_fail(app, GRAPHSS_ERR_SHAPE, "%s and %s have no node in common",
                      app->argument[0], data->name);
    graphss_node_index_free(app->ctx, index);
    return st;
}

/* Is class k of a side that has names or not called like class c of the other? Without names
 * classes are called 0, 1, 2 ... */
static bool same_class(const graphss_names *a, size_t k, const graphss_names *b, size_t c)
{
    char x[24], y[24];
    snprintf(x, sizeof x, "%zu", k);
    snprintf(y, sizeof y, "%zu", c);
    return strcmp(a->count ? graphss_names_get(a, k) : x,
                  b->count ? graphss_names_get(b, c) : y) == 0;
}

/* The truth's number of each class of the file, by name, those the truth lacks behind its own;
 * freed by free. NULL: numbers are all there is. Names on one side alone must be the numbers
 * of all labels of the other; else position counts, with a warning. */
static int32_t *match_classes(cli *app, const graphss_predictions *p,
                              const graphss_dataset *data, const char *truth,
                              size_t *n_classes)
{
    const graphss_names *own = &p->class_names, *known = &data->class_names;
    const size_t most = data->n_classes > p->n_classes ? data->n_classes : p->n_classes;
    *n_classes = most;
    if ((!own->count && !known->count) || p->n_classes > MOST_CLASSES)
        return NULL;
    bool *used = cli_alloc(p->n_classes, sizeof *used), all = true;
    for (size_t i = 0; i < p->n_nodes; i++)
        if (p->label[i] >= 0)
            used[p->label[i]] = true;
    int32_t *number = cli_alloc(p->n_classes, sizeof *number);
    *n_classes = data->n_classes;
    for (size_t c = 0; c < p->n_classes; c++) {
        size_t k = 0;
        if (!own->count && !used[c]) /* only a number below the largest */
            continue;
        while (k < data->n_classes && !same_class(known, k, own, c))
            k++;
        all = all && (k < data->n_classes || !used[c]);
        number[c] = (int32_t)(k < data->n_classes ? k : (*n_classes)++);
    }
    free(used);
    if (all || (own->count && known->count))
        return number;
    cli_warn(app,
             "%s has class names and %s has none: classes are matched by their numbers, which "
             "is wrong unless both list them in the same order",
             own->count ? app->argument[0] : truth, own->count ? truth : app->argument[0]);
    free(number);
    *n_classes = most;
    return NULL;
}

/* The nodes asked for. *node is NULL for all; *list and *split hold what must be freed. */
static graphss_status choose_nodes(cli *app, const int32_t **node, size_t *n, int32_t **list,
                                   graphss_split *split, const graphss_dataset *data,
                                   const evaluate_arguments *own)
{
    if (own->nodes) {
        const graphss_status st = cli_read_nodes(app, list, n, own->nodes, data);
        if (st)
            return st;
        *node = *list;
        return GRAPHSS_OK;
    }
    if (own->split) {
        const cli_split_options opt = {.from = own->split};
        const graphss_status st = cli_split_choose(app, split, data, &opt);
        if (st)
            return st;
        const int32_t *const part[] = {split->test, split->val, split->train};
        const size_t size[] = {split->n_test, split->n_val, split->n_train};
        *node = part[own->part];
        *n = size[own->part];
        return GRAPHSS_OK;
    }
    *node = NULL;
    *n = data->graph.n_nodes;
    return GRAPHSS_OK;
}

typedef struct score {
    double precision, recall, f1;
    int64_t nodes;
} score;

static score score_of(const int64_t *confusion, size_t n_classes, size_t k)
{
    int64_t truth = 0, called = 0;
    for (size_t j = 0; j < n_classes; j++) {
        truth += confusion[k * n_classes + j];
        called += confusion[j * n_classes + k];
    }
    const double hit = (double)confusion[k * n_classes + k];
    score s = {.nodes = truth};
    s.precision = called ? hit / (double)called : NAN;
    s.recall = truth ? hit / (double)truth : NAN;
    s.f1 = truth + called ? 2 * hit / (double)(truth + called) : NAN;
    return s;
}

static void per_cent(text_table *t, double value)
{
    if (isfinite(value))
        table_add(t, "%.1f %%", 100 * value);
    else
        table_add(t, "-");
}

/* What was counted. */
typedef struct result {
    double accuracy;
    size_t nodes, missing, abstained;
    int64_t *confusion; /* [n_classes x n_classes] */
    size_t n_classes;
} result;

static void show(cli *app, const result *r, char **name)
{
    if (r->nodes == 0)
        printf("Accuracy unknown: no listed node has a true label\n");
    else
        printf("Accuracy %.1f %% of %zu nodes\n", 100 * r->accuracy, r->nodes);
    if (r->abstained)
        printf("Abstained on %zu nodes, counted as wrong\n", r->abstained);
    if (r->missing)
        printf("Left out %zu nodes without an answer in the file\n", r->missing);
    text_table t = {0};
    table_init(&t, "lrrrr", true);
    table_add(&t, "class");
    table_add(&t, "nodes");
    table_add(&t, "precision");
    table_add(&t, "recall");
    table_add(&t, "F1");
    for (size_t k = 0; k < r->n_classes; k++) {
        const score s = score_of(r->confusion, r->n_classes, k);
        table_add(&t, "%s", name[k]);
        table_add(&t, "%lld", (long long)s.nodes);
        per_cent(&t, s.precision);
        per_cent(&t, s.recall);
        per_cent(&t, s.f1);
    }
    printf("\n");
    table_print(&t, &app->term, stdout, 2);
    printf("\n");
    draw_confusion(&app->term, stdout, r->confusion, (const char *const *)name, r->n_classes);
}

static void fill(cli *app, const result *r, char **name)
{
    cli_json_set(app->json, "accuracy", cli_json_real(r->accuracy));
    cli_json_set(app->json, "nodes", json_integer((json_int_t)r->nodes));
    cli_json_set(app->json, "missing", json_integer((json_int_t)r->missing));
    cli_json_set(app->json, "abstained", json_integer((json_int_t)r->abstained));
    json_t *classes = json_array(), *each = json_array();
    double sum = 0;
    size_t counted = 0;
    for (size_t k = 0; k < r->n_classes; k++) {
        const score s = score_of(r->confusion, r->n_classes, k);
        json_t *one = json_object();
        cli_json_set(one, "name", cli_json_text(name[k]));
        cli_json_set(one, "nodes", json_integer(s.nodes));
        cli_json_set(one, "precision", cli_json_real(s.precision));
        cli_json_set(one, "recall", cli_json_real(s.recall));
        cli_json_set(one, "f1", cli_json_real(s.f1));
        json_array_append_new(each, one);
        json_array_append_new(classes, cli_json_text(name[k]));
        if (isfinite(s.f1)) {
            sum += s.f1;
            counted++;
        }
    }
    cli_json_set(app->json, "macro_f1", cli_json_real(counted ? sum / (double)counted : NAN));
    cli_json_set(app->json, "classes", classes);
    cli_json_set(app->json, "per_class", each);
    cli_json_set(app->json, "confusion", cli_json_confusion(r->confusion, r->n_classes));
}

static graphss_status run(cli *app)
{
    evaluate_arguments own = {0};
    graphss_predictions p = {0};
    graphss_dataset data = {0};
    graphss_split split = {0};
    int32_t *list = NULL, *label = NULL, *counted = NULL, *number = NULL;
    result r = {0};

    graphss_status st = cli_apply(app, 0, &own);
    if (st)
        return st;
    if (!own.truth)
        return cli_usage(app, "evaluate: want --truth DATASET");
    if (own.nodes && own.split)
        return cli_usage(app, "evaluate: --nodes and --split both choose nodes, give one");
    st = graphss_predictions_read(app->ctx, &p, app->argument[0]);
    if (!st)
        st = cli_read_dataset(app, &data, own.truth);
    if (st)
        goto done;
    if (!data.label) {
        st = cli_fail(app, GRAPHSS_ERR_DATA, "%s has no labels to compare with", data.name);
        goto done;
    }
    label = cli_alloc(data.graph.n_nodes, sizeof *label);
    st = match(app, label, &p, &data, own.truth);
    if (st)
        goto done;
    const int32_t *node = NULL;
    size_t n = 0;
    st = choose_nodes(app, &node, &n, &list, &split, &data, &own);
    if (st)
        goto done;

    number = match_classes(app, &p, &data, own.truth, &r.n_classes);
    for (size_t i = 0; number && i < data.graph.n_nodes; i++)
        if (label[i] >= 0)
            label[i] = number[label[i]];
    counted = cli_alloc(n, sizeof *counted);
    for (size_t i = 0; i < n; i++) {
        const int32_t at = node ? node[i] : (int32_t)i;
        if (data.label[at] < 0)
            continue;
        if (label[at] >= (int32_t)r.n_classes) {
            st = cli_fail(app, GRAPHSS_ERR_SHAPE, "%s: label %d, want 0 to %zu as in %s",
                          app->argument[0], (int)label[at], r.n_classes - 1, data.name);
            goto done;
        }
        if (label[at] == MISSING) {
            r.missing++;
            continue;
        }
        r.abstained += label[at] < 0;
        counted[r.nodes++] = at;
    }
    r.accuracy = r.nodes ? graphss_accuracy(label, data.label, counted, r.nodes) : NAN;
    st = cli_alloc_large(app, &r.confusion, r.n_classes, r.n_classes * sizeof *r.confusion);
    if (st)
        goto done;
    if (r.nodes)
        graphss_confusion(r.confusion, r.n_classes, label, data.label, counted, r.nodes);
    char **name = cli_class_names(&data, r.n_classes);
    for (size_t c = 0; number && c < p.class_names.count; c++)
        if ((size_t)number[c] >= data.n_classes) {
            free(name[number[c]]);
            name[number[c]] = cli_format("%s", graphss_names_get(&p.class_names, c));
        }
    if (app->json)
        fill(app, &r, name);
    else
        show(app, &r, name);
    cli_class_names_done(name, r.n_classes);
done:
    free(number);
    free(r.confusion);
    free(counted);
    free(label);
    graphss_release(app->ctx, list);
    cli_split_done(app, &split, &data);
    graphss_dataset_destroy(app->ctx, &data);
    graphss_predictions_destroy(app->ctx, &p);
    return st;
}

const cli_command cli_evaluate = {
    .name = "evaluate",
    .arguments = "OUT.npz --truth DATASET [--nodes FILE]",
    .summary = "Compare labels in a file with the truth",
    .about =
        "Nodes and classes are matched by name where both sides have names; where one has "
        "none, by number or position, with a warning. Without --nodes or --split every "
        "labelled node counts, those the model was trained on too.\n",
    .examples = "evaluate out.npz --truth cora\n"
                "evaluate out.npz --truth cora --split split.npz --part test\n"
                "evaluate out.npz --truth cora --nodes victims.txt\n"
                "evaluate out.npz --truth cora --nodes flips.txt\n",
    .min_arguments = 1,
    .max_arguments = 1,
    .group = {{"Options", table_of, sizeof(evaluate_arguments), defaults}},
    .run = run,
};
