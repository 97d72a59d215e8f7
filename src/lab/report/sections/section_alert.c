/* section_alert.c - ROC curves and false alarms of the alert, and the calibration of
 * posteriors and p-values. */
#include <math.h>
#include <string.h>

#include "lab/report/document.h"

enum { GRID = 52, BINS = 15 }; /* a grid of 0, 0, 0.02 ... 1: curves begin in the corner */

/* y at x of a curve that rises from (0,0) to (1,1); the upper end of a vertical piece. */
static double height_at(const double *x, const double *y, size_t n, double at)
{
    double before_x = 0, before_y = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i]) || !isfinite(y[i]))
            continue;
        if (x[i] > at)
            return before_y + (y[i] - before_y) * (at - before_x) / (x[i] - before_x);
        before_x = x[i];
        before_y = y[i];
    }
    return before_y;
}

/* The mean of the curves over runs, and one standard deviation around it. */
static bool mean_curve(graphss_i_line *out, graphss_i_runs *records,
    const graphss_i_query *query, const char *member)
{
    graphss_i_arena *arena = &records->arena;
    size_t n = 0, used = 0;
    const graphss_i_run **run = graphss_i_runs_find(records, query, &n);
    double *grid = graphss_i_arena_take(arena, 4 * GRID, sizeof *grid);
    double *value = graphss_i_arena_take(arena, GRID * (n + 1), sizeof *value);
    if (!run || !grid || !value)
        return false;
    for (size_t r = 0; r < n; r++) {
        size_t nx = 0, ny = 0;
        const double *x = graphss_i_numbers(arena, run[r], member, "x", &nx);
        const double *y = graphss_i_numbers(arena, run[r], member, "y", &ny);
        if (!x || !y || nx != ny)
            continue;
        for (size_t i = 1; i < GRID; i++)
            value[i * n + used] = height_at(x, y, nx, (double)(i - 1) / (GRID - 2));
        used++;
    }
    if (used == 0)
        return false;
    for (size_t i = 0; i < GRID; i++) {
        const graphss_i_stat s = graphss_i_stat_of(value + i * n, used);
        grid[i] = i ? (double)(i - 1) / (GRID - 2) : 0;
        grid[GRID + i] = s.mean;
        grid[2 * GRID + i] = fmax(s.mean - s.sd, 0);
        grid[3 * GRID + i] = fmin(s.mean + s.sd, 1);
    }
    *out = (graphss_i_line){.name = "",
        .x = grid,
        .y = grid + GRID,
        .low = used > 1 ? grid + 2 * GRID : NULL,
        .high = used > 1 ? grid + 3 * GRID : NULL,
        .n = GRID};
    return true;
}

/* A panel for each dataset, a line for each classifier and value of a sweep. */
static void roc(graphss_i_document *d, graphss_i_runs *records,
    const graphss_i_condition *condition, const char *member, const char *metric,
    const char *title)
{
    graphss_i_arena *arena = d->arena;
    graphss_i_query q = graphss_i_condition_query(condition, "alert");
    graphss_i_figure *figure = graphss_i_figure_new(arena,
        graphss_i_arena_say(arena, "fig-alert-%s-%s", condition->id, metric),
        graphss_i_arena_say(arena, "%s, %s", title, condition->name),
        "Mean over runs with a band of one standard deviation; the number is the area under "
        "the curve (0.5: no better than chance, the dotted line).");
    const graphss_i_list datasets = graphss_i_distinct(records, &q, GRAPHSS_I_DATASET);
    for (size_t i = 0; i < datasets.n; i++) {
        q = graphss_i_condition_query(condition, "alert");
        q.dataset = datasets.text[i];
        graphss_i_line *line = NULL;
        size_t n = 0, room = 0;
        const char *panel = graphss_i_dataset_name(records, datasets.text[i]);
        const graphss_i_cells cells = graphss_i_cells_of(records, &q);
        for (size_t c = 0; c < cells.n; c++) {
            q = cells.cell[c];
            const graphss_i_list values = graphss_i_distinct(records, &q, GRAPHSS_I_VALUE);
            for (size_t v = 0; v < values.n; v++) {
                line = graphss_i_arena_room(arena, line, n, &room, sizeof *line);
                q.value = values.text[v];
                if (!line)
                    return;
                if (!mean_curve(&line[n], records, &q, member))
                    continue;
                const double area = graphss_i_stat_metric(records, &q, metric).mean;
                line[n++].name = graphss_i_arena_say(arena, "%s%s%s %s",
                    graphss_i_shown(GRAPHSS_I_MODEL, q.model), *q.value ? " " : "", q.value,
                    graphss_i_fixed(arena, area, 3));
            }
        }
        n = graphss_i_choose_lines(figure, arena, line, n, panel);
        graphss_i_panel *p = graphss_i_add_lines(
            figure, arena, line, n, panel, "false alarms, share", "detections, share");
        if (p)
            p->unit_square = true;
    }
    graphss_i_show_figure(d, figure);
}

static void alert_table(
    graphss_i_document *d, graphss_i_runs *records, const graphss_i_condition *condition)
{
    graphss_i_arena *arena = d->arena;
    graphss_i_query q = graphss_i_condition_query(condition, "alert");
    graphss_i_table *t =
        graphss_i_table_new(arena, graphss_i_arena_say(arena, "alert-%s", condition->id),
            graphss_i_arena_say(arena, "Alerts, %s", condition->name),
            graphss_i_arena_say(arena,
                "Area under the ROC curve for groups of nodes and for single nodes; share of "
                "clean groups that raise an alarm at p ≤ %s and of attacked groups that do. "
                "Mean ± standard deviation over runs. The paper shows its curves without "
                "printing numbers, so there is nothing to subtract.",
                graphss_i_rates_text(records, &q)));
    graphss_i_add_head(t, "dataset");
    graphss_i_add_head(t, "classifier");
    graphss_i_add_head(t, "variant");
    graphss_i_add_column(t, "n", "", 0, false);
    graphss_i_add_column(t, "AUC, groups", "", 3, false);
    graphss_i_add_column(t, "AUC, nodes", "", 3, false);
    graphss_i_add_column(t, "false alarms", "%", 1, false);
    graphss_i_add_column(t, "detections", "%", 1, false);
    graphss_i_add_column(t, "time", "s", 2, false);
    const graphss_i_cells cells = graphss_i_cells_of(records, &q);
    for (size_t c = 0; c < cells.n; c++) {
        q = cells.cell[c];
        const graphss_i_list values = graphss_i_distinct(records, &q, GRAPHSS_I_VALUE);
        for (size_t v = 0; v < values.n; v++) {
            q.value = values.text[v];
            graphss_i_add_cell(t, records, &q);
            graphss_i_add_text(t, *q.value ? q.value : "–");
            graphss_i_add_number(t, (double)graphss_i_runs_count(records, &q));
            graphss_i_add_stat(t, graphss_i_stat_metric(records, &q, "auc"));
            graphss_i_add_stat(t, graphss_i_stat_metric(records, &q, "node_auc"));
            graphss_i_add_stat(t, graphss_i_percent(records, &q, "false_alarms"));
            graphss_i_add_stat(t, graphss_i_percent(records, &q, "detections"));
            graphss_i_add_stat(t, graphss_i_stat_metric(records, &q, "seconds"));
        }
    }
    graphss_i_show_table(d, t);
}

void graphss_i_section_alert(graphss_i_document *d, graphss_i_runs *records)
{
    if (!graphss_i_begin(d, records, "alert", "Alert",
            "Was a group of nodes tampered with? Groups with and without victims "
            "are scored; a good alert puts those with victims first."))
        return;
    const graphss_i_conditions conditions = graphss_i_conditions_of(records, "alert");
    for (size_t w = 0; w < conditions.n; w++) {
        graphss_i_heading(d, 3,
            graphss_i_arena_say(d->arena, "alert-%s", conditions.condition[w].id),
            graphss_i_arena_say(d->arena, "Alert, %s", conditions.condition[w].name));
        roc(d, records, &conditions.condition[w], "curve", "auc", "ROC of groups of nodes");
        roc(d, records, &conditions.condition[w], "node_curve", "node_auc",
            "ROC of single nodes");
        alert_table(d, records, &conditions.condition[w]);
    }
}

/* ---- calibration ---- */

/* Accuracy against confidence, bins of all runs put together by their weights. */
static bool reliability(
    graphss_i_line *out, graphss_i_runs *records, const graphss_i_query *query)
{
    graphss_i_arena *arena = &records->arena;
    double weight[BINS] = {0}, x_sum[BINS] = {0}, y_sum[BINS] = {0};
    size_t n = 0, filled = 0;
    const graphss_i_run **run = graphss_i_runs_find(records, query, &n);
    double *xy = graphss_i_arena_take(arena, 2 * BINS, sizeof *xy);
    if (!run || !xy)
        return false;
    for (size_t r = 0; r < n; r++) {
        size_t nx = 0, ny = 0, nw = 0;
        const double *x = graphss_i_numbers(arena, run[r], "curve", "x", &nx);
        const double *y = graphss_i_numbers(arena, run[r], "curve", "y", &ny);
        const double *w = graphss_i_numbers(arena, run[r], "curve", "weight", &nw);
        for (size_t i = 0; i < nx && i < ny; i++) {
            const double each = i < nw ? w[i] : 1;
            if (!(x[i] >= 0 && x[i] <= 1) || !isfinite(y[i]) || !(each > 0))
                continue;
            const size_t bin = x[i] >= 1 ? BINS - 1 : (size_t)(x[i] * BINS);
            weight[bin] += each;
            x_sum[bin] += each * x[i];
            y_sum[bin] += each * y[i];
        }
    }
    for (size_t b = 0; b < BINS; b++)
        if (weight[b] > 0) {
            xy[filled] = x_sum[b] / weight[b];
            xy[BINS + filled++] = y_sum[b] / weight[b];
        }
    *out = (graphss_i_line){.name = "", .x = xy, .y = xy + BINS, .n = filled};
    return filled > 0;
}

static void reliability_plot(
    graphss_i_document *d, graphss_i_runs *records, const graphss_i_condition *condition)
{
    graphss_i_arena *arena = d->arena;
    graphss_i_query q = graphss_i_condition_query(condition, "calibration");
    graphss_i_figure *figure = graphss_i_figure_new(arena,
        graphss_i_arena_say(arena, "fig-calibration-%s", condition->id),
        graphss_i_arena_say(arena, "How often a posterior is right, %s", condition->name),
        "Test nodes of all runs in 15 bins of confidence. On the dotted line a posterior "
        "means what it says; the number is the expected calibration error.");
    const graphss_i_list datasets = graphss_i_distinct(records, &q, GRAPHSS_I_DATASET);
    for (size_t i = 0; i < datasets.n; i++) {
        q.dataset = datasets.text[i];
        q.method = q.train = NULL;
        const char *panel = graphss_i_dataset_name(records, datasets.text[i]);
        const graphss_i_variants list = graphss_i_variants_shown(records, &q);
        graphss_i_line *line = graphss_i_arena_take(arena, list.n + 1, sizeof *line);
        size_t n = 0;
        for (size_t k = 0; k < list.n && line; k++) {
            q.method = list.variant[k].method;
            q.train = list.variant[k].train;
            if (reliability(&line[n], records, &q))
                line[n++].name = graphss_i_arena_say(arena, "%s %s", list.variant[k].name,
                    graphss_i_fixed(arena, graphss_i_stat_metric(records, &q, "ece").mean, 3));
        }
        n = line ? graphss_i_choose_lines(figure, arena, line, n, panel) : 0;
        graphss_i_panel *p = graphss_i_add_lines(
            figure, arena, line, n, panel, "confidence, share", "right, share");
        if (p)
            p->unit_square = true;
    }
    graphss_i_show_figure(d, figure);
}

/* Shares of the p-values of clean groups below the stated rate. */
static void p_values(
    graphss_i_document *d, graphss_i_runs *records, const graphss_i_condition *condition)
{
    static const double level[] = {0.01, 0.05, 0.1, 0.2, 0.5};
    enum { LEVELS = sizeof level / sizeof *level };
    graphss_i_arena *arena = d->arena;
    graphss_i_query q = graphss_i_condition_query(condition, "calibration");
    graphss_i_table *t = graphss_i_table_new(arena,
        graphss_i_arena_say(arena, "p-values-%s", condition->id),
        graphss_i_arena_say(arena, "False alarms at a stated rate, %s", condition->name),
        "Share of clean groups of nodes whose p-value is at most the stated rate, all runs "
        "together. It should be at most the rate itself.");
    graphss_i_add_head(t, "dataset");
    graphss_i_add_column(t, "runs", "", 0, false);
    graphss_i_add_column(t, "groups", "", 0, false);
    for (size_t l = 0; l < LEVELS; l++)
        graphss_i_add_column(t,
            graphss_i_arena_say(arena, "at %s %%", graphss_i_fixed(arena, 100 * level[l], 0)),
            "%", 1, false);
    const graphss_i_list datasets = graphss_i_distinct(records, &q, GRAPHSS_I_DATASET);
    for (size_t i = 0; i < datasets.n; i++) {
        q.dataset = datasets.text[i];
        size_t n = 0, groups = 0, runs = 0, below[LEVELS] = {0};
        const graphss_i_run **run = graphss_i_runs_find(records, &q, &n);
        for (size_t r = 0; run && r < n; r++) {
            const json_t *list = json_object_get(run[r]->json, "p_values");
            runs += json_array_size(list) > 0;
            for (size_t k = 0; k < json_array_size(list); k++) {
                const json_t *p = json_array_get(list, k);
                groups++;
                for (size_t l = 0; l < LEVELS; l++)
                    below[l] += json_is_number(p) && json_number_value(p) <= level[l];
            }
        }
        if (groups == 0)
            continue;
        graphss_i_add_text(t, graphss_i_dataset_name(records, q.dataset));
        graphss_i_add_number(t, (double)runs);
        graphss_i_add_number(t, (double)groups);
        for (size_t l = 0; l < LEVELS; l++)
            graphss_i_add_number(t, 100 * (double)below[l] / (double)groups);
    }
    graphss_i_show_table(d, t);
}

void graphss_i_section_calibration(graphss_i_document *d, graphss_i_runs *records)
{
    if (!graphss_i_begin(d, records, "calibration", "Calibration",
            "Does a posterior of 0.9 mean right nine times in ten, and does a "
            "stated rate of false alarms hold?"))
        return;
    const graphss_i_conditions conditions = graphss_i_conditions_of(records, "calibration");
    for (size_t w = 0; w < conditions.n; w++) {
        reliability_plot(d, records, &conditions.condition[w]);
        p_values(d, records, &conditions.condition[w]);
    }
}
