/* document.h - the report before it takes a form: headings, sentences, tables and figures in
 * their order. Sections (section_*.c) fill it, formats (format_*.c) write it. Private. */
#ifndef GRAPHSS_REPORT_DOCUMENT_H
#define GRAPHSS_REPORT_DOCUMENT_H

#include "lab/report/figure.h"
#include "lab/report/select.h"
#include "lab/report/text_arena.h"

/* ---- one table, written as Markdown, LaTeX, CSV or HTML ---- */

typedef struct graphss_i_column {
    const char *name;
    const char *unit; /* "" for none; shown in the heading: "victims, %" */
    int decimals;     /* of numbers */
    bool number;      /* aligned by the point; else text */
    bool sign;        /* "+" before positive values: differences */
    bool head;        /* names the row */
} graphss_i_column;

typedef struct graphss_i_entry {
    const char *text; /* NULL: the number below */
    double value, sd; /* NaN: none; for a text, the key it is sorted by */
    size_t n;         /* values the mean is of; 0: not a mean */
    bool strong;      /* the best of its row */
} graphss_i_entry;

typedef struct graphss_i_table {
    graphss_i_arena *arena;
    const char *id, *title, *note; /* note: what a reader needs to know, or "" */
    graphss_i_column *column;
    size_t n_columns, columns_room;
    graphss_i_entry *cell; /* [n_cells], row by row */
    size_t n_cells, cells_room;
} graphss_i_table;

/* Never NULL unless there is no memory; the arena then records it, and the calls below do
 * nothing. */
graphss_i_table *graphss_i_table_new(
    graphss_i_arena *arena, const char *id, const char *title, const char *note);
void graphss_i_add_head(graphss_i_table *t, const char *name);
void graphss_i_add_column(
    graphss_i_table *t, const char *name, const char *unit, int decimals, bool sign);
void graphss_i_add_words(graphss_i_table *t, const char *name); /* a column of text */
void graphss_i_add_text(graphss_i_table *t, const char *text);
void graphss_i_add_number(graphss_i_table *t, double value); /* NaN: a dash */
void graphss_i_add_stat(graphss_i_table *t, graphss_i_stat stat);
void graphss_i_add_spread(graphss_i_table *t, double mean, double sd);
/* The number of runs: "5", or "2–5" if the cells of a row differ; sorts by the largest. */
void graphss_i_add_runs(graphss_i_table *t, size_t fewest, size_t most);
/* Marks the last cell that was added. */
void graphss_i_mark_strong(graphss_i_table *t);

size_t graphss_i_table_rows(const graphss_i_table *t);
void graphss_i_table_markdown(graphss_i_writer *writer, const graphss_i_table *t);
void graphss_i_table_latex(graphss_i_writer *writer, const graphss_i_table *t);
/* Lines "table,row,column,unit,value,sd,n,text"; a row is named by its heads. */
void graphss_i_table_csv(graphss_i_writer *writer, const graphss_i_table *t);
void graphss_i_table_html(graphss_i_writer *writer, const graphss_i_table *t);

/* The numbers that the paper printed, from paper.csv, which the build embeds in the library.
 */
typedef struct graphss_i_paper_cell {
    char what[16], dataset[16], model[8], method[16], metric[16];
    double mean, sd; /* as printed: per cent, seconds; sd NaN where there is none */
} graphss_i_paper_cell;

/* The cell, or false if the paper prints none. */
bool graphss_i_paper_find(graphss_i_paper_cell *out, const char *what, const char *dataset,
    const char *model, const char *method, const char *metric);
/* The cell at *at (0: the first), which moves on; false past the last. */
bool graphss_i_paper_next(graphss_i_paper_cell *out, size_t *at);

typedef struct graphss_i_figure {
    const char *id, *title, *note;
    graphss_i_panel *panel;
    size_t n, room;
} graphss_i_figure;

typedef enum graphss_i_block_type {
    GRAPHSS_I_BLOCK_HEADING,
    GRAPHSS_I_BLOCK_TEXT,
    GRAPHSS_I_BLOCK_ITEM, /* item of a list; word is the verdict: "holds" */
    GRAPHSS_I_BLOCK_CODE,
    GRAPHSS_I_BLOCK_TABLE,
    GRAPHSS_I_BLOCK_FIGURE
} graphss_i_block_type;

typedef struct graphss_i_block {
    graphss_i_block_type kind;
    int level; /* of a heading: 2 or 3 */
    const char *text, *id, *word;
    bool folded;
    const graphss_i_table *table;
    const graphss_i_figure *figure;
} graphss_i_block;

typedef struct graphss_i_document {
    graphss_i_arena *arena;
    const char *title, *lead; /* lead: one line below the title */
    const char *made_from;    /* for the last line; NULL: "its records" */
    graphss_i_block *block;
    size_t n, room;
    size_t n_tables, n_panels;
} graphss_i_document;

void graphss_i_heading(graphss_i_document *d, int level, const char *id, const char *text);
void graphss_i_sentence(graphss_i_document *d, const char *text);
void graphss_i_item(graphss_i_document *d, const char *word, const char *text);
void graphss_i_code(graphss_i_document *d, const char *text);
/* Tables without rows and figures without panels are left out. */
void graphss_i_show_table(graphss_i_document *d, const graphss_i_table *table);
/* The same, folded on the page until it is opened. */
void graphss_i_show_folded(graphss_i_document *d, const graphss_i_table *table);
void graphss_i_show_figure(graphss_i_document *d, const graphss_i_figure *figure);

graphss_i_figure *graphss_i_figure_new(
    graphss_i_arena *arena, const char *id, const char *title, const char *note);
/* A panel at the end, to be filled; NULL without memory. */
graphss_i_panel *graphss_i_add_panel(graphss_i_figure *figure, graphss_i_arena *arena,
    graphss_i_panel_type kind, const char *title, const char *x_label, const char *y_label);

/* The same with n lines; NULL also if n is 0, and then no panel is added. */
graphss_i_panel *graphss_i_add_lines(graphss_i_figure *figure, graphss_i_arena *arena,
    graphss_i_line *line, size_t n, const char *title, const char *x_label,
    const char *y_label);

/* Among a panel's lines those of GraphSS come first, as the solid one; as many others as fit
 * are kept. The figure's note names the rest. */
size_t graphss_i_choose_lines(graphss_i_figure *figure, graphss_i_arena *arena,
    graphss_i_line *line, size_t n, const char *panel);

/* All sections, in their order (report.c). folder: where the records were read. */
void graphss_i_document_fill(
    graphss_i_document *d, graphss_i_runs *records, const char *folder);

/* ---- sections, one for each type of experiment; nothing if it has no records ---- */

void graphss_i_section_answers(graphss_i_document *d, graphss_i_runs *records);
void graphss_i_section_findings(graphss_i_document *d, graphss_i_runs *records);
void graphss_i_section_paper(graphss_i_document *d, graphss_i_runs *records);
void graphss_i_section_datasets(graphss_i_document *d, graphss_i_runs *records);
void graphss_i_section_defence(graphss_i_document *d, graphss_i_runs *records);
void graphss_i_section_attackers(graphss_i_document *d, graphss_i_runs *records);
void graphss_i_section_alert(graphss_i_document *d, graphss_i_runs *records);
void graphss_i_section_runtime(graphss_i_document *d, graphss_i_runs *records);
void graphss_i_section_sweeps(graphss_i_document *d, graphss_i_runs *records);
void graphss_i_section_ablation(graphss_i_document *d, graphss_i_runs *records);
void graphss_i_section_confusion(graphss_i_document *d, graphss_i_runs *records);
void graphss_i_section_calibration(graphss_i_document *d, graphss_i_runs *records);
void graphss_i_section_runs(
    graphss_i_document *d, graphss_i_runs *records, const char *folder);

/* ---- shared by the sections (section.c) ---- */

const char *graphss_i_plural(graphss_i_arena *arena, size_t n, const char *word);

/* "a; b; c and 3 more"; begins as {"", 0}. The second way to add names all: "a, b, c, d". */
typedef struct graphss_i_report_names {
    const char *text;
    size_t n;
} graphss_i_report_names;

void graphss_i_report_names_add(
    graphss_i_arena *arena, graphss_i_report_names *list, const char *name);
void graphss_i_report_names_add_any(
    graphss_i_arena *arena, graphss_i_report_names *list, const char *name);
const char *graphss_i_report_names_text(
    graphss_i_arena *arena, const graphss_i_report_names *list);

/* Modes and settings that occur for one kind of record: never in one table. Nor are points of
 * a sweep, such as attackers, where the tables of that kind have no place for them. */
typedef struct graphss_i_condition {
    const char *mode, *setting;
    /* "attacker", "random"; NULL: the tables have columns for it */
    const char *parameter, *value;
    const char *id;    /* "honest-new" */
    const char *name;  /* "honest mode, setting new" */
    const char *brief; /* "honest, new" */
} graphss_i_condition;

typedef struct graphss_i_conditions {
    graphss_i_condition *condition;
    size_t n;
} graphss_i_conditions;

graphss_i_conditions graphss_i_conditions_of(graphss_i_runs *records, const char *what);
/* All records of one kind in a condition. */
graphss_i_query graphss_i_condition_query(
    const graphss_i_condition *condition, const char *what);
/* A sentence on what the defender knows in the setting. */
const char *graphss_i_condition_about(const graphss_i_condition *condition);
/* The section's heading and first sentence; false, and none of it, without records. */
bool graphss_i_begin(graphss_i_document *d, graphss_i_runs *records, const char *what,
    const char *title, const char *about);

/* A method and what it was trained on: rows of the tables. */
typedef struct graphss_i_variant {
    const char *method, *train;
    const char *name; /* "GNN-Jaccard, retrained" */
} graphss_i_variant;

typedef struct graphss_i_variants {
    graphss_i_variant *variant;
    size_t n;
} graphss_i_variants;

graphss_i_variants graphss_i_variants_of(
    graphss_i_runs *records, const graphss_i_query *query);

/* The same for plots, which have less room: of a method with two trainings the later one. */
graphss_i_variants graphss_i_variants_shown(
    graphss_i_runs *records, const graphss_i_query *query);

/* Classifiers, without the "any" of methods that bring their own, unless that is all. */
graphss_i_list graphss_i_models_of(graphss_i_runs *records, const graphss_i_query *query);

/* A dataset and a classifier of it each, in their order: the query with both filled in. */
typedef struct graphss_i_cells {
    graphss_i_query *cell;
    size_t n;
} graphss_i_cells;

graphss_i_cells graphss_i_cells_of(graphss_i_runs *records, const graphss_i_query *query);
/* The first two columns of a row: the dataset and the classifier. */
void graphss_i_add_cell(
    graphss_i_table *t, graphss_i_runs *records, const graphss_i_query *cell);
/* A metric that is a share, in per cent. */
graphss_i_stat graphss_i_percent(
    const graphss_i_runs *records, const graphss_i_query *query, const char *metric);
/* "Cora GCN" */
const char *graphss_i_cell_name(graphss_i_runs *records, const graphss_i_query *cell);
/* With a plus before positive values. */
const char *graphss_i_signed(graphss_i_arena *arena, double value, int decimals);

/* How near ours is to the paper's: the ranges mean +- sd overlap ("agrees"), the means are
 * within five points ("near"), or neither ("differs"). In the units of the paper. */
const char *graphss_i_verdict(graphss_i_stat ours, const graphss_i_paper_cell *paper);

/* GraphSS against another variant in one cell. Better and worse: zero is not in the 95 %
 * interval of the paired difference. Fewer than three runs are not judged. */
enum { GRAPHSS_I_RUNS_LEAST = 3 };
typedef enum graphss_i_result {
    GRAPHSS_I_WORSE,
    GRAPHSS_I_UNDECIDED,
    GRAPHSS_I_BETTER,
    GRAPHSS_I_TOO_FEW,
    GRAPHSS_I_NO_PAIR /* no value of the paper */
} graphss_i_result;

graphss_i_result graphss_i_duel(graphss_i_runs *records, const graphss_i_query *cell,
    const graphss_i_variant *ours, const graphss_i_variant *other, graphss_i_stat *difference);

/* Many of them, counted. */
typedef struct graphss_i_score {
    size_t count[GRAPHSS_I_NO_PAIR];
    size_t ahead; /* of cells with too few runs: GraphSS has more victims right */
} graphss_i_score;

void graphss_i_score_add(
    graphss_i_score *score, graphss_i_result result, const graphss_i_stat *difference);
size_t graphss_i_score_judged(const graphss_i_score *score);
void graphss_i_score_columns(graphss_i_table *t);
void graphss_i_score_cells(graphss_i_table *t, const graphss_i_score *score);
/* All others in one cell, those of a family. */
void graphss_i_score_cell(graphss_i_score *score, graphss_i_runs *records,
    const graphss_i_query *cell, const graphss_i_variants *list, const graphss_i_variant *ours,
    graphss_i_family family);

/* How much of the paper's Table 2 reproduces, in words; "" without records in its mode. */
const char *graphss_i_reproduces(graphss_i_runs *records);
/* Findings about attackers (section_attackers.c): a table of all conditions. */
void graphss_i_found_attackers(graphss_i_document *d, graphss_i_runs *records);
/* Ours among the variants: the one of GraphSS with most records; NULL: none. */
const graphss_i_variant *graphss_i_ours(
    graphss_i_runs *records, const graphss_i_query *query, const graphss_i_variants *list);

/* ---- a document as a file ---- */

/* One self-contained page: style, script and plots are inside. */
void graphss_i_format_html(graphss_i_writer *writer, const graphss_i_document *d);
/* plots: the folder of the plots, relative to the page; NULL: they are left out. */
void graphss_i_format_markdown(
    graphss_i_writer *writer, const graphss_i_document *d, const char *plots);
void graphss_i_format_latex(
    graphss_i_writer *writer, const graphss_i_document *d);                       /* tables */
void graphss_i_format_csv(graphss_i_writer *writer, const graphss_i_document *d); /* tables */

#endif
