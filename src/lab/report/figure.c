/* figure.c - see figure.h. */
#include "lab/report/figure.h"
#include "lab/report/text_arena.h"
#include <math.h>
#include <string.h>

enum {
    WIDTH = 360,
    TOP = 44,    /* room for title and the name of the y axis */
    TALL = 176,  /* of the frame of lines, or more where their names need it */
    BOTTOM = 42, /* room for ticks and the name of the x axis */
    LEFT = 40,   /* room for the ticks of y */
    STYLES = 8,  /* kinds of lines */
    LETTER = 13, /* the height of a line of text */
    BAR = 20     /* the height of a bar and the room below it */
};

#define LETTER_WIDE 6.9 /* mean width of a character */

static const char *const dashes[STYLES] = {
    "none", "6 3", "2 3", "9 3 2 3", "12 4", "4 2 1 2", "1 2", "8 2 2 2 2 2"};

/* The width of a name in characters, not bytes. */
static double text_width(const char *text)
{
    double n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n * LETTER_WIDE;
}

static void put_attribute(graphss_i_writer *writer, const char *name, double value)
{
    graphss_i_putf(writer, " %s=\"", name);
    graphss_i_put_fixed(writer, value, 2);
    graphss_i_put(writer, "\"");
}

static void put_line(
    graphss_i_writer *writer, const char *style, double x1, double y1, double x2, double y2)
{
    graphss_i_putf(writer, "<line class=\"%s\"", style);
    put_attribute(writer, "x1", x1);
    put_attribute(writer, "y1", y1);
    put_attribute(writer, "x2", x2);
    put_attribute(writer, "y2", y2);
    graphss_i_put(writer, "/>\n");
}

static void put_text(graphss_i_writer *writer, const char *style, const char *anchor, double x,
    double y, const char *text)
{
    graphss_i_putf(writer, "<text class=\"%s\" text-anchor=\"%s\"", style, anchor);
    put_attribute(writer, "x", x);
    put_attribute(writer, "y", y);
    graphss_i_put(writer, ">");
    graphss_i_put_xml(writer, text);
    graphss_i_put(writer, "</text>\n");
}

/* A text of at most this width, cut with an ellipsis if needed. */
static void put_short(graphss_i_writer *writer, const char *style, const char *anchor,
    double x, double y, const char *text, double room)
{
    char cut[256];
    size_t n = 0;
    if (text_width(text) <= room) {
        put_text(writer, style, anchor, x, y, text);
        return;
    }
    double used = LETTER_WIDE;
    for (; text[n] && n + 8 < sizeof cut && used <= room; n++)
        used += ((unsigned char)text[n] & 0xc0) != 0x80 ? LETTER_WIDE : 0;
    while (n > 0 && (used > room || ((unsigned char)text[n] & 0xc0) == 0x80)) {
        n--;
        used -= ((unsigned char)text[n] & 0xc0) != 0x80 ? LETTER_WIDE : 0;
    }
    memcpy(cut, text, n);
    memcpy(cut + n, "…", sizeof "…");
    put_text(writer, style, anchor, x, y, cut);
}

/* The name of the x axis: below its middle, but within the panel. */
static void put_x_name(graphss_i_writer *writer, double middle, double y, const char *text)
{
    const double half = fmin(text_width(text), WIDTH - 4) / 2;
    put_short(writer, "name", "middle", fmin(fmax(middle, half + 2), WIDTH - half - 2), y,
        text, WIDTH - 4);
}

static void put_rect(graphss_i_writer *writer, const char *style, double x, double y,
    double wide, double high, const char *more)
{
    graphss_i_putf(writer, "<rect class=\"%s\"", style);
    put_attribute(writer, "x", x);
    put_attribute(writer, "y", y);
    put_attribute(writer, "width", fmax(wide, 0));
    put_attribute(writer, "height", high);
    graphss_i_putf(writer, "%s/>\n", more);
}

static void open_svg(
    graphss_i_writer *writer, const graphss_i_panel *p, double height, bool alone)
{
    const int high = (int)ceil(height);
    graphss_i_putf(writer,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" role=\"img\" "
        "width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" aria-label=\"",
        WIDTH, high, WIDTH, high);
    graphss_i_put_xml(writer, p->title);
    graphss_i_put(writer, "\">\n");
    if (alone) {
        graphss_i_put(writer, "<style>");
        graphss_i_put(writer, graphss_i_embedded_svg);
        graphss_i_put(writer, "</style>\n");
        put_rect(writer, "ground", 0, 0, WIDTH, high, "");
    }
    put_short(writer, "title", "start", 2, 15, p->title, 0.85 * WIDTH);
}

/* ---- lines ---- */

typedef struct frame {
    graphss_i_axis x, y;
    double right, tall; /* of the frame; the rest is LEFT, TOP */
} frame;

static double page_x(const frame *f, double x)
{
    return LEFT + graphss_i_axis_at(&f->x, x) * (f->right - LEFT);
}

static double page_y(const frame *f, double y)
{
    return TOP + (1 - graphss_i_axis_at(&f->y, y)) * f->tall;
}

static void put_axes(graphss_i_writer *writer, const frame *f, const graphss_i_panel *p)
{
    char text[48];
    for (size_t i = 0; i < f->y.n_ticks; i++) {
        const double y = page_y(f, f->y.tick[i]);
        put_line(writer, "grid", LEFT, y, f->right, y);
        graphss_i_tick_text(text, sizeof text, f->y.tick[i]);
        put_text(writer, "tick", "end", LEFT - 6, y + 4, text);
    }
    double free_from = -100; /* so that ticks do not overlap */
    for (size_t i = 0; i < f->x.n_ticks; i++) {
        const double x = page_x(f, f->x.tick[i]);
        put_line(writer, "axis", x, TOP + f->tall, x, TOP + f->tall + 4);
        graphss_i_tick_text(text, sizeof text, f->x.tick[i]);
        if (x - text_width(text) / 2 < free_from)
            continue;
        put_text(writer, "tick", "middle", x, TOP + f->tall + 17, text);
        free_from = x + text_width(text) / 2 + 4;
    }
    put_line(writer, "axis", LEFT, TOP + f->tall, f->right, TOP + f->tall);
    put_short(writer, "name", "start", 2, 32, p->y_label, WIDTH - 4);
    put_x_name(writer, (LEFT + f->right) / 2, TOP + f->tall + 34, p->x_label);
}

static bool drawn(const frame *f, const graphss_i_line *l, size_t i)
{
    return isfinite(l->x[i]) && isfinite(l->y[i]) && !(f->x.log && l->x[i] <= 0) &&
           !(f->y.log && l->y[i] <= 0);
}

static void put_point(
    graphss_i_writer *writer, const frame *f, char command, double x, double y)
{
    graphss_i_putf(writer, "%c", command);
    graphss_i_put_fixed(writer, page_x(f, x), 2);
    graphss_i_put(writer, " ");
    graphss_i_put_fixed(writer, page_y(f, y), 2);
}

static void put_band(
    graphss_i_writer *writer, const frame *f, const graphss_i_line *l, size_t style)
{
    char command = 'M';
    graphss_i_putf(writer, "<path class=\"band c%zu\" d=\"", style);
    for (size_t i = 0; i < l->n; i++)
        if (drawn(f, l, i) && isfinite(l->high[i])) {
            put_point(writer, f, command, l->x[i], l->high[i]);
            command = 'L';
        }
    for (size_t i = l->n; i-- > 0;)
        if (drawn(f, l, i) && isfinite(l->low[i]))
            put_point(writer, f, 'L', l->x[i], l->low[i]);
    graphss_i_put(writer, command == 'L' ? "Z\"/>\n" : "\"/>\n");
}

/* A circle, square, triangle, diamond, cross, plus, triangle upside down or ring. */
static void put_marker(graphss_i_writer *writer, double x, double y, size_t style)
{
    static const char *const shape[STYLES] = {"m-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0z",
        "m-3 -3h6v6h-6z", "m0 -4l4 7h-8z", "m0 -4l4 4l-4 4l-4 -4z", "m-3 -3l6 6m0 -6l-6 6",
        "m-4 0h8m-4 -4v8", "m0 4l4 -7h-8z", "m-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0z"};
    graphss_i_putf(writer, "<path class=\"marker c%zu\" d=\"M", style);
    graphss_i_put_fixed(writer, x, 2);
    graphss_i_put(writer, " ");
    graphss_i_put_fixed(writer, y, 2);
    graphss_i_putf(writer, "%s\"/>\n", shape[style]);
}

/* The ninth line has the marker of the first, but the dashes of the second. */
static void put_curve(
    graphss_i_writer *writer, const frame *f, const graphss_i_line *l, size_t number)
{
    enum { MARKERS = 8 };
    const size_t style = number % STYLES, dash = (number + number / STYLES) % STYLES;
    bool down = false;
    graphss_i_putf(
        writer, "<path class=\"line c%zu\" stroke-dasharray=\"%s\" d=\"", style, dashes[dash]);
    for (size_t i = 0; i < l->n; i++) {
        if (!drawn(f, l, i)) {
            down = false;
            continue;
        }
        put_point(writer, f, down ? 'L' : 'M', l->x[i], l->y[i]);
        down = true;
    }
    graphss_i_put(writer, "\"/>\n");
    const size_t every = l->n > MARKERS ? l->n / MARKERS + 1 : 1;
    for (size_t i = l->n > MARKERS ? (every * (style + 1)) / STYLES : 0; i < l->n; i += every)
        if (drawn(f, l, i))
            put_marker(writer, page_x(f, l->x[i]), page_y(f, l->y[i]), style);
}

/* Names at the right ends, moved apart so that none covers another. */
static void put_names(graphss_i_writer *writer, const frame *f, const graphss_i_panel *p)
{
    double at[GRAPHSS_I_LINES_MOST];
    size_t order[GRAPHSS_I_LINES_MOST], n = 0;
    for (size_t i = 0; i < p->n && i < GRAPHSS_I_LINES_MOST; i++) {
        const graphss_i_line *l = &p->line[i];
        size_t last = l->n;
        while (last > 0 && !drawn(f, l, last - 1))
            last--;
        if (last == 0 || !*l->name)
            continue;
        double y = fmin(fmax(page_y(f, l->y[last - 1]), TOP), TOP + f->tall);
        if (p->unit_square) /* curves that all end in the corner: a list in the free corner */
            y = TOP + f->tall - 8 - LETTER * (double)(p->n - 1 - i);
        size_t k = n++;
        while (k > 0 && at[order[k - 1]] > y) {
            order[k] = order[k - 1];
            k--;
        }
        order[k] = i;
        at[i] = y;
    }
    for (size_t k = 1; k < n; k++)
        at[order[k]] = fmax(at[order[k]], at[order[k - 1]] + LETTER);
    double limit = TOP + f->tall + 4;
    for (size_t k = n; k-- > 0;) {
        at[order[k]] = fmin(at[order[k]], limit);
        limit = at[order[k]] - LETTER;
    }
    for (size_t k = 0; k < n; k++) {
        const size_t i = order[k], style = i % STYLES;
        const graphss_i_line *l = &p->line[i];
        if (p->unit_square) {
            const double x = f->right - 10;
            put_short(writer, "label", "end", x - 16, at[i] + 4, l->name, x - 16 - LEFT);
            put_marker(writer, x - 4, at[i], style);
            continue;
        }
        put_marker(writer, f->right + 10, at[i], style);
        put_short(writer, "label", "start", f->right + 18, at[i] + 4, l->name,
            WIDTH - f->right - 18);
    }
}

static void widen(double *low, double *high, double value, bool log)
{
    if (!isfinite(value) || (log && value <= 0))
        return;
    *low = fmin(*low, value);
    *high = fmax(*high, value);
}

static void put_lines(graphss_i_writer *writer, const graphss_i_panel *p, bool alone)
{
    frame f = {.right = WIDTH - 12, .tall = fmax(TALL, LETTER * (double)p->n)};
    double x_low = INFINITY, x_high = -INFINITY, y_low = INFINITY, y_high = -INFINITY;
    double longest = 0;
    for (size_t i = 0; i < p->n; i++) {
        const graphss_i_line *l = &p->line[i];
        longest = fmax(longest, text_width(l->name));
        for (size_t k = 0; k < l->n; k++) {
            widen(&x_low, &x_high, l->x[k], p->log_x);
            widen(&y_low, &y_high, l->y[k], p->log_y);
            if (l->low && l->high) {
                widen(&y_low, &y_high, l->low[k], p->log_y);
                widen(&y_low, &y_high, l->high[k], p->log_y);
            }
        }
    }
    if (p->unit_square) {
        x_low = y_low = 0;
        x_high = y_high = 1;
        f.right = LEFT + 1.25 * TALL;
    } else if (longest > 0) {
        f.right = WIDTH - fmin(longest + 22, 150);
    }
    f.x = graphss_i_axis_of(x_low, x_high, p->log_x, 6);
    f.y = graphss_i_axis_of(y_low, y_high, p->log_y, 5);
    open_svg(writer, p, TOP + f.tall + BOTTOM, alone);
    put_axes(writer, &f, p);
    if (p->unit_square)
        put_line(writer, "chance", page_x(&f, 0), page_y(&f, 0), page_x(&f, 1), page_y(&f, 1));
    for (size_t i = 0; i < p->n; i++)
        if (p->line[i].low && p->line[i].high)
            put_band(writer, &f, &p->line[i], i % STYLES);
    for (size_t i = 0; i < p->n; i++)
        put_curve(writer, &f, &p->line[i], i);
    put_names(writer, &f, p);
    graphss_i_put(writer, "</svg>\n");
}

/* ---- bars ---- */

static void put_patterns(graphss_i_writer *writer, const char *prefix)
{
    graphss_i_put(writer, "<defs><pattern id=\"");
    graphss_i_put_xml(writer, prefix);
    graphss_i_put(writer, "-1\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" "
                          "patternTransform=\"rotate(45)\"><rect class=\"soft\" width=\"5\" "
                          "height=\"5\"/><rect class=\"hatch\" width=\"2\" height=\"5\"/>"
                          "</pattern></defs>\n");
}

static void put_bars(
    graphss_i_writer *writer, const graphss_i_panel *p, const char *prefix, bool alone)
{
    static const char *const style[] = {"bar ours", "bar trivial", "bar rival", "bar before"};
    double longest = 0, largest = p->largest, widest = 0;
    char text[96];
    for (size_t i = 0; i < p->n; i++) {
        const graphss_i_bar *b = &p->bar[i];
        longest = fmax(longest, text_width(b->name));
        if (isfinite(b->value) && p->largest <= 0)
            largest = fmax(largest, b->value + (isfinite(b->sd) ? b->sd : 0));
        graphss_i_fixed_text(text, sizeof text, b->value, p->decimals);
        double wide = text_width(text);
        if (isfinite(b->sd)) {
            graphss_i_fixed_text(text, sizeof text, b->sd, p->decimals);
            wide += text_width(text) + 3 * LETTER_WIDE;
        }
        widest = fmax(widest, wide);
    }
    const double left = fmin(longest, 160) + 10, right = WIDTH - widest - 10;
    const double above = *p->y_label ? TOP : TOP - LETTER; /* the name of y takes a line */
    const double top = above + (p->mark[0].name ? LETTER + 2 : 0) +
                       (p->mark[0].name && p->mark[1].name ? LETTER : 0);
    const double bottom = top + BAR * (double)p->n;
    const graphss_i_axis axis = graphss_i_axis_of(0, largest > 0 ? largest : 1, false, 4);
    open_svg(writer, p, bottom + BOTTOM, alone);
    put_patterns(writer, prefix);
    put_short(writer, "name", "start", 2, 32, p->y_label, WIDTH - 4);
    for (size_t i = 0; i < axis.n_ticks; i++) {
        const double x = left + graphss_i_axis_at(&axis, axis.tick[i]) * (right - left);
        put_line(writer, "grid", x, top - 2, x, bottom);
        graphss_i_tick_text(text, sizeof text, axis.tick[i]);
        put_text(writer, "tick", "middle", x, bottom + 15, text);
    }
    put_x_name(writer, (left + right) / 2, bottom + 32, p->x_label);
    for (size_t i = 0; i < p->n; i++) {
        const graphss_i_bar *b = &p->bar[i];
        const double y = top + BAR * (double)i, middle = y + BAR / 2.0 - 1;
        put_short(writer, b->style == 0 ? "label strong" : "label", "end", left - 6,
            middle + 4, b->name, left - 8);
        if (!isfinite(b->value)) {
            put_text(writer, "tick", "start", left + 4, middle + 4, "not run");
            continue;
        }
        const double x = left + graphss_i_axis_at(&axis, b->value) * (right - left);
        char more[160] = "";
        if (b->style == 1)
            snprintf(more, sizeof more, " style=\"fill:url(#%.100s-1)\"", prefix);
        put_rect(writer, style[b->style], left, y + 2, x - left, BAR - 6, more);
        graphss_i_fixed_text(text, sizeof text, b->value, p->decimals);
        if (isfinite(b->sd)) {
            const double from = graphss_i_axis_at(&axis, fmax(b->value - b->sd, 0));
            const double to = graphss_i_axis_at(&axis, b->value + b->sd);
            put_line(writer, "whisker", left + from * (right - left), middle,
                left + to * (right - left), middle);
            char spread[48];
            graphss_i_fixed_text(spread, sizeof spread, b->sd, p->decimals);
            const size_t n = strlen(text);
            snprintf(text + n, sizeof text - n, " ± %s", spread);
        }
        put_text(writer, b->style == 0 ? "label strong" : "label", "end", WIDTH - 2,
            middle + 4, text);
    }
    put_line(writer, "axis", left, top - 2, left, bottom);
    for (size_t i = 0; i < 2 && p->mark[i].name; i++) {
        if (!isfinite(p->mark[i].value))
            continue;
        const double x = left + graphss_i_axis_at(&axis, p->mark[i].value) * (right - left);
        put_line(writer, i == 0 ? "mark" : "mark second", x, above + LETTER * (double)i + 3, x,
            bottom);
        const bool flipped = x > (left + right) / 2;
        put_text(writer, "tick", flipped ? "end" : "start", flipped ? x - 4 : x + 4,
            above + LETTER * (double)i + 10, p->mark[i].name);
    }
    graphss_i_put(writer, "</svg>\n");
}

/* ---- heat maps ---- */

static void put_heat(graphss_i_writer *writer, const graphss_i_panel *p, bool alone)
{
    const double k = (double)p->n, left = 34, top = TOP + 4;
    const double side = fmin((WIDTH - left - 8) / fmax(k, 1), 40);
    const double bottom = top + side * k;
    double largest = p->largest;
    char text[48];
    for (size_t i = 0; i < p->n * p->n && p->largest <= 0; i++)
        if (isfinite(p->matrix[i]))
            largest = fmax(largest, p->matrix[i]);
    open_svg(writer, p, bottom + BOTTOM, alone);
    put_short(writer, "name", "start", 2, 32, p->y_label, WIDTH - 4);
    for (size_t i = 0; i < p->n; i++) {
        const double at = side * ((double)i + 0.5);
        snprintf(text, sizeof text, "%zu", i);
        put_text(writer, "tick", "end", left - 6, top + at + 4, text);
        put_text(writer, "tick", "middle", left + at, bottom + 14, text);
        for (size_t j = 0; j < p->n; j++) {
            const double count = p->matrix[i * p->n + j];
            /* shade = log(1 + count) / log(1 + largest) */
            const double shade = isfinite(count) && count > 0 && largest > 0
                                     ? fmin(log1p(count) / log1p(largest), 1)
                                     : 0;
            char more[64];
            char opacity[16];
            graphss_i_fixed_text(opacity, sizeof opacity, shade, 3);
            snprintf(more, sizeof more, " fill-opacity=\"%s\"", opacity);
            const double x = left + side * (double)j, y = top + side * (double)i;
            put_rect(writer, "cell", x, y, side - 1, side - 1, more);
            if (!(count > 0) || !isfinite(count))
                continue;
            graphss_i_fixed_text(text, sizeof text, count, 0);
            put_text(writer,
                shade > 0.55 ? (p->n > 10 ? "count small light" : "count light")
                             : (p->n > 10 ? "count small" : "count"),
                "middle", x + side / 2, y + side / 2 + (p->n > 10 ? 2.5 : 4), text);
        }
    }
    put_x_name(writer, left + side * k / 2, bottom + 31, p->x_label);
    graphss_i_put(writer, "</svg>\n");
}

void graphss_i_panel_svg(
    graphss_i_writer *writer, const graphss_i_panel *panel, const char *prefix, bool alone)
{
    if (panel->kind == GRAPHSS_I_LINES)
        put_lines(writer, panel, alone);
    else if (panel->kind == GRAPHSS_I_BARS)
        put_bars(writer, panel, prefix, alone);
    else
        put_heat(writer, panel, alone);
}

/* Round numbers along an axis, linear or logarithmic. */

/* The step of 1, 2 or 5 times a power of ten that cuts width into at most n pieces. */
static double round_step(double width, int n)
{
    const double raw = width / n, power = pow(10, floor(log10(raw)));
    const double digit = raw / power;
    return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

static void add_tick(graphss_i_axis *axis, double value)
{
    if (axis->n_ticks < sizeof axis->tick / sizeof *axis->tick)
        axis->tick[axis->n_ticks++] = value;
}

static void linear_ticks(graphss_i_axis *axis, int most)
{
    const double step = round_step(axis->high - axis->low, most);
    const double first = ceil(axis->low / step - 1e-9);
    for (double i = first; i * step <= axis->high + 1e-9 * step && i < first + 12; i++) {
        /* i * step without the last bit's dirt */
        const double power = pow(10, floor(log10(step) + 1e-9));
        const double digit = round(step / power);
        add_tick(
            axis, power >= 1 ? i * digit * power + 0.0 : i * digit / round(1 / power) + 0.0);
    }
}

static void log_ticks(graphss_i_axis *axis)
{
    const double first = floor(log10(axis->low)), last = ceil(log10(axis->high));
    const double every = fmax(1, ceil((last - first) / 6));
    for (double p = first; p <= last; p += every)
        for (int digit = 1; digit <= 5; digit += digit == 1 ? 1 : 3) {
            const double value = digit * pow(10, p);
            if (digit > 1 && last - first > 2)
                break;
            if (value >= axis->low * (1 - 1e-9) && value <= axis->high * (1 + 1e-9))
                add_tick(axis, value);
        }
}

graphss_i_axis graphss_i_axis_of(double low, double high, bool log, int most_ticks)
{
    graphss_i_axis axis = {.low = low, .high = high, .log = log};
    if (!(low <= high) || !isfinite(low) || !isfinite(high) || (log && low <= 0)) {
        axis.low = log ? 1 : 0;
        axis.high = log ? 10 : 1;
    }
    axis.low = fmax(axis.low, -1e300);
    axis.high = fmin(axis.high, 1e300);
    const double size = fmax(fabs(axis.low), fabs(axis.high));
    if (axis.high - axis.low <= 1e-9 * size || axis.high == axis.low) {
        const double room = size > 0 ? 0.1 * size : 1;
        axis.low = log ? axis.low / 2 : axis.low - room;
        axis.high = log ? axis.high * 2 : axis.high + room;
    }
    if (log)
        log_ticks(&axis);
    else
        linear_ticks(&axis, most_ticks);
    return axis;
}

double graphss_i_axis_at(const graphss_i_axis *axis, double value)
{
    const double share = axis->log ? (log(fmax(value, axis->low)) - log(axis->low)) /
                                         (log(axis->high) - log(axis->low))
                                   : (value - axis->low) / (axis->high - axis->low);
    return fmin(fmax(share, -1), 2);
}

void graphss_i_tick_text(char *out, size_t size, double value)
{
    static const struct {
        double from;
        char letter;
    } unit[] = {{1e9, 'G'}, {1e6, 'M'}, {1e3, 'k'}};
    char text[40];
    for (size_t i = 0; i < 3; i++)
        if (fabs(value) >= unit[i].from && fabs(value) < 1e12) {
            graphss_i_double_text(text, sizeof text, value / unit[i].from);
            if (strlen(text) <= 5) {
                snprintf(out, size, "%s%c", text, unit[i].letter);
                return;
            }
        }
    graphss_i_double_text(text, sizeof text, value);
    snprintf(out, size, "%s", text);
}
