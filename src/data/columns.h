/* columns.h - checks feature columns that a reader delivers: drops unused columns of very wide
 * tables, and refuses values too large or too small to compute with. */
#ifndef GRAPHSS_COLUMNS_H
#define GRAPHSS_COLUMNS_H

#include <graphss/dataset.h>

/* Up to this many columns keep their positions, whether a node uses them or not. */
enum { GRAPHSS_I_COLUMNS_KEPT = 1 << 16 };

/* Leaves out the columns that no node uses, where there are more than
 * GRAPHSS_I_COLUMNS_KEPT: a model has weights for each column, so a file of a few bytes
 * could ask for all memory. Columns without names are then called by their numbers, and a
 * model finds them by these names in other snapshots. Logs a notice. Takes memory for the
 * stored entries, not for the columns. */
graphss_status graphss_i_columns_drop_unused(graphss_ctx *ctx, graphss_dataset *data,
                                             const char *where);

/* The square of a value must fit a float, and that of the largest one must not vanish. DATA
 * names node, column, the value and the range. Names may be NULL. */
graphss_status graphss_i_columns_check_range(graphss_ctx *ctx,
                                             const graphss_features *features,
                                             const graphss_names *node_names,
                                             const graphss_names *column_names);

/* Node and column of a stored entry. */
void graphss_i_columns_place(size_t *row, size_t *column, const graphss_features *features,
                             size_t entry);

/* The name in quotes, or the number if there is none. */
const char *graphss_i_columns_called(char text[96], const graphss_names *names, size_t i);

#endif
