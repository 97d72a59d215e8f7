/* cmd_evaluate.c - measures the accuracy of the labels in a file. Rows are matched by node
 * name where both sides have names, so that the labels of one snapshot can be held against
 * another. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

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
        "count these nodes: one id a line, or FLIPS for its victims; 'all': every labelled "
        "one",
        0},
    {"split", GRAPHSS_OPTION_STRING, FIELD(split), 0, 0, NULL, "FILE",
        "the split to count by: a model, FILE.npz or 'public'; default: that in OUT.npz", 0},
    {"part", GRAPHSS_OPTION_CHOICE, FIELD(part), 0, 0, part_names, "PART",
        "the part of the split to count", 0},
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

/* row [n_nodes of data]: the line of the file for each node of the truth, -1 for none. */
static graphss_status match(cli *app, int32_t *row, const graphss_predictions *p,
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
    for (size_t i = 0; i < n; i++)
        row[i] = by_position ? (int32_t)i : -1;
    if (st || by_position)
        return st;
    graphss_node_index *index = NULL;
    st = graphss_node_index_new(app->ctx, &index, data);
    if (st)
        return st;
    size_t matched = 0;
    for (size_t i = 0; i < p->n_nodes && !st; i++) {
        char number[24];
        snprintf(number, sizeof number, "%zu", i);
        const char *name = p->node_names.count ? graphss_names_get(&p->node_names, i) : number;
        const int64_t node = graphss_node_index_find(index, name);
        if (node < 0)
            continue;
        if (row[node] >= 0)
            st = cli_fail(
                app, GRAPHSS_ERR_DATA, "%s: node '%s' occurs twice", app->argument[0], name);
        row[node] = (int32_t)i;
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
    const graphss_dataset *data, const char *truth, size_t *n_classes)
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
        /* For each class of the file its number in the truth, matched by name; names the truth
         * lacks are numbered after its own. Freed by free. NULL: there are only numbers. If
         * only one side has names they must be the numbers of all labels of the other; else
         * position counts, with a warning. */
        if (!own->count && !used[c])
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

/* True if class k of the truth is none of the named classes of the file. Without names that is
 * unknown. number: of match_classes, or NULL. */
static bool not_in_file(const graphss_predictions *p, const int32_t *number, int32_t k)
{
    for (size_t c = 0; number && c < p->class_names.count; c++)
        if (number[c] == k)
            return false;
    return number && p->class_names.count;
}

/* Which nodes are counted, and what to call them. */
typedef struct choice {
    int32_t *node; /* [n] of the truth; freed by free */
    size_t n;
    const char *counted; /* "test", "val", "train", "listed" or "all" */
    const char *from;    /* the file or word that chose them; NULL: the default */
    size_t trained;      /* of "all": training and validation nodes; 0 when unknown */
} choice;

static const char *const part_text[] = {"test", "validation", "training"};

/* The rows that the file lists in its split, as nodes of the truth that have a label there. */
static void choose_by_rows(choice *c, const graphss_split *split, int part, const int32_t *row,
    size_t n_rows, const graphss_dataset *data)
{
    const size_t n = data->graph.n_nodes;
    enum { PARTS = 3 };
    const int32_t *const list[PARTS] = {split->test, split->val, split->train};
    const size_t size[PARTS] = {split->n_test, split->n_val, split->n_train};
    uint8_t *in = cli_alloc(n_rows, sizeof *in); /* 1 + the part of each row */
    for (uint8_t p = 0; p < PARTS; p++)
        for (size_t i = 0; i < size[p]; i++)
            in[list[p][i]] = (uint8_t)(p + 1);
    for (size_t i = 0; i < n; i++) {
        const int found = row[i] >= 0 ? in[row[i]] : 0;
        c->trained += found > 1;
        if (found == part + 1 && data->label[i] >= 0)
            c->node[c->n++] = (int32_t)i;
    }
    free(in);
}

static void choose_all(choice *c, size_t n)
{
    c->counted = "all";
    c->from = NULL;
    for (c->n = 0; c->n < n; c->n++)
        c->node[c->n] = (int32_t)c->n;
}

static graphss_status choose_listed(
    cli *app, choice *c, const char *path, const graphss_dataset *data)
{
    int32_t *list = NULL;
    const graphss_status st = cli_read_nodes(app, &list, &c->n, path, data);
    for (size_t i = 0; i < c->n && !st; i++)
        c->node[i] = list[i]; /* each once, so there is room */
    graphss_release(app->ctx, list);
    c->counted = "listed";
    c->from = path;
    return st;
}

static graphss_status choose_by_split(
    cli *app, choice *c, const graphss_dataset *data, const evaluate_arguments *own)
{
    graphss_split split = {0};
    cli_split_options opt = {.from = own->split, .noise_given = true};
    const graphss_status st = cli_split_choose(app, &split, data, &opt);
    if (st)
        return st;
    const int32_t *const part[] = {split.test, split.val, split.train};
    const size_t size[] = {split.n_test, split.n_val, split.n_train};
    c->n = size[own->part];
    if (c->n)
        memcpy(c->node, part[own->part], c->n * sizeof *c->node);
    c->counted = part_names[own->part];
    c->from = own->split;
    graphss_split_destroy(app->ctx, &split);
    return GRAPHSS_OK;
}

static graphss_status choose_nodes(cli *app, choice *c, const graphss_predictions *p,
    const int32_t *row, const graphss_dataset *data, const evaluate_arguments *own)
{
    const size_t n = data->graph.n_nodes;
    const bool known = p->split.n_train + p->split.n_val + p->split.n_test > 0;
    const graphss_status st = cli_alloc_large(app, &c->node, n, sizeof *c->node);
    if (st)
        return st;
    if (own->nodes && strcmp(own->nodes, "all") != 0)
        return choose_listed(app, c, own->nodes, data);
    if (own->split)
        return choose_by_split(app, c, data, own);
    if (!known && cli_given(app, "part"))
        return cli_usage(app, "--part: %s has no split: give --split", app->argument[0]);
    if (known)
        choose_by_rows(c, &p->split, own->part, row, p->n_nodes, data);
    c->counted = part_names[own->part];
    c->from = app->argument[0];
    if (known && c->n == 0 && !own->nodes)
        cli_warn(app,
            "no %s node of %s has a label in %s: all nodes are counted, those the model was "
            "trained on too",
            part_text[own->part], app->argument[0], data->name);
    if (!known || c->n == 0 || own->nodes)
        choose_all(c, n);
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

/* The nodes that were counted. */
typedef struct result {
    double accuracy;
    size_t nodes, missing, abstained;
    size_t unknown;     /* of a class that the file does not know */
    int64_t *confusion; /* [n_classes x n_classes] */
    size_t n_classes;
} result;

/* "Counted  test nodes, by the split of out.npz" */
static void show_counted(cli *app, const choice *c)
{
    printf("Counted  ");
    if (strcmp(c->counted, "all") == 0) {
        printf("every node with a known label");
        if (c->trained)
            printf(", %zu that the model was trained on among them", c->trained);
        printf("\n");
        return;
    }
    for (size_t i = 0; part_names[i]; i++)
        if (strcmp(c->counted, part_names[i]) == 0)
            printf("%s nodes by the split of ", part_text[i]);
    if (strcmp(c->counted, "listed") == 0)
        printf("nodes listed in ");
    terminal_text(&app->term, stdout, c->from, 0);
    printf("\n");
}

static void show(cli *app, const result *r, const choice *c, char **name)
{
    if (r->nodes == 0)
        printf("Accuracy unknown: no node counted has a true label\n");
    else
        printf("Accuracy %.1f %% of %zu nodes\n", 100 * r->accuracy, r->nodes);
    show_counted(app, c);
    if (r->abstained)
        printf("Abstained on %zu nodes, counted as wrong\n", r->abstained);
    if (r->unknown)
        printf("Counted as wrong %zu node%s of a class that the file does not know\n",
            r->unknown, cli_s(r->unknown));
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

static void fill(cli *app, const result *r, const choice *c, char **name)
{
    cli_json_set(app->json, "counted", cli_json_text(c->counted));
    cli_json_set(app->json, "counted_from", cli_json_text(c->from));
    cli_json_set(app->json, "accuracy", cli_json_real(r->accuracy));
    cli_json_set(app->json, "nodes", json_integer((json_int_t)r->nodes));
    cli_json_set(app->json, "missing", json_integer((json_int_t)r->missing));
    cli_json_set(app->json, "abstained", json_integer((json_int_t)r->abstained));
    cli_json_set(app->json, "unknown_class", json_integer((json_int_t)r->unknown));
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

/* Reads the file of labels. If it is something else, the error says what it is. */
static graphss_status read_labels(cli *app, graphss_predictions *out, const char *path)
{
    const graphss_status st = graphss_predictions_read(app->ctx, out, path);
    const cli_file_type kind = st ? cli_file_type_of(path) : CLI_FILE_NONE;
    const size_t n = strlen(path);
    if (kind == CLI_FILE_OTHER && n > 4 &&
        (!strcmp(path + n - 4, ".csv") || !strcmp(path + n - 4, ".tsv")))
        return cli_fail(app, GRAPHSS_ERR_DATA,
            "%s is a table, want the .npz of predict or recover (-o OUT.npz)", path);
    if (st && kind >= CLI_FILE_FOLDER && kind != CLI_FILE_LABELS)
        return cli_wrong_file(app, path, kind, "the OUT.npz of predict or recover");
    return st;
}

/* label [nodes of the truth] in its classes; MISSING if the file has no answer. number: of
 * match_classes, or NULL. */
static graphss_status count(cli *app, result *r, const choice *c, const int32_t *label,
    const graphss_dataset *data, const graphss_predictions *p, const int32_t *number)
{
    int32_t *counted = cli_alloc(c->n, sizeof *counted);
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < c->n && !st; i++) {
        const int32_t at = c->node[i];
        if (data->label[at] < 0)
            continue;
        if (label[at] >= (int32_t)r->n_classes)
            st = cli_fail(app, GRAPHSS_ERR_SHAPE, "%s: label %d, want 0 to %zu as in %s",
                app->argument[0], (int)label[at], r->n_classes - 1, data->name);
        if (label[at] == MISSING) {
            r->missing++;
            continue;
        }
        r->abstained += label[at] < 0;
        r->unknown += not_in_file(p, number, data->label[at]);
        counted[r->nodes++] = at;
    }
    r->accuracy =
        r->nodes ? graphss_labels_accuracy(label, data->label, counted, r->nodes) : NAN;
    if (!st)
        st = cli_alloc_large(
            app, &r->confusion, r->n_classes, r->n_classes * sizeof *r->confusion);
    if (!st && r->nodes)
        graphss_labels_confusion(
            r->confusion, r->n_classes, label, data->label, counted, r->nodes);
    free(counted);
    return st;
}

static graphss_status run(cli *app)
{
    evaluate_arguments own = {0};
    graphss_predictions p = {0};
    graphss_dataset data = {0};
    int32_t *row = NULL, *label = NULL, *number = NULL;
    choice c = {0};
    result r = {0};

    graphss_status st = cli_apply(app, 0, &own);
    if (st)
        return st;
    if (!own.truth)
        return cli_usage(app, "evaluate: want --truth DATASET");
    if (own.nodes && (own.split || cli_given(app, "part")))
        return cli_usage(app, "evaluate: --nodes and --%s both choose nodes, give one",
            own.split ? "split" : "part");
    st = read_labels(app, &p, app->argument[0]);
    if (!st)
        st = cli_read_dataset(app, &data, own.truth);
    if (st)
        goto done;
    if (!data.label) {
        st = cli_fail(app, GRAPHSS_ERR_DATA, "%s has no labels to compare with", data.name);
        goto done;
    }
    const size_t n = data.graph.n_nodes;
    row = cli_alloc(n, sizeof *row);
    label = cli_alloc(n, sizeof *label);
    st = match(app, row, &p, &data, own.truth);
    if (!st)
        st = choose_nodes(app, &c, &p, row, &data, &own);
    if (st)
        goto done;
    number = match_classes(app, &p, &data, own.truth, &r.n_classes);
    for (size_t i = 0; i < n; i++) {
        label[i] = row[i] >= 0 ? p.label[row[i]] : MISSING;
        if (number && label[i] >= 0)
            label[i] = number[label[i]];
    }
    st = count(app, &r, &c, label, &data, &p, number);
    if (st)
        goto done;
    char **name = cli_class_names(&data, r.n_classes);
    for (size_t k = 0; number && k < p.class_names.count; k++)
        if ((size_t)number[k] >= data.n_classes) {
            free(name[number[k]]);
            name[number[k]] = cli_format("%s", graphss_names_get(&p.class_names, k));
        }
    if (app->json)
        fill(app, &r, &c, name);
    else
        show(app, &r, &c, name);
    cli_class_names_done(name, r.n_classes);
done:
    free(number);
    free(r.confusion);
    free(c.node);
    free(label);
    free(row);
    graphss_dataset_destroy(app->ctx, &data);
    graphss_predictions_destroy(app->ctx, &p);
    return st;
}

const cli_command cli_evaluate = {
    .name = "evaluate",
    .arguments = "OUT.npz --truth DATASET [--nodes FILE]",
    .summary = "Compare labels in a file with the truth",
    .about = "Nodes and classes are matched by name if both sides have names, else by number "
             "or position, with a warning. Only test nodes are counted if OUT.npz or --split "
             "has a split, else every labelled node; --nodes all also counts the nodes the "
             "model was trained on.\n",
    .examples = "evaluate out.npz --truth cora\n"
                "evaluate out.npz --truth cora --nodes all\n"
                "evaluate out.npz --truth cora --split cora.model\n"
                "evaluate out.npz --truth cora --split split.npz --part val\n"
                "evaluate out.npz --truth cora --nodes victims.txt\n"
                "evaluate out.npz --truth cora --nodes flips.txt\n",
    .ranks = CLI_SHARED,
    .min_arguments = 1,
    .max_arguments = 1,
    .group = {{"Options", table_of, sizeof(evaluate_arguments), defaults}},
    .run = run,
};
