/* kernels.c - chooses the instruction set for this machine. GRAPHSS_KERNELS=generic, avx2 or
 * avx512 chooses another one, for tests and comparisons; one that the machine lacks is
 * ignored. */
#include "kernels/kernels.h"

#include <stdlib.h>
#include <string.h>

size_t graphss_i_kernels_supported(const graphss_i_kernels *set[GRAPHSS_I_KERNEL_SETS])
{
    size_t n = 0;
    set[n++] = &graphss_i_kernels_generic;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("popcnt")) {
        set[n++] = &graphss_i_kernels_avx2;
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
            set[n++] = &graphss_i_kernels_avx512;
    }
#endif
    return n;
}

const graphss_i_kernels *graphss_i_kernels_choose(void)
{
    const graphss_i_kernels *set[GRAPHSS_I_KERNEL_SETS];
    const size_t n = graphss_i_kernels_supported(set);
    const char *wanted = getenv("GRAPHSS_KERNELS");
    for (size_t i = 0; wanted && i < n; i++)
        if (strcmp(wanted, set[i]->name) == 0)
            return set[i];
    return set[n - 1];
}
