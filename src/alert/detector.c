/* detector.c - see detector.h. What is learned, and from whom: detector_fit.c; whom nodes are
 * compared with: calibration.c. */
#include "detect/state_model.h"
#include "alert/detector.h"
#include "models/unchecked.h"
#include <graphss/attack.h>
#include <graphss/evaluate.h>
#include <math.h>

enum { ROWS = 256, NOW = GRAPHSS_I_EYE_NOW, PAST = GRAPHSS_I_EYE_PAST };
static const double TIE = 0.05,
                    UNCHANGED = 30; /* taken from the odds of a node that did not change */

void graphss_i_look_destroy(graphss_ctx *ctx, graphss_i_look *x)
{
    graphss_i_glance_close(ctx, &x->now);
    graphss_i_glance_close(ctx, &x->past);
    graphss_split_destroy(ctx, &x->own);
    for (size_t v = 0; v < GRAPHSS_I_VOICES; v++) {
        graphss_release(ctx, x->voice[v].weight);
        graphss_release(ctx, x->voice[v].by_class);
    }
    void *const all[] = {x->before, x->believed, x->prob,   x->past_prob,
                         x->fit,    x->calm,     x->change, x->odds};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        graphss_release(ctx, all[i]);
    if (x->pass)
        graphss_i_forward_cache_destroy(ctx, x->pass);
    graphss_release(ctx, x->pass);
    graphss_i_standardise_close(ctx, &x->seen);
    *x = (graphss_i_look){0};
}

/* ---- the snapshots ---- */

/* The share of labels that are wrong, by EM: y is drawn from p, then with chance nu replaced
 * by another class. */
static double label_noise(const float *prob, const int32_t *node, const int32_t *label,
                          size_t n, size_t k)
{
    double noise = 0.1;
    for (int round = 0; round < 20 && n && k > 1; round++) {
        double wrong = 0;
        for (size_t i = 0; i < n; i++) {
            const double p = (double)prob[(size_t)node[i] * k + (size_t)label[i]];
            const double right = (1 - noise) * p, other = noise / (double)(k - 1) * (1 - p);
            wrong += other / (right + other + 1e-12);
        }
        noise = fmin(fmax(wrong / (double)n, 1e-3), 0.4);
    }
    return noise;
}

/* What churn of a validation node would follow: its class, drawn given its label, which may
 * be wrong, and the classifier, which may be wrong too. */
static void believe_calm(graphss_i_look *x)
{
    const graphss_split *split = x->split;
    const size_t k = x->k;
    const double noise = label_noise(x->prob, split->val, split->val_label, split->n_val, k);
    graphss_rng rng = graphss_rng_make(x->in->seed, GRAPHSS_STREAM_DEFENCE);
    for (size_t i = 0; i < split->n_val; i++) {
        const float *p = x->prob + (size_t)split->val[i] * k;
        const size_t said = (size_t)split->val_label[i];
        double total = 0;
        for (size_t c = 0; c < k; c++)
            total += (double)p[c] * (c == said ? 1 - noise : noise / (double)(k - 1));
        double left = graphss_rng_double(&rng) * total;
        size_t c = 0;
        for (; c + 1 < k; c++) {
            left -= (double)p[c] * (c == said ? 1 - noise : noise / (double)(k - 1));
            if (left < 0)
                break;
        }
        x->believed[split->val[i]] = (int32_t)c;
    }
}

static graphss_status ask_model(graphss_ctx *ctx, graphss_i_look *x)
{
    const graphss_recover_input *in = x->in;
    x->n = in->current.graph->n_nodes;
    x->k = graphss_model_classes(in->model);
    x->split = in->split ? in->split : &x->own;
    graphss_status st = GRAPHSS_OK;
    if (!in->split)
        st = graphss_match_split(ctx, &x->own, in->model, &in->current);
    if (!st)
        st = graphss_i_check_split(ctx, x->split, x->n, x->k, "current");
    if (st)
        return st;
    x->prob = graphss_i_alloc(ctx, x->n, x->k * sizeof *x->prob);
    x->believed = graphss_i_alloc(ctx, x->n, sizeof *x->believed);
    x->pass = graphss_i_calloc(ctx, 1, sizeof *x->pass);
    st = x->prob && x->believed && x->pass
             ? graphss_i_predict_first(ctx, x->prob, x->pass, in->model, in->current.graph,
                                       in->current.features)
             : GRAPHSS_ERR_NOMEM;
    if (st)
        return st;
    graphss_argmax(x->believed, x->prob, x->n, x->k);
    for (size_t i = 0; i < x->split->n_train; i++)
        x->believed[x->split->train[i]] = x->split->train_label[i];
    believe_calm(x);
    return GRAPHSS_OK;
}

static graphss_status hear(graphss_ctx *ctx, graphss_i_look *x)
{
    const graphss_features *features = x->in->current.features;
    double *share = graphss_i_alloc(ctx, x->k, sizeof *share);
    graphss_status st = share ? graphss_surrogate_from_model(ctx, &x->voice[0].weight,
                                                             x->in->model, GRAPHSS_MODE_HONEST)
                              : GRAPHSS_ERR_NOMEM;
    if (!st) {
        x->voice[1].counted = true;
        x->voice[1].weight =
            graphss_i_alloc(ctx, features->n_cols, x->k * sizeof *x->voice[1].weight);
        st = x->voice[1].weight ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    }
    if (!st)
        graphss_i_voice_count(x->voice[1].weight, share, features, x->prob, x->k);
    graphss_release(ctx, share);
    for (size_t v = 0; v < GRAPHSS_I_VOICES && !st; v++) {
        x->voice[v].by_class =
            graphss_i_alloc(ctx, features->n_cols, x->k * sizeof *x->voice[v].by_class);
        if (x->voice[v].by_class)
            graphss_i_voice_centre(&x->voice[v], features->n_cols, x->k);
        else
            st = GRAPHSS_ERR_NOMEM;
    }
    x->now = (graphss_i_glance){.graph = x->in->current.graph,
                                .features = features,
                                .prob = x->prob,
                                .n = x->n,
                                .k = x->k,
                                .voice = x->voice,
                                .tune = x->voice};
    return st ? st : graphss_i_glance_open(ctx, &x->now);
}

static graphss_i_base seen_now(const graphss_i_look *x)
{
    return (graphss_i_base){x->in->current.graph, x->in->current.features, x->prob, x->pass};
}

static graphss_status look_back(graphss_ctx *ctx, graphss_i_look *x)
{
    const graphss_observation *past = x->in->previous;
    if (!past)
        return GRAPHSS_OK;
    const size_t n = past->graph->n_nodes;
    int32_t *there = NULL; /* [n] the node now, or -1 */
    graphss_status st = graphss_i_match_past(ctx, &x->before, &there, &x->in->current, past);
    if (st)
        return st;
    x->past_prob = graphss_i_alloc(ctx, n, x->k * sizeof *x->past_prob);
    x->change = graphss_i_calloc(ctx, x->n, sizeof *x->change);
    bool moved = n != x->n;
    for (size_t i = 0; i < n; i++)
        moved = moved || there[i] != (int32_t)i;
    const graphss_i_base seen = seen_now(x);
    st = x->past_prob && x->change
             ? graphss_i_predict_again(ctx, x->past_prob, x->in->model, past->graph,
                                       past->features, &seen, moved ? there : NULL, NULL)
             : GRAPHSS_ERR_NOMEM;
    x->past = (graphss_i_glance){.graph = past->graph,
                                 .features = past->features,
                                 .prob = x->past_prob,
                                 .n = n,
                                 .k = x->k,
                                 .voice = x->voice,
                                 .heard = &x->now,
                                 .there = there};
    if (!st)
        st = graphss_i_glance_open(ctx, &x->past);
    graphss_release(ctx, there);
    return st;
}

/* ---- rehearsals ---- */

static graphss_status shuffled(graphss_ctx *ctx, int32_t **out, const int32_t *node, size_t n,
                               uint64_t seed)
{
    *out = graphss_i_copy(ctx, node, n, sizeof **out);
    if (!*out)
        return GRAPHSS_ERR_NOMEM;
    graphss_rng rng = graphss_rng_make(seed, GRAPHSS_STREAM_DEFENCE);
    graphss_rng_shuffle(&rng, *out, n);
    return GRAPHSS_OK;
}

static bool enough_to_compare(const graphss_split *split)
{
    return split->n_val >= GRAPHSS_I_CALM_LEAST;
}

bool graphss_i_look_possible(const graphss_split *split)
{
    return split->n_train >= GRAPHSS_I_FIT_LEAST &&
           (enough_to_compare(split) || split->n_train >= 2 * GRAPHSS_I_CALM_LEAST);
}

/* Training nodes are to learn from, validation nodes to compare with. Without enough of the
 * latter half of the training nodes take their place: they look calmer than others, so the
 * rate is then no more than a hint. */
static graphss_status choose_nodes(graphss_ctx *ctx, graphss_i_look *x)
{
    const graphss_split *split = x->split;
    const bool val = enough_to_compare(split);
    if (!val && split->n_train < 2 * GRAPHSS_I_CALM_LEAST)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_DATA,
            "%zu validation and %zu training node%s, want %d of the former or %d of the "
            "latter to compare with; recover --method label-propagation (or keep-last, with "
            "--previous) does without",
            split->n_val, split->n_train, split->n_train == 1 ? "" : "s",
            (int)GRAPHSS_I_CALM_LEAST, 2 * (int)GRAPHSS_I_CALM_LEAST);
    if (split->n_train < GRAPHSS_I_FIT_LEAST)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                              "%zu training node%s, want %d: one to attack, one to churn and "
                              "one to leave alone",
                              split->n_train, split->n_train == 1 ? "" : "s",
                              (int)GRAPHSS_I_FIT_LEAST);
    graphss_status st = shuffled(ctx, &x->fit, split->train, split->n_train, x->in->seed);
    x->n_fit = val ? split->n_train : split->n_train / 2;
    if (!st && val)
        st = shuffled(ctx, &x->calm, split->val, split->n_val, x->in->seed);
    else if (!st)
        st =
            shuffled(ctx, &x->calm, x->fit + x->n_fit, split->n_train - x->n_fit, x->in->seed);
    x->n_calm = val ? split->n_val : split->n_train - x->n_fit;
    return st;
}

void graphss_i_stage_close(graphss_ctx *ctx, graphss_i_stage *s)
{
    graphss_i_glance_close(ctx, &s->seen);
    graphss_graph_destroy(ctx, &s->graph);
    graphss_features_destroy(ctx, &s->features);
    graphss_release(ctx, s->prob);
}

/* wanted [n]: the rehearsed nodes, which alone are looked at, and their neighbours. */
static void mark_wanted(uint8_t *wanted, const graphss_graph *g, const int32_t *node, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        wanted[node[i]] = 1;
        for (int64_t e = g->offset[node[i]]; e < g->offset[node[i] + 1]; e++)
            wanted[g->target[e]] = 1;
    }
}

graphss_status graphss_i_stage_open(graphss_ctx *ctx, graphss_i_stage *s,
                                    const graphss_i_look *x, graphss_i_rehearsal *in)
{
    in->now = &x->now;
    in->believed = x->believed;
    in->seed = x->in->seed;
    graphss_status st = graphss_i_rehearse(ctx, &s->graph, &s->features, in);
    if (st)
        return st;
    const graphss_i_base seen = seen_now(x);
    uint8_t *wanted = graphss_i_calloc(ctx, x->n, sizeof *wanted);
    s->prob = graphss_i_alloc(ctx, x->n, x->k * sizeof *s->prob);
    if (wanted) {
        mark_wanted(wanted, &s->graph, in->victim, in->n_victims);
        mark_wanted(wanted, &s->graph, in->churned, in->n_churned);
    }
    st = s->prob && wanted ? graphss_i_predict_again(ctx, s->prob, x->in->model, &s->graph,
                                                     &s->features, &seen, NULL, wanted)
                           : GRAPHSS_ERR_NOMEM;
    s->seen = (graphss_i_glance){.graph = &s->graph,
                                 .features = &s->features,
                                 .prob = s->prob,
                                 .n = x->n,
                                 .k = x->k,
                                 .voice = x->voice,
                                 .wanted = wanted,
                                 .heard = &x->now};
    if (!st)
        st = graphss_i_glance_open(ctx, &s->seen);
    graphss_release(ctx, wanted);
    return st;
}

/* ---- scores ---- */

/* With a past it decides; how the node looks now breaks ties, of which there are many among
 * nodes that did not change. Those were not attacked: they come after all that changed, also
 * where a change is of a kind that was not rehearsed and the gate makes little of it. */
void graphss_i_look_odds(double *odds, const graphss_i_look *x,
                         const graphss_i_logistic (*gate)[GRAPHSS_I_EYES], size_t n_gates,
                         const graphss_i_glance *seen, size_t node, graphss_i_change *change)
{
    float column[GRAPHSS_I_GLANCE_MOST];
    graphss_i_glance_now(column, seen, node);
    for (size_t a = 0; a < n_gates; a++)
        odds[a] = graphss_i_logistic_odds(&gate[a][NOW], column);
    if (!x->before || x->before[node] < 0)
        return;
    graphss_i_glance_past(column, change, seen, &x->past, x->before, node);
    for (size_t a = 0; a < n_gates; a++)
        odds[a] = graphss_i_logistic_odds(&gate[a][PAST], column) + TIE * odds[a] -
                  (change->links || change->words ? 0 : UNCHANGED);
}

static double odds_of(const graphss_i_look *x, const graphss_i_glance *seen, size_t node,
                      graphss_i_change *change)
{
    double odds;
    graphss_i_look_odds(&odds, x, &x->gates.hit, 1, seen, node, change);
    return odds;
}

static void score_rows(void *arg, size_t task)
{
    graphss_i_look *x = arg;
    const size_t end = graphss_i_task_end(task, x->n, ROWS);
    for (size_t i = task * ROWS; i < end; i++) {
        graphss_i_change change = {0};
        if (i + 1 < end)
            graphss_i_glance_ahead(&x->now, i + 1);
        x->odds[i] = odds_of(x, &x->now, i, &change);
        if (x->change)
            x->change[i] = change;
    }
}

static graphss_status score(graphss_ctx *ctx, graphss_i_look *x)
{
    x->odds = graphss_i_alloc(ctx, x->n, sizeof *x->odds);
    if (!x->odds)
        return GRAPHSS_ERR_NOMEM;
    graphss_i_parallel(ctx, graphss_i_tasks(x->n, ROWS), score_rows, x);
    return GRAPHSS_OK;
}

static graphss_status learn(graphss_ctx *ctx, graphss_i_look *x)
{
    return graphss_i_gates_learn(ctx, &x->gates, x);
}

static graphss_status recall(graphss_ctx *ctx, graphss_i_look *x)
{
    return graphss_i_gates_recall(&x->gates, x->in->model) ? GRAPHSS_OK : learn(ctx, x);
}

typedef graphss_status (*step)(graphss_ctx *, graphss_i_look *);

static graphss_status take_steps(graphss_ctx *ctx, graphss_i_look *x,
                                 const graphss_recover_input *in, const step *steps, size_t n)
{
    graphss_status st = graphss_i_check_shapes(ctx, in);
    if (!st)
        st = graphss_i_standardise_open(ctx, &x->seen, in);
    x->in = &x->seen.in;
    for (size_t i = 0; i < n && !st; i++) {
        st = steps[i](ctx, x);
        if (!st)
            st = graphss_i_progress(ctx, "look", i + 1, n, NULL);
    }
    return st;
}

graphss_status graphss_i_look_at(graphss_ctx *ctx, graphss_i_look *x,
                                 const graphss_recover_input *in)
{
    static const step steps[] = {ask_model, choose_nodes, hear, look_back, recall, score};
    return take_steps(ctx, x, in, steps, sizeof steps / sizeof *steps);
}

/* Where training nodes must stand in for validation nodes nothing is learned: what an alert
 * compares with must not have taught it, and another seed draws others. */
graphss_status graphss_alert_learn(graphss_ctx *ctx, graphss_model *model,
                                   const graphss_observation *snapshot, uint64_t seed)
{
    static const step steps[] = {ask_model, choose_nodes, hear, learn};
    if (GRAPHSS_I_LACKS(ctx, {"model", model}, {"snapshot", snapshot}))
        return GRAPHSS_ERR_INVALID;
    const graphss_recover_input in = {
        .struct_size = sizeof in, .current = *snapshot, .model = model, .seed = seed};
    graphss_i_look look = {0};
    graphss_status st = graphss_i_check_input(ctx, &in);
    if (!st)
        st = graphss_i_states_train(ctx, model, &in);
    if (st)
        return st;
    if (!enough_to_compare(&model->split) || model->split.n_train < GRAPHSS_I_FIT_LEAST) {
        graphss_i_model_drop(ctx, model, GRAPHSS_I_KEPT_DETECTOR);
        return GRAPHSS_OK;
    }
    st = take_steps(ctx, &look, &in, steps, sizeof steps / sizeof *steps);
    if (!st)
        st = graphss_i_gates_keep(ctx, model, &look.gates);
    graphss_i_look_destroy(ctx, &look);
    return st;
}
