/* edge_list.c - two ids a line and perhaps a weight: the simplest format of a graph. Ids are
 * interned as text, so any string will do. If the strings are exactly 0, 1 ... n-1 they are
 * the node numbers; otherwise they become names, and nodes are numbered in order of
 * appearance. */
#include "data/build.h"
#include "data/files/edge_extras.h"
#include "data/files/readers.h"
#include "data/formats/zip.h"
#include <math.h>
#include <string.h>

/* The most memory that reading takes for each byte of the file: a line of four bytes makes a
 * pair of eight and two interned ids, all in arrays that double. */
enum { MEMORY_PER_BYTE = 16 };

/* Which columns hold an edge; weight -1: none. */
typedef struct edge_line {
    size_t from, to;
    int64_t weight;
} edge_line;

static bool is_whole(const graphss_i_csv_field *field)
{
    int64_t value = 0;
    return graphss_i_parse_int(&value, field->text, field->length);
}

/* *whole: cleared if an id is no whole number */
static graphss_status read_line(graphss_ctx *ctx, const graphss_i_csv *csv,
    const edge_line *columns, graphss_i_edge_pairs *pairs, graphss_i_intern *ids, bool *whole)
{
    const size_t at[2] = {columns->from, columns->to};
    if (csv->count <= at[0] || csv->count <= at[1])
        return graphss_i_csv_fail(ctx, csv, &csv->field[0], "two ids on a line");
    int32_t end[2];
    for (size_t i = 0; i < 2; i++) {
        const graphss_i_csv_field *field = &csv->field[at[i]];
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
        *whole = *whole && is_whole(field);
    }
    /* A third column is a weight when it is a number; a label or a date is no matter. */
    double weight = 1;
    const graphss_i_csv_field *heavy =
        columns->weight >= 0 && csv->count > (size_t)columns->weight
            ? &csv->field[columns->weight]
            : NULL;
    if (heavy &&
        (!graphss_i_parse_double(&weight, heavy->text, heavy->length) || isnan(weight)))
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

/* True when the first line names the columns in words we know, or begins with one that has no
 * name. */
static bool is_header(graphss_ctx *ctx, edge_line *columns, const graphss_i_csv *csv)
{
    const int64_t from = graphss_i_csv_column(csv, graphss_i_csv_from);
    const int64_t to = graphss_i_csv_column(csv, graphss_i_csv_to);
    const int64_t weight = graphss_i_csv_column(csv, graphss_i_csv_weight);
    const bool known = from >= 0 && to >= 0;
    if (known) {
        const bool first = from == 0 && to == 1;
        *columns = (edge_line){(size_t)from, (size_t)to, first && weight < 0 ? 2 : weight};
    } else if (graphss_i_csv_index(ctx, csv, 3)) {
        *columns = (edge_line){1, 2, weight < 0 ? 3 : weight};
        return true;
    }
    return known;
}

/* Takes the ids and the edge of the first line out again: it was a header. */
static graphss_status drop_first(
    graphss_ctx *ctx, graphss_i_edge_pairs *pairs, graphss_i_intern *ids, size_t first)
{
    graphss_i_intern kept = {0};
    graphss_status st = GRAPHSS_OK;
    for (size_t i = first; i < ids->list.count && !st; i++) {
        size_t index;
        const char *text = ids->list.text + ids->list.start[i];
        st = graphss_i_intern_add(ctx, &index, NULL, &kept, text, strlen(text));
    }
    if (st) {
        graphss_i_intern_destroy(ctx, &kept);
        return st;
    }
    graphss_i_intern_destroy(ctx, ids);
    *ids = kept;
    pairs->count--;
    for (size_t e = 0; e < pairs->count; e++) {
        pairs->from[e] = pairs->from[e + 1] - (int32_t)first;
        pairs->to[e] = pairs->to[e + 1] - (int32_t)first;
    }
    return GRAPHSS_OK;
}

/* A table of nodes has an id and a label or masks, and no two ends. */
static bool is_node_table(const graphss_i_csv *csv)
{
    static const char *const id[] = {"node_id", "id", "node", NULL};
    static const char *const other[] = {
        "label", "class", "feat", "features", "train_mask", NULL};
    return graphss_i_csv_column(csv, id) >= 0 && graphss_i_csv_column(csv, other) >= 0 &&
           graphss_i_csv_column(csv, graphss_i_csv_from) < 0;
}

static graphss_status refuse_nodes(graphss_ctx *ctx, const graphss_i_csv *csv)
{
    return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
        "%s:%zu: this is a table of nodes, want a list of edges; to read both "
        "give the folder that holds nodes.csv and edges.csv",
        csv->file, csv->field[0].line);
}

/* A first line of words over lines of whole numbers is a header, too. begins: the first line
 * may be one. */
static graphss_status read_lines(graphss_ctx *ctx, graphss_i_csv *csv, bool begins,
    graphss_i_edge_pairs *pairs, graphss_i_intern *ids, graphss_i_edge_extras *extras)
{
    edge_line columns = {0, 1, 2};
    graphss_i_csv_field word[2] = {{0}}; /* the first line, if it may be a header */
    size_t words = 0, lines = 0;         /* ids in it; lines in all */
    bool more = true, whole = true;
    graphss_status st = graphss_i_csv_next(ctx, &more, csv);
    if (!st && more && begins && is_node_table(csv))
        return refuse_nodes(ctx, csv);
    const bool named = !st && more && begins && is_header(ctx, &columns, csv);
    if (!named)
        graphss_i_edge_extras_name(extras, 2, "the third column", strlen("the third column"));
    if (named) {
        graphss_i_edge_extras_header(extras, csv, (int64_t)columns.from, (int64_t)columns.to,
            graphss_i_csv_column(csv, graphss_i_csv_weight));
        st = graphss_i_csv_next(ctx, &more, csv);
    }
    for (; !st && more; lines++) {
        st = read_line(ctx, csv, &columns, pairs, ids, &whole);
        double weight = 0;
        if (!st && !named && begins && lines == 0 && !is_whole(&csv->field[columns.from]) &&
            !is_whole(&csv->field[columns.to]) && pairs->count == 1 &&
            (csv->count < 3 ||
                !graphss_i_parse_double(&weight, csv->field[2].text, csv->field[2].length))) {
            word[0] = csv->field[columns.from];
            word[1] = csv->field[columns.to];
            words = ids->list.count;
            whole = true;
        }
        if (!st)
            st = graphss_i_edge_extras_record(ctx, extras, csv, columns.weight);
        if (!st)
            st = graphss_i_csv_next(ctx, &more, csv);
    }
    if (st || !words || !whole || lines < 2)
        return st;
    graphss_i_csv_warn_header(ctx, csv, word, "all other ids are whole numbers");
    return drop_first(ctx, pairs, ids, words);
}

graphss_status graphss_i_read_edge_slice(graphss_ctx *ctx, graphss_i_edge_pairs *pairs,
    graphss_i_intern *ids, const graphss_i_slice *slice)
{
    graphss_i_csv csv = {0};
    graphss_i_edge_extras extras = {0};
    edge_line columns;
    bool more = false, named = false;
    graphss_status st = GRAPHSS_OK;
    if (slice->head) { /* of the file, which begins in another slice */
        graphss_i_csv_start(
            &csv, slice->file, slice->bytes, slice->head, slice->comments, slice->blanks);
        st = graphss_i_csv_next(ctx, &more, &csv);
        named = !st && more && is_header(ctx, &columns, &csv);
        graphss_i_csv_end(ctx, &csv);
    }
    if (st)
        return st;
    const size_t skip = named ? 0 : slice->head;
    size_t lines = 1;
    for (size_t i = skip; i < slice->head; i++)
        lines += slice->bytes[i] == '\n';
    graphss_i_csv_start(&csv, slice->file, slice->bytes + skip, slice->n - skip,
        slice->comments, slice->blanks);
    csv.line += slice->line - lines;
    st = read_lines(ctx, &csv, named || slice->head == 0, pairs, ids, &extras);
    if (!st)
        graphss_i_edge_extras_tell(ctx, &extras, slice->file);
    graphss_i_edge_extras_destroy(ctx, &extras);
    graphss_i_csv_end(ctx, &csv);
    return st;
}

/* Standard input has no file name, so its first bytes decide between GraphML and an edge list.
 */
static bool begins_as_xml(const char *bytes)
{
    if (!strncmp(bytes, "\xEF\xBB\xBF", 3))
        bytes += 3;
    bytes += strspn(bytes, " \t\r\n");
    return !strncmp(bytes, "<?xml", 5) || !strncmp(bytes, "<graphml", 8);
}

graphss_status graphss_i_read_edge_list(graphss_ctx *ctx, graphss_dataset *out,
    const char *path, uint64_t max_bytes, graphss_missing_rule missing)
{
    graphss_dataset data = {0};
    graphss_i_edge_pairs pairs = {0};
    graphss_i_intern ids = {0};
    graphss_i_csv csv = {0};
    graphss_i_edge_extras extras = {0};
    int32_t *number = NULL;
    char *bytes = NULL;
    size_t n_bytes = 0;

    graphss_status st =
        graphss_i_csv_read(ctx, &bytes, &n_bytes, path, max_bytes / MEMORY_PER_BYTE);
    if (st)
        return st;
    path = graphss_i_packed_name(path);
    if (begins_as_xml(bytes)) {
        st = graphss_i_graphml_dataset(ctx, out, path, bytes, n_bytes, max_bytes, missing);
        graphss_release(ctx, bytes);
        return st;
    }
    graphss_i_csv_start(&csv, path, bytes, n_bytes, "#%", true);
    st = read_lines(ctx, &csv, true, &pairs, &ids, &extras);
    if (st)
        goto done;
    graphss_i_edge_extras_tell(ctx, &extras, path);
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
    graphss_i_edge_extras_destroy(ctx, &extras);
    graphss_i_intern_destroy(ctx, &ids);
    graphss_i_edge_pairs_destroy(ctx, &pairs);
    graphss_release(ctx, bytes);
    return st;
}
