/* alert_check.h - what an alert needs: options such that there can be one, sorted scores. */
#ifndef GRAPHSS_ALERT_CHECK_H
#define GRAPHSS_ALERT_CHECK_H

#include <graphss/alert.h>

/* INVALID: a value out of range, or a rate below 1 / (draws + 1). */
graphss_status graphss_i_alert_check(graphss_ctx *ctx, const graphss_alert_options *opt);

/* Fills sorted and sorted_start, so that many groups can be judged. */
graphss_status graphss_i_alert_sort(graphss_ctx *ctx, graphss_alert_scores *seen);

#endif
