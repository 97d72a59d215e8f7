/* ops_bits.c - y [N x h] = X [N x d, bits] w [d x h]. While training with dropout, X is
 * dropped bit by bit into scratch memory, and the transpose is rebuilt from what is left:
 * a few bit operations for each 32 bits, a tenth of the product's time. */
#include "models/tape/tape_private.h"
#include <math.h>
#include <string.h>

typedef struct scratch {
    uint32_t *word, *transposed;
    float *r; /* [N] factor of the bits that are left */
} scratch;

static scratch scratch_of(const graphss_i_node *node)
{
    const size_t n = node->bits->n_rows, d = node->bits->n_cols;
    uint32_t *word = node->scratch;
    uint32_t *transposed = word + graphss_i_bits_words(n, d);
    return (scratch){word, transposed, (float *)(transposed + graphss_i_bits_words(d, n))};
}

static bool drops(const graphss_i_tape *t, const graphss_i_node *node)
{
    return t->training && node->scratch;
}

/* X as this pass sees it. */
static graphss_i_bits seen_input(const graphss_i_tape *t, const graphss_i_node *node)
{
    graphss_i_bits x = *node->bits;
    if (drops(t, node)) {
        x.word = scratch_of(node).word;
        x.r = scratch_of(node).r;
    }
    return x;
}

/* The wanted rows, in whole squares of 32. */
static graphss_i_span squares(const graphss_i_tape *t, const graphss_i_node *node)
{
    const graphss_i_span rows = graphss_i_tape_span(t, node->rows);
    const size_t end = (rows.to + 31) / 32 * 32;
    return (graphss_i_span){rows.from / 32 * 32, end < node->rows ? end : node->rows};
}

typedef struct dropped {
    const graphss_i_tape *t;
    const graphss_i_node *node;
    graphss_i_span rows;
} dropped;

/* Those rows of words [from, to) of each row. */
static void drop_range(void *arg, size_t from, size_t to)
{
    const dropped *d = arg;
    for (size_t w = from; w < to; w++)
        graphss_i_tape_drop_words(d->t, d->node, scratch_of(d->node).word, d->node->bits->word,
            w, d->rows.from, d->rows.to);
}

static void bits_input_forward(graphss_i_tape *t, graphss_i_node *node)
{
    const graphss_i_span rows = graphss_i_tape_span(t, node->rows);
    const size_t cols = node->cols;
    if (drops(t, node)) {
        dropped d = {t, node, squares(t, node)};
        graphss_i_tape_ranges(t, (node->bits->n_cols + 31) / 32,
            16384 / (d.rows.to - d.rows.from) + 1, drop_range, &d);
    }
    const graphss_i_bits x = seen_input(t, node);
    memset(node->value, 0, rows.from * cols * sizeof *node->value);
    memset(
        node->value + rows.to * cols, 0, (node->rows - rows.to) * cols * sizeof *node->value);
    graphss_i_bits_multiply(
        t->ctx, node->value, &x, rows.from, rows.to, t->node[node->in[0]].value, cols);
}

/* dw = X^T dy, over the squares */
static void bits_input_backward(
    graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    const graphss_i_span rows = squares(t, node);
    graphss_i_bits back = *node->bits_transposed;
    if (drops(t, node)) {
        const graphss_i_bits x = seen_input(t, node);
        back.word = scratch_of(node).transposed;
        graphss_i_bits_transpose(t->ctx, &back, &x, rows.from, rows.to);
    }
    back.word += rows.from / 32 * back.n_rows;
    back.n_cols = rows.to - rows.from;
    back.s = back.s ? back.s + rows.from : NULL;
    graphss_i_bits_multiply(t->ctx, gin[0], &back, 0, back.n_rows,
        node->grad + rows.from * node->cols, node->cols);
}

static const graphss_i_op bits_input = {
    .forward = bits_input_forward, .backward = bits_input_backward};

graphss_i_var graphss_i_tape_bits_input(graphss_i_tape *t, const graphss_i_bits *x,
    const graphss_i_bits *transposed, graphss_i_var w, double dropout)
{
    const graphss_i_node *weight = graphss_i_tape_node(t, w);
    if (!weight)
        return -1;
    if (weight->rows != x->n_cols)
        return graphss_i_tape_spoil(
            t, graphss_i_fail(t->ctx, GRAPHSS_ERR_INTERNAL, "bits input: %zu rows, want %zu",
                   weight->rows, x->n_cols));
    graphss_i_node *node =
        graphss_i_tape_record(t, &bits_input, w, -1, x->n_rows, weight->cols);
    if (!node)
        return -1;
    node->bits = x;
    node->bits_transposed = transposed;
    if (dropout > 0) {
        const size_t n = x->n_rows, d = x->n_cols;
        node->threshold = (uint32_t)lround(dropout * 65536);
        node->factor = (float)(1 / (1 - dropout));
        node->salt = graphss_i_tape_salt(t);
        if (!graphss_i_tape_scratch(t, node,
                graphss_i_bits_words(n, d) + graphss_i_bits_words(d, n) + n, sizeof(uint32_t)))
            return -1;
        float *r = scratch_of(node).r;
        for (size_t i = 0; i < n; i++)
            r[i] = node->factor * (x->r ? x->r[i] : 1);
    }
    return graphss_i_tape_var(t, node);
}
