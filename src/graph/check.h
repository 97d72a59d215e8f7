/* check.h - checks graph and features that came from a caller. Code that built them itself, or
 * got them from a function that checked them, need not check again. */
#ifndef GRAPHSS_CHECK_H
#define GRAPHSS_CHECK_H

#include <graphss/graph.h>

/* Runs graphss_graph_check, then graphss_features_check. Check before that their sizes
 * agree. */
graphss_status graphss_i_check_snapshot(
    graphss_ctx *ctx, const graphss_graph *graph, const graphss_features *features);

#endif
