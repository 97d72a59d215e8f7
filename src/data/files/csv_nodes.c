/* csv_nodes.c - one line a node.
 *
 * The header says what the columns are: an id, perhaps a label, masks and a `feat` cell.
 * Without `feat`, the other columns may be features (csv_nodes.h). */
#include "data/files/csv_nodes.h"
#include "data/build.h"
#include <stdlib.h>
#include <string.h>

enum { TRAIN, VAL, TEST, MASKS };

static const char *const id_words[] = {"node_id", "id", "node", NULL};
static const char *const label_words[] = {"label", "class", NULL};
static const char *const feat_words[] = {"feat", "feats", "features", NULL};
static const char *const other_words[] = {"graph_id", NULL};
static const char *const mask_words[MASKS][2] = {
    {"train_mask", NULL}, {"val_mask", NULL}, {"test_mask", NULL}};

typedef struct node_table {
    graphss_i_csv csv;
    const graphss_i_node_source *source;
    size_t columns;
    int64_t id, label, feat, mask[MASKS]; /* columns; -1: absent */
    size_t *other;                        /* [n_other] columns that may be features */
    size_t n_other;
    bool index; /* the first column has no name */
    graphss_i_intern classes;
    int32_t *class_of;   /* [rows] number in classes, or -1 */
    unsigned char *part; /* [rows] MASKS, or the mask it is in */
    size_t rows, room;
    graphss_i_csv_features features; /* of feat */
    graphss_i_node_columns free;     /* of the others */
} node_table;

static graphss_status next_record(graphss_ctx *ctx, bool *more, node_table *t)
{
    return t->source->next ? t->source->next(ctx, more, &t->csv, t->source->user)
                           : graphss_i_csv_next(ctx, more, &t->csv);
}

static graphss_status read_header(graphss_ctx *ctx, node_table *t)
{
    bool more = false;
    const graphss_status st = next_record(ctx, &more, t);
    if (st)
        return st;
    if (!more)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_DATA, "%s: empty, want a header line", t->csv.file);
    t->columns = t->csv.count;
    t->id = graphss_i_csv_column(&t->csv, id_words);
    t->label = graphss_i_csv_column(&t->csv, label_words);
    t->feat = graphss_i_csv_column(&t->csv, feat_words);
    for (size_t m = 0; m < MASKS; m++)
        t->mask[m] = graphss_i_csv_column(&t->csv, mask_words[m]);
    if (t->id < 0)
        return graphss_i_csv_fail(
            ctx, &t->csv, &t->csv.field[0], "a header with a column node_id (or id, or node)");
    t->index = graphss_i_csv_index(ctx, &t->csv, 2);
    if (t->source->line)
        t->csv.line = t->source->line;
    return GRAPHSS_OK;
}

static bool has_other_use(const node_table *t, size_t column, int64_t graph_id)
{
    const int64_t c = (int64_t)column;
    return (t->index && c == 0) || c == t->id || c == t->label || c == t->feat ||
           c == t->mask[TRAIN] || c == t->mask[VAL] || c == t->mask[TEST] || c == graph_id;
}

/* The columns that have no other use may be features, but not beside `feat`. */
static graphss_status choose_columns(
    graphss_ctx *ctx, node_table *t, const graphss_i_csv *header, graphss_missing_rule missing)
{
    const int64_t graph_id = graphss_i_csv_column(header, other_words);
    size_t left_out = 0;
    graphss_i_csv_field *name = graphss_i_alloc(ctx, t->columns, sizeof *name);
    t->other = graphss_i_alloc(ctx, t->columns, sizeof *t->other);
    graphss_status st = name && t->other ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t c = 0; c < t->columns && !st; c++) {
        if (has_other_use(t, c, graph_id))
            continue;
        if (t->feat >= 0) {
            left_out++;
            continue;
        }
        name[t->n_other] = header->field[c];
        t->other[t->n_other++] = c;
    }
    if (left_out)
        graphss_i_log(ctx, GRAPHSS_LOG_NOTICE,
            "%s: %zu column%s beside '%.*s', which holds the features, %s not used",
            t->csv.file, left_out, left_out == 1 ? "" : "s",
            (int)header->field[t->feat].length, header->field[t->feat].text,
            left_out == 1 ? "is" : "are");
    if (!st)
        st =
            graphss_i_node_columns_init(ctx, &t->free, t->csv.file, name, t->n_other, missing);
    graphss_release(ctx, name);
    return st;
}

static graphss_status more_rows(graphss_ctx *ctx, node_table *t)
{
    if (t->rows < t->room)
        return GRAPHSS_OK;
    const size_t room = t->room ? 2 * t->room : 1024;
    void *more = graphss_i_grow(ctx, t->class_of, t->rows, room, sizeof *t->class_of);
    if (!more)
        return GRAPHSS_ERR_NOMEM;
    t->class_of = more;
    more = graphss_i_grow(ctx, t->part, t->rows, room, sizeof *t->part);
    if (!more)
        return GRAPHSS_ERR_NOMEM;
    t->part = more;
    t->room = room;
    return GRAPHSS_OK;
}

static graphss_status read_mask(
    graphss_ctx *ctx, bool *out, const node_table *t, const graphss_i_csv_field *field)
{
    static const char *const yes[] = {"1", "true", "1.0"}, *const no[] = {"0", "false", "0.0"};
    *out = false;
    if (field->length == 0)
        return GRAPHSS_OK;
    for (size_t i = 0; i < 3; i++) {
        *out = graphss_i_csv_is(field, yes[i]);
        if (*out || graphss_i_csv_is(field, no[i]))
            return GRAPHSS_OK;
    }
    return graphss_i_csv_fail(ctx, &t->csv, field, "0, 1, true or false");
}

static graphss_status read_row(graphss_ctx *ctx, node_table *t, graphss_i_intern *ids)
{
    const graphss_i_csv_field *field = t->csv.field;
    if (t->csv.count != t->columns)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s:%zu: found %zu fields, want %zu as in the header", t->csv.file, field[0].line,
            t->csv.count, t->columns);
    graphss_status st = more_rows(ctx, t);
    if (st)
        return st;

    const graphss_i_csv_field *id = &field[t->id];
    size_t index = 0;
    bool added = false;
    if (id->length == 0)
        return graphss_i_csv_fail(ctx, &t->csv, id, "the id of a node");
    st = graphss_i_intern_add(ctx, &index, &added, ids, id->text, id->length);
    if (st)
        return st;
    if (!added)
        return graphss_i_csv_fail(ctx, &t->csv, id, "an id that no other node has");
    if (index >= INT32_MAX)
        return graphss_i_csv_fail(ctx, &t->csv, id, "fewer than 2^31 nodes");

    t->class_of[t->rows] = -1;
    if (t->label >= 0 && field[t->label].length) {
        st = graphss_i_intern_add(
            ctx, &index, NULL, &t->classes, field[t->label].text, field[t->label].length);
        if (st)
            return st;
        t->class_of[t->rows] = (int32_t)index;
    }

    t->part[t->rows] = MASKS;
    for (size_t m = 0; m < MASKS; m++) {
        bool in = false;
        if (t->mask[m] < 0)
            continue;
        const graphss_i_csv_field *mask = &field[t->mask[m]];
        st = read_mask(ctx, &in, t, mask);
        if (st)
            return st;
        if (in && t->part[t->rows] != MASKS)
            return graphss_i_csv_fail(ctx, &t->csv, mask, "a node in one mask only");
        if (in && m != TEST && t->class_of[t->rows] < 0)
            return graphss_i_csv_fail(
                ctx, &t->csv, mask, "no node without a label to train or validate");
        if (in)
            t->part[t->rows] = (unsigned char)m;
    }

    t->rows++;
    if (t->feat >= 0) {
        st = graphss_i_csv_features_cell(ctx, &t->features, &t->csv, &field[t->feat]);
        return st ? st
                  : graphss_i_csv_features_end_row(
                        ctx, &t->features, &t->csv, &field[t->feat]);
    }
    for (size_t i = 0; i < t->n_other && !st; i++)
        st = graphss_i_node_columns_add(ctx, &t->free, i, &field[t->other[i]]);
    graphss_i_node_columns_end_row(&t->free);
    return st;
}

/* The header's fields outlive the next record: they are kept in header meanwhile. */
static graphss_status read_rows(
    graphss_ctx *ctx, node_table *t, graphss_i_intern *ids, graphss_missing_rule missing)
{
    graphss_i_csv header = t->csv;
    t->csv.field = NULL;
    t->csv.count = t->csv.room = 0;
    bool more = true;
    graphss_status st = choose_columns(ctx, t, &header, missing);
    while (!st) {
        st = next_record(ctx, &more, t);
        if (st || !more)
            break;
        st = read_row(ctx, t, ids);
    }
    graphss_i_csv_end(ctx, &header);
    return st;
}

static graphss_status finish_split(
    graphss_ctx *ctx, const node_table *t, graphss_dataset *data)
{
    graphss_split *split = &data->split;
    int32_t **list[MASKS] = {&split->train, &split->val, &split->test};
    size_t *length[MASKS] = {&split->n_train, &split->n_val, &split->n_test};
    int32_t **label[MASKS] = {&split->train_label, &split->val_label, NULL};
    for (size_t m = 0; m < MASKS; m++) {
        size_t n = 0;
        for (size_t i = 0; i < t->rows; i++)
            n += t->part[i] == m;
        if (n == 0)
            continue;
        *list[m] = graphss_i_alloc(ctx, n, sizeof **list[m]);
        if (!*list[m])
            return GRAPHSS_ERR_NOMEM;
        if (label[m]) {
            *label[m] = graphss_i_alloc(ctx, n, sizeof **label[m]);
            if (!*label[m])
                return GRAPHSS_ERR_NOMEM;
        }
        for (size_t i = 0; i < t->rows; i++) {
            if (t->part[i] != m)
                continue;
            (*list[m])[*length[m]] = (int32_t)i;
            if (label[m])
                (*label[m])[*length[m]] = data->label[i];
            ++*length[m];
        }
    }
    return GRAPHSS_OK;
}

/* A label such as -1 means unknown, which shows only once all labels are read. */
static graphss_status check_split(
    graphss_ctx *ctx, const graphss_dataset *data, const char *file)
{
    const graphss_split *split = &data->split;
    for (size_t i = 0; i < split->n_train + split->n_val; i++) {
        const bool train = i < split->n_train;
        const size_t at = train ? i : i - split->n_train;
        const int32_t label = train ? split->train_label[at] : split->val_label[at];
        const int32_t node = train ? split->train[at] : split->val[at];
        if (label < 0)
            return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "%s: node %d is in %s_mask, want a label for it", file, (int)node,
                train ? "train" : "val");
    }
    return GRAPHSS_OK;
}

graphss_status graphss_i_csv_nodes(graphss_ctx *ctx, graphss_dataset *data,
    graphss_i_intern *ids, const graphss_i_node_source *source, graphss_missing_rule missing)
{
    const char *file = source->file;
    node_table t = {.source = source};
    graphss_i_csv_start(&t.csv, file, source->bytes, source->n_bytes, "", false);
    graphss_status st = read_header(ctx, &t);
    if (!st)
        st = read_rows(ctx, &t, ids, missing);
    if (!st && t.rows == 0)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: no node in it", file);
    if (source->found)
        *source->found = t.feat < 0                                ? GRAPHSS_I_FORM_COLUMNS
                         : t.features.form == GRAPHSS_I_CSV_SPARSE ? GRAPHSS_I_FORM_WORDS
                         : t.features.form == GRAPHSS_I_CSV_DENSE  ? GRAPHSS_I_FORM_NUMBERS
                                                                   : GRAPHSS_I_FORM_NONE;
    if (!st)
        st = t.feat >= 0 ? graphss_i_csv_features_finish(ctx, &t.features, data)
                         : graphss_i_node_columns_finish(ctx, &t.free, data);
    if (!st)
        st = graphss_i_labels_from_texts(ctx, data, &t.classes, t.class_of, t.rows, file);
    if (!st)
        st = finish_split(ctx, &t, data);
    if (!st)
        st = check_split(ctx, data, file);
    graphss_i_csv_features_destroy(ctx, &t.features);
    graphss_i_node_columns_destroy(ctx, &t.free);
    graphss_i_intern_destroy(ctx, &t.classes);
    graphss_release(ctx, t.part);
    graphss_release(ctx, t.class_of);
    graphss_release(ctx, t.other);
    graphss_i_csv_end(ctx, &t.csv);
    return st;
}

bool graphss_i_ids_are_places(const graphss_i_intern *ids)
{
    char text[24];
    for (size_t i = 0; i < ids->list.count; i++) {
        snprintf(text, sizeof text, "%zu", i);
        if (strcmp(text, ids->list.text + ids->list.start[i]))
            return false;
    }
    return true;
}
