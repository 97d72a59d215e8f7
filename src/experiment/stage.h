/* stage.h - a scene that is ready for defences, and what a method does on it. */
#ifndef GRAPHSS_STAGE_H
#define GRAPHSS_STAGE_H

#include "experiment/plan.h"
#include <graphss/dataset.h>

/* {0} is empty. The truth is in current.label: it is looked at by measurements alone. */
typedef struct graphss_i_stage {
    graphss_i_job_options opt;
    graphss_dataset data;
    graphss_split split;
    graphss_snapshots made; /* empty for datasets */
    graphss_model *model;
    int32_t *before, *attacked; /* [nodes] the model's labels of current, before and after */
    int32_t *other;             /* [n_other] test nodes that are no victims */
    size_t n_other;
    double prepare_seconds, train_seconds, attack_seconds;
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
