/* excerpt.c - see excerpt.h. */
#include "graph/excerpt.h"
#include "graph/rows.h"
#include <stdlib.h>
#include <string.h>

/* Rows of ghosts, as received from their owners. */
typedef struct ghosts {
    int32_t *node; /* [n] local numbers, ascending: rank by rank */
    size_t n;
    size_t *count, *asked;     /* [ranks] ghosts of each rank; rows that it requests from us */
    int64_t *degree, *entries; /* [n + 1] where each row begins */
    int64_t *target;           /* global numbers */
    int32_t *column;           /* sparse */
    float *value;
    float *block[GRAPHSS_I_EXCERPT_BLOCKS]; /* [n x k] */
} ghosts;

static void ghosts_close(graphss_ctx *ctx, ghosts *g)
{
    void *const list[] = {
        g->node, g->count, g->asked, g->degree, g->entries, g->target, g->column, g->value};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        graphss_release(ctx, list[i]);
    for (size_t b = 0; b < GRAPHSS_I_EXCERPT_BLOCKS; b++)
        graphss_release(ctx, g->block[b]);
}

void graphss_i_excerpt_destroy(graphss_ctx *ctx, graphss_i_excerpt *e)
{
    graphss_graph_destroy(ctx, &e->graph);
    graphss_features_destroy(ctx, &e->features);
    graphss_release(ctx, e->node);
    graphss_release(ctx, e->own);
    for (size_t b = 0; b < GRAPHSS_I_EXCERPT_BLOCKS; b++)
        graphss_release(ctx, e->block[b]);
    *e = (graphss_i_excerpt){0};
}

/* ---- which nodes are in ---- */

static int ascending(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* near [*n]: local numbers of the nodes and their neighbours, each once, ascending: own nodes
 * by their global numbers, then ghosts. */
static graphss_status find_near(
    graphss_ctx *ctx, int32_t **near, size_t *n, const graphss_i_excerpt_input *in)
{
    const graphss_graph *g = &in->part->graph;
    size_t most = in->m, m = 0, kept = 0;
    for (size_t i = 0; i < in->m; i++)
        most += graphss_graph_degree(g, (size_t)in->node[i]);
    int32_t *list = graphss_i_alloc(ctx, most, sizeof *list);
    if (!list)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < in->m; i++) {
        const int32_t v = in->node[i];
        list[m++] = v;
        for (int64_t e = g->offset[v]; e < g->offset[v + 1]; e++)
            list[m++] = g->target[e];
    }
    qsort(list, m, sizeof *list, ascending);
    for (size_t i = 0; i < m; i++)
        if (i == 0 || list[i] != list[i - 1])
            list[kept++] = list[i];
    *near = list;
    *n = kept;
    return GRAPHSS_OK;
}

/* ---- rows of ghosts ---- */

/* What is requested from an owner, and its answer. */
typedef struct reply {
    int64_t *id;   /* [n] global numbers asked for, */
    int32_t *node; /* [n] and their local numbers */
    size_t n;
    int64_t *length; /* [n x 2] neighbours, entries */
    int64_t *target; /* of all rows */
    int32_t *column;
    float *value, *block;
    size_t *targets, *entries;       /* [ranks] items for each rank */
    size_t *in_targets, *in_entries; /* [ranks] and from each */
} reply;

static void reply_close(graphss_ctx *ctx, reply *r)
{
    void *const list[] = {r->id, r->node, r->length, r->target, r->column, r->value, r->block,
        r->targets, r->entries, r->in_targets, r->in_entries};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        graphss_release(ctx, list[i]);
}

/* The owners of the ghosts, and the rows that others request. */
static graphss_status ask(
    graphss_ctx *ctx, ghosts *g, reply *r, const graphss_i_excerpt_input *in)
{
    const graphss_i_part *p = in->part;
    const size_t ranks = graphss_i_ranks(ctx);
    int64_t *want = graphss_i_alloc(ctx, g->n, sizeof *want);
    g->count = graphss_i_calloc(ctx, ranks, sizeof *g->count);
    g->asked = graphss_i_calloc(ctx, ranks, sizeof *g->asked);
    const bool made = want && g->count && g->asked;
    size_t owner = 0, end = p->n_own + p->receive_count[0];
    for (size_t i = 0; i < g->n && made; i++) {
        while ((size_t)g->node[i] >= end)
            end += p->receive_count[++owner];
        g->count[owner]++;
        want[i] = p->id[g->node[i]];
    }
    graphss_status st = graphss_engine_agree(ctx, made ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    if (!st)
        st = graphss_i_ranks_counts(ctx, g->asked, g->count);
    for (size_t k = 0; k < ranks && !st; k++)
        r->n += g->asked[k];
    if (!st) {
        r->id = graphss_i_alloc(ctx, r->n, sizeof *r->id);
        r->node = graphss_i_alloc(ctx, r->n, sizeof *r->node);
        st =
            graphss_engine_agree(ctx, r->id && r->node ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    }
    if (!st)
        st = graphss_i_ranks_exchange(ctx, r->id, g->asked, want, g->count, sizeof *want);
    for (size_t i = 0; i < r->n && !st; i++)
        r->node[i] = (int32_t)graphss_i_part_find(p, r->id[i]);
    graphss_release(ctx, want);
    return st;
}

/* Rows of own nodes for those who asked. */
static graphss_status pack(
    graphss_ctx *ctx, reply *r, const ghosts *g, const graphss_i_excerpt_input *in)
{
    const graphss_i_part *p = in->part;
    const size_t ranks = graphss_i_ranks(ctx);
    const bool dense = graphss_features_dense(in->features);
    size_t targets = 0, entries = 0, at = 0;
    r->length = graphss_i_alloc(ctx, r->n, 2 * sizeof *r->length);
    r->targets = graphss_i_calloc(ctx, ranks, sizeof *r->targets);
    r->entries = graphss_i_calloc(ctx, ranks, sizeof *r->entries);
    r->in_targets = graphss_i_calloc(ctx, ranks, sizeof *r->in_targets);
    r->in_entries = graphss_i_calloc(ctx, ranks, sizeof *r->in_entries);
    if (!r->length || !r->targets || !r->entries || !r->in_targets || !r->in_entries)
        return GRAPHSS_ERR_NOMEM;
    for (size_t k = 0; k < ranks; k++)
        for (size_t i = 0; i < g->asked[k]; i++, at++) {
            const size_t v = (size_t)r->node[at];
            r->length[2 * at] = (int64_t)graphss_graph_degree(&p->graph, v);
            r->length[2 * at + 1] = (int64_t)graphss_i_row_of(in->features, v).n;
            r->targets[k] += (size_t)r->length[2 * at];
            r->entries[k] += (size_t)r->length[2 * at + 1];
        }
    for (size_t k = 0; k < ranks; k++) {
        targets += r->targets[k];
        entries += r->entries[k];
    }
    r->target = graphss_i_alloc(ctx, targets, sizeof *r->target);
    r->column = graphss_i_alloc(ctx, dense ? 0 : entries, sizeof *r->column);
    r->value = graphss_i_alloc(ctx, entries, sizeof *r->value);
    r->block = graphss_i_alloc(ctx, r->n, in->k * sizeof *r->block);
    if (!r->target || !r->column || !r->value || !r->block)
        return GRAPHSS_ERR_NOMEM;
    int64_t *target = r->target;
    for (size_t i = 0, e = 0; i < r->n; i++) {
        const size_t v = (size_t)r->node[i];
        const graphss_i_row x = graphss_i_row_of(in->features, v);
        for (int64_t t = p->graph.offset[v]; t < p->graph.offset[v + 1]; t++)
            *target++ = p->id[p->graph.target[t]];
        memcpy(r->value + e, x.value, x.n * sizeof *r->value);
        if (!dense)
            memcpy(r->column + e, x.column, x.n * sizeof *r->column);
        e += x.n;
    }
    return GRAPHSS_OK;
}

/* Room for the rows, once their lengths are known. length [n x 2] */
static graphss_status make_room(graphss_ctx *ctx, ghosts *g, reply *r, const int64_t *length,
    const graphss_i_excerpt_input *in)
{
    const bool dense = graphss_features_dense(in->features);
    g->degree = graphss_i_calloc(ctx, g->n + 1, sizeof *g->degree);
    g->entries = graphss_i_calloc(ctx, g->n + 1, sizeof *g->entries);
    if (!g->degree || !g->entries)
        return GRAPHSS_ERR_NOMEM;
    for (size_t k = 0, i = 0; k < graphss_i_ranks(ctx); k++)
        for (size_t j = 0; j < g->count[k]; j++, i++) {
            g->degree[i + 1] = g->degree[i] + length[2 * i];
            g->entries[i + 1] = g->entries[i] + length[2 * i + 1];
            r->in_targets[k] += (size_t)length[2 * i];
            r->in_entries[k] += (size_t)length[2 * i + 1];
        }
    g->target = graphss_i_alloc(ctx, (size_t)g->degree[g->n], sizeof *g->target);
    g->column = graphss_i_alloc(ctx, dense ? 0 : (size_t)g->entries[g->n], sizeof *g->column);
    g->value = graphss_i_alloc(ctx, (size_t)g->entries[g->n], sizeof *g->value);
    bool made = g->target && g->column && g->value;
    for (size_t b = 0; b < in->n_blocks; b++) {
        g->block[b] = graphss_i_alloc(ctx, g->n, in->k * sizeof *g->block[b]);
        made = made && g->block[b];
    }
    return made ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

static graphss_status fetch(graphss_ctx *ctx, ghosts *g, const graphss_i_excerpt_input *in)
{
    reply r = {0};
    int64_t *length = NULL;
    graphss_status st = ask(ctx, g, &r, in);
    if (!st) {
        length = graphss_i_alloc(ctx, g->n, 2 * sizeof *length);
        st = length ? pack(ctx, &r, g, in) : GRAPHSS_ERR_NOMEM;
        st = graphss_engine_agree(ctx, st, NULL);
    }
    if (!st)
        st = graphss_i_ranks_exchange(
            ctx, length, g->count, r.length, g->asked, 2 * sizeof *length);
    if (!st)
        st = graphss_engine_agree(ctx, make_room(ctx, g, &r, length, in), NULL);
    if (!st)
        st = graphss_i_ranks_exchange(
            ctx, g->target, r.in_targets, r.target, r.targets, sizeof *g->target);
    if (!st && !graphss_features_dense(in->features))
        st = graphss_i_ranks_exchange(
            ctx, g->column, r.in_entries, r.column, r.entries, sizeof *g->column);
    if (!st)
        st = graphss_i_ranks_exchange(
            ctx, g->value, r.in_entries, r.value, r.entries, sizeof *g->value);
    for (size_t b = 0; b < in->n_blocks && !st; b++) {
        for (size_t i = 0; i < r.n; i++)
            memcpy(r.block + i * in->k, in->block[b] + (size_t)r.node[i] * in->k,
                in->k * sizeof *r.block);
        st = graphss_i_ranks_exchange(
            ctx, g->block[b], g->count, r.block, g->asked, in->k * sizeof *r.block);
    }
    graphss_release(ctx, length);
    reply_close(ctx, &r);
    return st;
}

/* ---- the small graph ---- */

/* A node of the excerpt. */
typedef struct present {
    int64_t id;
    int32_t node; /* local number */
} present;

static int by_id(const void *a, const void *b)
{
    const present *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* Nodes of the excerpt have odd numbers; those between two of them share the even one. */
static int32_t number_of(const present *list, size_t n, int64_t id)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (list[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return (int32_t)(2 * low + (low < n && list[low].id == id));
}

/* The rows of one node: neighbours, entries, blocks. */
typedef struct source {
    const int32_t *local; /* own node: local numbers; NULL: */
    const int64_t *global;
    size_t degree;
    graphss_i_row x;
    const float *block[GRAPHSS_I_EXCERPT_BLOCKS];
} source;

static source source_of(const graphss_i_excerpt_input *in, const ghosts *g, int32_t node)
{
    const graphss_i_part *p = in->part;
    source s = {0};
    if ((size_t)node < p->n_own) {
        const size_t v = (size_t)node;
        s.local = p->graph.target + p->graph.offset[v];
        s.degree = graphss_graph_degree(&p->graph, v);
        s.x = graphss_i_row_of(in->features, v);
        for (size_t b = 0; b < in->n_blocks; b++)
            s.block[b] = in->block[b] + v * in->k;
        return s;
    }
    const int32_t *found = bsearch(&node, g->node, g->n, sizeof node, ascending);
    const size_t i = (size_t)(found - g->node);
    s.global = g->target + g->degree[i];
    s.degree = (size_t)(g->degree[i + 1] - g->degree[i]);
    s.x = (graphss_i_row){
        graphss_features_dense(in->features) ? NULL : g->column + g->entries[i],
        g->value + g->entries[i], (size_t)(g->entries[i + 1] - g->entries[i])};
    for (size_t b = 0; b < in->n_blocks; b++)
        s.block[b] = g->block[b] + i * in->k;
    return s;
}

static graphss_status allocate(graphss_ctx *ctx, graphss_i_excerpt *out, const present *list,
    size_t n, const ghosts *g, const graphss_i_excerpt_input *in)
{
    const size_t all = 2 * n + 1;
    const bool dense = graphss_features_dense(in->features);
    size_t targets = 0, entries = 0;
    for (size_t i = 0; i < n; i++) {
        const source s = source_of(in, g, list[i].node);
        targets += s.degree;
        entries += s.x.n;
    }
    out->graph = (graphss_graph){.n_nodes = all,
        .offset = graphss_i_calloc(ctx, all + 1, sizeof(int64_t)),
        .target = graphss_i_alloc(ctx, targets, sizeof(int32_t))};
    graphss_features *x = &out->features;
    *x = (graphss_features){
        .n_rows = all, .n_cols = in->features->n_cols, .kind = in->features->kind};
    x->value = dense ? graphss_i_calloc(ctx, all, x->n_cols * sizeof *x->value)
                     : graphss_i_alloc(ctx, entries, sizeof *x->value);
    bool made = out->graph.offset && out->graph.target && x->value;
    if (!dense) {
        x->offset = graphss_i_calloc(ctx, all + 1, sizeof *x->offset);
        x->column = graphss_i_alloc(ctx, entries, sizeof *x->column);
        made = made && x->offset && x->column;
    }
    out->node = graphss_i_alloc(ctx, in->m, sizeof *out->node);
    out->own = graphss_i_alloc(ctx, all, sizeof *out->own);
    for (size_t b = 0; b < in->n_blocks; b++) {
        out->block[b] = graphss_i_calloc(ctx, all, in->k * sizeof *out->block[b]);
        made = made && out->block[b];
    }
    return made && out->node && out->own ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

static void fill_row(graphss_i_excerpt *out, size_t at, const source *s, const present *list,
    size_t n, const graphss_i_excerpt_input *in)
{
    const graphss_i_part *p = in->part;
    graphss_features *x = &out->features;
    int32_t *target = out->graph.target + out->graph.offset[at];
    for (size_t e = 0; e < s->degree; e++)
        target[e] = number_of(list, n, s->local ? p->id[s->local[e]] : s->global[e]);
    out->graph.offset[at + 1] = out->graph.offset[at] + (int64_t)s->degree;
    const size_t to = x->offset ? (size_t)x->offset[at] : at * x->n_cols;
    memcpy(x->value + to, s->x.value, s->x.n * sizeof *x->value);
    if (x->offset) {
        memcpy(x->column + to, s->x.column, s->x.n * sizeof *x->column);
        x->offset[at + 1] = x->offset[at] + (int64_t)s->x.n;
    }
    for (size_t b = 0; b < in->n_blocks; b++)
        memcpy(out->block[b] + at * in->k, s->block[b], in->k * sizeof *s->block[b]);
}

static graphss_status make(graphss_ctx *ctx, graphss_i_excerpt *out, const int32_t *near,
    size_t n, const ghosts *g, const graphss_i_excerpt_input *in)
{
    const graphss_i_part *p = in->part;
    present *list = graphss_i_alloc(ctx, n, sizeof *list);
    if (!list)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        list[i] = (present){p->id[near[i]], near[i]};
    qsort(list, n, sizeof *list, by_id);
    const graphss_status st = allocate(ctx, out, list, n, g, in);
    for (size_t at = 0; at < 2 * n + 1 && !st; at++) {
        out->own[at] = -1;
        if (at % 2 == 0) { /* nobody's row */
            out->graph.offset[at + 1] = out->graph.offset[at];
            if (out->features.offset)
                out->features.offset[at + 1] = out->features.offset[at];
            continue;
        }
        const present *v = &list[at / 2];
        const source s = source_of(in, g, v->node);
        fill_row(out, at, &s, list, n, in);
        if ((size_t)v->node < p->n_own)
            out->own[at] = v->node;
    }
    for (size_t i = 0; i < in->m && !st; i++)
        out->node[i] = number_of(list, n, p->id[in->node[i]]);
    graphss_release(ctx, list);
    return st;
}

graphss_status graphss_i_excerpt_take(
    graphss_ctx *ctx, graphss_i_excerpt *out, const graphss_i_excerpt_input *in)
{
    graphss_i_excerpt made = {0};
    ghosts g = {0};
    int32_t *near = NULL;
    size_t n = 0, own = 0;
    graphss_status st = find_near(ctx, &near, &n, in);
    while (!st && own < n && (size_t)near[own] < in->part->n_own)
        own++;
    if (!st) {
        g.n = n - own;
        g.node = graphss_i_copy(ctx, near + own, g.n, sizeof *near);
        st = g.node ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    }
    st = graphss_engine_agree(ctx, st, NULL);
    if (!st)
        st = fetch(ctx, &g, in);
    if (!st)
        st = make(ctx, &made, near, n, &g, in);
    st = graphss_engine_agree(ctx, st, NULL);
    graphss_release(ctx, near);
    ghosts_close(ctx, &g);
    if (st)
        graphss_i_excerpt_destroy(ctx, &made);
    else
        *out = made;
    return st;
}
