/* graphss_lab/plot.h - line plots as SVG, one file without outside parts.
 *
 *     double loss[] = {1.9, 1.2, 0.8};
 *     graphss_plot_series line = {.name = "loss", .y = loss, .n = 3};
 *     graphss_plot plot = {.title = "Training", .x_label = "epoch", .y_label = "loss",
 *                          .series = &line, .n_series = 1};
 *     graphss_plot_write(ctx, &plot, 1, "loss.svg");
 *
 * Lines differ in dash pattern as well as colour, so that print and colour-blind readers
 * can tell them apart. */
#ifndef GRAPHSS_LAB_PLOT_H
#define GRAPHSS_LAB_PLOT_H

#include <graphss/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct graphss_plot_series {
    const char *name; /* in the legend; NULL: not in the legend */
    const double *x;  /* [n], or NULL: 0, 1, 2 ... */
    const double *y;  /* [n]; a value that is not finite leaves a gap */
    size_t n;
} graphss_plot_series;

typedef struct graphss_plot {
    const char *title, *x_label, *y_label; /* each may be NULL; UTF-8 */
    const graphss_plot_series *series;
    size_t n_series;
} graphss_plot;

/* Writes n_plots one below the other into one file, which appears completely or not at all.
 * Errors: INVALID (no plot, or a series without values), IO, NOMEM. Time O(points). */
GRAPHSS_MUST_CHECK graphss_status graphss_plot_write(
    graphss_ctx *ctx, const graphss_plot *plot, size_t n_plots, const char *path);

#ifdef __cplusplus
}
#endif
#endif
