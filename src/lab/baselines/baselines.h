/* baselines.h - the published defences, for the laboratory. */
#ifndef GRAPHSS_BASELINES_H
#define GRAPHSS_BASELINES_H

#include "recover/defence.h"
#include <graphss_lab/baselines.h>

#define DEFENCE(name) extern const graphss_i_defence graphss_i_##name##_defence;
#include "lab/baselines/baselines.def"
#undef DEFENCE

/* The method of a name as a mode has it, or NULL. */
const graphss_i_defence *graphss_i_lab_defence(const char *name, int mode);

#endif
