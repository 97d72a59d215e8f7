/* coherence.c - affinity of pairs of features. See coherence.h. */
#include "detect/coherence.h"
#include "detect/tuning.h"
#include "kernels/kernels.h"
#include <math.h>

enum { BITS = 64 };
_Static_assert(TUNE_REFERENCE <= UINT16_MAX, "counts of reference nodes");

void graphss_i_reference_destroy(graphss_ctx *ctx, graphss_i_reference *r)
{
    graphss_release(ctx, r->bits);
    graphss_release(ctx, r->count);
    graphss_release(ctx, r->both);
    *r = (graphss_i_reference){0};
}

/* both[i][j] and both[j][i], j < i */
static void count_pairs(graphss_i_reference *r, uint32_t *found, size_t *column)
{
    for (size_t i = 0; i < r->d; i++) {
        column[i] = i;
        r->kernels->common_bits(found, r->bits + i * r->width, r->bits, column, i, r->width);
        for (size_t j = 0; j < i; j++)
            r->both[i * r->d + j] = r->both[j * r->d + i] = (uint16_t)found[j];
    }
}

/* Counts all pairs where that takes no more room than the features themselves. */
static graphss_status tabulate(
    graphss_ctx *ctx, graphss_i_reference *r, const graphss_features *features)
{
    if (r->d * r->d > (size_t)features->offset[features->n_rows])
        return GRAPHSS_OK;
    uint32_t *found = graphss_i_alloc(ctx, r->d, sizeof *found);
    size_t *column = graphss_i_alloc(ctx, r->d, sizeof *column);
    r->both = graphss_i_alloc(ctx, r->d, r->d * sizeof *r->both);
    const bool enough = found && column && r->both;
    if (enough)
        count_pairs(r, found, column);
    graphss_release(ctx, found);
    graphss_release(ctx, column);
    return enough ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

graphss_status graphss_i_reference_open(graphss_ctx *ctx, graphss_i_reference *out,
    const graphss_features *features, const int32_t *label)
{
    const size_t d = features->n_cols;
    graphss_i_reference r = {.kernels = graphss_i_ctx_kernels(ctx), .d = d};
    size_t all = 0, seen = 0;
    if (graphss_features_dense(features))
        return GRAPHSS_OK;
    for (size_t v = 0; v < features->n_rows; v++)
        all += label[v] >= 0;
    const size_t most = all < TUNE_REFERENCE ? all : TUNE_REFERENCE;
    r.width = (most + BITS - 1) / BITS;
    r.bits = graphss_i_calloc(ctx, d, r.width * sizeof *r.bits);
    r.count = graphss_i_calloc(ctx, d, sizeof *r.count);
    if (!r.bits || !r.count) {
        graphss_i_reference_destroy(ctx, &r);
        return GRAPHSS_ERR_NOMEM;
    }
    for (size_t v = 0; v < features->n_rows; v++) {
        if (label[v] < 0 || seen++ * most / all < r.n)
            continue;
        const graphss_i_row row = graphss_i_row_of(features, v);
        for (size_t j = 0; j < row.n; j++) {
            const size_t c = (size_t)row.column[j];
            r.bits[c * r.width + r.n / BITS] |= (uint64_t)1 << r.n % BITS;
            r.count[c] += 1;
        }
        r.n++;
    }
    const graphss_status st = tabulate(ctx, &r, features);
    if (st)
        graphss_i_reference_destroy(ctx, &r);
    *out = r;
    return st;
}

/* exp(affinity) of feature i and each of the n features j */
static void ratios(
    double *out, const graphss_i_reference *r, size_t i, const size_t *column, size_t n)
{
    uint32_t both[TUNE_SAMPLED];
    for (size_t j = 0; j < n && r->both; j++)
        both[j] = r->both[i * r->d + column[j]];
    if (!r->both)
        r->kernels->common_bits(both, r->bits + i * r->width, r->bits, column, n, r->width);
    for (size_t j = 0; j < n; j++)
        out[j] = (both[j] + 0.5) / (r->count[i] * r->count[column[j]] / (double)r->n + 0.5);
}

void graphss_i_coherence(float *out, const graphss_i_reference *r, graphss_i_row row,
    const float *own, size_t k, size_t top)
{
    size_t column[TUNE_SAMPLED];
    bool speaks[TUNE_SAMPLED];
    double best[TUNE_SAMPLED], sum[3] = {0}, pairs[3] = {0}, mean = 0, n_best = 0;
    double ratio[TUNE_SAMPLED];
    const size_t n = row.n < TUNE_SAMPLED ? row.n : TUNE_SAMPLED;
    for (size_t i = 0; i < GRAPHSS_I_COHERENCES; i++)
        out[i] = 0;
    if (!r->n || n < 3)
        return;
    for (size_t i = 0; i < n; i++) {
        column[i] = graphss_i_row_at(row, i * row.n / n);
        speaks[i] = (double)own[column[i] * k + top] > TUNE_SPEAKS;
        best[i] = 0;
    }
    /* One logarithm for all pairs of a feature: 63 ratios of up to 4096 do not overflow. */
    for (size_t i = 1; i < n; i++) {
        double product[3] = {1, 1, 1};
        ratios(ratio, r, column[i], column, i);
        for (size_t j = 0; j < i; j++) {
            const size_t kind = (size_t)speaks[i] + (size_t)speaks[j];
            product[kind] *= ratio[j];
            pairs[kind] += 1;
            best[i] = ratio[j] > best[i] ? ratio[j] : best[i];
            best[j] = ratio[j] > best[j] ? ratio[j] : best[j];
        }
        for (size_t kind = 0; kind < 3; kind++)
            sum[kind] += log(product[kind]);
    }
    for (size_t i = 0; i < n; i++)
        if (speaks[i]) {
            mean += log(best[i]);
            n_best += 1;
        }
    out[COHERENCE_ALL] =
        (float)((sum[0] + sum[1] + sum[2]) / (pairs[0] + pairs[1] + pairs[2]));
    out[COHERENCE_WITHIN] = (float)(pairs[2] > 0 ? sum[2] / pairs[2] : 0);
    out[COHERENCE_BETWEEN] = (float)(pairs[1] > 0 ? sum[1] / pairs[1] : 0);
    out[COHERENCE_BEST] = (float)(n_best > 0 ? mean / n_best : 0);
}
