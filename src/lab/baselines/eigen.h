/* eigen.h - the largest eigenpairs of a sparse symmetric matrix, by ARPACK. */
#ifndef GRAPHSS_EIGEN_H
#define GRAPHSS_EIGEN_H

#include "graph/products.h"

/* value [rank], vector [n_rows x rank]: the eigenpairs of A that are largest in magnitude,
 * the largest first, so that sum_r value[r] v_r v_r^T is the best approximation of that rank:
 * A is symmetric, its singular values are the magnitudes of its eigenvalues. Memory O(rank *
 * n_rows). tolerance: of an eigenvalue, relative. INVALID: fewer than rank + 2 rows. LIMIT: no
 * convergence. Progress stage: "factorise". */
graphss_status graphss_i_eigen_largest(graphss_ctx *ctx, double *value, double *vector,
                                       const graphss_i_csr *a, size_t rank, double tolerance);

#endif
