/* sequential.c - see sequential.h. */
#include "live/sequential.h"
#include <math.h>
#include <string.h>

/* Scores are log odds; beyond these the state model cuts them itself. */
static const double LOW = -16, HIGH = 16;
static const double P_LEAST = 1e-6; /* larger p pay less, so the promise holds */

/* c and d of each bet: from "many are a little small" to "one in fifty is very small". */
static const double BET[GRAPHSS_I_BETS][2] = {
    {0.5, 1},
    {0.5, 0.5},
    {0.5, 0.2},
    {0.5, 0.05},
    {0.25, 0.5},
    {0.25, 0.2},
    {0.25, 0.05},
    {0.25, 0.02},
    {0.1, 0.5},
    {0.1, 0.1},
    {0.1, 0.03},
    {0.1, 0.01},
};

static size_t bin_of(double score)
{
    const double at = (score - LOW) / (HIGH - LOW) * GRAPHSS_I_BINS;
    return at >= GRAPHSS_I_BINS - 1 ? GRAPHSS_I_BINS - 1 : at > 0 ? (size_t)at : 0;
}

double graphss_i_score_counts_rank(const graphss_i_score_counts *ref, double score, double u)
{
    const size_t bin = bin_of(score);
    double above = 0;
    for (size_t b = bin + 1; b < GRAPHSS_I_BINS; b++)
        above += ref->count[b];
    return (above + u * ((double)ref->count[bin] + 1)) / ((double)ref->n + 1);
}

void graphss_i_score_counts_add(graphss_i_score_counts *ref, double score)
{
    uint32_t *count = &ref->count[bin_of(score)];
    if (*count == UINT32_MAX) /* halves all counts, so that the distribution stays */
        for (size_t b = ref->n = 0; b < GRAPHSS_I_BINS; b++)
            ref->n += ref->count[b] /= 2;
    ++*count;
    ref->n++;
}

/* The log of exp(a) + exp(b). */
static double log_sum(double a, double b)
{
    const double most = fmax(a, b);
    return most + log1p(exp(fmin(a, b) - most));
}

void graphss_i_bets_place(graphss_i_bets *bets, double p)
{
    const double at = log(p > P_LEAST ? p : P_LEAST);
    double most = -INFINITY, sum = 0;
    for (size_t j = 0; j < GRAPHSS_I_BETS; j++) {
        const double c = BET[j][0], d = BET[j][1];
        const double pays = log(1 - d + d * c * exp((c - 1) * at));
        bets->pending[j] += pays;
        bets->product[j] += pays;
        most = fmax(most, bets->product[j]);
    }
    for (size_t j = 0; j < GRAPHSS_I_BETS; j++)
        sum += exp(bets->product[j] - most);
    const double waits = log(1 / (double)(bets->starts + 2));
    const double wealth = log_sum(most + log(sum / GRAPHSS_I_BETS / 2), waits);
    bets->largest = fmax(bets->largest, wealth);
    bets->judged++;
}

/* The next share of the wealth is bet from here on. */
static void start(graphss_i_bets *bets)
{
    bets->started_at = bets->judged;
    bets->starts++;
    const double n = (double)(bets->starts + 1), share = log(2 / (n * (n + 1)));
    for (size_t j = 0; j < GRAPHSS_I_BETS; j++)
        bets->product[j] = log_sum(bets->product[j], share);
}

double graphss_i_bets_value(const graphss_i_bets *bets)
{
    double sum = 0;
    for (size_t j = 0; j < GRAPHSS_I_BETS; j++)
        sum += exp(fmin(bets->sum[j], 600));
    return sum / GRAPHSS_I_BETS;
}

double graphss_i_bets_check(graphss_i_bets *bets)
{
    for (size_t j = 0; j < GRAPHSS_I_BETS; j++) {
        bets->sum[j] = fmax(bets->sum[j], 0) + bets->pending[j];
        bets->pending[j] = 0;
    }
    if (bets->judged > bets->started_at)
        start(bets);
    return graphss_i_bets_value(bets);
}

double graphss_i_bets_p_value(const graphss_i_bets *bets)
{
    return exp(-fmax(bets->largest, 0));
}

void graphss_i_bets_restart(graphss_i_bets *bets)
{
    memset(bets->sum, 0, sizeof bets->sum);
    memset(bets->pending, 0, sizeof bets->pending);
}

void graphss_i_bets_trust(graphss_i_bets *bets)
{
    memset(bets->product, 0, sizeof bets->product);
    bets->largest = 0;
    bets->judged = bets->starts = bets->started_at = 0;
}
