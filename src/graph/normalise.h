/* normalise.h - the matrices a graph model propagates with. */
#ifndef GRAPHSS_NORMALISE_H
#define GRAPHSS_NORMALISE_H

#include "graph/products.h"

typedef enum graphss_i_norm {
    GRAPHSS_I_NORM_NONE,      /* no propagation */
    GRAPHSS_I_NORM_SYMMETRIC, /* D^-1/2 A D^-1/2 (Kipf & Welling 2017) */
    GRAPHSS_I_NORM_ROW,       /* D^-1 A: the mean over the neighbours */
    GRAPHSS_I_NORM_LEARNED    /* the pattern of A alone: its values are learned */
} graphss_i_norm;

/* A normalised adjacency matrix and its transpose, which shares its pattern. */
typedef struct graphss_i_propagation {
    graphss_i_csr m;
    graphss_i_csr transposed; /* of NORM_ROW; borrows the pattern of m */
    int64_t *place; /* [nnz] of NORM_LEARNED: position of (j, i), for the entry (i, j) */
    graphss_i_norm norm;
} graphss_i_propagation;

/* loops: use A + I instead of A, also for the degrees. Rows without entries stay empty. */
graphss_status graphss_i_propagation_make(graphss_ctx *ctx, graphss_i_propagation *out,
    const graphss_graph *graph, graphss_i_norm norm, bool loops);
/* Only the listed rows [n_rows] of that matrix; columns are nodes as before. */
graphss_status graphss_i_propagation_rows(graphss_ctx *ctx, graphss_i_csr *out,
    const graphss_graph *graph, graphss_i_norm norm, bool loops, const int32_t *row,
    size_t n_rows);
void graphss_i_propagation_destroy(graphss_ctx *ctx, graphss_i_propagation *p);
/* m^T: m itself when symmetric. */
const graphss_i_csr *graphss_i_propagation_transposed(const graphss_i_propagation *p);

#endif
