/* cmd_plan.c - memory and time of a training on several ranks, before one rents the machines.
 */
#include <math.h>
#include <stddef.h>

#include "cli.h"

typedef struct plan_arguments {
    double nodes, edges, cut;
    int64_t features, hidden, classes, ranks, cores, epochs;
    double bandwidth;
    double words;
} plan_arguments;

#define FIELD(name) offsetof(plan_arguments, name)
static const graphss_option rows[] = {
    {"nodes", GRAPHSS_OPTION_REAL, FIELD(nodes), 1, 1e12, NULL, "N", "nodes of the graph", 0},
    {"edges", GRAPHSS_OPTION_REAL, FIELD(edges), 0, 1e13, NULL, "M", "its undirected edges",
        0},
    {"features", GRAPHSS_OPTION_INT, FIELD(features), 1, 1e9, NULL, "F", "features of a node",
        0},
    {"words", GRAPHSS_OPTION_REAL, FIELD(words), 0, 1e9, NULL, "N",
        "of these, those that are not 0 at a node; 0: dense features", 0},
    {"hidden", GRAPHSS_OPTION_INT, FIELD(hidden), 1, 65536, NULL, "H", "hidden units", 0},
    {"classes", GRAPHSS_OPTION_INT, FIELD(classes), 2, 1e6, NULL, "K", "classes", 0},
    {"ranks", GRAPHSS_OPTION_INT, FIELD(ranks), 1, 65536, NULL, "R", "ranks", 0},
    {"cut", GRAPHSS_OPTION_REAL, FIELD(cut), 0, 1, NULL, "SHARE",
        "share of the edges between parts, as printed by shard (default: 1 - 1 / R, no order)",
        0},
    {"cores", GRAPHSS_OPTION_INT, FIELD(cores), 1, 1024, NULL, "N", "cores of a rank", 0},
    {"bandwidth", GRAPHSS_OPTION_REAL, FIELD(bandwidth), 1e-3, 1e6, NULL, "GBIT",
        "of the network, per rank, in Gbit/s", 0},
    {"epochs", GRAPHSS_OPTION_INT, FIELD(epochs), 1, 1e6, NULL, "N", "epochs of the training",
        0},
    {0},
};

static const graphss_option *table_of(void)
{
    return rows;
}

static void defaults(void *options)
{
    *(plan_arguments *)options = (plan_arguments){.features = 64,
        .hidden = 64,
        .classes = 16,
        .ranks = 2,
        .cut = -1,
        .cores = 1,
        .bandwidth = 10,
        .epochs = 200};
}

/* Memory, work and traffic of a rank. */
typedef struct estimate {
    double nodes, ghosts;    /* of a rank */
    double memory;           /* bytes, at the peak of training */
    double halo;             /* bytes received in an epoch */
    double once;             /* including the edge before the first node */
    double compute, network; /* seconds an epoch */
} estimate;

/* Ghosts per own node. A neighbour is on another rank with the chance `cut`; of the R - 1
 * others each has it with the same chance, and a node is fetched once however many rows refer
 * to it: (R - 1) (1 - (1 - cut / (R - 1))^d). */
static double ghosts_of(double cut, double ranks, double degree)
{
    if (ranks < 2)
        return 0;
    const double others = ranks - 1;
    return others * (1 - pow(1 - fmin(cut / others, 1), degree));
}

/* docs/distributed.md derives it and compares it with measurements. */
static estimate estimate_of(const plan_arguments *a)
{
    enum { STRIP = 16 }; /* columns of a halo: GRAPHSS_I_HALO_STRIP */
    static const double dense_node = 1.7e-6, hidden_node = 6.2e-6; /* s, at these: */
    const double usual_hidden = 128, usual_degree = 18;
    const double n = a->nodes / (double)a->ranks, d = 2 * a->edges / a->nodes;
    const double cut = a->cut < 0 ? 1 - 1 / (double)a->ranks : a->cut;
    const double g = ghosts_of(cut, (double)a->ranks, d), f = (double)a->features;
    const double h = (double)a->hidden, k = (double)a->classes;
    const bool dense = a->words == 0;
    /* Features as read and as propagated; rows of the graph, plain and with loops and values;
     * two matrices of hidden units (four where features are sparse) and two of logits; the
     * halo's rooms; labels of all nodes.
     */
    const double features = dense ? 8 * f : 20 * a->words;
    const double graph = 4 * d + 8 + 8 * (d + 1) + 8;
    const double room = 4 * STRIP * (2 + 2 * g) + 12 * (1 + g);
    estimate e = {.nodes = n, .ghosts = g * n};
    e.memory = n * (features + graph + (dense ? 8 : 16) * h + 8 * k + room) + 12 * a->nodes;
    e.halo = 8 * n * g * (k + (dense ? 0 : h));
    e.once = dense ? 4 * n * g * f : 0;
    e.compute = n *
                (dense ? dense_node * h / usual_hidden
                       : hidden_node * (h / usual_hidden) * ((d + 1) / (usual_degree + 1))) /
                (double)a->cores;
    e.network = e.halo * 8 / (a->bandwidth * 1e9);
    return e;
}

static void show(const plan_arguments *a, const estimate *e)
{
    printf("Rank     %.3g nodes and %.3g of other ranks\n", e->nodes, e->ghosts);
    printf("Memory   %.2f GB a rank, %.2f GB in all\n", e->memory / 1e9,
        e->memory * (double)a->ranks / 1e9);
    printf("Halo     %.3g MB a rank and epoch, %.3g MB before the first\n", e->halo / 1e6,
        e->once / 1e6);
    printf(
        "Time     at least %.3g s an epoch (%.3g s of work, %.3g s of network), %.3g min for "
        "%lld epochs\n",
        e->compute + e->network, e->compute, e->network,
        (e->compute + e->network) * (double)a->epochs / 60, (long long)a->epochs);
}

static void fill(cli *app, const estimate *e)
{
    const struct {
        const char *key;
        double value;
    } field[] = {{"rank_nodes", e->nodes}, {"rank_ghosts", e->ghosts},
        {"rank_memory_bytes", e->memory}, {"rank_halo_bytes", e->halo},
        {"rank_halo_bytes_once", e->once}, {"seconds_compute", e->compute},
        {"seconds_network", e->network}};
    for (size_t i = 0; i < sizeof field / sizeof *field; i++)
        cli_json_set(app->json, field[i].key, cli_json_real(field[i].value));
}

static graphss_status run(cli *app)
{
    plan_arguments a;
    defaults(&a);
    const graphss_status st = cli_apply(app, 0, &a);
    if (st)
        return st;
    if (!cli_given(app, "nodes") || !cli_given(app, "edges"))
        return cli_usage(app, "plan: want --nodes N and --edges M");
    if (a.ranks > a.nodes)
        return cli_usage(app, "plan: %lld ranks for %g nodes, want at least one for each",
            (long long)a.ranks, a.nodes);
    const estimate e = estimate_of(&a);
    if (app->json)
        fill(app, &e);
    else
        show(&a, &e);
    return GRAPHSS_OK;
}

const cli_command cli_plan = {
    .name = "plan",
    .arguments = "--nodes N --edges M [--features F] [--ranks R]",
    .summary = "Estimate memory and time of a training on several ranks",
    .about = "docs/distributed.md explains the model and compares it with measurements. "
             "Memory and bytes are estimates; times are lower bounds: the cost of a node was "
             "measured on one machine, and no network was.\n",
    .examples = "plan --nodes 1e9 --edges 1e10 --features 64 --ranks 16 --cores 32 "
                "--bandwidth 100\n"
                "plan --nodes 4e6 --edges 4e7 --features 500 --words 20 --ranks 4 --cut 0.2\n",
    .group = {{"Options", table_of, sizeof(plan_arguments), defaults}},
    .run = run,
};
