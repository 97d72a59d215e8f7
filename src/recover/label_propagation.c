/* label_propagation.c - training labels spread over the edges (Zhou et al., NIPS 2003):
 *   F <- alpha S F + (1 - alpha) Y,  S = D^-1/2 A D^-1/2,
 * Y one-hot on the training nodes. Sees edges and training labels, no features. A node that
 * no label reaches gets the shares of the training labels. O(steps * edges * classes). */
#include "base/ranks.h"
#include "graph/normalise.h"
#include "recover/defence.h"
#include "recover/option_rows.h"
#include <string.h>

static void adjust(graphss_recover_options *opt)
{
    opt->propagation.alpha = 0.9;
    opt->propagation.steps = 50;
}

/* y = alpha y + (1 - alpha) one-hot */
static void blend(float *y, size_t n, size_t k, double alpha, const graphss_split *split)
{
    for (size_t j = 0; j < n * k; j++)
        y[j] *= (float)alpha;
    for (size_t j = 0; j < split->n_train; j++)
        y[(size_t)split->train[j] * k + (size_t)split->train_label[j]] += (float)(1 - alpha);
}

/* share [k] is 0; of the labels of all ranks */
static graphss_status count_shares(
    graphss_ctx *ctx, double *share, size_t k, const graphss_split *split)
{
    double all = 0;
    for (size_t j = 0; j < split->n_train; j++)
        share[split->train_label[j]]++;
    const graphss_status st = graphss_i_ranks_sum(ctx, share, k);
    for (size_t c = 0; c < k; c++)
        all += share[c];
    for (size_t c = 0; c < k; c++)
        share[c] /= all;
    return st;
}

static void rows_to_posterior(
    double *posterior, const float *y, size_t n, size_t k, const double *share)
{
    for (size_t i = 0; i < n; i++) {
        double sum = 0, *p = posterior + i * k;
        for (size_t c = 0; c < k; c++)
            sum += y[i * k + c];
        for (size_t c = 0; c < k; c++)
            p[c] = sum > 0 ? y[i * k + c] / sum : share[c];
    }
}

static graphss_status run(graphss_ctx *ctx, double *posterior, double *perturbed,
    const graphss_i_defence_input *input, const graphss_recover_options *opt)
{
    (void)perturbed;
    const size_t n = input->n, k = input->k;
    graphss_i_propagation p = {0};
    float *now = graphss_i_calloc(ctx, n, k * sizeof *now);
    float *next = graphss_i_calloc(ctx, n, k * sizeof *next);
    double *share = graphss_i_calloc(ctx, k, sizeof *share);
    graphss_status st = now && next && share ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    if (!st)
        st = graphss_i_propagation_make(
            ctx, &p, input->current.graph, GRAPHSS_I_NORM_SYMMETRIC, false);
    if (st)
        goto done;
    blend(now, n, k, 0, input->split);
    for (size_t s = 0; s < (size_t)opt->propagation.steps; s++) {
        graphss_i_spmm(ctx, next, &p.m, now, k);
        blend(next, n, k, opt->propagation.alpha, input->split);
        float *held = now;
        now = next;
        next = held;
        st = graphss_i_progress(ctx, "spread", s + 1, (size_t)opt->propagation.steps, NULL);
        if (st)
            goto done;
    }
    st = count_shares(ctx, share, k, input->split);
    rows_to_posterior(posterior, now, n, k, share);
done:
    graphss_release(ctx, share);
    graphss_i_propagation_destroy(ctx, &p);
    graphss_release(ctx, next);
    graphss_release(ctx, now);
    return st;
}

static const graphss_option options[] = {GRAPHSS_I_COMMON_ROWS,
    GRAPHSS_I_ROW_ALPHA(propagation), GRAPHSS_I_ROW_STEPS(propagation), {0}};

const graphss_i_defence graphss_i_label_propagation_defence = {
    .name = "label-propagation",
    .summary = "training labels spread over the links (Zhou et al. 2003)",
    .untrained = "training labels spread over the current links; nothing is trained",
    .options = options,
    .learns = true,
    .shared = true,
    .needs_edges = true,
    .adjust = adjust,
    .run = run,
};
