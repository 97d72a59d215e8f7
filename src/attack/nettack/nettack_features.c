/* nettack_features.c - which word to switch: the surrogate is linear in the words, so the
 * gradient of the margin gives the exact score of every candidate at once. While only words
 * change the logits are updated at once; the sums they come from wait for
 * graphss_i_nettack_settle. The gain of a candidate does not change as long as the class to
 * win stays the same, so it is stored, and a step is one pass over an array. */
#include "attack/nettack/nettack.h"
#include <math.h>
#include <string.h>

void graphss_i_nettack_features_begin(graphss_i_nettack_work *work)
{
    const graphss_i_nettack_shared *shared = work->shared;
    const size_t d = shared->d;
    for (size_t t = 0; t < work->n_targets; t++) {
        const size_t i = (size_t)work->target[t], n = (size_t)shared->x.length[i];
        double *value = work->value + t * d;
        uint8_t *allowed = work->allowed + t * d;
        memset(value, 0, d * sizeof *value);
        for (size_t e = 0; e < n; e++)
            value[shared->x.column[i][e]] = graphss_i_feature_index_value(&shared->x, i, e);
        if (shared->opt->cooccurrence_test)
            graphss_i_cooccur_allowed(
                allowed, &shared->together, shared->x.column[i], n, &work->cooccur);
        else
            memset(allowed, 1, d);
        size_t count = 0;
        for (size_t j = 0; j < d; j++)
            if (allowed[j] || value[j] != 0)
                work->candidate[t * d + count++] = (int32_t)j;
        work->n_candidates[t] = count;
    }
}

/* (A_hat^2)_ux = (d_u d_x)^-1/2 sum over w in both N(u) + u and N(x) + x of 1 / d_w */
void graphss_i_nettack_features_reach(graphss_i_nettack_work *work, int32_t u)
{
    const double *rsqrt = work->shared->rsqrt;
    work->pull_wrong = work->shared->k;
    for (size_t t = 0; t < work->n_targets; t++) {
        const int32_t x = work->target[t];
        const int32_t d_u = work->adj.length[u] + 1, d_x = work->adj.length[x] + 1;
        double sum = work->via[x];
        if (x == u)
            sum += 1 / (double)d_u;
        else if (graphss_i_rows_has(&work->adj, (size_t)u, x))
            sum += 1 / (double)d_u + 1 / (double)d_x;
        work->reach[t] = rsqrt[d_u] * rsqrt[d_x] * sum;
    }
}

/* The effect of changing the e-th candidate of a target. */
typedef struct turn {
    double old, next, pull;
} turn;

static turn turn_of(
    const graphss_i_nettack_work *work, size_t t, size_t e, size_t label, size_t wrong)
{
    const graphss_i_nettack_shared *shared = work->shared;
    const size_t j = (size_t)work->candidate[t * shared->d + e];
    const float *w = shared->w + j * shared->k;
    const double gradient = work->reach[t] * ((double)w[label] - (double)w[wrong]);
    const double old = work->value[t * shared->d + j];
    if (gradient == 0 || (old == 0 && !work->allowed[t * shared->d + j]))
        return (turn){.pull = INFINITY};
    /* counts as a step, even if the change is refused */
    if (shared->opt->mode == GRAPHSS_MODE_PAPER)
        return (turn){old, 1 - old, (old != 0 ? -1.0 : 1.0) * gradient};
    const double next = old != 0 ? 0 : (double)shared->on[j];
    return (turn){old, next, (next - old) * gradient};
}

/* The least of pull [count], four at a time: it has the least of loss + pull, for sums round
 * in order. */
static double least_of(const double *pull, size_t count)
{
    double least[4] = {INFINITY, INFINITY, INFINITY, INFINITY};
    size_t e = 0;
    for (; e + 4 <= count; e += 4)
        for (size_t i = 0; i < 4; i++)
            least[i] = pull[e + i] < least[i] ? pull[e + i] : least[i];
    for (; e < count; e++)
        least[0] = pull[e] < least[0] ? pull[e] : least[0];
    return fmin(fmin(least[0], least[1]), fmin(least[2], least[3]));
}

/* The pulls of a target, and how many of them are candidates. */
static void pull_all(graphss_i_nettack_work *work, size_t t, size_t label, size_t wrong)
{
    double *pull = work->pull + t * work->shared->d;
    work->n_pulls[t] = 0;
    for (size_t e = 0; e < work->n_candidates[t]; e++) {
        pull[e] = turn_of(work, t, e, label, wrong).pull;
        work->n_pulls[t] += pull[e] != INFINITY;
    }
}

graphss_i_nettack_feature graphss_i_nettack_best_feature(
    graphss_i_nettack_work *work, size_t label)
{
    const size_t d = work->shared->d;
    graphss_i_nettack_feature best = {.score = INFINITY, .word = -1};
    double loss;
    const size_t wrong = graphss_i_nettack_wrong(&loss, work->logits, work->shared->k, label);
    for (size_t t = 0; t < work->n_targets; t++) {
        const double *pull = work->pull + t * d;
        size_t e = 0;
        if (work->pull_wrong != wrong)
            pull_all(work, t, label, wrong);
        const double least = loss + least_of(pull, work->n_candidates[t]);
        best.candidates += (int64_t)work->n_pulls[t];
        if (!(least < best.score))
            continue;
        while (loss + pull[e] != least)
            e++;
        const turn chosen = turn_of(work, t, e, label, wrong);
        best.score = least;
        best.target = t;
        best.at = e;
        best.word = work->candidate[t * d + e];
        best.old_value = chosen.old;
        best.new_value = chosen.next;
    }
    work->pull_wrong = wrong;
    return best;
}

void graphss_i_nettack_change_feature(
    graphss_i_nettack_work *work, size_t label, const graphss_i_nettack_feature *choice)
{
    const size_t k = work->shared->k, t = choice->target, j = (size_t)choice->word;
    const double step = work->reach[t] * (choice->new_value - choice->old_value);
    work->value[t * work->shared->d + j] = choice->new_value;
    for (size_t c = 0; c < k; c++)
        work->logits[c] += step * (double)work->shared->w[j * k + c];
    double *pull = work->pull + t * work->shared->d + choice->at;
    work->n_pulls[t] -= *pull != INFINITY;
    *pull = turn_of(work, t, choice->at, label, work->pull_wrong).pull;
    work->n_pulls[t] += *pull != INFINITY;
    work->unsettled[t] = true;
    work->rewritten[t] = true;
}
