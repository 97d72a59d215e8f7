/* similarity.c - two rows are walked side by side; the edges of some nodes are a task. */
#include "graph/similarity.h"
#include <math.h>
#include <stdlib.h>

/* Sums over the columns of two rows a and b. */
typedef struct sums {
    double both, a, b;  /* columns that are not zero: in both, in each */
    double dot, aa, bb; /* products */
    double least, most; /* of |a| and |b|, column by column */
} sums;

static void add(sums *s, double a, double b)
{
    s->both += a != 0 && b != 0;
    s->a += a != 0;
    s->b += b != 0;
    s->dot += a * b;
    s->aa += a * a;
    s->bb += b * b;
    s->least += fmin(fabs(a), fabs(b));
    s->most += fmax(fabs(a), fabs(b));
}

static sums compare(const graphss_features *f, size_t i, size_t j)
{
    sums s = {0};
    if (!f->offset) {
        for (size_t c = 0; c < f->n_cols; c++)
            add(&s, f->value[i * f->n_cols + c], f->value[j * f->n_cols + c]);
        return s;
    }
    int64_t a = f->offset[i], b = f->offset[j];
    const int64_t a_end = f->offset[i + 1], b_end = f->offset[j + 1];
    while (a < a_end || b < b_end) {
        const int32_t ca = a < a_end ? f->column[a] : INT32_MAX;
        const int32_t cb = b < b_end ? f->column[b] : INT32_MAX;
        add(&s, ca <= cb ? f->value[a] : 0, cb <= ca ? f->value[b] : 0);
        a += ca <= cb;
        b += cb <= ca;
    }
    return s;
}

static float similarity(sums s, graphss_similarity kind)
{
    if (s.a + s.b == 0)
        return NAN;
    switch (kind) {
    case GRAPHSS_SIMILARITY_WEIGHTED:
        return (float)(s.least / s.most);
    case GRAPHSS_SIMILARITY_COSINE:
        return s.a == 0 || s.b == 0 ? 0 : (float)(s.dot / sqrt(s.aa * s.bb));
    default:
        return (float)(s.both / (s.a + s.b - s.both));
    }
}

typedef struct job {
    float *out;
    const graphss_graph *graph;
    const graphss_features *features;
    graphss_similarity kind;
} job;

enum { ROWS = 128 /* a task */ };

static void compare_rows(void *arg, size_t task)
{
    const job *j = arg;
    const graphss_graph *g = j->graph;
    for (size_t i = task * ROWS; i < g->n_nodes && i < (task + 1) * ROWS; i++)
        for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++)
            j->out[e] = similarity(compare(j->features, i, (size_t)g->target[e]), j->kind);
}

void graphss_i_edge_similarity(graphss_ctx *ctx, float *out, const graphss_graph *graph,
    const graphss_features *features, graphss_similarity kind)
{
    job j = {out, graph, features, kind};
    if (kind == GRAPHSS_SIMILARITY_AUTO)
        j.kind = features->kind == GRAPHSS_FEATURES_BINARY ? GRAPHSS_SIMILARITY_JACCARD
                                                           : GRAPHSS_SIMILARITY_COSINE;
    graphss_i_parallel(ctx, graphss_i_tasks(graph->n_nodes, ROWS), compare_rows, &j);
}

graphss_status graphss_i_edges_alike(graphss_ctx *ctx, graphss_graph *out,
    const graphss_graph *graph, const float *alike, float least)
{
    const size_t n = graph->n_nodes;
    out->n_nodes = n;
    out->offset = graphss_i_alloc(ctx, n + 1, sizeof *out->offset);
    out->target = graphss_i_alloc(ctx, (size_t)graph->offset[n], sizeof *out->target);
    if (!out->offset || !out->target)
        return GRAPHSS_ERR_NOMEM;
    int64_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        out->offset[i] = kept;
        for (int64_t e = graph->offset[i]; e < graph->offset[i + 1]; e++)
            if (!(alike[e] < least))
                out->target[kept++] = graph->target[e];
    }
    out->offset[n] = kept;
    return GRAPHSS_OK;
}
