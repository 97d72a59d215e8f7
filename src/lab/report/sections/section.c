/* section.c - shared by the sections: conditions that must not be mixed, rows of a table, and
 * the two judgements, ours against the paper and ours against another method. */
#include <math.h>
#include <string.h>

#include "lab/report/document.h"

/* ---- words ---- */

enum { NAMES_MOST = 3 };

const char *graphss_i_plural(graphss_i_arena *arena, size_t n, const char *word)
{
    return graphss_i_arena_say(arena, "%zu %s%s", n, word, n == 1 ? "" : "s");
}

void graphss_i_report_names_add(
    graphss_i_arena *arena, graphss_i_report_names *list, const char *name)
{
    if (list->n++ < NAMES_MOST)
        list->text =
            graphss_i_arena_say(arena, "%s%s%s", list->text, *list->text ? "; " : "", name);
}

void graphss_i_report_names_add_any(
    graphss_i_arena *arena, graphss_i_report_names *list, const char *name)
{
    list->text = graphss_i_arena_say(arena, "%s%s%s", list->text, list->n++ ? ", " : "", name);
}

const char *graphss_i_report_names_text(
    graphss_i_arena *arena, const graphss_i_report_names *list)
{
    if (list->n <= NAMES_MOST)
        return list->text;
    return graphss_i_arena_say(arena, "%s and %zu more", list->text, list->n - NAMES_MOST);
}

/* ---- conditions, rows, judgements ---- */

/* True if tables of this type of record have rows or columns for the points of a sweep. */
static bool shows_points(const char *what)
{
    static const char *const sweeps[] = {
        "attackers", "parameters", "ablation", "budget", "noise", "scale"};
    for (size_t i = 0; i < sizeof sweeps / sizeof *sweeps; i++)
        if (!strcmp(sweeps[i], what))
            return true;
    return false;
}

static void add_condition(
    graphss_i_arena *arena, graphss_i_conditions *out, size_t *room, const graphss_i_query *q)
{
    graphss_i_condition *list =
        graphss_i_arena_room(arena, out->condition, out->n, room, sizeof *list);
    if (!list)
        return; /* the arena knows */
    out->condition = list;
    const bool point = q->parameter && (*q->parameter || *q->value);
    const char *more =
        point ? graphss_i_arena_say(arena, "-%s-%s", q->parameter, q->value) : "";
    const char *said = point ? graphss_i_arena_say(arena, ", %s %s",
                                   graphss_i_shown(GRAPHSS_I_PARAMETER, q->parameter),
                                   graphss_i_shown(GRAPHSS_I_VALUE, q->value))
                             : "";
    out->condition[out->n++] = (graphss_i_condition){
        .mode = q->mode,
        .setting = q->setting,
        .parameter = q->parameter,
        .value = q->value,
        .id = graphss_i_arena_say(
            arena, "%s%s%s%s", q->mode, *q->setting ? "-" : "", q->setting, more),
        .name = graphss_i_arena_say(arena, "%s mode%s%s%s", *q->mode ? q->mode : "no",
            *q->setting ? ", setting " : "", q->setting, said),
        .brief = graphss_i_arena_say(
            arena, "%s%s%s%s", q->mode, *q->setting ? ", " : "", q->setting, said),
    };
}

graphss_i_conditions graphss_i_conditions_of(graphss_i_runs *records, const char *what)
{
    graphss_i_conditions out = {NULL, 0};
    size_t room = 0;
    graphss_i_query q = {.what = what};
    const graphss_i_list modes = graphss_i_distinct(records, &q, GRAPHSS_I_MODE);
    for (size_t m = 0; m < modes.n; m++) {
        q = (graphss_i_query){.what = what, .mode = modes.text[m]};
        const graphss_i_list settings = graphss_i_distinct(records, &q, GRAPHSS_I_SETTING);
        for (size_t s = 0; s < settings.n; s++) {
            q = (graphss_i_query){
                .what = what, .mode = modes.text[m], .setting = settings.text[s]};
            if (shows_points(what)) {
                add_condition(&records->arena, &out, &room, &q);
                continue;
            }
            const graphss_i_list parameters =
                graphss_i_distinct(records, &q, GRAPHSS_I_PARAMETER);
            for (size_t p = 0; p < parameters.n; p++) {
                q.parameter = parameters.text[p];
                q.value = NULL;
                const graphss_i_list values = graphss_i_distinct(records, &q, GRAPHSS_I_VALUE);
                for (size_t v = 0; v < values.n; v++) {
                    q.value = values.text[v];
                    add_condition(&records->arena, &out, &room, &q);
                }
            }
        }
    }
    return out;
}

graphss_i_query graphss_i_condition_query(
    const graphss_i_condition *condition, const char *what)
{
    return (graphss_i_query){.what = what,
        .mode = condition->mode,
        .setting = condition->setting,
        .parameter = condition->parameter,
        .value = condition->value};
}

const char *graphss_i_condition_about(const graphss_i_condition *condition)
{
    if (!strcmp(condition->mode, "paper"))
        return "The paper's protocol as its authors ran it: three weight layers, features "
               "attacked after they were normalised, and a defender who keeps the "
               "classifier's answers from before the attack. For comparison with the "
               "paper's tables only.";
    if (!strcmp(condition->setting, "seen"))
        return "The defender saw the victims before the attack and keeps what the classifier "
               "said of them. Repeating that, keep-last, is the baseline to beat.";
    if (!strcmp(condition->setting, "new"))
        return "The victims appear for the first time in the attacked snapshot: nobody has "
               "anything earlier to go by.";
    if (!strcmp(condition->setting, "growing"))
        return "The earlier snapshot lacks half of the links, so what was said then is stale, "
               "and what is said now is tampered with.";
    return "";
}

bool graphss_i_begin(graphss_i_document *d, graphss_i_runs *records, const char *what,
    const char *title, const char *about)
{
    if (graphss_i_runs_count(records, &(graphss_i_query){.what = what}) == 0)
        return false;
    graphss_i_heading(d, 2, what, title);
    graphss_i_sentence(d, about);
    return true;
}

graphss_i_variants graphss_i_variants_of(graphss_i_runs *records, const graphss_i_query *query)
{
    graphss_i_arena *arena = &records->arena;
    graphss_i_variants out = {NULL, 0};
    size_t room = 0;
    const graphss_i_list methods = graphss_i_distinct(records, query, GRAPHSS_I_METHOD);
    for (size_t m = 0; m < methods.n; m++) {
        graphss_i_query q = *query;
        q.method = methods.text[m];
        const graphss_i_list trains = graphss_i_distinct(records, &q, GRAPHSS_I_TRAIN);
        for (size_t t = 0; t < trains.n; t++) {
            graphss_i_variant *list =
                graphss_i_arena_room(arena, out.variant, out.n, &room, sizeof *list);
            if (!list)
                return (graphss_i_variants){NULL, 0};
            out.variant = list;
            const char *shown = graphss_i_shown(GRAPHSS_I_METHOD, methods.text[m]);
            const bool both = trains.n > 1 && !strcmp(trains.text[t], "retrain");
            out.variant[out.n++] = (graphss_i_variant){
                .method = methods.text[m],
                .train = trains.text[t],
                .name = both ? graphss_i_arena_say(arena, "%s, retrained", shown) : shown,
            };
        }
    }
    return out;
}

graphss_i_variants graphss_i_variants_shown(
    graphss_i_runs *records, const graphss_i_query *query)
{
    const graphss_i_variants all = graphss_i_variants_of(records, query);
    graphss_i_variants out = {all.variant, 0};
    for (size_t i = 0; i < all.n; i++) {
        const graphss_i_variant v = all.variant[i];
        const bool again = i + 1 < all.n && !strcmp(v.method, all.variant[i + 1].method);
        if (!again || strcmp(v.train, "evasion") != 0)
            out.variant[out.n++] = v;
    }
    return out;
}

graphss_i_list graphss_i_models_of(graphss_i_runs *records, const graphss_i_query *query)
{
    graphss_i_list list = graphss_i_distinct(records, query, GRAPHSS_I_MODEL), out = list;
    out.n = 0;
    for (size_t i = 0; i < list.n; i++)
        if (strcmp(list.text[i], "any") != 0 || list.n == 1)
            out.text[out.n++] = list.text[i];
    return out;
}

graphss_i_cells graphss_i_cells_of(graphss_i_runs *records, const graphss_i_query *query)
{
    graphss_i_arena *arena = &records->arena;
    graphss_i_cells out = {NULL, 0};
    size_t room = 0;
    const graphss_i_list datasets = graphss_i_distinct(records, query, GRAPHSS_I_DATASET);
    for (size_t i = 0; i < datasets.n; i++) {
        graphss_i_query q = *query;
        q.dataset = datasets.text[i];
        const graphss_i_list models = graphss_i_models_of(records, &q);
        for (size_t m = 0; m < models.n; m++) {
            graphss_i_query *list =
                graphss_i_arena_room(arena, out.cell, out.n, &room, sizeof *list);
            if (!list)
                return (graphss_i_cells){NULL, 0};
            out.cell = list;
            q.model = models.text[m];
            out.cell[out.n++] = q;
        }
    }
    return out;
}

void graphss_i_add_cell(
    graphss_i_table *t, graphss_i_runs *records, const graphss_i_query *cell)
{
    graphss_i_add_text(t, graphss_i_dataset_name(records, cell->dataset));
    graphss_i_add_text(t, graphss_i_shown(GRAPHSS_I_MODEL, cell->model));
}

const char *graphss_i_cell_name(graphss_i_runs *records, const graphss_i_query *cell)
{
    return graphss_i_arena_say(&records->arena, "%s %s",
        graphss_i_dataset_name(records, cell->dataset),
        graphss_i_shown(GRAPHSS_I_MODEL, cell->model));
}

const char *graphss_i_signed(graphss_i_arena *arena, double value, int decimals)
{
    return graphss_i_arena_say(
        arena, "%s%s", value > 0 ? "+" : "", graphss_i_fixed(arena, value, decimals));
}

graphss_i_stat graphss_i_percent(
    const graphss_i_runs *records, const graphss_i_query *query, const char *metric)
{
    return graphss_i_stat_scaled(graphss_i_stat_metric(records, query, metric), 100);
}

const char *graphss_i_verdict(graphss_i_stat ours, const graphss_i_paper_cell *paper)
{
    const double spread =
        (isfinite(ours.sd) ? ours.sd : 0) + (isfinite(paper->sd) ? paper->sd : 0);
    const double apart = fabs(ours.mean - paper->mean);
    if (!isfinite(apart))
        return "not run";
    return apart <= spread ? "agrees" : apart <= 5 ? "near" : "differs";
}

graphss_i_result graphss_i_duel(graphss_i_runs *records, const graphss_i_query *cell,
    const graphss_i_variant *ours, const graphss_i_variant *other, graphss_i_stat *difference)
{
    graphss_i_query a = *cell, b = *cell;
    a.method = ours->method;
    a.train = ours->train;
    b.method = other->method;
    b.train = other->train;
    *difference = graphss_i_stat_scaled(
        graphss_i_stat_pairs(records, &a, "victims", &b, "victims"), 100);
    if (difference->n == 0)
        return GRAPHSS_I_NO_PAIR;
    if (difference->n < GRAPHSS_I_RUNS_LEAST)
        return GRAPHSS_I_TOO_FEW;
    if (!(fabs(difference->mean) > graphss_i_stat_half(difference)))
        return GRAPHSS_I_UNDECIDED;
    return difference->mean > 0 ? GRAPHSS_I_BETTER : GRAPHSS_I_WORSE;
}

void graphss_i_score_add(
    graphss_i_score *score, graphss_i_result result, const graphss_i_stat *difference)
{
    if (result == GRAPHSS_I_NO_PAIR)
        return;
    score->count[result]++;
    score->ahead += result == GRAPHSS_I_TOO_FEW && difference->mean > 0;
}

void graphss_i_score_cell(graphss_i_score *score, graphss_i_runs *records,
    const graphss_i_query *cell, const graphss_i_variants *list, const graphss_i_variant *ours,
    graphss_i_family family)
{
    for (size_t k = 0; k < list->n; k++) {
        graphss_i_stat diff;
        if (graphss_i_family_of(list->variant[k].method) == family)
            graphss_i_score_add(
                score, graphss_i_duel(records, cell, ours, &list->variant[k], &diff), &diff);
    }
}

size_t graphss_i_score_judged(const graphss_i_score *score)
{
    return score->count[GRAPHSS_I_BETTER] + score->count[GRAPHSS_I_UNDECIDED] +
           score->count[GRAPHSS_I_WORSE];
}

void graphss_i_score_columns(graphss_i_table *t)
{
    graphss_i_add_column(t, "better", "", 0, false);
    graphss_i_add_column(t, "undecided", "", 0, false);
    graphss_i_add_column(t, "worse", "", 0, false);
    graphss_i_add_column(t, "too few runs", "", 0, false);
    graphss_i_add_column(t, "of those ahead", "", 0, false);
}

void graphss_i_score_cells(graphss_i_table *t, const graphss_i_score *score)
{
    graphss_i_add_number(t, (double)score->count[GRAPHSS_I_BETTER]);
    graphss_i_add_number(t, (double)score->count[GRAPHSS_I_UNDECIDED]);
    graphss_i_add_number(t, (double)score->count[GRAPHSS_I_WORSE]);
    graphss_i_add_number(t, (double)score->count[GRAPHSS_I_TOO_FEW]);
    graphss_i_add_number(t, (double)score->ahead);
}

const graphss_i_variant *graphss_i_ours(
    graphss_i_runs *records, const graphss_i_query *query, const graphss_i_variants *list)
{
    const graphss_i_variant *best = NULL;
    size_t most = 0;
    for (size_t i = 0; i < list->n; i++) {
        graphss_i_query q = *query;
        q.method = list->variant[i].method;
        q.train = list->variant[i].train;
        const size_t n = graphss_i_runs_count(records, &q);
        if (graphss_i_family_of(q.method) == GRAPHSS_I_OURS && n > most) {
            best = &list->variant[i];
            most = n;
        }
    }
    return best;
}
