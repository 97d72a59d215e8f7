/* edge_extras.c - types and dates of edges. The library ignores them, so a notice tells the
 * user that they are there, and how many. */
#include "data/files/edge_extras.h"
#include <string.h>

enum { VALUES_MOST = 32 };

void graphss_i_edge_extras_name(
    graphss_i_edge_extras *e, size_t column, const char *name, size_t length)
{
    const size_t i = e->count++;
    if (i >= GRAPHSS_I_EXTRAS_NAMED)
        return;
    e->item[i].column = column;
    snprintf(e->item[i].name, sizeof e->item[i].name, "%.*s", (int)(length < 60 ? length : 60),
        name);
}

void graphss_i_edge_extras_header(graphss_i_edge_extras *e, const graphss_i_csv *header,
    int64_t from, int64_t to, int64_t weight)
{
    for (size_t c = 0; c < header->count; c++) {
        const int64_t at = (int64_t)c;
        if (at != from && at != to && at != weight && header->field[c].length)
            graphss_i_edge_extras_name(e, c, header->field[c].text, header->field[c].length);
    }
}

graphss_status graphss_i_edge_extras_value(
    graphss_ctx *ctx, graphss_i_edge_extras *e, size_t i, const char *text, size_t length)
{
    size_t value = 0;
    if (e->item[i].many || length == 0)
        return GRAPHSS_OK;
    const graphss_status st =
        graphss_i_intern_add(ctx, &value, NULL, &e->item[i].values, text, length);
    e->item[i].many = value >= VALUES_MOST;
    return st;
}

graphss_status graphss_i_edge_extras_record(
    graphss_ctx *ctx, graphss_i_edge_extras *e, const graphss_i_csv *record, int64_t weight)
{
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < e->count && i < GRAPHSS_I_EXTRAS_NAMED && !st; i++) {
        const size_t c = e->item[i].column;
        const graphss_i_csv_field *field = c < record->count ? &record->field[c] : NULL;
        double number = 0;
        if (field && ((int64_t)c != weight ||
                         !graphss_i_parse_double(&number, field->text, field->length)))
            st = graphss_i_edge_extras_value(ctx, e, i, field->text, field->length);
    }
    return st;
}

void graphss_i_edge_extras_tell(
    graphss_ctx *ctx, const graphss_i_edge_extras *e, const char *file)
{
    char list[512] = "";
    size_t used = 0, named = 0;
    for (size_t i = 0; i < e->count && i < GRAPHSS_I_EXTRAS_NAMED; i++) {
        const size_t values = e->item[i].values.list.count;
        if (values == 0)
            continue;
        named++;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s'%s' (%s%zu value%s)",
            used ? ", " : "", e->item[i].name, e->item[i].many ? "more than " : "",
            e->item[i].many ? (size_t)VALUES_MOST : values, values == 1 ? "" : "s");
    }
    if (e->count > GRAPHSS_I_EXTRAS_NAMED)
        snprintf(list + used, sizeof list - used, " and %zu more",
            e->count - GRAPHSS_I_EXTRAS_NAMED);
    if (named)
        graphss_i_log(ctx, GRAPHSS_LOG_NOTICE,
            "%s: %s of edges %s not used: all edges count alike", file, list,
            named == 1 ? "is" : "are");
}

void graphss_i_edge_extras_destroy(graphss_ctx *ctx, graphss_i_edge_extras *e)
{
    for (size_t i = 0; i < GRAPHSS_I_EXTRAS_NAMED; i++)
        graphss_i_intern_destroy(ctx, &e->item[i].values);
    *e = (graphss_i_edge_extras){0};
}

/* What edges.csv and edge lists do alike once a line is parsed. */
graphss_status graphss_i_edge_pairs_add(
    graphss_ctx *ctx, graphss_i_edge_pairs *pairs, int32_t from, int32_t to, double weight)
{
    if (weight == 0) {
        pairs->zeros++;
        return GRAPHSS_OK;
    }
    pairs->weighted += weight != 1;
    if (pairs->count == pairs->room) {
        const size_t room = pairs->room ? 2 * pairs->room : 1024;
        void *more = graphss_i_grow(ctx, pairs->from, pairs->count, room, sizeof *pairs->from);
        if (!more)
            return GRAPHSS_ERR_NOMEM;
        pairs->from = more;
        more = graphss_i_grow(ctx, pairs->to, pairs->count, room, sizeof *pairs->to);
        if (!more)
            return GRAPHSS_ERR_NOMEM;
        pairs->to = more;
        pairs->room = room;
    }
    pairs->from[pairs->count] = from;
    pairs->to[pairs->count++] = to;
    return GRAPHSS_OK;
}

graphss_status graphss_i_edge_pairs_build(graphss_ctx *ctx, graphss_graph *out,
    graphss_cleaning *cleaned, const graphss_i_edge_pairs *pairs, size_t n_nodes)
{
    const graphss_status st =
        graphss_graph_build(ctx, out, cleaned, n_nodes, pairs->from, pairs->to, pairs->count);
    if (st == GRAPHSS_OK) {
        cleaned->zeros = pairs->zeros;
        cleaned->weighted = pairs->weighted;
    }
    return st;
}

void graphss_i_edge_pairs_destroy(graphss_ctx *ctx, graphss_i_edge_pairs *pairs)
{
    graphss_release(ctx, pairs->to);
    graphss_release(ctx, pairs->from);
    *pairs = (graphss_i_edge_pairs){0};
}
