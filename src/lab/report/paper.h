/* paper.h - what the paper printed, from paper.csv, which the build puts into the library.
 * Private. */
#ifndef GRAPHSS_REPORT_PAPER_H
#define GRAPHSS_REPORT_PAPER_H

#include "lab/report/text_arena.h"

typedef struct graphss_i_paper_cell {
    char what[16], dataset[16], model[8], method[16], metric[16];
    double mean, sd;    /* as printed: per cent, seconds; sd NaN where there is none */
    char reference[72]; /* table, row and column */
} graphss_i_paper_cell;

/* The cell, or false where the paper prints none. */
bool graphss_i_paper_find(graphss_i_paper_cell *out, const char *what, const char *dataset,
                          const char *model, const char *method, const char *metric);
/* The cell at *at (0: the first), which moves on; false past the last. */
bool graphss_i_paper_next(graphss_i_paper_cell *out, size_t *at);

#endif
