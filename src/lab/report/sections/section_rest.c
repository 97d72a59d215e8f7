/* section_rest.c - datasets, runtime, confusion matrices, and the list of runs. */
#include <math.h>
#include <string.h>

#include "lab/report/document.h"

/* ---- datasets ---- */

void graphss_i_section_datasets(graphss_i_document *d, graphss_i_runs *records)
{
    static const struct {
        const char *name, *metric, *paper;
        double factor;
        int decimals;
    } column[] = {{"nodes", "nodes", "nodes", 1, 0},
        {"links both ways", "edges", "edges", 2, 0},
        {"features", "features", "features", 1, 0}, {"classes", "classes", "classes", 1, 0},
        {"degree of test nodes", "test_degree", "test_degree", 1, 2},
        {"homophily", "homophily", NULL, 1, 3}};
    enum { COLUMNS = sizeof column / sizeof *column };
    graphss_i_query q = {.what = "datasets"};
    if (!graphss_i_begin(d, records, "datasets", "Datasets",
            "The paper's Table 1 and what our files hold. The paper counts each "
            "link in both directions, so ours are doubled here."))
        return;
    graphss_i_table *t = graphss_i_table_new(d->arena, "datasets", "Datasets",
        "Ours beside the paper's Table 1. Homophily: the "
        "share of links that join nodes of one class.");
    graphss_i_add_head(t, "dataset");
    graphss_i_add_column(t, "n", "", 0, false);
    for (size_t c = 0; c < COLUMNS; c++) {
        graphss_i_add_column(t, column[c].name, "", column[c].decimals, false);
        if (column[c].paper)
            graphss_i_add_column(t, "paper", "", column[c].decimals, false);
    }
    const graphss_i_list list = graphss_i_distinct(records, &q, GRAPHSS_I_DATASET);
    for (size_t i = 0; i < list.n; i++) {
        q.dataset = list.text[i];
        graphss_i_add_text(t, graphss_i_dataset_name(records, q.dataset));
        graphss_i_add_number(t, (double)graphss_i_runs_count(records, &q));
        for (size_t c = 0; c < COLUMNS; c++) {
            graphss_i_paper_cell cell = {.mean = NAN};
            graphss_i_add_stat(
                t, graphss_i_stat_scaled(graphss_i_stat_metric(records, &q, column[c].metric),
                       column[c].factor));
            if (!column[c].paper)
                continue;
            graphss_i_paper_find(&cell, "datasets", q.dataset, "", "", column[c].paper);
            graphss_i_add_number(t, cell.mean);
        }
    }
    graphss_i_show_table(d, t);
}

/* ---- runtime ---- */

static bool paper_time(graphss_i_paper_cell *out, const graphss_i_query *q, const char *metric)
{
    if (!strcmp(q->task, "alert"))
        return graphss_i_paper_find(out, "runtime", q->dataset, q->model, "alert", metric);
    if (!strcmp(q->method, "graphss"))
        return graphss_i_paper_find(out, "runtime", q->dataset, q->model, "defence", metric);
    /* Table 4 does not name the classifier; its GraphSS is that of GCN. */
    return !strcmp(q->model, "gcn") &&
           graphss_i_paper_find(out, "runtime", q->dataset, "", q->method, metric);
}

static void runtime_row(graphss_i_table *t, graphss_i_runs *records, const graphss_i_query *q)
{
    const graphss_i_stat s = graphss_i_stat_metric(records, q, "seconds");
    const graphss_i_stat unit = graphss_i_stat_metric(records, q, "seconds_per_100");
    graphss_i_paper_cell paper = {.mean = NAN, .sd = NAN}, per = {.mean = NAN};
    if (s.n == 0)
        return;
    paper_time(&paper, q, "seconds");
    paper_time(&per, q, "seconds_per_100");
    graphss_i_add_cell(t, records, q);
    graphss_i_add_text(t, graphss_i_shown(GRAPHSS_I_TASK, q->task));
    graphss_i_add_text(t, graphss_i_shown(GRAPHSS_I_METHOD, q->method));
    graphss_i_add_number(t, (double)s.n);
    graphss_i_add_stat(t, s);
    graphss_i_add_spread(t, paper.mean, paper.sd);
    graphss_i_add_number(t, s.mean - paper.mean);
    graphss_i_add_number(t, paper.mean / s.mean);
    graphss_i_add_stat(t, unit);
    graphss_i_add_number(t, per.mean);
    graphss_i_add_number(t, graphss_i_stat_metric(records, q, "peak_memory").high / 1e6);
}

static void runtime_table(
    graphss_i_document *d, graphss_i_runs *records, const graphss_i_condition *condition)
{
    graphss_i_arena *arena = d->arena;
    graphss_i_query q = graphss_i_condition_query(condition, "runtime");
    graphss_i_table *t =
        graphss_i_table_new(arena, graphss_i_arena_say(arena, "runtime-%s", condition->id),
            graphss_i_arena_say(arena, "Runtime, %s", condition->name),
            graphss_i_arena_say(arena,
                "Ours: wall clock of the method alone, %s, mean ± standard deviation "
                "over runs. The paper's (Tables 3 and 4): its own protocol on a GPU "
                "(Tesla V100). Per 100: seconds for 100 nodes of the snapshot.",
                graphss_i_threads_text(records, &q)));
    graphss_i_add_head(t, "dataset");
    graphss_i_add_head(t, "classifier");
    graphss_i_add_head(t, "task");
    graphss_i_add_head(t, "method");
    graphss_i_add_column(t, "n", "", 0, false);
    graphss_i_add_column(t, "ours", "s", 2, false);
    graphss_i_add_column(t, "paper", "s", 2, false);
    graphss_i_add_column(t, "difference", "s", 2, true);
    graphss_i_add_column(t, "times faster", "", 1, false);
    graphss_i_add_column(t, "ours per 100", "s", 3, false);
    graphss_i_add_column(t, "paper per 100", "s", 2, false);
    graphss_i_add_column(t, "memory", "MB", 0, false);
    const graphss_i_cells cells = graphss_i_cells_of(records, &q);
    for (size_t c = 0; c < cells.n; c++) {
        q = cells.cell[c];
        const graphss_i_list methods = graphss_i_distinct(records, &q, GRAPHSS_I_METHOD);
        for (size_t k = 0; k < methods.n; k++) {
            q.method = methods.text[k];
            q.task = NULL;
            const graphss_i_list tasks = graphss_i_distinct(records, &q, GRAPHSS_I_TASK);
            for (size_t a = 0; a < tasks.n; a++) {
                q.task = tasks.text[a];
                runtime_row(t, records, &q);
            }
        }
    }
    graphss_i_show_table(d, t);
}

void graphss_i_section_runtime(graphss_i_document *d, graphss_i_runs *records)
{
    if (!graphss_i_begin(d, records, "runtime", "Runtime",
            "How long a method takes once the snapshot is there."))
        return;
    const graphss_i_conditions conditions = graphss_i_conditions_of(records, "runtime");
    for (size_t w = 0; w < conditions.n; w++)
        runtime_table(d, records, &conditions.condition[w]);
}

/* ---- confusion ---- */

/* The sum over runs; NULL if there is none. */
static const double *summed(graphss_i_runs *records, const graphss_i_query *q,
    const char *member, const char *name, size_t *k)
{
    size_t n = 0;
    double *sum = NULL;
    const graphss_i_run **run = graphss_i_runs_find(records, q, &n);
    *k = 0;
    for (size_t r = 0; run && r < n; r++) {
        size_t rows = 0;
        const double *each = graphss_i_counts(&records->arena, run[r], member, name, &rows);
        if (!each || (sum && rows != *k))
            continue;
        if (!sum) {
            sum = graphss_i_arena_take(&records->arena, rows * rows, sizeof *sum);
            *k = rows;
        }
        for (size_t i = 0; sum && i < rows * rows; i++)
            sum[i] += isfinite(each[i]) ? each[i] : 0;
    }
    return sum;
}

static void confusion_figure(graphss_i_document *d, graphss_i_runs *records,
    const graphss_i_condition *condition, const graphss_i_query *q, const char *member,
    const char *nodes)
{
    static const char *const name[] = {"before", "attacked", "recovered"};
    static const char *const shown[] = {"before the attack", "attacked", "after GraphSS"};
    graphss_i_arena *arena = d->arena;
    const size_t runs = graphss_i_runs_count(records, q);
    graphss_i_figure *figure = graphss_i_figure_new(arena,
        graphss_i_arena_say(arena, "fig-%s-%s-%s-%s", member, condition->id,
            graphss_i_short_id(records, q->dataset), q->model),
        graphss_i_arena_say(arena, "Confusion of %s, %s, %s, %s", nodes,
            graphss_i_dataset_name(records, q->dataset),
            graphss_i_shown(GRAPHSS_I_MODEL, q->model), condition->name),
        graphss_i_arena_say(arena,
            "Nodes, summed over %zu run%s; the stronger the shade the more, on a log scale "
            "that is the same in all panels.",
            runs, runs == 1 ? "" : "s"));
    double largest = 0;
    for (size_t i = 0; i < 3; i++) {
        size_t k = 0;
        const double *matrix = summed(records, q, member, name[i], &k);
        for (size_t j = 0; matrix && j < k * k; j++)
            largest = fmax(largest, matrix[j]);
    }
    for (size_t i = 0; i < 3; i++) {
        size_t k = 0;
        const double *matrix = summed(records, q, member, name[i], &k);
        if (!matrix)
            continue;
        graphss_i_panel *p = graphss_i_add_panel(figure, arena, GRAPHSS_I_HEAT, shown[i],
            "class answered (counts: nodes)", "true class");
        if (!p)
            return;
        p->matrix = matrix;
        p->n = k;
        p->largest = largest;
    }
    graphss_i_show_figure(d, figure);
}

void graphss_i_section_confusion(graphss_i_document *d, graphss_i_runs *records)
{
    if (!graphss_i_begin(d, records, "confusion", "Confusion",
            "Which classes are taken for which, before the attack, under it, and "
            "after GraphSS."))
        return;
    const graphss_i_conditions conditions = graphss_i_conditions_of(records, "confusion");
    for (size_t w = 0; w < conditions.n; w++) {
        const graphss_i_condition *condition = &conditions.condition[w];
        const graphss_i_query q = graphss_i_condition_query(condition, "confusion");
        const graphss_i_cells cells = graphss_i_cells_of(records, &q);
        for (size_t c = 0; c < cells.n; c++) {
            const graphss_i_query *cell = &cells.cell[c];
            confusion_figure(d, records, condition, cell, "matrix", "all test nodes");
            confusion_figure(d, records, condition, cell, "victims_matrix", "the victims");
        }
    }
}

/* ---- the list of runs ---- */

static void coverage(graphss_i_document *d, graphss_i_runs *records)
{
    graphss_i_table *t = graphss_i_table_new(d->arena, "coverage", "What was run",
        "Cells with a result; cells that ended in an "
        "error; how many datasets, classifiers and "
        "methods they cover.");
    graphss_i_add_head(t, "part");
    graphss_i_add_head(t, "mode");
    graphss_i_add_head(t, "setting");
    graphss_i_add_column(t, "results", "", 0, false);
    graphss_i_add_column(t, "errors", "", 0, false);
    graphss_i_add_column(t, "datasets", "", 0, false);
    graphss_i_add_column(t, "classifiers", "", 0, false);
    graphss_i_add_column(t, "methods", "", 0, false);
    for (size_t i = 0; graphss_i_field_name(GRAPHSS_I_WHAT, i); i++) {
        const char *what = graphss_i_field_name(GRAPHSS_I_WHAT, i);
        const graphss_i_conditions conditions = graphss_i_conditions_of(records, what);
        size_t errors = 0;
        for (size_t r = 0; r < records->n; r++)
            errors += records->record[r].error && !strcmp(records->record[r].what, what);
        if (conditions.n == 0 && errors) {
            graphss_i_add_text(t, graphss_i_shown(GRAPHSS_I_WHAT, what));
            graphss_i_add_text(t, "no result");
            graphss_i_add_text(t, "–");
            graphss_i_add_number(t, 0);
            graphss_i_add_number(t, (double)errors);
            for (int k = 0; k < 3; k++)
                graphss_i_add_number(t, NAN);
        }
        for (size_t w = 0; w < conditions.n; w++) {
            const graphss_i_condition *condition = &conditions.condition[w];
            graphss_i_query q = graphss_i_condition_query(condition, what);
            size_t failed = 0;
            for (size_t r = 0; r < records->n; r++)
                failed +=
                    records->record[r].error && graphss_i_matches(&records->record[r], &q);
            graphss_i_add_text(t, graphss_i_shown(GRAPHSS_I_WHAT, what));
            graphss_i_add_text(t, *condition->mode ? condition->mode : "–");
            const char *setting = *condition->setting ? condition->setting : "–";
            if (condition->parameter && (*condition->parameter || *condition->value))
                setting = graphss_i_arena_say(
                    d->arena, "%s, %s %s", setting, condition->parameter, condition->value);
            graphss_i_add_text(t, setting);
            graphss_i_add_number(t, (double)graphss_i_runs_count(records, &q));
            graphss_i_add_number(t, (double)failed);
            graphss_i_add_number(
                t, (double)graphss_i_distinct(records, &q, GRAPHSS_I_DATASET).n);
            graphss_i_add_number(t, (double)graphss_i_models_of(records, &q).n);
            graphss_i_add_number(
                t, (double)graphss_i_distinct(records, &q, GRAPHSS_I_METHOD).n);
        }
    }
    graphss_i_show_table(d, t);
}

static void errors(graphss_i_document *d, graphss_i_runs *records)
{
    graphss_i_table *t = graphss_i_table_new(d->arena, "errors",
        "Cells that ended in an error",
        "They have no result and count nowhere. The code is the exit code of the program.");
    graphss_i_add_head(t, "part");
    graphss_i_add_head(t, "mode, setting");
    graphss_i_add_head(t, "dataset");
    graphss_i_add_head(t, "classifier");
    graphss_i_add_head(t, "method");
    graphss_i_add_column(t, "seed", "", 0, false);
    graphss_i_add_column(t, "code", "", 0, false);
    graphss_i_add_words(t, "message");
    for (size_t i = 0; i < records->n; i++) {
        const graphss_i_run *r = &records->record[i];
        if (!r->error)
            continue;
        graphss_i_add_text(t, r->what);
        graphss_i_add_text(t, graphss_i_arena_say(d->arena, "%s %s", r->mode, r->setting));
        graphss_i_add_text(t, graphss_i_short_id(records, r->dataset));
        graphss_i_add_text(t, r->model);
        graphss_i_add_text(t, r->method);
        graphss_i_add_number(t, r->seed >= 0 ? (double)r->seed : NAN);
        graphss_i_add_number(t, (double)r->error_code);
        graphss_i_add_text(t, r->error);
    }
    graphss_i_show_folded(d, t);
}

/* The short names of generated graphs, spelled out. */
static void generated(graphss_i_document *d, graphss_i_runs *records)
{
    const graphss_i_list all = graphss_i_long_names(records);
    for (size_t i = 0; i < all.n; i++)
        graphss_i_sentence(d, graphss_i_arena_say(d->arena, "The dataset %s is %s.",
                                  graphss_i_dataset_name(records, all.text[i]), all.text[i]));
}

/* Versions, processors and dates that occur in "repeat". */
static void circumstances(graphss_i_document *d, graphss_i_runs *records)
{
    const char *first = "", *last = "", *version = "", *cpu = "";
    bool versions = false, machines = false;
    for (size_t i = 0; i < records->n; i++) {
        const graphss_i_run *r = &records->record[i];
        const char *v = graphss_i_text_of(r, "repeat", "version");
        const char *from = graphss_i_text_of(r, "repeat", "started");
        const char *to = graphss_i_text_of(r, "repeat", "finished");
        const char *name = json_string_value(json_object_get(
            json_object_get(json_object_get(r->json, "repeat"), "machine"), "cpu"));
        versions = versions || (*version && *v && strcmp(version, v) != 0);
        machines = machines || (*cpu && name && strcmp(cpu, name) != 0);
        version = *version ? version : v;
        cpu = *cpu || !name ? cpu : name;
        if (*from && (!*first || strcmp(from, first) < 0))
            first = from;
        if (*to && strcmp(to, last) > 0)
            last = to;
    }
    if (*version)
        graphss_i_sentence(d, graphss_i_arena_say(d->arena, "GraphSS %s%s.", version,
                                  versions ? " and other versions" : ""));
    if (*cpu)
        graphss_i_sentence(d, graphss_i_arena_say(d->arena, "Processor: %s%s.", cpu,
                                  machines ? " and others" : ""));
    if (*first && *last)
        graphss_i_sentence(
            d, graphss_i_arena_say(d->arena, "Run from %s to %s.", first, last));
}

/* Names of the paper's tables that no record of a defence has. */
static const char *absent(graphss_i_runs *records, graphss_i_field field)
{
    const graphss_i_list found =
        graphss_i_distinct(records, &(graphss_i_query){.what = "defence"}, field);
    graphss_i_report_names out = {"", 0};
    for (size_t i = 0; graphss_i_field_name(field, i); i++) {
        const char *name = graphss_i_field_name(field, i);
        bool there = !graphss_i_in_paper(field, name);
        for (size_t k = 0; k < found.n; k++)
            there = there || !strcmp(found.text[k], name);
        if (!there)
            graphss_i_report_names_add_any(
                &records->arena, &out, graphss_i_shown(field, name));
    }
    return out.text;
}

/* "--datasets cora,pubmed", or "" if a name cannot be in such a list. */
static const char *datasets_option(graphss_i_runs *records)
{
    const graphss_i_list all =
        graphss_i_distinct(records, &(graphss_i_query){0}, GRAPHSS_I_DATASET);
    const char *text = "";
    for (size_t i = 0; i < all.n; i++) {
        if (strpbrk(all.text[i], ", '\"\\") || !*all.text[i])
            return "";
        text = graphss_i_arena_say(
            &records->arena, "%s%s%s", text, i ? "," : " --datasets ", all.text[i]);
    }
    return *absent(records, GRAPHSS_I_DATASET) ? text : "";
}

/* One line on what has no record, and the command that runs it. */
static void not_run(graphss_i_document *d, graphss_i_runs *records, const char *folder)
{
    graphss_i_arena *arena = d->arena;
    graphss_i_report_names parts = {"", 0};
    const char *only = "", *text = "", *mode = "";
    for (size_t i = 0; graphss_i_field_name(GRAPHSS_I_WHAT, i); i++) {
        const char *what = graphss_i_field_name(GRAPHSS_I_WHAT, i);
        if (graphss_i_runs_count(records, &(graphss_i_query){.what = what}) > 0)
            continue;
        graphss_i_report_names_add_any(arena, &parts, graphss_i_shown(GRAPHSS_I_WHAT, what));
        only = what;
    }
    const graphss_i_query paper = {.what = "defence", .mode = "paper"};
    const graphss_i_query defence = {.what = "defence"};
    if (graphss_i_runs_count(records, &defence) && !graphss_i_runs_count(records, &paper)) {
        graphss_i_report_names_add_any(arena, &parts, "Defence in the paper's own protocol");
        only = "defence";
        mode = " --mode paper";
    }
    if (graphss_i_runs_count(records, &defence)) {
        const char *datasets = absent(records, GRAPHSS_I_DATASET);
        const char *models = absent(records, GRAPHSS_I_MODEL);
        if (*datasets)
            text = graphss_i_arena_say(
                arena, "No result for these datasets of the paper: %s. ", datasets);
        if (*models)
            text = graphss_i_arena_say(
                arena, "%sNo result for these classifiers: %s. ", text, models);
    }
    const char *same = parts.n ? datasets_option(records) : "";
    if (parts.n)
        text = graphss_i_arena_say(arena, "%sNot run: %s. ", text, parts.text);
    if (!*text)
        return;
    const size_t n = strlen(folder);
    const char *slash = strrchr(folder, '/'), *where = folder;
    if (n > 6 && !strcmp(folder + n - 6, ".jsonl")) /* a file: the folder it is in */
        where =
            slash ? graphss_i_arena_say(arena, "%.*s", (int)(slash - folder), folder) : ".";
    graphss_i_sentence(d, graphss_i_arena_say(arena, "%sTo run %s:", text,
                              *same ? "that on the same datasets" : "it"));
    graphss_i_code(d, graphss_i_arena_say(arena, "graphss reproduce %s%s%s -o %s",
                          parts.n == 1 ? only : "all", parts.n == 1 ? mode : "", same, where));
}

void graphss_i_section_runs(graphss_i_document *d, graphss_i_runs *records, const char *folder)
{
    graphss_i_heading(d, 2, "runs", "What was run, and how to run it again");
    graphss_i_sentence(
        d, graphss_i_arena_say(d->arena,
               "%zu cells were read%s%s. Nothing on this page was typed by hand: it "
               "is made from the records by one command. Each record also holds "
               "every option, the seed and a checksum of the dataset.",
               records->n,
               records->replaced ? "; lines of a cell that was run again were "
                                   "replaced by the later ones"
                                 : "",
               records->cut ? "; a last line without its end was left out" : ""));
    graphss_i_code(
        d, graphss_i_arena_say(d->arena, "graphss report %s -o report.html", folder));
    generated(d, records);
    circumstances(d, records);
    coverage(d, records);
    errors(d, records);
    not_run(d, records, folder);
}
