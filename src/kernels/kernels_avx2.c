/* kernels_avx2.c - the kernels for AVX2 with fused multiply-add: vectors of eight floats. */
#include "kernels/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define KERNELS graphss_i_kernels_avx2
#define KERNELS_NAME "avx2"
#define WIDTH 8
#define MOST_VECTORS 14 /* of 16 registers */

typedef float vec __attribute__((vector_size(32)));
typedef uint32_t lanes __attribute__((vector_size(32)));

static inline __m256i first_lanes(size_t n)
{
    return _mm256_cmpgt_epi32(
        _mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

static inline vec load_part(const float *p, size_t n)
{
    return (vec)_mm256_maskload_ps(p, first_lanes(n));
}

static inline void store_part(float *p, vec v, size_t n)
{
    _mm256_maskstore_ps(p, first_lanes(n), (__m256)v);
}

static inline uint32_t at_least(lanes v, uint32_t threshold)
{
    const __m256i above =
        _mm256_cmpgt_epi32((__m256i)v, _mm256_set1_epi32((int)threshold - 1));
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(above));
}

#include "kernels/kernels_body.h"
#endif
