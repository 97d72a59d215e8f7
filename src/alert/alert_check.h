/* alert_check.h - what an alert needs: options such that there can be one, nodes to compare
 * with, sorted scores. */
#ifndef GRAPHSS_ALERT_CHECK_H
#define GRAPHSS_ALERT_CHECK_H

#include <graphss/alert.h>

/* INVALID: a value out of range, or a rate below 1 / (draws + 1). */
/* *opt: the options given, or the defaults for NULL, checked. */
graphss_status graphss_i_alert_options_take(graphss_ctx *ctx, graphss_alert_options *opt,
                                            const graphss_alert_options *given);

/* Whom a group is compared with. Do the nodes of a kind that have no label and are not in the
 * group count as clean, beside the clean nodes of that kind? open: validation nodes alone were
 * not asked for. */
static inline bool graphss_i_alert_joined(const graphss_alert_scores *seen, size_t kind,
                                          bool open)
{
    return open && (seen->quiet || (seen->settled && seen->settled[kind]));
}
/* And where so many of them do: are the clean nodes of that kind then left out, since those
 * changed by themselves and the clean ones were only made to? */
static inline bool graphss_i_alert_replaced(const graphss_alert_scores *seen, size_t kind,
                                            size_t joined)
{
    return seen->rehearsed && seen->rehearsed[kind] && joined >= GRAPHSS_ALERT_TRUE_LEAST;
}

/* graphss_alert_judge, but without clean nodes to compare with it is OK and n_group is 0. */
graphss_status graphss_i_alert_judge(graphss_ctx *ctx, graphss_verdict *out,
                                     const graphss_alert_scores *seen, const int32_t *node,
                                     size_t n, uint64_t seed,
                                     const graphss_alert_options *opt);

/* Fills sorted and sorted_start, so that many groups can be judged. */
graphss_status graphss_i_alert_sort(graphss_ctx *ctx, graphss_alert_scores *seen);

#endif
