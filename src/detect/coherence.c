/* coherence.c - affinity of pairs of features. See coherence.h. */
#include "detect/coherence.h"
#include "detect/tuning.h"
#include <math.h>

enum { BITS = 64 };

void graphss_i_reference_destroy(graphss_ctx *ctx, graphss_i_reference *r)
{
    graphss_release(ctx, r->bits);
    graphss_release(ctx, r->count);
    *r = (graphss_i_reference){0};
}

graphss_status graphss_i_reference_open(graphss_ctx *ctx, graphss_i_reference *out,
    const graphss_features *features, const int32_t *label)
{
    const size_t d = features->n_cols;
    graphss_i_reference r = {0};
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
    *out = r;
    return GRAPHSS_OK;
}

static double affinity(const graphss_i_reference *r, size_t i, size_t j)
{
    const uint64_t *a = r->bits + i * r->width, *b = r->bits + j * r->width;
    int both = 0;
    for (size_t w = 0; w < r->width; w++)
        both += __builtin_popcountll(a[w] & b[w]);
    return log((both + 0.5) / (r->count[i] * r->count[j] / (double)r->n + 0.5));
}

void graphss_i_coherence(float *out, const graphss_i_reference *r, graphss_i_row row,
    const float *own, size_t k, size_t top)
{
    size_t column[TUNE_PAIRED];
    bool speaks[TUNE_PAIRED];
    double best[TUNE_PAIRED], sum[3] = {0}, pairs[3] = {0}, mean = 0, n_best = 0;
    const size_t n = row.n < TUNE_PAIRED ? row.n : TUNE_PAIRED;
    for (size_t i = 0; i < GRAPHSS_I_COHERENCES; i++)
        out[i] = 0;
    if (!r->n || n < 3)
        return;
    for (size_t i = 0; i < n; i++) {
        column[i] = graphss_i_row_at(row, i * row.n / n);
        speaks[i] = (double)own[column[i] * k + top] > TUNE_SPEAKS;
        best[i] = -INFINITY;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            const double a = affinity(r, column[i], column[j]);
            const size_t kind = (size_t)speaks[i] + (size_t)speaks[j];
            sum[kind] += a;
            pairs[kind] += 1;
            best[i] = fmax(best[i], a);
            best[j] = fmax(best[j], a);
        }
    for (size_t i = 0; i < n; i++)
        if (speaks[i]) {
            mean += best[i];
            n_best += 1;
        }
    out[COHERENCE_ALL] =
        (float)((sum[0] + sum[1] + sum[2]) / (pairs[0] + pairs[1] + pairs[2]));
    out[COHERENCE_WITHIN] = (float)(pairs[2] > 0 ? sum[2] / pairs[2] : 0);
    out[COHERENCE_BETWEEN] = (float)(pairs[1] > 0 ? sum[1] / pairs[1] : 0);
    out[COHERENCE_BEST] = (float)(n_best > 0 ? mean / n_best : 0);
}
