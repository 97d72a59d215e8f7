/* graphml.h - a GraphML document as lists of keys, nodes, cells and edges, before they are
 * interpreted. Texts are in one block and referred to by their position in it. */
#ifndef GRAPHSS_GRAPHML_H
#define GRAPHSS_GRAPHML_H

#include "base/base.h"

typedef struct graphss_i_graphml_text {
    size_t start, length;
    size_t line, column; /* in the document, from 1 */
} graphss_i_graphml_text;

/* <key>: the name and type of <data> of nodes or edges. */
typedef struct graphss_i_graphml_key {
    graphss_i_graphml_text id, name, fallback; /* fallback: <default>, or length 0 */
    bool of_nodes, of_edges;
    bool is_bool; /* true and false are 1 and 0 */
    bool unread;  /* holds elements, as drawings do: of no use here */
} graphss_i_graphml_key;

/* <data> of the node or edge number `owner`. */
typedef struct graphss_i_graphml_cell {
    size_t owner, key;
    graphss_i_graphml_text value;
} graphss_i_graphml_cell;

typedef struct graphss_i_graphml_edge {
    graphss_i_graphml_text end[2];
} graphss_i_graphml_edge;

/* {0} is empty. */
typedef struct graphss_i_graphml {
    char *text;
    size_t text_used, text_room;
    graphss_i_graphml_key *key;
    size_t n_keys, keys_room;
    graphss_i_graphml_text *node; /* their ids */
    size_t n_nodes, nodes_room;
    graphss_i_graphml_edge *edge;
    size_t n_edges, edges_room;
    graphss_i_graphml_cell *of_node, *of_edge; /* in the order of their owners */
    size_t n_of_node, of_node_room, n_of_edge, of_edge_room;
} graphss_i_graphml;

/* Fills *out, which is empty. Errors: DATA with file, line and column (no XML, no <graphml>, a
 * node without an id, a <data> whose key is not declared, a hyperedge, an entity of its own),
 * NOMEM. Memory O(n). */
graphss_status graphss_i_graphml_parse(
    graphss_ctx *ctx, graphss_i_graphml *out, const char *file, const char *bytes, size_t n);
void graphss_i_graphml_destroy(graphss_ctx *ctx, graphss_i_graphml *g);

#endif
