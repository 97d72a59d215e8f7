/* pickle.h - the few Python pickles that datasets come in, read without Python.
 *
 * A closed machine: it knows numbers, strings, tuples, lists, dicts, and six globals (list,
 * defaultdict, numpy's _reconstruct, ndarray and dtype, scipy's csr_matrix), under their old
 * and new module names. A pickle that asks for anything else is refused; nothing is ever
 * called. Protocols 0 to 4 as Python 2 and 3 write them, except what needs a seventh global
 * (csr_matrix in protocols 0 and 1; arrays in protocols 0 to 2 by Python 3; protocol 5).
 *
 * Values are numbered; containers may share values and even contain themselves, so walk to
 * a known depth only. */
#ifndef GRAPHSS_PICKLE_H
#define GRAPHSS_PICKLE_H

#include "base/base.h"

typedef struct graphss_i_pickle graphss_i_pickle;

typedef enum graphss_i_pickle_type {
    GRAPHSS_I_PICKLE_NONE,
    GRAPHSS_I_PICKLE_BOOL,
    GRAPHSS_I_PICKLE_INT,
    GRAPHSS_I_PICKLE_REAL,
    GRAPHSS_I_PICKLE_BYTES, /* str, bytes and unicode alike */
    GRAPHSS_I_PICKLE_TUPLE,
    GRAPHSS_I_PICKLE_LIST,
    GRAPHSS_I_PICKLE_DICT, /* key, value, key, value ...; a key may stand twice */
    GRAPHSS_I_PICKLE_GLOBAL,
    GRAPHSS_I_PICKLE_DTYPE,
    GRAPHSS_I_PICKLE_ARRAY, /* sound once built: data holds exactly count items */
    GRAPHSS_I_PICKLE_MATRIX /* csr_matrix; its parts through graphss_i_pickle_get */
} graphss_i_pickle_type;

typedef struct graphss_i_pickle_array {
    char type;   /* 'b', 'i', 'u' or 'f'; 0: not built */
    size_t size; /* bytes of an item */
    bool big_endian;
    bool fortran_order;
    size_t n_dims;   /* 1 or 2 */
    size_t shape[2]; /* unused entries are 1 */
    size_t count;
    const unsigned char *data; /* points into the pickle's bytes */
} graphss_i_pickle_array;

typedef uint32_t graphss_i_pickle_ref; /* a value; 0 is no value */

/* bytes are borrowed for the life of *out, and changed: strings of protocol 0 are unescaped
 * where they stand. file is for messages. Time and memory O(n), memory at most max_bytes.
 * Errors: DATA with file and byte, LIMIT, NOMEM. */
graphss_status graphss_i_pickle_read(graphss_ctx *ctx, graphss_i_pickle **out, char *bytes,
    size_t n, const char *file, uint64_t max_bytes);
void graphss_i_pickle_free(graphss_ctx *ctx, graphss_i_pickle *pickle);

graphss_i_pickle_ref graphss_i_pickle_root(const graphss_i_pickle *pickle);
/* NONE for ref 0. */
graphss_i_pickle_type graphss_i_pickle_type_of(
    const graphss_i_pickle *pickle, graphss_i_pickle_ref ref);
/* An int or a bool; false for anything else. */
bool graphss_i_pickle_int(
    int64_t *out, const graphss_i_pickle *pickle, graphss_i_pickle_ref ref);
/* The array, or NULL when ref is none or was never built. */
const graphss_i_pickle_array *graphss_i_pickle_array_of(
    const graphss_i_pickle *pickle, graphss_i_pickle_ref ref);
/* Items of a tuple, list or dict, one after the other:
 *     graphss_i_pickle_walk walk = graphss_i_pickle_walk_start(pickle, list);
 *     while ((ref = graphss_i_pickle_next(&walk)))  */
typedef struct graphss_i_pickle_walk {
    const graphss_i_pickle *pickle;
    uint32_t edge;
} graphss_i_pickle_walk;
graphss_i_pickle_walk graphss_i_pickle_walk_start(
    const graphss_i_pickle *pickle, graphss_i_pickle_ref ref);
graphss_i_pickle_ref graphss_i_pickle_next(graphss_i_pickle_walk *walk);
/* The last value under a string key of a dict, or of a matrix's state; 0 when absent. */
graphss_i_pickle_ref graphss_i_pickle_get(
    const graphss_i_pickle *pickle, graphss_i_pickle_ref ref, const char *key);

/* Item i in row-major order. _int_at: false when it is no whole number of int64. */
bool graphss_i_pickle_int_at(int64_t *out, const graphss_i_pickle_array *array, size_t i);
double graphss_i_pickle_real_at(const graphss_i_pickle_array *array, size_t i);

#endif
