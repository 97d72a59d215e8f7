/* kernels.h - the arithmetic, compiled once per instruction set, chosen at run time.
 *
 * Letters: rows i, columns c of a dense row-major matrix with k columns, stored entries e
 * of compressed rows (offset, column, value; value NULL means all ones). Ranges are
 * half-open. Kernels allocate nothing, cannot fail, and add in a fixed order, so that
 * cutting the rows into tasks never changes a bit of the result. */
#ifndef GRAPHSS_KERNELS_H
#define GRAPHSS_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GRAPHSS_I_ROW = 16 }; /* floats in a cache line */

typedef struct graphss_i_kernels {
    const char *name; /* "avx512", "avx2", "generic" */
    size_t width;     /* floats in a vector */

    /* y[i][c] = sum_e value[e] x[column[e]][c]   for rows i in [row0, row1) and columns c in
     * [c0, c1) */
    void (*spmm)(float *y, const int64_t *offset, const int32_t *column, const float *value,
        const float *x, size_t k, size_t row0, size_t row1, size_t c0, size_t c1);

    /* Of a matrix whose entries are kept or dropped, both products: kept_y as spmm has it by
     * kept, column and value; y = scale (the same + that of the dropped entries of row i,
     * which are those from kept[n_rows] + all[i] - kept[i] on, as many as all counts and kept
     * not) */
    void (*spmm_both)(float *kept_y, float *y, const int64_t *kept, const int64_t *all,
        const int32_t *column, const float *value, float scale, const float *x, size_t k,
        size_t n_rows, size_t row0, size_t row1, size_t c0, size_t c1);

    /* y[column[e]][c] += value[e] x[i][c]   over all rows i, for columns c in [c0, c1):
     * the product with the transpose, without building it. */
    void (*spmm_transposed)(float *y, const int64_t *offset, const int32_t *column,
        const float *value, const float *x, size_t k, size_t n_rows, size_t c0, size_t c1);

    /* y[j][c] += sum_e value[e] x[row[e]][c]   over the entries e in [offset[j], offset[j +
     * 1]) of column j of a block (graph/blocks.h), for n columns j, and c in [c0, c1) */
    void (*spmm_block)(float *y, const int32_t *offset, const uint16_t *row,
        const float *value, const float *x, size_t k, size_t n, size_t c0, size_t c1);

    /* y[i][c] = r[i] sum_j bit(i, j) s[j] x[j][c]   for rows i in [row0, row1) and columns c
     * in [c0, c1). x has n_x rows; bit(i, j) is bit j % 32 of word[j / 32 * n_rows + i];
     * r [n_rows] or s [n_x] may be NULL: all ones. */
    void (*bits)(float *y, const uint32_t *word, size_t n_rows, const float *x, size_t n_x,
        size_t k, const float *r, const float *s, size_t row0, size_t row1, size_t c0,
        size_t c1);

    /* out[e] += sum_c a[i][c] b[column[e]][c]   for rows i in [row0, row1): the gradient of
     * spmm with respect to value. */
    void (*sddmm)(float *out, const int64_t *offset, const int32_t *column, const float *a,
        const float *b, size_t k, size_t row0, size_t row1);

    /* c[i][j] = sum_p a[i si + p sp] b[p][j]   for i < m, j < n, p < k, or that added to c.
     * One of si and sp is 1. Rows of c are ldc apart; those of b, a panel of width or
     * 2 width columns, whichever holds n, lie close together, and hold zeros beyond n. */
    void (*gemm)(float *c, size_t ldc, const float *a, size_t si, size_t sp, const float *b,
        size_t m, size_t n, size_t k, bool add);

    /* One step of Adam (Kingma & Ba 2015) over n weights:
     *   g = grad + decay w;  m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2
     *   w -= rate_t m / (sqrt(v) + eps_t)
     * with rate_t = rate sqrt(1 - b2^t) / (1 - b1^t) and eps_t = eps sqrt(1 - b2^t), which is
     * the published step. */
    void (*adam)(float *w, float *m, float *v, const float *grad, size_t n, float decay,
        float b1, float b2, float rate_t, float eps_t);

    /* y[i][c] = max(0, x[i][c] + bias[c]); bias may be NULL; y may be x; k columns */
    void (*bias_relu)(
        float *y, const float *x, const float *bias, size_t k, size_t row0, size_t row1);
    /* gx[j] = y[j] > 0 ? scale gy[j] : 0; gx may be gy */
    void (*relu_backward)(float *gx, const float *gy, const float *y, size_t n, float scale);

    /* out[c] = sum_i x[i][c] over rows [row0, row1) of k columns */
    void (*column_sums)(float *out, const float *x, size_t k, size_t row0, size_t row1);

    /* y[j] = kept(j) ? x[j] * scale : 0 for j in [j0, j1), where kept(j) compares 16 bits of
     * a hash of (key, j) with threshold (kept when hash16 >= threshold). A pure function of
     * its arguments, so forward, backward and any thread agree. y may be x. */
    void (*dropout)(float *y, const float *x, size_t j0, size_t j1, uint64_t key,
        uint32_t threshold, float scale);

    /* y[q] = x[q] with each bit b cleared unless kept(32 q + b), for words q in [q0, q1);
     * x may be NULL: all bits set */
    void (*dropout_bits)(uint32_t *y, const uint32_t *x, size_t q0, size_t q1, uint64_t key,
        uint32_t threshold);

    /* y[i][c] += a * x[i][c], n numbers in all */
    void (*axpy)(float *y, const float *x, float a, size_t n);

    /* z[i][c] = e^z[i][c] / sum_c' e^z[i][c'] for rows i in [row0, row1) of k columns */
    void (*softmax)(float *z, size_t k, size_t row0, size_t row1);

    /* Below, rows of x and w have GRAPHSS_I_ROW numbers, finite also where w is 0.
     * p[i][c] ~ exp(w . x[i][c]), of sum 1 over the k classes c; n rows i */
    void (*choice)(float *p, const float *w, const float *x, size_t n, size_t k);

    /* gradient = sum_ic left[i][c] x[i][c]
     * hessian = sum_ic weight[i] p[i][c] (x[i][c] - m[i]) (x[i][c] - m[i])^T, without terms
     * of p[i][c] < least, m[i] = sum_c p[i][c] x[i][c] */
    void (*choice_bend)(float *gradient, float *hessian, const float *x, const float *p,
        const float *left, const float *weight, size_t n, size_t k, float least);

    /* p[c][s] ~ exp(sum_j x[c][j] w[j][s]), of sum 1 over the k classes c; j < f */
    void (*choices)(float *p, const float *w, const float *x, size_t k, size_t f);

    /* out[j] = how many bits a and row at[j] of b have in common, for n rows j of width words
     */
    void (*common_bits)(uint32_t *out, const uint64_t *a, const uint64_t *b, const size_t *at,
        size_t n, size_t width);

    /* y[c] = sum_j x[j] w[j][c], j < f, c < m, a multiple of GRAPHSS_I_ROW */
    void (*row_times)(float *y, const float *x, const float *w, size_t f, size_t m);
} graphss_i_kernels;

extern const graphss_i_kernels graphss_i_kernels_generic;
#if defined(__x86_64__)
extern const graphss_i_kernels graphss_i_kernels_avx2;
extern const graphss_i_kernels graphss_i_kernels_avx512;
#endif

/* The sets this machine supports, the fastest last. Returns how many. */
enum { GRAPHSS_I_KERNEL_SETS = 3 };
size_t graphss_i_kernels_supported(const graphss_i_kernels *set[GRAPHSS_I_KERNEL_SETS]);
/* The one that the environment variable GRAPHSS_KERNELS names if this machine supports it,
 * else the fastest. */
const graphss_i_kernels *graphss_i_kernels_choose(void);

#endif
