/* draw.c - tables, bars, curves and confusion matrices in characters. Block and braille
 * characters where the locale has them, ASCII elsewhere. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

void table_init(text_table *t, const char *align, bool heading)
{
    *t = (text_table){0};
    t->n_columns = strlen(align);
    t->right = cli_alloc(t->n_columns, sizeof *t->right);
    for (size_t j = 0; j < t->n_columns; j++)
        t->right[j] = align[j] == 'r';
    t->heading = heading;
}

void table_add(text_table *t, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (t->n_cells == t->room) {
        const size_t room = t->room ? 2 * t->room : 32;
        char **cell = cli_alloc(room, sizeof *cell);
        if (t->n_cells)
            memcpy(cell, t->cell, t->n_cells * sizeof *cell);
        free(t->cell);
        t->cell = cell;
        t->room = room;
    }
    t->cell[t->n_cells++] = cli_format("%s", text);
}

void table_print(text_table *t, const terminal *term, FILE *out, int indent)
{
    enum { WIDEST = 40 };
    size_t *width = cli_alloc(t->n_columns, sizeof *width);
    for (size_t i = 0; i < t->n_cells; i++) {
        size_t columns = terminal_columns(term, t->cell[i]);
        if (columns > WIDEST)
            columns = WIDEST;
        if (columns > width[i % t->n_columns])
            width[i % t->n_columns] = columns;
    }
    for (size_t i = 0; i < t->n_cells; i++) {
        const size_t j = i % t->n_columns;
        const bool last = j + 1 == t->n_columns;
        const bool bold = t->heading && i < t->n_columns;
        const size_t columns = terminal_columns(term, t->cell[i]);
        const int pad = (int)(width[j] > columns ? width[j] - columns : 0);
        fprintf(out, "%*s", j == 0 ? indent : 2, "");
        if (t->right[j])
            fprintf(out, "%*s", pad, "");
        if (bold)
            fputs(terminal_begin(term, out, TERMINAL_BOLD), out);
        terminal_text(term, out, t->cell[i], last ? 0 : width[j]);
        if (bold)
            fputs(terminal_end(term, out), out);
        if (!t->right[j] && !last)
            fprintf(out, "%*s", pad, "");
        if (last)
            fputc('\n', out);
    }
    free(width);
    for (size_t i = 0; i < t->n_cells; i++)
        free(t->cell[i]);
    free(t->cell);
    free(t->right);
    *t = (text_table){0};
}

void draw_bar(const terminal *term, FILE *out, double value, double largest, int width)
{
    static const char *const eighth[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const double cells = largest > 0 ? value / largest * width : 0;
    const int whole = (int)cells;
    for (int i = 0; i < whole; i++)
        fputs(term->utf8 ? "█" : "#", out);
    if (term->utf8)
        fputs(eighth[(int)((cells - whole) * 8)], out);
}

/* Writes one character of U+2800 + dots. */
static void put_braille(FILE *out, unsigned dots)
{
    fputc(0xe2, out);
    fputc(0xa0 | (int)(dots >> 6), out);
    fputc(0x80 | (int)(dots & 63), out);
}

void draw_curve(const terminal *term, FILE *out, const char *title, const float *y, size_t n,
    double scale, const char *unit)
{
    enum { COLUMNS = 60, FEWEST = 10, AXIS = 12, ROWS = 7 };
    int columns = terminal_width(fileno(out)) - AXIS - 1;
    columns = columns > COLUMNS ? COLUMNS : columns < FEWEST ? FEWEST : columns;
    /* Dots of a braille cell, [row][column]; ASCII has one dot a cell. */
    static const unsigned char dot[4][2] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};
    const int wide = term->utf8 ? 2 : 1, high = term->utf8 ? 4 : 1;
    const int n_x = columns * wide, n_y = ROWS * high;
    unsigned char cell[ROWS][COLUMNS] = {{0}};

    double low = INFINITY, top = -INFINITY;
    for (size_t i = 0; i < n; i++)
        if (isfinite(y[i])) {
            low = fmin(low, scale * y[i]);
            top = fmax(top, scale * y[i]);
        }
    if (!(low <= top))
        return;
    if (top - low < 1e-9)
        top = low + 1;

    int before = -1;
    for (int x = 0; x < n_x; x++) {
        const size_t i = n > 1 ? (size_t)llround((double)x * (double)(n - 1) / (n_x - 1)) : 0;
        if (!isfinite(y[i])) {
            before = -1;
            continue;
        }
        const int to = (int)lround((top - scale * y[i]) / (top - low) * (n_y - 1));
        /* Joined to the point before by a vertical stroke. */
        const int from = before < 0 || before == to ? to
                         : before < to              ? before + 1
                                                    : before - 1;
        for (int v = from;; v += from < to ? 1 : -1) {
            cell[v / high][x / wide] |= term->utf8 ? dot[v % high][x % wide] : 1;
            if (v == to)
                break;
        }
        before = to;
    }

    fprintf(out, "%s%s%s\n", terminal_begin(term, out, TERMINAL_BOLD), title,
        terminal_end(term, out));
    for (int r = 0; r < ROWS; r++) {
        if (r == 0 || r == ROWS - 1)
            fprintf(out, "%8.4g%-2s ", r == 0 ? top : low, unit);
        else
            fprintf(out, "%11s", "");
        fputs(term->utf8 ? "┤" : "|", out);
        fputs(terminal_begin(term, out, TERMINAL_CYAN), out);
        for (int c = 0; c < columns; c++) {
            if (term->utf8)
                put_braille(out, cell[r][c]);
            else
                fputc(cell[r][c] ? '*' : ' ', out);
        }
        fprintf(out, "%s\n", terminal_end(term, out));
    }
    fprintf(out, "%*d%*zu\n", AXIS, 0, columns - 1, n ? n - 1 : 0);
}

/* The pairs (truth, answer) off the diagonal with the largest counts. */
static void list_confused(const terminal *term, FILE *out, const int64_t *confusion,
    const char *const *name, size_t n_classes)
{
    enum { MOST = 10 };
    size_t best[MOST] = {0};
    size_t n = 0;
    for (size_t i = 0; i < n_classes * n_classes; i++) {
        if (i / n_classes == i % n_classes || confusion[i] == 0)
            continue;
        size_t at = n < MOST ? n++ : MOST;
        while (at > 0 && confusion[best[at - 1]] < confusion[i]) {
            if (at < MOST)
                best[at] = best[at - 1];
            at--;
        }
        if (at < MOST)
            best[at] = i;
    }
    text_table t = {0};
    table_init(&t, "llr", true);
    table_add(&t, "truth");
    table_add(&t, "called");
    table_add(&t, "nodes");
    for (size_t i = 0; i < n; i++) {
        table_add(&t, "%s", name[best[i] / n_classes]);
        table_add(&t, "%s", name[best[i] % n_classes]);
        table_add(&t, "%lld", (long long)confusion[best[i]]);
    }
    fprintf(out, "Most often confused\n");
    table_print(&t, term, out, 2);
}

void draw_confusion(const terminal *term, FILE *out, const int64_t *confusion,
    const char *const *name, size_t n_classes)
{
    int64_t largest = 0;
    for (size_t i = 0; i < n_classes * n_classes; i++)
        if (confusion[i] > largest)
            largest = confusion[i];
    char digits[24];
    const int cell = snprintf(digits, sizeof digits, "%lld", (long long)largest) + 1;
    const int column = cell < 5 ? 5 : cell;
    size_t label = 5;
    bool numbered = true; /* the names are the numbers: once is enough */
    for (size_t k = 0; k < n_classes; k++) {
        const size_t columns = terminal_columns(term, name[k]);
        if (columns > label)
            label = columns;
        snprintf(digits, sizeof digits, "%zu", k);
        numbered = numbered && strcmp(name[k], digits) == 0;
    }
    if (label > 24)
        label = 24;
    if (label + 8 + n_classes * (size_t)column > (size_t)terminal_width(STDOUT_FILENO)) {
        list_confused(term, out, confusion, name, n_classes);
        return;
    }

    fprintf(out, "%sConfusion%s (rows: truth, columns: answer)\n",
        terminal_begin(term, out, TERMINAL_BOLD), terminal_end(term, out));
    fprintf(out, "  %*s", (int)label + 5, "");
    for (size_t k = 0; k < n_classes; k++)
        fprintf(out, "%*zu", column, k);
    fputc('\n', out);
    for (size_t i = 0; i < n_classes; i++) {
        fputs("  ", out);
        const size_t used = terminal_text(term, out, numbered ? "" : name[i], label);
        fprintf(out, "%*s %3zu ", (int)(label - used), "", i);
        for (size_t j = 0; j < n_classes; j++) {
            const int64_t count = confusion[i * n_classes + j];
            const terminal_style style = i == j       ? TERMINAL_GREEN
                                         : count == 0 ? TERMINAL_DIM
                                                      : TERMINAL_YELLOW;
            fputs(terminal_begin(term, out, style), out);
            if (count == 0)
                fprintf(out, "%*s", column, ".");
            else
                fprintf(out, "%*lld", column, (long long)count);
            fputs(terminal_end(term, out), out);
        }
        fputc('\n', out);
    }
}
