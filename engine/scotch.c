/* scotch.c - libgraphss_scotch.so: parts of a graph with few edges between them, by Scotch. */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <scotch.h>

#if __GNUC__
__attribute__((visibility("default")))
#endif
const char *
graphss_partitioner(
    int32_t *part, size_t n, const int64_t *offset, const int32_t *target, int32_t parts);

/* The arrays in the numbers of this Scotch. NULL: there is no memory. */
static SCOTCH_Num *copy_offsets(const int64_t *offset, size_t n)
{
    SCOTCH_Num *out = malloc((n + 1) * sizeof *out);
    for (size_t i = 0; i <= n && out; i++)
        out[i] = (SCOTCH_Num)offset[i];
    return out;
}

static SCOTCH_Num *copy_targets(const int32_t *target, size_t m)
{
    SCOTCH_Num *out = malloc((m ? m : 1) * sizeof *out);
    for (size_t e = 0; e < m && out; e++)
        out[e] = target[e];
    return out;
}

const char *graphss_partitioner(
    int32_t *part, size_t n, const int64_t *offset, const int32_t *target, int32_t parts)
{
    const int64_t m = offset[n];
    SCOTCH_Graph graph;
    SCOTCH_Strat plan;
    const char *fault = NULL;
    if (sizeof(SCOTCH_Num) < sizeof m && m > INT32_MAX)
        return "the graph has over 2^31 entries, more than this Scotch can number";
    SCOTCH_Num *begin = copy_offsets(offset, n), *edge = copy_targets(target, (size_t)m),
               *found = malloc(n * sizeof *found);
    if (!begin || !edge || !found || SCOTCH_graphInit(&graph) != 0) {
        free(begin);
        free(edge);
        free(found);
        return "out of memory";
    }
    SCOTCH_stratInit(&plan);
    SCOTCH_randomReset(); /* the same graph, the same parts */
    if (SCOTCH_graphBuild(
            &graph, 0, (SCOTCH_Num)n, begin, NULL, NULL, NULL, (SCOTCH_Num)m, edge, NULL) != 0)
        fault = "it does not take the graph";
    else if (SCOTCH_graphPart(&graph, parts, &plan, found) != 0)
        fault = "it found no partition";
    for (size_t i = 0; i < n && !fault; i++)
        part[i] = (int32_t)found[i];
    SCOTCH_stratExit(&plan);
    SCOTCH_graphExit(&graph);
    free(found);
    free(edge);
    free(begin);
    return fault;
}
