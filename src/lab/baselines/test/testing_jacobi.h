/* testing_jacobi.h - every eigenpair of a small symmetric matrix, for tests of those that are
 * found by other means. */
#ifndef GRAPHSS_TESTING_JACOBI_H
#define GRAPHSS_TESTING_JACOBI_H

#include "testing.h"

/* x <- c x - s y, y <- s x + c y, for n pairs a step apart */
static inline void testing_rotate(
    double *x, double *y, size_t step, size_t n, double c, double s)
{
    for (size_t i = 0; i < n * step; i += step) {
        const double was = x[i];
        x[i] = c * was - s * y[i];
        y[i] = s * was + c * y[i];
    }
}

/* Cyclic Jacobi: a [n x n], which is destroyed, into value [n] and the columns of v [n x n].
 */
static inline void testing_jacobi(double *value, double *v, double *a, size_t n)
{
    for (size_t i = 0; i < n * n; i++)
        v[i] = i % (n + 1) == 0;
    for (int sweep = 0; sweep < 30; sweep++)
        for (size_t p = 0; p < n; p++)
            for (size_t q = p + 1; q < n; q++) {
                if (fabs(a[p * n + q]) < 1e-14)
                    continue;
                const double theta = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
                const double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1));
                const double c = 1 / sqrt(t * t + 1), s = t * c;
                testing_rotate(a + p, a + q, n, n, c, s);
                testing_rotate(a + p * n, a + q * n, 1, n, c, s);
                testing_rotate(v + p, v + q, n, n, c, s);
            }
    for (size_t i = 0; i < n; i++)
        value[i] = a[i * n + i];
}

#endif
