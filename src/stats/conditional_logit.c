/* conditional_logit.c - see logit.h. Sums over rows are taken in single precision
 * by the kernels, BLOCK rows at a time, and added up in double; the rest, of sixteen columns
 * at most, is double. */
#include "stats/logit.h"
#include <math.h>
#include <string.h>

enum { ROUNDS = 8, STEPS = 25, BLOCK = 64, WIDE = GRAPHSS_I_ROW };
static const float UNLIKELY = 1e-3F;
static const double CLOSE_ENOUGH = 1e-4, NOT_YET = 5e-2, LARGEST_STEP = 1, NOISE_FIRST = 0.1,
                    NOISE_LEAST = 1e-3, NOISE_MOST = 0.4;

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

void graphss_i_choice_row(double *p, const double *w, const float *x, size_t k, size_t f)
{
    double most = -INFINITY, sum = 0;
    for (size_t c = 0; c < k; c++) {
        p[c] = 0;
        for (size_t j = 0; j < f; j++)
            p[c] += w[j] * (double)x[c * WIDE + j];
        most = fmax(most, p[c]);
    }
    for (size_t c = 0; c < k; c++)
        sum += p[c] = exp(p[c] - most);
    for (size_t c = 0; c < k; c++)
        p[c] /= sum;
}

/* Memory of a fit. */
typedef struct fit {
    const graphss_i_kernels *kernels;
    float *target;   /* [n x k] the chance of each class given its label */
    float *p, *left; /* [BLOCK x k] */
    double gradient[WIDE], hessian[WIDE * WIDE];
    bool held[WIDE]; /* weights that stay 0 in this step */
} fit;

/* The weights as kernels take them: columns that are not used have none. */
static void narrow(float *to, const double *w, size_t f)
{
    for (size_t j = 0; j < WIDE; j++)
        to[j] = j < f ? (float)w[j] : 0;
}

/* gradient += sum_ic weight_i (target_ic - p_ic) x_ic and the hessian of these rows; unlikely
 * classes are left out of it: that bends the road to the maximum, not the maximum. */
static void add_rows(
    fit *t, const float *w, const graphss_i_choice *in, size_t from, size_t rows)
{
    const size_t k = in->k;
    const float *x = in->x + from * k * WIDE;
    float gradient[WIDE], hessian[WIDE * WIDE];
    t->kernels->choice(t->p, w, x, rows, k);
    for (size_t i = 0; i < rows; i++)
        for (size_t c = i * k; c < (i + 1) * k; c++)
            t->left[c] = in->weight[from + i] * (t->target[from * k + c] - t->p[c]);
    t->kernels->choice_bend(
        gradient, hessian, x, t->p, t->left, in->weight + from, rows, k, UNLIKELY);
    for (size_t j = 0; j < in->f; j++) {
        t->gradient[j] += (double)gradient[j];
        for (size_t l = 0; l <= j; l++)
            t->hessian[j * in->f + l] += (double)hessian[j * WIDE + l];
    }
}

/* One step up the penalised likelihood of the targets; the largest change of a weight. */
static double newton_step(fit *t, double *w, const graphss_i_choice *in, double total)
{
    const size_t f = in->f;
    float narrowed[WIDE];
    narrow(narrowed, w, f);
    memset(t->hessian, 0, f * f * sizeof *t->hessian);
    for (size_t j = 0; j < f; j++)
        t->gradient[j] = -2 * in->penalty * total * (w[j] - (in->centre ? in->centre[j] : 0));
    for (size_t i = 0; i < in->n; i += BLOCK)
        add_rows(t, narrowed, in, i, in->n - i < BLOCK ? in->n - i : BLOCK);
    for (size_t j = 0; j < f; j++) /* at the bound, and pushed against it */
        t->held[j] = in->rising && w[j] <= 0 && t->gradient[j] <= 0;
    for (size_t j = 0; j < f; j++) {
        t->hessian[j * f + j] += 2 * in->penalty * total + 1e-9;
        for (size_t i = 0; t->held[j] && i < f; i++)
            t->hessian[i > j ? i * f + j : j * f + i] = i == j;
        t->gradient[j] = t->held[j] ? 0 : t->gradient[j];
    }
    if (!graphss_i_cholesky(t->hessian, f))
        return 0;
    graphss_i_cholesky_solve(t->gradient, t->hessian, f);
    double largest = 0;
    for (size_t j = 0; j < f; j++)
        largest = fmax(largest, fabs(t->gradient[j]));
    const double shrink = fmin(1, LARGEST_STEP / fmax(largest, 1e-300));
    largest = 0;
    for (size_t j = 0; j < f; j++) {
        const double old = w[j], step = old + shrink * t->gradient[j];
        w[j] = in->rising ? fmax(step, 0) : step;
        largest = fmax(largest, fabs(w[j] - old));
    }
    return largest;
}

/* target[i][c] ~ p_c P(label | c), a wrong label being any other class; returns the share
 * of labels believed wrong. */
static double expect(fit *t, const double *w, const graphss_i_choice *in, double noise)
{
    const float right = (float)(1 - noise), other = (float)(noise / (double)(in->k - 1));
    double wrong = 0, total = 0;
    float narrowed[WIDE];
    narrow(narrowed, w, in->f);
    t->kernels->choice(t->target, narrowed, in->x, in->n, in->k);
    for (size_t i = 0; i < in->n; i++) {
        float *q = t->target + i * in->k, sum = 0;
        const size_t y = (size_t)in->label[i];
        for (size_t c = 0; c < in->k; c++)
            sum += q[c] *= c == y ? right : other;
        for (size_t c = 0; c < in->k; c++)
            q[c] /= sum;
        wrong += (double)in->weight[i] * (1 - (double)q[y]);
        total += (double)in->weight[i];
    }
    return wrong / total;
}

graphss_status graphss_i_choice_fit(
    graphss_ctx *ctx, double *w, double *noise, const graphss_i_choice *in)
{
    const size_t f = in->f, k = in->k;
    fit t = {.kernels = graphss_i_ctx_kernels(ctx),
        .target = graphss_i_calloc(ctx, in->n, k * sizeof *t.target),
        .p = graphss_i_alloc(ctx, BLOCK, k * sizeof *t.p),
        .left = graphss_i_alloc(ctx, BLOCK, k * sizeof *t.left)};
    graphss_status st = GRAPHSS_ERR_NOMEM;
    if (!t.target || !t.p || !t.left)
        goto done;
    const bool known = in->noise > 0;
    double total = 0, wrong = k < 2 ? 0 : known ? in->noise : in->noisy ? NOISE_FIRST : 0;
    for (size_t i = 0; i < in->n; i++) {
        total += (double)in->weight[i];
        t.target[i * k + (size_t)in->label[i]] = 1;
    }
    for (size_t j = 0; j < f; j++)
        w[j] = in->centre ? in->centre[j] : 0;
    for (int round = 0; round < (wrong > 0 ? ROUNDS : 1); round++) {
        if (wrong > 0) {
            const double seen = expect(&t, w, in, wrong);
            wrong = round < 2 || known ? wrong : fmin(NOISE_MOST, fmax(NOISE_LEAST, seen));
        }
        const double close = wrong > 0 && round + 1 < ROUNDS ? NOT_YET : CLOSE_ENOUGH;
        for (int step = 0; step < STEPS; step++) {
            st = graphss_i_pulse(ctx);
            if (st)
                goto done;
            if (newton_step(&t, w, in, total) < close)
                break;
        }
    }
    if (noise)
        *noise = wrong;
done:
    graphss_release(ctx, t.left);
    graphss_release(ctx, t.p);
    graphss_release(ctx, t.target);
    return st;
}
