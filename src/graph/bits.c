/* bits.c - making, transposing and multiplying bit matrices. Work is cut by shape alone. */
#include "graph/bits.h"
#include "kernels/kernels.h"
#include <string.h>

enum {
    STRIP = 64,  /* columns of y whose tables fit the first-level cache */
    MOST = 2048, /* rows of y in a task: their strip stays in the second-level cache */
    LEAST = 256, /* with fewer, making the tables shows */
    TASKS = 4    /* wanted for a few threads */
};

size_t graphss_i_bits_words(size_t n_rows, size_t n_cols)
{
    return n_rows * ((n_cols + 31) / 32);
}

bool graphss_i_bits_suit(float *r, const graphss_i_csr *m)
{
    for (size_t i = 0; i < m->n_rows; i++) {
        const int64_t from = m->offset[i], to = m->offset[i + 1];
        r[i] = from < to && m->value ? m->value[from] : 1.0f;
        for (int64_t e = from; e < to && m->value; e++)
            if (m->value[e] != r[i])
                return false;
    }
    return true;
}

graphss_status graphss_i_bits_make(
    graphss_ctx *ctx, graphss_i_bits *out, const graphss_i_csr *m)
{
    const size_t n = m->n_rows;
    uint32_t *word = graphss_i_calloc(ctx, graphss_i_bits_words(n, m->n_cols), sizeof *word);
    if (!word)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++) {
            const uint32_t j = (uint32_t)m->column[e];
            word[j / 32 * n + i] |= UINT32_C(1) << j % 32;
        }
    *out = (graphss_i_bits){.n_rows = n, .n_cols = m->n_cols, .word = word};
    return GRAPHSS_OK;
}

void graphss_i_bits_destroy(graphss_ctx *ctx, graphss_i_bits *b)
{
    graphss_release(ctx, b->word);
    *b = (graphss_i_bits){0};
}

/* ---- transpose: squares of 32 by 32 bits, which lie together in both ---- */

/* Bit c of a[r] goes to bit r of a[c]: swap the off-diagonal halves, then quarters, ... */
static void transpose_square(uint32_t a[32])
{
    uint32_t mask = 0x0000ffff;
    for (unsigned half = 16; half; half >>= 1, mask ^= mask << half)
        for (unsigned low = 0; low < 32; low = (low + half + 1) & ~half) {
            const uint32_t swap = (a[low] >> half ^ a[low + half]) & mask;
            a[low] ^= swap << half;
            a[low + half] ^= swap;
        }
}

typedef struct transposition {
    graphss_i_bits *out;
    const graphss_i_bits *in;
    size_t first; /* row */
} transposition;

/* One task is 32 rows. */
static void transpose_rows(void *arg, size_t task)
{
    const transposition *t = arg;
    const size_t n = t->in->n_rows, d = t->in->n_cols, i0 = t->first + 32 * task;
    const size_t rows = n - i0 < 32 ? n - i0 : 32;
    for (size_t j0 = 0; j0 < d; j0 += 32) {
        const size_t columns = d - j0 < 32 ? d - j0 : 32;
        uint32_t square[32] = {0};
        memcpy(square, t->in->word + j0 / 32 * n + i0, rows * sizeof *square);
        transpose_square(square);
        memcpy(t->out->word + i0 / 32 * d + j0, square, columns * sizeof *square);
    }
}

void graphss_i_bits_transpose(
    graphss_ctx *ctx, graphss_i_bits *out, const graphss_i_bits *b, size_t from, size_t to)
{
    *out = (graphss_i_bits){b->n_cols, b->n_rows, out->word, b->s, b->r};
    transposition t = {out, b, from};
    graphss_i_parallel(ctx, (to - from + 31) / 32, transpose_rows, &t);
}

/* ---- product ---- */

typedef struct product {
    const graphss_i_kernels *kernels;
    const graphss_i_bits *b;
    float *y;
    const float *x;
    size_t k, from, rows, runs, strips;
} product;

/* Cut p of `pieces` even pieces of n, at multiples of unit. */
static size_t cut(size_t n, size_t unit, size_t p, size_t pieces)
{
    const size_t at = (n + unit - 1) / unit * p / pieces * unit;
    return at < n ? at : n;
}

static void multiply_task(void *arg, size_t task)
{
    const product *p = arg;
    const graphss_i_bits *b = p->b;
    const size_t run = task / p->strips, strip = task % p->strips;
    p->kernels->bits(p->y, b->word, b->n_rows, p->x, b->n_cols, p->k, b->r, b->s,
        p->from + cut(p->rows, 1, run, p->runs), p->from + cut(p->rows, 1, run + 1, p->runs),
        cut(p->k, 16, strip, p->strips), cut(p->k, 16, strip + 1, p->strips));
}

void graphss_i_bits_multiply(graphss_ctx *ctx, float *y, const graphss_i_bits *b, size_t from,
    size_t to, const float *x, size_t k)
{
    const size_t rows = to - from;
    if (rows == 0 || k == 0)
        return;
    if (b->n_cols == 0) {
        memset(y + from * k, 0, rows * k * sizeof *y);
        return;
    }
    product p = {.kernels = graphss_i_ctx_kernels(ctx),
        .b = b,
        .y = y,
        .x = x,
        .k = k,
        .from = from,
        .rows = rows};
    p.strips = (k + STRIP - 1) / STRIP;
    p.runs = (rows + MOST - 1) / MOST;
    while (p.runs * p.strips < TASKS && rows / (2 * p.runs) >= LEAST)
        p.runs *= 2;
    graphss_i_parallel(ctx, p.runs * p.strips, multiply_task, &p);
}
