/* graphss/rng.h - random numbers as an explicit value.
 *
 *     graphss_rng rng = graphss_rng_make(seed, GRAPHSS_STREAM_SPLIT);
 *
 * PCG-XSH-RR 64/32 (O'Neill 2014). A generator is two words, copied freely. Each purpose
 * has a stream of its own, so a new draw in one never shifts another. */
#ifndef GRAPHSS_RNG_H
#define GRAPHSS_RNG_H

#include <graphss/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct graphss_rng {
    uint64_t state;
    uint64_t increment; /* odd; names the stream */
} graphss_rng;

typedef enum graphss_stream {
    GRAPHSS_STREAM_SPLIT = 1,
    GRAPHSS_STREAM_NOISE,
    GRAPHSS_STREAM_INIT,
    GRAPHSS_STREAM_DROPOUT,
    GRAPHSS_STREAM_SYNTH,
    GRAPHSS_STREAM_VICTIMS,
    GRAPHSS_STREAM_ATTACK,
    GRAPHSS_STREAM_BENIGN,
    GRAPHSS_STREAM_SAMPLER,
    GRAPHSS_STREAM_DEFENCE
} graphss_stream;

/* The generator of a seed and a stream (graphss_stream, or any number of yours). */
GRAPHSS_API graphss_rng graphss_rng_make(uint64_t seed, uint64_t stream);
/* Uniform over all values of the type. */
GRAPHSS_API uint32_t graphss_rng_u32(graphss_rng *rng);
GRAPHSS_API uint64_t graphss_rng_u64(graphss_rng *rng);
/* Uniform in [0, bound), without bias; bound >= 1. */
GRAPHSS_API uint64_t graphss_rng_below(graphss_rng *rng, uint64_t bound);
/* Uniform in [0, 1), 53 bits. */
GRAPHSS_API double graphss_rng_double(graphss_rng *rng);
/* Standard normal. */
GRAPHSS_API double graphss_rng_normal(graphss_rng *rng);
/* Uniform permutation in place. */
GRAPHSS_API void graphss_rng_shuffle(graphss_rng *rng, int32_t *item, size_t n);

#ifdef __cplusplus
}
#endif
#endif
