/* plot.c - line plots as SVG text. Written straight to the file: a plot is a frame, ticks
 * at round numbers, one path per series and a legend. Numbers are printed as whole
 * hundredths, because printf's decimal point depends on the locale. */
#include <graphss/plot.h>

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/base.h"

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

static const char *const colours[STYLES] = {"#1f5fa8", "#c2410c", "#15803d",
                                            "#7e22ce", "#4b5563", "#a16207"};
static const char *const dashes[STYLES] = {"none",     "7 4",  "2 3",
                                           "10 4 2 4", "12 5", "4 2 1 2"};

/* Writes until the first error, which it keeps. */
typedef struct writer {
    graphss_ctx *ctx;
    graphss_i_output out;
    graphss_status status;
} writer;

static void put_bytes(writer *w, const char *text, size_t n)
{
    if (!w->status)
        w->status = graphss_i_output_write(w->ctx, &w->out, text, n);
}

static void GRAPHSS_PRINTF(2, 3) put(writer *w, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    put_bytes(w, text, n < (int)sizeof text ? (size_t)n : sizeof text - 1);
}

static void put_number(writer *w, double value)
{
    const long long hundredths = llround(value * 100);
    const long long size = hundredths < 0 ? -hundredths : hundredths;
    put(w, "%s%lld.%02lld", hundredths < 0 ? "-" : "", size / 100, size % 100);
}

/* Bytes of the UTF-8 character at text, 0 when XML may not hold it. */
static size_t character(const char *text)
{
    uint32_t c = 0;
    const size_t n = graphss_i_utf8_take(&c, (const unsigned char *)text, strnlen(text, 4));
    return c < 0x20 || c == 0x7f || c == 0xfffe || c == 0xffff ? 0 : n;
}

static void put_escaped(writer *w, const char *text)
{
    while (*text) {
        const size_t n = character(text);
        if (*text == '<')
            put(w, "&lt;");
        else if (*text == '>')
            put(w, "&gt;");
        else if (*text == '&')
            put(w, "&amp;");
        else if (*text == '"')
            put(w, "&quot;");
        else if (n == 0)
            put(w, "?");
        else
            put_bytes(w, text, n);
        text += n ? n : 1;
    }
}

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

/* A range that can be divided by: not empty, not a point, not infinite in width. */
static range settled(range r)
{
    if (!(r.low <= r.high))
        return (range){0, 1};
    const double limit = 1e300;
    r.low = fmax(r.low, -limit);
    r.high = fmin(r.high, limit);
    const double size = fmax(fabs(r.low), fabs(r.high));
    if (r.high - r.low <= 1e-9 * size || r.high == r.low) {
        const double room = size > 0 ? 0.1 * size : 1;
        r.low -= room;
        r.high += room;
    }
    return r;
}

/* The step of 1, 2 or 5 times a power of ten that cuts width into at most n pieces. */
static double tick_step(double width, int n)
{
    const double raw = width / n;
    const double power = pow(10, floor(log10(raw)));
    const double digit = raw / power;
    return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

/* i * step without the last bit's dirt: 0.3, not 0.30000000000000004. */
static double tick_value(double i, double step)
{
    const double power = pow(10, floor(log10(step) + 1e-9));
    const double digit = round(step / power);
    return power >= 1 ? i * digit * power : i * digit / round(1 / power);
}

/* A tick this share of a step outside the range is rounding, and is drawn. */
#define SLACK 1e-9

static double first_tick(range r, double step)
{
    return ceil(r.low / step - SLACK) + 0.0; /* + 0.0: never "-0" */
}

/* Where values lie on the page. */
typedef struct frame {
    range x, y;
    double top, bottom; /* of the frame, on the page */
} frame;

static double page_x(const frame *f, double x)
{
    return LEFT + (x - f->x.low) / (f->x.high - f->x.low) * (WIDTH - LEFT - RIGHT);
}

static double page_y(const frame *f, double y)
{
    return f->top + (f->y.high - y) / (f->y.high - f->y.low) * (f->bottom - f->top);
}

static void put_line(writer *w, double x1, double y1, double x2, double y2, const char *style)
{
    put(w, "<line x1=\"");
    put_number(w, x1);
    put(w, "\" y1=\"");
    put_number(w, y1);
    put(w, "\" x2=\"");
    put_number(w, x2);
    put(w, "\" y2=\"");
    put_number(w, y2);
    put(w, "\" %s/>\n", style);
}

static void put_text(writer *w, double x, double y, const char *style, const char *text)
{
    put(w, "<text x=\"");
    put_number(w, x);
    put(w, "\" y=\"");
    put_number(w, y);
    put(w, "\" %s>", style);
    put_escaped(w, text);
    put(w, "</text>\n");
}

static void put_axes(writer *w, const frame *f, const graphss_plot *plot)
{
    const double bottom = f->bottom, right = WIDTH - RIGHT;
    char text[32];
    double step = tick_step(f->y.high - f->y.low, 5);
    for (double i = first_tick(f->y, step); i * step <= f->y.high + SLACK * step; i++) {
        const double y = page_y(f, i * step);
        put_line(w, LEFT, y, right, y, "stroke=\"#dddddd\"");
        graphss_i_double_text(text, sizeof text, tick_value(i, step));
        put_text(w, LEFT - 8, y + 4, "text-anchor=\"end\"", text);
    }
    step = tick_step(f->x.high - f->x.low, 8);
    for (double i = first_tick(f->x, step); i * step <= f->x.high + SLACK * step; i++) {
        const double x = page_x(f, i * step);
        put_line(w, x, bottom, x, bottom + 5, "stroke=\"#333333\"");
        graphss_i_double_text(text, sizeof text, tick_value(i, step));
        put_text(w, x, bottom + 20, "text-anchor=\"middle\"", text);
    }
    put_line(w, LEFT, bottom, right, bottom, "stroke=\"#333333\"");
    put_line(w, LEFT, f->top, LEFT, bottom, "stroke=\"#333333\"");
    if (plot->x_label)
        put_text(w, (LEFT + right) / 2, bottom + 42, "text-anchor=\"middle\"", plot->x_label);
    if (plot->y_label) {
        put(w, "<g transform=\"translate(18 ");
        put_number(w, (f->top + bottom) / 2);
        put(w, ") rotate(-90)\">");
        put_text(w, 0, 0, "text-anchor=\"middle\"", plot->y_label);
        put(w, "</g>\n");
    }
}

static void put_style(writer *w, size_t i)
{
    put(w, "fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\"",
        colours[i % STYLES], dashes[i % STYLES]);
}

static void put_series(writer *w, const frame *f, const graphss_plot_series *s, size_t index)
{
    bool pen_down = false;
    put(w, "<path ");
    put_style(w, index);
    put(w, " stroke-linejoin=\"round\" d=\"");
    for (size_t i = 0; i < s->n && !w->status; i++) {
        const double x = x_of(s, i), y = s->y[i];
        if (!isfinite(x) || !isfinite(y)) {
            pen_down = false;
            continue;
        }
        put(w, pen_down ? "L" : "M");
        put_number(w, page_x(f, x));
        put(w, " ");
        put_number(w, page_y(f, y));
        if (!pen_down)
            put(w, "h0"); /* a lone point shows as a dot */
        pen_down = true;
    }
    put(w, "\" stroke-linecap=\"round\"/>\n");
}

static size_t legend_lines(const graphss_plot *plot)
{
    size_t named = 0;
    for (size_t i = 0; i < plot->n_series; i++)
        named += plot->series[i].name != NULL;
    return (named + 2) / 3;
}

/* Three names to a line, the first line's middle at top. */
static void put_legend(writer *w, double top, const graphss_plot *plot)
{
    size_t shown = 0;
    for (size_t i = 0; i < plot->n_series; i++) {
        if (!plot->series[i].name)
            continue;
        const double x = LEFT + LEGEND_EACH * (double)(shown % 3);
        const double y = top + LEGEND_LINE * (double)(shown / 3);
        put(w, "<path ");
        put_style(w, i);
        put(w, " d=\"M");
        put_number(w, x);
        put(w, " ");
        put_number(w, y);
        put(w, "h36\"/>\n");
        put_text(w, x + 44, y + 4, "", plot->series[i].name);
        shown++;
    }
}

static double plot_height(const graphss_plot *plot)
{
    return HEIGHT + LEGEND_LINE * (double)legend_lines(plot);
}

static void put_plot(writer *w, const graphss_plot *plot, double top)
{
    frame f = {{INFINITY, -INFINITY}, {INFINITY, -INFINITY}, 0, 0};
    f.top = top + TOP + LEGEND_LINE * (double)legend_lines(plot);
    f.bottom = top + plot_height(plot) - BOTTOM;
    for (size_t i = 0; i < plot->n_series; i++)
        for (size_t j = 0; j < plot->series[i].n; j++) {
            widen(&f.x, x_of(&plot->series[i], j));
            widen(&f.y, plot->series[i].y[j]);
        }
    f.x = settled(f.x);
    f.y = settled(f.y);
    if (plot->title)
        put_text(w, LEFT, top + 24, "font-size=\"16\" font-weight=\"bold\"", plot->title);
    put_legend(w, top + 40, plot);
    put_axes(w, &f, plot);
    for (size_t i = 0; i < plot->n_series; i++)
        put_series(w, &f, &plot->series[i], i);
}

graphss_status graphss_plot_write(graphss_ctx *ctx, const graphss_plot *plot, size_t n_plots,
                                  const char *path)
{
    if (GRAPHSS_I_LACKS(ctx, {"plots", GRAPHSS_I_FILLED(plot, n_plots)}, {"path", path}))
        return GRAPHSS_ERR_INVALID;
    if (n_plots == 0 || n_plots > 64)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "%s: %zu plots, want 1 to 64", path,
                              n_plots);
    for (size_t p = 0; p < n_plots; p++)
        for (size_t i = 0; i < plot[p].n_series; i++)
            if (plot[p].series[i].n > 0 && !plot[p].series[i].y)
                return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                                      "%s: series %zu of plot %zu has no values", path, i, p);
    writer w = {.ctx = ctx};
    w.status = graphss_i_output_open(ctx, &w.out, path);
    if (w.status)
        return w.status;
    double height = 0;
    for (size_t p = 0; p < n_plots; p++)
        height += plot_height(&plot[p]);
    const int whole = (int)fmin(height, 1e9);
    put(&w,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
        "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"13\">\n",
        WIDTH, whole, WIDTH, whole);
    put(&w, "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n", WIDTH, whole);
    double top = 0;
    for (size_t p = 0; p < n_plots; p++) {
        put_plot(&w, &plot[p], top);
        top += plot_height(&plot[p]);
    }
    put(&w, "</svg>\n");
    if (w.status) {
        graphss_i_output_abandon(ctx, &w.out);
        return w.status;
    }
    return graphss_i_output_commit(ctx, &w.out);
}
