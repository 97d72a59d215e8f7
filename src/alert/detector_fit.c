/* detector_fit.c - see detector_fit.h.
 *
 * Training nodes are what is learned from, although the classifier knows them: gates that
 * were fitted on nodes of a snapshot at large found fewer victims, since some of those are
 * victims, and fitting on validation nodes would spend them. Only the ranks of scores among
 * validation nodes count, so a gate that is off does not spoil the false-alarm rate.
 *
 * The past of a rehearsed node is what it was before the rehearsal, whatever past the
 * snapshot has: change is learned by itself. Benign churn must not raise an alert. The gate
 * of how nodes look is made quiet in the direction in which churn moves nodes; that of change
 * is shown as many churned nodes as attacked ones, and some by links or words alone. */
#include "alert/detector.h"
#include "stats/multinomial_logit.h"
#include <math.h>
#include <string.h>

enum {
    HIT_MOST = 300,    /* nodes attacked in the rehearsal, and twice as many churned */
    PLAIN_MOST = 1500, /* nodes as they are */
    NOW = GRAPHSS_I_EYE_NOW,
    PAST = GRAPHSS_I_EYE_PAST,
    STATES = 1 + GRAPHSS_I_REHEARSED /* untouched, then each attack */
};
static const double PENALTY = 5e-3, QUIET = 0.3, CHURN_SHARE = 0.5, KIND_PENALTY = 2e-2,
                    PLAIN_PAST = 0.1; /* against the past hostile change is told from benign
                                       * change, rather than from none */
static const size_t columns[GRAPHSS_I_EYES] = {GRAPHSS_I_GLANCE_NOW, GRAPHSS_I_GLANCE_PAST};

/* Rows of the rehearsal: nodes as they are, then attacked, then churned ones. */
typedef struct rehearsed {
    size_t n, n_plain, n_hit;
    float *row[GRAPHSS_I_EYES];     /* [n x columns] */
    double *weight[GRAPHSS_I_EYES]; /* [n] */
} rehearsed;

/* ---- the rehearsal ---- */

/* One row for each eye. same [nodes]: 0, 1, 2 ... */
static void take_row(rehearsed *r, size_t at, const graphss_i_glance *seen,
                     const graphss_i_glance *past, const int32_t *same, int32_t node,
                     double weight)
{
    graphss_i_change change;
    graphss_i_glance_now(r->row[NOW] + at * columns[NOW], seen, (size_t)node);
    graphss_i_glance_past(r->row[PAST] + at * columns[PAST], &change, seen, past, same,
                          (size_t)node);
    r->weight[NOW][at] = weight;
    r->weight[PAST][at] = weight * (at < r->n_plain ? PLAIN_PAST : 1);
}

/* Links and words, and as many nodes by one of them alone: else links that change without
 * words would be hostile. How a node looks is told by the former: nodes of few links look odd
 * after churn of links, and a gate that learned it missed victims. */
static graphss_i_churning churn_of(size_t i, size_t m)
{
    graphss_i_churning each = graphss_i_rehearsal_budget(i < m ? i : i / 2);
    each.features *= i < m || i % 2;
    each.edges *= i < m || !(i % 2);
    return each;
}

static graphss_status rehearse(graphss_ctx *ctx, rehearsed *r, const graphss_i_look *x)
{
    const size_t third = x->n_fit / 3, m = third < HIT_MOST ? third : HIT_MOST;
    graphss_i_churning churn[2 * HIT_MOST];
    graphss_i_stage s = {0};
    r->n_hit = m;
    r->n_plain = x->n_fit < PLAIN_MOST ? x->n_fit : PLAIN_MOST;
    r->n = r->n_plain + 3 * m;
    int32_t *same = graphss_i_alloc(ctx, x->n, sizeof *same);
    bool good = same;
    for (size_t e = 0; e < GRAPHSS_I_EYES; e++) {
        r->row[e] = graphss_i_alloc(ctx, r->n, columns[e] * sizeof *r->row[e]);
        r->weight[e] = graphss_i_alloc(ctx, r->n, sizeof *r->weight[e]);
        good = good && r->row[e] && r->weight[e];
    }
    for (size_t i = 0; i < x->n && same; i++)
        same[i] = (int32_t)i;
    for (size_t i = 0; i < 2 * m; i++)
        churn[i] = churn_of(i, m);
    graphss_i_rehearsal in = {.victim = x->fit,
                              .n_victims = m,
                              .churned = x->fit + m,
                              .n_churned = 2 * m,
                              .churn = churn};
    const graphss_status st = good ? graphss_i_stage_open(ctx, &s, x, &in) : GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < r->n_plain && !st; i++)
        take_row(r, i, &x->now, &x->now, same, x->fit[i],
                 (1 - CHURN_SHARE) * (double)m / (double)r->n_plain);
    for (size_t i = 0; i < 3 * m && !st; i++) {
        const size_t at = r->n_plain + i;
        take_row(r, at, &s.seen, &x->now, same, x->fit[i], i < m ? 1 : CHURN_SHARE);
        r->weight[NOW][at] *= i < 2 * m;
    }
    graphss_i_stage_close(ctx, &s);
    graphss_release(ctx, same);
    return st;
}

/* ---- the gates ---- */

/* Attacked rows against all others, both sides with the same weight. */
static graphss_status fit_hit(graphss_ctx *ctx, graphss_i_logistic *gate, const rehearsed *r,
                              size_t e)
{
    const size_t m = r->n_hit;
    uint8_t *hit = graphss_i_calloc(ctx, r->n, sizeof *hit);
    size_t *pair = graphss_i_alloc(ctx, 2 * m + 1, sizeof *pair);
    double *weight = graphss_i_copy(ctx, r->weight[e], r->n, sizeof *weight);
    graphss_status st = hit && pair && weight ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    if (!st) {
        double attacked = 0, others = 0;
        for (size_t i = 0; i < m; i++) {
            hit[r->n_plain + i] = 1;
            pair[i] = m + i;
            pair[m + i] = r->n_plain + m + i;
        }
        for (size_t i = 0; i < r->n; i++)
            *(hit[i] ? &attacked : &others) += weight[i];
        for (size_t i = 0; i < r->n; i++)
            weight[i] *= hit[i] && attacked > 0 ? others / attacked : 1;
        const graphss_i_logistic_rows rows = {.x = r->row[e],
                                              .n = r->n,
                                              .columns = columns[e],
                                              .hit = hit,
                                              .weight = weight,
                                              .penalty = PENALTY,
                                              .quiet_from = pair,
                                              .quiet_to = pair + m,
                                              .n_quiet = m,
                                              .quiet = e == NOW ? QUIET : 0};
        graphss_i_logistic_measure(gate, r->row[e], r->n, columns[e]);
        st = graphss_i_logistic_fit(ctx, gate, &rows);
    }
    graphss_release(ctx, weight);
    graphss_release(ctx, pair);
    graphss_release(ctx, hit);
    return st;
}

/* Weights of each attack over those of untouched nodes, by one softmax. Every state has the
 * same weight in all, so that they tell ratios of densities. */
static graphss_status fit_kinds(graphss_ctx *ctx, graphss_i_gates *out, const rehearsed *r,
                                size_t e)
{
    const graphss_i_logistic *hit = &out->hit[e];
    const size_t f = 1 + 2 * columns[e];
    double total[STATES] = {0}, fitted[STATES * GRAPHSS_I_LOGISTIC_WIDE];
    float *wide = graphss_i_alloc(ctx, r->n, f * sizeof *wide);
    float *weight = graphss_i_alloc(ctx, r->n, sizeof *weight);
    int32_t *state = graphss_i_calloc(ctx, r->n, sizeof *state);
    graphss_status st = wide && weight && state ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < r->n && !st; i++) {
        double g[GRAPHSS_I_LOGISTIC_WIDE];
        graphss_i_logistic_widen(g, hit, r->row[e] + i * columns[e]);
        for (size_t j = 0; j < f; j++)
            wide[i * f + j] = (float)g[j];
        if (i >= r->n_plain && i < r->n_plain + r->n_hit)
            state[i] = (int32_t)(1 + graphss_i_rehearsal_kind(i - r->n_plain));
        total[state[i]] += r->weight[e][i];
    }
    for (size_t i = 0; i < r->n && !st; i++)
        weight[i] = (float)(r->weight[e][i] / fmax(total[state[i]], 1e-9));
    if (!st) {
        const graphss_i_softmax in = {.x = wide,
                                      .n = r->n,
                                      .f = f,
                                      .k = STATES,
                                      .label = state,
                                      .weight = weight,
                                      .penalty = KIND_PENALTY};
        st = graphss_i_softmax_fit(ctx, fitted, &in);
    }
    for (size_t a = 0; a < GRAPHSS_I_REHEARSED && !st; a++) {
        out->kind[a][e] = *hit;
        for (size_t j = 0; j < f; j++)
            out->kind[a][e].w[j] = fitted[(1 + a) * f + j] - fitted[j];
    }
    graphss_release(ctx, state);
    graphss_release(ctx, weight);
    graphss_release(ctx, wide);
    return st;
}

graphss_status graphss_i_gates_learn(graphss_ctx *ctx, graphss_i_gates *out,
                                     const graphss_i_look *x)
{
    rehearsed r = {0};
    graphss_status st = rehearse(ctx, &r, x);
    for (size_t e = 0; e < GRAPHSS_I_EYES && !st; e++) {
        st = fit_hit(ctx, &out->hit[e], &r, e);
        if (!st)
            st = fit_kinds(ctx, out, &r, e);
    }
    for (size_t e = 0; e < GRAPHSS_I_EYES; e++) {
        graphss_release(ctx, r.row[e]);
        graphss_release(ctx, r.weight[e]);
    }
    return st;
}

/* ---- kept with the model ---- */

/* A row for each gate: mean, spread, weights; what a gate has no columns for is 0. */
enum {
    GATES = GRAPHSS_I_EYES * (1 + GRAPHSS_I_REHEARSED),
    SPREAD_AT = GRAPHSS_I_LOGISTIC_COLUMNS,
    WEIGHTS_AT = 2 * GRAPHSS_I_LOGISTIC_COLUMNS,
    WIDTH = WEIGHTS_AT + GRAPHSS_I_LOGISTIC_WIDE
};

/* Those of all attacks first; the eyes alternate. */
static graphss_i_logistic *gate_of(graphss_i_gates *gates, size_t i)
{
    const size_t kind = i / GRAPHSS_I_EYES, e = i % GRAPHSS_I_EYES;
    return kind ? &gates->kind[kind - 1][e] : &gates->hit[e];
}

graphss_status graphss_i_gates_keep(graphss_ctx *ctx, graphss_model *model,
                                    const graphss_i_gates *gates)
{
    double row[GATES * WIDTH];
    graphss_i_gates copy = *gates;
    for (size_t i = 0; i < GATES; i++) {
        const graphss_i_logistic *gate = gate_of(&copy, i);
        memcpy(row + i * WIDTH, gate->mean, sizeof gate->mean);
        memcpy(row + i * WIDTH + SPREAD_AT, gate->spread, sizeof gate->spread);
        memcpy(row + i * WIDTH + WEIGHTS_AT, gate->w, sizeof gate->w);
    }
    return graphss_i_model_keep(ctx, model, GRAPHSS_I_KEPT_DETECTOR, row, GATES, WIDTH);
}

bool graphss_i_gates_recall(graphss_i_gates *out, const graphss_model *model)
{
    const graphss_i_model_kept *kept = &model->kept[GRAPHSS_I_KEPT_DETECTOR];
    if (kept->rows != GATES || kept->cols != WIDTH)
        return false;
    for (size_t i = 0; i < GATES; i++) {
        const double *row = kept->value + i * WIDTH;
        graphss_i_logistic *gate = gate_of(out, i);
        gate->columns = columns[i % GRAPHSS_I_EYES];
        memcpy(gate->mean, row, sizeof gate->mean);
        memcpy(gate->spread, row + SPREAD_AT, sizeof gate->spread);
        memcpy(gate->w, row + WEIGHTS_AT, sizeof gate->w);
        for (size_t j = 0; j < gate->columns; j++)
            if (!(gate->spread[j] > 0))
                return false;
    }
    return true;
}
