/* readers.h - one reader per format. Each fills an empty dataset up to and including
 * graphss_i_dataset_finish, or leaves it empty. dataset.c chooses among them. */
#ifndef GRAPHSS_READERS_H
#define GRAPHSS_READERS_H

#include "base/base.h"
#include <graphss/dataset.h>
#include <graphss/synth.h>

typedef graphss_status (*graphss_i_reader)(graphss_ctx *ctx, graphss_dataset *out,
                                           const char *path, uint64_t max_bytes,
                                           graphss_missing_rule missing);

#define GRAPHSS_I_READER(name)                                                                \
    graphss_status name(graphss_ctx *ctx, graphss_dataset *out, const char *path,             \
                        uint64_t max_bytes, graphss_missing_rule missing)
GRAPHSS_I_READER(graphss_i_read_npz);        /* FILE.npz, in any of three layouts */
GRAPHSS_I_READER(graphss_i_read_planetoid);  /* DIR/ind.NAME */
GRAPHSS_I_READER(graphss_i_read_csv_folder); /* DIR with nodes.csv and edges.csv */
GRAPHSS_I_READER(graphss_i_read_edge_list);  /* "-" too: standard input */
GRAPHSS_I_READER(graphss_i_read_graphml);    /* likewise */

/* GraphML that was read already; file is for messages. */
graphss_status graphss_i_graphml_dataset(graphss_ctx *ctx, graphss_dataset *out,
                                         const char *file, const char *bytes, size_t n,
                                         uint64_t max_bytes, graphss_missing_rule missing);

/* LIMIT when the arrays would take more than max_bytes. */
graphss_status graphss_i_synth_make(graphss_ctx *ctx, graphss_dataset *out,
                                    const graphss_synth_options *opt, uint64_t max_bytes);

#endif
