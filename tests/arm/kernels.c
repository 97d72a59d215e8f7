/* kernels.c - the generic kernels beside naive twins, without a test library: for a processor
 * that is emulated (run.sh). Prints its random draws: dropout is the same on all processors.
 */
#include "kernels/kernels.h"
#include <math.h>
#include <stdio.h>

enum { ROWS = 3, NODES = 40, K = 37, DRAWS = 128 };

static const int64_t offset[ROWS + 1] = {0, 2, 2, 5};
static const int32_t column[] = {0, 2, 1, 3, 39};
static const float value[] = {1, 2, 3, 0.5f, -1};

static double twin(const float *x, int i, int c)
{
    double sum = 0;
    for (int64_t e = offset[i]; e < offset[i + 1]; e++)
        sum += (double)value[e] * x[column[e] * K + c];
    return sum;
}

int main(void)
{
    const graphss_i_kernels *kern = graphss_i_kernels_choose();
    float x[NODES * K], y[NODES * K] = {0};
    uint32_t bit[DRAWS / 32];
    int wrong = 0;
    for (int j = 0; j < NODES * K; j++)
        x[j] = (float)(j % 9 - 4);
    kern->spmm(y, offset, column, value, x, K, 0, ROWS, 0, K);
    for (int i = 0; i < ROWS; i++)
        for (int c = 0; c < K; c++)
            wrong += fabs(y[i * K + c] - twin(x, i, c)) > 1e-5;
    kern->dropout(y, x, 0, DRAWS, 5, 1 << 15, 1);
    kern->dropout_bits(bit, NULL, 0, DRAWS / 32, 5, 1 << 15);
    for (int j = 0; j < DRAWS; j++)
        wrong += y[j] != (bit[j / 32] >> j % 32 & 1 ? x[j] : 0);
    /* rows 0 and 1 hold bits, the first 32 and the next of x are added up */
    const uint32_t word[] = {bit[0], bit[1]};
    kern->bits(y, word, 2, x, 32, K, NULL, NULL, 0, 2, 0, K);
    for (int i = 0; i < 2; i++)
        for (int c = 0; c < K; c++) {
            double sum = 0;
            for (int j = 0; j < 32; j++)
                sum += word[i] >> j & 1 ? x[j * K + c] : 0;
            wrong += fabs(y[i * K + c] - sum) > 1e-4;
        }
    /* 5 x 9 times a panel of 9 x 3 */
    const size_t wide = kern->width < 3 ? 2 * kern->width : kern->width;
    kern->gemm(y, K, x, 9, 1, x + K, 5, 3, 9, false);
    for (int i = 0; i < 5; i++)
        for (int c = 0; c < 3; c++) {
            double sum = 0;
            for (int j = 0; j < 9; j++)
                sum += (double)x[i * 9 + j] * (double)x[K + j * (int)wide + c];
            wrong += fabs(y[i * K + c] - sum) > 1e-4;
        }
    printf("%08x %08x %08x %08x\n", bit[0], bit[1], bit[2], bit[3]);
    if (wrong)
        fprintf(stderr, "%s: %d numbers are wrong\n", kern->name, wrong);
    return wrong != 0;
}
