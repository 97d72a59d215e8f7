/* kernels_body.h - the kernels themselves; included once per instruction set.
 *
 * The including file defines KERNELS (the table), KERNELS_NAME, WIDTH (floats in a vector),
 * MOST_VECTORS (sums that stay in registers), the type vec, and load_part/store_part for
 * the first n < WIDTH floats. Multiply-adds fuse wherever the machine can (the build sets
 * -ffp-contract=fast on these files only), in vectors and in single floats alike, so an
 * element comes out the same wherever a cut falls.
 *
 * spmm is bound by loads, so a row of y is summed in registers over all entries of its row
 * and stored once; 200 columns are one pass with AVX-512, three with AVX2. A last vector
 * that sticks out is moved back to end at column k: the overlap is computed twice, equally.
 * bench/README.md says what else was tried. */

#define INLINE static inline __attribute__((always_inline))
#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

/* The same vector anywhere in memory. */
typedef float loose __attribute__((vector_size(4 * WIDTH), aligned(4), may_alias));

INLINE vec load(const float *p)
{
    return (vec)*(const loose *)p;
}

INLINE void store(float *p, vec v)
{
    *(loose *)p = (loose)v;
}

INLINE vec splat(float a)
{
    return a - (vec){0};
}

/* ---- sparse times dense ---- */

enum {
    LINE = 16, /* floats in a cache line; up to so many columns prefetching costs more */
    AHEAD = 8  /* entries between prefetch and use */
};

typedef struct sparse_rows {
    const int64_t *offset;
    const int32_t *column;
    const float *value; /* may be NULL */
    size_t row0, row1;
    int64_t end; /* no entry from here on may be looked at */
} sparse_rows;

/* y[i][c] = sum_e value[e] x[column[e]][c] for n vectors of columns from c0 on, the last of
 * which starts at column last. n and weighted are constants where this is inlined. */
INLINE void spmm_tile(int n, int weighted, float *y, const sparse_rows *m, const float *x,
                      size_t k, size_t c0, size_t last)
{
    for (size_t i = m->row0; i < m->row1; i++) {
        vec sum[MOST_VECTORS] = {0};
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++) {
            const float *from = x + (size_t)m->column[e] * k;
            if (n * WIDTH > LINE && e + AHEAD < m->end) {
                const float *next = x + (size_t)m->column[e + AHEAD] * k + c0;
                for (int line = 0; line < n * WIDTH; line += LINE)
                    __builtin_prefetch(next + line);
            }
            const vec a = splat(weighted ? m->value[e] : 1.0f);
            for (int v = 0; v < n - 1; v++)
                sum[v] += a * load(from + c0 + v * WIDTH);
            sum[n - 1] += a * load(from + last);
        }
        float *to = y + i * k;
        for (int v = 0; v < n - 1; v++)
            store(to + c0 + v * WIDTH, sum[v]);
        store(to + last, sum[n - 1]);
    }
}

/* The same for k < WIDTH columns: one vector holds the row. */
INLINE void spmm_narrow(int weighted, float *y, const sparse_rows *m, const float *x,
                        size_t k)
{
    for (size_t i = m->row0; i < m->row1; i++) {
        vec sum = {0};
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
            sum += splat(weighted ? m->value[e] : 1.0f) *
                   load_part(x + (size_t)m->column[e] * k, k);
        store_part(y + i * k, sum, k);
    }
}

#define SPMM_CASE(n)                                                                          \
    case n:                                                                                   \
        if (!m->value)                                                                        \
            spmm_tile(n, 0, y, m, x, k, c0, last);                                     \
        else                                                                                  \
            spmm_tile(n, 1, y, m, x, k, c0, last);                                     \
        break

static void spmm_tile_of(size_t n, float *y, const sparse_rows *m, const float *x, size_t k,
                         size_t c0, size_t last)
{
    switch (n) {
        SPMM_CASE(1);
        SPMM_CASE(2);
        SPMM_CASE(3);
        SPMM_CASE(4);
        SPMM_CASE(5);
        SPMM_CASE(6);
        SPMM_CASE(7);
        SPMM_CASE(8);
        SPMM_CASE(9);
        SPMM_CASE(10);
        SPMM_CASE(11);
        SPMM_CASE(12);
#if MOST_VECTORS > 12
        SPMM_CASE(13);
        SPMM_CASE(14);
        SPMM_CASE(15);
        SPMM_CASE(16);
#endif
    }
}

static void spmm(float *y, const int64_t *offset, const int32_t *column, const float *value,
                 const float *x, size_t k, size_t row0, size_t row1)
{
    sparse_rows m = {offset, column, value, row0, row1, offset[row1]};
    if (k < WIDTH) {
        if (value)
            spmm_narrow(1, y, &m, x, k);
        else
            spmm_narrow(0, y, &m, x, k);
        return;
    }
    const size_t vectors = (k + WIDTH - 1) / WIDTH;
    const size_t tiles = (vectors + MOST_VECTORS - 1) / MOST_VECTORS;
    /* With several tiles, go row by row: the second tile finds column and value in cache. */
    const size_t step = tiles == 1 ? row1 - row0 : 1;
    for (size_t i = row0; i < row1; i += step) {
        m.row0 = i;
        m.row1 = i + step;
        for (size_t t = 0; t < tiles; t++) {
            const size_t v0 = vectors * t / tiles, v1 = vectors * (t + 1) / tiles;
            const size_t last = t + 1 < tiles ? (v1 - 1) * WIDTH : k - WIDTH;
            spmm_tile_of(v1 - v0, y, &m, x, k, v0 * WIDTH, last);
        }
    }
}

/* y[column[e]][c] += value[e] x[i][c] for c in [c0, c1), entries in the order of the rows:
 * an element of y sees its terms in the order in which the built transpose has them. */
static void spmm_transposed(float *y, const int64_t *offset, const int32_t *column,
                            const float *value, const float *x, size_t k, size_t n_rows,
                            size_t c0, size_t c1)
{
    const size_t whole = c0 + (c1 - c0) / WIDTH * WIDTH, part = c1 - whole;
    const int64_t end = offset[n_rows];
    for (size_t i = 0; i < n_rows; i++) {
        const float *from = x + i * k;
        for (int64_t e = offset[i]; e < offset[i + 1]; e++) {
            float *to = y + (size_t)column[e] * k;
            if (e + AHEAD < end)
                for (size_t c = c0; c < c1; c += LINE)
                    __builtin_prefetch(y + (size_t)column[e + AHEAD] * k + c, 1);
            const vec a = splat(value ? value[e] : 1.0f);
            for (size_t c = c0; c < whole; c += WIDTH)
                store(to + c, load(to + c) + a * load(from + c));
            if (part)
                store_part(to + whole, load_part(to + whole, part) +
                                           a * load_part(from + whole, part), part);
        }
    }
}

/* ---- dense times dense, where a sparse matrix has entries ---- */

INLINE float sum_lanes(vec v)
{
    float s[WIDTH];
    store(s, v);
    for (int half = WIDTH / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++)
            s[l] += s[l + half];
    return s[0];
}

/* out[e] += a . b[column[e]] for n entries; n is a constant where this is inlined. Odd and
 * even vectors are summed apart, to keep 2 n sums under way. */
INLINE void dot_rows(int n, float *out, const int32_t *column, const float *a,
                     const float *b, size_t k)
{
    const size_t part = k % WIDTH, whole = k - part;
    const float *row[4];
    vec even[4] = {0}, odd[4] = {0};
    for (int j = 0; j < n; j++)
        row[j] = b + (size_t)column[j] * k;
    size_t c = 0;
    for (; c + 2 * WIDTH <= whole; c += 2 * WIDTH) {
        const vec a0 = load(a + c), a1 = load(a + c + WIDTH);
        for (int j = 0; j < n; j++) {
            even[j] += a0 * load(row[j] + c);
            odd[j] += a1 * load(row[j] + c + WIDTH);
        }
    }
    if (c < whole) {
        const vec a0 = load(a + c);
        for (int j = 0; j < n; j++)
            even[j] += a0 * load(row[j] + c);
    }
    if (part) {
        const vec a1 = load_part(a + whole, part);
        for (int j = 0; j < n; j++)
            odd[j] += a1 * load_part(row[j] + whole, part);
    }
    for (int j = 0; j < n; j++)
        out[j] += sum_lanes(even[j] + odd[j]);
}

static void sddmm(float *out, const int64_t *offset, const int32_t *column, const float *a,
                  const float *b, size_t k, size_t row0, size_t row1)
{
    const int64_t end = offset[row1];
    for (size_t i = row0; i < row1; i++) {
        int64_t e = offset[i];
        for (; e + 4 <= offset[i + 1]; e += 4) {
            if (k > LINE && e + AHEAD + 4 <= end)
                for (int j = 0; j < 4; j++)
                    for (size_t c = 0; c < k; c += LINE)
                        __builtin_prefetch(b + (size_t)column[e + AHEAD + j] * k + c);
            dot_rows(4, out + e, column + e, a + i * k, b, k);
        }
        for (; e < offset[i + 1]; e++)
            dot_rows(1, out + e, column + e, a + i * k, b, k);
    }
}

/* ---- element by element ---- */

/* Each average moves towards its new term by one product, which fuses in one way only:
 *   m += (1 - b1) (g - m);  v += (1 - b2) (g^2 - v);  w -= rate m / (sqrt(v) + eps) */
static void adam(float *w, float *m, float *v, const float *grad, size_t n, float decay,
                 float b1, float b2, float rate_t, float eps_t)
{
    const float c1 = 1 - b1, c2 = 1 - b2;
    INDEPENDENT
    for (size_t j = 0; j < n; j++) {
        const float g = grad[j] + decay * w[j];
        m[j] = m[j] + c1 * (g - m[j]);
        v[j] = v[j] + c2 * (g * g - v[j]);
        w[j] = w[j] - rate_t * (m[j] / (__builtin_sqrtf(v[j]) + eps_t));
    }
}

/* Not a number stays what it is, so that a training that fails is seen to fail. */
INLINE float positive(float a)
{
    return a <= 0 ? 0 : a;
}

static void bias_relu(float *y, const float *x, const float *bias, size_t k, size_t row0,
                      size_t row1)
{
    if (!bias) {
        INDEPENDENT
        for (size_t j = row0 * k; j < row1 * k; j++)
            y[j] = positive(x[j]);
        return;
    }
    for (size_t i = row0; i < row1; i++) {
        INDEPENDENT
        for (size_t c = 0; c < k; c++)
            y[i * k + c] = positive(x[i * k + c] + bias[c]);
    }
}

static void relu_backward(float *gx, const float *gy, const float *y, size_t n)
{
    INDEPENDENT
    for (size_t j = 0; j < n; j++)
        gx[j] = y[j] > 0 ? gy[j] : 0;
}

static void axpy(float *y, const float *x, float a, size_t n)
{
    INDEPENDENT
    for (size_t j = 0; j < n; j++)
        y[j] += a * x[j];
}

/* ---- dropout ----
 *
 * Numbers come in blocks of 32. Lane l of block q has the 32-bit hash of (key, 16 q + l);
 * its low half decides about number 32 q + l, its high half about 32 q + 16 + l. So a
 * vector of hashes serves two vectors of numbers as they lie in memory, for any WIDTH up to
 * 16. Multiplications of 32 bits are what all instruction sets have. */

typedef struct hash_key {
    uint32_t first, second;
} hash_key;

/* Spreads the key, and what of the counter lies above 32 bits, over both words. */
INLINE hash_key spread_key(uint64_t key, uint64_t above)
{
    uint64_t z = key + 0x9e3779b97f4a7c15u * (above + 1);
    z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93u;
    z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93u;
    z ^= z >> 32;
    return (hash_key){(uint32_t)z, (uint32_t)(z >> 32)};
}

/* The second word enters between the rounds: were both added at the start, the masks of two
 * keys would be one mask shifted. */
INLINE uint32_t hash(hash_key key, uint32_t counter)
{
    uint32_t h = counter * 0x9e3779b1u + key.first;
    h = (h ^ (h >> 16)) * 0x7feb352du;
    h += key.second;
    h = (h ^ (h >> 15)) * 0x846ca68bu;
    return h ^ (h >> 16);
}

INLINE float drop(float x, uint32_t bits, uint32_t threshold, float scale)
{
    return bits >= threshold ? x * scale : 0;
}

static void dropout(float *y, const float *x, size_t j0, size_t j1, uint64_t key,
                    uint32_t threshold, float scale)
{
    size_t j = j0;
    while (j < j1) {
        const uint64_t first = (uint64_t)j / 32 * 16; /* counter of lane 0 */
        const hash_key spread = spread_key(key, first >> 32);
        const uint32_t counter = (uint32_t)first;
        if (j % 32 == 0 && j + 32 <= j1) {
            INDEPENDENT
            for (uint32_t l = 0; l < 16; l++) {
                const uint32_t h = hash(spread, counter + l);
                y[j + l] = drop(x[j + l], h & 0xffff, threshold, scale);
                y[j + 16 + l] = drop(x[j + 16 + l], h >> 16, threshold, scale);
            }
            j += 32;
            continue;
        }
        const uint32_t l = j % 16, h = hash(spread, counter + l);
        y[j] = drop(x[j], j % 32 < 16 ? h & 0xffff : h >> 16, threshold, scale);
        j++;
    }
}

const graphss_i_kernels KERNELS = {
    .name = KERNELS_NAME,
    .spmm = spmm,
    .spmm_transposed = spmm_transposed,
    .sddmm = sddmm,
    .adam = adam,
    .bias_relu = bias_relu,
    .relu_backward = relu_backward,
    .dropout = dropout,
    .axpy = axpy,
};
