/* reinforce.h - words and edges that speak for the class a node has: change that misleads
 * nobody, though it is as loud as an attack. */
#ifndef GRAPHSS_PRAISE_H
#define GRAPHSS_PRAISE_H

#include "base/base.h"
#include <graphss/attack.h>

/* Appends to *flips, for each victim: the `words` that speak loudest for its class and that
 * it lacks, or as many drawn from nodes of the class, in turn; and for every other two victims
 * `edges` as the class has them. Of dense features values are drawn. in: graph, features,
 * label, n_classes, surrogate, victims, seed. */
graphss_status graphss_i_praise(graphss_ctx *ctx, graphss_flips *flips,
                                const graphss_attack_input *in, int64_t edges, int64_t words);

#endif
