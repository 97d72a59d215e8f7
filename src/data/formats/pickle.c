/* pickle.c - the unpickler's opcodes, one by one over the bytes of the file. Nothing
 * recurses and nothing is called. */
#include "data/formats/pickle_machine.h"
#include <string.h>

static graphss_status push_int(machine *m, graphss_i_pickle_type kind, int64_t integer)
{
    return graphss_i_pickle_push(m, (value){.kind = kind, .as.integer = integer});
}

/* Height of the stack at the last mark, which is taken away. */
static graphss_status pop_mark(machine *m, size_t *height)
{
    if (m->marks.count == 0)
        return graphss_i_pickle_refuse(
            m, "opcode 0x%02x wants a mark on the stack", (unsigned char)m->bytes[m->op_at]);
    *height = graphss_i_pickle_floor(m);
    m->marks.count--;
    return GRAPHSS_OK;
}

static graphss_status push_mark(machine *m)
{
    const graphss_status st =
        graphss_i_pickle_reserve(m, &m->marks, m->marks.count + 1, sizeof(size_t));
    if (st)
        return st;
    ((size_t *)m->marks.block)[m->marks.count++] = m->stack.count;
    return GRAPHSS_OK;
}

/* Moves stack[height..] into container, which lies outside that part. */
static graphss_status move_items(machine *m, ref container, size_t height)
{
    for (size_t i = height; i < m->stack.count; i++) {
        const graphss_status st = graphss_i_pickle_append(m, container, *stack_at(m, i));
        if (st)
            return st;
    }
    m->stack.count = height;
    return GRAPHSS_OK;
}

/* A new container of everything from height on takes its place on the stack. */
static graphss_status gather(machine *m, graphss_i_pickle_type kind, size_t height)
{
    if (kind == GRAPHSS_I_PICKLE_DICT && (m->stack.count - height) % 2)
        return graphss_i_pickle_refuse(m, "a dict of an odd number of keys and values");
    graphss_status st = graphss_i_pickle_push(m, (value){.kind = kind});
    if (st)
        return st;
    const ref container = pop(m);
    st = move_items(m, container, height);
    return st ? st : graphss_i_pickle_push_ref(m, container);
}

/* Moves everything from height on into the container just below it. */
static graphss_status extend(machine *m, graphss_i_pickle_type kind, size_t height)
{
    if (height <= graphss_i_pickle_floor(m))
        return graphss_i_pickle_refuse(m, "nothing on the stack to add items to");
    const ref container = *stack_at(m, height - 1);
    if (value_at(m, container)->kind != kind)
        return graphss_i_pickle_refuse(m, "items for something that is not a %s",
            kind == GRAPHSS_I_PICKLE_LIST ? "list" : "dict");
    if (kind == GRAPHSS_I_PICKLE_DICT && (m->stack.count - height) % 2)
        return graphss_i_pickle_refuse(m, "an odd number of keys and values");
    return move_items(m, container, height);
}

/* ---- reading the bytes ---- */

static graphss_status take(machine *m, const char **bytes, uint64_t length)
{
    if (length > m->n - m->at)
        return graphss_i_pickle_refuse(m, "%llu bytes announced, %zu are left in the file",
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
        return graphss_i_pickle_refuse(m, "a line without an end");
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
    return graphss_i_pickle_push(
        m, (value){.kind = GRAPHSS_I_PICKLE_BYTES, .as.bytes = {bytes, (size_t)length}});
}

static graphss_status push_line(machine *m)
{
    const char *text = NULL;
    size_t length = 0;
    const graphss_status st = take_line(m, &text, &length);
    if (st)
        return st;
    return graphss_i_pickle_push(
        m, (value){.kind = GRAPHSS_I_PICKLE_BYTES, .as.bytes = {text, length}});
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Python 2's repr of a str, unescaped in place: the result is never longer. */
static graphss_status push_quoted(machine *m)
{
    const char *line = NULL;
    size_t length = 0;
    const graphss_status st = take_line(m, &line, &length);
    if (st)
        return st;
    if (length < 2 || (line[0] != '\'' && line[0] != '"') || line[length - 1] != line[0])
        return graphss_i_pickle_refuse(m, "a string without its quotes");
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
            return graphss_i_pickle_refuse(
                m, "an escape in a string that Python does not write");
        }
    }
    return graphss_i_pickle_push(
        m, (value){.kind = GRAPHSS_I_PICKLE_BYTES, .as.bytes = {text, out}});
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
        return graphss_i_pickle_refuse(m, "not an integer of 64 bits");
    return push_int(m, GRAPHSS_I_PICKLE_INT, integer);
}

/* Two's complement of any length; 64 bits are the limit. */
static graphss_status push_long(machine *m, size_t width)
{
    uint64_t length = 0, bits = 0;
    graphss_status st = take_number(m, &length, width);
    if (st)
        return st;
    if (length > 8)
        return graphss_i_pickle_refuse(
            m, "an integer of %llu bytes, want at most 8", (unsigned long long)length);
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
            return graphss_i_pickle_refuse(m, "not a number");
    }
    return graphss_i_pickle_push(m, (value){.kind = GRAPHSS_I_PICKLE_REAL, .as.real = real});
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
        return graphss_i_pickle_refuse(m, "a memo number that is none");
    *index = (uint64_t)integer;
    return GRAPHSS_OK;
}

static graphss_status memo_put(machine *m, uint64_t index)
{
    graphss_status st = graphss_i_pickle_need(m, 1);
    if (st)
        return st;
    if (index >= m->n) /* picklers count from 0, a byte or more for each */
        return graphss_i_pickle_refuse(
            m, "memo number %llu in a file of %zu bytes", (unsigned long long)index, m->n);
    st = graphss_i_pickle_reserve(m, &m->memo, (size_t)index + 1, sizeof(ref));
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
        return graphss_i_pickle_refuse(
            m, "memo number %llu was never set", (unsigned long long)index);
    return graphss_i_pickle_push_ref(m, r);
}

static graphss_status take_global(machine *m)
{
    const char *module = NULL, *name = NULL;
    size_t module_length = 0, name_length = 0;
    graphss_status st = take_line(m, &module, &module_length);
    if (!st)
        st = take_line(m, &name, &name_length);
    return st ? st : graphss_i_pickle_push_global(m, module, module_length, name, name_length);
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
            return graphss_i_pickle_refuse(
                m, "pickle protocol %d, want at most 4", (int)number);
        return st;
    case 0x95: /* FRAME: how much a reader may buffer */
        return take_number(m, &number, 8);

    case 'N':
        return graphss_i_pickle_push(m, (value){.kind = GRAPHSS_I_PICKLE_NONE});
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
        return graphss_i_pickle_push(m, (value){.kind = GRAPHSS_I_PICKLE_TUPLE});
    case ']':
        return graphss_i_pickle_push(m, (value){.kind = GRAPHSS_I_PICKLE_LIST});
    case '}':
        return graphss_i_pickle_push(m, (value){.kind = GRAPHSS_I_PICKLE_DICT});
    case 0x85: /* TUPLE1, 2, 3 */
    case 0x86:
    case 0x87:
        height = (size_t)op - 0x84;
        st = graphss_i_pickle_need(m, height);
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
        st = graphss_i_pickle_need(m, 2);
        return st ? st : extend(m, GRAPHSS_I_PICKLE_LIST, m->stack.count - 1);
    case 's': /* SETITEM */
        st = graphss_i_pickle_need(m, 3);
        return st ? st : extend(m, GRAPHSS_I_PICKLE_DICT, m->stack.count - 2);
    case 'e': /* APPENDS */
    case 'u': /* SETITEMS */
        st = pop_mark(m, &height);
        return st ? st
                  : extend(
                        m, op == 'e' ? GRAPHSS_I_PICKLE_LIST : GRAPHSS_I_PICKLE_DICT, height);

    case '(':
        return push_mark(m);
    case '0': /* POP takes a mark where one is on top */
        if (m->marks.count && m->stack.count == graphss_i_pickle_floor(m))
            return pop_mark(m, &height);
        st = graphss_i_pickle_need(m, 1);
        if (!st)
            (void)pop(m);
        return st;
    case '1': /* POP_MARK */
        st = pop_mark(m, &height);
        if (!st)
            m->stack.count = height;
        return st;
    case '2': /* DUP */
        st = graphss_i_pickle_need(m, 1);
        return st ? st : graphss_i_pickle_push_ref(m, top(m));

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
        return graphss_i_pickle_stack_global(m);
    case 'R':
        return graphss_i_pickle_reduce(m);
    case 0x81: /* NEWOBJ */
        return graphss_i_pickle_new_object(m);
    case 'b':
        return graphss_i_pickle_build(m);
    case 'i': /* INST: a global and a call in one; reports which, then refuses */
        st = take_global(m);
        return st ? st : graphss_i_pickle_refuse(m, "an instance (opcode INST) is refused");
    default:
        return graphss_i_pickle_refuse(
            m, "opcode 0x%02x is refused: datasets have no use for it", op);
    }
}

static graphss_status run(machine *m)
{
    for (;;) {
        m->op_at = m->at;
        if (m->at == m->n)
            return graphss_i_pickle_refuse(m, "the pickle ends before its STOP");
        const unsigned char op = (unsigned char)m->bytes[m->at++];
        if (op == '.')
            break;
        const graphss_status st = step(m, op);
        if (st)
            return st;
    }
    const graphss_status st = graphss_i_pickle_need(m, 1);
    if (st)
        return st;
    m->root = top(m);
    return GRAPHSS_OK;
}

graphss_status graphss_i_pickle_read(graphss_ctx *ctx, graphss_i_pickle **out, char *bytes,
    size_t n, const char *file, uint64_t max_bytes)
{
    if (n >= UINT32_MAX)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_LIMIT, "%s: %zu bytes, want less than 4 GiB", file, n);
    machine *m = graphss_i_calloc(ctx, 1, sizeof *m);
    if (!m)
        return GRAPHSS_ERR_NOMEM;
    *m = (machine){.ctx = ctx, .file = file, .bytes = bytes, .n = n, .max = max_bytes};
    graphss_status st = graphss_i_pickle_reserve(m, &m->values, 1, sizeof(value));
    if (!st)
        st = graphss_i_pickle_reserve(m, &m->edges, 1, sizeof(link_in_chain));
    if (!st) {
        *value_at(m, 0) = (value){0};
        *edge_at(m, 0) = (link_in_chain){0};
        m->values.count = m->edges.count = 1;
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
    pool *const all[] = {&pickle->values, &pickle->edges, &pickle->arrays, &pickle->stack,
        &pickle->marks, &pickle->memo};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        graphss_release(ctx, all[i]->block);
    graphss_release(ctx, pickle);
}
