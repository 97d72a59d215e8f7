/* csv_nodes.h - reads a table of nodes. Features are gathered row by row, dense or sparse:
 *
 *     graphss_i_csv_features_cell(ctx, &f, csv, field);   or _number, once a column
 *     graphss_i_csv_features_end_row(ctx, &f, csv, field);
 *     ...
 *     graphss_i_csv_features_finish(ctx, &f, &data); */
#ifndef GRAPHSS_CSV_NODES_H
#define GRAPHSS_CSV_NODES_H

#include "data/build.h"
#include "data/formats/csv.h"

typedef struct graphss_i_csv_features {
    enum { GRAPHSS_I_CSV_UNDECIDED, GRAPHSS_I_CSV_DENSE, GRAPHSS_I_CSV_SPARSE } form;
    float *value;    /* [count] */
    int32_t *column; /* [count], sparse only: number of the word */
    size_t count, room;
    int64_t *offset; /* [rows + 1] */
    size_t rows, rows_room;
    size_t n_cols;             /* dense: numbers in each row */
    graphss_i_intern words;    /* sparse: column names or numbers, as text */
    graphss_i_csv_field empty; /* the first cell without numbers, for a dense file to refuse */
} graphss_i_csv_features;

/* Adds the numbers of a cell such as "0.5, 1, 2" or "cat:1 dog:2" to the row. The first cell
 * that is not empty decides which of the two forms the file has. */
graphss_status graphss_i_csv_features_cell(graphss_ctx *ctx, graphss_i_csv_features *f,
    const graphss_i_csv *csv, const graphss_i_csv_field *field);
/* Adds one number to a dense row. */
graphss_status graphss_i_csv_features_number(graphss_ctx *ctx, graphss_i_csv_features *f,
    const graphss_i_csv *csv, const graphss_i_csv_field *field);
/* field is where a row of the wrong length is reported. */
graphss_status graphss_i_csv_features_end_row(graphss_ctx *ctx, graphss_i_csv_features *f,
    const graphss_i_csv *csv, const graphss_i_csv_field *field);
/* Fills features, and column_names if words were names and not numbers. */
graphss_status graphss_i_csv_features_finish(
    graphss_ctx *ctx, graphss_i_csv_features *f, graphss_dataset *data);
void graphss_i_csv_features_destroy(graphss_ctx *ctx, graphss_i_csv_features *f);
/* A number that fits a float, or false. */
bool graphss_i_csv_number(float *out, const char *text, size_t length);

/* ---- a table of nodes: ids, labels, masks and features ---- */

/* How a table holds features: a cell of numbers or of words, or columns of their own. */
typedef enum graphss_i_feature_form {
    GRAPHSS_I_FORM_NONE,
    GRAPHSS_I_FORM_NUMBERS,
    GRAPHSS_I_FORM_WORDS,
    GRAPHSS_I_FORM_COLUMNS
} graphss_i_feature_form;

/* The source of records. Either the bytes of nodes.csv, which are changed, or next(), which
 * returns the nodes of another format: a header first, then a record for each node, in field
 * and count of the record, which it may grow. Their texts must stay until the end. */
typedef struct graphss_i_node_source {
    const char *file;
    char *bytes;
    size_t n_bytes;
    graphss_status (*next)(graphss_ctx *ctx, bool *more, graphss_i_csv *record, void *user);
    void *user;
    size_t line;                   /* name of the column behind the header; 0: unchanged */
    graphss_i_feature_form *found; /* format of the features, or NULL */
} graphss_i_node_source;

/* Fills everything of data but its graph and node names, and ids with the ids in file order.
 * On failure both may be half full: destroy them. */
graphss_status graphss_i_csv_nodes(graphss_ctx *ctx, graphss_dataset *data,
    graphss_i_intern *ids, const graphss_i_node_source *source, graphss_missing_rule missing);

/* Ids 0, 1, 2 ... in this order need no names. */
bool graphss_i_ids_are_places(const graphss_i_intern *ids);

/* The columns of a table of nodes that may be features, cell by cell.
 *
 *     graphss_i_node_columns_add(ctx, &c, i, field);     once for each column of a row
 *     graphss_i_node_columns_end_row(&c);
 *     ...
 *     graphss_i_node_columns_finish(ctx, &c, &data, missing);
 *
 * The first entry of a column determines its type. Numbers are a feature. Text of a few values
 * is a feature of 0 and 1 for each value, called COLUMN=VALUE; other text is left out, with a
 * notice. The caller chooses what an empty cell among numbers means. */
enum { GRAPHSS_I_BAD_SHOWN = 10 };

/* Cells that should hold a number and do not: the first few, and how many there are. */
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
    GRAPHSS_I_COLUMN_MANY, /* text of too many values */
    /* its first entry looks like a number in another notation, such as 1,5 */
    GRAPHSS_I_COLUMN_SPOILT
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
    const char *file, const graphss_i_csv_field *name, size_t n, graphss_missing_rule missing);
graphss_status graphss_i_node_columns_add(graphss_ctx *ctx, graphss_i_node_columns *c,
    size_t column, const graphss_i_csv_field *field);
static inline void graphss_i_node_columns_end_row(graphss_i_node_columns *c)
{
    c->rows++;
}
/* Fills features, column_names and missing of data. DATA: cells that are no numbers, or
 * missing cells if the rule forbids them, all in one text. NOMEM, LIMIT. */
graphss_status graphss_i_node_columns_finish(
    graphss_ctx *ctx, graphss_i_node_columns *c, graphss_dataset *data);
void graphss_i_node_columns_destroy(graphss_ctx *ctx, graphss_i_node_columns *c);

#endif
