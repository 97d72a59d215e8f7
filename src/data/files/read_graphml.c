/* read_graphml.c - a dataset from GraphML, as NetworkX, igraph, Gephi and yEd write it. The
 * data of nodes is a table like nodes.csv: a column for each key, so labels, masks, numbers
 * and text are read alike (csv_nodes.h). */
#include "data/files/csv_nodes.h"
#include "data/files/edge_extras.h"
#include "data/files/readers.h"
#include "data/formats/graphml.h"
#include "data/formats/zip.h"
#include <math.h>
#include <string.h>

/* The most memory that reading takes for each byte of the file, and for each cell of the
 * table. */
enum { MEMORY_PER_BYTE = 16, MEMORY_PER_CELL = 24 };

/* The table of nodes, record by record. */
typedef struct node_rows {
    const graphss_i_graphml *doc;
    int32_t *column; /* [n_keys] of the table, -1: none */
    size_t n_columns, next, cell;
    bool header_done;
} node_rows;

static graphss_i_csv_field field_of(
    const graphss_i_graphml *doc, const graphss_i_graphml_text *text)
{
    return (graphss_i_csv_field){.text = doc->text ? doc->text + text->start : "",
        .length = text->length,
        .line = text->line,
        .column = text->column};
}

/* Programs repeat the id as data. */
static bool is_id(const graphss_i_csv_field *name)
{
    static const char *const words[] = {"id", "node_id", "node"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (graphss_i_csv_is(name, words[i]))
            return true;
    return false;
}

static graphss_status choose_columns(
    graphss_ctx *ctx, node_rows *rows, const graphss_i_graphml *doc)
{
    *rows = (node_rows){.doc = doc, .n_columns = 1};
    rows->column = graphss_i_alloc(ctx, doc->n_keys, sizeof *rows->column);
    if (!rows->column)
        return GRAPHSS_ERR_NOMEM;
    for (size_t k = 0; k < doc->n_keys; k++) {
        const graphss_i_graphml_key *key = &doc->key[k];
        const graphss_i_csv_field name = field_of(doc, &key->name);
        const bool used = key->of_nodes && !key->unread && !is_id(&name);
        rows->column[k] = used ? (int32_t)rows->n_columns++ : -1;
    }
    return GRAPHSS_OK;
}

static void yes_or_no(graphss_i_csv_field *field)
{
    const bool yes = graphss_i_csv_is(field, "true"), no = graphss_i_csv_is(field, "false");
    if (yes || no) {
        field->text = yes ? "1" : "0";
        field->length = 1;
    }
}

static void fill_header(graphss_i_csv *record, const node_rows *rows)
{
    static const char id[] = "node_id";
    record->field[0] = (graphss_i_csv_field){.text = id, .length = sizeof id - 1, .line = 1};
    for (size_t k = 0; k < rows->doc->n_keys; k++)
        if (rows->column[k] >= 0)
            record->field[rows->column[k]] = field_of(rows->doc, &rows->doc->key[k].name);
}

static void fill_row(graphss_i_csv *record, node_rows *rows)
{
    const graphss_i_graphml *doc = rows->doc;
    const size_t node = rows->next++;
    record->field[0] = field_of(doc, &doc->node[node]);
    for (size_t k = 0; k < doc->n_keys; k++) {
        if (rows->column[k] < 0)
            continue;
        graphss_i_csv_field *field = &record->field[rows->column[k]];
        *field = field_of(doc, &doc->key[k].fallback);
        field->line = doc->node[node].line;
        field->column = doc->node[node].column;
        if (doc->key[k].is_bool)
            yes_or_no(field);
    }
    for (; rows->cell < doc->n_of_node && doc->of_node[rows->cell].owner <= node;
         rows->cell++) {
        const graphss_i_graphml_cell *cell = &doc->of_node[rows->cell];
        if (cell->owner != node || rows->column[cell->key] < 0)
            continue;
        graphss_i_csv_field *field = &record->field[rows->column[cell->key]];
        *field = field_of(doc, &cell->value);
        if (doc->key[cell->key].is_bool)
            yes_or_no(field);
    }
}

static graphss_status next_record(
    graphss_ctx *ctx, bool *more, graphss_i_csv *record, void *user)
{
    node_rows *rows = user;
    if (record->room < rows->n_columns) {
        void *grown =
            graphss_i_grow(ctx, record->field, 0, rows->n_columns, sizeof *record->field);
        if (!grown)
            return GRAPHSS_ERR_NOMEM;
        record->field = grown;
        record->room = rows->n_columns;
    }
    record->count = rows->n_columns;
    *more = !rows->header_done || rows->next < rows->doc->n_nodes;
    if (!rows->header_done)
        fill_header(record, rows);
    else if (*more)
        fill_row(record, rows);
    rows->header_done = true;
    return GRAPHSS_OK;
}

/* ---- edges ---- */

/* The key of the weights, or n_keys. The other keys of edges are extras; their numbers go to
 * extra [n_keys], -1 for none. */
static size_t sort_keys(
    int32_t *extra, graphss_i_edge_extras *extras, const graphss_i_graphml *doc)
{
    size_t weight = doc->n_keys;
    for (size_t k = 0; k < doc->n_keys; k++) {
        const graphss_i_csv_field name = field_of(doc, &doc->key[k].name);
        extra[k] = -1;
        if (!doc->key[k].of_edges || doc->key[k].unread)
            continue;
        if (graphss_i_csv_is(&name, "weight") && weight == doc->n_keys) {
            weight = k;
        } else {
            extra[k] = extras->count < GRAPHSS_I_EXTRAS_NAMED ? (int32_t)extras->count : -1;
            graphss_i_edge_extras_name(extras, k, name.text, name.length);
        }
    }
    return weight;
}

static graphss_status read_edge(graphss_ctx *ctx, graphss_i_edge_pairs *pairs,
    const graphss_i_graphml *doc, size_t e, double weight, const graphss_i_intern *ids,
    const char *file)
{
    const graphss_i_csv place = {.file = file};
    int64_t node[2];
    for (size_t i = 0; i < 2; i++) {
        const graphss_i_csv_field end = field_of(doc, &doc->edge[e].end[i]);
        node[i] = graphss_i_intern_find(ids, end.text, end.length);
        if (node[i] < 0)
            return graphss_i_csv_fail(ctx, &place, &end, "the id of a <node>");
    }
    return graphss_i_edge_pairs_add(ctx, pairs, (int32_t)node[0], (int32_t)node[1], weight);
}

static graphss_status read_edges(graphss_ctx *ctx, graphss_i_edge_pairs *pairs,
    const graphss_i_graphml *doc, const graphss_i_intern *ids, const char *file)
{
    const graphss_i_csv place = {.file = file};
    graphss_i_edge_extras extras = {0};
    size_t c = 0;
    int32_t *extra = graphss_i_alloc(ctx, doc->n_keys, sizeof *extra);
    if (!extra)
        return GRAPHSS_ERR_NOMEM;
    graphss_status st = GRAPHSS_OK;
    const size_t weight_key = sort_keys(extra, &extras, doc);
    for (size_t e = 0; e < doc->n_edges && !st; e++) {
        double weight = 1;
        for (; c < doc->n_of_edge && doc->of_edge[c].owner <= e && !st; c++) {
            const graphss_i_graphml_cell *cell = &doc->of_edge[c];
            const graphss_i_csv_field field = field_of(doc, &cell->value);
            if (cell->key == weight_key &&
                (!graphss_i_parse_double(&weight, field.text, field.length) ||
                    !isfinite(weight)))
                st = graphss_i_csv_fail(ctx, &place, &field, "a finite weight");
            else if (extra[cell->key] >= 0)
                st = graphss_i_edge_extras_value(
                    ctx, &extras, (size_t)extra[cell->key], field.text, field.length);
        }
        if (!st)
            st = read_edge(ctx, pairs, doc, e, weight, ids, file);
    }
    if (!st)
        graphss_i_edge_extras_tell(ctx, &extras, file);
    graphss_i_edge_extras_destroy(ctx, &extras);
    graphss_release(ctx, extra);
    return st;
}

/* ---- the whole ---- */

static graphss_status make(graphss_ctx *ctx, graphss_dataset *out,
    const graphss_i_graphml *doc, const char *file, uint64_t max_bytes,
    graphss_missing_rule missing)
{
    graphss_dataset data = {0};
    graphss_i_edge_pairs pairs = {0};
    graphss_i_intern ids = {0};
    node_rows rows = {0};
    size_t cells = 0;
    graphss_status st = choose_columns(ctx, &rows, doc);
    /* A key costs a few bytes and a column for all nodes. */
    if (!st && (!graphss_i_mul(&cells, doc->n_nodes, rows.n_columns) ||
                   cells > max_bytes / MEMORY_PER_CELL))
        st = graphss_i_fail(ctx, GRAPHSS_ERR_LIMIT,
            "%s: %zu nodes with %zu keys each would take more than the %llu "
            "bytes allowed",
            file, doc->n_nodes, rows.n_columns - 1, (unsigned long long)max_bytes);
    if (!st && doc->n_nodes == 0)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: no node in it", file);
    char nothing[1] = ""; /* rows come from next_record */
    const graphss_i_node_source source = {
        .file = file, .bytes = nothing, .next = next_record, .user = &rows};
    if (!st)
        st = graphss_i_csv_nodes(ctx, &data, &ids, &source, missing);
    if (!st)
        st = read_edges(ctx, &pairs, doc, &ids, file);
    if (!st)
        st = graphss_i_edge_pairs_build(
            ctx, &data.graph, &data.cleaned, &pairs, ids.list.count);
    if (!st && !graphss_i_ids_are_places(&ids))
        st = graphss_i_name_list_finish(ctx, &data.node_names, &ids.list);
    if (!st)
        st = graphss_i_dataset_finish(ctx, &data, file, "graphml");
    if (!st) {
        *out = data;
        data = (graphss_dataset){0};
    }
    graphss_dataset_destroy(ctx, &data);
    graphss_i_edge_pairs_destroy(ctx, &pairs);
    graphss_i_intern_destroy(ctx, &ids);
    graphss_release(ctx, rows.column);
    return st;
}

graphss_status graphss_i_graphml_dataset(graphss_ctx *ctx, graphss_dataset *out,
    const char *file, const char *bytes, size_t n, uint64_t max_bytes,
    graphss_missing_rule missing)
{
    graphss_i_graphml doc = {0};
    graphss_status st = graphss_i_graphml_parse(ctx, &doc, file, bytes, n);
    if (!st)
        st = make(ctx, out, &doc, file, max_bytes, missing);
    graphss_i_graphml_destroy(ctx, &doc);
    return st;
}

graphss_status graphss_i_read_graphml(graphss_ctx *ctx, graphss_dataset *out, const char *path,
    uint64_t max_bytes, graphss_missing_rule missing)
{
    char *bytes = NULL;
    size_t n = 0;
    graphss_status st =
        graphss_i_packed_read(ctx, &bytes, &n, path, max_bytes / MEMORY_PER_BYTE);
    if (!st)
        st = graphss_i_graphml_dataset(
            ctx, out, graphss_i_packed_name(path), bytes, n, max_bytes, missing);
    graphss_release(ctx, bytes);
    return st;
}
