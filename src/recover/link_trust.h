/* link_trust.h - which links of a graph that may be poisoned are foreign.
 *
 * A link is genuine or foreign. Views of it are numbers: how alike the features of its ends
 * are, how well their classes go together, how many trusted neighbours they share. Genuine
 * links have the higher ones, foreign links those of pairs drawn at random; given which of the
 * two a link is, its views are taken as independent. Links are stored edges, so each counts
 * twice. */
#ifndef GRAPHSS_LINK_TRUST_H
#define GRAPHSS_LINK_TRUST_H

#include "base/base.h"
#include <graphss/graph.h>

enum {
    GRAPHSS_I_LINK_BINS = 16,   /* of a view: about 6 % of the links each */
    GRAPHSS_I_LINK_VIEWS = 3,   /* at most */
    GRAPHSS_I_LINK_UNSEEN = 255 /* the bin of a view that says nothing: NaN */
};

/* value [graph->offset[n]] of each stored edge <- that of the row of its lesser end, so that
 * both ways of a link have one: sums in another order differ in the last bit, and a bin may
 * begin there. at [n] is room. */
void graphss_i_link_both_ways(float *value, const graphss_graph *graph, int64_t *at);

/* bin [m] <- the bin of each value. cut [GRAPHSS_I_LINK_BINS] gets the *n_cut bounds at which
 * the bins after the first begin; they hold about as many values each, and equal values share
 * one. sorted [m] is room. */
void graphss_i_link_bins(
    uint8_t *bin, float *cut, size_t *n_cut, float *sorted, const float *value, size_t m);
/* chance [GRAPHSS_I_LINK_BINS] <- share of the m values that is in each bin. */
void graphss_i_link_chance(
    double *chance, const float *cut, size_t n_cut, const float *value, size_t m);

/* foreign [m], which holds a first guess, <- P(foreign | views), by EM:
 *   x_e = logit share + sum over views of log P(bin | foreign) / P(bin | genuine)
 * where P(bin | foreign) is chance [views x BINS], P(bin | genuine) and share are learned, and
 * the ratio falls from bin to bin. bin [views x m]. Returns the share of foreign links. */
double graphss_i_link_foreign(
    double *foreign, const uint8_t *bin, const double *chance, size_t views, size_t m);

/* What the ends of each stored pair share, by trust [graph->offset[n]] of the links:
 *   out_ij = sum_l t_il t_lj / sqrt(sum_l t_il sum_l t_jl), 0 where a sum is
 * degree [n] is room; room [n] is zero before and after. */
void graphss_i_link_common(float *out, const graphss_graph *pairs, const graphss_graph *graph,
    const float *trust, double *degree, float *room);

/* ratio [k x k] <- P(c, d | trusted link) / P(c) P(d), of classes by belief [n x k]; one link
 * like any other is added to each pair of classes. end [k] is room. */
void graphss_i_link_ratio(double *ratio, double *end, const graphss_graph *graph,
    const float *trust, const float *belief, size_t k);
/* out_ij = log sum_cd b_i(c) ratio(c, d) b_j(d) of each stored pair */
void graphss_i_link_agreement(float *out, const graphss_graph *pairs, const float *belief,
    const double *ratio, size_t k);

#endif
