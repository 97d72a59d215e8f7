/* fuzz_events.c - any bytes as a line of JSON: refused, or an event that reads back the same.
 */
#include "fuzz_check.h"
#include <graphss/events.h>
#include <math.h>

static void check(const graphss_event *e)
{
    must((size_t)e->op < GRAPHSS_EVENT_OPS && e->u && *e->u);
    must((e->v != NULL) ==
         (e->op == GRAPHSS_EVENT_ADD_EDGE || e->op == GRAPHSS_EVENT_REMOVE_EDGE));
    must(isnan(e->t) || (e->t >= 0 && e->t <= 4294967295.0));
    must(e->seq >= -1 && strlen(e->u) <= GRAPHSS_EVENT_NAME);
    for (size_t i = 0; i < e->n_features; i++)
        must(e->feature[i] && isfinite(e->value[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    graphss_ctx *ctx = fuzz_ctx();
    graphss_event e = {0}, again = {0};
    if (graphss_event_parse(ctx, &e, size ? (const char *)bytes : "", size) == GRAPHSS_OK) {
        char *line = NULL;
        check(&e);
        must(graphss_event_text(ctx, &line, &e) == GRAPHSS_OK);
        must(graphss_event_parse(ctx, &again, line, strlen(line)) == GRAPHSS_OK);
        must(again.op == e.op && !strcmp(again.u, e.u) && again.seq == e.seq &&
             again.n_features == e.n_features);
        graphss_release(ctx, line);
        graphss_event_destroy(ctx, &again);
    }
    graphss_event_destroy(ctx, &e);
    graphss_ctx_free(ctx);
    return 0;
}
