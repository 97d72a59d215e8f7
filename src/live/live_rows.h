/* live_rows.h - rows of ascending numbers that change: neighbours of nodes, features of nodes.
 *
 * All rows lie in one block. A row that outgrows its place moves to the end with room for half
 * as many again; once less than half of the block is in use it is packed. So a change costs
 * O(length of its row) in the mean, memory is at most about three times that of compressed
 * rows, and removing is as cheap as adding. */
#ifndef GRAPHSS_LIVE_ROWS_H
#define GRAPHSS_LIVE_ROWS_H

#include "base/base.h"

typedef struct graphss_i_live_row {
    int64_t start;
    int32_t n, room;
} graphss_i_live_row;

/* {0} is empty, without payload. */
typedef struct graphss_i_live_rows {
    graphss_i_live_row *row; /* [rows_room] */
    size_t n_rows, rows_room;
    int32_t *key;      /* [room] */
    uint32_t *payload; /* [room] beside it, or NULL: the bits of a float, or a time */
    size_t used, room; /* of the block; used includes holes */
    size_t entries;    /* in all rows */
    bool has_payload;
} graphss_i_live_rows;

void graphss_i_live_rows_destroy(graphss_ctx *ctx, graphss_i_live_rows *rows);
/* New empty rows up to n_rows. */
graphss_status graphss_i_live_rows_extend(
    graphss_ctx *ctx, graphss_i_live_rows *rows, size_t n_rows);
/* Replaces a row by n ascending keys; payload is NULL where the rows have none. */
graphss_status graphss_i_live_rows_set(graphss_ctx *ctx, graphss_i_live_rows *rows, size_t row,
    const int32_t *key, const uint32_t *payload, size_t n);
/* Adds a key, or replaces the payload of an existing one; *added is true if it is new. */
graphss_status graphss_i_live_rows_put(graphss_ctx *ctx, graphss_i_live_rows *rows, size_t row,
    int32_t key, uint32_t payload, bool *added);
/* True if the key was there. */
bool graphss_i_live_rows_drop(graphss_i_live_rows *rows, size_t row, int32_t key);
/* Its place in the row, or -1. */
int64_t graphss_i_live_rows_at(const graphss_i_live_rows *rows, size_t row, int32_t key);

static inline const int32_t *graphss_i_live_keys(const graphss_i_live_rows *r, size_t row)
{
    return r->key + r->row[row].start;
}
static inline const uint32_t *graphss_i_live_payload(const graphss_i_live_rows *r, size_t row)
{
    return r->payload + r->row[row].start;
}
static inline size_t graphss_i_live_length(const graphss_i_live_rows *r, size_t row)
{
    return (size_t)r->row[row].n;
}
size_t graphss_i_live_rows_bytes(const graphss_i_live_rows *rows);

#endif
