/* communities.c - groups of nodes with more edges inside than chance would put there.
 *
 * The first phase of the Louvain method (Blondel, Guillaume, Lambiotte, Lefebvre, 2008): each
 * node begins alone and moves to the community of a neighbour for which
 *     links(v, c) - degree(v) total(c) / (2 m)
 * is greatest, total(c) being the degrees in c without v, until few move. Communities stay
 * small, which suits groups that are to be judged. Nodes are visited in the order of a hash of
 * their number, so the result depends little on the order of a file and needs no seed. */
#include "base/base.h"
#include <graphss/graph.h>
#include <stdlib.h>

enum { ROUNDS = 20 };
static const double FEW = 0.001; /* share of the nodes that moved in the last round */

typedef struct placed {
    uint32_t hash;
    int32_t node;
} placed;

static int by_hash(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    return x->hash != y->hash ? (x->hash > y->hash) - (x->hash < y->hash) : x->node - y->node;
}

typedef struct room {
    placed *order;  /* [n] */
    double *total;  /* [n] degrees in a community */
    double *links;  /* [n] edges from the present node to a community, else 0 */
    int32_t *found; /* [n] communities of its neighbours */
} room;

/* The community node v belongs to, by the rule above; of equals its own, then the first. */
static int32_t best_of(
    const room *r, const graphss_graph *g, const int32_t *community, size_t v, double twice)
{
    const double degree = (double)graphss_graph_degree(g, v);
    const int32_t own = community[v];
    size_t n = 0;
    int32_t best = own;
    for (int64_t e = g->offset[v]; e < g->offset[v + 1]; e++) {
        const int32_t c = community[g->target[e]];
        if (r->links[c] == 0)
            r->found[n++] = c;
        r->links[c] += 1;
    }
    double most = r->links[own] - degree * (r->total[own] - degree) / twice;
    for (size_t i = 0; i < n; i++) {
        const int32_t c = r->found[i];
        const double gain = r->links[c] - degree * r->total[c] / twice;
        if (c != own && gain > most + 1e-9) {
            most = gain;
            best = c;
        }
    }
    for (size_t i = 0; i < n; i++)
        r->links[r->found[i]] = 0;
    return best;
}

static void find(int32_t *community, room *r, const graphss_graph *g)
{
    const size_t n = g->n_nodes;
    const double twice = (double)g->offset[n];
    for (size_t v = 0; v < n; v++) {
        community[v] = (int32_t)v;
        r->total[v] = (double)graphss_graph_degree(g, v);
        r->order[v] = (placed){(uint32_t)v * 2654435761u, (int32_t)v};
    }
    qsort(r->order, n, sizeof *r->order, by_hash);
    for (size_t round = 0; round < ROUNDS; round++) {
        size_t moved = 0;
        for (size_t i = 0; i < n; i++) {
            const size_t v = (size_t)r->order[i].node;
            const double degree = (double)graphss_graph_degree(g, v);
            const int32_t to = degree > 0 ? best_of(r, g, community, v, twice) : community[v];
            if (to == community[v])
                continue;
            r->total[community[v]] -= degree;
            r->total[to] += degree;
            community[v] = to;
            moved++;
        }
        if ((double)moved <= FEW * (double)n)
            break;
    }
}

/* Numbers 0, 1, 2 ... in the order of first nodes. name [n] is scratch. */
static size_t renumber(int32_t *community, int32_t *name, size_t n)
{
    size_t count = 0;
    for (size_t v = 0; v < n; v++)
        name[v] = -1;
    for (size_t v = 0; v < n; v++) {
        int32_t *own = &name[community[v]];
        if (*own < 0)
            *own = (int32_t)count++;
        community[v] = *own;
    }
    return count;
}

graphss_status graphss_graph_communities(
    graphss_ctx *ctx, int32_t *community, size_t *count, const graphss_graph *graph)
{
    if (GRAPHSS_I_LACKS(ctx, {"graph", graph}, {"place for their number", count},
            {"place for the communities",
                GRAPHSS_I_FILLED(community, graph ? graph->n_nodes : 0)}))
        return GRAPHSS_ERR_INVALID;
    graphss_status st = graphss_graph_check(ctx, graph);
    if (st)
        return st;
    const size_t n = graph->n_nodes;
    room r = {.order = graphss_i_alloc(ctx, n, sizeof *r.order),
        .total = graphss_i_alloc(ctx, n, sizeof *r.total),
        .links = graphss_i_calloc(ctx, n, sizeof *r.links),
        .found = graphss_i_alloc(ctx, n, sizeof *r.found)};
    st = r.order && r.total && r.links && r.found ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    if (!st) {
        find(community, &r, graph);
        *count = renumber(community, r.found, n);
    }
    graphss_release(ctx, r.found);
    graphss_release(ctx, r.links);
    graphss_release(ctx, r.total);
    graphss_release(ctx, r.order);
    return st;
}
