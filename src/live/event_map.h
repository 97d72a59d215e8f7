/* event_map.h - rows of tables as events: which tables are nodes, which are links.
 *
 *     {"nodes": [{"table": "public.account", "id": "account_id", "prefix": "a",
 *                 "label": "kind", "features": ["age", "posts"]}],
 *      "links": [{"table": "public.follows", "u": "who", "v": "whom",
 *                 "u_prefix": "a", "v_prefix": "a"}],
 *      ... members of the source ...}
 *
 * prefix, label, features, u_prefix and v_prefix may be left out. */
#ifndef GRAPHSS_EVENT_MAP_H
#define GRAPHSS_EVENT_MAP_H

#include "live/event_source.h"
#include <jansson.h>

typedef struct graphss_i_map_table {
    const char *name; /* schema.table */
    bool links, label;
    const char *prefix[2]; /* of the id; of u and v */
    const char **column;   /* [n]: id, label if there is one, features; or u, v */
    size_t n;
} graphss_i_map_table;

typedef struct graphss_i_map {
    json_t *root;               /* texts are borrowed from it */
    graphss_i_map_table *table; /* [n], nodes first */
    size_t n;
} graphss_i_map;

/* Reads a mapping file. Members other than nodes, links and `also` [NULL-ended] are refused.
 * NOT_FOUND, IO; DATA: what is wrong with it. */
graphss_status graphss_i_map_read(
    graphss_ctx *ctx, graphss_i_map *out, const char *path, const char *const *also);
void graphss_i_map_destroy(graphss_ctx *ctx, graphss_i_map *map);
/* NULL: not mapped. */
const graphss_i_map_table *graphss_i_map_find(const graphss_i_map *map, const char *name);
/* A text member of the file, or otherwise. */
const char *graphss_i_map_text(
    const graphss_i_map *map, const char *name, const char *otherwise);

/* A value of a row: absent (not in the message), null, or text. */
typedef struct graphss_i_cell {
    const char *text; /* NULL: null */
    size_t n;
    bool there;
} graphss_i_cell;

/* A row that was, is, or both. */
typedef struct graphss_i_row_change {
    const graphss_i_map_table *table;
    const graphss_i_cell *before, *after; /* [table->n] in its order; NULL: none */
    double t;                             /* NaN: not given */
    const char *source;                   /* NULL: not given; */
    int64_t seq; /* and the number of the first event, of at most GRAPHSS_I_ROW_EVENTS; -1 */
} graphss_i_row_change;
enum { GRAPHSS_I_ROW_EVENTS = 4 };

/* Lines of events for a change of a row. A change that makes no event (a feature that is not a
 * number) becomes a line with the reason, which the parser refuses. */
graphss_status graphss_i_map_row(graphss_ctx *ctx, const graphss_i_row_change *change,
    graphss_status (*take)(void *user, const char *line, size_t n), void *user);

#endif
