/* random_csr.h - matrices for the tests and benchmarks of this folder. */
#ifndef GRAPHSS_RANDOM_CSR_H
#define GRAPHSS_RANDOM_CSR_H

#include "graph/products.h"
#include "kernels/kernels.h"
#include <stdbool.h>
#include <stdlib.h>

/* Normal numbers in a block of malloc. */
static inline float *random_floats(graphss_rng *rng, size_t n)
{
    float *x = malloc((n + 1) * sizeof *x);
    for (size_t j = 0; x && j < n; j++)
        x[j] = (float)graphss_rng_normal(rng);
    return x;
}

/* Rows of 0 to 2 * mean entries, columns ascending and distinct; about one row in five is
 * empty when gaps. The parts are blocks of malloc: see random_csr_free. */
static inline graphss_i_csr random_csr(
    graphss_rng *rng, size_t n_rows, size_t n_cols, size_t mean, bool valued, bool gaps)
{
    graphss_i_csr m = {.n_rows = n_rows, .n_cols = n_cols};
    m.offset = malloc((n_rows + 1) * sizeof *m.offset);
    m.column = malloc((n_rows * 2 * mean + 1) * sizeof *m.column);
    if (!m.offset || !m.column)
        abort();
    int64_t n = 0;
    for (size_t i = 0; i < n_rows; i++) {
        m.offset[i] = n;
        if (n_cols == 0 || (gaps && graphss_rng_below(rng, 5) == 0))
            continue;
        const size_t wanted = graphss_rng_below(rng, 2 * mean + 1);
        /* One column from each of `wanted` equal stretches. */
        for (size_t e = 0; e < wanted; e++) {
            const size_t from = n_cols * e / wanted, to = n_cols * (e + 1) / wanted;
            if (from < to)
                m.column[n++] = (int32_t)(from + graphss_rng_below(rng, to - from));
        }
    }
    m.offset[n_rows] = n;
    if (valued)
        m.value = random_floats(rng, (size_t)n);
    return m;
}

static inline void random_csr_free(graphss_i_csr *m)
{
    free(m->offset);
    free(m->column);
    free(m->value);
    *m = (graphss_i_csr){0};
}

/* For each instruction set this machine has. */

#define FOR_EACH_SET(k) \
    const graphss_i_kernels *table_[GRAPHSS_I_KERNEL_SETS], *k = NULL; \
    const size_t n_tables_ = graphss_i_kernels_supported(table_); \
    for (size_t t_ = 0; t_ < n_tables_ && (k = table_[t_], true); t_++)

#endif
