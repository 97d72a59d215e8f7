/* apply.h - applies changes to a snapshot that was already checked. */
#ifndef GRAPHSS_APPLY_H
#define GRAPHSS_APPLY_H

#include <graphss/flips.h>

/* As graphss_flips_apply_parts, without checking graph and features. */
graphss_status graphss_i_apply(graphss_ctx *ctx, graphss_graph *out_graph,
                               graphss_features *out_features, const graphss_graph *graph,
                               const graphss_features *features, const graphss_flips *flips,
                               const graphss_apply_options *opt);

#endif
