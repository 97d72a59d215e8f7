/* model_missing.h - empty cells of data to be labelled get the means of the data a model was
 * trained on: those of the data itself would move with every snapshot. Private. */
#ifndef GRAPHSS_MODEL_MISSING_H
#define GRAPHSS_MODEL_MISSING_H

#include "models/model_private.h"

/* *out [n_cols]: the mean of each column, the caller's. NOMEM. */
graphss_status graphss_i_column_means(graphss_ctx *ctx, float **out,
                                      const graphss_features *features);
/* The means that the model keeps, or NULL. */
const float *graphss_i_model_means(const graphss_model *model);
/* *filled cells of data->missing have the model's means in *out; where there are none *out is
 * left alone. Columns the model does not know stay as they are. NOMEM, SHAPE. */
graphss_status graphss_i_model_fill(graphss_ctx *ctx, graphss_features *out, size_t *filled,
                                    const graphss_model *model, const graphss_dataset *data);

#endif
