/* section_defence.c - the paper's Table 2 and its honest kin: a plot and a short table of the
 * victims for all datasets, the duels of GraphSS with every other method, and for each dataset
 * a table with everything that was measured. */
#include <math.h>
#include <string.h>

#include "lab/report/document.h"

typedef struct trial {
    graphss_i_document *d;
    graphss_i_runs *records;
    const graphss_i_condition *condition;
    graphss_i_query query; /* what, mode, setting */
    graphss_i_list datasets, models;
    bool paper; /* the paper's figures belong beside ours */
} trial;

static graphss_i_stat percent(graphss_i_stat s)
{
    return graphss_i_stat_scaled(s, 100);
}

static graphss_i_query cell_query(const trial *s, const char *dataset, const char *model)
{
    graphss_i_query q = s->query;
    q.dataset = dataset;
    q.model = model;
    return q;
}

static graphss_i_stat victims_of(
    const trial *s, const graphss_i_query *cell, const graphss_i_variant *v)
{
    graphss_i_query q = *cell;
    q.method = v->method;
    q.train = v->train;
    return graphss_i_percent(s->records, &q, "victims");
}

/* ---- the plot: a panel for each dataset, of one classifier ---- */

static void plot(const trial *s, const char *model)
{
    graphss_i_arena *arena = s->d->arena;
    graphss_i_figure *figure = graphss_i_figure_new(arena,
        graphss_i_arena_say(arena, "fig-defence-%s-%s", s->condition->id, model),
        graphss_i_arena_say(arena, "Victims labelled correctly, %s, %s",
            graphss_i_shown(GRAPHSS_I_MODEL, model), s->condition->name),
        "Mean over runs; whiskers: one standard deviation. Solid: GraphSS; hatched: trivial "
        "baselines; plain: other defences.");
    for (size_t i = 0; i < s->datasets.n; i++) {
        const graphss_i_query cell = cell_query(s, s->datasets.text[i], model);
        const graphss_i_variants list = graphss_i_variants_of(s->records, &cell);
        if (list.n == 0)
            continue;
        graphss_i_bar *bar = graphss_i_arena_take(arena, list.n, sizeof *bar);
        graphss_i_panel *p = graphss_i_add_panel(figure, arena, GRAPHSS_I_BARS,
            graphss_i_dataset_name(s->records, s->datasets.text[i]), "victims right, %", "");
        if (!bar || !p)
            return;
        for (size_t k = 0; k < list.n; k++) {
            const graphss_i_stat v = victims_of(s, &cell, &list.variant[k]);
            const graphss_i_family family = graphss_i_family_of(list.variant[k].method);
            bar[k] = (graphss_i_bar){list.variant[k].name, v.mean, v.sd,
                family == GRAPHSS_I_OURS      ? 0
                : family == GRAPHSS_I_TRIVIAL ? 1
                                              : 2};
        }
        p->bar = bar;
        p->n = list.n;
        p->largest = 100;
        p->mark[0].name = "before the attack";
        p->mark[0].value =
            100 * graphss_i_stat_trials(s->records, &cell, "victims_before").mean;
        if (!isfinite(p->mark[0].value))
            p->mark[0].name = NULL;
    }
    graphss_i_show_figure(s->d, figure);
}

/* ---- the short table: methods down, datasets across ---- */

/* The largest mean of a column, that of the undefended classifier among them. */
static double best_of(
    const trial *s, const graphss_i_query *cell, const graphss_i_variants *list)
{
    double best = -INFINITY;
    for (size_t k = 0; k < list->n; k++) {
        const double mean = victims_of(s, cell, &list->variant[k]).mean;
        if (isfinite(mean))
            best = fmax(best, mean);
    }
    return best;
}

static void short_table(const trial *s, const char *model, bool folded)
{
    graphss_i_arena *arena = s->d->arena;
    graphss_i_query all = s->query;
    all.model = model;
    const graphss_i_variants list = graphss_i_variants_of(s->records, &all);
    graphss_i_table *t = graphss_i_table_new(arena,
        graphss_i_arena_say(arena, "defence-%s-%s", s->condition->id, model),
        graphss_i_arena_say(arena, "Victims labelled correctly, %s, %s",
            graphss_i_shown(GRAPHSS_I_MODEL, model), s->condition->name),
        "Per cent, mean ± standard deviation over runs; n: the fewest and the most runs of a "
        "cell. Bold: the largest mean of a column.");
    graphss_i_add_head(t, "method");
    graphss_i_add_column(t, "n", "", 0, false);
    for (size_t i = 0; i < s->datasets.n; i++)
        graphss_i_add_column(
            t, graphss_i_dataset_name(s->records, s->datasets.text[i]), "%", 1, false);
    for (size_t k = 0; k <= list.n; k++) { /* row 0: before the attack */
        size_t fewest = SIZE_MAX, most = 0;
        for (size_t i = 0; i < s->datasets.n; i++) {
            const graphss_i_query cell = cell_query(s, s->datasets.text[i], model);
            const graphss_i_stat v =
                k ? victims_of(s, &cell, &list.variant[k - 1])
                  : graphss_i_stat_trials(s->records, &cell, "victims_before");
            if (v.n && v.n < fewest)
                fewest = v.n;
            if (v.n > most)
                most = v.n;
        }
        if (most == 0)
            continue;
        graphss_i_add_text(t, k ? list.variant[k - 1].name : "before the attack");
        graphss_i_add_runs(t, fewest, most);
        for (size_t i = 0; i < s->datasets.n; i++) {
            const graphss_i_query cell = cell_query(s, s->datasets.text[i], model);
            const graphss_i_stat v =
                k ? victims_of(s, &cell, &list.variant[k - 1])
                  : percent(graphss_i_stat_trials(s->records, &cell, "victims_before"));
            graphss_i_add_stat(t, v);
            if (k && v.n && v.mean == best_of(s, &cell, &list))
                graphss_i_mark_strong(t);
        }
    }
    if (folded)
        graphss_i_show_folded(s->d, t);
    else
        graphss_i_show_table(s->d, t);
}

/* ---- duels ---- */

static void duels(const trial *s)
{
    graphss_i_arena *arena = s->d->arena;
    const graphss_i_variants list = graphss_i_variants_of(s->records, &s->query);
    const graphss_i_variant *ours = graphss_i_ours(s->records, &s->query, &list);
    if (!ours)
        return;
    graphss_i_table *t = graphss_i_table_new(arena,
        graphss_i_arena_say(arena, "duels-%s", s->condition->id),
        graphss_i_arena_say(
            arena, "GraphSS against each other method, %s", s->condition->name),
        "A cell is a dataset and a classifier. Runs are compared pair by pair on the same "
        "victims; better or worse: the 95 % confidence interval of the mean difference does "
        "not hold zero; else undecided. Fewer than three runs are not judged; of those ahead: "
        "GraphSS has more victims right. Difference: GraphSS minus the other, victims.");
    graphss_i_add_head(t, "GraphSS against");
    graphss_i_add_column(t, "cells", "", 0, false);
    graphss_i_score_columns(t);
    graphss_i_add_column(t, "mean difference", "points", 1, true);
    graphss_i_add_column(t, "smallest", "points", 1, true);
    for (size_t k = 0; k < list.n; k++) {
        if (&list.variant[k] == ours)
            continue;
        graphss_i_score score = {0};
        size_t cells = 0;
        double sum = 0, least = INFINITY;
        for (size_t i = 0; i < s->datasets.n; i++)
            for (size_t m = 0; m < s->models.n; m++) {
                const graphss_i_query cell =
                    cell_query(s, s->datasets.text[i], s->models.text[m]);
                graphss_i_stat diff;
                const graphss_i_result who =
                    graphss_i_duel(s->records, &cell, ours, &list.variant[k], &diff);
                if (who == GRAPHSS_I_NO_PAIR)
                    continue;
                graphss_i_score_add(&score, who, &diff);
                cells++;
                sum += diff.mean;
                least = fmin(least, diff.mean);
            }
        if (cells == 0)
            continue;
        graphss_i_add_text(t, list.variant[k].name);
        graphss_i_add_number(t, (double)cells);
        graphss_i_score_cells(t, &score);
        graphss_i_add_number(t, sum / (double)cells);
        graphss_i_add_number(t, least);
    }
    graphss_i_show_table(s->d, t);
}

/* ---- the whole table of a dataset ---- */

static void add_paper(const trial *s, graphss_i_table *t, graphss_i_stat ours,
    const char *dataset, const char *model, const char *method)
{
    graphss_i_paper_cell cell;
    if (!s->paper)
        return;
    if (!graphss_i_paper_find(&cell, "defence", dataset, model, method, "victims")) {
        graphss_i_add_number(t, NAN);
        graphss_i_add_number(t, NAN);
        graphss_i_add_text(t, "");
        return;
    }
    graphss_i_add_spread(t, cell.mean, cell.sd);
    graphss_i_add_number(t, ours.mean - cell.mean);
    graphss_i_add_text(t, graphss_i_verdict(ours, &cell));
}

static void before_row(const trial *s, graphss_i_table *t, const graphss_i_query *cell)
{
    const graphss_i_stat v =
        percent(graphss_i_stat_trials(s->records, cell, "victims_before"));
    if (v.n == 0)
        return;
    graphss_i_add_text(t, graphss_i_shown(GRAPHSS_I_MODEL, cell->model));
    graphss_i_add_text(t, "before the attack");
    graphss_i_add_text(t, "–");
    graphss_i_add_number(t, (double)v.n);
    graphss_i_add_stat(t, v);
    add_paper(s, t, v, cell->dataset, cell->model, "original");
    graphss_i_add_stat(t, percent(graphss_i_stat_trials(s->records, cell, "others_before")));
    graphss_i_add_stat(t, percent(graphss_i_stat_trials(s->records, cell, "test_before")));
    for (int i = 0; i < 3; i++)
        graphss_i_add_number(t, NAN);
}

static void whole_table(const trial *s, const char *dataset)
{
    graphss_i_arena *arena = s->d->arena;
    graphss_i_table *t = graphss_i_table_new(arena,
        graphss_i_arena_say(arena, "defence-%s-%s-all", s->condition->id,
            graphss_i_short_id(s->records, dataset)),
        graphss_i_arena_say(arena, "%s, %s: everything measured",
            graphss_i_dataset_name(s->records, dataset), s->condition->name),
        s->paper ? "Difference: ours minus the paper's. Agrees: the ranges mean ± standard "
                   "deviation overlap; near: within 5 points; differs: neither. ECE: expected "
                   "calibration error. Trained: before or after the attack."
                 : "Others: test nodes that are no victims. ECE: expected calibration error. "
                   "Trained: before or after the attack.");
    graphss_i_add_head(t, "classifier");
    graphss_i_add_head(t, "method");
    graphss_i_add_words(t, "trained");
    graphss_i_add_column(t, "n", "", 0, false);
    graphss_i_add_column(t, "victims", "%", 1, false);
    if (s->paper) {
        graphss_i_add_column(t, "paper", "%", 1, false);
        graphss_i_add_column(t, "difference", "points", 1, true);
        graphss_i_add_words(t, "verdict");
    }
    graphss_i_add_column(t, "others", "%", 1, false);
    graphss_i_add_column(t, "all test", "%", 1, false);
    graphss_i_add_column(t, "ECE", "", 3, false);
    graphss_i_add_column(t, "time", "s", 2, false);
    graphss_i_add_column(t, "memory", "MB", 0, false);
    for (size_t m = 0; m < s->models.n; m++) {
        const graphss_i_query cell = cell_query(s, dataset, s->models.text[m]);
        const graphss_i_variants list = graphss_i_variants_of(s->records, &cell);
        if (list.n)
            before_row(s, t, &cell);
        for (size_t k = 0; k < list.n; k++) {
            graphss_i_query q = cell;
            q.method = list.variant[k].method;
            q.train = list.variant[k].train;
            const graphss_i_stat v = graphss_i_percent(s->records, &q, "victims");
            graphss_i_add_text(t, graphss_i_shown(GRAPHSS_I_MODEL, cell.model));
            graphss_i_add_text(t, graphss_i_shown(GRAPHSS_I_METHOD, q.method));
            graphss_i_add_text(t, graphss_i_shown(GRAPHSS_I_TRAIN, q.train));
            graphss_i_add_number(t, (double)v.n);
            graphss_i_add_stat(t, v);
            add_paper(s, t, v, dataset, cell.model, q.method);
            graphss_i_add_stat(t, graphss_i_percent(s->records, &q, "others"));
            graphss_i_add_stat(t, graphss_i_percent(s->records, &q, "test"));
            graphss_i_add_stat(t, graphss_i_stat_metric(s->records, &q, "ece"));
            graphss_i_add_stat(t, graphss_i_stat_metric(s->records, &q, "seconds"));
            graphss_i_add_number(
                t, graphss_i_stat_metric(s->records, &q, "peak_memory").high / 1e6);
        }
    }
    graphss_i_show_folded(s->d, t);
}

void graphss_i_section_defence(graphss_i_document *d, graphss_i_runs *records)
{
    if (!graphss_i_begin(d, records, "defence", "Defence",
            "An attacker changes links and features of a fifth of the test nodes, "
            "the victims, after the classifier was trained. Each method labels "
            "the tampered snapshot. Modes and settings are kept apart."))
        return;
    const graphss_i_conditions conditions = graphss_i_conditions_of(records, "defence");
    for (size_t w = 0; w < conditions.n; w++) {
        const graphss_i_condition *condition = &conditions.condition[w];
        trial s = {.d = d, .records = records, .condition = condition};
        s.query = graphss_i_condition_query(condition, "defence");
        s.datasets = graphss_i_distinct(records, &s.query, GRAPHSS_I_DATASET);
        s.models = graphss_i_models_of(records, &s.query);
        s.paper = !strcmp(condition->mode, "paper") && !*condition->parameter;
        graphss_i_heading(d, 3, graphss_i_arena_say(d->arena, "defence-%s", condition->id),
            graphss_i_arena_say(d->arena, "Defence, %s", condition->name));
        graphss_i_sentence(d, graphss_i_condition_about(condition));
        for (size_t m = 0; m < s.models.n; m++) {
            if (m == 0)
                plot(&s, s.models.text[m]);
            short_table(&s, s.models.text[m], m > 0);
        }
        duels(&s);
        for (size_t i = 0; i < s.datasets.n; i++)
            whole_table(&s, s.datasets.text[i]);
    }
}
