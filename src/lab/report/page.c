/* page.c - one snapshot on a page: the verdict first, then the nodes concerned and the
 * reasons, what changed, what was not examined, and the settings to repeat it. */
#include <graphss_lab/report.h>

#include <math.h>

#include "lab/report/document.h"

static void add_facts(graphss_i_document *d, const graphss_page *p)
{
    graphss_i_heading(d, 2, "verdict", "Verdict");
    const char *word = p->alarming ? "alert" : "no alert";
    graphss_i_item(d, p->word ? p->word : word, p->verdict);
    for (size_t i = 0; i < p->n_facts; i++)
        graphss_i_item(d, p->fact[i].name, p->fact[i].text);
}

static const char *reasons_of(graphss_i_arena *arena, const graphss_page_node *node)
{
    const char *all = "";
    for (size_t i = 0; i < node->n_reasons; i++)
        all = graphss_i_arena_say(arena, "%s%s%s", all, i ? "; " : "", node->reason[i]);
    return *all ? all : "no single one";
}

static void add_nodes(graphss_i_document *d, const graphss_page *p)
{
    bool labels = false, chances = false, ranks = false, reasons = false;
    for (size_t i = 0; i < p->n_nodes; i++) {
        labels = labels || p->node[i].label;
        chances = chances || !isnan(p->node[i].perturbed);
        ranks = ranks || !isnan(p->node[i].p_value);
        reasons = reasons || p->node[i].n_reasons;
    }
    graphss_i_heading(d, 2, "nodes", "Suspicious nodes");
    if (p->n_nodes == 0)
        graphss_i_sentence(d, "None stands out.");
    const char *note = p->node_note ? p->node_note : "";
    if (p->nodes_more)
        note = graphss_i_arena_say(d->arena, "%s%sThe first %zu of %zu.", note,
            *note ? " " : "", p->n_nodes, p->n_nodes + p->nodes_more);
    graphss_i_table *t = graphss_i_table_new(d->arena, "suspicious", "Nodes", note);
    graphss_i_add_head(t, "node");
    if (chances)
        graphss_i_add_column(t, "tampered with", "%", 1, false);
    if (ranks)
        graphss_i_add_column(t, "p-value", "", 4, false);
    if (labels)
        graphss_i_add_words(t, "label");
    if (reasons)
        graphss_i_add_words(t, "reasons");
    for (size_t i = 0; i < p->n_nodes; i++) {
        const graphss_page_node *node = &p->node[i];
        graphss_i_add_text(t, node->name);
        if (chances)
            graphss_i_add_number(t, 100 * node->perturbed);
        if (ranks)
            graphss_i_add_number(t, node->p_value);
        if (labels && node->before)
            graphss_i_add_text(t, graphss_i_arena_say(d->arena, "%s (classifier: %s)",
                                      node->label ? node->label : "none", node->before));
        else if (labels)
            graphss_i_add_text(t, node->label ? node->label : "none");
        if (reasons)
            graphss_i_add_text(t, reasons_of(d->arena, node));
    }
    graphss_i_show_table(d, t);
}

static void add_lines(graphss_i_document *d, const char *id, const char *title,
    const char *name, const char *value, const graphss_page_line *line, size_t n)
{
    graphss_i_table *t = graphss_i_table_new(d->arena, id, title, "");
    graphss_i_add_head(t, name);
    graphss_i_add_words(t, value);
    for (size_t i = 0; i < n; i++) {
        graphss_i_add_text(t, line[i].name);
        graphss_i_add_text(t, line[i].text);
    }
    graphss_i_show_table(d, t);
}

static void fill(graphss_i_document *d, const graphss_page *p)
{
    add_facts(d, p);
    add_nodes(d, p);
    graphss_i_heading(d, 2, "changes", "What changed");
    if (p->change_note)
        graphss_i_sentence(d, p->change_note);
    add_lines(d, "change", "Since the previous snapshot", "what", "how many", p->change,
        p->n_changes);
    graphss_i_heading(d, 2, "unseen", "What was not examined, or was assumed");
    if (p->n_unseen == 0)
        graphss_i_sentence(d, "Nothing was left out.");
    for (size_t i = 0; i < p->n_unseen; i++)
        graphss_i_item(d, "note", p->unseen[i]);
    graphss_i_heading(d, 2, "settings", "Settings");
    add_lines(
        d, "setting", "To make this again", "setting", "value", p->setting, p->n_settings);
}

graphss_status graphss_page_write(graphss_ctx *ctx, const graphss_page *page, const char *path)
{
    if (GRAPHSS_I_LACKS(ctx, {"path", path}, {"page", page}))
        return GRAPHSS_ERR_INVALID;
    if (GRAPHSS_I_LACKS(ctx, {"title", page->title}, {"verdict", page->verdict},
            {"facts", GRAPHSS_I_FILLED(page->fact, page->n_facts)},
            {"nodes", GRAPHSS_I_FILLED(page->node, page->n_nodes)},
            {"changes", GRAPHSS_I_FILLED(page->change, page->n_changes)},
            {"what was not seen", GRAPHSS_I_FILLED(page->unseen, page->n_unseen)},
            {"settings", GRAPHSS_I_FILLED(page->setting, page->n_settings)}))
        return GRAPHSS_ERR_INVALID;
    graphss_i_arena arena = {.ctx = ctx};
    graphss_i_document d = {.arena = &arena, .title = page->title};
    graphss_i_writer writer = {.ctx = ctx};
    d.lead = page->lead ? page->lead : "";
    d.made_from = "one snapshot";
    fill(&d, page);
    graphss_status st = arena.status;
    if (!st)
        graphss_i_format_html(&writer, &d);
    if (!st)
        st = arena.status;
    if (!st)
        st = graphss_i_writer_save(&writer, path);
    graphss_i_writer_done(&writer);
    graphss_i_arena_done(&arena);
    return st;
}
