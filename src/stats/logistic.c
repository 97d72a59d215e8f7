/* logistic.c - Newton's method in double; tens of columns, thousands of rows. */
#include "stats/logistic.h"
#include "stats/conditional_logit.h"
#include <math.h>
#include <string.h>

enum { ROUNDS = 20, TOGETHER = 4, MOST = GRAPHSS_I_LOGISTIC_WIDE };
static const double FARTHEST = 5, SQUARE_MOST = 9, CLOSE_ENOUGH = 1e-3, LARGEST_STEP = 2;

void graphss_i_logistic_measure(graphss_i_logistic *logit, const float *x, size_t n,
                                size_t columns)
{
    *logit = (graphss_i_logistic){.columns = columns};
    for (size_t j = 0; j < columns; j++) {
        double sum = 0, square = 0;
        for (size_t i = 0; i < n; i++)
            sum += (double)x[i * columns + j];
        const double mean = n ? sum / (double)n : 0;
        for (size_t i = 0; i < n; i++) {
            const double d = (double)x[i * columns + j] - mean;
            square += d * d;
        }
        logit->mean[j] = mean;
        logit->spread[j] = sqrt(n ? square / (double)n : 0) + 1e-9;
    }
}

void graphss_i_logistic_widen(double *g, const graphss_i_logistic *logit, const float *x)
{
    g[0] = 1;
    for (size_t j = 0; j < logit->columns; j++) {
        const double z = ((double)x[j] - logit->mean[j]) / logit->spread[j];
        const double near = z > -FARTHEST ? (z < FARTHEST ? z : FARTHEST) : -FARTHEST;
        const double square = near * near;
        g[1 + j] = near;
        g[1 + logit->columns + j] = square > SQUARE_MOST ? SQUARE_MOST : square;
    }
}

static double weigh(const double *w, const double *g, size_t f)
{
    double sum = 0;
    for (size_t j = 0; j < f; j++)
        sum += w[j] * g[j];
    return sum;
}

double graphss_i_logistic_odds(const graphss_i_logistic *logit, const float *x)
{
    double g[MOST];
    graphss_i_logistic_widen(g, logit, x);
    return weigh(logit->w, g, 1 + 2 * logit->columns);
}

/* away [f]: mean difference of the pairs of the invariance penalty */
static void quiet_direction(double *away, const graphss_i_logistic *logit,
                            const graphss_i_logistic_rows *rows)
{
    const size_t f = 1 + 2 * logit->columns;
    double g[MOST];
    memset(away, 0, f * sizeof *away);
    for (size_t i = 0; i < rows->n_quiet; i++)
        for (int side = 0; side < 2; side++) {
            const size_t at = side ? rows->quiet_to[i] : rows->quiet_from[i];
            graphss_i_logistic_widen(g, logit, rows->x + at * rows->columns);
            for (size_t j = 0; j < f; j++)
                away[j] += (side ? g[j] : -g[j]) / (double)rows->n_quiet;
        }
}

/* gradient += sum_r miss_r g_r, h += sum_r bend_r g_r g_r^T, lower triangle */
static void add_rows(double *h, double *gradient, const double *const *g, const double *bend,
                     const double *miss, size_t f)
{
    const double *a = g[0], *b = g[1], *c = g[2], *d = g[3];
    for (size_t j = 0; j < f; j++) {
        const double p = bend[0] * a[j], q = bend[1] * b[j], r = bend[2] * c[j],
                     s = bend[3] * d[j];
        double *row = h + j * f;
        gradient[j] += miss[0] * a[j] + miss[1] * b[j] + miss[2] * c[j] + miss[3] * d[j];
        for (size_t l = 0; l <= j; l++)
            row[l] += p * a[l] + q * b[l] + r * c[l] + s * d[l];
    }
}

/* One Newton step on sum_i weight_i log p(hit_i) - total (penalty |w|^2 + quiet (away . w)^2)
 * / 2, the intercept being free. Returns its length, or -1 where there is none. */
static double step(double *w, double *h, const double *away, const double *wide,
                   const graphss_i_logistic_rows *rows, size_t f, double total)
{
    double gradient[MOST] = {0}, length = 0;
    memset(h, 0, f * f * sizeof *h);
    for (size_t i = 0; i < rows->n; i += TOGETHER) {
        const double *g[TOGETHER];
        double bend[TOGETHER], miss[TOGETHER];
        for (size_t r = 0; r < TOGETHER; r++) { /* past the end: weight 0 */
            const size_t at = i + r < rows->n ? i + r : i;
            const double weight = i + r < rows->n ? rows->weight[at] : 0;
            g[r] = wide + at * f;
            const double p = 1 / (1 + exp(-weigh(w, g[r], f)));
            bend[r] = weight * p * (1 - p);
            miss[r] = weight * ((double)rows->hit[at] - p);
        }
        add_rows(h, gradient, g, bend, miss, f);
    }
    const double along = weigh(w, away, f);
    for (size_t j = 0; j < f; j++) {
        const double own = j ? rows->penalty : 1e-6;
        gradient[j] -= total * (own * w[j] + rows->quiet * along * away[j]);
        for (size_t l = 0; l <= j; l++)
            h[j * f + l] += total * rows->quiet * away[j] * away[l];
        h[j * f + j] += total * own;
    }
    if (!graphss_i_cholesky(h, f))
        return -1;
    graphss_i_cholesky_solve(gradient, h, f);
    for (size_t j = 0; j < f; j++)
        length = fmax(length, fabs(gradient[j]));
    const double scale = length > LARGEST_STEP ? LARGEST_STEP / length : 1;
    for (size_t j = 0; j < f; j++)
        w[j] += scale * gradient[j];
    return length;
}

graphss_status graphss_i_logistic_fit(graphss_ctx *ctx, graphss_i_logistic *logit,
                                      const graphss_i_logistic_rows *rows)
{
    const size_t f = 1 + 2 * logit->columns;
    double away[MOST], total = 0, length = 1;
    double *wide = graphss_i_alloc(ctx, rows->n, f * sizeof *wide);
    double *h = graphss_i_alloc(ctx, f, f * sizeof *h);
    graphss_status st = wide && h ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < rows->n && !st; i++) {
        graphss_i_logistic_widen(wide + i * f, logit, rows->x + i * rows->columns);
        total += rows->weight[i];
    }
    quiet_direction(away, logit, rows);
    for (int round = 0; round < ROUNDS && !st && length > CLOSE_ENOUGH; round++) {
        length = step(logit->w, h, away, wide, rows, f, total);
        if (!(length >= 0))
            st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                                "how odd the training nodes look is no number");
    }
    graphss_release(ctx, h);
    graphss_release(ctx, wide);
    return st;
}
