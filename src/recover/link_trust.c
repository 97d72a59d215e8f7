/* link_trust.c - two kinds of links, told apart by EM over views in bins.
 *
 * Bins have no shape to be wrong about. What decides which kind is the foreign one is that its
 * views are those of pairs drawn at random: without that, EM splits the links of a clean graph
 * into strong and weak ones and calls half of them foreign. */
#include "recover/link_trust.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Links that look like a random pair, which each view of genuine links has beforehand: so few
 * that a bin of a small graph is not ruled out by chance. */
static const double PRIOR_LINKS = 4;
/* Rounds of EM, and the change of a link's chance below which they end. */
static const double SETTLED = 1e-4;
enum { ROUNDS = 200 };
/* No share and no bin is surer than this. */
static const double LEAST = 1e-6;

static int ascending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static size_t bin_of(float value, const float *cut, size_t n_cut)
{
    size_t b = 0;
    while (b < n_cut && value >= cut[b])
        b++;
    return b;
}

void graphss_i_link_both_ways(float *value, const graphss_graph *graph, int64_t *at)
{
    memcpy(at, graph->offset, graph->n_nodes * sizeof *at);
    for (size_t i = 0; i < graph->n_nodes; i++) /* at: of each row, the way back to i */
        for (int64_t e = graph->offset[i]; e < graph->offset[i + 1]; e++) {
            const size_t j = (size_t)graph->target[e];
            if (i < j)
                value[at[j]] = value[e];
            at[j]++;
        }
}

void graphss_i_link_bins(
    uint8_t *bin, float *cut, size_t *n_cut, float *sorted, const float *value, size_t m)
{
    size_t seen = 0, cuts = 0;
    for (size_t e = 0; e < m; e++)
        if (!isnan(value[e]))
            sorted[seen++] = value[e];
    qsort(sorted, seen, sizeof *sorted, ascending);
    for (size_t b = 1; b < GRAPHSS_I_LINK_BINS && seen; b++) {
        const float at = sorted[b * seen / GRAPHSS_I_LINK_BINS];
        if (at > sorted[0] && (cuts == 0 || at > cut[cuts - 1]))
            cut[cuts++] = at;
    }
    *n_cut = cuts;
    for (size_t e = 0; e < m; e++)
        bin[e] =
            isnan(value[e]) ? GRAPHSS_I_LINK_UNSEEN : (uint8_t)bin_of(value[e], cut, cuts);
}

void graphss_i_link_chance(
    double *chance, const float *cut, size_t n_cut, const float *value, size_t m)
{
    double all = PRIOR_LINKS;
    for (size_t b = 0; b < GRAPHSS_I_LINK_BINS; b++)
        chance[b] = PRIOR_LINKS / GRAPHSS_I_LINK_BINS;
    for (size_t e = 0; e < m; e++)
        if (!isnan(value[e])) {
            chance[bin_of(value[e], cut, n_cut)]++;
            all++;
        }
    for (size_t b = 0; b < GRAPHSS_I_LINK_BINS; b++)
        chance[b] /= all;
}

static double logit(double p)
{
    p = fmin(fmax(p, LEAST), 1 - LEAST);
    return log(p) - log1p(-p);
}

/* share [bins], of weight each: the nearest that does not rise, by pooling neighbours that do.
 */
static void make_fall(double *share, double *weight, size_t bins)
{
    size_t width[GRAPHSS_I_LINK_BINS], n = 0;
    for (size_t b = 0; b < bins; b++) {
        double s = share[b], w = weight[b];
        size_t own = 1;
        while (n > 0 && share[n - 1] < s) {
            n--;
            s = (s * w + share[n] * weight[n]) / (w + weight[n]);
            w += weight[n];
            own += width[n];
        }
        share[n] = s;
        weight[n] = w;
        width[n++] = own;
    }
    for (size_t b = bins, g = n; g-- > 0;) {
        const double s = share[g];
        for (size_t i = 0; i < width[g]; i++)
            share[--b] = s;
    }
}

/* says [BINS] <- log P(bin | foreign) / P(bin | genuine) of one view */
static void learn(double *says, const double *foreign, const uint8_t *bin, size_t m,
    const double *chance, double share)
{
    double q[GRAPHSS_I_LINK_BINS] = {0}, weight[GRAPHSS_I_LINK_BINS], all = PRIOR_LINKS;
    for (size_t e = 0; e < m; e++)
        if (bin[e] != GRAPHSS_I_LINK_UNSEEN) {
            q[bin[e]] += 1 - foreign[e];
            all += 1 - foreign[e];
        }
    for (size_t b = 0; b < GRAPHSS_I_LINK_BINS; b++) {
        const double genuine = (q[b] + PRIOR_LINKS * chance[b]) / all;
        weight[b] = share * chance[b] + (1 - share) * genuine + LEAST * LEAST;
        q[b] = share * chance[b] / weight[b];
    }
    make_fall(q, weight, GRAPHSS_I_LINK_BINS);
    for (size_t b = 0; b < GRAPHSS_I_LINK_BINS; b++)
        says[b] = logit(q[b]) - logit(share);
}

double graphss_i_link_foreign(
    double *foreign, const uint8_t *bin, const double *chance, size_t views, size_t m)
{
    double says[GRAPHSS_I_LINK_VIEWS][GRAPHSS_I_LINK_BINS], share = 0;
    for (size_t round = 0; round < ROUNDS; round++) {
        double most = 0;
        share = 0;
        for (size_t e = 0; e < m; e++)
            share += foreign[e] / (double)m;
        for (size_t v = 0; v < views; v++)
            learn(says[v], foreign, bin + v * m, m, chance + v * GRAPHSS_I_LINK_BINS, share);
        for (size_t e = 0; e < m; e++) {
            double x = logit(share);
            for (size_t v = 0; v < views; v++)
                if (bin[v * m + e] != GRAPHSS_I_LINK_UNSEEN)
                    x += says[v][bin[v * m + e]];
            const double p = 1 / (1 + exp(-x));
            most = fmax(most, fabs(p - foreign[e]));
            foreign[e] = p;
        }
        if (most < SETTLED)
            break;
    }
    return share;
}

void graphss_i_link_common(float *out, const graphss_graph *pairs, const graphss_graph *graph,
    const float *trust, double *degree, float *room)
{
    const int64_t *at = graph->offset;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        degree[i] = 0;
        for (int64_t e = at[i]; e < at[i + 1]; e++)
            degree[i] += (double)trust[e];
    }
    for (size_t i = 0; i < graph->n_nodes; i++) {
        for (int64_t e = at[i]; e < at[i + 1]; e++)
            room[graph->target[e]] = trust[e];
        for (int64_t p = pairs->offset[i]; p < pairs->offset[i + 1]; p++) {
            const size_t j = (size_t)pairs->target[p];
            double sum = 0;
            for (int64_t e = at[j]; e < at[j + 1]; e++)
                sum += (double)trust[e] * (double)room[graph->target[e]];
            out[p] = sum > 0 ? (float)(sum / sqrt(degree[i] * degree[j])) : 0;
        }
        for (int64_t e = at[i]; e < at[i + 1]; e++)
            room[graph->target[e]] = 0;
    }
}

void graphss_i_link_ratio(double *ratio, double *end, const graphss_graph *graph,
    const float *trust, const float *belief, size_t k)
{
    double total = 0;
    memset(ratio, 0, k * k * sizeof *ratio);
    memset(end, 0, k * sizeof *end);
    for (size_t i = 0; i < graph->n_nodes; i++)
        for (int64_t e = graph->offset[i]; e < graph->offset[i + 1]; e++) {
            const float *a = belief + i * k, *b = belief + (size_t)graph->target[e] * k;
            for (size_t c = 0; c < k; c++) {
                const double own = (double)trust[e] * (double)a[c];
                for (size_t d = 0; d < k; d++)
                    ratio[c * k + d] += own * (double)b[d];
                end[c] += own;
            }
            total += (double)trust[e];
        }
    for (size_t c = 0; c < k; c++)
        for (size_t d = 0; d < k; d++) {
            const double chance = total > 0 ? end[c] * end[d] / total : 0;
            ratio[c * k + d] = (ratio[c * k + d] + 1) / (chance + 1);
        }
}

void graphss_i_link_agreement(
    float *out, const graphss_graph *pairs, const float *belief, const double *ratio, size_t k)
{
    for (size_t i = 0; i < pairs->n_nodes; i++)
        for (int64_t e = pairs->offset[i]; e < pairs->offset[i + 1]; e++) {
            const float *a = belief + i * k, *b = belief + (size_t)pairs->target[e] * k;
            double sum = 0;
            for (size_t c = 0; c < k; c++)
                for (size_t d = 0; d < k; d++)
                    sum += (double)a[c] * ratio[c * k + d] * (double)b[d];
            out[e] = (float)log(sum);
        }
}
