/* ops_pointwise.c - operations that treat each entry by itself. Most work in place. */
#include "models/tape/tape_private.h"
#include <math.h>
#include <string.h>

enum { GRAIN = 65536 }; /* entries a task */

typedef struct entries {
    float *out;
    const float *x, *y;
    const graphss_i_tape *t;
    const graphss_i_node *node;
    float factor;
} entries;

static size_t count(const graphss_i_node *node)
{
    return node->rows * node->cols;
}

static const float *value(const graphss_i_tape *t, const graphss_i_node *node, int input)
{
    return t->node[node->in[input]].value;
}

static void over_entries(graphss_i_tape *t, const graphss_i_node *node, graphss_i_range fn,
    float *out, const float *x, const float *y, float factor)
{
    entries e = {out, x, y, t, node, factor};
    graphss_i_tape_ranges(t, count(node), GRAIN, fn, &e);
}

static graphss_i_var record_unary(graphss_i_tape *t, const graphss_i_op *op, graphss_i_var x)
{
    const graphss_i_node *in = graphss_i_tape_node(t, x);
    return in ? graphss_i_tape_var(t, graphss_i_tape_record(t, op, x, -1, in->rows, in->cols))
              : -1;
}

static graphss_i_var record_binary(
    graphss_i_tape *t, const graphss_i_op *op, graphss_i_var a, graphss_i_var b)
{
    const graphss_i_node *left = graphss_i_tape_node(t, a), *right = graphss_i_tape_node(t, b);
    if (!left || !right)
        return -1;
    if (left->rows != right->rows || left->cols != right->cols)
        return graphss_i_tape_spoil(
            t, graphss_i_fail(t->ctx, GRAPHSS_ERR_INTERNAL, "%zu x %zu with %zu x %zu",
                   left->rows, left->cols, right->rows, right->cols));
    return graphss_i_tape_var(t, graphss_i_tape_record(t, op, a, b, left->rows, left->cols));
}

static void copy_range(void *arg, size_t from, size_t to)
{
    const entries *e = arg;
    if (e->out != e->x)
        memcpy(e->out + from, e->x + from, (to - from) * sizeof *e->out);
}

/* ---- y[i][c] = x[i][c] + b[c];  dx = dy;  db[c] = sum_i dy[i][c] ----
 *
 * The rows are cut into blocks: each has its own sums of columns, which are then added in
 * order. The variant with max(0, .) on top spares two passes over the largest matrices, and
 * dropout on top of that two more: it is applied to a block while that is in the cache, and
 * backward what was dropped is known by its value, 0, as is what was negative. */

static size_t block_rows(const graphss_i_node *node)
{
    return GRAIN / node->cols + 1;
}

static void bias_range(void *arg, size_t from, size_t to)
{
    const entries *e = arg;
    const size_t cols = e->node->cols;
    for (size_t i = from; i < to; i++)
        for (size_t c = 0; c < cols; c++)
            e->out[i * cols + c] = e->x[i * cols + c] + e->y[c];
}

static void bias_relu_range(void *arg, size_t from, size_t to)
{
    const entries *e = arg;
    const graphss_i_kernels *k = graphss_i_tape_kernels(e->t);
    const size_t cols = e->node->cols;
    k->bias_relu(e->out, e->x, e->y, cols, from, to);
    if (e->t->training && e->node->salt)
        graphss_i_tape_drop(e->t, e->node, e->out, e->out, from * cols, to * cols);
}

static void over_blocks(graphss_i_tape *t, const graphss_i_node *node, graphss_i_range fn,
    float *out, const float *x, const float *y)
{
    const bool dropped = t->training && node->salt;
    entries e = {out, x, y, t, node, dropped ? node->factor : 1};
    graphss_i_tape_ranges(t, node->rows, block_rows(node), fn, &e);
}

static void bias_forward(graphss_i_tape *t, graphss_i_node *node)
{
    over_blocks(t, node, bias_range, node->value, value(t, node, 0), value(t, node, 1));
}

static void bias_relu_forward(graphss_i_tape *t, graphss_i_node *node)
{
    over_blocks(t, node, bias_relu_range, node->value, value(t, node, 0), value(t, node, 1));
}

/* out = x, or factor x where y > 0 when there is y; and the sums of its columns */
static void bias_back_range(void *arg, size_t from, size_t to)
{
    const entries *e = arg;
    const size_t cols = e->node->cols, at = from * cols, n = (to - from) * cols;
    const graphss_i_kernels *k = graphss_i_tape_kernels(e->t);
    if (e->y)
        k->relu_backward(e->out + at, e->x + at, e->y + at, n, e->factor);
    else if (e->out != e->x)
        memcpy(e->out + at, e->x + at, n * sizeof *e->out);
    float *sums = e->node->scratch;
    k->column_sums(sums + from / block_rows(e->node) * cols, e->out, cols, from, to);
}

static void bias_back(
    graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS], const float *y)
{
    const size_t cols = node->cols, block = block_rows(node);
    float *out = gin[0] ? gin[0] : node->grad; /* no longer needed */
    over_blocks(t, node, bias_back_range, out, node->grad, y);
    if (!gin[1])
        return;
    const float *sums = node->scratch;
    memcpy(gin[1], sums, cols * sizeof *sums);
    for (size_t b = 1; b * block < node->rows; b++)
        graphss_i_tape_kernels(t)->axpy(gin[1], sums + b * cols, 1, cols);
}

static void bias_backward(graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    bias_back(t, node, gin, NULL);
}

static void bias_relu_backward(
    graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    bias_back(t, node, gin, node->value);
}

static const graphss_i_op bias_op = {
    .forward = bias_forward, .backward = bias_backward, .in_place = true};

static const graphss_i_op bias_relu_op = {.forward = bias_relu_forward,
    .backward = bias_relu_backward,
    .needs_value = true,
    .in_place = true};

static graphss_i_var record_bias(
    graphss_i_tape *t, const graphss_i_op *op, graphss_i_var x, graphss_i_var bias)
{
    const graphss_i_node *in = graphss_i_tape_node(t, x), *b = graphss_i_tape_node(t, bias);
    if (!in || !b)
        return -1;
    if (b->rows != 1 || b->cols != in->cols)
        return graphss_i_tape_spoil(
            t, graphss_i_fail(t->ctx, GRAPHSS_ERR_INTERNAL, "bias of %zu x %zu, want 1 x %zu",
                   b->rows, b->cols, in->cols));
    graphss_i_node *node = graphss_i_tape_record(t, op, x, bias, in->rows, in->cols);
    if (!node)
        return -1;
    if (node->needs_grad &&
        !graphss_i_tape_scratch(
            t, node, (node->rows / block_rows(node) + 1) * node->cols, sizeof(float)))
        return -1;
    return graphss_i_tape_var(t, node);
}

graphss_i_var graphss_i_tape_add_bias(graphss_i_tape *t, graphss_i_var x, graphss_i_var bias)
{
    return record_bias(t, &bias_op, x, bias);
}

/* Records that the output of the last node is dropped at this rate while training. */
static void set_dropout(const graphss_i_tape *t, graphss_i_node *node, double rate)
{
    node->threshold = (uint32_t)lround(rate * 65536);
    node->factor = (float)(1 / (1 - rate));
    node->salt = graphss_i_tape_salt(t);
}

graphss_i_var graphss_i_tape_bias_relu(
    graphss_i_tape *t, graphss_i_var x, graphss_i_var bias, double dropout)
{
    const graphss_i_var y = record_bias(t, &bias_relu_op, x, bias);
    if (y >= 0 && dropout > 0) {
        t->merged++;
        set_dropout(t, graphss_i_tape_node(t, y), dropout);
    }
    return y;
}

/* ---- y = max(0, x);  dx = [y > 0] dy ---- */

static void relu_range(void *arg, size_t from, size_t to)
{
    const entries *e = arg;
    graphss_i_tape_kernels(e->t)->bias_relu(e->out + from, e->x + from, NULL, to - from, 0, 1);
}

static void relu_forward(graphss_i_tape *t, graphss_i_node *node)
{
    over_entries(t, node, relu_range, node->value, value(t, node, 0), NULL, 0);
}

static void relu_back_range(void *arg, size_t from, size_t to)
{
    const entries *e = arg;
    graphss_i_tape_kernels(e->t)->relu_backward(
        e->out + from, e->x + from, e->y + from, to - from, 1);
}

static void relu_backward(graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    over_entries(t, node, relu_back_range, gin[0], node->grad, node->value, 0);
}

static const graphss_i_op relu = {
    .forward = relu_forward, .backward = relu_backward, .needs_value = true, .in_place = true};

graphss_i_var graphss_i_tape_relu(graphss_i_tape *t, graphss_i_var x)
{
    return record_unary(t, &relu, x);
}

/* ---- y = kept(key, j) x_j / (1 - rate); the mask is drawn again, not stored ---- */

static void dropout_range(void *arg, size_t from, size_t to)
{
    const entries *e = arg;
    graphss_i_tape_drop(e->t, e->node, e->out, e->x, from, to);
}

static void dropout_forward(graphss_i_tape *t, graphss_i_node *node)
{
    over_entries(t, node, t->training ? dropout_range : copy_range, node->value,
        value(t, node, 0), NULL, 0);
}

static void dropout_backward(graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    over_entries(
        t, node, t->training ? dropout_range : copy_range, gin[0], node->grad, NULL, 0);
}

static const graphss_i_op dropout = {
    .forward = dropout_forward, .backward = dropout_backward, .in_place = true};

graphss_i_var graphss_i_tape_dropout(graphss_i_tape *t, graphss_i_var x, double rate)
{
    if (rate <= 0)
        return x;
    const graphss_i_var y = record_unary(t, &dropout, x);
    if (y >= 0)
        set_dropout(t, graphss_i_tape_node(t, y), rate);
    return y;
}

/* ---- a + b ---- */

static void add_range(void *arg, size_t from, size_t to)
{
    const entries *e = arg;
    for (size_t j = from; j < to; j++)
        e->out[j] = e->x[j] + e->y[j];
}

static void add_forward(graphss_i_tape *t, graphss_i_node *node)
{
    over_entries(t, node, add_range, node->value, value(t, node, 0), value(t, node, 1), 0);
}

static void add_backward(graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    for (int k = 0; k < INPUTS; k++)
        if (gin[k])
            over_entries(t, node, copy_range, gin[k], node->grad, NULL, 0);
}

static const graphss_i_op add = {.forward = add_forward, .backward = add_backward};

graphss_i_var graphss_i_tape_add(graphss_i_tape *t, graphss_i_var a, graphss_i_var b)
{
    return record_binary(t, &add, a, b);
}

/* ---- a b, entry by entry;  da = b dy;  db = a dy ---- */

static void multiply_range(void *arg, size_t from, size_t to)
{
    const entries *e = arg;
    for (size_t j = from; j < to; j++)
        e->out[j] = e->x[j] * e->y[j];
}

static void multiply_forward(graphss_i_tape *t, graphss_i_node *node)
{
    over_entries(
        t, node, multiply_range, node->value, value(t, node, 0), value(t, node, 1), 0);
}

static void multiply_backward(
    graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    for (int k = 0; k < INPUTS; k++)
        if (gin[k])
            over_entries(
                t, node, multiply_range, gin[k], node->grad, value(t, node, 1 - k), 0);
}

static const graphss_i_op multiply = {
    .forward = multiply_forward, .backward = multiply_backward, .needs_input = {true, true}};

graphss_i_var graphss_i_tape_multiply(graphss_i_tape *t, graphss_i_var a, graphss_i_var b)
{
    return record_binary(t, &multiply, a, b);
}

/* ---- y = f x;  dx = f dy ---- */

static void scale_range(void *arg, size_t from, size_t to)
{
    const entries *e = arg;
    for (size_t j = from; j < to; j++)
        e->out[j] = e->factor * e->x[j];
}

static void scale_forward(graphss_i_tape *t, graphss_i_node *node)
{
    over_entries(t, node, scale_range, node->value, value(t, node, 0), NULL, node->factor);
}

static void scale_backward(graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    over_entries(t, node, scale_range, gin[0], node->grad, NULL, node->factor);
}

static const graphss_i_op scale = {
    .forward = scale_forward, .backward = scale_backward, .in_place = true};

graphss_i_var graphss_i_tape_scale(graphss_i_tape *t, graphss_i_var x, double factor)
{
    const graphss_i_var y = record_unary(t, &scale, x);
    graphss_i_node *node = graphss_i_tape_node(t, y);
    if (node)
        node->factor = (float)factor;
    return y;
}

/* ---- y = exp(x);  dx = y dy ---- */

static void exp_range(void *arg, size_t from, size_t to)
{
    const entries *e = arg;
    for (size_t j = from; j < to; j++)
        e->out[j] = expf(e->x[j]);
}

static void exp_forward(graphss_i_tape *t, graphss_i_node *node)
{
    over_entries(t, node, exp_range, node->value, value(t, node, 0), NULL, 0);
}

static void exp_backward(graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    over_entries(t, node, multiply_range, gin[0], node->grad, node->value, 0);
}

static const graphss_i_op exponential = {
    .forward = exp_forward, .backward = exp_backward, .needs_value = true, .in_place = true};

graphss_i_var graphss_i_tape_exp(graphss_i_tape *t, graphss_i_var x)
{
    return record_unary(t, &exponential, x);
}
