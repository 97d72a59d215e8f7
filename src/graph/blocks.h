/* blocks.h - the transpose of a sparse matrix in blocks of rows, for the gradient X^T g.
 *
 * X^T g either adds each row of g to rows of the result in no order, or reads rows of g in no
 * order: one of the two is not in the cache. Within a block of a thousand rows of X the rows
 * of g are near, and each row of the result is read and written once, not once for each entry.
 * Terms are added in the order of the rows of X, as graphss_i_spmm_transposed adds them: same
 * bits. An entry takes 6 bytes, its place in the block and its value. */
#ifndef GRAPHSS_BLOCKS_H
#define GRAPHSS_BLOCKS_H

#include "graph/products.h"

/* {0} is empty. */
typedef struct graphss_i_blocks {
    size_t n_rows, n_cols; /* of the matrix */
    size_t rows;           /* of a block */
    size_t n;              /* blocks */
    int64_t *first;        /* [n] first entry of a block */
    /* [n x (n_cols + 1)] entries of a column, counted from the start of the block */
    int32_t *offset;
    uint16_t *row; /* [nnz] row within the block */
    float *value;  /* [nnz] */
} graphss_i_blocks;

/* Whether blocks suit m: enough entries for its columns. */
bool graphss_i_blocks_suit(const graphss_i_csr *m);
/* Room for the entries of m, which has values, or for fewer, as graphss_i_blocks_fill brings
 * them. */
graphss_status graphss_i_blocks_room(
    graphss_ctx *ctx, graphss_i_blocks *out, const graphss_i_csr *m);
/* The same, filled with the entries of m. */
graphss_status graphss_i_blocks_make(
    graphss_ctx *ctx, graphss_i_blocks *out, const graphss_i_csr *m);
/* Takes the entries of m in place of those it had; of rows [from, to) alone, in whole blocks.
 */
void graphss_i_blocks_fill(
    graphss_ctx *ctx, graphss_i_blocks *b, const graphss_i_csr *m, size_t from, size_t to);
void graphss_i_blocks_destroy(graphss_ctx *ctx, graphss_i_blocks *b);

/* y [n_cols x k] += m^T x, x [n_rows x k], over the blocks that meet rows [from, to) */
void graphss_i_blocks_multiply(graphss_ctx *ctx, float *y, const graphss_i_blocks *b,
    size_t from, size_t to, const float *x, size_t k);

#endif
