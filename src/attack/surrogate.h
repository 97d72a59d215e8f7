/* surrogate.h - how the linear model of graphss_surrogate_train is trained. Private. */
#ifndef GRAPHSS_SURROGATE_H
#define GRAPHSS_SURROGATE_H

#include <graphss/model.h>

graphss_train_options graphss_i_surrogate_options(void);

#endif
