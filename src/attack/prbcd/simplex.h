/* simplex.h - the nearest point with entries in [0, 1] and a bounded sum. */
#ifndef GRAPHSS_SIMPLEX_H
#define GRAPHSS_SIMPLEX_H

#include <stddef.h>

/* p becomes argmin |q - p|^2 over 0 <= q <= 1, sum q <= budget: q = clip(p - mu) for the
 * least mu >= 0 that keeps the sum. */
void graphss_i_project_budget(double *p, size_t n, double budget);

#endif
