/* relabel_margin.h - when may a recovered label replace the classifier's? */
#ifndef GRAPHSS_CAUTION_H
#define GRAPHSS_CAUTION_H

#include "detect/state_model.h"

/* How far a class must lead the classifier's own to replace it, in [0, 1]: the smallest step
 * at which replacing labels does not lose, neither where simulated attacks hit nor elsewhere.
 * Judged on one half of the nodes by what was fitted on the other, with the shares [STATES]
 * found in the snapshot: they say which mistakes are likely. At most 0.2, or 1 where nothing
 * is gained at all. Other arguments as of graphss_i_suspicion_fit. */
graphss_status graphss_i_caution(graphss_ctx *ctx, double *lead, const graphss_i_view *now,
                                 size_t n, size_t k, const graphss_i_sample *untouched,
                                 const graphss_i_sample *attacked, const double *share,
                                 bool history);

/* Where the first class of p [k] leads `own` by no more than `lead`, they change places. */
void graphss_i_caution_apply(double *p, size_t own, double lead, size_t k);

#endif
