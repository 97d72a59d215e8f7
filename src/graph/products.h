/* products.h - sparse and dense products over the context's threads.
 *
 * Each cuts its work by size alone (see graphss_i_parallel), so results do not depend on
 * the number of threads. Matrices are row-major and tightly packed. */
#ifndef GRAPHSS_PRODUCTS_H
#define GRAPHSS_PRODUCTS_H

#include "base/base.h"
#include <graphss/graph.h>

/* Compressed rows with values. {0} is empty. */
typedef struct graphss_i_csr {
    size_t n_rows, n_cols;
    int64_t *offset; /* [n_rows + 1] */
    int32_t *column; /* [offset[n_rows]] */
    float *value;    /* [offset[n_rows]], or NULL: all ones */
    bool borrowed;   /* offset and column belong to someone else */
    /* columns include nodes of other ranks: see graph/part.h; NULL: n_cols are all */
    struct graphss_i_part *part;
} graphss_i_csr;

/* True if the second-level cache has 1 MiB or more. Only the time of a product depends on it,
 * never a bit of its result. */
bool graphss_i_roomy_cache(void);

void graphss_i_csr_destroy(graphss_ctx *ctx, graphss_i_csr *m);
/* out = m^T, columns ascending. */
graphss_status graphss_i_csr_transpose(
    graphss_ctx *ctx, graphss_i_csr *out, const graphss_i_csr *m);
/* place [nnz]: for each entry (i, j) of a symmetric pattern with ascending columns, the
 * position of (j, i). next [n_rows] is scratch. */
void graphss_i_csr_transposed_at(
    int64_t *transposed_at, int64_t *next, const graphss_i_csr *m);

/* y [m.n_rows x k] = m x, x [m.n_cols x k] */
void graphss_i_spmm(
    graphss_ctx *ctx, float *y, const graphss_i_csr *m, const float *x, size_t k);
/* Both kept_y = kept x and y = scale (kept + dropped) x, in the time of one product. all holds
 * the entries of kept and of dropped; the latter follow the former in the arrays, row after
 * row. */
void graphss_i_spmm_both(graphss_ctx *ctx, float *kept_y, float *y, const graphss_i_csr *kept,
    const graphss_i_csr *all, float scale, const float *x, size_t k);
/* y [m.n_cols x k] += m^T x, x [m.n_rows x k], without building the transpose */
void graphss_i_spmm_transposed(
    graphss_ctx *ctx, float *y, const graphss_i_csr *m, const float *x, size_t k);
/* out [nnz] += a_i . b_column[e] for each stored entry e of row i */
void graphss_i_sddmm(graphss_ctx *ctx, float *out, const graphss_i_csr *m, const float *a,
    const float *b, size_t k);

/* c [m x n] = op(a) op(b) + beta c, where op(a) is m x k. transposed_a: a is stored k x m;
 * transposed_b: b is stored n x k. The bits of a row of c do not depend on its other rows. */
void graphss_i_gemm(graphss_ctx *ctx, float *c, const float *a, bool transposed_a,
    const float *b, bool transposed_b, size_t m, size_t n, size_t k, float beta);

#endif
