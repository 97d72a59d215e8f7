/* format_html.c - the report as one page. Style and script come from page.css, plot.css and
 * page.js, which are in the library; a policy in the head forbids the page any request. */
#include <string.h>

#include "lab/report/document.h"
#include "lab/report/text_arena.h"

static void put_head(graphss_i_writer *writer, const graphss_i_document *d)
{
    graphss_i_put(writer,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n"
        "<link rel=\"icon\" href=\"data:,\">\n<title>");
    graphss_i_put_xml(writer, d->title);
    graphss_i_put(writer, "</title>\n<style>\n");
    graphss_i_put(writer, graphss_i_embedded_svg);
    graphss_i_put(writer, graphss_i_embedded_css);
    graphss_i_put(writer, "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">To the "
                          "results</a>\n<header>\n<h1>");
    graphss_i_put_xml(writer, d->title);
    graphss_i_put(writer, "</h1>\n<p class=\"lead\">");
    graphss_i_put_xml(writer, d->lead);
    graphss_i_put(writer, "</p>\n</header>\n<nav aria-label=\"Sections\"><ul>\n");
    for (size_t i = 0; i < d->n; i++)
        if (d->block[i].kind == GRAPHSS_I_BLOCK_HEADING && d->block[i].level == 2) {
            graphss_i_putf(
                writer, "<li><a href=\"#%s\">", graphss_i_safe(d->block[i].id).text);
            graphss_i_put_xml(writer, d->block[i].text);
            graphss_i_put(writer, "</a></li>\n");
        }
    graphss_i_put(writer, "</ul></nav>\n<main id=\"main\">\n");
}

static void put_element(graphss_i_writer *writer, const char *name, const char *text)
{
    graphss_i_putf(writer, "<%s>", name);
    graphss_i_put_xml(writer, text);
    graphss_i_putf(writer, "</%s>\n", name);
}

static void put_figure(graphss_i_writer *writer, const graphss_i_figure *f)
{
    const graphss_i_safe_name id = graphss_i_safe(f->id);
    graphss_i_putf(writer, "<figure id=\"%s\">\n<figcaption>", id.text);
    graphss_i_put_xml(writer, f->title);
    graphss_i_put(writer, "<span class=\"note\">");
    graphss_i_put_xml(writer, f->note);
    graphss_i_put(writer, "</span></figcaption>\n<div class=\"panels\">\n");
    for (size_t i = 0; i < f->n; i++) {
        char prefix[160];
        snprintf(prefix, sizeof prefix, "%s-%zu", id.text, i + 1);
        graphss_i_panel_svg(writer, &f->panel[i], prefix, false);
    }
    graphss_i_put(writer, "</div>\n</figure>\n");
}

static void put_item(graphss_i_writer *writer, const graphss_i_document *d, size_t i)
{
    const graphss_i_block *b = &d->block[i];
    if (i == 0 || d->block[i - 1].kind != GRAPHSS_I_BLOCK_ITEM)
        graphss_i_put(writer, "<ul class=\"findings\">\n");
    graphss_i_putf(writer, "<li><span class=\"word %s\">", graphss_i_safe(b->word).text);
    graphss_i_put_xml(writer, b->word);
    graphss_i_put(writer, "</span> <span>");
    graphss_i_put_xml(writer, b->text);
    graphss_i_put(writer, "</span></li>\n");
    if (i + 1 == d->n || d->block[i + 1].kind != GRAPHSS_I_BLOCK_ITEM)
        graphss_i_put(writer, "</ul>\n");
}

void graphss_i_format_html(graphss_i_writer *writer, const graphss_i_document *d)
{
    put_head(writer, d);
    for (size_t i = 0; i < d->n; i++) {
        const graphss_i_block *b = &d->block[i];
        switch (b->kind) {
        case GRAPHSS_I_BLOCK_HEADING:
            graphss_i_putf(writer, "<h%d id=\"%s\">", b->level, graphss_i_safe(b->id).text);
            graphss_i_put_xml(writer, b->text);
            graphss_i_putf(writer, "</h%d>\n", b->level);
            break;
        case GRAPHSS_I_BLOCK_TEXT:
            put_element(writer, "p", b->text);
            break;
        case GRAPHSS_I_BLOCK_ITEM:
            put_item(writer, d, i);
            break;
        case GRAPHSS_I_BLOCK_CODE:
            put_element(writer, "pre", b->text);
            break;
        case GRAPHSS_I_BLOCK_TABLE:
            if (b->folded) {
                graphss_i_put(writer, "<details>");
                put_element(writer, "summary", b->table->title);
            }
            graphss_i_table_html(writer, b->table);
            graphss_i_put(writer, b->folded ? "</details>\n" : "");
            break;
        case GRAPHSS_I_BLOCK_FIGURE:
            put_figure(writer, b->figure);
            break;
        }
    }
    graphss_i_putf(writer,
        "</main>\n<footer>Made by graphss %s from %s. Headings of "
        "tables sort them.</footer>\n<script>\n",
        graphss_version(), d->made_from ? d->made_from : "its records");
    graphss_i_put(writer, graphss_i_embedded_js);
    graphss_i_put(writer, "</script>\n</body>\n</html>\n");
}
