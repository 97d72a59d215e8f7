/* graphss_run.c - several noisy sources and a latent state per node, taught by simulated
 * attacks.
 *
 * The defender attacks labelled nodes of the current snapshot itself (graphss_views.c), learns
 * from them how evidence in each state is to be read and what nodes in it look like
 * (state_model.c), and then infers state and class of every node and the shares of the states
 * together (graphss_infer.c). Done twice: the second time neighbours vote with what the first
 * found, and those found suspicious count less. */
#include "models/unchecked.h"
#include "recover/graphss_private.h"
#include "recover/relabel_margin.h"
#include "stats/conditional_logit.h"
#include <graphss/evaluate.h>
#include <string.h>

enum { PASSES = 2 };
/* Found where nobody attacked: up to 0.016 in 28 snapshots; where a fifth of the test nodes
 * was hit at least 0.15. */
static const double FEW_HIT = 0.05;

static void inspection_release(graphss_ctx *ctx, inspection *x)
{
    for (size_t i = 0; i < GRAPHSS_I_VIEWS; i++)
        graphss_i_view_destroy(ctx, &x->view[i]);
    for (size_t g = 0; g < GROUPS; g++)
        graphss_i_suspicion_destroy(ctx, &x->suspicion[g]);
    graphss_i_witnesses_destroy(ctx, &x->witnesses);
    graphss_release(ctx, x->believed);
    graphss_release(ctx, x->chance);
    graphss_release(ctx, x->mixed);
    graphss_i_drills_destroy(ctx, &x->drills);
    graphss_release(ctx, x->fixed);
    graphss_release(ctx, x->before_prob);
    graphss_release(ctx, x->before_degree);
    graphss_release(ctx, x->before_words);
    graphss_release(ctx, x->still);
}

void graphss_i_inspection_destroy(graphss_ctx *ctx, graphss_i_inspection *x)
{
    graphss_release(ctx, x->posterior);
    graphss_release(ctx, x->state);
    *x = (graphss_i_inspection){0};
}

/* ---- preparation ---- */

/* Who did not change was not hit, whatever it looks like. */
static graphss_status stand_still(graphss_ctx *ctx, inspection *x)
{
    const graphss_i_defence_input *scene = x->scene;
    if (!scene->before)
        return GRAPHSS_OK;
    x->still = graphss_i_alloc(ctx, scene->n, sizeof *x->still);
    for (size_t i = 0; i < scene->n && x->still; i++)
        x->still[i] = graphss_i_unchanged(&scene->current, &scene->previous, scene->before, i);
    return x->still ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

static graphss_status look_back(graphss_ctx *ctx, inspection *x)
{
    const graphss_i_defence_input *scene = x->scene;
    const size_t n = scene->n, k = scene->k;
    if (!scene->before)
        return GRAPHSS_OK;
    const graphss_graph *past = scene->previous.graph;
    float *prob = graphss_i_alloc(ctx, past->n_nodes, k * sizeof *prob);
    float *words = graphss_i_alloc(ctx, past->n_nodes, sizeof *words);
    x->before_prob = graphss_i_calloc(ctx, n, k * sizeof *x->before_prob);
    x->before_degree = graphss_i_calloc(ctx, n, sizeof *x->before_degree);
    x->before_words = graphss_i_calloc(ctx, n, sizeof *x->before_words);
    graphss_status st =
        prob && words && x->before_prob && x->before_degree && x->before_words
            ? graphss_i_predict(ctx, prob, scene->model, past, scene->previous.features)
            : GRAPHSS_ERR_NOMEM;
    if (!st)
        graphss_i_count_features(words, scene->previous.features);
    for (size_t i = 0; i < n && !st; i++) {
        if (scene->before[i] < 0)
            continue;
        const size_t b = (size_t)scene->before[i];
        memcpy(x->before_prob + i * k, prob + b * k, k * sizeof *prob);
        x->before_degree[i] = (float)graphss_graph_degree(past, b);
        x->before_words[i] = words[b];
    }
    graphss_release(ctx, words);
    graphss_release(ctx, prob);
    x->lens.before = scene->before;
    x->lens.before_prob = x->before_prob;
    x->lens.before_degree = x->before_degree;
    x->lens.before_words = x->before_words;
    return st;
}

static graphss_status believe(graphss_ctx *ctx, inspection *x)
{
    const graphss_i_defence_input *scene = x->scene;
    const graphss_split *split = scene->split;
    x->believed = graphss_i_alloc(ctx, scene->n, sizeof *x->believed);
    x->fixed = graphss_i_calloc(ctx, scene->n, sizeof *x->fixed);
    if (!x->believed || !x->fixed)
        return GRAPHSS_ERR_NOMEM;
    graphss_argmax(x->believed, scene->prob, scene->n, scene->k);
    for (size_t i = 0; i < split->n_train; i++) {
        x->believed[split->train[i]] = split->train_label[i];
        x->fixed[split->train[i]] = 1;
    }
    for (size_t i = 0; i < split->n_val; i++) {
        x->believed[split->val[i]] = split->val_label[i];
        x->fixed[split->val[i]] = 1;
    }
    return GRAPHSS_OK;
}

/* ---- fitting ---- */

static graphss_status learn(graphss_ctx *ctx, graphss_i_lessons *l, const inspection *x,
                            size_t group)
{
    return graphss_i_lessons_gather(ctx, l, &x->drills, x->view, x->scene->k,
                                    group ? x->scene->before : NULL);
}

static graphss_status fit(graphss_ctx *ctx, inspection *x, size_t group)
{
    graphss_i_lessons l = {0};
    graphss_status st = learn(ctx, &l, x, group);
    graphss_i_suspicion_destroy(ctx, &x->suspicion[group]);
    x->fitted[group] = false;
    if (!st && l.n_now >= GRAPHSS_I_KNOWN_LEAST / 2 &&
        graphss_i_samples_suffice(&l.untouched, l.attacked)) {
        st = graphss_i_suspicion_fit(ctx, &x->suspicion[group], &x->view[0], x->scene->n,
                                     x->scene->k, &l.untouched, l.attacked, group == 1);
        x->fitted[group] = !st;
    }
    graphss_i_lessons_destroy(ctx, &l);
    return st;
}

/* Are there nodes to be judged by that group? That with history is fitted first. */
static bool has_nodes(const inspection *x, size_t group)
{
    if (group == 1)
        return x->scene->before != NULL;
    for (size_t i = 0; i < x->scene->n; i++)
        if (group_of(x, i) == group)
            return true;
    return false;
}

static graphss_status passes(graphss_ctx *ctx, graphss_i_inspection *out, inspection *x)
{
    graphss_status st = GRAPHSS_OK;
    for (size_t pass = 0; pass < PASSES && !st; pass++) {
        for (size_t v = 1; v < x->drills.views && pass && !st; v++)
            st = graphss_i_inspect_settle(ctx, x, &x->view[v], NULL);
        for (size_t v = 0; v < x->drills.views && !st; v++) {
            graphss_i_lens lens = x->lens;
            lens.wanted = pass + 1 == PASSES ? x->view[v].wanted : NULL; /* others are done */
            st = graphss_i_view_look(ctx, &x->view[v], &lens);
        }
        for (size_t g = GROUPS; g-- > 0 && !st;)
            if (has_nodes(x, g))
                st = fit(ctx, x, g);
        if (!st)
            st = graphss_i_inspect_infer(ctx, out, x);
    }
    return st;
}

/* The classifier keeps its say where replacing it gained nothing in simulations, and of a
 * snapshot where few nodes were hit, if any, at all that look untouched. */
static graphss_status be_careful(graphss_ctx *ctx, graphss_i_inspection *out,
                                 const inspection *x)
{
    const size_t n = x->scene->n, k = x->scene->k;
    const bool calm = 1 - out->share[0] < FEW_HIT;
    double lead[GROUPS] = {0};
    bool used[GROUPS] = {0};
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < n; i++)
        used[group_of(x, i)] = true;
    for (size_t g = 0; g < GROUPS && !st; g++) {
        graphss_i_lessons l = {0};
        if (!used[g])
            continue;
        st = learn(ctx, &l, x, g);
        if (!st)
            st = graphss_i_caution(ctx, &lead[g], &x->view[0], n, k, &l.untouched, l.attacked,
                                   x->share[g], g == 1);
        graphss_i_lessons_destroy(ctx, &l);
    }
    for (size_t i = 0; i < n && !st; i++) {
        const graphss_i_suspicion *u = &x->suspicion[group_of(x, i)];
        const size_t own = graphss_i_top(x->scene->prob + i * k, k);
        double *posterior = out->posterior + i * k;
        if (!calm || out->state[i * GRAPHSS_I_STATES] <= 0.5)
            graphss_i_caution_apply(posterior, own, lead[group_of(x, i)], k);
        else if (graphss_i_top_double(posterior, k) !=
                 own) /* and is as sure as it is right by itself */
            graphss_i_choice_row(posterior, &u->own, x->view[0].says + i * k * GRAPHSS_I_SAYS,
                                 k, 1);
    }
    return st;
}

graphss_status graphss_i_inspect(graphss_ctx *ctx, graphss_i_inspection *out,
                                 const graphss_i_defence_input *scene)
{
    const size_t n = scene->n, k = scene->k;
    inspection x = {.scene = scene, .lens = {.n = n, .k = k, .split = scene->split}};
    graphss_i_inspection result = {
        .posterior = graphss_i_alloc(ctx, n, k * sizeof *result.posterior),
        .state = graphss_i_alloc(ctx, n, GRAPHSS_I_STATES * sizeof *result.state)};
    const size_t tasks = graphss_i_tasks(n, ROWS);
    x.chance = graphss_i_alloc(ctx, tasks, k * GRAPHSS_I_ROW * sizeof *x.chance);
    x.mixed = graphss_i_alloc(ctx, tasks, k * sizeof *x.mixed);
    graphss_status st = result.posterior && result.state && x.chance && x.mixed
                            ? GRAPHSS_OK
                            : GRAPHSS_ERR_NOMEM;
    if (!st)
        st = graphss_i_drills_plan(ctx, &x.drills, scene->split, scene->seed);
    x.drills.apart = scene->before != NULL; /* without a past they hide attacks on links */
    if (!st)
        st = look_back(ctx, &x);
    if (!st)
        st = stand_still(ctx, &x);
    if (!st)
        st = believe(ctx, &x);
    if (!st)
        st = graphss_i_witnesses_train(ctx, &x.witnesses, &scene->current, scene->split, k,
                                       scene->seed, graphss_i_doubt, &x);
    x.lens.surrogate = x.witnesses.words;
    x.lens.lexicon = &x.witnesses.lexicon;
    if (!st)
        st = graphss_i_feature_strength(ctx, &x.lens.strength, scene->current.features,
                                        x.witnesses.words, k);
    if (!st)
        st = graphss_i_inspect_views(ctx, &x);
    if (!st)
        st = passes(ctx, &result, &x);
    if (!st)
        st = be_careful(ctx, &result, &x);
    const bool calm = x.calm;
    inspection_release(ctx, &x);
    if (st) {
        graphss_i_inspection_destroy(ctx, &result);
        return st;
    }
    result.calm = calm;
    *out = result;
    return GRAPHSS_OK;
}
