/* plan.h - from recipes to jobs and cells.
 *
 * A job is data, split and model; each set of victims makes a trial of it: snapshots, attack.
 * Its cells are the methods that meet these, one after another, at every point of a sweep over
 * options of methods. */
#ifndef GRAPHSS_PLAN_H
#define GRAPHSS_PLAN_H

#include "base/base.h"
#include <graphss/alert.h>
#include <graphss_lab/protocol.h>
#include <graphss_lab/reproduce.h>
#include <jansson.h>

/* A recipe: an experiment as a small text file (docs/reproduce.md).
 *
 *     # a remark
 *     key = value
 *     key@dataset = value     for that dataset alone
 *     point 5 = attack.links=5 attack.features=50
 */
typedef struct graphss_i_recipe_line {
    const char *key, *value;
    const char *at; /* the dataset it is for; NULL: any */
    size_t number;  /* of the line, from 1 */
} graphss_i_recipe_line;

/* {0} is empty. All text is in one block of its own. */
typedef struct graphss_i_recipe {
    char *text;
    const char *name; /* "defence-honest" */
    graphss_i_recipe_line *line;
    size_t n_lines;
} graphss_i_recipe;

/* Parses a recipe. DATA: a malformed line or a duplicate key, with name and line. Keys are not
 * checked. */
graphss_status graphss_i_recipe_parse(
    graphss_ctx *ctx, graphss_i_recipe *out, const char *name, const char *bytes, size_t n);
/* INVALID: "recipe NAME: line N: what". */
graphss_status graphss_i_recipe_refuse(
    graphss_ctx *ctx, const graphss_i_recipe *recipe, size_t line, const char *what);
void graphss_i_recipe_destroy(graphss_ctx *ctx, graphss_i_recipe *recipe);
/* The value of a key for a dataset (NULL: none in particular), or NULL. */
const char *graphss_i_recipe_get(
    const graphss_i_recipe *recipe, const char *key, const char *dataset);
/* True if both are the same dataset. A path counts as the name of its file. */
bool graphss_i_same_dataset(const char *a, const char *b);

/* The recipes of the program, by number; false past the last. */
bool graphss_i_recipe_built_in(size_t i, const char **name, const char **bytes, size_t *n);

/* The next word of a list with spaces between, which is not ended by NUL: its length, *text
 * at its beginning; 0 at the end. */
size_t graphss_i_word(const char **text);
/* A list from the command line, "a,b", as words with spaces between; "synth:a=1,b=2" stays
 * one word. The caller releases it. NULL: no memory. */
char *graphss_i_words_of(graphss_ctx *ctx, const char *list);
bool graphss_i_word_in(const char *word, size_t n, const char *words);

typedef struct graphss_i_cell {
    const char *method; /* constant text; "alert": no defence; NULL: none (datasets) */
    const char *train;  /* "evasion", "retrain" or "none" */
    const graphss_i_recipe_line *point; /* of a sweep, or NULL */
    int64_t set;                        /* of victims, from 1 */
    bool done;                          /* its record exists */
    bool copied; /* equal to a cell of another setting, whose result is copied */
} graphss_i_cell;

typedef struct graphss_i_job {
    const graphss_i_recipe *recipe;
    const char *what;
    int mode; /* graphss_mode; -1: has none */
    int setting;
    const char *dataset;
    const char *model;                  /* the trial's classifier */
    bool any;                           /* the cells do not depend on it */
    const graphss_predictor *predictor; /* answers in its place, and its name; or NULL */
    const char *predictor_name;
    int64_t seed;
    const graphss_i_recipe_line *point; /* of all cells, where points differ in the trial */
    bool alone;                         /* nothing else may run at the same time */
    size_t threads;                     /* of each cell: all when alone, else 1 */
    int64_t limit;                      /* seconds for a cell; 0: none */
    graphss_i_cell *cell;               /* [n_cells] */
    size_t n_cells;
} graphss_i_job;

typedef struct graphss_i_plan {
    graphss_i_recipe *recipe;
    size_t n_recipes;
    char **word; /* [n_words] names of datasets and models, each its own block */
    size_t n_words, word_room;
    char *given_datasets, *given_models, *given_settings, *given_methods; /* as words */
    graphss_i_job *job;
    size_t n_jobs, job_room;
} graphss_i_plan;

/* The jobs of opt->what, in the order of the recipes. Errors: INVALID (nothing by that name; a
 * key, model, method or option that does not exist, with recipe and line), NOT_FOUND, NOMEM.
 */
graphss_status graphss_i_plan_make(graphss_ctx *ctx, graphss_i_plan *out, uint64_t first_seed,
    const graphss_reproduce_options *opt);
void graphss_i_plan_destroy(graphss_ctx *ctx, graphss_i_plan *plan);

/* All options of a job, but for those of its methods. */
typedef struct graphss_i_job_options {
    graphss_protocol_options protocol;
    graphss_alert_options alert;
} graphss_i_job_options;

graphss_status graphss_i_job_options_fill(
    graphss_ctx *ctx, graphss_i_job_options *out, const graphss_i_job *job);
graphss_status graphss_i_cell_options_fill(graphss_ctx *ctx, graphss_recover_options *out,
    const graphss_i_job *job, const graphss_i_cell *cell);
/* Applies one assignment "group.option" = value. One of another group, or without a meaning
 * for the method, is ignored; *known is true if the name exists at all. An option that borrows
 * its value is refused if the value does not last. */
graphss_status graphss_i_assign(graphss_ctx *ctx, graphss_i_job_options *job,
    graphss_recover_options *recover, const char *key, size_t n_key, const char *value,
    bool lasts, bool *known);
/* A key of the point itself, not of an option: "dataset" or "who" (who attacks, as the report
 * sorts attackers: rehearsed, unrehearsed, foreign, adaptive, told, nobody). Returns the
 * length of the value, *value its start; 0 if the point lacks the key. point may be NULL. */
size_t graphss_i_point_says(
    const graphss_i_recipe_line *point, const char *key, const char **value);
/* Checks that all assignments of a point name existing options; reports whether all of them
 * are options of methods. */
graphss_status graphss_i_point_check(graphss_ctx *ctx, const graphss_i_recipe *r,
    const graphss_i_recipe_line *point, bool *of_methods);
/* The fields that identify the cell, the format, and who attacks; NULL: no memory. */
json_t *graphss_i_cell_identity(const graphss_i_job *job, const graphss_i_cell *cell);
/* Every option, by group. */
graphss_status graphss_i_cell_options_json(
    graphss_ctx *ctx, json_t **out, const graphss_i_job *job, const graphss_i_cell *cell);
/* "cora gcn seen jaccard retrain, seed 1", as snprintf. */
size_t graphss_i_cell_text(
    char *out, size_t size, const graphss_i_job *job, const graphss_i_cell *cell);

#endif
