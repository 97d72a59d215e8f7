/* move.h - dense features of victims are moved towards those of nodes they are to look like:
 * what an attacker does where there are no words to switch on and off. */
#ifndef GRAPHSS_MOVE_H
#define GRAPHSS_MOVE_H

#include "base/base.h"
#include <graphss/attack.h>

/* Shares of the way, for budgets that are small, usual and large. */
enum { GRAPHSS_I_MOVES = 3 };
extern const double graphss_i_moves[GRAPHSS_I_MOVES];

/* Appends the changes to *flips, in which new edges of the victims may stand: a victim is to
 * look like a random node of the class that most of its new edges lead to; without any, of
 * another class than its own. x += share (x' - x); where many tries meet no such node, or with
 * a share of 0, it is left alone. in: graph, features (dense), label, n_classes, victims;
 * share [victims]. */
graphss_status graphss_i_move(graphss_ctx *ctx, graphss_flips *flips,
                              const graphss_attack_input *in, const double *share,
                              graphss_rng *rng);

#endif
