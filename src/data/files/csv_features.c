/* csv_features.c - features as people write them in tables. */
#include "data/files/csv_nodes.h"
#include <math.h>
#include <string.h>

bool graphss_i_csv_number(float *out, const char *text, size_t length)
{
    if (length > 0 && length < 8) { /* most are 0, 1, 2 ...: exact in a float */
        int32_t whole = 0;
        size_t i = 0;
        for (; i < length && text[i] >= '0' && text[i] <= '9'; i++)
            whole = 10 * whole + (text[i] - '0');
        if (i == length) {
            *out = (float)whole;
            return true;
        }
    }
    double value = 0;
    if (!graphss_i_parse_double(&value, text, length) || !isfinite((float)value))
        return false;
    *out = (float)value;
    return true;
}

static graphss_status add(
    graphss_ctx *ctx, graphss_i_csv_features *f, int32_t column, float value)
{
    if (f->count == f->room) {
        const size_t room = f->room ? 2 * f->room : 1024;
        void *more = graphss_i_grow(ctx, f->value, f->count, room, sizeof *f->value);
        if (!more)
            return GRAPHSS_ERR_NOMEM;
        f->value = more;
        if (f->form == GRAPHSS_I_CSV_SPARSE) {
            more = graphss_i_grow(ctx, f->column, f->count, room, sizeof *f->column);
            if (!more)
                return GRAPHSS_ERR_NOMEM;
            f->column = more;
        }
        f->room = room;
    }
    if (f->form == GRAPHSS_I_CSV_SPARSE)
        f->column[f->count] = column;
    f->value[f->count++] = value;
    return GRAPHSS_OK;
}

graphss_status graphss_i_csv_features_number(graphss_ctx *ctx, graphss_i_csv_features *f,
    const graphss_i_csv *csv, const graphss_i_csv_field *field)
{
    float value = 0;
    if (!graphss_i_csv_number(&value, field->text, field->length))
        return graphss_i_csv_fail(ctx, csv, field, "a finite number");
    f->form = GRAPHSS_I_CSV_DENSE;
    return add(ctx, f, 0, value);
}

/* "word:value"; a word may hold colons, the last one counts. */
static graphss_status pair(graphss_ctx *ctx, graphss_i_csv_features *f,
    const graphss_i_csv *csv, const graphss_i_csv_field *token)
{
    const char *colon = memrchr(token->text, ':', token->length);
    if (!colon || colon == token->text)
        return graphss_i_csv_fail(ctx, csv, token, "WORD:VALUE or COLUMN:VALUE");
    const size_t length = (size_t)(colon - token->text);
    float value = 0;
    if (!graphss_i_csv_number(&value, colon + 1, token->length - length - 1))
        return graphss_i_csv_fail(ctx, csv, token, "a finite number behind the colon");
    size_t word = 0;
    const graphss_status st =
        graphss_i_intern_add(ctx, &word, NULL, &f->words, token->text, length);
    if (st)
        return st;
    if (word >= INT32_MAX)
        return graphss_i_csv_fail(ctx, csv, token, "fewer than 2^31 words");
    return add(ctx, f, (int32_t)word, value);
}

static bool separates(char c)
{
    return c == ' ' || c == ',' || c == ';' || c == '\t' || c == '\n' || c == '\r';
}

graphss_status graphss_i_csv_features_cell(graphss_ctx *ctx, graphss_i_csv_features *f,
    const graphss_i_csv *csv, const graphss_i_csv_field *field)
{
    const char *at = field->text, *end = at + field->length;
    if (end - at >= 2 && at[0] == '[' && end[-1] == ']') { /* as Python prints a list */
        at++;
        end--;
    }
    if (f->form == GRAPHSS_I_CSV_UNDECIDED)
        for (const char *p = at; p < end; p++)
            if (!separates(*p)) {
                const bool colon = memchr(p, ':', (size_t)(end - p)) != NULL;
                f->form = colon ? GRAPHSS_I_CSV_SPARSE : GRAPHSS_I_CSV_DENSE;
                break;
            }
    for (;;) {
        while (at < end && separates(*at))
            at++;
        if (at == end)
            return GRAPHSS_OK;
        graphss_i_csv_field token = *field;
        token.text = at;
        token.column += (size_t)(at - field->text) + field->quoted;
        while (at < end && !separates(*at))
            at++;
        token.length = (size_t)(at - token.text);
        const graphss_status st = f->form == GRAPHSS_I_CSV_SPARSE
                                      ? pair(ctx, f, csv, &token)
                                      : graphss_i_csv_features_number(ctx, f, csv, &token);
        if (st)
            return st;
    }
}

static graphss_status wrong_length(graphss_ctx *ctx, const graphss_i_csv *csv,
    const graphss_i_csv_field *field, size_t found, size_t want)
{
    return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
        "%s:%zu:%zu: found %zu features, want %zu as in the first row", csv->file, field->line,
        field->column, found, want);
}

graphss_status graphss_i_csv_features_end_row(graphss_ctx *ctx, graphss_i_csv_features *f,
    const graphss_i_csv *csv, const graphss_i_csv_field *field)
{
    if (f->rows + 2 > f->rows_room) {
        const size_t room = f->rows_room ? 2 * f->rows_room : 1024;
        void *more = graphss_i_grow(
            ctx, f->offset, f->rows_room ? f->rows + 1 : 0, room, sizeof *f->offset);
        if (!more)
            return GRAPHSS_ERR_NOMEM;
        f->offset = more;
        f->offset[0] = 0;
        f->rows_room = room;
    }
    const size_t found = f->count - (size_t)f->offset[f->rows];
    f->offset[++f->rows] = (int64_t)f->count;
    if (found == 0 && !f->empty.line)
        f->empty = *field;
    if (f->form != GRAPHSS_I_CSV_DENSE)
        return GRAPHSS_OK;
    if (f->n_cols == 0)
        f->n_cols = found;
    if (f->empty.line)
        return wrong_length(ctx, csv, &f->empty, 0, f->n_cols);
    return found == f->n_cols ? GRAPHSS_OK : wrong_length(ctx, csv, field, found, f->n_cols);
}

/* number[w] of word w when all are plain numbers; false otherwise. */
static bool plain_columns(int32_t *number, size_t *n_cols, const graphss_i_intern *words)
{
    *n_cols = 0;
    for (size_t w = 0; w < words->list.count; w++) {
        const char *text = words->list.text + words->list.start[w];
        const size_t length = strlen(text);
        int64_t value = 0;
        if (text[0] < '0' || text[0] > '9' || (text[0] == '0' && length > 1) ||
            !graphss_i_parse_int(&value, text, length) || value >= INT32_MAX)
            return false;
        number[w] = (int32_t)value;
        if ((size_t)value >= *n_cols)
            *n_cols = (size_t)value + 1;
    }
    return true;
}

static graphss_status finish_sparse(
    graphss_ctx *ctx, graphss_i_csv_features *f, graphss_dataset *data)
{
    size_t n_cols = 0;
    int32_t *number = graphss_i_alloc(ctx, f->words.list.count, sizeof *number);
    if (!number)
        return GRAPHSS_ERR_NOMEM;
    if (plain_columns(number, &n_cols, &f->words)) {
        for (size_t e = 0; e < f->count; e++)
            f->column[e] = number[f->column[e]];
    } else {
        n_cols = f->words.list.count;
        const graphss_status st =
            graphss_i_name_list_finish(ctx, &data->column_names, &f->words.list);
        if (st) {
            graphss_release(ctx, number);
            return st;
        }
    }
    graphss_release(ctx, number);
    int64_t *offset = f->offset;
    int32_t *column = f->column;
    float *value = f->value;
    f->offset = NULL;
    f->column = NULL;
    f->value = NULL;
    return graphss_i_features_from_rows(
        ctx, &data->features, f->rows, n_cols, offset, column, value, f->count, "feat");
}

graphss_status graphss_i_csv_features_finish(
    graphss_ctx *ctx, graphss_i_csv_features *f, graphss_dataset *data)
{
    if (f->form == GRAPHSS_I_CSV_SPARSE)
        return finish_sparse(ctx, f, data);
    data->features.n_rows = f->rows;
    if (f->form == GRAPHSS_I_CSV_UNDECIDED)
        return GRAPHSS_OK;
    float *value = f->value;
    f->value = NULL;
    return graphss_i_features_from_dense(
        ctx, &data->features, f->rows, f->n_cols, value, "feat");
}

void graphss_i_csv_features_destroy(graphss_ctx *ctx, graphss_i_csv_features *f)
{
    graphss_release(ctx, f->value);
    graphss_release(ctx, f->column);
    graphss_release(ctx, f->offset);
    graphss_i_intern_destroy(ctx, &f->words);
    *f = (graphss_i_csv_features){0};
}
