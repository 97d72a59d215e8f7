/* model_file.h - models as safetensors: an 8-byte little-endian length, a JSON header that
 * names each array with its type, shape and place, then the arrays. Any safetensors reader
 * opens the file; nothing in it can be executed.
 *
 * The header's __metadata__ (text only, as the format wants) holds the options by their
 * names in the options table, the class names as a JSON list, and where the model comes
 * from. The split and the labels it was trained with are arrays beside the weights, and so
 * are the names of nodes and features, where there are any: text, each name ended by a 0; and
 * what alert learned of attacks, which readers that do not know it pass over. */
#ifndef GRAPHSS_MODEL_FILE_H
#define GRAPHSS_MODEL_FILE_H

#include "models/model_private.h"
#include "models/weights/safetensors.h"
#include <string.h>

/* Format 2 has columns with a mean and a gain, which a reader of format 1 would not apply.
 * Format 3 is a model that stands for a predictor, whose weights are not to answer for it. */
enum { GRAPHSS_I_FORMAT_VERSION = 3, GRAPHSS_I_COLUMN_TENSORS = 2 };
static const char *const graphss_i_columns_called[GRAPHSS_I_COLUMN_TENSORS] = {
    "features.mean", "features.gain"};
static const char *const graphss_i_kept_called[GRAPHSS_I_KEPT] = {"states"};
#define GRAPHSS_I_MEANS_CALLED "columns.mean"

#endif
