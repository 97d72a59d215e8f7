/* page_drawings.c - see page.h. */
#include "serve/serve_private.h"
#include <math.h>
#include <string.h>

enum { WIDE = 600, HIGH = 150, SHOWN = 24, SIDE = 420, LETTERS = 12 };
static const double PI = 3.14159265358979323846;

/* 0 at the top of the plot to 1 at its bottom. */
static double height_of(double x, double low, double high)
{
    const double at = (log10(x) - low) / (high - low);
    return 1 - (at < 0 ? 0 : at > 1 ? 1 : at);
}

void graphss_i_page_plot(graphss_i_text *t, const graphss_live_past_test *past, size_t n,
    bool p_value, double threshold)
{
    double low = p_value ? -3 : -1, high = p_value ? 0 : log10(threshold) + 0.5;
    for (size_t i = 0; i < n; i++) {
        const double x = p_value ? past[i].p_value : past[i].e_value;
        if (x > 0 && isfinite(x)) {
            low = fmin(low, fmax(floor(log10(x)), -12));
            high = fmax(high, log10(x));
        }
    }
    const double from = past[0].t, span = fmax(past[n - 1].t - from, 1e-9);
    graphss_i_text_format(t,
        "<svg class=\"plot\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\""
        "none\" role=\"img\" aria-label=\"%s over time, now ",
        WIDE, HIGH, p_value ? "p-value" : "evidence");
    graphss_i_text_short(t, p_value ? past[n - 1].p_value : past[n - 1].e_value);
    graphss_i_text_add(t, "\">");
    for (size_t i = 0; i + 1 < n; i++) /* while an alert was open */
        if (past[i].open) {
            graphss_i_text_add(t, "<rect class=\"open\" y=\"0\" x=\"");
            graphss_i_text_fixed(t, WIDE * (past[i].t - from) / span, 1);
            graphss_i_text_add(t, "\" width=\"");
            size_t end = i;
            while (end + 1 < n && past[end].open)
                end++;
            graphss_i_text_fixed(t, WIDE * (past[end].t - past[i].t) / span, 1);
            graphss_i_text_format(t, "\" height=\"%d\"/>", HIGH);
            i = end;
        }
    for (double mark = ceil(low); mark <= high; mark++) {
        const double y = HIGH * height_of(pow(10, mark), low, high);
        graphss_i_text_format(t, "<path class=\"grid\" d=\"M0 ");
        graphss_i_text_fixed(t, y, 1);
        graphss_i_text_format(t, "H%d\"/>", WIDE);
    }
    if (!p_value) {
        graphss_i_text_add(t, "<path class=\"line\" d=\"M0 ");
        graphss_i_text_fixed(t, HIGH * height_of(threshold, low, high), 1);
        graphss_i_text_format(t, "H%d\"/>", WIDE);
    }
    graphss_i_text_add(t, "<path class=\"curve\" d=\"");
    for (size_t i = 0; i < n; i++) {
        const double x = p_value ? past[i].p_value : past[i].e_value;
        graphss_i_text_add(t, i ? "L" : "M");
        graphss_i_text_fixed(t, WIDE * (past[i].t - from) / span, 1);
        graphss_i_text_add(t, " ");
        graphss_i_text_fixed(t, HIGH * height_of(x > 0 ? x : 1e-300, low, high), 1);
    }
    graphss_i_text_format(t,
        "\"/></svg><p class=\"ends\"><span>top %s10<sup>%d</sup>%s</span>"
        "<span>bottom 10<sup>%d</sup></span></p>",
        p_value && high <= 0 ? "1 = " : "about ", (int)lround(high), "", (int)lround(low));
}

/* ---- a node and its neighbours ---- */

static void put_name(graphss_i_text *t, const char *name)
{
    char cut[4 * LETTERS + 4];
    size_t at = 0;
    for (size_t i = 0; i < LETTERS && name[at]; i++) {
        uint32_t c;
        const size_t n =
            graphss_i_utf8_take(&c, (const unsigned char *)name + at, strlen(name + at));
        at += n ? n : 1;
    }
    memcpy(cut, name, at);
    cut[at] = 0;
    graphss_i_text_html(t, cut);
    if (name[at])
        graphss_i_text_add(t, "...");
}

static void put_neighbour(
    graphss_i_text *t, const graphss_live *live, int32_t node, int state, double angle)
{
    static const char *const how[] = {"cut", "kept", "added"};
    const double middle = SIDE / 2.0, radius = SIDE * 0.34;
    const double x = middle + radius * sin(angle), y = middle - radius * cos(angle);
    const char *name = graphss_live_name(live, (size_t)node);
    graphss_i_text_format(
        t, "<path class=\"%s\" d=\"M%d %dL", how[state + 1], SIDE / 2, SIDE / 2);
    graphss_i_text_fixed(t, x, 1);
    graphss_i_text_add(t, " ");
    graphss_i_text_fixed(t, y, 1);
    graphss_i_text_add(t, "\"/>");
    if (name) {
        graphss_i_text_add(t, "<a href=\"/?node=");
        graphss_i_text_url(t, name);
        graphss_i_text_add(t, "#node\">");
    }
    graphss_i_text_add(t, "<circle r=\"6\" cx=\"");
    graphss_i_text_fixed(t, x, 1);
    graphss_i_text_add(t, "\" cy=\"");
    graphss_i_text_fixed(t, y, 1);
    graphss_i_text_add(t, "\"/><text text-anchor=\"middle\" x=\"");
    const double out = radius + 18;
    graphss_i_text_fixed(t, fmin(fmax(middle + out * sin(angle), 45), SIDE - 45), 1);
    graphss_i_text_add(t, "\" y=\"");
    graphss_i_text_fixed(t, middle - out * cos(angle) + 4, 1);
    graphss_i_text_add(t, "\">");
    put_name(t, name ? name : "gone");
    graphss_i_text_add(t, name ? "</text></a>" : "</text>");
}

void graphss_i_page_neighbours(
    graphss_i_text *t, const graphss_live *live, size_t node, const graphss_i_why *why)
{
    const size_t shown = why->edges.n < SHOWN ? why->edges.n : SHOWN;
    size_t drawn = 0;
    const char *name = graphss_live_name(live, node);
    graphss_i_text_format(t,
        "<figure><svg class=\"net\" viewBox=\"0 0 %d %d\" role=\"img\" "
        "aria-label=\"%zu neighbours: %zu added, %zu cut\">",
        SIDE, SIDE, why->edges.n, why->node.edges_added, why->node.edges_removed);
    static const int order[] = {1, -1, 0}; /* changed ones first, since not all may fit */
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < why->edges.n && drawn < shown; i++)
            if (why->edges.state[i] == order[k])
                put_neighbour(t, live, why->edges.node[i], order[k],
                    2 * PI * (double)drawn++ / (double)shown);
    graphss_i_text_format(t,
        "<circle class=\"self\" r=\"10\" cx=\"%d\" cy=\"%d\"/><text "
        "text-anchor=\"middle\" x=\"%d\" y=\"%d\">",
        SIDE / 2, SIDE / 2, SIDE / 2, SIDE / 2 + 26);
    put_name(t, name ? name : "");
    graphss_i_text_add(t, "</text></svg><figcaption><span class=\"added\">added</span> <span "
                          "class=\"cut\">cut</span> <span class=\"kept\">as trusted</span>");
    if (why->edges.n > shown)
        graphss_i_text_format(t, "; %zu of %zu neighbours are drawn", shown, why->edges.n);
    graphss_i_text_add(t, "</figcaption></figure>");
}
