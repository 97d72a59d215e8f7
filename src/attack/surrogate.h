/* surrogate.h - how the linear model of graphss_surrogate_train is trained. Private. */
#ifndef GRAPHSS_SURROGATE_H
#define GRAPHSS_SURROGATE_H

#include <graphss/model.h>

graphss_train_options graphss_i_surrogate_options(void);
/* graphss_surrogate_train on a snapshot that was already checked. */
graphss_status graphss_i_surrogate_train(graphss_ctx *ctx, float **w,
                                         const graphss_train_input *in);

#endif
