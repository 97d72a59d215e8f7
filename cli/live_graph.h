/* live_graph.h - what watch and serve share: options of a live graph, and opening its store.
 */
#ifndef GRAPHSS_CLI_LIVE_GRAPH_H
#define GRAPHSS_CLI_LIVE_GRAPH_H

#include <graphss_store/store.h>

#include "cli.h"

typedef struct live_arguments {
    const char *store, *previous_model, *false_alarms, *expire, *trust_after, *groups;
    const char *webhook, *webhook_secret, *alertmanager;
    int64_t keep;
} live_arguments;

const graphss_option *live_arguments_table(void);
void live_arguments_defaults(void *options);
void live_options_defaults(void *options); /* of graphss_live_options */

/* The texts of `own` to the fields of opt. */
graphss_status live_take_options(
    cli *app, graphss_live_options *opt, const live_arguments *own);
/* The receivers of alerts. *secret is borrowed by `out` and freed by the caller. */
graphss_status live_take_receivers(
    cli *app, graphss_store_receivers *out, char **secret, const live_arguments *own);
/* The live graph of the store. If the store has none, makes one of the data and stores it.
 * data may be NULL: then the store must have one. */
graphss_status live_open(cli *app, graphss_live **live, graphss_store *store,
    const graphss_model *model, graphss_dataset *data, const live_arguments *own,
    const graphss_live_options *opt);
/* Warns if nothing is judged, or if each batch takes a whole pass. */
void live_warn(cli *app, const graphss_live *live);
/* Seconds since 1970. */
double live_now(void);

#endif
