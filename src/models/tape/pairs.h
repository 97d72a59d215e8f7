/* pairs.h - pairs of nodes that might be connected, as the tape wants them. */
#ifndef GRAPHSS_PAIRS_H
#define GRAPHSS_PAIRS_H

#include "models/tape/tape.h"

/* Pairs i < j, numbered in the order of rows, for graphss_i_tape_edge_dot. {0} is empty. */
typedef struct graphss_i_pairs {
    graphss_i_csr m, transposed; /* n x n; above and below the diagonal, columns ascending */
    int64_t *transposed_at;      /* [pairs] number of the pair of an entry of transposed */
} graphss_i_pairs;

/* Of each row of near [n_from x each], or -1, a pair with from; each pair once. */
graphss_status graphss_i_pairs_make(graphss_ctx *ctx, graphss_i_pairs *out, size_t n,
    const int32_t *from, size_t n_from, const int32_t *near, size_t each);
void graphss_i_pairs_destroy(graphss_ctx *ctx, graphss_i_pairs *p);
size_t graphss_i_pairs_count(const graphss_i_pairs *p);

/* The pattern of edges and loops, whose entries are 1, with a's and then b's pairs. Neither
 * holds edges, nor the other's pairs. b may be NULL. LIMIT: more than 2^31 - 1 pairs. */
graphss_status graphss_i_pattern_make(graphss_ctx *ctx, graphss_i_pair_pattern *out,
    const graphss_graph *graph, const graphss_i_pairs *a, const graphss_i_pairs *b);
void graphss_i_pattern_destroy(graphss_ctx *ctx, graphss_i_pair_pattern *p);

#endif
