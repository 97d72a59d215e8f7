/* move.h - dense features of victims are moved towards those of nodes they are to look like:
 * what an attacker does where there are no words to switch on and off. */
#ifndef GRAPHSS_MOVE_H
#define GRAPHSS_MOVE_H

#include "base/base.h"
#include <graphss/attack.h>

/* Fraction of the distance moved, for small, usual and large budgets. */
enum { GRAPHSS_I_MOVES = 3 };
extern const double graphss_i_moves[GRAPHSS_I_MOVES];

/* Appends the changes to *flips, which may already hold new edges of the victims. A victim
 * moves towards a random node of the class that most of its new edges lead to; without new
 * edges, towards one of another class than its own: x += share (x' - x). It is left unchanged
 * if many draws find no such node, or if share is 0. in: graph, features (dense), label,
 * n_classes, victims; share [victims]. */
graphss_status graphss_i_move(graphss_ctx *ctx, graphss_flips *flips,
                              const graphss_attack_input *in, const double *share,
                              graphss_rng *rng);

#endif
