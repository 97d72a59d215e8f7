/* snapshot_page.h - the page of --report: what `alert` or `recover` found in a snapshot, for
 * readers who did not run it. */
#ifndef GRAPHSS_CLI_SNAPSHOT_PAGE_H
#define GRAPHSS_CLI_SNAPSHOT_PAGE_H

#include "snapshot_pair.h"
#include <graphss_lab/report.h>

/* The changes of a node since the previous snapshot, in sentences. */

/* {0} is empty. Borrows the pair of snapshots. */
typedef struct cli_node_changes {
    const graphss_dataset *now, *then; /* then NULL, since there is no past */
    int32_t *match;                    /* [nodes now] their numbers then, -1: new */
    int32_t *back;                     /* [nodes then] their numbers now, -1: gone */
} cli_node_changes;

graphss_status cli_node_changes_open(
    cli *app, cli_node_changes *c, const cli_snapshot_pair *s);
/* Writes at most four sentences, each freed by free; returns how many. None without a past. */
enum { CLI_REASONS_MOST = 4 };
size_t cli_node_changes_tell(
    const cli_node_changes *c, int32_t node, char *reason[CLI_REASONS_MOST]);
void cli_node_changes_close(cli *app, cli_node_changes *c);

enum { CLI_PAGE_NODES = 200 }; /* listed at most */

/* Lines and nodes as they come; texts are its own. {0} is empty. */
typedef struct cli_page {
    graphss_page page;
    graphss_page_line *line[3]; /* Collects lines and nodes; owns their texts. {0} is empty. */
    size_t count[3], room[3];
    graphss_page_node *node;
    size_t n_nodes, nodes_room;
    const char **unseen;
    size_t n_unseen, unseen_room;
    char **text; /* everything that is to be freed */
    size_t n_texts, texts_room;
} cli_page;

typedef enum cli_page_list {
    CLI_PAGE_FACTS,
    CLI_PAGE_CHANGES,
    CLI_PAGE_SETTINGS
} cli_page_list;

/* All take over `text`, made by cli_format. */
const char *cli_page_keep(cli_page *p, char *text);
void cli_page_line(cli_page *p, cli_page_list list, const char *name, char *text);
void cli_page_unseen(cli_page *p, char *text);
/* A node with the reasons of `changes`, and evidence unless NULL, which it takes over; label
 * and before as in graphss_page_node. */
void cli_page_node(cli_page *p, const cli_node_changes *changes, int32_t node,
    double perturbed, double p_value, const char *label, const char *before, char *evidence);
/* Settings by the names of a table of options. */
void cli_page_options(cli_page *p, const void *options, const graphss_option *table);
/* Adds what every page has: the files, what was cleaned in reading them, seed and version. */
void cli_page_snapshots(cli *app, cli_page *p, const cli_snapshot_pair *s, const char *model,
    const char *current, const char *previous);
graphss_status cli_page_write(cli *app, cli_page *p, const char *path);
void cli_page_done(cli_page *p);

#endif
