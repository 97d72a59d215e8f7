/* graphss_lab/reproduce.h - the tables and figures of the paper, and ours, as records.
 *
 *     graphss_reproduce_options opt;
 *     graphss_reproduce_options_init(&opt);
 *     opt.what = "defence";
 *     opt.folder = "out";
 *     graphss_reproduce_result done = {0};
 *     graphss_reproduce_run(ctx, &done, 1, &opt);
 *
 * Each finished cell (a method on a trial) is a line of FOLDER/records.jsonl
 * (docs/records.md). What is there already is not run again. Cells run in processes of their
 * own, each on one thread, as many at a time as the context has threads; those of a recipe
 * that runs alone (runtime) one at a time on all threads. One that crashes is a record with an
 * error, and the rest goes on. Results do not depend on how many run.
 *
 * For a program that embeds the library: graphss_reproduce_run forks, so call it where no
 * other thread holds a lock that the children would need, and waits for its children by their
 * ids. It leaves SIGCHLD as it is. Where that is ignored, or a handler of yours waits for any
 * child, records are complete all the same; only how a worker died cannot be told then. */
#ifndef GRAPHSS_LAB_REPRODUCE_H
#define GRAPHSS_LAB_REPRODUCE_H

#include <graphss/options.h>
#include <graphss/predictor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Lists are "a,b"; NULL: as in the recipe. */
typedef struct graphss_reproduce_options {
    uint32_t struct_size; /* sizeof(graphss_reproduce_options) */
    const char *what;     /* "datasets", "defence", ... or "all" */
    const char *mode;     /* "paper" or "honest"; NULL: both */
    const char *datasets; /* instead of the recipe's */
    const char *models;   /* instead of the recipe's; with "all" only those of the recipe */
    const char *settings; /* restricts those of the recipe */
    const char *methods;  /* restricts those of the recipe */
    int64_t seeds;        /* number of seeds; 0: as in the recipe */
    const char *recipe;   /* a file instead of those built in; what may be NULL then */
    const char *folder;   /* created if missing */
    const char *const *data_dirs; /* as in graphss_read_options */
    /* Answers in place of the classifiers, which are fitted to it: honest mode only; NULL:
     * none. Borrowed, called in processes of their own and never released. It must answer for
     * the classes of every dataset that is run. */
    const graphss_predictor *predictor;
    /* the name of the dataset in records; needed with a predictor */
    const char *predictor_name;
} graphss_reproduce_options;

GRAPHSS_API void graphss_reproduce_options_init(graphss_reproduce_options *opt);

GRAPHSS_API const graphss_option *graphss_reproduce_options_table(void);

typedef struct graphss_reproduce_result {
    size_t cells;   /* in all */
    size_t before;  /* recorded by an earlier run */
    size_t run;     /* finished by this one */
    size_t failed;  /* failed, in this run or an earlier one */
    size_t cut;     /* bytes of an incomplete last line that were removed */
    int first_code; /* exit code of the first cell that failed; 0: none failed */
    char first_error[512];
    double seconds;
    uint64_t reserved[4]; /* 0 */
} graphss_reproduce_result;

/* The name of the i-th built-in recipe, NULL past the last. *text, of n bytes: its content,
 * which begins with a comment on what it makes; constant. */
GRAPHSS_API const char *graphss_reproduce_recipe(size_t i, const char **text, size_t *n);

/* Runs what is missing; opt is needed. Progress stage: "reproduce", in milliseconds of
 * expected work. A line of the log (INFO) for each cell. *out is filled even when it ends
 * early. Errors: INVALID, DATA (a recipe, a dataset, records that are none), NOT_FOUND, IO,
 * LIMIT (another run writes to the folder), NOMEM, CANCELLED: what was finished is kept. A
 * cell that fails is no error. */
GRAPHSS_MUST_CHECK graphss_status graphss_reproduce_run(graphss_ctx *ctx,
    graphss_reproduce_result *out, uint64_t first_seed, const graphss_reproduce_options *opt);

#ifdef __cplusplus
}
#endif
#endif
