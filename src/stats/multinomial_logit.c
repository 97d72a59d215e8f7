/* multinomial_logit.c - see logit.h. The curvature of the loss in the weights of
 * one state is at most half the second moment of the columns (Boehning's bound), whatever the
 * weights are: that matrix is factored once and every step is two products and a solve, with
 * Nesterov's momentum. */
#include "graph/products.h"
#include "kernels/kernels.h"
#include "stats/logit.h"
#include <math.h>
#include <string.h>

enum { STEPS = 120, ROWS = 256 }; /* rows a task */
static const double CLOSE_ENOUGH = 2e-3;

typedef struct fit {
    float *logit;         /* [n x k] logits, then weighted residuals */
    float *w;             /* [k x f] where the gradient is taken */
    float *gradient;      /* [k x f] */
    double *ahead, *last; /* [k x f] */
    double *bound;        /* [f x f] */
} fit;

/* bound = (1/2 total) sum_i weight_i x_i x_i^T + 2 penalty I, lower triangle */
static void curvature(double *bound, const graphss_i_softmax *in, double total)
{
    const size_t f = in->f;
    memset(bound, 0, f * f * sizeof *bound);
    for (size_t i = 0; i < in->n; i++) {
        const float *x = in->x + i * f;
        for (size_t a = 0; a < f; a++) {
            const double s = (double)in->weight[i] * (double)x[a];
            for (size_t b = 0; b <= a; b++)
                bound[a * f + b] += s * (double)x[b];
        }
    }
    for (size_t a = 0; a < f; a++) {
        for (size_t b = 0; b <= a; b++)
            bound[a * f + b] /= 2 * total;
        bound[a * f + a] += 2 * in->penalty;
    }
}

typedef struct residual_job {
    const graphss_i_kernels *kernels;
    float *logit;
    const graphss_i_softmax *in;
    double total;
} residual_job;

/* residual_ir = weight_i / total (p_ir - [label_i = r]), p = softmax of the logits */
static void residuals(void *arg, size_t task)
{
    const residual_job *job = arg;
    const graphss_i_softmax *in = job->in;
    const size_t end = graphss_i_task_end(task, in->n, ROWS);
    job->kernels->softmax(job->logit, in->k, task * ROWS, end);
    for (size_t i = task * ROWS; i < end; i++) {
        float *p = job->logit + i * in->k;
        const float scale = in->weight[i] / (float)job->total;
        p[in->label[i]] -= 1;
        for (size_t r = 0; r < in->k; r++)
            p[r] *= scale;
    }
}

/* One step from t->ahead; the largest change of a weight. */
static double step(graphss_ctx *ctx, fit *t, double *w, const graphss_i_softmax *in,
    double total, double *momentum)
{
    const size_t f = in->f, k = in->k;
    double largest = 0, uphill = 0;
    for (size_t j = 0; j < k * f; j++)
        t->w[j] = (float)t->ahead[j];
    graphss_i_gemm(ctx, t->logit, in->x, false, t->w, true, in->n, k, f, 0);
    residual_job job = {graphss_i_ctx_kernels(ctx), t->logit, in, total};
    graphss_i_parallel(ctx, graphss_i_tasks(in->n, ROWS), residuals, &job);
    graphss_i_gemm(ctx, t->gradient, t->logit, true, in->x, false, k, f, in->n, 0);
    memcpy(t->last, w, k * f * sizeof *w);
    for (size_t r = 0; r < k; r++) {
        double *to = w + r * f, *from = t->ahead + r * f;
        for (size_t j = 0; j < f; j++)
            to[j] = (double)t->gradient[r * f + j] + 2 * in->penalty * from[j];
        graphss_i_cholesky_solve(to, t->bound, f);
        for (size_t j = 0; j < f; j++) {
            const double g = (double)t->gradient[r * f + j] + 2 * in->penalty * from[j];
            to[j] = from[j] - to[j];
            uphill += g * (to[j] - t->last[r * f + j]);
            largest = fmax(largest, fabs(to[j] - t->last[r * f + j]));
        }
    }
    const double next = uphill > 0 ? 1 : (1 + sqrt(1 + 4 * *momentum * *momentum)) / 2;
    const double carry = uphill > 0 ? 0 : (*momentum - 1) / next;
    for (size_t j = 0; j < k * f; j++)
        t->ahead[j] = w[j] + carry * (w[j] - t->last[j]);
    *momentum = next;
    return largest;
}

graphss_status graphss_i_softmax_fit(graphss_ctx *ctx, double *w, const graphss_i_softmax *in)
{
    const size_t f = in->f, k = in->k;
    fit t = {.logit = graphss_i_alloc(ctx, in->n, k * sizeof *t.logit),
        .w = graphss_i_alloc(ctx, k, f * sizeof *t.w),
        .gradient = graphss_i_alloc(ctx, k, f * sizeof *t.gradient),
        .ahead = graphss_i_calloc(ctx, k, f * sizeof *t.ahead),
        .last = graphss_i_alloc(ctx, k, f * sizeof *t.last),
        .bound = graphss_i_alloc(ctx, f, f * sizeof *t.bound)};
    graphss_status st = t.logit && t.w && t.gradient && t.ahead && t.last && t.bound
                            ? GRAPHSS_OK
                            : GRAPHSS_ERR_NOMEM;
    double total = 0, momentum = 1;
    for (size_t i = 0; i < in->n; i++)
        total += (double)in->weight[i];
    if (!st) {
        memset(w, 0, k * f * sizeof *w);
        curvature(t.bound, in, total);
        if (!graphss_i_cholesky(t.bound, f))
            st = graphss_i_fail(
                ctx, GRAPHSS_ERR_DATA, "the oddness of the labelled nodes is no number");
    }
    for (int i = 0; i < STEPS && !st; i++) {
        st = graphss_i_pulse(ctx);
        if (!st && step(ctx, &t, w, in, total, &momentum) < CLOSE_ENOUGH)
            break;
    }
    graphss_release(ctx, t.bound);
    graphss_release(ctx, t.last);
    graphss_release(ctx, t.ahead);
    graphss_release(ctx, t.gradient);
    graphss_release(ctx, t.w);
    graphss_release(ctx, t.logit);
    return st;
}
