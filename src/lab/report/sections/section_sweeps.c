/* section_sweeps.c - one number is varied and the others stay: parameters of the method, the
 * attacker's budget, wrong labels, the size of the graph; and the ablation, whose values are
 * names. */
#include <math.h>
#include <string.h>

#include "lab/report/document.h"

typedef struct sweep {
    const char *what, *title, *about;
    const char *metric[2]; /* the first that was measured is shown */
    const char *label[2];  /* with its unit */
    double factor;
    int decimals;
    bool log, pooled; /* pooled: datasets are sizes of one kind of graph */
} sweep;

static const sweep sweeps[] = {
    {"parameters", "Parameters",
        "The paper's Figure: warm-up steps and retraining epochs of GraphSS, one at a time.",
        {"validation", "victims"}, {"validation accuracy, %", "victims right, %"}, 100, 1,
        false, false},
    {"budget", "A stronger attacker",
        "How many victims are labelled correctly when the attacker may change more links, and "
        "ten times as many features.",
        {"victims", "test"}, {"victims right, %", "test nodes right, %"}, 100, 1, false,
        false},
    {"noise", "Wrong training labels",
        "A share of the training labels is wrong from the beginning.", {"victims", "test"},
        {"victims right, %", "test nodes right, %"}, 100, 1, false, false},
    {"scale", "Scale: time", "Generated graphs of growing size.", {"cpu_seconds", NULL},
        {"processor time, s", NULL}, 1, 2, true, true},
    {"scale", "Scale: memory", "", {"peak_memory", NULL}, {"peak memory, MB", NULL}, 1e-6, 0,
        true, true},
};

typedef struct sweep_context {
    graphss_i_document *d;
    graphss_i_runs *records;
    const graphss_i_condition *condition;
    const sweep *kind;
    const char *metric, *label;
    graphss_i_query query; /* what, mode, setting, parameter */
} sweep_context;

static graphss_i_list datasets_of(const sweep_context *at)
{
    static const char *none[] = {NULL};
    if (at->kind->pooled)
        return (graphss_i_list){none, 1};
    return graphss_i_distinct(at->records, &at->query, GRAPHSS_I_DATASET);
}

static double x_of(graphss_i_runs *records, const graphss_i_query *q, bool pooled)
{
    double value = NAN;
    const double nodes = pooled ? graphss_i_stat_metric(records, q, "nodes").mean : NAN;
    if (isfinite(nodes))
        return nodes;
    return graphss_i_parse_double(&value, q->value, strlen(q->value)) ? value : NAN;
}

static bool fill_line(
    graphss_i_line *out, const sweep_context *at, const graphss_i_query *query)
{
    graphss_i_arena *arena = at->d->arena;
    graphss_i_query q = *query;
    const graphss_i_list values = graphss_i_distinct(at->records, &q, GRAPHSS_I_VALUE);
    double *xy = graphss_i_arena_take(arena, 4 * values.n + 1, sizeof *xy);
    size_t n = 0;
    bool spread = false;
    if (!xy)
        return false;
    double *y = xy + values.n, *low = y + values.n, *high = low + values.n;
    for (size_t i = 0; i < values.n; i++) {
        q.value = values.text[i];
        const graphss_i_stat s = graphss_i_stat_scaled(
            graphss_i_stat_metric(at->records, &q, at->metric), at->kind->factor);
        if (s.n == 0)
            continue;
        xy[n] = x_of(at->records, &q, at->kind->pooled);
        y[n] = s.mean;
        low[n] = s.n > 1 ? s.mean - s.sd : s.mean;
        high[n] = s.n > 1 ? s.mean + s.sd : s.mean;
        spread = spread || s.n > 1;
        n += isfinite(xy[n]);
    }
    *out = (graphss_i_line){.name = "",
        .x = xy,
        .y = y,
        .low = spread ? low : NULL,
        .high = spread ? high : NULL,
        .n = n};
    return n > 0;
}

static void sweep_plot(const sweep_context *at)
{
    graphss_i_arena *arena = at->d->arena;
    graphss_i_query q = at->query;
    graphss_i_figure *figure = graphss_i_figure_new(arena,
        graphss_i_arena_say(arena, "fig-%s-%s-%s-%s", at->kind->what, at->condition->id,
            at->query.parameter, at->metric),
        graphss_i_arena_say(arena, "%s by %s, %s", at->kind->title,
            graphss_i_shown(GRAPHSS_I_PARAMETER, at->query.parameter), at->condition->name),
        "Mean over runs with a band of one standard deviation where there are several.");
    const graphss_i_list datasets = datasets_of(at);
    for (size_t i = 0; i < datasets.n; i++) {
        q = at->query;
        q.dataset = datasets.text[i];
        graphss_i_line *line = NULL;
        size_t n = 0, room = 0;
        const char *panel =
            q.dataset ? graphss_i_dataset_name(at->records, q.dataset) : at->kind->title;
        const graphss_i_list models = graphss_i_models_of(at->records, &q);
        for (size_t m = 0; m < models.n; m++) {
            q.model = models.text[m];
            q.method = q.train = NULL;
            const graphss_i_variants list = graphss_i_variants_shown(at->records, &q);
            for (size_t k = 0; k < list.n; k++) {
                line = graphss_i_arena_room(arena, line, n, &room, sizeof *line);
                q.method = list.variant[k].method;
                q.train = list.variant[k].train;
                if (!line)
                    return;
                if (fill_line(&line[n], at, &q))
                    line[n++].name =
                        models.n > 1
                            ? graphss_i_arena_say(arena, "%s %s", list.variant[k].name,
                                  graphss_i_shown(GRAPHSS_I_MODEL, q.model))
                            : list.variant[k].name;
            }
        }
        n = graphss_i_choose_lines(figure, arena, line, n, panel);
        if (n == 1)
            line[0].name = "";
        graphss_i_panel *p = graphss_i_add_lines(figure, arena, line, n, panel,
            graphss_i_shown(GRAPHSS_I_PARAMETER, at->query.parameter), at->label);
        if (p)
            p->log_x = p->log_y = at->kind->log;
    }
    graphss_i_show_figure(at->d, figure);
}

static void sweep_table(const sweep_context *at)
{
    graphss_i_arena *arena = at->d->arena;
    graphss_i_query q = at->query;
    const graphss_i_list values = graphss_i_distinct(at->records, &q, GRAPHSS_I_VALUE);
    graphss_i_table *t = graphss_i_table_new(arena,
        graphss_i_arena_say(arena, "%s-%s-%s-%s", at->kind->what, at->condition->id,
            at->query.parameter, at->metric),
        graphss_i_arena_say(arena, "%s by %s, %s", at->kind->title,
            graphss_i_shown(GRAPHSS_I_PARAMETER, at->query.parameter), at->condition->name),
        graphss_i_arena_say(arena,
            "%s, on %s; mean ± standard deviation over runs; n: the fewest and the "
            "most runs of a row.",
            at->label, graphss_i_threads_text(at->records, &q)));
    if (!at->kind->pooled)
        graphss_i_add_head(t, "dataset");
    graphss_i_add_head(t, "classifier");
    graphss_i_add_head(t, "method");
    graphss_i_add_column(t, "n", "", 0, false);
    for (size_t v = 0; v < values.n; v++)
        graphss_i_add_column(t, values.text[v], "", at->kind->decimals, false);
    const graphss_i_list datasets = datasets_of(at);
    for (size_t i = 0; i < datasets.n; i++) {
        q = at->query;
        q.dataset = datasets.text[i];
        const graphss_i_list models = graphss_i_models_of(at->records, &q);
        for (size_t m = 0; m < models.n; m++) {
            q.model = models.text[m];
            q.method = q.train = q.value = NULL;
            const graphss_i_variants list = graphss_i_variants_of(at->records, &q);
            for (size_t k = 0; k < list.n; k++) {
                size_t fewest = SIZE_MAX, most = 0;
                q.method = list.variant[k].method;
                q.train = list.variant[k].train;
                for (size_t v = 0; v < values.n; v++) {
                    q.value = values.text[v];
                    const size_t n = graphss_i_stat_metric(at->records, &q, at->metric).n;
                    fewest = n && n < fewest ? n : fewest;
                    most = n > most ? n : most;
                }
                q.value = NULL;
                if (most == 0)
                    continue;
                if (!at->kind->pooled)
                    graphss_i_add_text(t, graphss_i_dataset_name(at->records, q.dataset));
                graphss_i_add_text(t, graphss_i_shown(GRAPHSS_I_MODEL, q.model));
                graphss_i_add_text(t, list.variant[k].name);
                graphss_i_add_runs(t, fewest, most);
                for (size_t v = 0; v < values.n; v++) {
                    q.value = values.text[v];
                    graphss_i_add_stat(
                        t, graphss_i_stat_scaled(
                               graphss_i_stat_metric(at->records, &q, at->metric),
                               at->kind->factor));
                }
                q.value = NULL;
            }
        }
    }
    graphss_i_show_folded(at->d, t);
}

static void one_sweep(graphss_i_document *d, graphss_i_runs *records, const sweep *kind)
{
    const graphss_i_conditions conditions = graphss_i_conditions_of(records, kind->what);
    for (size_t w = 0; w < conditions.n; w++) {
        sweep_context at = {
            .d = d, .records = records, .condition = &conditions.condition[w], .kind = kind};
        at.query = graphss_i_condition_query(&conditions.condition[w], kind->what);
        const graphss_i_list parameters =
            graphss_i_distinct(records, &at.query, GRAPHSS_I_PARAMETER);
        for (size_t p = 0; p < parameters.n; p++) {
            at.query.parameter = parameters.text[p];
            for (size_t m = 0; m < 2 && kind->metric[m]; m++) {
                at.metric = kind->metric[m];
                at.label = kind->label[m];
                if (graphss_i_stat_metric(records, &at.query, at.metric).n)
                    break;
            }
            sweep_plot(&at);
            sweep_table(&at);
        }
    }
}

void graphss_i_section_sweeps(graphss_i_document *d, graphss_i_runs *records)
{
    const char *before = "";
    for (size_t i = 0; i < sizeof sweeps / sizeof *sweeps; i++) {
        const sweep *kind = &sweeps[i];
        if (!strcmp(before, kind->what)) {
            one_sweep(d, records, kind);
            continue;
        }
        before = kind->what;
        const char *title = !strcmp(kind->what, "scale") ? "Scale" : kind->title;
        if (graphss_i_begin(d, records, kind->what, title, kind->about))
            one_sweep(d, records, kind);
    }
}

/* ---- ablation ---- */

void graphss_i_section_ablation(graphss_i_document *d, graphss_i_runs *records)
{
    graphss_i_arena *arena = d->arena;
    if (!graphss_i_begin(d, records, "ablation", "Ablation",
            "Parts of the method are switched off one at a time."))
        return;
    const graphss_i_conditions conditions = graphss_i_conditions_of(records, "ablation");
    for (size_t w = 0; w < conditions.n; w++) {
        const graphss_i_condition *condition = &conditions.condition[w];
        graphss_i_query q = graphss_i_condition_query(condition, "ablation");
        graphss_i_figure *figure = graphss_i_figure_new(arena,
            graphss_i_arena_say(arena, "fig-ablation-%s", condition->id),
            graphss_i_arena_say(arena, "Ablation, %s", condition->name),
            "Mean over runs; whiskers: one standard deviation.");
        graphss_i_table *t = graphss_i_table_new(arena,
            graphss_i_arena_say(arena, "ablation-%s", condition->id),
            graphss_i_arena_say(arena, "Ablation, %s", condition->name),
            "Mean ± standard deviation over runs.");
        graphss_i_add_head(t, "dataset");
        graphss_i_add_head(t, "classifier");
        graphss_i_add_head(t, "variant");
        graphss_i_add_column(t, "n", "", 0, false);
        graphss_i_add_column(t, "victims", "%", 1, false);
        graphss_i_add_column(t, "others", "%", 1, false);
        graphss_i_add_column(t, "attacked", "%", 1, false);
        const graphss_i_cells cells = graphss_i_cells_of(records, &q);
        for (size_t c = 0; c < cells.n; c++) {
            q = cells.cell[c];
            const graphss_i_list values = graphss_i_distinct(records, &q, GRAPHSS_I_VALUE);
            graphss_i_bar *bar = graphss_i_arena_take(arena, values.n + 1, sizeof *bar);
            const double attacked = graphss_i_percent(records, &q, "victims_attacked").mean;
            for (size_t v = 0; v < values.n && bar; v++) {
                q.value = values.text[v];
                const graphss_i_stat s = graphss_i_percent(records, &q, "victims");
                const char *name = *q.value ? q.value : "whole method";
                bar[v] = (graphss_i_bar){name, s.mean, s.sd, 2};
                graphss_i_add_cell(t, records, &q);
                graphss_i_add_text(t, name);
                graphss_i_add_number(t, (double)s.n);
                graphss_i_add_stat(t, s);
                graphss_i_add_stat(t, graphss_i_percent(records, &q, "others"));
                graphss_i_add_stat(t, graphss_i_percent(records, &q, "victims_attacked"));
            }
            graphss_i_panel *p = graphss_i_add_panel(figure, arena, GRAPHSS_I_BARS,
                graphss_i_arena_say(arena, "%s, %s",
                    graphss_i_dataset_name(records, q.dataset),
                    graphss_i_shown(GRAPHSS_I_MODEL, q.model)),
                "victims right, %", "");
            if (!p || !bar)
                return;
            p->bar = bar;
            p->n = values.n;
            p->largest = 100;
            p->mark[0] = (graphss_i_mark){isfinite(attacked) ? "undefended" : NULL, attacked};
        }
        graphss_i_show_figure(d, figure);
        graphss_i_show_table(d, t);
    }
}
