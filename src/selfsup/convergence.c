/* convergence.c - convergence diagnostics of the chains.
 *
 * Split R-hat and the effective number of draws after Gelman et al., Bayesian Data Analysis,
 * 3rd edition, sections 11.4 and 11.5, the sum of correlations cut by Geyer's rule: pairs of
 * lags are added as long as they are positive, and never allowed to grow. */
#include <graphss/selfsup.h>
#include <math.h>

/* A trace is read as 2 * n_chains pieces of `half` values; of an odd length the middle value
 * is left out. */
typedef struct pieces {
    const double *trace;
    size_t n_chains, length, half;
} pieces;

static const double *piece(const pieces *p, size_t i)
{
    const double *chain = p->trace + i / 2 * p->length;
    return i % 2 ? chain + (p->length - p->half) : chain;
}

static double mean_of(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum / (double)n;
}

/* W, the mean variance within the pieces; returns var+, which adds that between them. */
static double variances(const pieces *p, double *within)
{
    const size_t m = 2 * p->n_chains, n = p->half;
    double grand = 0, between = 0, sum = 0;
    for (size_t i = 0; i < m; i++)
        grand += mean_of(piece(p, i), n) / (double)m;
    for (size_t i = 0; i < m; i++) {
        const double *x = piece(p, i);
        const double mean = mean_of(x, n);
        for (size_t j = 0; j < n; j++)
            sum += (x[j] - mean) * (x[j] - mean);
        between += (mean - grand) * (mean - grand);
    }
    *within = sum / (double)(m * (n - 1));
    between /= (double)(m - 1); /* B / n */
    return (double)(n - 1) / (double)n * *within + between;
}

double graphss_trace_r_hat(const double *trace, size_t n_chains, size_t length)
{
    if (n_chains == 0 || length < 4)
        return NAN;
    const pieces p = {trace, n_chains, length, length / 2};
    double within = 0;
    const double plus = variances(&p, &within);
    if (plus <= 0)
        return 1;
    return within > 0 ? sqrt(plus / within) : INFINITY;
}

/* rho_t = 1 - V_t / (2 var+), V_t the mean square of the steps over t sweeps. */
static double correlation(const pieces *p, size_t lag, double plus)
{
    double sum = 0;
    for (size_t i = 0; i < 2 * p->n_chains; i++) {
        const double *x = piece(p, i);
        for (size_t j = lag; j < p->half; j++)
            sum += (x[j] - x[j - lag]) * (x[j] - x[j - lag]);
    }
    return 1 - sum / (double)(2 * p->n_chains * (p->half - lag)) / (2 * plus);
}

double graphss_trace_effective_draws(const double *trace, size_t n_chains, size_t length)
{
    const double all = (double)n_chains * (double)length;
    if (n_chains == 0 || length < 4)
        return NAN;
    const pieces p = {trace, n_chains, length, length / 2};
    double within = 0;
    const double plus = variances(&p, &within);
    if (plus <= 0)
        return all;
    /* 1 + 2 sum_t rho_t = -1 + 2 sum over pairs (rho_2t + rho_2t+1), rho_0 = 1 */
    double sum = -1, last = INFINITY;
    for (size_t lag = 0; lag + 1 < p.half; lag += 2) {
        const double rho = lag ? correlation(&p, lag, plus) : 1;
        const double pair = fmin(last, rho + correlation(&p, lag + 1, plus));
        if (pair <= 0)
            break;
        sum += 2 * pair;
        last = pair;
    }
    return sum > 1 ? all / sum : all;
}
