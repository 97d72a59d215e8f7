/* testing_kernels.h - for each instruction set this machine has. */
#ifndef GRAPHSS_TESTING_KERNELS_H
#define GRAPHSS_TESTING_KERNELS_H

#include "kernels/kernels.h"
#include <stdbool.h>

static inline size_t available(const graphss_i_kernels *table[3])
{
    size_t n = 0;
    table[n++] = &graphss_i_kernels_generic;
#if defined(__x86_64__)
    const graphss_i_kernels *best = graphss_i_kernels_choose();
    if (best != &graphss_i_kernels_generic)
        table[n++] = &graphss_i_kernels_avx2;
    if (best == &graphss_i_kernels_avx512)
        table[n++] = &graphss_i_kernels_avx512;
#endif
    return n;
}

#define FOR_EACH_SET(k)                                                                       \
    const graphss_i_kernels *table_[3], *k = NULL;                                            \
    const size_t n_tables_ = available(table_);                                               \
    for (size_t t_ = 0; t_ < n_tables_ && (k = table_[t_], true); t_++)

#endif
