/* ops_linear.c - products. Letters: N nodes, d features, h columns, e stored entries. */
#include "models/tape/tape_private.h"
#include <math.h>
#include <string.h>

static graphss_i_var wrong_shape(graphss_i_tape *t, const char *op, size_t found, size_t want)
{
    return graphss_i_tape_spoil(t, graphss_i_fail(t->ctx, GRAPHSS_ERR_INTERNAL,
                                       "%s: %zu rows, want %zu", op, found, want));
}

static const float *value(graphss_i_tape *t, const graphss_i_node *node, int input)
{
    return t->node[node->in[input]].value;
}

/* ---- y [N x h] = X [N x d, sparse] w [d x h] ----
 *
 * While training with dropout the entries that are kept are gathered in each pass,
 * so that both products have as many fewer entries. Those that are dropped stand behind them:
 * where a pass without dropout comes first, kept and dropped ones added up are its product. */

/* X without the entries dropped in this pass. */
typedef struct kept_entries {
    int64_t *offset; /* [N + 1] */
    int32_t *column; /* [e] */
    float *value;    /* [e] multiplied by the node's factor */
    uint32_t *mask;  /* [e / 32 + 1] a bit for each entry of X */
} kept_entries;

static size_t mask_words(size_t entries)
{
    return (entries + 31) / 32;
}

static size_t kept_bytes(const graphss_i_csr *x)
{
    const size_t e = (size_t)x->offset[x->n_rows];
    return (x->n_rows + 1) * sizeof(int64_t) + e * (sizeof(int32_t) + sizeof(float)) +
           mask_words(e) * sizeof(uint32_t);
}

static kept_entries kept_of(const graphss_i_node *node)
{
    const size_t n = node->m->n_rows, e = (size_t)node->m->offset[n];
    kept_entries k = {.offset = node->scratch};
    k.column = (int32_t *)(k.offset + n + 1);
    k.value = (float *)(k.column + e);
    k.mask = (uint32_t *)(k.value + e);
    return k;
}

typedef struct dropping {
    const graphss_i_tape *t;
    const graphss_i_node *node;
    size_t first; /* row, or word of the mask */
} dropping;

static void draw_range(void *arg, size_t from, size_t to)
{
    const dropping *d = arg;
    graphss_i_tape_drop_stored(
        d->t, d->node, kept_of(d->node).mask, d->first + from, d->first + to);
}

static inline bool is_kept(const uint32_t *mask, int64_t entry)
{
    return mask[entry / 32] >> entry % 32 & 1;
}

/* How many of the entries [from, to) are kept. */
static int64_t count_kept(const uint32_t *mask, int64_t from, int64_t to)
{
    int64_t count = 0;
    for (int64_t w = from / 32; w * 32 < to; w++) {
        const uint32_t before = from > w * 32 ? UINT32_MAX << (from - w * 32) : UINT32_MAX;
        const uint32_t behind = to - w * 32 < 32 ? ~(UINT32_MAX << (to - w * 32)) : UINT32_MAX;
        count += __builtin_popcount(mask[w] & before & behind);
    }
    return count;
}

/* Counts in offset[i + 1] the entries of row i that are kept. */
static void count_range(void *arg, size_t from, size_t to)
{
    const dropping *d = arg;
    const int64_t *offset = d->node->m->offset + d->first;
    const kept_entries k = kept_of(d->node);
    for (size_t i = from; i < to; i++)
        k.offset[d->first + i + 1] = count_kept(k.mask, offset[i], offset[i + 1]);
}

/* Without branches, which half of the time would be taken for the other. */
static void gather_range(void *arg, size_t from, size_t to)
{
    const dropping *d = arg;
    const graphss_i_csr *x = d->node->m;
    const kept_entries k = kept_of(d->node);
    const size_t row = d->first + from;
    const float factor = d->node->factor;
    int64_t at = k.offset[row], other = k.offset[x->n_rows] + x->offset[row] - at;
    for (int64_t e = x->offset[row]; e < x->offset[d->first + to]; e++) {
        const bool kept = is_kept(k.mask, e);
        const int64_t place = kept ? at : other;
        k.column[place] = x->column[e];
        k.value[place] = x->value[e] * factor;
        at += kept;
        other += !kept;
    }
}

static void drop_entries(graphss_i_tape *t, const graphss_i_node *node, graphss_i_span rows)
{
    enum { GRAIN = 1024, WORDS = 4096 }; /* rows, words of the mask */
    const int64_t *offset = node->m->offset;
    const kept_entries k = kept_of(node);
    const size_t words = mask_words((size_t)offset[rows.to]);
    dropping d = {t, node, (size_t)offset[rows.from] / 32};
    graphss_i_tape_ranges(t, words - d.first, WORDS, draw_range, &d);
    d.first = rows.from;
    memset(k.offset, 0, (rows.from + 1) * sizeof *k.offset);
    graphss_i_tape_ranges(t, rows.to - rows.from, GRAIN, count_range, &d);
    for (size_t i = rows.from; i < rows.to; i++)
        k.offset[i + 1] += k.offset[i];
    for (size_t i = rows.to; i < node->rows; i++)
        k.offset[i + 1] = k.offset[i];
    graphss_i_tape_ranges(t, rows.to - rows.from, GRAIN, gather_range, &d);
}

static bool drops(const graphss_i_tape *t, const graphss_i_node *node)
{
    return t->training && node->scratch;
}

/* X in this pass: with dropout while training, else unchanged. */
static graphss_i_csr seen_input(const graphss_i_tape *t, const graphss_i_node *node)
{
    graphss_i_csr x = *node->m;
    if (drops(t, node)) {
        const kept_entries k = kept_of(node);
        x.offset = k.offset;
        x.column = k.column;
        x.value = k.value;
    }
    return x;
}

/* Its wanted rows. */
static graphss_i_csr wanted_input(const graphss_i_tape *t, const graphss_i_node *node)
{
    const graphss_i_span rows = graphss_i_tape_span(t, node->rows);
    graphss_i_csr x = seen_input(t, node);
    x.offset += rows.from;
    x.n_rows = rows.to - rows.from;
    return x;
}

/* The pass without dropout, and the product of the training pass behind it. */
static void sparse_input_both(graphss_i_tape *t, graphss_i_node *node)
{
    const kept_entries k = kept_of(node);
    drop_entries(t, node, (graphss_i_span){0, node->rows});
    const graphss_i_csr kept = {node->rows, node->m->n_cols, k.offset, k.column, k.value};
    graphss_i_spmm_both(t->ctx, node->ahead, node->value, &kept, node->m, 1 / node->factor,
        value(t, node, 0), node->cols);
    node->is_ahead = true;
}

static void sparse_input_forward(graphss_i_tape *t, graphss_i_node *node)
{
    const graphss_i_span rows = graphss_i_tape_span(t, node->rows);
    const size_t cols = node->cols;
    const bool known = node->is_ahead && drops(t, node);
    node->planned = node->planned ? node->planned : node->value;
    node->value = known ? node->ahead : node->planned;
    node->is_ahead = false;
    if (known)
        return;
    if (t->before && node->ahead) {
        sparse_input_both(t, node);
        return;
    }
    if (drops(t, node))
        drop_entries(t, node, rows);
    const graphss_i_csr x = wanted_input(t, node);
    memset(node->value, 0, rows.from * cols * sizeof *node->value);
    memset(
        node->value + rows.to * cols, 0, (node->rows - rows.to) * cols * sizeof *node->value);
    graphss_i_spmm(t->ctx, node->value + rows.from * cols, &x, value(t, node, 0), cols);
}

/* dw = X^T dy. Gradients of rows that are not wanted are 0, and so do no harm in a block. */
static void sparse_input_backward(
    graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    const graphss_i_span rows = graphss_i_tape_span(t, node->rows);
    memset(gin[0], 0, node->m->n_cols * node->cols * sizeof *gin[0]);
    if (!node->blocks.n) {
        const graphss_i_csr x = wanted_input(t, node);
        graphss_i_spmm_transposed(
            t->ctx, gin[0], &x, node->grad + rows.from * node->cols, node->cols);
        return;
    }
    if (node->scratch) {
        const graphss_i_csr x = seen_input(t, node);
        graphss_i_blocks_fill(t->ctx, &node->blocks, &x, rows.from, rows.to);
    }
    graphss_i_blocks_multiply(
        t->ctx, gin[0], &node->blocks, rows.from, rows.to, node->grad, node->cols);
}

static const graphss_i_op sparse_input = {
    .forward = sparse_input_forward, .backward = sparse_input_backward};

graphss_i_var graphss_i_tape_sparse_input(
    graphss_i_tape *t, const graphss_i_csr *x, graphss_i_var w, double dropout)
{
    const graphss_i_node *weight = graphss_i_tape_node(t, w);
    if (!weight)
        return -1;
    if (weight->rows != x->n_cols)
        return wrong_shape(t, "sparse input", weight->rows, x->n_cols);
    graphss_i_node *node =
        graphss_i_tape_record(t, &sparse_input, w, -1, x->n_rows, weight->cols);
    if (!node)
        return -1;
    node->m = x;
    if (dropout > 0) {
        node->threshold = (uint32_t)lround(dropout * 65536);
        node->factor = (float)(1 / (1 - dropout));
        node->salt = graphss_i_tape_salt(t);
        if (!graphss_i_tape_scratch(t, node, kept_bytes(x), 1))
            return -1;
        if (node->needs_grad)
            node->ahead = graphss_i_alloc(t->ctx, x->n_rows, node->cols * sizeof *node->ahead);
        if (node->needs_grad && !node->ahead)
            return graphss_i_tape_spoil(t, GRAPHSS_ERR_NOMEM);
    }
    if (node->needs_grad && graphss_i_blocks_suit(x)) {
        const graphss_status st = dropout > 0
                                      ? graphss_i_blocks_room(t->ctx, &node->blocks, x)
                                      : graphss_i_blocks_make(t->ctx, &node->blocks, x);
        if (st)
            return graphss_i_tape_spoil(t, st);
    }
    return graphss_i_tape_var(t, node);
}

/* ---- y = M x;  dx = M^T dy ---- */

static void spmm_forward(graphss_i_tape *t, graphss_i_node *node)
{
    graphss_i_spmm(t->ctx, node->value, node->m, value(t, node, 0), node->cols);
}

static void spmm_backward(graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    graphss_i_spmm(t->ctx, gin[0], node->transposed, node->grad, node->cols);
}

static const graphss_i_op spmm = {.forward = spmm_forward, .backward = spmm_backward};

graphss_i_var graphss_i_tape_spmm(graphss_i_tape *t, graphss_i_pair m, graphss_i_var x)
{
    const graphss_i_node *in = graphss_i_tape_node(t, x);
    if (!in)
        return -1;
    if (in->rows != m.m->n_cols)
        return wrong_shape(t, "spmm", in->rows, m.m->n_cols);
    graphss_i_node *node = graphss_i_tape_record(t, &spmm, x, -1, m.m->n_rows, in->cols);
    if (node) {
        node->m = m.m;
        node->transposed = m.transposed;
    }
    return graphss_i_tape_var(t, node);
}

/* ---- y = f sum_{s <= steps} M^s x, by y <- x + M y;  dx the same of M^T and dy ---- */

typedef struct terms {
    float *y;
    const float *x, *step;
    float factor;
} terms;

static void add_term(void *arg, size_t from, size_t to)
{
    const terms *r = arg;
    for (size_t j = from; j < to; j++)
        r->y[j] = r->factor * (r->x[j] + r->step[j]);
}

static void sum_powers(graphss_i_tape *t, float *y, const graphss_i_node *node,
    const graphss_i_csr *m, const float *x)
{
    const size_t count = node->rows * node->cols;
    terms r = {y, x, node->scratch, 1};
    if (node->n == 0) {
        memset(node->scratch, 0, count * sizeof *y);
        r.factor = node->factor;
        graphss_i_tape_ranges(t, count, 65536, add_term, &r);
    }
    for (size_t s = 0; s < node->n; s++) {
        graphss_i_spmm(t->ctx, node->scratch, m, s ? y : x, node->cols);
        r.factor = s + 1 == node->n ? node->factor : 1;
        graphss_i_tape_ranges(t, count, 65536, add_term, &r);
    }
}

static void spmm_sum_forward(graphss_i_tape *t, graphss_i_node *node)
{
    sum_powers(t, node->value, node, node->m, value(t, node, 0));
}

static void spmm_sum_backward(
    graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    sum_powers(t, gin[0], node, node->transposed, node->grad);
}

static const graphss_i_op spmm_sum = {
    .forward = spmm_sum_forward, .backward = spmm_sum_backward};

graphss_i_var graphss_i_tape_spmm_sum(
    graphss_i_tape *t, graphss_i_pair m, graphss_i_var x, size_t steps, double factor)
{
    const graphss_i_node *in = graphss_i_tape_node(t, x);
    if (!in)
        return -1;
    if (in->rows != m.m->n_cols || m.m->n_rows != m.m->n_cols)
        return wrong_shape(t, "sum of powers", in->rows, m.m->n_cols);
    const size_t rows = in->rows, cols = in->cols;
    graphss_i_node *node = graphss_i_tape_record(t, &spmm_sum, x, -1, rows, cols);
    if (!node || !graphss_i_tape_scratch(t, node, rows * cols, sizeof(float)))
        return -1;
    node->m = m.m;
    node->transposed = m.transposed;
    node->n = steps;
    node->factor = (float)factor;
    return graphss_i_tape_var(t, node);
}

/* ---- y_i = sum_e v_e x_column(e): the values v are an input as well ---- */

static void spmm_edges_forward(graphss_i_tape *t, graphss_i_node *node)
{
    graphss_i_csr m = *node->m;
    m.value = t->node[node->in[0]].value;
    graphss_i_spmm(t->ctx, node->value, &m, value(t, node, 1), node->cols);
}

/* The values of m in the order of its transpose. */
static void permute(float *out, const float *in, const int64_t *transposed_at, size_t n)
{
    for (size_t e = 0; e < n; e++)
        out[e] = in[transposed_at[e]];
}

/* dv_e = dy_i . x_j;  dx = M^T dy */
static void spmm_edges_backward(
    graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    const size_t nnz = (size_t)node->m->offset[node->m->n_rows];
    if (gin[0]) {
        memset(gin[0], 0, nnz * sizeof *gin[0]);
        graphss_i_sddmm(t->ctx, gin[0], node->m, node->grad, value(t, node, 1), node->cols);
    }
    if (gin[1]) {
        graphss_i_csr back = *node->transposed;
        permute(node->scratch, value(t, node, 0), node->transposed_at, nnz);
        back.value = node->scratch;
        graphss_i_spmm(t->ctx, gin[1], &back, node->grad, node->cols);
    }
}

static const graphss_i_op spmm_edges = {.forward = spmm_edges_forward,
    .backward = spmm_edges_backward,
    .needs_input = {true, true}};

graphss_i_var graphss_i_tape_spmm_edges(graphss_i_tape *t, const graphss_i_csr *m,
    const graphss_i_csr *transposed, const int64_t *transposed_at, graphss_i_var edge,
    graphss_i_var x)
{
    const graphss_i_node *in = graphss_i_tape_node(t, x), *v = graphss_i_tape_node(t, edge);
    if (!in || !v)
        return -1;
    const size_t nnz = (size_t)m->offset[m->n_rows];
    if (in->rows != m->n_cols)
        return wrong_shape(t, "spmm with edges", in->rows, m->n_cols);
    if (v->rows != nnz || v->cols != 1)
        return wrong_shape(t, "edge values", v->rows, nnz);
    graphss_i_node *node = graphss_i_tape_record(t, &spmm_edges, edge, x, m->n_rows, in->cols);
    if (!node || !graphss_i_tape_scratch(t, node, nnz, sizeof(float)))
        return -1;
    node->m = m;
    node->transposed = transposed;
    node->transposed_at = transposed_at;
    return graphss_i_tape_var(t, node);
}

/* ---- s_e = a_i . b_j over a pattern ---- */

static void edge_dot_forward(graphss_i_tape *t, graphss_i_node *node)
{
    memset(node->value, 0, node->rows * sizeof *node->value);
    graphss_i_sddmm(
        t->ctx, node->value, node->m, value(t, node, 0), value(t, node, 1), node->n);
}

/* da = S b and db = S^T a, where S has the pattern of m and the values ds */
static void edge_dot_backward(
    graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    if (gin[0]) {
        graphss_i_csr s = *node->m;
        s.value = node->grad;
        graphss_i_spmm(t->ctx, gin[0], &s, value(t, node, 1), node->n);
    }
    if (gin[1]) {
        graphss_i_csr back = *node->transposed;
        permute(node->scratch, node->grad, node->transposed_at, node->rows);
        back.value = node->scratch;
        graphss_i_spmm(t->ctx, gin[1], &back, value(t, node, 0), node->n);
    }
}

static const graphss_i_op edge_dot = {
    .forward = edge_dot_forward, .backward = edge_dot_backward, .needs_input = {true, true}};

graphss_i_var graphss_i_tape_edge_dot(graphss_i_tape *t, const graphss_i_csr *m,
    const graphss_i_csr *transposed, const int64_t *transposed_at, graphss_i_var a,
    graphss_i_var b)
{
    const graphss_i_node *left = graphss_i_tape_node(t, a), *right = graphss_i_tape_node(t, b);
    if (!left || !right)
        return -1;
    if (left->rows != m->n_rows || right->rows != m->n_cols)
        return wrong_shape(t, "edge dot", left->rows, m->n_rows);
    if (left->cols != right->cols)
        return wrong_shape(t, "edge dot columns", right->cols, left->cols);
    const size_t nnz = (size_t)m->offset[m->n_rows], k = left->cols;
    graphss_i_node *node = graphss_i_tape_record(t, &edge_dot, a, b, nnz, 1);
    if (!node || !graphss_i_tape_scratch(t, node, nnz, sizeof(float)))
        return -1;
    node->m = m;
    node->transposed = transposed;
    node->transposed_at = transposed_at;
    node->n = k;
    return graphss_i_tape_var(t, node);
}

/* ---- numbers of edges that are given, not learned ---- */

static void detached_edges_forward(graphss_i_tape *t, graphss_i_node *node)
{
    node->fill(t->ctx, node->value, node->m, value(t, node, 0), node->n, node->user);
}

static const graphss_i_op detached_edges = {.forward = detached_edges_forward};

graphss_i_var graphss_i_tape_detached_edges(graphss_i_tape *t, const graphss_i_csr *m,
    graphss_i_var x, graphss_i_fill_edges fill, const void *user)
{
    const graphss_i_node *in = graphss_i_tape_node(t, x);
    if (!in)
        return -1;
    if (in->rows != m->n_rows)
        return wrong_shape(t, "detached edges", in->rows, m->n_rows);
    const size_t cols = in->cols;
    graphss_i_node *node =
        graphss_i_tape_record(t, &detached_edges, x, -1, (size_t)m->offset[m->n_rows], 1);
    if (!node)
        return -1;
    node->m = m;
    node->n = cols;
    node->fill = fill;
    node->user = user;
    node->needs_grad = false;
    return graphss_i_tape_var(t, node);
}

/* ---- c = a b;  da = dc b^T;  db = a^T dc ---- */

static void matmul_forward(graphss_i_tape *t, graphss_i_node *node)
{
    graphss_i_gemm(t->ctx, node->value, value(t, node, 0), false, value(t, node, 1), false,
        node->rows, node->cols, node->n, 0);
}

static void matmul_backward(graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    const size_t inner = node->n;
    if (gin[0])
        graphss_i_gemm(t->ctx, gin[0], node->grad, false, value(t, node, 1), true, node->rows,
            inner, node->cols, 0);
    if (gin[1])
        graphss_i_gemm(t->ctx, gin[1], value(t, node, 0), true, node->grad, false, inner,
            node->cols, node->rows, 0);
}

static const graphss_i_op matmul = {
    .forward = matmul_forward, .backward = matmul_backward, .needs_input = {true, true}};

graphss_i_var graphss_i_tape_matmul(graphss_i_tape *t, graphss_i_var a, graphss_i_var b)
{
    const graphss_i_node *left = graphss_i_tape_node(t, a), *right = graphss_i_tape_node(t, b);
    if (!left || !right)
        return -1;
    if (left->cols != right->rows)
        return wrong_shape(t, "matmul", right->rows, left->cols);
    const size_t inner = left->cols;
    graphss_i_node *node = graphss_i_tape_record(t, &matmul, a, b, left->rows, right->cols);
    if (node)
        node->n = inner;
    return graphss_i_tape_var(t, node);
}
