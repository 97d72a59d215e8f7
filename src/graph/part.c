#include "graph/part.h"
#include "graph/rows.h"
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

/* ---- which rank has which node ---- */

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

/* Requests the rows we need from their owners, and learns which of ours the others need. */
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

/* Copies some columns of rows of x [. x k]: row[i], or i if row is NULL. */
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

/* The context records a failed exchange (graphss_i_ranks_status); the next operation that can
 * fail reports it. */
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

/* ---- rows that go between ranks ---- */

graphss_status graphss_i_part_bring(graphss_ctx *ctx, graphss_i_part *p, void *x, size_t size)
{
    char *row = x;
    char *out = graphss_i_alloc(ctx, p->n_send, size);
    graphss_status st = graphss_engine_agree(ctx, out ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    for (size_t s = 0; s < p->n_send && !st; s++)
        memcpy(out + s * size, row + (size_t)p->send_node[s] * size, size);
    if (!st)
        st = graphss_i_ranks_exchange(
            ctx, row + p->n_own * size, p->receive_count, out, p->send_count, size);
    p->received += p->n_ghost * size;
    graphss_release(ctx, out);
    return st;
}

/* ---- rows of all ranks in the order of the global numbers ---- */

static void put_rows(char *all, const int64_t *id, const char *row, size_t n, size_t size)
{
    for (size_t i = 0; i < n; i++)
        memcpy(all + (size_t)id[i] * size, row + i * size, size);
}

graphss_status graphss_i_part_gather(
    graphss_ctx *ctx, void *all, const graphss_i_part *p, const void *own, size_t size)
{
    graphss_i_pieces ids = {0}, rows = {0};
    graphss_status st = graphss_i_ranks_pieces(ctx, &ids, p->id, p->n_own * sizeof *p->id);
    if (!st)
        st = graphss_i_ranks_pieces(ctx, &rows, own, p->n_own * size);
    for (size_t r = 0; r < graphss_i_ranks(ctx) && !st; r++)
        put_rows(all, (const int64_t *)(const void *)(ids.block + r * ids.most),
            rows.block + r * rows.most, ids.bytes[r] / sizeof(int64_t), size);
    graphss_i_pieces_destroy(ctx, &rows);
    graphss_i_pieces_destroy(ctx, &ids);
    return st;
}

/* Messages between rank 0 and the others about all nodes. */
typedef struct roll {
    size_t *in, *out; /* [ranks] nodes to and from this rank */
    int64_t *id;      /* of all nodes, rank by rank; on rank 0 */
    char *row;        /* [n_all x size] in that order; on rank 0 */
    size_t total;     /* n_all on rank 0, else 0 */
} roll;

static void roll_close(graphss_ctx *ctx, roll *r)
{
    graphss_release(ctx, r->row);
    graphss_release(ctx, r->id);
    graphss_release(ctx, r->out);
    graphss_release(ctx, r->in);
}

static graphss_status roll_open(
    graphss_ctx *ctx, roll *r, const graphss_i_part *p, size_t size)
{
    const size_t ranks = graphss_i_ranks(ctx);
    r->total = graphss_i_rank(ctx) == 0 ? p->n_all : 0;
    r->in = graphss_i_calloc(ctx, ranks, sizeof *r->in);
    r->out = graphss_i_calloc(ctx, ranks, sizeof *r->out);
    r->id = graphss_i_alloc(ctx, r->total, sizeof *r->id);
    r->row = graphss_i_alloc(ctx, r->total, size);
    const bool made = r->in && r->out && r->id && r->row;
    graphss_status st = graphss_engine_agree(ctx, made ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    if (st)
        return st;
    r->out[0] = p->n_own;
    st = graphss_i_ranks_counts(ctx, r->in, r->out);
    return st ? st : graphss_i_ranks_exchange(ctx, r->id, r->in, p->id, r->out, sizeof *p->id);
}

graphss_status graphss_i_part_collect(
    graphss_ctx *ctx, void *all, const graphss_i_part *p, const void *own, size_t size)
{
    roll r = {0};
    graphss_status st = roll_open(ctx, &r, p, size);
    if (!st)
        st = graphss_i_ranks_exchange(ctx, r.row, r.in, own, r.out, size);
    if (!st)
        put_rows(all, r.id, r.row, r.total, size);
    roll_close(ctx, &r);
    return st;
}

/* ---- rows of some nodes for every rank ---- */

/* A row that is sent: its index among the requested ones, its neighbours and entries. */
typedef struct head {
    int64_t which, degree, entries;
} head;

/* The requested rows that this rank has. */
typedef struct told {
    head *row;
    int32_t *target, *column;
    float *value;
    size_t rows, targets, columns, values;
} told;

static void told_close(graphss_ctx *ctx, told *t)
{
    graphss_release(ctx, t->row);
    graphss_release(ctx, t->target);
    graphss_release(ctx, t->column);
    graphss_release(ctx, t->value);
}

static graphss_status tell(graphss_ctx *ctx, told *t, const graphss_i_part *p,
    const graphss_features *from, const int64_t *id, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const int64_t v = graphss_i_part_find(p, id[i]);
        if (v < 0)
            continue;
        const graphss_i_row x = graphss_i_row_of(from, (size_t)v);
        t->rows++;
        t->targets += graphss_graph_degree(&p->graph, (size_t)v);
        t->values += x.n;
        t->columns += x.column ? x.n : 0;
    }
    t->row = graphss_i_alloc(ctx, t->rows, sizeof *t->row);
    t->target = graphss_i_alloc(ctx, t->targets, sizeof *t->target);
    t->column = graphss_i_alloc(ctx, t->columns, sizeof *t->column);
    t->value = graphss_i_alloc(ctx, t->values, sizeof *t->value);
    if (!t->row || !t->target || !t->column || !t->value)
        return GRAPHSS_ERR_NOMEM;
    int32_t *target = t->target, *column = t->column;
    float *value = t->value;
    head *row = t->row;
    for (size_t i = 0; i < n; i++) {
        const int64_t v = graphss_i_part_find(p, id[i]);
        if (v < 0)
            continue;
        const graphss_i_row x = graphss_i_row_of(from, (size_t)v);
        for (int64_t e = p->graph.offset[v]; e < p->graph.offset[v + 1]; e++)
            *target++ = (int32_t)p->id[p->graph.target[e]];
        memcpy(value, x.value, x.n * sizeof *value);
        if (x.column)
            memcpy(column, x.column, x.n * sizeof *column);
        value += x.n;
        column += x.column ? x.n : 0;
        *row++ = (head){(int64_t)i, p->graph.offset[v + 1] - p->graph.offset[v], (int64_t)x.n};
    }
    return GRAPHSS_OK;
}

/* What all ranks sent: heads, targets, columns, values. */
enum { HEADS, TARGETS, COLUMNS, VALUES, KINDS };

static const void *piece_of(const graphss_i_pieces *all, size_t r)
{
    return all->block + r * all->most;
}

/* Turns lengths of rows, one position ahead in offset [n + 1], into offsets. */
static void measure(
    int64_t *offset, size_t n, const graphss_i_pieces *heads, size_t ranks, bool edges)
{
    for (size_t r = 0; r < ranks; r++) {
        const head *row = piece_of(heads, r);
        for (size_t i = 0; i < heads->bytes[r] / sizeof *row; i++)
            offset[row[i].which + 1] = edges ? row[i].degree : row[i].entries;
    }
    for (size_t i = 0; i < n; i++)
        offset[i + 1] += offset[i];
}

/* Puts the items of all rows in their places. */
static void place(void *out, const int64_t *offset, const graphss_i_pieces *all,
    const graphss_i_pieces *heads, size_t ranks, bool edges, size_t size)
{
    for (size_t r = 0; r < ranks; r++) {
        const head *row = piece_of(heads, r);
        const char *from = piece_of(all, r);
        for (size_t i = 0; i < heads->bytes[r] / sizeof *row; i++) {
            const size_t bytes = (size_t)(edges ? row[i].degree : row[i].entries) * size;
            memcpy((char *)out + (size_t)offset[row[i].which] * size, from, bytes);
            from += bytes;
        }
    }
}

static graphss_status make_graph(
    graphss_ctx *ctx, graphss_graph *out, size_t n, const graphss_i_pieces *all, size_t ranks)
{
    graphss_graph g = {.n_nodes = n, .offset = graphss_i_calloc(ctx, n + 1, sizeof *g.offset)};
    if (g.offset) {
        measure(g.offset, n, &all[HEADS], ranks, true);
        g.target = graphss_i_alloc(ctx, (size_t)g.offset[n], sizeof *g.target);
    }
    if (!g.offset || !g.target) {
        graphss_graph_destroy(ctx, &g);
        return GRAPHSS_ERR_NOMEM;
    }
    place(g.target, g.offset, &all[TARGETS], &all[HEADS], ranks, true, sizeof *g.target);
    *out = g;
    return GRAPHSS_OK;
}

static graphss_status make_features(graphss_ctx *ctx, graphss_features *out, size_t n,
    const graphss_features *like, const graphss_i_pieces *all, size_t ranks)
{
    graphss_features x = {.n_rows = n, .n_cols = like->n_cols, .kind = like->kind};
    int64_t *offset = graphss_i_calloc(ctx, n + 1, sizeof *offset);
    if (offset) {
        measure(offset, n, &all[HEADS], ranks, false);
        x.value = graphss_i_alloc(ctx, (size_t)offset[n], sizeof *x.value);
    }
    if (offset && !graphss_features_dense(like))
        x.column = graphss_i_alloc(ctx, (size_t)offset[n], sizeof *x.column);
    if (!offset || !x.value || (!graphss_features_dense(like) && !x.column)) {
        graphss_release(ctx, offset);
        graphss_features_destroy(ctx, &x);
        return GRAPHSS_ERR_NOMEM;
    }
    place(x.value, offset, &all[VALUES], &all[HEADS], ranks, false, sizeof *x.value);
    if (x.column)
        place(x.column, offset, &all[COLUMNS], &all[HEADS], ranks, false, sizeof *x.column);
    if (graphss_features_dense(like))
        graphss_release(ctx, offset);
    else
        x.offset = offset;
    *out = x;
    return GRAPHSS_OK;
}

graphss_status graphss_i_part_share(graphss_ctx *ctx, graphss_graph *graph,
    graphss_features *features, const graphss_i_part *part, const graphss_features *from,
    const int64_t *id, size_t n)
{
    const size_t ranks = graphss_i_ranks(ctx);
    graphss_i_pieces all[KINDS] = {0};
    graphss_graph g = {0};
    graphss_features x = {0};
    told t = {0};
    graphss_status st = graphss_engine_agree(ctx, tell(ctx, &t, part, from, id, n), NULL);
    const struct {
        const void *item;
        size_t bytes;
    } own[KINDS] = {{t.row, t.rows * sizeof *t.row}, {t.target, t.targets * sizeof *t.target},
        {t.column, t.columns * sizeof *t.column}, {t.value, t.values * sizeof *t.value}};
    for (size_t k = 0; k < KINDS && !st; k++)
        st = graphss_i_ranks_pieces(ctx, &all[k], own[k].item, own[k].bytes);
    if (!st && graph)
        st = make_graph(ctx, &g, n, all, ranks);
    if (!st && features)
        st = make_features(ctx, &x, n, from, all, ranks);
    st = graphss_engine_agree(ctx, st, NULL);
    for (size_t k = 0; k < KINDS; k++)
        graphss_i_pieces_destroy(ctx, &all[k]);
    told_close(ctx, &t);
    if (st) {
        graphss_graph_destroy(ctx, &g);
        graphss_features_destroy(ctx, &x);
        return st;
    }
    if (graph)
        *graph = g;
    if (features)
        *features = x;
    return GRAPHSS_OK;
}
