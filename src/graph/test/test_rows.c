/* Rows of features; their products against sums of one row after the other. */
#include "graph/rows.h"
#include "testing.h"

enum { ROWS = 9, D = 50 };

TEST(rows_multiplied_at_once_have_the_bits_of_single_ones)
{
    graphss_rng rng = graphss_rng_make(6, 1);
    float value[ROWS * D], b[D];
    int32_t column[ROWS * D];
    graphss_i_row row[2][ROWS]; /* sparse, dense */
    for (size_t c = 0; c < D; c++)
        b[c] = (float)graphss_rng_normal(&rng);
    for (size_t i = 0, at = 0; i < ROWS; i++) {
        const size_t first = i * D;
        at = first;
        for (size_t c = 0; c < D; c++) {
            value[first + c] = (float)graphss_rng_normal(&rng);
            if (graphss_rng_below(&rng, ROWS) > i)
                column[at++] = (int32_t)c;
        }
        row[0][i] = (graphss_i_row){column + first, value + first, at - first};
        row[1][i] = (graphss_i_row){NULL, value + first, D};
    }
    for (size_t dense = 0; dense < 2; dense++)
        for (size_t n = 0; n <= GRAPHSS_I_DOTS; n++)
            for (size_t from = 0; from + n <= ROWS; from++) {
                double out[GRAPHSS_I_DOTS];
                graphss_i_row_dots(out, row[dense] + from, n, b);
                for (size_t q = 0; q < n; q++) {
                    const graphss_i_row r = row[dense][from + q];
                    double want = 0;
                    for (size_t j = 0; j < r.n; j++)
                        want += (double)r.value[j] * (double)b[graphss_i_row_at(r, j)];
                    assert_memory_equal(&out[q], &want, sizeof want);
                }
            }
}

TEST(a_sparse_row_without_entries_is_not_dense)
{
    int64_t offset[] = {0, 0, 0};
    const graphss_features x = {.n_rows = 2, .n_cols = 3, .offset = offset};
    const graphss_i_row a = graphss_i_row_of(&x, 0), b = graphss_i_row_of(&x, 1);
    size_t at = 0;
    assert_int_equal(graphss_i_row_count(a), 0);
    assert_true(graphss_i_row_value(a, &at, 2) == 0);
    assert_true(graphss_i_row_same(a, b));
}

int main(void)
{
    return testing_run();
}
