/* cell.h - runs a job: measuring cells, starting a worker process, and what it keeps between
 * jobs. */
#ifndef GRAPHSS_CELL_H
#define GRAPHSS_CELL_H

#include "lab/experiment/plan.h"
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- how good scores and posteriors are; kernels ---- */

typedef struct graphss_i_scored {
    double score;
    int32_t hit; /* 0 or 1 */
} graphss_i_scored;

/* The highest score first, scores that are no numbers last. */
void graphss_i_scored_sort(graphss_i_scored *item, size_t n);
/* For sorted items: the probability that an attacked one scores higher than another, ties
 * half; NaN if either is missing, or if a score is NaN. */
double graphss_i_auc(const graphss_i_scored *item, size_t n);
/* For sorted items: corners of the curve from (0, 0) to (1, 1), x the share of the others and
 * y the share of the attacked ones with at least that score. x, y [n + 1]; returns their
 * number, 0 if the area is NaN. */
size_t graphss_i_roc(double *x, double *y, const graphss_i_scored *item, size_t n);

enum { GRAPHSS_I_BINS = 15 };
/* One bin for each fifteenth of confidence, the largest entry of a row of posterior. */
typedef struct graphss_i_bins {
    double confidence[GRAPHSS_I_BINS], accuracy[GRAPHSS_I_BINS]; /* means; 0 if empty */
    size_t count[GRAPHSS_I_BINS];
} graphss_i_bins;

/* Over the listed nodes whose truth is known and whose confidence is finite. */
void graphss_i_bins_fill(graphss_i_bins *out, const double *posterior, size_t n_classes,
    const int32_t *truth, const int32_t *node, size_t n);
/* Mean of |accuracy - confidence|, weighted by the counts; NaN when all are empty. */
double graphss_i_calibration_error(const graphss_i_bins *bins);

/* ---- a trial that is ready for defences, and a method applied to it ---- */

/* {0} is empty. The truth is in the current snapshot: only measurements read it. */
typedef struct graphss_i_job_state {
    graphss_dataset data;
    graphss_split split; /* datasets only: the rest is the protocol's */
    graphss_protocol protocol;
    graphss_protocol_trial trial;
    int64_t set;                           /* victims of the trial; 0: none yet */
    double start_seconds, start_train;     /* before the first trial */
    double prepare_seconds, train_seconds; /* of the trial, with the start */
    graphss_model *carried;                /* what the previous set left, or NULL */
    struct graphss_i_model_state *left;    /* what this set leaves, for the worker; or NULL */
} graphss_i_job_state;

/* Reads, splits, trains. */
graphss_status graphss_i_job_state_make(graphss_ctx *ctx, graphss_i_job_state *out,
    const graphss_i_job *job, const char *const *data_dirs);
/* Attacks a set of victims in place of the previous set. No-op if the trial has them already,
 * or needs none (datasets). */
graphss_status graphss_i_job_state_set(
    graphss_ctx *ctx, graphss_i_job_state *state, const graphss_i_job *job, int64_t set);
void graphss_i_job_state_destroy(graphss_ctx *ctx, graphss_i_job_state *state);

/* Does its method leave a model to the next set of victims? */
bool graphss_i_cell_carries(const graphss_i_job *job, const graphss_i_cell *cell);
/* Runs one cell and fills its metrics and curves into the record. */
graphss_status graphss_i_cell_run(graphss_ctx *ctx, json_t *record,
    const graphss_i_job_state *state, const graphss_i_job *job, const graphss_i_cell *cell);

/* Seeds of the method that one snapshot of the attackers meets. */
enum { GRAPHSS_I_RECOVER_SEEDS = 3 };

/* Each returns 0, or not 0 for lack of memory; the results of many calls can be combined by
 * |. */
int graphss_i_set_real(json_t *object, const char *key, double value);
int graphss_i_set_count(json_t *object, const char *key, size_t value);
json_t *graphss_i_json_numbers(const double *value, size_t n);
int graphss_i_set_curve(json_t *record, const char *key, json_t *x, json_t *y,
    const char *x_name, const char *y_name);
/* What is the same for all cells of a trial; adds rows of the classifier if wanted. */
int graphss_i_set_trial(json_t *metrics, const graphss_i_job_state *state, bool classifier);

/* graphss_protocol_input (protocol.c), with the previous snapshot in *previous, which is
 * filled and borrowed, unless it is NULL. */
graphss_defence_input graphss_i_protocol_input(
    const graphss_protocol_trial *trial, graphss_observation *previous);
/* Scores [nodes] of the test nodes, victims marked, sorted; NULL: no memory. */
graphss_i_scored *graphss_i_score_nodes(
    graphss_ctx *ctx, const double *score, const graphss_i_job_state *state);

/* cell_alert.c: groups of nodes, judged. */
graphss_status graphss_i_cell_alert(graphss_ctx *ctx, json_t *record,
    const graphss_i_job_state *state, const graphss_i_job *job, const graphss_i_cell *cell);

/* ---- a process that prepares the trials of a job and runs methods on them ---- */

typedef struct graphss_i_worker {
    const graphss_i_job *job;
    const char *const *data_dirs;
    pid_t parent; /* the process that forked it; if that is gone it ends with code 70 */
} graphss_i_worker;

/* Runs every cell of the job that is not done, each in a process of its own that begins as a
 * copy of the prepared trial, and writes a line "CELL RECORD" for each to the descriptor. For
 * the child of a fork: never returns, ends the process without touching what it inherited. */
void graphss_i_worker_run(const graphss_i_worker *worker, int out) __attribute__((noreturn));

/* The record of a failed cell: identity, error and what is needed to repeat it; NULL: no
 * memory. ctx may be any, for the options. timeout: it took longer than the limit. */
json_t *graphss_i_error_record(graphss_ctx *ctx, const graphss_i_job *job,
    const graphss_i_cell *cell, int code, const char *message, bool timeout);
/* What is needed to repeat a cell: version, recipe, options, threads, machine; hash of the
 * dataset, or NULL. */
json_t *graphss_i_repeat(
    graphss_ctx *ctx, const graphss_i_job *job, const graphss_i_cell *cell, const char *hash);

#endif
