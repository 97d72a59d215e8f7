/* pickle_objects.c - the six globals, the three kinds of object made of them, and how a reader
 * gets at the values. In Python these opcodes call whatever the file names; here each has one
 * meaning. */
#include "data/formats/pickle_machine.h"
#include <ctype.h>
#include <string.h>

/* Every module name the six have lived under. */
static const struct {
    const char *module, *name;
    known_global global;
} known[] = {
    {"__builtin__", "list", GLOBAL_LIST},
    {"builtins", "list", GLOBAL_LIST},
    {"collections", "defaultdict", GLOBAL_DEFAULTDICT},
    {"numpy.core.multiarray", "_reconstruct", GLOBAL_RECONSTRUCT},
    {"numpy._core.multiarray", "_reconstruct", GLOBAL_RECONSTRUCT},
    {"numpy", "ndarray", GLOBAL_NDARRAY},
    {"numpy", "dtype", GLOBAL_DTYPE},
    {"scipy.sparse.csr", "csr_matrix", GLOBAL_CSR_MATRIX},
    {"scipy.sparse._csr", "csr_matrix", GLOBAL_CSR_MATRIX},
};

static bool equals(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && !memcmp(text, word, length);
}

/* At most room - 1 printable characters of an arbitrary text. */
static const char *printable(char *out, size_t room, const char *text, size_t length)
{
    const size_t n = length < room ? length : room - 1;
    for (size_t i = 0; i < n; i++)
        out[i] = isprint((unsigned char)text[i]) ? text[i] : '?';
    out[n] = '\0';
    return out;
}

graphss_status graphss_i_pickle_push_global(
    machine *m, const char *module, size_t module_length, const char *name, size_t name_length)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (equals(module, module_length, known[i].module) &&
            equals(name, name_length, known[i].name))
            return graphss_i_pickle_push(
                m, (value){.kind = GRAPHSS_I_PICKLE_GLOBAL, .as.global = known[i].global});
    char a[64], b[64];
    return graphss_i_pickle_refuse(m,
        "global '%s.%s' is refused: only lists, dicts, numpy arrays and "
        "csr_matrix are read",
        printable(a, sizeof a, module, module_length),
        printable(b, sizeof b, name, name_length));
}

graphss_status graphss_i_pickle_stack_global(machine *m)
{
    const graphss_status st = graphss_i_pickle_need(m, 2);
    if (st)
        return st;
    const value name = *value_at(m, pop(m));
    const value module = *value_at(m, pop(m));
    if (name.kind != GRAPHSS_I_PICKLE_BYTES || module.kind != GRAPHSS_I_PICKLE_BYTES)
        return graphss_i_pickle_refuse(m, "a global whose name is no string");
    return graphss_i_pickle_push_global(m, module.as.bytes.text, module.as.bytes.length,
        name.as.bytes.text, name.as.bytes.length);
}

/* The first room items of a tuple; false when it is none or has fewer than want. */
static bool unpack(const machine *m, ref tuple, ref *item, size_t want)
{
    const value *v = value_at(m, tuple);
    if (v->kind != GRAPHSS_I_PICKLE_TUPLE || v->as.items.count < want)
        return false;
    uint32_t at = v->as.items.first;
    for (size_t i = 0; i < want; i++, at = edge_at(m, at)->next)
        item[i] = edge_at(m, at)->item;
    return true;
}

/* dtype('i4', 0, 1): the name is a letter and a size. */
static graphss_status make_dtype(machine *m, ref arguments)
{
    static const char *const names[] = {
        "b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"};
    ref first = 0;
    if (!unpack(m, arguments, &first, 1) || value_at(m, first)->kind != GRAPHSS_I_PICKLE_BYTES)
        return graphss_i_pickle_refuse(m, "a dtype without a name");
    const char *text = value_at(m, first)->as.bytes.text;
    const size_t length = value_at(m, first)->as.bytes.length;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (equals(text, length, names[i]))
            return graphss_i_pickle_push(
                m, (value){.kind = GRAPHSS_I_PICKLE_DTYPE,
                       .as.dtype = {text[0], (uint8_t)(text[1] - '0'), false}});
    char found[32];
    return graphss_i_pickle_refuse(m, "dtype '%s', want whole or real numbers",
        printable(found, sizeof found, text, length));
}

static graphss_status make_array(machine *m, ref arguments)
{
    ref class = 0;
    if (!unpack(m, arguments, &class, 1) ||
        value_at(m, class)->kind != GRAPHSS_I_PICKLE_GLOBAL ||
        value_at(m, class)->as.global != GLOBAL_NDARRAY)
        return graphss_i_pickle_refuse(
            m, "_reconstruct of something that is not numpy.ndarray");
    const graphss_status st = graphss_i_pickle_reserve(
        m, &m->arrays, m->arrays.count + 1, sizeof(graphss_i_pickle_array));
    if (st)
        return st;
    const size_t i = m->arrays.count++;
    ((graphss_i_pickle_array *)m->arrays.block)[i] = (graphss_i_pickle_array){0};
    return graphss_i_pickle_push(m, (value){.kind = GRAPHSS_I_PICKLE_ARRAY, .as.array = i});
}

/* REDUCE: calls, in Python. Here three globals have a meaning of ours. */
graphss_status graphss_i_pickle_reduce(machine *m)
{
    const graphss_status st = graphss_i_pickle_need(m, 2);
    if (st)
        return st;
    const ref arguments = pop(m);
    const value callee = *value_at(m, pop(m));
    if (callee.kind == GRAPHSS_I_PICKLE_GLOBAL && callee.as.global == GLOBAL_RECONSTRUCT)
        return make_array(m, arguments);
    if (callee.kind == GRAPHSS_I_PICKLE_GLOBAL && callee.as.global == GLOBAL_DTYPE)
        return make_dtype(m, arguments);
    if (callee.kind == GRAPHSS_I_PICKLE_GLOBAL && callee.as.global == GLOBAL_DEFAULTDICT)
        return graphss_i_pickle_push(m, (value){.kind = GRAPHSS_I_PICKLE_DICT});
    return graphss_i_pickle_refuse(
        m, "a call that is refused: only arrays, dtypes and defaultdict are made");
}

graphss_status graphss_i_pickle_new_object(machine *m)
{
    const graphss_status st = graphss_i_pickle_need(m, 2);
    if (st)
        return st;
    (void)pop(m); /* arguments: csr_matrix is made empty, its state follows */
    const value class = *value_at(m, pop(m));
    if (class.kind != GRAPHSS_I_PICKLE_GLOBAL || class.as.global != GLOBAL_CSR_MATRIX)
        return graphss_i_pickle_refuse(
            m, "a new object that is refused: only csr_matrix is made");
    return graphss_i_pickle_push(m, (value){.kind = GRAPHSS_I_PICKLE_MATRIX});
}

/* State (3, '<', ...): of it only the byte order matters here. */
static graphss_status build_dtype(machine *m, ref object, ref state)
{
    ref item[2] = {0};
    if (!unpack(m, state, item, 2) || value_at(m, item[1])->kind != GRAPHSS_I_PICKLE_BYTES ||
        value_at(m, item[1])->as.bytes.length != 1)
        return graphss_i_pickle_refuse(m, "a dtype whose state has no byte order");
    const char order = value_at(m, item[1])->as.bytes.text[0];
    if (!strchr("<>|=", order) || !order)
        return graphss_i_pickle_refuse(m, "a dtype with a byte order other than < > | =");
    value_at(m, object)->as.dtype.big_endian = order == '>';
    return GRAPHSS_OK;
}

/* State (version, shape, dtype, fortran order, bytes). */
static graphss_status build_array(machine *m, ref object, ref state)
{
    ref item[5] = {0}, side[2] = {0};
    if (!unpack(m, state, item, 5))
        return graphss_i_pickle_refuse(
            m, "an array whose state is not (version, shape, dtype, order, bytes)");
    const value *shape = value_at(m, item[1]), *dtype = value_at(m, item[2]);
    const value *data = value_at(m, item[4]);
    int64_t fortran = 0;
    if (shape->kind != GRAPHSS_I_PICKLE_TUPLE || dtype->kind != GRAPHSS_I_PICKLE_DTYPE ||
        data->kind != GRAPHSS_I_PICKLE_BYTES || !graphss_i_pickle_int(&fortran, m, item[3]))
        return graphss_i_pickle_refuse(
            m, "an array whose state is not (version, shape, dtype, order, bytes)");
    const size_t n_dims = shape->as.items.count;
    if (n_dims < 1 || n_dims > 2 || !unpack(m, item[1], side, n_dims))
        return graphss_i_pickle_refuse(m, "an array of %zu dimensions, want 1 or 2", n_dims);
    graphss_i_pickle_array array = {
        .type = dtype->as.dtype.type,
        .size = dtype->as.dtype.size,
        .big_endian = dtype->as.dtype.big_endian,
        .fortran_order = fortran != 0,
        .n_dims = n_dims,
        .shape = {1, 1},
        .data = (const unsigned char *)data->as.bytes.text,
    };
    size_t bytes = array.size;
    for (size_t d = 0; d < n_dims; d++) {
        int64_t length = -1;
        if (!graphss_i_pickle_int(&length, m, side[d]) || length < 0)
            return graphss_i_pickle_refuse(m, "an array with a side that is no size");
        array.shape[d] = (size_t)length;
        if (!graphss_i_mul(&bytes, bytes, (size_t)length))
            return graphss_i_pickle_refuse(
                m, "an array with a side of %lld", (long long)length);
    }
    if (bytes != data->as.bytes.length)
        return graphss_i_pickle_refuse(m,
            "an array of %zu x %zu items of %zu bytes with %zu bytes of data", array.shape[0],
            array.shape[1], array.size, data->as.bytes.length);
    array.count = bytes / array.size;
    ((graphss_i_pickle_array *)m->arrays.block)[value_at(m, object)->as.array] = array;
    return GRAPHSS_OK;
}

graphss_status graphss_i_pickle_build(machine *m)
{
    const graphss_status st = graphss_i_pickle_need(m, 2);
    if (st)
        return st;
    const ref state = pop(m), object = top(m);
    switch (value_at(m, object)->kind) {
    case GRAPHSS_I_PICKLE_DTYPE:
        return build_dtype(m, object, state);
    case GRAPHSS_I_PICKLE_ARRAY:
        return build_array(m, object, state);
    case GRAPHSS_I_PICKLE_MATRIX:
        if (value_at(m, state)->kind != GRAPHSS_I_PICKLE_DICT)
            return graphss_i_pickle_refuse(m, "a csr_matrix whose state is no dict");
        value_at(m, object)->as.state = state;
        return GRAPHSS_OK;
    default:
        return graphss_i_pickle_refuse(
            m, "state for something that is no array, dtype or csr_matrix");
    }
}

/* Access to what was read: containers, and the items of arrays of any width and byte order. */
graphss_i_pickle_ref graphss_i_pickle_root(const graphss_i_pickle *pickle)
{
    return pickle->root;
}

graphss_i_pickle_type graphss_i_pickle_type_of(
    const graphss_i_pickle *pickle, graphss_i_pickle_ref r)
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

const graphss_i_pickle_array *graphss_i_pickle_array_of(
    const graphss_i_pickle *pickle, graphss_i_pickle_ref r)
{
    const value *v = value_at(pickle, r);
    if (v->kind != GRAPHSS_I_PICKLE_ARRAY)
        return NULL;
    const graphss_i_pickle_array *array = pickle->arrays.block;
    array += v->as.array;
    return array->type ? array : NULL;
}

graphss_i_pickle_walk graphss_i_pickle_walk_start(
    const graphss_i_pickle *pickle, graphss_i_pickle_ref r)
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

graphss_i_pickle_ref graphss_i_pickle_get(
    const graphss_i_pickle *pickle, graphss_i_pickle_ref r, const char *key)
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
