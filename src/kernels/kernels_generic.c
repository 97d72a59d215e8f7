/* kernels_generic.c - the kernels for any machine: vectors of four floats. */
#include "kernels/kernels.h"

#define KERNELS graphss_i_kernels_generic
#define KERNELS_NAME "generic"
#define WIDTH 4
#define MOST_VECTORS 13 /* of 16 registers, as on plain x86-64 */

typedef float vec __attribute__((vector_size(16)));
typedef uint32_t lanes __attribute__((vector_size(16)));

static inline vec load_part(const float *p, size_t n)
{
    vec v = {p[0], n > 1 ? p[1] : 0, n > 2 ? p[2] : 0, 0};
    return v;
}

static inline void store_part(float *p, vec v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = v[i];
}

static inline uint32_t at_least(lanes v, uint32_t threshold)
{
    uint32_t bits = 0;
    for (int l = 0; l < WIDTH; l++)
        bits |= (uint32_t)(v[l] >= threshold) << l;
    return bits;
}

#include "kernels/kernels_body.h"
