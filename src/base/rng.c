/* rng.c - PCG-XSH-RR 64/32: small, fast, and with independent streams. */
#include <graphss/rng.h>
#include <math.h>

static const uint64_t multiplier = 6364136223846793005u;

graphss_rng graphss_rng_make(uint64_t seed, uint64_t stream)
{
    graphss_rng rng = {0, (stream << 1) | 1};
    (void)graphss_rng_u32(&rng);
    rng.state += seed;
    (void)graphss_rng_u32(&rng);
    return rng;
}

uint32_t graphss_rng_u32(graphss_rng *rng)
{
    const uint64_t old = rng->state;
    rng->state = old * multiplier + rng->increment;
    const uint32_t mixed = (uint32_t)(((old >> 18) ^ old) >> 27);
    const uint32_t turn = (uint32_t)(old >> 59);
    return (mixed >> turn) | (mixed << ((32 - turn) & 31));
}

uint64_t graphss_rng_u64(graphss_rng *rng)
{
    const uint64_t high = graphss_rng_u32(rng);
    return high << 32 | graphss_rng_u32(rng);
}

uint64_t graphss_rng_below(graphss_rng *rng, uint64_t bound)
{
    /* Lemire 2019: the high half of a product, redrawn in the sliver that is not fair. */
    if (bound <= UINT32_MAX) {
        const uint32_t b = (uint32_t)bound;
        uint64_t product = (uint64_t)graphss_rng_u32(rng) * b;
        if ((uint32_t)product < b) {
            const uint32_t unfair = -b % b;
            while ((uint32_t)product < unfair)
                product = (uint64_t)graphss_rng_u32(rng) * b;
        }
        return product >> 32;
    }
    const uint64_t unfair = -bound % bound;
    uint64_t draw = graphss_rng_u64(rng);
    while (draw < unfair)
        draw = graphss_rng_u64(rng);
    return draw % bound;
}

double graphss_rng_double(graphss_rng *rng)
{
    return (double)(graphss_rng_u64(rng) >> 11) * 0x1p-53;
}

double graphss_rng_normal(graphss_rng *rng)
{
    /* Marsaglia's polar method; the second value is thrown away to keep no state. */
    for (;;) {
        const double x = 2 * graphss_rng_double(rng) - 1;
        const double y = 2 * graphss_rng_double(rng) - 1;
        const double s = x * x + y * y;
        if (s > 0 && s < 1)
            return x * sqrt(-2 * log(s) / s);
    }
}

void graphss_rng_shuffle(graphss_rng *rng, int32_t *item, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        const size_t j = (size_t)graphss_rng_below(rng, i);
        const int32_t held = item[i - 1];
        item[i - 1] = item[j];
        item[j] = held;
    }
}
