/* paper.c - reads the embedded table. It is 240 lines, and a report asks for some hundred
 * cells, so each question reads it again: no memory, nothing to free. */
#include "lab/report/paper.h"

#include <math.h>
#include <string.h>

#include "lab/report/embedded.h"

/* One field of a line into out (cut at size); returns what follows its comma. */
static const char *take_field(char *out, size_t size, const char *at, const char *end)
{
    size_t n = 0;
    bool quoted = false;
    for (; at < end && (quoted || *at != ','); at++) {
        if (*at == '"')
            quoted = !quoted;
        else if (n + 1 < size)
            out[n++] = *at;
    }
    out[n] = 0;
    return at < end ? at + 1 : end;
}

static double number(const char *text)
{
    double value = NAN;
    return graphss_i_parse_double(&value, text, strlen(text)) ? value : NAN;
}

/* The line at *at into out; false for comments and the heading. *at moves on. */
static bool take_line(graphss_i_paper_cell *out, const char **at)
{
    const char *start = *at, *end = strchr(start, '\n');
    char mean[24], sd[24];
    if (!end)
        end = start + strlen(start);
    *at = *end ? end + 1 : end;
    if (*start == '#' || !strncmp(start, "what,", 5))
        return false;
    const char *p = take_field(out->what, sizeof out->what, start, end);
    p = take_field(out->dataset, sizeof out->dataset, p, end);
    p = take_field(out->model, sizeof out->model, p, end);
    p = take_field(out->method, sizeof out->method, p, end);
    p = take_field(out->metric, sizeof out->metric, p, end);
    p = take_field(mean, sizeof mean, p, end);
    p = take_field(sd, sizeof sd, p, end);
    take_field(out->reference, sizeof out->reference, p, end);
    out->mean = number(mean);
    out->sd = number(sd);
    return true;
}

bool graphss_i_paper_next(graphss_i_paper_cell *out, size_t *at)
{
    const char *next = graphss_i_embedded_paper + *at;
    while (*next)
        if (take_line(out, &next)) {
            *at = (size_t)(next - graphss_i_embedded_paper);
            return true;
        }
    return false;
}

bool graphss_i_paper_find(graphss_i_paper_cell *out, const char *what, const char *dataset,
                          const char *model, const char *method, const char *metric)
{
    graphss_i_paper_cell cell;
    for (size_t at = 0; graphss_i_paper_next(&cell, &at);)
        if (!strcmp(cell.what, what) && !strcmp(cell.dataset, dataset) &&
            !strcmp(cell.model, model) && !strcmp(cell.method, method) &&
            !strcmp(cell.metric, metric)) {
            *out = cell;
            return true;
        }
    return false;
}
