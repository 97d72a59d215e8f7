/* pickle_view.c - looking at what was read: containers, and the items of arrays whatever
 * their width and byte order. */
#include "data/formats/pickle_machine.h"
#include <string.h>

graphss_i_pickle_ref graphss_i_pickle_root(const graphss_i_pickle *pickle)
{
    return pickle->root;
}

graphss_i_pickle_type graphss_i_pickle_type_of(const graphss_i_pickle *pickle,
                                               graphss_i_pickle_ref r)
{
    return value_at(pickle, r)->kind;
}

bool graphss_i_pickle_int(int64_t *out, const graphss_i_pickle *pickle, graphss_i_pickle_ref r)
{
    const value *v = value_at(pickle, r);
    if (v->kind != GRAPHSS_I_PICKLE_INT && v->kind != GRAPHSS_I_PICKLE_BOOL)
        return false;
    *out = v->as.integer;
    return true;
}

const graphss_i_pickle_array *graphss_i_pickle_array_of(const graphss_i_pickle *pickle,
                                                        graphss_i_pickle_ref r)
{
    const value *v = value_at(pickle, r);
    if (v->kind != GRAPHSS_I_PICKLE_ARRAY)
        return NULL;
    const graphss_i_pickle_array *array = pickle->arrays.block;
    array += v->as.array;
    return array->type ? array : NULL;
}

graphss_i_pickle_walk graphss_i_pickle_walk_start(const graphss_i_pickle *pickle,
                                                  graphss_i_pickle_ref r)
{
    const value *v = value_at(pickle, r);
    const bool holds = v->kind == GRAPHSS_I_PICKLE_TUPLE || v->kind == GRAPHSS_I_PICKLE_LIST ||
                       v->kind == GRAPHSS_I_PICKLE_DICT;
    return (graphss_i_pickle_walk){pickle, holds ? v->as.items.first : 0};
}

graphss_i_pickle_ref graphss_i_pickle_next(graphss_i_pickle_walk *walk)
{
    if (!walk->edge)
        return 0;
    const link_in_chain *edge = edge_at(walk->pickle, walk->edge);
    walk->edge = edge->next;
    return edge->item;
}

graphss_i_pickle_ref graphss_i_pickle_get(const graphss_i_pickle *pickle,
                                          graphss_i_pickle_ref r, const char *key)
{
    if (value_at(pickle, r)->kind == GRAPHSS_I_PICKLE_MATRIX)
        r = value_at(pickle, r)->as.state;
    if (value_at(pickle, r)->kind != GRAPHSS_I_PICKLE_DICT)
        return 0;
    graphss_i_pickle_ref found = 0, name;
    graphss_i_pickle_walk walk = graphss_i_pickle_walk_start(pickle, r);
    while ((name = graphss_i_pickle_next(&walk))) {
        const value *v = value_at(pickle, name);
        const graphss_i_pickle_ref item = graphss_i_pickle_next(&walk);
        if (v->kind == GRAPHSS_I_PICKLE_BYTES && v->as.bytes.length == strlen(key) &&
            !memcmp(v->as.bytes.text, key, strlen(key)))
            found = item;
    }
    return found;
}

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
