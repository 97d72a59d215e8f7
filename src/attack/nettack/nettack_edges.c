/* nettack_edges.c - which edge to flip: the exact margin after each candidate.
 *
 * Joining u and v changes d_u, d_v, the two sums S[u] and S[v], and the S of the neighbours of
 * u or v. Of these only the w in N(u) matter to u, so one pass over the neighbours' neighbours
 * collects via[v], and then each candidate costs two fused rows of k numbers: n k operations
 * for all of them, instead of a product of matrices each. */
#include "attack/nettack/nettack.h"
#include <float.h>
#include <math.h>
#include <string.h>

size_t graphss_i_nettack_wrong(double *margin, const double *logits, size_t k, size_t label)
{
    size_t wrong = label == 0 ? 1 : 0;
    for (size_t c = wrong + 1; c < k; c++)
        if (c != label && logits[c] > logits[wrong])
            wrong = c;
    *margin = logits[label] - logits[wrong];
    return wrong;
}

void graphss_i_nettack_set_victim(graphss_i_nettack_work *work, int32_t u)
{
    const size_t k = work->shared->k;
    const graphss_i_rows *adj = &work->adj;
    for (size_t i = 0; i < work->n_near; i++)
        work->via[work->near[i]] = 0;
    work->n_near = 0;
    double *restrict sum = work->logits;
    const double d_u = adj->length[u] + 1;
    for (size_t c = 0; c < k; c++)
        sum[c] = work->s[(size_t)u * k + c] / d_u;
    for (int32_t e = 0; e < adj->length[u]; e++) {
        const size_t w = (size_t)adj->item[u][e];
        const double inv = 1 / (double)(adj->length[w] + 1);
        for (size_t c = 0; c < k; c++)
            sum[c] += work->s[w * k + c] * inv;
        for (int32_t f = 0; f < adj->length[w]; f++) {
            const int32_t x = adj->item[w][f];
            if (work->via[x] == 0)
                work->near[work->n_near++] = x;
            work->via[x] += inv;
        }
    }
    for (size_t c = 0; c < k; c++)
        sum[c] *= work->shared->rsqrt[adj->length[u] + 1];
}

/* The margin of the unscaled logits z[k], which are overwritten. */
static inline double margin_of(double *z, size_t k, size_t label)
{
    const double own = z[label];
    z[label] = -INFINITY;
    double best = z[0];
    for (size_t c = 1; c < k; c++)
        best = z[c] > best ? z[c] : best;
    return own - best;
}

/* What all candidates that join u to some v share. With d' = d + 1, r = d^-1/2, r' = d'^-1/2:
 *   z_v = base + (via_v (r'_v - r_v) + r'_v / d'_u + (r'_v - r_v) / d'_v) XW[v]
 *              + (S[v] + t'_u) / d'_v
 *   base = sum over w in N(u) of (S[w] + t'_u - t_u) / d_w + (S[u] + t'_u - t_u) / d'_u
 * and the logits are r'_u z_v. */
typedef struct joining {
    double *base, *t_u; /* [k] */
    double inv_d, scale;
} joining;

static joining join_start(graphss_i_nettack_work *work, int32_t u)
{
    const graphss_i_nettack_shared *shared = work->shared;
    const graphss_i_rows *adj = &work->adj;
    const size_t k = shared->k;
    joining j = {.base = work->scratch, .t_u = work->scratch + k};
    const int32_t d = adj->length[u] + 1;
    j.scale = shared->rsqrt[d + 1];
    j.inv_d = 1 / (double)(d + 1);
    const double *xw = work->xw + (size_t)u * k, step = j.scale - shared->rsqrt[d];
    const double *s_u = work->s + (size_t)u * k;
    for (size_t c = 0; c < k; c++) {
        j.t_u[c] = xw[c] * j.scale;
        j.base[c] = (s_u[c] + xw[c] * step) * j.inv_d;
    }
    for (int32_t e = 0; e < adj->length[u]; e++) {
        const size_t w = (size_t)adj->item[u][e];
        const double inv = 1 / (double)(adj->length[w] + 1);
        for (size_t c = 0; c < k; c++)
            j.base[c] += (work->s[w * k + c] + xw[c] * step) * inv;
    }
    return j;
}

/* k is an argument, so that the compiler can specialise on constants. */
static inline __attribute__((always_inline)) double join_score_of(
    const graphss_i_nettack_work *work, const joining *j, size_t v, size_t label, size_t k)
{
    const graphss_i_nettack_shared *shared = work->shared;
    const double *base = j->base, *t_u = j->t_u;
    const int32_t d = work->adj.length[v] + 1;
    const double after = shared->rsqrt[d + 1], step = after - shared->rsqrt[d];
    const double inv = 1 / (double)(d + 1);
    const double a = work->via[v] * step + after * j->inv_d + step * inv;
    const double *xw = work->xw + v * k, *s = work->s + v * k;
    double own = 0, best = -INFINITY;
    for (size_t c = 0; c < k; c++) {
        const double z = base[c] + a * xw[c] + inv * (s[c] + t_u[c]);
        own = c == label ? z : own;
        best = c != label && z > best ? z : best;
    }
    return (own - best) * j->scale;
}

static double join_score(
    const graphss_i_nettack_work *work, const joining *j, size_t v, size_t label)
{
#define CASE(k) \
    case k: \
        return join_score_of(work, j, v, label, k);
    switch (work->shared->k) {
        CASE(2)
        CASE(3)
        CASE(4)
        CASE(5)
        CASE(6)
        CASE(7)
        CASE(8)
        CASE(10)
        CASE(15)
    default:
        return join_score_of(work, j, v, label, work->shared->k);
    }
#undef CASE
}

/* u is cut from its neighbour v. With d' = d - 1:
 *   z = sum over w in N(u) - v of (S[w] + t'_u - t_u) / d_w + via_v (t'_v - t_v)
 *     + (S[u] + t'_u - t_u - t_v) / d'_u */
static double cut_score(const graphss_i_nettack_work *work, int32_t u, int32_t v, size_t label)
{
    const graphss_i_nettack_shared *shared = work->shared;
    const graphss_i_rows *adj = &work->adj;
    const size_t k = shared->k;
    double *restrict z = work->scratch + 2 * k;
    const int32_t d_u = adj->length[u] + 1, d_v = adj->length[v] + 1;
    const double scale = shared->rsqrt[d_u - 1], step = scale - shared->rsqrt[d_u];
    const double step_v = shared->rsqrt[d_v - 1] - shared->rsqrt[d_v],
                 r_v = shared->rsqrt[d_v];
    const double *xw = work->xw + (size_t)u * k, *xw_v = work->xw + (size_t)v * k;
    const double *s_u = work->s + (size_t)u * k, inv_u = 1 / (double)(d_u - 1);
    for (size_t c = 0; c < k; c++)
        z[c] = (s_u[c] + xw[c] * step - xw_v[c] * r_v) * inv_u +
               work->via[v] * (xw_v[c] * step_v);
    for (int32_t e = 0; e < adj->length[u]; e++) {
        const int32_t w = adj->item[u][e];
        if (w == v)
            continue;
        const double inv = 1 / (double)(adj->length[w] + 1);
        for (size_t c = 0; c < k; c++)
            z[c] += (work->s[(size_t)w * k + c] + xw[c] * step) * inv;
    }
    return margin_of(z, k, label) * scale;
}

/* Sums over all w in N(u), so that a cut need not be worked out where it cannot be the best:
 * nodes of many edges would cost the square of their number. */
typedef struct cutting {
    double *sum, *bulk; /* [k] of S[w] / d_w and of its absolute value */
    double inv;         /* of 1 / d_w */
} cutting;

static cutting cut_start(graphss_i_nettack_work *work, int32_t u)
{
    const graphss_i_rows *adj = &work->adj;
    const size_t k = work->shared->k;
    cutting s = {.sum = work->scratch + 3 * k, .bulk = work->scratch + 4 * k};
    memset(s.sum, 0, 2 * k * sizeof *s.sum);
    for (int32_t e = 0; e < adj->length[u]; e++) {
        const size_t w = (size_t)adj->item[u][e];
        const double inv = 1 / (double)(adj->length[w] + 1);
        s.inv += inv;
        for (size_t c = 0; c < k; c++) {
            s.sum[c] += work->s[w * k + c] * inv;
            s.bulk[c] += fabs(work->s[w * k + c]) * inv;
        }
    }
    return s;
}

/* A lower bound of cut_score: the same sum in another order, minus the rounding error of both.
 * For m terms of absolute sum b each error is below m b epsilon. */
static double cut_least(
    const graphss_i_nettack_work *work, const cutting *cut, int32_t u, int32_t v, size_t label)
{
    const graphss_i_nettack_shared *shared = work->shared;
    const size_t k = shared->k;
    double *z = work->scratch + 2 * k, bulk = 0;
    const int32_t d_u = work->adj.length[u] + 1, d_v = work->adj.length[v] + 1;
    const double scale = shared->rsqrt[d_u - 1], step = scale - shared->rsqrt[d_u];
    const double inv_u = 1 / (double)(d_u - 1), inv_v = 1 / (double)d_v;
    const double own = inv_u + cut->inv - inv_v, via = work->via[v];
    const double by_v = via * (shared->rsqrt[d_v - 1] - shared->rsqrt[d_v]);
    const double *xw = work->xw + (size_t)u * k, *xw_v = work->xw + (size_t)v * k;
    const double *s_u = work->s + (size_t)u * k, *s_v = work->s + (size_t)v * k;
    for (size_t c = 0; c < k; c++) {
        z[c] = cut->sum[c] + s_u[c] * inv_u - s_v[c] * inv_v + xw[c] * step * own +
               xw_v[c] * (by_v - shared->rsqrt[d_v] * inv_u);
        const double all = cut->bulk[c] + fabs(s_u[c]) + fabs(s_v[c]) +
                           fabs(xw[c]) * (1 + cut->inv) + fabs(xw_v[c]) * (1 + via);
        bulk = all > bulk ? all : bulk;
    }
    const double doubt = 16 * (double)(d_u + 8) * DBL_EPSILON * bulk;
    return (margin_of(z, k, label) - 2 * doubt) * scale;
}

/* One end of a flipped pair, neither of which is u. side: what it adds to
 * sum over w in N(u) + u of S[w] / d_w, given that it is `a` and the other end is `b`:
 *   - as a term of others' S: (t'_a - t_a) (via_a less b's share, and 1/d_u if a is in N(u))
 *   - as a w itself: S'[a] / d'_a - S[a] / d_a if a is in N(u) */
static void pair_side(double *z, const graphss_i_nettack_work *work, int32_t u, int32_t a,
    int32_t b, bool a_near, bool b_near, bool joined)
{
    const graphss_i_nettack_shared *shared = work->shared;
    const size_t k = shared->k;
    const int32_t step = joined ? -1 : 1;
    const int32_t d_a = work->adj.length[a] + 1, d_b = work->adj.length[b] + 1;
    const double r = shared->rsqrt[d_a], after = shared->rsqrt[d_a + step];
    const double r_b = shared->rsqrt[d_b], after_b = shared->rsqrt[d_b + step];
    double weight = work->via[a];
    if (b_near && joined)
        weight -= 1 / (double)d_b;
    if (a_near)
        weight += 1 / (double)(work->adj.length[u] + 1);
    const double *xw = work->xw + (size_t)a * k, *xw_b = work->xw + (size_t)b * k;
    const double *s = work->s + (size_t)a * k;
    const double other = joined ? -r_b : after_b;
    for (size_t c = 0; c < k; c++)
        z[c] += weight * (xw[c] * (after - r));
    for (size_t c = 0; a_near && c < k; c++)
        z[c] += (s[c] + xw[c] * (after - r) + xw_b[c] * other) / (double)(d_a + step) -
                s[c] / (double)d_a;
}

static double pair_score(const graphss_i_nettack_work *work, int32_t u, int32_t a, int32_t b,
    size_t label, bool joined)
{
    const size_t k = work->shared->k;
    const double scale = work->shared->rsqrt[work->adj.length[u] + 1];
    double *z = work->scratch + 2 * k;
    const bool a_near = graphss_i_rows_has(&work->adj, (size_t)u, a);
    const bool b_near = graphss_i_rows_has(&work->adj, (size_t)u, b);
    for (size_t c = 0; c < k; c++)
        z[c] = work->logits[c] / scale;
    pair_side(z, work, u, a, b, a_near, b_near, joined);
    pair_side(z, work, u, b, a, b_near, a_near, joined);
    return margin_of(z, k, label) * scale;
}

double graphss_i_nettack_edge_score(
    graphss_i_nettack_work *work, int32_t u, size_t label, int32_t a, int32_t b)
{
    const bool joined = graphss_i_rows_has(&work->adj, (size_t)a, b);
    if (a != u && b != u)
        return pair_score(work, u, a, b, label, joined);
    const int32_t v = a == u ? b : a;
    if (joined)
        return cut_score(work, u, v, label);
    const joining j = join_start(work, u);
    return join_score(work, &j, (size_t)v, label);
}

/* passes[degree] for adding, passes[n + 1 + degree] for removing the edge between `a` and a
 * node of that degree: no end may become isolated, and the degree test must pass. */
static void test_degrees(graphss_i_nettack_work *work, int32_t a)
{
    const size_t n = work->shared->n;
    const graphss_attack_options *opt = work->shared->opt;
    const int32_t own = work->adj.length[a];
    uint8_t *join = work->passes, *cut = work->passes + n + 1;
    for (size_t d = 0; d <= work->max_degree; d++) {
        if (work->count[d] == 0)
            continue;
        join[d] = !opt->degree_test || graphss_i_degree_ratio(&work->degrees, own, (int32_t)d,
                                           1) < work->degrees.cutoff;
        cut[d] = own > 1 && d > 1 &&
                 (!opt->degree_test || graphss_i_degree_ratio(&work->degrees, own, (int32_t)d,
                                           -1) < work->degrees.cutoff);
    }
}

/* The candidate after v: the next multiple of the stride, or a neighbour before it. */
static int32_t next_candidate(
    int32_t v, int32_t stride, const int32_t *neighbour, const int32_t *end)
{
    const int32_t next = v - v % stride + stride;
    return neighbour < end && *neighbour < next ? *neighbour : next;
}

graphss_i_nettack_edge graphss_i_nettack_best_edge(
    graphss_i_nettack_work *work, int32_t u, size_t label)
{
    const size_t n = work->shared->n;
    const int32_t stride = (int32_t)work->shared->stride;
    const graphss_i_rows *adj = &work->adj;
    const uint8_t *join = work->passes, *cut = work->passes + n + 1;
    graphss_i_nettack_edge best = {.score = INFINITY, .a = -1, .b = -1};
    const joining j = join_start(work, u);
    const cutting s = cut_start(work, u);
    for (size_t t = 0; t < work->n_targets; t++) {
        const int32_t a = work->target[t];
        const int32_t *neighbour = adj->item[a], *end = neighbour + adj->length[a];
        test_degrees(work, a);
        for (int32_t v = 0, next; (size_t)v < n; v = next) {
            const bool joined = neighbour < end && *neighbour == v;
            neighbour += joined;
            next = next_candidate(v, stride, neighbour, end);
            if (v == a || v == u || !(joined ? cut : join)[adj->length[v]])
                continue;
            best.candidates++;
            double score;
            if (a != u)
                score = pair_score(work, u, a, v, label, joined);
            else if (!joined)
                score = join_score(work, &j, (size_t)v, label);
            else if (cut_least(work, &s, u, v, label) > best.score)
                continue;
            else
                score = cut_score(work, u, v, label);
            if (score < best.score) {
                best.score = score;
                best.a = a;
                best.b = v;
            }
        }
    }
    return best;
}

void graphss_i_nettack_targets(graphss_i_nettack_work *work, int32_t u, size_t label)
{
    const graphss_i_rows *adj = &work->adj;
    const size_t most = work->shared->most_targets;
    work->n_targets = 0;
    if (work->shared->opt->influencers == 0) {
        work->target[work->n_targets++] = u;
        return;
    }
    /* Inserts into the list of the best; of equal scores the first one stays first. If there
     * are fewer neighbours than asked for, all of them are listed in their order. */
    const bool few = (size_t)adj->length[u] < most;
    for (int32_t e = 0; e < adj->length[u]; e++) {
        const int32_t w = adj->item[u][e];
        const double score = few ? e : cut_score(work, u, w, label);
        size_t at = work->n_targets;
        if (at == most && !(score < work->target_score[at - 1]))
            continue;
        at -= at == most;
        for (; at > 0 && score < work->target_score[at - 1]; at--) {
            work->target[at] = work->target[at - 1];
            work->target_score[at] = work->target_score[at - 1];
        }
        work->target[at] = w;
        work->target_score[at] = score;
        if (work->n_targets < most)
            work->n_targets++;
    }
}
