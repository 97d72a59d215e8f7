/* choice.c - see choice.h. The matrices have tens of columns: plain loops, all in double. */
#include "defence/choice.h"
#include <math.h>
#include <string.h>

enum { ROUNDS = 8, STEPS = 25, BATCH = 4 };
static const double UNLIKELY = 1e-3, CLOSE_ENOUGH = 1e-4, NOT_YET = 5e-2, LARGEST_STEP = 1,
                    NOISE_FIRST = 0.1, NOISE_LEAST = 1e-3, NOISE_MOST = 0.4;

/* Sums of four: one sum would wait for each addition in turn. */
static double dot(const double *a, const double *b, size_t n)
{
    double sum[4] = {0};
    size_t j = 0;
    for (; j + 4 <= n; j += 4)
        for (size_t c = 0; c < 4; c++)
            sum[c] += a[j + c] * b[j + c];
    for (; j < n; j++)
        sum[0] += a[j] * b[j];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* The same of a row of floats. */
static double weigh(const double *w, const float *x, size_t n)
{
    double sum[4] = {0};
    size_t j = 0;
    for (; j + 4 <= n; j += 4)
        for (size_t c = 0; c < 4; c++)
            sum[c] += w[j + c] * (double)x[j + c];
    for (; j < n; j++)
        sum[0] += w[j] * (double)x[j];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

bool graphss_i_cholesky(double *a, size_t f)
{
    for (size_t j = 0; j < f; j++)
        for (size_t i = j; i < f; i++) {
            const double sum = a[i * f + j] - dot(a + i * f, a + j * f, j);
            if (i == j && !(sum > 0))
                return false;
            a[i * f + j] = i == j ? sqrt(sum) : sum / a[j * f + j];
        }
    return true;
}

/* l y = b, then l^T b = y: the first by rows, the second, from the end, by the same rows */
void graphss_i_cholesky_solve(double *b, const double *l, size_t f)
{
    for (size_t i = 0; i < f; i++)
        b[i] = (b[i] - dot(l + i * f, b, i)) / l[i * f + i];
    for (size_t i = f; i-- > 0;) {
        b[i] /= l[i * f + i];
        for (size_t j = 0; j < i; j++)
            b[j] -= l[i * f + j] * b[i];
    }
}

void graphss_i_choice_row(double *p, const double *w, const float *x, size_t k, size_t f,
                          size_t stride)
{
    double most = -INFINITY, sum = 0;
    for (size_t c = 0; c < k; c++) {
        p[c] = weigh(w, x + c * stride, f);
        most = fmax(most, p[c]);
    }
    for (size_t c = 0; c < k; c++)
        sum += p[c] = exp(p[c] - most);
    for (size_t c = 0; c < k; c++)
        p[c] /= sum;
}

/* Memory of a fit. */
typedef struct fit {
    double *target; /* [n x k] the chance of each class given its label */
    double *p, *mean, *gradient, *hessian;
    double *centred; /* [BATCH x f] vectors that the hessian waits for */
    double scale[BATCH];
    size_t waiting;
} fit;

/* hessian += sum_b scale_b d_b d_b^T, lower triangle: four at a time, since to read and write
 * it is most of the work */
static void add_waiting(fit *t, size_t f)
{
    const double *d[BATCH] = {t->centred, t->centred + f, t->centred + 2 * f,
                              t->centred + 3 * f};
    for (size_t b = t->waiting; b < BATCH; b++)
        t->scale[b] = 0;
    for (size_t i = 0; i < f && t->waiting; i++) {
        double *h = t->hessian + i * f;
        const double s0 = t->scale[0] * d[0][i], s1 = t->scale[1] * d[1][i],
                     s2 = t->scale[2] * d[2][i], s3 = t->scale[3] * d[3][i];
        for (size_t j = 0; j <= i; j++)
            h[j] = h[j] + s0 * d[0][j] + s1 * d[1][j] + s2 * d[2][j] + s3 * d[3][j];
    }
    t->waiting = 0;
}

/* hessian += weight sum_c p_c (x_c - m)(x_c - m)^T, m = sum_c p_c x_c, lower triangle.
 * Two classes are one difference: p_0 p_1 (x_0 - x_1)(x_0 - x_1)^T. Unlikely classes are left
 * out: that bends the road to the maximum, not the maximum. */
static void add_curvature(fit *t, const graphss_i_choice *in, const float *x, double weight)
{
    const size_t f = in->f;
    double *mean = t->mean;
    memset(mean, 0, f * sizeof *mean);
    for (size_t b = in->k == 2 ? 1 : 0; b < in->k; b++)
        for (size_t j = 0; j < f; j++)
            mean[j] += (in->k == 2 ? 1 : t->p[b]) * (double)x[b * in->stride + j];
    for (size_t c = 0; c < (in->k == 2 ? 1 : in->k); c++) {
        const double chance = t->p[c] * (in->k == 2 ? t->p[1] : 1), scale = weight * chance;
        if (chance < UNLIKELY)
            continue;
        double *d = t->centred + t->waiting * f;
        for (size_t j = 0; j < f; j++)
            d[j] = (double)x[c * in->stride + j] - mean[j];
        t->scale[t->waiting++] = scale;
        if (t->waiting == BATCH)
            add_waiting(t, f);
    }
}

/* One step up the penalised likelihood of the targets; the largest change of a weight. */
static double newton_step(fit *t, double *w, bool *held, const graphss_i_choice *in,
                          double total)
{
    const size_t f = in->f, k = in->k;
    memset(t->hessian, 0, f * f * sizeof *t->hessian);
    for (size_t j = 0; j < f; j++)
        t->gradient[j] = -2 * in->penalty * total * (w[j] - (in->centre ? in->centre[j] : 0));
    for (size_t i = 0; i < in->n; i++) {
        const float *x = in->x + i * k * in->stride;
        graphss_i_choice_row(t->p, w, x, k, f, in->stride);
        for (size_t c = 0; c < k; c++) {
            const double left = (double)in->weight[i] * (t->target[i * k + c] - t->p[c]);
            for (size_t j = 0; j < f; j++)
                t->gradient[j] += left * (double)x[c * in->stride + j];
        }
        add_curvature(t, in, x, (double)in->weight[i]);
    }
    add_waiting(t, f);
    for (size_t j = 0; j < f; j++) {
        t->hessian[j * f + j] += 2 * in->penalty * total + 1e-9;
        for (size_t i = 0; held[j] && i < f; i++)
            t->hessian[i > j ? i * f + j : j * f + i] = i == j;
        t->gradient[j] = held[j] ? 0 : t->gradient[j];
    }
    if (!graphss_i_cholesky(t->hessian, f))
        return 0;
    graphss_i_cholesky_solve(t->gradient, t->hessian, f);
    double largest = 0;
    for (size_t j = 0; j < f; j++)
        largest = fmax(largest, fabs(t->gradient[j]));
    const double shrink = fmin(1, LARGEST_STEP / fmax(largest, 1e-300));
    for (size_t j = 0; j < f; j++) {
        w[j] += shrink * t->gradient[j];
        if (in->rising && w[j] < 0) {
            w[j] = 0;
            held[j] = true;
        }
    }
    return largest;
}

/* target[i][c] ~ p_c P(label | c), a wrong label being any other class; returns the share
 * of labels believed wrong. */
static double expect(fit *t, const double *w, const graphss_i_choice *in, double noise)
{
    double wrong = 0, total = 0;
    for (size_t i = 0; i < in->n; i++) {
        double *q = t->target + i * in->k, sum = 0;
        const size_t y = (size_t)in->label[i];
        graphss_i_choice_row(q, w, in->x + i * in->k * in->stride, in->k, in->f, in->stride);
        for (size_t c = 0; c < in->k; c++)
            sum += q[c] *= c == y ? 1 - noise : noise / (double)(in->k - 1);
        for (size_t c = 0; c < in->k; c++)
            q[c] /= sum;
        wrong += (double)in->weight[i] * (1 - q[y]);
        total += (double)in->weight[i];
    }
    return wrong / total;
}

graphss_status graphss_i_choice_fit(graphss_ctx *ctx, double *w, double *noise,
                                    const graphss_i_choice *in)
{
    const size_t f = in->f, k = in->k;
    fit t = {.target = graphss_i_calloc(ctx, in->n, k * sizeof *t.target),
             .p = graphss_i_alloc(ctx, k, sizeof *t.p),
             .centred = graphss_i_calloc(ctx, f, BATCH * sizeof *t.centred),
             .mean = graphss_i_alloc(ctx, f, sizeof *t.mean),
             .gradient = graphss_i_alloc(ctx, f, sizeof *t.gradient),
             .hessian = graphss_i_alloc(ctx, f, f * sizeof *t.hessian)};
    bool *held = graphss_i_calloc(ctx, f, sizeof *held);
    graphss_status st = GRAPHSS_ERR_NOMEM;
    if (!t.target || !t.p || !t.centred || !t.mean || !t.gradient || !t.hessian || !held)
        goto done;
    double total = 0, wrong = in->noisy && k > 1 ? NOISE_FIRST : 0;
    for (size_t i = 0; i < in->n; i++) {
        total += (double)in->weight[i];
        t.target[i * k + (size_t)in->label[i]] = 1;
    }
    for (size_t j = 0; j < f; j++)
        w[j] = in->centre ? in->centre[j] : 0;
    for (int round = 0; round < (wrong > 0 ? ROUNDS : 1); round++) {
        if (wrong > 0) {
            const double seen = expect(&t, w, in, wrong);
            wrong = round < 2 ? wrong : fmin(NOISE_MOST, fmax(NOISE_LEAST, seen));
        }
        const double close = wrong > 0 && round + 1 < ROUNDS ? NOT_YET : CLOSE_ENOUGH;
        for (int step = 0; step < STEPS; step++)
            if (newton_step(&t, w, held, in, total) < close)
                break;
    }
    if (noise)
        *noise = wrong;
    st = GRAPHSS_OK;
done:
    graphss_release(ctx, held);
    graphss_release(ctx, t.hessian);
    graphss_release(ctx, t.gradient);
    graphss_release(ctx, t.mean);
    graphss_release(ctx, t.centred);
    graphss_release(ctx, t.p);
    graphss_release(ctx, t.target);
    return st;
}
