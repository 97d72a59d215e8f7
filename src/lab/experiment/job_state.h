/* job_state.h - a trial that is ready for defences, and what a method does on it. */
#ifndef GRAPHSS_STAGE_H
#define GRAPHSS_STAGE_H

#include "lab/experiment/plan.h"

/* {0} is empty. The truth is in the current snapshot: measurements alone look at it. */
typedef struct graphss_i_job_state {
    graphss_dataset data;
    graphss_split split; /* datasets only: the rest is the protocol's */
    graphss_protocol protocol;
    graphss_protocol_trial trial;
    int64_t set;                           /* of victims, in the trial; 0: there is none yet */
    double start_seconds, start_train;     /* before the first trial */
    double prepare_seconds, train_seconds; /* of the trial, with the start */
    graphss_model *carried;                /* what the set before left, or NULL */
    struct graphss_i_model_state *left;    /* what this one leaves, for the worker; or NULL */
} graphss_i_job_state;

/* Reads, splits, trains. */
graphss_status graphss_i_job_state_make(graphss_ctx *ctx, graphss_i_job_state *out,
                                        const graphss_i_job *job,
                                        const char *const *data_dirs);
/* Attacks a set of victims, in place of the one before. Nothing where the trial is there, or
 * none is wanted (datasets). */
graphss_status graphss_i_job_state_set(graphss_ctx *ctx, graphss_i_job_state *state,
                                       const graphss_i_job *job, int64_t set);
void graphss_i_job_state_destroy(graphss_ctx *ctx, graphss_i_job_state *state);

/* Does its method leave a model to the next set of victims? */
bool graphss_i_cell_carries(const graphss_i_job *job, const graphss_i_cell *cell);
/* Runs one cell and fills metrics and what stands beside them into the record. */
graphss_status graphss_i_cell_run(graphss_ctx *ctx, json_t *record,
                                  const graphss_i_job_state *state, const graphss_i_job *job,
                                  const graphss_i_cell *cell);

#endif
