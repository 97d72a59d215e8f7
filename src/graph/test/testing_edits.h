/* testing_edits.h - edited rows as a graph, for tests. */
#ifndef GRAPHSS_TESTING_EDITS_H
#define GRAPHSS_TESTING_EDITS_H

#include "graph/edits.h"
#include "testing.h"

/* A naive twin that stores pairs. */
static inline void rows_to_graph(
    graphss_ctx *ctx, graphss_graph *out, const graphss_i_rows *rows)
{
    size_t m = 0;
    for (size_t i = 0; i < rows->n; i++)
        m += (size_t)rows->length[i];
    int32_t *from = calloc(m + 1, sizeof *from), *to = calloc(m + 1, sizeof *to);
    assert_true(from && to);
    m = 0;
    for (size_t i = 0; i < rows->n; i++)
        for (int32_t e = 0; e < rows->length[i]; e++) {
            from[m] = (int32_t)i;
            to[m++] = rows->item[i][e];
        }
    assert_ok(ctx, graphss_graph_build(ctx, out, NULL, rows->n, from, to, m));
    free(from);
    free(to);
}

#endif
