/* tape.c - recording, the memory plan, and replay.
 *
 * The plan. With n nodes, forward of node i happens at time i and its backward at time
 * 2n - 1 - i. Each matrix (a value or a gradient) is alive for one interval of that time:
 * a value from its forward to its last reader, a gradient from its first writer to its own
 * backward. Matrices whose intervals do not meet may share memory. An operation that works
 * in place joins its matrix with its input's. The intervals are then placed greedily, the
 * largest first, of equal ones the earliest, at the lowest offset that is free; with a few
 * dozen nodes the quadratic search costs microseconds. */
#include "models/tape/tape_private.h"
#include <string.h>

/* ---- recording ---- */

graphss_status graphss_i_tape_new(graphss_ctx *ctx, graphss_i_tape **out)
{
    graphss_i_tape *t = graphss_i_calloc(ctx, 1, sizeof *t);
    if (!t)
        return GRAPHSS_ERR_NOMEM;
    t->ctx = ctx;
    *out = t;
    return GRAPHSS_OK;
}

void graphss_i_tape_free(graphss_ctx *ctx, graphss_i_tape *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->n; i++) {
        graphss_release(ctx, t->node[i].scratch);
        graphss_release(ctx, t->node[i].ahead);
        graphss_i_blocks_destroy(ctx, &t->node[i].blocks);
    }
    graphss_release(ctx, t->node);
    graphss_release(ctx, t->block);
    graphss_release(ctx, t->spare);
    graphss_release(ctx, t);
}

graphss_i_var graphss_i_tape_spoil(graphss_i_tape *t, graphss_status status)
{
    if (!t->status)
        t->status = status;
    return -1;
}

graphss_i_node *graphss_i_tape_node(graphss_i_tape *t, graphss_i_var x)
{
    return x < 0 ? NULL : &t->node[x];
}

graphss_i_var graphss_i_tape_var(const graphss_i_tape *t, const graphss_i_node *node)
{
    return node ? (graphss_i_var)(node - t->node) : -1;
}

graphss_i_node *graphss_i_tape_record(graphss_i_tape *t, const graphss_i_op *op,
    graphss_i_var a, graphss_i_var b, size_t rows, size_t cols)
{
    size_t count;
    if (t->status)
        return NULL;
    if (!graphss_i_mul(&count, rows, cols) || count > SIZE_MAX / 2 / sizeof(float)) {
        graphss_i_tape_spoil(t, graphss_i_nomem(t->ctx, SIZE_MAX));
        return NULL;
    }
    if (t->n == t->room) {
        const size_t room = t->room ? 2 * t->room : 32;
        graphss_i_node *grown = graphss_i_grow(t->ctx, t->node, t->n, room, sizeof *grown);
        if (!grown) {
            graphss_i_tape_spoil(t, GRAPHSS_ERR_NOMEM);
            return NULL;
        }
        t->node = grown;
        t->room = room;
    }
    graphss_i_node *node = &t->node[t->n++];
    *node = (graphss_i_node){
        .op = op, .in = {a, b}, .rows = rows, .cols = cols, .only_training = t->only_training};
    for (int i = 0; i < INPUTS; i++)
        if (node->in[i] >= 0)
            node->needs_grad |= t->node[node->in[i]].needs_grad;
    return node;
}

void *graphss_i_tape_scratch(
    graphss_i_tape *t, graphss_i_node *node, size_t count, size_t size)
{
    node->scratch = graphss_i_alloc(t->ctx, count, size);
    if (!node->scratch)
        graphss_i_tape_spoil(t, GRAPHSS_ERR_NOMEM);
    return node->scratch;
}

graphss_i_var graphss_i_tape_constant(
    graphss_i_tape *t, const float *value, size_t rows, size_t cols)
{
    return graphss_i_tape_weight(t, value, NULL, rows, cols);
}

graphss_i_var graphss_i_tape_weight(
    graphss_i_tape *t, const float *value, float *grad, size_t rows, size_t cols)
{
    graphss_i_node *node = graphss_i_tape_record(t, NULL, -1, -1, rows, cols);
    if (node) {
        node->value = (float *)(uintptr_t)value; /* leaves are only read */
        node->grad = grad;
        node->needs_grad = grad != NULL;
    }
    return graphss_i_tape_var(t, node);
}

void graphss_i_tape_only_training(graphss_i_tape *t, bool only)
{
    t->only_training = only;
}

void graphss_i_tape_keep(graphss_i_tape *t, graphss_i_var x)
{
    if (x >= 0)
        t->node[x].kept = true;
}

/* ---- the memory plan ---- */

typedef struct piece {
    size_t count; /* floats, rounded up to a cache line; 0: not planned here */
    size_t from, to, offset;
    size_t joined; /* index of the piece it lies over, or its own */
    bool placed;
} piece;

static void extend(piece *p, size_t time)
{
    p->from = p->from < time ? p->from : time;
    p->to = p->to > time ? p->to : time;
}

/* piece[i] is the value of node i, piece[n + i] its gradient. */
static void live_intervals(piece *p, const graphss_i_tape *t)
{
    const size_t n = t->n;
    for (size_t i = 0; i < n; i++) {
        const graphss_i_node *node = &t->node[i];
        const size_t back = 2 * n - 1 - i;
        const bool loss = node->op && node->op->is_loss;
        const size_t count = (node->rows * node->cols + 15) / 16 * 16;
        p[i] = (piece){.from = i, .to = i, .joined = i};
        p[n + i] = (piece){.from = back, .to = back, .joined = n + i};
        p[i].count = node->op && !loss ? count : 0;
        p[n + i].count = node->op && !loss && node->needs_grad ? count : 0;
        if (node->kept)
            extend(&p[i], 2 * n);
        if (!node->op)
            continue;
        if (node->needs_grad && node->op->needs_value)
            extend(&p[i], back);
        for (int k = 0; k < INPUTS; k++) {
            if (node->in[k] < 0)
                continue;
            extend(&p[node->in[k]], i);
            if (node->needs_grad && node->op->needs_input[k])
                extend(&p[node->in[k]], back);
            if (node->needs_grad)
                extend(&p[n + (size_t)node->in[k]], back);
        }
    }
}

static size_t uses(const graphss_i_tape *t, graphss_i_var x)
{
    size_t count = 0;
    for (size_t i = 0; i < t->n; i++)
        for (int k = 0; k < INPUTS; k++)
            count += t->node[i].in[k] == x;
    return count;
}

static void join(piece *p, size_t under, size_t over)
{
    const size_t root = p[under].joined;
    extend(&p[root], p[over].from);
    extend(&p[root], p[over].to);
    p[over].joined = root;
}

/* A node that works in place shares the memory of its first input unless another node reads
 * that. */
static void join_in_place(piece *p, const graphss_i_tape *t)
{
    const size_t n = t->n;
    for (size_t i = 0; i < n; i++) {
        const graphss_i_node *node = &t->node[i];
        if (!node->op || !node->op->in_place)
            continue;
        const size_t a = (size_t)node->in[0];
        if (uses(t, node->in[0]) != 1)
            continue;
        if (p[a].count && p[a].to == i)
            join(p, a, i);
    }
    /* Gradients run backwards: the input's lies over the node's. */
    for (size_t i = n; i-- > 0;) {
        const graphss_i_node *node = &t->node[i];
        if (!node->op || !node->op->in_place || !node->needs_grad)
            continue;
        const size_t a = (size_t)node->in[0];
        if (uses(t, node->in[0]) == 1 && p[n + a].count && p[n + i].count)
            join(p, n + i, n + a);
    }
}

static bool meet(const piece *a, const piece *b)
{
    return a->from <= b->to && b->from <= a->to;
}

/* The lowest offset at which x overlaps no placed piece. Returns the end of the block. */
static size_t transposed_at(piece *p, size_t n_pieces, piece *x)
{
    x->offset = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (size_t j = 0; j < n_pieces; j++) {
            const piece *q = &p[j];
            if (q->placed && meet(q, x) && x->offset < q->offset + q->count &&
                q->offset < x->offset + x->count) {
                x->offset = q->offset + q->count;
                moved = true;
            }
        }
    }
    x->placed = true;
    return x->offset + x->count;
}

static size_t place_all(piece *p, size_t n_pieces)
{
    size_t end = 0;
    for (;;) {
        piece *largest = NULL;
        for (size_t j = 0; j < n_pieces; j++)
            if (p[j].count && p[j].joined == j && !p[j].placed &&
                (!largest || p[j].count > largest->count ||
                    (p[j].count == largest->count && p[j].from < largest->from)))
                largest = &p[j];
        if (!largest)
            return end;
        const size_t reached = transposed_at(p, n_pieces, largest);
        end = reached > end ? reached : end;
    }
}

graphss_status graphss_i_tape_finish(graphss_i_tape *t)
{
    const size_t n = t->n;
    size_t spare = 0;
    if (t->status)
        return t->status;
    piece *p = graphss_i_calloc(t->ctx, 2 * n, sizeof *p);
    if (!p)
        return GRAPHSS_ERR_NOMEM;
    live_intervals(p, t);
    join_in_place(p, t);
    t->block_count = place_all(p, 2 * n);
    t->block = graphss_i_alloc(t->ctx, t->block_count, sizeof *t->block);
    for (size_t i = 0; i < n && t->block; i++) {
        graphss_i_node *node = &t->node[i];
        if (p[i].count)
            node->value = t->block + p[p[i].joined].offset;
        if (p[n + i].count)
            node->grad = t->block + p[p[n + i].joined].offset;
        const size_t count = node->rows * node->cols;
        if (node->needs_grad && uses(t, (graphss_i_var)i) > 1 && count > spare)
            spare = count;
    }
    graphss_release(t->ctx, p);
    if (t->block && spare)
        t->spare = graphss_i_alloc(t->ctx, spare, sizeof *t->spare);
    return t->block && (t->spare || !spare) ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

/* ---- replay ---- */

void graphss_i_tape_apart(graphss_i_tape *t)
{
    t->apart = true;
}

void graphss_i_tape_rows(graphss_i_tape *t, const int32_t *row, size_t n)
{
    t->row_from = t->row_to = 0;
    for (size_t i = 0; i < n && t->apart; i++) {
        const size_t r = (size_t)row[i];
        t->row_from = i == 0 || r < t->row_from ? r : t->row_from;
        t->row_to = r >= t->row_to ? r + 1 : t->row_to;
    }
}

void graphss_i_tape_forward_before(graphss_i_tape *t, uint64_t key)
{
    t->before = !t->apart; /* otherwise the two passes have different rows */
    graphss_i_tape_forward(t, false, key);
    t->before = false;
}

void graphss_i_tape_forward(graphss_i_tape *t, bool training, uint64_t key)
{
    t->training = training;
    t->key = key;
    for (size_t i = 0; i < t->n; i++)
        if (t->node[i].op && (training || !t->node[i].only_training))
            t->node[i].op->forward(t, &t->node[i]);
}

static void run_backward(graphss_i_tape *t, graphss_i_node *node)
{
    /* One input at a time uses the spare matrix, if it already has a gradient. */
    float *gin[INPUTS] = {NULL};
    graphss_i_node *second = NULL;
    for (int k = 0; k < INPUTS; k++) {
        graphss_i_node *in = graphss_i_tape_node(t, node->in[k]);
        if (!in || !in->needs_grad)
            continue;
        if (!in->written) {
            gin[k] = in->grad;
            in->written = true;
        } else if (!second) {
            gin[k] = t->spare;
            second = in;
        }
    }
    node->op->backward(t, node, gin);
    if (second)
        graphss_i_tape_kernels(t)->axpy(
            second->grad, t->spare, 1, second->rows * second->cols);

    /* Both inputs already had one: the other is computed by itself. */
    for (int k = 0; k < INPUTS; k++) {
        graphss_i_node *in = graphss_i_tape_node(t, node->in[k]);
        if (!in || !in->needs_grad || gin[k])
            continue;
        float *only[INPUTS] = {NULL};
        only[k] = t->spare;
        node->op->backward(t, node, only);
        graphss_i_tape_kernels(t)->axpy(in->grad, t->spare, 1, in->rows * in->cols);
    }
}

void graphss_i_tape_backward(graphss_i_tape *t)
{
    for (size_t i = 0; i < t->n; i++)
        t->node[i].written = t->node[i].op && t->node[i].op->is_loss;
    for (size_t i = t->n; i-- > 0;) {
        graphss_i_node *node = &t->node[i];
        if (!node->needs_grad)
            continue;
        if (node->op && node->written)
            run_backward(t, node);
        else if (!node->op && !node->written)
            memset(node->grad, 0, node->rows * node->cols * sizeof *node->grad);
    }
}

bool graphss_i_tape_draws(const graphss_i_tape *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->node[i].salt)
            return true;
    return false;
}

const float *graphss_i_tape_value(const graphss_i_tape *t, graphss_i_var x)
{
    return t->node[x].value;
}

double graphss_i_tape_loss(const graphss_i_tape *t)
{
    double sum = 0;
    for (size_t i = 0; i < t->n; i++)
        sum += t->node[i].loss;
    return sum;
}

size_t graphss_i_tape_bytes(const graphss_i_tape *t)
{
    return t->block_count * sizeof *t->block;
}

typedef struct ranges {
    size_t n, grain;
    graphss_i_range fn;
    void *arg;
} ranges;

static void run_range(void *arg, size_t task)
{
    const ranges *r = arg;
    const size_t from = task * r->grain, to = from + r->grain;
    r->fn(r->arg, from, to < r->n ? to : r->n);
}

void graphss_i_tape_ranges(
    graphss_i_tape *t, size_t n, size_t grain, graphss_i_range fn, void *arg)
{
    ranges r = {n, grain, fn, arg};
    graphss_i_parallel(t->ctx, (n + grain - 1) / grain, run_range, &r);
}
