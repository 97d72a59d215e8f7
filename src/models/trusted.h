/* trusted.h - train and predict on snapshots that somebody looked at already, or that the
 * library made: simulated ones are many. The same as the public ones otherwise. */
#ifndef GRAPHSS_TRUSTED_H
#define GRAPHSS_TRUSTED_H

#include "models/input.h"
#include <graphss/model.h>

graphss_status graphss_i_train(graphss_ctx *ctx, graphss_model **out, graphss_training *log,
                               const graphss_graph *graph, const graphss_features *features,
                               size_t n_classes, const graphss_split *split, uint64_t seed,
                               const graphss_train_options *opt);
graphss_status graphss_i_continue(graphss_ctx *ctx, graphss_model **out, graphss_training *log,
                                  const graphss_model *from, const graphss_graph *graph,
                                  const graphss_features *features, const graphss_split *split,
                                  uint64_t seed, int64_t epochs);
graphss_status graphss_i_predict(graphss_ctx *ctx, float *prob, const graphss_model *model,
                                 const graphss_graph *graph, const graphss_features *features);
/* The same labels, sooner where the model saw most of the rows before. first: or NULL; what is
 * to be known of this snapshot for the next one, the caller's to destroy. known: or NULL. */
graphss_status graphss_i_predict_like(graphss_ctx *ctx, float *prob, graphss_i_product *first,
                                      const graphss_model *model, const graphss_graph *graph,
                                      const graphss_features *features,
                                      const graphss_i_known *known);

#endif
