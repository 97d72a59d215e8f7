/* class_evidence.c - the sources of evidence. See class_evidence.h.
 *
 * Likelihoods are products of ratios between 1/20 and 20 over tens of items; logarithms are
 * taken of products of BLOCK items, which stay within the range of a double. */
#include "detect/class_evidence.h"
#include "detect/tuning.h"
#include <math.h>
#include <string.h>

enum { BLOCK = 32, ROWS = 64 };

void graphss_i_evidence_base_destroy(graphss_ctx *ctx, graphss_i_evidence_base *base)
{
    graphss_release(ctx, base->alone);
    graphss_release(ctx, base->belief);
    graphss_release(ctx, base->ratio);
    graphss_release(ctx, base->labels);
    *base = (graphss_i_evidence_base){0};
}

/* ---- the base: one pass over nodes ---- */

static void believe(float *belief, const float *prob, int32_t label, size_t k)
{
    for (size_t c = 0; c < k; c++)
        belief[c] = label < 0 ? prob[c]
                              : (float)((1 - TUNE_LABEL_TRUST) / (double)k +
                                        ((int32_t)c == label ? TUNE_LABEL_TRUST : 0));
}

/* ratio[y] = sum over c of belief[c] edge[y][c] */
static void edge_ratio(float *ratio, const float *belief, const graphss_i_class_model *m)
{
    for (size_t y = 0; y < m->k; y++) {
        double sum = 0;
        for (size_t c = 0; c < m->k; c++)
            sum += (double)belief[c] * m->edge[y * m->k + c];
        ratio[y] = (float)sum;
    }
}

typedef struct base_job {
    graphss_i_evidence_base *base;
    const graphss_i_evidence_base *like;
} base_job;

static void base_rows(void *arg, size_t task)
{
    const base_job *job = arg;
    graphss_i_evidence_base *b = job->base;
    const graphss_i_evidence_base *like = job->like;
    const size_t k = b->k;
    for (size_t v = task * ROWS; v < graphss_i_task_end(task, b->n, ROWS); v++) {
        float *belief = b->belief + v * k, *labels = b->labels + v * k;
        believe(belief, b->prob + v * k, b->label[v], k);
        if (like && !memcmp(belief, like->belief + v * k, k * sizeof *belief))
            memcpy(b->ratio + v * k, like->ratio + v * k, k * sizeof *belief);
        else
            edge_ratio(b->ratio + v * k, belief, b->classes);
        memset(labels, 0, k * sizeof *labels);
        for (int64_t e = b->graph->offset[v]; e < b->graph->offset[v + 1]; e++)
            if (b->label[b->graph->target[e]] >= 0)
                labels[b->label[b->graph->target[e]]] += 1;
    }
}

graphss_status graphss_i_evidence_base_fill(graphss_ctx *ctx, graphss_i_evidence_base *base,
                                            const float *alone,
                                            const graphss_i_evidence_base *like)
{
    const size_t n = base->n, k = base->k;
    base->alone = graphss_i_copy(ctx, alone, n * k, sizeof *alone);
    base->belief = graphss_i_alloc(ctx, n, k * sizeof *base->belief);
    base->ratio = graphss_i_alloc(ctx, n, k * sizeof *base->ratio);
    base->labels = graphss_i_alloc(ctx, n, k * sizeof *base->labels);
    if (!base->alone || !base->belief || !base->ratio || !base->labels)
        return GRAPHSS_ERR_NOMEM;
    base_job job = {base, like};
    return graphss_i_parallel_checked(ctx, graphss_i_tasks(n, ROWS), base_rows, &job);
}

/* ---- one node ---- */

/* Scratch of one node; arrays of the sizes named. */
typedef struct row {
    double *features, *edges;                 /* [k] weighted log likelihoods */
    double *foreign_features, *foreign_edges; /* [k x targets] with an attacker's share */
    double *product;                          /* [k x targets] */
    double *item, *foreign;                   /* [k], [targets] ratios of one item */
    double *p;                                /* [k] */
    double *look;                             /* of graphss_i_look_row */
    int32_t target[TUNE_TARGETS];
    double prior[TUNE_TARGETS]; /* log chance that an attacker pushes there */
    size_t targets;
} row;

static size_t row_size(size_t k)
{
    return 5 * k + 3 * k * TUNE_TARGETS + TUNE_TARGETS + graphss_i_look_scratch(k);
}

static row row_of(double *room, size_t k)
{
    row r = {.features = room};
    r.edges = r.features + k;
    r.item = r.edges + k;
    r.p = r.item + k;
    r.foreign = r.p + 2 * k;
    r.foreign_features = r.foreign + TUNE_TARGETS;
    r.foreign_edges = r.foreign_features + k * TUNE_TARGETS;
    r.product = r.foreign_edges + k * TUNE_TARGETS;
    r.look = r.product + k * TUNE_TARGETS;
    return r;
}

/* out [n] += log product [n], which becomes 1 */
static void take_logs(double *out, double *product, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out[i] += log(product[i]);
        product[i] = 1;
    }
}

static void clear(double *out, double *product, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = 0;
        product[i] = 1;
    }
}

/* The j-th item of a node: item [k] its ratios, foreign [targets] those of an attacker's. */
typedef void (*item_fn)(row *r, const graphss_i_evidence_base *b, size_t v, size_t j);

static void feature_item(row *r, const graphss_i_evidence_base *b, size_t v, size_t j)
{
    const graphss_i_row x = graphss_i_row_of(b->features, v);
    const size_t column = graphss_i_row_at(x, j);
    graphss_i_class_model_ratio(r->item, b->classes, column, x.value[j]);
    for (size_t t = 0; t < r->targets; t++)
        r->foreign[t] = graphss_i_class_model_foreign(b->classes, column, (size_t)r->target[t],
                                                      r->item[r->target[t]]);
}

static void edge_item(row *r, const graphss_i_evidence_base *b, size_t v, size_t j)
{
    const size_t u = (size_t)b->graph->target[b->graph->offset[v] + (int64_t)j];
    const float *ratio = b->ratio + u * b->k, *belief = b->belief + u * b->k;
    for (size_t y = 0; y < b->k; y++)
        r->item[y] = (double)ratio[y];
    for (size_t t = 0; t < r->targets; t++) {
        const double share = (double)belief[r->target[t]] / b->classes->prior[r->target[t]];
        r->foreign[t] = fmin(fmax(share, 1 / TUNE_RATIO_MOST), TUNE_RATIO_MOST);
    }
}

/* out [k] = weight * sum over items of log r(y) */
static void likelihood(double *out, row *r, const graphss_i_evidence_base *b, size_t v,
                       size_t items, item_fn item, double weight)
{
    const size_t k = b->k;
    clear(out, r->product, k);
    r->targets = 0;
    for (size_t j = 0; j < items; j++) {
        item(r, b, v, j);
        for (size_t y = 0; y < k; y++)
            r->product[y] *= r->item[y];
        if (j % BLOCK == BLOCK - 1)
            take_logs(out, r->product, k);
    }
    take_logs(out, r->product, k);
    for (size_t y = 0; y < k; y++)
        out[y] *= weight;
}

/* out [k x targets] = weight * sum over items of log((1 - s) r(y) + s r'(t)) */
static void mixed_likelihood(double *out, row *r, const graphss_i_evidence_base *b, size_t v,
                             size_t items, item_fn item, double share, double weight)
{
    const size_t k = b->k, m = r->targets;
    clear(out, r->product, k * m);
    for (size_t j = 0; j < items; j++) {
        item(r, b, v, j);
        for (size_t y = 0; y < k; y++)
            for (size_t t = 0; t < m; t++)
                r->product[y * m + t] *= (1 - share) * r->item[y] + share * r->foreign[t];
        if (j % BLOCK == BLOCK - 1)
            take_logs(out, r->product, k * m);
    }
    take_logs(out, r->product, k * m);
    for (size_t i = 0; i < k * m; i++)
        out[i] *= weight;
}

/* x [k] becomes log probabilities; returns the log of the sum of exponentials. */
static double log_normalise(double *x, size_t k)
{
    double most = x[0], sum = 0;
    for (size_t c = 1; c < k; c++)
        most = fmax(most, x[c]);
    for (size_t c = 0; c < k; c++)
        sum += exp(x[c] - most);
    const double total = most + log(sum);
    for (size_t c = 0; c < k; c++)
        x[c] -= total;
    return total;
}

static void put(float *evidence, graphss_i_source_id source, const double *x, size_t k)
{
    for (size_t c = 0; c < k; c++)
        evidence[c * GRAPHSS_I_ROW + source] = (float)fmax(x[c], TUNE_EVIDENCE_LEAST);
}

/* Evidence of votes or probabilities p [k], which need not sum to 1. */
static void put_shares(float *evidence, graphss_i_source_id source, double *p, size_t k)
{
    double sum = 0;
    for (size_t c = 0; c < k; c++)
        sum += p[c];
    for (size_t c = 0; c < k; c++)
        p[c] = log((sum > 0 ? p[c] / sum : 1 / (double)k) + TUNE_DOUBT / (double)k);
    log_normalise(p, k);
    put(evidence, source, p, k);
}

static void put_likelihood(float *evidence, graphss_i_source_id source, double *p,
                           const double *x, size_t k)
{
    memcpy(p, x, k * sizeof *p);
    log_normalise(p, k);
    put(evidence, source, p, k);
}

/* p [k] = prior / k + sum over the neighbours of x [n x k] */
static void vote(double *p, const graphss_i_evidence_base *b, size_t v, const float *x,
                 double prior)
{
    for (size_t c = 0; c < b->k; c++)
        p[c] = prior / (double)b->k;
    for (int64_t e = b->graph->offset[v]; e < b->graph->offset[v + 1]; e++)
        for (size_t c = 0; c < b->k; c++)
            p[c] += (double)x[(size_t)b->graph->target[e] * b->k + c];
}

static void plain_sources(float *evidence, row *r, const graphss_i_evidence_base *b, size_t v)
{
    const size_t k = b->k;
    double *p = r->p;
    for (size_t c = 0; c < k; c++)
        p[c] = (double)b->prob[v * k + c];
    put_shares(evidence, SOURCE_NOW, p, k);
    for (size_t c = 0; c < k; c++)
        p[c] = (double)b->alone[v * k + c];
    put_shares(evidence, SOURCE_ALONE, p, k);
    put_likelihood(evidence, SOURCE_FEATURES, p, r->features, k);
    put_likelihood(evidence, SOURCE_EDGES, p, r->edges, k);
    vote(p, b, v, b->belief, TUNE_VOTE_PRIOR);
    put_shares(evidence, SOURCE_NEIGHBOURS, p, k);
    vote(p, b, v, b->alone, TUNE_VOTE_PRIOR);
    put_shares(evidence, SOURCE_NEIGHBOURS_ALONE, p, k);
    for (size_t c = 0; c < k; c++)
        p[c] = (double)b->labels[v * k + c] + TUNE_LABEL_PRIOR / (double)k;
    put_shares(evidence, SOURCE_LABELS, p, k);
    vote(p, b, v, b->labels, TUNE_LABEL_PRIOR);
    if (b->label[v] >= 0) /* there and back */
        p[b->label[v]] -= (double)graphss_graph_degree(b->graph, v);
    put_shares(evidence, SOURCE_LABELS_2, p, k);
}

/* The likeliest classes to push to, by classifier, features and edges, and their prior: an
 * attack that succeeded shows in the classifier's answer. */
static void choose_targets(row *r, const float *evidence, size_t k)
{
    r->targets = k < TUNE_TARGETS ? k : TUNE_TARGETS;
    for (size_t i = 0; i < r->targets; i++) {
        size_t best = 0;
        double most = -INFINITY;
        for (size_t c = 0; c < k; c++) {
            const float *e = evidence + c * GRAPHSS_I_ROW;
            const double sum = exp((double)e[SOURCE_NOW]) + exp((double)e[SOURCE_FEATURES]) +
                               exp((double)e[SOURCE_EDGES]) +
                               exp((double)e[SOURCE_NEIGHBOURS]);
            bool taken = false;
            for (size_t j = 0; j < i; j++)
                taken = taken || r->target[j] == (int32_t)c;
            if (!taken && sum > most) {
                most = sum;
                best = c;
            }
        }
        r->target[i] = (int32_t)best;
        r->prior[i] =
            log(exp((double)evidence[best * GRAPHSS_I_ROW + SOURCE_NOW]) + TUNE_TARGET_PRIOR);
    }
}

/* log of the sum over targets t != y of prior(t) exp(a[y][t] + b[y][t]); a or b may be NULL */
static double sum_over_targets(const row *r, const double *a, const double *b, size_t y)
{
    const size_t m = r->targets;
    double most = -INFINITY, sum = 0;
    for (size_t t = 0; t < m; t++)
        if (r->target[t] != (int32_t)y)
            most = fmax(most, r->prior[t] + (a ? a[y * m + t] : 0) + (b ? b[y * m + t] : 0));
    for (size_t t = 0; t < m; t++)
        if (r->target[t] != (int32_t)y)
            sum += exp(r->prior[t] + (a ? a[y * m + t] : 0) + (b ? b[y * m + t] : 0) - most);
    return m > 1 ? most + log(sum) : 0;
}

/* The three sources that allow for an attacker, and ratio [GRAPHSS_I_RATIOS]: how much better
 * tampered edges, features, both explain the node; and edges and features by themselves. */
static void tampered_sources(float *evidence, float *ratio, row *r, size_t k)
{
    double *p = r->p, *q = r->p + k;
    const double *w = r->foreign_features, *e = r->foreign_edges;
    for (size_t y = 0; y < k; y++)
        p[y] = r->features[y] + r->edges[y];
    const double plain = log_normalise(p, k);
    for (size_t y = 0; y < k; y++)
        p[y] = sum_over_targets(r, NULL, e, y) + r->features[y];
    ratio[0] = (float)(log_normalise(p, k) - plain);
    put(evidence, SOURCE_TAMPERED_EDGES, p, k);
    for (size_t y = 0; y < k; y++)
        p[y] = sum_over_targets(r, w, NULL, y) + r->edges[y];
    ratio[1] = (float)(log_normalise(p, k) - plain);
    put(evidence, SOURCE_TAMPERED_FEATURES, p, k);
    for (size_t y = 0; y < k; y++)
        p[y] = sum_over_targets(r, w, e, y);
    ratio[2] = (float)(log_normalise(p, k) - plain);
    put(evidence, SOURCE_TAMPERED_BOTH, p, k);
    for (size_t y = 0; y < k; y++) {
        p[y] = sum_over_targets(r, NULL, e, y);
        q[y] = r->edges[y];
    }
    ratio[3] = (float)(log_normalise(p, k) - log_normalise(q, k));
    for (size_t y = 0; y < k; y++) {
        p[y] = sum_over_targets(r, w, NULL, y);
        q[y] = r->features[y];
    }
    ratio[4] = (float)(log_normalise(p, k) - log_normalise(q, k));
}

/* 1 - sum over classes of sqrt(p q): 0 where two sources agree, 1 where they exclude another.
 */
static float disagreement(const float *evidence, size_t a, size_t b, size_t k)
{
    double sum = 0;
    for (size_t c = 0; c < k; c++)
        sum += exp(0.5 * ((double)evidence[c * GRAPHSS_I_ROW + a] +
                          (double)evidence[c * GRAPHSS_I_ROW + b]));
    return (float)(1 - sum);
}

static void compare_sources(float *out, const float *evidence, size_t k)
{
    for (size_t s = 0; s < GRAPHSS_I_SOURCES; s++) {
        float most = evidence[s];
        for (size_t c = 1; c < k; c++)
            most = fmaxf(most, evidence[c * GRAPHSS_I_ROW + s]);
        *out++ = most;
    }
    for (size_t a = 0; a < GRAPHSS_I_PLAIN_SOURCES; a++)
        for (size_t b = 0; b < a; b++)
            *out++ = disagreement(evidence, a, b, k);
    for (size_t a = GRAPHSS_I_PLAIN_SOURCES; a < GRAPHSS_I_SOURCES; a++)
        *out++ = disagreement(evidence, a, SOURCE_NOW, k);
}

typedef struct evidence_job {
    float *evidence, *anomaly;
    float *spare; /* [tasks x k x GRAPHSS_I_ROW] where no evidence is wanted */
    double *room; /* [tasks x row_size] */
    const graphss_i_evidence_base *base;
    const int32_t *node;
    size_t m;
} evidence_job;

static void fill_node(float *evidence, float *anomaly, row *r,
                      const graphss_i_evidence_base *b, size_t v)
{
    const size_t k = b->k, degree = graphss_graph_degree(b->graph, v);
    const size_t items = graphss_i_row_of(b->features, v).n;
    const double scale = fmin(1, sqrt(TUNE_MANY_FEATURES / (double)(items ? items : 1)));
    const double weight = TUNE_FEATURE_WEIGHT * scale;
    float ratio[GRAPHSS_I_RATIOS];
    memset(evidence, 0, k * GRAPHSS_I_ROW * sizeof *evidence);
    likelihood(r->features, r, b, v, items, feature_item, weight);
    likelihood(r->edges, r, b, v, degree, edge_item, TUNE_EDGE_WEIGHT);
    plain_sources(evidence, r, b, v);
    choose_targets(r, evidence, k);
    mixed_likelihood(r->foreign_features, r, b, v, items, feature_item, TUNE_FOREIGN_FEATURES,
                     weight);
    mixed_likelihood(r->foreign_edges, r, b, v, degree, edge_item, TUNE_FOREIGN_EDGES,
                     TUNE_EDGE_WEIGHT);
    tampered_sources(evidence, ratio, r, k);
    if (!anomaly)
        return;
    graphss_i_look_row(anomaly, b, v, graphss_i_top(b->prob + v * k, k), r->look);
    compare_sources(anomaly + GRAPHSS_I_LOOKS, evidence, k);
    memcpy(anomaly + GRAPHSS_I_ANOMALIES - GRAPHSS_I_RATIOS, ratio, sizeof ratio);
}

static void evidence_rows(void *arg, size_t task)
{
    const evidence_job *job = arg;
    const size_t k = job->base->k, wide = k * GRAPHSS_I_ROW;
    row r = row_of(job->room + task * row_size(k), k);
    for (size_t i = task * ROWS; i < graphss_i_task_end(task, job->m, ROWS); i++)
        fill_node(job->evidence ? job->evidence + i * wide : job->spare + task * wide,
                  job->anomaly ? job->anomaly + i * GRAPHSS_I_ANOMALIES : NULL, &r, job->base,
                  (size_t)job->node[i]);
}

graphss_status graphss_i_evidence_of(graphss_ctx *ctx, float *evidence, float *anomaly,
                                     const graphss_i_evidence_base *base, const int32_t *node,
                                     size_t m)
{
    const size_t tasks = graphss_i_tasks(m, ROWS), k = base->k;
    evidence_job job = {.evidence = evidence,
                        .anomaly = anomaly,
                        .spare = graphss_i_alloc(ctx, evidence ? 0 : tasks,
                                                 k * GRAPHSS_I_ROW * sizeof *job.spare),
                        .room = graphss_i_alloc(ctx, tasks, row_size(k) * sizeof *job.room),
                        .base = base,
                        .node = node,
                        .m = m};
    const graphss_status st = job.spare && job.room
                                  ? graphss_i_parallel_checked(ctx, tasks, evidence_rows, &job)
                                  : GRAPHSS_ERR_NOMEM;
    graphss_release(ctx, job.spare);
    graphss_release(ctx, job.room);
    return st;
}
