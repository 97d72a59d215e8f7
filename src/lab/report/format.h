/* format.h - a document as a file. Private. */
#ifndef GRAPHSS_REPORT_FORMAT_H
#define GRAPHSS_REPORT_FORMAT_H

#include "lab/report/document.h"

/* One page that needs nothing else: style, script and plots are inside. */
void graphss_i_format_html(graphss_i_writer *writer, const graphss_i_document *d);
/* plots: where the plots' files are, seen from the page; NULL: they are left out. */
void graphss_i_format_markdown(graphss_i_writer *writer, const graphss_i_document *d,
                               const char *plots);
void graphss_i_format_latex(graphss_i_writer *writer,
                            const graphss_i_document *d);                         /* tables */
void graphss_i_format_csv(graphss_i_writer *writer, const graphss_i_document *d); /* tables */

#endif
