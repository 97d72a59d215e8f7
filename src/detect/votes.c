/* votes.c - votes of the neighbours ignore the node's own features, so that tampered words
 * and tampered links contradict each other; and how the sources disagree. */
#include "detect/evidence.h"
#include "graph/edges.h"
#include "graph/products.h"
#include "observation/observation.h"
#include <math.h>

enum { ROWS = 64, FIRST = 2 /* sources whose first class is evidence of its own */ };
static const float SMALL = 1e-3F, KNOWN = 0.9F, LEAST_COSINE = 0.05F;

/* Votes, [n x k] each, and the sums behind them. */
typedef struct votes {
    float *belief, *mlp, *label; /* what nodes vote with; training nodes with their label */
    float *near, *near_mlp, *near_label, *near_two, *near_trusted, *near_rest;
    float *weight; /* [stored links] */
} votes;

typedef struct sight {
    votes t;
    graphss_i_view *v;
    const graphss_i_lens *lens;
} sight;

static void votes_destroy(graphss_ctx *ctx, votes *t)
{
    float *const all[] = {t->belief,    t->mlp,        t->label,    t->near,
                          t->near_mlp,  t->near_label, t->near_two, t->near_trusted,
                          t->near_rest, t->weight};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        graphss_release(ctx, all[i]);
}

static graphss_status votes_init(graphss_ctx *ctx, votes *t, const graphss_i_view *v,
                                 const graphss_i_lens *lens)
{
    const size_t n = lens->n, k = lens->k;
    float **const all[] = {&t->label,    &t->near,         &t->near_mlp, &t->near_label,
                           &t->near_two, &t->near_trusted, &t->near_rest};
    bool good = true;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        good &= (*all[i] = graphss_i_calloc(ctx, n, k * sizeof **all[i])) != NULL;
    t->belief = graphss_i_copy(ctx, v->belief, n * k, sizeof *t->belief);
    t->mlp = graphss_i_copy(ctx, v->mlp, n * k, sizeof *t->mlp);
    t->weight = graphss_i_alloc(ctx, (size_t)v->graph.offset[n], sizeof *t->weight);
    return good && t->belief && t->mlp && t->weight ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

/* x[i] /= divisor, where that is not 0 */
static void divide(float *x, size_t k, double divisor)
{
    for (size_t c = 0; c < k && divisor > 0; c++)
        x[c] = (float)((double)x[c] / divisor);
}

/* Mean over the neighbours that are neither the twin nor neighbours of it. */
static void vote_rest(float *vote, const float *belief, const graphss_i_view *v, size_t i,
                      size_t k)
{
    const graphss_graph *g = &v->graph;
    const int32_t twin = v->twin[i];
    graphss_i_walk theirs = graphss_i_walk_from(g, twin);
    double count = 0;
    for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++) {
        const int32_t u = g->target[e];
        if (graphss_i_walk_meets(&theirs, u) || u == twin)
            continue;
        count++;
        for (size_t c = 0; c < k; c++)
            vote[c] += belief[(size_t)u * k + c];
    }
    divide(vote, k, count);
}

static void weigh_links(void *arg, size_t task)
{
    const sight *s = arg;
    const graphss_graph *g = &s->v->graph;
    const size_t end = graphss_i_task_end(task, s->lens->n, ROWS);
    for (int64_t e = g->offset[task * ROWS]; e < g->offset[end]; e++)
        s->t.weight[e] =
            s->v->trust[g->target[e]] * (LEAST_COSINE + fmaxf(s->v->cosine[e], 0));
}

/* Sums become means; over those two steps away, without the way back:
 *   two_i = (sum_j A_ij near_j - d_i belief_i) / (sum_j A_ij d_j - d_i), near as sums. */
static void average(void *arg, size_t task)
{
    const sight *s = arg;
    const votes *t = &s->t;
    const graphss_graph *g = &s->v->graph;
    const size_t k = s->lens->k;
    for (size_t i = task * ROWS; i < graphss_i_task_end(task, s->lens->n, ROWS); i++) {
        if (s->lens->wanted && !s->lens->wanted[i])
            continue;
        const double degree = (double)graphss_graph_degree(g, i);
        double paths = -degree, weight = 0;
        for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++) {
            paths += (double)graphss_graph_degree(g, (size_t)g->target[e]);
            weight += (double)t->weight[e];
        }
        for (size_t c = 0; c < k; c++) {
            float *two = t->near_two + i * k + c;
            *two = fmaxf(0, *two - (float)degree * t->belief[i * k + c]);
        }
        vote_rest(t->near_rest + i * k, t->belief, s->v, i, k);
        divide(t->near_two + i * k, k, paths);
        divide(t->near_trusted + i * k, k, weight);
        divide(t->near + i * k, k, degree);
        divide(t->near_mlp + i * k, k, degree);
        divide(t->near_label + i * k, k, degree);
    }
}

static void count_votes(graphss_ctx *ctx, sight *s)
{
    votes *t = &s->t;
    const size_t n = s->lens->n, k = s->lens->k;
    const graphss_graph *g = &s->v->graph;
    const graphss_split *split = s->lens->split;
    graphss_i_csr links = {n, n, g->offset, g->target, NULL, true};
    for (size_t j = 0; j < split->n_train; j++) {
        const size_t node = (size_t)split->train[j], y = (size_t)split->train_label[j];
        for (size_t c = 0; c < k; c++)
            t->belief[node * k + c] = t->mlp[node * k + c] =
                (c == y ? KNOWN : 0) + (1 - KNOWN) / (float)k;
        t->label[node * k + y] = 1;
    }
    graphss_i_spmm(ctx, t->near, &links, t->belief, k);
    graphss_i_spmm(ctx, t->near_mlp, &links, t->mlp, k);
    graphss_i_spmm(ctx, t->near_label, &links, t->label, k);
    graphss_i_spmm(ctx, t->near_two, &links, t->near, k);
    graphss_i_parallel(ctx, graphss_i_tasks(n, ROWS), weigh_links, s);
    links.value = t->weight;
    graphss_i_spmm(ctx, t->near_trusted, &links, t->belief, k);
    graphss_i_parallel(ctx, graphss_i_tasks(n, ROWS), average, s);
}

static float entropy(const float *p, size_t k)
{
    float sum = 0;
    for (size_t c = 0; c < k; c++)
        sum -= p[c] * logf(p[c] + 1e-9F);
    return sum;
}

static float distance(const float *p, const float *q, size_t k)
{
    float sum = 0;
    for (size_t c = 0; c < k; c++)
        sum += fabsf(p[c] - q[c]);
    return sum;
}

static float inner(const float *p, const float *q, size_t k)
{
    float sum = 0;
    for (size_t c = 0; c < k; c++)
        sum += p[c] * q[c];
    return sum;
}

/* says[c][j] = log of source j for class c; and which class some sources put first */
static void fill_says(float *says, const float *const *source, size_t n_sources,
                      const size_t *first, size_t n_first, const float *past, size_t k)
{
    for (size_t c = 0; c < k; c++) {
        float *x = says + c * GRAPHSS_I_SAYS;
        for (size_t s = 0; s < n_sources; s++)
            x[s] = logf(source[s][c] + SMALL);
        for (size_t s = 0; s < n_first; s++)
            x[n_sources + s] = first[s] == c;
        x[GRAPHSS_I_SAYS_NOW] = past ? logf(past[c] + SMALL) : 0;
        x[GRAPHSS_I_SAYS_NOW + 1] = past && graphss_i_top(past, k) == c;
    }
}

static void see_rows(void *arg, size_t task)
{
    const sight *s = arg;
    const votes *t = &s->t;
    const graphss_i_view *v = s->v;
    const graphss_i_lens *lens = s->lens;
    const size_t k = lens->k;
    for (size_t i = task * ROWS; i < graphss_i_task_end(task, lens->n, ROWS); i++) {
        if (lens->wanted && !lens->wanted[i])
            continue;
        const float *p = v->prob + i * k, *m = v->mlp + i * k, *near = t->near + i * k;
        const float *near_mlp = t->near_mlp + i * k, *alike = v->alike + i * k;
        const float *past =
            lens->before && lens->before[i] >= 0 ? lens->before_prob + i * k : NULL;
        const bool alone = graphss_graph_degree(&v->graph, i) == 0;
        const size_t first[] = {graphss_i_top(p, k), graphss_i_top(m, k),
                                alone ? k : graphss_i_top(near, k)};
        const float *const source[] = {p,
                                       m,
                                       near,
                                       t->near_label + i * k,
                                       near_mlp,
                                       t->near_two + i * k,
                                       t->near_trusted + i * k,
                                       v->rest + i * k,
                                       t->near_rest + i * k,
                                       v->counts + i * k,
                                       v->linear + i * k,
                                       alike};
        fill_says(v->says + i * k * GRAPHSS_I_SAYS, source, sizeof source / sizeof *source,
                  first, FIRST, past, k);
        float *odd = v->odd + i * GRAPHSS_I_ODD;
        odd[ODD_MLP_VOTE] = distance(m, near, k);
        odd[ODD_PROB_VOTE] = distance(p, near, k);
        odd[ODD_MLP_VOTE_MLP] = distance(m, near_mlp, k);
        odd[ODD_MLP_DOT_VOTE] = inner(m, near, k);
        odd[ODD_PROB_DOT_VOTE] = inner(p, near, k);
        odd[ODD_MLP_DOT_PROB] = inner(m, p, k);
        odd[ODD_MLP_MOST] = m[first[1]];
        odd[ODD_PROB_MOST] = p[first[0]];
        odd[ODD_MLP_ENTROPY] = entropy(m, k);
        odd[ODD_PROB_ENTROPY] = entropy(p, k);
        odd[ODD_VOTE_ENTROPY] = entropy(near, k);
        odd[ODD_VOTE_MLP_ENTROPY] = entropy(near_mlp, k);
        odd[ODD_MLP_IS_VOTE] = first[1] == first[2];
        odd[ODD_PROB_IS_VOTE] = first[0] == first[2];
        odd[ODD_PROB_IS_MLP] = first[0] == first[1];
        odd[ODD_PROB_ALIKE] = distance(p, alike, k);
        odd[ODD_VOTE_ALIKE] = distance(near, alike, k);
        odd[ODD_PROB_IS_ALIKE] = graphss_i_top(alike, k) == first[0];
        odd[ODD_TWIN_VOTES_APART] = distance(near, t->near_rest + i * k, k);
        for (size_t c = 0; c < k && past; c++)
            odd[ODD_PAST_DIVERGENCE] = (c ? odd[ODD_PAST_DIVERGENCE] : 0) +
                                       past[c] * logf((past[c] + SMALL) / (p[c] + SMALL));
        odd[ODD_PAST_DISTANCE] = past ? distance(past, p, k) : 0;
        odd[ODD_PAST_SAME] = past && graphss_i_top(past, k) == first[0];
    }
}

graphss_status graphss_i_view_look(graphss_ctx *ctx, graphss_i_view *v,
                                   const graphss_i_lens *lens)
{
    sight s = {.v = v, .lens = lens};
    graphss_status st = votes_init(ctx, &s.t, v, lens);
    if (!st) {
        count_votes(ctx, &s);
        st = graphss_i_parallel_checked(ctx, graphss_i_tasks(lens->n, ROWS), see_rows, &s);
    }
    votes_destroy(ctx, &s.t);
    return st;
}
