/* degree_test.c - kernels of the degree test; the order of operations is the original's, since
 * ratios of 1e-3 are differences of numbers of 1e4. */
#include "attack/nettack/degree_test.h"
#include <math.h>

static const int32_t d_min = 2;

/* n nodes, s the sum of their log degrees. sign is -1 but for the paper's code:
 *   alpha = n / (s - n log(d_min - 1/2)) + 1
 *   ll    = n log alpha + n alpha log d_min - (alpha + 1) s */
static double log_likelihood(double n, double s, double sign)
{
    const double alpha = n / (s - n * log((double)d_min - 0.5)) + 1;
    return n * log(alpha) + n * alpha * log((double)d_min) + sign * ((alpha + 1) * s);
}

/* What a node of that degree adds to s. */
static double log_degree(int32_t degree)
{
    return degree >= d_min ? log((double)degree) : 0;
}

void graphss_i_degree_test_start(graphss_i_degree_test *t, const int32_t *count,
                                 size_t max_degree, double cutoff, bool sign_error)
{
    *t = (graphss_i_degree_test){.sign = sign_error ? 1 : -1, .cutoff = cutoff};
    for (size_t d = (size_t)d_min; d <= max_degree; d++) {
        t->n += count[d];
        t->s += count[d] ? count[d] * log((double)d) : 0;
    }
    t->n0 = t->n;
    t->s0 = t->s;
    t->ll0 = log_likelihood(t->n0, t->s0, t->sign);
}

static void moved(double *n, double *s, const graphss_i_degree_test *t, int32_t a, int32_t b,
                  int step)
{
    *s =
        t->s - (log_degree(a) + log_degree(b)) + (log_degree(a + step) + log_degree(b + step));
    *n = t->n - ((a >= d_min) + (b >= d_min)) + ((a + step >= d_min) + (b + step >= d_min));
}

double graphss_i_degree_ratio(const graphss_i_degree_test *t, int32_t a, int32_t b, int step)
{
    double n, s;
    moved(&n, &s, t, a, b, step);
    const double apart = log_likelihood(n, s, t->sign) + t->ll0;
    const double together = log_likelihood(n + t->n0, s + t->s0, t->sign);
    return -2 * together + 2 * apart;
}

void graphss_i_degree_test_move(graphss_i_degree_test *t, int32_t a, int32_t b, int step)
{
    double n, s;
    moved(&n, &s, t, a, b, step);
    t->n = n;
    t->s = s;
}
