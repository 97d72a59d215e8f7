/* safetensors.h - the file format of models, ours and others': an 8-byte little-endian length,
 * a JSON header that names each array with its type, shape and place, then the arrays. */
#ifndef GRAPHSS_SAFETENSORS_H
#define GRAPHSS_SAFETENSORS_H

#include "base/base.h"
#include <jansson.h>
#include <string.h>

typedef struct graphss_i_safetensors {
    const char *path;
    char *bytes;      /* the file */
    const char *data; /* behind the header */
    size_t n_data;
    json_t *header, *meta; /* meta: or NULL */
} graphss_i_safetensors;

/* Reads the file and parses its header; what the header says is not looked at. {0} is empty.
 * DATA: no such file, or cut short. path is borrowed. */
graphss_status graphss_i_safetensors_open(graphss_ctx *ctx, graphss_i_safetensors *out,
                                          const char *path);
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

/* Whole or not at all. meta: the __metadata__, taken over; NULL: there was no memory for it.
 */
graphss_status graphss_i_safetensors_write(graphss_ctx *ctx, const char *path, json_t *meta,
                                           const graphss_i_tensor *list, size_t n);

#endif
