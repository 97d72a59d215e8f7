/* build.c - loose rows, blocks and labels made sound.
 *
 * Each dataset has one canonical form (columns ascending, no zeros, dense where
 * graphss_i_prefers_dense says so), so equal datasets are equal in memory and have equal
 * hashes. Files are nearly always sorted already: one pass checks, and only unsorted rows are
 * sorted. */
#include "data/build.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Names of the parts of a matrix, in arguments and in files. */
enum { OFFSET, COLUMN, VALUE };

/* "adj_indices", or just "indices" if what is NULL, for an argument. */
typedef struct part_name {
    char text[96];
} part_name;

static part_name part_of(const char *what, int part)
{
    static const char *const argument[] = {"offset", "column", "value"};
    static const char *const in_file[] = {"indptr", "indices", "data"};
    part_name name;
    const size_t n = what ? strlen(what) : 0;
    const char *joint = n == 0 || what[n - 1] == '.' || what[n - 1] == '_' ? "" : "_";
    snprintf(name.text, sizeof name.text, "%s%s%s", what ? what : "", joint,
        what ? in_file[part] : argument[part]);
    return name;
}

static graphss_status check_rows(graphss_ctx *ctx, const int64_t *offset,
    const int32_t *column, const float *value, size_t n_rows, size_t n_cols, size_t nnz,
    const char *what)
{
    if (offset[0] != 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "array '%s': entry 0 is %lld, want 0",
            part_of(what, OFFSET).text, (long long)offset[0]);
    for (size_t i = 0; i < n_rows; i++)
        if (offset[i + 1] < offset[i] || (uint64_t)offset[i + 1] > nnz)
            return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "array '%s': entry %zu is %lld, want %lld..%zu", part_of(what, OFFSET).text,
                i + 1, (long long)offset[i + 1], (long long)offset[i], nnz);
    if ((uint64_t)offset[n_rows] != nnz)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "array '%s': the last entry is %lld, want %zu", part_of(what, OFFSET).text,
            (long long)offset[n_rows], nnz);
    if (nnz && n_cols == 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "array '%s': %zu entries, want none: there are no columns",
            part_of(what, COLUMN).text, nnz);
    for (size_t e = 0; e < nnz; e++)
        if (column[e] < 0 || (size_t)column[e] >= n_cols)
            return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "array '%s': entry %zu is %d, want 0..%zu", part_of(what, COLUMN).text, e,
                (int)column[e], n_cols - 1);
    for (size_t e = 0; value && e < nnz; e++)
        if (!isfinite(value[e]))
            return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "array '%s': entry %zu is %g, want a finite number", part_of(what, VALUE).text,
                e, (double)value[e]);
    return GRAPHSS_OK;
}

static graphss_feature_kind kind_of(const float *value, size_t n)
{
    graphss_feature_kind kind = GRAPHSS_FEATURES_BINARY;
    for (size_t e = 0; e < n; e++) {
        const float v = value[e];
        if (v == 0 || v == 1)
            continue;
        if (v < 0 || v != floorf(v))
            return GRAPHSS_FEATURES_REAL;
        kind = GRAPHSS_FEATURES_COUNTS;
    }
    return kind;
}

graphss_feature_kind graphss_i_features_kind(const graphss_features *features)
{
    return features->n_cols == 0 ? GRAPHSS_FEATURES_NONE
                                 : kind_of(features->value, graphss_features_stored(features));
}

static int by_key(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The length of the longest row whose columns do not ascend; 0 if all do. */
static size_t longest_unsorted(const int64_t *offset, const int32_t *column, size_t n_rows)
{
    size_t longest = 0;
    for (size_t i = 0; i < n_rows; i++)
        for (int64_t e = offset[i] + 1; e < offset[i + 1]; e++)
            if (column[e] < column[e - 1]) {
                const size_t length = (size_t)(offset[i + 1] - offset[i]);
                longest = length > longest ? length : longest;
                break;
            }
    return longest;
}

/* Sorts rows by column, equal columns in file order so that their sum is well defined. */
static graphss_status sort_rows(
    graphss_ctx *ctx, const int64_t *offset, int32_t *column, float *value, size_t n_rows)
{
    const size_t longest = longest_unsorted(offset, column, n_rows);
    if (longest == 0)
        return GRAPHSS_OK;
    if (longest > UINT32_MAX)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "a row of %zu entries, want at most %u",
            longest, UINT32_MAX);
    uint64_t *key = graphss_i_alloc(ctx, longest, sizeof *key); /* column, then position in the
                                                                 * row */
    float *moved = graphss_i_alloc(ctx, longest, sizeof *moved);
    for (size_t i = 0; key && moved && i < n_rows; i++) {
        const size_t begin = (size_t)offset[i], n = (size_t)offset[i + 1] - begin;
        bool sorted = true;
        for (size_t e = 1; e < n && sorted; e++)
            sorted = column[begin + e - 1] <= column[begin + e];
        if (sorted)
            continue;
        for (size_t e = 0; e < n; e++) {
            key[e] = (uint64_t)column[begin + e] << 32 | e;
            moved[e] = value[begin + e];
        }
        qsort(key, n, sizeof *key, by_key);
        for (size_t e = 0; e < n; e++) {
            column[begin + e] = (int32_t)(key[e] >> 32);
            value[begin + e] = moved[key[e] & UINT32_MAX];
        }
    }
    const bool fine = key && moved;
    graphss_release(ctx, moved);
    graphss_release(ctx, key);
    return fine ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

/* Sums duplicates in ascending rows and drops zeros, in place; returns the number of entries
 * left. */
static size_t squeeze_rows(int64_t *offset, int32_t *column, float *value, size_t n_rows)
{
    int64_t kept = 0, begin = 0;
    for (size_t i = 0; i < n_rows; i++) {
        const int64_t end = offset[i + 1];
        for (int64_t e = begin; e < end;) {
            const int32_t c = column[e];
            double sum = 0;
            for (; e < end && column[e] == c; e++)
                sum += value[e];
            if ((float)sum != 0) {
                column[kept] = c;
                value[kept++] = (float)sum;
            }
        }
        begin = end;
        offset[i + 1] = kept;
    }
    return (size_t)kept;
}

/* True if all rows ascend without duplicates and hold no zeros. */
static bool clean_rows(
    const int64_t *offset, const int32_t *column, const float *value, size_t n_rows)
{
    bool clean = true;
    for (size_t i = 0; i < n_rows && clean; i++) {
        int bad = 0;
        for (int64_t e = offset[i]; e < offset[i + 1]; e++)
            bad |= value[e] == 0;
        for (int64_t e = offset[i] + 1; e < offset[i + 1]; e++)
            bad |= column[e - 1] >= column[e];
        clean = !bad;
    }
    return clean;
}

bool graphss_i_prefers_dense(
    graphss_feature_kind kind, size_t n_rows, size_t n_cols, const size_t *filled, size_t nnz)
{
    enum { FEWEST = 16 }; /* at least one cell in FEWEST is filled */
    size_t cells, measured = 0;
    const bool fits = graphss_i_mul(&cells, n_rows, n_cols);
    if (fits && nnz > cells / 2)
        return true;
    if (!fits || kind != GRAPHSS_FEATURES_REAL || nnz < cells / FEWEST || !filled)
        return false;
    for (size_t c = 0; c < n_cols; c++)
        measured += filled[c] > n_rows / 2 ? filled[c] : 0;
    return measured > nnz / 2;
}

/* column NULL: value is a whole block; else there are nnz entries. */
static graphss_status prefers_dense(graphss_ctx *ctx, bool *dense, graphss_feature_kind kind,
    size_t n_rows, size_t n_cols, const int32_t *column, const float *value, size_t nnz)
{
    size_t *filled = NULL;
    if (kind == GRAPHSS_FEATURES_REAL) {
        filled = graphss_i_calloc(ctx, n_cols, sizeof *filled);
        if (!filled)
            return GRAPHSS_ERR_NOMEM;
        for (size_t e = 0; column && e < nnz; e++)
            filled[column[e]]++;
        for (size_t i = 0; !column && i < n_rows; i++)
            for (size_t c = 0; c < n_cols; c++)
                filled[c] += value[i * n_cols + c] != 0;
    }
    *dense = graphss_i_prefers_dense(kind, n_rows, n_cols, filled, nnz);
    graphss_release(ctx, filled);
    return GRAPHSS_OK;
}

graphss_status graphss_i_features_from_rows(graphss_ctx *ctx, graphss_features *out,
    size_t n_rows, size_t n_cols, int64_t *offset, int32_t *column, float *value, size_t nnz,
    const char *what)
{
    graphss_status st = check_rows(ctx, offset, column, value, n_rows, n_cols, nnz, what);
    float *block = NULL;
    if (st)
        goto done;
    if (n_cols > INT32_MAX) {
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: %zu columns, want at most %d",
            what ? what : "features", n_cols, INT32_MAX);
        goto done;
    }
    if (!value) {
        st = GRAPHSS_ERR_NOMEM;
        value = graphss_i_alloc(ctx, nnz, sizeof *value);
        if (!value)
            goto done;
        for (size_t e = 0; e < nnz; e++)
            value[e] = 1;
    }
    const bool clean = clean_rows(offset, column, value, n_rows);
    st = clean ? GRAPHSS_OK : sort_rows(ctx, offset, column, value, n_rows);
    if (st)
        goto done;
    if (!clean)
        nnz = squeeze_rows(offset, column, value, n_rows);
    for (size_t e = 0; e < nnz && !clean; e++)
        if (!isfinite(value[e])) {
            st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "%s: repeated entries of column %d add up beyond float", what ? what : "value",
                (int)column[e]);
            goto done;
        }

    graphss_features made = {.n_rows = n_rows, .n_cols = n_cols};
    made.kind = n_cols ? kind_of(value, nnz) : GRAPHSS_FEATURES_NONE;
    bool dense = false;
    if (n_cols)
        st = prefers_dense(ctx, &dense, made.kind, n_rows, n_cols, column, value, nnz);
    if (st)
        goto done;
    if (dense) {
        block = graphss_i_calloc(ctx, n_rows * n_cols, sizeof *block);
        if (!block) {
            st = GRAPHSS_ERR_NOMEM;
            goto done;
        }
        for (size_t i = 0; i < n_rows; i++)
            for (int64_t e = offset[i]; e < offset[i + 1]; e++)
                block[i * n_cols + (size_t)column[e]] = value[e];
        made.value = block;
    } else if (n_cols) {
        made.offset = offset;
        made.column = column;
        made.value = value;
        offset = NULL;
        column = NULL;
        value = NULL;
    }
    *out = made;
done:
    graphss_release(ctx, value);
    graphss_release(ctx, column);
    graphss_release(ctx, offset);
    return st;
}

graphss_status graphss_i_features_from_dense(graphss_ctx *ctx, graphss_features *out,
    size_t n_rows, size_t n_cols, float *value, const char *what)
{
    const size_t cells = n_rows * n_cols;
    graphss_status st = GRAPHSS_OK;
    graphss_features made = {.n_rows = n_rows, .n_cols = n_cols};
    size_t nnz = 0;
    for (size_t e = 0; e < cells; e++) {
        if (!isfinite(value[e])) {
            st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "array '%s': row %zu, column %zu is %g, want a finite number", what,
                e / n_cols, e % n_cols, (double)value[e]);
            goto done;
        }
        nnz += value[e] != 0;
    }
    made.kind = n_cols ? kind_of(value, cells) : GRAPHSS_FEATURES_NONE;
    bool dense = false;
    if (n_cols)
        st = prefers_dense(ctx, &dense, made.kind, n_rows, n_cols, NULL, value, nnz);
    if (st)
        goto done;
    if (dense) {
        for (size_t e = 0; e < cells; e++)
            value[e] += 0.0f; /* minus zero becomes zero */
        made.value = value;
        value = NULL;
    } else if (n_cols) {
        made.offset = graphss_i_alloc(ctx, n_rows + 1, sizeof *made.offset);
        made.column = graphss_i_alloc(ctx, nnz, sizeof *made.column);
        made.value = graphss_i_alloc(ctx, nnz, sizeof *made.value);
        if (!made.offset || !made.column || !made.value) {
            st = GRAPHSS_ERR_NOMEM;
            goto done;
        }
        int64_t at = 0;
        made.offset[0] = 0;
        for (size_t i = 0; i < n_rows; i++) {
            for (size_t c = 0; c < n_cols; c++)
                if (value[i * n_cols + c] != 0) {
                    made.column[at] = (int32_t)c;
                    made.value[at++] = value[i * n_cols + c];
                }
            made.offset[i + 1] = at;
        }
    }
    *out = made;
    made = (graphss_features){0};
done:
    graphss_features_destroy(ctx, &made);
    graphss_release(ctx, value);
    return st;
}

static graphss_status check_sizes(
    graphss_ctx *ctx, size_t *cells, size_t n_rows, size_t n_cols)
{
    if (n_rows <= INT32_MAX && n_cols <= INT32_MAX && graphss_i_mul(cells, n_rows, n_cols))
        return GRAPHSS_OK;
    return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
        "%zu rows of %zu features, want at most %d of both", n_rows, n_cols, INT32_MAX);
}

graphss_status graphss_features_from_rows(graphss_ctx *ctx, graphss_features *out,
    size_t n_rows, size_t n_cols, const int64_t *offset, const int32_t *column,
    const float *value)
{
    size_t cells;
    if (GRAPHSS_I_LACKS(ctx, {"offsets", offset}, {"place for the features", out}))
        return GRAPHSS_ERR_INVALID;
    graphss_status st = check_sizes(ctx, &cells, n_rows, n_cols);
    if (st)
        return st;
    const size_t nnz = offset[n_rows] > 0 ? (size_t)offset[n_rows] : 0;
    if (GRAPHSS_I_LACKS(ctx, {"columns", GRAPHSS_I_FILLED(column, nnz)}))
        return GRAPHSS_ERR_INVALID;
    st = check_rows(ctx, offset, column, value, n_rows, n_cols, nnz, NULL);
    if (st)
        return st;
    int64_t *o = graphss_i_copy(ctx, offset, n_rows + 1, sizeof *o);
    int32_t *c = graphss_i_copy(ctx, column, nnz, sizeof *c);
    float *v = value ? graphss_i_copy(ctx, value, nnz, sizeof *v) : NULL;
    if (o && c && (v || !value))
        return graphss_i_features_from_rows(ctx, out, n_rows, n_cols, o, c, v, nnz, NULL);
    graphss_release(ctx, v);
    graphss_release(ctx, c);
    graphss_release(ctx, o);
    return GRAPHSS_ERR_NOMEM;
}

graphss_status graphss_features_from_dense(
    graphss_ctx *ctx, graphss_features *out, size_t n_rows, size_t n_cols, const float *value)
{
    size_t cells;
    const graphss_status st = check_sizes(ctx, &cells, n_rows, n_cols);
    if (st)
        return st;
    if (GRAPHSS_I_LACKS(
            ctx, {"values", GRAPHSS_I_FILLED(value, cells)}, {"place for the features", out}))
        return GRAPHSS_ERR_INVALID;
    float *v = graphss_i_copy(ctx, value, cells, sizeof *v);
    return v ? graphss_i_features_from_dense(ctx, out, n_rows, n_cols, v, "value")
             : GRAPHSS_ERR_NOMEM;
}

graphss_status graphss_i_graph_from_pairs(graphss_ctx *ctx, graphss_graph *out, size_t n,
    const int32_t *from, const int32_t *to, const float *weight, size_t m,
    graphss_cleaning *cleaned)
{
    graphss_status st = GRAPHSS_ERR_NOMEM;
    int64_t zeros = 0, weighted = 0;
    int32_t *some_from = NULL, *some_to = NULL; /* edges with non-zero weight, if some have
                                                 * weight zero */
    for (size_t e = 0; weight && e < m; e++) {
        zeros += weight[e] == 0;
        weighted += weight[e] != 0 && weight[e] != 1;
    }
    if (zeros) {
        const size_t kept = m - (size_t)zeros;
        some_from = graphss_i_alloc(ctx, kept, sizeof *some_from);
        some_to = graphss_i_alloc(ctx, kept, sizeof *some_to);
        if (!some_from || !some_to)
            goto done;
        size_t at = 0;
        for (size_t e = 0; e < m; e++)
            if (weight[e] != 0) {
                some_from[at] = from[e];
                some_to[at++] = to[e];
            }
        from = some_from;
        to = some_to;
        m = kept;
    }
    st = graphss_graph_build(ctx, out, cleaned, n, from, to, m);
    if (st == GRAPHSS_OK && cleaned) {
        cleaned->zeros = zeros;
        cleaned->weighted = weighted;
    }
done:
    graphss_release(ctx, some_to);
    graphss_release(ctx, some_from);
    return st;
}

graphss_status graphss_i_graph_from_rows(graphss_ctx *ctx, graphss_graph *out, size_t n,
    const int64_t *offset, const int32_t *column, const float *weight, size_t nnz,
    const char *what, graphss_cleaning *cleaned)
{
    graphss_status st = check_rows(ctx, offset, column, weight, n, n, nnz, what);
    if (st)
        return st;
    int32_t *from = graphss_i_alloc(ctx, nnz, sizeof *from);
    if (!from)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        for (int64_t e = offset[i]; e < offset[i + 1]; e++)
            from[e] = (int32_t)i;
    st = graphss_i_graph_from_pairs(ctx, out, n, from, column, weight, nnz, cleaned);
    graphss_release(ctx, from);
    return st;
}

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

graphss_status graphss_i_labels_from_ints(
    graphss_ctx *ctx, graphss_dataset *data, const int64_t *label, size_t n, const char *what)
{
    graphss_status st = GRAPHSS_ERR_NOMEM;
    graphss_i_name_list list = {0};
    graphss_names names = {0};
    int64_t *value = graphss_i_alloc(ctx, n, sizeof *value); /* distinct ones, ascending */
    int32_t *class_of = graphss_i_alloc(ctx, n, sizeof *class_of);
    if (!value || !class_of)
        goto done;

    size_t k = 0, known = 0;
    for (size_t i = 0; i < n; i++)
        if (label[i] >= 0)
            value[known++] = label[i];
    qsort(value, known, sizeof *value, by_value);
    for (size_t i = 0; i < known; i++)
        if (i == 0 || value[i] != value[i - 1])
            value[k++] = value[i];

    const size_t named = data->class_names.count;
    if (named && k && (uint64_t)value[k - 1] >= named) {
        for (size_t i = 0; i < n; i++)
            if (label[i] >= 0 && (uint64_t)label[i] >= named) {
                st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                    "array '%s': entry %zu is %lld, want 0..%zu", what, i, (long long)label[i],
                    named - 1);
                goto done;
            }
    }
    const bool plain = named || k == 0 || (uint64_t)value[k - 1] == k - 1;
    for (size_t i = 0; i < n; i++) {
        class_of[i] = -1;
        if (label[i] >= 0 && plain)
            class_of[i] = (int32_t)label[i];
        else if (label[i] >= 0) {
            const int64_t *at = bsearch(&label[i], value, k, sizeof *value, by_value);
            class_of[i] = (int32_t)(at - value);
        }
    }
    for (size_t c = 0; !plain && c < k; c++) {
        char text[24];
        const int length = snprintf(text, sizeof text, "%lld", (long long)value[c]);
        st = graphss_i_name_list_add(ctx, &list, text, (size_t)length);
        if (st)
            goto done;
    }
    if (!plain) {
        st = graphss_i_name_list_finish(ctx, &names, &list);
        if (st)
            goto done;
        data->class_names = names;
    }
    data->n_classes = named ? named : k;
    data->label = class_of;
    class_of = NULL;
    st = GRAPHSS_OK;
done:
    graphss_i_name_list_destroy(ctx, &list);
    graphss_release(ctx, class_of);
    graphss_release(ctx, value);
    return st;
}
