/* npy.h - one array of numpy: the header before it and the items in it. */
#ifndef GRAPHSS_NPY_H
#define GRAPHSS_NPY_H

#include "data/formats/npz.h"

enum {
    GRAPHSS_I_NPY_PREFIX = 12,  /* magic, version and length take at most this */
    GRAPHSS_I_NPY_HEADER = 4096 /* longest header read, prefix included */
};

typedef struct graphss_i_npy {
    graphss_i_array_info info; /* kind 'V': a dtype that is not read */
    bool big;                  /* most significant byte first */
    size_t width;              /* bytes of one element */
    size_t header;             /* bytes before the first element */
} graphss_i_npy;

/* Bytes of the whole header, from its first GRAPHSS_I_NPY_PREFIX bytes (fewer at the end of
 * a file); *fault is a constant text when they are no npy header or it is too long. */
size_t graphss_i_npy_header_size(const char **fault, const unsigned char *bytes, size_t n);
/* Parses a whole header; NULL, or a constant text on what is wrong with it. */
const char *graphss_i_npy_parse(graphss_i_npy *out, const unsigned char *bytes, size_t n);
/* The header that numpy would write; returns its length, 0 when it does not fit. */
size_t graphss_i_npy_format(unsigned char *out, size_t size, const char *dtype, size_t n_dims,
                            const size_t *shape);

/* n items as integers (kinds b, i, u); returns n, or the first that int64 cannot hold. */
size_t graphss_i_npy_ints(int64_t *out, const graphss_i_npy *npy, const unsigned char *raw,
                          size_t n);
/* n items as doubles (kind f). */
void graphss_i_npy_reals(double *out, const graphss_i_npy *npy, const unsigned char *raw,
                         size_t n);

#endif
