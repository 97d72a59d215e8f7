/* part.h - the rows of a graph that one rank holds, and the halo they need.
 *
 * A rank has n_own nodes, numbered 0, 1, ... in the order of their global numbers. Its rows
 * refer to nodes of other ranks as well: these ghosts follow, n_own, n_own + 1, ..., rank by
 * rank. Entries of a row keep the order of the global numbers, so that a sparse product adds
 * in the same order, and gives the same bits, on any number of ranks.
 *
 * The graph is undirected: a rank that needs a row of ours has a row that we need, in the
 * backward pass too. So one exchange serves P x and P^T dy, and nothing is summed afterwards.
 */
#ifndef GRAPHSS_I_PART_H
#define GRAPHSS_I_PART_H

#include "base/ranks.h"
#include "graph/products.h"

typedef struct graphss_i_part {
    size_t n_own, n_ghost;
    size_t n_all, entries_all; /* of the whole graph */
    int64_t *id;               /* [n_own + n_ghost] global numbers */
    graphss_graph graph;       /* [n_own] rows; targets below n_own + n_ghost */
    int32_t *ghost_degree;     /* [n_ghost] */
    graphss_features features; /* of the own nodes, */
    /* [n_own] position of each sparse row among all stored entries */
    int64_t *entry;

    /* The halo: send_node [sum of send_count] are own nodes, rank by rank. */
    size_t *send_count, *receive_count; /* [ranks] */
    int32_t *send_node;
    size_t n_send;
    float *out;        /* [n_send x STRIP] */
    float *near;       /* [(n_own + n_ghost) x STRIP] */
    float *strip;      /* [n_own x STRIP] of a result */
    size_t received;   /* bytes of all halos so far */
    size_t whole_most; /* a graph with at most this many nodes is trained by rank 0 alone */

    struct graphss_i_part *past; /* of the snapshot before, or NULL */
    /* for a previous snapshot: the rows of graph by ascending local numbers */
    graphss_graph ascending;
} graphss_i_part;

/* Columns that are exchanged and multiplied together. More would save reading indices again,
 * fewer save memory: the halo takes 4 STRIP (2 + 2 g) bytes a node with g ghosts, at 16 and g
 * = 1 a quarter of what 128 hidden units take. */
enum { GRAPHSS_I_HALO_STRIP = 16 };

/* Fills graph, id, ghosts and halo from rows by global numbers: id [n] ascending, offset
 * [n + 1], target [offset[n]]. All ranks call it together. Takes 12 bytes for each node of the
 * whole graph meanwhile. DATA: a node that no rank has, or two have. */
graphss_status graphss_i_part_make(graphss_ctx *ctx, graphss_i_part *out, const int64_t *id,
    size_t n, const int64_t *offset, const int64_t *target, size_t n_all);
void graphss_i_part_destroy(graphss_ctx *ctx, graphss_i_part *part);

/* y [n_own x k] = m x, m with columns of own nodes and ghosts, x [n_own x k]. */
void graphss_i_part_spmm(
    graphss_ctx *ctx, float *y, const graphss_i_csr *m, const float *x, size_t k);

/* The part, of those the context works on, with these rows (graph or ascending). NULL if there
 * is none, or with a single rank, which has the whole graph. */
graphss_i_part *graphss_i_part_of(const graphss_ctx *ctx, const graphss_graph *graph);

/* The own node with a global number, or -1. */
int64_t graphss_i_part_find(const graphss_i_part *part, int64_t id);
/* The first row after `row`, at most `end`, whose global number does not follow that of the
 * row before it. */
static inline size_t graphss_i_part_run(const graphss_i_part *part, size_t row, size_t end)
{
    size_t next = row + 1;
    while (next < end && part->id[next] == part->id[next - 1] + 1)
        next++;
    return next;
}

/* Rows of nodes that go between the ranks of a part.
 *
 * All ranks call each of these together, and fail together. */

/* x [(n_own + n_ghost) x size]: the rows of the own nodes are filled, those of the ghosts are
 * received. */
graphss_status graphss_i_part_bring(
    graphss_ctx *ctx, graphss_i_part *part, void *x, size_t size);

/* all [n_all x size], on every rank, from own [n_own x size] of each. */
graphss_status graphss_i_part_gather(
    graphss_ctx *ctx, void *all, const graphss_i_part *part, const void *own, size_t size);
/* The same on rank 0 alone; all is ignored elsewhere. */
graphss_status graphss_i_part_collect(
    graphss_ctx *ctx, void *all, const graphss_i_part *part, const void *own, size_t size);

/* Rows of some nodes on every rank. id [n]: global numbers, the same on all ranks. Row i of
 * graph, whose targets are global numbers, and of features belongs to id[i]. from: rows of the
 * own nodes. graph or features may be NULL; the caller destroys the results. */
graphss_status graphss_i_part_share(graphss_ctx *ctx, graphss_graph *graph,
    graphss_features *features, const graphss_i_part *part, const graphss_features *from,
    const int64_t *id, size_t n);

#endif
