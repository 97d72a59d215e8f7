/* graphss/shards.h - a dataset cut into parts, one file each, for more machines than one.
 *
 *     int32_t *part = NULL;
 *     graphss_partition_blocks(ctx, &part, data.graph.n_nodes, 4);
 *     graphss_shards_write(ctx, NULL, &data, part, 4, "cora.shards");
 *     graphss_release(ctx, part);
 *
 * The folder holds part-0000.npz, part-0001.npz ... and shards.json, which names the dataset
 * and has the SHA-256 of each part. graphss_dataset_read reads the folder as one dataset
 * again, equal to what was written. docs/distributed.md describes how ranks work on their
 * parts. / */
#ifndef GRAPHSS_SHARDS_H
#define GRAPHSS_SHARDS_H

#include <graphss/dataset.h>

#ifdef __cplusplus
extern "C" {
#endif

/* (*part) [n_nodes] is the part of each node, from 0, and the caller's to release; every part
 * gets a node. INVALID: fewer nodes than parts, or not 1 to 65536 parts.
 *
 * _blocks: nodes in their order, as many in each part.
 * _read: a number a line, in the order of the nodes, as METIS writes it. DATA: with the line.
 * _scotch: few edges between parts, by the library Scotch, which is loaded for it. INVALID:
 * it is not installed. */
GRAPHSS_MUST_CHECK graphss_status graphss_partition_blocks(
    graphss_ctx *ctx, int32_t **part, size_t n_nodes, size_t parts);
GRAPHSS_MUST_CHECK graphss_status graphss_partition_read(
    graphss_ctx *ctx, int32_t **part, size_t n_nodes, size_t parts, const char *path);
GRAPHSS_MUST_CHECK graphss_status graphss_partition_scotch(
    graphss_ctx *ctx, int32_t **part, const graphss_graph *graph, size_t parts);

/* The cost of a partition. */
typedef struct graphss_shards_summary {
    size_t parts;
    size_t entries;                 /* of the graph: each edge stands twice */
    size_t cut;                     /* those that lead to another part */
    size_t least_nodes, most_nodes; /* of a part */
} graphss_shards_summary;

/* Writes the shards into a folder, which is made; the manifest is written last. summary may be
 * NULL. Cells that were missing (graphss_missing_cells) are written as they were filled.
 * INVALID: a part without nodes, a number that is no part, a folder that is not empty. */
GRAPHSS_MUST_CHECK graphss_status graphss_shards_write(graphss_ctx *ctx,
    graphss_shards_summary *summary, const graphss_dataset *data, const int32_t *part,
    size_t parts, const char *folder);

#ifdef __cplusplus
}
#endif
#endif
