/* match.c - the same node in two snapshots, by name. */
#include "data/build.h"
#include "graph/rows.h"
#include "observation/observation.h"
#include <graphss/recover.h>
#include <string.h>

/* Limits on the share of nodes in both snapshots with other edges and other features; above
 * them one snapshot is of another graph or in another order. */
static const double STRANGERS = 0.8;

static const char *node_name(const graphss_observation *o, size_t i, char buffer[24])
{
    if (o->names && o->names->count)
        return graphss_names_get(o->names, i);
    snprintf(buffer, 24, "%zu", i);
    return buffer;
}

static graphss_status check_names(graphss_ctx *ctx, const graphss_observation *o)
{
    if (o->names && o->names->count && o->names->count != o->graph->n_nodes)
        return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE, "%zu node names, a graph of %zu nodes",
            o->names->count, o->graph->n_nodes);
    return GRAPHSS_OK;
}

graphss_observation graphss_dataset_observe(const graphss_dataset *data)
{
    return (graphss_observation){&data->graph, &data->features, &data->node_names};
}

graphss_status graphss_observation_match(graphss_ctx *ctx, int32_t **match,
    const graphss_observation *to, const graphss_observation *from)
{
    if (GRAPHSS_I_LACKS(ctx, {"snapshot", to}, {"snapshot to match", from},
            {"place for the match", match}) ||
        GRAPHSS_I_LACKS(ctx, {"graph", to->graph}, {"graph to match", from->graph}))
        return GRAPHSS_ERR_INVALID;
    graphss_dataset shell = {.graph = *from->graph}; /* what an index looks at */
    graphss_node_index *index = NULL;
    char buffer[24];

    graphss_status st = check_names(ctx, to);
    if (!st)
        st = check_names(ctx, from);
    if (st)
        return st;
    if (from->names)
        shell.node_names = *from->names;
    int32_t *made = graphss_i_alloc(ctx, to->graph->n_nodes, sizeof *made);
    if (!made)
        return GRAPHSS_ERR_NOMEM;
    st = graphss_node_index_new(ctx, &index, &shell);
    if (st) {
        graphss_release(ctx, made);
        return st;
    }
    for (size_t i = 0; i < to->graph->n_nodes; i++)
        made[i] = (int32_t)graphss_node_index_find(index, node_name(to, i, buffer));
    graphss_node_index_free(ctx, index);
    *match = made;
    return GRAPHSS_OK;
}

static bool has_names(const graphss_observation *o)
{
    return o->names && o->names->count;
}

/* Nodes without names are called 0, 1, 2 ... If only one side has names, they are read as such
 * numbers if all of one side are then found in the other; else position counts. */
static graphss_status match_known(graphss_ctx *ctx, int32_t **match,
    const graphss_observation *to, const graphss_observation *from, size_t *found)
{
    const size_t n = to->graph->n_nodes, m = from->graph->n_nodes;
    const graphss_status st = graphss_observation_match(ctx, match, to, from);
    if (st)
        return st;
    *found = 0;
    for (size_t i = 0; i < n; i++)
        *found += (*match)[i] >= 0;
    if (has_names(to) == has_names(from) || *found == (n < m ? n : m))
        return GRAPHSS_OK;
    if (n == m) {
        for (size_t i = 0; i < n; i++)
            (*match)[i] = (int32_t)i;
        *found = n;
        return GRAPHSS_OK;
    }
    graphss_release(ctx, *match);
    *match = NULL;
    return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
        "%s nodes have names and %s have none, and the node counts differ (%zu and %zu), so "
        "nodes cannot be matched",
        has_names(to) ? "these" : "the earlier", has_names(to) ? "the earlier" : "these", n,
        m);
}

graphss_status graphss_i_match_trained(graphss_ctx *ctx, int32_t **number,
    const graphss_model *model, const graphss_observation *current)
{
    const size_t n = current->graph->n_nodes;
    size_t found;
    const graphss_graph known = {.n_nodes = graphss_model_nodes(model)};
    const graphss_observation from = {
        .graph = &known, .names = graphss_model_node_names(model)};
    int32_t *match = NULL;
    graphss_status st = GRAPHSS_OK;
    if (known.n_nodes && has_names(&from) && has_names(current))
        st = match_known(ctx, &match, current, &from, &found);
    else if (!(match = graphss_i_alloc(ctx, n, sizeof *match)))
        st = GRAPHSS_ERR_NOMEM;
    else
        for (size_t i = 0; i < n; i++)
            match[i] = (int32_t)i;
    for (size_t i = 0; i < n && !st; i++)
        if (match[i] < 0)
            match[i] = (int32_t)i;
    if (!st)
        *number = match;
    return st;
}

graphss_status graphss_split_match(graphss_ctx *ctx, graphss_split *out,
    const graphss_model *model, const graphss_observation *current)
{
    if (GRAPHSS_I_LACKS(
            ctx, {"model", model}, {"snapshot", current}, {"place for the split", out}) ||
        GRAPHSS_I_LACKS(ctx, {"graph", current->graph}))
        return GRAPHSS_ERR_INVALID;
    const graphss_split *own = graphss_model_split(model);
    const size_t n = current->graph->n_nodes;
    if (graphss_model_nodes(model) == 0) {
        const graphss_status fits = graphss_i_split_check(ctx, own, n);
        return fits ? fits : graphss_split_copy(ctx, out, own);
    }
    const graphss_graph known = {.n_nodes = graphss_model_nodes(model)};
    const graphss_observation from = {
        .graph = &known, .names = graphss_model_node_names(model)};
    int32_t *match = NULL;
    size_t found = 0;
    graphss_status st = match_known(ctx, &match, current, &from, &found);
    if (!st)
        st = graphss_split_translate(ctx, out, own, match, n);
    graphss_release(ctx, match);
    if (!st && out->n_train == 0 && own->n_train) {
        char buffer[24], other[24];
        graphss_split_destroy(ctx, out);
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "none of the %zu nodes the model was trained with is in the "
            "snapshot: its first node is called '%.80s', the model's '%.80s'",
            own->n_train, n ? node_name(current, 0, buffer) : "", node_name(&from, 0, other));
    }
    return st;
}

graphss_status graphss_i_match_inverse(graphss_ctx *ctx, int32_t **after,
    const int32_t *before, const graphss_observation *now, const graphss_observation *past)
{
    char buffer[24], other[24];
    const size_t n = now->graph->n_nodes, m = past->graph->n_nodes;
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += before[i] >= 0;
    if (found == 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "no node is in both snapshots: the first is called '%.80s' now, "
            "'%.80s' in the previous one",
            n ? node_name(now, 0, buffer) : "", m ? node_name(past, 0, other) : "");
    if (!after)
        return GRAPHSS_OK;
    int32_t *made = graphss_i_alloc(ctx, m, sizeof *made);
    if (!made)
        return GRAPHSS_ERR_NOMEM;
    memset(made, -1, m * sizeof *made);
    for (size_t i = n; i-- > 0;) /* the first of two nodes with the same name */
        if (before[i] >= 0)
            made[before[i]] = (int32_t)i;
    *after = made;
    return GRAPHSS_OK;
}

graphss_status graphss_i_match_past(graphss_ctx *ctx, int32_t **before, int32_t **after,
    const graphss_observation *now, const graphss_observation *past)
{
    size_t found = 0;
    graphss_status st = match_known(ctx, before, now, past, &found);
    if (st)
        return st;
    st = graphss_i_match_inverse(ctx, after, *before, now, past);
    if (st) {
        graphss_release(ctx, *before);
        *before = NULL;
    }
    return st;
}

/* Number of non-zero entries, in sparse or dense storage. */
static bool same_entries(graphss_i_row a, graphss_i_row b)
{
    size_t i = 0, j = 0;
    if (!a.column == !b.column)
        return graphss_i_row_same(a, b);
    for (;; i++, j++) {
        while (i < a.n && a.value[i] == 0)
            i++;
        while (j < b.n && b.value[j] == 0)
            j++;
        if (i == a.n || j == b.n)
            return i == a.n && j == b.n;
        if (graphss_i_row_at(a, i) != graphss_i_row_at(b, j) || a.value[i] != b.value[j])
            return false;
    }
}

bool graphss_i_unchanged(const graphss_observation *now, const graphss_observation *past,
    const int32_t *before, size_t node)
{
    const graphss_graph *g = now->graph;
    const int32_t was = before[node];
    if (was < 0 ||
        graphss_graph_degree(g, node) != graphss_graph_degree(past->graph, (size_t)was))
        return false;
    for (int64_t e = g->offset[node]; e < g->offset[node + 1]; e++) {
        const int32_t u = before[g->target[e]];
        if (u < 0 || !graphss_graph_has_edge(past->graph, was, u))
            return false;
    }
    return same_entries(
        graphss_i_row_of(now->features, node), graphss_i_row_of(past->features, (size_t)was));
}

static bool same_targets(const graphss_graph *a, const graphss_graph *b, size_t node)
{
    const size_t degree = graphss_graph_degree(a, node);
    return degree == graphss_graph_degree(b, node) &&
           (degree == 0 || !memcmp(a->target + a->offset[node], b->target + b->offset[node],
                               degree * sizeof *a->target));
}

/* No names, or each is the number of its node, as in files converted from such without. */
static bool goes_by_number(const graphss_observation *o)
{
    char number[24];
    for (size_t i = 0; has_names(o) && i < o->names->count; i++) {
        snprintf(number, sizeof number, "%zu", i);
        if (strcmp(number, graphss_names_get(o->names, i)) != 0)
            return false;
    }
    return true;
}

void graphss_i_warn_of_strangers(
    graphss_ctx *ctx, const graphss_observation *now, const graphss_observation *past)
{
    const size_t n = now->graph->n_nodes, m = past->graph->n_nodes, known = n < m ? n : m;
    const double spared = (1 - STRANGERS) * (double)known;
    size_t same = 0;
    for (size_t i = 0; i < known && (double)same < spared; i++)
        same += same_targets(now->graph, past->graph, i) ||
                same_entries(
                    graphss_i_row_of(now->features, i), graphss_i_row_of(past->features, i));
    if ((double)same < spared && goes_by_number(now) && goes_by_number(past))
        graphss_i_log(ctx, GRAPHSS_LOG_WARN,
            "%zu of %zu nodes have other links and other features than in the "
            "previous snapshot: they go by number, which is wrong unless both "
            "snapshots are of one graph and in the same order",
            known - same, known);
}

/* Keeps the nodes of a list that have a new number. Lists are nodes with labels or NULL. */
static graphss_status translate(graphss_ctx *ctx, int32_t **node_out, int32_t **label_out,
    size_t *n_out, const int32_t *node, const int32_t *label, size_t n, const int32_t *number,
    size_t n_numbers)
{
    size_t kept = 0;
    *node_out = graphss_i_alloc(ctx, n, sizeof **node_out);
    if (!*node_out)
        return GRAPHSS_ERR_NOMEM;
    if (label) {
        *label_out = graphss_i_alloc(ctx, n, sizeof **label_out);
        if (!*label_out)
            return GRAPHSS_ERR_NOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        const int32_t at = node[i] >= 0 && (size_t)node[i] < n_numbers ? number[node[i]] : -1;
        if (at < 0)
            continue;
        (*node_out)[kept] = at;
        if (label)
            (*label_out)[kept] = label[i];
        kept++;
    }
    *n_out = kept;
    return GRAPHSS_OK;
}

graphss_status graphss_split_translate(graphss_ctx *ctx, graphss_split *out,
    const graphss_split *split, const int32_t *match, size_t n)
{
    if (GRAPHSS_I_LACKS(ctx, {"split", split}, {"match", GRAPHSS_I_FILLED(match, n)},
            {"place for the split", out}))
        return GRAPHSS_ERR_INVALID;
    graphss_split made = {.n_flipped = split->n_flipped};
    size_t n_numbers = 0;
    for (size_t i = 0; i < n; i++)
        if (match[i] >= 0 && (size_t)match[i] >= n_numbers)
            n_numbers = (size_t)match[i] + 1;
    int32_t *number = graphss_i_alloc(ctx, n_numbers, sizeof *number); /* from -> to */
    if (!number)
        return GRAPHSS_ERR_NOMEM;
    memset(number, -1, n_numbers * sizeof *number);
    for (size_t i = n; i-- > 0;) /* the first of two nodes with one name */
        if (match[i] >= 0)
            number[match[i]] = (int32_t)i;

    graphss_status st = translate(ctx, &made.train, &made.train_label, &made.n_train,
        split->train, split->train_label, split->n_train, number, n_numbers);
    if (!st)
        st = translate(ctx, &made.val, &made.val_label, &made.n_val, split->val,
            split->val_label, split->n_val, number, n_numbers);
    if (!st)
        st = translate(ctx, &made.test, NULL, &made.n_test, split->test, NULL, split->n_test,
            number, n_numbers);
    graphss_release(ctx, number);
    if (st)
        graphss_split_destroy(ctx, &made);
    else
        *out = made;
    return st;
}
