/* copy_source.c - counting first, since most candidates share one word: those met most often
 * are compared exactly. */
#include "detect/copy_source.h"
#include "graph/edges.h"
#include "graph/products.h"
#include "graph/rows.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TASKS = 16, LOOKS = 1024, COMPARED = 6, LINK_WORTH = 2, RAREST = 64 };

typedef struct search {
    const graphss_graph *graph;
    const graphss_features *features;
    const graphss_i_csr *holders; /* of each word */
    const double *length;         /* [n] of the rows */
    int32_t *met;                 /* [TASKS x n] 0 between nodes */
    int32_t *seen;                /* [TASKS x 3 LOOKS] nodes whose count is not 0 */
    float *spread;                /* [TASKS x words] the row of the node, 0 between nodes */
    const uint8_t *skip;          /* [n] rows that are left as they are; NULL: none */
    int32_t *twin;
    float *alike;
} search;

typedef struct tally {
    int32_t *met, *seen;
    size_t n, looks;
} tally;

static void count(tally *t, int32_t node, int32_t worth)
{
    if (t->met[node] == 0)
        t->seen[t->n++] = node;
    t->met[node] += worth;
    t->looks++;
}

/* The rarest words of the node, ascending by holders, equal ones by number; none that has too
 * many to be looked at. */
static size_t rarest(int32_t *word, const search *s, size_t i)
{
    const graphss_features *x = s->features;
    const int64_t *start = s->holders->offset;
    size_t n = 0;
    for (int64_t e = x->offset[i]; e < x->offset[i + 1]; e++) {
        const int32_t w = x->column[e];
        if (x->value[e] == 0 || start[w + 1] - start[w] > LOOKS)
            continue;
        size_t at = n < RAREST ? n++ : RAREST;
        while (at > 0 &&
               start[w + 1] - start[w] < start[word[at - 1] + 1] - start[word[at - 1]]) {
            if (at < RAREST)
                word[at] = word[at - 1];
            at--;
        }
        if (at < RAREST)
            word[at] = w;
    }
    return n;
}

static void meet(tally *t, const search *s, size_t i)
{
    int32_t word[RAREST];
    const graphss_graph *g = s->graph;
    const size_t n_words = rarest(word, s, i);
    for (size_t j = 0; j < n_words; j++) {
        const int64_t from = s->holders->offset[word[j]], to = s->holders->offset[word[j] + 1];
        if (t->looks + (size_t)(to - from) > LOOKS)
            break;
        for (int64_t e = from; e < to; e++)
            if ((size_t)s->holders->column[e] != i)
                count(t, s->holders->column[e], 1);
    }
    for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++) {
        const int32_t u = g->target[e];
        if (t->looks + graphss_graph_degree(g, (size_t)u) + 1 > 2 * LOOKS)
            continue;
        count(t, u, LINK_WORTH);
        for (int64_t f = g->offset[u]; f < g->offset[u + 1]; f++)
            if ((size_t)g->target[f] != i)
                count(t, g->target[f], LINK_WORTH);
    }
}

/* cosine(i, d) + share of the links of i that lead to d or its neighbours; dot: of the rows */
static double likeness(const search *s, double dot, size_t i, size_t d)
{
    const graphss_graph *g = s->graph;
    graphss_i_walk theirs = graphss_i_walk_from(g, (int32_t)d);
    double shared = 0;
    for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++)
        shared += graphss_i_walk_meets(&theirs, g->target[e]) || (size_t)g->target[e] == d;
    const double lengths = s->length[i] * s->length[d];
    return (lengths > 0 ? dot / lengths : 0) +
           shared / fmax(1, (double)graphss_graph_degree(g, i));
}

/* dot[j] = row . the row of node[j] */
static void multiply(double *dot, const search *s, const float *row, const int32_t *node,
                     size_t n)
{
    graphss_i_row those[COMPARED];
    for (size_t j = 0; j < n; j++)
        those[j] = graphss_i_row_of(s->features, (size_t)node[j]);
    for (size_t j = 0; j < n; j += GRAPHSS_I_DOTS)
        graphss_i_row_dots(dot + j, those + j, n - j < GRAPHSS_I_DOTS ? n - j : GRAPHSS_I_DOTS,
                           row);
}

static void search_rows(void *arg, size_t task)
{
    const search *s = arg;
    const graphss_features *x = s->features;
    const size_t n = s->graph->n_nodes;
    float *row = s->spread + task * x->n_cols;
    for (size_t i = n * task / TASKS; i < n * (task + 1) / TASKS; i++) {
        tally t = {.met = s->met + task * n, .seen = s->seen + task * (3 * LOOKS)};
        int32_t best[COMPARED];
        double dot[COMPARED];
        size_t kept = 0;
        if (s->skip && s->skip[i])
            continue;
        meet(&t, s, i);
        for (size_t j = 0; j < t.n; j++) {
            const int32_t d = t.seen[j];
            size_t at = kept < COMPARED ? kept++ : COMPARED;
            while (at > 0 && t.met[d] > t.met[best[at - 1]]) {
                if (at < COMPARED)
                    best[at] = best[at - 1];
                at--;
            }
            if (at < COMPARED)
                best[at] = d;
        }
        s->twin[i] = -1;
        s->alike[i] = 0;
        for (int64_t e = x->offset[i]; e < x->offset[i + 1]; e++)
            row[x->column[e]] = x->value[e];
        multiply(dot, s, row, best, kept);
        for (size_t j = 0; j < kept; j++) {
            const float like = (float)likeness(s, dot[j], i, (size_t)best[j]);
            if (like > s->alike[i]) {
                s->alike[i] = like;
                s->twin[i] = best[j];
            }
        }
        for (int64_t e = x->offset[i]; e < x->offset[i + 1]; e++)
            row[x->column[e]] = 0;
        for (size_t j = 0; j < t.n; j++)
            t.met[t.seen[j]] = 0;
    }
}

graphss_status graphss_i_twins(graphss_ctx *ctx, int32_t *twin, float *alike,
                               const graphss_graph *graph, const graphss_features *features,
                               const uint8_t *skip)
{
    const size_t n = graph->n_nodes;
    if (graphss_features_dense(features)) {
        for (size_t i = 0; i < n; i++) {
            twin[i] = -1;
            alike[i] = 0;
        }
        return GRAPHSS_OK;
    }
    const graphss_i_csr rows = {
        n, features->n_cols, features->offset, features->column, NULL, true};
    graphss_i_csr holders = {0};
    double *length = graphss_i_calloc(ctx, n, sizeof *length);
    search s = {.graph = graph,
                .features = features,
                .holders = &holders,
                .length = length,
                .skip = skip,
                .met = graphss_i_calloc(ctx, n, TASKS * sizeof *s.met),
                .seen = graphss_i_alloc(ctx, TASKS, 3 * LOOKS * sizeof *s.seen),
                .spread = graphss_i_calloc(ctx, features->n_cols, TASKS * sizeof *s.spread),
                .twin = twin,
                .alike = alike};
    graphss_status st = length && s.met && s.seen && s.spread
                            ? graphss_i_csr_transpose(ctx, &holders, &rows)
                            : GRAPHSS_ERR_NOMEM;
    if (!st) {
        for (size_t i = 0; i < n; i++) {
            for (int64_t e = features->offset[i]; e < features->offset[i + 1]; e++)
                length[i] += (double)features->value[e] * (double)features->value[e];
            length[i] = sqrt(length[i]);
        }
        st = graphss_i_parallel_checked(ctx, TASKS, search_rows, &s);
    }
    graphss_i_csr_destroy(ctx, &holders);
    graphss_release(ctx, s.spread);
    graphss_release(ctx, s.seen);
    graphss_release(ctx, s.met);
    graphss_release(ctx, length);
    return st;
}
