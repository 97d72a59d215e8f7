/* text_arena.h - memory for the report: an arena of small blocks, and a writer of growing
 * text. Both keep the first error: later calls do nothing, and the caller checks once, at the
 * end. Private. */
#ifndef GRAPHSS_REPORT_PEN_H
#define GRAPHSS_REPORT_PEN_H

#include "base/base.h"

/* Blocks that live as long as the report. */
typedef struct graphss_i_arena {
    graphss_ctx *ctx;
    struct graphss_i_chunk *last;
    graphss_status status;
} graphss_i_arena;

/* count * size zeroed bytes, or NULL with the status set. */
void *graphss_i_arena_take(graphss_i_arena *arena, size_t count, size_t size);
/* Room for one more: block itself while n < *room, else a larger copy; NULL: no memory. */
void *graphss_i_arena_room(
    graphss_i_arena *arena, void *block, size_t n, size_t *room, size_t size);
/* As printf; "" when there is no memory. */
const char *graphss_i_arena_say(graphss_i_arena *arena, const char *format, ...)
    GRAPHSS_PRINTF(2, 3);
/* A number for people, with the given number of decimals and a typographic minus sign. */
const char *graphss_i_fixed(graphss_i_arena *arena, double value, int decimals);
void graphss_i_arena_done(graphss_i_arena *arena);

/* A growing text buffer. */
typedef struct graphss_i_writer {
    graphss_ctx *ctx;
    char *text; /* [n], a NUL behind it; NULL before the first byte */
    size_t n, room;
    graphss_status status;
} graphss_i_writer;

void graphss_i_put_bytes(graphss_i_writer *writer, const char *text, size_t n);
void graphss_i_put(graphss_i_writer *writer, const char *text);
void graphss_i_putf(graphss_i_writer *writer, const char *format, ...) GRAPHSS_PRINTF(2, 3);
void graphss_i_put_fixed(graphss_i_writer *writer, double value, int decimals);
/* Writes text with all special characters of the format escaped. Invalid UTF-8 and control
 * characters become '?'. */
void graphss_i_put_xml(graphss_i_writer *writer, const char *text);
void graphss_i_put_latex(graphss_i_writer *writer, const char *text);
void graphss_i_put_markdown(graphss_i_writer *writer, const char *text);
void graphss_i_put_csv(
    graphss_i_writer *writer, const char *text); /* one field, quoted at need */
/* The text as a name that is safe in a file system, a link and an attribute: letters, digits,
 * '-' and '_', at most 120 characters. */
void graphss_i_put_name(graphss_i_writer *writer, const char *text);
typedef struct graphss_i_safe_name {
    char text[121];
} graphss_i_safe_name;
graphss_i_safe_name graphss_i_safe(const char *text);
/* Writes what the writer holds to a file, completely or not at all. */
graphss_status graphss_i_writer_save(graphss_i_writer *writer, const char *path);
void graphss_i_writer_done(graphss_i_writer *writer);

/* Writes value into out with decimals (0 to 9) digits behind the point; as snprintf. A value
 * that is not finite is "-". */
size_t graphss_i_fixed_text(char *out, size_t size, double value, int decimals);

/* Files of this folder as text in the library, so that the program needs no
 * files beside it. Made by embed.cmake. */
extern const char graphss_i_embedded_paper[]; /* paper.csv */
extern const char graphss_i_embedded_css[];   /* page.css */
extern const char graphss_i_embedded_js[];    /* page.js */
extern const char graphss_i_embedded_svg[];   /* plot.css: the colours of the plots */

#endif
