/* ops_gaussian.c - units that are distributions: a mean and a variance each. */
#include "models/tape/tape_private.h"
#include <math.h>

enum { GRAIN = 16384 };           /* entries a task */
static const float least = 1e-8f; /* added to variances, so that roots and logarithms exist */

typedef struct entries {
    float *out;
    const float *x, *y;
    uint64_t key;
} entries;

static const float *value(const graphss_i_tape *t, const graphss_i_node *node, int input)
{
    return t->node[node->in[input]].value;
}

static size_t count(const graphss_i_node *node)
{
    return node->rows * node->cols;
}

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Standard normal number j of a key (Box and Muller): forward and backward agree on it. */
static float normal(uint64_t key, size_t j)
{
    const uint64_t bits = mix(key ^ mix(j));
    const double u = ((double)(bits >> 32) + 0.5) * 0x1p-32;
    const double v = ((double)(uint32_t)bits + 0.5) * 0x1p-32;
    return (float)(sqrt(-2 * log(u)) * cos(6.283185307179586 * v));
}

/* ---- y = m + e sqrt(s + least);  dm = dy;  ds = e dy / (2 sqrt(s + least)) ---- */

static void sample_range(void *arg, size_t from, size_t to)
{
    const entries *e = arg;
    for (size_t j = from; j < to; j++)
        e->out[j] = e->x[j] + normal(e->key, j) * sqrtf(e->y[j] + least);
}

static void copy_range(void *arg, size_t from, size_t to)
{
    const entries *e = arg;
    for (size_t j = from; j < to; j++)
        e->out[j] = e->x[j];
}

/* node->n: draw when not training, too */
static void sample_forward(graphss_i_tape *t, graphss_i_node *node)
{
    entries e = {node->value, value(t, node, 0), value(t, node, 1), t->key ^ node->salt};
    graphss_i_tape_ranges(
        t, count(node), GRAIN, t->training || node->n ? sample_range : copy_range, &e);
}

static void sample_back_range(void *arg, size_t from, size_t to)
{
    const entries *e = arg;
    for (size_t j = from; j < to; j++)
        e->out[j] = e->x[j] * normal(e->key, j) / (2 * sqrtf(e->y[j] + least));
}

static void sample_backward(graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    entries e = {gin[0], node->grad, value(t, node, 1), t->key ^ node->salt};
    if (gin[0])
        graphss_i_tape_ranges(t, count(node), GRAIN, copy_range, &e);
    e.out = gin[1];
    if (gin[1])
        graphss_i_tape_ranges(t, count(node), GRAIN, sample_back_range, &e);
}

static const graphss_i_op sample = {
    .forward = sample_forward, .backward = sample_backward, .needs_input = {false, true}};

static graphss_i_node *record_pair(graphss_i_tape *t, const graphss_i_op *op,
    graphss_i_var mean, graphss_i_var variance, bool loss)
{
    const graphss_i_node *m = graphss_i_tape_node(t, mean);
    const graphss_i_node *s = graphss_i_tape_node(t, variance);
    if (!m || !s)
        return NULL;
    if (m->rows != s->rows || m->cols != s->cols) {
        graphss_i_tape_spoil(t,
            graphss_i_fail(t->ctx, GRAPHSS_ERR_INTERNAL,
                "means %zu x %zu, variances %zu x %zu", m->rows, m->cols, s->rows, s->cols));
        return NULL;
    }
    return graphss_i_tape_record(
        t, op, mean, variance, loss ? 1 : m->rows, loss ? 1 : m->cols);
}

graphss_i_var graphss_i_tape_gaussian(
    graphss_i_tape *t, graphss_i_var mean, graphss_i_var variance, bool always)
{
    graphss_i_node *node = record_pair(t, &sample, mean, variance, false);
    if (node) {
        node->n = always;
        node->salt = graphss_i_tape_salt(t);
    }
    return graphss_i_tape_var(t, node);
}

/* ---- f sum (m^2 + s - log(s + least)) / 2;  dm = f m;  ds = f (1 - 1/(s + least)) / 2 ----
 */

static void kl_forward(graphss_i_tape *t, graphss_i_node *node)
{
    const graphss_i_node *in = &t->node[node->in[0]];
    const float *m = in->value, *s = value(t, node, 1);
    double sum = 0;
    for (size_t j = 0; j < count(in); j++)
        sum += (double)m[j] * m[j] + s[j] - logf(s[j] + least);
    node->loss = node->factor * sum / 2;
}

static void kl_backward(graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    const graphss_i_node *in = &t->node[node->in[0]];
    const float *m = in->value, *s = value(t, node, 1), f = node->factor;
    for (size_t j = 0; gin[0] && j < count(in); j++)
        gin[0][j] = f * m[j];
    for (size_t j = 0; gin[1] && j < count(in); j++)
        gin[1][j] = f / 2 * (1 - 1 / (s[j] + least));
}

static const graphss_i_op kl = {.forward = kl_forward,
    .backward = kl_backward,
    .needs_input = {true, true},
    .is_loss = true};

graphss_i_var graphss_i_tape_gaussian_kl(
    graphss_i_tape *t, graphss_i_var mean, graphss_i_var variance, double factor)
{
    graphss_i_node *node = record_pair(t, &kl, mean, variance, true);
    if (node)
        node->factor = (float)factor;
    return graphss_i_tape_var(t, node);
}

/* ---- y = x > 0 ? x : exp(x) - 1;  dx = (y > 0 ? 1 : y + 1) dy ---- */

static void elu_range(void *arg, size_t from, size_t to)
{
    const entries *e = arg;
    for (size_t j = from; j < to; j++)
        e->out[j] = e->x[j] > 0 ? e->x[j] : expm1f(e->x[j]);
}

static void elu_forward(graphss_i_tape *t, graphss_i_node *node)
{
    entries e = {.out = node->value, .x = value(t, node, 0)};
    graphss_i_tape_ranges(t, count(node), GRAIN, elu_range, &e);
}

static void elu_back_range(void *arg, size_t from, size_t to)
{
    const entries *e = arg;
    for (size_t j = from; j < to; j++)
        e->out[j] = e->x[j] * (e->y[j] > 0 ? 1 : e->y[j] + 1);
}

static void elu_backward(graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS])
{
    entries e = {.out = gin[0], .x = node->grad, .y = node->value};
    graphss_i_tape_ranges(t, count(node), GRAIN, elu_back_range, &e);
}

static const graphss_i_op elu = {
    .forward = elu_forward, .backward = elu_backward, .needs_value = true, .in_place = true};

graphss_i_var graphss_i_tape_elu(graphss_i_tape *t, graphss_i_var x)
{
    const graphss_i_node *in = graphss_i_tape_node(t, x);
    return in ? graphss_i_tape_var(
                    t, graphss_i_tape_record(t, &elu, x, -1, in->rows, in->cols))
              : -1;
}
