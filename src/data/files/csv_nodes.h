/* csv_nodes.h - a table of nodes: ids, labels, masks and features. */
#ifndef GRAPHSS_CSV_NODES_H
#define GRAPHSS_CSV_NODES_H

#include "data/build.h"
#include "data/formats/csv.h"

/* Where the records come from. The bytes of nodes.csv, which are changed; or, with next, what
 * another format makes of its nodes: a header first, then a record for each node, in field and
 * count of the record, which it lets grow. Their texts must stay until the end. */
typedef struct graphss_i_node_source {
    const char *file;
    char *bytes;
    size_t n_bytes;
    graphss_status (*next)(graphss_ctx *ctx, bool *more, graphss_i_csv *record, void *user);
    void *user;
} graphss_i_node_source;

/* Fills everything of data but its graph and node names, and ids with the ids in file order.
 * On failure both may be half full: destroy them. */
graphss_status graphss_i_csv_nodes(graphss_ctx *ctx, graphss_dataset *data,
                                   graphss_i_intern *ids, const graphss_i_node_source *source,
                                   graphss_missing_rule missing);

/* Ids 0, 1, 2 ... in this order need no names. */
bool graphss_i_ids_are_places(const graphss_i_intern *ids);

#endif
