/* graphss/benign.h - change that is no attack: what a living graph does by itself.
 *
 *     graphss_benign_churn(ctx, &flips, &data, node, n, 1, NULL);
 *     graphss_benign_grow(ctx, &larger, &data, 100, 1);
 *
 * Use it to measure how often a detector raises a false alarm. All draws follow the graph
 * itself. A new edge of a node of class c leads where a random edge out of class c leads,
 * which keeps the mix of classes (so the homophily) and favours nodes of high degree as the
 * graph does. A new word is a word of a random node of the same class. Nodes of unknown label
 * count as one more class. A node that takes over words and edges of its class becomes a more
 * typical member of it, so models do better on churned nodes, not worse. */
#ifndef GRAPHSS_BENIGN_H
#define GRAPHSS_BENIGN_H

#include <graphss/dataset.h>
#include <graphss/flips.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct graphss_benign_options {
    uint32_t struct_size; /* sizeof(graphss_benign_options) */
    int64_t edges;        /* edge changes for each node, joins and cuts in turn at random; 2 */
    int64_t features;     /* feature changes for each node, half of them removals; 20 */
} graphss_benign_options;

GRAPHSS_API void graphss_benign_options_init(graphss_benign_options *opt);

/* Draws changes for n different nodes, stream BENIGN; apply them with graphss_flips_apply.
 * No removal isolates a node, and no entry is changed twice for one node. A change that cannot
 * be drawn (an empty row, a graph without edges) is left out. The list holds method "benign",
 * seed, budget, and name and hash of the data. Errors: INVALID (a node out of range or twice,
 * a budget below 0, an unsound graph or features), DATA (a dataset without nodes, or whose
 * parts do not fit), NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_benign_churn(graphss_ctx *ctx, graphss_flips *out,
    const graphss_dataset *data, const int32_t *node, size_t n, uint64_t seed,
    const graphss_benign_options *opt);

/* A copy of data with n_new more nodes behind the old ones, stream BENIGN. Each takes class
 * and degree from a random node and draws its edges to the old nodes and its words as above.
 * Named "new1", "new2" ... where the dataset has names (with more letters where that name is
 * taken), else numbered on. Errors: INVALID (more than 2^31 - 1 nodes, an unsound graph or
 * features), DATA (a dataset without nodes, or whose parts do not fit), NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_benign_grow(graphss_ctx *ctx, graphss_dataset *out,
    const graphss_dataset *data, size_t n_new, uint64_t seed);

#ifdef __cplusplus
}
#endif
#endif
