/* journal.h - what a recovery has found so far, in a folder, so that one that was stopped goes
 * on where it was.
 *
 *     graphss_i_journal_stage(ctx, j, node, m);
 *     graphss_i_journal_read(ctx, j, &rows, done);  what is there already
 *     ... graphss_i_journal_add(ctx, j, &rows, NULL, first, n, 0, NULL, 0) ...
 *
 * Each rank appends to a file of its own, DIR/rank-00000, records of some nodes: the stage,
 * global numbers of the nodes, a row of bytes for each, and a SHA-256. So those who go on may
 * be more ranks or fewer, that have other nodes. The last record of a file may be cut off, and
 * is then as if it had never been written. Stages are numbered in the order in which they are
 * begun, which is the same each time. All functions do nothing where j is NULL. */
#ifndef GRAPHSS_JOURNAL_H
#define GRAPHSS_JOURNAL_H

#include "base/base.h"

typedef struct graphss_i_journal graphss_i_journal;

/* What a stage keeps of a node. */
typedef struct graphss_i_journal_rows {
    size_t size;                                       /* bytes of a row */
    void *of;                                          /* for the two functions: */
    void (*put)(const void *of, size_t at, void *row); /* the row of node[at] */
    void (*take)(void *of, size_t at, const void *row);
} graphss_i_journal_rows;

/* Takes over what the context was told (graphss_ctx_checkpoint); *out is NULL where that is
 * nothing. what: text that names the recovery besides the datasets. Reads where records are.
 * DATA: one of another recovery, a damaged one. All ranks call it together. */
graphss_status graphss_i_journal_open(
    graphss_ctx *ctx, graphss_i_journal **out, const char *what);
void graphss_i_journal_close(graphss_ctx *ctx, graphss_i_journal *j);

/* Begins a stage about nodes of this rank: node [m] own numbers, which must stay. */
graphss_status graphss_i_journal_stage(
    graphss_ctx *ctx, graphss_i_journal *j, const int32_t *node, size_t m);

/* Takes the rows of the stage that are there. done [m]: 1 where node[i] has one. */
graphss_status graphss_i_journal_read(
    graphss_ctx *ctx, graphss_i_journal *j, const graphss_i_journal_rows *rows, uint8_t *done);
/* For a stage that has rounds: takes the rows, and the state of all, of the latest round of
 * which each node of every rank is there. *round is 0 where there is none. All ranks call it
 * together. state [bytes] is the same on all of them. */
graphss_status graphss_i_journal_round(graphss_ctx *ctx, graphss_i_journal *j,
    const graphss_i_journal_rows *rows, uint64_t *round, void *state, size_t bytes);

/* Has it been long enough since this rank last wrote? false where j is NULL. */
bool graphss_i_journal_due(const graphss_i_journal *j);
/* Writes rows of n nodes, those at at[0], at[1], ... or, where at is NULL, at first, first +
 * 1,
 * ... If they cannot be written that is a warning, and no more is. */
void graphss_i_journal_add(graphss_ctx *ctx, graphss_i_journal *j,
    const graphss_i_journal_rows *rows, const size_t *at, size_t first, size_t n,
    uint64_t round, const void *state, size_t bytes);

#endif
