/* graphss/graph.h - an undirected graph and its node features.
 *
 *     const int32_t from[] = {0, 1}, to[] = {1, 2};
 *     const float value[] = {1, 0, 0, 1, 1, 1};
 *     graphss_graph path = {0};
 *     graphss_features words = {0};
 *     graphss_graph_build(ctx, &path, NULL, 3, from, to, 2);
 *     graphss_features_from_dense(ctx, &words, 3, 2, value);
 *     graphss_features_destroy(ctx, &words);
 *     graphss_graph_destroy(ctx, &path);
 *
 * A graph is compressed rows: the neighbours of node i are
 * target[offset[i]] ... target[offset[i + 1] - 1], in ascending order. Each undirected
 * edge stands twice, once in each row; there are no loops and no duplicates. Whatever the
 * library builds or reads holds to this; graphss_graph_check checks a graph of yours,
 * graphss_features_check features. Training, predicting, attack, alert and recover call both.
 *
 * Both structs are plain values: {0} is a valid empty one, _destroy accepts it. */
#ifndef GRAPHSS_GRAPH_H
#define GRAPHSS_GRAPH_H

#include <graphss/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct graphss_graph {
    size_t n_nodes;
    int64_t *offset; /* [n_nodes + 1] */
    int32_t *target; /* [offset[n_nodes]] */
} graphss_graph;

/* What was discarded or repaired when a graph was built from pairs. */
typedef struct graphss_cleaning {
    int64_t directed;   /* edges that stood in one direction only */
    int64_t duplicates; /* pairs given again in the same direction */
    int64_t loops;
    int64_t zeros;    /* entries with weight zero, not edges */
    int64_t weighted; /* entries with a weight other than 1, which was dropped */
    int64_t isolated; /* nodes without an edge; kept */
} graphss_cleaning;

/* Builds the graph of m pairs (from[e], to[e]) in any order and direction.
 * Errors: INVALID (an end outside 0..n_nodes-1, or n_nodes over 2^31 - 1), NOMEM.
 * Time O(m + n_nodes), in any order of the pairs. cleaned may be NULL. */
GRAPHSS_MUST_CHECK graphss_status graphss_graph_build(graphss_ctx *ctx, graphss_graph *out,
    graphss_cleaning *cleaned, size_t n_nodes, const int32_t *from, const int32_t *to,
    size_t m);
/* Makes a deep copy. NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_graph_copy(
    graphss_ctx *ctx, graphss_graph *out, const graphss_graph *graph);
/* Checks the rules above. INVALID names the node and the broken rule. */
GRAPHSS_MUST_CHECK graphss_status graphss_graph_check(
    graphss_ctx *ctx, const graphss_graph *graph);
GRAPHSS_API void graphss_graph_destroy(graphss_ctx *ctx, graphss_graph *graph);

GRAPHSS_API size_t graphss_graph_edges(const graphss_graph *graph); /* undirected */
/* Number of neighbours of a node below n_nodes. */
GRAPHSS_API size_t graphss_graph_degree(const graphss_graph *graph, size_t node);
/* False for a node that does not exist. Time O(log degree of a). */
GRAPHSS_API bool graphss_graph_has_edge(const graphss_graph *graph, int32_t a, int32_t b);
/* Share of edges whose two ends have the same label; edges with an unknown label (-1) do not
 * count. NaN if no edge counts. */
GRAPHSS_API double graphss_graph_homophily(const graphss_graph *graph, const int32_t *label);

/* Communities: groups with more edges inside than chance would put there, by the first phase
 * of the Louvain method. community [n_nodes] in [0, *count); a node without edges is a
 * community of its own. The result is deterministic. INVALID: an unsound graph; NOMEM. Time
 * O(edges). */
GRAPHSS_MUST_CHECK graphss_status graphss_graph_communities(
    graphss_ctx *ctx, int32_t *community, size_t *count, const graphss_graph *graph);

typedef enum graphss_feature_kind {
    GRAPHSS_FEATURES_NONE,   /* no columns */
    GRAPHSS_FEATURES_BINARY, /* 0 and 1 */
    GRAPHSS_FEATURES_COUNTS, /* non-negative integers */
    GRAPHSS_FEATURES_REAL    /* anything else, such as TF-IDF */
} graphss_feature_kind;

/* Node features, row by row. Sparse: offset and column as in a graph (columns ascending,
 * no stored zeros), value beside column. Dense (more than half filled, or
 * real and mostly in columns that are): offset and column are NULL and value is
 * n_rows x n_cols. */
typedef struct graphss_features {
    size_t n_rows;
    size_t n_cols;
    int64_t *offset; /* [n_rows + 1] or NULL */
    int32_t *column; /* [offset[n_rows]] or NULL */
    float *value;
    graphss_feature_kind kind;
} graphss_features;

/* Features from arrays of yours, which are copied: row i has value[e] in column[e] for e from
 * offset[i] to offset[i + 1] - 1, in any order; duplicates are added, zeros are dropped. value
 * NULL: all ones. Storage and kind follow from the values, as when a file is read.
 *
 *   offset  [n_rows + 1]        from 0 on, not falling
 *   column  [offset[n_rows]]    below n_cols
 *
 * Errors: INVALID (sizes over 2^31 - 1), DATA (an offset that falls, a column out of range, a
 * value that is not finite), NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_features_from_rows(graphss_ctx *ctx,
    graphss_features *out, size_t n_rows, size_t n_cols, const int64_t *offset,
    const int32_t *column, const float *value);
/* The same from value [n_rows x n_cols], row by row. */
GRAPHSS_MUST_CHECK graphss_status graphss_features_from_dense(
    graphss_ctx *ctx, graphss_features *out, size_t n_rows, size_t n_cols, const float *value);
/* Makes a deep copy. NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_features_copy(
    graphss_ctx *ctx, graphss_features *out, const graphss_features *features);
/* Checks the rules above. INVALID names the row and the broken rule. Finiteness of values is
 * checked where they are used. */
GRAPHSS_MUST_CHECK graphss_status graphss_features_check(
    graphss_ctx *ctx, const graphss_features *features);
/* A copy with each row divided by its signed sum (training divides by the sum of absolute
 * values); rows that sum to 0 or (within 1e-5) to 1 stay. NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_features_normalise_rows(
    graphss_ctx *ctx, graphss_features *out, const graphss_features *features);
GRAPHSS_API void graphss_features_destroy(graphss_ctx *ctx, graphss_features *features);
GRAPHSS_API bool graphss_features_dense(const graphss_features *features);
/* Stored entries: non-zeros when sparse, n_rows x n_cols when dense. */
GRAPHSS_API size_t graphss_features_stored(const graphss_features *features);
/* "none", "binary", "counts" or "real". */
GRAPHSS_API const char *graphss_feature_kind_text(graphss_feature_kind kind);

#ifdef __cplusplus
}
#endif
#endif
