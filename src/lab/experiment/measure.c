/* measure.c - see cell.h. */
#include "lab/experiment/cell.h"

#include "base/base.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Descending, NaN last. */
static int by_score(const void *a, const void *b)
{
    const double x = ((const graphss_i_scored *)a)->score;
    const double y = ((const graphss_i_scored *)b)->score;
    if (isnan(x) || isnan(y))
        return !!isnan(x) - !!isnan(y);
    return (x < y) - (x > y);
}

void graphss_i_scored_sort(graphss_i_scored *item, size_t n)
{
    qsort(item, n, sizeof *item, by_score);
}

static bool ranked(const graphss_i_scored *item, size_t n)
{
    return n == 0 || !isnan(item[n - 1].score);
}

/* End of the run of equal scores that begins at i, and its hits. */
static size_t run_of(const graphss_i_scored *item, size_t i, size_t n, size_t *hits)
{
    size_t end = i;
    *hits = 0;
    for (; end < n && item[end].score == item[i].score; end++)
        *hits += item[end].hit != 0;
    return end;
}

/* sum over runs of equal scores of others * (hits above + hits in the run / 2),
 * over hits * others */
double graphss_i_auc(const graphss_i_scored *item, size_t n)
{
    double area = 0, hits = 0, others = 0;
    if (!ranked(item, n))
        return NAN;
    for (size_t i = 0, end; i < n; i = end) {
        size_t h;
        end = run_of(item, i, n, &h);
        const double o = (double)(end - i - h);
        area += o * (hits + 0.5 * (double)h);
        hits += (double)h;
        others += o;
    }
    return hits > 0 && others > 0 ? area / (hits * others) : NAN;
}

size_t graphss_i_roc(double *x, double *y, const graphss_i_scored *item, size_t n)
{
    double hits = 0, others = 0, hits_so_far = 0, others_so_far = 0;
    for (size_t i = 0; i < n; i++)
        hits += item[i].hit != 0;
    others = (double)n - hits;
    if (hits == 0 || others == 0 || !ranked(item, n))
        return 0;
    size_t points = 0;
    x[points] = y[points] = 0;
    points++;
    for (size_t i = 0, end; i < n; i = end) {
        size_t h;
        end = run_of(item, i, n, &h);
        hits_so_far += (double)h;
        others_so_far += (double)(end - i - h);
        x[points] = others_so_far / others;
        y[points] = hits_so_far / hits;
        /* On a straight line across or up only the ends are corners. */
        if (points > 1 && ((x[points] == x[points - 1] && x[points] == x[points - 2]) ||
                              (y[points] == y[points - 1] && y[points] == y[points - 2]))) {
            x[points - 1] = x[points];
            y[points - 1] = y[points];
        } else {
            points++;
        }
    }
    return points;
}

void graphss_i_bins_fill(graphss_i_bins *out, const double *posterior, size_t n_classes,
    const int32_t *truth, const int32_t *node, size_t n)
{
    *out = (graphss_i_bins){0};
    for (size_t i = 0; i < n; i++) {
        const size_t v = (size_t)node[i];
        if (truth[v] < 0)
            continue;
        const double *p = posterior + v * n_classes;
        const size_t best = graphss_i_top_double(p, n_classes);
        const double position = p[best] * GRAPHSS_I_BINS;
        if (!(position >= 0))
            continue;
        const size_t b = position >= GRAPHSS_I_BINS ? GRAPHSS_I_BINS - 1 : (size_t)position;
        out->count[b]++;
        out->confidence[b] += p[best];
        out->accuracy[b] += (int32_t)best == truth[v];
    }
    for (size_t b = 0; b < GRAPHSS_I_BINS; b++) {
        const double count = out->count[b] ? (double)out->count[b] : 1;
        out->confidence[b] /= count;
        out->accuracy[b] /= count;
    }
}

double graphss_i_calibration_error(const graphss_i_bins *bins)
{
    double sum = 0, total = 0;
    for (size_t b = 0; b < GRAPHSS_I_BINS; b++) {
        sum += (double)bins->count[b] * fabs(bins->accuracy[b] - bins->confidence[b]);
        total += (double)bins->count[b];
    }
    return total > 0 ? sum / total : NAN;
}
