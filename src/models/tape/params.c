/* params.c - weights in one block, and the optimiser that walks over it. */
#include "models/tape/params.h"
#include "kernels/kernels.h"
#include <math.h>
#include <string.h>

enum { LINE = 16, GRAIN = 32768 }; /* floats */

graphss_status graphss_i_params_declare(graphss_ctx *ctx, graphss_i_params *p,
    const char *name, size_t rows, size_t cols, bool decayed)
{
    size_t count, end;
    if (p->n == GRAPHSS_I_PARAMS_MOST)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "more than %d weight matrices", GRAPHSS_I_PARAMS_MOST);
    if (!graphss_i_mul(&count, rows, cols) || !graphss_i_add(&end, p->count, count) ||
        end > SIZE_MAX / 64)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "%s: %zu x %zu weights are too many", name, rows, cols);
    graphss_i_param *m = &p->param[p->n++];
    snprintf(m->name, sizeof m->name, "%s", name);
    m->rows = rows;
    m->cols = cols;
    m->offset = p->count;
    m->decayed = decayed;
    p->count = (end + LINE - 1) / LINE * LINE;
    return GRAPHSS_OK;
}

void graphss_i_params_hidden(graphss_i_params *p, bool rows, bool cols)
{
    p->param[p->n - 1].hidden_rows = rows;
    p->param[p->n - 1].hidden_cols = cols;
}

graphss_status graphss_i_params_allocate(graphss_ctx *ctx, graphss_i_params *p)
{
    p->value = graphss_i_calloc(ctx, p->count, sizeof *p->value);
    return p->value ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

void graphss_i_params_destroy(graphss_ctx *ctx, graphss_i_params *p)
{
    graphss_release(ctx, p->value);
    *p = (graphss_i_params){0};
}

static size_t padded_width(size_t width, bool hidden)
{
    return hidden && width > LINE ? (width + LINE - 1) / LINE * LINE : width;
}

static void copy_matrix(
    float *to, size_t to_cols, const float *from, size_t from_cols, const graphss_i_param *m)
{
    for (size_t i = 0; i < m->rows; i++)
        memcpy(to + i * to_cols, from + i * from_cols, m->cols * sizeof *to);
}

graphss_status graphss_i_params_pad(
    graphss_ctx *ctx, graphss_i_params *out, const graphss_i_params *p)
{
    graphss_i_params made = {0};
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < p->n && !st; i++) {
        const graphss_i_param *m = &p->param[i];
        st = graphss_i_params_declare(ctx, &made, m->name,
            padded_width(m->rows, m->hidden_rows), padded_width(m->cols, m->hidden_cols),
            m->decayed);
    }
    if (!st)
        st = graphss_i_params_allocate(ctx, &made);
    if (st)
        return st;
    for (size_t i = 0; i < p->n; i++)
        copy_matrix(made.value + made.param[i].offset, made.param[i].cols,
            p->value + p->param[i].offset, p->param[i].cols, &p->param[i]);
    *out = made;
    return GRAPHSS_OK;
}

void graphss_i_params_unpad(graphss_i_params *p, const graphss_i_params *padded)
{
    for (size_t i = 0; i < p->n; i++)
        copy_matrix(p->value + p->param[i].offset, p->param[i].cols,
            padded->value + padded->param[i].offset, padded->param[i].cols, &p->param[i]);
}

static bool ends_in(const char *name, const char *end)
{
    const size_t length = strlen(name), n = strlen(end);
    return length >= n && strcmp(name + length - n, end) == 0;
}

bool graphss_i_is_bias(const char *name)
{
    return ends_in(name, "bias");
}

bool graphss_i_is_weight(const char *name)
{
    return ends_in(name, "weight");
}

void graphss_i_params_glorot(graphss_i_params *p, graphss_rng *rng)
{
    for (size_t i = 0; i < p->n; i++) {
        const graphss_i_param *m = &p->param[i];
        float *w = p->value + m->offset;
        const double bound =
            graphss_i_is_bias(m->name) ? 0 : sqrt(6.0 / (double)(m->rows + m->cols));
        for (size_t j = 0; j < m->rows * m->cols; j++)
            w[j] = (float)(bound * (2 * graphss_rng_double(rng) - 1));
    }
}

graphss_status graphss_i_adam_init(
    graphss_ctx *ctx, graphss_i_adam *a, const graphss_i_params *p)
{
    graphss_i_adam made = {.count = p->count};
    made.grad = graphss_i_calloc(ctx, p->count, sizeof *made.grad);
    made.m = graphss_i_calloc(ctx, p->count, sizeof *made.m);
    made.v = graphss_i_calloc(ctx, p->count, sizeof *made.v);
    if (!made.grad || !made.m || !made.v) {
        graphss_i_adam_destroy(ctx, &made);
        return GRAPHSS_ERR_NOMEM;
    }
    *a = made;
    return GRAPHSS_OK;
}

void graphss_i_adam_destroy(graphss_ctx *ctx, graphss_i_adam *a)
{
    graphss_release(ctx, a->grad);
    graphss_release(ctx, a->m);
    graphss_release(ctx, a->v);
    *a = (graphss_i_adam){0};
}

typedef struct step {
    const graphss_i_kernels *kernels;
    graphss_i_adam *a;
    float *value;
    size_t from, to; /* of one matrix */
    float decay, rate, eps;
} step;

static void step_range(void *arg, size_t task)
{
    const step *s = arg;
    const size_t from = s->from + task * GRAIN;
    const size_t to = from + GRAIN < s->to ? from + GRAIN : s->to;
    s->kernels->adam(s->value + from, s->a->m + from, s->a->v + from, s->a->grad + from,
        to - from, s->decay, 0.9f, 0.999f, s->rate, s->eps);
}

void graphss_i_adam_step(
    graphss_ctx *ctx, graphss_i_adam *a, graphss_i_params *p, double rate, double decay)
{
    const double t = (double)++a->step;
    const double correction = sqrt(1 - pow(0.999, t));
    step s = {.kernels = graphss_i_ctx_kernels(ctx), .a = a, .value = p->value};
    s.rate = (float)(rate * correction / (1 - pow(0.9, t)));
    s.eps = (float)(1e-8 * correction);
    for (size_t i = 0; i < p->n; i++) {
        const graphss_i_param *m = &p->param[i];
        s.from = m->offset;
        s.to = m->offset + m->rows * m->cols;
        s.decay = m->decayed ? (float)decay : 0;
        graphss_i_parallel(ctx, graphss_i_tasks(s.to - s.from, GRAIN), step_range, &s);
    }
}
