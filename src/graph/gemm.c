/* gemm.c - dense products, cut into blocks by shape alone.
 *
 * A task has some rows of c. It goes through k in blocks, and packs the rows of b that meet a
 * block panel by panel: a panel is then in the first-level cache while all rows of the task
 * pass by, and a's block stays in the second. Rows of a are read where they are. The kernel
 * sums a number in the order of p, block after block, so its bits depend on n and k, not on
 * its position or on other rows.
 *
 * bench/README.md compares with oneDNN, which was used before. */
#include "graph/products.h"
#include "kernels/kernels.h"
#include <string.h>

enum {
    BLOCK = 256,     /* of p */
    PANEL = 32,      /* most columns of a panel: two vectors of sixteen */
    GRAIN = 1 << 21, /* multiply-adds of a task, about 40 us */
    LEAST_ROWS = 192 /* rows of c in a task: each task packs b again */
};

typedef struct gemm {
    const graphss_i_kernels *kernels;
    float *c;
    const float *a, *b;
    bool transposed_a, transposed_b;
    size_t m, n, k;
    float beta;
    size_t rows; /* of c in one task */
} gemm;

/* Fills panel [rows x width] with n columns of b, whose rows are `apart`; b has `left` numbers
 * from there on. Columns beyond n are not used. */
static inline void pack(float *panel, const float *b, size_t apart, size_t left, size_t rows,
    size_t n, size_t width)
{
    size_t p = 0;
    for (; p < rows && p * apart + width <= left; p++)
        memcpy(panel + p * width, b + p * apart, width * sizeof *b);
    for (; p < rows; p++) {
        memset(panel + p * width, 0, width * sizeof *b);
        memcpy(panel + p * width, b + p * apart, n * sizeof *b);
    }
}

/* Rows [p0, p0 + rows) of op(b), n columns from j0 on. */
static void pack_panel(
    float *panel, const gemm *g, size_t p0, size_t rows, size_t j0, size_t n, size_t width)
{
    const size_t at = p0 * g->n + j0, left = g->k * g->n - at;
    if (g->transposed_b) {
        memset(panel, 0, rows * width * sizeof *panel);
        for (size_t j = 0; j < n; j++)
            for (size_t p = 0; p < rows; p++)
                panel[p * width + j] = g->b[(j0 + j) * g->k + p0 + p];
    } else if (width == 16) { /* numbers the compiler knows */
        pack(panel, g->b + at, g->n, left, rows, n, 16);
    } else if (width == 8) {
        pack(panel, g->b + at, g->n, left, rows, n, 8);
    } else {
        pack(panel, g->b + at, g->n, left, rows, n, width);
    }
}

static void gemm_task(void *arg, size_t task)
{
    const gemm *g = arg;
    const size_t i0 = task * g->rows, m = g->m - i0 < g->rows ? g->m - i0 : g->rows;
    const size_t wide = 2 * g->kernels->width;
    _Alignas(64) float panel[BLOCK * PANEL];
    float *c = g->c + i0 * g->n;
    if (g->k == 0 && g->beta == 0)
        memset(c, 0, m * g->n * sizeof *c);
    for (size_t j = 0; j < m * g->n && g->beta != 0 && g->beta != 1; j++)
        c[j] *= g->beta;
    for (size_t p = 0; p < g->k; p += BLOCK) {
        const size_t k = g->k - p < BLOCK ? g->k - p : BLOCK;
        const float *a = g->a + (g->transposed_a ? i0 + p * g->m : i0 * g->k + p);
        for (size_t j = 0; j < g->n; j += wide) {
            const size_t n = g->n - j < wide ? g->n - j : wide;
            pack_panel(panel, g, p, k, j, n, n <= wide / 2 ? wide / 2 : wide);
            g->kernels->gemm(c + j, g->n, a, g->transposed_a ? 1 : g->k,
                g->transposed_a ? g->m : 1, panel, m, n, k, p > 0 || g->beta != 0);
        }
    }
}

/* Rows of c in one task. */
static size_t task_rows(size_t m, size_t n, size_t k)
{
    const size_t enough = k ? GRAIN / (n * k) + 1 : m;
    const size_t least = enough > LEAST_ROWS ? enough : LEAST_ROWS;
    size_t tasks = (m + least - 1) / least;
    if (tasks > 2)
        tasks = (tasks + 3) / 4 * 4; /* few tasks should share out evenly */
    return (m + tasks - 1) / tasks;
}

void graphss_i_gemm(graphss_ctx *ctx, float *c, const float *a, bool transposed_a,
    const float *b, bool transposed_b, size_t m, size_t n, size_t k, float beta)
{
    if (m == 0 || n == 0)
        return;
    gemm g = {graphss_i_ctx_kernels(ctx), c, a, b, transposed_a, transposed_b, m, n, k, beta,
        task_rows(m, n, k)};
    graphss_i_parallel(ctx, (m + g.rows - 1) / g.rows, gemm_task, &g);
}
