/* edits.h - rows of ascending numbers that can be edited: a graph under attack, or the nodes
 * that hold a word.
 *
 * The rows begin as those of a graph, which is shared and never written. A row is copied
 * the first time it changes, so making the struct is O(n) and taking all edits back is
 * O(rows changed). Inserting and removing are O(length of the row). */
#ifndef GRAPHSS_EDITS_H
#define GRAPHSS_EDITS_H

#include "base/base.h"
#include <graphss/graph.h>

typedef struct graphss_i_rows {
    size_t n;
    const graphss_graph *base;
    int32_t **item;   /* [n] ascending; to be read only, until that row changes */
    int32_t *length;  /* [n] */
    int32_t *room;    /* [n] 0: still the base's */
    int32_t *changed; /* [n] rows that are not the base's */
    size_t n_changed;
    struct graphss_i_rows_chunk *chunk; /* where changed rows live, newest first */
} graphss_i_rows;

/* base is borrowed for the life of the rows. Its numbers need not be below n. */
graphss_status graphss_i_rows_init(
    graphss_ctx *ctx, graphss_i_rows *rows, const graphss_graph *base);
void graphss_i_rows_destroy(graphss_ctx *ctx, graphss_i_rows *rows);

bool graphss_i_rows_has(const graphss_i_rows *rows, size_t i, int32_t x);
/* Both change nothing and return false if there is no room left and ctx is NULL (as in a
 * parallel task, which must not allocate) or has no memory. insert: x must be absent. remove:
 * x must be present. */
bool graphss_i_rows_insert(graphss_ctx *ctx, graphss_i_rows *rows, size_t i, int32_t x);
bool graphss_i_rows_remove(graphss_ctx *ctx, graphss_i_rows *rows, size_t i, int32_t x);
/* Adds or removes the edge between a and b. false: as above, and neither row is changed. */
bool graphss_i_rows_flip_edge(graphss_ctx *ctx, graphss_i_rows *rows, int32_t a, int32_t b);

/* Reserves room for `items` numbers in rows yet to change. */
graphss_status graphss_i_rows_reserve(graphss_ctx *ctx, graphss_i_rows *rows, size_t numbers);
/* Back to the base; the room is kept. */
void graphss_i_rows_reset(graphss_i_rows *rows);

#endif
