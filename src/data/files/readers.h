/* readers.h - one reader per format. Each fills an empty dataset up to and including
 * graphss_i_dataset_finish, or leaves it empty. dataset.c chooses among them. */
#ifndef GRAPHSS_READERS_H
#define GRAPHSS_READERS_H

#include "base/base.h"
#include <graphss/dataset.h>
#include <graphss/synth.h>

typedef graphss_status (*graphss_i_reader)(graphss_ctx *ctx, graphss_dataset *out,
                                           const char *path, uint64_t max_bytes);

graphss_status graphss_i_read_npz(graphss_ctx *ctx, graphss_dataset *out, const char *path,
                                  uint64_t max_bytes); /* both npz layouts */
graphss_status graphss_i_read_planetoid(graphss_ctx *ctx, graphss_dataset *out,
                                        const char *prefix, uint64_t max_bytes);
graphss_status graphss_i_read_csv_folder(graphss_ctx *ctx, graphss_dataset *out,
                                         const char *folder, uint64_t max_bytes);
graphss_status graphss_i_read_edge_list(graphss_ctx *ctx, graphss_dataset *out,
                                        const char *path, uint64_t max_bytes);

/* LIMIT when the arrays would take more than max_bytes. */
graphss_status graphss_i_synth_make(graphss_ctx *ctx, graphss_dataset *out,
                                    const graphss_synth_options *opt, uint64_t max_bytes);

#endif
