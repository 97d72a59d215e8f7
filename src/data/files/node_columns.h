/* node_columns.h - the columns of a table of nodes that may be features, cell by cell.
 *
 *     graphss_i_node_columns_add(ctx, &c, i, field);     once for each column of a row
 *     graphss_i_node_columns_end_row(&c);
 *     ...
 *     graphss_i_node_columns_finish(ctx, &c, &data, missing);
 *
 * The first entry of a column says what it holds. Numbers are a feature. Text of a few values
 * is a feature of 0 and 1 for each value, called COLUMN=VALUE; other text is left out, with a
 * notice. What an empty cell among numbers means is the caller's choice. */
#ifndef GRAPHSS_NODE_COLUMNS_H
#define GRAPHSS_NODE_COLUMNS_H

#include "data/build.h"
#include "data/formats/csv.h"

enum { GRAPHSS_I_BAD_SHOWN = 10 };

/* Cells that hold no number and should: the first few, and how many there are. */
typedef struct graphss_i_bad_cells {
    graphss_i_csv_field cell[GRAPHSS_I_BAD_SHOWN];
    size_t column[GRAPHSS_I_BAD_SHOWN];
    size_t like[GRAPHSS_I_BAD_SHOWN]; /* line of the first number of its column; 0: above it */
    size_t listed, count;
} graphss_i_bad_cells;

typedef enum graphss_i_column_form {
    GRAPHSS_I_COLUMN_OPEN, /* no entry yet */
    GRAPHSS_I_COLUMN_NUMBERS,
    GRAPHSS_I_COLUMN_TEXT,
    GRAPHSS_I_COLUMN_MANY,  /* text of too many values */
    GRAPHSS_I_COLUMN_SPOILT /* its first entry was to be a number, such as 1,5 */
} graphss_i_column_form;

typedef struct graphss_i_node_column {
    graphss_i_csv_field name;
    graphss_i_column_form form;
    graphss_i_csv_field first; /* missing cell while OPEN; the entry if SPOILT */
    float *number;             /* [rows], NaN: missing */
    int32_t *code;             /* [rows] text: number of its value, -1: missing */
    graphss_i_intern values;
    size_t room, missing;
} graphss_i_node_column;

/* {0} is empty. */
typedef struct graphss_i_node_columns {
    const char *file;
    graphss_i_node_column *column;
    size_t n_columns, rows;
    graphss_missing_rule missing;
    graphss_i_bad_cells bad;
} graphss_i_node_columns;

/* n columns of these names, which are borrowed, and so are the cells that follow, until
 * finish. file is for messages. */
graphss_status graphss_i_node_columns_init(graphss_ctx *ctx, graphss_i_node_columns *c,
                                           const char *file, const graphss_i_csv_field *name,
                                           size_t n, graphss_missing_rule missing);
graphss_status graphss_i_node_columns_add(graphss_ctx *ctx, graphss_i_node_columns *c,
                                          size_t column, const graphss_i_csv_field *field);
static inline void graphss_i_node_columns_end_row(graphss_i_node_columns *c)
{
    c->rows++;
}
/* Fills features, column_names and missing of data. DATA: cells that are no numbers, or that
 * are missing where the rule forbids it, all in one text. NOMEM, LIMIT. */
graphss_status graphss_i_node_columns_finish(graphss_ctx *ctx, graphss_i_node_columns *c,
                                             graphss_dataset *data);
void graphss_i_node_columns_destroy(graphss_ctx *ctx, graphss_i_node_columns *c);

#endif
