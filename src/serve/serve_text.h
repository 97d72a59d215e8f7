/* serve_text.h - text that grows, for JSON, HTML and metrics. An append that finds no memory
 * sets `failed`, and all later ones do nothing: the caller asks once, at the end. */
#ifndef GRAPHSS_SERVE_TEXT_H
#define GRAPHSS_SERVE_TEXT_H

#include "base/base.h"

typedef struct graphss_i_text {
    graphss_ctx *ctx;
    char *at; /* [n], and a NUL; NULL: nothing yet */
    size_t n, room;
    bool failed;
} graphss_i_text;

void graphss_i_text_put(graphss_i_text *t, const char *bytes, size_t n);
void graphss_i_text_add(graphss_i_text *t, const char *text);
void graphss_i_text_format(graphss_i_text *t, const char *format, ...) GRAPHSS_PRINTF(2, 3);
/* A string of JSON with its quotes. Bytes that are no UTF-8 become '?'; NULL becomes null. */
void graphss_i_text_json(graphss_i_text *t, const char *text);
/* Text of HTML, or of an attribute in quotes. Characters that would change how others are
 * shown become '?'. */
void graphss_i_text_html(graphss_i_text *t, const char *text);
/* A name as a part of a path. */
void graphss_i_text_url(graphss_i_text *t, const char *text);
/* The shortest text of a number; null (of JSON) where it is not finite. */
void graphss_i_text_real(graphss_i_text *t, double x);
/* About 3 digits, for people: "0.0123", "4.1e-06", "1230". */
void graphss_i_text_short(graphss_i_text *t, double x);
/* With so many digits (at most 3) behind the point. */
void graphss_i_text_fixed(graphss_i_text *t, double x, int digits);
/* "2026-11-18T04:00:00Z" as a string of JSON; null where it is none. */
void graphss_i_text_when(graphss_i_text *t, double seconds);
/* Empties it, and keeps its room. */
void graphss_i_text_clear(graphss_i_text *t);
void graphss_i_text_destroy(graphss_i_text *t);

#endif
