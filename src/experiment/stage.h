/* stage.h - a scene that is ready for defences, and what a method does on it. */
#ifndef GRAPHSS_STAGE_H
#define GRAPHSS_STAGE_H

#include "experiment/plan.h"

/* {0} is empty. The truth is in the current snapshot: measurements alone look at it. */
typedef struct graphss_i_stage {
    graphss_dataset data;
    graphss_split split; /* datasets only: the rest is the protocol's */
    graphss_protocol protocol;
    graphss_protocol_scene scene;
    double prepare_seconds, train_seconds;
} graphss_i_stage;

/* Reads, splits, trains, attacks. */
graphss_status graphss_i_stage_make(graphss_ctx *ctx, graphss_i_stage *out,
                                    const graphss_i_job *job, const char *const *data_dirs);
void graphss_i_stage_destroy(graphss_ctx *ctx, graphss_i_stage *stage);

/* Runs one cell and fills metrics and what stands beside them into the record. */
graphss_status graphss_i_cell_run(graphss_ctx *ctx, json_t *record,
                                  const graphss_i_stage *stage, const graphss_i_job *job,
                                  const graphss_i_cell *cell);

#endif
