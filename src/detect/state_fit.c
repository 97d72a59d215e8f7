/* state_fit.c - rehearses on a clean snapshot and fits the state model. See state_model.h.
 *
 * Every round gives one row a labelled node: its evidence and anomalies in the changed
 * snapshot, its type of tampering, its label. Nodes that were not attacked are rows of
 * "untouched", including neighbours of attacked ones. */
#include "detect/reference.h"
#include "detect/state_model.h"
#include "detect/tuning.h"
#include "graph/part.h"
#include "models/model_private.h"
#include "observation/observation.h"
#include "stats/logit.h"
#include <graphss/attack.h>
#include <math.h>
#include <string.h>

graphss_status graphss_i_predict_alone(graphss_ctx *ctx, float *prob,
    const graphss_model *model, const graphss_features *features)
{
    int64_t *offset = graphss_i_calloc(ctx, features->n_rows + 1, sizeof *offset);
    if (!offset)
        return GRAPHSS_ERR_NOMEM;
    int32_t none = 0;
    const graphss_graph empty = {
        .n_nodes = features->n_rows, .offset = offset, .target = &none};
    graphss_i_part *part = graphss_i_ctx_part(ctx);
    graphss_i_ctx_set_part(ctx, NULL); /* no rank needs another for this */
    const graphss_status st = graphss_i_predict(ctx, prob, model, &empty, features);
    graphss_i_ctx_set_part(ctx, part);
    graphss_release(ctx, offset);
    return st;
}

/* A rehearsal under way. */
typedef struct rehearsing {
    const graphss_model *model;
    const graphss_graph *graph;
    const graphss_features *features;
    size_t n, k, m, rows;   /* nodes, classes, rehearsed nodes, rows so far */
    int32_t *node;          /* [m] */
    int32_t *truth;         /* [m] labels given */
    int32_t *label;         /* [n] training labels that evidence may use, or -1 */
    float *prob, *alone;    /* [n x k] of the clean snapshot */
    float *now, *now_alone; /* [n x k] of a rehearsed one */
    float *surrogate;       /* [n_cols x k] or NULL */
    graphss_i_forward_cache pass;
    graphss_i_class_model classes;
    graphss_i_evidence_base base;
    graphss_i_rehearsal_room *room;
    graphss_graph thin;    /* the clean snapshot without some of its edges */
    float *clean, *before; /* [m x k x GRAPHSS_I_ROW] evidence of the clean, the thin one */
    float *evidence;       /* [rows x k x GRAPHSS_I_ROW] */
    float *anomaly;        /* [rows x GRAPHSS_I_ANOMALIES] */
    float *change, *since; /* [rows x GRAPHSS_I_CHANGES] since the clean snapshot; since it or
                            * the thin one, for half of the rows each */
    uint8_t *state, *changed; /* [rows] */
    uint8_t *moved;           /* [rows] changed by the rows of since */
    int32_t *row_label;       /* [rows] */
} rehearsing;

static void rehearsing_close(graphss_ctx *ctx, rehearsing *x)
{
    graphss_i_rehearsal_close(ctx, x->room);
    graphss_i_evidence_base_destroy(ctx, &x->base);
    graphss_i_class_model_destroy(ctx, &x->classes);
    graphss_i_forward_cache_destroy(ctx, &x->pass);
    graphss_graph_destroy(ctx, &x->thin);
    void *const block[] = {x->node, x->truth, x->label, x->prob, x->alone, x->now,
        x->now_alone, x->clean, x->evidence, x->anomaly, x->change, x->state, x->changed,
        x->row_label, x->surrogate, x->before, x->since, x->moved};
    for (size_t i = 0; i < sizeof block / sizeof *block; i++)
        graphss_release(ctx, block[i]);
}

/* ---- preparation ---- */

/* Validation nodes, and training nodes where there are too few; of many those of the least
 * hash. Rows of many classes are wide: fewer nodes then. */
static graphss_status choose_nodes(graphss_ctx *ctx, rehearsing *x, const graphss_split *split)
{
    enum { WIDE = 60000 };
    const size_t room = WIDE / x->k,
                 most = room < TUNE_REHEARSED_MOST ? room : TUNE_REHEARSED_MOST;
    const size_t all = split->n_val + split->n_train;
    x->node = graphss_i_alloc(ctx, all, sizeof *x->node);
    x->truth = graphss_i_alloc(ctx, all, sizeof *x->truth);
    x->label = graphss_i_alloc(ctx, x->n, sizeof *x->label);
    if (!x->node || !x->truth || !x->label)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < x->n; i++)
        x->label[i] = -1;
    for (size_t i = 0; i < split->n_train; i++)
        x->label[split->train[i]] = split->train_label[i];
    const double share = (double)most / (double)(split->n_val ? split->n_val : 1);
    for (size_t i = 0; i < split->n_val && x->m < most; i++) {
        graphss_rng rng = graphss_rng_make((uint64_t)split->val[i], GRAPHSS_STREAM_DEFENCE);
        if (graphss_rng_double(&rng) >= share)
            continue;
        x->node[x->m] = split->val[i];
        x->truth[x->m++] = split->val_label[i];
    }
    for (size_t i = 0; i < split->n_train && x->m < TUNE_REHEARSED_LEAST && x->m < most; i++) {
        if (2 * i >= split->n_train) /* half of them must stay to vote */
            break;
        x->node[x->m] = split->train[i];
        x->truth[x->m++] = split->train_label[i];
        x->label[split->train[i]] = -1;
    }
    return GRAPHSS_OK;
}

static graphss_status ask_model(graphss_ctx *ctx, rehearsing *x)
{
    const size_t wide = x->k * sizeof(float);
    x->prob = graphss_i_alloc(ctx, x->n, wide);
    x->alone = graphss_i_alloc(ctx, x->n, wide);
    x->now = graphss_i_alloc(ctx, x->n, wide);
    x->now_alone = graphss_i_alloc(ctx, x->n, wide);
    if (!x->prob || !x->alone || !x->now || !x->now_alone)
        return GRAPHSS_ERR_NOMEM;
    const graphss_status st =
        graphss_i_predict_first(ctx, x->prob, &x->pass, x->model, x->graph, x->features);
    return st ? st : graphss_i_predict_alone(ctx, x->alone, x->model, x->features);
}

static graphss_status allocate_rows(graphss_ctx *ctx, rehearsing *x)
{
    const size_t rows = x->m * (1 + graphss_i_rehearsal_rounds());
    x->clean = graphss_i_alloc(ctx, x->m, x->k * GRAPHSS_I_ROW * sizeof *x->clean);
    x->before = graphss_i_alloc(ctx, x->m, x->k * GRAPHSS_I_ROW * sizeof *x->before);
    x->evidence = graphss_i_alloc(ctx, rows, x->k * GRAPHSS_I_ROW * sizeof *x->evidence);
    x->anomaly = graphss_i_alloc(ctx, rows, GRAPHSS_I_ANOMALIES * sizeof *x->anomaly);
    x->change = graphss_i_alloc(ctx, rows, GRAPHSS_I_CHANGES * sizeof *x->change);
    x->since = graphss_i_alloc(ctx, rows, GRAPHSS_I_CHANGES * sizeof *x->since);
    x->moved = graphss_i_calloc(ctx, rows, sizeof *x->moved);
    x->state = graphss_i_calloc(ctx, rows, sizeof *x->state);
    x->changed = graphss_i_calloc(ctx, rows, sizeof *x->changed);
    x->row_label = graphss_i_alloc(ctx, rows, sizeof *x->row_label);
    return x->clean && x->before && x->evidence && x->anomaly && x->change && x->since &&
                   x->moved && x->state && x->changed && x->row_label
               ? GRAPHSS_OK
               : GRAPHSS_ERR_NOMEM;
}

/* The class model learns from the beliefs of the clean snapshot, without the features of the
 * rehearsed nodes, which must look like unknown nodes. */
static graphss_status learn_classes(graphss_ctx *ctx, rehearsing *x)
{
    const size_t k = x->k;
    uint8_t *spare = graphss_i_calloc(ctx, x->n, sizeof *spare);
    if (!spare)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < x->m; i++)
        spare[x->node[i]] = 1;
    memcpy(x->now, x->prob, x->n * k * sizeof *x->now);
    for (size_t v = 0; v < x->n; v++)
        for (size_t c = 0; c < k && x->label[v] >= 0; c++)
            x->now[v * k + c] = (float)((1 - TUNE_LABEL_TRUST) / (double)k +
                                        ((int32_t)c == x->label[v] ? TUNE_LABEL_TRUST : 0));
    const graphss_status st =
        graphss_i_class_model_learn(ctx, &x->classes, x->graph, x->features, x->now, spare, k);
    graphss_release(ctx, spare);
    return st;
}

/* ---- a past that lacks edges ---- */

/* Is the edge of two nodes in the thin past? */
static bool kept(int32_t a, int32_t b)
{
    const uint64_t low = (uint64_t)(a < b ? a : b), high = (uint64_t)(a < b ? b : a);
    graphss_rng rng = graphss_rng_make((low << 32) + high, GRAPHSS_STREAM_DEFENCE);
    return graphss_rng_double(&rng) >= TUNE_HALF;
}

/* Half of the rows of a round are of nodes that grew: their past lacks edges. */
static bool grew(const rehearsing *x, size_t row)
{
    graphss_rng rng = graphss_rng_make((uint64_t)x->node[row % x->m] + 1,
        ((uint64_t)GRAPHSS_STREAM_DEFENCE << 32) + row / x->m);
    return graphss_rng_below(&rng, 2) == 1;
}

static graphss_status thin_out(graphss_ctx *ctx, rehearsing *x)
{
    const graphss_graph *g = x->graph;
    x->thin.n_nodes = x->n;
    x->thin.offset = graphss_i_calloc(ctx, x->n + 1, sizeof *x->thin.offset);
    x->thin.target = graphss_i_alloc(ctx, (size_t)g->offset[x->n], sizeof *x->thin.target);
    if (!x->thin.offset || !x->thin.target)
        return GRAPHSS_ERR_NOMEM;
    int64_t at = 0;
    for (size_t v = 0; v < x->n; v++) {
        for (int64_t e = g->offset[v]; e < g->offset[v + 1]; e++)
            if (kept((int32_t)v, g->target[e]))
                x->thin.target[at++] = g->target[e];
        x->thin.offset[v + 1] = at;
    }
    graphss_i_evidence_base base = {.graph = &x->thin,
        .features = x->features,
        .classes = &x->classes,
        .prob = x->now,
        .label = x->label,
        .n = x->n,
        .k = x->k};
    graphss_status st = graphss_i_predict(ctx, x->now, x->model, &x->thin, x->features);
    if (!st)
        st = graphss_i_evidence_base_fill(ctx, &base, x->alone, &x->base);
    if (!st)
        st = graphss_i_evidence_of(ctx, x->before, NULL, &base, x->node, x->m);
    graphss_i_evidence_base_destroy(ctx, &base);
    return st;
}

/* ---- rows ---- */

static bool differs(const graphss_i_change_counts *c)
{
    return c->edges_added + c->edges_removed + c->features_added + c->features_removed > 0;
}

static graphss_status add_rows(
    graphss_ctx *ctx, rehearsing *x, const graphss_i_evidence_base *base)
{
    const size_t at = x->rows, wide = x->k * GRAPHSS_I_ROW;
    const graphss_status st = graphss_i_evidence_of(ctx, x->evidence + at * wide,
        x->anomaly + at * GRAPHSS_I_ANOMALIES, base, x->node, x->m);
    for (size_t i = 0; i < x->m && !st; i++) {
        const size_t v = (size_t)x->node[i];
        const bool from_thin = at && grew(x, at + i);
        float *change = x->change + (at + i) * GRAPHSS_I_CHANGES;
        float *since = x->since + (at + i) * GRAPHSS_I_CHANGES;
        const float *now = x->evidence + (at + i) * wide;
        graphss_i_change_counts c = graphss_i_change_count(
            base->graph, base->features, v, x->graph, x->features, v, NULL);
        x->changed[at + i] = x->moved[at + i] = differs(&c);
        graphss_i_change_row(change, &c, now, x->clean + i * wide, x->k);
        memcpy(since, change, GRAPHSS_I_CHANGES * sizeof *since);
        if (from_thin) {
            c = graphss_i_change_count(
                base->graph, base->features, v, &x->thin, x->features, v, NULL);
            x->moved[at + i] = differs(&c);
            graphss_i_change_row(since, &c, now, x->before + i * wide, x->k);
        }
        x->row_label[at + i] = x->truth[i];
    }
    x->rows += x->m;
    return st;
}

/* The classifier without edges, of the rehearsed nodes alone; others are as they were. */
static graphss_status ask_alone(graphss_ctx *ctx, rehearsing *x, const graphss_features *now)
{
    memcpy(x->now_alone, x->alone, x->n * x->k * sizeof *x->alone);
    return graphss_i_predict_alone(ctx, x->now_alone, x->model, now);
}

static graphss_status rehearse(graphss_ctx *ctx, rehearsing *x, size_t round)
{
    graphss_graph graph = {0};
    graphss_features features = {0};
    const graphss_i_base seen = {x->graph, x->features, x->prob, &x->pass};
    graphss_status st =
        graphss_i_rehearsal_round(ctx, &graph, &features, x->state + x->rows, x->room, round);
    if (!st)
        st = graphss_i_predict_again(
            ctx, x->now, x->model, &graph, &features, &seen, NULL, NULL);
    if (!st)
        st = ask_alone(ctx, x, &features);
    graphss_i_evidence_base base = {.graph = &graph,
        .features = &features,
        .classes = &x->classes,
        .prob = x->now,
        .label = x->label,
        .n = x->n,
        .k = x->k};
    if (!st)
        st = graphss_i_evidence_base_fill(ctx, &base, x->now_alone, &x->base);
    if (!st)
        st = add_rows(ctx, x, &base);
    graphss_i_evidence_base_destroy(ctx, &base);
    graphss_graph_destroy(ctx, &graph);
    graphss_features_destroy(ctx, &features);
    return st;
}

static graphss_status collect(graphss_ctx *ctx, rehearsing *x)
{
    x->base = (graphss_i_evidence_base){.graph = x->graph,
        .features = x->features,
        .classes = &x->classes,
        .prob = x->prob,
        .label = x->label,
        .n = x->n,
        .k = x->k};
    graphss_status st = graphss_i_evidence_base_fill(ctx, &x->base, x->alone, NULL);
    if (!st)
        st = graphss_i_evidence_of(ctx, x->clean, NULL, &x->base, x->node, x->m);
    if (!st)
        st = thin_out(ctx, x);
    if (!st)
        st = add_rows(ctx, x, &x->base);
    const graphss_i_rehearsal_input in = {.graph = x->graph,
        .features = x->features,
        .classes = &x->classes,
        .prob = x->prob,
        .surrogate = x->surrogate,
        .node = x->node,
        .m = x->m,
        .seed = 1};
    if (!st)
        st = graphss_i_rehearsal_open(ctx, &x->room, &in);
    const size_t rounds = graphss_i_rehearsal_rounds();
    for (size_t round = 0; round < rounds && !st; round++) {
        st = rehearse(ctx, x, round);
        if (!st)
            st = graphss_i_progress(ctx, "rehearse", round + 1, rounds, NULL);
    }
    return st;
}

/* ---- fits ---- */

/* Rows of a node are alike, so it is nodes that count: few of them teach less. */
static double penalty_scale(const rehearsing *x)
{
    return fmax(1, (double)TUNE_REHEARSED_MOST / (double)x->m);
}

/* The reader of a state. That of untouched nodes, fitted first, finds the share of wrong
 * labels, *noise, which the others take over; its weights are not kept (fit). */
static graphss_status fit_reader(
    graphss_ctx *ctx, double *w, double *noise, const rehearsing *x, size_t state)
{
    const size_t wide = x->k * GRAPHSS_I_ROW;
    double centre[GRAPHSS_I_SOURCES] = {0};
    float *row = graphss_i_alloc(ctx, x->rows, wide * sizeof *row);
    float *weight = graphss_i_alloc(ctx, x->rows, sizeof *weight);
    int32_t *label = graphss_i_alloc(ctx, x->rows, sizeof *label);
    graphss_status st = row && weight && label ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    size_t n = 0;
    for (size_t i = 0; i < x->rows && !st; i++)
        if (x->state[i] == state) {
            memcpy(row + n * wide, x->evidence + i * wide, wide * sizeof *row);
            weight[n] = 1;
            label[n++] = x->row_label[i];
        }
    centre[SOURCE_NOW] = state == GRAPHSS_I_UNTOUCHED || !n; /* never met: the classifier */
    const graphss_i_choice fit = {.x = row,
        .n = n,
        .k = x->k,
        .f = GRAPHSS_I_SOURCES,
        .label = label,
        .weight = weight,
        .penalty = TUNE_READER_PENALTY * penalty_scale(x),
        .centre = centre,
        .noisy = true,
        .noise = *noise,
        .rising = true};
    if (!st && n)
        st = graphss_i_choice_fit(ctx, w, noise, &fit);
    else if (!st)
        memcpy(w, centre, sizeof centre);
    graphss_release(ctx, row);
    graphss_release(ctx, weight);
    graphss_release(ctx, label);
    return st;
}

static graphss_status fit(graphss_ctx *ctx, graphss_i_state_model *m, const rehearsing *x)
{
    uint8_t *use = graphss_i_alloc(ctx, x->rows, 2 * sizeof *use);
    if (!use)
        return GRAPHSS_ERR_NOMEM;
    uint8_t *hostile = use + x->rows;
    graphss_status st = GRAPHSS_OK;
    double noise = 0;
    for (size_t s = 0; s < GRAPHSS_I_STATES && !st; s++)
        st = fit_reader(ctx, m->reader[s], &noise, x, s);
    /* An untouched node keeps the classifier's answer: so a snapshot that nobody attacked
     * keeps all of them. Chosen on one split each of Cora and Citeseer: fitted weights undid
     * less of the damage there, and lost points on a clean snapshot. */
    for (size_t s = 0; s < GRAPHSS_I_SOURCES; s++)
        m->reader[GRAPHSS_I_UNTOUCHED][s] = s == SOURCE_NOW;
    for (size_t i = 0; i < x->rows; i++)
        use[i] = x->state[i] == GRAPHSS_I_UNTOUCHED;
    graphss_i_gate_measure(m->mean, m->spread, x->anomaly, use, x->rows, GRAPHSS_I_ANOMALIES,
        GRAPHSS_I_ANOMALIES);
    for (size_t i = 0; i < x->rows;
         i++) /* without a past a benign change cannot be recognised */
        use[i] = x->state[i] != GRAPHSS_I_UNTOUCHED || !x->changed[i];
    const graphss_i_gate_rows state = {.x = x->anomaly,
        .state = x->state,
        .use = use,
        .rows = x->rows,
        .wide = GRAPHSS_I_ANOMALIES,
        .columns = GRAPHSS_I_ANOMALIES,
        .states = GRAPHSS_I_STATES,
        .mean = m->mean,
        .spread = m->spread,
        .penalty = TUNE_GATE_PENALTY * penalty_scale(x)};
    if (!st)
        st = graphss_i_gate_fit(ctx, m->gate[1], &state);
    for (size_t i = 0; i < x->rows; i++) {
        use[i] = x->moved[i];
        hostile[i] = x->state[i] != GRAPHSS_I_UNTOUCHED;
    }
    graphss_i_gate_measure(m->change_mean, m->change_spread, x->since, use, x->rows,
        GRAPHSS_I_CHANGES, GRAPHSS_I_CHANGES);
    const graphss_i_gate_rows change = {.x = x->since,
        .state = hostile,
        .use = use,
        .rows = x->rows,
        .wide = GRAPHSS_I_CHANGES,
        .columns = GRAPHSS_I_CHANGES,
        .states = 2,
        .mean = m->change_mean,
        .spread = m->change_spread,
        .penalty = TUNE_GATE_PENALTY * penalty_scale(x)};
    if (!st)
        st = graphss_i_gate_fit(ctx, m->change, &change);
    graphss_release(ctx, use);
    return st;
}

/* The share of tampered nodes that EM finds without an attack: for the rehearsed nodes in the
 * clean snapshot, whose rows come first. */
static double share_of_clean(const graphss_i_state_model *m, const rehearsing *x)
{
    enum { ROUNDS = 50 };
    double share = 0.1, odds[GRAPHSS_I_STATES];
    for (size_t round = 0; round < ROUNDS; round++) {
        double hit = TUNE_PRIOR_TAMPERED, all = TUNE_PRIOR_TAMPERED + TUNE_PRIOR_UNTOUCHED;
        for (size_t i = 0; i < x->m; i++) {
            double sum = 0;
            graphss_i_state_odds(odds, m, x->anomaly + i * GRAPHSS_I_ANOMALIES);
            for (size_t s = 1; s < GRAPHSS_I_STATES; s++)
                sum += odds[s] / (GRAPHSS_I_STATES - 1);
            hit += share * sum / (share * sum + 1 - share);
            all++;
        }
        share = hit / all;
    }
    return share;
}

/* Nettack's linear model of the classifier; one that has none is rehearsed by recipes alone.
 */
static graphss_status find_surrogate(graphss_ctx *ctx, rehearsing *x)
{
    const graphss_status st =
        graphss_surrogate_from_model(ctx, &x->surrogate, x->model, GRAPHSS_MODE_DEFAULT);
    return st == GRAPHSS_ERR_SHAPE || st == GRAPHSS_ERR_INVALID ? GRAPHSS_OK : st;
}

graphss_status graphss_i_state_model_learn(graphss_ctx *ctx, graphss_i_state_model *out,
    bool *learned, const graphss_model *model, const graphss_graph *graph,
    const graphss_features *features, const graphss_split *split)
{
    graphss_i_state_model m = {0};
    rehearsing x = {.model = model,
        .graph = graph,
        .features = features,
        .n = graph->n_nodes,
        .k = graphss_model_classes(model)};
    *learned = false;
    graphss_status st = x.k > 1 ? choose_nodes(ctx, &x, split) : GRAPHSS_OK;
    if (st || x.k < 2 || x.m < TUNE_NEEDED)
        goto done;
    st = ask_model(ctx, &x);
    if (!st)
        st = find_surrogate(ctx, &x);
    if (!st)
        st = allocate_rows(ctx, &x);
    if (!st)
        st = learn_classes(ctx, &x);
    if (!st)
        st = collect(ctx, &x);
    if (!st)
        st = fit(ctx, &m, &x);
    const graphss_i_reference_rows all = {.node = x.node,
        .m = x.m,
        .rows = x.rows,
        .anomaly = x.anomaly,
        .change = x.change,
        .state = x.state,
        .changed = x.changed,
        .penalty = TUNE_GATE_PENALTY * penalty_scale(&x)};
    if (!st)
        st = graphss_i_reference_fit(ctx, &m, &all);
    if (!st) {
        m.clean_share = share_of_clean(&m, &x);
        m.rehearsed = (double)x.m;
        m.classes = x.classes;
        x.classes = (graphss_i_class_model){0};
        *out = m;
        *learned = true;
    }
done:
    rehearsing_close(ctx, &x);
    return st;
}

graphss_status graphss_i_states_train(
    graphss_ctx *ctx, graphss_model *model, const graphss_defence_input *in)
{
    graphss_i_standardised seen = {0};
    graphss_i_state_model states = {0};
    bool learned = false;
    graphss_status st = graphss_i_standardise_open(ctx, &seen, in);
    if (!st)
        st = graphss_i_state_model_learn(ctx, &states, &learned, seen.in.model,
            seen.in.current.graph, seen.in.current.features,
            in->split ? in->split : graphss_model_split(model));
    if (!st && learned)
        st = graphss_i_state_model_keep(ctx, model, &states);
    else if (!st)
        graphss_i_model_drop(ctx, model, GRAPHSS_I_KEPT_STATES);
    graphss_i_state_model_destroy(ctx, &states);
    graphss_i_standardise_close(ctx, &seen);
    return st;
}
