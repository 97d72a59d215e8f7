/* selfsup_private.h - what the files of selfsup share besides the sampler. Private. */
#ifndef GRAPHSS_SELFSUP_PRIVATE_H
#define GRAPHSS_SELFSUP_PRIVATE_H

#include "base/base.h"
#include "selfsup/gibbs.h"

/* INVALID, with the position, if an option, a label, a matrix or a number is out of range. */
graphss_status graphss_i_selfsup_check(
    graphss_ctx *ctx, const graphss_selfsup_input *in, const graphss_selfsup_options *opt);
/* prob [n x K] finite, not negative, no row of zeros; where begins the text of the error. */
graphss_status graphss_i_check_prob(
    graphss_ctx *ctx, const float *prob, size_t n, size_t K, const char *where);

/* True if a refit is due after this sweep (from 0). */
bool graphss_i_refit_due(
    const graphss_selfsup_input *in, const graphss_selfsup_options *opt, size_t sweep);
/* Refits prob with the labels z unless opt->refit_rule forbids it; *done says whether. *best
 * is the highest agreement so far, -1 at first. */
graphss_status graphss_i_refit(graphss_ctx *ctx, bool *done, double *best, float *prob,
    const int32_t *z, const graphss_selfsup_input *in, const graphss_selfsup_options *opt);

/* Algorithm 1 as the paper's code runs it; fills an allocated result. */
graphss_status graphss_i_selfsup_paper(graphss_ctx *ctx, graphss_selfsup_result *out,
    const graphss_selfsup_input *in, const graphss_selfsup_options *opt);

#endif
