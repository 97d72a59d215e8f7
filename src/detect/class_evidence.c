/* class_evidence.c - the sources of evidence. See class_evidence.h.
 *
 * Likelihoods are products of ratios between 1/20 and 20 over tens of items; logarithms are
 * taken of products of BLOCK items, which stay within the range of a double. */
#include "detect/class_evidence.h"
#include "detect/tuning.h"
#include "graph/part.h"
#include <math.h>
#include <string.h>

enum { BLOCK = 32, ROWS = 64 };

void graphss_i_evidence_base_destroy(graphss_ctx *ctx, graphss_i_evidence_base *base)
{
    graphss_release(ctx, base->alone);
    graphss_release(ctx, base->belief);
    graphss_release(ctx, base->ratio);
    graphss_release(ctx, base->labels);
    graphss_release(ctx, base->propagated);
    graphss_i_reference_destroy(ctx, &base->own_reference);
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
    enum { SIDE = 4 }; /* sums that do not wait for another */
    const size_t k = m->k;
    size_t y = 0;
    for (; y + SIDE <= k; y += SIDE) {
        const double *edge = m->edge + y * k;
        double sum[SIDE] = {0};
        for (size_t c = 0; c < k; c++)
            for (size_t i = 0; i < SIDE; i++)
                sum[i] += (double)belief[c] * edge[i * k + c];
        for (size_t i = 0; i < SIDE; i++)
            ratio[y + i] = (float)sum[i];
    }
    for (; y < k; y++) {
        double sum = 0;
        for (size_t c = 0; c < k; c++)
            sum += (double)belief[c] * m->edge[y * k + c];
        ratio[y] = (float)sum;
    }
}

void graphss_i_evidence_believe(graphss_i_evidence_base *b, size_t v)
{
    believe(b->belief + v * b->k, b->prob + v * b->k, b->label[v], b->k);
    edge_ratio(b->ratio + v * b->k, b->belief + v * b->k, b->classes);
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

static float root_degree(const graphss_i_evidence_base *b, size_t v)
{
    const size_t degree = graphss_graph_degree(b->graph, v);
    return sqrtf((float)(degree ? degree : 1));
}

/* One step of F <- a D^-1/2 A D^-1/2 F + (1 - a) Y on G = D^-1/2 F, which spares the roots of
 * the neighbours: G <- a D^-1 A G + (1 - a) D^-1/2 Y. */
typedef struct step_job {
    const graphss_i_evidence_base *base;
    const float *from;
    float *to;
} step_job;

static void step_rows(void *arg, size_t task)
{
    const step_job *job = arg;
    const graphss_i_evidence_base *b = job->base;
    const size_t k = b->k;
    for (size_t v = task * ROWS; v < graphss_i_task_end(task, b->n, ROWS); v++) {
        float *to = job->to + v * k;
        const size_t degree = graphss_graph_degree(b->graph, v);
        const float weight = (float)(TUNE_PROPAGATION / (double)(degree ? degree : 1));
        memset(to, 0, k * sizeof *to);
        for (int64_t e = b->graph->offset[v]; e < b->graph->offset[v + 1]; e++) {
            const float *from = job->from + (size_t)b->graph->target[e] * k;
            for (size_t c = 0; c < k; c++)
                to[c] += from[c];
        }
        for (size_t c = 0; c < k; c++)
            to[c] *= weight;
        if (b->label[v] >= 0)
            to[b->label[v]] += (float)(1 - TUNE_PROPAGATION) / root_degree(b, v);
    }
}

graphss_status graphss_i_evidence_propagate(graphss_ctx *ctx, graphss_i_evidence_base *b)
{
    const size_t n = b->n, k = b->k, rows = n + (b->part ? b->part->n_ghost : 0);
    float *other = graphss_i_alloc(ctx, rows, k * sizeof *other);
    graphss_status st = other ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    memset(b->propagated, 0, rows * k * sizeof *b->propagated);
    for (size_t v = 0; v < n; v++)
        if (b->label[v] >= 0)
            b->propagated[v * k + (size_t)b->label[v]] = 1 / root_degree(b, v);
    if (!st && b->part)
        st = graphss_i_part_bring(ctx, b->part, b->propagated, k * sizeof *other);
    for (size_t i = 0; i < TUNE_PROPAGATION_STEPS && !st; i++) {
        step_job job = {b, b->propagated, other};
        st = graphss_i_parallel_checked(ctx, graphss_i_tasks(n, ROWS), step_rows, &job);
        if (!st && b->part)
            st = graphss_i_part_bring(ctx, b->part, other, k * sizeof *other);
        other = b->propagated;
        b->propagated = job.to;
    }
    graphss_release(ctx, other);
    return st;
}

graphss_status graphss_i_evidence_base_fill(graphss_ctx *ctx, graphss_i_evidence_base *base,
    const float *alone, const graphss_i_evidence_base *like)
{
    const size_t n = base->n, k = base->k;
    base->part = graphss_i_part_of(ctx, base->graph);
    base->alone = graphss_i_copy(ctx, alone, n * k, sizeof *alone);
    base->belief = graphss_i_alloc(ctx, n, k * sizeof *base->belief);
    base->ratio = graphss_i_alloc(ctx, n, k * sizeof *base->ratio);
    base->labels = graphss_i_alloc(ctx, n, k * sizeof *base->labels);
    base->propagated = graphss_i_alloc(
        ctx, n + (base->part ? base->part->n_ghost : 0), k * sizeof *base->propagated);
    if (!base->alone || !base->belief || !base->ratio || !base->labels || !base->propagated)
        return GRAPHSS_ERR_NOMEM;
    base_job job = {base, like};
    graphss_status st =
        graphss_i_parallel_checked(ctx, graphss_i_tasks(n, ROWS), base_rows, &job);
    if (!st)
        st = graphss_i_evidence_propagate(ctx, base);
    base->reference = like ? like->reference : &base->own_reference;
    if (!st && !like && base->part)
        st = graphss_i_reference_open_part(
            ctx, &base->own_reference, base->part, base->features, base->label);
    else if (!st && !like)
        st = graphss_i_reference_open(ctx, &base->own_reference, base->features, base->label);
    return st;
}

/* ---- one node ---- */

/* Scratch of one node; arrays of the sizes named. */
typedef struct row {
    double *features, *edges;                 /* [k] weighted log likelihoods */
    double *foreign_features, *foreign_edges; /* [k x targets] with an attacker's share */
    double *product;                          /* [k] */
    double *items, *shares;                   /* [BLOCK x k], [BLOCK x targets] */
    const double *item;                       /* [k] ratios of one item */
    double *own, *foreign;                    /* [k] where they are computed, [targets] */
    const double *ratios; /* [items x k] of the features, or NULL: computed one by one */
    double *p;            /* [k] */
    double *scratch;      /* of graphss_i_anomaly_row */
    double *sum;          /* [4 x k] over targets */
    double *root;         /* [sources x k] of compare_sources */
    int32_t target[TUNE_TARGETS];
    double prior[TUNE_TARGETS]; /* log chance that an attacker pushes there */
    size_t targets;
} row;

static size_t row_size(size_t k)
{
    return (10 + GRAPHSS_I_SOURCES + BLOCK) * k + 2 * k * TUNE_TARGETS +
           (BLOCK + 1) * TUNE_TARGETS + graphss_i_anomaly_scratch(k);
}

static row row_of(double *room, size_t k)
{
    row r = {.features = room};
    r.edges = r.features + k;
    r.own = r.edges + k;
    r.p = r.own + k;
    r.foreign = r.p + 2 * k;
    r.foreign_features = r.foreign + TUNE_TARGETS;
    r.foreign_edges = r.foreign_features + k * TUNE_TARGETS;
    r.product = r.foreign_edges + k * TUNE_TARGETS;
    r.items = r.product + k;
    r.shares = r.items + BLOCK * k;
    r.sum = r.shares + BLOCK * TUNE_TARGETS;
    r.root = r.sum + 4 * k;
    r.scratch = r.root + GRAPHSS_I_SOURCES * k;
    return r;
}

/* The ratios of dense features take an exponential each, and are asked for thrice. */
static size_t table_size(const graphss_i_evidence_base *b)
{
    return b->classes->dense ? b->features->n_cols * b->k : 0;
}

static void fill_table(double *table, const graphss_i_evidence_base *b, graphss_i_row x)
{
    for (size_t j = 0; j < x.n; j++)
        graphss_i_class_model_ratio(
            table + j * b->k, b->classes, graphss_i_row_at(x, j), x.value[j]);
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
    if (r->ratios) {
        r->item = r->ratios + j * b->k;
    } else {
        graphss_i_class_model_ratio(r->own, b->classes, column, x.value[j]);
        r->item = r->own;
    }
    for (size_t t = 0; t < r->targets; t++)
        r->foreign[t] = graphss_i_class_model_foreign(
            b->classes, column, (size_t)r->target[t], r->item[r->target[t]]);
}

static void edge_item(row *r, const graphss_i_evidence_base *b, size_t v, size_t j)
{
    const size_t u = (size_t)b->graph->target[b->graph->offset[v] + (int64_t)j];
    const float *ratio = b->ratio + u * b->k, *belief = b->belief + u * b->k;
    const double least = 1 / TUNE_RATIO_MOST;
    for (size_t y = 0; y < b->k; y++)
        r->own[y] = (double)ratio[y];
    r->item = r->own;
    for (size_t t = 0; t < r->targets; t++) {
        const double share = (double)belief[r->target[t]] / b->classes->prior[r->target[t]];
        const double more = share > least ? share : least;
        r->foreign[t] = more < TUNE_RATIO_MOST ? more : TUNE_RATIO_MOST;
    }
}

static void multiply(double *restrict product, const double *restrict item, size_t k)
{
    for (size_t y = 0; y < k; y++)
        product[y] *= item[y];
}

/* out [k x m] += sum over n items of log((1 - share) item [k] + foreign [m]), foreign being
 * the attacker's share of each */
static inline void mix(double *restrict out, const double *restrict item,
    const double *restrict foreign, double share, size_t n, size_t k, size_t m)
{
    for (size_t y = 0; y < k; y++) {
        double product[TUNE_TARGETS];
        for (size_t t = 0; t < m; t++)
            product[t] = 1;
        for (size_t j = 0; j < n; j++) {
            const double own = (1 - share) * item[j * k + y];
            for (size_t t = 0; t < m; t++)
                product[t] *= own + foreign[j * m + t];
        }
        for (size_t t = 0; t < m; t++)
            out[y * m + t] += log(product[t]);
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
        multiply(r->product, r->item, k);
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
    memset(out, 0, k * m * sizeof *out);
    for (size_t j = 0; j < items; j += BLOCK) {
        const size_t n = items - j < BLOCK ? items - j : BLOCK;
        for (size_t i = 0; i < n; i++) {
            item(r, b, v, j + i);
            memcpy(r->items + i * k, r->item, k * sizeof *r->items);
            for (size_t t = 0; t < m; t++)
                r->shares[i * m + t] = share * r->foreign[t];
        }
        if (m == TUNE_TARGETS) /* a number the compiler knows */
            mix(out, r->items, r->shares, share, n, k, TUNE_TARGETS);
        else
            mix(out, r->items, r->shares, share, n, k, m);
    }
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

static void put_likelihood(
    float *evidence, graphss_i_source_id source, double *p, const double *x, size_t k)
{
    memcpy(p, x, k * sizeof *p);
    log_normalise(p, k);
    put(evidence, source, p, k);
}

/* p [k] = prior / k + sum over the neighbours of x [n x k] */
static void vote(
    double *p, const graphss_i_evidence_base *b, size_t v, const float *x, double prior)
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
    vote(p, b, v, b->alone, TUNE_VOTE_PRIOR);
    put_shares(evidence, SOURCE_NEIGHBOURS_ALONE, p, k);
    vote(p, b, v, b->labels, TUNE_VOTE_PRIOR);
    if (b->label[v] >= 0) /* there and back */
        p[b->label[v]] -= (double)graphss_graph_degree(b->graph, v);
    put_shares(evidence, SOURCE_LABELS_2, p, k);
    for (size_t c = 0; c < k; c++)
        p[c] = (double)b->propagated[v * k + c] * (double)root_degree(b, v) +
               TUNE_PROPAGATED_PRIOR / (double)k;
    put_shares(evidence, SOURCE_PROPAGATED, p, k);
}

/* The likeliest classes to push to, by classifier, features and edges, and their prior: an
 * attack that succeeded shows in the classifier's answer. */
static void choose_targets(row *r, const float *evidence, size_t k)
{
    double *sum = r->p;
    r->targets = k < TUNE_TARGETS ? k : TUNE_TARGETS;
    for (size_t c = 0; c < k; c++) {
        const float *e = evidence + c * GRAPHSS_I_ROW;
        sum[c] = exp((double)e[SOURCE_NOW]) + exp((double)e[SOURCE_FEATURES]) +
                 exp((double)e[SOURCE_EDGES]);
    }
    for (size_t i = 0; i < r->targets; i++) {
        size_t best = 0;
        for (size_t c = 1; c < k; c++)
            best = sum[c] > sum[best] ? c : best;
        sum[best] = -1; /* taken */
        r->target[i] = (int32_t)best;
        r->prior[i] =
            log(exp((double)evidence[best * GRAPHSS_I_ROW + SOURCE_NOW]) + TUNE_TARGET_PRIOR);
    }
}

/* out [k] = log of the sum over targets t != y of prior(t) f[y][t], where f [k x targets] are
 * likelihoods by the greatest of their row, whose logarithms are most [k]; of two factors f
 * and g their product. */
static void sum_over_targets(double *out, const row *r, const double *prior, const double *f,
    const double *f_most, const double *g, const double *g_most, size_t k)
{
    const size_t m = r->targets;
    for (size_t y = 0; y < k; y++) {
        double sum = 0;
        for (size_t t = 0; t < m; t++)
            if (r->target[t] != (int32_t)y)
                sum += prior[t] * f[y * m + t] * (g ? g[y * m + t] : 1);
        out[y] = m > 1 ? f_most[y] + (g ? g_most[y] : 0) + log(fmax(sum, 1e-300)) : 0;
    }
}

/* x [k x targets]: logarithms become exponentials, by the greatest of each row */
static void raise(double *x, double *most, const row *r, size_t k)
{
    const size_t m = r->targets;
    for (size_t y = 0; y < k; y++) {
        most[y] = -INFINITY;
        for (size_t t = 0; t < m; t++)
            most[y] = fmax(most[y], x[y * m + t]);
        for (size_t t = 0; t < m; t++)
            x[y * m + t] = exp(x[y * m + t] - most[y]);
    }
}

/* The three sources that allow for an attacker, and ratio [GRAPHSS_I_RATIOS]: how much better
 * tampered edges, features, both explain the node; and edges and features by themselves. */
static void tampered_sources(float *evidence, float *ratio, row *r, size_t k)
{
    double *p = r->p, *q = r->p + k, *w_most = r->sum, *e_most = r->sum + k;
    double *by_features = r->sum + 2 * k, *by_edges = r->sum + 3 * k;
    double *w = r->foreign_features, *e = r->foreign_edges, prior[TUNE_TARGETS];
    for (size_t t = 0; t < r->targets; t++)
        prior[t] = exp(r->prior[t]);
    raise(w, w_most, r, k);
    raise(e, e_most, r, k);
    sum_over_targets(by_features, r, prior, w, w_most, NULL, NULL, k);
    sum_over_targets(by_edges, r, prior, e, e_most, NULL, NULL, k);
    for (size_t y = 0; y < k; y++)
        p[y] = r->features[y] + r->edges[y];
    const double plain = log_normalise(p, k);
    for (size_t y = 0; y < k; y++)
        p[y] = by_edges[y] + r->features[y];
    ratio[0] = (float)(log_normalise(p, k) - plain);
    put(evidence, SOURCE_TAMPERED_EDGES, p, k);
    for (size_t y = 0; y < k; y++)
        p[y] = by_features[y] + r->edges[y];
    ratio[1] = (float)(log_normalise(p, k) - plain);
    put(evidence, SOURCE_TAMPERED_FEATURES, p, k);
    sum_over_targets(p, r, prior, w, w_most, e, e_most, k);
    ratio[2] = (float)(log_normalise(p, k) - plain);
    put(evidence, SOURCE_TAMPERED_BOTH, p, k);
    memcpy(q, r->edges, k * sizeof *q);
    ratio[3] = (float)(log_normalise(by_edges, k) - log_normalise(q, k));
    memcpy(q, r->features, k * sizeof *q);
    ratio[4] = (float)(log_normalise(by_features, k) - log_normalise(q, k));
}

/* 1 - sum over classes of sqrt(p q): 0 where two sources agree, 1 where they exclude another.
 * root [sources x k]: the square roots */
static float disagreement(const double *root, size_t a, size_t b, size_t k)
{
    double sum = 0;
    for (size_t c = 0; c < k; c++)
        sum += root[a * k + c] * root[b * k + c];
    return (float)(1 - sum);
}

static void compare_sources(float *out, double *root, const float *evidence, size_t k)
{
    for (size_t s = 0; s < GRAPHSS_I_SOURCES; s++) {
        float most = evidence[s];
        for (size_t c = 0; c < k; c++) {
            most = fmaxf(most, evidence[c * GRAPHSS_I_ROW + s]);
            root[s * k + c] = exp(0.5 * (double)evidence[c * GRAPHSS_I_ROW + s]);
        }
        *out++ = most;
    }
    for (size_t a = 0; a < GRAPHSS_I_PLAIN_SOURCES; a++)
        for (size_t b = 0; b < a; b++)
            *out++ = disagreement(root, a, b, k);
    for (size_t a = GRAPHSS_I_PLAIN_SOURCES; a < GRAPHSS_I_SOURCES; a++)
        *out++ = disagreement(root, a, SOURCE_NOW, k);
}

typedef struct evidence_job {
    float *evidence, *anomaly;
    float *spare;      /* [tasks x k x GRAPHSS_I_ROW] where no evidence is wanted */
    double *room;      /* [tasks x (row_size + table_size)] */
    float *by_column;  /* [tasks x d] zeros, of sparse features where anomalies are wanted */
    float *const *was; /* [m], or NULL */
    const graphss_i_evidence_base *base, *past;
    const int32_t *node;
    size_t m;
} evidence_job;

static double feature_weight(size_t items)
{
    return TUNE_FEATURE_WEIGHT *
           fmin(1, sqrt(TUNE_MANY_FEATURES / (double)(items ? items : 1)));
}

/* What the features of a node say, whatever its edges: r->ratios and r->features. */
static void read_features(row *r, double *table, const graphss_i_evidence_base *b, size_t v)
{
    const graphss_i_row x = graphss_i_row_of(b->features, v);
    r->ratios = table;
    if (table)
        fill_table(table, b, x);
    likelihood(r->features, r, b, v, x.n, feature_item, feature_weight(x.n));
}

/* Features have been read. */
static void fill_node(float *evidence, float *anomaly, row *r, float *by_column,
    const graphss_i_evidence_base *b, size_t v)
{
    const size_t k = b->k, degree = graphss_graph_degree(b->graph, v);
    const size_t items = graphss_i_row_of(b->features, v).n;
    float ratio[GRAPHSS_I_RATIOS];
    memset(evidence, 0, k * GRAPHSS_I_ROW * sizeof *evidence);
    likelihood(r->edges, r, b, v, degree, edge_item, TUNE_EDGE_WEIGHT);
    plain_sources(evidence, r, b, v);
    choose_targets(r, evidence, k);
    mixed_likelihood(r->foreign_features, r, b, v, items, feature_item, TUNE_FOREIGN_FEATURES,
        feature_weight(items));
    mixed_likelihood(
        r->foreign_edges, r, b, v, degree, edge_item, TUNE_FOREIGN_EDGES, TUNE_EDGE_WEIGHT);
    tampered_sources(evidence, ratio, r, k);
    if (!anomaly)
        return;
    graphss_i_anomaly_row(
        anomaly, b, v, graphss_i_top(b->prob + v * k, k), r->ratios, r->scratch, by_column);
    compare_sources(anomaly + GRAPHSS_I_OWN_ANOMALIES, r->root, evidence, k);
    memcpy(anomaly + GRAPHSS_I_ANOMALIES - GRAPHSS_I_RATIOS, ratio, sizeof ratio);
}

static void evidence_rows(void *arg, size_t task)
{
    const evidence_job *job = arg;
    const graphss_i_evidence_base *b = job->base, *past = job->past;
    const size_t k = b->k, wide = k * GRAPHSS_I_ROW;
    const size_t room = row_size(k) + table_size(b);
    row r = row_of(job->room + task * room, k);
    double *table = table_size(b) ? job->room + task * room + row_size(k) : NULL;
    float *by_column = job->by_column ? job->by_column + task * b->features->n_cols : NULL;
    for (size_t i = task * ROWS; i < graphss_i_task_end(task, job->m, ROWS); i++) {
        const size_t v = (size_t)job->node[i];
        read_features(&r, table, b, v);
        fill_node(job->evidence ? job->evidence + i * wide : job->spare + task * wide,
            job->anomaly ? job->anomaly + i * GRAPHSS_I_ANOMALIES : NULL, &r, by_column, b, v);
        if (!job->was || !job->was[i])
            continue;
        if (!graphss_i_row_same(
                graphss_i_row_of(b->features, v), graphss_i_row_of(past->features, v)))
            read_features(&r, table, past, v);
        fill_node(job->was[i], NULL, &r, NULL, past, v);
    }
}

graphss_status graphss_i_evidence_of(graphss_ctx *ctx, float *evidence, float *anomaly,
    const graphss_i_evidence_base *base, const int32_t *node, size_t m)
{
    if (base->part)
        return graphss_i_evidence_of_part(ctx, evidence, anomaly, base, node, m);
    return graphss_i_evidence_of_both(ctx, evidence, anomaly, base, NULL, NULL, node, m);
}

graphss_status graphss_i_evidence_of_both(graphss_ctx *ctx, float *evidence, float *anomaly,
    const graphss_i_evidence_base *base, float *const *was,
    const graphss_i_evidence_base *past, const int32_t *node, size_t m)
{
    const size_t tasks = graphss_i_tasks(m, ROWS), k = base->k;
    const bool spread = anomaly && !graphss_features_dense(base->features);
    evidence_job job = {.evidence = evidence,
        .anomaly = anomaly,
        .spare =
            graphss_i_alloc(ctx, evidence ? 0 : tasks, k * GRAPHSS_I_ROW * sizeof *job.spare),
        .room =
            graphss_i_alloc(ctx, tasks, (row_size(k) + table_size(base)) * sizeof *job.room),
        .by_column = spread
                         ? graphss_i_calloc(ctx, tasks, base->features->n_cols * sizeof(float))
                         : NULL,
        .was = was,
        .base = base,
        .past = past,
        .node = node,
        .m = m};
    const graphss_status st = job.spare && job.room && (job.by_column || !spread)
                                  ? graphss_i_parallel_checked(ctx, tasks, evidence_rows, &job)
                                  : GRAPHSS_ERR_NOMEM;
    graphss_release(ctx, job.spare);
    graphss_release(ctx, job.by_column);
    graphss_release(ctx, job.room);
    return st;
}
