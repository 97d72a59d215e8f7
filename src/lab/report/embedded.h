/* embedded.h - files of this folder as text in the library, so that the program needs no
 * files beside it. Made by embed.cmake. Private. */
#ifndef GRAPHSS_REPORT_EMBEDDED_H
#define GRAPHSS_REPORT_EMBEDDED_H

extern const char graphss_i_embedded_paper[]; /* paper.csv */
extern const char graphss_i_embedded_css[];   /* page.css */
extern const char graphss_i_embedded_js[];    /* page.js */
extern const char graphss_i_embedded_svg[];   /* plot.css: the colours of the plots */

#endif
