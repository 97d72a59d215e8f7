/* readers.h - one reader per format. Each fills an empty dataset up to and including
 * graphss_i_dataset_finish, or leaves it empty. dataset.c chooses among them. */
#ifndef GRAPHSS_READERS_H
#define GRAPHSS_READERS_H

#include "base/base.h"
#include "data/build.h"
#include "data/formats/npz.h"
#include <graphss/dataset.h>
#include <graphss/synth.h>

typedef graphss_status (*graphss_i_reader)(graphss_ctx *ctx, graphss_dataset *out,
    const char *path, uint64_t max_bytes, graphss_missing_rule missing);

#define GRAPHSS_I_READER(name) \
    graphss_status name(graphss_ctx *ctx, graphss_dataset *out, const char *path, \
        uint64_t max_bytes, graphss_missing_rule missing)
GRAPHSS_I_READER(graphss_i_read_npz);        /* FILE.npz, in any of three layouts */
GRAPHSS_I_READER(graphss_i_read_planetoid);  /* DIR/ind.NAME */
GRAPHSS_I_READER(graphss_i_read_csv_folder); /* DIR with nodes.csv and edges.csv */
GRAPHSS_I_READER(graphss_i_read_edge_list);  /* "-" too: standard input */
GRAPHSS_I_READER(graphss_i_read_graphml);    /* the same */

/* GraphML that was read already; file is for messages. */
graphss_status graphss_i_graphml_dataset(graphss_ctx *ctx, graphss_dataset *out,
    const char *file, const char *bytes, size_t n, uint64_t max_bytes,
    graphss_missing_rule missing);

/* LIMIT when the arrays would take more than max_bytes. */
graphss_status graphss_i_synth_make(graphss_ctx *ctx, graphss_dataset *out,
    const graphss_synth_options *opt, uint64_t max_bytes);

/* ---- shared by the layouts of a dataset in .npz ---- */

/* A dense matrix, a row for each node. */
graphss_status graphss_i_npz_dense_features(
    graphss_ctx *ctx, graphss_dataset *data, graphss_i_npz *npz, const char *array);
/* Labels as whole numbers or as text ("" is unknown), and the names of classes in class_names
 * if there are any. */
graphss_status graphss_i_npz_labels(
    graphss_ctx *ctx, graphss_dataset *data, graphss_i_npz *npz, const char *array);
/* Reads `want` names of that array; if they are objects a warning ends in `without`. */
graphss_status graphss_i_npz_optional_names(graphss_ctx *ctx, graphss_names *out,
    graphss_i_npz *npz, const char *array, size_t want, const char *without);
/* Each entry of 0..n-1, or DATA names the array and the entry. */
graphss_status graphss_i_npz_check_ends(graphss_ctx *ctx, const int32_t *end, size_t m,
    size_t n, const graphss_i_npz *npz, const char *array);
/* Node names, feature names and the split, which any layout may have. */
graphss_status graphss_i_npz_names_and_split(
    graphss_ctx *ctx, graphss_dataset *data, graphss_i_npz *npz, const char *path);

/* read_pyg.c: edge_index [2 x m], x [n x d], y [n]. */
bool graphss_i_npz_is_pyg(const graphss_i_npz *npz);
graphss_status graphss_i_npz_read_pyg(
    graphss_ctx *ctx, graphss_dataset *data, graphss_i_npz *npz, const char *path);

#endif
