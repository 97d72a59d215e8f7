/* reference.c - see reference.h. */
#include "detect/reference.h"
#include "detect/tuning.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { Q = GRAPHSS_I_QUANTILES };

size_t graphss_i_half_of(int32_t number)
{
    return ((uint32_t)number * 2654435761u) >> 31; /* Knuth's multiplicative hash */
}

double graphss_i_score_static(
    const graphss_i_state_model *m, size_t half, const float *anomaly)
{
    double value[GRAPHSS_I_STATES], most = -INFINITY, sum = 0;
    for (size_t s = 1; s < GRAPHSS_I_STATES; s++) {
        value[s] = graphss_i_gate_value(
            m->half_gate[half][s], m->mean, m->spread, anomaly, GRAPHSS_I_ANOMALIES);
        most = fmax(most, value[s]);
    }
    for (size_t s = 1; s < GRAPHSS_I_STATES; s++)
        sum += exp(value[s] - most) / (GRAPHSS_I_STATES - 1);
    return most + log(sum);
}

double graphss_i_score_change(const graphss_i_state_model *m, size_t half, const float *change)
{
    return graphss_i_gate_value(
        m->half_change[half], m->move_mean, m->move_spread, change, GRAPHSS_I_MOVES);
}

graphss_i_stratum graphss_i_stratum_of(const float *change)
{
    const double edges = expm1((double)change[0]) + expm1((double)change[1]);
    const bool features = change[2] > 0 || change[3] > 0;
    if (features)
        return edges > 0.5 ? GRAPHSS_I_EDGES_AND_FEATURES : GRAPHSS_I_SOME_FEATURES;
    return edges > 1.5   ? GRAPHSS_I_SOME_EDGES
           : edges > 0.5 ? GRAPHSS_I_ONE_EDGE
                         : GRAPHSS_I_UNCHANGED;
}

/* out [Q]: quantiles of n scores, which become sorted; the least and the greatest among them
 */
static void take_quantiles(double *out, double *score, size_t n)
{
    qsort(score, n, sizeof *score, graphss_i_compare_doubles);
    for (size_t i = 0; i < Q; i++)
        out[i] = score[i * (n - 1) / (Q - 1)];
}

/* True if the row is in the reference of a stratum. all: of any change, for strata with few
 * rows */
static bool belongs(
    const graphss_i_reference_rows *in, size_t i, graphss_i_stratum s, bool all)
{
    if (in->state[i] != GRAPHSS_I_UNTOUCHED)
        return false;
    if (s == GRAPHSS_I_UNCHANGED)
        return i < in->m;
    return in->changed[i] &&
           (s == GRAPHSS_I_NO_PAST || all ||
               graphss_i_stratum_of(in->change + i * GRAPHSS_I_CHANGES) == s);
}

static void take_reference(
    graphss_i_state_model *m, const graphss_i_reference_rows *in, double *score)
{
    for (graphss_i_stratum s = 0; s < GRAPHSS_I_STRATA; s++) {
        size_t n = 0;
        for (int all = 0; all < 2 && n < TUNE_NEEDED; all++) {
            n = 0;
            for (size_t i = 0; i < in->rows; i++) {
                const size_t half = graphss_i_half_of(in->node[i % in->m]);
                if (belongs(in, i, s, all))
                    score[n++] = s <= GRAPHSS_I_NO_PAST
                                     ? graphss_i_score_static(
                                           m, half, in->anomaly + i * GRAPHSS_I_ANOMALIES)
                                     : graphss_i_score_change(
                                           m, half, in->change + i * GRAPHSS_I_CHANGES);
            }
        }
        if (n)
            take_quantiles(m->reference[s], score, n);
    }
}

graphss_status graphss_i_reference_fit(
    graphss_ctx *ctx, graphss_i_state_model *m, const graphss_i_reference_rows *in)
{
    uint8_t *use = graphss_i_alloc(ctx, in->rows, sizeof *use);
    uint8_t *hostile = graphss_i_alloc(ctx, in->rows, sizeof *hostile);
    double *score = graphss_i_alloc(ctx, in->rows, sizeof *score);
    graphss_status st = use && hostile && score ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    if (!st)
        graphss_i_gate_measure(m->move_mean, m->move_spread, in->change, in->changed, in->rows,
            GRAPHSS_I_CHANGES, GRAPHSS_I_MOVES);
    for (size_t half = 0; half < 2 && !st; half++) {
        for (size_t i = 0; i < in->rows; i++)
            use[i] = graphss_i_half_of(in->node[i % in->m]) != half;
        const graphss_i_gate_rows static_rows = {.x = in->anomaly,
            .state = in->state,
            .use = use,
            .rows = in->rows,
            .wide = GRAPHSS_I_ANOMALIES,
            .columns = GRAPHSS_I_ANOMALIES,
            .states = GRAPHSS_I_STATES,
            .mean = m->mean,
            .spread = m->spread,
            .penalty = in->penalty};
        st = graphss_i_gate_fit(ctx, m->half_gate[half][1], &static_rows);
        for (size_t i = 0; i < in->rows; i++) {
            use[i] = use[i] && in->changed[i];
            hostile[i] = in->state[i] != GRAPHSS_I_UNTOUCHED;
        }
        const graphss_i_gate_rows change = {.x = in->change,
            .state = hostile,
            .use = use,
            .rows = in->rows,
            .wide = GRAPHSS_I_CHANGES,
            .columns = GRAPHSS_I_MOVES,
            .states = 2,
            .mean = m->move_mean,
            .spread = m->move_spread,
            .penalty = in->penalty};
        if (!st)
            st = graphss_i_gate_fit(ctx, m->half_change[half], &change);
    }
    if (!st)
        take_reference(m, in, score);
    graphss_release(ctx, use);
    graphss_release(ctx, hostile);
    graphss_release(ctx, score);
    return st;
}
