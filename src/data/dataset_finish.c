/* dataset_finish.c - the last step of every reader: checks that the parts fit, computes the
 * hash, reports what was cleaned and what looks wrong. */
#include "data/build.h"
#include "data/digest.h"
#include "graph/check.h"
#include <math.h>
#include <string.h>
#include <strings.h>

/* The hash does not depend on file format, storage or machine. It is SHA-256 over
 *
 *   "graphss dataset 1\n"
 *   u64 nodes, i64 offset[nodes + 1], i32 targets above the diagonal, row by row
 *   u64 feature columns, u64 kind, i64 offset[nodes + 1] of the non-zeros (columns > 0)
 *   i32 columns of the non-zeros, row by row; f32 their values unless all are 1 (binary)
 *   i32 label[nodes], -1 where unknown
 *
 * all little-endian. Dense features are hashed as if stored sparse. */
typedef struct digest {
    graphss_i_digest sha;
    size_t used;
    uint8_t bytes[4096];
} digest;

static inline void put(digest *d, uint64_t value, size_t width)
{
    if (d->used + width > sizeof d->bytes) {
        graphss_i_digest_add(&d->sha, d->bytes, d->used);
        d->used = 0;
    }
    for (size_t b = 0; b < width; b++)
        d->bytes[d->used + b] = (uint8_t)(value >> 8 * b);
    d->used += width;
}

static inline uint32_t bits(float value)
{
    uint32_t u;
    memcpy(&u, &value, sizeof u);
    return u;
}

static void put_graph(digest *d, const graphss_graph *g)
{
    put(d, g->n_nodes, 8);
    for (size_t i = 0; i <= g->n_nodes; i++)
        put(d, (uint64_t)g->offset[i], 8);
    for (size_t i = 0; i < g->n_nodes; i++)
        for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++)
            if ((size_t)g->target[e] > i)
                put(d, (uint32_t)g->target[e], 4);
}

static void put_dense(digest *d, const graphss_features *f)
{
    const size_t cells = f->n_rows * f->n_cols;
    uint64_t offset = 0;
    put(d, 0, 8);
    for (size_t i = 0; i < f->n_rows; i++) {
        for (size_t c = 0; c < f->n_cols; c++)
            offset += f->value[i * f->n_cols + c] != 0;
        put(d, offset, 8);
    }
    for (size_t e = 0; e < cells; e++)
        if (f->value[e] != 0)
            put(d, (uint32_t)(e % f->n_cols), 4);
    for (size_t e = 0; f->kind != GRAPHSS_FEATURES_BINARY && e < cells; e++)
        if (f->value[e] != 0)
            put(d, bits(f->value[e]), 4);
}

static void put_features(digest *d, const graphss_features *f)
{
    put(d, f->n_cols, 8);
    put(d, (uint64_t)f->kind, 8);
    if (f->n_cols == 0)
        return;
    if (!f->offset) {
        put_dense(d, f);
        return;
    }
    const int64_t nnz = f->offset[f->n_rows];
    for (size_t i = 0; i <= f->n_rows; i++)
        put(d, (uint64_t)f->offset[i], 8);
    for (int64_t e = 0; e < nnz; e++)
        put(d, (uint32_t)f->column[e], 4);
    for (int64_t e = 0; f->kind != GRAPHSS_FEATURES_BINARY && e < nnz; e++)
        put(d, bits(f->value[e]), 4);
}

static void hash_dataset(graphss_dataset *data)
{
    static const char head[] = "graphss dataset 1\n";
    digest d = {.used = 0};
    graphss_i_digest_begin(&d.sha, GRAPHSS_I_SHA256);
    graphss_i_digest_add(&d.sha, head, sizeof head - 1);
    put_graph(&d, &data->graph);
    put_features(&d, &data->features);
    for (size_t i = 0; i < data->graph.n_nodes; i++)
        put(&d, (uint32_t)(data->label ? data->label[i] : -1), 4);
    graphss_i_digest_add(&d.sha, d.bytes, d.used);
    graphss_i_digest_end(&d.sha, data->hash);
}

static graphss_status check_names(
    graphss_ctx *ctx, const graphss_names *names, size_t want, const char *what)
{
    if (names->count == 0 || names->count == want)
        return GRAPHSS_OK;
    return graphss_i_fail(
        ctx, GRAPHSS_ERR_DATA, "%zu names of %s, want %zu", names->count, what, want);
}

static graphss_status check_parts(graphss_ctx *ctx, const graphss_dataset *data)
{
    const size_t n = data->graph.n_nodes;
    if (n == 0 || !data->graph.offset)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "no nodes, want at least one");
    if (data->features.n_cols && data->features.n_rows != n)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "features of %zu nodes, a graph of %zu: want the same", data->features.n_rows, n);
    for (size_t i = 0; data->label && i < n; i++)
        if (data->label[i] < -1 ||
            (data->label[i] >= 0 && (size_t)data->label[i] >= data->n_classes))
            return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "node %zu: label %d, want below %zu classes, or -1", i, (int)data->label[i],
                data->n_classes);
    graphss_status st = check_names(ctx, &data->node_names, n, "nodes");
    if (st == GRAPHSS_OK)
        st = check_names(ctx, &data->class_names, data->n_classes, "classes");
    if (st == GRAPHSS_OK)
        st = check_names(ctx, &data->column_names, data->features.n_cols, "feature columns");
    return st;
}

void graphss_i_dataset_stem(char *out, size_t size, const char *where, const char *format)
{
    static const char *const endings[] = {
        ".npz", ".csv", ".tsv", ".txt", ".edges", ".graphml", ".xml"};
    if (strcmp(format, "synth") == 0)
        where = "synth";
    size_t end = strlen(where);
    while (end > 1 && where[end - 1] == '/')
        end--;
    size_t begin = end;
    while (begin > 0 && where[begin - 1] != '/')
        begin--;
    if (end - begin > 4 && strncmp(where + begin, "ind.", 4) == 0)
        begin += 4;
    if (end - begin > 3 && strncasecmp(where + end - 3, ".gz", 3) == 0)
        end -= 3;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t n = strlen(endings[i]);
        if (end - begin > n && strncasecmp(where + end - n, endings[i], n) == 0) {
            end -= n;
            break;
        }
    }
    snprintf(
        out, size, "%.*s", (int)(end - begin < size ? end - begin : size - 1), where + begin);
    graphss_i_utf8_mend(out); /* the cut may fall inside a character, too */
}

static void log_cleaning(graphss_ctx *ctx, const char *name, const graphss_cleaning *c)
{
    const struct {
        int64_t count;
        const char *text;
    } part[] = {{c->directed, "one-way edges made two-way"},
        {c->duplicates, "duplicates dropped"}, {c->loops, "loops dropped"},
        {c->zeros, "entries of weight zero dropped"}, {c->weighted, "weights ignored"},
        {c->isolated, "isolated nodes kept"}};
    char line[512];
    size_t used = 0;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        if (part[i].count && used < sizeof line)
            used += (size_t)snprintf(line + used, sizeof line - used, "%s%lld %s",
                used ? ", " : "", (long long)part[i].count, part[i].text);
    if (used)
        graphss_i_log(ctx, GRAPHSS_LOG_INFO, "%s: %s", name, line);
}

/* The median of the absolute non-zero values, to within an eighth: positive floats sort like
 * their bits, of which the first eleven are counted. Uses every step-th of n values, at least
 * one of which is not 0. */
static float median_size(const float *value, size_t n, size_t step)
{
    enum { SHIFT = 20, BINS = 1 << (31 - SHIFT) };
    size_t count[BINS] = {0}, total = 0, below = 0;
    uint32_t bin = 0;
    for (size_t e = 0; e < n; e += step) {
        const uint32_t size = bits(value[e]) & INT32_MAX;
        count[size >> SHIFT] += size != 0;
        total += size != 0;
    }
    while (below + count[bin] <= total / 2)
        below += count[bin++];
    bin <<= SHIFT;
    float median;
    memcpy(&median, &bin, sizeof median);
    return median;
}

/* A single value that dwarfs all others is probably a mistake, and would dominate training.
 * Measured columns have their own units, so such a value must also be large within its
 * column. */
static void warn_of_giant(graphss_ctx *ctx, const graphss_dataset *data, const char *where)
{
    static const float GIANT = 1e6F;
    const graphss_features *f = &data->features;
    const size_t n = graphss_features_stored(f);
    size_t largest = 0, row, column;
    char node[96], name[96];
    if (n == 0 || f->kind == GRAPHSS_FEATURES_BINARY)
        return;
    for (size_t e = 1; e < n; e++)
        if (fabsf(f->value[e]) > fabsf(f->value[largest]))
            largest = e;
    const float size = fabsf(f->value[largest]);
    float usual = median_size(f->value, n, 1);
    if (size / GIANT <= usual)
        return;
    graphss_i_columns_place(&row, &column, f, largest);
    if (graphss_features_dense(f)) {
        usual = median_size(f->value + column, n - column, f->n_cols);
        if (size / GIANT <= usual)
            return;
    }
    graphss_i_log(ctx, GRAPHSS_LOG_WARN,
        "%s: feature %s of node %s is %g, over a million times the usual size (%.2g), and "
        "would dominate all others: is that right?",
        where, graphss_i_columns_called(name, &data->column_names, column),
        graphss_i_columns_called(node, &data->node_names, row), (double)f->value[largest],
        (double)usual);
}

graphss_status graphss_i_dataset_check(graphss_ctx *ctx, const graphss_dataset *data)
{
    const graphss_status st = check_parts(ctx, data);
    return st ? st : graphss_i_check_snapshot(ctx, &data->graph, &data->features);
}

static void refresh(graphss_dataset *data)
{
    data->features.kind = graphss_i_features_kind(&data->features);
    hash_dataset(data);
}

graphss_status graphss_dataset_refresh(graphss_ctx *ctx, graphss_dataset *data)
{
    if (GRAPHSS_I_LACKS(ctx, {"dataset", data}))
        return GRAPHSS_ERR_INVALID;
    const graphss_status st = graphss_i_dataset_check(ctx, data);
    if (!st)
        refresh(data);
    return st;
}

graphss_status graphss_i_dataset_finish(
    graphss_ctx *ctx, graphss_dataset *data, const char *where, const char *format)
{
    data->features.n_rows =
        data->features.n_cols ? data->features.n_rows : data->graph.n_nodes;
    const size_t columns = data->features.n_cols;
    graphss_status st = check_parts(ctx, data);
    if (!st)
        st = graphss_i_columns_drop_unused(ctx, data, where);
    if (!st && data->features.n_cols != columns) { /* missing cells are stored elsewhere */
        graphss_release(ctx, data->missing.node);
        graphss_release(ctx, data->missing.column);
        data->missing = (graphss_missing_cells){0};
    }
    if (!st)
        st = graphss_i_columns_check_range(
            ctx, &data->features, &data->node_names, &data->column_names);
    if (!st)
        refresh(data);
    if (st)
        return graphss_i_fail_in(ctx, st, where);
    data->cleaned.isolated = 0;
    for (size_t i = 0; i < data->graph.n_nodes; i++)
        data->cleaned.isolated += graphss_graph_degree(&data->graph, i) == 0;
    graphss_i_dataset_stem(data->name, sizeof data->name, where, format);
    snprintf(data->format, sizeof data->format, "%s", format);
    log_cleaning(ctx, data->name, &data->cleaned);
    warn_of_giant(ctx, data, where);
    return GRAPHSS_OK;
}
