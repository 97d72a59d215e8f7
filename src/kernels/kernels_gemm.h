/* kernels_gemm.h - dense times dense, part of kernels_body.h.
 *
 * A tile of the result, some rows by one or two vectors, is summed in registers over all p.
 * Numbers of a are read where they are, whichever way it lies; rows of b come as a panel, one
 * after the other, which the caller packs and which stays in the first-level cache. Each
 * number is its terms in the order of p, wherever it stands in a tile: same bits for any cut
 * of rows and columns. */

enum {
    GEMM_ROWS = WIDTH == 16 ? 12 : 6, /* by two vectors, in most registers */
    GEMM_ROWS_NARROW = 12             /* by one vector: enough independent sums */
};

/* Rows of a tile, three to an address: the machine adds a stride once or twice itself. */
INLINE void gemm_tile(int rows, int n, float *c, size_t ldc, const float *a, size_t si,
    size_t sp, const float *b, size_t k, size_t part, bool add)
{
    vec sum[12][2] = {{{0}}};
    const float *at[4];
    for (int g = 0; 3 * g < rows; g++)
        at[g] = a + 3 * (size_t)g * si;
    for (size_t p = 0; p < k; p++) {
        vec right[2];
        for (int v = 0; v < n; v++)
            right[v] = load(b + v * WIDTH);
        for (int i = 0; i < rows; i++) {
            const vec left = splat(at[i / 3][(size_t)(i % 3) * si]);
            for (int v = 0; v < n; v++)
                sum[i][v] += left * right[v];
        }
        b += n * WIDTH;
        if (sp != 1) /* down a column of a, which the machine does not prefetch */
            __builtin_prefetch(at[0] + AHEAD * sp);
        for (int g = 0; 3 * g < rows; g++) {
            at[g] += sp;
            ONE_ADDRESS(at[g]);
        }
    }
    for (int i = 0; i < rows; i++, c += ldc) {
        for (int v = 0; v + 1 < n; v++)
            store(c + v * WIDTH, add ? load(c + v * WIDTH) + sum[i][v] : sum[i][v]);
        float *last = c + (n - 1) * WIDTH;
        if (part)
            store_part(
                last, add ? load_part(last, part) + sum[i][n - 1] : sum[i][n - 1], part);
        else
            store(last, add ? load(last) + sum[i][n - 1] : sum[i][n - 1]);
    }
}

/* All rows, many at a time and the last ones singly. */
INLINE void gemm_rows(int rows, int n, float *c, size_t ldc, const float *a, size_t si,
    size_t sp, const float *b, size_t m, size_t k, size_t part, bool add)
{
    size_t i = 0;
    for (; i + (size_t)rows <= m; i += (size_t)rows)
        gemm_tile(rows, n, c + i * ldc, ldc, a + i * si, si, sp, b, k, part, add);
    for (; i < m; i++)
        gemm_tile(1, n, c + i * ldc, ldc, a + i * si, si, sp, b, k, part, add);
}

static void gemm(float *c, size_t ldc, const float *a, size_t si, size_t sp, const float *b,
    size_t m, size_t n, size_t k, bool add)
{
    if (n <= WIDTH && sp == 1)
        gemm_rows(GEMM_ROWS_NARROW, 1, c, ldc, a, si, 1, b, m, k, n % WIDTH, add);
    else if (n <= WIDTH)
        gemm_rows(GEMM_ROWS_NARROW, 1, c, ldc, a, 1, sp, b, m, k, n % WIDTH, add);
    else if (sp == 1)
        gemm_rows(GEMM_ROWS, 2, c, ldc, a, si, 1, b, m, k, n % WIDTH, add);
    else
        gemm_rows(GEMM_ROWS, 2, c, ldc, a, 1, sp, b, m, k, n % WIDTH, add);
}
