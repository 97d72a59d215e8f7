/* edges.h - two ascending rows of edges walked together. Private. */
#ifndef GRAPHSS_EDGES_H
#define GRAPHSS_EDGES_H

#include <graphss/graph.h>

/* A cursor in an ascending row: queries have advanced to this position. */
typedef struct graphss_i_walk {
    const int32_t *at, *end;
} graphss_i_walk;

/* A cursor over the neighbours of a node; over nothing if the node is below 0. */
static inline graphss_i_walk graphss_i_walk_from(const graphss_graph *g, int32_t node)
{
    if (node < 0)
        return (graphss_i_walk){g->target, g->target};
    return (graphss_i_walk){g->target + g->offset[node], g->target + g->offset[node + 1]};
}

/* True if x is in the row. x must not be below the x of the previous query. The step doubles
 * until it passes x, so that long rows are not read completely. */
static inline bool graphss_i_walk_meets(graphss_i_walk *w, int32_t x)
{
    const int32_t *low = w->at;
    ptrdiff_t step = 1;
    for (; w->end - low > step && low[step] < x; step *= 2)
        low += step;
    const int32_t *high = w->end - low > step ? low + step : w->end;
    while (low < high) {
        const int32_t *middle = low + (high - low) / 2;
        if (*middle < x)
            low = middle + 1;
        else
            high = middle;
    }
    w->at = low;
    return low < w->end && *low == x;
}

#endif
