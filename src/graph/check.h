/* check.h - graph and features that a caller gave, looked at once. Who made them itself, or
 * was given them by somebody who looked, need not. */
#ifndef GRAPHSS_CHECK_H
#define GRAPHSS_CHECK_H

#include <graphss/graph.h>

/* graphss_graph_check, then graphss_features_check. Look first whether they fit together. */
graphss_status graphss_i_check_snapshot(graphss_ctx *ctx, const graphss_graph *graph,
                                        const graphss_features *features);

#endif
