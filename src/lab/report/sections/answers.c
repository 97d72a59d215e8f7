/* answers.c - answers three questions at the top: does the paper reproduce, is GraphSS better
 * than the others, and where does it fail? The last from all cells in which methods were
 * compared, worst first, with a table of every one of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/report/document.h"

/* A lead of another method below this many points is not reported. */
static const double LEAD = 1;

static const char *const modes[] = {"honest", "paper"};

/* ---- better than the others? ---- */

static const char *score_text(
    graphss_i_arena *arena, const graphss_i_score *s, const char *against)
{
    return graphss_i_arena_say(arena,
        "against %s better in %zu of %zu comparisons, undecided in %zu, worse in %zu", against,
        s->count[GRAPHSS_I_BETTER], graphss_i_score_judged(s), s->count[GRAPHSS_I_UNDECIDED],
        s->count[GRAPHSS_I_WORSE]);
}

/* All settings of a mode together; "" where GraphSS met no other. */
static const char *score_of(graphss_i_runs *records, const char *mode)
{
    graphss_i_arena *arena = &records->arena;
    const graphss_i_conditions conditions = graphss_i_conditions_of(records, "defence");
    graphss_i_score trivial = {0}, rivals = {0};
    for (size_t w = 0; w < conditions.n; w++) {
        const graphss_i_query q =
            graphss_i_condition_query(&conditions.condition[w], "defence");
        const graphss_i_variants list = graphss_i_variants_of(records, &q);
        const graphss_i_variant *ours = graphss_i_ours(records, &q, &list);
        const graphss_i_cells cells = graphss_i_cells_of(records, &q);
        if (strcmp(conditions.condition[w].mode, mode) != 0 || !ours)
            continue;
        for (size_t c = 0; c < cells.n; c++) {
            graphss_i_score_cell(
                &trivial, records, &cells.cell[c], &list, ours, GRAPHSS_I_TRIVIAL);
            graphss_i_score_cell(
                &rivals, records, &cells.cell[c], &list, ours, GRAPHSS_I_RIVAL);
        }
    }
    const char *text = "";
    if (graphss_i_score_judged(&trivial))
        text = score_text(arena, &trivial, "the trivial baselines");
    if (graphss_i_score_judged(&rivals))
        text = graphss_i_arena_say(arena, "%s%s%s", text, *text ? "; " : "",
            score_text(arena, &rivals, "the other defences"));
    const size_t few = trivial.count[GRAPHSS_I_TOO_FEW] + rivals.count[GRAPHSS_I_TOO_FEW];
    if (few)
        text = graphss_i_arena_say(arena,
            "%s%sahead in %zu of %zu comparisons of fewer than three runs, which are not "
            "judged",
            text, *text ? "; " : "", trivial.ahead + rivals.ahead, few);
    return text;
}

/* ---- where does it fail? ---- */

typedef struct failure {
    const char *part, *mode, *setting, *point; /* point: "3 links", or "" */
    const char *dataset, *model, *against, *nodes;
    double difference; /* GraphSS minus the other, points */
    size_t runs, order;
} failure;

typedef struct failures {
    failure *list;
    size_t n, room;
    size_t cells[2]; /* cells compared, of each mode */
} failures;

static int worst_first(const void *a, const void *b)
{
    const failure *x = a, *y = b;
    const int mode = strcmp(x->mode, y->mode);
    if (mode)
        return mode;
    if (x->difference != y->difference)
        return x->difference < y->difference ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void add_failure(failures *out, graphss_i_runs *records, const failure *one)
{
    failure *list =
        graphss_i_arena_room(&records->arena, out->list, out->n, &out->room, sizeof *list);
    if (!list)
        return;
    out->list = list;
    out->list[out->n] = *one;
    out->list[out->n].order = out->n;
    out->n++;
}

/* "3 links", "links changed per victim 8" */
static const char *point_text(graphss_i_arena *arena, const graphss_i_query *q)
{
    if (!q->value || !*q->value)
        return "";
    if (!q->parameter || !strcmp(q->parameter, "attacker"))
        return graphss_i_shown(GRAPHSS_I_VALUE, q->value);
    return graphss_i_arena_say(
        arena, "%s %s", graphss_i_shown(GRAPHSS_I_PARAMETER, q->parameter), q->value);
}

/* One cell: the other method with the largest lead, and the nodes that were not attacked. */
static void look(failures *out, graphss_i_runs *records, const graphss_i_query *cell)
{
    const graphss_i_variants list = graphss_i_variants_of(records, cell);
    const graphss_i_variant *ours = graphss_i_ours(records, cell, &list);
    failure worst = {.part = graphss_i_shown(GRAPHSS_I_WHAT, cell->what),
        .mode = cell->mode,
        .setting = cell->setting,
        .point = point_text(&records->arena, cell),
        .dataset = graphss_i_dataset_name(records, cell->dataset),
        .model = graphss_i_shown(GRAPHSS_I_MODEL, cell->model),
        .nodes = "victims",
        .difference = INFINITY};
    for (size_t k = 0; k < list.n && ours; k++) {
        graphss_i_stat diff;
        if (&list.variant[k] == ours ||
            graphss_i_duel(records, cell, ours, &list.variant[k], &diff) ==
                GRAPHSS_I_NO_PAIR ||
            diff.mean >= worst.difference)
            continue;
        worst.difference = diff.mean;
        worst.runs = diff.n;
        worst.against = list.variant[k].name;
    }
    if (!ours)
        return;
    graphss_i_query q = *cell;
    q.method = ours->method;
    q.train = ours->train;
    const graphss_i_stat others = graphss_i_stat_scaled(
        graphss_i_stat_pairs(records, &q, "others", &q, "others_attacked"), 100);
    out->cells[!strcmp(cell->mode, "paper")] += isfinite(worst.difference) || others.n;
    if (worst.difference < -LEAD)
        add_failure(out, records, &worst);
    worst.nodes = "others";
    worst.against = "undefended";
    worst.difference = others.mean;
    worst.runs = others.n;
    if (others.n && others.mean < -LEAD)
        add_failure(out, records, &worst);
}

static failures failures_of(graphss_i_runs *records)
{
    static const char *const parts[] = {"defence", "attackers", "budget", "noise"};
    failures out = {0};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const graphss_i_conditions conditions = graphss_i_conditions_of(records, parts[i]);
        for (size_t w = 0; w < conditions.n; w++) {
            graphss_i_query q = graphss_i_condition_query(&conditions.condition[w], parts[i]);
            const graphss_i_cells cells = graphss_i_cells_of(records, &q);
            for (size_t c = 0; c < cells.n; c++) {
                q = cells.cell[c];
                const graphss_i_list parameters =
                    graphss_i_distinct(records, &q, GRAPHSS_I_PARAMETER);
                for (size_t p = 0; p < parameters.n; p++) {
                    q.parameter = parameters.text[p];
                    q.value = cells.cell[c].value;
                    const graphss_i_list values =
                        graphss_i_distinct(records, &q, GRAPHSS_I_VALUE);
                    for (size_t v = 0; v < values.n; v++) {
                        q.value = values.text[v];
                        look(&out, records, &q);
                    }
                }
            }
        }
    }
    if (out.n)
        qsort(out.list, out.n, sizeof *out.list, worst_first);
    return out;
}

/* "GNNGuard under 3 links on Cora GCN, setting new (−7.6 points, 2 runs)" */
static const char *failure_text(graphss_i_arena *arena, const failure *f)
{
    return graphss_i_arena_say(arena, "%s%s%s%s on %s %s, setting %s (%s points, %s)",
        f->against, !strcmp(f->nodes, "others") ? " for nodes that are no victims" : "",
        *f->point ? " under " : "", f->point, f->dataset, f->model, f->setting,
        graphss_i_signed(arena, f->difference, 1), graphss_i_plural(arena, f->runs, "run"));
}

static const char *failures_text(graphss_i_arena *arena, const failures *all, size_t mode)
{
    graphss_i_report_names names = {"", 0};
    for (size_t i = 0; i < all->n; i++)
        if (!strcmp(all->list[i].mode, modes[mode]))
            graphss_i_report_names_add(arena, &names, failure_text(arena, &all->list[i]));
    if (names.n == 0)
        return graphss_i_arena_say(
            arena, "nowhere in %s", graphss_i_plural(arena, all->cells[mode], "cell"));
    return graphss_i_arena_say(arena, "%zu in %s, worst %s", names.n,
        graphss_i_plural(arena, all->cells[mode], "cell"),
        graphss_i_report_names_text(arena, &names));
}

static void failures_table(graphss_i_document *d, const failures *all)
{
    graphss_i_table *t = graphss_i_table_new(d->arena, "failures",
        "Where GraphSS fails, worst first",
        "Every cell in which another method has more than a point more victims right (of "
        "several the one that leads most), or in which other test nodes end more than a point "
        "below the undefended classifier. Difference: GraphSS minus the other, over runs on "
        "the same victims. Fewer than three runs may tell otherwise with other seeds.");
    graphss_i_add_head(t, "mode, setting");
    graphss_i_add_head(t, "part");
    graphss_i_add_head(t, "attack");
    graphss_i_add_head(t, "dataset");
    graphss_i_add_head(t, "classifier");
    graphss_i_add_words(t, "better");
    graphss_i_add_words(t, "nodes");
    graphss_i_add_column(t, "runs", "", 0, false);
    graphss_i_add_column(t, "difference", "points", 1, true);
    for (size_t i = 0; i < all->n; i++) {
        const failure *f = &all->list[i];
        graphss_i_add_text(t, graphss_i_arena_say(d->arena, "%s, %s", f->mode, f->setting));
        graphss_i_add_text(t, f->part);
        graphss_i_add_text(t, *f->point ? f->point : "–");
        graphss_i_add_text(t, f->dataset);
        graphss_i_add_text(t, f->model);
        graphss_i_add_text(t, f->against);
        graphss_i_add_text(t, f->nodes);
        graphss_i_add_number(t, (double)f->runs);
        graphss_i_add_number(t, f->difference);
    }
    graphss_i_show_folded(d, t);
}

/* "Our protocol: a. The paper's protocol: b." */
static const char *by_mode(graphss_i_arena *arena, const char *const said[2])
{
    const char *text = "";
    for (size_t m = 0; m < 2; m++)
        if (*said[m])
            text = graphss_i_arena_say(arena, "%s%s%s: %s.", text, *text ? " " : "",
                m ? "The paper's protocol" : "Our protocol", said[m]);
    return text;
}

void graphss_i_section_answers(graphss_i_document *d, graphss_i_runs *records)
{
    graphss_i_arena *arena = d->arena;
    const char *const reproduces = graphss_i_reproduces(records);
    const char *const better[2] = {score_of(records, modes[0]), score_of(records, modes[1])};
    const failures all = failures_of(records);
    const char *fails[2] = {"", ""};
    for (size_t m = 0; m < 2; m++)
        if (all.cells[m])
            fails[m] = failures_text(arena, &all, m);
    if (!*reproduces && !*by_mode(arena, better) && !*by_mode(arena, fails))
        return;
    graphss_i_heading(d, 2, "answers", "In short");
    if (*reproduces)
        graphss_i_item(d, "Does the paper reproduce?", reproduces);
    if (*by_mode(arena, better))
        graphss_i_item(d, "Does GraphSS beat the rivals and the trivial baselines?",
            by_mode(arena, better));
    if (*by_mode(arena, fails))
        graphss_i_item(d, "Where does it fail?",
            graphss_i_arena_say(arena,
                "Where another method leads by more than a point, or "
                "GraphSS ends that much below the undefended classifier. "
                "%s",
                by_mode(arena, fails)));
    failures_table(d, &all);
}
