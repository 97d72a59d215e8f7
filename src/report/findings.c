/* findings.c - what was found, in plain words. Every sentence is put together from numbers of
 * the records, with the number of cells and runs behind it, and none is written without them.
 * A cell is a dataset and a classifier. */
#include <math.h>
#include <string.h>

#include "report/document.h"

/* The span of a number over cells. */
typedef struct span {
    double low, high, sum;
    size_t n;
} span;

static void extend(span *s, double value)
{
    if (!isfinite(value))
        return;
    s->low = s->n ? fmin(s->low, value) : value;
    s->high = s->n ? fmax(s->high, value) : value;
    s->sum += value;
    s->n++;
}

/* "17.0 %" or "9.1 to 47.0 %" */
static const char *span_text(graphss_i_arena *arena, const span *s, int decimals,
                             const char *unit)
{
    const char *low = graphss_i_fixed(arena, s->low, decimals);
    const char *high = graphss_i_fixed(arena, s->high, decimals);
    if (!strcmp(low, high))
        return graphss_i_say(arena, "%s%s", low, unit);
    return graphss_i_say(arena, "%s to %s%s", low, high, unit);
}

static const char *cell_name(graphss_i_runs *records, const graphss_i_query *q)
{
    return graphss_i_say(&records->arena, "%s %s", graphss_i_dataset_name(records, q->dataset),
                         graphss_i_shown(GRAPHSS_I_MODEL, q->model));
}

/* ---- defence ---- */

typedef struct tally {
    size_t better, undecided, worse, methods;
    graphss_i_names lost, open; /* where it is worse, where it is undecided */
} tally;

static void duels(tally *out, graphss_i_runs *records, const graphss_i_query *cell,
                  const graphss_i_variants *list, const graphss_i_variant *ours,
                  graphss_i_family family)
{
    graphss_i_arena *arena = &records->arena;
    for (size_t k = 0; k < list->n; k++) {
        graphss_i_stat diff;
        if (graphss_i_family_of(list->variant[k].method) != family)
            continue;
        const int who = graphss_i_duel(records, cell, ours, &list->variant[k], &diff);
        if (who == 2)
            continue;
        const char *where = graphss_i_say(
            arena, "%s on %s (%s%s points)", list->variant[k].name, cell_name(records, cell),
            diff.mean > 0 ? "+" : "", graphss_i_fixed(arena, diff.mean, 1));
        if (who == 1) {
            out->better++;
        } else if (who == 0) {
            out->undecided++;
            graphss_i_add_name(arena, &out->open, where);
        } else {
            out->worse++;
            graphss_i_add_name(arena, &out->lost, where);
        }
    }
}

/* "the trivial baselines: better in 70 of 75 comparisons, undecided in 5, worse in 0" */
static const char *tally_text(graphss_i_arena *arena, const tally *t, const char *against)
{
    const size_t all = t->better + t->undecided + t->worse;
    const char *text = graphss_i_say(
        arena, "against %s it is better in %zu of %s, undecided in %zu, worse in %zu", against,
        t->better, graphss_i_plural(arena, all, "comparison"), t->undecided, t->worse);
    if (t->lost.n)
        text = graphss_i_say(arena, "%s (worse: %s)", text,
                             graphss_i_names_text(arena, &t->lost));
    if (t->open.n)
        text = graphss_i_say(arena, "%s (undecided: %s)", text,
                             graphss_i_names_text(arena, &t->open));
    return text;
}

static void say_tally(graphss_i_document *d, const graphss_i_world *world,
                      const tally *trivial, const tally *rivals, bool few)
{
    graphss_i_arena *arena = d->arena;
    const size_t better = trivial->better + rivals->better;
    const size_t worse = trivial->worse + rivals->worse;
    const size_t undecided = trivial->undecided + rivals->undecided;
    if (better + worse + undecided == 0)
        return;
    graphss_i_item(
        d,
        worse + undecided == 0 ? (few ? "so far" : "holds")
        : worse > better       ? "does not hold"
                               : "partly",
        graphss_i_say(arena, "GraphSS is the better defence, %s: %s; %s.%s", world->name,
                      tally_text(arena, trivial, "the trivial baselines"),
                      tally_text(arena, rivals, "the other defences"),
                      few ? " Some cells have fewer than three runs: there only the "
                            "number of victims was weighed, and other seeds may tell "
                            "otherwise."
                          : ""));
}

static void defence(graphss_i_document *d, graphss_i_runs *records,
                    const graphss_i_world *world)
{
    graphss_i_arena *arena = d->arena;
    graphss_i_query q = graphss_i_world_query(world, "defence");
    const graphss_i_list datasets = graphss_i_distinct(records, &q, GRAPHSS_I_DATASET);
    const graphss_i_list models = graphss_i_models_of(records, &q);
    const graphss_i_variants list = graphss_i_variants_of(records, &q);
    const graphss_i_variant *ours = graphss_i_ours(records, &q, &list);
    span before = {0}, attacked = {0}, after = {0}, others = {0}, runs = {0};
    tally rivals = {.lost = {"", 0}, .open = {"", 0}}, trivial = rivals;
    if (!ours) {
        graphss_i_item(
            d, "not run",
            graphss_i_say(arena, "Defence, %s: no result of GraphSS yet.", world->name));
        return;
    }
    for (size_t i = 0; i < datasets.n; i++)
        for (size_t m = 0; m < models.n; m++) {
            q.dataset = datasets.text[i];
            q.model = models.text[m];
            q.method = ours->method;
            q.train = ours->train;
            const graphss_i_stat v = graphss_i_stat_metric(records, &q, "victims");
            if (v.n == 0)
                continue;
            extend(&runs, (double)v.n);
            extend(&after, 100 * v.mean);
            extend(&before, 100 * graphss_i_stat_metric(records, &q, "victims_before").mean);
            extend(&attacked,
                   100 * graphss_i_stat_metric(records, &q, "victims_attacked").mean);
            extend(
                &others,
                100 * graphss_i_stat_pairs(records, &q, "others", &q, "others_attacked").mean);
            q.method = q.train = NULL;
            duels(&rivals, records, &q, &list, ours, GRAPHSS_I_RIVAL);
            duels(&trivial, records, &q, &list, ours, GRAPHSS_I_TRIVIAL);
        }
    if (after.n == 0)
        return;
    graphss_i_item(
        d, "measured",
        graphss_i_say(
            arena,
            "Defence, %s: in %s of dataset and classifier, %s run%s each, the attack takes "
            "the "
            "victims from %s right to %s. GraphSS brings them to %s (mean over cells: %s %%). "
            "Against the undefended classifier other test nodes change by %s%s points on "
            "average.",
            world->name, graphss_i_plural(arena, after.n, "cell"),
            span_text(arena, &runs, 0, ""), runs.high == 1 ? "" : "s",
            span_text(arena, &before, 1, " %"), span_text(arena, &attacked, 1, " %"),
            span_text(arena, &after, 1, " %"),
            graphss_i_fixed(arena, after.sum / (double)after.n, 1), others.sum > 0 ? "+" : "",
            graphss_i_fixed(arena, others.n ? others.sum / (double)others.n : NAN, 1)));
    say_tally(d, world, &trivial, &rivals, runs.low < 3);
}

/* ---- against the paper ---- */

/* Ours for a cell of the paper: of that training, or without one of the nearer of both, since
 * the paper does not say which it used. */
static graphss_i_stat ours_for(graphss_i_runs *records, const graphss_i_paper_cell *cell,
                               const char *train)
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
        return graphss_i_stat_scaled(graphss_i_stat_scenes(records, &q, "victims_before"),
                                     100);
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

static void compare(agreement *out, graphss_i_runs *records, const char *method,
                    const char *train)
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
            out->where = cell_name(
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

static void against_paper(graphss_i_document *d, graphss_i_runs *records)
{
    static const char *const row[] = {"original", "none",  "advtrain", "jaccard", "svd",
                                      "rgcn",     "grand", "prognn",   "nrgnn",   "graphss"};
    graphss_i_arena *arena = d->arena;
    agreement a, before, after;
    graphss_i_query q = {.what = "defence", .mode = "paper", .parameter = ""};
    if (graphss_i_count(records, &q) == 0) {
        graphss_i_item(d, "not run",
                       "The paper's Table 2: no record in paper mode, so nothing can be said "
                       "about whether it reproduces.");
        return;
    }
    compare(&a, records, NULL, NULL);
    graphss_i_item(
        d,
        a.differs == 0 && a.absent == 0 ? "holds"
        : a.differs > a.agrees + a.near ? "does not hold"
                                        : "partly",
        graphss_i_say(
            arena,
            "The paper's Table 2 reproduces in its own protocol: of %zu cells %zu "
            "were run; %zu agree (mean ± standard deviation overlap), %zu are within "
            "5 points, %zu differ. Where a method was trained before and after the "
            "attack the nearer counts here; the table keeps them apart.",
            compared(&a) + a.absent, compared(&a), a.agrees, a.near, a.differs));
    graphss_i_table *t = graphss_i_table_new(
        arena, "paper-table-2", "The paper's Table 2, row by row: what reproduces",
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
            agreement_row(t, graphss_i_say(arena, "%s, trained before", name), &before);
            agreement_row(t, graphss_i_say(arena, "%s, trained after", name), &after);
        } else {
            agreement_row(t, name, &a);
        }
    }
    graphss_i_show_table(d, t);
}

/* Why: what the records themselves show of the paper's protocol. */
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
        graphss_i_item(
            d, "why",
            graphss_i_say(
                arena,
                "In the paper's protocol the defender keeps the classifier's answers from "
                "before the attack, victims included. Repeating those answers is the baseline "
                "keep-last: GraphSS ends %s points %s it on average (%s on the same victims).",
                graphss_i_fixed(arena, fabs(keep.mean), 1), keep.mean < 0 ? "below" : "above",
                graphss_i_plural(arena, keep.n, "run")));
    const size_t n = compared(&attack), m = compared(&original);
    if (n && attack.differs)
        graphss_i_item(
            d, "why",
            graphss_i_say(
                arena,
                "The attack leaves other accuracies than the paper prints: %s%s points on "
                "average over %s (before the attack: %s%s points). Rows below it can agree no "
                "better than it does. docs/attacks.md and docs/method.md say what the "
                "authors' "
                "code does and what that is worth.",
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
        graphss_i_item(
            d, "why",
            graphss_i_say(arena,
                          "The paper does not say whether its rivals were trained before the "
                          "attack or after it. It matters: training after it changes the "
                          "victims by %s%s points on average (%s). docs/defences.md "
                          "has evidence that the paper's table mixes the two.",
                          apart > 0 ? "+" : "", graphss_i_fixed(arena, apart / both, 1),
                          graphss_i_plural(arena, (size_t)both, "method")));
}

/* ---- the rest ---- */

static span over_cells(graphss_i_runs *records, const graphss_i_query *query,
                       const char *metric)
{
    span out = {0};
    graphss_i_query q = *query;
    const graphss_i_list datasets = graphss_i_distinct(records, &q, GRAPHSS_I_DATASET);
    for (size_t i = 0; i < datasets.n; i++) {
        q.dataset = datasets.text[i];
        q.model = NULL;
        const graphss_i_list models = graphss_i_models_of(records, &q);
        for (size_t m = 0; m < models.n; m++) {
            q.model = models.text[m];
            extend(&out, graphss_i_stat_metric(records, &q, metric).mean);
        }
    }
    return out;
}

/* Clean groups and the alarms among them, at p <= 0.05. */
static void count_alarms(graphss_i_runs *records, const graphss_i_query *q, size_t *clean,
                         size_t *alarms)
{
    size_t n = 0;
    const graphss_i_run **run = graphss_i_find(records, q, &n);
    for (size_t r = 0; run && r < n; r++) {
        size_t np = 0, na = 0;
        const double *p = graphss_i_numbers(&records->arena, run[r], "groups", "p_value", &np);
        const double *hit =
            graphss_i_numbers(&records->arena, run[r], "groups", "attacked", &na);
        for (size_t i = 0; i < np && i < na; i++)
            if (hit[i] == 0 && isfinite(p[i])) {
                (*clean)++;
                *alarms += p[i] <= 0.05;
            }
    }
}

static void alert(graphss_i_document *d, graphss_i_runs *records, const graphss_i_world *world)
{
    graphss_i_arena *arena = d->arena;
    const graphss_i_query q = graphss_i_world_query(world, "alert");
    const span area = over_cells(records, &q, "auc");
    const span node = over_cells(records, &q, "node_auc");
    size_t clean = 0, alarms = 0;
    if (area.n == 0 && node.n == 0)
        return;
    const char *text =
        graphss_i_say(arena, "Alert, %s, %s", world->name,
                      graphss_i_plural(arena, graphss_i_count(records, &q), "run"));
    if (area.n)
        text = graphss_i_say(arena, "%s: area under the ROC of groups of nodes %s in %s", text,
                             span_text(arena, &area, 3, ""),
                             graphss_i_plural(arena, area.n, "cell"));
    if (node.n)
        text = graphss_i_say(arena, "%s%s of single nodes %s", text, area.n ? ";" : ":",
                             span_text(arena, &node, 3, ""));
    graphss_i_item(d, "measured", graphss_i_say(arena, "%s.", text));
    count_alarms(records, &q, &clean, &alarms);
    if (clean == 0)
        return;
    /* two standard deviations of a count with chance 0.05 */
    const double share = (double)alarms / (double)clean;
    const double room = 2 * sqrt(0.05 * 0.95 / (double)clean);
    graphss_i_item(
        d, share <= 0.05 + room ? "holds" : "does not hold",
        graphss_i_say(arena,
                      "The stated rate of false alarms, 5 %%, %s: %zu of %s raised one (%s "
                      "%%; by chance up to %s %% are to be expected).",
                      world->name, alarms, graphss_i_plural(arena, clean, "clean group"),
                      graphss_i_fixed(arena, 100 * share, 1),
                      graphss_i_fixed(arena, 100 * (0.05 + room), 1)));
}

static void runtime(graphss_i_document *d, graphss_i_runs *records,
                    const graphss_i_world *world)
{
    graphss_i_arena *arena = d->arena;
    graphss_i_query q = graphss_i_world_query(world, "runtime");
    q.method = "graphss";
    q.task = "defence";
    const graphss_i_query all = q;
    const span ours = over_cells(records, &q, "seconds");
    span faster = {0};
    const graphss_i_list datasets = graphss_i_distinct(records, &q, GRAPHSS_I_DATASET);
    for (size_t i = 0; i < datasets.n; i++)
        for (size_t m = 0; graphss_i_known(GRAPHSS_I_MODEL, m); m++) {
            graphss_i_paper_cell cell;
            q.dataset = datasets.text[i];
            q.model = graphss_i_known(GRAPHSS_I_MODEL, m);
            if (graphss_i_paper_find(&cell, "runtime", q.dataset, q.model, "defence",
                                     "seconds"))
                extend(&faster,
                       cell.mean / graphss_i_stat_metric(records, &q, "seconds").mean);
        }
    if (ours.n == 0)
        return;
    const char *text = graphss_i_say(arena, "Runtime, %s: GraphSS takes %s in %s on %s",
                                     world->name, span_text(arena, &ours, 2, " s"),
                                     graphss_i_plural(arena, ours.n, "cell"),
                                     graphss_i_threads_text(records, &all));
    if (faster.n)
        text = graphss_i_say(arena, "%s; the paper's figures, on a GPU, are %s times that",
                             text, span_text(arena, &faster, 1, ""));
    graphss_i_item(d, "measured", graphss_i_say(arena, "%s.", text));
}

/* Names of a kind that the paper has and the records of a world have not. */
static void missing_names(graphss_i_arena *arena, graphss_i_names *out,
                          graphss_i_runs *records, const graphss_i_query *query,
                          graphss_i_field field, size_t known)
{
    const graphss_i_list found = graphss_i_distinct(records, query, field);
    for (size_t i = 0; i < known && graphss_i_known(field, i); i++) {
        bool there = false;
        for (size_t k = 0; k < found.n; k++)
            there = there || !strcmp(found.text[k], graphss_i_known(field, i));
        if (!there)
            graphss_i_add_any_name(arena, out,
                                   graphss_i_shown(field, graphss_i_known(field, i)));
    }
}

static void missing(graphss_i_document *d, graphss_i_runs *records)
{
    graphss_i_arena *arena = d->arena;
    graphss_i_names parts = {"", 0};
    size_t errors = 0;
    for (size_t i = 0; graphss_i_known(GRAPHSS_I_WHAT, i); i++) {
        const graphss_i_query q = {.what = graphss_i_known(GRAPHSS_I_WHAT, i)};
        if (graphss_i_count(records, &q) == 0)
            graphss_i_add_any_name(arena, &parts, graphss_i_shown(GRAPHSS_I_WHAT, q.what));
    }
    if (parts.n)
        graphss_i_item(
            d, "not run",
            graphss_i_say(arena, "Whole parts without any record: %s.", parts.text));
    const graphss_i_worlds worlds = graphss_i_worlds_of(records, "defence");
    for (size_t w = 0; w < worlds.n; w++) {
        const graphss_i_query q = graphss_i_world_query(&worlds.world[w], "defence");
        graphss_i_names list = {"", 0};
        missing_names(arena, &list, records, &q, GRAPHSS_I_DATASET, 5);
        missing_names(arena, &list, records, &q, GRAPHSS_I_MODEL, 3);
        missing_names(arena, &list, records, &q, GRAPHSS_I_METHOD, 12);
        if (list.n)
            graphss_i_item(d, "not run",
                           graphss_i_say(arena, "Defence, %s, lacks: %s.",
                                         worlds.world[w].name, list.text));
    }
    for (size_t i = 0; i < records->n; i++)
        errors += records->record[i].error != NULL;
    if (errors)
        graphss_i_item(d, "failed",
                       graphss_i_say(arena,
                                     "%s ended in an error; they are listed at the end.",
                                     graphss_i_plural(arena, errors, "cell")));
}

void graphss_i_section_findings(graphss_i_document *d, graphss_i_runs *records)
{
    graphss_i_heading(d, 2, "findings", "What was found");
    if (records->n == 0)
        graphss_i_sentence(d, "Nothing: there are no records yet.");
    graphss_i_worlds worlds = graphss_i_worlds_of(records, "defence");
    for (size_t w = 0; w < worlds.n; w++)
        defence(d, records, &worlds.world[w]);
    worlds = graphss_i_worlds_of(records, "attackers");
    for (size_t w = 0; w < worlds.n; w++)
        graphss_i_found_attackers(d, records, &worlds.world[w]);
    worlds = graphss_i_worlds_of(records, "alert");
    for (size_t w = 0; w < worlds.n; w++)
        alert(d, records, &worlds.world[w]);
    worlds = graphss_i_worlds_of(records, "runtime");
    for (size_t w = 0; w < worlds.n; w++)
        runtime(d, records, &worlds.world[w]);
    missing(d, records);
    if (records->n) {
        graphss_i_heading(d, 2, "reproduced", "What reproduces, what does not, and why");
        against_paper(d, records);
        reasons(d, records);
    }
}
