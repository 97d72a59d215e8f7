/* edge_extras.h - the edges of a file: pairs of nodes, and further columns such as a type or a
 * date. The latter are not used; one notice says so, with numbers. */
#ifndef GRAPHSS_EDGE_EXTRAS_H
#define GRAPHSS_EDGE_EXTRAS_H

#include "data/build.h"
#include "data/formats/csv.h"
#include <graphss/graph.h>

/* ---- a growing list of edges as text formats give them. {0} is empty ---- */

typedef struct graphss_i_edge_pairs {
    int32_t *from, *to; /* [count] */
    size_t count, room;
    int64_t zeros, weighted;
} graphss_i_edge_pairs;

/* An edge of weight zero is counted, not kept; other weights are counted and dropped. */
graphss_status graphss_i_edge_pairs_add(
    graphss_ctx *ctx, graphss_i_edge_pairs *pairs, int32_t from, int32_t to, double weight);
graphss_status graphss_i_edge_pairs_build(graphss_ctx *ctx, graphss_graph *out,
    graphss_cleaning *cleaned, const graphss_i_edge_pairs *pairs, size_t n_nodes);
void graphss_i_edge_pairs_destroy(graphss_ctx *ctx, graphss_i_edge_pairs *pairs);

/* Some lines of a file. With head > 0 they follow the first `head` bytes, the file's first
 * line. */
typedef struct graphss_i_slice {
    const char *file, *comments; /* as in graphss_i_csv_start */
    bool blanks;
    char *bytes;
    size_t n, head;
    size_t line; /* number of the first line behind the head */
} graphss_i_slice;

/* Adds the edges of a slice of an edge list; ids are interned in the order of their lines.
 * Defined in edge_list.c. */
graphss_status graphss_i_read_edge_slice(graphss_ctx *ctx, graphss_i_edge_pairs *pairs,
    graphss_i_intern *ids, const graphss_i_slice *slice);

enum { GRAPHSS_I_EXTRAS_NAMED = 4 };

/* {0} is empty. */
typedef struct graphss_i_edge_extras {
    size_t count; /* of columns; only the first few are tracked */
    struct {
        size_t column;
        char name[64];
        graphss_i_intern values; /* the first few */
        bool many;
    } item[GRAPHSS_I_EXTRAS_NAMED];
} graphss_i_edge_extras;

/* A column that is not used. */
void graphss_i_edge_extras_name(
    graphss_i_edge_extras *e, size_t column, const char *name, size_t length);
/* The columns of a header but those at from, to and weight (-1: none). */
void graphss_i_edge_extras_header(graphss_i_edge_extras *e, const graphss_i_csv *header,
    int64_t from, int64_t to, int64_t weight);
/* Counts a value of the i-th extra, i < GRAPHSS_I_EXTRAS_NAMED. NOMEM. */
graphss_status graphss_i_edge_extras_value(
    graphss_ctx *ctx, graphss_i_edge_extras *e, size_t i, const char *text, size_t length);
/* Counts those of a record, but numbers in the column `weight` (-1: none), which are weights.
 */
graphss_status graphss_i_edge_extras_record(
    graphss_ctx *ctx, graphss_i_edge_extras *e, const graphss_i_csv *record, int64_t weight);
/* Logs a notice if there are any. */
void graphss_i_edge_extras_tell(
    graphss_ctx *ctx, const graphss_i_edge_extras *e, const char *file);
void graphss_i_edge_extras_destroy(graphss_ctx *ctx, graphss_i_edge_extras *e);

#endif
