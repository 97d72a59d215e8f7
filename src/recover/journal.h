/* journal.h - the intermediate results of a recovery, in a folder, so that one that was
 * stopped can continue.
 *
 *     graphss_i_journal_stage(ctx, j, node, m);
 *     graphss_i_journal_read(ctx, j, &rows, done);  what is there already
 *     ... graphss_i_journal_add(ctx, j, &rows, NULL, first, n, 0, NULL, 0) ...
 *
 * Each rank appends to a file of its own, DIR/rank-00000, records of some nodes: the stage,
 * global numbers of the nodes, a row of bytes for each, and a SHA-256. So a recovery may
 * continue on more ranks or fewer, which have other nodes. A torn last record of a file is
 * ignored. Stages are numbered in the order in which they begin, which is the same each time.
 * All functions do nothing if j is NULL. */
#ifndef GRAPHSS_JOURNAL_H
#define GRAPHSS_JOURNAL_H

#include "base/base.h"

typedef struct graphss_i_journal graphss_i_journal;

/* What a stage stores for a node. */
typedef struct graphss_i_journal_rows {
    size_t size;                                       /* bytes of a row */
    void *of;                                          /* for the two functions: */
    void (*put)(const void *of, size_t at, void *row); /* the row of node[at] */
    void (*take)(void *of, size_t at, const void *row);
} graphss_i_journal_rows;

/* Takes the settings of the context (graphss_ctx_checkpoint); *out is NULL without any. what:
 * text that identifies the recovery besides the datasets. Reads where records are. DATA: one
 * of another recovery, a damaged one. All ranks call it together. */
graphss_status graphss_i_journal_open(
    graphss_ctx *ctx, graphss_i_journal **out, const char *what);
void graphss_i_journal_close(graphss_ctx *ctx, graphss_i_journal *j);

/* Begins a stage about nodes of this rank: node [m] are own numbers, borrowed. */
graphss_status graphss_i_journal_stage(
    graphss_ctx *ctx, graphss_i_journal *j, const int32_t *node, size_t m);

/* Reads the rows that the stage has already. done [m]: 1 if node[i] has one. */
graphss_status graphss_i_journal_read(
    graphss_ctx *ctx, graphss_i_journal *j, const graphss_i_journal_rows *rows, uint8_t *done);
/* For a stage with rounds: reads the rows, and the state of all, of the latest round that has
 * each node of every rank. *round is 0 if there is none. All ranks call it together. state
 * [bytes] is the same on all of them. */
graphss_status graphss_i_journal_round(graphss_ctx *ctx, graphss_i_journal *j,
    const graphss_i_journal_rows *rows, uint64_t *round, void *state, size_t bytes);

/* True if this rank should write again; false if j is NULL. */
bool graphss_i_journal_due(const graphss_i_journal *j);
/* Writes rows of n nodes: at[0], at[1], ... or, if at is NULL, first, first + 1, ... A failed
 * write is only a warning. */
void graphss_i_journal_add(graphss_ctx *ctx, graphss_i_journal *j,
    const graphss_i_journal_rows *rows, const size_t *at, size_t first, size_t n,
    uint64_t round, const void *state, size_t bytes);

#endif
