/* findings.c - the findings in words. Every sentence and every row is computed from the
 * records, with the number of cells and runs it rests on. A cell is a dataset and a
 * classifier. */
#include <math.h>
#include <string.h>

#include "lab/report/document.h"

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
static const char *span_text(
    graphss_i_arena *arena, const span *s, int decimals, const char *unit)
{
    const char *low = graphss_i_fixed(arena, s->low, decimals);
    const char *high = graphss_i_fixed(arena, s->high, decimals);
    if (!strcmp(low, high))
        return graphss_i_arena_say(arena, "%s%s", low, unit);
    return graphss_i_arena_say(arena, "%s to %s%s", low, high, unit);
}

static span over_cells(
    graphss_i_runs *records, const graphss_i_query *query, const char *metric)
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

static double mean_of(const span *s)
{
    return s->n ? s->sum / (double)s->n : NAN;
}

/* ---- defence ---- */

/* The best mean of the other methods in a cell, in per cent. */
static double best_other(
    graphss_i_runs *records, const graphss_i_query *cell, const graphss_i_variants *list)
{
    double best = NAN;
    for (size_t k = 0; k < list->n; k++) {
        graphss_i_query q = *cell;
        q.method = list->variant[k].method;
        q.train = list->variant[k].train;
        if (graphss_i_family_of(q.method) != GRAPHSS_I_OURS)
            best = fmax(best, graphss_i_percent(records, &q, "victims").mean);
    }
    return best;
}

static void defence_row(
    graphss_i_table *t, graphss_i_runs *records, const graphss_i_condition *condition)
{
    const graphss_i_query all = graphss_i_condition_query(condition, "defence");
    const graphss_i_cells cells = graphss_i_cells_of(records, &all);
    const graphss_i_variants list = graphss_i_variants_of(records, &all);
    const graphss_i_variant *ours = graphss_i_ours(records, &all, &list);
    span before = {0}, attacked = {0}, other = {0}, after = {0}, others = {0}, runs = {0};
    graphss_i_score score = {0};
    for (size_t c = 0; c < cells.n && ours; c++) {
        graphss_i_query q = cells.cell[c];
        q.method = ours->method;
        q.train = ours->train;
        const graphss_i_stat v = graphss_i_percent(records, &q, "victims");
        if (!v.n) /* rivals alone were run there */
            continue;
        extend(&other, best_other(records, &cells.cell[c], &list));
        graphss_i_score_cell(&score, records, &cells.cell[c], &list, ours, GRAPHSS_I_RIVAL);
        graphss_i_score_cell(&score, records, &cells.cell[c], &list, ours, GRAPHSS_I_TRIVIAL);
        extend(&runs, (double)v.n);
        extend(&after, v.mean);
        extend(&before, graphss_i_percent(records, &q, "victims_before").mean);
        extend(&attacked, graphss_i_percent(records, &q, "victims_attacked").mean);
        extend(&others,
            100 * graphss_i_stat_pairs(records, &q, "others", &q, "others_attacked").mean);
    }
    if (after.n == 0)
        return;
    graphss_i_add_text(t, condition->brief);
    graphss_i_add_number(t, (double)after.n);
    graphss_i_add_runs(t, (size_t)runs.low, (size_t)runs.high);
    graphss_i_add_number(t, mean_of(&before));
    graphss_i_add_number(t, mean_of(&attacked));
    graphss_i_add_number(t, mean_of(&other));
    graphss_i_add_number(t, mean_of(&after));
    graphss_i_add_number(t, mean_of(&others));
    graphss_i_score_cells(t, &score);
}

static void defence(graphss_i_document *d, graphss_i_runs *records)
{
    graphss_i_table *t = graphss_i_table_new(d->arena, "found-defence",
        "Defence: victims labelled correctly",
        "Mean over cells; a cell is a dataset and a classifier, n its runs of GraphSS. Best "
        "other: in each cell whichever other method is best there. Others: change of test "
        "nodes that are no victims, against the undefended classifier. Better, undecided, "
        "worse: GraphSS against every other method in every cell, by the 95 % confidence "
        "interval of the difference between runs on the same victims. Comparisons of fewer "
        "than three runs are not judged; of those ahead: GraphSS has more victims right.");
    graphss_i_add_head(t, "mode, setting");
    graphss_i_add_column(t, "cells", "", 0, false);
    graphss_i_add_column(t, "n", "", 0, false);
    graphss_i_add_column(t, "before", "%", 1, false);
    graphss_i_add_column(t, "undefended", "%", 1, false);
    graphss_i_add_column(t, "best other", "%", 1, false);
    graphss_i_add_column(t, "GraphSS", "%", 1, false);
    graphss_i_add_column(t, "others", "points", 1, true);
    graphss_i_score_columns(t);
    const graphss_i_conditions conditions = graphss_i_conditions_of(records, "defence");
    for (size_t w = 0; w < conditions.n; w++)
        defence_row(t, records, &conditions.condition[w]);
    graphss_i_show_table(d, t);
}

/* Why a defence can exceed the accuracy before the attack: explained if it occurs, with the
 * cell in which it is largest. */
static void better_than_before(graphss_i_document *d, graphss_i_runs *records)
{
    const graphss_i_query all = {.what = "defence", .mode = "honest", .method = "graphss"};
    const graphss_i_list settings = graphss_i_distinct(records, &all, GRAPHSS_I_SETTING);
    double most = 1;
    const char *where = NULL;
    for (size_t s = 0; s < settings.n; s++) {
        graphss_i_query q = all;
        q.setting = settings.text[s];
        const graphss_i_cells cells = graphss_i_cells_of(records, &q);
        for (size_t c = 0; c < cells.n; c++) {
            const double before =
                graphss_i_percent(records, &cells.cell[c], "victims_before").mean;
            const double after = graphss_i_percent(records, &cells.cell[c], "victims").mean;
            if (!(after - before > most))
                continue;
            most = after - before;
            where = graphss_i_arena_say(d->arena, "%s, setting %s: %s %% before, %s %% after",
                graphss_i_cell_name(records, &cells.cell[c]), q.setting,
                graphss_i_fixed(d->arena, before, 1), graphss_i_fixed(d->arena, after, 1));
        }
    }
    if (where)
        graphss_i_item(d, "why",
            graphss_i_arena_say(d->arena,
                "Victims can end better than they were before the attack (most in "
                "%s): Nettack pushes each against its true class, so what the "
                "tampered evidence says tells where the node came from. "
                "docs/recovery.md, step 4.",
                where));
}

/* ---- alert ---- */

/* Clean groups, those of them that raise an alarm, and how many should by the stated rates. */
typedef struct alarms {
    size_t clean, raised;
    double expected;
} alarms;

/* Wilson's 95 % interval of a share k / n, n > 0. */
static void wilson(double *low, double *high, size_t k, size_t n)
{
    const double z = 1.959964, m = (double)n, p = (double)k / m, wide = 1 + z * z / m;
    const double centre = (p + z * z / (2 * m)) / wide;
    const double half = z / wide * sqrt(p * (1 - p) / m + z * z / (4 * m * m));
    *low = k == 0 ? 0 : centre - half;
    *high = k == n ? 1 : centre + half;
}

/* The rate holds if the groups are enough to exclude twice the rate, and fails if they exclude
 * the rate itself from below; else the groups are too few to tell. */
static const char *rate_verdict(const alarms *a, double low, double high)
{
    const double rate = a->expected / (double)a->clean;
    if (low > rate)
        return "does not hold";
    return high <= 2 * rate ? "holds" : "too few to tell";
}

static alarms alarms_of(graphss_i_runs *records, const graphss_i_query *q)
{
    alarms out = {0};
    size_t n = 0;
    const graphss_i_run **run = graphss_i_runs_find(records, q, &n);
    for (size_t r = 0; run && r < n; r++) {
        size_t np = 0, na = 0;
        const double rate = graphss_i_stated_rate(run[r]);
        const double *p = graphss_i_numbers(&records->arena, run[r], "groups", "p_value", &np);
        const double *hit =
            graphss_i_numbers(&records->arena, run[r], "groups", "attacked", &na);
        for (size_t i = 0; i < np && i < na; i++)
            if (hit[i] == 0 && isfinite(p[i])) {
                out.clean++;
                out.raised += p[i] <= rate;
                out.expected += rate;
            }
    }
    return out;
}

static void alert_row(
    graphss_i_table *t, graphss_i_runs *records, const graphss_i_condition *condition)
{
    graphss_i_arena *arena = &records->arena;
    const graphss_i_query q = graphss_i_condition_query(condition, "alert");
    const span area = over_cells(records, &q, "auc");
    const span node = over_cells(records, &q, "node_auc");
    const alarms a = alarms_of(records, &q);
    double low = 0, high = 1;
    if (a.clean)
        wilson(&low, &high, a.raised, a.clean);
    if (area.n == 0 && node.n == 0)
        return;
    graphss_i_add_text(t, condition->brief);
    graphss_i_add_number(t, (double)(area.n > node.n ? area.n : node.n));
    graphss_i_add_number(t, (double)graphss_i_runs_count(records, &q));
    graphss_i_add_text(t, area.n ? span_text(arena, &area, 3, "") : "–");
    graphss_i_add_text(t, node.n ? span_text(arena, &node, 3, "") : "–");
    graphss_i_add_number(t, (double)a.clean);
    graphss_i_add_number(t, a.clean ? 100 * (double)a.raised / (double)a.clean : NAN);
    graphss_i_add_text(t,
        a.clean ? graphss_i_arena_say(arena, "%s to %s", graphss_i_fixed(arena, 100 * low, 1),
                      graphss_i_fixed(arena, 100 * high, 1))
                : "–");
    graphss_i_add_text(t, a.clean ? rate_verdict(&a, low, high) : "–");
}

static void alert(graphss_i_document *d, graphss_i_runs *records)
{
    graphss_i_table *t = graphss_i_table_new(d->arena, "found-alert",
        "Alert: how well tampering is found",
        graphss_i_arena_say(d->arena,
            "AUC: area under the ROC curve, lowest to highest cell (1: every tampered one "
            "before every clean one; 0.5: chance). False alarms: clean groups with p ≤ %s, "
            "and "
            "the 95 %% interval of their share (Wilson). The stated rate holds where the "
            "interval excludes twice of it, does not where it lies above it; else the groups "
            "are too few to tell.",
            graphss_i_rates_text(records, &(graphss_i_query){.what = "alert"})));
    graphss_i_add_head(t, "mode, setting");
    graphss_i_add_column(t, "cells", "", 0, false);
    graphss_i_add_column(t, "runs", "", 0, false);
    graphss_i_add_words(t, "AUC, groups");
    graphss_i_add_words(t, "AUC, nodes");
    graphss_i_add_column(t, "clean groups", "", 0, false);
    graphss_i_add_column(t, "false alarms", "%", 1, false);
    graphss_i_add_words(t, "95 % interval, %");
    graphss_i_add_words(t, "stated rate");
    const graphss_i_conditions conditions = graphss_i_conditions_of(records, "alert");
    for (size_t w = 0; w < conditions.n; w++)
        alert_row(t, records, &conditions.condition[w]);
    graphss_i_show_table(d, t);
}

/* ---- a line for each of the rest, one sentence for each mode and setting ---- */

typedef const char *(*clause_fn)(
    graphss_i_runs *records, const graphss_i_condition *condition, const char *what);

static void line_of(graphss_i_document *d, graphss_i_runs *records, const char *what,
    const char *title, clause_fn clause)
{
    const graphss_i_conditions conditions = graphss_i_conditions_of(records, what);
    const char *text = "";
    for (size_t w = 0; w < conditions.n; w++) {
        const char *said = clause(records, &conditions.condition[w], what);
        if (*said)
            text = graphss_i_arena_say(d->arena, "%s%s%s: %s", text, *text ? "; " : "",
                conditions.condition[w].brief, said);
    }
    if (*text)
        graphss_i_item(d, "measured", graphss_i_arena_say(d->arena, "%s %s.", title, text));
}

static const char *runtime_clause(
    graphss_i_runs *records, const graphss_i_condition *condition, const char *what)
{
    graphss_i_arena *arena = &records->arena;
    graphss_i_query q = graphss_i_condition_query(condition, what);
    q.method = "graphss";
    q.task = "defence";
    const graphss_i_query all = q;
    const span ours = over_cells(records, &q, "seconds");
    span faster = {0};
    const graphss_i_cells cells = graphss_i_cells_of(records, &q);
    for (size_t c = 0; c < cells.n; c++) {
        graphss_i_paper_cell cell;
        q = cells.cell[c];
        if (graphss_i_paper_find(&cell, "runtime", q.dataset, q.model, "defence", "seconds"))
            extend(&faster, cell.mean / graphss_i_stat_metric(records, &q, "seconds").mean);
    }
    if (ours.n == 0)
        return "";
    const char *text =
        graphss_i_arena_say(arena, "%s in %s on %s", span_text(arena, &ours, 2, " s"),
            graphss_i_plural(arena, ours.n, "cell"), graphss_i_threads_text(records, &all));
    if (faster.n)
        text = graphss_i_arena_say(arena,
            "%s, where the paper's figures, on a GPU, are %s times that", text,
            span_text(arena, &faster, 1, ""));
    return text;
}

/* The smallest and the largest number of a sweep; false: fewer than two. */
static bool ends_of(
    graphss_i_runs *records, const graphss_i_query *q, const char **low, const char **high)
{
    const graphss_i_list values = graphss_i_distinct(records, q, GRAPHSS_I_VALUE);
    if (values.n < 2)
        return false;
    *low = values.text[0];
    *high = values.text[values.n - 1];
    return true;
}

/* "98.1 to 90.2 %": the mean over cells at either end. */
static const char *from_to(graphss_i_runs *records, const graphss_i_query *query,
    const char *const end[2], const char *metric)
{
    double mean[2];
    graphss_i_query q = *query;
    for (size_t i = 0; i < 2; i++) {
        q.value = end[i];
        const span s = over_cells(records, &q, metric);
        mean[i] = 100 * mean_of(&s);
    }
    return graphss_i_arena_say(&records->arena, "%s → %s %%",
        graphss_i_fixed(&records->arena, mean[0], 1),
        graphss_i_fixed(&records->arena, mean[1], 1));
}

static const char *sweep_clause(
    graphss_i_runs *records, const graphss_i_condition *condition, const char *what)
{
    graphss_i_arena *arena = &records->arena;
    graphss_i_query q = graphss_i_condition_query(condition, what);
    const graphss_i_list parameters = graphss_i_distinct(records, &q, GRAPHSS_I_PARAMETER);
    const char *end[2], *text = "";
    q.method = "graphss";
    for (size_t p = 0; p < parameters.n; p++) {
        q.parameter = parameters.text[p];
        if (!ends_of(records, &q, &end[0], &end[1]))
            continue;
        text = graphss_i_arena_say(arena, "%s%s%s %s → %s: GraphSS %s of the victims right",
            text, *text ? ", " : "", graphss_i_shown(GRAPHSS_I_PARAMETER, q.parameter), end[0],
            end[1], from_to(records, &q, end, "victims"));
        if (graphss_i_stat_metric(records, &q, "victims_attacked").n)
            text = graphss_i_arena_say(arena, "%s, undefended %s", text,
                from_to(records, &q, end, "victims_attacked"));
        text = graphss_i_arena_say(arena, "%s (%s)", text,
            graphss_i_plural(arena, graphss_i_runs_count(records, &q), "run"));
    }
    return text;
}

/* "1.26 → 114.13 s of processor time and 124 → 3817 MB" */
static const char *cost_of(
    graphss_i_runs *records, const graphss_i_query *query, const char *const end[2])
{
    const char *seconds[2], *memory[2];
    for (size_t i = 0; i < 2; i++) {
        graphss_i_query q = *query;
        q.value = end[i];
        seconds[i] = graphss_i_fixed(
            &records->arena, graphss_i_stat_metric(records, &q, "cpu_seconds").mean, 2);
        memory[i] = graphss_i_fixed(
            &records->arena, graphss_i_stat_metric(records, &q, "peak_memory").mean / 1e6, 0);
    }
    return graphss_i_arena_say(&records->arena, "%s → %s s of processor time and %s → %s MB",
        seconds[0], seconds[1], memory[0], memory[1]);
}

static const char *scale_clause(
    graphss_i_runs *records, const graphss_i_condition *condition, const char *what)
{
    graphss_i_arena *arena = &records->arena;
    graphss_i_query q = graphss_i_condition_query(condition, what);
    const char *end[2];
    q.method = "graphss";
    if (!ends_of(records, &q, &end[0], &end[1]))
        return "";
    const char *text = graphss_i_arena_say(arena, "%s → %s nodes on %s: recovery takes %s",
        end[0], end[1], graphss_i_threads_text(records, &q), cost_of(records, &q, end));
    q.method = "alert";
    if (graphss_i_runs_count(records, &q))
        text = graphss_i_arena_say(arena, "%s, an alert %s", text, cost_of(records, &q, end));
    return text;
}

static const char *calibration_clause(
    graphss_i_runs *records, const graphss_i_condition *condition, const char *what)
{
    graphss_i_arena *arena = &records->arena;
    graphss_i_query q = graphss_i_condition_query(condition, what);
    q.method = "none";
    const span before = over_cells(records, &q, "ece");
    q.method = "graphss";
    const span ours = over_cells(records, &q, "ece");
    if (ours.n == 0)
        return "";
    const char *text =
        graphss_i_arena_say(arena, "GraphSS %s", span_text(arena, &ours, 3, ""));
    if (before.n)
        text = graphss_i_arena_say(
            arena, "%s, undefended %s", text, span_text(arena, &before, 3, ""));
    return graphss_i_arena_say(arena, "%s (%s)", text,
        graphss_i_plural(arena, graphss_i_runs_count(records, &q), "run"));
}

/* What the modes and settings that occur mean. */
static void legend(graphss_i_document *d, graphss_i_runs *records)
{
    static const struct {
        graphss_i_field field;
        const char *name, *text;
    } word[] = {
        {GRAPHSS_I_MODE, "honest",
            "Honest mode is our protocol: a defender has what he would have in earnest."},
        {GRAPHSS_I_MODE, "paper",
            "Paper mode is the paper's protocol as its authors ran it, for comparison."},
        {GRAPHSS_I_SETTING, "seen", "Setting seen: the defender saw the victims before."},
        {GRAPHSS_I_SETTING, "new", "New: the victims appear with the attack."},
        {GRAPHSS_I_SETTING, "growing",
            "Growing: he saw them before, with half of the links."}};
    const char *text = "";
    for (size_t i = 0; i < sizeof word / sizeof *word; i++) {
        graphss_i_query q = {0};
        *(word[i].field == GRAPHSS_I_MODE ? &q.mode : &q.setting) = word[i].name;
        if (graphss_i_runs_count(records, &q))
            text =
                graphss_i_arena_say(d->arena, "%s%s%s", text, *text ? " " : "", word[i].text);
    }
    graphss_i_sentence(d, text);
}

void graphss_i_section_findings(graphss_i_document *d, graphss_i_runs *records)
{
    size_t errors = 0;
    graphss_i_heading(d, 2, "findings", "What was found");
    if (records->n == 0) {
        graphss_i_sentence(d, "Nothing: there are no records yet.");
        return;
    }
    legend(d, records);
    defence(d, records);
    graphss_i_found_attackers(d, records);
    alert(d, records);
    const size_t before = d->n;
    graphss_i_sentence(
        d, "Below, measured: a figure without a judgement; why: a reason for one.");
    better_than_before(d, records);
    line_of(d, records, "runtime", "Time that GraphSS takes,", runtime_clause);
    line_of(d, records, "budget", "A stronger attacker,", sweep_clause);
    line_of(d, records, "noise", "Wrong training labels,", sweep_clause);
    line_of(d, records, "scale", "Growing graphs,", scale_clause);
    line_of(d, records, "calibration",
        "Expected calibration error (0: posteriors mean what "
        "they say),",
        calibration_clause);
    for (size_t i = 0; i < records->n; i++)
        errors += records->record[i].error != NULL;
    if (errors)
        graphss_i_item(d, "failed",
            graphss_i_arena_say(d->arena, "%s ended in an error; they are listed at the end.",
                graphss_i_plural(d->arena, errors, "cell")));
    if (d->n == before + 1) /* nothing below */
        d->n = before;
}
