/* page.c - the page for people. */
#include "serve/serve_private.h"

graphss_status graphss_i_page(graphss_ctx *ctx, graphss_server *s, const graphss_i_job *job,
                              graphss_i_text *t)
{
    (void)ctx;
    (void)s;
    (void)job;
    graphss_i_text_add(t, "<!doctype html><title>GraphSS</title>");
    return GRAPHSS_OK;
}

const char graphss_i_page_css[] = "";
const char graphss_i_page_js[] = "";
