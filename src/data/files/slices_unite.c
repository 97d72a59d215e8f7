/* slices_unite.c - joins slices of nodes.csv: the column of each word, the class of each
 * label, whether features are dense. All ranks get the result of one machine that reads the
 * lines in order. */
#include "data/files/slices.h"
#include <string.h>

void graphss_i_slices_close(graphss_ctx *ctx, sliced *g)
{
    graphss_release(ctx, g->first);
    graphss_release(ctx, g->number);
    graphss_i_shard_destroy(ctx, &g->shard);
    graphss_names_destroy(ctx, &g->class_names);
    graphss_names_destroy(ctx, &g->column_names);
    graphss_split_destroy(ctx, &g->split);
}

/* ---- words and labels that ranks met ---- */

/* The distinct texts of all ranks, in the order of the ranks. *met [own->count] (may be NULL)
 * has the new numbers of the own ones. */
static graphss_status unite_names(
    graphss_ctx *ctx, graphss_i_intern *all, int32_t **met, const graphss_i_name_list *own)
{
    graphss_i_pieces pieces = {0};
    graphss_status st = graphss_i_ranks_pieces(ctx, &pieces, own->text, own->bytes);
    for (size_t r = 0; r < graphss_i_ranks(ctx) && !st; r++) {
        const char *text = pieces.block + r * pieces.most, *end = text + pieces.bytes[r];
        for (size_t at; text < end && !st; text += strlen(text) + 1)
            st = graphss_i_intern_add(ctx, &at, NULL, all, text, strlen(text));
    }
    graphss_i_pieces_destroy(ctx, &pieces);
    if (!st && met) {
        *met = graphss_i_alloc(ctx, own->count, sizeof **met);
        st = *met ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    }
    for (size_t i = 0; i < own->count && !st && met; i++) {
        const char *text = own->text + own->start[i];
        (*met)[i] = (int32_t)graphss_i_intern_find(all, text, strlen(text));
    }
    return graphss_engine_agree(ctx, st, NULL);
}

/* The texts of the columns or classes [n] of a slice: their names, or their numbers. */
static graphss_status list_names(
    graphss_ctx *ctx, graphss_i_name_list *out, const graphss_names *names, size_t n)
{
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < n && !st; i++) {
        char number[24];
        snprintf(number, sizeof number, "%zu", i);
        const char *text = names->count ? graphss_names_get(names, i) : number;
        st = graphss_i_name_list_add(ctx, out, text, strlen(text));
    }
    return st;
}

/* A class that a slice does not have is given to one more node each, so that all ranks number
 * the same classes. */
static graphss_status unite_labels(graphss_ctx *ctx, sliced *g, const graphss_dataset *t)
{
    const size_t n =
        (size_t)(g->first[graphss_i_rank(ctx) + 1] - g->first[graphss_i_rank(ctx)]);
    graphss_i_name_list own = {0};
    graphss_i_intern all = {0};
    graphss_dataset labelled = {0};
    int32_t *met = NULL, *class_of = NULL;
    graphss_status st = list_names(ctx, &own, &t->class_names, t->label ? t->n_classes : 0);
    st = graphss_engine_agree(ctx, st, NULL);
    if (!st)
        st = unite_names(ctx, &all, &met, &own);
    const size_t k = all.list.count;
    if (!st) {
        class_of = graphss_i_alloc(ctx, n + k, sizeof *class_of);
        st = class_of ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    }
    for (size_t i = 0; i < n + k && !st; i++)
        class_of[i] = i >= n                         ? (int32_t)(i - n)
                      : t->label && t->label[i] >= 0 ? met[t->label[i]]
                                                     : -1;
    if (!st)
        st = graphss_i_labels_from_texts(ctx, &labelled, &all, class_of, n + k, g->where);
    g->shard.label = labelled.label; /* has room for a few more */
    g->n_classes = labelled.n_classes;
    g->class_names = labelled.class_names;
    graphss_release(ctx, class_of);
    graphss_release(ctx, met);
    graphss_i_intern_destroy(ctx, &all);
    graphss_i_name_list_destroy(ctx, &own);
    return graphss_engine_agree(ctx, st, NULL);
}

/* ---- the split ---- */

static graphss_status unite_list(graphss_ctx *ctx, int32_t **out, int32_t **label, size_t *n,
    sliced *g, const int32_t *node, size_t n_own)
{
    const int64_t base = g->first[graphss_i_rank(ctx)];
    graphss_i_pieces pieces = {0};
    int32_t *own = graphss_i_alloc(ctx, n_own, 2 * sizeof *own); /* node, label */
    graphss_status st = own ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    if (!st && n_own && g->n_all > INT32_MAX)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_LIMIT, "%s: masks for %zu nodes, at most %d",
            g->where, g->n_all, INT32_MAX);
    for (size_t i = 0; i < n_own && !st; i++) {
        own[2 * i] = (int32_t)(base + node[i]);
        own[2 * i + 1] = g->shard.label ? g->shard.label[node[i]] : -1;
    }
    st = graphss_engine_agree(ctx, st, NULL);
    if (!st)
        st = graphss_i_ranks_pieces(ctx, &pieces, own, n_own * 2 * sizeof *own);
    size_t total = 0;
    for (size_t r = 0; r < graphss_i_ranks(ctx) && !st; r++)
        total += pieces.bytes[r] / (2 * sizeof *own);
    if (!st && total) {
        *out = graphss_i_alloc(ctx, total, sizeof **out);
        if (label)
            *label = graphss_i_alloc(ctx, total, sizeof **label);
        st = *out && (!label || *label) ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    }
    for (size_t r = 0; r < graphss_i_ranks(ctx) && !st; r++) {
        const int32_t *pair = (const int32_t *)(const void *)(pieces.block + r * pieces.most);
        for (size_t i = 0; i < pieces.bytes[r] / (2 * sizeof *own); i++, ++*n) {
            (*out)[*n] = pair[2 * i];
            if (label)
                (*label)[*n] = pair[2 * i + 1];
        }
    }
    graphss_i_pieces_destroy(ctx, &pieces);
    graphss_release(ctx, own);
    return graphss_engine_agree(ctx, st, NULL);
}

static graphss_status unite_split(graphss_ctx *ctx, sliced *g, const graphss_split *own)
{
    graphss_split *s = &g->split;
    graphss_status st =
        unite_list(ctx, &s->train, &s->train_label, &s->n_train, g, own->train, own->n_train);
    if (!st)
        st = unite_list(ctx, &s->val, &s->val_label, &s->n_val, g, own->val, own->n_val);
    if (!st)
        st = unite_list(ctx, &s->test, NULL, &s->n_test, g, own->test, own->n_test);
    return st;
}

/* ---- features ---- */

/* The texts of all ranks are equal, or *same is false. */
static graphss_status compare_names(graphss_ctx *ctx, bool *same, const graphss_names *own)
{
    graphss_i_pieces pieces = {0};
    const graphss_status st = graphss_i_ranks_pieces(
        ctx, &pieces, own->text, own->count ? own->start[own->count] : 0);
    *same = true;
    for (size_t r = 1; r < graphss_i_ranks(ctx) && !st; r++)
        *same = *same && pieces.bytes[r] == pieces.bytes[0] &&
                !memcmp(pieces.block, pieces.block + r * pieces.most, pieces.bytes[0]);
    graphss_i_pieces_destroy(ctx, &pieces);
    return st;
}

/* Slices must agree on the columns; words may differ. */
static graphss_status check_columns(
    graphss_ctx *ctx, const sliced *g, const graphss_dataset *t, graphss_i_feature_form form)
{
    size_t most = (size_t)form, cols = t->features.n_cols, empty = t->missing.count;
    bool same = true;
    graphss_status st = graphss_i_ranks_most(ctx, &most);
    if (!st)
        st = graphss_i_ranks_most(ctx, &cols);
    if (!st)
        st = graphss_i_ranks_total(ctx, &empty);
    if (!st && most == GRAPHSS_I_FORM_COLUMNS)
        st = compare_names(ctx, &same, &t->column_names);
    if (st)
        return st;
    if (empty)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s/nodes.csv: %zu empty cells, whose mean needs the whole file: fill them, or "
            "shard on one machine",
            g->where, empty);
    else if (!same)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s/nodes.csv: a column of text has other values in other slices: "
            "want numbers, or words in a column feat",
            g->where);
    else if (most == GRAPHSS_I_FORM_NUMBERS &&
             ((size_t)form != most || t->features.n_cols != cols))
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s/nodes.csv: found %zu features, want %zu in each line", g->where,
            t->features.n_cols, cols);
    else if (most == GRAPHSS_I_FORM_WORDS && form == GRAPHSS_I_FORM_NUMBERS)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s/nodes.csv: found numbers, want WORD:VALUE or COLUMN:VALUE", g->where);
    return graphss_engine_agree(ctx, st, NULL);
}

/* Words get columns in the order of the file; numbers stay if all are numbers. */
static graphss_status unite_words(graphss_ctx *ctx, sliced *g, graphss_dataset *t)
{
    graphss_features *f = &t->features;
    graphss_i_name_list own = {0};
    graphss_i_intern all = {0};
    int32_t *met = NULL;
    size_t named = t->column_names.count, cols = f->n_cols;
    graphss_status st = graphss_i_ranks_most(ctx, &named);
    if (!st)
        st = graphss_i_ranks_most(ctx, &cols);
    f->n_cols = f->n_cols ? f->n_cols : cols;
    if (st || !named) {
        f->n_cols = cols;
        return st;
    }
    st = list_names(ctx, &own, &t->column_names, f->offset ? f->n_cols : 0);
    st = graphss_engine_agree(ctx, st, NULL);
    if (!st)
        st = unite_names(ctx, &all, &met, &own);
    for (size_t e = 0; !st && f->offset && e < (size_t)f->offset[f->n_rows]; e++)
        f->column[e] = met[f->column[e]];
    f->n_cols = all.list.count;
    if (!st)
        st = graphss_i_name_list_finish(ctx, &g->column_names, &all.list);
    graphss_release(ctx, met);
    graphss_i_intern_destroy(ctx, &all);
    graphss_i_name_list_destroy(ctx, &own);
    return graphss_engine_agree(ctx, st, NULL);
}

/* Stored sparse, as words of a slice may not be. */
static graphss_status make_sparse(graphss_ctx *ctx, graphss_features *f)
{
    const size_t cells = f->offset ? 0 : f->n_rows * f->n_cols;
    size_t stored = 0;
    if (f->offset)
        return GRAPHSS_OK;
    for (size_t e = 0; e < cells; e++)
        stored += f->value[e] != 0;
    graphss_features x = {.n_rows = f->n_rows,
        .n_cols = f->n_cols,
        .kind = f->kind,
        .offset = graphss_i_calloc(ctx, f->n_rows + 1, sizeof *x.offset),
        .column = graphss_i_alloc(ctx, stored, sizeof *x.column),
        .value = graphss_i_alloc(ctx, stored, sizeof *x.value)};
    if (!x.offset || !x.column || !x.value) {
        graphss_features_destroy(ctx, &x);
        return GRAPHSS_ERR_NOMEM;
    }
    for (size_t e = 0, at = 0; e < cells; e++) {
        if (f->value[e] != 0) {
            x.column[at] = (int32_t)(e % f->n_cols);
            x.value[at++] = f->value[e];
        }
        x.offset[e / f->n_cols + 1] = (int64_t)at;
    }
    graphss_features_destroy(ctx, f);
    *f = x;
    return GRAPHSS_OK;
}

static graphss_status make_dense(graphss_ctx *ctx, graphss_features *f)
{
    float *block = graphss_i_calloc(ctx, f->n_rows * f->n_cols, sizeof *block);
    if (!block)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < f->n_rows; i++)
        for (int64_t e = f->offset[i]; e < f->offset[i + 1]; e++)
            block[i * f->n_cols + (size_t)f->column[e]] = f->value[e];
    const graphss_features x = {
        .n_rows = f->n_rows, .n_cols = f->n_cols, .kind = f->kind, .value = block};
    graphss_features_destroy(ctx, f);
    *f = x;
    return GRAPHSS_OK;
}

/* filled [n_cols] becomes that of all ranks; returned: their sum */
static graphss_status count_filled(
    graphss_ctx *ctx, size_t *filled, size_t *nnz, const graphss_features *f)
{
    double *sum = graphss_i_calloc(ctx, f->n_cols, sizeof *sum);
    graphss_status st = graphss_engine_agree(ctx, sum ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    for (size_t e = 0; !st && e < (size_t)f->offset[f->n_rows]; e++)
        sum[f->column[e]]++;
    if (!st)
        st = graphss_i_ranks_sum(ctx, sum, f->n_cols);
    *nnz = 0;
    for (size_t c = 0; c < f->n_cols && !st; c++) {
        filled[c] = (size_t)sum[c];
        *nnz += filled[c];
    }
    graphss_release(ctx, sum);
    return st;
}

/* Columns that no node has are left out of very wide tables (graphss_i_columns_drop_unused).
 */
static graphss_status drop_unused(
    graphss_ctx *ctx, sliced *g, graphss_features *f, size_t *filled)
{
    graphss_i_name_list kept = {0};
    graphss_names names = {0};
    size_t n = 0;
    int32_t *now = graphss_i_alloc(ctx, f->n_cols, sizeof *now);
    graphss_status st = now ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t c = 0; c < f->n_cols && !st; c++) {
        char number[24];
        snprintf(number, sizeof number, "%zu", c);
        const char *name =
            g->column_names.count ? graphss_names_get(&g->column_names, c) : number;
        now[c] = (int32_t)n;
        if (filled[c]) {
            filled[n++] = filled[c];
            st = graphss_i_name_list_add(ctx, &kept, name, strlen(name));
        }
    }
    if (!st && n < f->n_cols) {
        st = graphss_i_name_list_finish(ctx, &names, &kept);
        for (size_t e = 0; !st && e < (size_t)f->offset[f->n_rows]; e++)
            f->column[e] = now[f->column[e]];
        graphss_names_destroy(ctx, &g->column_names);
        g->column_names = names;
        f->n_cols = n;
    }
    graphss_release(ctx, now);
    graphss_i_name_list_destroy(ctx, &kept);
    return graphss_engine_agree(ctx, st, NULL);
}

/* The form that the whole table has. */
static graphss_status settle(graphss_ctx *ctx, sliced *g, graphss_features *f)
{
    size_t kind = (size_t)f->kind, nnz = 0;
    if (f->n_cols == 0)
        return GRAPHSS_OK;
    size_t *filled = graphss_i_alloc(ctx, f->n_cols, sizeof *filled);
    graphss_status st =
        graphss_engine_agree(ctx, filled ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    if (!st)
        st = graphss_i_ranks_most(ctx, &kind);
    if (!st)
        st = count_filled(ctx, filled, &nnz, f);
    if (!st && f->n_cols > GRAPHSS_I_COLUMNS_KEPT)
        st = drop_unused(ctx, g, f, filled);
    f->kind = (graphss_feature_kind)kind;
    if (!st && graphss_i_prefers_dense(f->kind, g->n_all, f->n_cols, filled, nnz))
        st = make_dense(ctx, f);
    graphss_release(ctx, filled);
    return graphss_engine_agree(ctx, st, NULL);
}

static graphss_status unite_features(
    graphss_ctx *ctx, sliced *g, graphss_dataset *t, graphss_i_feature_form form)
{
    graphss_features *f = &t->features;
    size_t most = (size_t)form;
    graphss_status st = check_columns(ctx, g, t, form);
    if (!st)
        st = graphss_engine_agree(ctx, make_sparse(ctx, f), NULL);
    if (!st)
        st = graphss_i_ranks_most(ctx, &most);
    if (!st && most == GRAPHSS_I_FORM_WORDS)
        st = unite_words(ctx, g, t);
    if (!st && most == GRAPHSS_I_FORM_COLUMNS)
        st = graphss_i_names_copy(ctx, &g->column_names, &t->column_names);
    if (!st) { /* rows by ascending columns again */
        const graphss_features old = *f;
        *f = (graphss_features){0};
        st = graphss_i_features_from_rows(ctx, f, old.n_rows, old.n_cols, old.offset,
            old.column, old.value, (size_t)old.offset[old.n_rows], "feat");
    }
    if (!st)
        st = make_sparse(ctx, f);
    if (!st)
        st = graphss_i_columns_check_range(ctx, f, NULL, &g->column_names);
    st = graphss_engine_agree(ctx, st, NULL);
    if (!st)
        st = settle(ctx, g, f);
    if (f->n_cols == 0)
        graphss_features_destroy(ctx, f);
    g->shard.features = *f;
    *f = (graphss_features){0};
    return st;
}

graphss_status graphss_i_slices_unite(
    graphss_ctx *ctx, sliced *g, graphss_dataset *table, graphss_i_feature_form form)
{
    graphss_status st = unite_labels(ctx, g, table);
    if (!st)
        st = unite_split(ctx, g, &table->split);
    if (!st)
        st = unite_features(ctx, g, table, form);
    return st;
}
