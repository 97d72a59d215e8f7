/* testing_kernels.h - for each instruction set this machine has. */
#ifndef GRAPHSS_TESTING_KERNELS_H
#define GRAPHSS_TESTING_KERNELS_H

#include "kernels/kernels.h"
#include <stdbool.h>

#define FOR_EACH_SET(k) \
    const graphss_i_kernels *table_[GRAPHSS_I_KERNEL_SETS], *k = NULL; \
    const size_t n_tables_ = graphss_i_kernels_supported(table_); \
    for (size_t t_ = 0; t_ < n_tables_ && (k = table_[t_], true); t_++)

#endif
