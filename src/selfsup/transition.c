/* transition.c - priors, the warm-up matrix, counts and means of transition matrices.
 *
 * Letters: K classes, k or t a true class, y an observed label. Matrices are [K x K], row by
 * row, and small; the only loop over nodes that costs anything is the one of phi'. */
#include "base/base.h"
#include <float.h>
#include <graphss/transition.h>
#include <math.h>
#include <string.h>

static const double most = 1e9, least = 1e-6;

static bool in(double value, double low, double high)
{
    return value >= low && value <= high; /* false for NaN */
}

graphss_status graphss_prior_cells(
    graphss_ctx *ctx, double *alpha, const graphss_prior *prior, size_t n_classes)
{
    if (GRAPHSS_I_LACKS(ctx, {"prior", prior}, {"place for the cells", alpha}))
        return GRAPHSS_ERR_INVALID;
    const size_t K = n_classes;
    if (!in(prior->alpha, 0, most))
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "prior: alpha %g, want 0 to %g", prior->alpha, most);
    if (!in(prior->anchor, 0, most))
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "prior: anchor %g, want 0 to %g", prior->anchor, most);
    if (!in(prior->diagonal, 0, 1))
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "prior: diagonal %g, want 0 to 1", prior->diagonal);
    for (size_t i = 0; prior->cell && i < K * K; i++)
        if (!in(prior->cell[i], 0, most))
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                "prior: cell (%zu, %zu) is %g, want 0 to %g", i / K, i % K, prior->cell[i],
                most);
    const double off = K > 1 ? (1 - prior->diagonal) / (double)(K - 1) : 0;
    for (size_t t = 0; t < K; t++)
        for (size_t y = 0; y < K; y++) {
            const double share = t == y ? prior->diagonal : off;
            const double extra = prior->cell ? prior->cell[t * K + y] : 0;
            alpha[t * K + y] = fmax(least, prior->alpha + prior->anchor * share + extra);
        }
    return GRAPHSS_OK;
}

static void normalise_row(double *row, size_t K)
{
    double sum = 0;
    for (size_t y = 0; y < K; y++)
        sum += row[y];
    for (size_t y = 0; y < K; y++)
        row[y] = sum > 0 ? row[y] / sum : 1 / (double)K;
}

static graphss_status check_labelled(graphss_ctx *ctx, const float *prob, const int32_t *node,
    const int32_t *label, size_t n, size_t n_nodes, size_t K)
{
    for (size_t i = 0; i < n; i++) {
        if (node[i] < 0 || (size_t)node[i] >= n_nodes)
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                "entry %zu of the list: node %d, want 0 to %zu", i, (int)node[i], n_nodes - 1);
        if (label[i] < 0 || (size_t)label[i] >= K)
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "node %d: label %d, want 0 to %zu",
                (int)node[i], (int)label[i], K - 1);
        for (size_t k = 0; k < K; k++) {
            const double p = (double)prob[(size_t)node[i] * K + k];
            if (!in(p, 0, FLT_MAX))
                return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                    "node %d: probability %g of class %zu", (int)node[i], p, k);
        }
    }
    return GRAPHSS_OK;
}

graphss_status graphss_transition_warmup(graphss_ctx *ctx, double *phi, const float *prob,
    const int32_t *node, const int32_t *label, size_t n, size_t n_nodes, size_t n_classes)
{
    if (GRAPHSS_I_LACKS(ctx, {"probabilities", prob}, {"nodes", GRAPHSS_I_FILLED(node, n)},
            {"labels", GRAPHSS_I_FILLED(label, n)}, {"place for the matrix", phi}))
        return GRAPHSS_ERR_INVALID;
    const size_t K = n_classes;
    const graphss_status st = check_labelled(ctx, prob, node, label, n, n_nodes, K);
    if (st)
        return st;
    memset(phi, 0, K * K * sizeof *phi);
    /* phi'[k][y] = sum over nodes with label y of P[node][k] */
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < K; k++)
            phi[k * K + (size_t)label[i]] += (double)prob[(size_t)node[i] * K + k];
    for (size_t k = 0; k < K; k++)
        normalise_row(phi + k * K, K);
    return GRAPHSS_OK;
}

void graphss_transition_count(
    double *counts, const int32_t *z, const int32_t *observed, size_t n, size_t n_classes)
{
    if (!counts)
        return;
    memset(counts, 0, n_classes * n_classes * sizeof *counts);
    for (size_t i = 0; z && observed && i < n; i++)
        if (z[i] >= 0 && observed[i] >= 0)
            counts[(size_t)z[i] * n_classes + (size_t)observed[i]] += 1;
}

void graphss_transition_mean(
    double *phi, const double *alpha, const double *counts, size_t n_classes)
{
    if (!phi || !alpha)
        return;
    for (size_t i = 0; i < n_classes * n_classes; i++)
        phi[i] = alpha[i] + (counts ? counts[i] : 0);
    for (size_t t = 0; t < n_classes; t++)
        normalise_row(phi + t * n_classes, n_classes);
}
