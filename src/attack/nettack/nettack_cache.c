#include "attack/nettack/nettack_cache.h"

enum { ROWS = 256 }; /* a task's share of the nodes */

typedef struct products {
    graphss_i_ground *ground;
    size_t k;
} products;

static void multiply_rows(void *arg, size_t task)
{
    const products *p = arg;
    const graphss_i_feature_index *x = &p->ground->x;
    for (size_t i = task * ROWS; i < graphss_i_task_end(task, x->n, ROWS); i++)
        for (size_t b = 0; b < p->ground->n_believed; b++)
            graphss_i_feature_index_product(p->ground->xw + (b * x->n + i) * p->k, x, i,
                                            p->ground->believed[b], p->k);
}

graphss_status graphss_i_ground_init(graphss_ctx *ctx, graphss_i_ground *ground,
                                     const graphss_i_ground_input *in)
{
    *ground = (graphss_i_ground){.believed = in->believed, .n_believed = in->n_believed};
    graphss_status st = graphss_i_feature_index_init(ctx, &ground->x, in->features);
    if (st)
        return st;
    const graphss_i_feature_index *x = &ground->x;
    const size_t k = in->n_classes;
    uint8_t *wanted = graphss_i_calloc(ctx, x->d, sizeof *wanted);
    ground->on = graphss_i_alloc(ctx, x->d, sizeof *ground->on);
    ground->xw = graphss_i_alloc(ctx, x->n, in->n_believed * k * sizeof *ground->xw);
    st = wanted && ground->on && ground->xw
             ? graphss_i_feature_index_on(ctx, ground->on, x, in->domain)
             : GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < in->n_nodes && !st; i++)
        for (int32_t e = 0; e < x->length[in->node[i]]; e++)
            wanted[x->column[in->node[i]][e]] = 1;
    if (!st)
        st =
            graphss_i_cooccur_init(ctx, &ground->together, x, wanted, GRAPHSS_I_COOCCUR_BYTES);
    if (!st) {
        products p = {ground, k};
        graphss_i_parallel(ctx, graphss_i_tasks(x->n, ROWS), multiply_rows, &p);
    }
    graphss_release(ctx, wanted);
    if (st)
        graphss_i_ground_destroy(ctx, ground);
    return st;
}

const double *graphss_i_ground_product(const graphss_i_ground *ground, const float *w,
                                       size_t n_classes)
{
    for (size_t b = 0; b < ground->n_believed; b++)
        if (ground->believed[b] == w)
            return ground->xw + b * ground->x.n * n_classes;
    return NULL;
}

void graphss_i_ground_destroy(graphss_ctx *ctx, graphss_i_ground *ground)
{
    graphss_i_cooccur_destroy(ctx, &ground->together);
    graphss_release(ctx, ground->xw);
    graphss_release(ctx, ground->on);
    graphss_i_feature_index_destroy(ctx, &ground->x);
    *ground = (graphss_i_ground){0};
}
