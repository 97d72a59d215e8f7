/* runs.h - the records of `graphss reproduce`: one JSON object a line, one line a cell.
 * docs/records.md has the meaning of the fields. Private. */
#ifndef GRAPHSS_REPORT_RUNS_H
#define GRAPHSS_REPORT_RUNS_H

#include <jansson.h>

#include "lab/report/text_arena.h"

/* The texts are never NULL: "" if a record lacks them. They live as long as the records. */
typedef struct graphss_i_run {
    const char *what, *mode, *setting, *dataset, *model, *method, *train, *task, *parameter;
    const char *who;              /* attacks: rehearsed, unrehearsed, foreign, ...; "" */
    const char *set, *value_text; /* as text, for numbers too */
    double value;                 /* NaN if value is a text or absent */
    int64_t seed;                 /* -1: none */
    const char *error;            /* NULL: the cell was computed */
    int64_t error_code;
    json_t *json; /* the whole object */
    size_t line;  /* in the file, from 1 */
} graphss_i_run;

typedef struct graphss_i_runs {
    graphss_i_arena arena;
    json_t *lines; /* an array that owns the objects */
    graphss_i_run *record;
    size_t n, room;
    size_t replaced; /* lines of a cell that came again later */
    bool cut;        /* the last line had no end and was left out */
} graphss_i_runs;

/* Reads a file, or FOLDER/records.jsonl and those of the folders below it. Errors: NOT_FOUND,
 * DATA (file, line and what was wrong), LIMIT (more than 1 GiB), NOMEM. */
graphss_status graphss_i_runs_read(graphss_ctx *ctx, graphss_i_runs *out, const char *path);
/* The same from memory, with a NUL after it; where names it in errors. */
graphss_status graphss_i_runs_parse(
    graphss_ctx *ctx, graphss_i_runs *out, const char *text, size_t n, const char *where);
void graphss_i_runs_destroy(graphss_i_runs *records);

/* A number of "metrics"; NaN: absent or null. */
double graphss_i_metric(const graphss_i_run *record, const char *name);
/* The numbers of an array in the object (member, then name); NaN for other values. NULL and *n
 * = 0 if there is no such array. In the arena. */
const double *graphss_i_numbers(graphss_i_arena *arena, const graphss_i_run *record,
    const char *member, const char *name, size_t *n);
/* A square matrix of at most 64 rows, [k x k]; NULL and *k = 0 if there is none. */
const double *graphss_i_counts(graphss_i_arena *arena, const graphss_i_run *record,
    const char *member, const char *name, size_t *k);
/* A text in the object; "" if there is none. */
const char *graphss_i_text_of(
    const graphss_i_run *record, const char *member, const char *name);

#endif
