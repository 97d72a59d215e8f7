/* section_paper.c - which cells of the paper's Table 2 reproduce in its own protocol, which do
 * not, and what the records show of the reasons. */
#include <math.h>
#include <string.h>

#include "lab/report/document.h"

/* Our value for a cell of the paper: of the same training, or the nearer of both if the paper
 * does not say which it used. */
static graphss_i_stat ours_for(
    graphss_i_runs *records, const graphss_i_paper_cell *cell, const char *train)
{
    static const char *const order[] = {"evasion", "none", "retrain", NULL};
    graphss_i_query q = {.what = "defence",
        .mode = "paper",
        .dataset = cell->dataset,
        .model = cell->model,
        .method = cell->method,
        .parameter = ""};
    graphss_i_stat best = {NAN, NAN, NAN, NAN, 0};
    if (!strcmp(cell->method, "original")) {
        q.method = NULL;
        return graphss_i_stat_scaled(
            graphss_i_stat_trials(records, &q, "victims_before"), 100);
    }
    for (size_t i = 0; order[i]; i++) {
        q.train = order[i];
        const graphss_i_stat s = graphss_i_percent(records, &q, "victims");
        if (s.n && (!train || !strcmp(train, order[i])) &&
            !(fabs(s.mean - cell->mean) >= fabs(best.mean - cell->mean)))
            best = s;
    }
    return best;
}

typedef struct agreement {
    size_t agrees, near, differs, absent;
    double sum, largest; /* of the differences, ours minus the paper's */
    const char *where;   /* the largest */
} agreement;

static void compare(
    agreement *out, graphss_i_runs *records, const char *method, const char *train)
{
    graphss_i_paper_cell cell;
    *out = (agreement){.where = ""};
    for (size_t at = 0; graphss_i_paper_next(&cell, &at);) {
        if (strcmp(cell.what, "defence") != 0 || (method && strcmp(cell.method, method) != 0))
            continue;
        const graphss_i_stat ours = ours_for(records, &cell, train);
        if (ours.n == 0) {
            out->absent++;
            continue;
        }
        const char *verdict = graphss_i_verdict(ours, &cell);
        out->agrees += !strcmp(verdict, "agrees");
        out->near += !strcmp(verdict, "near");
        out->differs += !strcmp(verdict, "differs");
        const double apart = ours.mean - cell.mean;
        out->sum += apart;
        if (fabs(apart) >= fabs(out->largest)) {
            out->largest = apart;
            out->where = graphss_i_cell_name(
                records, &(graphss_i_query){.dataset = cell.dataset, .model = cell.model});
        }
    }
}

static size_t compared(const agreement *a)
{
    return a->agrees + a->near + a->differs;
}

static void agreement_row(graphss_i_table *t, const char *name, const agreement *a)
{
    const size_t n = compared(a);
    graphss_i_add_text(t, name);
    graphss_i_add_number(t, (double)a->agrees);
    graphss_i_add_number(t, (double)a->near);
    graphss_i_add_number(t, (double)a->differs);
    graphss_i_add_number(t, (double)a->absent);
    graphss_i_add_number(t, n ? a->sum / (double)n : NAN);
    graphss_i_add_number(t, n ? a->largest : NAN);
    graphss_i_add_text(t, a->where);
}

const char *graphss_i_reproduces(graphss_i_runs *records)
{
    graphss_i_arena *arena = &records->arena;
    agreement all, ours;
    compare(&all, records, NULL, NULL);
    compare(&ours, records, "graphss", NULL);
    if (compared(&all) == 0)
        return "";
    const char *text = "";
    if (compared(&ours))
        text = graphss_i_arena_say(arena,
            "GraphSS's own row: %zu of %zu agree, %zu within five points, %zu differ (in the "
            "mean %s points, most %s in %s). ",
            ours.agrees, compared(&ours), ours.near, ours.differs,
            graphss_i_signed(arena, ours.sum / (double)compared(&ours), 1),
            graphss_i_signed(arena, ours.largest, 1), ours.where);
    return graphss_i_arena_say(arena,
        "%s: %sAll of its Table 2: of %zu cells %zu were run; %zu agree, %zu within five "
        "points, %zu differ; where a rival was trained before and after the attack the nearer "
        "counts, since the paper does not say which it did. Agree: the ranges mean ± standard "
        "deviation overlap.",
        all.differs == 0                      ? "Yes, as far as it was run"
        : all.differs > all.agrees + all.near ? "Mostly not"
                                              : "Partly",
        text, compared(&all) + all.absent, compared(&all), all.agrees, all.near, all.differs);
}

static void against_paper(graphss_i_document *d, graphss_i_runs *records)
{
    static const char *const row[] = {"graphss", "original", "none", "advtrain", "jaccard",
        "svd", "rgcn", "grand", "prognn", "nrgnn"};
    graphss_i_arena *arena = d->arena;
    agreement a, before, after;
    graphss_i_sentence(d, graphss_i_reproduces(records));
    graphss_i_table *t = graphss_i_table_new(arena, "paper-table-2",
        "The paper's Table 2, row by row: what reproduces",
        "Paper mode. A cell is a dataset and a classifier. Difference: ours minus the "
        "paper's, in points. Agrees: the ranges mean ± standard deviation overlap; near: "
        "within 5 points. The paper does not say whether its rivals were trained before or "
        "after the attack.");
    graphss_i_add_head(t, "row of the table");
    graphss_i_add_column(t, "agree", "", 0, false);
    graphss_i_add_column(t, "near", "", 0, false);
    graphss_i_add_column(t, "differ", "", 0, false);
    graphss_i_add_column(t, "not run", "", 0, false);
    graphss_i_add_column(t, "mean difference", "points", 1, true);
    graphss_i_add_column(t, "largest", "points", 1, true);
    graphss_i_add_words(t, "largest in");
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const char *name = !strcmp(row[i], "original") ? "Original"
                           : !strcmp(row[i], "none")
                               ? "Attack"
                               : graphss_i_shown(GRAPHSS_I_METHOD, row[i]);
        compare(&a, records, row[i], NULL);
        compare(&before, records, row[i], "evasion");
        compare(&after, records, row[i], "retrain");
        if (strcmp(row[i], "original") != 0 && compared(&before) && compared(&after)) {
            agreement_row(t, graphss_i_arena_say(arena, "%s, trained before", name), &before);
            agreement_row(t, graphss_i_arena_say(arena, "%s, trained after", name), &after);
        } else {
            agreement_row(t, name, &a);
        }
    }
    graphss_i_show_table(d, t);
}

/* Reasons in the paper's protocol, as far as the records show them. */
static void reasons(graphss_i_document *d, graphss_i_runs *records)
{
    graphss_i_arena *arena = d->arena;
    graphss_i_query q = {
        .what = "defence", .mode = "paper", .method = "graphss", .parameter = ""};
    graphss_i_query last = q;
    last.method = "keep-last";
    const graphss_i_stat keep = graphss_i_stat_scaled(
        graphss_i_stat_pairs(records, &q, "victims", &last, "victims"), 100);
    agreement attack, original;
    compare(&original, records, "original", NULL);
    compare(&attack, records, "none", NULL);
    if (keep.n)
        graphss_i_item(d, "why",
            graphss_i_arena_say(arena,
                "In the paper's protocol the defender keeps the classifier's answers from "
                "before the attack, victims included. Repeating those answers is the baseline "
                "keep-last: GraphSS ends %s points %s it on average (%s on the same victims).",
                graphss_i_fixed(arena, fabs(keep.mean), 1), keep.mean < 0 ? "below" : "above",
                graphss_i_plural(arena, keep.n, "run")));
    const size_t n = compared(&attack), m = compared(&original);
    if (n && attack.differs)
        graphss_i_item(d, "why",
            graphss_i_arena_say(arena,
                "The attack leaves other accuracies than the paper prints: %s%s points on "
                "average over %s (before the attack: %s%s points). Rows below it can agree no "
                "better than it does. docs/attacks.md and docs/method.md say what the "
                "authors' code does and what that is worth.",
                attack.sum > 0 ? "+" : "", graphss_i_fixed(arena, attack.sum / (double)n, 1),
                graphss_i_plural(arena, n, "cell"), original.sum > 0 ? "+" : "",
                graphss_i_fixed(arena, m ? original.sum / (double)m : NAN, 1)));
    static const char *const rival[] = {"jaccard", "svd", "rgcn", "grand", "prognn", "nrgnn"};
    double apart = 0, both = 0;
    for (size_t i = 0; i < sizeof rival / sizeof *rival; i++) {
        q.method = rival[i];
        q.train = "retrain";
        graphss_i_query early = q;
        early.train = "evasion";
        const graphss_i_stat gain =
            graphss_i_stat_pairs(records, &q, "victims", &early, "victims");
        if (gain.n) {
            apart += 100 * gain.mean;
            both++;
        }
    }
    if (both > 0)
        graphss_i_item(d, "why",
            graphss_i_arena_say(arena,
                "The paper does not say whether its rivals were trained before the "
                "attack or after it. It matters: training after it changes the "
                "victims by %s%s points on average (%s). docs/defences.md "
                "has evidence that the paper's table mixes the two.",
                apart > 0 ? "+" : "", graphss_i_fixed(arena, apart / both, 1),
                graphss_i_plural(arena, (size_t)both, "method")));
}

void graphss_i_section_paper(graphss_i_document *d, graphss_i_runs *records)
{
    const graphss_i_query q = {.what = "defence", .mode = "paper", .parameter = ""};
    if (graphss_i_runs_count(records, &q) == 0)
        return;
    graphss_i_heading(d, 2, "reproduced", "What reproduces, what does not, and why");
    against_paper(d, records);
    reasons(d, records);
}
