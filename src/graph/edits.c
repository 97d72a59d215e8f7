/* edits.c - editable rows over a shared base.
 *
 * Changed rows are carved from chunks that are only ever given back whole: an attack edits
 * a handful of rows and then starts over. A row that outgrows its room moves, and its old
 * place is lost until the next reset; doubling bounds the loss. */
#include "graph/edits.h"
#include <limits.h>
#include <string.h>

typedef struct graphss_i_rows_chunk chunk_type;
struct graphss_i_rows_chunk {
    chunk_type *next;
    int32_t *item; /* [room] */
    size_t used, room;
};

enum { SMALLEST_CHUNK = 16384, SPARE = 8 };

static graphss_status add_chunk(graphss_ctx *ctx, graphss_i_rows *rows, size_t room)
{
    chunk_type *c = graphss_i_calloc(ctx, 1, sizeof *c);
    if (!c)
        return GRAPHSS_ERR_NOMEM;
    c->item = graphss_i_alloc(ctx, room, sizeof *c->item);
    if (!c->item) {
        graphss_release(ctx, c);
        return GRAPHSS_ERR_NOMEM;
    }
    c->room = room;
    c->next = rows->chunk;
    rows->chunk = c;
    return GRAPHSS_OK;
}

static int32_t *carve(graphss_ctx *ctx, graphss_i_rows *rows, size_t numbers)
{
    chunk_type *c = rows->chunk;
    while (c && c->room - c->used < numbers)
        c = c->next;
    if (!c) {
        const size_t room = numbers > SMALLEST_CHUNK ? numbers : SMALLEST_CHUNK;
        if (!ctx || add_chunk(ctx, rows, room))
            return NULL;
        c = rows->chunk;
    }
    int32_t *item = c->item + c->used;
    c->used += numbers;
    return item;
}

graphss_status graphss_i_rows_init(
    graphss_ctx *ctx, graphss_i_rows *rows, const graphss_graph *base)
{
    const size_t n = base->n_nodes;
    graphss_i_rows made = {.n = n, .base = base};
    made.item = graphss_i_alloc(ctx, n, sizeof *made.item);
    made.length = graphss_i_alloc(ctx, n, sizeof *made.length);
    made.room = graphss_i_calloc(ctx, n, sizeof *made.room);
    made.changed = graphss_i_alloc(ctx, n, sizeof *made.changed);
    if (!made.item || !made.length || !made.room || !made.changed) {
        graphss_i_rows_destroy(ctx, &made);
        return GRAPHSS_ERR_NOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        made.item[i] = base->target + base->offset[i];
        made.length[i] = (int32_t)graphss_graph_degree(base, i);
    }
    *rows = made;
    return GRAPHSS_OK;
}

void graphss_i_rows_destroy(graphss_ctx *ctx, graphss_i_rows *rows)
{
    while (rows->chunk) {
        chunk_type *next = rows->chunk->next;
        graphss_release(ctx, rows->chunk->item);
        graphss_release(ctx, rows->chunk);
        rows->chunk = next;
    }
    graphss_release(ctx, rows->changed);
    graphss_release(ctx, rows->room);
    graphss_release(ctx, rows->length);
    graphss_release(ctx, rows->item);
    *rows = (graphss_i_rows){0};
}

/* The position of x in the row, or where it would be inserted. */
static int32_t position_of(const graphss_i_rows *rows, size_t i, int32_t x)
{
    const int32_t *item = rows->item[i];
    int32_t low = 0, high = rows->length[i];
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (item[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool graphss_i_rows_has(const graphss_i_rows *rows, size_t i, int32_t x)
{
    const int32_t at = position_of(rows, i, x);
    return at < rows->length[i] && rows->item[i][at] == x;
}

/* Makes the row writable, with room for `wanted` numbers. */
static int32_t *writable(graphss_ctx *ctx, graphss_i_rows *rows, size_t i, int32_t wanted)
{
    if (rows->room[i] > 0 && rows->room[i] >= wanted)
        return rows->item[i];
    int32_t room = wanted;
    if (wanted < INT32_MAX / 2)
        room += rows->room[i] ? wanted : SPARE;
    int32_t *own = carve(ctx, rows, (size_t)room);
    if (!own)
        return NULL;
    if (rows->length[i])
        memcpy(own, rows->item[i], (size_t)rows->length[i] * sizeof *own);
    if (rows->room[i] == 0)
        rows->changed[rows->n_changed++] = (int32_t)i;
    rows->item[i] = own;
    rows->room[i] = room;
    return own;
}

bool graphss_i_rows_insert(graphss_ctx *ctx, graphss_i_rows *rows, size_t i, int32_t x)
{
    const int32_t at = position_of(rows, i, x), n = rows->length[i];
    int32_t *item = writable(ctx, rows, i, n + 1);
    if (!item)
        return false;
    memmove(item + at + 1, item + at, (size_t)(n - at) * sizeof *item);
    item[at] = x;
    rows->length[i] = n + 1;
    return true;
}

bool graphss_i_rows_remove(graphss_ctx *ctx, graphss_i_rows *rows, size_t i, int32_t x)
{
    const int32_t at = position_of(rows, i, x), n = rows->length[i];
    int32_t *item = writable(ctx, rows, i, n);
    if (!item)
        return false;
    memmove(item + at, item + at + 1, (size_t)(n - at - 1) * sizeof *item);
    rows->length[i] = n - 1;
    return true;
}

bool graphss_i_rows_flip_edge(graphss_ctx *ctx, graphss_i_rows *rows, int32_t a, int32_t b)
{
    /* Both rows are made writable first, so that the second step cannot fail. */
    const bool there = graphss_i_rows_has(rows, (size_t)a, b);
    const int32_t more = there ? 0 : 1;
    if (!writable(ctx, rows, (size_t)a, rows->length[a] + more) ||
        !writable(ctx, rows, (size_t)b, rows->length[b] + more))
        return false;
    if (there) {
        graphss_i_rows_remove(NULL, rows, (size_t)a, b);
        graphss_i_rows_remove(NULL, rows, (size_t)b, a);
    } else {
        graphss_i_rows_insert(NULL, rows, (size_t)a, b);
        graphss_i_rows_insert(NULL, rows, (size_t)b, a);
    }
    return true;
}

graphss_status graphss_i_rows_reserve(graphss_ctx *ctx, graphss_i_rows *rows, size_t numbers)
{
    for (const chunk_type *c = rows->chunk; c; c = c->next)
        if (c->room - c->used >= numbers)
            return GRAPHSS_OK;
    return add_chunk(ctx, rows, numbers);
}

void graphss_i_rows_reset(graphss_i_rows *rows)
{
    for (size_t c = 0; c < rows->n_changed; c++) {
        const size_t i = (size_t)rows->changed[c];
        rows->item[i] = rows->base->target + rows->base->offset[i];
        rows->length[i] = (int32_t)graphss_graph_degree(rows->base, i);
        rows->room[i] = 0;
    }
    rows->n_changed = 0;
    for (chunk_type *c = rows->chunk; c; c = c->next)
        c->used = 0;
}
