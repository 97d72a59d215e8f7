/* unchecked.h - train and predict on snapshots that were checked before, or that the
 * library made: simulated ones are many. The same as the public ones otherwise. */
#ifndef GRAPHSS_UNCHECKED_H
#define GRAPHSS_UNCHECKED_H

#include "models/predict_incremental.h"
#include <graphss/model.h>

graphss_status graphss_i_train(graphss_ctx *ctx, graphss_model **out, graphss_training *log,
                               const graphss_train_input *in,
                               const graphss_train_options *opt);
/* graphss_model_train without its warning, for who knows what is not standardised and why. */
graphss_status graphss_i_train_checked(graphss_ctx *ctx, graphss_model **out,
                                       graphss_training *log, const graphss_train_input *in,
                                       const graphss_train_options *opt);
graphss_status graphss_i_continue(graphss_ctx *ctx, graphss_model **out, graphss_training *log,
                                  const graphss_model *from, const graphss_train_input *in,
                                  int64_t epochs);
graphss_status graphss_i_predict(graphss_ctx *ctx, float *prob, const graphss_model *model,
                                 const graphss_graph *graph, const graphss_features *features);
/* The same, and what it leaves for snapshots that differ in a few nodes; the caller destroys
 * it. */
graphss_status graphss_i_predict_first(graphss_ctx *ctx, float *prob,
                                       graphss_i_forward_cache *pass,
                                       const graphss_model *model, const graphss_graph *graph,
                                       const graphss_features *features);
/* As graphss_i_predict, bit for bit, but sooner where most is as it was seen. there [n]: the
 * number a node had, -1 for none; NULL: all have the same. wanted [n] or NULL: the nodes whose
 * rows of prob are asked for. */
graphss_status graphss_i_predict_again(graphss_ctx *ctx, float *prob,
                                       const graphss_model *model, const graphss_graph *graph,
                                       const graphss_features *features,
                                       const graphss_i_base *base, const int32_t *there,
                                       const uint8_t *wanted);

#endif
