/* worker.h - a process that prepares the trials of a job and runs methods on them. */
#ifndef GRAPHSS_WORKER_H
#define GRAPHSS_WORKER_H

#include "lab/experiment/job_state.h"
#include <sys/types.h>

typedef struct graphss_i_worker {
    const graphss_i_job *job;
    const char *const *data_dirs;
    pid_t parent; /* the process that forked it; if that is gone it ends with code 70 */
} graphss_i_worker;

/* Runs every cell of the job that is not done, each in a process of its own that begins as a
 * copy of the prepared trial, and writes a line "CELL RECORD" for each to the descriptor. For
 * the child of a fork: never returns, ends the process without touching what it inherited. */
void graphss_i_worker_run(const graphss_i_worker *worker, int out) __attribute__((noreturn));

/* A record of a cell that failed: identity, error and what repeats it; NULL: no memory. ctx
 * may be any, for the options. timeout: it took longer than the limit. */
json_t *graphss_i_error_record(graphss_ctx *ctx, const graphss_i_job *job,
                               const graphss_i_cell *cell, int code, const char *message,
                               bool timeout);
/* What repeats a cell: version, recipe, options, threads, machine; hash of the dataset, or
 * NULL. */
json_t *graphss_i_repeat(graphss_ctx *ctx, const graphss_i_job *job,
                         const graphss_i_cell *cell, const char *hash);

#endif
