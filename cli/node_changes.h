/* node_changes.h - what changed at a node since the previous snapshot, in sentences. */
#ifndef GRAPHSS_CLI_NODE_CHANGES_H
#define GRAPHSS_CLI_NODE_CHANGES_H

#include "snapshot_pair.h"

/* {0} is empty. Borrows the pair of snapshots. */
typedef struct cli_node_changes {
    const graphss_dataset *now, *then; /* then NULL: there is no past */
    int32_t *match;                    /* [nodes now] their numbers then, -1: new */
    int32_t *back;                     /* [nodes then] their numbers now, -1: gone */
} cli_node_changes;

graphss_status cli_node_changes_open(
    cli *app, cli_node_changes *c, const cli_snapshot_pair *s);
/* At most four sentences, each freed by free; how many. None without a past. */
enum { CLI_REASONS_MOST = 4 };
size_t cli_node_changes_tell(
    const cli_node_changes *c, int32_t node, char *reason[CLI_REASONS_MOST]);
void cli_node_changes_close(cli *app, cli_node_changes *c);

#endif
