/* read_npz_parts.h - what the layouts of a dataset in .npz share. */
#ifndef GRAPHSS_READ_NPZ_PARTS_H
#define GRAPHSS_READ_NPZ_PARTS_H

#include "data/build.h"
#include "data/formats/npz.h"

/* A dense matrix, a row for each node. */
graphss_status graphss_i_npz_dense_features(graphss_ctx *ctx, graphss_dataset *data,
                                            graphss_i_npz *npz, const char *array);
/* Labels as whole numbers or as text ("" is unknown), and the names of classes in class_names
 * where there are any. */
graphss_status graphss_i_npz_labels(graphss_ctx *ctx, graphss_dataset *data,
                                    graphss_i_npz *npz, const char *array);
/* Names under that name, want of them; a warning ends in `without` where they are objects. */
graphss_status graphss_i_npz_optional_names(graphss_ctx *ctx, graphss_names *out,
                                            graphss_i_npz *npz, const char *array, size_t want,
                                            const char *without);
/* Each entry of 0..n-1, or DATA names the array and the entry. */
graphss_status graphss_i_npz_check_ends(graphss_ctx *ctx, const int32_t *end, size_t m,
                                        size_t n, const graphss_i_npz *npz, const char *array);
/* Node names, those of features, and the split: what may stand beside any layout. */
graphss_status graphss_i_npz_names_and_split(graphss_ctx *ctx, graphss_dataset *data,
                                             graphss_i_npz *npz, const char *path);

/* read_pyg.c: edge_index [2 x m], x [n x d], y [n]. */
bool graphss_i_npz_is_pyg(const graphss_i_npz *npz);
graphss_status graphss_i_npz_read_pyg(graphss_ctx *ctx, graphss_dataset *data,
                                      graphss_i_npz *npz, const char *path);

#endif
