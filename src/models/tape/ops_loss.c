/* ops_loss.c - losses. Sums are in double, block by block in a fixed order. */
#include "base/ranks.h"
#include "models/tape/tape_private.h"
#include <math.h>
#include <string.h>

enum { GRAIN = 2048 }; /* rows a task */

typedef struct rows {
    float *out;
    const float *x;
    const graphss_i_node *node;
    size_t cols;
} rows;

static const graphss_i_node *input(const graphss_i_tape *t, const graphss_i_node *node)
{
    return &t->node[node->in[0]];
}

/* log sum_c exp(x[c]) without overflow */
static double log_sum_exp(const float *x, size_t cols)
{
    float top = x[0];
    for (size_t c = 1; c < cols; c++)
        top = x[c] > top ? x[c] : top;
    double sum = 0;
    for (size_t c = 0; c < cols; c++)
        sum += expf(x[c] - top);
    return top + log(sum);
}

/* ---- f times the mean over listed rows i of  log sum_c exp(x[i][c]) - x[i][label] ---- */

static void cross_entropy_range(void *arg, size_t from, size_t to)
{
    const rows *r = arg;
    double sum = 0;
    for (size_t j = from; j < to; j++) {
        const float *x = r->x + (size_t)r->node->node[j] * r->cols;
        sum += log_sum_exp(x, r->cols) - x[r->node->label[j]];
    }
    ((double *)r->node->scratch)[from / GRAIN] = sum;
}

static void cross_entropy_forward(graphss_i_tape *t, graphss_i_node *node)
{
    const graphss_i_node *x = input(t, node);
    rows r = {NULL, x->value, node, x->cols};
    graphss_i_tape_ranges(t, node->n, GRAIN, cross_entropy_range, &r);
    double sum = 0;
    for (size_t p = 0; p * GRAIN < node->n; p++)
        sum += ((const double *)node->scratch)[p];
    node->loss = node->factor * sum / (double)node->total;
}

/* dx[i][c] = f (softmax(x[i])[c] - [c = label]) / n */
static void cross_entropy_back_range(void *arg, size_t from, size_t to)
{
    const rows *r = arg;
    const float share = r->node->factor / (float)r->node->total;
    for (size_t j = from; j < to; j++) {
        const size_t i = (size_t)r->node->node[j];
        const float *x = r->x + i * r->cols;
        float *out = r->out + i * r->cols;
        const float norm = (float)log_sum_exp(x, r->cols);
        for (size_t c = 0; c < r->cols; c++)
            out[c] = share * expf(x[c] - norm);
        out[r->node->label[j]] -= share;
    }
}

static void cross_entropy_backward(
    graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    const graphss_i_node *x = input(t, node);
    memset(gin[0], 0, x->rows * x->cols * sizeof *gin[0]);
    rows r = {gin[0], x->value, node, x->cols};
    graphss_i_tape_ranges(t, node->n, GRAIN, cross_entropy_back_range, &r);
}

static const graphss_i_op cross_entropy = {.forward = cross_entropy_forward,
    .backward = cross_entropy_backward,
    .needs_input = {true},
    .is_loss = true};

graphss_i_var graphss_i_tape_cross_entropy(graphss_i_tape *t, graphss_i_var x,
    const int32_t *node_list, const int32_t *label, size_t n)
{
    return graphss_i_tape_cross_entropy_part(t, x, node_list, label, n, 1);
}

graphss_i_var graphss_i_tape_cross_entropy_part(graphss_i_tape *t, graphss_i_var x,
    const int32_t *node_list, const int32_t *label, size_t n, double factor)
{
    if (x < 0)
        return -1;
    double total = (double)n;
    const graphss_status st = graphss_i_ranks_sum(t->ctx, &total, 1);
    if (st)
        return graphss_i_tape_spoil(t, st);
    if (total == 0)
        return graphss_i_tape_spoil(
            t, graphss_i_fail(t->ctx, GRAPHSS_ERR_DATA, "no node to train on"));
    graphss_i_node *node = graphss_i_tape_record(t, &cross_entropy, x, -1, 1, 1);
    if (!node || !graphss_i_tape_scratch(t, node, (n + GRAIN - 1) / GRAIN, sizeof(double)))
        return -1;
    node->node = node_list;
    node->label = label;
    node->n = n;
    node->total = (size_t)total;
    node->factor = (float)factor;
    return graphss_i_tape_var(t, node);
}

/* ---- f / count sum_i (w_i log sum_c exp(x[i][c]) - q_i . x_i),  w_i = sum_c q[i][c] ----
 *
 *   dx[i][c] = f / count (w_i softmax(x[i])[c] - q[i][c]),  count = sum_i w_i */

static double listed(const float *target, size_t cols)
{
    double sum = 0;
    for (size_t c = 0; c < cols; c++)
        sum += target[c];
    return sum;
}

static void soft_range(void *arg, size_t from, size_t to)
{
    const rows *r = arg;
    double sum = 0, count = 0;
    for (size_t i = from; i < to; i++) {
        const float *x = r->x + i * r->cols;
        const float *q = (const float *)r->node->user + i * r->cols;
        const double weight = listed(q, r->cols);
        if (weight == 0)
            continue;
        sum += weight * log_sum_exp(x, r->cols);
        for (size_t c = 0; c < r->cols; c++)
            sum -= q[c] * x[c];
        count += weight;
    }
    ((double *)r->node->scratch)[2 * (from / GRAIN)] = sum;
    ((double *)r->node->scratch)[2 * (from / GRAIN) + 1] = count;
}

/* The factor of the gradient is stored after the sums. */
static void soft_forward(graphss_i_tape *t, graphss_i_node *node)
{
    const graphss_i_node *x = input(t, node);
    double *partial = node->scratch, sum = 0, count = 0;
    rows r = {NULL, x->value, node, x->cols};
    graphss_i_tape_ranges(t, x->rows, GRAIN, soft_range, &r);
    for (size_t p = 0; p * GRAIN < x->rows; p++) {
        sum += partial[2 * p];
        count += partial[2 * p + 1];
    }
    const double share = count > 0 ? node->factor / count : 0;
    node->loss = share * sum;
    partial[node->n] = share;
}

static void soft_back_range(void *arg, size_t from, size_t to)
{
    const rows *r = arg;
    const float share = (float)((const double *)r->node->scratch)[r->node->n];
    for (size_t i = from; i < to; i++) {
        const float *x = r->x + i * r->cols;
        const float *q = (const float *)r->node->user + i * r->cols;
        float *out = r->out + i * r->cols;
        const float weight = (float)listed(q, r->cols);
        const float norm = weight == 0 ? 0 : (float)log_sum_exp(x, r->cols);
        for (size_t c = 0; c < r->cols; c++)
            out[c] = weight == 0 ? 0 : share * (weight * expf(x[c] - norm) - q[c]);
    }
}

static void soft_backward(graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    const graphss_i_node *x = input(t, node);
    rows r = {gin[0], x->value, node, x->cols};
    graphss_i_tape_ranges(t, x->rows, GRAIN, soft_back_range, &r);
}

static const graphss_i_op soft_cross_entropy = {.forward = soft_forward,
    .backward = soft_backward,
    .needs_input = {true},
    .is_loss = true};

graphss_i_var graphss_i_tape_soft_cross_entropy(
    graphss_i_tape *t, graphss_i_var x, const float *target, double factor)
{
    const graphss_i_node *in = graphss_i_tape_node(t, x);
    if (!in)
        return -1;
    const size_t sums = 2 * ((in->rows + GRAIN - 1) / GRAIN);
    graphss_i_node *node = graphss_i_tape_record(t, &soft_cross_entropy, x, -1, 1, 1);
    if (!node || !graphss_i_tape_scratch(t, node, sums + 1, sizeof(double)))
        return -1;
    node->user = target;
    node->n = sums;
    node->factor = (float)factor;
    return graphss_i_tape_var(t, node);
}

/* ---- f sum_j x_j^2;  dx = 2 f x ---- */

static void sum_squares_forward(graphss_i_tape *t, graphss_i_node *node)
{
    const graphss_i_node *x = input(t, node);
    double sum = 0;
    for (size_t j = 0; j < x->rows * x->cols; j++)
        sum += (double)x->value[j] * x->value[j];
    node->loss = node->factor * sum;
}

static void sum_squares_backward(
    graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    const graphss_i_node *x = input(t, node);
    for (size_t j = 0; j < x->rows * x->cols; j++)
        gin[0][j] = 2 * node->factor * x->value[j];
}

static const graphss_i_op sum_squares = {.forward = sum_squares_forward,
    .backward = sum_squares_backward,
    .needs_input = {true},
    .is_loss = true};

graphss_i_var graphss_i_tape_sum_squares(graphss_i_tape *t, graphss_i_var x, double factor)
{
    if (x < 0)
        return -1;
    graphss_i_node *node = graphss_i_tape_record(t, &sum_squares, x, -1, 1, 1);
    if (node)
        node->factor = (float)factor;
    return graphss_i_tape_var(t, node);
}
