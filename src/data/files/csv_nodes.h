/* csv_nodes.h - nodes.csv: ids, labels, masks and features. */
#ifndef GRAPHSS_CSV_NODES_H
#define GRAPHSS_CSV_NODES_H

#include "data/build.h"

/* Fills everything of data but its graph and node names, and ids with the ids in file order.
 * On failure both may be half full: destroy them. bytes are changed. */
graphss_status graphss_i_csv_nodes(graphss_ctx *ctx, graphss_dataset *data,
                                   graphss_i_intern *ids, const char *file, char *bytes,
                                   size_t n_bytes);

#endif
