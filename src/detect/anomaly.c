/* anomaly.c - how unusual a node is, whatever its class: how many edges and features it has,
 * how similar its neighbours are, how strong the evidence of its features is. */
#include "detect/class_evidence.h"
#include "detect/tuning.h"
#include <float.h>
#include <math.h>

enum { BLOCK = 32 }; /* ratios that are multiplied before a logarithm is taken */

enum {
    ANOMALY_DEGREE,
    ANOMALY_FEATURES,
    ANOMALY_SIMILAR_AGREE,    /* mean similarity of neighbours that are of the node's class */
    ANOMALY_SIMILAR_DISAGREE, /* and of those that are not: an attacker's are not similar */
    ANOMALY_LEAST_SIMILARITY,
    ANOMALY_CLOSED_AGREE, /* share of such neighbours that close a triangle */
    ANOMALY_CLOSED_DISAGREE,
    ANOMALY_LOUD,     /* mean of the loudest features for the class */
    ANOMALY_SPREAD,   /* deviation of all */
    ANOMALY_AGAINST,  /* share of features that speak against it */
    ANOMALY_LOUD_ANY, /* mean of the loudest for any class */
    ANOMALY_MEAN,     /* mean of all features for the class */
    ANOMALY_STRONG,   /* share of features that speak strongly for it */
    ANOMALY_MARGIN, /* of the classifier without edges, as log odds of its two best classes */
    ANOMALY_LIKELIHOOD, /* the same of the features' likelihood, by the root of their number */
    ANOMALY_COHERENCE,  /* how well the features go together */
    ANOMALIES = ANOMALY_COHERENCE + GRAPHSS_I_COHERENCES
};
_Static_assert((int)ANOMALIES == (int)GRAPHSS_I_OWN_ANOMALIES, "columns of the header");

/* Do nodes a and b share a neighbour? Looks at the neighbours of the one with fewer. */
static bool share_neighbour(const graphss_graph *g, size_t a, size_t b)
{
    if (graphss_graph_degree(g, a) > graphss_graph_degree(g, b)) {
        const size_t t = a;
        a = b;
        b = t;
    }
    const int64_t n = g->offset[a + 1] - g->offset[a];
    const int64_t most = n < TUNE_SAMPLED ? n : TUNE_SAMPLED;
    graphss_i_walk w = graphss_i_walk_from(g, (int32_t)b);
    for (int64_t i = 0; i < most; i++)
        if (graphss_i_walk_meets(&w, g->target[g->offset[a] + i * n / most]))
            return true;
    return false;
}

/* Weighted mean, drawn to that of all by half a neighbour. */
static float drawn(double sum, double weight, double all)
{
    return (float)((sum + 0.5 * all) / (weight + 0.5));
}

/* Neighbours of a node, up to TUNE_SAMPLED of them. */
typedef struct neighbours {
    size_t node[TUNE_SAMPLED];
    double alike[TUNE_SAMPLED]; /* cosine of their features and the node's */
    size_t n;
} neighbours;

/* by_column [d]: zeros, and again when done; not read where rows are dense. */
static void compare_neighbours(
    neighbours *out, const graphss_i_evidence_base *b, size_t v, float *by_column)
{
    const int64_t degree = b->graph->offset[v + 1] - b->graph->offset[v];
    const int64_t most = degree < TUNE_SAMPLED ? degree : TUNE_SAMPLED;
    const graphss_i_row own = graphss_i_row_of(b->features, v);
    double aa, dot[GRAPHSS_I_DOTS], bb[GRAPHSS_I_DOTS];
    for (size_t j = 0; j < own.n && own.column; j++)
        by_column[own.column[j]] = own.value[j];
    const float *spread = own.column ? by_column : own.value;
    graphss_i_row_dots(dot, &aa, &own, 1, spread);
    out->n = (size_t)most;
    for (size_t i = 0; i < out->n; i++)
        out->node[i] =
            (size_t)b->graph->target[b->graph->offset[v] + (int64_t)i * degree / most];
    for (size_t i = 0; i < out->n; i += GRAPHSS_I_DOTS) {
        const size_t m = out->n - i < GRAPHSS_I_DOTS ? out->n - i : GRAPHSS_I_DOTS;
        graphss_i_row row[GRAPHSS_I_DOTS];
        for (size_t q = 0; q < m; q++)
            row[q] = graphss_i_row_of(b->features, out->node[i + q]);
        graphss_i_row_dots(dot, bb, row, m, spread);
        for (size_t q = 0; q < m; q++)
            out->alike[i + q] = aa > 0 && bb[q] > 0 ? dot[q] / sqrt(aa * bb[q]) : 0;
    }
    for (size_t j = 0; j < own.n && own.column; j++)
        by_column[own.column[j]] = 0;
}

static void neighbour_anomalies(
    float *anomaly, const graphss_i_evidence_base *b, size_t v, size_t top, float *by_column)
{
    neighbours near;
    compare_neighbours(&near, b, v, by_column);
    double sum = 0, least = 1, closed = 0, agree = 0, agree_sum = 0, agree_closed = 0;
    for (size_t i = 0; i < near.n; i++) {
        const double alike = near.alike[i];
        const double shares = share_neighbour(b->graph, v, near.node[i]);
        const double same = (double)b->belief[near.node[i] * b->k + top];
        sum += alike;
        least = fmin(least, alike);
        closed += shares;
        agree += same;
        agree_sum += same * alike;
        agree_closed += same * shares;
    }
    const double n = near.n ? (double)near.n : 1, disagree = (double)near.n - agree;
    anomaly[ANOMALY_DEGREE] = (float)log1p((double)graphss_graph_degree(b->graph, v));
    anomaly[ANOMALY_SIMILAR_AGREE] = drawn(agree_sum, agree, sum / n);
    anomaly[ANOMALY_SIMILAR_DISAGREE] = drawn(sum - agree_sum, disagree, sum / n);
    anomaly[ANOMALY_LEAST_SIMILARITY] = (float)least;
    anomaly[ANOMALY_CLOSED_AGREE] = drawn(agree_closed, agree, closed / n);
    anomaly[ANOMALY_CLOSED_DISAGREE] = drawn(closed - agree_closed, disagree, closed / n);
}

size_t graphss_i_anomaly_scratch(size_t k)
{
    return 3 * k + 2 * TUNE_LOUDEST;
}

/* Keeps the TUNE_LOUDEST largest values offered, in top, the least first. */
static void offer(double *top, size_t *n, double x)
{
    if (*n == TUNE_LOUDEST && x <= top[0])
        return;
    size_t at = 0;
    if (*n == TUNE_LOUDEST) { /* the least leaves */
        while (at + 1 < *n && top[at + 1] < x) {
            top[at] = top[at + 1];
            at++;
        }
        top[at] = x;
        return;
    }
    at = (*n)++;
    while (at > 0 && top[at - 1] > x) {
        top[at] = top[at - 1];
        at--;
    }
    top[at] = x;
}

static double mean_of(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return n ? sum / (double)n : 0;
}

/* log odds of the two best of k probabilities, or difference of the two best logarithms */
static double margin_of(const float *p, size_t k)
{
    const size_t best = graphss_i_top(p, k);
    float second = 0;
    for (size_t c = 0; c < k; c++)
        second = c != best && p[c] > second ? p[c] : second;
    return log(((double)p[best] + FLT_EPSILON) / ((double)second + FLT_EPSILON));
}

static double gap_of(const double *x, size_t k)
{
    double best = -INFINITY, second = -INFINITY;
    for (size_t c = 0; c < k; c++) {
        second = fmax(second, fmin(best, x[c]));
        best = fmax(best, x[c]);
    }
    return best - second;
}

void graphss_i_anomaly_row(float *anomaly, const graphss_i_evidence_base *base, size_t node,
    size_t top, const double *ratios, double *scratch, float *by_column)
{
    const graphss_i_row x = graphss_i_row_of(base->features, node);
    double *room = scratch, *loud = scratch + base->k, *any = loud + TUNE_LOUDEST;
    double *likelihood = any + TUNE_LOUDEST, *product = likelihood + base->k; /* [k] */
    double sum = 0, square = 0, against = 0, strong = 0;
    for (size_t y = 0; y < base->k; y++) {
        likelihood[y] = 0;
        product[y] = 1;
    }
    size_t n_loud = 0, n_any = 0;
    for (size_t j = 0; j < x.n; j++) {
        const double *ratio = ratios ? ratios + j * base->k : room;
        if (!ratios)
            graphss_i_class_model_ratio(
                room, base->classes, graphss_i_row_at(x, j), x.value[j]);
        double most = ratio[0];
        for (size_t y = 0; y < base->k; y++) {
            most = ratio[y] > most ? ratio[y] : most;
            product[y] *= ratio[y];
        }
        for (size_t y = 0; y < base->k && (j % BLOCK == BLOCK - 1 || j + 1 == x.n); y++) {
            likelihood[y] += log(product[y]);
            product[y] = 1;
        }
        const double own = log(ratio[top]);
        sum += own;
        square += own * own;
        against += own < 0;
        strong += own > TUNE_STRONG;
        offer(loud, &n_loud, own);
        offer(any, &n_any, log(most));
    }
    const double n = x.n ? (double)x.n : 1, mean = sum / n;
    neighbour_anomalies(anomaly, base, node, top, by_column);
    anomaly[ANOMALY_FEATURES] = (float)log1p((double)graphss_i_row_count(x));
    anomaly[ANOMALY_LOUD] = (float)mean_of(loud, n_loud);
    anomaly[ANOMALY_SPREAD] = (float)sqrt(fmax(0, square / n - mean * mean));
    anomaly[ANOMALY_AGAINST] = (float)(against / n);
    anomaly[ANOMALY_LOUD_ANY] = (float)mean_of(any, n_any);
    anomaly[ANOMALY_MEAN] = (float)mean;
    anomaly[ANOMALY_STRONG] = (float)(strong / n);
    anomaly[ANOMALY_MARGIN] = (float)margin_of(base->alone + node * base->k, base->k);
    graphss_i_coherence(anomaly + ANOMALY_COHERENCE, base->reference, x,
        base->classes->feature, base->k, graphss_i_top(base->alone + node * base->k, base->k));
    anomaly[ANOMALY_LIKELIHOOD] = (float)(gap_of(likelihood, base->k) / sqrt(n));
}
