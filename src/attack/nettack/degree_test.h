/* degree_test.h - would anyone notice from the degrees? Nettack's likelihood-ratio test.
 *
 * Degrees of at least 2 are taken for a power law. The graph before the attack and the
 * graph after one more flip are fitted apart and together; a flip passes while the ratio
 * of the two stays below a cutoff (Zuegner et al., KDD 2018, section 4.1). */
#ifndef GRAPHSS_DEGREE_TEST_H
#define GRAPHSS_DEGREE_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct graphss_i_degree_test {
    double n0, s0; /* before the attack: nodes of degree >= 2, sum of their log degrees */
    double ll0;    /* log-likelihood of that */
    double n, s;   /* now */
    double sign;   /* of the last term of the likelihood: -1, or +1 as in the paper's code */
    double cutoff;
} graphss_i_degree_test;

/* count[d] nodes have degree d, for d in 0..max_degree. */
void graphss_i_degree_test_start(graphss_i_degree_test *t, const int32_t *count,
                                 size_t max_degree, double cutoff, bool sign_error);
/* The ratio when the ends of an edge, of degrees a and b, both gain step (+1 or -1). */
double graphss_i_degree_ratio(const graphss_i_degree_test *t, int32_t a, int32_t b, int step);
/* Records that the flip was made. */
void graphss_i_degree_test_move(graphss_i_degree_test *t, int32_t a, int32_t b, int step);

#endif
