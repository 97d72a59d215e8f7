/* ops_pairs.c - operations for networks that learn which nodes to connect: numbers of pairs of
 * nodes become entries of a symmetric matrix, and a loss fits them to the edges. */
#include "models/tape/tape_private.h"
#include <string.h>

enum { GRAIN = 65536, ROWS = 512 }; /* entries, rows a task */

static const float *value(const graphss_i_tape *t, const graphss_i_node *node, int input)
{
    return t->node[node->in[input]].value;
}

static graphss_i_var wrong_shape(
    graphss_i_tape *t, const char *what, size_t found, size_t wanted)
{
    return graphss_i_tape_spoil(t, graphss_i_fail(t->ctx, GRAPHSS_ERR_INTERNAL,
                                       "%s: %zu, want %zu", what, found, wanted));
}

typedef struct job {
    const graphss_i_node *node;
    const float *a, *b;
    float *out;
} job;

/* ---- y = x where x >= threshold and x > 0, else 0;  dx = dy where y > 0 ---- */

static void keep_range(void *arg, size_t from, size_t to)
{
    const job *j = arg;
    const float threshold = j->node->factor;
    for (size_t e = from; e < to; e++)
        j->out[e] = j->a[e] >= threshold && j->a[e] > 0 ? j->a[e] : 0;
}

static void keep_forward(graphss_i_tape *t, graphss_i_node *node)
{
    job j = {node, value(t, node, 0), NULL, node->value};
    graphss_i_tape_ranges(t, node->rows * node->cols, GRAIN, keep_range, &j);
}

static void keep_back_range(void *arg, size_t from, size_t to)
{
    const job *j = arg;
    for (size_t e = from; e < to; e++)
        j->out[e] = j->b[e] > 0 ? j->a[e] : 0;
}

static void keep_backward(graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    job j = {node, node->grad, node->value, gin[0]};
    graphss_i_tape_ranges(t, node->rows * node->cols, GRAIN, keep_back_range, &j);
}

static const graphss_i_op keep = {
    .forward = keep_forward, .backward = keep_backward, .needs_value = true, .in_place = true};

graphss_i_var graphss_i_tape_keep_above(graphss_i_tape *t, graphss_i_var x, double threshold)
{
    const graphss_i_node *in = graphss_i_tape_node(t, x);
    if (!in)
        return -1;
    graphss_i_node *node = graphss_i_tape_record(t, &keep, x, -1, in->rows, in->cols);
    if (node)
        node->factor = (float)threshold;
    return graphss_i_tape_var(t, node);
}

/* ---- y_e = 1 for a constant entry, a_q or weight_q b_q for an entry of pair q ----
 *
 * node->n: pairs of a; node->user: the pattern. */

static void spread_range(void *arg, size_t from, size_t to)
{
    const job *j = arg;
    const graphss_i_pair_pattern *p = j->node->user;
    const size_t first = j->node->n;
    for (size_t e = from; e < to; e++) {
        const int32_t q = p->source[e];
        j->out[e] = q < 0 ? 1
                    : (size_t)q < first
                        ? j->a[q]
                        : p->weight[(size_t)q - first] * j->b[(size_t)q - first];
    }
}

static void spread_forward(graphss_i_tape *t, graphss_i_node *node)
{
    job j = {node, node->in[0] < 0 ? NULL : value(t, node, 0),
        node->in[1] < 0 ? NULL : value(t, node, 1), node->value};
    graphss_i_tape_ranges(t, node->rows, GRAIN, spread_range, &j);
}

/* da_q = dy of both entries */
static void gather_first(void *arg, size_t from, size_t to)
{
    const job *j = arg;
    const graphss_i_pair_pattern *p = j->node->user;
    for (size_t q = from; q < to; q++)
        j->out[q] = j->a[p->entry[q]] + j->a[p->transposed_at[p->entry[q]]];
}

/* db_q = weight_q (dy of both entries) */
static void gather_second(void *arg, size_t from, size_t to)
{
    const job *j = arg;
    const graphss_i_pair_pattern *p = j->node->user;
    for (size_t q = from; q < to; q++) {
        const int64_t e = p->entry[q + j->node->n];
        j->out[q] = p->weight[q] * (j->a[e] + j->a[p->transposed_at[e]]);
    }
}

static void spread_backward(graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    const graphss_i_pair_pattern *p = node->user;
    job j = {node, node->grad, NULL, gin[0]};
    if (gin[0])
        graphss_i_tape_ranges(t, node->n, GRAIN, gather_first, &j);
    j.out = gin[1];
    if (gin[1])
        graphss_i_tape_ranges(t, p->n_pairs - node->n, GRAIN, gather_second, &j);
}

static const graphss_i_op spread = {.forward = spread_forward, .backward = spread_backward};

graphss_i_var graphss_i_tape_spread_pairs(
    graphss_i_tape *t, const graphss_i_pair_pattern *p, graphss_i_var a, graphss_i_var b)
{
    if (t->status)
        return -1;
    const size_t na = a < 0 ? 0 : t->node[a].rows, nb = b < 0 ? 0 : t->node[b].rows;
    if (na + nb != p->n_pairs)
        return wrong_shape(t, "numbers of pairs", na + nb, p->n_pairs);
    graphss_i_node *node =
        graphss_i_tape_record(t, &spread, a, b, (size_t)p->m.offset[p->m.n_rows], 1);
    if (node) {
        node->user = p;
        node->n = na;
    }
    return graphss_i_tape_var(t, node);
}

/* ---- edges should have r_i . r_j = 1, others 0 ----
 *
 *   f N / pairs (sum over edges (1 - r_i . r_j)^2 + sum over drawn pairs (r_i . r_j)^2)
 *   dr_i = 2 f N / pairs sum_j (r_i . r_j - [edge]) r_j
 *
 * Pairs are drawn by putting all nodes on a circle in random order: each meets the next
 * `reach` on either side. So every pair is as likely as any other, none comes twice, each
 * node has as many, and the pairs of a row can be listed without a search. Connected ones
 * among them do not count. */

typedef struct circle {
    const graphss_graph *edges;
    size_t reach;
    graphss_i_csr pair; /* of each row: its edges, then its neighbours on the circle */
    float *off;         /* [nnz] r_i . r_j - [edge], 0 if it does not count */
    int32_t *order;     /* [n] */
    double *sum;        /* [tasks] of squares, */
    double *count;      /* [tasks] and of pairs; both count each pair twice */
    float factor;       /* 2 f N / pairs of the last forward */
} circle;

static void sit_down(circle *c, uint64_t key)
{
    const graphss_graph *g = c->edges;
    const size_t n = g->n_nodes;
    graphss_rng rng = graphss_rng_make(key, GRAPHSS_STREAM_SAMPLER);
    for (size_t i = 0; i < n; i++)
        c->order[i] = (int32_t)i;
    graphss_rng_shuffle(&rng, c->order, n);
    for (size_t p = 0; p < n; p++) {
        const size_t i = (size_t)c->order[p];
        int32_t *at = c->pair.column + c->pair.offset[i] + (g->offset[i + 1] - g->offset[i]);
        for (size_t s = 1; s <= c->reach; s++) {
            *at++ = c->order[(p + s) % n];
            *at++ = c->order[(p + n - s) % n];
        }
    }
}

static void miss_range(void *arg, size_t from, size_t to)
{
    circle *c = arg;
    const graphss_graph *g = c->edges;
    double sum = 0, count = 0;
    for (size_t i = from; i < to; i++) {
        const int64_t drawn = c->pair.offset[i] + (g->offset[i + 1] - g->offset[i]);
        for (int64_t e = c->pair.offset[i]; e < c->pair.offset[i + 1]; e++) {
            const bool twice =
                e >= drawn && graphss_graph_has_edge(g, (int32_t)i, c->pair.column[e]);
            c->off[e] = twice ? 0 : c->off[e] - (e < drawn);
            count += !twice;
            sum += (double)c->off[e] * c->off[e];
        }
    }
    c->sum[from / ROWS] = sum;
    c->count[from / ROWS] = count;
}

static void edge_loss_forward(graphss_i_tape *t, graphss_i_node *node)
{
    circle *c = node->scratch;
    const size_t n = c->edges->n_nodes;
    node->loss = 0;
    if (!t->training)
        return;
    sit_down(c, t->key ^ node->salt);
    memset(c->off, 0, (size_t)c->pair.offset[n] * sizeof *c->off);
    graphss_i_sddmm(t->ctx, c->off, &c->pair, value(t, node, 0), value(t, node, 0), node->n);
    graphss_i_tape_ranges(t, n, ROWS, miss_range, c);
    double sum = 0, count = 0;
    for (size_t task = 0; task * ROWS < n; task++) {
        sum += c->sum[task];
        count += c->count[task];
    }
    const double share = count > 0 ? 2 * (double)node->factor * (double)n / count : 0;
    node->loss = share * sum / 2;
    c->factor = (float)(2 * share);
}

static void scale_range(void *arg, size_t from, size_t to)
{
    const job *j = arg;
    const float factor = ((const circle *)j->node->scratch)->factor;
    for (size_t e = from; e < to; e++)
        j->out[e] *= factor;
}

static void edge_loss_backward(
    graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    circle *c = node->scratch;
    graphss_i_csr m = c->pair;
    m.value = c->off;
    graphss_i_spmm(t->ctx, gin[0], &m, value(t, node, 0), node->n);
    job j = {node, NULL, NULL, gin[0]};
    graphss_i_tape_ranges(t, c->edges->n_nodes * node->n, GRAIN, scale_range, &j);
}

static const graphss_i_op edge_loss = {.forward = edge_loss_forward,
    .backward = edge_loss_backward,
    .needs_input = {true},
    .is_loss = true};

static void list_edges(circle *c)
{
    const graphss_graph *g = c->edges;
    int64_t e = 0;
    for (size_t i = 0; i < g->n_nodes; i++) {
        const size_t degree = (size_t)(g->offset[i + 1] - g->offset[i]);
        c->pair.offset[i] = e;
        if (degree)
            memcpy(c->pair.column + e, g->target + g->offset[i], degree * sizeof *g->target);
        e += (int64_t)(degree + 2 * c->reach);
    }
    c->pair.offset[g->n_nodes] = e;
}

/* All arrays in one block behind the struct, those of the widest numbers first. */
static circle *circle_make(
    graphss_i_tape *t, graphss_i_node *node, const graphss_graph *edges, size_t reach)
{
    const size_t n = edges->n_nodes, tasks = n / ROWS + 1;
    const size_t nnz = (size_t)edges->offset[n] + 2 * reach * n;
    const size_t wide = 2 * tasks * sizeof(double) + (n + 1) * sizeof(int64_t);
    const size_t bytes =
        sizeof(circle) + wide + nnz * (sizeof(float) + sizeof(int32_t)) + n * sizeof(int32_t);
    circle *c = graphss_i_tape_scratch(t, node, bytes, 1);
    if (!c)
        return NULL;
    *c = (circle){.edges = edges, .reach = reach, .pair = {.n_rows = n, .n_cols = n}};
    c->sum = (double *)(c + 1);
    c->count = c->sum + tasks;
    c->pair.offset = (int64_t *)(c->count + tasks);
    c->off = (float *)(c->pair.offset + n + 1);
    c->pair.column = (int32_t *)(c->off + nnz);
    c->order = c->pair.column + nnz;
    list_edges(c);
    return c;
}

graphss_i_var graphss_i_tape_edge_loss(graphss_i_tape *t, graphss_i_var r,
    const graphss_graph *edges, size_t reach, double factor)
{
    const graphss_i_node *in = graphss_i_tape_node(t, r);
    if (!in)
        return -1;
    const size_t n = edges->n_nodes, cols = in->cols;
    if (in->rows != n)
        return wrong_shape(t, "link loss", in->rows, n);
    graphss_i_node *node = graphss_i_tape_record(t, &edge_loss, r, -1, 1, 1);
    const size_t most = n > 0 ? (n - 1) / 2 : 0;
    if (!node || !circle_make(t, node, edges, reach < most ? reach : most))
        return -1;
    node->n = cols;
    node->factor = (float)factor;
    node->salt = graphss_i_tape_salt(t);
    return graphss_i_tape_var(t, node);
}
