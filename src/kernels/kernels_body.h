/* kernels_body.h - the kernels themselves; included once per instruction set.
 *
 * The including file defines KERNELS (the table), KERNELS_NAME, WIDTH (floats in a vector),
 * MOST_VECTORS (sums that stay in registers), the types vec and lanes (of uint32_t),
 * load_part/store_part for the first n < WIDTH floats, and at_least, the lanes of numbers
 * below 2^17 that reach a threshold as bits. Multiply-adds fuse wherever the machine can (the
 * build sets -ffp-contract=fast on these files only), in vectors and in single floats alike,
 * so an element comes out the same wherever a cut falls.
 *
 * spmm is bound by loads, so a stretch of a row of y is summed in registers over all entries
 * of its row and stored once. bench/README.md says what else was tried. */

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
    const loose v = *(const loose *)p;
    return (vec)v;
}

INLINE void store(float *p, vec v)
{
    *(loose *)p = (loose)v;
}

/* Makes the pointer p one address: of loads beside each other gcc would compute what each
 * adds to the row before the loop, and fetch it from the stack in each turn. */
#define ONE_ADDRESS(p) __asm__("" : "+r"(p))

INLINE vec splat(float a)
{
    return a - (vec){0};
}

/* ---- sparse times dense ---- */

enum {
    LINE = GRAPHSS_I_ROW, /* floats in a cache line */
    NARROW = 64,          /* columns up to which prefetching costs more than it brings */
    AHEAD = 16,           /* entries between prefetch and use */
    /* rows whose tiles are computed one after another: columns and values are then in the
     * first-level cache */
    RUN = 64
};

typedef struct sparse_rows {
    const int64_t *offset;
    const int32_t *column;
    const float *value; /* may be NULL */
    size_t row0, row1;
    int64_t end; /* no entry from here on may be read */
} sparse_rows;

/* A vector of 16 floats is a cache line. Where the rows of x do not begin on one, most loads
 * straddle two, and half as wide vectors are faster as long as the data is near. */
#if WIDTH == 16
#define LEAVE_TO_AVX2(kernel, k, n, ...) \
    do { \
        if ((k) % LINE != 0 && (n) <= NARROW) { \
            graphss_i_kernels_avx2.kernel(__VA_ARGS__); \
            return; \
        } \
    } while (0)
#else
#define LEAVE_TO_AVX2(kernel, k, n, ...) ((void)0)
#endif

/* sum [n] += sum_e value[e] x[column[e]][c] over entries [begin, end), for n vectors of
 * columns from c0 on, the last of which begins at c0 + last. n is a constant where this is
 * inlined. */
INLINE void add_entries(int n, vec *sum, const sparse_rows *m, int64_t begin, int64_t end,
    const float *x, size_t k, size_t c0, ptrdiff_t last)
{
    for (int64_t e = begin; e < end; e++) {
        const float *from = x + (size_t)m->column[e] * k + c0;
        ONE_ADDRESS(from);
        if (n * WIDTH > NARROW && e + AHEAD < m->end) {
            const float *next = x + (size_t)m->column[e + AHEAD] * k + c0;
            ONE_ADDRESS(next);
            for (int line = 0; line < n * WIDTH; line += LINE)
                __builtin_prefetch(next + line);
        }
        const vec a = splat(m->value ? m->value[e] : 1.0f);
        for (int v = 0; v < n - 1; v++)
            sum[v] += a * load(from + v * WIDTH);
        sum[n - 1] += a * load(from + last);
    }
}

/* y[i][c] = sum_e value[e] x[column[e]][c] for n vectors of columns from c0 on. Where that is
 * more than up to c1 the last vector is moved back to end there: the overlap is computed
 * twice, equally. */
INLINE void spmm_tile(
    int n, float *y, const sparse_rows *rows, const float *x, size_t k, size_t c0, size_t c1)
{
    const sparse_rows m = *rows;
    const size_t end = c0 + (size_t)n * WIDTH;
    const ptrdiff_t last = (ptrdiff_t)(end < c1 ? end : c1) - WIDTH - (ptrdiff_t)c0;
    for (size_t i = m.row0; i < m.row1; i++) {
        vec sum[MOST_VECTORS] = {0};
        float *to = y + i * k + c0;
        add_entries(n, sum, &m, m.offset[i], m.offset[i + 1], x, k, c0, last);
        for (int v = 0; v < n - 1; v++)
            store(to + v * WIDTH, sum[v]);
        store(to + last, sum[n - 1]);
    }
}

/* Entries that are kept, by offset of rows, and after them all dropped ones. */
typedef struct both_rows {
    sparse_rows rows;
    const int64_t *all;
    int64_t dropped; /* the first */
    float *kept_y;
    float scale;
} both_rows;

/* y[i] = scale (kept_y[i] + the dropped entries of row i) */
INLINE void both_tile(
    int n, float *y, const both_rows *both, const float *x, size_t k, size_t c0, size_t c1)
{
    const both_rows b = *both;
    const sparse_rows m = b.rows;
    const size_t end = c0 + (size_t)n * WIDTH;
    const ptrdiff_t last = (ptrdiff_t)(end < c1 ? end : c1) - WIDTH - (ptrdiff_t)c0;
    const vec scale = splat(b.scale);
    for (size_t i = m.row0; i < m.row1; i++) {
        vec sum[MOST_VECTORS] = {0};
        float *to = b.kept_y + i * k + c0;
        add_entries(n, sum, &m, m.offset[i], m.offset[i + 1], x, k, c0, last);
        for (int v = 0; v < n - 1; v++)
            store(to + v * WIDTH, sum[v]);
        store(to + last, sum[n - 1]);
        to = y + i * k + c0;
        add_entries(n, sum, &m, b.dropped + b.all[i] - m.offset[i],
            b.dropped + b.all[i + 1] - m.offset[i + 1], x, k, c0, last);
        for (int v = 0; v < n - 1; v++)
            store(to + v * WIDTH, scale * sum[v]);
        store(to + last, scale * sum[n - 1]);
    }
}

/* The same for fewer than WIDTH columns. */
INLINE void both_part(
    float *y, const both_rows *both, const float *x, size_t k, size_t c0, size_t n)
{
    const both_rows b = *both;
    const sparse_rows m = b.rows;
    for (size_t i = m.row0; i < m.row1; i++) {
        vec sum = {0};
        for (int64_t e = m.offset[i]; e < m.offset[i + 1]; e++)
            sum += splat(m.value[e]) * load_part(x + (size_t)m.column[e] * k + c0, n);
        store_part(b.kept_y + i * k + c0, sum, n);
        const int64_t end = b.dropped + b.all[i + 1] - m.offset[i + 1];
        for (int64_t e = b.dropped + b.all[i] - m.offset[i]; e < end; e++)
            sum += splat(m.value[e]) * load_part(x + (size_t)m.column[e] * k + c0, n);
        store_part(y + i * k + c0, sum * splat(b.scale), n);
    }
}

/* The same for fewer than WIDTH columns. */
INLINE void spmm_part(
    float *y, const sparse_rows *rows, const float *x, size_t k, size_t c0, size_t n)
{
    const sparse_rows m = *rows;
    for (size_t i = m.row0; i < m.row1; i++) {
        vec sum = {0};
        for (int64_t e = m.offset[i]; e < m.offset[i + 1]; e++)
            sum += splat(m.value ? m.value[e] : 1.0f) *
                   load_part(x + (size_t)m.column[e] * k + c0, n);
        store_part(y + i * k + c0, sum, n);
    }
}

/* y[column[e]][c] += value[e] x[i][c] for n vectors of columns from c0 on and part columns
 * behind them; n is a constant where this is inlined. Terms come in the order of the rows,
 * in which the built transpose has them too. */
INLINE void transposed_tile(
    int n, float *y, const sparse_rows *rows, const float *x, size_t k, size_t c0, size_t part)
{
    const sparse_rows m = *rows;
    const size_t whole = c0 + (size_t)n * WIDTH;
    for (size_t i = m.row0; i < m.row1; i++) {
        const float *from = x + i * k;
        vec row[MOST_VECTORS], rest = {0};
        for (int v = 0; v < n; v++)
            row[v] = load(from + c0 + v * WIDTH);
        if (part)
            rest = load_part(from + whole, part);
        for (int64_t e = m.offset[i]; e < m.offset[i + 1]; e++) {
            float *to = y + (size_t)m.column[e] * k + c0;
            ONE_ADDRESS(to);
            const vec a = splat(m.value ? m.value[e] : 1.0f);
            for (int v = 0; v < n; v++)
                store(to + v * WIDTH, load(to + v * WIDTH) + a * row[v]);
            if (part)
                store_part(to + n * WIDTH, load_part(to + n * WIDTH, part) + a * rest, part);
        }
    }
}

/* The entries of a block, column by column of the sparse matrix. */
typedef struct block_columns {
    const int32_t *offset;
    const uint16_t *row;
    const float *value;
    size_t n;
} block_columns;

/* y[j][c] += sum_e value[e] x[row[e]][c] for n vectors of columns c from c0 on and part
 * columns behind them; n is a constant where this is inlined. */
INLINE void block_tile(int n, float *y, const block_columns *block, const float *x, size_t k,
    size_t c0, size_t part)
{
    const block_columns m = *block;
    const size_t whole = c0 + (size_t)n * WIDTH;
    const int32_t end = m.offset[m.n];
    for (size_t j = 0; j < m.n; j++) {
        float *to = y + j * k;
        vec sum[MOST_VECTORS], rest = {0};
        if (m.offset[j] == m.offset[j + 1])
            continue;
        for (int v = 0; v < n; v++)
            sum[v] = load(to + c0 + v * WIDTH);
        if (part)
            rest = load_part(to + whole, part);
        for (int32_t e = m.offset[j]; e < m.offset[j + 1]; e++) {
            const float *from = x + (size_t)m.row[e] * k + c0;
            ONE_ADDRESS(from);
            if (n * WIDTH > NARROW && e + AHEAD < end) {
                const float *next = x + (size_t)m.row[e + AHEAD] * k + c0;
                ONE_ADDRESS(next);
                for (int line = 0; line < n * WIDTH; line += LINE)
                    __builtin_prefetch(next + line);
            }
            const vec a = splat(m.value[e]);
            for (int v = 0; v < n; v++)
                sum[v] += a * load(from + v * WIDTH);
            if (part)
                rest += a * load_part(from + n * WIDTH, part);
        }
        for (int v = 0; v < n; v++)
            store(to + c0 + v * WIDTH, sum[v]);
        if (part)
            store_part(to + whole, rest, part);
    }
}

/* One case per number of vectors, so that the sums are registers. */
#define CASE(n, tile, ...) \
    case n: \
        tile(n, y, m, x, k, __VA_ARGS__); \
        break;
#define FIRST_CASES(tile, ...) \
    CASE(1, tile, __VA_ARGS__) \
    CASE(2, tile, __VA_ARGS__) \
    CASE(3, tile, __VA_ARGS__) \
    CASE(4, tile, __VA_ARGS__) \
    CASE(5, tile, __VA_ARGS__) \
    CASE(6, tile, __VA_ARGS__) \
    CASE(7, tile, __VA_ARGS__) \
    CASE(8, tile, __VA_ARGS__) \
    CASE(9, tile, __VA_ARGS__) \
    CASE(10, tile, __VA_ARGS__) \
    CASE(11, tile, __VA_ARGS__) \
    CASE(12, tile, __VA_ARGS__) \
    CASE(13, tile, __VA_ARGS__)
#if MOST_VECTORS == 13
#define CASES FIRST_CASES
#elif MOST_VECTORS == 14
#define CASES(tile, ...) \
    FIRST_CASES(tile, __VA_ARGS__) \
    CASE(14, tile, __VA_ARGS__)
#elif MOST_VECTORS == 16
#define CASES(tile, ...) \
    FIRST_CASES(tile, __VA_ARGS__) \
    CASE(14, tile, __VA_ARGS__) \
    CASE(15, tile, __VA_ARGS__) \
    CASE(16, tile, __VA_ARGS__)
#endif

static void spmm_vectors(
    size_t n, float *y, const sparse_rows *m, const float *x, size_t k, size_t c0, size_t c1)
{
    switch (n) {
        CASES(spmm_tile, c0, c1)
    }
}

static void both_vectors(
    size_t n, float *y, const both_rows *m, const float *x, size_t k, size_t c0, size_t c1)
{
    switch (n) {
        CASES(both_tile, c0, c1)
    }
}

static void transposed_vectors(
    size_t n, float *y, const sparse_rows *m, const float *x, size_t k, size_t c0, size_t part)
{
    switch (n) {
        CASE(0, transposed_tile, c0, part)
        CASES(transposed_tile, c0, part)
    }
}

static void block_vectors(size_t n, float *y, const block_columns *m, const float *x, size_t k,
    size_t c0, size_t part)
{
    switch (n) {
        CASE(0, block_tile, c0, part)
        CASES(block_tile, c0, part)
    }
}

/* Vectors of a tile: as few tiles as possible, alike, and cut between two cache lines where
 * rows begin on one, so that no line is read for two of them. */
INLINE size_t tile_vectors(size_t k, size_t c0, size_t c1)
{
    enum { LINE_VECTORS = LINE / WIDTH };
    const size_t vectors = (c1 - c0 + WIDTH - 1) / WIDTH;
    const size_t tiles = (vectors + MOST_VECTORS - 1) / MOST_VECTORS;
    const size_t each = (vectors + tiles - 1) / tiles;
    const size_t lines = (each + LINE_VECTORS - 1) / LINE_VECTORS * LINE_VECTORS;
    return k % LINE == 0 && c0 % LINE == 0 && lines <= MOST_VECTORS ? lines : each;
}

static void spmm(float *y, const int64_t *offset, const int32_t *column, const float *value,
    const float *x, size_t k, size_t row0, size_t row1, size_t c0, size_t c1)
{
    LEAVE_TO_AVX2(spmm, k, c1 - c0, y, offset, column, value, x, k, row0, row1, c0, c1);
    sparse_rows m = {offset, column, value, row0, row1, offset[row1]};
    if (c1 - c0 < WIDTH) {
        if (c0 < c1)
            spmm_part(y, &m, x, k, c0, c1 - c0);
        return;
    }
    const size_t tile = tile_vectors(k, c0, c1);
    for (; m.row0 < row1; m.row0 = m.row1) {
        m.row1 = row1 - m.row0 < RUN ? row1 : m.row0 + RUN;
        for (size_t c = c0; c < c1; c += tile * WIDTH) {
            const size_t left = (c1 - c + WIDTH - 1) / WIDTH;
            spmm_vectors(left < tile ? left : tile, y, &m, x, k, c, c1);
        }
    }
}

static void spmm_both(float *kept_y, float *y, const int64_t *kept, const int64_t *all,
    const int32_t *column, const float *value, float scale, const float *x, size_t k,
    size_t n_rows, size_t row0, size_t row1, size_t c0, size_t c1)
{
    LEAVE_TO_AVX2(spmm_both, k, c1 - c0, kept_y, y, kept, all, column, value, scale, x, k,
        n_rows, row0, row1, c0, c1);
    both_rows m = {.rows = {kept, column, value, row0, row1, all[n_rows]},
        .all = all,
        .dropped = kept[n_rows],
        .kept_y = kept_y,
        .scale = scale};
    if (c1 - c0 < WIDTH) {
        if (c0 < c1)
            both_part(y, &m, x, k, c0, c1 - c0);
        return;
    }
    const size_t tile = tile_vectors(k, c0, c1);
    for (; m.rows.row0 < row1; m.rows.row0 = m.rows.row1) {
        m.rows.row1 = row1 - m.rows.row0 < RUN ? row1 : m.rows.row0 + RUN;
        for (size_t c = c0; c < c1; c += tile * WIDTH) {
            const size_t left = (c1 - c + WIDTH - 1) / WIDTH;
            both_vectors(left < tile ? left : tile, y, &m, x, k, c, c1);
        }
    }
}

static void spmm_transposed(float *y, const int64_t *offset, const int32_t *column,
    const float *value, const float *x, size_t k, size_t n_rows, size_t c0, size_t c1)
{
    LEAVE_TO_AVX2(spmm_transposed, k, c1 - c0, y, offset, column, value, x, k, n_rows, c0, c1);
    const sparse_rows m = {offset, column, value, 0, n_rows, offset[n_rows]};
    for (size_t c = c0; c < c1; c += MOST_VECTORS * WIDTH) {
        const size_t left = c1 - c, most = MOST_VECTORS * WIDTH;
        if (left >= most)
            transposed_vectors(MOST_VECTORS, y, &m, x, k, c, 0);
        else
            transposed_vectors(left / WIDTH, y, &m, x, k, c, left % WIDTH);
    }
}

static void spmm_block(float *y, const int32_t *offset, const uint16_t *row,
    const float *value, const float *x, size_t k, size_t n, size_t c0, size_t c1)
{
    LEAVE_TO_AVX2(spmm_block, k, c1 - c0, y, offset, row, value, x, k, n, c0, c1);
    const block_columns m = {offset, row, value, n};
    for (size_t c = c0; c < c1; c += MOST_VECTORS * WIDTH) {
        const size_t left = c1 - c, most = MOST_VECTORS * WIDTH;
        if (left >= most)
            block_vectors(MOST_VECTORS, y, &m, x, k, c, 0);
        else
            block_vectors(left / WIDTH, y, &m, x, k, c, left % WIDTH);
    }
}

/* ---- bits times dense ----
 *
 * Four rows of x have 16 sums, so with these in a table a row of y takes one addition for
 * four bits, whatever they are (Arlazarov, Dinic, Kronrod & Faradzhev 1970). A word of 32 bits
 * falls into groups, a table for each; larger groups take fewer additions and larger tables.
 * The tables of a word stay in the first-level cache while the words of all rows go by, so
 * the columns of a pass and the groups are chosen together: with vectors of 16 floats 64
 * columns and groups of 4, 32 KiB; with shorter ones 16 columns, 16 KiB. */

#if WIDTH == 16
enum { BITS_COLUMNS = 64, BITS_GROUPS = 8, BITS_SUMS = 8 << 4 };
static const int bits_group[BITS_GROUPS] = {4, 4, 4, 4, 4, 4, 4, 4};
#else
enum { BITS_COLUMNS = 16, BITS_GROUPS = 6, BITS_SUMS = 4 * (1 << 5) + 2 * (1 << 6) };
static const int bits_group[BITS_GROUPS] = {5, 5, 5, 5, 6, 6};
#endif
enum { BITS_VECTORS = BITS_COLUMNS / WIDTH };

/* For each group table[b] = sum of s[j] x[j] over the bits of b, j counting from j0 at the
 * first bit of the word; n vectors each, the last of which starts at column last. part: of one
 * narrow vector. */
INLINE void bits_table(int n, vec *table, const float *x, size_t j0, size_t n_x, size_t k,
    const float *s, size_t c0, size_t last, size_t part)
{
    size_t j = j0;
    for (size_t g = 0; g < BITS_GROUPS; g++) {
        for (int v = 0; v < n; v++)
            table[v] = (vec){0};
        for (int b = 0; b < bits_group[g]; b++, j++) {
            vec row[BITS_VECTORS] = {0};
            if (j < n_x) {
                const float *from = x + j * k;
                const vec a = splat(s ? s[j] : 1.0f);
                for (int v = 0; v < n - 1; v++)
                    row[v] = a * load(from + c0 + v * WIDTH);
                row[n - 1] = a * (part ? load_part(from + last, part) : load(from + last));
            }
            vec *with = table + (BITS_VECTORS << b);
            for (int t = 0; t < BITS_VECTORS << b; t += BITS_VECTORS)
                for (int v = 0; v < n; v++)
                    with[t + v] = table[t + v] + row[v];
        }
        table += BITS_VECTORS << bits_group[g];
    }
}

/* y[i] += the sums that the groups of word[i] name, where y[i] counts as zero at first, a
 * constant where this is inlined. y has k columns. */
INLINE void bits_rows(int n, float *y, const uint32_t *word, const vec *table, size_t k,
    size_t row0, size_t row1, size_t c0, size_t last, bool first)
{
    for (size_t i = row0; i < row1; i++) {
        float *to = y + i * k;
        const size_t bit = word[i];
        vec sum[BITS_VECTORS] = {0};
        if (!first) {
            for (int v = 0; v < n - 1; v++)
                sum[v] = load(to + c0 + v * WIDTH);
            sum[n - 1] = load(to + last);
        }
        int shift = 0, from = 0;
#pragma GCC unroll 8
        for (int g = 0; g < BITS_GROUPS; g++) {
            const int sums = 1 << bits_group[g];
            const vec *t = table + (bit >> shift & (size_t)(sums - 1)) * BITS_VECTORS;
            ONE_ADDRESS(t);
            for (int v = 0; v < n; v++)
                sum[v] += t[from + v];
            from += sums * BITS_VECTORS;
            shift += bits_group[g];
        }
        for (int v = 0; v < n - 1; v++)
            store(to + c0 + v * WIDTH, sum[v]);
        store(to + last, sum[n - 1]);
    }
}

/* y[i][c] *= r[i] for columns [c0, c1); r may be NULL: ones */
INLINE void bits_scale(
    float *y, size_t k, const float *r, size_t row0, size_t row1, size_t c0, size_t c1)
{
    for (size_t i = row0; r && i < row1; i++)
        for (size_t c = c0; c < c1; c++)
            y[i * k + c] *= r[i];
}

INLINE void bits_tile(int n, float *y, const uint32_t *word, size_t n_rows, const float *x,
    size_t n_x, size_t k, const float *s, size_t row0, size_t row1, size_t c0, size_t last)
{
    vec table[BITS_SUMS * BITS_VECTORS];
    bits_table(n, table, x, 0, n_x, k, s, c0, last, 0);
    bits_rows(n, y, word, table, k, row0, row1, c0, last, true);
    for (size_t j0 = 32; j0 < n_x; j0 += 32) {
        word += n_rows;
        bits_table(n, table, x, j0, n_x, k, s, c0, last, 0);
        bits_rows(n, y, word, table, k, row0, row1, c0, last, false);
    }
}

/* Fewer than WIDTH columns; apart from the rest, which it would slow down inlined. Sums are
 * kept in whole vectors beside y: the next row's would wait for the last one's, were both
 * parts of a cache line. */
static __attribute__((noinline)) void bits_narrow(float *y, const uint32_t *word,
    size_t n_rows, const float *x, size_t n_x, size_t k, const float *r, const float *s,
    size_t row0, size_t row1, size_t c0, size_t part)
{
    enum { ROWS = 256 };
    vec table[BITS_SUMS * BITS_VECTORS], sum[ROWS];
    for (size_t i0 = row0; i0 < row1; i0 += ROWS) {
        const size_t rows = row1 - i0 < ROWS ? row1 - i0 : ROWS;
        const uint32_t *at = word + i0;
        for (size_t j0 = 0; j0 < n_x; j0 += 32, at += n_rows) {
            bits_table(1, table, x, j0, n_x, k, s, c0, c0, part);
            bits_rows(1, (float *)sum, at, table, WIDTH, 0, rows, 0, 0, j0 == 0);
        }
        for (size_t i = 0; i < rows; i++)
            store_part(y + (i0 + i) * k + c0, sum[i] * splat(r ? r[i0 + i] : 1.0f), part);
    }
}

#define BITS_CASE(n) \
    case n: \
        bits_tile(n, y, word, n_rows, x, n_x, k, s, row0, row1, c, end - WIDTH); \
        break;

static void bits(float *y, const uint32_t *word, size_t n_rows, const float *x, size_t n_x,
    size_t k, const float *r, const float *s, size_t row0, size_t row1, size_t c0, size_t c1)
{
    for (size_t c = c0; c < c1; c += BITS_COLUMNS) {
        const size_t end = c + BITS_COLUMNS < c1 ? c + BITS_COLUMNS : c1;
#if WIDTH == 16 /* half a vector is a whole one of the other set */
        if (end - c <= 8) {
            graphss_i_kernels_avx2.bits(y, word, n_rows, x, n_x, k, r, s, row0, row1, c, end);
            return;
        }
#endif
        if (end - c < WIDTH) {
            bits_narrow(y, word, n_rows, x, n_x, k, r, s, row0, row1, c, end - c);
            return;
        }
        switch ((end - c + WIDTH - 1) / WIDTH) {
            BITS_CASE(1)
            BITS_CASE(2)
#if WIDTH != 8
            BITS_CASE(3)
            BITS_CASE(4)
#endif
        }
        bits_scale(y, k, r, row0, row1, c, end);
    }
}

/* ---- dense times dense, where a sparse matrix has entries ---- */

INLINE float sum_lanes(vec v)
{
    typedef float quad __attribute__((vector_size(16)));
    const union {
        vec whole;
        quad part[WIDTH / 4];
    } u = {v};
    quad s = u.part[0];
    for (int j = 1; j < WIDTH / 4; j++)
        s += u.part[j];
    return (s[0] + s[2]) + (s[1] + s[3]);
}

/* out[e] += a . b[column[e]] for n entries; n is a constant where this is inlined. Odd and
 * even vectors are summed apart, to keep 2 n sums under way. */
INLINE void dot_rows(
    int n, float *out, const int32_t *column, const float *a, const float *b, size_t k)
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
    LEAVE_TO_AVX2(sddmm, k, k, out, offset, column, a, b, k, row0, row1);
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

/* Not a number stays not a number, so that a diverging training is noticed. */
INLINE float positive(float a)
{
    return a <= 0 ? 0 : a;
}

static void bias_relu(
    float *y, const float *x, const float *bias, size_t k, size_t row0, size_t row1)
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

/* By hand: gcc makes branches of a choice between a product and 0. */
static void relu_backward(float *gx, const float *gy, const float *y, size_t n, float scale)
{
    typedef int32_t numbers __attribute__((vector_size(4 * WIDTH)));
    size_t j = 0;
    for (; j + WIDTH <= n; j += WIDTH) {
        const vec g = load(gy + j) * scale;
        store(gx + j, (vec)((numbers)g & (load(y + j) > 0)));
    }
    for (; j < n; j++)
        gx[j] = y[j] > 0 ? scale * gy[j] : 0;
}

static void axpy(float *y, const float *x, float a, size_t n)
{
    INDEPENDENT
    for (size_t j = 0; j < n; j++)
        y[j] += a * x[j];
}

/* n vectors of columns at a time, summed in registers; n is a constant where inlined. */
INLINE void column_sums_tile(
    int n, float *out, const float *x, size_t k, size_t row0, size_t row1, size_t c0)
{
    vec sum[4] = {0};
    for (size_t i = row0; i < row1; i++)
        for (int v = 0; v < n; v++)
            sum[v] += load(x + i * k + c0 + v * WIDTH);
    for (int v = 0; v < n; v++)
        store(out + c0 + v * WIDTH, sum[v]);
}

static void column_sums(float *out, const float *x, size_t k, size_t row0, size_t row1)
{
    size_t c = 0;
    for (; c + 4 * WIDTH <= k; c += 4 * WIDTH)
        column_sums_tile(4, out, x, k, row0, row1, c);
    for (; c + WIDTH <= k; c += WIDTH)
        column_sums_tile(1, out, x, k, row0, row1, c);
    for (; c < k; c++) {
        float sum = 0;
        for (size_t i = row0; i < row1; i++)
            sum += x[i * k + c];
        out[c] = sum;
    }
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

/* Spreads the key, and the bits of the counter above 32, over both words. */
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

/* The same hash in all lanes of a vector. */
INLINE lanes hash_lanes(hash_key key, lanes counter)
{
    lanes h = counter * 0x9e3779b1u + key.first;
    h = (h ^ (h >> 16)) * 0x7feb352du;
    h += key.second;
    h = (h ^ (h >> 15)) * 0x846ca68bu;
    return h ^ (h >> 16);
}

/* x where a lane of numbers below 2^17 reaches the threshold, else 0. */
INLINE vec where_at_least(vec x, lanes number, uint32_t threshold)
{
    typedef int32_t numbers __attribute__((vector_size(4 * WIDTH)));
    return (vec)((numbers)x & ((numbers)number >= (int32_t)threshold));
}

INLINE lanes lane_numbers(void)
{
    lanes lane;
    for (uint32_t l = 0; l < WIDTH; l++)
        lane[l] = l;
    return lane;
}

static void dropout(float *y, const float *x, size_t j0, size_t j1, uint64_t key,
    uint32_t threshold, float scale)
{
    const lanes lane = lane_numbers();
    size_t j = j0;
    while (j < j1) {
        const uint64_t first = (uint64_t)j / 32 * 16; /* counter of lane 0 */
        const hash_key spread = spread_key(key, first >> 32);
        const uint32_t counter = (uint32_t)first;
        if (j % 32 == 0 && j + 32 <= j1) {
            for (uint32_t l = 0; l < 16; l += WIDTH) {
                const lanes h = hash_lanes(spread, lane + (counter + l));
                const vec low = load(x + j + l) * scale, high = load(x + j + 16 + l) * scale;
                store(y + j + l, where_at_least(low, h & 0xffff, threshold));
                store(y + j + 16 + l, where_at_least(high, h >> 16, threshold));
            }
            j += 32;
            continue;
        }
        const uint32_t l = j % 16, h = hash(spread, counter + l);
        y[j] = (j % 32 < 16 ? h & 0xffff : h >> 16) >= threshold ? x[j] * scale : 0;
        j++;
    }
}

static void dropout_bits(
    uint32_t *y, const uint32_t *x, size_t q0, size_t q1, uint64_t key, uint32_t threshold)
{
    const lanes lane = lane_numbers();
    for (size_t q = q0; q < q1; q++) {
        const uint64_t first = (uint64_t)q * 16;
        const hash_key spread = spread_key(key, first >> 32);
        uint32_t kept = 0;
        for (uint32_t l = 0; l < 16; l += WIDTH) {
            const lanes h = hash_lanes(spread, lane + ((uint32_t)first + l));
            kept |= at_least(h & 0xffff, threshold) << l;
            kept |= at_least(h >> 16, threshold) << (16 + l);
        }
        y[q] = (x ? x[q] : UINT32_MAX) & kept;
    }
}

/* ---- bits that two rows have in common ---- */

static void common_bits(uint32_t *out, const uint64_t *a, const uint64_t *b, const size_t *at,
    size_t n, size_t width)
{
    enum { SIDE = 4 }; /* rows at once, which share the words of a */
    size_t j = 0;
    for (; j + SIDE <= n; j += SIDE) {
        int sum[SIDE] = {0};
        for (size_t w = 0; w < width; w++)
            for (size_t i = 0; i < SIDE; i++)
                sum[i] += __builtin_popcountll(a[w] & b[at[j + i] * width + w]);
        for (size_t i = 0; i < SIDE; i++)
            out[j + i] = (uint32_t)sum[i];
    }
    for (; j < n; j++) {
        int sum = 0;
        for (size_t w = 0; w < width; w++)
            sum += __builtin_popcountll(a[w] & b[at[j] * width + w]);
        out[j] = (uint32_t)sum;
    }
}

#include "kernels/kernels_gemm.h"
#include "kernels/kernels_sixteen.h"

const graphss_i_kernels KERNELS = {
    .name = KERNELS_NAME,
    .width = WIDTH,
    .spmm = spmm,
    .spmm_both = spmm_both,
    .spmm_transposed = spmm_transposed,
    .spmm_block = spmm_block,
    .bits = bits,
    .sddmm = sddmm,
    .gemm = gemm,
    .adam = adam,
    .bias_relu = bias_relu,
    .relu_backward = relu_backward,
    .column_sums = column_sums,
    .dropout = dropout,
    .dropout_bits = dropout_bits,
    .axpy = axpy,
    .softmax = softmax,
    .choice = choice,
    .choice_bend = choice_bend,
    .choices = choices,
    .common_bits = common_bits,
    .row_times = row_times,
};
