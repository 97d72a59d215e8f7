/* excerpt.h - some nodes of a part with their neighbours, as a small graph of their own.
 *
 * What reads a node's row, its neighbours' rows, and who of the former is among the latter,
 * works on an excerpt as it would on the whole graph: rows of the nodes asked for and of all
 * their neighbours are there, in the order of the global numbers. Nodes two steps away are
 * not: they only fill the rows of the neighbours, and those that follow each other without a
 * neighbour between them have one number. So an excerpt takes room for the neighbours alone.
 */
#ifndef GRAPHSS_I_EXCERPT_H
#define GRAPHSS_I_EXCERPT_H

#include "graph/part.h"

enum { GRAPHSS_I_EXCERPT_BLOCKS = 4 };

/* {0} is empty. */
typedef struct graphss_i_excerpt {
    graphss_graph graph;
    graphss_features features;
    int32_t *node; /* [m] where the nodes asked for are */
    int32_t *own;  /* [n_nodes] number in the part, -1: not an own node */
    float *block[GRAPHSS_I_EXCERPT_BLOCKS]; /* [n_nodes x k] of the nodes that are there */
} graphss_i_excerpt;

/* What nodes carry besides: blocks [n_own x k] of each rank. */
typedef struct graphss_i_excerpt_input {
    graphss_i_part *part;
    const graphss_features *features; /* of the own nodes */
    const float *block[GRAPHSS_I_EXCERPT_BLOCKS];
    size_t n_blocks, k;
    const int32_t *node; /* [m] own nodes, each once */
    size_t m;
} graphss_i_excerpt_input;

/* All ranks call it together, each for nodes of its own, which may be none. */
graphss_status graphss_i_excerpt_take(
    graphss_ctx *ctx, graphss_i_excerpt *out, const graphss_i_excerpt_input *in);
void graphss_i_excerpt_destroy(graphss_ctx *ctx, graphss_i_excerpt *e);

#endif
