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

#include "base/base.h"
#include "models/model_private.h"
#include <graphss/weights.h>
#include <jansson.h>
#include <string.h>

/* Format 2 has columns with a mean and a gain, which a reader of format 1 would not apply.
 * Format 3 is a model with a predictor, whose weights must not answer in its place. */
enum { GRAPHSS_I_FORMAT_VERSION = 3, GRAPHSS_I_COLUMN_TENSORS = 2 };
static const char *const graphss_i_column_tensor[GRAPHSS_I_COLUMN_TENSORS] = {
    "features.mean", "features.gain"};
static const char *const graphss_i_kept_called[GRAPHSS_I_KEPT] = {"states"};
#define GRAPHSS_I_MEANS_CALLED "columns.mean"

/* The file format of models, ours and others': an 8-byte little-endian length,
 * a JSON header that names each array with its type, shape and place, then the arrays. */
typedef struct graphss_i_safetensors {
    const char *path;
    char *bytes;      /* the file */
    const char *data; /* behind the header */
    size_t n_data;
    json_t *header, *meta; /* meta: or NULL */
} graphss_i_safetensors;

/* Reads the file and parses its header, without checking the fields. {0} is empty. DATA: no
 * such file, or cut short. path is borrowed. */
graphss_status graphss_i_safetensors_open(
    graphss_ctx *ctx, graphss_i_safetensors *out, const char *path);
void graphss_i_safetensors_close(graphss_ctx *ctx, graphss_i_safetensors *file);

/* An array to be written, or wanted. */
typedef struct graphss_i_tensor {
    char name[64];
    const char *dtype; /* "F64", "F32", "I32" or "U8" */
    size_t rows, cols; /* cols 0: one dimension */
    bool boxed;        /* a first dimension of 1 */
    void *data;
} graphss_i_tensor;

static inline size_t graphss_i_entry_size(const graphss_i_tensor *x)
{
    return strcmp(x->dtype, "U8") == 0 ? 1 : strcmp(x->dtype, "F64") == 0 ? 8 : 4;
}

/* Completely or not at all. meta: the __metadata__, which it owns; NULL: there was no memory
 * for it. */
graphss_status graphss_i_safetensors_write(
    graphss_ctx *ctx, const char *path, json_t *meta, const graphss_i_tensor *list, size_t n);

/* ---- how other libraries call the matrices of a layer ---- */

/* The role of a matrix in its layer. */
typedef enum graphss_i_role {
    GRAPHSS_I_ROLE_WEIGHT, /* of the neighbours, or of all */
    GRAPHSS_I_ROLE_SELF,   /* sage-mean: of the node itself */
    GRAPHSS_I_ROLE_SOURCE, /* gat: attention's vectors for a neighbour */
    GRAPHSS_I_ROLE_TARGET, /* and for the node itself */
    GRAPHSS_I_ROLE_BIAS,
    GRAPHSS_I_ROLE_TWIN, /* gat: the weights once more, which must be the same */
    GRAPHSS_I_ROLES
} graphss_i_role;

/* The end of a matrix's name; the first of a role is the one that is written. */
typedef struct graphss_i_weight_name {
    graphss_layout layout;
    const char *model, *end;
    graphss_i_role role;
    bool transposed; /* kept as [out x in] */
} graphss_i_weight_name;

extern const graphss_i_weight_name graphss_i_weight_names[];
extern const size_t graphss_i_weight_names_count;

/* The role whose suffix is the longest that fits a name; NULL: none. */
const graphss_i_weight_name *graphss_i_weight_name_find(
    graphss_layout layout, const char *model, const char *name);
/* The row that a role is written by; NULL: none. */
const graphss_i_weight_name *graphss_i_weight_name_of(
    graphss_layout layout, const char *model, graphss_i_role role);
/* The prefix of the names of layer l, counted from 0: "convs.0." */
void graphss_i_layer_name(char *out, size_t size, graphss_layout layout, size_t l);

#endif
