/* reinforce.h - adds features and edges that support the class a node has: a harmless change
 * as large as an attack. */
#ifndef GRAPHSS_PRAISE_H
#define GRAPHSS_PRAISE_H

#include "base/base.h"
#include <graphss/attack.h>

/* Appends to *flips for each victim: the `words` features with the strongest support for its
 * class that it lacks, or as many drawn from nodes of the class, in turn; and for two of every
 * four victims `edges` drawn as the class has them. Dense values are drawn. in: graph,
 * features, label, n_classes, surrogate, victims, seed. */
graphss_status graphss_i_praise(graphss_ctx *ctx, graphss_flips *flips,
                                const graphss_attack_input *in, int64_t edges, int64_t words);

#endif
