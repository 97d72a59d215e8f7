/* cli.h - what the files of the program share. The program sees the public headers only.
 *
 * A command is one file: a cli_command with its text, its option tables and its run
 * function, and a line in the table of main.c. Parsing, --help, the man page and the shell
 * completion all read the same tables. */
#ifndef GRAPHSS_CLI_H
#define GRAPHSS_CLI_H

#include "terminal.h"
#include <graphss_lab/graphss_lab.h>
#include <jansson.h>
#include <stdio.h>

#include "terminal.h"

typedef struct cli cli;

/* Options that fill one struct. */
typedef struct cli_group {
    const char *title; /* heading in --help */
    const graphss_option *(*table)(void);
    size_t size;                     /* of the struct */
    void (*defaults)(void *options); /* fills it */
} cli_group;

enum { CLI_MAX_GROUPS = 6 };

/* On several ranks a command is refused, run by all, each on its shard, or by rank 0 alone. */
typedef enum cli_with_ranks { CLI_REFUSED, CLI_SHARED, CLI_LED } cli_with_ranks;

typedef struct cli_command {
    const char *name;
    const char *arguments; /* "DATASET -o FILE" */
    const char *summary;   /* one line, no full stop */
    const char *about;     /* paragraphs, each ended by a newline; or NULL */
    const char *examples;  /* one command a line, without the program's name */
    size_t min_arguments, max_arguments;
    bool judges_data;     /* reads data for the first time, so notices about them are shown */
    cli_with_ranks ranks; /* --engine */
    /* What was asked for that ranks cannot do in parts, so that rank 0 does all of it; NULL:
     * nothing. Of commands that ranks share. */
    const char *(*whole)(cli *app);
    cli_group group[CLI_MAX_GROUPS]; /* ended by one without a table */
    /* True if the option has one default, independent of others. NULL: all have. */
    bool (*settled)(const graphss_option *row);
    graphss_status (*run)(cli *app);
} cli_command;

/* The i-th command, or NULL past the last. */
const cli_command *cli_command_at(size_t i);
const cli_command *cli_command_find(const char *name);
/* Progress of a loop of the program's own; CANCELLED after Ctrl-C. */
graphss_status cli_progress(cli *app, const char *stage, size_t done, size_t total);

typedef struct cli_globals {
    int64_t seed, threads;
    int missing; /* graphss_missing_rule */
    bool json, quiet, verbose, no_color, help, version, man;
    const char *data_dir, *completion, *engine;
} cli_globals;

extern const cli_group cli_global_group;

/* An option as it was given. group -1: a global one. */
typedef struct cli_item {
    const graphss_option *row;
    const char *text;
    int group;
} cli_item;

struct cli {
    const cli_command *command; /* NULL: none given */
    const char *program;        /* as the user typed it */
    cli_globals global;
    cli_item *item; /* [n_items] in the order given */
    size_t n_items;
    const char **argument; /* [n_arguments] words that are not options */
    size_t n_arguments;
    const char **data_dirs;  /* ended by NULL */
    const char *xdg_dir;     /* the last of data_dirs */
    const char **usual_dirs; /* of the library; it owns their texts */
    graphss_ctx *ctx;
    terminal term;
    json_t *json; /* the document of --json; NULL without --json */
    /* the last warning of cli_warn; NULL: none, and no data was read */
    json_t *warnings;
    json_t *notices;        /* a notice, whether shown or not; NULL: none */
    char error[2048];       /* of the program; empty: the context has the error */
    bool predictor;         /* --predictor answers in place of a model, */
    size_t predictor_calls; /* how often the user asked for it */
    bool alerted;           /* alert raised one: exit code 1 */
    bool stdin_read;        /* a dataset was read from standard input */
    int partial;            /* exit code if part of the work failed, else 0 */
    bool reader_left;       /* the reader of stdout is gone: end silently */
    graphss_engine engine;  /* of --engine; ranks 0: not used */
    graphss_part *part;     /* the shard of this rank, once it is read, */
    graphss_part *past;     /* and the one of an earlier snapshot */
};

/* ---- ranks.c ---- */

/* True for the rank that speaks and writes; alone, always. */
bool cli_leads(const cli *app);
/* Joins the other ranks where argv has --engine. */
graphss_status cli_ranks_start(cli *app, int argc, char **argv);
/* Threads for the context: --threads, or the cores of the machine shared by its ranks; 0: all.
 */
size_t cli_ranks_threads(const cli *app);
/* INVALID: the command does not run on several ranks. */
graphss_status cli_ranks_check(cli *app);
/* Runs the command, on rank 0 alone if it is one of those (CLI_LED) or asks for what parts
 * cannot do. */
graphss_status cli_ranks_run(cli *app);
/* Agrees with all ranks on the status; the text of a failed rank becomes the program's error.
 */
graphss_status cli_ranks_agree(cli *app, graphss_status own);
void cli_ranks_end(cli *app);
/* The shard of this rank becomes app->part. table: what every rank knows of all nodes. */
graphss_status cli_read_part(cli *app, graphss_dataset *table, const char *where);
/* The same of the snapshot before; now: the table of the part that was read. */
graphss_status cli_read_past(
    cli *app, graphss_dataset *table, const char *where, const graphss_dataset *now);
/* The first of the options (ended by NULL) that was given; or what the model of --model-file
 * is, if parts cannot use it; or NULL. */
const char *cli_ranks_whole(cli *app, const char *const *option);
/* Number of edges of the dataset, however it was read. */
size_t cli_edges(const cli *app, const graphss_dataset *data);
/* Adds "engine" to the document, and to its dataset what rank 0 does not hold. */
void cli_ranks_json(cli *app);

/* ---- arguments.c ---- */

/* Sorts argv into command, options and arguments. INVALID: unknown ones, with the nearest
 * known name. */
graphss_status cli_parse(cli *app, int argc, char **argv);
graphss_status cli_unknown_command(cli *app, const char *name);
/* Sets the fields of one group that were given; the caller filled in the defaults. */
graphss_status cli_apply(cli *app, int group, void *options);
/* The text of the last --name of the command's own options, or NULL. */
const char *cli_given(const cli *app, const char *name);
/* True if an earlier group has an option of the same name. */
bool cli_row_hidden(const cli_command *command, int group, const graphss_option *row);
/* The candidate nearest to text by edit distance, or NULL when none is near. next(user, i)
 * gives candidates until NULL. */
const char *cli_nearest(
    const char *text, const char *(*next)(const void *user, size_t i), const void *user);

/* ---- names.c ---- */

/* The i-th value that an option of a group may have: a choice, or the name of a classifier, an
 * attack, a defence. NULL past the last, and for options that take any text. */
/* The i-th method of recover, NULL past the last. */
const char *cli_method_name(size_t i);
const char *cli_value_at(const cli_group *group, const graphss_option *row, size_t i);
/* INVALID: `found` is none of name(0), name(1), ...; names them all and the nearest. */
graphss_status cli_check_name(
    cli *app, const char *option, const char *found, const char *(*name)(size_t i));
/* INVALID: an option of the group was given that `chosen` does not use. The error names the
 * methods that use it. */
graphss_status cli_check_use(cli *app, int group, const char *chosen,
    bool (*uses)(const char *name, const char *option), const char *(*name)(size_t i));

/* ---- help.c, manual.c ---- */

void cli_help(FILE *out, const cli_command *command); /* NULL: the overview */
void cli_manual(FILE *out);
graphss_status cli_completion(cli *app, FILE *out, const char *shell);

/* ---- output.c ---- */

graphss_status cli_fail(cli *app, graphss_status status, const char *format, ...)
    GRAPHSS_PRINTF(3, 4);
/* Errors of the command line: adds how to get help. */
graphss_status cli_usage(cli *app, const char *format, ...) GRAPHSS_PRINTF(2, 3);
/* Wraps text to the width of the terminal (COLUMNS if set; 40 to 100). The first line begins
 * at column `at`, the others at `column`; ends with a newline. */
void cli_wrap(FILE *out, const char *text, size_t column, size_t at);
/* A line for people on stderr, unless --quiet. */
void cli_note(cli *app, const char *format, ...) GRAPHSS_PRINTF(2, 3);
/* A line that begins with "warning: ", also with --quiet; in the `warnings` of --json. */
void cli_warn(cli *app, const char *format, ...) GRAPHSS_PRINTF(2, 3);
/* The same for notices: only of commands that judge data, and not with --quiet. */
void cli_notice(cli *app, const char *line);
/* The error for people and, with --json, for programs. Returns the exit code. */
int cli_report_error(cli *app, graphss_status status);
/* Prints the JSON document if there is one and flushes; IO when stdout does not take it. */
graphss_status cli_finish(cli *app);

/* Memory of the program itself: exits with code 4 if there is none. */
void *cli_alloc(size_t count, size_t size);
/* For memory that grows with the data: NOMEM says how much was wanted. *out is freed by free.
 */
graphss_status cli_alloc_large(cli *app, void *out, size_t count, size_t size);
char *cli_format(const char *format, ...) GRAPHSS_PRINTF(1, 2);

/* Values that are always valid JSON: NaN is null, broken UTF-8 is mended. */
void cli_json_set(json_t *object, const char *key, json_t *value);
json_t *cli_json_real(double value);
json_t *cli_json_text(const char *text);
/* The values of a struct by the names of its table. */
json_t *cli_json_options(const void *options, const graphss_option *table);
json_t *cli_json_confusion(const int64_t *confusion, size_t n_classes);
/* name, hash, nodes, edges, features, classes, format */
json_t *cli_json_dataset(const graphss_dataset *data);
/* Fields that are the same for every run: version, seed, threads, peak memory. */
void cli_json_run(cli *app, json_t *object);
/* Writes the file completely or not at all. */
graphss_status cli_write_file(cli *app, const char *path, const char *text, size_t size);

uint64_t cli_peak_memory(void);
double cli_seconds(void);

/* ---- file_type.c ---- */

typedef enum cli_file_type {
    CLI_FILE_NONE,  /* not there */
    CLI_FILE_OTHER, /* not one of ours, or unknown */
    CLI_FILE_NPZ,   /* a .npz with other arrays */
    CLI_FILE_FOLDER,
    CLI_FILE_DATASET,
    CLI_FILE_MODEL,
    CLI_FILE_FLIPS,
    CLI_FILE_LABELS,
    CLI_FILE_SPLIT
} cli_file_type;

cli_file_type cli_file_type_of(const char *path);
/* DATA: path is of the type found (FOLDER or later), which is not wanted here. Names the
 * option of the command that wants it. */
graphss_status cli_wrong_file(
    cli *app, const char *path, cli_file_type found, const char *wanted);

/* ---- inputs.c ---- */

/* Fills data_dirs: --data-dir, then those of the library. */
graphss_status cli_find_data_dirs(cli *app);
/* DATA also if it is a model, a list of changes, labels or a split. */
graphss_status cli_read_dataset(cli *app, graphss_dataset *out, const char *where);
/* DATA: model is a dataset and dataset a model. */
graphss_status cli_check_swapped(cli *app, const char *model, const char *dataset);
/* The model of --model-file; free it by graphss_model_free. DATA as above. */
graphss_status cli_load_model(cli *app, graphss_model **out, const char *path);
/* True if it is the name of a dataset that fetch knows. */
bool cli_is_public_name(const char *name);
/* Aligns data to be labelled with the model, and warns if features were moved. *moved (or
 * NULL): features or classes were. */
graphss_status cli_align(
    cli *app, const graphss_model *model, graphss_dataset *data, bool *moved);
/* "cora (npz): 2708 nodes, ..." and what was cleaned, for people; _show: unless --quiet, for
 * commands whose result it is not. */
void cli_print_dataset(cli *app, const graphss_dataset *data);
void cli_show_dataset(cli *app, const graphss_dataset *data);
/* "s" unless n is 1. */
const char *cli_s(size_t n);
/* "Attack   links, about 3.0 % of the nodes", without an end. */
void cli_show_attack(graphss_perturbation attack, double share, const char *of);
/* How nodes of two files are matched if only one has names: by number if the names are
 * numbers, else by position, with a warning (*by_position, or NULL). DATA: the number of nodes
 * differs. Only graph->n_nodes and names of the observations are used. */
graphss_status cli_check_names(cli *app, bool *by_position, const graphss_observation *a,
    const char *a_file, const graphss_observation *b, const char *b_file);
/* The same with the nodes of a model. */
graphss_status cli_check_model_names(cli *app, const graphss_model *model,
    const char *model_file, const graphss_observation *data, const char *file);
/* The name of class k, or its number in buffer. */
const char *cli_class_name(const graphss_dataset *data, size_t k, char buffer[24]);

/* Refuses an output, before any work is done, that is one of the inputs (paths, datasets;
 * NULLs are skipped), that would hide a dataset of the same name, or whose folder cannot be
 * written to. */
graphss_status cli_check_output(
    cli *app, const char *path, const char *const *input, size_t n_inputs);
bool cli_has_extension(const char *path, const char *extension);

/* Reads the file of --OPTION of a command: one node id a line, or a list of changes, whose
 * victims count. *nodes is released by graphss_release. */
graphss_status cli_read_nodes(
    cli *app, int32_t **nodes, size_t *n, const char *path, const graphss_dataset *data);

/* ---- splits.c ---- */

/* True if it is one of the public datasets, by name or by content. */
bool cli_is_benchmark(const graphss_dataset *data);
/* The split in a file of its own, of labels, or of a model. Nodes are matched by name. */
graphss_status cli_read_split(cli *app, graphss_split *out, const char *path,
    const graphss_dataset *data, size_t n_classes);

typedef struct cli_split_options {
    graphss_split_options make;
    const char *from; /* --split: a file, "public", or NULL: make one */
    int mode;         /* graphss_mode */
    /* --noise was given; otherwise it depends on the data, see cli_split_choose */
    bool noise_given;
} cli_split_options;

const graphss_option *cli_split_table(void);
void cli_split_defaults(void *options);
void cli_split_make_defaults(void *options);
/* Two groups, to be used together. */
#define CLI_SPLIT_GROUPS \
    {"Split", cli_split_table, sizeof(cli_split_options), cli_split_defaults}, \
    { \
        "Split drawn from --seed", graphss_split_options_table, \
            sizeof(graphss_split_options), cli_split_make_defaults \
    }
/* The options of the two groups from `group` on, presets of --mode first. INVALID: --split
 * together with shares. */
graphss_status cli_split_apply(cli *app, int group, cli_split_options *options);
/* Adds label noise if --noise asks for it. Without --noise it does so only for public and
 * generated data and in paper mode, so that results compare with published ones.
 * options->make.noise is set to the noise used. The caller destroys *out. */
graphss_status cli_split_choose(
    cli *app, graphss_split *out, const graphss_dataset *data, cli_split_options *options);
/* The same of a split. */
void cli_print_split(cli *app, const graphss_split *split, const cli_split_options *options);
void cli_show_split(cli *app, const graphss_split *split, const cli_split_options *options);

/* Test accuracy of always saying the most frequent training label; NaN without truth. */
double cli_majority(const graphss_split *split, const graphss_dataset *data);

/* Adds to the test nodes of a split, in numbers of data, the nodes that the model never met.
 */
graphss_status cli_split_add_new(cli *app, graphss_split *split, const graphss_model *model,
    const graphss_observation *data);

/* ---- labels.c ---- */

/* INVALID: a name that does not end in .npz, .csv or .tsv. */
graphss_status cli_check_labels(cli *app, const char *path);
/* True if the name ends in .csv or .tsv. */
bool cli_is_table(const char *path);
/* As .npz, or as a table: node, label, probability; with own [n_nodes], the labels of the
 * classifier, also those and `perturbed`. */
graphss_status cli_write_labels(
    cli *app, const graphss_predictions *p, const int32_t *own, const char *path);
/* The i-th name, or i without names, as a cell of a table (separated by tabs or commas) that a
 * spreadsheet takes for text. */
void cli_put_name(FILE *out, bool tabs, const graphss_names *names, size_t i);
/* How sure the label of a node is, which must have one. */
double cli_label_chance(const graphss_predictions *p, size_t node);
/* The i-th name; without names i, written to buffer. */
const char *cli_name_at(const graphss_names *names, size_t i, char buffer[24]);

/* ---- predictor.c ---- */

/* The program of --predictor as a predictor; its release frees it. IO: no folder for its
 * files. */
graphss_status cli_predictor_open(
    cli *app, graphss_predictor *out, const char *command, size_t n_classes);
/* A model that answers as the program does. */
graphss_status cli_predictor_attach(cli *app, graphss_model *model, const char *command);

/* ---- training.c ---- */

/* A model trained on a split, with its prediction for every node. */
typedef struct cli_fit {
    graphss_model *model;
    graphss_training log;
    int32_t *label;       /* [nodes] */
    double test_accuracy; /* against the truth; NaN where it is unknown */
} cli_fit;

/* Fits the detector for alert on the snapshot the model was trained on. */
graphss_status cli_teach(cli *app, graphss_model *model, const graphss_dataset *data);
graphss_status cli_fit_run(cli *app, cli_fit *fit, const graphss_dataset *data,
    const graphss_split *split, const graphss_train_options *options);
void cli_fit_done(cli *app, cli_fit *fit);
void cli_fit_curves(cli *app, const cli_fit *fit);
/* train_accuracy, val_accuracy, test_accuracy, epochs, best_epoch, seconds */
void cli_fit_json(json_t *object, const cli_fit *fit);

/* Names of all classes, the numbers where there are none; free with
 * cli_class_names_done. */
char **cli_class_names(const graphss_dataset *data, size_t n_classes);
void cli_class_names_done(char **name, size_t n_classes);

/* One line for each cmd_*.c. */

extern const cli_command cli_alert;
extern const cli_command cli_alerts;
extern const cli_command cli_apply_command;
extern const cli_command cli_attack;
extern const cli_command cli_audit;
extern const cli_command cli_convert;
extern const cli_command cli_demo;
extern const cli_command cli_evaluate;
extern const cli_command cli_events;
extern const cli_command cli_export;
extern const cli_command cli_fetch;
extern const cli_command cli_help_command;
extern const cli_command cli_import;
extern const cli_command cli_info;
extern const cli_command cli_plan;
extern const cli_command cli_predict;
extern const cli_command cli_recover;
extern const cli_command cli_report;
extern const cli_command cli_reproduce;
extern const cli_command cli_serve;
extern const cli_command cli_shard;
extern const cli_command cli_snapshots;
extern const cli_command cli_split;
extern const cli_command cli_train;
extern const cli_command cli_version;
extern const cli_command cli_extract;
extern const cli_command cli_watch;

#endif
