/* csv.h - records of a text table, one at a time, over a file held in memory.
 *
 * RFC 4180 quotes (a quoted field may hold the delimiter, newlines and doubled quotes), LF,
 * CRLF or CR, a UTF-8 byte order mark, blank lines skipped. Unquoted fields lose the blanks
 * around them. The delimiter is found on the first line. */
#ifndef GRAPHSS_CSV_H
#define GRAPHSS_CSV_H

#include "base/base.h"

typedef struct graphss_i_csv_field {
    const char *text; /* not ended by NUL; holds none */
    size_t length;
    size_t line, column; /* from 1; of its first byte in the file */
    bool quoted;
} graphss_i_csv_field;

typedef struct graphss_i_csv {
    const char *file;
    char *at, *end;
    char *line_begin;
    size_t line;
    char delimiter;             /* ',', ';', '\t', or ' ' for any run of blanks and tabs */
    const char *comments;       /* a line that begins with one of these is skipped; "": none */
    graphss_i_csv_field *field; /* [count] of the last record */
    size_t count, room;
} graphss_i_csv;

/* The whole file, or standard input for "-", as UTF-8: unpacked where gzip packed it, taken as
 * Latin-1 with a warning where it is not UTF-8. LIMIT when it is larger than max. */
graphss_status graphss_i_csv_read(
    graphss_ctx *ctx, char **bytes, size_t *n, const char *path, uint64_t max);
/* bytes are borrowed until the end and changed: quoted fields are unquoted in place. With
 * blanks, a file without commas and semicolons is split at blanks and tabs alike; else tabs
 * come before blanks. Cannot fail. */
void graphss_i_csv_start(graphss_i_csv *csv, const char *file, char *bytes, size_t n,
    const char *comments, bool blanks);
/* The next record in csv->field; *more is false at the end of the file. Errors: DATA with
 * file:line:column (a quote that is not closed, text behind a closing quote, a NUL byte),
 * LIMIT (over a million fields), NOMEM. */
graphss_status graphss_i_csv_next(graphss_ctx *ctx, bool *more, graphss_i_csv *csv);
void graphss_i_csv_end(graphss_ctx *ctx, graphss_i_csv *csv);

/* Fails with "FILE:LINE:COLUMN: found 'TEXT', want WANTED". */
graphss_status graphss_i_csv_fail(graphss_ctx *ctx, const graphss_i_csv *csv,
    const graphss_i_csv_field *field, const char *wanted);
/* Compares without regard to case. */
bool graphss_i_csv_is(const graphss_i_csv_field *field, const char *word);
/* The first field of the record that is one of the words (ended by NULL), or -1. */
int64_t graphss_i_csv_column(const graphss_i_csv *csv, const char *const *words);
/* Warns that a line with the ends field[0] and field[1] is taken for a header, since it may
 * have been meant as an edge. */
void graphss_i_csv_warn_header(graphss_ctx *ctx, const graphss_i_csv *csv,
    const graphss_i_csv_field *field, const char *why);
/* True if the header (the last record) has at least this many fields and a first column
 * without a name, as pandas writes its index. Warns that the column is skipped. */
bool graphss_i_csv_index(graphss_ctx *ctx, const graphss_i_csv *csv, size_t least);
/* Names that mark the two ends of an edge, and its weight; ended by NULL. */
extern const char *const graphss_i_csv_from[], *const graphss_i_csv_to[],
                                                   *const graphss_i_csv_weight[];

#endif
