/* live_rows.c - see live_rows.h. */
#include "live/live_rows.h"
#include <string.h>

enum { LEAST_ROOM = 4, LEAST_BLOCK = 1024 };

void graphss_i_live_rows_destroy(graphss_ctx *ctx, graphss_i_live_rows *rows)
{
    graphss_release(ctx, rows->row);
    graphss_release(ctx, rows->key);
    graphss_release(ctx, rows->payload);
    *rows = (graphss_i_live_rows){.has_payload = rows->has_payload};
}

graphss_status graphss_i_live_rows_extend(
    graphss_ctx *ctx, graphss_i_live_rows *r, size_t n_rows)
{
    if (n_rows > r->rows_room) {
        const size_t room = n_rows + n_rows / 2 + LEAST_ROOM;
        graphss_i_live_row *row = graphss_i_grow(ctx, r->row, r->n_rows, room, sizeof *row);
        if (!row)
            return GRAPHSS_ERR_NOMEM;
        r->row = row;
        r->rows_room = room;
    }
    for (; r->n_rows < n_rows; r->n_rows++)
        r->row[r->n_rows] = (graphss_i_live_row){0};
    return GRAPHSS_OK;
}

/* The block without holes, with room for `more` entries. Rows keep the room they have. */
static graphss_status pack(graphss_ctx *ctx, graphss_i_live_rows *r, size_t more)
{
    size_t need = more;
    for (size_t i = 0; i < r->n_rows; i++)
        need += (size_t)r->row[i].room;
    const size_t room = need + need / 2 + LEAST_BLOCK;
    int32_t *key = graphss_i_alloc(ctx, room, sizeof *key);
    uint32_t *payload = graphss_i_alloc(ctx, r->has_payload ? room : 0, sizeof *payload);
    if (!key || !payload) {
        graphss_release(ctx, key);
        graphss_release(ctx, payload);
        return GRAPHSS_ERR_NOMEM;
    }
    size_t at = 0;
    for (size_t i = 0; i < r->n_rows; i++) {
        graphss_i_live_row *row = &r->row[i];
        const size_t n = (size_t)row->n;
        if (n) {
            memcpy(key + at, r->key + row->start, n * sizeof *key);
            if (r->has_payload)
                memcpy(payload + at, r->payload + row->start, n * sizeof *payload);
        }
        row->start = (int64_t)at;
        at += (size_t)row->room;
    }
    graphss_release(ctx, r->key);
    graphss_release(ctx, r->payload);
    r->key = key;
    r->payload = payload;
    r->used = at;
    r->room = room;
    return GRAPHSS_OK;
}

/* Gives a row room for n entries; its content is kept. */
static graphss_status reserve(graphss_ctx *ctx, graphss_i_live_rows *r, size_t i, size_t n)
{
    graphss_i_live_row *row = &r->row[i];
    if (n <= (size_t)row->room)
        return GRAPHSS_OK;
    const size_t room = n < LEAST_ROOM ? LEAST_ROOM : n + n / 2;
    if (room > INT32_MAX)
        return graphss_i_fail(ctx, GRAPHSS_ERR_LIMIT, "a row of %zu entries is too long", n);
    if (!r->key || r->used + room > r->room) {
        const graphss_status st = pack(ctx, r, room);
        if (st)
            return st;
    }
    if (row->n) {
        memcpy(r->key + r->used, r->key + row->start, (size_t)row->n * sizeof *r->key);
        if (r->has_payload)
            memcpy(r->payload + r->used, r->payload + row->start,
                (size_t)row->n * sizeof *r->payload);
    }
    row->start = (int64_t)r->used;
    row->room = (int32_t)room;
    r->used += room;
    return GRAPHSS_OK;
}

graphss_status graphss_i_live_rows_set(graphss_ctx *ctx, graphss_i_live_rows *r, size_t i,
    const int32_t *key, const uint32_t *payload, size_t n)
{
    const graphss_status st = reserve(ctx, r, i, n);
    if (st)
        return st;
    r->entries += n - (size_t)r->row[i].n;
    r->row[i].n = (int32_t)n;
    if (n == 0)
        return GRAPHSS_OK;
    memcpy(r->key + r->row[i].start, key, n * sizeof *key);
    if (r->has_payload)
        memcpy(r->payload + r->row[i].start, payload, n * sizeof *payload);
    return GRAPHSS_OK;
}

/* The first position in the row whose key is not less. */
static size_t place_of(const graphss_i_live_rows *r, size_t i, int32_t key)
{
    const int32_t *k = r->row[i].n ? graphss_i_live_keys(r, i) : NULL;
    size_t low = 0, high = (size_t)r->row[i].n;
    while (low < high) {
        const size_t mid = (low + high) / 2;
        if (k[mid] < key)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

int64_t graphss_i_live_rows_at(const graphss_i_live_rows *r, size_t i, int32_t key)
{
    const size_t at = place_of(r, i, key);
    return at < (size_t)r->row[i].n && graphss_i_live_keys(r, i)[at] == key ? (int64_t)at : -1;
}

graphss_status graphss_i_live_rows_put(graphss_ctx *ctx, graphss_i_live_rows *r, size_t i,
    int32_t key, uint32_t payload, bool *added)
{
    const size_t at = place_of(r, i, key), n = (size_t)r->row[i].n;
    *added = at == n || graphss_i_live_keys(r, i)[at] != key;
    if (*added) {
        const graphss_status st = reserve(ctx, r, i, n + 1);
        if (st)
            return st;
        int32_t *k = r->key + r->row[i].start;
        memmove(k + at + 1, k + at, (n - at) * sizeof *k);
        k[at] = key;
        if (r->has_payload) {
            uint32_t *p = r->payload + r->row[i].start;
            memmove(p + at + 1, p + at, (n - at) * sizeof *p);
        }
        r->row[i].n++;
        r->entries++;
    }
    if (r->has_payload)
        r->payload[r->row[i].start + (int64_t)at] = payload;
    return GRAPHSS_OK;
}

bool graphss_i_live_rows_drop(graphss_i_live_rows *r, size_t i, int32_t key)
{
    const int64_t at = graphss_i_live_rows_at(r, i, key);
    if (at < 0)
        return false;
    const size_t behind = (size_t)(r->row[i].n - at - 1);
    int32_t *k = r->key + r->row[i].start + at;
    memmove(k, k + 1, behind * sizeof *k);
    if (r->has_payload) {
        uint32_t *p = r->payload + r->row[i].start + at;
        memmove(p, p + 1, behind * sizeof *p);
    }
    r->row[i].n--;
    r->entries--;
    return true;
}

size_t graphss_i_live_rows_bytes(const graphss_i_live_rows *r)
{
    return r->rows_room * sizeof *r->row + r->room * sizeof *r->key * (r->has_payload ? 2 : 1);
}
