/* shard.c - writes one part of a dataset, and reads it back with every check: a rank works on
 * its shard alone, and a fault in it would reach all ranks with the first exchange. */
#include "data/shards/shard.h"
#include "data/build.h"
#include "data/digest.h"
#include "data/formats/npz.h"
#include "graph/rows.h"
#include <errno.h>
#include <math.h>
#include <string.h>

enum { MOST_ARRAYS = 12 };

void graphss_i_shard_path(char path[GRAPHSS_I_SHARD_PATH], const char *folder, size_t part)
{
    snprintf(path, GRAPHSS_I_SHARD_PATH, "%s/part-%04zu.npz", folder, part);
}

graphss_status graphss_i_file_digest(graphss_ctx *ctx, char hex[65], const char *path)
{
    unsigned char bytes[65536];
    graphss_i_digest sha;
    FILE *file = fopen(path, "rbe");
    if (!file)
        return graphss_i_fail(ctx, errno == ENOENT ? GRAPHSS_ERR_NOT_FOUND : GRAPHSS_ERR_IO,
            "%s: cannot open: %s", path, strerror(errno));
    graphss_i_digest_begin(&sha, GRAPHSS_I_SHA256);
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, file)) > 0;)
        graphss_i_digest_add(&sha, bytes, n);
    const bool failed = ferror(file);
    fclose(file);
    if (failed)
        return graphss_i_fail(ctx, GRAPHSS_ERR_IO, "%s: cannot read", path);
    graphss_i_digest_end(&sha, hex);
    return GRAPHSS_OK;
}

void graphss_i_shard_destroy(graphss_ctx *ctx, graphss_i_shard *s)
{
    graphss_release(ctx, s->node);
    graphss_release(ctx, s->offset);
    graphss_release(ctx, s->target);
    graphss_features_destroy(ctx, &s->features);
    graphss_release(ctx, s->entry);
    graphss_release(ctx, s->label);
    graphss_names_destroy(ctx, &s->names);
    *s = (graphss_i_shard){0};
}

/* ---- from a dataset to a shard ---- */

static graphss_status allocate(graphss_ctx *ctx, graphss_i_shard *s,
    const graphss_dataset *data, size_t entries, size_t stored)
{
    const graphss_features *f = &data->features;
    const size_t n = s->n_nodes;
    s->node = graphss_i_alloc(ctx, n, sizeof *s->node);
    s->offset = graphss_i_alloc(ctx, n + 1, sizeof *s->offset);
    s->target = graphss_i_alloc(ctx, entries, sizeof *s->target);
    s->features = (graphss_features){.n_rows = n, .n_cols = f->n_cols, .kind = f->kind};
    if (f->n_cols)
        s->features.value = graphss_i_alloc(ctx, stored, sizeof *s->features.value);
    if (f->n_cols && f->offset) {
        s->features.offset = graphss_i_alloc(ctx, n + 1, sizeof *s->features.offset);
        s->features.column = graphss_i_alloc(ctx, stored, sizeof *s->features.column);
        s->entry = graphss_i_alloc(ctx, n, sizeof *s->entry);
    }
    if (data->label)
        s->label = graphss_i_alloc(ctx, n, sizeof *s->label);
    const bool sparse = f->n_cols && f->offset;
    return s->node && s->offset && s->target && (!f->n_cols || s->features.value) &&
                   (!sparse || (s->features.offset && s->features.column && s->entry)) &&
                   (!data->label || s->label)
               ? GRAPHSS_OK
               : GRAPHSS_ERR_NOMEM;
}

static void take_row(graphss_i_shard *s, size_t at, const graphss_dataset *data, size_t i)
{
    const graphss_graph *g = &data->graph;
    const graphss_features *f = &data->features;
    s->node[at] = (int64_t)i;
    int64_t to = s->offset[at];
    for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++)
        s->target[to++] = g->target[e];
    s->offset[at + 1] = to;
    if (s->label)
        s->label[at] = data->label[i];
    if (f->n_cols == 0)
        return;
    const graphss_i_row row = graphss_i_row_of(f, i);
    const int64_t first = f->offset ? s->features.offset[at] : (int64_t)(at * f->n_cols);
    memcpy(s->features.value + first, row.value, row.n * sizeof *row.value);
    if (!f->offset)
        return;
    memcpy(s->features.column + first, row.column, row.n * sizeof *row.column);
    s->features.offset[at + 1] = first + (int64_t)row.n;
    s->entry[at] = f->offset[i];
}

graphss_status graphss_i_shard_take(graphss_ctx *ctx, graphss_i_shard *out, size_t *cut,
    const graphss_dataset *data, const int32_t *part, int32_t which)
{
    const graphss_graph *g = &data->graph;
    graphss_i_shard s = {0};
    graphss_i_name_list names = {0};
    size_t entries = 0, stored = 0, leaving = 0, at = 0;
    for (size_t i = 0; i < g->n_nodes; i++) {
        if (part[i] != which)
            continue;
        s.n_nodes++;
        entries += graphss_graph_degree(g, i);
        stored += data->features.n_cols ? graphss_i_row_of(&data->features, i).n : 0;
        for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++)
            leaving += part[g->target[e]] != which;
    }
    graphss_status st = allocate(ctx, &s, data, entries, stored);
    if (!st) {
        s.offset[0] = 0;
        if (s.features.offset)
            s.features.offset[0] = 0;
    }
    for (size_t i = 0; i < g->n_nodes && !st; i++) {
        if (part[i] != which)
            continue;
        take_row(&s, at++, data, i);
        if (data->node_names.count) {
            const char *name = graphss_names_get(&data->node_names, i);
            st = graphss_i_name_list_add(ctx, &names, name, strlen(name));
        }
    }
    if (!st && data->node_names.count)
        st = graphss_i_name_list_finish(ctx, &s.names, &names);
    graphss_i_name_list_destroy(ctx, &names);
    if (st) {
        graphss_i_shard_destroy(ctx, &s);
        return st;
    }
    *cut += leaving;
    *out = s;
    return GRAPHSS_OK;
}

/* ---- writing ---- */

typedef struct list {
    graphss_i_array_out array[MOST_ARRAYS];
    size_t count;
} list;

static void add(list *l, const char *name, const char *dtype, size_t n, const void *data)
{
    l->array[l->count++] = (graphss_i_array_out){
        .name = name, .dtype = dtype, .n_dims = 1, .shape = {n, 1}, .data = data};
}

graphss_status graphss_i_shard_write(graphss_ctx *ctx, const graphss_i_shard *s,
    const graphss_i_manifest *m, size_t part, const char *folder)
{
    char path[GRAPHSS_I_SHARD_PATH];
    const int64_t number[2] = {(int64_t)part, (int64_t)m->n_parts};
    size_t start[2] = {0, sizeof m->hash};
    const graphss_names hash = {1, start, (char *)(uintptr_t)m->hash};
    const graphss_features *f = &s->features;
    list l = {.count = 0};
    graphss_i_shard_path(path, folder, part);
    add(&l, "part", "<i8", 2, number);
    l.array[l.count++] = (graphss_i_array_out){.name = "hash", .dtype = "<U", .names = &hash};
    add(&l, "nodes", "<i8", s->n_nodes, s->node);
    add(&l, "offset", "<i8", s->n_nodes + 1, s->offset);
    add(&l, "target", "<i8", (size_t)s->offset[s->n_nodes], s->target);
    if (f->offset) {
        const size_t stored = (size_t)f->offset[s->n_nodes];
        add(&l, "feature_offset", "<i8", s->n_nodes + 1, f->offset);
        add(&l, "feature_column", "<i4", stored, f->column);
        add(&l, "feature_value", "<f4", stored, f->value);
        add(&l, "feature_entry", "<i8", s->n_nodes, s->entry);
    } else if (f->n_cols) {
        l.array[l.count++] = (graphss_i_array_out){.name = "features",
            .dtype = "<f4",
            .n_dims = 2,
            .shape = {s->n_nodes, f->n_cols},
            .data = f->value};
    }
    if (s->label)
        add(&l, "label", "<i4", s->n_nodes, s->label);
    if (s->names.count)
        l.array[l.count++] =
            (graphss_i_array_out){.name = "names", .dtype = "<U", .names = &s->names};
    return graphss_i_npz_write(ctx, path, l.array, l.count);
}

/* ---- reading ---- */

/* Is the file that part of that dataset, unchanged? */
static graphss_status check_identity(graphss_ctx *ctx, graphss_i_npz *npz,
    const graphss_i_manifest *m, size_t part, const char *path)
{
    graphss_names hash = {0};
    int64_t *number = NULL;
    size_t n = 0;
    char hex[65];
    graphss_status st = graphss_i_npz_names(ctx, &hash, npz, "hash", 1);
    if (!st && strcmp(graphss_names_get(&hash, 0), m->hash) != 0)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s: a shard of another dataset (hash %.12s), want one of %s "
            "(%.12s)",
            path, graphss_names_get(&hash, 0), m->name, m->hash);
    if (!st)
        st = graphss_i_npz_int64(ctx, &number, &n, npz, "part", 2);
    if (!st && (number[0] != (int64_t)part || number[1] != (int64_t)m->n_parts))
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s: part %lld of %lld, want part %zu of %zu", path, (long long)number[0],
            (long long)number[1], part, m->n_parts);
    if (!st)
        st = graphss_i_file_digest(ctx, hex, path);
    if (!st && strcmp(hex, m->part[part].sha256) != 0)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s: its SHA-256 begins with %.12s, the manifest says %.12s: it was changed, or "
            "belongs to another partition of the dataset",
            path, hex, m->part[part].sha256);
    graphss_names_destroy(ctx, &hash);
    graphss_release(ctx, number);
    return st;
}

/* offset [n + 1] from 0 to total, not falling */
static graphss_status check_offsets(graphss_ctx *ctx, const int64_t *offset, size_t n,
    size_t total, const graphss_i_npz *npz, const char *array)
{
    if (offset[0] != 0 || offset[n] < 0 || (size_t)offset[n] != total)
        return graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, npz, array,
            "from %lld to %lld, want 0 to %zu", (long long)offset[0], (long long)offset[n],
            total);
    for (size_t i = 0; i < n; i++)
        if (offset[i + 1] < offset[i])
            return graphss_i_npz_fail(
                ctx, GRAPHSS_ERR_DATA, npz, array, "falls behind entry %zu", i);
    return GRAPHSS_OK;
}

static graphss_status check_graph(graphss_ctx *ctx, const graphss_i_shard *s,
    const graphss_i_manifest *m, size_t entries, const graphss_i_npz *npz)
{
    for (size_t i = 0; i < s->n_nodes; i++)
        if (s->node[i] < 0 || (size_t)s->node[i] >= m->n_nodes ||
            (i && s->node[i] <= s->node[i - 1]))
            return graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, npz, "nodes",
                "entry %zu is %lld, want ascending numbers below %zu", i,
                (long long)s->node[i], m->n_nodes);
    const graphss_status st =
        check_offsets(ctx, s->offset, s->n_nodes, entries, npz, "offset");
    if (st)
        return st;
    for (size_t i = 0; i < s->n_nodes; i++)
        for (int64_t e = s->offset[i]; e < s->offset[i + 1]; e++) {
            const int64_t j = s->target[e];
            if (j < 0 || (size_t)j >= m->n_nodes || j == s->node[i] ||
                (e > s->offset[i] && j <= s->target[e - 1]))
                return graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, npz, "target",
                    "entry %lld is %lld, in the row of node %lld: want other nodes below %zu, "
                    "ascending in a row",
                    (long long)e, (long long)j, (long long)s->node[i], m->n_nodes);
        }
    return GRAPHSS_OK;
}

static graphss_status check_values(graphss_ctx *ctx, const float *value, size_t n, bool stored,
    const graphss_i_npz *npz, const char *array)
{
    for (size_t e = 0; e < n; e++)
        if (!isfinite(value[e]) || (stored && value[e] == 0))
            return graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, npz, array,
                "entry %zu is %g, want a finite number%s", e, (double)value[e],
                stored ? " other than 0" : "");
    return GRAPHSS_OK;
}

static graphss_status check_columns(
    graphss_ctx *ctx, const graphss_i_shard *s, const graphss_i_npz *npz)
{
    const graphss_features *f = &s->features;
    for (size_t i = 0; i < s->n_nodes; i++) {
        for (int64_t e = f->offset[i]; e < f->offset[i + 1]; e++)
            if (f->column[e] < 0 || (size_t)f->column[e] >= f->n_cols ||
                (e > f->offset[i] && f->column[e] <= f->column[e - 1]))
                return graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, npz, "feature_column",
                    "entry %lld is %d, want ascending columns below %zu in each row",
                    (long long)e, (int)f->column[e], f->n_cols);
        const int64_t least = i ? s->entry[i - 1] + f->offset[i] - f->offset[i - 1] : 0;
        if (s->entry[i] < least || s->entry[i] > INT64_MAX / 2)
            return graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, npz, "feature_entry",
                "entry %zu is %lld, want at least %lld", i, (long long)s->entry[i],
                (long long)least);
    }
    return GRAPHSS_OK;
}

static graphss_status read_features(graphss_ctx *ctx, graphss_i_shard *s,
    const graphss_i_manifest *m, size_t part, graphss_i_npz *npz)
{
    graphss_features *f = &s->features;
    const size_t n = s->n_nodes, stored = m->part[part].stored;
    size_t count = 0;
    *f = (graphss_features){.n_rows = n, .n_cols = m->n_cols, .kind = m->kind};
    if (m->n_cols == 0)
        return GRAPHSS_OK;
    if (m->dense) {
        size_t cells;
        if (!graphss_i_mul(&cells, n, m->n_cols) || cells != stored)
            return graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, npz, "features",
                "the manifest says %zu cells, want %zu rows of %zu", stored, n, m->n_cols);
        const graphss_status st =
            graphss_i_npz_float(ctx, &f->value, &count, npz, "features", cells);
        return st ? st : check_values(ctx, f->value, cells, false, npz, "features");
    }
    graphss_status st =
        graphss_i_npz_int64(ctx, &f->offset, &count, npz, "feature_offset", n + 1);
    if (!st)
        st = graphss_i_npz_int32(ctx, &f->column, &count, npz, "feature_column", stored);
    if (!st)
        st = graphss_i_npz_float(ctx, &f->value, &count, npz, "feature_value", stored);
    if (!st)
        st = graphss_i_npz_int64(ctx, &s->entry, &count, npz, "feature_entry", n);
    if (!st)
        st = check_offsets(ctx, f->offset, n, stored, npz, "feature_offset");
    if (!st)
        st = check_values(ctx, f->value, stored, true, npz, "feature_value");
    return st ? st : check_columns(ctx, s, npz);
}

static graphss_status read_labels(
    graphss_ctx *ctx, graphss_i_shard *s, const graphss_i_manifest *m, graphss_i_npz *npz)
{
    size_t count = 0;
    graphss_status st = GRAPHSS_OK;
    if (m->labelled)
        st = graphss_i_npz_int32(ctx, &s->label, &count, npz, "label", s->n_nodes);
    for (size_t i = 0; i < s->n_nodes && m->labelled && !st; i++)
        if (s->label[i] < -1 || s->label[i] >= (int64_t)m->n_classes)
            st = graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, npz, "label",
                "entry %zu is %d, want below %zu classes, or -1", i, (int)s->label[i],
                m->n_classes);
    if (!st && m->named)
        st = graphss_i_npz_names(ctx, &s->names, npz, "names", s->n_nodes);
    return st;
}

graphss_status graphss_i_shard_read(graphss_ctx *ctx, graphss_i_shard *out,
    const graphss_i_manifest *m, size_t part, const char *folder)
{
    char path[GRAPHSS_I_SHARD_PATH];
    graphss_i_npz *npz = NULL;
    graphss_i_shard s = {.n_nodes = m->part[part].nodes};
    const size_t entries = m->part[part].entries;
    size_t count = 0;
    graphss_i_shard_path(path, folder, part);
    graphss_status st = graphss_i_npz_open(ctx, &npz, path, 0);
    if (st)
        return st;
    st = check_identity(ctx, npz, m, part, path);
    if (!st)
        st = graphss_i_npz_int64(ctx, &s.node, &count, npz, "nodes", s.n_nodes);
    if (!st)
        st = graphss_i_npz_int64(ctx, &s.offset, &count, npz, "offset", s.n_nodes + 1);
    if (!st)
        st = graphss_i_npz_int64(ctx, &s.target, &count, npz, "target", entries);
    if (!st)
        st = check_graph(ctx, &s, m, entries, npz);
    if (!st)
        st = read_features(ctx, &s, m, part, npz);
    if (!st)
        st = read_labels(ctx, &s, m, npz);
    graphss_i_npz_close(ctx, npz);
    if (st)
        graphss_i_shard_destroy(ctx, &s);
    else
        *out = s;
    return st;
}
