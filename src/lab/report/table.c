/* table.c - see table.h. A number is shown with as many decimals as its column has, and with
 * its standard deviation where there is one; CSV and the HTML's sort keys keep all digits. */
#include "lab/report/table.h"

#include <math.h>
#include <string.h>

/* ---- filling ---- */

graphss_i_table *graphss_i_table_new(graphss_i_arena *arena, const char *id, const char *title,
                                     const char *note)
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
    graphss_i_column *list = graphss_i_arena_room(t->arena, t->column, t->n_columns,
                                                  &t->columns_room, sizeof *list);
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

void graphss_i_add_column(graphss_i_table *t, const char *name, const char *unit, int decimals,
                          bool sign)
{
    add_column(
        t,
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
    add_cell(t, (graphss_i_entry){
                    .text = t && fewest < most
                                ? graphss_i_arena_say(t->arena, "%zu–%zu", fewest, most)
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

/* ---- what the formats share ---- */

typedef void (*put_fn)(graphss_i_pen *pen, const char *text);

static const graphss_i_entry *cell_at(const graphss_i_table *t, size_t row, size_t column)
{
    return &t->cell[row * t->n_columns + column];
}

static void put_heading(graphss_i_pen *pen, const graphss_i_column *c, put_fn escape)
{
    escape(pen, c->name);
    if (*c->unit) {
        graphss_i_put(pen, ", ");
        escape(pen, c->unit);
    }
}

static void put_value(graphss_i_pen *pen, const graphss_i_column *c,
                      const graphss_i_entry *cell, const char *minus, const char *plus_minus)
{
    char text[64];
    graphss_i_fixed_text(text, sizeof text, cell->value, c->decimals);
    if (text[0] == '-') {
        graphss_i_put(pen, minus);
        graphss_i_put(pen, text + 1);
    } else {
        if (c->sign && cell->value > 0)
            graphss_i_put(pen, "+");
        graphss_i_put(pen, text);
    }
    if (isfinite(cell->sd)) {
        graphss_i_put(pen, plus_minus);
        graphss_i_put_fixed(pen, cell->sd, c->decimals);
    }
}

/* ---- Markdown ---- */

void graphss_i_table_markdown(graphss_i_pen *pen, const graphss_i_table *t)
{
    for (size_t j = 0; j < t->n_columns; j++) {
        graphss_i_put(pen, "| ");
        put_heading(pen, &t->column[j], graphss_i_put_markdown);
        graphss_i_put(pen, " ");
    }
    graphss_i_put(pen, "|\n");
    for (size_t j = 0; j < t->n_columns; j++)
        graphss_i_put(pen, t->column[j].number ? "|---:" : "|---");
    graphss_i_put(pen, "|\n");
    for (size_t i = 0; i < graphss_i_table_rows(t); i++) {
        for (size_t j = 0; j < t->n_columns; j++) {
            const graphss_i_entry *cell = cell_at(t, i, j);
            graphss_i_put(pen, cell->strong ? "| **" : "| ");
            if (cell->text)
                graphss_i_put_markdown(pen, cell->text);
            else if (!isfinite(cell->value))
                graphss_i_put(pen, "–");
            else
                put_value(pen, &t->column[j], cell, "−", " ± ");
            graphss_i_put(pen, cell->strong ? "** " : " ");
        }
        graphss_i_put(pen, "|\n");
    }
}

/* ---- LaTeX ---- */

void graphss_i_table_latex(graphss_i_pen *pen, const graphss_i_table *t)
{
    graphss_i_put(pen, "\\begin{table}\n\\centering\n\\begin{tabular}{");
    for (size_t j = 0; j < t->n_columns; j++)
        graphss_i_put(pen, t->column[j].number ? "r" : "l");
    graphss_i_put(pen, "}\n\\toprule\n");
    for (size_t j = 0; j < t->n_columns; j++) {
        graphss_i_put(pen, j ? " & " : "");
        put_heading(pen, &t->column[j], graphss_i_put_latex);
    }
    graphss_i_put(pen, " \\\\\n\\midrule\n");
    for (size_t i = 0; i < graphss_i_table_rows(t); i++) {
        for (size_t j = 0; j < t->n_columns; j++) {
            const graphss_i_entry *cell = cell_at(t, i, j);
            graphss_i_put(pen, j ? " & " : "");
            graphss_i_put(pen, cell->strong ? "\\textbf{" : "");
            if (cell->text)
                graphss_i_put_latex(pen, cell->text);
            else if (!isfinite(cell->value))
                graphss_i_put(pen, "--");
            else
                put_value(pen, &t->column[j], cell, "$-$", " $\\pm$ ");
            graphss_i_put(pen, cell->strong ? "}" : "");
        }
        graphss_i_put(pen, " \\\\\n");
    }
    graphss_i_put(pen, "\\bottomrule\n\\end{tabular}\n\\caption{");
    graphss_i_put_latex(pen, t->title);
    if (*t->note) {
        graphss_i_put(pen, ". ");
        graphss_i_put_latex(pen, t->note);
    }
    graphss_i_put(pen, "}\n\\label{tab:");
    graphss_i_put_name(pen, t->id);
    graphss_i_put(pen, "}\n\\end{table}\n");
}

/* ---- CSV ---- */

static void put_csv_number(graphss_i_pen *pen, double value)
{
    char text[64] = "";
    if (isfinite(value))
        graphss_i_double_text(text, sizeof text, value);
    graphss_i_put(pen, text);
}

void graphss_i_table_csv(graphss_i_pen *pen, const graphss_i_table *t)
{
    for (size_t i = 0; i < graphss_i_table_rows(t); i++) {
        const char *row = "";
        for (size_t j = 0; j < t->n_columns; j++)
            if (t->column[j].head && cell_at(t, i, j)->text)
                row = graphss_i_arena_say(t->arena, "%s%s%s", row, *row ? " / " : "",
                                          cell_at(t, i, j)->text);
        for (size_t j = 0; j < t->n_columns; j++) {
            const graphss_i_entry *cell = cell_at(t, i, j);
            if (t->column[j].head)
                continue;
            graphss_i_put_csv(pen, t->id);
            graphss_i_put(pen, ",");
            graphss_i_put_csv(pen, row);
            graphss_i_put(pen, ",");
            graphss_i_put_csv(pen, t->column[j].name);
            graphss_i_put(pen, ",");
            graphss_i_put_csv(pen, t->column[j].unit);
            graphss_i_put(pen, ",");
            put_csv_number(pen, cell->value);
            graphss_i_put(pen, ",");
            put_csv_number(pen, cell->sd);
            graphss_i_put(pen, ",");
            if (cell->n)
                graphss_i_putf(pen, "%zu", cell->n);
            graphss_i_put(pen, ",");
            graphss_i_put_csv(pen, cell->text ? cell->text : "");
            graphss_i_put(pen, "\n");
        }
    }
}

/* ---- HTML: a heading is a button, which sorts where scripts run; on a narrow page each row
 * becomes a card whose values are named by data-label ---- */

static void put_html_cell(graphss_i_pen *pen, const graphss_i_column *c,
                          const graphss_i_entry *cell, bool first)
{
    graphss_i_put(pen, first ? "<th scope=\"row\"" : "<td");
    graphss_i_put(pen, c->number ? " class=\"num\" data-label=\"" : " data-label=\"");
    put_heading(pen, c, graphss_i_put_xml);
    graphss_i_put(pen, "\"");
    if (!cell->text || isfinite(cell->value)) {
        graphss_i_put(pen, " data-key=\"");
        put_csv_number(pen, cell->value);
        graphss_i_put(pen, "\"");
        if (cell->n)
            graphss_i_putf(pen, " title=\"n = %zu\"", cell->n);
    }
    graphss_i_put(pen, cell->strong ? "><strong>" : "><span>");
    if (cell->text)
        graphss_i_put_xml(pen, cell->text);
    else if (!isfinite(cell->value))
        graphss_i_put(pen, "<span class=\"none\">&ndash;</span>");
    else
        put_value(pen, c, cell, "&minus;", "<span class=\"sd\"> &plusmn; ");
    if (!cell->text && isfinite(cell->value) && isfinite(cell->sd))
        graphss_i_put(pen, "</span>");
    graphss_i_put(pen, cell->strong ? "</strong>" : "</span>");
    graphss_i_put(pen, first ? "</th>" : "</td>");
}

void graphss_i_table_html(graphss_i_pen *pen, const graphss_i_table *t)
{
    enum { WIDE = 8 }; /* columns from which a row is cards on a middling page too */
    graphss_i_put(pen, "<div class=\"table\"><table id=\"t-");
    graphss_i_put_name(pen, t->id);
    graphss_i_put(pen,
                  t->n_columns > WIDE ? "\" class=\"wide\">\n<caption>" : "\">\n<caption>");
    graphss_i_put_xml(pen, t->title);
    if (*t->note) {
        graphss_i_put(pen, "<span class=\"note\">");
        graphss_i_put_xml(pen, t->note);
        graphss_i_put(pen, "</span>");
    }
    graphss_i_put(pen, "</caption>\n<thead><tr>");
    for (size_t j = 0; j < t->n_columns; j++) {
        graphss_i_put(pen, t->column[j].number ? "<th scope=\"col\" class=\"num\">"
                                               : "<th scope=\"col\">");
        put_heading(pen, &t->column[j], graphss_i_put_xml);
        graphss_i_put(pen, "</th>");
    }
    graphss_i_put(pen, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < graphss_i_table_rows(t); i++) {
        graphss_i_put(pen, "<tr>");
        for (size_t j = 0; j < t->n_columns; j++)
            put_html_cell(pen, &t->column[j], cell_at(t, i, j), j == 0);
        graphss_i_put(pen, "</tr>\n");
    }
    graphss_i_put(pen, "</tbody></table></div>\n");
}
