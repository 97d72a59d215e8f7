/* edge_extras.h - what a file says of edges beside their ends and weight: a type, a date. None
 * of it is used, and that is told once, with numbers. */
#ifndef GRAPHSS_EDGE_EXTRAS_H
#define GRAPHSS_EDGE_EXTRAS_H

#include "data/build.h"
#include "data/formats/csv.h"

enum { GRAPHSS_I_EXTRAS_NAMED = 4 };

/* {0} is empty. */
typedef struct graphss_i_edge_extras {
    size_t count; /* of columns; the first few are looked at */
    struct {
        size_t column;
        char name[64];
        graphss_i_intern values; /* the first few */
        bool many;
    } item[GRAPHSS_I_EXTRAS_NAMED];
} graphss_i_edge_extras;

/* A column that is not used. */
void graphss_i_edge_extras_name(graphss_i_edge_extras *e, size_t column, const char *name,
                                size_t length);
/* The columns of a header but those at from, to and weight (-1: none). */
void graphss_i_edge_extras_header(graphss_i_edge_extras *e, const graphss_i_csv *header,
                                  int64_t from, int64_t to, int64_t weight);
/* Counts a value of the i-th extra, i < GRAPHSS_I_EXTRAS_NAMED. NOMEM. */
graphss_status graphss_i_edge_extras_value(graphss_ctx *ctx, graphss_i_edge_extras *e,
                                           size_t i, const char *text, size_t length);
/* Counts those of a record, but numbers in the column `weight` (-1: none), which are weights.
 */
graphss_status graphss_i_edge_extras_record(graphss_ctx *ctx, graphss_i_edge_extras *e,
                                            const graphss_i_csv *record, int64_t weight);
/* Logs a notice where there are any. */
void graphss_i_edge_extras_tell(graphss_ctx *ctx, const graphss_i_edge_extras *e,
                                const char *file);
void graphss_i_edge_extras_destroy(graphss_ctx *ctx, graphss_i_edge_extras *e);

#endif
