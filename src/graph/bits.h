/* bits.h - matrices whose every row holds zeros and one other number: binary bags of words,
 * raw or divided by their row's sum.
 *
 * The product with a dense matrix costs n_rows n_cols / 4 row additions from tables in the
 * first-level cache (see kernels_body.h), however many bits are set: on Amazon Photo, 35 %
 * filled, less than half of a sparse product and of GEMM, and a bit takes the place of the
 * eight bytes of a stored entry. The transpose is built as well, for gradients. */
#ifndef GRAPHSS_BITS_H
#define GRAPHSS_BITS_H

#include "graph/products.h"

/* Entry (i, j) is bit(i, j) r[i] s[j]. {0} is empty. */
typedef struct graphss_i_bits {
    size_t n_rows, n_cols;
    uint32_t *word; /* [words(n_cols) x n_rows]: bit j % 32 of word[j / 32][i] */
    const float *r; /* [n_rows], borrowed, or NULL: ones */
    const float *s; /* [n_cols], borrowed, or NULL: ones */
} graphss_i_bits;

/* Words of the whole matrix. */
size_t graphss_i_bits_words(size_t n_rows, size_t n_cols);
/* Whether each row of m holds one number only; writes it to r [n_rows], 1 for empty rows. */
bool graphss_i_bits_suit(float *r, const graphss_i_csr *m);
/* The pattern of m; r and s are left NULL. */
graphss_status graphss_i_bits_make(
    graphss_ctx *ctx, graphss_i_bits *out, const graphss_i_csr *m);
void graphss_i_bits_destroy(graphss_ctx *ctx, graphss_i_bits *b);
/* out->word [words(b.n_cols, b.n_rows)], which the caller allocated, and the rest of out. Of
 * the words those of rows [from, to) of b are written; from is a multiple of 32, and so is to
 * unless it is n_rows. */
void graphss_i_bits_transpose(
    graphss_ctx *ctx, graphss_i_bits *out, const graphss_i_bits *b, size_t from, size_t to);

/* Rows [from, to) of y [n_rows x k] = b x, x [n_cols x k] */
void graphss_i_bits_multiply(graphss_ctx *ctx, float *y, const graphss_i_bits *b, size_t from,
    size_t to, const float *x, size_t k);

#endif
