/* build.h - builds a sound dataset from parts. Readers parse; this checks and cleans. */
#ifndef GRAPHSS_BUILD_H
#define GRAPHSS_BUILD_H

#include "base/base.h"
#include <graphss/dataset.h>

/* Takes compressed rows in any column order and makes them sound: columns sorted,
 * duplicates summed, zeros dropped, dense if most entries are filled (docs/formats.md), kind
 * detected. It takes ownership of the three arrays, also on errors; value NULL means all ones.
 * DATA: an offset that falls or overruns nnz, a column out of range, a NaN or an infinity,
 * with row and entry; what names the array in the text ("attr"), NULL where it is an argument
 * of the caller. */
graphss_status graphss_i_features_from_rows(graphss_ctx *ctx, graphss_features *out,
    size_t n_rows, size_t n_cols, int64_t *offset, int32_t *column, float *value, size_t nnz,
    const char *what);
/* The same from a dense row-major block, of which it takes ownership, too. */
graphss_status graphss_i_features_from_dense(graphss_ctx *ctx, graphss_features *out,
    size_t n_rows, size_t n_cols, float *value, const char *what);

/* The graph of compressed rows of a square matrix as files hold it; weight NULL: all ones.
 * Entries of weight zero are no edges; other weights are dropped and counted. */
graphss_status graphss_i_graph_from_rows(graphss_ctx *ctx, graphss_graph *out, size_t n,
    const int64_t *offset, const int32_t *column, const float *weight, size_t nnz,
    const char *what, graphss_cleaning *cleaned);
/* The same from m pairs with ends in range. */
graphss_status graphss_i_graph_from_pairs(graphss_ctx *ctx, graphss_graph *out, size_t n,
    const int32_t *from, const int32_t *to, const float *weight, size_t m,
    graphss_cleaning *cleaned);

/* Features are dense if they are more than half filled, or if they are real and most non-zeros
 * are in columns that are more than half filled: measurements, possibly beside one-hot
 * columns. Weighted words do not qualify. A block that would be nearly empty stays sparse.
 * filled [n_cols] of nnz entries; NULL: not counted, for kinds that are not real. */
bool graphss_i_prefers_dense(
    graphss_feature_kind kind, size_t n_rows, size_t n_cols, const size_t *filled, size_t nnz);

graphss_feature_kind graphss_i_features_kind(const graphss_features *features);

graphss_status graphss_i_names_copy(
    graphss_ctx *ctx, graphss_names *out, const graphss_names *names);

/* Names "0", "1", "2" ... for n things without names. */
graphss_status graphss_i_names_number(graphss_ctx *ctx, graphss_names *out, size_t n);

/* A growing list of strings: add, then finish into names. {0} is empty. */
typedef struct graphss_i_name_list {
    size_t count, room, bytes, bytes_room;
    size_t *start;
    char *text;
} graphss_i_name_list;
graphss_status graphss_i_name_list_add(
    graphss_ctx *ctx, graphss_i_name_list *list, const char *text, size_t length);
graphss_status graphss_i_name_list_finish(
    graphss_ctx *ctx, graphss_names *out, graphss_i_name_list *list);
void graphss_i_name_list_destroy(graphss_ctx *ctx, graphss_i_name_list *list);

uint64_t graphss_i_name_hash(const char *text, size_t length);

/* A hash table from strings to 0, 1, 2 ... in order of first occurrence, for ids and class
 * names. The strings are stored in its list, which finish hands over. */
typedef struct graphss_i_intern {
    graphss_i_name_list list;
    size_t *slot; /* [slots], index + 1 or 0 */
    size_t slots;
} graphss_i_intern;
/* *added (may be NULL) is true if it is new. */
graphss_status graphss_i_intern_add(graphss_ctx *ctx, size_t *index, bool *added,
    graphss_i_intern *table, const char *text, size_t length);
/* -1 when absent */
int64_t graphss_i_intern_find(const graphss_i_intern *table, const char *text, size_t length);
void graphss_i_intern_destroy(graphss_ctx *ctx, graphss_i_intern *table);
/* Rebuilds the slots for the strings of the list; of equal strings the first is found. */
graphss_status graphss_i_intern_index(graphss_ctx *ctx, graphss_i_intern *table);

/* Undoes graphss_name_escape in place, and removes backslashes before blanks. false: a
 * backslash stands before a wrong letter. */
bool graphss_i_name_unescape(char *name);
/* A line of a list that graphss_node_list_read reads back as this name. DATA: it is empty. */
graphss_status graphss_i_node_list_line(
    graphss_ctx *ctx, graphss_i_output *out, const char *name);

/* Checks that the lists of a caller's split are present. INVALID. */
graphss_status graphss_i_split_lists(graphss_ctx *ctx, const graphss_split *split);
/* Checks also that its nodes are below n and occur at most once in a list. A node may be in
 * two lists. INVALID, SHAPE, NOMEM. */
graphss_status graphss_i_split_check(graphss_ctx *ctx, const graphss_split *split, size_t n);

/* The node with this id, which need not end in NUL, or -1. */
int64_t graphss_i_node_index_find(
    const graphss_node_index *index, const char *id, size_t length);
/* The node whose number this text is, or -1. */
int64_t graphss_i_find_number(const graphss_dataset *data, const char *id, size_t length);

/* Maps the labels of a file (any integers; negative: unknown) to 0..K-1. If class names are
 * given or the values are 0..K-1 already they stay; otherwise the values in ascending order
 * become classes named after themselves. */
graphss_status graphss_i_labels_from_ints(
    graphss_ctx *ctx, graphss_dataset *data, const int64_t *label, size_t n, const char *what);

/* Checks that the parts of a caller's dataset are sound and fit together. DATA, INVALID. */
graphss_status graphss_i_dataset_check(graphss_ctx *ctx, const graphss_dataset *data);

/* The name of a dataset: "cora" for "dir/ind.cora" and for "dir/cora.npz". */
void graphss_i_dataset_stem(char *out, size_t size, const char *where, const char *format);

/* Checks that the parts fit together (rows, labels, names), fills isolated, hash and name,
 * logs what was cleaned at level INFO, and warns of a feature that dominates all others. The
 * stem of `where` becomes the name. */
graphss_status graphss_i_dataset_finish(
    graphss_ctx *ctx, graphss_dataset *data, const char *where, const char *format);

/* ---- classes from what files call them ---- */

/* Labels as texts: class_of[i] is the number of node i's label among the texts of classes, or
 * -1 where it has none. Whole numbers (1, also 1.0) stay numbers, negative ones are unknown;
 * any other texts become names of classes, in their order, and a notice names two that differ
 * only in case or blanks. Fills label, n_classes and class_names of data; classes may be
 * emptied. file is for messages. NOMEM, LIMIT. */
graphss_status graphss_i_labels_from_texts(graphss_ctx *ctx, graphss_dataset *data,
    graphss_i_intern *classes, const int32_t *class_of, size_t n, const char *file);

/* Checks feature columns that a reader delivers: drops unused columns of very wide
 * tables, and refuses values too large or too small to compute with. */

/* Up to this many columns keep their positions, whether a node uses them or not. */
enum { GRAPHSS_I_COLUMNS_KEPT = 1 << 16 };

/* Leaves out the columns that no node uses, where there are more than
 * GRAPHSS_I_COLUMNS_KEPT: a model has weights for each column, so a file of a few bytes
 * could ask for all memory. Columns without names are then called by their numbers, and a
 * model finds them by these names in other snapshots. Logs a notice. Takes memory for the
 * stored entries, not for the columns. */
graphss_status graphss_i_columns_drop_unused(
    graphss_ctx *ctx, graphss_dataset *data, const char *where);

/* The square of a value must fit a float, and that of the largest one must not vanish. DATA
 * names node, column, the value and the range. Names may be NULL. */
graphss_status graphss_i_columns_check_range(graphss_ctx *ctx,
    const graphss_features *features, const graphss_names *node_names,
    const graphss_names *column_names);

/* Node and column of a stored entry. */
void graphss_i_columns_place(
    size_t *row, size_t *column, const graphss_features *features, size_t entry);

/* The name in quotes, or the number if there is none. */
const char *graphss_i_columns_called(char text[96], const graphss_names *names, size_t i);

#endif
