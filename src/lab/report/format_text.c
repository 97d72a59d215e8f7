/* format_text.c - the report as Markdown, LaTeX and CSV. */
#include <string.h>

#include "lab/report/document.h"

/* An item's text, a table or a figure ends the list before it. */
static bool listed(const graphss_i_document *d, size_t i)
{
    return i < d->n && d->block[i].kind == GRAPHSS_I_BLOCK_ITEM;
}

static void markdown_figure(
    graphss_i_writer *writer, const graphss_i_figure *f, const char *plots)
{
    if (!plots)
        return;
    for (size_t i = 0; i < f->n; i++) {
        graphss_i_put(writer, "![");
        graphss_i_put_markdown(writer, f->panel[i].title);
        graphss_i_put(writer, "](");
        graphss_i_put(writer, plots);
        graphss_i_putf(writer, "/%s-%zu.svg", graphss_i_safe(f->id).text, i + 1);
        graphss_i_put(writer, i + 1 < f->n ? ")\n" : ")\n\n");
    }
    graphss_i_put(writer, "*");
    graphss_i_put_markdown(writer, f->title);
    graphss_i_put(writer, ".* ");
    graphss_i_put_markdown(writer, f->note);
    graphss_i_put(writer, "\n\n");
}

void graphss_i_format_markdown(
    graphss_i_writer *writer, const graphss_i_document *d, const char *plots)
{
    graphss_i_put(writer, "# ");
    graphss_i_put_markdown(writer, d->title);
    graphss_i_put(writer, "\n\n");
    graphss_i_put_markdown(writer, d->lead);
    graphss_i_put(writer, "\n\n");
    for (size_t i = 0; i < d->n; i++) {
        const graphss_i_block *b = &d->block[i];
        switch (b->kind) {
        case GRAPHSS_I_BLOCK_HEADING:
            graphss_i_put(writer, b->level == 2 ? "## " : "### ");
            graphss_i_put_markdown(writer, b->text);
            graphss_i_put(writer, "\n\n");
            break;
        case GRAPHSS_I_BLOCK_TEXT:
            graphss_i_put_markdown(writer, b->text);
            graphss_i_put(writer, "\n\n");
            break;
        case GRAPHSS_I_BLOCK_ITEM:
            graphss_i_put(writer, "* **");
            graphss_i_put_markdown(writer, b->word);
            graphss_i_put(writer, strchr(b->word, '?') ? "** " : ":** ");
            graphss_i_put_markdown(writer, b->text);
            graphss_i_put(writer, listed(d, i + 1) ? "\n" : "\n\n");
            break;
        case GRAPHSS_I_BLOCK_CODE:
            graphss_i_put(writer, "    ");
            graphss_i_put(writer, b->text);
            graphss_i_put(writer, "\n\n");
            break;
        case GRAPHSS_I_BLOCK_TABLE:
            graphss_i_put(writer, "**");
            graphss_i_put_markdown(writer, b->table->title);
            graphss_i_put(writer, ".** ");
            graphss_i_put_markdown(writer, b->table->note);
            graphss_i_put(writer, "\n\n");
            graphss_i_table_markdown(writer, b->table);
            graphss_i_put(writer, "\n");
            break;
        case GRAPHSS_I_BLOCK_FIGURE:
            markdown_figure(writer, b->figure, plots);
            break;
        }
    }
}

void graphss_i_format_latex(graphss_i_writer *writer, const graphss_i_document *d)
{
    graphss_i_put(writer,
        "% Tables made by graphss report. Wants \\usepackage{booktabs} and, for "
        "the quote sign, \\usepackage[T1]{fontenc}.\n");
    for (size_t i = 0; i < d->n; i++)
        if (d->block[i].kind == GRAPHSS_I_BLOCK_TABLE) {
            graphss_i_put(writer, "\n");
            graphss_i_table_latex(writer, d->block[i].table);
        }
}

void graphss_i_format_csv(graphss_i_writer *writer, const graphss_i_document *d)
{
    graphss_i_put(writer, "table,row,column,unit,value,sd,n,text\n");
    for (size_t i = 0; i < d->n; i++)
        if (d->block[i].kind == GRAPHSS_I_BLOCK_TABLE)
            graphss_i_table_csv(writer, d->block[i].table);
}
