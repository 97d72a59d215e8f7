/* npz_private.h - an open npz as npz.c, npz_numbers.c and npz_numbers.c share it. */
#ifndef GRAPHSS_NPZ_PRIVATE_H
#define GRAPHSS_NPZ_PRIVATE_H

#include "data/formats/npz.h"
#include "data/formats/zip.h"

/* ---- one array of numpy: the header before it and the items in it ---- */

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
size_t graphss_i_npy_format(
    unsigned char *out, size_t size, const char *dtype, size_t n_dims, const size_t *shape);

/* n items as integers (kinds b, i, u); returns n, or the first that int64 cannot hold. */
size_t graphss_i_npy_ints(
    int64_t *out, const graphss_i_npy *npy, const unsigned char *raw, size_t n);
/* n items as doubles (kind f). */
void graphss_i_npy_reals(
    double *out, const graphss_i_npy *npy, const unsigned char *raw, size_t n);

typedef struct graphss_i_member {
    char *name;        /* without .npy */
    const char *fault; /* why it cannot be read, constant; NULL: it can */
    graphss_i_npy npy;
    const graphss_i_zip_entry *entry;
} graphss_i_member;

struct graphss_i_npz {
    graphss_i_zip *zip;
    char *path;
    graphss_i_member *member; /* [n_members] by name */
    size_t n_members;
    uint64_t max_bytes, claimed;              /* of all arrays */
    uint64_t plausible_bytes, plausible_used; /* of those no other array bounds */
};

/* One array while it is read. {0} is closed; an open one stays where it is. */
typedef struct graphss_i_stream {
    graphss_i_npz *npz;
    const graphss_i_member *member;
    graphss_i_zip_stream file;
} graphss_i_stream;

/* The member of that name, sound and of at most two dimensions, or DATA. */
graphss_status graphss_i_npz_member(graphss_ctx *ctx, const graphss_i_member **out,
    const graphss_i_npz *npz, const char *array);
/* Opens a member behind its header, once count * item bytes fit the limits. */
graphss_status graphss_i_stream_open(graphss_ctx *ctx, graphss_i_stream *out,
    graphss_i_npz *npz, const graphss_i_member *member, size_t item);
graphss_status graphss_i_stream_read(
    graphss_ctx *ctx, graphss_i_stream *stream, void *bytes, size_t n);
/* Checks that the member ends here and that its checksum is right. */
graphss_status graphss_i_stream_end(graphss_ctx *ctx, graphss_i_stream *stream);
void graphss_i_stream_close(graphss_i_stream *stream);

/* A block of count x width UCS-4 characters, as numpy stores names; width is in characters.
 * The caller releases it. */
graphss_status graphss_i_names_to_ucs4(
    graphss_ctx *ctx, uint32_t **out, size_t *width, const graphss_names *names);

#endif
