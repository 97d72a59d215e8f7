#include "attack/ground.h"

graphss_status graphss_i_ground_init(graphss_ctx *ctx, graphss_i_ground *ground,
                                     const graphss_features *features,
                                     graphss_feature_domain domain, const int32_t *node,
                                     size_t n_nodes)
{
    *ground = (graphss_i_ground){0};
    graphss_status st = graphss_i_words_init(ctx, &ground->x, features);
    if (st)
        return st;
    const graphss_i_words *x = &ground->x;
    uint8_t *wanted = graphss_i_calloc(ctx, x->d, sizeof *wanted);
    ground->on = graphss_i_alloc(ctx, x->d, sizeof *ground->on);
    st = wanted && ground->on ? graphss_i_words_on(ctx, ground->on, x, domain)
                              : GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < n_nodes && !st; i++)
        for (int32_t e = 0; e < x->length[node[i]]; e++)
            wanted[x->column[node[i]][e]] = 1;
    if (!st)
        st =
            graphss_i_cooccur_init(ctx, &ground->together, x, wanted, GRAPHSS_I_COOCCUR_BYTES);
    graphss_release(ctx, wanted);
    if (st)
        graphss_i_ground_destroy(ctx, ground);
    return st;
}

void graphss_i_ground_destroy(graphss_ctx *ctx, graphss_i_ground *ground)
{
    graphss_i_cooccur_destroy(ctx, &ground->together);
    graphss_release(ctx, ground->on);
    graphss_i_words_destroy(ctx, &ground->x);
    *ground = (graphss_i_ground){0};
}
