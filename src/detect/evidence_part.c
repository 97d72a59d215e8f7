/* evidence_part.c - see evidence_part.h. */
#include "detect/class_evidence.h"
#include "detect/tuning.h"
#include "graph/excerpt.h"
#include "graph/part.h"
#include <stdlib.h>
#include <string.h>

/* Nodes in an excerpt with neighbours: enough to be worth its exchanges, and few enough that
 * its matrices stay small. */
enum { NEIGHBOURS = 16384 };

/* ---- evidence ---- */

/* The first node after `from` that is in no excerpt yet. */
static size_t next_piece(const graphss_graph *g, const int32_t *node, size_t from, size_t m)
{
    size_t sum = 0, i = from;
    while (
        i < m && (i == from || sum + graphss_graph_degree(g, (size_t)node[i]) <= NEIGHBOURS))
        sum += graphss_graph_degree(g, (size_t)node[i++]) + 1;
    return i;
}

/* Matrices of an excerpt that ghosts do not bring. */
typedef struct rest {
    float *prob, *propagated; /* [n x k] */
    int32_t *label;           /* [n] */
} rest;

static void rest_close(graphss_ctx *ctx, rest *r)
{
    graphss_release(ctx, r->prob);
    graphss_release(ctx, r->propagated);
    graphss_release(ctx, r->label);
}

static graphss_status rest_open(
    graphss_ctx *ctx, rest *r, const graphss_i_excerpt *e, const graphss_i_evidence_base *base)
{
    const size_t n = e->graph.n_nodes, k = base->k;
    r->prob = graphss_i_calloc(ctx, n, k * sizeof *r->prob);
    r->propagated = graphss_i_calloc(ctx, n, k * sizeof *r->propagated);
    r->label = graphss_i_alloc(ctx, n, sizeof *r->label);
    if (!r->prob || !r->propagated || !r->label)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < n; i++) {
        r->label[i] = -1;
        if (e->own[i] < 0)
            continue;
        const size_t v = (size_t)e->own[i];
        r->label[i] = base->label[v];
        memcpy(r->prob + i * k, base->prob + v * k, k * sizeof *r->prob);
        memcpy(r->propagated + i * k, base->propagated + v * k, k * sizeof *r->propagated);
    }
    return GRAPHSS_OK;
}

/* Nodes [m] with at most NEIGHBOURS neighbours together, or a single one. */
static graphss_status piece(graphss_ctx *ctx, float *evidence, float *anomaly,
    const graphss_i_evidence_base *base, const int32_t *node, size_t m)
{
    graphss_i_excerpt e = {0};
    rest r = {0};
    const graphss_i_excerpt_input in = {.part = base->part,
        .features = base->features,
        .block = {base->alone, base->belief, base->ratio, base->labels},
        .n_blocks = 4,
        .k = base->k,
        .node = node,
        .m = m};
    graphss_status st = graphss_i_excerpt_take(ctx, &e, &in);
    if (!st)
        st = rest_open(ctx, &r, &e, base);
    if (!st) {
        const graphss_i_evidence_base small = {.graph = &e.graph,
            .features = &e.features,
            .classes = base->classes,
            .prob = r.prob,
            .label = r.label,
            .n = e.graph.n_nodes,
            .k = base->k,
            .alone = e.block[0],
            .belief = e.block[1],
            .ratio = e.block[2],
            .labels = e.block[3],
            .propagated = r.propagated,
            .reference = base->reference};
        st = graphss_i_evidence_of(ctx, evidence, anomaly, &small, e.node, m);
    }
    rest_close(ctx, &r);
    graphss_i_excerpt_destroy(ctx, &e);
    return st;
}

graphss_status graphss_i_evidence_of_part(graphss_ctx *ctx, float *evidence, float *anomaly,
    const graphss_i_evidence_base *base, const int32_t *node, size_t m)
{
    const graphss_graph *g = &base->part->graph;
    const size_t wide = base->k * GRAPHSS_I_ROW;
    size_t pieces = 0;
    for (size_t at = 0; at < m; at = next_piece(g, node, at, m))
        pieces++;
    graphss_status st = graphss_i_ranks_most(ctx, &pieces);
    for (size_t at = 0, i = 0; i < pieces && !st; i++) {
        const size_t end = next_piece(g, node, at, m);
        st = piece(ctx, evidence ? evidence + at * wide : NULL,
            anomaly ? anomaly + at * GRAPHSS_I_ANOMALIES : NULL, base, node + at, end - at);
        at = end;
    }
    return graphss_engine_agree(ctx, st, NULL);
}

/* ---- the reference ---- */

static int ascending(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* id [*n]: global numbers of the training nodes that are referred to, the same on all ranks.
 */
static graphss_status choose(graphss_ctx *ctx, int64_t **id, size_t *n,
    const graphss_i_part *part, const int32_t *label)
{
    graphss_i_pieces all = {0};
    int64_t *own = graphss_i_alloc(ctx, part->n_own, sizeof *own), *list = NULL;
    size_t m = 0, total = 0, kept = 0;
    for (size_t v = 0; v < part->n_own && own; v++)
        if (label[v] >= 0)
            own[m++] = part->id[v];
    graphss_status st = graphss_engine_agree(ctx, own ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    if (!st)
        st = graphss_i_ranks_pieces(ctx, &all, own, m * sizeof *own);
    for (size_t r = 0; r < graphss_i_ranks(ctx) && !st; r++)
        total += all.bytes[r] / sizeof *list;
    if (!st) {
        list = graphss_i_alloc(ctx, total, sizeof *list);
        st = list ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    }
    size_t at = 0;
    for (size_t r = 0; r < graphss_i_ranks(ctx) && !st; r++) {
        memcpy(list + at, all.block + r * all.most, all.bytes[r]);
        at += all.bytes[r] / sizeof *list;
    }
    if (!st)
        qsort(list, total, sizeof *list, ascending);
    const size_t most = total < TUNE_REFERENCE ? total : TUNE_REFERENCE;
    for (size_t i = 0; i < total && !st; i++)
        if (i * most / total >= kept)
            list[kept++] = list[i];
    graphss_i_pieces_destroy(ctx, &all);
    graphss_release(ctx, own);
    *id = list;
    *n = kept;
    return graphss_engine_agree(ctx, st, NULL);
}

graphss_status graphss_i_reference_open_part(graphss_ctx *ctx, graphss_i_reference *out,
    const graphss_i_part *part, const graphss_features *features, const int32_t *label)
{
    graphss_features row = {0};
    int64_t *id = NULL;
    int32_t *all = NULL;
    size_t n = 0;
    if (graphss_features_dense(features))
        return GRAPHSS_OK;
    graphss_status st = choose(ctx, &id, &n, part, label);
    if (!st)
        st = graphss_i_part_share(ctx, NULL, &row, part, features, id, n);
    if (!st) {
        all = graphss_i_calloc(ctx, n, sizeof *all); /* each of them counts */
        st = all ? graphss_i_reference_open(ctx, out, &row, all) : GRAPHSS_ERR_NOMEM;
    }
    graphss_release(ctx, all);
    graphss_release(ctx, id);
    graphss_features_destroy(ctx, &row);
    return graphss_engine_agree(ctx, st, NULL);
}
