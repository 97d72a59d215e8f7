/* csv_features.h - node features gathered row by row from text, dense or sparse.
 *
 *     graphss_i_csv_features_cell(ctx, &f, csv, field);   or _number, once a column
 *     graphss_i_csv_features_end_row(ctx, &f, csv, field);
 *     ...
 *     graphss_i_csv_features_finish(ctx, &f, &data); */
#ifndef GRAPHSS_CSV_FEATURES_H
#define GRAPHSS_CSV_FEATURES_H

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

/* Adds the numbers of a cell such as "0.5, 1, 2" or "cat:1 dog:2" to the row. The first
 * cell that is not empty decides which of the two it is for the file. */
graphss_status graphss_i_csv_features_cell(graphss_ctx *ctx, graphss_i_csv_features *f,
                                           const graphss_i_csv *csv,
                                           const graphss_i_csv_field *field);
/* Adds one number to a dense row. */
graphss_status graphss_i_csv_features_number(graphss_ctx *ctx, graphss_i_csv_features *f,
                                             const graphss_i_csv *csv,
                                             const graphss_i_csv_field *field);
/* field is where a row of the wrong length is reported. */
graphss_status graphss_i_csv_features_end_row(graphss_ctx *ctx, graphss_i_csv_features *f,
                                              const graphss_i_csv *csv,
                                              const graphss_i_csv_field *field);
/* Fills features, and column_names where words were names and not numbers. */
graphss_status graphss_i_csv_features_finish(graphss_ctx *ctx, graphss_i_csv_features *f,
                                             graphss_dataset *data);
void graphss_i_csv_features_destroy(graphss_ctx *ctx, graphss_i_csv_features *f);
/* A number that fits a float, or false. */
bool graphss_i_csv_number(float *out, const char *text, size_t length);

#endif
