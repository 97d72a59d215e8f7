/* csv_folder.c - a folder with nodes.csv and edges.csv, or nodes.csv.gz and edges.csv.gz.
 *
 * Both files are read whole and parsed in place; their ids share one hash table. An edge to an
 * id that nodes.csv lacks is an error: it is more often a typing mistake or a wrong file than
 * a node without data. */
#include "data/build.h"
#include "data/files/csv_nodes.h"
#include "data/files/edge_extras.h"
#include "data/files/readers.h"
#include <dirent.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* The most memory that reading takes for each byte of the two files. */
enum { MEMORY_PER_BYTE = 16 };

typedef struct edge_columns {
    int64_t from, to, weight; /* weight -1: none */
} edge_columns;

/* True if the record is a header. Columns are found by name, else the first two count; a first
 * line neither of whose entries is an id must be a header too. */
static bool find_columns(
    graphss_ctx *ctx, edge_columns *c, const graphss_i_csv *csv, const graphss_i_intern *ids)
{
    c->from = graphss_i_csv_column(csv, graphss_i_csv_from);
    c->to = graphss_i_csv_column(csv, graphss_i_csv_to);
    if (c->from >= 0 && c->to >= 0) {
        c->weight = graphss_i_csv_column(csv, graphss_i_csv_weight);
        return true;
    }
    const size_t at = graphss_i_csv_index(ctx, csv, 3) ? 1 : 0;
    const graphss_i_csv_field *end = csv->field + at;
    c->from = (int64_t)at;
    c->to = c->from + 1;
    if (csv->count >= 2 && graphss_i_intern_find(ids, end[0].text, end[0].length) < 0 &&
        graphss_i_intern_find(ids, end[1].text, end[1].length) < 0) {
        graphss_i_csv_warn_header(ctx, csv, end, "nodes.csv has no such ids");
        c->weight = graphss_i_csv_column(csv, graphss_i_csv_weight);
        return true;
    }
    c->weight = csv->count > 2 ? 2 : -1;
    return false;
}

static graphss_status read_edge(graphss_ctx *ctx, graphss_i_edge_pairs *pairs,
    const graphss_i_csv *csv, edge_columns c, const graphss_i_intern *ids)
{
    const int64_t last = c.from > c.to ? c.from : c.to;
    if (csv->count <= (size_t)last || (c.weight >= 0 && csv->count <= (size_t)c.weight))
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s:%zu: found %zu fields, want %lld",
            csv->file, csv->field[0].line, csv->count,
            (long long)(last > c.weight ? last : c.weight) + 1);
    const graphss_i_csv_field *end[2] = {&csv->field[c.from], &csv->field[c.to]};
    int64_t node[2];
    for (size_t i = 0; i < 2; i++) {
        node[i] = graphss_i_intern_find(ids, end[i]->text, end[i]->length);
        if (node[i] < 0)
            return graphss_i_csv_fail(ctx, csv, end[i], "the id of a node in nodes.csv");
    }
    double weight = 1;
    if (c.weight >= 0) {
        const graphss_i_csv_field *field = &csv->field[c.weight];
        if (!graphss_i_parse_double(&weight, field->text, field->length) || !isfinite(weight))
            return graphss_i_csv_fail(ctx, csv, field, "a finite weight");
    }
    return graphss_i_edge_pairs_add(ctx, pairs, (int32_t)node[0], (int32_t)node[1], weight);
}

static graphss_status read_edges(graphss_ctx *ctx, graphss_i_edge_pairs *pairs,
    const char *file, char *bytes, size_t n_bytes, const graphss_i_intern *ids)
{
    graphss_i_csv csv = {0};
    edge_columns columns = {0};
    graphss_i_edge_extras extras = {0};
    graphss_status st = GRAPHSS_OK;
    bool more = true;
    graphss_i_csv_start(&csv, file, bytes, n_bytes, "", false);
    for (bool first = true;; first = false) {
        st = graphss_i_csv_next(ctx, &more, &csv);
        if (st || !more)
            break;
        if (first && find_columns(ctx, &columns, &csv, ids)) {
            graphss_i_edge_extras_header(
                &extras, &csv, columns.from, columns.to, columns.weight);
            continue;
        }
        st = read_edge(ctx, pairs, &csv, columns, ids);
        if (!st)
            st = graphss_i_edge_extras_record(ctx, &extras, &csv, -1);
        if (st)
            break;
    }
    if (!st)
        graphss_i_edge_extras_tell(ctx, &extras, file);
    graphss_i_edge_extras_destroy(ctx, &extras);
    graphss_i_csv_end(ctx, &csv);
    return st;
}

static graphss_status read_tables(graphss_ctx *ctx, graphss_dataset *out, const char *folder,
    const char *const path[2], char *const bytes[2], const size_t n_bytes[2],
    graphss_missing_rule missing)
{
    const graphss_i_node_source nodes = {
        .file = path[0], .bytes = bytes[0], .n_bytes = n_bytes[0]};
    graphss_dataset data = {0};
    graphss_i_edge_pairs pairs = {0};
    graphss_i_intern ids = {0};

    graphss_status st = graphss_i_csv_nodes(ctx, &data, &ids, &nodes, missing);
    if (st)
        goto done;
    st = read_edges(ctx, &pairs, path[1], bytes[1], n_bytes[1], &ids);
    if (st)
        goto done;
    st = graphss_i_edge_pairs_build(ctx, &data.graph, &data.cleaned, &pairs, ids.list.count);
    if (st)
        goto done;
    if (!graphss_i_ids_are_places(&ids)) {
        st = graphss_i_name_list_finish(ctx, &data.node_names, &ids.list);
        if (st)
            goto done;
    }
    st = graphss_i_dataset_finish(ctx, &data, folder, "csv");
    if (st)
        goto done;
    *out = data;
    data = (graphss_dataset){0};
done:
    graphss_dataset_destroy(ctx, &data);
    graphss_i_intern_destroy(ctx, &ids);
    graphss_i_edge_pairs_destroy(ctx, &pairs);
    return st;
}

/* ---- the two files ---- */

static const char *const file_name[2] = {"nodes.csv", "edges.csv"};

/* Reads DIR/NAME or DIR/NAME.gz, whichever exists; if neither does, *out is NULL. */
static graphss_status find_file(
    graphss_ctx *ctx, char **out, const char *folder, const char *name)
{
    static const char *const packed[2] = {"", ".gz"};
    const size_t length = strlen(folder);
    const bool slash = length > 0 && folder[length - 1] == '/';
    *out = NULL;
    for (size_t i = 0; i < 2; i++) {
        char *path =
            graphss_i_format(ctx, "%s%s%s%s", folder, slash ? "" : "/", name, packed[i]);
        if (!path)
            return GRAPHSS_ERR_NOMEM;
        if (access(path, F_OK) == 0) {
            *out = path;
            return GRAPHSS_OK;
        }
        graphss_release(ctx, path);
    }
    return GRAPHSS_OK;
}

/* "; it holds a.csv, b.txt ...": files that may have been meant. */
static void list_folder(char *out, size_t size, const char *folder)
{
    enum { NAMED = 5 };
    size_t used = 0, count = 0;
    DIR *dir = opendir(folder);
    *out = '\0';
    for (const struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
        if (e->d_name[0] == '.')
            continue;
        if (count++ < NAMED && used + 64 < size)
            used += (size_t)snprintf(
                out + used, size - used, "%s%.40s", used ? ", " : "; it holds ", e->d_name);
    }
    if (count > NAMED)
        snprintf(out + used, size - used, " ...");
    if (dir)
        closedir(dir);
    if (dir && count == 0)
        snprintf(out, size, "; it is empty");
}

static graphss_status refuse_folder(
    graphss_ctx *ctx, const char *folder, bool nodes, bool edges)
{
    char held[320];
    list_folder(held, sizeof held, folder);
    return graphss_i_fail(ctx, GRAPHSS_ERR_NOT_FOUND,
        "%s: %s in this folder, want both of nodes.csv (a line for each node, under a header "
        "such as node_id,label,age) and edges.csv (a line for each edge, under "
        "src_id,dst_id); "
        "each may be packed as .csv.gz%s",
        folder,
        nodes   ? "there is no edges.csv"
        : edges ? "there is no nodes.csv"
                : "there is neither nodes.csv nor edges.csv",
        held);
}

graphss_status graphss_i_read_csv_folder(graphss_ctx *ctx, graphss_dataset *out,
    const char *folder, uint64_t max_bytes, graphss_missing_rule missing)
{
    char *path[2] = {0}, *bytes[2] = {0};
    size_t n_bytes[2] = {0};
    graphss_status st = GRAPHSS_OK;
    uint64_t left = max_bytes / MEMORY_PER_BYTE;

    for (size_t i = 0; i < 2 && !st; i++)
        st = find_file(ctx, &path[i], folder, file_name[i]);
    if (!st && (!path[0] || !path[1]))
        st = refuse_folder(ctx, folder, path[0], path[1]);
    for (size_t i = 0; i < 2 && !st; i++) {
        st = graphss_i_csv_read(ctx, &bytes[i], &n_bytes[i], path[i], left);
        left -= n_bytes[i];
    }
    if (!st)
        st = read_tables(ctx, out, folder, (const char *const *)path, bytes, n_bytes, missing);
    for (size_t i = 0; i < 2; i++) {
        graphss_release(ctx, bytes[i]);
        graphss_release(ctx, path[i]);
    }
    return st;
}
