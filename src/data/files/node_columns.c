/* node_columns.c - the first entry of a column determines its type, so that a later cell that
 * does not fit is an error with its place and not a column that silently disappears. Columns
 * are kept apart until all rows are read: only then is it known which are features. */
#include "data/files/csv_nodes.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Text with at most this many values is a feature if each value has two nodes or more on
 * average; names and remarks are not. */
enum { VALUES_MOST = 32 };

typedef graphss_i_node_column column;
typedef graphss_i_csv_field cell;

static int shown(const cell *field, int most)
{
    return field->length < (size_t)most ? (int)field->length : most;
}

/* True for an empty cell, or a word for it. */
static bool is_missing(const cell *field)
{
    static const char *const nothing[] = {"na", "n/a", "nan", "null", "none", "-", "?"};
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
        if (graphss_i_csv_is(field, nothing[i]))
            return true;
    return field->length == 0;
}

graphss_status graphss_i_node_columns_init(graphss_ctx *ctx, graphss_i_node_columns *c,
    const char *file, const cell *name, size_t n, graphss_missing_rule missing)
{
    *c = (graphss_i_node_columns){.file = file, .missing = missing};
    c->column = graphss_i_calloc(ctx, n, sizeof *c->column);
    if (!c->column)
        return GRAPHSS_ERR_NOMEM;
    c->n_columns = n;
    for (size_t i = 0; i < n; i++)
        c->column[i].name = name[i];
    return GRAPHSS_OK;
}

void graphss_i_node_columns_destroy(graphss_ctx *ctx, graphss_i_node_columns *c)
{
    for (size_t i = 0; i < c->n_columns; i++) {
        graphss_release(ctx, c->column[i].number);
        graphss_release(ctx, c->column[i].code);
        graphss_i_intern_destroy(ctx, &c->column[i].values);
    }
    graphss_release(ctx, c->column);
    *c = (graphss_i_node_columns){0};
}

static void add_bad(
    graphss_i_node_columns *c, const cell *bad, size_t i, size_t like, size_t cells)
{
    graphss_i_bad_cells *b = &c->bad;
    if (b->listed < GRAPHSS_I_BAD_SHOWN) {
        b->cell[b->listed] = *bad;
        b->column[b->listed] = i;
        b->like[b->listed++] = like;
    }
    b->count += cells;
}

/* Room for one more row; rows before the first entry are missing. */
static graphss_status more_rows(graphss_ctx *ctx, column *col, size_t rows)
{
    if (rows < col->room)
        return GRAPHSS_OK;
    size_t room = col->room ? 2 * col->room : 1024;
    room = room > rows ? room : 2 * rows;
    if (col->form == GRAPHSS_I_COLUMN_NUMBERS) {
        float *more =
            graphss_i_grow(ctx, col->number, col->room ? rows : 0, room, sizeof *col->number);
        if (!more)
            return GRAPHSS_ERR_NOMEM;
        col->number = more;
        for (size_t i = 0; i < rows && !col->room; i++)
            col->number[i] = NAN;
    } else {
        int32_t *more =
            graphss_i_grow(ctx, col->code, col->room ? rows : 0, room, sizeof *col->code);
        if (!more)
            return GRAPHSS_ERR_NOMEM;
        col->code = more;
        for (size_t i = 0; i < rows && !col->room; i++)
            col->code[i] = -1;
    }
    col->room = room;
    return GRAPHSS_OK;
}

/* The first entry of a column. */
static void settle(graphss_i_node_columns *c, size_t i, const cell *field)
{
    column *col = &c->column[i];
    double value = 0;
    if (graphss_i_parse_double(&value, field->text, field->length)) {
        col->form = GRAPHSS_I_COLUMN_NUMBERS;
        if (col->missing && c->missing == GRAPHSS_MISSING_ERROR)
            add_bad(c, &col->first, i, field->line, col->missing);
        return;
    }
    /* True for what may be a number in another notation, such as 1,5. */
    const bool spoilt = c->rows == 0 && field->text[0] >= '0' && field->text[0] <= '9';
    col->form = spoilt ? GRAPHSS_I_COLUMN_SPOILT : GRAPHSS_I_COLUMN_TEXT;
    col->first = *field;
}

static graphss_status add_number(
    graphss_ctx *ctx, graphss_i_node_columns *c, size_t i, const cell *field)
{
    column *col = &c->column[i];
    const graphss_status st = more_rows(ctx, col, c->rows);
    if (st)
        return st;
    float value = NAN;
    if (is_missing(field)) {
        col->missing++;
        if (c->missing == GRAPHSS_MISSING_ERROR)
            add_bad(c, field, i, 0, 1);
    } else if (!graphss_i_csv_number(&value, field->text, field->length)) {
        add_bad(c, field, i, 0, 1);
    }
    col->number[c->rows] = value;
    return GRAPHSS_OK;
}

static graphss_status add_text(
    graphss_ctx *ctx, graphss_i_node_columns *c, size_t i, const cell *field)
{
    column *col = &c->column[i];
    size_t value = 0;
    graphss_status st = more_rows(ctx, col, c->rows);
    if (st)
        return st;
    col->code[c->rows] = -1;
    if (is_missing(field)) {
        col->missing++;
        return GRAPHSS_OK;
    }
    st = graphss_i_intern_add(ctx, &value, NULL, &col->values, field->text, field->length);
    if (st)
        return st;
    col->code[c->rows] = (int32_t)value;
    if (value < VALUES_MOST)
        return GRAPHSS_OK;
    col->form = GRAPHSS_I_COLUMN_MANY;
    graphss_i_intern_destroy(ctx, &col->values);
    graphss_release(ctx, col->code);
    col->code = NULL;
    return GRAPHSS_OK;
}

graphss_status graphss_i_node_columns_add(
    graphss_ctx *ctx, graphss_i_node_columns *c, size_t i, const cell *field)
{
    column *col = &c->column[i];
    if (col->form == GRAPHSS_I_COLUMN_OPEN && is_missing(field)) {
        if (col->missing++ == 0)
            col->first = *field;
        return GRAPHSS_OK;
    }
    if (col->form == GRAPHSS_I_COLUMN_OPEN)
        settle(c, i, field);
    if (col->form == GRAPHSS_I_COLUMN_NUMBERS)
        return add_number(ctx, c, i, field);
    return col->form == GRAPHSS_I_COLUMN_TEXT ? add_text(ctx, c, i, field) : GRAPHSS_OK;
}

/* ---- cells that are no numbers ---- */

/* "1,200" and the like. */
static bool has_comma(const cell *field)
{
    return field->length && field->text[0] >= '0' && field->text[0] <= '9' &&
           memchr(field->text, ',', field->length);
}

static const char *advice(const cell *field)
{
    if (is_missing(field))
        return "fill it in, leave the column out, or say --missing mean or zero";
    return has_comma(field) ? "write 1200 or 1.5, without a comma"
                            : "mend it, or leave the column out";
}

/* The first cell, then the places of the others. */
static graphss_status refuse_bad(graphss_ctx *ctx, const graphss_i_node_columns *c)
{
    const graphss_i_bad_cells *bad = &c->bad;
    char want[840];
    enum { ENOUGH = 700 }; /* letters; a cell takes a hundred at most */
    const cell *name = &c->column[bad->column[0]].name;
    int used = bad->like[0]
                   ? snprintf(want, sizeof want,
                         "a finite number, as in line %zu of column '%.*s': ", bad->like[0],
                         shown(name, 64), name->text)
                   : snprintf(want, sizeof want,
                         "a finite number in column '%.*s': ", shown(name, 64), name->text);
    used += snprintf(want + used, sizeof want - (size_t)used, "%s", advice(&bad->cell[0]));
    if (bad->count > 1)
        used += snprintf(
            want + used, sizeof want - (size_t)used, "; %zu cells in all", bad->count);
    size_t listed = 1;
    for (; listed < bad->listed && used < ENOUGH; listed++) {
        const cell *other = &bad->cell[listed];
        name = &c->column[bad->column[listed]].name;
        used += snprintf(want + used, sizeof want - (size_t)used, "%s%zu:%zu '%.*s' in '%.*s'",
            listed == 1 ? ": also " : ", ", other->line, other->column, shown(other, 16),
            other->text, shown(name, 24), name->text);
    }
    if (listed < bad->count)
        snprintf(want + used, sizeof want - (size_t)used, " ...");
    const graphss_i_csv place = {.file = c->file};
    return graphss_i_csv_fail(ctx, &place, &bad->cell[0], want);
}

/* ---- messages about the columns ---- */

/* Columns by name in one line, the first few. */
typedef struct name_line {
    char text[320];
    size_t used, count;
} name_line;

enum { NAMED = 3 };

static void name_one(name_line *line, const column *col, const char *more)
{
    if (line->count++ < NAMED)
        line->used += (size_t)snprintf(line->text + line->used, sizeof line->text - line->used,
            "%s'%.*s'%s", line->used ? ", " : "", shown(&col->name, 48), col->name.text, more);
}

static const char *name_rest(name_line *line)
{
    if (line->count > NAMED)
        snprintf(line->text + line->used, sizeof line->text - line->used, " and %zu more",
            line->count - NAMED);
    return line->text;
}

static void tell_unused(graphss_ctx *ctx, const graphss_i_node_columns *c)
{
    name_line many = {0};
    for (size_t i = 0; i < c->n_columns; i++) {
        const column *col = &c->column[i];
        char why[96] = ": it has no entries";
        if (col->form == GRAPHSS_I_COLUMN_SPOILT)
            snprintf(why, sizeof why, ": its first entry is '%.*s', not a number",
                shown(&col->first, 32), col->first.text);
        if (col->form == GRAPHSS_I_COLUMN_OPEN || col->form == GRAPHSS_I_COLUMN_SPOILT)
            graphss_i_log(ctx, GRAPHSS_LOG_NOTICE, "%s: column '%.*s' is not used%s", c->file,
                shown(&col->name, 64), col->name.text, why);
        if (col->form == GRAPHSS_I_COLUMN_MANY)
            name_one(&many, col, "");
    }
    if (many.count)
        graphss_i_log(ctx, GRAPHSS_LOG_NOTICE,
            "%s: text of many values is no feature, so %s %s not used (text of at "
            "most %d values, each of two nodes or more on average, would be)",
            c->file, name_rest(&many), many.count == 1 ? "is" : "are", VALUES_MOST);
}

static void tell_text(graphss_ctx *ctx, const graphss_i_node_columns *c)
{
    name_line line = {0};
    size_t made = 0, empty = 0;
    for (size_t i = 0; i < c->n_columns; i++) {
        const column *col = &c->column[i];
        char count[48];
        if (col->form != GRAPHSS_I_COLUMN_TEXT)
            continue;
        snprintf(count, sizeof count, " (%zu value%s)", col->values.list.count,
            col->values.list.count == 1 ? "" : "s");
        name_one(&line, col, count);
        made += col->values.list.count;
        empty += col->missing;
    }
    if (line.count == 0)
        return;
    char none[96] = "";
    if (empty)
        snprintf(none, sizeof none, "; %zu empty cell%s 0 in all of them", empty,
            empty == 1 ? " is" : "s are");
    graphss_i_log(ctx, GRAPHSS_LOG_NOTICE,
        "%s: text becomes %zu column%s of 0 and 1, one for each value: %s%s", c->file, made,
        made == 1 ? "" : "s", name_rest(&line), none);
}

static void tell_missing(graphss_ctx *ctx, const graphss_i_node_columns *c, size_t cells)
{
    name_line line = {0};
    if (cells == 0)
        return;
    for (size_t i = 0; i < c->n_columns; i++) {
        char count[48];
        snprintf(count, sizeof count, " (%zu)", c->column[i].missing);
        if (c->column[i].form == GRAPHSS_I_COLUMN_NUMBERS && c->column[i].missing)
            name_one(&line, &c->column[i], count);
    }
    graphss_i_log(ctx, GRAPHSS_LOG_NOTICE, "%s: %zu empty cell%s taken as %s: %s", c->file,
        cells, cells == 1 ? " is" : "s are",
        c->missing == GRAPHSS_MISSING_MEAN ? "the mean of the column" : "0", name_rest(&line));
}

/* ---- features ---- */

static float mean_of(const column *col, size_t rows)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < rows; i++)
        if (!isnan(col->number[i])) {
            sum += (double)col->number[i];
            n++;
        }
    return n ? (float)(sum / (double)n) : 0;
}

/* Fills the missing numbers; lists them if they become means. */
static graphss_status fill_missing(
    graphss_ctx *ctx, graphss_i_node_columns *c, graphss_dataset *data)
{
    graphss_missing_cells *list = &data->missing;
    size_t cells = 0, place = 0;
    for (size_t i = 0; i < c->n_columns; i++)
        if (c->column[i].form == GRAPHSS_I_COLUMN_NUMBERS)
            cells += c->column[i].missing;
    if (cells == 0)
        return GRAPHSS_OK;
    if (c->missing == GRAPHSS_MISSING_MEAN) {
        list->node = graphss_i_alloc(ctx, cells, sizeof *list->node);
        list->column = graphss_i_alloc(ctx, cells, sizeof *list->column);
        if (!list->node || !list->column)
            return GRAPHSS_ERR_NOMEM;
    }
    for (size_t i = 0; i < c->n_columns; i++) {
        column *col = &c->column[i];
        if (col->form != GRAPHSS_I_COLUMN_NUMBERS)
            continue;
        const float fill =
            c->missing == GRAPHSS_MISSING_MEAN && col->missing ? mean_of(col, c->rows) : 0;
        for (size_t r = 0; r < c->rows && col->missing; r++) {
            if (!isnan(col->number[r]))
                continue;
            col->number[r] = fill;
            if (!list->node)
                continue;
            list->node[list->count] = (int32_t)r;
            list->column[list->count++] = (int32_t)place;
        }
        place++;
    }
    tell_missing(ctx, c, cells);
    return GRAPHSS_OK;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names COLUMN=VALUE in alphabetical order of the values, independent of the order of nodes;
 * codes become columns from `first` on. */
static graphss_status name_values(
    graphss_ctx *ctx, column *col, size_t rows, size_t first, graphss_i_name_list *names)
{
    const size_t n = col->values.list.count;
    const char *sorted[VALUES_MOST];
    int32_t to[VALUES_MOST];
    graphss_status st = GRAPHSS_OK;
    for (size_t v = 0; v < n; v++)
        sorted[v] = col->values.list.text + col->values.list.start[v];
    qsort(sorted, n, sizeof *sorted, by_text);
    for (size_t v = 0; v < n && !st; v++) {
        const int64_t was = graphss_i_intern_find(&col->values, sorted[v], strlen(sorted[v]));
        to[was] = (int32_t)(first + v);
        char *name =
            graphss_i_format(ctx, "%.*s=%s", (int)col->name.length, col->name.text, sorted[v]);
        st =
            name ? graphss_i_name_list_add(ctx, names, name, strlen(name)) : GRAPHSS_ERR_NOMEM;
        graphss_release(ctx, name);
    }
    for (size_t r = 0; r < rows && !st; r++)
        col->code[r] = col->code[r] < 0 ? -1 : to[col->code[r]];
    return st;
}

/* Text with nearly as many values as entries identifies nodes and is no feature. */
static void drop_names(graphss_ctx *ctx, graphss_i_node_columns *c)
{
    for (size_t i = 0; i < c->n_columns; i++) {
        column *col = &c->column[i];
        if (col->form != GRAPHSS_I_COLUMN_TEXT ||
            2 * col->values.list.count <= c->rows - col->missing)
            continue;
        col->form = GRAPHSS_I_COLUMN_MANY;
        graphss_i_intern_destroy(ctx, &col->values);
        graphss_release(ctx, col->code);
        col->code = NULL;
    }
}

/* Every column a feature of its own: numbers first, then the values of text. */
static graphss_status name_features(graphss_ctx *ctx, graphss_i_node_columns *c,
    graphss_names *out, size_t *numbers, size_t *n_cols)
{
    graphss_i_name_list names = {0};
    graphss_status st = GRAPHSS_OK;
    *numbers = 0;
    for (size_t i = 0; i < c->n_columns && !st; i++)
        if (c->column[i].form == GRAPHSS_I_COLUMN_NUMBERS) {
            st = graphss_i_name_list_add(
                ctx, &names, c->column[i].name.text, c->column[i].name.length);
            ++*numbers;
        }
    *n_cols = *numbers;
    for (size_t i = 0; i < c->n_columns && !st; i++)
        if (c->column[i].form == GRAPHSS_I_COLUMN_TEXT) {
            st = name_values(ctx, &c->column[i], c->rows, *n_cols, &names);
            *n_cols += c->column[i].values.list.count;
        }
    if (!st && *n_cols)
        st = graphss_i_name_list_finish(ctx, out, &names);
    graphss_i_name_list_destroy(ctx, &names);
    return st;
}

static graphss_status finish_dense(
    graphss_ctx *ctx, const graphss_i_node_columns *c, graphss_dataset *data, size_t n_cols)
{
    size_t cells = 0, at = 0;
    if (!graphss_i_mul(&cells, c->rows, n_cols))
        return graphss_i_fail(ctx, GRAPHSS_ERR_LIMIT, "%s: too many cells", c->file);
    float *value = graphss_i_alloc(ctx, cells, sizeof *value);
    if (!value)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < c->n_columns; i++) {
        if (c->column[i].form != GRAPHSS_I_COLUMN_NUMBERS)
            continue;
        for (size_t r = 0; r < c->rows; r++)
            value[r * n_cols + at] = c->column[i].number[r];
        at++;
    }
    return graphss_i_features_from_dense(ctx, &data->features, c->rows, n_cols, value, "feat");
}

/* One-hot columns are mostly 0: only the other cells are stored. */
static graphss_status finish_sparse(
    graphss_ctx *ctx, const graphss_i_node_columns *c, graphss_dataset *data, size_t n_cols)
{
    size_t room = 0, n = 0;
    if (!graphss_i_mul(&room, c->rows, c->n_columns))
        return graphss_i_fail(ctx, GRAPHSS_ERR_LIMIT, "%s: too many cells", c->file);
    int64_t *offset = graphss_i_alloc(ctx, c->rows + 1, sizeof *offset);
    int32_t *at = graphss_i_alloc(ctx, room, sizeof *at);
    float *value = graphss_i_alloc(ctx, room, sizeof *value);
    if (!offset || !at || !value) {
        graphss_release(ctx, offset);
        graphss_release(ctx, at);
        graphss_release(ctx, value);
        return GRAPHSS_ERR_NOMEM;
    }
    for (size_t r = 0; r < c->rows; r++) {
        int32_t number = 0;
        offset[r] = (int64_t)n;
        for (size_t i = 0; i < c->n_columns; i++) {
            const column *col = &c->column[i];
            const bool numbers = col->form == GRAPHSS_I_COLUMN_NUMBERS;
            if (!numbers && (col->form != GRAPHSS_I_COLUMN_TEXT || col->code[r] < 0))
                continue;
            at[n] = numbers ? number++ : col->code[r];
            value[n++] = numbers ? col->number[r] : 1;
        }
    }
    offset[c->rows] = (int64_t)n;
    return graphss_i_features_from_rows(
        ctx, &data->features, c->rows, n_cols, offset, at, value, n, "feat");
}

graphss_status graphss_i_node_columns_finish(
    graphss_ctx *ctx, graphss_i_node_columns *c, graphss_dataset *data)
{
    size_t numbers = 0, n_cols = 0;
    if (c->bad.count)
        return refuse_bad(ctx, c);
    drop_names(ctx, c);
    tell_unused(ctx, c);
    tell_text(ctx, c);
    graphss_status st = fill_missing(ctx, c, data);
    if (!st)
        st = name_features(ctx, c, &data->column_names, &numbers, &n_cols);
    data->features.n_rows = c->rows;
    if (st || n_cols == 0)
        return st;
    return numbers == n_cols ? finish_dense(ctx, c, data, n_cols)
                             : finish_sparse(ctx, c, data, n_cols);
}
