/* cell.h - what the files that measure cells share. */
#ifndef GRAPHSS_CELL_H
#define GRAPHSS_CELL_H

#include "lab/experiment/job_state.h"
#include "lab/experiment/measure.h"

/* Seeds of the method that one snapshot of the attackers meets. */
enum { GRAPHSS_I_RECOVER_SEEDS = 3 };

/* Each returns 0, or not 0 for lack of memory; the results of many calls can be combined by
 * |. */
int graphss_i_set_real(json_t *object, const char *key, double value);
int graphss_i_set_count(json_t *object, const char *key, size_t value);
json_t *graphss_i_json_numbers(const double *value, size_t n);
int graphss_i_set_curve(json_t *record, const char *key, json_t *x, json_t *y,
                        const char *x_name, const char *y_name);
/* What is the same for all cells of a trial; rows of the classifier where wanted. */
int graphss_i_set_trial(json_t *metrics, const graphss_i_job_state *state, bool classifier);

/* graphss_protocol_input (protocol.c), with the previous snapshot where there is a place for
 * it, which is filled and borrowed. */
graphss_defence_input graphss_i_protocol_input(const graphss_protocol_trial *trial,
                                               graphss_observation *previous);
/* Scores [nodes] of the test nodes, victims marked, sorted; NULL: no memory. */
graphss_i_scored *graphss_i_score_nodes(graphss_ctx *ctx, const double *score,
                                        const graphss_i_job_state *state);

/* cell_alert.c: groups of nodes, judged. */
graphss_status graphss_i_cell_alert(graphss_ctx *ctx, json_t *record,
                                    const graphss_i_job_state *state, const graphss_i_job *job,
                                    const graphss_i_cell *cell);

#endif
