/* plot.c - line plots as SVG text: a plot is a frame, ticks at round numbers, one path per
 * series and a legend. */
#include <graphss_lab/plot.h>

#include <math.h>

#include "lab/report/figure.h"

enum {
    WIDTH = 720,
    HEIGHT = 304,     /* of one plot without its legend */
    LEGEND_LINE = 18, /* the height of three names side by side */
    LEGEND_EACH = 208,
    LEFT = 72,
    RIGHT = 24,
    TOP = 40,
    BOTTOM = 56,
    STYLES = 6
};

static const char *const colours[STYLES] = {
    "#1f5fa8", "#c2410c", "#15803d", "#7e22ce", "#4b5563", "#a16207"};
static const char *const dashes[STYLES] = {
    "none", "7 4", "2 3", "10 4 2 4", "12 5", "4 2 1 2"};

typedef struct range {
    double low, high;
} range;

static void widen(range *r, double value)
{
    if (!isfinite(value))
        return;
    r->low = fmin(r->low, value);
    r->high = fmax(r->high, value);
}

static double x_of(const graphss_plot_series *s, size_t i)
{
    return s->x ? s->x[i] : (double)i;
}

/* Maps values to positions on the page. */
typedef struct frame {
    graphss_i_axis x, y;
    double top, bottom; /* of the frame, on the page */
} frame;

static double page_x(const frame *f, double x)
{
    return LEFT + graphss_i_axis_at(&f->x, x) * (WIDTH - LEFT - RIGHT);
}

static double page_y(const frame *f, double y)
{
    return f->top + (1 - graphss_i_axis_at(&f->y, y)) * (f->bottom - f->top);
}

static void put_line(
    graphss_i_writer *writer, double x1, double y1, double x2, double y2, const char *style)
{
    graphss_i_put(writer, "<line x1=\"");
    graphss_i_put_fixed(writer, x1, 2);
    graphss_i_put(writer, "\" y1=\"");
    graphss_i_put_fixed(writer, y1, 2);
    graphss_i_put(writer, "\" x2=\"");
    graphss_i_put_fixed(writer, x2, 2);
    graphss_i_put(writer, "\" y2=\"");
    graphss_i_put_fixed(writer, y2, 2);
    graphss_i_putf(writer, "\" %s/>\n", style);
}

static void put_text(
    graphss_i_writer *writer, double x, double y, const char *style, const char *text)
{
    graphss_i_put(writer, "<text x=\"");
    graphss_i_put_fixed(writer, x, 2);
    graphss_i_put(writer, "\" y=\"");
    graphss_i_put_fixed(writer, y, 2);
    graphss_i_putf(writer, "\" %s>", style);
    graphss_i_put_xml(writer, text);
    graphss_i_put(writer, "</text>\n");
}

static void put_axes(graphss_i_writer *writer, const frame *f, const graphss_plot *plot)
{
    const double bottom = f->bottom, right = WIDTH - RIGHT;
    char text[32];
    for (size_t i = 0; i < f->y.n_ticks; i++) {
        const double y = page_y(f, f->y.tick[i]);
        put_line(writer, LEFT, y, right, y, "stroke=\"#dddddd\"");
        graphss_i_double_text(text, sizeof text, f->y.tick[i]);
        put_text(writer, LEFT - 8, y + 4, "text-anchor=\"end\"", text);
    }
    for (size_t i = 0; i < f->x.n_ticks; i++) {
        const double x = page_x(f, f->x.tick[i]);
        put_line(writer, x, bottom, x, bottom + 5, "stroke=\"#333333\"");
        graphss_i_double_text(text, sizeof text, f->x.tick[i]);
        put_text(writer, x, bottom + 20, "text-anchor=\"middle\"", text);
    }
    put_line(writer, LEFT, bottom, right, bottom, "stroke=\"#333333\"");
    put_line(writer, LEFT, f->top, LEFT, bottom, "stroke=\"#333333\"");
    if (plot->x_label)
        put_text(
            writer, (LEFT + right) / 2, bottom + 42, "text-anchor=\"middle\"", plot->x_label);
    if (plot->y_label) {
        graphss_i_put(writer, "<g transform=\"translate(18 ");
        graphss_i_put_fixed(writer, (f->top + bottom) / 2, 2);
        graphss_i_put(writer, ") rotate(-90)\">");
        put_text(writer, 0, 0, "text-anchor=\"middle\"", plot->y_label);
        graphss_i_put(writer, "</g>\n");
    }
}

static void put_style(graphss_i_writer *writer, size_t i)
{
    graphss_i_putf(writer,
        "fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\"",
        colours[i % STYLES], dashes[i % STYLES]);
}

static void put_series(
    graphss_i_writer *writer, const frame *f, const graphss_plot_series *s, size_t index)
{
    bool down = false;
    graphss_i_put(writer, "<path ");
    put_style(writer, index);
    graphss_i_put(writer, " stroke-linejoin=\"round\" d=\"");
    for (size_t i = 0; i < s->n && !writer->status; i++) {
        const double x = x_of(s, i), y = s->y[i];
        if (!isfinite(x) || !isfinite(y)) {
            down = false;
            continue;
        }
        graphss_i_put(writer, down ? "L" : "M");
        graphss_i_put_fixed(writer, page_x(f, x), 2);
        graphss_i_put(writer, " ");
        graphss_i_put_fixed(writer, page_y(f, y), 2);
        if (!down)
            graphss_i_put(writer, "h0"); /* a lone point shows as a dot */
        down = true;
    }
    graphss_i_put(writer, "\" stroke-linecap=\"round\"/>\n");
}

static size_t legend_lines(const graphss_plot *plot)
{
    size_t named = 0;
    for (size_t i = 0; i < plot->n_series; i++)
        named += plot->series[i].name != NULL;
    return (named + 2) / 3;
}

/* Three names to a line, the first line's middle at top. */
static void put_legend(graphss_i_writer *writer, double top, const graphss_plot *plot)
{
    size_t shown = 0;
    for (size_t i = 0; i < plot->n_series; i++) {
        if (!plot->series[i].name)
            continue;
        const double x = LEFT + LEGEND_EACH * (double)(shown % 3);
        const double y = top + LEGEND_LINE * (double)(shown / 3);
        graphss_i_put(writer, "<path ");
        put_style(writer, i);
        graphss_i_put(writer, " d=\"M");
        graphss_i_put_fixed(writer, x, 2);
        graphss_i_put(writer, " ");
        graphss_i_put_fixed(writer, y, 2);
        graphss_i_put(writer, "h36\"/>\n");
        put_text(writer, x + 44, y + 4, "", plot->series[i].name);
        shown++;
    }
}

static double plot_height(const graphss_plot *plot)
{
    return HEIGHT + LEGEND_LINE * (double)legend_lines(plot);
}

static void put_plot(graphss_i_writer *writer, const graphss_plot *plot, double top)
{
    range x = {INFINITY, -INFINITY}, y = x;
    frame f;
    f.top = top + TOP + LEGEND_LINE * (double)legend_lines(plot);
    f.bottom = top + plot_height(plot) - BOTTOM;
    for (size_t i = 0; i < plot->n_series; i++)
        for (size_t j = 0; j < plot->series[i].n; j++) {
            widen(&x, x_of(&plot->series[i], j));
            widen(&y, plot->series[i].y[j]);
        }
    f.x = graphss_i_axis_of(x.low, x.high, false, 8);
    f.y = graphss_i_axis_of(y.low, y.high, false, 5);
    if (plot->title)
        put_text(writer, LEFT, top + 24, "font-size=\"16\" font-weight=\"bold\"", plot->title);
    put_legend(writer, top + 40, plot);
    put_axes(writer, &f, plot);
    for (size_t i = 0; i < plot->n_series; i++)
        put_series(writer, &f, &plot->series[i], i);
}

graphss_status graphss_plot_write(
    graphss_ctx *ctx, const graphss_plot *plot, size_t n_plots, const char *path)
{
    if (GRAPHSS_I_LACKS(ctx, {"plots", GRAPHSS_I_FILLED(plot, n_plots)}, {"path", path}))
        return GRAPHSS_ERR_INVALID;
    if (n_plots == 0 || n_plots > 64)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "%s: %zu plots, want 1 to 64", path, n_plots);
    for (size_t p = 0; p < n_plots; p++)
        for (size_t i = 0; i < plot[p].n_series; i++)
            if (plot[p].series[i].n > 0 && !plot[p].series[i].y)
                return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                    "%s: series %zu of plot %zu has no values", path, i, p);
    graphss_i_writer writer = {.ctx = ctx};
    double height = 0;
    for (size_t p = 0; p < n_plots; p++)
        height += plot_height(&plot[p]);
    const int whole = (int)fmin(height, 1e9);
    graphss_i_putf(&writer,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
        "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"13\">\n",
        WIDTH, whole, WIDTH, whole);
    graphss_i_putf(
        &writer, "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n", WIDTH, whole);
    double top = 0;
    for (size_t p = 0; p < n_plots; p++) {
        put_plot(&writer, &plot[p], top);
        top += plot_height(&plot[p]);
    }
    graphss_i_put(&writer, "</svg>\n");
    const graphss_status st = graphss_i_writer_save(&writer, path);
    graphss_i_writer_done(&writer);
    return st;
}
