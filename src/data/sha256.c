/* sha256.c - whole blocks go straight into the state of libmd's struct, so that the rest, the
 * padding and other processors are libmd's. Five times as fast as its portable code. */
#include "data/sha256.h"

enum { BLOCK = 64 };

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <immintrin.h>

static const uint32_t constant[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
    0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
    0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
    0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
    0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
    0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
    0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2};

bool graphss_i_sha256_fast(void)
{
    enum { SSSE3 = 1 << 9, SSE41 = 1 << 19, SHA = 1 << 29 };
    unsigned a, b, c, d, old;
    if (!__get_cpuid(1, &a, &b, &old, &d) || !__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return false;
    return (old & SSSE3) && (old & SSE41) && (b & SHA);
}

/* The instructions keep the eight words as ABEF and CDGH; four rounds take four words of the
 * message, of which the last sixteen are held. */
__attribute__((target("sha,sse4.1,ssse3"))) static void
add_blocks(uint32_t *state, const uint8_t *data, size_t blocks)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
    __m128i t = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xb1);
    __m128i y = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1b);
    __m128i x = _mm_alignr_epi8(t, y, 8);
    y = _mm_blend_epi16(y, t, 0xf0);
    for (; blocks; blocks--, data += BLOCK) {
        const __m128i before_x = x, before_y = y;
        __m128i w[4];
        for (size_t i = 0; i < 16; i++) {
            __m128i *now = &w[i % 4];
            const __m128i last = w[(i + 3) % 4];
            if (i < 4)
                *now =
                    _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(data + 16 * i)), swap);
            else
                *now = _mm_sha256msg2_epu32(
                    _mm_add_epi32(_mm_sha256msg1_epu32(*now, w[(i + 1) % 4]),
                                  _mm_alignr_epi8(last, w[(i + 2) % 4], 4)),
                    last);
            t = _mm_add_epi32(*now, _mm_loadu_si128((const __m128i *)(constant + 4 * i)));
            y = _mm_sha256rnds2_epu32(y, x, t);
            x = _mm_sha256rnds2_epu32(x, y, _mm_shuffle_epi32(t, 0x0e));
        }
        x = _mm_add_epi32(x, before_x);
        y = _mm_add_epi32(y, before_y);
    }
    t = _mm_shuffle_epi32(x, 0x1b);
    y = _mm_shuffle_epi32(y, 0xb1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(t, y, 0xf0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(y, t, 8));
}
#else
bool graphss_i_sha256_fast(void)
{
    return false;
}
static void add_blocks(uint32_t *state, const uint8_t *data, size_t blocks)
{
    (void)state, (void)data, (void)blocks;
}
#endif

void graphss_i_sha256_update(SHA2_CTX *sha, const uint8_t *data, size_t n, bool fast)
{
    const uint64_t bits = 8 * BLOCK;
    if (fast && n >= BLOCK && sha->bitcount[0] % bits == 0) {
        const size_t blocks = n / BLOCK;
        add_blocks(sha->state.st32, data, blocks);
        sha->bitcount[0] += bits * blocks;
        data += blocks * BLOCK;
        n -= blocks * BLOCK;
    }
    SHA256Update(sha, data, n);
}
