/* edge_list.c - two ids a line and perhaps a weight: the least a graph can come as.
 *
 * Ids are interned as text, so any string will do. When the strings turn out to be exactly
 * 0, 1 ... n-1 they are taken for the numbers they are; otherwise they become names, and
 * nodes are numbered in order of first sight. */
#include "data/build.h"
#include "data/edge_pairs.h"
#include "data/readers.h"
#include <math.h>
#include <string.h>

/* What reading costs in memory for each byte of the file, at most: a line of four bytes
 * makes a pair of eight and two interned ids, all in arrays that double. */
enum { MEMORY_PER_BYTE = 16 };

static graphss_status read_line(graphss_ctx *ctx, const graphss_i_csv *csv,
                                graphss_i_edge_pairs *pairs, graphss_i_intern *ids)
{
    if (csv->count < 2)
        return graphss_i_csv_fail(ctx, csv, &csv->field[0], "two ids on a line");
    int32_t end[2];
    for (size_t i = 0; i < 2; i++) {
        const graphss_i_csv_field *field = &csv->field[i];
        size_t index = 0;
        if (field->length == 0)
            return graphss_i_csv_fail(ctx, csv, field, "the id of a node");
        const graphss_status st =
            graphss_i_intern_add(ctx, &index, NULL, ids, field->text, field->length);
        if (st)
            return st;
        if (index >= INT32_MAX)
            return graphss_i_csv_fail(ctx, csv, field, "fewer than 2^31 nodes");
        end[i] = (int32_t)index;
    }
    /* A third column is a weight when it is a number; a label or a date is no matter. */
    double weight = 1;
    if (csv->count > 2 &&
        (!graphss_i_parse_double(&weight, csv->field[2].text, csv->field[2].length) ||
         isnan(weight)))
        weight = 1;
    return graphss_i_edge_pairs_add(ctx, pairs, end[0], end[1], weight);
}

/* number[i] of id i when the ids are 0 ... n-1, each once; false otherwise. A list of n
 * distinct texts that are all plain numbers below n is a permutation. */
static bool plain_numbers(int32_t *number, const graphss_i_intern *ids)
{
    const size_t n = ids->list.count;
    for (size_t i = 0; i < n; i++) {
        const char *text = ids->list.text + ids->list.start[i];
        const size_t length = strlen(text);
        int64_t value = 0;
        if (text[0] < '0' || text[0] > '9' || (text[0] == '0' && length > 1) ||
            !graphss_i_parse_int(&value, text, length) || (uint64_t)value >= n)
            return false;
        number[i] = (int32_t)value;
    }
    return true;
}

static graphss_status read_lines(graphss_ctx *ctx, graphss_i_csv *csv,
                                 graphss_i_edge_pairs *pairs, graphss_i_intern *ids)
{
    bool more = true;
    for (bool first = true;; first = false) {
        graphss_status st = graphss_i_csv_next(ctx, &more, csv);
        if (st || !more)
            return st;
        if (first && graphss_i_csv_column(csv, graphss_i_csv_from) == 0 &&
            graphss_i_csv_column(csv, graphss_i_csv_to) == 1)
            continue; /* a header */
        st = read_line(ctx, csv, pairs, ids);
        if (st)
            return st;
    }
}

graphss_status graphss_i_read_edge_list(graphss_ctx *ctx, graphss_dataset *out,
                                        const char *path, uint64_t max_bytes)
{
    graphss_dataset data = {0};
    graphss_i_edge_pairs pairs = {0};
    graphss_i_intern ids = {0};
    graphss_i_csv csv = {0};
    int32_t *number = NULL;
    char *bytes = NULL;
    size_t n_bytes = 0;

    graphss_status st =
        graphss_i_csv_read(ctx, &bytes, &n_bytes, path, max_bytes / MEMORY_PER_BYTE);
    if (st)
        return st;
    graphss_i_csv_start(&csv, path, bytes, n_bytes, "#%", true);
    st = read_lines(ctx, &csv, &pairs, &ids);
    if (st)
        goto done;
    const size_t n = ids.list.count;
    if (n == 0) {
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: no edge in it", path);
        goto done;
    }
    number = graphss_i_alloc(ctx, n, sizeof *number);
    if (!number) {
        st = GRAPHSS_ERR_NOMEM;
        goto done;
    }
    if (plain_numbers(number, &ids)) {
        for (size_t e = 0; e < pairs.count; e++) {
            pairs.from[e] = number[pairs.from[e]];
            pairs.to[e] = number[pairs.to[e]];
        }
    } else {
        st = graphss_i_name_list_finish(ctx, &data.node_names, &ids.list);
        if (st)
            goto done;
    }
    st = graphss_i_edge_pairs_build(ctx, &data.graph, &data.cleaned, &pairs, n);
    if (st)
        goto done;
    data.features.n_rows = n;
    st = graphss_i_dataset_finish(ctx, &data, path, "edges");
    if (st)
        goto done;
    *out = data;
    data = (graphss_dataset){0};
done:
    graphss_dataset_destroy(ctx, &data);
    graphss_release(ctx, number);
    graphss_i_csv_end(ctx, &csv);
    graphss_i_intern_destroy(ctx, &ids);
    graphss_i_edge_pairs_destroy(ctx, &pairs);
    graphss_release(ctx, bytes);
    return st;
}
