/* graphss_paper.c - the paper's method as its authors ran it (Algorithm 1): the model's labels
 * on the clean snapshot are Y_a, its probabilities on the current one are P, and in every
 * tenth step it is trained further on the labels inferred so far.
 *
 * As in the code, labels of training nodes are replaced by inferred ones, the warm-up matrix
 * comes from predictions on the current snapshot, and nodes without a past have no Y_a. The
 * retrained model is left to the next set of victims, if there is one; Y_a stays that of the
 * given model. One thing differs: the code reads the truth before each training; here
 * agreement with Y_a decides (docs/selfsup.md). */
#include "models/model_private.h"
#include "recover/defence.h"
#include "recover/option_rows.h"
#include <graphss/selfsup.h>
#include <string.h>

/* The model as trained last, and the labels for its next training. */
typedef struct refit_state {
    const graphss_i_defence_input *scene;
    const graphss_model *start;
    graphss_model *model; /* NULL before the first */
    graphss_split split;
    int64_t epochs;
} refit_state;

/* Epochs of the next training. The paper's code numbers epochs from 1, goes on from the one
 * after the best, and means `epochs` as the last of them where that is still ahead. */
static int64_t epochs_left(const graphss_model *from, int64_t epochs)
{
    const int64_t next = (int64_t)from->adam.step + 1;
    return from->adam.m && next < epochs ? epochs - next : epochs;
}

static graphss_status refit(graphss_ctx *ctx, void *user, float *prob, const int32_t *label,
    size_t n, size_t n_classes)
{
    (void)n, (void)n_classes;
    refit_state *r = user;
    const graphss_observation *now = &r->scene->current;
    const graphss_model *from = r->model ? r->model : r->start;
    graphss_model *next = NULL;
    for (size_t i = 0; i < r->split.n_train; i++)
        r->split.train_label[i] = label[r->split.train[i]];
    for (size_t i = 0; i < r->split.n_val; i++)
        r->split.val_label[i] = label[r->split.val[i]];
    graphss_status st = graphss_i_continue(ctx, &next, NULL, from,
        &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
            .graph = now->graph,
            .features = now->features,
            .split = &r->split,
            .seed = r->scene->seed},
        epochs_left(from, r->epochs));
    if (st)
        return st;
    graphss_model_free(ctx, r->model);
    r->model = next;
    return graphss_i_predict(ctx, prob, next, now->graph, now->features);
}

/* seen [n]: the model's label of each node in the previous snapshot; -1: it is not there. */
static graphss_status predict_past(
    graphss_ctx *ctx, int32_t *seen, const graphss_i_defence_input *scene)
{
    const graphss_observation *past = &scene->previous;
    int32_t *label = graphss_i_alloc(ctx, past->graph->n_nodes, sizeof *label);
    const graphss_status st =
        label ? graphss_model_label(ctx, label, scene->model, past->graph, past->features)
              : GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < scene->n && !st; i++)
        seen[i] = scene->before[i] < 0 ? -1 : label[scene->before[i]];
    graphss_release(ctx, label);
    return st;
}

static graphss_status run(graphss_ctx *ctx, double *posterior, double *perturbed,
    const graphss_i_defence_input *scene, const graphss_recover_options *opt)
{
    (void)perturbed;
    const size_t n = scene->n, k = scene->k;
    const graphss_split *split = scene->split;
    const graphss_model *start =
        scene->carry && scene->carry->start ? scene->carry->start : scene->model;
    refit_state again = {.scene = scene, .start = start, .epochs = opt->paper.retrain_epochs};
    graphss_selfsup_result found = {0};
    graphss_selfsup_options how;
    graphss_selfsup_options_init_paper(&how);
    how.sweeps = opt->paper.sweeps;
    how.warmup = opt->paper.warmup;
    how.phi = opt->paper.dynamic_phi ? GRAPHSS_PHI_DYNAMIC : GRAPHSS_PHI_FIXED;

    int32_t *seen = graphss_i_alloc(ctx, n, sizeof *seen);
    double *phi = graphss_i_alloc(ctx, k * k, sizeof *phi);
    float *prob = graphss_i_copy(ctx, scene->prob, n * k, sizeof *prob);
    graphss_status st = seen && phi && prob ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    if (!st)
        st = predict_past(ctx, seen, scene);
    if (!st && start != scene->model)
        st =
            graphss_i_predict(ctx, prob, start, scene->current.graph, scene->current.features);
    if (!st)
        st = graphss_transition_warmup(
            ctx, phi, prob, split->train, split->train_label, split->n_train, n, k);
    if (!st)
        st = graphss_split_copy(ctx, &again.split, split);
    if (!st) {
        const graphss_source source = {.name = "previous",
            .label = seen,
            .phi = phi,
            .prior = {.alpha = opt->paper.prior}};
        const graphss_selfsup_input in = {.struct_size = sizeof in,
            .n = n,
            .n_classes = k,
            .prob = prob,
            .source = &source,
            .n_sources = 1,
            .refit = again.epochs ? refit : NULL,
            .refit_user = &again,
            .seed = scene->seed};
        st = graphss_selfsup_run(ctx, &found, &in, &how);
    }
    if (!st) {
        memcpy(posterior, found.posterior, n * k * sizeof *posterior);
        if (scene->carry) {
            scene->carry->left = again.model;
            again.model = NULL;
        }
    }
    graphss_selfsup_result_destroy(ctx, &found);
    graphss_split_destroy(ctx, &again.split);
    graphss_model_free(ctx, again.model);
    graphss_release(ctx, prob);
    graphss_release(ctx, phi);
    graphss_release(ctx, seen);
    return st;
}

static void adjust(graphss_recover_options *opt)
{
    opt->paper = (graphss_paper_options){
        .sweeps = 100, .warmup = 40, .retrain_epochs = 60, .prior = 1, .dynamic_phi = true};
}

static const graphss_option options[] = {
    GRAPHSS_I_COMMON_ROWS, GRAPHSS_I_ROWS_PAPER(paper), {0}};

const graphss_i_defence graphss_i_graphss_paper = {
    .name = "graphss",
    .summary = "Bayesian self-supervision as published (Zhuang and Al Hasan 2022)",
    .evasion = "the given model, trained further on inferred labels of the current snapshot",
    .options = options,
    .adjust = adjust,
    .needs_previous = true,
    .carries = true,
    .run = run,
};
