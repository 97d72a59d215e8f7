/* csv_nodes.c - one line a node.
 *
 * The header says what the columns are: an id, perhaps a label, masks and a `feat` cell.
 * Without `feat`, every other column whose first entry is a number is a feature of its own;
 * columns of text are left out, with a warning. That is decided on the first line that has an
 * entry, so that one that is no number, or lacks, is an error with its place and not a column
 * that silently disappears. */
#include "data/files/csv_nodes.h"
#include "data/files/csv_features.h"
#include <stdlib.h>
#include <string.h>

enum { TRAIN, VAL, TEST, MASKS };

static const char *const id_words[] = {"node_id", "id", "node", NULL};
static const char *const label_words[] = {"label", "class", NULL};
static const char *const feat_words[] = {"feat", "feats", "features", NULL};
static const char *const other_words[] = {"graph_id", NULL};
static const char *const mask_words[MASKS][2] = {
    {"train_mask", NULL}, {"val_mask", NULL}, {"test_mask", NULL}};

/* A column without a value so far. */
typedef struct open_column {
    size_t column, cells;
    graphss_i_csv_field missing; /* its first cell */
} open_column;

enum { BAD_SHOWN = 10 };

/* Cells that should hold a number and do not: the first few, and their count. */
typedef struct bad_cells {
    graphss_i_csv_field cell[BAD_SHOWN], name[BAD_SHOWN];
    size_t like[BAD_SHOWN]; /* the line of the first number of its column; 0: above it */
    size_t listed, count;
} bad_cells;

typedef struct node_table {
    graphss_i_csv csv;
    size_t columns;
    int64_t id, label, feat, mask[MASKS]; /* columns; -1: absent */
    int32_t *number;                      /* [n_numbers] columns that are features */
    size_t n_numbers;
    bool index;        /* the first column has no name */
    open_column *open; /* [n_open] */
    size_t n_open;
    size_t *text; /* [n_text] columns of text, in place of features */
    size_t n_text;
    graphss_i_intern classes;
    int32_t *class_of;   /* [rows] number in classes, or -1 */
    unsigned char *part; /* [rows] MASKS, or the mask it is in */
    size_t rows, room;
    graphss_i_csv_features features; /* not filled any more once a cell is bad */
    bad_cells bad;
} node_table;

static graphss_status read_header(graphss_ctx *ctx, node_table *t)
{
    bool more = false;
    const graphss_status st = graphss_i_csv_next(ctx, &more, &t->csv);
    if (st)
        return st;
    if (!more)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: empty, want a header line",
                              t->csv.file);
    t->columns = t->csv.count;
    t->id = graphss_i_csv_column(&t->csv, id_words);
    t->label = graphss_i_csv_column(&t->csv, label_words);
    t->feat = graphss_i_csv_column(&t->csv, feat_words);
    for (size_t m = 0; m < MASKS; m++)
        t->mask[m] = graphss_i_csv_column(&t->csv, mask_words[m]);
    if (t->id < 0)
        return graphss_i_csv_fail(ctx, &t->csv, &t->csv.field[0],
                                  "a header with a column node_id (or id, or node)");
    t->index = graphss_i_csv_index(ctx, &t->csv, 2);
    return GRAPHSS_OK;
}

static bool has_other_use(const node_table *t, size_t column, int64_t graph_id)
{
    const int64_t c = (int64_t)column;
    return (t->index && c == 0) || c == t->id || c == t->label || c == t->feat ||
           c == t->mask[TRAIN] || c == t->mask[VAL] || c == t->mask[TEST] || c == graph_id;
}

/* True if the cell is empty or holds a word for "missing". */
static bool is_missing(const graphss_i_csv_field *field)
{
    static const char *const nothing[] = {"na", "n/a", "nan", "null", "none", "-", "?"};
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
        if (graphss_i_csv_is(field, nothing[i]))
            return true;
    return field->length == 0;
}

static void tell_unused(graphss_ctx *ctx, const node_table *t, const graphss_i_csv_field *name,
                        graphss_log_level level, const char *why)
{
    graphss_i_log(ctx, level, "%s: column '%.*s' is not used%s", t->csv.file,
                  (int)(name->length < 64 ? name->length : 64), name->text, why);
}

/* Chooses among the free columns by the first line, whose names header still holds. */
static graphss_status choose_numbers(graphss_ctx *ctx, node_table *t, graphss_dataset *data,
                                     const graphss_i_csv *header)
{
    const int64_t graph_id = graphss_i_csv_column(header, other_words);
    graphss_i_name_list names = {0};
    graphss_status st = GRAPHSS_OK;
    t->number = graphss_i_alloc(ctx, t->columns, sizeof *t->number);
    t->open = graphss_i_alloc(ctx, t->columns, sizeof *t->open);
    t->text = graphss_i_alloc(ctx, t->columns, sizeof *t->text);
    if (!t->number || !t->open || !t->text)
        return GRAPHSS_ERR_NOMEM;
    for (size_t c = 0; c < t->columns; c++) {
        double value = 0;
        const graphss_i_csv_field *name = &header->field[c], *field = &t->csv.field[c];
        if (has_other_use(t, c, graph_id))
            continue;
        if (t->feat < 0 && is_missing(field)) {
            t->open[t->n_open++] = (open_column){c, 0, *field};
            continue;
        }
        if (t->feat >= 0 || !graphss_i_parse_double(&value, field->text, field->length)) {
            /* True if the text may be a number in another notation, such as 1,5. */
            const bool spoilt = t->feat < 0 && field->text[0] >= '0' && field->text[0] <= '9';
            char why[80] = "";
            if (t->feat < 0 && !spoilt) {
                t->text[t->n_text++] = c;
                continue;
            }
            if (spoilt)
                snprintf(why, sizeof why, ": its first entry is '%.*s', not a number",
                         (int)(field->length < 32 ? field->length : 32), field->text);
            tell_unused(ctx, t, name, spoilt ? GRAPHSS_LOG_NOTICE : GRAPHSS_LOG_INFO, why);
            continue;
        }
        t->number[t->n_numbers++] = (int32_t)c;
        st = graphss_i_name_list_add(ctx, &names, name->text, name->length);
        if (st)
            goto done;
    }
    if (t->n_numbers)
        st = graphss_i_name_list_finish(ctx, &data->column_names, &names);
done:
    graphss_i_name_list_destroy(ctx, &names);
    return st;
}

static void add_bad(node_table *t, const graphss_i_csv_field *cell,
                    const graphss_i_csv_field *name, size_t like, size_t cells)
{
    bad_cells *bad = &t->bad;
    if (bad->listed < BAD_SHOWN) {
        bad->cell[bad->listed] = *cell;
        bad->name[bad->listed] = *name;
        bad->like[bad->listed++] = like;
    }
    bad->count += cells;
}

/* A number below a missing entry makes that an error; text makes the column one of text. */
static void settle_open(node_table *t, const graphss_i_csv *header)
{
    for (size_t i = t->n_open; i-- > 0;) {
        const size_t column = t->open[i].column;
        const graphss_i_csv_field *field = &t->csv.field[column];
        double value = 0;
        t->open[i].cells++;
        if (is_missing(field))
            continue;
        if (graphss_i_parse_double(&value, field->text, field->length)) {
            add_bad(t, &t->open[i].missing, &header->field[column], field->line,
                    t->open[i].cells - 1);
            t->number[t->n_numbers++] = (int32_t)column; /* the cells below count, too */
        } else {
            t->text[t->n_text++] = column;
        }
        t->open[i] = t->open[--t->n_open];
    }
}

/* Lists the first few by name. */
static void tell_text(graphss_ctx *ctx, const node_table *t, const graphss_i_csv *header)
{
    enum { NAMED = 3 };
    char list[256] = "";
    size_t used = 0;
    if (t->n_text == 0)
        return;
    for (size_t i = 0; i < t->n_text && i < NAMED; i++) {
        const graphss_i_csv_field *name = &header->field[t->text[i]];
        used += (size_t)snprintf(list + used, sizeof list - used, "%s'%.*s'", i ? ", " : "",
                                 (int)(name->length < 64 ? name->length : 64), name->text);
    }
    if (t->n_text > NAMED)
        snprintf(list + used, sizeof list - used, " and %zu more", t->n_text - NAMED);
    graphss_i_log(ctx, GRAPHSS_LOG_NOTICE,
                  "%s: text is no feature, so %s %s not used: write a column of 0 and 1 for "
                  "each value, or VALUE:1 in a column feat",
                  t->csv.file, list, t->n_text == 1 ? "is" : "are");
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

static graphss_status read_mask(graphss_ctx *ctx, bool *out, const node_table *t,
                                const graphss_i_csv_field *field)
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

/* "1,200" and the like. */
static bool has_comma(const graphss_i_csv_field *field)
{
    return field->length && field->text[0] >= '0' && field->text[0] <= '9' &&
           memchr(field->text, ',', field->length);
}

/* The first cell, then where the others are. */
static graphss_status refuse_bad(graphss_ctx *ctx, const node_table *t)
{
    const bad_cells *bad = &t->bad;
    char want[840];
    enum { ENOUGH = 700 }; /* letters; a cell takes a hundred at most */
    const graphss_i_csv_field *name = &bad->name[0];
    const int length = (int)(name->length < 64 ? name->length : 64);
    int used =
        bad->like[0]
            ? snprintf(want, sizeof want,
                       "a finite number, as in line %zu of column '%.*s': ", bad->like[0],
                       length, name->text)
            : snprintf(want, sizeof want, "a finite number in column '%.*s': ", length,
                       name->text);
    used += snprintf(want + used, sizeof want - (size_t)used, "%s",
                     is_missing(&bad->cell[0])  ? "fill it in, or leave the column out"
                     : has_comma(&bad->cell[0]) ? "write 1200 or 1.5, without a comma"
                                                : "mend it, or leave the column out");
    if (bad->count > 1)
        used += snprintf(want + used, sizeof want - (size_t)used, "; %zu cells in all",
                         bad->count);
    size_t shown = 1;
    for (; shown < bad->listed && used < ENOUGH; shown++) {
        const graphss_i_csv_field *cell = &bad->cell[shown];
        name = &bad->name[shown];
        used += snprintf(want + used, sizeof want - (size_t)used, "%s%zu:%zu '%.*s' in '%.*s'",
                         shown == 1 ? ": also " : ", ", cell->line, cell->column,
                         (int)(cell->length < 16 ? cell->length : 16), cell->text,
                         (int)(name->length < 24 ? name->length : 24), name->text);
    }
    if (shown < bad->count)
        snprintf(want + used, sizeof want - (size_t)used, " ...");
    return graphss_i_csv_fail(ctx, &t->csv, &bad->cell[0], want);
}

static graphss_status read_row(graphss_ctx *ctx, node_table *t, graphss_i_intern *ids,
                               const graphss_i_csv *header)
{
    const graphss_i_csv_field *field = t->csv.field;
    if (t->csv.count != t->columns)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                              "%s:%zu: found %zu fields, want %zu as in the header",
                              t->csv.file, field[0].line, t->csv.count, t->columns);
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
        st = graphss_i_intern_add(ctx, &index, NULL, &t->classes, field[t->label].text,
                                  field[t->label].length);
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
            return graphss_i_csv_fail(ctx, &t->csv, mask,
                                      "no node without a label to train or validate");
        if (in)
            t->part[t->rows] = (unsigned char)m;
    }

    for (size_t i = 0; i < t->n_numbers && !st; i++) {
        const graphss_i_csv_field *entry = &field[t->number[i]];
        float value = 0;
        if (!graphss_i_csv_number(&value, entry->text, entry->length))
            add_bad(t, entry, &header->field[t->number[i]], 0, 1);
        else if (t->bad.count == 0)
            st = graphss_i_csv_features_number(ctx, &t->features, &t->csv, entry);
    }
    if (!st && t->feat >= 0)
        st = graphss_i_csv_features_cell(ctx, &t->features, &t->csv, &field[t->feat]);
    if (st)
        return st;
    t->rows++;
    if (t->bad.count)
        return GRAPHSS_OK;
    return graphss_i_csv_features_end_row(ctx, &t->features, &t->csv,
                                          &field[t->feat >= 0 ? t->feat : 0]);
}

/* The header's fields outlive the next record: they are kept in *header meanwhile. */
static graphss_status read_rows(graphss_ctx *ctx, node_table *t, graphss_dataset *data,
                                graphss_i_intern *ids)
{
    graphss_i_csv header = t->csv;
    t->csv.field = NULL;
    t->csv.count = t->csv.room = 0;
    bool more = true;
    graphss_status st = GRAPHSS_OK;
    for (bool first = true;; first = false) {
        st = graphss_i_csv_next(ctx, &more, &t->csv);
        if (st || !more)
            break;
        if (first && t->csv.count == t->columns)
            st = choose_numbers(ctx, t, data, &header);
        if (!st)
            st = read_row(ctx, t, ids, &header);
        if (!st)
            settle_open(t, &header);
        if (st)
            break;
    }
    if (!st && t->bad.count)
        st = refuse_bad(ctx, t);
    for (size_t i = 0; i < t->n_open && !st; i++)
        tell_unused(ctx, t, &header.field[t->open[i].column], GRAPHSS_LOG_NOTICE,
                    ": it has no entries");
    if (!st)
        tell_text(ctx, t, &header);
    graphss_i_csv_end(ctx, &header);
    return st;
}

/* A label without blanks around it and in small letters; returns its length. */
static size_t plain_label(char *out, const char *text)
{
    size_t n = 0;
    while (*text == ' ')
        text++;
    for (; *text; text++)
        out[n++] = (char)(*text >= 'A' && *text <= 'Z' ? *text + ('a' - 'A') : *text);
    while (n && out[n - 1] == ' ')
        n--;
    return n;
}

/* Warns of labels that differ only in case or blanks. */
static graphss_status tell_alike(graphss_ctx *ctx, const node_table *t)
{
    const graphss_i_name_list *list = &t->classes.list;
    size_t longest = 0, alike = 0, pair[2] = {0};
    size_t *first = graphss_i_alloc(ctx, list->count, sizeof *first);
    graphss_i_intern seen = {0};
    graphss_status st = first ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t c = 0; c < list->count; c++) {
        const size_t n = strlen(list->text + list->start[c]);
        longest = n > longest ? n : longest;
    }
    char *plain = graphss_i_alloc(ctx, longest + 1, 1);
    if (!plain)
        st = GRAPHSS_ERR_NOMEM;
    for (size_t c = 0; c < list->count && !st; c++) {
        size_t index = 0;
        bool added = false;
        const size_t n = plain_label(plain, list->text + list->start[c]);
        st = graphss_i_intern_add(ctx, &index, &added, &seen, plain, n);
        if (!st && added)
            first[index] = c;
        else if (!st && alike++ == 0) {
            pair[0] = first[index];
            pair[1] = c;
        }
    }
    if (!st && alike)
        graphss_i_log(ctx, GRAPHSS_LOG_NOTICE,
                      "%s: labels '%.40s' and '%.40s' differ only in case or blanks (%zu such "
                      "label%s) and are classes of their own",
                      t->csv.file, list->text + list->start[pair[0]],
                      list->text + list->start[pair[1]], alike, alike == 1 ? "" : "s");
    graphss_i_intern_destroy(ctx, &seen);
    graphss_release(ctx, plain);
    graphss_release(ctx, first);
    return st;
}

/* A whole number, perhaps written as 1.0 because others were missing. */
static bool whole_label(int64_t *out, const char *text)
{
    size_t length = strlen(text);
    const char *point = strchr(text, '.');
    if (point && point > text && point[1] && strspn(point + 1, "0") == strlen(point + 1))
        length = (size_t)(point - text);
    return graphss_i_parse_int(out, text, length);
}

/* Whole numbers as labels stay numbers; any other text becomes the name of a class. */
static graphss_status finish_labels(graphss_ctx *ctx, node_table *t, graphss_dataset *data)
{
    const size_t k = t->classes.list.count;
    if (k == 0)
        return GRAPHSS_OK;
    graphss_status st = GRAPHSS_OK;
    int64_t *whole = graphss_i_alloc(ctx, k, sizeof *whole);
    int64_t *label = graphss_i_alloc(ctx, t->rows, sizeof *label);
    if (!whole || !label) {
        st = GRAPHSS_ERR_NOMEM;
        goto done;
    }
    bool numbers = true;
    for (size_t c = 0; c < k && numbers; c++) {
        const char *text = t->classes.list.text + t->classes.list.start[c];
        numbers = whole_label(&whole[c], text);
    }
    if (numbers) {
        for (size_t i = 0; i < t->rows; i++)
            label[i] = t->class_of[i] < 0 ? -1 : whole[t->class_of[i]];
        st = graphss_i_labels_from_ints(ctx, data, label, t->rows, "label");
        goto done;
    }
    st = tell_alike(ctx, t);
    if (!st)
        st = graphss_i_name_list_finish(ctx, &data->class_names, &t->classes.list);
    if (st)
        goto done;
    data->n_classes = k;
    data->label = t->class_of;
    t->class_of = NULL;
done:
    graphss_release(ctx, label);
    graphss_release(ctx, whole);
    return st;
}

static graphss_status finish_split(graphss_ctx *ctx, const node_table *t,
                                   graphss_dataset *data)
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

/* A label such as -1 means unknown, which shows only when all labels are known. */
static graphss_status check_split(graphss_ctx *ctx, const graphss_dataset *data,
                                  const char *file)
{
    const graphss_split *split = &data->split;
    for (size_t i = 0; i < split->n_train + split->n_val; i++) {
        const bool train = i < split->n_train;
        const size_t at = train ? i : i - split->n_train;
        const int32_t label = train ? split->train_label[at] : split->val_label[at];
        const int32_t node = train ? split->train[at] : split->val[at];
        if (label < 0)
            return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                                  "%s: node %d is in %s_mask, want a label for it", file,
                                  (int)node, train ? "train" : "val");
    }
    return GRAPHSS_OK;
}

graphss_status graphss_i_csv_nodes(graphss_ctx *ctx, graphss_dataset *data,
                                   graphss_i_intern *ids, const char *file, char *bytes,
                                   size_t n_bytes)
{
    node_table t = {0};
    graphss_i_csv_start(&t.csv, file, bytes, n_bytes, "", false);
    graphss_status st = read_header(ctx, &t);
    if (!st)
        st = read_rows(ctx, &t, data, ids);
    if (!st && t.rows == 0)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: no node in it", file);
    if (!st)
        st = graphss_i_csv_features_finish(ctx, &t.features, data);
    if (!st)
        st = finish_labels(ctx, &t, data);
    if (!st)
        st = finish_split(ctx, &t, data);
    if (!st)
        st = check_split(ctx, data, file);
    graphss_i_csv_features_destroy(ctx, &t.features);
    graphss_i_intern_destroy(ctx, &t.classes);
    graphss_release(ctx, t.part);
    graphss_release(ctx, t.class_of);
    graphss_release(ctx, t.number);
    graphss_release(ctx, t.open);
    graphss_release(ctx, t.text);
    graphss_i_csv_end(ctx, &t.csv);
    return st;
}
