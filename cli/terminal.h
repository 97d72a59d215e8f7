/* terminal.h - the screen: progress, colours, tables, bars, curves.
 *
 * All text that came out of a file goes through terminal_text, so that a hostile name
 * cannot send escape sequences to the screen. */
#ifndef GRAPHSS_TERMINAL_H
#define GRAPHSS_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct terminal {
    bool progress;   /* draw the progress line on stderr */
    bool colour_out; /* stdout takes colours */
    bool colour_err;
    bool utf8;
    bool drawn;                     /* a progress line stands on the screen */
    const char *stage;              /* of the progress line */
    size_t stage_done, stage_first; /* where an interrupted run continues */
    double stage_began, last_drawn;
} terminal;

typedef enum terminal_style {
    TERMINAL_BOLD,
    TERMINAL_DIM,
    TERMINAL_RED,
    TERMINAL_GREEN,
    TERMINAL_YELLOW,
    TERMINAL_CYAN
} terminal_style;

/* Examines the file descriptors, the locale and the environment. */
void terminal_init(terminal *term, bool quiet, bool no_color);
/* Columns of the screen on fd, 80 when it is none. */
int terminal_width(int fd);

/* The progress line: at most ten times a second, and at the end of a stage. */
void terminal_progress(
    terminal *term, const char *stage, size_t done, size_t total, const char *note);
/* Takes the line off the screen; to be called before any other text on stderr. */
void terminal_clear(terminal *term);

/* The escape sequence that begins a style, or "" if out shows no colours; and the one that
 * ends it. */
const char *terminal_begin(const terminal *term, FILE *out, terminal_style style);
const char *terminal_end(const terminal *term, FILE *out);

/* Text as the screen may have it: characters that would act on it or change the order of
 * others (controls, marks and overrides of the direction) are shown as \x1b or \u202e, broken
 * UTF-8 as \xff; without a UTF-8 locale what is not ASCII is '?'. At most width columns (0:
 * any number), with dots at a cut. Returns the columns written. */
size_t terminal_text(const terminal *term, FILE *out, const char *text, size_t width);
size_t terminal_columns(const terminal *term, const char *text);

/* A table whose columns are as wide as their cells. */
typedef struct text_table {
    size_t n_columns, n_cells, room;
    char **cell;  /* row by row */
    bool *right;  /* [n_columns] aligned right */
    bool heading; /* the first row is one */
} text_table;

/* align has a letter for each column: 'l' or 'r'. */
void table_init(text_table *t, const char *align, bool heading);
void table_add(text_table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints and empties the table. indent columns stand before each row. */
void table_print(text_table *t, const terminal *term, FILE *out, int indent);

/* A bar of value / largest of width columns. */
void draw_bar(const terminal *term, FILE *out, double value, double largest, int width);
/* y [n] against its index as a picture of rows x width characters, with an axis. */
void draw_curve(const terminal *term, FILE *out, const char *title, const float *y, size_t n,
    double scale, const char *unit);
/* Counts [n_classes x n_classes], rows the truth, columns the answer. Large ones are cut
 * down to the pairs most often confused. */
void draw_confusion(const terminal *term, FILE *out, const int64_t *confusion,
    const char *const *name, size_t n_classes);

#endif
