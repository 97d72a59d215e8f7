/* pickle_array.c - items of the arrays in a pickle, whatever their width and byte order. */
#include "data/pickle.h"
#include <string.h>

/* The item's bits, in row-major order of i. */
static uint64_t bits_at(const graphss_i_pickle_array *array, size_t i)
{
    if (array->fortran_order && array->n_dims == 2)
        i = i % array->shape[1] * array->shape[0] + i / array->shape[1];
    const unsigned char *item = array->data + i * array->size;
    uint64_t bits = 0;
    for (size_t b = 0; b < array->size; b++)
        bits = bits << 8 | item[array->big_endian ? b : array->size - 1 - b];
    return bits;
}

static int64_t signed_bits(uint64_t bits, size_t size)
{
    const uint64_t sign = (uint64_t)1 << (8 * size - 1);
    return (int64_t)((bits ^ sign) - sign);
}

double graphss_i_pickle_real_at(const graphss_i_pickle_array *array, size_t i)
{
    const uint64_t bits = bits_at(array, i);
    if (array->type == 'i')
        return (double)signed_bits(bits, array->size);
    if (array->type != 'f')
        return (double)bits;
    if (array->size == 4) {
        const uint32_t half = (uint32_t)bits;
        float real;
        memcpy(&real, &half, sizeof real);
        return (double)real;
    }
    double real;
    memcpy(&real, &bits, sizeof real);
    return real;
}

bool graphss_i_pickle_int_at(int64_t *out, const graphss_i_pickle_array *array, size_t i)
{
    if (array->type == 'f') {
        const double real = graphss_i_pickle_real_at(array, i);
        if (!(real >= -0x1p63 && real < 0x1p63) || (double)(int64_t)real != real)
            return false;
        *out = (int64_t)real;
        return true;
    }
    const uint64_t bits = bits_at(array, i);
    if (array->type != 'i' && bits > INT64_MAX)
        return false;
    *out = array->type == 'i' ? signed_bits(bits, array->size) : (int64_t)bits;
    return true;
}
