/* page.h - what the files of the page share. */
#ifndef GRAPHSS_SERVE_PAGE_H
#define GRAPHSS_SERVE_PAGE_H

#include "serve/serve_private.h"

/* ---- page_drawings.c: SVG without text where it is stretched, so that letters keep their
 * size
 * ---- */

/* p-values (log scale, 1 at the top), or evidence with a line at the threshold. */
void graphss_i_page_plot(
    graphss_i_text *t, const graphss_i_look *look, size_t n, bool p_value, double threshold);
/* A node among its neighbours: edges that were added, cut, and are as they were. */
void graphss_i_page_neighbours(
    graphss_i_text *t, const graphss_live *live, size_t node, const graphss_i_why *why);

#endif
