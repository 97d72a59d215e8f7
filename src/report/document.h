/* document.h - the report before it takes a form: headings, sentences, tables and figures in
 * their order. Sections (section_*.c) fill it, formats (format_*.c) write it. Private. */
#ifndef GRAPHSS_REPORT_DOCUMENT_H
#define GRAPHSS_REPORT_DOCUMENT_H

#include "report/figure.h"
#include "report/paper.h"
#include "report/table.h"

typedef struct graphss_i_figure {
    const char *id, *title, *note;
    graphss_i_panel *panel;
    size_t n, room;
} graphss_i_figure;

typedef enum graphss_i_block_kind {
    GRAPHSS_I_BLOCK_HEADING,
    GRAPHSS_I_BLOCK_TEXT,
    GRAPHSS_I_BLOCK_ITEM, /* of a list; word says what kind of finding: "holds" */
    GRAPHSS_I_BLOCK_CODE,
    GRAPHSS_I_BLOCK_TABLE,
    GRAPHSS_I_BLOCK_FIGURE
} graphss_i_block_kind;

typedef struct graphss_i_block {
    graphss_i_block_kind kind;
    int level; /* of a heading: 2 or 3 */
    const char *text, *id, *word;
    bool folded;
    const graphss_i_table *table;
    const graphss_i_figure *figure;
} graphss_i_block;

typedef struct graphss_i_document {
    graphss_i_arena *arena;
    const char *title, *lead; /* lead: one line below the title */
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
/* The same, folded away on the page until it is asked for. */
void graphss_i_show_folded(graphss_i_document *d, const graphss_i_table *table);
void graphss_i_show_figure(graphss_i_document *d, const graphss_i_figure *figure);

graphss_i_figure *graphss_i_figure_new(graphss_i_arena *arena, const char *id,
                                       const char *title, const char *note);
/* A panel at the end, to be filled; NULL without memory. */
graphss_i_panel *graphss_i_add_panel(graphss_i_figure *figure, graphss_i_arena *arena,
                                     graphss_i_panel_kind kind, const char *title,
                                     const char *x_label, const char *y_label);

/* The same with n lines; NULL also where n is 0, and then no panel is added. */
graphss_i_panel *graphss_i_add_lines(graphss_i_figure *figure, graphss_i_arena *arena,
                                     graphss_i_line *line, size_t n, const char *title,
                                     const char *x_label, const char *y_label);

/* All of the sections, in their order (report.c). folder: where the records came from. */
void graphss_i_document_fill(graphss_i_document *d, graphss_i_runs *records,
                             const char *folder);

/* ---- sections, one for each kind of record; each says so when there is none ---- */

void graphss_i_section_findings(graphss_i_document *d, graphss_i_runs *records);
void graphss_i_section_datasets(graphss_i_document *d, graphss_i_runs *records);
void graphss_i_section_defence(graphss_i_document *d, graphss_i_runs *records);
void graphss_i_section_attackers(graphss_i_document *d, graphss_i_runs *records);
void graphss_i_section_alert(graphss_i_document *d, graphss_i_runs *records);
void graphss_i_section_runtime(graphss_i_document *d, graphss_i_runs *records);
void graphss_i_section_sweeps(graphss_i_document *d, graphss_i_runs *records);
void graphss_i_section_ablation(graphss_i_document *d, graphss_i_runs *records);
void graphss_i_section_confusion(graphss_i_document *d, graphss_i_runs *records);
void graphss_i_section_calibration(graphss_i_document *d, graphss_i_runs *records);
void graphss_i_section_runs(graphss_i_document *d, graphss_i_runs *records,
                            const char *folder);

/* ---- what sections share (section.c) ---- */

const char *graphss_i_plural(graphss_i_arena *arena, size_t n, const char *word);

/* "a; b; c and 3 more"; begins as {"", 0}. The second way to add names all: "a, b, c, d". */
typedef struct graphss_i_names {
    const char *text;
    size_t n;
} graphss_i_names;

void graphss_i_add_name(graphss_i_arena *arena, graphss_i_names *list, const char *name);
void graphss_i_add_any_name(graphss_i_arena *arena, graphss_i_names *list, const char *name);
const char *graphss_i_names_text(graphss_i_arena *arena, const graphss_i_names *list);

/* Modes and settings that occur for one kind of record: never in one table. Nor are points of
 * a sweep, such as attackers, where the tables of that kind have no place for them. */
typedef struct graphss_i_world {
    const char *mode, *setting;
    const char *parameter, *value; /* "attacker", "random"; NULL: told apart by the tables */
    const char *id;                /* "honest-new" */
    const char *name;              /* "honest mode, setting new" */
} graphss_i_world;

typedef struct graphss_i_worlds {
    graphss_i_world *world;
    size_t n;
} graphss_i_worlds;

graphss_i_worlds graphss_i_worlds_of(graphss_i_runs *records, const char *what);
/* All records of one kind in a world. */
graphss_i_query graphss_i_world_query(const graphss_i_world *world, const char *what);
/* A sentence on what the setting gives the defender. */
const char *graphss_i_world_about(const graphss_i_world *world);
/* The section's heading; false, after a sentence that it was not run, without records. */
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

graphss_i_variants graphss_i_variants_of(graphss_i_runs *records,
                                         const graphss_i_query *query);

/* The same for plots, which have less room: of a method with two trainings the later one. */
graphss_i_variants graphss_i_variants_shown(graphss_i_runs *records,
                                            const graphss_i_query *query);

/* Classifiers, without the "any" of methods that bring their own, unless that is all. */
graphss_i_list graphss_i_models_of(graphss_i_runs *records, const graphss_i_query *query);

/* A dataset and a classifier of it each, in their order: the query with both filled in. */
typedef struct graphss_i_cells {
    graphss_i_query *cell;
    size_t n;
} graphss_i_cells;

graphss_i_cells graphss_i_cells_of(graphss_i_runs *records, const graphss_i_query *query);
/* The first two columns of a row: the dataset and the classifier. */
void graphss_i_add_cell(graphss_i_table *t, graphss_i_runs *records,
                        const graphss_i_query *cell);
/* A metric that is a share, in per cent. */
graphss_i_stat graphss_i_percent(const graphss_i_runs *records, const graphss_i_query *query,
                                 const char *metric);
/* "5", or "2–5" where cells of a row differ in their number of runs. */
const char *graphss_i_runs_text(graphss_i_arena *arena, size_t fewest, size_t most);

/* How near ours is to the paper's: the ranges mean +- sd overlap ("agrees"), the means are
 * within five points ("near"), or neither ("differs"). In the units of the paper. */
const char *graphss_i_verdict(graphss_i_stat ours, const graphss_i_paper_cell *paper);

/* GraphSS against another variant in one cell: 1 better, -1 worse by the 95 % interval of the
 * paired difference, 0 undecided, 2 nothing to compare. With fewer than three runs the
 * interval is that of counting victims. */
int graphss_i_duel(graphss_i_runs *records, const graphss_i_query *cell,
                   const graphss_i_variant *ours, const graphss_i_variant *other,
                   graphss_i_stat *difference);
/* What findings say of one world's attackers (section_attackers.c). */
void graphss_i_found_attackers(graphss_i_document *d, graphss_i_runs *records,
                               const graphss_i_world *world);
/* Ours among the variants: the one of GraphSS with most records; NULL: none. */
const graphss_i_variant *graphss_i_ours(graphss_i_runs *records, const graphss_i_query *query,
                                        const graphss_i_variants *list);

#endif
