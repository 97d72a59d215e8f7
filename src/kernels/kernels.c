/* kernels.c - chooses the instruction set for this machine. */
#include "kernels/kernels.h"

#include <stdbool.h>

const graphss_i_kernels *graphss_i_kernels_choose(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return &graphss_i_kernels_avx512;
    if (avx2)
        return &graphss_i_kernels_avx2;
#endif
    return &graphss_i_kernels_generic;
}
