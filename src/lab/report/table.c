/* table.c - see document.h. A number is shown with as many decimals as its column has, and
 * with its standard deviation where there is one; CSV and the HTML's sort keys keep all
 * digits. */
#include "lab/report/document.h"
#include "lab/report/text_arena.h"
#include <math.h>
#include <string.h>

/* ---- filling ---- */

graphss_i_table *graphss_i_table_new(
    graphss_i_arena *arena, const char *id, const char *title, const char *note)
{
    graphss_i_table *t = graphss_i_arena_take(arena, 1, sizeof *t);
    if (t)
        *t = (graphss_i_table){.arena = arena, .id = id, .title = title, .note = note};
    return t;
}

static void add_column(graphss_i_table *t, graphss_i_column column)
{
    if (!t)
        return;
    graphss_i_column *list = graphss_i_arena_room(
        t->arena, t->column, t->n_columns, &t->columns_room, sizeof *list);
    if (!list)
        return;
    t->column = list;
    t->column[t->n_columns++] = column;
}

void graphss_i_add_head(graphss_i_table *t, const char *name)
{
    add_column(t, (graphss_i_column){.name = name, .unit = "", .head = true});
}

void graphss_i_add_words(graphss_i_table *t, const char *name)
{
    add_column(t, (graphss_i_column){.name = name, .unit = ""});
}

void graphss_i_add_column(
    graphss_i_table *t, const char *name, const char *unit, int decimals, bool sign)
{
    add_column(t,
        (graphss_i_column){
            .name = name, .unit = unit, .decimals = decimals, .number = true, .sign = sign});
}

static void add_cell(graphss_i_table *t, graphss_i_entry cell)
{
    if (!t)
        return;
    graphss_i_entry *list =
        graphss_i_arena_room(t->arena, t->cell, t->n_cells, &t->cells_room, sizeof *list);
    if (!list)
        return;
    t->cell = list;
    t->cell[t->n_cells++] = cell;
}

void graphss_i_add_text(graphss_i_table *t, const char *text)
{
    add_cell(t, (graphss_i_entry){.text = text, .value = NAN, .sd = NAN});
}

void graphss_i_add_number(graphss_i_table *t, double value)
{
    add_cell(t, (graphss_i_entry){.value = value, .sd = NAN});
}

void graphss_i_add_spread(graphss_i_table *t, double mean, double sd)
{
    add_cell(t, (graphss_i_entry){.value = mean, .sd = sd});
}

void graphss_i_add_stat(graphss_i_table *t, graphss_i_stat stat)
{
    add_cell(t, (graphss_i_entry){.value = stat.mean, .sd = stat.sd, .n = stat.n});
}

void graphss_i_add_runs(graphss_i_table *t, size_t fewest, size_t most)
{
    add_cell(t,
        (graphss_i_entry){
            .text = t && fewest < most ? graphss_i_arena_say(t->arena, "%zu–%zu", fewest, most)
                                       : NULL,
            .value = (double)most,
            .sd = NAN,
        });
}

void graphss_i_mark_strong(graphss_i_table *t)
{
    if (t && t->n_cells)
        t->cell[t->n_cells - 1].strong = true;
}

size_t graphss_i_table_rows(const graphss_i_table *t)
{
    return t && t->n_columns ? t->n_cells / t->n_columns : 0;
}

/* ---- shared by the formats ---- */

typedef void (*put_fn)(graphss_i_writer *writer, const char *text);

static const graphss_i_entry *cell_at(const graphss_i_table *t, size_t row, size_t column)
{
    return &t->cell[row * t->n_columns + column];
}

static void put_heading(graphss_i_writer *writer, const graphss_i_column *c, put_fn escape)
{
    escape(writer, c->name);
    if (*c->unit) {
        graphss_i_put(writer, ", ");
        escape(writer, c->unit);
    }
}

static void put_value(graphss_i_writer *writer, const graphss_i_column *c,
    const graphss_i_entry *cell, const char *minus, const char *plus_minus)
{
    char text[64];
    graphss_i_fixed_text(text, sizeof text, cell->value, c->decimals);
    if (text[0] == '-') {
        graphss_i_put(writer, minus);
        graphss_i_put(writer, text + 1);
    } else {
        if (c->sign && cell->value > 0)
            graphss_i_put(writer, "+");
        graphss_i_put(writer, text);
    }
    if (isfinite(cell->sd)) {
        graphss_i_put(writer, plus_minus);
        graphss_i_put_fixed(writer, cell->sd, c->decimals);
    }
}

/* ---- Markdown ---- */

void graphss_i_table_markdown(graphss_i_writer *writer, const graphss_i_table *t)
{
    for (size_t j = 0; j < t->n_columns; j++) {
        graphss_i_put(writer, "| ");
        put_heading(writer, &t->column[j], graphss_i_put_markdown);
        graphss_i_put(writer, " ");
    }
    graphss_i_put(writer, "|\n");
    for (size_t j = 0; j < t->n_columns; j++)
        graphss_i_put(writer, t->column[j].number ? "|---:" : "|---");
    graphss_i_put(writer, "|\n");
    for (size_t i = 0; i < graphss_i_table_rows(t); i++) {
        for (size_t j = 0; j < t->n_columns; j++) {
            const graphss_i_entry *cell = cell_at(t, i, j);
            graphss_i_put(writer, cell->strong ? "| **" : "| ");
            if (cell->text)
                graphss_i_put_markdown(writer, cell->text);
            else if (!isfinite(cell->value))
                graphss_i_put(writer, "–");
            else
                put_value(writer, &t->column[j], cell, "−", " ± ");
            graphss_i_put(writer, cell->strong ? "** " : " ");
        }
        graphss_i_put(writer, "|\n");
    }
}

/* ---- LaTeX ---- */

void graphss_i_table_latex(graphss_i_writer *writer, const graphss_i_table *t)
{
    graphss_i_put(writer, "\\begin{table}\n\\centering\n\\begin{tabular}{");
    for (size_t j = 0; j < t->n_columns; j++)
        graphss_i_put(writer, t->column[j].number ? "r" : "l");
    graphss_i_put(writer, "}\n\\toprule\n");
    for (size_t j = 0; j < t->n_columns; j++) {
        graphss_i_put(writer, j ? " & " : "");
        put_heading(writer, &t->column[j], graphss_i_put_latex);
    }
    graphss_i_put(writer, " \\\\\n\\midrule\n");
    for (size_t i = 0; i < graphss_i_table_rows(t); i++) {
        for (size_t j = 0; j < t->n_columns; j++) {
            const graphss_i_entry *cell = cell_at(t, i, j);
            graphss_i_put(writer, j ? " & " : "");
            graphss_i_put(writer, cell->strong ? "\\textbf{" : "");
            if (cell->text)
                graphss_i_put_latex(writer, cell->text);
            else if (!isfinite(cell->value))
                graphss_i_put(writer, "--");
            else
                put_value(writer, &t->column[j], cell, "$-$", " $\\pm$ ");
            graphss_i_put(writer, cell->strong ? "}" : "");
        }
        graphss_i_put(writer, " \\\\\n");
    }
    graphss_i_put(writer, "\\bottomrule\n\\end{tabular}\n\\caption{");
    graphss_i_put_latex(writer, t->title);
    if (*t->note) {
        graphss_i_put(writer, ". ");
        graphss_i_put_latex(writer, t->note);
    }
    graphss_i_put(writer, "}\n\\label{tab:");
    graphss_i_put_name(writer, t->id);
    graphss_i_put(writer, "}\n\\end{table}\n");
}

/* ---- CSV ---- */

static void put_csv_number(graphss_i_writer *writer, double value)
{
    char text[64] = "";
    if (isfinite(value))
        graphss_i_double_text(text, sizeof text, value);
    graphss_i_put(writer, text);
}

void graphss_i_table_csv(graphss_i_writer *writer, const graphss_i_table *t)
{
    for (size_t i = 0; i < graphss_i_table_rows(t); i++) {
        const char *row = "";
        for (size_t j = 0; j < t->n_columns; j++)
            if (t->column[j].head && cell_at(t, i, j)->text)
                row = graphss_i_arena_say(
                    t->arena, "%s%s%s", row, *row ? " / " : "", cell_at(t, i, j)->text);
        for (size_t j = 0; j < t->n_columns; j++) {
            const graphss_i_entry *cell = cell_at(t, i, j);
            if (t->column[j].head)
                continue;
            graphss_i_put_csv(writer, t->id);
            graphss_i_put(writer, ",");
            graphss_i_put_csv(writer, row);
            graphss_i_put(writer, ",");
            graphss_i_put_csv(writer, t->column[j].name);
            graphss_i_put(writer, ",");
            graphss_i_put_csv(writer, t->column[j].unit);
            graphss_i_put(writer, ",");
            put_csv_number(writer, cell->value);
            graphss_i_put(writer, ",");
            put_csv_number(writer, cell->sd);
            graphss_i_put(writer, ",");
            if (cell->n)
                graphss_i_putf(writer, "%zu", cell->n);
            graphss_i_put(writer, ",");
            graphss_i_put_csv(writer, cell->text ? cell->text : "");
            graphss_i_put(writer, "\n");
        }
    }
}

/* ---- HTML: a heading is a button, which sorts where scripts run; on a narrow page each row
 * becomes a card whose values are named by data-label ---- */

static void put_html_cell(graphss_i_writer *writer, const graphss_i_column *c,
    const graphss_i_entry *cell, bool first)
{
    graphss_i_put(writer, first ? "<th scope=\"row\"" : "<td");
    graphss_i_put(writer, c->number ? " class=\"num\" data-label=\"" : " data-label=\"");
    put_heading(writer, c, graphss_i_put_xml);
    graphss_i_put(writer, "\"");
    if (!cell->text || isfinite(cell->value)) {
        graphss_i_put(writer, " data-key=\"");
        put_csv_number(writer, cell->value);
        graphss_i_put(writer, "\"");
        if (cell->n)
            graphss_i_putf(writer, " title=\"n = %zu\"", cell->n);
    }
    graphss_i_put(writer, cell->strong ? "><strong>" : "><span>");
    if (cell->text)
        graphss_i_put_xml(writer, cell->text);
    else if (!isfinite(cell->value))
        graphss_i_put(writer, "<span class=\"none\">&ndash;</span>");
    else
        put_value(writer, c, cell, "&minus;", "<span class=\"sd\"> &plusmn; ");
    if (!cell->text && isfinite(cell->value) && isfinite(cell->sd))
        graphss_i_put(writer, "</span>");
    graphss_i_put(writer, cell->strong ? "</strong>" : "</span>");
    graphss_i_put(writer, first ? "</th>" : "</td>");
}

void graphss_i_table_html(graphss_i_writer *writer, const graphss_i_table *t)
{
    enum { WIDE = 8 }; /* columns from which a row is cards on a middling page too */
    graphss_i_put(writer, "<div class=\"table\"><table id=\"t-");
    graphss_i_put_name(writer, t->id);
    graphss_i_put(
        writer, t->n_columns > WIDE ? "\" class=\"wide\">\n<caption>" : "\">\n<caption>");
    graphss_i_put_xml(writer, t->title);
    if (*t->note) {
        graphss_i_put(writer, "<span class=\"note\">");
        graphss_i_put_xml(writer, t->note);
        graphss_i_put(writer, "</span>");
    }
    graphss_i_put(writer, "</caption>\n<thead><tr>");
    for (size_t j = 0; j < t->n_columns; j++) {
        graphss_i_put(writer,
            t->column[j].number ? "<th scope=\"col\" class=\"num\">" : "<th scope=\"col\">");
        put_heading(writer, &t->column[j], graphss_i_put_xml);
        graphss_i_put(writer, "</th>");
    }
    graphss_i_put(writer, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < graphss_i_table_rows(t); i++) {
        graphss_i_put(writer, "<tr>");
        for (size_t j = 0; j < t->n_columns; j++)
            put_html_cell(writer, &t->column[j], cell_at(t, i, j), j == 0);
        graphss_i_put(writer, "</tr>\n");
    }
    graphss_i_put(writer, "</tbody></table></div>\n");
}

/* Reads the embedded table. It has 240 lines, and a report queries some hundred cells, so each
 * query reads it again: no memory, nothing to free. */

/* One field of a line into out (cut at size); returns what follows its comma. */
static const char *take_field(char *out, size_t size, const char *at, const char *end)
{
    size_t n = 0;
    bool quoted = false;
    for (; at < end && (quoted || *at != ','); at++) {
        if (*at == '"')
            quoted = !quoted;
        else if (n + 1 < size)
            out[n++] = *at;
    }
    out[n] = 0;
    return at < end ? at + 1 : end;
}

static double number(const char *text)
{
    double value = NAN;
    return graphss_i_parse_double(&value, text, strlen(text)) ? value : NAN;
}

/* The line at *at into out; false for comments and the heading. *at moves on. */
static bool take_line(graphss_i_paper_cell *out, const char **at)
{
    const char *start = *at, *end = strchr(start, '\n');
    char mean[24], sd[24];
    if (!end)
        end = start + strlen(start);
    *at = *end ? end + 1 : end;
    if (*start == '#' || !strncmp(start, "what,", 5))
        return false;
    const char *p = take_field(out->what, sizeof out->what, start, end);
    p = take_field(out->dataset, sizeof out->dataset, p, end);
    p = take_field(out->model, sizeof out->model, p, end);
    p = take_field(out->method, sizeof out->method, p, end);
    p = take_field(out->metric, sizeof out->metric, p, end);
    p = take_field(mean, sizeof mean, p, end);
    take_field(sd, sizeof sd, p, end);
    out->mean = number(mean);
    out->sd = number(sd);
    return true;
}

bool graphss_i_paper_next(graphss_i_paper_cell *out, size_t *at)
{
    const char *next = graphss_i_embedded_paper + *at;
    while (*next)
        if (take_line(out, &next)) {
            *at = (size_t)(next - graphss_i_embedded_paper);
            return true;
        }
    return false;
}

bool graphss_i_paper_find(graphss_i_paper_cell *out, const char *what, const char *dataset,
    const char *model, const char *method, const char *metric)
{
    graphss_i_paper_cell cell;
    for (size_t at = 0; graphss_i_paper_next(&cell, &at);)
        if (!strcmp(cell.what, what) && !strcmp(cell.dataset, dataset) &&
            !strcmp(cell.model, model) && !strcmp(cell.method, method) &&
            !strcmp(cell.metric, metric)) {
            *out = cell;
            return true;
        }
    return false;
}
