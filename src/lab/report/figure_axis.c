/* figure_axis.c - round numbers along an axis, linear or logarithmic. */
#include "lab/report/figure.h"

#include <math.h>
#include <string.h>

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
        add_tick(axis,
                 power >= 1 ? i * digit * power + 0.0 : i * digit / round(1 / power) + 0.0);
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
