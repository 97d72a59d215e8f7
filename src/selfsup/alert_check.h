/* alert_check.h - are the options of an alert such that there can be one? */
#ifndef GRAPHSS_ALERT_CHECK_H
#define GRAPHSS_ALERT_CHECK_H

#include <graphss/alert.h>

/* INVALID: a value out of range, or a rate below 1 / (draws + 1). */
graphss_status graphss_i_alert_check(graphss_ctx *ctx, const graphss_alert_options *opt);

#endif
