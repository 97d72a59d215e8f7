/* model_state.c - what a training leaves to the one that goes on from it. A file of a model
 * has its weights alone; here Adam's moments go along, for the paper's code goes on with them.
 */
#include "models/model_private.h"
#include <string.h>

size_t graphss_i_model_state_size(const graphss_model *model)
{
    return model->adam.m ? sizeof(graphss_i_model_state) +
                               (model->params.count + 2 * model->adam.count) * sizeof(float)
                         : 0;
}

void graphss_i_model_state_put(graphss_i_model_state *state, const graphss_model *model)
{
    const graphss_i_adam *adam = &model->adam;
    float *moments = state->value + model->params.count;
    memcpy(state->value, model->params.value, model->params.count * sizeof *state->value);
    memcpy(moments, adam->m, adam->count * sizeof *moments);
    memcpy(moments + adam->count, adam->v, adam->count * sizeof *moments);
    state->step = adam->step;
    state->filled = true;
}

graphss_status graphss_i_model_state_take(graphss_ctx *ctx, graphss_model **out,
                                          const graphss_model *like,
                                          const graphss_i_model_state *state)
{
    const size_t weights = like->params.count, n = like->adam.count;
    graphss_model *model = NULL;
    const graphss_status st = graphss_i_model_like(ctx, &model, like, like->seed);
    if (st)
        return st;
    const float *moments = state->value + weights;
    graphss_i_adam adam = {.count = n, .step = state->step};
    adam.m = graphss_i_copy(ctx, moments, n, sizeof *moments);
    adam.v = graphss_i_copy(ctx, moments + n, n, sizeof *moments);
    model->adam = adam;
    if (!adam.m || !adam.v) {
        graphss_model_free(ctx, model);
        return GRAPHSS_ERR_NOMEM;
    }
    memcpy(model->params.value, state->value, weights * sizeof *state->value);
    *out = model;
    return GRAPHSS_OK;
}
