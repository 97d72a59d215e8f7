/* kernels_avx512.c - the kernels for AVX-512 (F, DQ, BW, VL): vectors of sixteen floats. */
#include "kernels/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define KERNELS graphss_i_kernels_avx512
#define KERNELS_NAME "avx512"
#define WIDTH 16
#define MOST_VECTORS 16 /* of 32 registers: 256 columns in one pass over a row */

typedef float vec __attribute__((vector_size(64)));
typedef uint32_t lanes __attribute__((vector_size(64)));

static inline vec load_part(const float *p, size_t n)
{
    return (vec)_mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
}

static inline void store_part(float *p, vec v, size_t n)
{
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), (__m512)v);
}

static inline uint32_t at_least(lanes v, uint32_t threshold)
{
    return _mm512_cmpge_epu32_mask((__m512i)v, _mm512_set1_epi32((int)threshold));
}

#include "kernels/kernels_body.h"
#endif
