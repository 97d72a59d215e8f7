/* stage.c - see stage.h. A seed draws everything: split, noise, weights, victims, attack; in
 * paper mode the victims follow from the number of the set alone. */
#include "experiment/stage.h"

#include <graphss/benign.h>
#include <graphss/evaluate.h>
#include <string.h>

static uint64_t victim_seed(const graphss_i_job *job)
{
    if (job->mode == GRAPHSS_MODE_PAPER)
        return (uint64_t)job->set;
    return (uint64_t)job->seed + 1000003 * (uint64_t)(job->set - 1);
}

static graphss_status predict(graphss_ctx *ctx, int32_t **label, const graphss_i_stage *s)
{
    const graphss_dataset *data = &s->made.current;
    const size_t n = data->graph.n_nodes, k = graphss_model_classes(s->model);
    float *prob = graphss_i_alloc(ctx, n, k * sizeof *prob);
    *label = graphss_i_alloc(ctx, n, sizeof **label);
    graphss_status st = prob && *label ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    if (!st)
        st = graphss_model_predict(ctx, prob, s->model, &data->graph, &data->features);
    if (!st)
        graphss_argmax(*label, prob, n, k);
    graphss_release(ctx, prob);
    return st;
}

/* Nodes of groups that are not attacked change as much, as a living graph does. */
static graphss_status churn(graphss_ctx *ctx, graphss_i_stage *s, uint64_t seed)
{
    const graphss_benign_options opt = {.links = s->opt.attack.links,
                                        .features = s->opt.attack.features};
    graphss_flips flips = {0};
    graphss_status st = graphss_benign_churn(ctx, &flips, &s->made.current, s->made.churned,
                                             s->made.n_churned, seed, &opt);
    if (!st)
        st = graphss_snapshots_change(ctx, &s->made, &flips);
    graphss_flips_destroy(ctx, &flips);
    return st;
}

/* The attacker knows the truth, and trains a linear model on the labels of the split. In
 * paper mode it uses the model's own weights. */
static graphss_status assail(graphss_ctx *ctx, graphss_i_stage *s, uint64_t seed)
{
    const graphss_dataset *data = &s->made.current;
    const size_t n = data->graph.n_nodes;
    const graphss_mode mode = (graphss_mode)s->opt.attack.mode;
    float *w = NULL;
    graphss_flips flips = {0};
    int32_t *label = graphss_i_alloc(ctx, n, sizeof *label);
    graphss_status st = label ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < n && !st; i++)
        label[i] = data->label[i] >= 0 ? data->label[i] : s->before[i];
    if (!st && !strcmp(s->opt.attack.method, "nettack"))
        st = mode == GRAPHSS_MODE_PAPER
                 ? graphss_surrogate_from_model(ctx, &w, s->model, mode)
                 : graphss_surrogate_train(ctx, &w, &data->graph, &data->features,
                                           data->n_classes, &s->made.split, seed);
    const graphss_attack_input in = {.graph = &data->graph,
                                     .features = &data->features,
                                     .label = label,
                                     .n_classes = data->n_classes,
                                     .surrogate = w,
                                     .model = s->model,
                                     .victim = s->made.victim,
                                     .n_victims = s->made.n_victims,
                                     .seed = seed};
    if (!st)
        st = graphss_attack_run(ctx, &flips, NULL, &in, &s->opt.attack);
    if (!st)
        st = graphss_snapshots_change(ctx, &s->made, &flips);
    graphss_flips_destroy(ctx, &flips);
    graphss_release(ctx, label);
    graphss_release(ctx, w);
    return st;
}

/* split->test without the victims; both ascending. */
static graphss_status find_others(graphss_ctx *ctx, graphss_i_stage *s)
{
    const graphss_split *split = &s->made.split;
    s->other = graphss_i_alloc(ctx, split->n_test, sizeof *s->other);
    if (!s->other)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0, v = 0; i < split->n_test; i++) {
        while (v < s->made.n_victims && s->made.victim[v] < split->test[i])
            v++;
        if (v == s->made.n_victims || s->made.victim[v] != split->test[i])
            s->other[s->n_other++] = split->test[i];
    }
    return GRAPHSS_OK;
}

static graphss_status make_scene(graphss_ctx *ctx, graphss_i_stage *s,
                                 const graphss_i_job *job)
{
    graphss_snapshots *made = &s->made;
    const uint64_t seed = (uint64_t)job->seed, victims = victim_seed(job);
    graphss_status st =
        graphss_snapshots_plan(ctx, made, &s->data, &s->split, victims, &s->opt.snapshots);
    if (st)
        return st;
    const graphss_dataset *past = &made->previous;
    double began = graphss_i_seconds();
    st = graphss_model_train(ctx, &s->model, NULL, &past->graph, &past->features,
                             past->n_classes, &made->previous_split, seed, &s->opt.train);
    if (!st)
        st = graphss_model_describe(ctx, s->model, past);
    s->train_seconds = graphss_i_seconds() - began;
    if (!st)
        st = predict(ctx, &s->before, s);
    began = graphss_i_seconds();
    if (!st && made->n_churned)
        st = churn(ctx, s, victims);
    if (!st && made->n_victims)
        st = assail(ctx, s, victims);
    s->attack_seconds = graphss_i_seconds() - began;
    if (!st)
        st = predict(ctx, &s->attacked, s);
    return st ? st : find_others(ctx, s);
}

graphss_status graphss_i_stage_make(graphss_ctx *ctx, graphss_i_stage *out,
                                    const graphss_i_job *job, const char *const *data_dirs)
{
    graphss_i_stage s = {0};
    const graphss_read_options read = {.data_dirs = data_dirs};
    const double began = graphss_i_seconds();
    graphss_status st = graphss_i_job_options_fill(ctx, &s.opt, job);
    if (!st)
        st = graphss_dataset_read(ctx, &s.data, job->dataset, &read);
    if (!st && !s.data.label)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: has no labels", job->dataset);
    if (!st)
        st = graphss_split_make(ctx, &s.split, s.data.label, s.data.graph.n_nodes,
                                s.data.n_classes, (uint64_t)job->seed, &s.opt.split);
    if (!st && job->mode >= 0)
        st = make_scene(ctx, &s, job);
    s.prepare_seconds = graphss_i_seconds() - began;
    if (st)
        graphss_i_stage_destroy(ctx, &s);
    else
        *out = s;
    return st;
}

void graphss_i_stage_destroy(graphss_ctx *ctx, graphss_i_stage *s)
{
    graphss_release(ctx, s->other);
    graphss_release(ctx, s->attacked);
    graphss_release(ctx, s->before);
    graphss_model_free(ctx, s->model);
    graphss_snapshots_destroy(ctx, &s->made);
    graphss_split_destroy(ctx, &s->split);
    graphss_dataset_destroy(ctx, &s->data);
    *s = (graphss_i_stage){0};
}
