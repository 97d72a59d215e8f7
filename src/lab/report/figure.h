/* figure.h - panels of a report's plots as SVG text: lines with bands, bars, heat maps.
 *
 * A figure is a few small panels that share one caption. All are drawn 360 wide, so that they
 * are readable on a phone and stand side by side on a desk. Colours come from classes
 * (plot.css), and no information is in the colour alone: lines have dashes, markers and their
 * names at their ends, bars have hatching and names, cells of a heat map their counts.
 * Private. */
#ifndef GRAPHSS_REPORT_FIGURE_H
#define GRAPHSS_REPORT_FIGURE_H

#include "lab/report/text_arena.h"

enum { GRAPHSS_I_LINES_MOST = 16 }; /* lines of a panel whose names fit */

typedef struct graphss_i_line {
    const char *name;         /* written at its end; "" for none */
    const double *x, *y;      /* [n] */
    const double *low, *high; /* [n] the band, or NULL */
    size_t n;
} graphss_i_line;

typedef struct graphss_i_bar {
    const char *name;
    double value, sd; /* sd NaN: no whisker; value NaN: "not run" */
    int style;        /* 0 ours, 1 trivial, 2 rival, 3 reference */
} graphss_i_bar;

typedef struct graphss_i_mark {
    const char *name; /* a line across the bars, such as "before the attack" */
    double value;
} graphss_i_mark;

typedef enum graphss_i_panel_type {
    GRAPHSS_I_LINES,
    GRAPHSS_I_BARS,
    GRAPHSS_I_HEAT
} graphss_i_panel_type;

typedef struct graphss_i_panel {
    graphss_i_panel_type kind;
    const char *title, *x_label, *y_label; /* labels with their units: "accuracy, %" */
    graphss_i_line *line;                  /* [n] LINES */
    graphss_i_bar *bar;                    /* [n] BARS */
    const double *matrix;                  /* [n x n] HEAT: counts, shaded by log(1 + count) */
    size_t n;
    graphss_i_mark mark[2];         /* BARS: name NULL for none */
    bool log_x, log_y, unit_square; /* LINES; unit_square: 0..1 both ways and the diagonal */
    double largest;                 /* BARS: the end of the axis; 0: from the values.
                                       HEAT: the darkest count; 0: from the matrix */
    int decimals;                   /* BARS: of the values written */
} graphss_i_panel;

/* Writes the panel. prefix begins the names of its patterns, which must differ within a page.
 * alone: a file of its own, with colours and a ground; else part of a page. */
void graphss_i_panel_svg(
    graphss_i_writer *writer, const graphss_i_panel *panel, const char *prefix, bool alone);

/* Ticks at round numbers (figure.c). */
typedef struct graphss_i_axis {
    double low, high;
    bool log;
    double tick[12];
    size_t n_ticks;
} graphss_i_axis;
/* An axis that holds low..high; ones that cannot be divided by are widened. */
graphss_i_axis graphss_i_axis_of(double low, double high, bool log, int most_ticks);
/* 0 at low, 1 at high. */
double graphss_i_axis_at(const graphss_i_axis *axis, double value);
/* "0.5", "20", "2k", "3M" */
void graphss_i_tick_text(char *out, size_t size, double value);

#endif
