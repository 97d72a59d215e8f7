/* alert.c - p-values of scores. Knows no model and no graph: scores in, chances out.
 *
 * Exchanging nodes between the group and the clean ones, rather than drawing groups from
 * the clean ones alone, keeps the rate exact when the group is as large as what there is to
 * compare it with. */
#include "base/base.h"
#include <graphss/alert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(f) offsetof(graphss_alert_options, f)
static const graphss_option table[] = {
    {"false-alarm-rate", GRAPHSS_OPTION_REAL, FIELD(false_alarm_rate), 1e-6, 0.999999, NULL,
     "R", "how often a clean group may raise an alert", 0},
    {"draws", GRAPHSS_OPTION_INT, FIELD(draws), 19, 1e7, NULL, "N",
     "random exchanges behind a p-value", 0},
    {NULL, 0, 0, 0, 0, NULL, NULL, NULL, 0},
};

graphss_alert_options graphss_alert_options_default(void)
{
    return (graphss_alert_options){.false_alarm_rate = 0.05, .draws = 1999};
}

const graphss_option *graphss_alert_options_table(void)
{
    return table;
}

double graphss_alert_rank(double score, const double *calm, size_t n_calm)
{
    size_t higher = 1;
    for (size_t i = 0; i < n_calm; i++)
        higher += calm[i] >= score;
    return (double)higher / (double)(n_calm + 1);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* sum[d] of n numbers drawn from pool [size] without putting back; the smaller side is
 * drawn and the rest is what remains of the total. */
static void exchange(double *sum, size_t draws, double *pool, size_t size, size_t n,
                     double total, graphss_rng *rng)
{
    const size_t drawn = n <= size - n ? n : size - n;
    for (size_t d = 0; d < draws; d++) {
        sum[d] = 0;
        for (size_t i = 0; i < drawn; i++) {
            const size_t j = i + (size_t)graphss_rng_below(rng, size - i);
            const double taken = pool[j];
            pool[j] = pool[i];
            pool[i] = taken;
            sum[d] += taken;
        }
        if (drawn != n)
            sum[d] = total - sum[d];
    }
}

graphss_status graphss_alert_test(graphss_ctx *ctx, double *p_value, double *threshold,
                                  const double *score, size_t n, const double *calm,
                                  size_t n_calm, uint64_t seed,
                                  const graphss_alert_options *given)
{
    const graphss_alert_options opt = given ? *given : graphss_alert_options_default();
    graphss_status st = graphss_options_check(ctx, &opt, table);
    if (st)
        return st;
    if (n == 0 || n_calm == 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                              "%zu scores to judge by %zu of clean nodes, want some of both",
                              n, n_calm);
    const size_t draws = (size_t)opt.draws, size = n + n_calm;
    double *pool = graphss_i_alloc(ctx, size, sizeof *pool);
    double *sum = graphss_i_alloc(ctx, draws, sizeof *sum);
    st = pool && sum ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    if (st)
        goto done;
    double own = 0, total = 0;
    for (size_t i = 0; i < size; i++) {
        pool[i] = i < n ? score[i] : calm[i - n];
        total += pool[i];
        own += i < n ? pool[i] : 0;
    }
    if (!isfinite(total)) {
        st = graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "a score is no finite number");
        goto done;
    }
    graphss_rng rng = graphss_rng_make(seed, GRAPHSS_STREAM_SAMPLER);
    exchange(sum, draws, pool, size, n, total, &rng);
    size_t higher = 1; /* equal sums differ by rounding */
    for (size_t d = 0; d < draws; d++)
        higher += sum[d] >= own - 1e-9 * fabs(total);
    qsort(sum, draws, sizeof *sum, compare);
    /* at most rate * (draws + 1) - 1 draws may be as high */
    const double allowed = floor(opt.false_alarm_rate * (double)(draws + 1));
    const size_t above = allowed >= 1 ? (size_t)allowed : 1;
    *p_value = (double)higher / (double)(draws + 1);
    *threshold = sum[draws - above] / (double)n;
done:
    graphss_release(ctx, sum);
    graphss_release(ctx, pool);
    return st;
}

void graphss_alert_destroy(graphss_ctx *ctx, graphss_alert *alert)
{
    graphss_release(ctx, alert->calibration);
    graphss_release(ctx, alert->node_score);
    graphss_release(ctx, alert->node_p_value);
    graphss_release(ctx, alert->perturbed);
    graphss_release(ctx, alert->flagged);
    *alert = (graphss_alert){0};
}
