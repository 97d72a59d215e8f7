/* naive_bayes.c - see naive_bayes.h. A word is there or not, whatever its value; in dense features
 * every word is, so they are not counted. */
#include "detect/naive_bayes.h"
#include "base/base.h"
#include <math.h>
#include <stdlib.h>

enum { SAMPLE = 20000 };                        /* nodes at most for the unit */
static const double SMOOTH = 0.1, LEAST = 1e-9; /* added to counts; the smallest unit */

void graphss_i_lexicon_destroy(graphss_ctx *ctx, graphss_i_lexicon *x)
{
    graphss_release(ctx, x->weight);
    *x = (graphss_i_lexicon){0};
}

void graphss_i_softmax_of(float *p, const double *z, double unit, size_t k)
{
    double most = z[0], sum = 0;
    for (size_t c = 1; c < k; c++)
        most = fmax(most, z[c]);
    for (size_t c = 0; c < k; c++)
        sum += exp((z[c] - most) / unit);
    for (size_t c = 0; c < k; c++)
        p[c] = (float)(exp((z[c] - most) / unit) / sum);
}

/* z[c] = sum over the words of weight[word][c] */
static void add_up(double *z, const float *weight, graphss_i_row r, size_t k)
{
    memset(z, 0, k * sizeof *z);
    for (size_t j = 0; j < r.n; j++) {
        if (r.value[j] == 0)
            continue;
        const float *w = weight + graphss_i_row_at(r, j) * k;
        for (size_t c = 0; c < k; c++)
            z[c] += (double)w[c];
    }
}

double graphss_i_margin(const double *z, size_t k)
{
    double first = -INFINITY, second = -INFINITY;
    for (size_t c = 0; c < k; c++) {
        second = fmax(second, fmin(first, z[c]));
        first = fmax(first, z[c]);
    }
    return k > 1 ? first - second : 0;
}

void graphss_i_lexicon_read(float *p, double *z, const graphss_i_lexicon *x, graphss_i_row row,
                            size_t k)
{
    if (x->weight) {
        add_up(z, x->weight, row, k);
        graphss_i_softmax_of(p, z, x->unit, k);
    }
    for (size_t c = 0; c < k && !x->weight; c++)
        p[c] = 1 / (float)k;
}

/* weight[w][c] = l_wc - mean over c of l_wc, l_wc = log((n_wc + SMOOTH) / (n_c + 1)):
 * n_c training nodes of the class, n_wc with the word. class [k]: n_c */
static void weigh(float *weight, double *class, const graphss_features *features,
                  const graphss_split *split, size_t k)
{
    memset(weight, 0, features->n_cols * k * sizeof *weight);
    memset(class, 0, k * sizeof *class);
    for (size_t t = 0; t < split->n_train; t++) {
        const graphss_i_row r = graphss_i_row_of(features, (size_t)split->train[t]);
        const size_t c = (size_t)split->train_label[t];
        class[c]++;
        for (size_t j = 0; j < r.n; j++)
            weight[graphss_i_row_at(r, j) * k + c] += r.value[j] != 0;
    }
    for (size_t j = 0; j < features->n_cols; j++) {
        float *w = weight + j * k;
        double mean = 0;
        for (size_t c = 0; c < k; c++) {
            w[c] = (float)log(((double)w[c] + SMOOTH) / (class[c] + 1));
            mean += (double)w[c] / (double)k;
        }
        for (size_t c = 0; c < k; c++)
            w[c] -= (float)mean;
    }
}

graphss_status graphss_i_lexicon_learn(graphss_ctx *ctx, graphss_i_lexicon *x,
                                       const graphss_features *features,
                                       const graphss_split *split, size_t k)
{
    if (graphss_features_dense(features))
        return GRAPHSS_OK;
    const size_t n = features->n_rows, stride = n / SAMPLE + 1, m = (n + stride - 1) / stride;
    double *z = graphss_i_alloc(ctx, k, sizeof *z);
    double *margins = graphss_i_alloc(ctx, m, sizeof *margins);
    x->weight = graphss_i_alloc(ctx, features->n_cols, k * sizeof *x->weight);
    const bool good = z && margins && x->weight;
    if (good) {
        weigh(x->weight, z, features, split, k);
        for (size_t i = 0; i < m; i++) {
            add_up(z, x->weight, graphss_i_row_of(features, i * stride), k);
            margins[i] = graphss_i_margin(z, k);
        }
        qsort(margins, m, sizeof *margins, graphss_i_compare_doubles);
        size_t middle = m / 2; /* of the nodes whose words say anything, if half are silent */
        while (middle + 1 < m && margins[middle] == 0)
            middle += (m - middle) / 2;
        x->unit = fmax(margins[middle], LEAST);
    }
    graphss_release(ctx, margins);
    graphss_release(ctx, z);
    return good ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}
