/* planetoid.c - the eight files ind.NAME.{x,y,tx,ty,allx,ally,graph,test.index}.
 *
 * Nodes 0 .. rows(allx)-1 are the rows of allx and ally; row i of tx and ty belongs to the
 * node on line i of test.index. In citeseer 15 ids of that range are on no line: they stay
 * in the graph with empty features and an unknown label (-1). Common .npz files of citeseer
 * give them label 0, the argmax of a row of zeros, which is no annotation; all other nodes
 * agree.
 *
 * The public split: the rows of x train, the next 500 validate, test.index tests. */
#include "data/build.h"
#include "data/files/readers.h"
#include "data/formats/pickle.h"
#include <math.h>
#include <string.h>

enum { X, Y, TX, TY, ALLX, ALLY, GRAPH, INDEX, FILES };
enum { VALIDATE = 500 };

static const char *const ending[FILES] = {
    "x", "y", "tx", "ty", "allx", "ally", "graph", "test.index"};

typedef struct planetoid_file {
    char *path;
    char *bytes;
    size_t n_bytes;
    graphss_i_pickle *pickle; /* NULL for test.index */
} planetoid_file;

/* A csr_matrix of a pickle, its parts checked for shape. */
typedef struct feature_rows {
    const char *path;
    size_t rows, cols;
    const graphss_i_pickle_array *indptr, *indices, *data;
} feature_rows;

/* One-hot labels. */
typedef struct label_rows {
    const char *path;
    size_t rows, cols;
    const graphss_i_pickle_array *array;
} label_rows;

static graphss_status read_files(
    graphss_ctx *ctx, planetoid_file file[FILES], const char *prefix, uint64_t max_bytes)
{
    uint64_t left = max_bytes;
    for (size_t i = 0; i < FILES; i++) {
        planetoid_file *f = &file[i];
        f->path = graphss_i_format(ctx, "%s.%s", prefix, ending[i]);
        if (!f->path)
            return GRAPHSS_ERR_NOMEM;
        graphss_status st = graphss_i_file_read(ctx, &f->bytes, &f->n_bytes, f->path, left);
        if (st)
            return st;
        left -= f->n_bytes;
        if (i != INDEX)
            st = graphss_i_pickle_read(ctx, &f->pickle, f->bytes, f->n_bytes, f->path, left);
        if (st)
            return st;
    }
    return GRAPHSS_OK;
}

static graphss_status open_features(
    graphss_ctx *ctx, feature_rows *out, const planetoid_file *file)
{
    const graphss_i_pickle *p = file->pickle;
    const graphss_i_pickle_ref root = graphss_i_pickle_root(p);
    int64_t side[2] = {-1, -1};
    graphss_i_pickle_ref shape = graphss_i_pickle_get(p, root, "_shape");
    if (!shape)
        shape = graphss_i_pickle_get(p, root, "shape");
    graphss_i_pickle_walk walk = graphss_i_pickle_walk_start(p, shape);
    for (size_t d = 0; d < 2; d++)
        if (!graphss_i_pickle_int(&side[d], p, graphss_i_pickle_next(&walk)))
            side[d] = -1;
    *out = (feature_rows){
        .path = file->path,
        .indptr = graphss_i_pickle_array_of(p, graphss_i_pickle_get(p, root, "indptr")),
        .indices = graphss_i_pickle_array_of(p, graphss_i_pickle_get(p, root, "indices")),
        .data = graphss_i_pickle_array_of(p, graphss_i_pickle_get(p, root, "data")),
    };
    if (graphss_i_pickle_type_of(p, root) != GRAPHSS_I_PICKLE_MATRIX || !out->indptr ||
        !out->indices || !out->data)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s: want a csr_matrix with indptr, indices and data", file->path);
    if (side[0] < 0 || side[1] < 0 || side[0] >= INT32_MAX || side[1] >= INT32_MAX)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s: shape %lld x %lld, want two sizes below 2^31", file->path, (long long)side[0],
            (long long)side[1]);
    out->rows = (size_t)side[0];
    out->cols = (size_t)side[1];
    if (out->indptr->count != out->rows + 1 || out->data->count != out->indices->count)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s: %zu rows, %zu row starts, %zu indices and %zu values do "
            "not fit together",
            file->path, out->rows, out->indptr->count, out->indices->count, out->data->count);
    return GRAPHSS_OK;
}

static graphss_status open_labels(
    graphss_ctx *ctx, label_rows *out, const planetoid_file *file)
{
    const graphss_i_pickle_array *array =
        graphss_i_pickle_array_of(file->pickle, graphss_i_pickle_root(file->pickle));
    if (!array || array->n_dims != 2)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_DATA, "%s: want an array of two dimensions", file->path);
    *out = (label_rows){file->path, array->shape[0], array->shape[1], array};
    return GRAPHSS_OK;
}

static graphss_status want_equal(graphss_ctx *ctx, const char *path, const char *what,
    size_t found, size_t want, const char *other)
{
    if (found == want)
        return GRAPHSS_OK;
    return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: %zu %s, want %zu as in %s", path, found,
        what, want, other);
}

/* One id a line. *test is released by the caller. */
static graphss_status read_index(
    graphss_ctx *ctx, int32_t **test, size_t *n_test, const planetoid_file *file)
{
    /* A line takes two bytes or more, the last one perhaps one. */
    int32_t *node = graphss_i_alloc(ctx, file->n_bytes / 2 + 1, sizeof *node);
    if (!node)
        return GRAPHSS_ERR_NOMEM;
    size_t n = 0;
    const char *at = file->bytes, *end = at + file->n_bytes;
    for (size_t line = 1; at < end; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop)
            stop = end;
        size_t length = (size_t)(stop - at);
        while (length && (at[length - 1] == '\r' || at[length - 1] == ' '))
            length--;
        int64_t value = -1;
        if (length &&
            (!graphss_i_parse_int(&value, at, length) || value < 0 || value >= INT32_MAX)) {
            graphss_release(ctx, node);
            return graphss_i_fail(
                ctx, GRAPHSS_ERR_DATA, "%s:%zu: want the number of a node", file->path, line);
        }
        if (length)
            node[n++] = (int32_t)value;
        at = stop < end ? stop + 1 : end;
    }
    *test = node;
    *n_test = n;
    return GRAPHSS_OK;
}

/* The dict's edges, and the largest id in it or in its lists. */
typedef struct neighbour_lists {
    int32_t *from, *to; /* [count] */
    size_t count;
    size_t keys;
    int64_t largest;
} neighbour_lists;

/* Counts when lists->from is NULL, fills otherwise. */
static graphss_status walk_graph(
    graphss_ctx *ctx, neighbour_lists *lists, const planetoid_file *file)
{
    const graphss_i_pickle *p = file->pickle;
    const graphss_i_pickle_ref root = graphss_i_pickle_root(p);
    if (graphss_i_pickle_type_of(p, root) != GRAPHSS_I_PICKLE_DICT)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: want a dict of lists", file->path);
    graphss_i_pickle_walk walk = graphss_i_pickle_walk_start(p, root);
    graphss_i_pickle_ref key, item;
    lists->count = lists->keys = 0;
    lists->largest = -1;
    while ((key = graphss_i_pickle_next(&walk))) {
        const graphss_i_pickle_ref list = graphss_i_pickle_next(&walk);
        int64_t from = -1, to = -1;
        if (!graphss_i_pickle_int(&from, p, key) || from < 0 || from >= INT32_MAX)
            return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "%s: entry %zu: want the number of a node as key", file->path, lists->keys);
        if (graphss_i_pickle_type_of(p, list) != GRAPHSS_I_PICKLE_LIST)
            return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: node %lld: want a list",
                file->path, (long long)from);
        lists->keys++;
        if (from > lists->largest)
            lists->largest = from;
        graphss_i_pickle_walk items = graphss_i_pickle_walk_start(p, list);
        while ((item = graphss_i_pickle_next(&items))) {
            if (!graphss_i_pickle_int(&to, p, item) || to < 0 || to >= INT32_MAX)
                return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                    "%s: node %lld: a neighbour that is no node's number", file->path,
                    (long long)from);
            /* Lists may be shared, so their lengths do not add up to the file's size. */
            if (lists->count >= file->n_bytes)
                return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                    "%s: more edges than the file has bytes", file->path);
            if (lists->from) {
                lists->from[lists->count] = (int32_t)from;
                lists->to[lists->count] = (int32_t)to;
            }
            lists->count++;
            if (to > lists->largest)
                lists->largest = to;
        }
    }
    return GRAPHSS_OK;
}

static graphss_status read_graph(
    graphss_ctx *ctx, neighbour_lists *lists, const planetoid_file *file)
{
    const graphss_status st = walk_graph(ctx, lists, file);
    if (st)
        return st;
    int32_t *from = graphss_i_alloc(ctx, lists->count, sizeof *from);
    int32_t *to = graphss_i_alloc(ctx, lists->count, sizeof *to);
    if (!from || !to) {
        graphss_release(ctx, from);
        graphss_release(ctx, to);
        return GRAPHSS_ERR_NOMEM;
    }
    lists->from = from;
    lists->to = to;
    return walk_graph(ctx, lists, file);
}

/* row[i]: the row of allx for node i, or rows(allx) + the row of tx, or -1 if there is none.
 */
static graphss_status place_rows(graphss_ctx *ctx, int32_t *row, size_t n, size_t n_all,
    const int32_t *test, size_t n_test, const char *path)
{
    for (size_t i = 0; i < n; i++)
        row[i] = i < n_all ? (int32_t)i : -1;
    for (size_t t = 0; t < n_test; t++) {
        if (row[test[t]] >= 0)
            return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: entry %zu is node %d, which %s",
                path, t, (int)test[t],
                (size_t)test[t] < n_all ? "is a row of allx" : "stood there before");
        row[test[t]] = (int32_t)(n_all + t);
    }
    return GRAPHSS_OK;
}

/* Appends row r of source to column and value; *nnz grows. */
static graphss_status copy_row(graphss_ctx *ctx, int32_t *column, float *value, size_t *nnz,
    size_t room, const feature_rows *source, size_t r)
{
    int64_t begin = -1, end = -1, c = -1;
    if (!graphss_i_pickle_int_at(&begin, source->indptr, r) ||
        !graphss_i_pickle_int_at(&end, source->indptr, r + 1) || begin < 0 || end < begin ||
        (uint64_t)end > source->indices->count || (size_t)(end - begin) > room - *nnz)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s: indptr of row %zu: found %lld..%lld, want 0..%zu rising", source->path, r,
            (long long)begin, (long long)end, source->indices->count);
    for (int64_t e = begin; e < end; e++) {
        const double v = graphss_i_pickle_real_at(source->data, (size_t)e);
        if (!graphss_i_pickle_int_at(&c, source->indices, (size_t)e) || c < 0 ||
            (uint64_t)c >= source->cols)
            return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "%s: indices: entry %lld is %lld, want 0..%lld", source->path, (long long)e,
                (long long)c, (long long)source->cols - 1);
        if (!isfinite((float)v))
            return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "%s: data: entry %lld is %g, want a finite number", source->path, (long long)e,
                v);
        column[*nnz] = (int32_t)c;
        value[(*nnz)++] = (float)v;
    }
    return GRAPHSS_OK;
}

static graphss_status make_features(graphss_ctx *ctx, graphss_features *out,
    const feature_rows *all, const feature_rows *tx, const int32_t *row, size_t n)
{
    const size_t room = all->indices->count + tx->indices->count;
    size_t nnz = 0;
    graphss_status st = GRAPHSS_OK;
    int64_t *offset = graphss_i_alloc(ctx, n + 1, sizeof *offset);
    int32_t *column = graphss_i_alloc(ctx, room, sizeof *column);
    float *value = graphss_i_alloc(ctx, room, sizeof *value);
    if (!offset || !column || !value)
        st = GRAPHSS_ERR_NOMEM;
    else
        offset[0] = 0;
    for (size_t i = 0; i < n && !st; i++) {
        const size_t r = (size_t)row[i];
        if (row[i] >= 0)
            st = copy_row(ctx, column, value, &nnz, room, r < all->rows ? all : tx,
                r < all->rows ? r : r - all->rows);
        offset[i + 1] = (int64_t)nnz;
    }
    if (!st)
        return graphss_i_features_from_rows(
            ctx, out, n, all->cols, offset, column, value, nnz, "x");
    graphss_release(ctx, value);
    graphss_release(ctx, column);
    graphss_release(ctx, offset);
    return st;
}

/* The column of the 1 in row r; -1 if all are zero. */
static graphss_status one_hot(
    graphss_ctx *ctx, int32_t *out, const label_rows *labels, size_t r)
{
    int32_t found = -1;
    for (size_t c = 0; c < labels->cols; c++) {
        const double v = graphss_i_pickle_real_at(labels->array, r * labels->cols + c);
        if (v == 0)
            continue;
        if (v != 1 || found >= 0)
            return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "%s: row %zu, column %zu is %g, want a single 1 in a row", labels->path, r, c,
                v);
        found = (int32_t)c;
    }
    *out = found;
    return GRAPHSS_OK;
}

static graphss_status make_labels(graphss_ctx *ctx, graphss_dataset *data,
    const label_rows *all, const label_rows *ty, const label_rows *y, const int32_t *row,
    size_t n)
{
    data->n_classes = all->cols;
    data->label = graphss_i_alloc(ctx, n, sizeof *data->label);
    if (!data->label)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < n; i++) {
        data->label[i] = -1;
        if (row[i] < 0)
            continue;
        const size_t r = (size_t)row[i];
        const graphss_status st = one_hot(
            ctx, &data->label[i], r < all->rows ? all : ty, r < all->rows ? r : r - all->rows);
        if (st)
            return st;
    }
    for (size_t i = 0; i < y->rows; i++) {
        int32_t label = -1;
        const graphss_status st = one_hot(ctx, &label, y, i);
        if (st)
            return st;
        if (label != data->label[i])
            return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "%s: row %zu is class %d, want %d as in %s", y->path, i, (int)label,
                (int)data->label[i], all->path);
    }
    return GRAPHSS_OK;
}

/* Labelled nodes of begin..end-1. */
static graphss_status list_range(graphss_ctx *ctx, int32_t **node, int32_t **seen, size_t *n,
    size_t begin, size_t end, const int32_t *label)
{
    *node = graphss_i_alloc(ctx, end - begin, sizeof **node);
    *seen = graphss_i_alloc(ctx, end - begin, sizeof **seen);
    if (!*node || !*seen)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = begin; i < end; i++)
        if (label[i] >= 0) {
            (*node)[*n] = (int32_t)i;
            (*seen)[(*n)++] = label[i];
        }
    return GRAPHSS_OK;
}

static graphss_status make_split(graphss_ctx *ctx, graphss_dataset *data, size_t n_x,
    size_t n_all, const int32_t *test, size_t n_test)
{
    graphss_split *s = &data->split;
    const size_t val_end = n_x + VALIDATE < n_all ? n_x + VALIDATE : n_all;
    graphss_status st =
        list_range(ctx, &s->train, &s->train_label, &s->n_train, 0, n_x, data->label);
    if (!st)
        st = list_range(ctx, &s->val, &s->val_label, &s->n_val, n_x, val_end, data->label);
    if (st)
        return st;
    s->test = graphss_i_copy(ctx, test, n_test, sizeof *test);
    if (!s->test)
        return GRAPHSS_ERR_NOMEM;
    s->n_test = n_test;
    return GRAPHSS_OK;
}

/* All matrices of the seven pickles, fitted together. */
typedef struct planetoid_parts {
    feature_rows x, tx, allx;
    label_rows y, ty, ally;
} planetoid_parts;

static graphss_status open_parts(
    graphss_ctx *ctx, planetoid_parts *p, const planetoid_file file[FILES])
{
    const struct {
        feature_rows *features;
        label_rows *labels;
        size_t file;
    } pair[] = {{&p->allx, &p->ally, ALLX}, {&p->x, &p->y, X}, {&p->tx, &p->ty, TX}};
    for (size_t i = 0; i < 3; i++) {
        feature_rows *f = pair[i].features;
        label_rows *l = pair[i].labels;
        graphss_status st = open_features(ctx, f, &file[pair[i].file]);
        if (!st)
            st = open_labels(ctx, l, &file[pair[i].file + 1]);
        if (!st)
            st = want_equal(ctx, f->path, "columns", f->cols, p->allx.cols, p->allx.path);
        if (!st)
            st = want_equal(ctx, l->path, "classes", l->cols, p->ally.cols, p->ally.path);
        if (!st)
            st = want_equal(ctx, l->path, "rows", l->rows, f->rows, f->path);
        if (st)
            return st;
    }
    if (p->x.rows > p->allx.rows)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s: %zu rows, want at most the %zu of %s", p->x.path, p->x.rows, p->allx.rows,
            p->allx.path);
    return GRAPHSS_OK;
}

/* One more than the largest id. Ids must be dense enough: otherwise an id of 2^30 in a small
 * file would ask for gigabytes. */
static graphss_status count_nodes(graphss_ctx *ctx, size_t *out, const planetoid_parts *p,
    const int32_t *test, const neighbour_lists *lists, const char *path)
{
    const size_t most = p->allx.rows + p->tx.rows + lists->keys;
    size_t n = p->allx.rows;
    for (size_t t = 0; t < p->tx.rows; t++)
        if ((size_t)test[t] >= n)
            n = (size_t)test[t] + 1;
    if (lists->largest >= (int64_t)n)
        n = (size_t)lists->largest + 1;
    if (n > most)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s: ids reach %zu, want below %zu: one for each row of allx "
            "and tx and each entry of graph",
            path, n - 1, most);
    *out = n;
    return GRAPHSS_OK;
}

static graphss_status assemble(
    graphss_ctx *ctx, graphss_dataset *data, const planetoid_file file[FILES])
{
    planetoid_parts p = {0};
    neighbour_lists lists = {0};
    int32_t *test = NULL, *row = NULL;
    size_t n_test = 0, n = 0;

    graphss_status st = open_parts(ctx, &p, file);
    if (!st)
        st = read_index(ctx, &test, &n_test, &file[INDEX]);
    if (!st)
        st = want_equal(ctx, file[INDEX].path, "nodes", n_test, p.tx.rows, p.tx.path);
    if (!st)
        st = read_graph(ctx, &lists, &file[GRAPH]);
    if (!st)
        st = count_nodes(ctx, &n, &p, test, &lists, file[GRAPH].path);
    if (st)
        goto done;

    row = graphss_i_alloc(ctx, n, sizeof *row);
    if (!row) {
        st = GRAPHSS_ERR_NOMEM;
        goto done;
    }
    st = place_rows(ctx, row, n, p.allx.rows, test, n_test, file[INDEX].path);
    if (!st)
        st = make_features(ctx, &data->features, &p.allx, &p.tx, row, n);
    if (!st)
        st = make_labels(ctx, data, &p.ally, &p.ty, &p.y, row, n);
    if (!st)
        st = make_split(ctx, data, p.x.rows, p.allx.rows, test, n_test);
    if (!st)
        st = graphss_graph_build(
            ctx, &data->graph, &data->cleaned, n, lists.from, lists.to, lists.count);
done:
    graphss_release(ctx, row);
    graphss_release(ctx, test);
    graphss_release(ctx, lists.to);
    graphss_release(ctx, lists.from);
    return st;
}

graphss_status graphss_i_read_planetoid(graphss_ctx *ctx, graphss_dataset *out,
    const char *prefix, uint64_t max_bytes, graphss_missing_rule missing)
{
    (void)missing;
    planetoid_file file[FILES] = {0};
    graphss_dataset data = {0};
    graphss_status st = read_files(ctx, file, prefix, max_bytes);
    if (!st)
        st = assemble(ctx, &data, file);
    if (!st)
        st = graphss_i_dataset_finish(ctx, &data, prefix, "planetoid");
    if (!st) {
        *out = data;
        data = (graphss_dataset){0};
    }
    graphss_dataset_destroy(ctx, &data);
    for (size_t i = 0; i < FILES; i++) {
        graphss_i_pickle_free(ctx, file[i].pickle);
        graphss_release(ctx, file[i].bytes);
        graphss_release(ctx, file[i].path);
    }
    return st;
}
