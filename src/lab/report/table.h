/* table.h - one table, written as Markdown, LaTeX, CSV or HTML. Private. */
#ifndef GRAPHSS_REPORT_TABLE_H
#define GRAPHSS_REPORT_TABLE_H

#include "lab/report/select.h"

typedef struct graphss_i_column {
    const char *name;
    const char *unit; /* "" for none; shown in the heading: "victims, %" */
    int decimals;     /* of numbers */
    bool number;      /* aligned by the point; else text */
    bool sign;        /* "+" before what is above zero: differences */
    bool head;        /* names the row */
} graphss_i_column;

typedef struct graphss_i_entry {
    const char *text; /* NULL: the number below */
    double value, sd; /* NaN: none; of a text what it is sorted by */
    size_t n;         /* values the mean is of; 0: not a mean */
    bool strong;      /* the best of its kind */
} graphss_i_entry;

typedef struct graphss_i_table {
    graphss_i_arena *arena;
    const char *id, *title, *note; /* note: what a reader needs to know, or "" */
    graphss_i_column *column;
    size_t n_columns, columns_room;
    graphss_i_entry *cell; /* [n_cells], row by row */
    size_t n_cells, cells_room;
} graphss_i_table;

/* Never NULL but without memory; then the arena knows, and the calls below do nothing. */
graphss_i_table *graphss_i_table_new(graphss_i_arena *arena, const char *id, const char *title,
                                     const char *note);
void graphss_i_add_head(graphss_i_table *t, const char *name);
void graphss_i_add_column(graphss_i_table *t, const char *name, const char *unit, int decimals,
                          bool sign);
void graphss_i_add_words(graphss_i_table *t, const char *name); /* a column of text */
void graphss_i_add_text(graphss_i_table *t, const char *text);
void graphss_i_add_number(graphss_i_table *t, double value); /* NaN: a dash */
void graphss_i_add_stat(graphss_i_table *t, graphss_i_stat stat);
void graphss_i_add_spread(graphss_i_table *t, double mean, double sd);
/* How many runs: "5", or "2–5" where the cells of a row differ; sorts by the most. */
void graphss_i_add_runs(graphss_i_table *t, size_t fewest, size_t most);
/* Marks the last cell that was added. */
void graphss_i_mark_strong(graphss_i_table *t);

size_t graphss_i_table_rows(const graphss_i_table *t);
void graphss_i_table_markdown(graphss_i_writer *writer, const graphss_i_table *t);
void graphss_i_table_latex(graphss_i_writer *writer, const graphss_i_table *t);
/* Lines "table,row,column,unit,value,sd,n,text"; a row is named by its heads. */
void graphss_i_table_csv(graphss_i_writer *writer, const graphss_i_table *t);
void graphss_i_table_html(graphss_i_writer *writer, const graphss_i_table *t);

#endif
