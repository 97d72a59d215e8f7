/* ops_rows.c - operations that treat each row as one thing: dropped whole, or as the
 * probabilities of classes. */
#include "models/tape/tape_private.h"
#include <math.h>

enum { GRAIN = 2048 }; /* rows a task */

typedef struct rows {
    float *out;
    const float *x, *y;
    const graphss_i_node *node;
    size_t cols;
} rows;

static const float *value(const graphss_i_tape *t, const graphss_i_node *node, int input)
{
    return t->node[node->in[input]].value;
}

static void over_rows(graphss_i_tape *t, const graphss_i_node *node, graphss_i_range fn,
    float *out, const float *x, const float *y)
{
    rows r = {out, x, y, node, node->cols};
    graphss_i_tape_ranges(t, node->rows, GRAIN, fn, &r);
}

static graphss_i_node *record_unary(graphss_i_tape *t, const graphss_i_op *op, graphss_i_var x)
{
    const graphss_i_node *in = graphss_i_tape_node(t, x);
    return in ? graphss_i_tape_record(t, op, x, -1, in->rows, in->cols) : NULL;
}

/* ---- y[i] = kept(key, i) x[i] / (1 - rate) ---- */

/* scratch: [rows] what each row is multiplied by, then [rows] ones it is drawn from */
static void scale_rows(void *arg, size_t from, size_t to)
{
    const rows *r = arg;
    for (size_t i = from; i < to; i++)
        for (size_t c = 0; c < r->cols; c++)
            r->out[i * r->cols + c] = r->y[i] * r->x[i * r->cols + c];
}

static void drop_rows_forward(graphss_i_tape *t, graphss_i_node *node)
{
    float *mask = node->scratch, *ones = mask + node->rows;
    if (t->training)
        graphss_i_tape_kernels(t)->dropout(
            mask, ones, 0, node->rows, t->key ^ node->salt, node->threshold, node->factor);
    over_rows(t, node, scale_rows, node->value, value(t, node, 0), t->training ? mask : ones);
}

static void drop_rows_backward(
    graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    over_rows(t, node, scale_rows, gin[0], node->grad, node->scratch);
}

static const graphss_i_op drop_rows = {
    .forward = drop_rows_forward, .backward = drop_rows_backward, .in_place = true};

graphss_i_var graphss_i_tape_drop_rows(graphss_i_tape *t, graphss_i_var x, double rate)
{
    if (rate <= 0)
        return x;
    graphss_i_node *node = record_unary(t, &drop_rows, x);
    if (!node || !graphss_i_tape_scratch(t, node, node->rows, 2 * sizeof(float)))
        return -1;
    float *ones = (float *)node->scratch + node->rows;
    for (size_t i = 0; i < node->rows; i++)
        ones[i] = 1;
    node->threshold = (uint32_t)lround(rate * 65536);
    node->factor = (float)(1 / (1 - rate));
    node->salt = graphss_i_tape_salt(t);
    return graphss_i_tape_var(t, node);
}

/* ---- y[c] = exp(x[c]) / sum_j exp(x[j]);  dx[c] = y[c] (dy[c] - sum_j y[j] dy[j]) ---- */

static void softmax_range(void *arg, size_t from, size_t to)
{
    const rows *r = arg;
    for (size_t i = from; i < to; i++) {
        const float *x = r->x + i * r->cols;
        float *out = r->out + i * r->cols;
        float top = x[0], sum = 0;
        for (size_t c = 1; c < r->cols; c++)
            top = x[c] > top ? x[c] : top;
        for (size_t c = 0; c < r->cols; c++)
            sum += out[c] = expf(x[c] - top);
        for (size_t c = 0; c < r->cols; c++)
            out[c] /= sum;
    }
}

static void softmax_forward(graphss_i_tape *t, graphss_i_node *node)
{
    over_rows(t, node, softmax_range, node->value, value(t, node, 0), NULL);
}

static void softmax_back_range(void *arg, size_t from, size_t to)
{
    const rows *r = arg;
    for (size_t i = from; i < to; i++) {
        const float *dy = r->x + i * r->cols, *y = r->y + i * r->cols;
        float *out = r->out + i * r->cols, mean = 0;
        for (size_t c = 0; c < r->cols; c++)
            mean += y[c] * dy[c];
        for (size_t c = 0; c < r->cols; c++)
            out[c] = y[c] * (dy[c] - mean);
    }
}

static void softmax_backward(graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    over_rows(t, node, softmax_back_range, gin[0], node->grad, node->value);
}

static const graphss_i_op softmax = {
    .forward = softmax_forward, .backward = softmax_backward, .needs_value = true};

graphss_i_var graphss_i_tape_softmax(graphss_i_tape *t, graphss_i_var x)
{
    return graphss_i_tape_var(t, record_unary(t, &softmax, x));
}

/* ---- y[c] = x[c]^p / sum_j x[j]^p, p = 1 / temperature; by way of x / max x, whose powers
 * cannot all vanish ---- */

static void sharpen_range(void *arg, size_t from, size_t to)
{
    const rows *r = arg;
    for (size_t i = from; i < to; i++) {
        const float *x = r->x + i * r->cols;
        float *out = r->out + i * r->cols;
        float top = x[0], sum = 0;
        for (size_t c = 1; c < r->cols; c++)
            top = x[c] > top ? x[c] : top;
        for (size_t c = 0; c < r->cols; c++)
            sum += out[c] = top > 0 ? powf(x[c] / top, r->node->factor) : 1;
        for (size_t c = 0; c < r->cols; c++)
            out[c] /= sum;
    }
}

static void sharpen_forward(graphss_i_tape *t, graphss_i_node *node)
{
    over_rows(t, node, sharpen_range, node->value, value(t, node, 0), NULL);
}

static const graphss_i_op sharpen = {.forward = sharpen_forward};

graphss_i_var graphss_i_tape_sharpen(graphss_i_tape *t, graphss_i_var x, double temperature)
{
    graphss_i_node *node = record_unary(t, &sharpen, x);
    if (node) {
        node->factor = (float)(1 / temperature);
        node->needs_grad = false;
    }
    return graphss_i_tape_var(t, node);
}

/* ---- f sum_j (x_j - y_j)^2;  dx = 2 f (x - y) = -dy ---- */

static void squared_distance_forward(graphss_i_tape *t, graphss_i_node *node)
{
    const graphss_i_node *in = &t->node[node->in[0]];
    const float *x = in->value, *y = value(t, node, 1);
    double sum = 0;
    for (size_t j = 0; j < in->rows * in->cols; j++)
        sum += ((double)x[j] - y[j]) * ((double)x[j] - y[j]);
    node->loss = node->factor * sum;
}

static void squared_distance_backward(
    graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    const graphss_i_node *in = &t->node[node->in[0]];
    const float *x = in->value, *y = value(t, node, 1);
    for (int k = 0; k < INPUTS; k++)
        for (size_t j = 0; gin[k] && j < in->rows * in->cols; j++)
            gin[k][j] = 2 * node->factor * (k ? y[j] - x[j] : x[j] - y[j]);
}

static const graphss_i_op squared_distance = {.forward = squared_distance_forward,
    .backward = squared_distance_backward,
    .needs_input = {true, true},
    .is_loss = true};

graphss_i_var graphss_i_tape_squared_distance(
    graphss_i_tape *t, graphss_i_var x, graphss_i_var y, double factor)
{
    const graphss_i_node *a = graphss_i_tape_node(t, x), *b = graphss_i_tape_node(t, y);
    if (!a || !b)
        return -1;
    if (a->rows != b->rows || a->cols != b->cols)
        return graphss_i_tape_spoil(
            t, graphss_i_fail(t->ctx, GRAPHSS_ERR_INTERNAL,
                   "distance of %zu x %zu and %zu x %zu", a->rows, a->cols, b->rows, b->cols));
    graphss_i_node *node = graphss_i_tape_record(t, &squared_distance, x, y, 1, 1);
    if (node)
        node->factor = (float)factor;
    return graphss_i_tape_var(t, node);
}
