/* alert_scores.c - graphss_alert_look: a quick look, and nothing kept of it but scores. */
#include "defence/look.h"

graphss_status graphss_alert_look(graphss_ctx *ctx, graphss_alert_scores *out,
                                  const graphss_recover_input *in,
                                  const graphss_alert_options *given)
{
    const graphss_alert_options opt = given ? *given : graphss_alert_options_default();
    graphss_i_look look = {0};
    graphss_status st = graphss_options_check(ctx, &opt, graphss_alert_options_table());
    if (!st)
        st = graphss_i_look_at(ctx, &look, out, in);
    graphss_i_look_destroy(ctx, &look);
    return st;
}
