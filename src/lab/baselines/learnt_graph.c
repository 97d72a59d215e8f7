/* learnt_graph.c - arrays over the entries of one fixed pattern, so that an epoch allocates
 * nothing but what ARPACK needs. */
#include "graph/rows.h"
#include "graph/similarity.h"
#include "lab/baselines/baselines.h"
#include <math.h>
#include <string.h>

static const double tiny = 1e-3;      /* added to degrees, as the authors do */
static const double tolerance = 1e-3; /* of eigenvalues, relative */

void graphss_i_learnt_destroy(graphss_ctx *ctx, graphss_i_learnt *s)
{
    graphss_i_propagation_destroy(ctx, &s->pattern);
    graphss_release(ctx, s->transposed_at);
    graphss_release(ctx, s->start);
    graphss_release(ctx, s->weight);
    graphss_release(ctx, s->grad);
    graphss_release(ctx, s->speed);
    graphss_release(ctx, s->alike);
    graphss_release(ctx, s->change);
    graphss_release(ctx, s->root);
    graphss_release(ctx, s->pull);
    graphss_release(ctx, s->value);
    graphss_release(ctx, s->vector);
    graphss_release(ctx, s->left);
    graphss_release(ctx, s->right);
}

static graphss_status allocate(graphss_ctx *ctx, graphss_i_learnt *s)
{
    const size_t n = s->n, nnz = s->nnz, rank = s->rank;
    s->transposed_at = graphss_i_alloc(ctx, nnz, sizeof *s->transposed_at);
    s->start = graphss_i_calloc(ctx, nnz, sizeof *s->start);
    s->weight = graphss_i_alloc(ctx, nnz, sizeof *s->weight);
    s->grad = graphss_i_calloc(ctx, nnz, sizeof *s->grad);
    s->speed = graphss_i_calloc(ctx, nnz, sizeof *s->speed);
    s->alike = graphss_i_alloc(ctx, nnz, sizeof *s->alike);
    s->change = graphss_i_alloc(ctx, nnz, sizeof *s->change);
    s->root = graphss_i_alloc(ctx, n, sizeof *s->root);
    s->pull = graphss_i_alloc(ctx, n, sizeof *s->pull);
    s->value = graphss_i_alloc(ctx, rank, sizeof *s->value);
    s->vector = graphss_i_alloc(ctx, n, rank * sizeof *s->vector);
    s->left = graphss_i_alloc(ctx, n, rank * sizeof *s->left);
    s->right = graphss_i_alloc(ctx, n, rank * sizeof *s->right);
    return s->transposed_at && s->start && s->weight && s->grad && s->speed && s->alike &&
                   s->change && s->root && s->pull && s->value && s->vector && s->left &&
                   s->right
               ? GRAPHSS_OK
               : GRAPHSS_ERR_NOMEM;
}

/* |x_i|, x as the classifier sees it */
static double row_length(const graphss_features *f, size_t i, bool row_normalise, double scale)
{
    const graphss_i_row row = graphss_i_row_of(f, i);
    double sum = 0, squares = 0;
    for (size_t j = 0; j < row.n; j++) {
        sum += row.value[j];
        squares += (double)row.value[j] * row.value[j];
    }
    const double by = row_normalise && sum != 0 ? 1 / sum : 1;
    return scale * fabs(by) * sqrt(squares);
}

/* alike <- x_i . x_j = cosine |x_i| |x_j|; cosine [edges] has no loops. length [n] is room. */
static void fill_alike(graphss_i_learnt *s, const float *cosine, double *length,
    const graphss_features *f, bool row_normalise, double scale)
{
    const graphss_i_csr *m = &s->pattern.m;
    for (size_t i = 0; i < s->n; i++)
        length[i] = row_length(f, i, row_normalise, scale);
    for (size_t i = 0; i < s->n; i++)
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++) {
            const size_t j = (size_t)m->column[e];
            const double c = j == i ? 1 : *cosine++;
            s->alike[e] = isnan(c) ? 0 : (float)(c * length[i] * length[j]);
        }
}

static void fill_start(graphss_i_learnt *s, const graphss_graph *graph)
{
    const graphss_i_csr *m = &s->pattern.m;
    for (size_t i = 0; i < s->n; i++) {
        int64_t at = graph->offset[i];
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++) {
            const bool connected =
                at < graph->offset[i + 1] && graph->target[at] == m->column[e];
            at += connected;
            s->start[e] = connected;
            s->weight[e] = connected || (size_t)m->column[e] == i;
        }
    }
}

graphss_status graphss_i_learnt_make(graphss_ctx *ctx, graphss_i_learnt *s,
    const graphss_observation *on, size_t alike, size_t near, bool row_normalise, double scale,
    size_t rank)
{
    graphss_graph support = {0};
    float *cosine = NULL;
    const size_t n = s->n = on->graph->n_nodes;
    s->rank = rank + 2 <= n ? rank : n > 2 ? n - 2 : 0;
    graphss_status st =
        graphss_i_candidates(ctx, &support, on->graph, on->features, alike, near);
    if (!st)
        st = graphss_i_propagation_make(
            ctx, &s->pattern, &support, GRAPHSS_I_NORM_SYMMETRIC, true);
    if (st)
        goto done;
    s->nnz = (size_t)s->pattern.m.offset[n];
    st = allocate(ctx, s);
    if (st)
        goto done;
    cosine = graphss_i_alloc(ctx, (size_t)support.offset[n], sizeof *cosine);
    int64_t *next = graphss_i_alloc(ctx, n, sizeof *next);
    if (cosine && next) {
        graphss_i_edge_similarity(
            ctx, cosine, &support, on->features, GRAPHSS_SIMILARITY_COSINE);
        fill_alike(s, cosine, s->root, on->features, row_normalise, scale);
        fill_start(s, on->graph);
        graphss_i_csr_transposed_at(s->transposed_at, next, &s->pattern.m);
    } else {
        st = GRAPHSS_ERR_NOMEM;
    }
    graphss_release(ctx, next);
done:
    graphss_release(ctx, cosine);
    graphss_graph_destroy(ctx, &support);
    return st;
}

/* ---- how much features differ along the edges ---- */

/* degree [n]: sum_j S_ij without the loop */
static void degrees(double *degree, const graphss_i_learnt *s)
{
    const graphss_i_csr *m = &s->pattern.m;
    for (size_t i = 0; i < s->n; i++) {
        degree[i] = 0;
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
            degree[i] += (size_t)m->column[e] == i ? 0 : s->weight[e];
    }
}

/* sum_i |x_i|^2 d_i / (d_i + t) - sum_ij S_ij (x_i . x_j) r_i r_j,  r_i = (d_i + t)^-1/2 */
double graphss_i_learnt_roughness(const graphss_i_learnt *s)
{
    const graphss_i_csr *m = &s->pattern.m;
    double total = 0;
    degrees(s->root, s);
    for (size_t i = 0; i < s->n; i++)
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++) {
            const double di = s->root[i] + tiny, dj = s->root[m->column[e]] + tiny;
            total += (size_t)m->column[e] == i
                         ? s->alike[e] * s->root[i] / di
                         : -s->weight[e] * (double)s->alike[e] / sqrt(di * dj);
        }
    return total;
}

/* pull_i = |x_i|^2 t / (d_i + t)^2 + r_i^3 sum_k S_ik (x_i . x_k) r_k
 * dS_ij = (pull_i + pull_j) / 2 - (x_i . x_j) r_i r_j */
void graphss_i_learnt_roughness_gradient(graphss_i_learnt *s, float *out, double factor)
{
    const graphss_i_csr *m = &s->pattern.m;
    double *root = s->root, *pull = s->pull;
    degrees(root, s);
    for (size_t i = 0; i < s->n; i++)
        root[i] = 1 / sqrt(root[i] + tiny);
    for (size_t i = 0; i < s->n; i++) {
        double sum = 0, own = 0;
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
            if ((size_t)m->column[e] == i)
                own = s->alike[e];
            else
                sum += s->weight[e] * (double)s->alike[e] * root[m->column[e]];
        const double square = root[i] * root[i];
        pull[i] = own * tiny * square * square + square * root[i] * sum;
    }
    for (size_t i = 0; i < s->n; i++)
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++) {
            const size_t j = (size_t)m->column[e];
            if (j != i)
                out[e] += (float)(factor *
                                  ((pull[i] + pull[j]) / 2 - s->alike[e] * root[i] * root[j]));
        }
}

/* ---- steps ---- */

void graphss_i_learnt_step(
    graphss_i_learnt *s, double rate, double momentum, double gamma, double lambda)
{
    const graphss_i_csr *m = &s->pattern.m;
    double squares = 0;
    for (size_t i = 0; i < s->n; i++)
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
            if ((size_t)m->column[e] != i)
                squares += pow(s->weight[e] - s->start[e], 2);
    const double back = squares > 0 ? 1 / sqrt(squares) : 0;
    for (size_t i = 0; i < s->n; i++)
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
            s->change[e] =
                (size_t)m->column[e] == i
                    ? 0
                    : (float)(back * (s->weight[e] - s->start[e]) +
                              gamma * (s->grad[e] + s->grad[s->transposed_at[e]]) / 2);
    if (lambda > 0)
        graphss_i_learnt_roughness_gradient(s, s->change, lambda);
    for (size_t e = 0; e < s->nnz; e++) {
        s->speed[e] = (float)momentum * s->speed[e] + s->change[e];
        s->weight[e] -= (float)rate * s->speed[e];
    }
}

void graphss_i_learnt_clip(graphss_i_learnt *s, double amount)
{
    const graphss_i_csr *m = &s->pattern.m;
    for (size_t i = 0; i < s->n; i++)
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
            if ((size_t)m->column[e] != i)
                s->weight[e] = fminf(fmaxf(s->weight[e] - (float)amount, 0), 1);
}

/* change <- S without loops. Returns |S|_F^2. */
static double without_loops(graphss_i_learnt *s)
{
    const graphss_i_csr *m = &s->pattern.m;
    double squares = 0;
    for (size_t i = 0; i < s->n; i++)
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++) {
            s->change[e] = (size_t)m->column[e] == i ? 0 : s->weight[e];
            squares += (double)s->change[e] * s->change[e];
        }
    return squares;
}

/* With q_r, l_r the known eigenpairs, soft(l) = sign(l) max(|l| - amount, 0), and p the root
 * mean square of the other eigenvalues, keep = max(0, 1 - amount / p), on the support:
 *   T = keep (S - sum_r l_r q_r q_r^T) + sum_r soft(l_r) q_r q_r^T
 *   S <- T sum S / sum max(T, 0) */
graphss_status graphss_i_learnt_low_rank(graphss_ctx *ctx, graphss_i_learnt *s, double amount)
{
    graphss_i_csr m = s->pattern.m;
    const size_t n = s->n, rank = s->rank;
    const double squares = without_loops(s);
    if (rank == 0 || squares < 1e-12)
        return GRAPHSS_OK;
    m.value = s->change;
    graphss_status st = graphss_i_eigen_largest(ctx, s->value, s->vector, &m, rank, tolerance);
    if (st)
        return st;
    double others = squares;
    for (size_t r = 0; r < rank; r++)
        others -= s->value[r] * s->value[r];
    others = sqrt(fmax(others, 0) / (double)(n - rank));
    const double keep = others > amount ? 1 - amount / others : 0;
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0; r < rank; r++) {
            const double l = s->value[r], q = s->vector[i * rank + r];
            const double soft = copysign(fmax(fabs(l) - amount, 0), l);
            s->left[i * rank + r] = (float)((soft - keep * l) * q);
            s->right[i * rank + r] = (float)q;
        }
    for (size_t e = 0; e < s->nnz; e++)
        s->change[e] *= (float)keep;
    graphss_i_sddmm(ctx, s->change, &m, s->left, s->right, rank);
    double before = 0, after = 0; /* sums of what is positive */
    for (size_t i = 0; i < n; i++)
        for (int64_t e = m.offset[i]; e < m.offset[i + 1]; e++)
            if ((size_t)m.column[e] != i) {
                before += s->weight[e];
                after += fmaxf(s->change[e], 0);
            }
    const float grow = after > 0 ? (float)(before / after) : 1;
    for (size_t i = 0; i < n; i++)
        for (int64_t e = m.offset[i]; e < m.offset[i + 1]; e++)
            if ((size_t)m.column[e] != i)
                s->weight[e] = grow * s->change[e];
    return GRAPHSS_OK;
}

/* Edges, alike nodes (nearest.c) and near nodes are listed as pairs, of which a graph is
 * built, which drops duplicates. No N x N matrix is ever stored. */
typedef struct search {
    size_t n, near;     /* nodes; near nodes wanted of each */
    float *best;        /* [near] descending */
    int32_t *node;      /* [near] */
    int32_t *from, *to; /* [edges + n (alike + near)] */
    size_t pairs;
} search;

static void search_destroy(graphss_ctx *ctx, search *s)
{
    graphss_release(ctx, s->best);
    graphss_release(ctx, s->node);
    graphss_release(ctx, s->from);
    graphss_release(ctx, s->to);
}

static void add_pair(search *s, size_t from, int32_t to)
{
    s->from[s->pairs] = (int32_t)from;
    s->to[s->pairs++] = to;
}

static graphss_status search_make(
    graphss_ctx *ctx, search *s, const graphss_graph *graph, size_t alike, size_t near)
{
    size_t most, edges = (size_t)graph->offset[graph->n_nodes];
    s->n = graph->n_nodes;
    s->near = near;
    if (!graphss_i_mul(&most, s->n, alike + near) || !graphss_i_add(&most, most, edges))
        return graphss_i_fail(ctx, GRAPHSS_ERR_LIMIT, "%zu neighbours of %zu nodes: too many",
            alike + near, s->n);
    s->best = graphss_i_alloc(ctx, near, sizeof *s->best);
    s->node = graphss_i_alloc(ctx, near, sizeof *s->node);
    s->from = graphss_i_alloc(ctx, most, sizeof *s->from);
    s->to = graphss_i_alloc(ctx, most, sizeof *s->to);
    if (!s->best || !s->node || !s->from || !s->to)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < s->n; i++)
        for (int64_t e = graph->offset[i]; e < graph->offset[i + 1]; e++)
            add_pair(s, i, graph->target[e]);
    return GRAPHSS_OK;
}

static graphss_status find_alike(
    graphss_ctx *ctx, search *s, const graphss_features *features, size_t k)
{
    graphss_status st = GRAPHSS_ERR_NOMEM;
    int32_t *all = graphss_i_alloc(ctx, s->n, sizeof *all);
    int32_t *near = graphss_i_alloc(ctx, s->n * k, sizeof *near);
    for (size_t i = 0; all && i < s->n; i++)
        all[i] = (int32_t)i;
    if (all && near)
        st = graphss_i_nearest(ctx, near, k, features, NULL, all, s->n, all, s->n, "compare");
    for (size_t i = 0; i < s->n && !st; i++)
        for (size_t r = 0; r < k && near[i * k + r] >= 0; r++)
            add_pair(s, i, near[i * k + r]);
    graphss_release(ctx, near);
    graphss_release(ctx, all);
    return st;
}

/* ---- nodes two edges away ---- */

/* Inserts a pair among the k best of a row, which are in descending order. */
static void insert(float *best, int32_t *node, size_t k, float score, int32_t i)
{
    size_t at = k - 1;
    for (; at > 0 && best[at - 1] < score; at--) {
        best[at] = best[at - 1];
        node[at] = node[at - 1];
    }
    best[at] = score;
    node[at] = i;
}

/* near [n], zero before and after: near_j = sum over common neighbours m of 1 / degree of m */
static void reach(
    float *near, int32_t *reached, size_t *n_reached, const graphss_graph *g, size_t i)
{
    *n_reached = 0;
    for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++) {
        const size_t m = (size_t)g->target[e];
        const float share = 1 / (float)(g->offset[m + 1] - g->offset[m]);
        for (int64_t b = g->offset[m]; b < g->offset[m + 1]; b++) {
            const int32_t j = g->target[b];
            if (near[j] == 0)
                reached[(*n_reached)++] = j;
            near[j] += share;
        }
    }
}

static void choose_near(search *s, float *near, int32_t *reached, const graphss_graph *g)
{
    const size_t k = s->near;
    for (size_t i = 0; i < s->n; i++) {
        size_t n_reached;
        reach(near, reached, &n_reached, g, i);
        memset(s->best, 0, k * sizeof *s->best);
        near[i] = 0;
        for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++)
            near[g->target[e]] = 0;
        for (size_t c = 0; c < n_reached; c++) {
            if (near[reached[c]] > s->best[k - 1])
                insert(s->best, s->node, k, near[reached[c]], reached[c]);
            near[reached[c]] = 0;
        }
        for (size_t r = 0; r < k && s->best[r] > 0; r++)
            add_pair(s, i, s->node[r]);
    }
}

static graphss_status find_near(graphss_ctx *ctx, search *s, const graphss_graph *graph)
{
    float *near = graphss_i_calloc(ctx, s->n, sizeof *near);
    int32_t *reached = graphss_i_alloc(ctx, s->n, sizeof *reached);
    if (near && reached)
        choose_near(s, near, reached, graph);
    const graphss_status st = near && reached ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    graphss_release(ctx, near);
    graphss_release(ctx, reached);
    return st;
}

graphss_status graphss_i_candidates(graphss_ctx *ctx, graphss_graph *out,
    const graphss_graph *graph, const graphss_features *features, size_t alike, size_t near)
{
    search s = {0};
    graphss_status st = search_make(ctx, &s, graph, alike, near);
    if (!st && alike)
        st = find_alike(ctx, &s, features, alike);
    if (!st && near)
        st = find_near(ctx, &s, graph);
    if (!st)
        st = graphss_graph_build(ctx, out, NULL, s.n, s.from, s.to, s.pairs);
    search_destroy(ctx, &s);
    return st;
}
