#include "graph/part.h"
#include <string.h>

enum { STRIP = GRAPHSS_I_HALO_STRIP };

void graphss_i_part_destroy(graphss_ctx *ctx, graphss_i_part *p)
{
    graphss_release(ctx, p->id);
    graphss_graph_destroy(ctx, &p->graph);
    graphss_graph_destroy(ctx, &p->ascending);
    graphss_release(ctx, p->ghost_degree);
    graphss_features_destroy(ctx, &p->features);
    graphss_release(ctx, p->entry);
    graphss_release(ctx, p->send_count);
    graphss_release(ctx, p->receive_count);
    graphss_release(ctx, p->send_node);
    graphss_release(ctx, p->out);
    graphss_release(ctx, p->near);
    graphss_release(ctx, p->strip);
    *p = (graphss_i_part){0};
}

graphss_i_part *graphss_i_part_of(const graphss_ctx *ctx, const graphss_graph *graph)
{
    graphss_i_part *p = graphss_i_ranks(ctx) > 1 ? graphss_i_ctx_part(ctx) : NULL;
    while (p && &p->graph != graph && &p->ascending != graph)
        p = p->past;
    return p;
}

int64_t graphss_i_part_find(const graphss_i_part *part, int64_t id)
{
    size_t low = 0, high = part->n_own;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (part->id[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < part->n_own && part->id[low] == id ? (int64_t)low : -1;
}

/* ---- who has which node ---- */

/* Global numbers of the nodes of rank r. */
static const int64_t *ids_of(const graphss_i_pieces *all, size_t r, size_t *n)
{
    *n = all->bytes[r] / sizeof(int64_t);
    return (const int64_t *)(const void *)(all->block + r * all->most);
}

/* Local numbers of nodes while a part is made: */
enum { ABSENT = -1, WANTED = -2 };

/* place [n_all]: the own nodes have their numbers; those that rows refer to are WANTED. */
static graphss_status mark(graphss_ctx *ctx, int32_t *place, const graphss_i_pieces *all,
    size_t n_all, const int64_t *id, size_t n, const int64_t *target, size_t entries)
{
    size_t found = 0;
    memset(place, 0, n_all * sizeof *place);
    for (size_t r = 0; r < graphss_i_ranks(ctx); r++) {
        size_t count;
        const int64_t *theirs = ids_of(all, r, &count);
        for (size_t i = 0; i < count; i++) {
            const size_t node = (size_t)theirs[i];
            if (place[node] == ABSENT)
                return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "two shards have node %zu", node);
            place[node] = ABSENT;
            found++;
        }
    }
    if (found != n_all)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_DATA, "the shards have %zu nodes, want %zu", found, n_all);
    for (size_t i = 0; i < n; i++)
        place[id[i]] = (int32_t)i;
    for (size_t e = 0; e < entries; e++)
        if (place[target[e]] == ABSENT)
            place[target[e]] = WANTED;
    return GRAPHSS_OK;
}

/* Numbers the ghosts, rank by rank. wanted gets their places among the owner's nodes. */
static graphss_status number_ghosts(graphss_ctx *ctx, graphss_i_part *p, int32_t **wanted,
    int32_t *place, const graphss_i_pieces *all)
{
    const size_t ranks = graphss_i_ranks(ctx);
    size_t ghosts = 0;
    for (size_t i = 0; i < p->n_all; i++)
        ghosts += place[i] == WANTED;
    if (p->n_own + ghosts > INT32_MAX)
        return graphss_i_fail(ctx, GRAPHSS_ERR_LIMIT,
            "%zu nodes and %zu of other ranks, at most %d fit one rank", p->n_own, ghosts,
            INT32_MAX);
    p->n_ghost = ghosts;
    p->id = graphss_i_alloc(ctx, p->n_own + ghosts, sizeof *p->id);
    *wanted = graphss_i_alloc(ctx, ghosts, sizeof **wanted);
    p->receive_count = graphss_i_calloc(ctx, ranks, sizeof *p->receive_count);
    p->send_count = graphss_i_calloc(ctx, ranks, sizeof *p->send_count);
    if (!p->id || !*wanted || !p->receive_count || !p->send_count)
        return GRAPHSS_ERR_NOMEM;
    size_t next = 0;
    for (size_t r = 0; r < ranks; r++) {
        size_t count;
        const int64_t *theirs = ids_of(all, r, &count);
        for (size_t i = 0; i < count; i++) {
            const int64_t id = theirs[i];
            if (place[id] != WANTED)
                continue;
            p->receive_count[r]++;
            (*wanted)[next] = (int32_t)i;
            p->id[p->n_own + next] = id;
            place[id] = (int32_t)(p->n_own + next++);
        }
    }
    return GRAPHSS_OK;
}

static graphss_status take_rows(graphss_ctx *ctx, graphss_i_part *p, const int64_t *offset,
    const int64_t *target, const int32_t *place)
{
    const size_t entries = (size_t)offset[p->n_own];
    p->graph.n_nodes = p->n_own;
    p->graph.offset = graphss_i_copy(ctx, offset, p->n_own + 1, sizeof *offset);
    p->graph.target = graphss_i_alloc(ctx, entries, sizeof *p->graph.target);
    if (!p->graph.offset || !p->graph.target)
        return GRAPHSS_ERR_NOMEM;
    for (size_t e = 0; e < entries; e++)
        p->graph.target[e] = place[target[e]];
    return GRAPHSS_OK;
}

/* ---- the halo ---- */

/* Tells the owners which rows we need, and learns which of ours the others do. */
static graphss_status plan_halo(graphss_ctx *ctx, graphss_i_part *p, const int32_t *wanted)
{
    const size_t ranks = graphss_i_ranks(ctx);
    graphss_status st = graphss_i_ranks_counts(ctx, p->send_count, p->receive_count);
    if (st)
        return st;
    for (size_t r = 0; r < ranks; r++)
        p->n_send += p->send_count[r];
    p->send_node = graphss_i_alloc(ctx, p->n_send, sizeof *p->send_node);
    p->out = graphss_i_alloc(ctx, p->n_send, STRIP * sizeof *p->out);
    p->near = graphss_i_alloc(ctx, p->n_own + p->n_ghost, STRIP * sizeof *p->near);
    p->strip = graphss_i_alloc(ctx, p->n_own, STRIP * sizeof *p->strip);
    p->ghost_degree = graphss_i_alloc(ctx, p->n_ghost, sizeof *p->ghost_degree);
    int32_t *degree = graphss_i_alloc(ctx, p->n_send, sizeof *degree);
    const bool made =
        p->send_node && p->out && p->near && p->strip && p->ghost_degree && degree;
    st = graphss_engine_agree(ctx, made ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    if (!st)
        st = graphss_i_ranks_exchange(
            ctx, p->send_node, p->send_count, wanted, p->receive_count, sizeof *wanted);
    for (size_t s = 0; s < p->n_send && !st; s++)
        degree[s] = (int32_t)graphss_graph_degree(&p->graph, (size_t)p->send_node[s]);
    if (!st)
        st = graphss_i_ranks_exchange(
            ctx, p->ghost_degree, p->receive_count, degree, p->send_count, sizeof *degree);
    graphss_release(ctx, degree);
    return st;
}

graphss_status graphss_i_part_make(graphss_ctx *ctx, graphss_i_part *out, const int64_t *id,
    size_t n, const int64_t *offset, const int64_t *target, size_t n_all)
{
    graphss_i_part p = {.n_own = n, .n_all = n_all};
    graphss_i_pieces all = {0};
    int32_t *place = NULL, *wanted = NULL;
    double entries = (double)offset[n];
    graphss_status st = graphss_i_ranks_pieces(ctx, &all, id, n * sizeof *id);
    if (st)
        goto done;
    place = graphss_i_alloc(ctx, n_all, sizeof *place);
    st = place ? mark(ctx, place, &all, n_all, id, n, target, (size_t)offset[n])
               : GRAPHSS_ERR_NOMEM;
    if (!st)
        st = number_ghosts(ctx, &p, &wanted, place, &all);
    if (!st)
        st = take_rows(ctx, &p, offset, target, place);
    st = graphss_engine_agree(ctx, st, NULL);
    if (st)
        goto done;
    memcpy(p.id, id, n * sizeof *id);
    st = plan_halo(ctx, &p, wanted);
    if (!st)
        st = graphss_i_ranks_sum(ctx, &entries, 1);
    p.entries_all = (size_t)entries;
done:
    graphss_release(ctx, wanted);
    graphss_release(ctx, place);
    graphss_i_pieces_destroy(ctx, &all);
    if (st)
        graphss_i_part_destroy(ctx, &p);
    else
        *out = p;
    return st;
}

/* ---- the product ---- */

/* Copies some columns of rows of x [. x k]: row[i], or i where row is NULL. */
typedef struct copy {
    float *to;
    size_t to_cols;
    const float *from;
    size_t from_cols;
    const int32_t *row;
    size_t n, cols;
} copy;

enum { ROWS = 4096 }; /* a task */

static void copy_rows(void *arg, size_t task)
{
    const copy *c = arg;
    const size_t end = graphss_i_task_end(task, c->n, ROWS);
    for (size_t i = task * ROWS; i < end; i++) {
        const size_t from = c->row ? (size_t)c->row[i] : i;
        memcpy(c->to + i * c->to_cols, c->from + from * c->from_cols, c->cols * sizeof *c->to);
    }
}

static void copy_all(graphss_ctx *ctx, copy c)
{
    graphss_i_parallel(ctx, graphss_i_tasks(c.n, ROWS), copy_rows, &c);
}

/* A failed exchange leaves its mark on the context (graphss_i_ranks_status), where the next
 * operation that can fail finds it. */
void graphss_i_part_spmm(
    graphss_ctx *ctx, float *y, const graphss_i_csr *m, const float *x, size_t k)
{
    graphss_i_part *p = m->part;
    graphss_i_csr local = *m;
    local.part = NULL;
    local.n_cols = p->n_own + p->n_ghost;
    for (size_t c = 0; c < k; c += STRIP) {
        const size_t cols = k - c < STRIP ? k - c : STRIP;
        copy_all(ctx, (copy){p->out, cols, x + c, k, p->send_node, p->n_send, cols});
        copy_all(ctx, (copy){p->near, cols, x + c, k, NULL, p->n_own, cols});
        if (graphss_i_ranks_exchange(ctx, p->near + p->n_own * cols, p->receive_count, p->out,
                p->send_count, cols * sizeof *x))
            return;
        p->received += p->n_ghost * cols * sizeof *x;
        if (cols == k) {
            graphss_i_spmm(ctx, y, &local, p->near, k);
            return;
        }
        graphss_i_spmm(ctx, p->strip, &local, p->near, cols);
        copy_all(ctx, (copy){y + c, k, p->strip, cols, NULL, p->n_own, cols});
    }
}
