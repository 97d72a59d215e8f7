/* pickle.c - a stack machine over the bytes of a pickle.
 *
 * Each opcode makes at most one value and puts at most one reference on the stack, and a
 * reference leaves the stack for at most one container. So values, links, stack, marks and
 * memo are all bounded by the number of bytes, whatever counts the file claims; nothing
 * recurses. Items of containers are chains of links in one pool, which makes appending O(1)
 * and freeing one release. Strings and arrays stay where they are in the input. */
#include "data/pickle.h"
#include <ctype.h>
#include <stdarg.h>
#include <string.h>

typedef graphss_i_pickle machine;
typedef graphss_i_pickle_ref ref;

/* The six globals we know, each under every module name it has lived in. */
typedef enum known_global {
    GLOBAL_LIST,
    GLOBAL_DEFAULTDICT,
    GLOBAL_RECONSTRUCT,
    GLOBAL_NDARRAY,
    GLOBAL_DTYPE,
    GLOBAL_CSR_MATRIX
} known_global;

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

typedef struct item_type {
    char type; /* 'b', 'i', 'u', 'f' */
    uint8_t size;
    bool big_endian;
} item_type;

typedef struct value {
    graphss_i_pickle_kind kind;
    union {
        int64_t integer; /* BOOL, INT */
        double real;
        struct {
            const char *text;
            size_t length;
        } bytes;
        struct {
            uint32_t first, last, count; /* links; 0: none */
        } items;                         /* TUPLE, LIST, DICT */
        known_global global;
        item_type dtype;
        size_t array; /* index into arrays */
        ref state;    /* MATRIX: its dict, or 0 */
    } as;
} value;

typedef struct link_in_chain {
    ref item;
    uint32_t next;
} link_in_chain;

/* A growing array. */
typedef struct pool {
    void *block;
    size_t count, room;
} pool;

struct graphss_i_pickle {
    graphss_ctx *ctx;
    const char *file;
    char *bytes;
    size_t n, at;
    size_t op_at;      /* where the opcode at hand begins */
    uint64_t used, max; /* bytes of memory */
    pool values;       /* value; entry 0 is unused */
    pool links;        /* link_in_chain; entry 0 is unused */
    pool arrays;       /* graphss_i_pickle_array */
    pool stack;        /* ref */
    pool marks;        /* size_t: heights of the stack */
    pool memo;         /* ref; 0: never put */
    ref root;
};

static GRAPHSS_PRINTF(2, 3) graphss_status refuse(machine *m, const char *format, ...)
{
    char text[256];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return graphss_i_fail(m->ctx, GRAPHSS_ERR_DATA, "%s: byte %zu: %s", m->file, m->op_at,
                          text);
}

/* ---- pools ---- */

/* Makes room for one more item, doubling. */
static graphss_status reserve(machine *m, pool *p, size_t count, size_t size)
{
    if (count <= p->room)
        return GRAPHSS_OK;
    size_t room = p->room ? p->room : 64;
    while (room < count)
        room *= 2; /* count is at most n + 1 < 2^32 */
    if ((uint64_t)(room - p->room) * size > m->max - m->used)
        return graphss_i_fail(m->ctx, GRAPHSS_ERR_LIMIT,
                              "%s: byte %zu: its values take more than the %llu bytes allowed",
                              m->file, m->op_at, (unsigned long long)m->max);
    void *block = graphss_i_grow(m->ctx, p->block, p->count, room, size);
    if (!block)
        return GRAPHSS_ERR_NOMEM;
    m->used += (uint64_t)(room - p->room) * size;
    p->block = block;
    p->room = room;
    return GRAPHSS_OK;
}

static value *value_at(const machine *m, ref r)
{
    return (value *)m->values.block + r;
}

static link_in_chain *link_at(const machine *m, uint32_t i)
{
    return (link_in_chain *)m->links.block + i;
}

static ref *stack_at(const machine *m, size_t i)
{
    return (ref *)m->stack.block + i;
}

static graphss_status push_ref(machine *m, ref r)
{
    const graphss_status st = reserve(m, &m->stack, m->stack.count + 1, sizeof r);
    if (st)
        return st;
    *stack_at(m, m->stack.count++) = r;
    return GRAPHSS_OK;
}

static graphss_status push(machine *m, value v)
{
    const graphss_status st = reserve(m, &m->values, m->values.count + 1, sizeof v);
    if (st)
        return st;
    const ref r = (ref)m->values.count++;
    *value_at(m, r) = v;
    return push_ref(m, r);
}

static graphss_status push_int(machine *m, graphss_i_pickle_kind kind, int64_t integer)
{
    return push(m, (value){.kind = kind, .as.integer = integer});
}

static graphss_status append(machine *m, ref container, ref item)
{
    const graphss_status st =
        reserve(m, &m->links, m->links.count + 1, sizeof(link_in_chain));
    if (st)
        return st;
    const uint32_t i = (uint32_t)m->links.count++;
    *link_at(m, i) = (link_in_chain){item, 0};
    value *v = value_at(m, container);
    if (v->as.items.last)
        link_at(m, v->as.items.last)->next = i;
    else
        v->as.items.first = i;
    v->as.items.last = i;
    v->as.items.count++;
    return GRAPHSS_OK;
}

/* ---- the stack ---- */

/* Lowest place an opcode may take: what lies below belongs to the mark. */
static size_t stack_floor(const machine *m)
{
    return m->marks.count ? ((size_t *)m->marks.block)[m->marks.count - 1] : 0;
}

static graphss_status need(machine *m, size_t count)
{
    if (m->stack.count - stack_floor(m) >= count)
        return GRAPHSS_OK;
    return refuse(m, "opcode 0x%02x wants %zu values on the stack, found %zu",
                  (unsigned char)m->bytes[m->op_at], count, m->stack.count - stack_floor(m));
}

static ref pop(machine *m)
{
    return *stack_at(m, --m->stack.count);
}

static ref top(const machine *m)
{
    return *stack_at(m, m->stack.count - 1);
}

/* Height of the stack at the last mark, which is taken away. */
static graphss_status pop_mark(machine *m, size_t *height)
{
    if (m->marks.count == 0)
        return refuse(m, "opcode 0x%02x wants a mark on the stack",
                      (unsigned char)m->bytes[m->op_at]);
    *height = stack_floor(m);
    m->marks.count--;
    return GRAPHSS_OK;
}

static graphss_status push_mark(machine *m)
{
    const graphss_status st = reserve(m, &m->marks, m->marks.count + 1, sizeof(size_t));
    if (st)
        return st;
    ((size_t *)m->marks.block)[m->marks.count++] = m->stack.count;
    return GRAPHSS_OK;
}

/* Moves stack[height..] into container, which lies outside that part. */
static graphss_status move_items(machine *m, ref container, size_t height)
{
    for (size_t i = height; i < m->stack.count; i++) {
        const graphss_status st = append(m, container, *stack_at(m, i));
        if (st)
            return st;
    }
    m->stack.count = height;
    return GRAPHSS_OK;
}

/* A new container of everything from height on takes its place on the stack. */
static graphss_status gather(machine *m, graphss_i_pickle_kind kind, size_t height)
{
    if (kind == GRAPHSS_I_PICKLE_DICT && (m->stack.count - height) % 2)
        return refuse(m, "a dict of an odd number of keys and values");
    graphss_status st = push(m, (value){.kind = kind});
    if (st)
        return st;
    const ref container = pop(m);
    st = move_items(m, container, height);
    return st ? st : push_ref(m, container);
}

/* Moves everything from height on into the container just below it. */
static graphss_status extend(machine *m, graphss_i_pickle_kind kind, size_t height)
{
    if (height <= stack_floor(m))
        return refuse(m, "nothing on the stack to add items to");
    const ref container = *stack_at(m, height - 1);
    if (value_at(m, container)->kind != kind)
        return refuse(m, "items for something that is not a %s",
                      kind == GRAPHSS_I_PICKLE_LIST ? "list" : "dict");
    if (kind == GRAPHSS_I_PICKLE_DICT && (m->stack.count - height) % 2)
        return refuse(m, "an odd number of keys and values");
    return move_items(m, container, height);
}

/* ---- reading the bytes ---- */

static graphss_status take(machine *m, const char **bytes, uint64_t length)
{
    if (length > m->n - m->at)
        return refuse(m, "%llu bytes announced, %zu are left in the file",
                      (unsigned long long)length, m->n - m->at);
    *bytes = m->bytes + m->at;
    m->at += (size_t)length;
    return GRAPHSS_OK;
}

/* A little-endian unsigned number of width bytes. */
static graphss_status take_number(machine *m, uint64_t *out, size_t width)
{
    const char *bytes = NULL;
    const graphss_status st = take(m, &bytes, width);
    if (st)
        return st;
    *out = 0;
    for (size_t i = width; i-- > 0;)
        *out = *out << 8 | (unsigned char)bytes[i];
    return GRAPHSS_OK;
}

/* The text up to the next newline, without it. */
static graphss_status take_line(machine *m, const char **text, size_t *length)
{
    const char *begin = m->bytes + m->at;
    const char *end = m->at < m->n ? memchr(begin, '\n', m->n - m->at) : NULL;
    if (!end)
        return refuse(m, "a line without an end");
    *text = begin;
    *length = (size_t)(end - begin);
    m->at += *length + 1;
    return GRAPHSS_OK;
}

/* A string with its length before it, in width bytes. */
static graphss_status push_counted(machine *m, size_t width)
{
    uint64_t length = 0;
    const char *bytes = NULL;
    graphss_status st = take_number(m, &length, width);
    if (!st)
        st = take(m, &bytes, length);
    if (st)
        return st;
    return push(m, (value){.kind = GRAPHSS_I_PICKLE_BYTES,
                           .as.bytes = {bytes, (size_t)length}});
}

static graphss_status push_line(machine *m)
{
    const char *text = NULL;
    size_t length = 0;
    const graphss_status st = take_line(m, &text, &length);
    if (st)
        return st;
    return push(m, (value){.kind = GRAPHSS_I_PICKLE_BYTES, .as.bytes = {text, length}});
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Python 2's repr of a str, unescaped where it stands: the result is never longer. */
static graphss_status push_quoted(machine *m)
{
    const char *line = NULL;
    size_t length = 0;
    const graphss_status st = take_line(m, &line, &length);
    if (st)
        return st;
    if (length < 2 || (line[0] != '\'' && line[0] != '"') || line[length - 1] != line[0])
        return refuse(m, "a string without its quotes");
    char *text = m->bytes + (line - m->bytes) + 1;
    size_t out = 0;
    for (size_t i = 0; i < length - 2; i++) {
        if (text[i] != '\\') {
            text[out++] = text[i];
            continue;
        }
        static const char from[] = "\\'\"ntr", to[] = "\\'\"\n\t\r";
        const char code = ++i < length - 2 ? text[i] : '\0';
        const char *simple = code ? strchr(from, code) : NULL;
        if (simple) {
            text[out++] = to[simple - from];
        } else if (code == 'x' && i + 2 < length - 2 && hex_digit(text[i + 1]) >= 0 &&
                   hex_digit(text[i + 2]) >= 0) {
            text[out++] = (char)(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
            i += 2;
        } else {
            return refuse(m, "an escape in a string that Python does not write");
        }
    }
    return push(m, (value){.kind = GRAPHSS_I_PICKLE_BYTES, .as.bytes = {text, out}});
}

/* "12", "12L", and for a bool "00" or "01". */
static graphss_status push_decimal(machine *m, bool is_long)
{
    const char *text = NULL;
    size_t length = 0;
    const graphss_status st = take_line(m, &text, &length);
    if (st)
        return st;
    if (!is_long && length == 2 && text[0] == '0' && (text[1] == '0' || text[1] == '1'))
        return push_int(m, GRAPHSS_I_PICKLE_BOOL, text[1] == '1');
    if (is_long && length && text[length - 1] == 'L')
        length--;
    int64_t integer = 0;
    if (!graphss_i_parse_int(&integer, text, length))
        return refuse(m, "not an integer of 64 bits");
    return push_int(m, GRAPHSS_I_PICKLE_INT, integer);
}

/* Two's complement of any length; 64 bits are the most we take. */
static graphss_status push_long(machine *m, size_t width)
{
    uint64_t length = 0, bits = 0;
    graphss_status st = take_number(m, &length, width);
    if (st)
        return st;
    if (length > 8)
        return refuse(m, "an integer of %llu bytes, want at most 8",
                      (unsigned long long)length);
    st = take_number(m, &bits, (size_t)length);
    if (st)
        return st;
    if (length && length < 8 && bits >> (8 * length - 1))
        bits |= UINT64_MAX << (8 * length);
    return push_int(m, GRAPHSS_I_PICKLE_INT, (int64_t)bits);
}

static graphss_status push_small(machine *m, size_t width)
{
    uint64_t bits = 0;
    const graphss_status st = take_number(m, &bits, width);
    if (st)
        return st;
    return push_int(m, GRAPHSS_I_PICKLE_INT,
                    width == 4 ? (int64_t)(int32_t)(uint32_t)bits : (int64_t)bits);
}

static graphss_status push_real(machine *m, bool binary)
{
    double real = 0;
    if (binary) {
        const char *bytes = NULL;
        const graphss_status st = take(m, &bytes, 8);
        if (st)
            return st;
        uint64_t bits = 0;
        for (size_t i = 0; i < 8; i++)
            bits = bits << 8 | (unsigned char)bytes[i];
        memcpy(&real, &bits, sizeof real);
    } else {
        const char *text = NULL;
        size_t length = 0;
        const graphss_status st = take_line(m, &text, &length);
        if (st)
            return st;
        if (!graphss_i_parse_double(&real, text, length))
            return refuse(m, "not a number");
    }
    return push(m, (value){.kind = GRAPHSS_I_PICKLE_REAL, .as.real = real});
}

/* ---- memo ---- */

static graphss_status memo_number(machine *m, uint64_t *index, size_t width)
{
    if (width)
        return take_number(m, index, width);
    const char *text = NULL;
    size_t length = 0;
    int64_t integer = -1;
    const graphss_status st = take_line(m, &text, &length);
    if (st)
        return st;
    if (!graphss_i_parse_int(&integer, text, length) || integer < 0)
        return refuse(m, "a memo number that is none");
    *index = (uint64_t)integer;
    return GRAPHSS_OK;
}

static graphss_status memo_put(machine *m, uint64_t index)
{
    graphss_status st = need(m, 1);
    if (st)
        return st;
    if (index >= m->n) /* picklers count from 0, a byte or more for each */
        return refuse(m, "memo number %llu in a file of %zu bytes", (unsigned long long)index,
                      m->n);
    st = reserve(m, &m->memo, (size_t)index + 1, sizeof(ref));
    if (st)
        return st;
    ref *memo = m->memo.block;
    for (; m->memo.count <= index; m->memo.count++)
        memo[m->memo.count] = 0;
    memo[index] = top(m);
    return GRAPHSS_OK;
}

static graphss_status memo_get(machine *m, uint64_t index)
{
    const ref r = index < m->memo.count ? ((ref *)m->memo.block)[index] : 0;
    if (!r)
        return refuse(m, "memo number %llu was never set", (unsigned long long)index);
    return push_ref(m, r);
}

/* ---- globals and the three objects they make ---- */

/* At most room - 1 printable characters of a text that may hold anything. */
static const char *printable(char *out, size_t room, const char *text, size_t length)
{
    const size_t n = length < room ? length : room - 1;
    for (size_t i = 0; i < n; i++)
        out[i] = isprint((unsigned char)text[i]) ? text[i] : '?';
    out[n] = '\0';
    return out;
}

static bool equals(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && !memcmp(text, word, length);
}

static graphss_status push_global(machine *m, const char *module, size_t module_length,
                                  const char *name, size_t name_length)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (equals(module, module_length, known[i].module) &&
            equals(name, name_length, known[i].name))
            return push(m, (value){.kind = GRAPHSS_I_PICKLE_GLOBAL,
                                   .as.global = known[i].global});
    char a[64], b[64];
    return refuse(m, "global '%s.%s' is refused: only lists, dicts, numpy arrays and "
                     "csr_matrix are read",
                  printable(a, sizeof a, module, module_length),
                  printable(b, sizeof b, name, name_length));
}

static graphss_status take_global(machine *m)
{
    const char *module = NULL, *name = NULL;
    size_t module_length = 0, name_length = 0;
    graphss_status st = take_line(m, &module, &module_length);
    if (!st)
        st = take_line(m, &name, &name_length);
    return st ? st : push_global(m, module, module_length, name, name_length);
}

static graphss_status stack_global(machine *m)
{
    const graphss_status st = need(m, 2);
    if (st)
        return st;
    const value name = *value_at(m, pop(m));
    const value module = *value_at(m, pop(m));
    if (name.kind != GRAPHSS_I_PICKLE_BYTES || module.kind != GRAPHSS_I_PICKLE_BYTES)
        return refuse(m, "a global whose name is no string");
    return push_global(m, module.as.bytes.text, module.as.bytes.length, name.as.bytes.text,
                       name.as.bytes.length);
}

/* The first room items of a tuple; false when it is none or has fewer than want. */
static bool unpack(const machine *m, ref tuple, ref *item, size_t want)
{
    const value *v = value_at(m, tuple);
    if (v->kind != GRAPHSS_I_PICKLE_TUPLE || v->as.items.count < want)
        return false;
    uint32_t at = v->as.items.first;
    for (size_t i = 0; i < want; i++, at = link_at(m, at)->next)
        item[i] = link_at(m, at)->item;
    return true;
}

/* dtype('i4', 0, 1): the name is a letter and a size. */
static graphss_status make_dtype(machine *m, ref arguments)
{
    static const char *const names[] = {"b1", "i1", "i2", "i4", "i8", "u1",
                                        "u2", "u4", "u8", "f4", "f8"};
    ref first = 0;
    if (!unpack(m, arguments, &first, 1) || value_at(m, first)->kind != GRAPHSS_I_PICKLE_BYTES)
        return refuse(m, "a dtype without a name");
    const char *text = value_at(m, first)->as.bytes.text;
    const size_t length = value_at(m, first)->as.bytes.length;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (equals(text, length, names[i]))
            return push(m, (value){.kind = GRAPHSS_I_PICKLE_DTYPE,
                                   .as.dtype = {text[0], (uint8_t)(text[1] - '0'), false}});
    char found[32];
    return refuse(m, "dtype '%s', want whole or real numbers",
                  printable(found, sizeof found, text, length));
}

static graphss_status make_array(machine *m, ref arguments)
{
    ref class = 0;
    if (!unpack(m, arguments, &class, 1) ||
        value_at(m, class)->kind != GRAPHSS_I_PICKLE_GLOBAL ||
        value_at(m, class)->as.global != GLOBAL_NDARRAY)
        return refuse(m, "_reconstruct of something that is not numpy.ndarray");
    const graphss_status st =
        reserve(m, &m->arrays, m->arrays.count + 1, sizeof(graphss_i_pickle_array));
    if (st)
        return st;
    const size_t i = m->arrays.count++;
    ((graphss_i_pickle_array *)m->arrays.block)[i] = (graphss_i_pickle_array){0};
    return push(m, (value){.kind = GRAPHSS_I_PICKLE_ARRAY, .as.array = i});
}

/* REDUCE: calls, in Python. Here three globals have a meaning of ours. */
static graphss_status reduce(machine *m)
{
    const graphss_status st = need(m, 2);
    if (st)
        return st;
    const ref arguments = pop(m);
    const value callee = *value_at(m, pop(m));
    if (callee.kind == GRAPHSS_I_PICKLE_GLOBAL && callee.as.global == GLOBAL_RECONSTRUCT)
        return make_array(m, arguments);
    if (callee.kind == GRAPHSS_I_PICKLE_GLOBAL && callee.as.global == GLOBAL_DTYPE)
        return make_dtype(m, arguments);
    if (callee.kind == GRAPHSS_I_PICKLE_GLOBAL && callee.as.global == GLOBAL_DEFAULTDICT)
        return push(m, (value){.kind = GRAPHSS_I_PICKLE_DICT});
    return refuse(m, "a call that is refused: only arrays, dtypes and defaultdict are made");
}

static graphss_status new_object(machine *m)
{
    const graphss_status st = need(m, 2);
    if (st)
        return st;
    (void)pop(m); /* arguments: csr_matrix is made empty, its state follows */
    const value class = *value_at(m, pop(m));
    if (class.kind != GRAPHSS_I_PICKLE_GLOBAL || class.as.global != GLOBAL_CSR_MATRIX)
        return refuse(m, "a new object that is refused: only csr_matrix is made");
    return push(m, (value){.kind = GRAPHSS_I_PICKLE_MATRIX});
}

/* State (3, '<', ...): of it only the byte order matters here. */
static graphss_status build_dtype(machine *m, ref object, ref state)
{
    ref item[2] = {0};
    if (!unpack(m, state, item, 2) || value_at(m, item[1])->kind != GRAPHSS_I_PICKLE_BYTES ||
        value_at(m, item[1])->as.bytes.length != 1)
        return refuse(m, "a dtype whose state has no byte order");
    const char order = value_at(m, item[1])->as.bytes.text[0];
    if (!strchr("<>|=", order) || !order)
        return refuse(m, "a dtype with a byte order other than < > | =");
    value_at(m, object)->as.dtype.big_endian = order == '>';
    return GRAPHSS_OK;
}

/* State (version, shape, dtype, fortran order, bytes). */
static graphss_status build_array(machine *m, ref object, ref state)
{
    ref item[5] = {0}, side[2] = {0};
    if (!unpack(m, state, item, 5))
        return refuse(m, "an array whose state is not (version, shape, dtype, order, bytes)");
    const value *shape = value_at(m, item[1]), *dtype = value_at(m, item[2]);
    const value *data = value_at(m, item[4]);
    int64_t fortran = 0;
    if (shape->kind != GRAPHSS_I_PICKLE_TUPLE || dtype->kind != GRAPHSS_I_PICKLE_DTYPE ||
        data->kind != GRAPHSS_I_PICKLE_BYTES || !graphss_i_pickle_int(&fortran, m, item[3]))
        return refuse(m, "an array whose state is not (version, shape, dtype, order, bytes)");
    const size_t n_dims = shape->as.items.count;
    if (n_dims < 1 || n_dims > 2 || !unpack(m, item[1], side, n_dims))
        return refuse(m, "an array of %zu dimensions, want 1 or 2", n_dims);
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
            return refuse(m, "an array with a side that is no size");
        array.shape[d] = (size_t)length;
        if (!graphss_i_mul(&bytes, bytes, (size_t)length))
            return refuse(m, "an array with a side of %lld", (long long)length);
    }
    if (bytes != data->as.bytes.length)
        return refuse(m, "an array of %zu x %zu items of %zu bytes with %zu bytes of data",
                      array.shape[0], array.shape[1], array.size, data->as.bytes.length);
    array.count = bytes / array.size;
    ((graphss_i_pickle_array *)m->arrays.block)[value_at(m, object)->as.array] = array;
    return GRAPHSS_OK;
}

static graphss_status build(machine *m)
{
    const graphss_status st = need(m, 2);
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
            return refuse(m, "a csr_matrix whose state is no dict");
        value_at(m, object)->as.state = state;
        return GRAPHSS_OK;
    default:
        return refuse(m, "state for something that is no array, dtype or csr_matrix");
    }
}

/* ---- the opcodes ---- */

static graphss_status step(machine *m, unsigned char op)
{
    graphss_status st = GRAPHSS_OK;
    size_t height = 0;
    uint64_t number = 0;

    switch (op) {
    case 0x80: /* PROTO */
        st = take_number(m, &number, 1);
        if (!st && number > 4)
            return refuse(m, "pickle protocol %d, want at most 4", (int)number);
        return st;
    case 0x95: /* FRAME: how much a reader may buffer */
        return take_number(m, &number, 8);

    case 'N':
        return push(m, (value){.kind = GRAPHSS_I_PICKLE_NONE});
    case 0x88: /* NEWTRUE */
    case 0x89: /* NEWFALSE */
        return push_int(m, GRAPHSS_I_PICKLE_BOOL, op == 0x88);
    case 'I':
    case 'L':
        return push_decimal(m, op == 'L');
    case 'K':
        return push_small(m, 1);
    case 'M':
        return push_small(m, 2);
    case 'J':
        return push_small(m, 4);
    case 0x8a: /* LONG1 */
        return push_long(m, 1);
    case 0x8b: /* LONG4 */
        return push_long(m, 4);
    case 'F':
    case 'G':
        return push_real(m, op == 'G');
    case 'S':
        return push_quoted(m);
    case 'V': /* kept as written: names are plain ASCII */
        return push_line(m);
    case 'U': /* short str, bytes, unicode */
    case 'C':
    case 0x8c:
        return push_counted(m, 1);
    case 'T': /* the same with four bytes of length */
    case 'B':
    case 'X':
        return push_counted(m, 4);
    case 0x8d: /* and eight */
    case 0x8e:
        return push_counted(m, 8);

    case ')':
        return push(m, (value){.kind = GRAPHSS_I_PICKLE_TUPLE});
    case ']':
        return push(m, (value){.kind = GRAPHSS_I_PICKLE_LIST});
    case '}':
        return push(m, (value){.kind = GRAPHSS_I_PICKLE_DICT});
    case 0x85: /* TUPLE1, 2, 3 */
    case 0x86:
    case 0x87:
        height = (size_t)op - 0x84;
        st = need(m, height);
        return st ? st : gather(m, GRAPHSS_I_PICKLE_TUPLE, m->stack.count - height);
    case 't':
    case 'l':
    case 'd':
        st = pop_mark(m, &height);
        return st ? st
                  : gather(m,
                           op == 't'   ? GRAPHSS_I_PICKLE_TUPLE
                           : op == 'l' ? GRAPHSS_I_PICKLE_LIST
                                       : GRAPHSS_I_PICKLE_DICT,
                           height);
    case 'a': /* APPEND */
        st = need(m, 2);
        return st ? st : extend(m, GRAPHSS_I_PICKLE_LIST, m->stack.count - 1);
    case 's': /* SETITEM */
        st = need(m, 3);
        return st ? st : extend(m, GRAPHSS_I_PICKLE_DICT, m->stack.count - 2);
    case 'e': /* APPENDS */
    case 'u': /* SETITEMS */
        st = pop_mark(m, &height);
        return st ? st
                  : extend(m, op == 'e' ? GRAPHSS_I_PICKLE_LIST : GRAPHSS_I_PICKLE_DICT,
                           height);

    case '(':
        return push_mark(m);
    case '0': /* POP takes a mark where one is on top */
        if (m->marks.count && m->stack.count == stack_floor(m))
            return pop_mark(m, &height);
        st = need(m, 1);
        if (!st)
            (void)pop(m);
        return st;
    case '1': /* POP_MARK */
        st = pop_mark(m, &height);
        if (!st)
            m->stack.count = height;
        return st;
    case '2': /* DUP */
        st = need(m, 1);
        return st ? st : push_ref(m, top(m));

    case 'p': /* PUT, BINPUT, LONG_BINPUT */
    case 'q':
    case 'r':
        st = memo_number(m, &number, op == 'p' ? 0 : op == 'q' ? 1 : 4);
        return st ? st : memo_put(m, number);
    case 0x94: /* MEMOIZE */
        return memo_put(m, m->memo.count);
    case 'g': /* GET, BINGET, LONG_BINGET */
    case 'h':
    case 'j':
        st = memo_number(m, &number, op == 'g' ? 0 : op == 'h' ? 1 : 4);
        return st ? st : memo_get(m, number);

    case 'c':
        return take_global(m);
    case 0x93: /* STACK_GLOBAL */
        return stack_global(m);
    case 'R':
        return reduce(m);
    case 0x81: /* NEWOBJ */
        return new_object(m);
    case 'b':
        return build(m);
    case 'i': /* INST: a global and a call in one; says which, then refuses */
        st = take_global(m);
        return st ? st : refuse(m, "an instance (opcode INST) is refused");
    default:
        return refuse(m, "opcode 0x%02x is refused: datasets have no use for it", op);
    }
}

static graphss_status run(machine *m)
{
    for (;;) {
        m->op_at = m->at;
        if (m->at == m->n)
            return refuse(m, "the pickle ends before its STOP");
        const unsigned char op = (unsigned char)m->bytes[m->at++];
        if (op == '.')
            break;
        const graphss_status st = step(m, op);
        if (st)
            return st;
    }
    const graphss_status st = need(m, 1);
    if (st)
        return st;
    m->root = top(m);
    return GRAPHSS_OK;
}

graphss_status graphss_i_pickle_read(graphss_ctx *ctx, graphss_i_pickle **out, char *bytes,
                                     size_t n, const char *file, uint64_t max_bytes)
{
    if (n >= UINT32_MAX)
        return graphss_i_fail(ctx, GRAPHSS_ERR_LIMIT, "%s: %zu bytes, want less than 4 GiB",
                              file, n);
    machine *m = graphss_i_calloc(ctx, 1, sizeof *m);
    if (!m)
        return GRAPHSS_ERR_NOMEM;
    *m = (machine){.ctx = ctx, .file = file, .bytes = bytes, .n = n, .max = max_bytes};
    graphss_status st = reserve(m, &m->values, 1, sizeof(value));
    if (!st)
        st = reserve(m, &m->links, 1, sizeof(link_in_chain));
    if (!st) {
        *value_at(m, 0) = (value){0};
        *link_at(m, 0) = (link_in_chain){0};
        m->values.count = m->links.count = 1;
        st = run(m);
    }
    if (st)
        graphss_i_pickle_free(ctx, m);
    else
        *out = m;
    return st;
}

void graphss_i_pickle_free(graphss_ctx *ctx, graphss_i_pickle *pickle)
{
    if (!pickle)
        return;
    pool *const all[] = {&pickle->values, &pickle->links, &pickle->arrays,
                         &pickle->stack,  &pickle->marks, &pickle->memo};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        graphss_release(ctx, all[i]->block);
    graphss_release(ctx, pickle);
}

/* ---- looking at what was read ---- */

graphss_i_pickle_ref graphss_i_pickle_root(const graphss_i_pickle *pickle)
{
    return pickle->root;
}

graphss_i_pickle_kind graphss_i_pickle_kind_of(const graphss_i_pickle *pickle,
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
    if (!walk->link)
        return 0;
    const link_in_chain *link = link_at(walk->pickle, walk->link);
    walk->link = link->next;
    return link->item;
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
        if (v->kind == GRAPHSS_I_PICKLE_BYTES &&
            equals(v->as.bytes.text, v->as.bytes.length, key))
            found = item;
    }
    return found;
}
