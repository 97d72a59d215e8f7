/* predictor.c - answers from a function of the caller, or from a table of answers, in place of
 * those of a model's own weights.
 *
 * Every prediction goes through graphss_i_predict and its two variants, which come here for a
 * model that has a predictor. So everything that takes a model takes a predictor. */
#include "graph/rows.h"
#include "models/model_private.h"
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static const double AGREEMENT_LEAST = 0.9; /* below it a warning */
/* share of the nodes for the fit; the rest is held out */
static const double FIT_TRAIN = 0.8;
/* allowed deviation of a row sum from 1: float answers, summed in float */
static const double SUM_OFF = 1e-3;
static const float SAME_TWICE = 1e-4F; /* answers of two calls, apart by threads' rounding */

enum { WHY = 256 };

/* A snapshot whose answers are known, and those of the weights. */
typedef struct known {
    graphss_answers told;
    float *own; /* [n x k] */
} known;

struct graphss_i_predictor {
    graphss_predictor call; /* probabilities NULL: by table, or not set yet */
    known *table;
    size_t n_table;
    double agreement, sharpness; /* factor of the logarithms of our own answers */
    atomic_size_t calls, some;
    pthread_mutex_t lock;
    const graphss_i_scaling *home; /* of the model; a shallow copy of it may have another, */
    float *constant;               /* [d] and its features none of columns without spread */
};

graphss_status graphss_i_predictor_new(
    graphss_ctx *ctx, graphss_model *model, double agreement)
{
    graphss_i_predictor *p = graphss_i_calloc(ctx, 1, sizeof *p);
    if (!p)
        return GRAPHSS_ERR_NOMEM;
    pthread_mutex_init(&p->lock, NULL);
    p->agreement = agreement;
    p->home = &model->scaling;
    model->predictor = p;
    return GRAPHSS_OK;
}

static void let_go(graphss_i_predictor *p)
{
    if (p->call.release)
        p->call.release(p->call.user);
    p->call = (graphss_predictor){0};
}

void graphss_i_predictor_free(graphss_ctx *ctx, graphss_i_predictor *p)
{
    if (!p)
        return;
    let_go(p);
    pthread_mutex_destroy(&p->lock);
    for (size_t i = 0; i < p->n_table; i++)
        graphss_release(ctx, p->table[i].own);
    graphss_release(ctx, p->table);
    graphss_release(ctx, p->constant);
    graphss_release(ctx, p);
}

double graphss_i_predictor_agreement(const graphss_i_predictor *p)
{
    return p->agreement;
}

bool graphss_model_predictor_use(graphss_predictor_use *use, const graphss_model *model)
{
    const graphss_i_predictor *p = model ? model->predictor : NULL;
    graphss_predictor_use found = {0};
    if (p)
        found = (graphss_predictor_use){
            atomic_load(&p->calls), atomic_load(&p->some), p->agreement, p->n_table > 0};
    if (use)
        *use = found;
    return p != NULL;
}

/* ---- answers ---- */

/* Rows of prob that are no probabilities are refused by name; node: their numbers, or NULL. */
static graphss_status check_rows(
    graphss_ctx *ctx, const float *prob, const int32_t *node, size_t n, size_t k)
{
    for (size_t i = 0; i < n; i++) {
        const size_t who = node ? (size_t)node[i] : i;
        double sum = 0;
        for (size_t c = 0; c < k; c++) {
            const double p = prob[i * k + c];
            if (!(p >= 0) || isinf(p))
                return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                    "the predictor answers %g for class %zu of node %zu, want a probability "
                    "(of logits, take the softmax first)",
                    p, c, who);
            sum += p;
        }
        if (fabs(sum - 1) > SUM_OFF)
            return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "the predictor's probabilities of node %zu sum to %g, want "
                "1",
                who, sum);
    }
    return GRAPHSS_OK;
}

static graphss_status told_why(graphss_ctx *ctx, graphss_status st, const char *why)
{
    if (st && st != GRAPHSS_ERR_CANCELLED)
        return graphss_i_fail(ctx, st, "the predictor failed%s%s", *why ? ": " : "", why);
    return st ? graphss_i_fail(ctx, st, "cancelled") : st;
}

/* node NULL: all */
static graphss_status call(graphss_ctx *ctx, float *prob, const graphss_model *model,
    const int32_t *node, size_t n, const graphss_graph *graph,
    const graphss_features *features)
{
    graphss_i_predictor *p = model->predictor;
    char why[WHY] = "";
    graphss_status st;
    pthread_mutex_lock(&p->lock);
    if (node) {
        st = p->call.some(p->call.user, prob, node, n, graph, features, why, sizeof why);
        atomic_fetch_add(&p->some, 1);
    } else {
        st = p->call.probabilities(p->call.user, prob, graph, features, why, sizeof why);
        atomic_fetch_add(&p->calls, 1);
    }
    pthread_mutex_unlock(&p->lock);
    why[sizeof why - 1] = 0;
    return st ? told_why(ctx, st, why) : check_rows(ctx, prob, node, n, model->n_classes);
}

/* ---- features in their own units ---- */

/* Defences see the columns as the classifier does and ask a shallow copy of the model, whose
 * scaling says what is left to do (observation/standardise.c). A predictor wants the columns
 * as they came: x_c = v_c / gain_c + mean_c, without the mean where it is left to be
 * subtracted. */
static graphss_status in_own_units(graphss_ctx *ctx, graphss_features *room,
    const graphss_features **out, const graphss_model *model, const graphss_features *features)
{
    const graphss_i_predictor *p = model->predictor;
    const graphss_i_scaling *home = p->home, *left = &model->scaling;
    const size_t d = features->n_cols;
    *out = features;
    if (!home->mean || left->mean == home->mean)
        return GRAPHSS_OK;
    room->value = graphss_i_alloc(ctx, features->n_rows, d * sizeof *room->value);
    if (!room->value)
        return GRAPHSS_ERR_NOMEM;
    room->n_rows = features->n_rows;
    room->n_cols = d;
    room->kind = GRAPHSS_FEATURES_REAL;
    for (size_t i = 0; i < features->n_rows; i++) {
        const graphss_i_row r = graphss_i_row_of(features, i);
        size_t at = 0;
        for (size_t c = 0; c < d; c++) {
            const double v = graphss_i_row_value(r, &at, c), mean = home->mean[c];
            room->value[i * d + c] =
                home->gain[c] > 0
                    ? (float)(v / home->gain[c] + (left->mean[c] != 0 ? 0 : mean))
                    : p->constant[c];
        }
    }
    *out = room;
    return GRAPHSS_OK;
}

/* What columns without spread hold, in a snapshot that has them. */
static graphss_status learn_constants(
    graphss_ctx *ctx, graphss_i_predictor *p, const graphss_features *features)
{
    const graphss_i_row r = graphss_i_row_of(features, 0);
    size_t at = 0;
    p->constant = graphss_i_calloc(ctx, features->n_cols, sizeof *p->constant);
    for (size_t c = 0; c < features->n_cols && p->constant; c++)
        p->constant[c] = graphss_i_row_value(r, &at, c);
    return p->constant ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

/* ---- links in both directions ---- */

/* Defences also predict with neighbours of their choice, which need not be mutual. A predictor
 * is promised an undirected graph, so it gets the union of both directions. */
static graphss_status both_ways(graphss_ctx *ctx, graphss_graph *room,
    const graphss_graph **out, const graphss_graph *graph)
{
    const size_t n = graph->n_nodes, m = (size_t)graph->offset[n];
    bool same = true;
    *out = graph;
    for (size_t i = 0; i < n && same; i++)
        for (int64_t e = graph->offset[i]; e < graph->offset[i + 1] && same; e++)
            same = graphss_graph_has_edge(graph, graph->target[e], (int32_t)i);
    if (same)
        return GRAPHSS_OK;
    int32_t *from = graphss_i_alloc(ctx, m, sizeof *from);
    if (!from)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        for (int64_t e = graph->offset[i]; e < graph->offset[i + 1]; e++)
            from[e] = (int32_t)i;
    const graphss_status st = graphss_graph_build(ctx, room, NULL, n, from, graph->target, m);
    graphss_release(ctx, from);
    *out = room;
    return st;
}

/* ---- from a table ---- */

static bool same_edges(const graphss_graph *a, const graphss_graph *b, size_t i)
{
    const size_t n = graphss_graph_degree(a, i);
    return n == graphss_graph_degree(b, i) &&
           (n == 0 || !memcmp(a->target + a->offset[i], b->target + b->offset[i],
                          n * sizeof *a->target));
}

/* Equal up to the rounding of in_own_units. */
static bool same_values(graphss_i_row a, graphss_i_row b, size_t d)
{
    static const double rounding = 1e-5;
    if (graphss_i_row_same(a, b))
        return true;
    size_t at = 0, there = 0;
    for (size_t c = 0; c < d; c++) {
        const double x = graphss_i_row_value(a, &at, c);
        const double y = graphss_i_row_value(b, &there, c);
        if (fabs(x - y) > rounding * (1 + fabs(x) + fabs(y)))
            return false;
    }
    return true;
}

/* mark [n]: nodes with other edges or features than the known snapshot; how many */
static size_t mark_changed(uint8_t *mark, const known *q, const graphss_graph *graph,
    const graphss_features *features)
{
    size_t changed = 0;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        mark[i] = !same_edges(graph, q->told.graph, i) ||
                  !same_values(graphss_i_row_of(features, i),
                      graphss_i_row_of(q->told.features, i), features->n_cols);
        changed += mark[i];
    }
    return changed;
}

/* The known snapshot of as many nodes with the fewest that differ; NULL: none. */
static const known *nearest(uint8_t *mark, const graphss_i_predictor *p,
    const graphss_graph *graph, const graphss_features *features)
{
    const known *best = NULL;
    size_t fewest = SIZE_MAX;
    for (size_t i = 0; i < p->n_table; i++) {
        if (p->table[i].told.graph->n_nodes != graph->n_nodes)
            continue;
        const size_t changed = mark_changed(mark, &p->table[i], graph, features);
        if (changed < fewest) {
            fewest = changed;
            best = &p->table[i];
        }
    }
    if (best)
        mark_changed(mark, best, graph, features);
    return best;
}

/* Marks the nodes within this many steps of the marked ones. room [n]: scratch. */
static void spread(uint8_t *mark, uint8_t *room, const graphss_graph *graph, size_t steps)
{
    for (size_t s = 0; s < steps; s++) {
        memcpy(room, mark, graph->n_nodes);
        for (size_t i = 0; i < graph->n_nodes; i++)
            for (int64_t e = graph->offset[i]; e < graph->offset[i + 1] && room[i]; e++)
                mark[graph->target[e]] = 1;
    }
}

static const double LEAST_P = 1e-6; /* of a class, before its logarithm */

/* p_c = t_c (now_c / then_c)^g, normalised: the known answer, moved as our own answer moved,
 * with sharpness g */
static void move_row(
    float *p, const float *told, const float *now, const float *then, size_t k, double g)
{
    double sum = 0;
    for (size_t c = 0; c < k; c++) {
        const double moved = ((double)now[c] + LEAST_P) / ((double)then[c] + LEAST_P);
        p[c] = (float)(((double)told[c] + LEAST_P) * pow(moved, g));
        sum += p[c];
    }
    for (size_t c = 0; c < k; c++)
        p[c] = (float)(p[c] / sum);
}

/* -sum of told_c log q_c over listed nodes, q_c = own_c^g divided by its sum */
static double cross_entropy(
    const float *told, const float *own, size_t k, const int32_t *node, size_t n, double g)
{
    double loss = 0;
    for (size_t j = 0; j < n; j++) {
        const float *t = told + (size_t)node[j] * k, *o = own + (size_t)node[j] * k;
        double sum = 0, spoken = 0;
        for (size_t c = 0; c < k; c++) {
            const double z = g * log((double)o[c] + LEAST_P);
            sum += exp(z);
            spoken += (double)t[c] * z;
        }
        loss += log(sum) - spoken;
    }
    return loss;
}

/* The sharpness g with which own is nearest to told on these nodes. The loss is convex in g,
 * so a golden-section search over log g finds the minimum. 1 without nodes. */
static double sharpness_of(
    const float *told, const float *own, size_t k, const int32_t *node, size_t n)
{
    static const double golden = 0.6180339887498949;
    double low = log(0.05), high = log(20.0);
    for (int i = 0; i < 24 && n; i++) {
        const double a = high - golden * (high - low), b = low + golden * (high - low);
        if (cross_entropy(told, own, k, node, n, exp(a)) <
            cross_entropy(told, own, k, node, n, exp(b)))
            high = b;
        else
            low = a;
    }
    return n ? exp((low + high) / 2) : 1;
}

/* features as the model sees them, raw as the table has them */
static graphss_status by_table(graphss_ctx *ctx, float *prob, const graphss_model *model,
    const graphss_graph *graph, const graphss_features *features, const graphss_features *raw)
{
    const graphss_i_predictor *p = model->predictor;
    const size_t n = graph->n_nodes, k = model->n_classes;
    const size_t steps = (size_t)model->opt.layers + (size_t)model->opt.hops;
    graphss_status st = GRAPHSS_OK;
    uint8_t *mark = graphss_i_calloc(ctx, n, 2);
    float *now = NULL;
    if (!mark)
        return GRAPHSS_ERR_NOMEM;
    const known *q = nearest(mark, p, graph, raw);
    if (q && !memchr(mark, 1, n)) {
        memcpy(prob, q->told.prob, n * k * sizeof *prob);
        goto done;
    }
    now = graphss_i_alloc(ctx, n, k * sizeof *now);
    st = now ? graphss_i_predict_by_weights(ctx, now, model, graph, features)
             : GRAPHSS_ERR_NOMEM;
    if (st)
        goto done;
    spread(mark, mark + n, graph, steps);
    for (size_t i = 0; i < n; i++) {
        const float *told = q ? q->told.prob + i * k : now + i * k;
        if (q && mark[i])
            move_row(prob + i * k, told, now + i * k, q->own + i * k, k, p->sharpness);
        else
            memcpy(prob + i * k, told, k * sizeof *prob);
    }
done:
    graphss_release(ctx, now);
    graphss_release(ctx, mark);
    return st;
}

/* ---- answering ---- */

static graphss_status check_given(graphss_ctx *ctx, const graphss_model *model)
{
    const graphss_i_predictor *p = model->predictor;
    if (p->call.probabilities || p->n_table)
        return GRAPHSS_OK;
    return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
        "the model stands for a predictor, which is not here: give it "
        "(--predictor COMMAND, or graphss_model_set_predictor)");
}

graphss_status graphss_i_predictor_ask(graphss_ctx *ctx, float *prob,
    const graphss_model *model, const graphss_graph *graph, const graphss_features *features)
{
    const graphss_i_predictor *p = model->predictor;
    graphss_features room = {0};
    graphss_graph both = {0};
    const graphss_features *raw = features;
    const graphss_graph *links = graph;
    graphss_status st = check_given(ctx, model);
    if (!st)
        st = in_own_units(ctx, &room, &raw, model, features);
    if (!st && !p->n_table)
        st = both_ways(ctx, &both, &links, graph);
    if (!st)
        st = p->n_table ? by_table(ctx, prob, model, graph, features, raw)
                        : call(ctx, prob, model, NULL, graph->n_nodes, links, raw);
    graphss_graph_destroy(ctx, &both);
    graphss_features_destroy(ctx, &room);
    return st;
}

/* The nodes whose answers may differ from before, and are wanted. */
static size_t list_asked(int32_t *node, uint8_t *mark, uint8_t *room,
    const graphss_predictor *p, const graphss_graph *graph, const graphss_features *features,
    const graphss_i_base *base, const uint8_t *wanted)
{
    size_t n = 0;
    for (size_t i = 0; i < graph->n_nodes; i++)
        mark[i] = p->hops == 0 || !same_edges(graph, base->graph, i) ||
                  !graphss_i_row_same(
                      graphss_i_row_of(features, i), graphss_i_row_of(base->features, i));
    spread(mark, room, graph, p->hops);
    for (size_t i = 0; i < graph->n_nodes; i++)
        if (mark[i] && (!wanted || wanted[i]))
            node[n++] = (int32_t)i;
    return n;
}

graphss_status graphss_i_predictor_again(graphss_ctx *ctx, float *prob,
    const graphss_model *model, const graphss_graph *graph, const graphss_features *features,
    const graphss_i_base *base, const int32_t *there, const uint8_t *wanted)
{
    const graphss_predictor *p = &model->predictor->call;
    const size_t n = graph->n_nodes, k = model->n_classes;
    graphss_features room = {0};
    const graphss_features *raw = features;
    if (!p->some || there || n != base->graph->n_nodes || (p->hops == 0 && !wanted))
        return graphss_i_predictor_ask(ctx, prob, model, graph, features);
    uint8_t *mark = graphss_i_alloc(ctx, n, 2);
    int32_t *node = graphss_i_alloc(ctx, n, sizeof *node);
    float *answer = NULL;
    graphss_status st = mark && node ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    size_t asked = 0;
    if (!st) {
        asked = list_asked(node, mark, mark + n, p, graph, features, base, wanted);
        answer = graphss_i_alloc(ctx, asked, k * sizeof *answer);
        st = answer ? in_own_units(ctx, &room, &raw, model, features) : GRAPHSS_ERR_NOMEM;
    }
    if (!st && asked)
        st = call(ctx, answer, model, node, asked, graph, raw);
    if (!st) {
        memcpy(prob, base->prob, n * k * sizeof *prob);
        for (size_t j = 0; j < asked; j++)
            memcpy(prob + (size_t)node[j] * k, answer + j * k, k * sizeof *prob);
    }
    graphss_features_destroy(ctx, &room);
    graphss_release(ctx, answer);
    graphss_release(ctx, node);
    graphss_release(ctx, mark);
    return st;
}

/* ---- being made ---- */

/* Share of the n nodes, node NULL: the first n, with the same most likely class in both. */
static double agreement_of(
    const float *a, const float *b, size_t k, const int32_t *node, size_t n)
{
    size_t same = 0;
    for (size_t j = 0; j < n; j++) {
        const size_t i = node ? (size_t)node[j] : j;
        same += graphss_i_top(a + i * k, k) == graphss_i_top(b + i * k, k);
    }
    return n ? (double)same / (double)n : NAN;
}

/* Fits a classifier of ours to prob; own [n x k] gets its answers, sharpness its factor, and
 * agreement is measured on held-out nodes; or NULL. */
static graphss_status fit_to(graphss_ctx *ctx, graphss_model **out, double *agreement,
    double *sharpness, float *own, const float *prob, const graphss_train_input *in,
    const graphss_train_options *opt)
{
    const size_t n = in->graph->n_nodes, k = in->n_classes;
    graphss_train_input to = *in;
    graphss_split_options how;
    graphss_split_options_init(&how);
    graphss_split fit = {0}, drawn = {0};
    graphss_model *model = NULL;
    int32_t *label = graphss_i_alloc(ctx, n, sizeof *label);
    graphss_status st = label ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    if (!st)
        for (size_t i = 0; i < n; i++)
            label[i] = (int32_t)graphss_i_top(prob + i * k, k);
    how.noise = 0;
    if (!st && !in->split)
        st = graphss_split_make(ctx, &drawn, label, n, k, in->seed, &how);
    how.train = FIT_TRAIN;
    how.val = 1 - FIT_TRAIN;
    if (!st)
        st = graphss_split_make(ctx, &fit, label, n, k, in->seed, &how);
    to.split = &fit;
    if (!st)
        st = graphss_i_train_checked(ctx, &model, NULL, &to, opt);
    if (!st)
        st = graphss_i_predict_by_weights(ctx, own, model, in->graph, in->features);
    if (!st) {
        *agreement = agreement_of(prob, own, k, fit.val, fit.n_val);
        if (sharpness)
            *sharpness = sharpness_of(prob, own, k, fit.val, fit.n_val);
        graphss_split_destroy(ctx, &model->split);
        st = graphss_split_copy(ctx, &model->split, in->split ? in->split : &drawn);
    }
    graphss_release(ctx, label);
    graphss_split_destroy(ctx, &fit);
    graphss_split_destroy(ctx, &drawn);
    if (st)
        graphss_model_free(ctx, model);
    else
        *out = model;
    return st;
}

static void warn_of(graphss_ctx *ctx, double agreement)
{
    if (agreement < AGREEMENT_LEAST)
        graphss_i_log(ctx, GRAPHSS_LOG_WARN,
            "the classifier that was fitted to the predictor agrees with it on "
            "%.1f %% of the nodes: below %.0f %% the alert may miss more (its "
            "false-alarm rate holds)",
            100 * agreement, 100 * AGREEMENT_LEAST);
}

static graphss_status check_predictor(graphss_ctx *ctx, const graphss_predictor *p)
{
    if (p->struct_size != sizeof *p)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "the predictor's struct_size is %zu, want %zu", p->struct_size, sizeof *p);
    if (!p->probabilities)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "the predictor has no function for probabilities");
    return GRAPHSS_OK;
}

/* prob [n x k]: the answers, which must be the same when asked twice. */
static graphss_status ask_twice(graphss_ctx *ctx, float *prob, float *room,
    const graphss_predictor *p, const graphss_graph *graph, const graphss_features *features,
    size_t k)
{
    const size_t n = graph->n_nodes;
    for (int time = 0; time < 2; time++) {
        char why[WHY] = "";
        float *to = time ? room : prob;
        graphss_status st = p->probabilities(p->user, to, graph, features, why, sizeof why);
        why[sizeof why - 1] = 0;
        st = st ? told_why(ctx, st, why) : check_rows(ctx, to, NULL, n, k);
        if (st)
            return st;
    }
    for (size_t i = 0; i < n * k; i++)
        if (fabsf(prob[i] - room[i]) > SAME_TWICE)
            return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "asked twice about one snapshot, the predictor answers %g and then %g for "
                "class %zu of node %zu: is dropout still on (model.eval())?",
                (double)prob[i], (double)room[i], i % k, i / k);
    return GRAPHSS_OK;
}

static graphss_status check_snapshot_of(graphss_ctx *ctx, const graphss_graph *graph,
    const graphss_features *features, size_t n_classes)
{
    if (graph->n_nodes == 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "the graph has no nodes");
    if (features->n_rows != graph->n_nodes)
        return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE, "features of %zu nodes, graph of %zu",
            features->n_rows, graph->n_nodes);
    if (n_classes < 2)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%zu class%s: a classifier needs at least two", n_classes,
            n_classes == 1 ? "" : "es");
    const graphss_status st = graphss_graph_check(ctx, graph);
    return st ? st : graphss_features_check(ctx, features);
}

graphss_status graphss_model_from_predictor(graphss_ctx *ctx, graphss_model **out,
    const graphss_predictor *predictor, const graphss_train_input *given,
    const graphss_train_options *opt)
{
    if (GRAPHSS_I_LACKS(ctx, {"predictor", predictor}, {"input", given}))
        return GRAPHSS_ERR_INVALID;
    graphss_train_input in = {0};
    graphss_status st = GRAPHSS_I_TAKE(ctx, graphss_train_input, &in, given);
    if (!st && GRAPHSS_I_LACKS(ctx, {"graph", in.graph}, {"features", in.features},
                   {"place for the model", out}))
        return GRAPHSS_ERR_INVALID;
    if (!st)
        st = check_predictor(ctx, predictor);
    if (!st)
        st = check_snapshot_of(ctx, in.graph, in.features, in.n_classes);
    if (st)
        return st;
    const size_t n = in.graph->n_nodes, n_classes = in.n_classes;
    graphss_model *model = NULL;
    double agreement = NAN;
    float *prob = graphss_i_alloc(ctx, n, n_classes * sizeof *prob);
    float *own = graphss_i_alloc(ctx, n, n_classes * sizeof *own);
    st = prob && own ? ask_twice(ctx, prob, own, predictor, in.graph, in.features, n_classes)
                     : GRAPHSS_ERR_NOMEM;
    if (!st)
        st = fit_to(ctx, &model, &agreement, NULL, own, prob, &in, opt);
    if (!st)
        st = graphss_i_predictor_new(ctx, model, agreement);
    if (!st)
        st = learn_constants(ctx, model->predictor, in.features);
    graphss_release(ctx, own);
    graphss_release(ctx, prob);
    if (st) {
        graphss_model_free(ctx, model);
        return st;
    }
    model->predictor->call = *predictor;
    model->predictor->calls = 2;
    warn_of(ctx, agreement);
    *out = model;
    return GRAPHSS_OK;
}

graphss_status graphss_model_set_predictor(
    graphss_ctx *ctx, graphss_model *model, const graphss_predictor *predictor)
{
    if (GRAPHSS_I_LACKS(ctx, {"model", model}, {"predictor", predictor}))
        return GRAPHSS_ERR_INVALID;
    graphss_status st = check_predictor(ctx, predictor);
    if (!st && !model->predictor)
        st = graphss_i_predictor_new(ctx, model, NAN);
    if (!st && !model->predictor->constant) {
        model->predictor->constant =
            graphss_i_calloc(ctx, model->n_features, sizeof *model->predictor->constant);
        st = model->predictor->constant ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    }
    if (st)
        return st;
    let_go(model->predictor);
    model->predictor->call = *predictor;
    model->predictor->calls = model->predictor->some = 0;
    return GRAPHSS_OK;
}

graphss_status graphss_model_from_answers(graphss_ctx *ctx, graphss_model **out,
    const graphss_answers *table, size_t n, size_t n_classes, const graphss_split *split,
    uint64_t seed, const graphss_train_options *opt)
{
    if (GRAPHSS_I_LACKS(ctx, {"answers", table}, {"place for the model", out}))
        return GRAPHSS_ERR_INVALID;
    graphss_model *model = NULL;
    graphss_status st = n ? GRAPHSS_OK
                          : graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                                "answers on no snapshot, want at least one");
    for (size_t i = 0; i < n && !st; i++) {
        const graphss_answers *a = &table[i];
        if (GRAPHSS_I_LACKS(ctx, {"graph", a->graph}, {"features", a->features},
                {"probabilities", a->prob}))
            return GRAPHSS_ERR_INVALID;
        st = check_snapshot_of(ctx, a->graph, a->features, n_classes);
        if (!st)
            st = check_rows(ctx, a->prob, NULL, a->graph->n_nodes, n_classes);
        if (!st && a->features->n_cols != table[0].features->n_cols)
            st = graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
                "snapshot %zu has %zu features, the first %zu", i, a->features->n_cols,
                table[0].features->n_cols);
    }
    if (st)
        return st;
    double agreement = NAN, sharpness = 1;
    known *list = graphss_i_calloc(ctx, n, sizeof *list);
    st = list ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < n && !st; i++) {
        const graphss_answers a = list[i].told = table[i];
        list[i].own = graphss_i_alloc(ctx, a.graph->n_nodes, n_classes * sizeof(float));
        if (!list[i].own)
            st = GRAPHSS_ERR_NOMEM;
        else if (i == 0)
            st = fit_to(ctx, &model, &agreement, &sharpness, list[i].own, a.prob,
                &(graphss_train_input){
                    sizeof(graphss_train_input), a.graph, a.features, n_classes, split, seed},
                opt);
        else
            st = graphss_i_predict_by_weights(ctx, list[i].own, model, a.graph, a.features);
    }
    if (!st)
        st = graphss_i_predictor_new(ctx, model, agreement);
    if (!st)
        st = learn_constants(ctx, model->predictor, table[0].features);
    if (st) {
        for (size_t i = 0; list && i < n; i++)
            graphss_release(ctx, list[i].own);
        graphss_release(ctx, list);
        graphss_model_free(ctx, model);
        return st;
    }
    model->predictor->sharpness = sharpness;
    model->predictor->table = list;
    model->predictor->n_table = n;
    warn_of(ctx, agreement);
    *out = model;
    return GRAPHSS_OK;
}
