/* predictor.h - a model whose answers come from elsewhere (graphss/predictor.h). Private. */
#ifndef GRAPHSS_MODEL_PREDICTOR_H
#define GRAPHSS_MODEL_PREDICTOR_H

#include "models/predict_incremental.h"
#include <graphss/predictor.h>

/* What a model has in place of its own answers. */
typedef struct graphss_i_predictor graphss_i_predictor;

/* Without functions: a model that was loaded, until it is given some. */
graphss_status graphss_i_predictor_new(graphss_ctx *ctx, graphss_model *model,
                                       double agreement);
void graphss_i_predictor_free(graphss_ctx *ctx, graphss_i_predictor *p);
double graphss_i_predictor_agreement(const graphss_i_predictor *p);

/* What the predictor says of all nodes. */
graphss_status graphss_i_predictor_ask(graphss_ctx *ctx, float *prob,
                                       const graphss_model *model, const graphss_graph *graph,
                                       const graphss_features *features);
/* graphss_i_predict_again of such a model. */
graphss_status graphss_i_predictor_again(graphss_ctx *ctx, float *prob,
                                         const graphss_model *model,
                                         const graphss_graph *graph,
                                         const graphss_features *features,
                                         const graphss_i_base *base, const int32_t *there,
                                         const uint8_t *wanted);
/* What the model's own weights say (model.c). */
graphss_status graphss_i_predict_by_weights(graphss_ctx *ctx, float *prob,
                                            const graphss_model *model,
                                            const graphss_graph *graph,
                                            const graphss_features *features);

#endif
