/* snapshot_page.c - see snapshot_page.h. The library lays the page out; this finds the words.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "snapshot_page.h"

/* Room for one more: the block, perhaps a larger one. */
static void *room_for_one(void *block, size_t n, size_t *room, size_t size)
{
    if (n < *room)
        return block;
    const size_t more = *room ? 2 * *room : 16;
    void *grown = cli_alloc(more, size);
    if (n)
        memcpy(grown, block, n * size);
    free(block);
    *room = more;
    return grown;
}

const char *cli_page_keep(cli_page *p, char *text)
{
    p->text = room_for_one(p->text, p->n_texts, &p->texts_room, sizeof *p->text);
    p->text[p->n_texts++] = text;
    return text;
}

void cli_page_line(cli_page *p, cli_page_list list, const char *name, char *text)
{
    p->line[list] =
        room_for_one(p->line[list], p->count[list], &p->room[list], sizeof *p->line[list]);
    p->line[list][p->count[list]++] =
        (graphss_page_line){cli_page_keep(p, cli_format("%s", name)), cli_page_keep(p, text)};
}

void cli_page_unseen(cli_page *p, char *text)
{
    p->unseen = room_for_one(p->unseen, p->n_unseen, &p->unseen_room, sizeof *p->unseen);
    p->unseen[p->n_unseen++] = cli_page_keep(p, text);
}

void cli_page_node(cli_page *p, const cli_node_changes *changes, int32_t node,
    double perturbed, double p_value, const char *label, const char *before, char *evidence)
{
    char buffer[24], *found[CLI_REASONS_MOST];
    if (p->n_nodes == CLI_PAGE_NODES) {
        p->page.nodes_more++;
        free(evidence);
        return;
    }
    size_t n = cli_node_changes_tell(changes, node, found);
    const char **reason = cli_alloc(CLI_REASONS_MOST + 1, sizeof *reason);
    cli_page_keep(p, (char *)reason); /* freed with the texts */
    for (size_t i = 0; i < n; i++)
        reason[i] = cli_page_keep(p, found[i]);
    if (evidence)
        reason[n++] = cli_page_keep(p, evidence);
    p->node = room_for_one(p->node, p->n_nodes, &p->nodes_room, sizeof *p->node);
    p->node[p->n_nodes++] = (graphss_page_node){
        .name = cli_page_keep(
            p, cli_format("%s", cli_name_at(&changes->now->node_names, (size_t)node, buffer))),
        .perturbed = perturbed,
        .p_value = p_value,
        .label = label ? cli_page_keep(p, cli_format("%s", label)) : NULL,
        .before = before ? cli_page_keep(p, cli_format("%s", before)) : NULL,
        .reason = reason,
        .n_reasons = n};
}

void cli_page_options(cli_page *p, const void *options, const graphss_option *table)
{
    for (const graphss_option *row = table; row->name; row++) {
        char text[256];
        graphss_option_text(text, sizeof text, options, row);
        cli_page_line(p, CLI_PAGE_SETTINGS, row->name, cli_format("%s", text));
    }
}

void cli_page_snapshots(cli *app, cli_page *p, const cli_snapshot_pair *s, const char *model,
    const char *current, const char *previous)
{
    const graphss_dataset *data = &s->current;
    const graphss_cleaning *c = &data->cleaned;
    char when[64] = "";
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        strftime(when, sizeof when, ", %Y-%m-%d %H:%M UTC", &utc);
    p->page.lead = cli_page_keep(
        p, cli_format("%s: %zu nodes, %zu edges, judged with %s%s", data->name,
               data->graph.n_nodes, graphss_graph_edges(&data->graph), model, when));
    if (!previous) {
        p->page.change_note =
            "There was no previous snapshot to compare with (--previous), so what changed, "
            "and "
            "at which nodes, cannot be told; small attacks are harder to see.";
        cli_page_unseen(p, cli_format("The past: no previous snapshot was given."));
    }
    cli_page_unseen(p, cli_format("Labels in the snapshot: the verdict rests on edges and "
                                  "features alone."));
    if (c->weighted || c->directed)
        cli_page_unseen(
            p, cli_format("Direction and weight of edges: %lld one-way edges count "
                          "as mutual, %lld weights are dropped.",
                   (long long)c->directed, (long long)c->weighted));
    for (size_t i = 0; i < json_array_size(app->warnings); i++)
        cli_page_unseen(
            p, cli_format("%s", json_string_value(json_array_get(app->warnings, i))));
    for (size_t i = 0; i < json_array_size(app->notices); i++)
        cli_page_unseen(
            p, cli_format("%s", json_string_value(json_array_get(app->notices, i))));
    cli_page_line(p, CLI_PAGE_SETTINGS, "model", cli_format("%s", model));
    cli_page_line(p, CLI_PAGE_SETTINGS, "current", cli_format("%s", current));
    cli_page_line(p, CLI_PAGE_SETTINGS, "hash of current", cli_format("%s", data->hash));
    if (previous) {
        cli_page_line(p, CLI_PAGE_SETTINGS, "previous", cli_format("%s", previous));
        cli_page_line(
            p, CLI_PAGE_SETTINGS, "hash of previous", cli_format("%s", s->previous.hash));
    }
    cli_page_line(
        p, CLI_PAGE_SETTINGS, "seed", cli_format("%lld", (long long)app->global.seed));
    cli_page_line(
        p, CLI_PAGE_SETTINGS, "version", cli_format("graphss %s", graphss_version()));
}

graphss_status cli_page_write(cli *app, cli_page *p, const char *path)
{
    p->page.fact = p->line[CLI_PAGE_FACTS];
    p->page.n_facts = p->count[CLI_PAGE_FACTS];
    p->page.change = p->line[CLI_PAGE_CHANGES];
    p->page.n_changes = p->count[CLI_PAGE_CHANGES];
    p->page.setting = p->line[CLI_PAGE_SETTINGS];
    p->page.n_settings = p->count[CLI_PAGE_SETTINGS];
    p->page.node = p->node;
    p->page.n_nodes = p->n_nodes;
    p->page.unseen = p->unseen;
    p->page.n_unseen = p->n_unseen;
    return graphss_page_write(app->ctx, &p->page, path);
}

void cli_page_done(cli_page *p)
{
    for (size_t i = 0; i < p->n_texts; i++)
        free(p->text[i]);
    for (size_t i = 0; i < 3; i++)
        free(p->line[i]);
    free(p->text);
    free(p->node);
    free((void *)p->unseen);
    *p = (cli_page){0};
}
