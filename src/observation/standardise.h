/* standardise.h - applies the classifier's standardisation of columns to both snapshots.
 *
 *     graphss_i_standardised scaled = {0};
 *     graphss_i_standardise_open(ctx, &scaled, in);
 *     ... scaled.in ...
 *     graphss_i_standardise_close(ctx, &scaled); */
#ifndef GRAPHSS_MEASURED_H
#define GRAPHSS_MEASURED_H

#include "models/model_private.h"
#include <graphss/recover.h>

/* {0} is empty. `in` points into the struct, so it must not be moved. */
typedef struct graphss_i_standardised {
    graphss_defence_input in;
    graphss_features current, past; /* empty: unchanged */
    graphss_observation previous;
    graphss_model model; /* shallow: the given one without what is done here */
    float *mean;         /* [2 n_cols] of the model: what it still subtracts, and ones */
} graphss_i_standardised;

graphss_status graphss_i_standardise_open(graphss_ctx *ctx, graphss_i_standardised *scaled,
                                          const graphss_defence_input *in);
void graphss_i_standardise_close(graphss_ctx *ctx, graphss_i_standardised *scaled);

#endif
