/* records.h - DIR/records.jsonl: one line for each finished cell (docs/records.md). */
#ifndef GRAPHSS_RECORDS_H
#define GRAPHSS_RECORDS_H

#include "base/base.h"
#include <graphss/recover.h>
#include <jansson.h>

/* Names of the fields that identify a cell, ended by NULL. */
extern const char *const graphss_i_identity[];

/* An open file of records. {0} is closed. */
typedef struct graphss_i_records {
    int fd;        /* where path is not NULL; locked against other writers */
    char *path;    /* the context's; NULL: closed */
    json_t *index; /* text of the identity -> the last record of that cell */
    size_t lines;
    size_t cut; /* bytes of a torn last line that were cut off */
} graphss_i_records;

/* Opens the file for appending, creates it if missing, reads its records and removes an
 * incomplete last line. DATA, with the line: not a record. LIMIT: another run has it open. IO,
 * NOMEM. */
graphss_status graphss_i_records_open(
    graphss_ctx *ctx, graphss_i_records *out, const char *path);
/* Appends a line, on disk when it returns, and keeps it in the index. */
graphss_status graphss_i_records_add(
    graphss_ctx *ctx, graphss_i_records *records, json_t *record);
void graphss_i_records_close(graphss_ctx *ctx, graphss_i_records *records);

/* Reads lines of records into index (an object); of two lines of a cell the later counts.
 * Bytes after the last newline are ignored: *whole is where they begin. name is for errors. */
graphss_status graphss_i_records_parse(graphss_ctx *ctx, json_t *index, size_t *lines,
    size_t *whole, const char *bytes, size_t n, const char *name);
/* The identity of a record's cell as text; release it with free. NULL: no memory. */
char *graphss_i_record_key(const json_t *record);
/* The record of a cell, borrowed, or NULL. */
json_t *graphss_i_records_find(const graphss_i_records *records, const json_t *identity);

/* ---- values that are always valid JSON ---- */

json_t *graphss_i_json_real(double value); /* null for NaN and infinities */
json_t *graphss_i_json_text(const char *text);
/* The name of a graphss_mode in records and recipes: "honest" or "paper". */
const char *graphss_i_record_mode(int mode);
/* The values of a struct by the names of its table; first the method whose options they are,
 * unless NULL. */
json_t *graphss_i_json_options(
    const void *options, const graphss_option *table, const char *method);

#endif
