/* cell.c - one method on one trial, measured. The input of a method holds no truth of test
 * nodes; only this file and the set-up of a trial read it. */
#include "lab/experiment/cell.h"
#include "lab/baselines/baselines.h"
#include "lab/experiment/records.h"
#include "models/model_private.h"
#include "recover/defence.h"
#include <graphss/benign.h>
#include <graphss/labels.h>
#include <math.h>
#include <string.h>

static int set(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value);
}

int graphss_i_set_real(json_t *object, const char *key, double value)
{
    return set(object, key, graphss_i_json_real(value));
}

int graphss_i_set_count(json_t *object, const char *key, size_t value)
{
    return set(object, key, json_integer((json_int_t)value));
}

static graphss_status done(graphss_ctx *ctx, int bad)
{
    return bad ? graphss_i_nomem(ctx, 0) : GRAPHSS_OK;
}

json_t *graphss_i_json_numbers(const double *value, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n && list; i++)
        if (json_array_append_new(list, graphss_i_json_real(value[i])) != 0) {
            json_decref(list);
            list = NULL;
        }
    return list;
}

/* ---- datasets ---- */

static graphss_status run_datasets(
    graphss_ctx *ctx, json_t *record, const graphss_i_job_state *s)
{
    const graphss_dataset *d = &s->data;
    const double nodes = (double)d->graph.n_nodes;
    double test_edges = 0;
    size_t nonzeros = graphss_features_stored(&d->features);
    for (size_t i = 0; i < s->split.n_test; i++)
        test_edges += (double)graphss_graph_degree(&d->graph, (size_t)s->split.test[i]);
    if (graphss_features_dense(&d->features)) {
        const size_t stored = nonzeros;
        nonzeros = 0;
        for (size_t i = 0; i < stored; i++)
            nonzeros += d->features.value[i] != 0;
    }
    json_t *m = json_object();
    int bad = graphss_i_set_count(m, "nodes", d->graph.n_nodes);
    bad |= graphss_i_set_count(m, "edges", graphss_graph_edges(&d->graph));
    bad |= graphss_i_set_count(m, "features", d->features.n_cols);
    bad |= graphss_i_set_count(m, "classes", d->n_classes);
    bad |= graphss_i_set_real(m, "degree", 2 * (double)graphss_graph_edges(&d->graph) / nodes);
    bad |= graphss_i_set_real(m, "test_degree", test_edges / (double)s->split.n_test);
    bad |= graphss_i_set_real(m, "homophily", graphss_graph_homophily(&d->graph, d->label));
    bad |= graphss_i_set_count(m, "feature_nonzeros", nonzeros);
    bad |= set(record, "metrics", m);
    bad |=
        set(record, "feature_kind", json_string(graphss_feature_kind_text(d->features.kind)));
    return done(ctx, bad);
}

/* ---- defences ---- */

/* If the victims are the new nodes, a previous snapshot would reveal them. Then only methods
 * that train on it, or keep its answers, get it. */
static bool sees_previous(const graphss_i_job *job, const graphss_i_cell *cell)
{
    if (job->setting != GRAPHSS_SETTING_NEW)
        return true;
    const graphss_i_defence *m = graphss_i_lab_defence(cell->method, job->mode);
    return m && !strcmp(cell->train, "evasion") &&
           (m->needs_previous || m->evasion_previous || m->on_model);
}

static int add_accuracy(
    json_t *m, const char *suffix, const int32_t *label, const graphss_i_job_state *s)
{
    char key[32];
    const int32_t *truth = s->trial.snapshots.current.label;
    const graphss_split *split = &s->trial.snapshots.split;
    snprintf(key, sizeof key, "victims%s", suffix);
    int bad = graphss_i_set_real(m, key,
        graphss_labels_accuracy(
            label, truth, s->trial.snapshots.victim, s->trial.snapshots.n_victims));
    snprintf(key, sizeof key, "others%s", suffix);
    bad |= graphss_i_set_real(
        m, key, graphss_labels_accuracy(label, truth, s->trial.other, s->trial.n_others));
    snprintf(key, sizeof key, "test%s", suffix);
    bad |= graphss_i_set_real(
        m, key, graphss_labels_accuracy(label, truth, split->test, split->n_test));
    return bad;
}

static double validation_accuracy(const int32_t *label, const graphss_split *split)
{
    size_t right = 0;
    for (size_t i = 0; i < split->n_val; i++)
        right += label[split->val[i]] == split->val_label[i];
    return split->n_val ? (double)right / (double)split->n_val : NAN;
}

int graphss_i_set_trial(json_t *m, const graphss_i_job_state *s, bool classifier)
{
    int bad = graphss_i_set_count(m, "victims_n", s->trial.snapshots.n_victims);
    bad |= graphss_i_set_count(m, "others_n", s->trial.n_others);
    bad |= graphss_i_set_count(m, "nodes", s->trial.snapshots.current.graph.n_nodes);
    bad |= graphss_i_set_count(
        m, "edges", graphss_graph_edges(&s->trial.snapshots.current.graph));
    bad |= graphss_i_set_real(m, "prepare_seconds", s->prepare_seconds);
    bad |= graphss_i_set_real(m, "train_seconds", s->train_seconds);
    bad |= graphss_i_set_real(m, "attack_seconds", s->trial.attack_seconds);
    graphss_predictor_use use;
    if (classifier && graphss_model_predictor_use(&use, s->trial.model)) {
        bad |= graphss_i_set_count(m, "predictor_calls", use.calls);
        bad |= graphss_i_set_real(m, "agreement", use.agreement);
    }
    if (classifier) {
        bad |= add_accuracy(m, "_before", s->trial.before, s);
        bad |= add_accuracy(m, "_attacked", s->trial.after, s);
    }
    return bad;
}

graphss_i_scored *graphss_i_score_nodes(
    graphss_ctx *ctx, const double *score, const graphss_i_job_state *s)
{
    const size_t n = s->trial.snapshots.n_victims + s->trial.n_others;
    graphss_i_scored *item = graphss_i_alloc(ctx, n, sizeof *item);
    if (!item)
        return NULL;
    for (size_t i = 0; i < s->trial.snapshots.n_victims; i++)
        item[i] = (graphss_i_scored){score[s->trial.snapshots.victim[i]], 1};
    for (size_t i = 0; i < s->trial.n_others; i++)
        item[s->trial.snapshots.n_victims + i] =
            (graphss_i_scored){score[s->trial.other[i]], 0};
    graphss_i_scored_sort(item, n);
    return item;
}

static json_t *matrix_of(graphss_ctx *ctx, const int32_t *label, const graphss_i_job_state *s,
    const int32_t *node, size_t n)
{
    const size_t k = s->trial.snapshots.current.n_classes;
    int64_t *count = graphss_i_calloc(ctx, k * k, sizeof *count);
    json_t *rows = json_array();
    bool bad = !count || !rows;
    if (count)
        graphss_labels_confusion(count, k, label, s->trial.snapshots.current.label, node, n);
    for (size_t i = 0; i < k && !bad; i++) {
        json_t *row = json_array();
        bad |= json_array_append_new(rows, row) != 0;
        for (size_t j = 0; j < k && !bad; j++)
            bad |= json_array_append_new(row, json_integer(count[i * k + j])) != 0;
    }
    graphss_release(ctx, count);
    if (bad) {
        json_decref(rows);
        rows = NULL;
    }
    return rows;
}

static int add_matrices(
    graphss_ctx *ctx, json_t *record, const graphss_i_job_state *s, const int32_t *label)
{
    const struct {
        const char *key;
        const int32_t *node;
        size_t n;
    } part[] = {{"matrix", s->trial.snapshots.split.test, s->trial.snapshots.split.n_test},
        {"victims_matrix", s->trial.snapshots.victim, s->trial.snapshots.n_victims}};
    int bad = 0;
    for (size_t i = 0; i < 2; i++) {
        json_t *all = json_object();
        bad |= set(all, "before", matrix_of(ctx, s->trial.before, s, part[i].node, part[i].n));
        bad |=
            set(all, "attacked", matrix_of(ctx, s->trial.after, s, part[i].node, part[i].n));
        bad |= set(all, "recovered", matrix_of(ctx, label, s, part[i].node, part[i].n));
        bad |= set(record, part[i].key, all);
    }
    const graphss_names *names = &s->trial.snapshots.current.class_names;
    if (names->count) {
        json_t *list = json_array();
        for (size_t k = 0; k < names->count; k++)
            bad |=
                json_array_append_new(list, graphss_i_json_text(graphss_names_get(names, k)));
        bad |= set(record, "classes", list);
    }
    return bad;
}

int graphss_i_set_curve(json_t *record, const char *key, json_t *x, json_t *y,
    const char *x_name, const char *y_name)
{
    json_t *curve = json_object();
    int bad = set(curve, "x", x);
    bad |= set(curve, "y", y);
    bad |= set(curve, "x_name", json_string(x_name));
    bad |= set(curve, "y_name", json_string(y_name));
    return bad | set(record, key, curve);
}

static int add_reliability(json_t *record, const graphss_i_bins *bins)
{
    double x[GRAPHSS_I_BINS], y[GRAPHSS_I_BINS], weight[GRAPHSS_I_BINS];
    size_t n = 0;
    for (size_t b = 0; b < GRAPHSS_I_BINS; b++)
        if (bins->count[b]) {
            x[n] = bins->confidence[b];
            y[n] = bins->accuracy[b];
            weight[n++] = (double)bins->count[b];
        }
    int bad = graphss_i_set_curve(record, "curve", graphss_i_json_numbers(x, n),
        graphss_i_json_numbers(y, n), "confidence", "accuracy");
    return bad |
           set(json_object_get(record, "curve"), "weight", graphss_i_json_numbers(weight, n));
}

/* Accuracy on the victims of the model that the previous set left, before the method runs. */
static graphss_status add_carried(graphss_ctx *ctx, json_t *m, const graphss_i_job_state *s)
{
    const graphss_dataset *now = &s->trial.snapshots.current;
    int32_t *label = graphss_i_alloc(ctx, now->graph.n_nodes, sizeof *label);
    graphss_status st =
        label ? graphss_model_label(ctx, label, s->carried, &now->graph, &now->features)
              : GRAPHSS_ERR_NOMEM;
    if (!st)
        st = done(ctx, graphss_i_set_real(m, "victims_carried",
                           graphss_labels_accuracy(label, now->label,
                               s->trial.snapshots.victim, s->trial.snapshots.n_victims)));
    graphss_release(ctx, label);
    return st;
}

/* The same snapshot with other seeds of the method: the standard deviation of the victims'
 * accuracy, which is to be small (a result that its seed decides is a defect). */
static graphss_status add_seed_spread(graphss_ctx *ctx, json_t *m,
    const graphss_i_job_state *s, const graphss_defence_input *in,
    const graphss_recover_options *opt, double first)
{
    double sum = first, squares = first * first;
    for (uint64_t i = 1; i < GRAPHSS_I_RECOVER_SEEDS; i++) {
        graphss_recover_result r = {0};
        graphss_defence_input other = *in;
        other.seed = in->seed + i;
        const graphss_status st = graphss_i_recover_carried(ctx, &r, &other, opt, NULL);
        if (st)
            return st;
        const double right = graphss_protocol_measure(&s->trial, r.predictions.label).victims;
        sum += right;
        squares += right * right;
        graphss_recover_result_destroy(ctx, &r);
    }
    const double n = GRAPHSS_I_RECOVER_SEEDS;
    const double variance = fmax(0, (squares - sum * sum / n) / (n - 1));
    return done(ctx, graphss_i_set_real(m, "victims_seed_sd", sqrt(variance)));
}

static graphss_status run_recover(graphss_ctx *ctx, json_t *record,
    const graphss_i_job_state *s, const graphss_i_job *job, const graphss_i_cell *cell)
{
    graphss_recover_options opt;
    graphss_recover_result r = {0};
    graphss_i_scored *item = NULL;
    const graphss_split *split = &s->trial.snapshots.split;
    const size_t n = s->trial.snapshots.current.graph.n_nodes;
    graphss_observation previous;
    graphss_i_carry carry = {.start = s->carried};
    const bool carries = graphss_i_cell_carries(job, cell);
    const graphss_defence_input in =
        graphss_i_protocol_input(&s->trial, sees_previous(job, cell) ? &previous : NULL);
    graphss_status st = graphss_i_cell_options_fill(ctx, &opt, job, cell);
    if (!st)
        st = graphss_i_recover_carried(ctx, &r, &in, &opt, carries ? &carry : NULL);
    if (!st && !(item = graphss_i_score_nodes(ctx, r.predictions.perturbed, s)))
        st = GRAPHSS_ERR_NOMEM;
    if (st)
        goto out;
    graphss_i_bins bins;
    graphss_i_bins_fill(&bins, r.predictions.posterior, s->trial.snapshots.current.n_classes,
        s->trial.snapshots.current.label, split->test, split->n_test);
    json_t *m = json_object();
    int bad = graphss_i_set_trial(m, s, !job->any);
    bad |= add_accuracy(m, "", r.predictions.label, s);
    bad |=
        graphss_i_set_real(m, "validation", validation_accuracy(r.predictions.label, split));
    bad |= graphss_i_set_count(m, "changed", r.changed);
    bad |= graphss_i_set_real(m, "ece", graphss_i_calibration_error(&bins));
    bad |= graphss_i_set_real(
        m, "node_auc", graphss_i_auc(item, s->trial.snapshots.n_victims + s->trial.n_others));
    if (r.kind) {
        bad |= set(m, "kind", json_string(graphss_perturbation_text(r.kind)));
        bad |= graphss_i_set_real(m, "share", r.share);
    }
    bad |= graphss_i_set_real(m, "seconds", r.seconds);
    bad |= graphss_i_set_real(m, "seconds_per_100", 100 * r.seconds / (double)n);
    if (carries && s->carried)
        st = add_carried(ctx, m, s);
    if (!st && !strcmp(job->what, "attackers") && !strcmp(cell->method, "graphss"))
        st = add_seed_spread(ctx, m, s, &in, &opt,
            graphss_protocol_measure(&s->trial, r.predictions.label).victims);
    bad |= set(record, "metrics", m);
    bad |= set(record, "how", json_string(r.how));
    if (carries && s->left && carry.left)
        graphss_i_model_state_put(s->left, carry.left);
    if (!strcmp(job->what, "confusion"))
        bad |= add_matrices(ctx, record, s, r.predictions.label);
    if (!strcmp(job->what, "calibration"))
        bad |= add_reliability(record, &bins);
    if (!st)
        st = done(ctx, bad);
out:
    graphss_model_free(ctx, carry.left);
    graphss_release(ctx, item);
    graphss_recover_result_destroy(ctx, &r);
    return st;
}

bool graphss_i_cell_carries(const graphss_i_job *job, const graphss_i_cell *cell)
{
    const graphss_i_defence *m =
        cell->method ? graphss_i_lab_defence(cell->method, job->mode) : NULL;
    return m && m->carries;
}

graphss_status graphss_i_cell_run(graphss_ctx *ctx, json_t *record,
    const graphss_i_job_state *s, const graphss_i_job *job, const graphss_i_cell *cell)
{
    if (!cell->method)
        return run_datasets(ctx, record, s);
    if (!strcmp(cell->method, "alert"))
        return graphss_i_cell_alert(ctx, record, s, job, cell);
    return run_recover(ctx, record, s, job, cell);
}

/* See cell.h. In default mode a seed draws everything: split, noise,
 * weights, victims, attack. In paper mode the victims follow from the number of the set alone.
 */
static uint64_t victim_seed(const graphss_i_job *job, int64_t set)
{
    if (job->mode == GRAPHSS_MODE_PAPER)
        return (uint64_t)set;
    return (uint64_t)job->seed + 1000003 * (uint64_t)(set - 1);
}

/* Nodes of groups that are not attacked change as much, as a living graph does. */
static graphss_status churn(
    graphss_ctx *ctx, graphss_protocol_trial *s, const graphss_attack_options *attack)
{
    graphss_snapshots *made = &s->snapshots;
    const graphss_dataset *now = &made->current;
    const graphss_benign_options opt = {
        .struct_size = sizeof opt, .edges = attack->edges, .features = attack->features};
    graphss_flips flips = {0};
    if (attack->edges_share > 0 || attack->features_share > 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "background change has as many links and features a node: want "
            "numbers for --links and --features, not shares");
    graphss_status st =
        graphss_benign_churn(ctx, &flips, now, made->churned, made->n_churned, s->seed, &opt);
    if (!st)
        st = graphss_snapshots_change(ctx, made, &flips);
    if (!st)
        st = graphss_model_label(ctx, s->after, s->model, &now->graph, &now->features);
    if (!st)
        s->attacked = graphss_protocol_measure(s, s->after);
    graphss_flips_destroy(ctx, &flips);
    return st;
}

graphss_status graphss_i_job_state_set(
    graphss_ctx *ctx, graphss_i_job_state *s, const graphss_i_job *job, int64_t set)
{
    if (job->mode < 0 || s->set == set)
        return GRAPHSS_OK;
    const double began = graphss_i_seconds();
    graphss_protocol_trial_destroy(ctx, &s->trial);
    s->set = 0;
    graphss_status st =
        graphss_protocol_attack(ctx, &s->trial, &s->protocol, victim_seed(job, set));
    const double took = graphss_i_seconds() - began;
    s->prepare_seconds = s->start_seconds + took;
    s->train_seconds = s->start_train + took - s->trial.attack_seconds;
    if (!st && s->trial.snapshots.n_churned)
        st = churn(ctx, &s->trial, &s->protocol.opt.attack);
    if (!st)
        s->set = set;
    return st;
}

graphss_status graphss_i_job_state_make(graphss_ctx *ctx, graphss_i_job_state *out,
    const graphss_i_job *job, const char *const *data_dirs)
{
    graphss_i_job_options opt;
    const graphss_read_options read = {.struct_size = sizeof read, .data_dirs = data_dirs};
    const double began = graphss_i_seconds();
    graphss_i_job_state *s = out; /* a trial must not be moved */
    *s = (graphss_i_job_state){0};
    graphss_status st = graphss_i_job_options_fill(ctx, &opt, job);
    if (!st)
        st = graphss_dataset_read(ctx, &s->data, job->dataset, &read);
    if (!st && !s->data.label)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: has no labels", job->dataset);
    const double read_seconds = graphss_i_seconds() - began;
    if (!st && job->mode >= 0)
        st = graphss_protocol_start(
            ctx, &s->protocol, &s->data, (uint64_t)job->seed, &opt.protocol);
    else if (!st)
        st = graphss_split_make(ctx, &s->split, s->data.label, s->data.graph.n_nodes,
            s->data.n_classes, (uint64_t)job->seed, &opt.protocol.split);
    s->start_seconds = graphss_i_seconds() - began;
    s->start_train = s->start_seconds - read_seconds;
    if (st)
        graphss_i_job_state_destroy(ctx, s);
    return st;
}

void graphss_i_job_state_destroy(graphss_ctx *ctx, graphss_i_job_state *s)
{
    graphss_model_free(ctx, s->carried);
    graphss_protocol_trial_destroy(ctx, &s->trial);
    graphss_protocol_destroy(ctx, &s->protocol);
    graphss_split_destroy(ctx, &s->split);
    graphss_dataset_destroy(ctx, &s->data);
    *s = (graphss_i_job_state){0};
}
