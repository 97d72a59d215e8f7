/* section_attackers.c - many attackers, and a graph that is not attacked: is the damage
 * undone, and does the defence do harm without an attack? A cell is an attacker on a dataset
 * and a classifier. The floor of a cell is the better of two trivial answers: the undefended
 * classifier and, if there is a past, its labels on the previous snapshot. */
#include <math.h>
#include <string.h>

#include "lab/report/document.h"

/* Points below the undefended classifier from which on a defence did harm, and the least that
 * an attack has to take for a share of it to mean something. */
static const double HARM = 1, DAMAGE = 5;

/* Who attacks, in the order of the tables; "": not in the records. */
static const char *const who_list[] = {
    "unrehearsed", "foreign", "adaptive", "rehearsed", "told", "nobody", ""};
enum { WHOS = sizeof who_list / sizeof *who_list };

/* GraphSS in one cell, in points, over the same runs; NaN: not run. */
typedef struct outcome {
    graphss_i_stat before, undefended, victims, others_undefended, others;
    double gain, others_gain; /* against the undefended classifier */
    double damage;            /* accuracy that the attack took from the victims */
    /* victims right; NaN in setting new, where victims have no past */
    double keep_last;
    double above_floor; /* victims: GraphSS minus the floor */
    double seed_sd;     /* over seeds of recover on one snapshot, the largest of the runs */
    const char *who;
} outcome;

static double gap(
    graphss_i_runs *records, const graphss_i_query *q, const char *a, const char *b)
{
    return 100 * graphss_i_stat_pairs(records, q, a, q, b).mean;
}

static outcome outcome_of(
    graphss_i_runs *records, const graphss_i_query *cell, const graphss_i_variant *ours)
{
    graphss_i_query q = *cell, last = *cell;
    q.method = ours->method;
    q.train = ours->train;
    last.method = "keep-last";
    outcome o = {.before = graphss_i_percent(records, &q, "victims_before"),
        .undefended = graphss_i_percent(records, &q, "victims_attacked"),
        .victims = graphss_i_percent(records, &q, "victims"),
        .others_undefended = graphss_i_percent(records, &q, "others_attacked"),
        .others = graphss_i_percent(records, &q, "others"),
        .gain = gap(records, &q, "victims", "victims_attacked"),
        .others_gain = gap(records, &q, "others", "others_attacked"),
        .damage = gap(records, &q, "victims_before", "victims_attacked"),
        .keep_last = NAN,
        .seed_sd = 100 * graphss_i_stat_metric(records, &q, "victims_seed_sd").high};
    size_t n = 0;
    const graphss_i_run **run = graphss_i_runs_find(records, &q, &n);
    o.who = run && n ? run[0]->who : "";
    if (!cell->setting || strcmp(cell->setting, "new") != 0)
        o.keep_last = graphss_i_percent(records, &last, "victims").mean;
    o.above_floor = o.victims.mean - fmax(o.undefended.mean, o.keep_last);
    return o;
}

/* Per cent of the damage; NaN if there was little. */
static double recovered(const outcome *o)
{
    return o->damage >= DAMAGE ? 100 * o->gain / o->damage : NAN;
}

/* "victims -1.4, others -1.1", or "" */
static const char *harm(graphss_i_arena *arena, const outcome *o)
{
    const char *text = "";
    if (o->gain < -HARM)
        text = graphss_i_arena_say(arena, "victims %s", graphss_i_signed(arena, o->gain, 1));
    if (o->others_gain < -HARM)
        text = graphss_i_arena_say(arena, "%s%sothers %s", text, *text ? ", " : "",
            graphss_i_signed(arena, o->others_gain, 1));
    return text;
}

/* The kinds of attack that runs of GraphSS named: "links", or "links (1), none (1)". */
static const char *named(
    graphss_i_runs *records, const graphss_i_query *cell, const graphss_i_variant *ours)
{
    enum { MOST = 4 };
    graphss_i_arena *arena = &records->arena;
    graphss_i_query q = *cell;
    const char *kind[MOST], *text = "";
    size_t count[MOST] = {0}, kinds = 0, n = 0;
    q.method = ours->method;
    q.train = ours->train;
    const graphss_i_run **run = graphss_i_runs_find(records, &q, &n);
    for (size_t r = 0; run && r < n; r++) {
        const char *name = graphss_i_text_of(run[r], "metrics", "kind");
        size_t k = 0;
        while (k < kinds && strcmp(kind[k], name) != 0)
            k++;
        if (k == MOST || !*name)
            continue;
        kind[k] = name;
        count[k]++;
        kinds += k == kinds;
    }
    for (size_t k = 0; k < kinds; k++)
        text = kinds == 1 ? kind[0]
                          : graphss_i_arena_say(
                                arena, "%s%s%s (%zu)", text, k ? ", " : "", kind[k], count[k]);
    return text;
}

/* ---- tables ---- */

typedef struct cell_context {
    graphss_i_document *d;
    graphss_i_runs *records;
    const graphss_i_condition *condition;
    graphss_i_query cell; /* what, mode, setting, dataset, model */
    graphss_i_list attackers;
    graphss_i_variants list;
    const graphss_i_variant *ours;
} cell_context;

static graphss_i_table *table_new(
    const cell_context *at, const char *suffix, const char *title, const char *note)
{
    graphss_i_arena *arena = at->d->arena;
    const char *id = graphss_i_short_id(at->records, at->cell.dataset);
    return graphss_i_table_new(arena,
        graphss_i_arena_say(
            arena, "attackers-%s-%s-%s%s", at->condition->id, id, at->cell.model, suffix),
        graphss_i_arena_say(arena, "%s, %s, %s, %s", title,
            graphss_i_dataset_name(at->records, at->cell.dataset),
            graphss_i_shown(GRAPHSS_I_MODEL, at->cell.model), at->condition->name),
        note);
}

/* The effect of GraphSS against each attacker. */
static void ours_table(const cell_context *at)
{
    graphss_i_arena *arena = at->d->arena;
    graphss_i_table *t = table_new(at, "", "GraphSS against attackers",
        graphss_i_arena_say(arena,
            "Per cent, mean ± standard deviation over runs. Recovered: the share of "
            "what the attack took from the victims, where that is at least %s "
            "points; above 100 %% they end better than before. Named: the kind of "
            "attack and the share of nodes that GraphSS says were hit (a fifth of "
            "the test nodes are victims). Above floor: points above the better of "
            "undefended and, where there is a past, keep-last. Seed: standard "
            "deviation over seeds of recover on one snapshot, the largest. Harm: "
            "points below the undefended classifier, where that is more than %s.",
            graphss_i_fixed(arena, DAMAGE, 0), graphss_i_fixed(arena, HARM, 0)));
    graphss_i_add_head(t, "attacker");
    graphss_i_add_words(t, "who");
    graphss_i_add_column(t, "n", "", 0, false);
    graphss_i_add_column(t, "victims before", "%", 1, false);
    graphss_i_add_column(t, "undefended", "%", 1, false);
    graphss_i_add_column(t, "keep-last", "%", 1, false);
    graphss_i_add_column(t, "GraphSS", "%", 1, false);
    graphss_i_add_column(t, "above floor", "", 1, true);
    graphss_i_add_column(t, "seed", "", 1, false);
    graphss_i_add_column(t, "recovered", "%", 0, false);
    graphss_i_add_column(t, "others, undefended", "%", 1, false);
    graphss_i_add_column(t, "others, GraphSS", "%", 1, false);
    graphss_i_add_words(t, "named");
    graphss_i_add_column(t, "share named", "%", 1, false);
    graphss_i_add_words(t, "harm");
    for (size_t a = 0; a < at->attackers.n; a++) {
        graphss_i_query q = at->cell;
        q.value = at->attackers.text[a];
        const outcome o = outcome_of(at->records, &q, at->ours);
        if (o.victims.n == 0)
            continue;
        graphss_i_add_text(t, graphss_i_shown(GRAPHSS_I_VALUE, q.value));
        graphss_i_add_text(t, o.who);
        graphss_i_add_number(t, (double)o.victims.n);
        graphss_i_add_stat(t, o.before);
        graphss_i_add_stat(t, o.undefended);
        graphss_i_add_number(t, o.keep_last);
        graphss_i_add_stat(t, o.victims);
        graphss_i_add_number(t, o.above_floor);
        graphss_i_add_number(t, o.seed_sd);
        graphss_i_add_number(t, recovered(&o));
        graphss_i_add_stat(t, o.others_undefended);
        graphss_i_add_stat(t, o.others);
        graphss_i_add_text(t, named(at->records, &q, at->ours));
        q.method = at->ours->method;
        q.train = at->ours->train;
        graphss_i_add_number(t, graphss_i_percent(at->records, &q, "share").mean);
        graphss_i_add_text(t, harm(arena, &o));
    }
    graphss_i_show_table(at->d, t);
}

static double victims_mean(
    const cell_context *at, const char *attacker, const graphss_i_variant *v)
{
    graphss_i_query q = at->cell;
    q.value = attacker;
    q.method = v->method;
    q.train = v->train;
    return graphss_i_percent(at->records, &q, "victims").mean;
}

/* The largest mean of the methods, that of the undefended classifier among them. */
static double best_of(const cell_context *at, const char *attacker)
{
    double best = -INFINITY;
    for (size_t k = 0; k < at->list.n; k++) {
        const double mean = victims_mean(at, attacker, &at->list.variant[k]);
        best = isfinite(mean) ? fmax(best, mean) : best;
    }
    return best;
}

/* Attackers down, methods across. */
static void methods_table(const cell_context *at)
{
    graphss_i_table *t = table_new(at, "-methods", "Victims labelled correctly by each method",
        "Per cent, mean over runs. Bold: the largest of a row.");
    graphss_i_add_head(t, "attacker");
    graphss_i_add_column(t, "before", "%", 1, false);
    for (size_t k = 0; k < at->list.n; k++)
        graphss_i_add_column(t, at->list.variant[k].name, "%", 1, false);
    for (size_t a = 0; a < at->attackers.n; a++) {
        graphss_i_query q = at->cell;
        q.value = at->attackers.text[a];
        const double best = best_of(at, q.value);
        graphss_i_add_text(t, graphss_i_shown(GRAPHSS_I_VALUE, q.value));
        graphss_i_add_number(
            t, 100 * graphss_i_stat_trials(at->records, &q, "victims_before").mean);
        for (size_t k = 0; k < at->list.n; k++) {
            const double mean = victims_mean(at, q.value, &at->list.variant[k]);
            graphss_i_add_number(t, mean);
            if (mean == best)
                graphss_i_mark_strong(t);
        }
    }
    graphss_i_show_table(at->d, t);
}

/* ---- the plot: a panel for each dataset, two bars for each attacker ---- */

static void add_panel(const cell_context *at, graphss_i_figure *figure)
{
    graphss_i_arena *arena = at->d->arena;
    graphss_i_bar *bar = graphss_i_arena_take(arena, 2 * at->attackers.n + 1, sizeof *bar);
    size_t n = 0;
    for (size_t a = 0; a < at->attackers.n && bar; a++) {
        graphss_i_query q = at->cell;
        q.value = at->attackers.text[a];
        const outcome o = outcome_of(at->records, &q, at->ours);
        if (o.victims.n == 0)
            continue;
        bar[n++] = (graphss_i_bar){
            graphss_i_shown(GRAPHSS_I_VALUE, q.value), o.victims.mean, o.victims.sd, 0};
        bar[n++] = (graphss_i_bar){"undefended", o.undefended.mean, o.undefended.sd, 1};
    }
    graphss_i_panel *p =
        n ? graphss_i_add_panel(figure, arena, GRAPHSS_I_BARS,
                graphss_i_dataset_name(at->records, at->cell.dataset), "victims right, %", "")
          : NULL;
    if (!p)
        return;
    p->bar = bar;
    p->n = n;
    p->largest = 100;
    p->mark[0].value =
        100 * graphss_i_stat_trials(at->records, &at->cell, "victims_before").mean;
    p->mark[0].name = isfinite(p->mark[0].value) ? "before the attack" : NULL;
}

/* ---- all of them ---- */

/* The context of a cell of dataset and classifier; ours is NULL if GraphSS was not run. */
static cell_context cell_context_of(graphss_i_document *d, graphss_i_runs *records,
    const graphss_i_condition *condition, const graphss_i_query *cell)
{
    cell_context at = {.d = d, .records = records, .condition = condition, .cell = *cell};
    at.attackers = graphss_i_distinct(records, cell, GRAPHSS_I_VALUE);
    at.list = graphss_i_variants_of(records, cell);
    at.ours = graphss_i_ours(records, cell, &at.list);
    return at;
}

static graphss_i_cells cells_of(graphss_i_runs *records, const graphss_i_condition *condition)
{
    const graphss_i_query q = graphss_i_condition_query(condition, "attackers");
    return graphss_i_cells_of(records, &q);
}

void graphss_i_section_attackers(graphss_i_document *d, graphss_i_runs *records)
{
    graphss_i_arena *arena = d->arena;
    if (!graphss_i_begin(d, records, "attackers", "Attackers of many kinds",
            "No method is told who attacks, how much or whether anybody does. Attackers know "
            "the graph, the model and its answers, but not the truth, unless they are told. "
            "Who: a kind that GraphSS rehearses on nodes whose labels it has, one that it "
            "does not (unrehearsed), code that is not ours (foreign), or an attacker who "
            "searches against GraphSS itself (adaptive). Two are no attack: change of the "
            "same size within a class, and none."))
        return;
    const graphss_i_conditions conditions = graphss_i_conditions_of(records, "attackers");
    for (size_t w = 0; w < conditions.n; w++) {
        const graphss_i_condition *condition = &conditions.condition[w];
        const graphss_i_cells cells = cells_of(records, condition);
        graphss_i_figure *figure = graphss_i_figure_new(arena,
            graphss_i_arena_say(arena, "fig-attackers-%s", condition->id),
            graphss_i_arena_say(
                arena, "Victims labelled correctly, by attacker, %s", condition->name),
            "Mean over runs; whiskers: one standard deviation. Solid: GraphSS; hatched, below "
            "it: the undefended classifier.");
        graphss_i_heading(d, 3, graphss_i_arena_say(arena, "attackers-%s", condition->id),
            graphss_i_arena_say(arena, "Attackers, %s", condition->name));
        graphss_i_sentence(d, graphss_i_condition_about(condition));
        for (size_t c = 0; c < cells.n; c++) {
            const cell_context at = cell_context_of(d, records, condition, &cells.cell[c]);
            if (at.ours)
                add_panel(&at, figure);
        }
        graphss_i_show_figure(d, figure);
        for (size_t c = 0; c < cells.n; c++) {
            const cell_context at = cell_context_of(d, records, condition, &cells.cell[c]);
            if (at.ours)
                ours_table(&at);
            methods_table(&at);
        }
    }
}

/* ---- findings ---- */

static const char *cell_name(const cell_context *at, const char *attacker)
{
    return graphss_i_arena_say(at->d->arena, "%s on %s", attacker,
        graphss_i_dataset_name(at->records, at->cell.dataset));
}

typedef struct tally {
    size_t cells, damaged, first, floored, harmed;
    size_t fewest, most;            /* runs of a cell */
    double undefended, other, ours; /* sums of victims right */
    double sum;                     /* of the shares recovered */
    double least;                   /* points above the floor, the worst cell */
    const char *least_where;
} tally;

/* The best of the other methods, the undefended classifier among them. */
static double best_other(const cell_context *at, const char *attacker)
{
    double best = -INFINITY;
    for (size_t k = 0; k < at->list.n; k++) {
        const double mean = victims_mean(at, attacker, &at->list.variant[k]);
        if (&at->list.variant[k] != at->ours && isfinite(mean))
            best = fmax(best, mean);
    }
    return best;
}

static void count_cell(
    tally *all, const cell_context *at, const char *attacker, const char *who)
{
    graphss_i_query q = at->cell;
    q.value = attacker;
    const outcome o = outcome_of(at->records, &q, at->ours);
    const double share = recovered(&o),
                 other = fmax(best_other(at, attacker), o.undefended.mean);
    if (o.victims.n == 0 || strcmp(o.who, who) != 0)
        return;
    all->fewest = all->cells++ && all->fewest < o.victims.n ? all->fewest : o.victims.n;
    all->most = all->most > o.victims.n ? all->most : o.victims.n;
    all->harmed += *harm(at->d->arena, &o) != '\0';
    all->floored += o.above_floor >= -HARM;
    all->first += o.victims.mean >= other;
    all->undefended += o.undefended.mean;
    all->other += other;
    all->ours += o.victims.mean;
    if (isfinite(share)) {
        all->damaged++;
        all->sum += share;
    }
    if (all->cells == 1 || o.above_floor < all->least) {
        all->least = o.above_floor;
        all->least_where = cell_name(at, attacker);
    }
}

static void found_row(graphss_i_document *d, graphss_i_table *t, graphss_i_runs *records,
    const graphss_i_condition *condition, const char *who)
{
    const graphss_i_cells cells = cells_of(records, condition);
    tally all = {.least_where = "–"};
    for (size_t c = 0; c < cells.n; c++) {
        const cell_context at = cell_context_of(d, records, condition, &cells.cell[c]);
        for (size_t a = 0; at.ours && a < at.attackers.n; a++)
            count_cell(&all, &at, at.attackers.text[a], who);
    }
    if (all.cells == 0)
        return;
    const double n = (double)all.cells;
    graphss_i_add_text(t, condition->brief);
    graphss_i_add_text(t, *who ? who : "–");
    graphss_i_add_number(t, n);
    graphss_i_add_runs(t, all.fewest, all.most);
    graphss_i_add_number(t, all.undefended / n);
    graphss_i_add_number(t, all.other / n);
    graphss_i_add_number(t, all.ours / n);
    graphss_i_add_number(t, all.damaged ? all.sum / (double)all.damaged : NAN);
    graphss_i_add_number(t, (double)all.first);
    graphss_i_add_number(t, (double)all.floored);
    graphss_i_add_number(t, all.least);
    graphss_i_add_text(t, all.least_where);
    graphss_i_add_number(t, (double)all.harmed);
}

void graphss_i_found_attackers(graphss_i_document *d, graphss_i_runs *records)
{
    graphss_i_arena *arena = d->arena;
    graphss_i_table *t = graphss_i_table_new(arena, "found-attackers",
        "Attackers of many kinds, and none",
        graphss_i_arena_say(arena,
            "A cell is an attacker, or nobody, on a dataset and a classifier; victims right, "
            "mean over cells. Best other: whichever other method is best in a cell. Undone: "
            "how much of what the attack took GraphSS brings back, over cells in which it "
            "took "
            "at least %s points. Most right: cells in which no other method has more. Floor "
            "held: cells in which GraphSS is at most %s point below the better of undefended "
            "and, where there is a past, keep-last; worst: points above that floor. Harm: "
            "victims or others end more than %s point below the undefended classifier.",
            graphss_i_fixed(arena, DAMAGE, 0), graphss_i_fixed(arena, HARM, 0),
            graphss_i_fixed(arena, HARM, 0)));
    graphss_i_add_head(t, "mode, setting");
    graphss_i_add_head(t, "who");
    graphss_i_add_column(t, "cells", "", 0, false);
    graphss_i_add_column(t, "n", "", 0, false);
    graphss_i_add_column(t, "undefended", "%", 1, false);
    graphss_i_add_column(t, "best other", "%", 1, false);
    graphss_i_add_column(t, "GraphSS", "%", 1, false);
    graphss_i_add_column(t, "undone", "%", 0, false);
    graphss_i_add_column(t, "most right", "", 0, false);
    graphss_i_add_column(t, "floor held", "", 0, false);
    graphss_i_add_column(t, "worst", "", 1, true);
    graphss_i_add_words(t, "worst in");
    graphss_i_add_column(t, "harm", "", 0, false);
    const graphss_i_conditions conditions = graphss_i_conditions_of(records, "attackers");
    for (size_t w = 0; w < conditions.n; w++)
        for (size_t i = 0; i < WHOS; i++)
            found_row(d, t, records, &conditions.condition[w], who_list[i]);
    graphss_i_show_table(d, t);
}
