/* drop.c - dropout whose draws are hashes of global numbers.
 *
 * The kernels hash the position of a number in its matrix. A rank has some rows of that
 * matrix, so each run of consecutive rows is dropped at its position in the whole matrix: the
 * same numbers are dropped on any number of ranks. A kernel reads only the numbers it is asked
 * for, so an array may begin far below them. */
#include "graph/part.h"
#include "models/tape/tape_private.h"

/* NULL: the numbers of this rank are those of the whole graph. */
static const graphss_i_part *part_of(const graphss_i_tape *t)
{
    const graphss_i_part *part = graphss_i_ctx_part(t->ctx);
    return part && part->n_own < part->n_all ? part : NULL;
}

/* The array whose element at + shift is element at of this one. */
static float *shifted(const float *x, uint64_t shift)
{
    return (float *)((uintptr_t)x - (uintptr_t)(shift * sizeof *x));
}

static void drop(const graphss_i_tape *t, const graphss_i_node *node, float *out,
    const float *x, size_t from, size_t to, uint64_t shift)
{
    graphss_i_tape_kernels(t)->dropout(shifted(out, shift), shifted(x, shift), from + shift,
        to + shift, t->key ^ node->salt, node->threshold, node->factor);
}

void graphss_i_tape_drop(const graphss_i_tape *t, const graphss_i_node *node, float *out,
    const float *x, size_t from, size_t to)
{
    const graphss_i_part *part = part_of(t);
    const size_t cols = node->cols;
    if (!part) {
        drop(t, node, out, x, from, to, 0);
        return;
    }
    const size_t rows = (to + cols - 1) / cols; /* stops at the last requested row */
    for (size_t j = from; j < to;) {
        const size_t row = j / cols;
        const size_t next = graphss_i_part_run(part, row, rows) * cols;
        const size_t end = next < to ? next : to;
        drop(t, node, out, x, j, end, ((uint64_t)part->id[row] - row) * cols);
        j = end;
    }
}

/* The row of a stored entry. */
static size_t row_of(const graphss_i_csr *m, size_t entry)
{
    size_t low = 0, high = m->n_rows; /* the last row that begins at or before it */
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if ((size_t)m->offset[middle] <= entry)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* On a rank, consecutive entries are drawn at their positions in the whole matrix. */
static void drop_stored_part(const graphss_i_tape *t, const graphss_i_node *node, float *out,
    const float *x, size_t from, size_t to)
{
    const graphss_i_part *part = part_of(t);
    const graphss_i_csr *m = node->m;
    for (size_t j = from; j < to;) {
        size_t row = row_of(m, j);
        const int64_t shift = part->entry[row] - m->offset[row];
        while (row + 1 < m->n_rows && (size_t)m->offset[row + 1] < to &&
               part->entry[row + 1] - m->offset[row + 1] == shift)
            row++;
        const size_t next = (size_t)m->offset[row + 1], end = next < to ? next : to;
        drop(t, node, out, x, j, end, (uint64_t)shift);
        j = end;
    }
}

void graphss_i_tape_drop_stored(const graphss_i_tape *t, const graphss_i_node *node,
    uint32_t *kept, size_t from, size_t to)
{
    enum { BITS = 32 };
    const size_t entries = (size_t)node->m->offset[node->m->n_rows];
    float ones[BITS];
    if (!part_of(t)) {
        graphss_i_tape_kernels(t)->dropout_bits(
            kept, NULL, from, to, t->key ^ node->salt, node->threshold);
        return;
    }
    for (size_t b = 0; b < BITS; b++)
        ones[b] = 1;
    for (size_t w = from; w < to; w++) {
        const size_t first = w * BITS, end = first + BITS < entries ? first + BITS : entries;
        float drawn[BITS] = {0};
        drop_stored_part(t, node, shifted(drawn, first), shifted(ones, first), first, end);
        kept[w] = 0;
        for (size_t b = 0; b < BITS; b++)
            kept[w] |= (uint32_t)(drawn[b] != 0) << b;
    }
}

void graphss_i_tape_drop_words(const graphss_i_tape *t, const graphss_i_node *node,
    uint32_t *out, const uint32_t *x, size_t word, size_t from, size_t to)
{
    const graphss_i_part *part = part_of(t);
    const size_t first = word * node->rows;
    for (size_t row = from; row < to;) {
        const size_t end = part ? graphss_i_part_run(part, row, to) : to;
        const uint64_t shift =
            part ? word * part->n_all + (uint64_t)part->id[row] - (first + row) : 0;
        const uintptr_t bytes = (uintptr_t)(shift * sizeof *x);
        graphss_i_tape_kernels(t)->dropout_bits((uint32_t *)((uintptr_t)out - bytes),
            (const uint32_t *)((uintptr_t)x - bytes), first + row + shift, first + end + shift,
            t->key ^ node->salt, node->threshold);
        row = end;
    }
}
