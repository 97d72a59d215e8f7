/* class_model.c - counts of edges and features by class. See class_model.h. */
#include "detect/class_model.h"
#include "detect/tuning.h"
#include <math.h>

static double bounded(double ratio)
{
    return fmin(fmax(ratio, 1 / TUNE_RATIO_MOST), TUNE_RATIO_MOST);
}

void graphss_i_class_model_destroy(graphss_ctx *ctx, graphss_i_class_model *m)
{
    graphss_release(ctx, m->edge);
    graphss_release(ctx, m->prior);
    graphss_release(ctx, m->feature);
    graphss_release(ctx, m->spread);
    graphss_release(ctx, m->loud);
    graphss_release(ctx, m->foreign);
    *m = (graphss_i_class_model){0};
}

static graphss_status allocate(graphss_ctx *ctx, graphss_i_class_model *m)
{
    const size_t k = m->k, d = m->d;
    m->edge = graphss_i_calloc(ctx, k, k * sizeof *m->edge);
    m->prior = graphss_i_calloc(ctx, k, sizeof *m->prior);
    m->feature = graphss_i_calloc(ctx, d, k * sizeof *m->feature);
    m->spread = graphss_i_calloc(ctx, m->dense ? d : 0, 3 * sizeof *m->spread);
    m->loud = graphss_i_calloc(ctx, k, sizeof *m->loud);
    m->foreign = graphss_i_calloc(ctx, m->dense ? 0 : d, k * sizeof *m->foreign);
    return m->edge && m->prior && m->feature && m->spread && m->loud && m->foreign
               ? GRAPHSS_OK
               : GRAPHSS_ERR_NOMEM;
}

/* foreign[j][t] = feature[j][t]^TUNE_LOUD / loud[t] */
static void prefer_loud(graphss_i_class_model *m)
{
    for (size_t i = 0; i < m->d * m->k && !m->dense; i++)
        m->foreign[i] = (float)(pow((double)m->feature[i], TUNE_LOUD) / m->loud[i % m->k]);
}

/* edge[y][c] = P(neighbour of class c | class y) / P(neighbour of class c), from
 *     C[y][c] = 1 + sum over edges (u, v) of belief[u][y] belief[v][c]. */
static void learn_edges(
    graphss_i_class_model *m, const graphss_graph *graph, const float *belief, double *near)
{
    const size_t k = m->k;
    double all = 0;
    for (size_t i = 0; i < k * k; i++)
        m->edge[i] = 1;
    for (size_t v = 0; v < graph->n_nodes; v++) {
        for (size_t c = 0; c < k; c++)
            near[c] = 0;
        for (int64_t e = graph->offset[v]; e < graph->offset[v + 1]; e++)
            for (size_t c = 0; c < k; c++)
                near[c] += (double)belief[(size_t)graph->target[e] * k + c];
        for (size_t y = 0; y < k; y++)
            for (size_t c = 0; c < k; c++)
                m->edge[y * k + c] += (double)belief[v * k + y] * near[c];
    }
    for (size_t y = 0; y < k; y++)
        for (size_t c = 0; c < k; c++) {
            m->prior[c] += m->edge[y * k + c];
            all += m->edge[y * k + c];
        }
    for (size_t c = 0; c < k; c++)
        m->prior[c] /= all;
    for (size_t y = 0; y < k; y++) {
        double row = 0;
        for (size_t c = 0; c < k; c++)
            row += m->edge[y * k + c];
        for (size_t c = 0; c < k; c++)
            m->edge[y * k + c] = bounded(m->edge[y * k + c] / row / m->prior[c]);
    }
}

/* feature[j][y] = (nodes of class y that have j + PRIOR P(j)) / (nodes of class y + PRIOR) /
 * P(j) with P(j) the share of all nodes that have it. A feature of a single node is no
 * evidence. */
static void learn_sparse(graphss_i_class_model *m, const graphss_features *x,
    const int32_t *assumed, const double *size)
{
    const size_t k = m->k;
    double n = 0, entries = 0;
    for (size_t v = 0; v < x->n_rows; v++) {
        const graphss_i_row row = graphss_i_row_of(x, v);
        n += assumed[v] >= 0;
        for (size_t j = 0; j < row.n && assumed[v] >= 0; j++)
            m->feature[(size_t)row.column[j] * k + (size_t)assumed[v]] += 1;
    }
    for (size_t j = 0; j < m->d; j++) {
        double count = 0;
        for (size_t y = 0; y < k; y++)
            count += (double)m->feature[j * k + y];
        const double share = count / n;
        entries += count;
        for (size_t y = 0; y < k; y++) {
            const double seen = (double)m->feature[j * k + y] + TUNE_FEATURE_PRIOR * share;
            const double ratio =
                count < 2 ? 1 : bounded(seen / (size[y] + TUNE_FEATURE_PRIOR) / share);
            m->feature[j * k + y] = (float)ratio;
            m->loud[y] += count * pow(ratio, TUNE_LOUD);
        }
    }
    for (size_t y = 0; y < k; y++)
        m->loud[y] = entries > 0 ? m->loud[y] / entries : 1;
}

/* Mean of a column in each class, one deviation within classes, mean and deviation over all.
 */
static void learn_dense(graphss_i_class_model *m, const graphss_features *x,
    const int32_t *assumed, const double *size)
{
    const size_t k = m->k, n = x->n_rows, d = m->d;
    for (size_t v = 0; v < n; v++)
        for (size_t j = 0; j < d; j++)
            m->feature[j * k + (size_t)assumed[v]] += x->value[v * d + j];
    for (size_t j = 0; j < d; j++) {
        double sum = 0, square = 0, within = 0;
        for (size_t y = 0; y < k; y++)
            sum += (double)m->feature[j * k + y];
        const double mean = sum / (double)n;
        for (size_t y = 0; y < k; y++)
            m->feature[j * k + y] =
                (float)(((double)m->feature[j * k + y] + TUNE_FEATURE_PRIOR * mean) /
                        (size[y] + TUNE_FEATURE_PRIOR));
        for (size_t v = 0; v < n; v++) {
            const double value = (double)x->value[v * d + j];
            const double own = (double)m->feature[j * k + (size_t)assumed[v]];
            square += (value - mean) * (value - mean);
            within += (value - own) * (value - own);
        }
        m->spread[3 * j] = (float)sqrt(within / (double)n);
        m->spread[3 * j + 1] = (float)mean;
        m->spread[3 * j + 2] = (float)sqrt(square / (double)n);
    }
}

graphss_status graphss_i_class_model_learn(graphss_ctx *ctx, graphss_i_class_model *out,
    const graphss_graph *graph, const graphss_features *features, const float *belief,
    const uint8_t *spare, size_t k)
{
    const size_t n = graph->n_nodes;
    graphss_i_class_model m = {
        .k = k, .d = features->n_cols, .dense = graphss_features_dense(features)};
    double *scratch = graphss_i_calloc(ctx, k, sizeof *scratch);
    int32_t *assumed = graphss_i_alloc(ctx, n, sizeof *assumed);
    graphss_status st = allocate(ctx, &m);
    if (!scratch || !assumed)
        st = GRAPHSS_ERR_NOMEM;
    if (!st) {
        learn_edges(&m, graph, belief, scratch);
        for (size_t y = 0; y < k; y++)
            scratch[y] = 0;
        for (size_t v = 0; v < n; v++) {
            assumed[v] =
                spare && spare[v] && !m.dense ? -1 : (int32_t)graphss_i_top(belief + v * k, k);
            if (assumed[v] >= 0)
                scratch[assumed[v]] += 1;
        }
        if (m.dense)
            learn_dense(&m, features, assumed, scratch);
        else
            learn_sparse(&m, features, assumed, scratch);
        prefer_loud(&m);
        *out = m;
    } else
        graphss_i_class_model_destroy(ctx, &m);
    graphss_release(ctx, scratch);
    graphss_release(ctx, assumed);
    return st;
}

/* N(x; mean, spread) without its constant factor */
static double normal(double x, double mean, double spread)
{
    const double z = (x - mean) / spread;
    return exp(-0.5 * z * z) / spread;
}

void graphss_i_class_model_ratio(
    double *ratio, const graphss_i_class_model *m, size_t column, float value)
{
    const float *own = m->feature + column * m->k;
    if (!m->dense) {
        for (size_t y = 0; y < m->k; y++)
            ratio[y] = (double)own[y];
        return;
    }
    const float *s = m->spread + 3 * column;
    const double x = (double)value, all = normal(x, (double)s[1], (double)s[2]);
    const double spread = (double)s[0];
    const bool known = s[0] > 0 && s[2] > 0;
    for (size_t y = 0; y < m->k; y++) { /* normal(), in loops that are vectors but for exp */
        const double z = (x - (double)own[y]) / spread;
        ratio[y] = -0.5 * z * z;
    }
    for (size_t y = 0; y < m->k; y++)
        ratio[y] = exp(ratio[y]);
    for (size_t y = 0; y < m->k; y++) {
        const double r = ratio[y] / spread / all;
        const double more = r > 1 / TUNE_RATIO_MOST ? r : 1 / TUNE_RATIO_MOST;
        const double kept = more < TUNE_RATIO_MOST ? more : TUNE_RATIO_MOST;
        ratio[y] = known && r == r ? kept : 1;
    }
}

size_t graphss_i_class_model_size(const graphss_i_class_model *m)
{
    return m->k * m->k + 2 * m->k + m->d * m->k + (m->dense ? 3 * m->d : 0);
}

static double *put_doubles(double *out, const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = x[i];
    return out + n;
}

static double *put_floats(double *out, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (double)x[i];
    return out + n;
}

double *graphss_i_class_model_put(double *out, const graphss_i_class_model *m)
{
    out = put_doubles(out, m->edge, m->k * m->k);
    out = put_doubles(out, m->prior, m->k);
    out = put_doubles(out, m->loud, m->k);
    out = put_floats(out, m->feature, m->d * m->k);
    return put_floats(out, m->spread, m->dense ? 3 * m->d : 0);
}

static void get_doubles(double *x, const double **in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = *(*in)++;
}

static void get_floats(float *x, const double **in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (float)*(*in)++;
}

graphss_status graphss_i_class_model_get(
    graphss_ctx *ctx, graphss_i_class_model *m, const double **in)
{
    const graphss_status st = allocate(ctx, m);
    if (st) {
        graphss_i_class_model_destroy(ctx, m);
        return st;
    }
    get_doubles(m->edge, in, m->k * m->k);
    get_doubles(m->prior, in, m->k);
    get_doubles(m->loud, in, m->k);
    get_floats(m->feature, in, m->d * m->k);
    get_floats(m->spread, in, m->dense ? 3 * m->d : 0);
    prefer_loud(m);
    return GRAPHSS_OK;
}
