/* advtrain.c - adversarial training (Wang et al. 2019, GraphDefense; You et al. 2020, here
 * after the appendix of the paper GraphSS follows): the classifier is trained on nodes that
 * were attacked on purpose, with their labels.
 *
 *   1. A share `adversaries` of the training nodes is drawn.
 *   2. Nettack (2 edges, then 20 features each; our own, in src/attack) attacks them with
 *      a linear model that was trained on the same labels: A, X become A', X'.
 *   3. The model's classifier is trained from scratch on both graphs side by side, 2 N nodes:
 *        loss = sum of cross-entropy of the n training nodes on (A, X)
 *             + sum of that of the m attacked ones on (A', X'),  divided by n + m
 *   4. It predicts on the current snapshot, which is not attacked again.
 *
 * Sees edges and features of the snapshot it is trained on, training labels, validation
 * labels to choose the epoch (on A, X). It does not see which nodes an attacker chose, nor how
 * many. Attacked nodes keep their training labels; the paper speaks of pseudo labels because
 * its adversarial samples have no label of their own. Its equation adds two losses without
 * saying whether they are sums or means; its text says the samples join the training set,
 * which is what is done here.
 *
 * Costs an attack on the drawn nodes and a training on a graph of twice the size. */
#include "attack/attack_method.h"
#include "graph/rows.h"
#include "models/model_private.h"
#include "recover/defence.h"
#include "recover/option_rows.h"
#include <graphss/attack.h>
#include <string.h>

/* ---- two snapshots side by side ---- */

static graphss_status join_graphs(
    graphss_ctx *ctx, graphss_graph *out, const graphss_graph *a, const graphss_graph *b)
{
    const size_t n = a->n_nodes;
    const int64_t edges = a->offset[n];
    graphss_graph g = {.n_nodes = 2 * n};
    g.offset = graphss_i_alloc(ctx, 2 * n + 1, sizeof *g.offset);
    g.target = graphss_i_alloc(ctx, (size_t)(edges + b->offset[n]), sizeof *g.target);
    if (!g.offset || !g.target) {
        graphss_graph_destroy(ctx, &g);
        return GRAPHSS_ERR_NOMEM;
    }
    memcpy(g.offset, a->offset, n * sizeof *g.offset);
    memcpy(g.target, a->target, (size_t)edges * sizeof *g.target);
    for (size_t i = 0; i <= n; i++)
        g.offset[n + i] = edges + b->offset[i];
    for (int64_t e = 0; e < b->offset[n]; e++)
        g.target[edges + e] = b->target[e] + (int32_t)n;
    *out = g;
    return GRAPHSS_OK;
}

/* Dense where one of the two is. */
static graphss_status join_features(graphss_ctx *ctx, graphss_features *out,
    const graphss_features *a, const graphss_features *b)
{
    const size_t n = a->n_rows, d = a->n_cols;
    const bool dense = !a->offset || !b->offset;
    const size_t stored =
        dense ? 2 * n * d : graphss_features_stored(a) + graphss_features_stored(b);
    graphss_features f = {.n_rows = 2 * n, .n_cols = d, .kind = a->kind};
    f.value = graphss_i_calloc(ctx, stored, sizeof *f.value);
    if (!dense) {
        f.offset = graphss_i_alloc(ctx, 2 * n + 1, sizeof *f.offset);
        f.column = graphss_i_alloc(ctx, stored, sizeof *f.column);
    }
    if (!f.value || (!dense && (!f.offset || !f.column))) {
        graphss_features_destroy(ctx, &f);
        return GRAPHSS_ERR_NOMEM;
    }
    size_t at = 0;
    for (size_t i = 0; i < 2 * n; i++) {
        const graphss_i_row row = graphss_i_row_of(i < n ? a : b, i < n ? i : i - n);
        if (f.offset)
            f.offset[i] = (int64_t)at;
        for (size_t j = 0; j < row.n; j++) {
            const size_t c = graphss_i_row_at(row, j);
            f.value[dense ? i * d + c : at] = row.value[j];
            if (!dense)
                f.column[at++] = (int32_t)c;
        }
    }
    if (f.offset)
        f.offset[2 * n] = (int64_t)at;
    *out = f;
    return GRAPHSS_OK;
}

/* The training nodes, then the attacked ones in their second place, with the same labels. */
static graphss_status join_split(graphss_ctx *ctx, graphss_split *out,
    const graphss_split *split, const int32_t *attacked, size_t m, const int32_t *label,
    size_t n)
{
    graphss_split s = {.n_train = split->n_train + m, .n_val = split->n_val};
    s.train = graphss_i_alloc(ctx, s.n_train, sizeof *s.train);
    s.train_label = graphss_i_alloc(ctx, s.n_train, sizeof *s.train_label);
    s.val = graphss_i_copy(ctx, split->val, split->n_val, sizeof *s.val);
    s.val_label = graphss_i_copy(ctx, split->val_label, split->n_val, sizeof *s.val_label);
    if (!s.train || !s.train_label || !s.val || !s.val_label) {
        graphss_split_destroy(ctx, &s);
        return GRAPHSS_ERR_NOMEM;
    }
    memcpy(s.train, split->train, split->n_train * sizeof *s.train);
    memcpy(s.train_label, split->train_label, split->n_train * sizeof *s.train_label);
    for (size_t j = 0; j < m; j++) {
        s.train[split->n_train + j] = attacked[j] + (int32_t)n;
        s.train_label[split->n_train + j] = label[attacked[j]];
    }
    *out = s;
    return GRAPHSS_OK;
}

/* ---- the attack on training nodes ---- */

/* label [n]: those of training nodes, else -1. attacked [n_train] holds *m nodes. */
static graphss_status attack(graphss_ctx *ctx, graphss_graph *graph,
    graphss_features *features, int32_t *attacked, size_t *m, int32_t *label,
    const graphss_observation *on, const graphss_split *split,
    const graphss_i_defence_input *input, double share)
{
    graphss_attack_options opt;
    graphss_attack_options_init(&opt);
    graphss_rng rng = graphss_rng_make(input->seed, GRAPHSS_STREAM_DEFENCE);
    graphss_flips flips = {0};
    float *w = NULL;
    for (size_t i = 0; i < on->graph->n_nodes; i++)
        label[i] = -1;
    for (size_t j = 0; j < split->n_train; j++) {
        attacked[j] = split->train[j];
        label[split->train[j]] = split->train_label[j];
    }
    graphss_rng_shuffle(&rng, attacked, split->n_train);
    *m = (size_t)(share * (double)split->n_train + 0.5);
    *m = *m ? *m : 1;
    graphss_status st = graphss_i_surrogate_train(ctx, &w,
        &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
            .graph = on->graph,
            .features = on->features,
            .n_classes = input->k,
            .split = split,
            .seed = input->seed});
    const graphss_attack_input in = {.struct_size = sizeof in,
        .graph = on->graph,
        .features = on->features,
        .label = label,
        .n_classes = input->k,
        .surrogate = w,
        .victim = attacked,
        .n_victims = *m,
        .seed = input->seed};
    if (!st)
        st = graphss_i_attack(ctx, &flips, &in, &opt);
    if (!st)
        st = graphss_i_apply(ctx, graph, features, on->graph, on->features, &flips, NULL);
    graphss_flips_destroy(ctx, &flips);
    graphss_release(ctx, w);
    return st;
}

static graphss_status run(graphss_ctx *ctx, double *posterior, double *perturbed,
    const graphss_i_defence_input *input, const graphss_recover_options *opt)
{
    (void)perturbed;
    const graphss_split *split;
    const graphss_observation on = graphss_i_defence_training(input, &split);
    const size_t n = on.graph->n_nodes;
    graphss_graph attacked = {0}, both = {0};
    graphss_features changed = {0}, features = {0};
    graphss_split joint = {0};
    graphss_model *model = NULL;
    size_t m = 0;
    graphss_status st = GRAPHSS_OK;
    int32_t *label = graphss_i_alloc(ctx, n, sizeof *label);
    int32_t *node = graphss_i_alloc(ctx, split->n_train, sizeof *node);
    if (!label || !node)
        st = GRAPHSS_ERR_NOMEM;
    else if (n > INT32_MAX / 2)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_LIMIT,
            "%zu nodes: advtrain trains on twice as many, and at most %d fit", n, INT32_MAX);
    if (!st)
        st = attack(ctx, &attacked, &changed, node, &m, label, &on, split, input,
            opt->advtrain.adversaries);
    if (!st)
        st = join_graphs(ctx, &both, on.graph, &attacked);
    if (!st)
        st = join_features(ctx, &features, on.features, &changed);
    if (!st)
        st = join_split(ctx, &joint, split, node, m, label, n);
    graphss_graph_destroy(ctx, &attacked);
    graphss_features_destroy(ctx, &changed);
    if (!st)
        st = graphss_i_train(ctx, &model, NULL,
            &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                .graph = &both,
                .features = &features,
                .n_classes = input->k,
                .split = &joint,
                .seed = input->seed},
            &opt->fit);
    if (!st)
        st = graphss_i_posterior_of(
            ctx, posterior, model, input->current.graph, input->current.features);
    graphss_model_free(ctx, model);
    graphss_split_destroy(ctx, &joint);
    graphss_features_destroy(ctx, &features);
    graphss_graph_destroy(ctx, &both);
    graphss_release(ctx, node);
    graphss_release(ctx, label);
    return st;
}

/* The appendix: a tenth of the number of victims. Those are a fifth of the test nodes, which
 * are as many as the training nodes: 0.02 of these. Honest: the best of 0.02 to 1 by
 * validation labels, see docs/defences.md. */
static void adjust(graphss_recover_options *opt)
{
    opt->advtrain.adversaries = opt->mode == GRAPHSS_MODE_PAPER ? 0.02 : 1;
}

static const graphss_option options[] = {
    GRAPHSS_I_COMMON_ROWS, GRAPHSS_I_ROW_ADVERSARIES(advtrain), GRAPHSS_I_FIT_ROWS, {0}};

const graphss_i_defence graphss_i_advtrain_defence = {
    .name = "advtrain",
    .summary = "adversarial training: on attacked training nodes as well (Wang et al. 2019)",
    .evasion = "trained on the previous snapshot and on an attack of it, then the current one",
    .retrain = "trained on the current snapshot and on an attack of it",
    .options = options,
    .as_model = true,
    .learns = true,
    .needs_edges = true,
    .evasion_previous = true,
    .on_model = true,
    .adjust = adjust,
    .run = run,
};
