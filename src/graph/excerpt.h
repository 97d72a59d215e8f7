/* excerpt.h - some nodes of a part with their neighbours, as a small graph of their own.
 *
 * Code that reads the rows of a node and of its neighbours, and which neighbours they share,
 * works on an excerpt as on the whole graph: it has the rows of the requested nodes and of all
 * their neighbours, in the order of the global numbers. Nodes two steps away have no row: they
 * only fill the rows of the neighbours, and consecutive ones without a neighbour between them
 * share a number. So the size of an excerpt is that of the neighbourhood. / */
#ifndef GRAPHSS_I_EXCERPT_H
#define GRAPHSS_I_EXCERPT_H

#include "graph/part.h"

enum { GRAPHSS_I_EXCERPT_BLOCKS = 4 };

/* {0} is empty. */
typedef struct graphss_i_excerpt {
    graphss_graph graph;
    graphss_features features;
    int32_t *node; /* [m] positions of the requested nodes */
    int32_t *own;  /* [n_nodes] number in the part, -1: not an own node */
    float *block[GRAPHSS_I_EXCERPT_BLOCKS]; /* [n_nodes x k] of the nodes in the excerpt */
} graphss_i_excerpt;

/* Additional data of nodes: blocks [n_own x k] of each rank. */
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
