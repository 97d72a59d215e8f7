/* document.c - see document.h. */
#include "lab/report/document.h"

#include <string.h>

static void add(graphss_i_document *d, graphss_i_block block)
{
    graphss_i_block *list =
        graphss_i_arena_room(d->arena, d->block, d->n, &d->room, sizeof *list);
    if (!list)
        return;
    d->block = list;
    d->block[d->n++] = block;
}

void graphss_i_heading(graphss_i_document *d, int level, const char *id, const char *text)
{
    add(d, (graphss_i_block){
               .kind = GRAPHSS_I_BLOCK_HEADING, .level = level, .id = id, .text = text});
}

void graphss_i_sentence(graphss_i_document *d, const char *text)
{
    if (*text)
        add(d, (graphss_i_block){.kind = GRAPHSS_I_BLOCK_TEXT, .text = text});
}

void graphss_i_item(graphss_i_document *d, const char *word, const char *text)
{
    add(d, (graphss_i_block){.kind = GRAPHSS_I_BLOCK_ITEM, .word = word, .text = text});
}

void graphss_i_code(graphss_i_document *d, const char *text)
{
    add(d, (graphss_i_block){.kind = GRAPHSS_I_BLOCK_CODE, .text = text});
}

void graphss_i_show_table(graphss_i_document *d, const graphss_i_table *table)
{
    if (graphss_i_table_rows(table) == 0)
        return;
    add(d, (graphss_i_block){.kind = GRAPHSS_I_BLOCK_TABLE, .table = table});
    d->n_tables++;
}

void graphss_i_show_folded(graphss_i_document *d, const graphss_i_table *table)
{
    const size_t n = d->n;
    graphss_i_show_table(d, table);
    if (d->n > n)
        d->block[n].folded = true;
}

void graphss_i_show_figure(graphss_i_document *d, const graphss_i_figure *figure)
{
    if (!figure || figure->n == 0)
        return;
    add(d, (graphss_i_block){.kind = GRAPHSS_I_BLOCK_FIGURE, .figure = figure});
    d->n_panels += figure->n;
}

graphss_i_figure *graphss_i_figure_new(
    graphss_i_arena *arena, const char *id, const char *title, const char *note)
{
    graphss_i_figure *f = graphss_i_arena_take(arena, 1, sizeof *f);
    if (f)
        *f = (graphss_i_figure){.id = id, .title = title, .note = note};
    return f;
}

graphss_i_panel *graphss_i_add_panel(graphss_i_figure *figure, graphss_i_arena *arena,
    graphss_i_panel_type kind, const char *title, const char *x_label, const char *y_label)
{
    if (!figure)
        return NULL;
    graphss_i_panel *list =
        graphss_i_arena_room(arena, figure->panel, figure->n, &figure->room, sizeof *list);
    if (!list)
        return NULL;
    figure->panel = list;
    graphss_i_panel *panel = &list[figure->n++];
    *panel = (graphss_i_panel){
        .kind = kind, .title = title, .x_label = x_label, .y_label = y_label, .decimals = 1};
    return panel;
}

graphss_i_panel *graphss_i_add_lines(graphss_i_figure *figure, graphss_i_arena *arena,
    graphss_i_line *line, size_t n, const char *title, const char *x_label,
    const char *y_label)
{
    graphss_i_panel *p =
        n == 0 ? NULL
               : graphss_i_add_panel(figure, arena, GRAPHSS_I_LINES, title, x_label, y_label);
    if (p) {
        p->line = line;
        p->n = n;
    }
    return p;
}

size_t graphss_i_choose_lines(graphss_i_figure *figure, graphss_i_arena *arena,
    graphss_i_line *line, size_t n, const char *panel)
{
    const char *out = "";
    size_t ours = 0;
    for (size_t k = 0; k < n; k++)
        if (!strncmp(line[k].name, "GraphSS", 7)) {
            const graphss_i_line moved = line[k];
            memmove(line + ours + 1, line + ours, (k - ours) * sizeof *line);
            line[ours++] = moved;
        }
    for (size_t k = GRAPHSS_I_LINES_MOST; k < n; k++)
        out = graphss_i_arena_say(arena, "%s%s%s", out, *out ? ", " : "", line[k].name);
    if (*out && figure)
        figure->note =
            graphss_i_arena_say(arena, "%s No room in %s for: %s.", figure->note, panel, out);
    return n < GRAPHSS_I_LINES_MOST ? n : GRAPHSS_I_LINES_MOST;
}
