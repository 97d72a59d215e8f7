/* pickle_machine.h - inside the unpickler: its values, its pools and its stack. For the
 * pickle_*.c files only.
 *
 * Each opcode makes at most one value and puts at most one reference on the stack, and a
 * reference leaves the stack for at most one container. So values, edges, stack, marks and
 * memo are bounded by the number of bytes, whatever counts the file states. Items of
 * containers are chains of edges in one pool, which makes appending O(1) and freeing one
 * release. Strings and arrays stay where they are in the input. */
#ifndef GRAPHSS_PICKLE_MACHINE_H
#define GRAPHSS_PICKLE_MACHINE_H

#include "data/formats/pickle.h"

typedef graphss_i_pickle machine;
typedef graphss_i_pickle_ref ref;

/* The six globals we know. */
typedef enum known_global {
    GLOBAL_LIST,
    GLOBAL_DEFAULTDICT,
    GLOBAL_RECONSTRUCT,
    GLOBAL_NDARRAY,
    GLOBAL_DTYPE,
    GLOBAL_CSR_MATRIX
} known_global;

typedef struct item_type {
    char type; /* 'b', 'i', 'u', 'f' */
    uint8_t size;
    bool big_endian;
} item_type;

typedef struct value {
    graphss_i_pickle_type kind;
    union {
        int64_t integer; /* BOOL, INT */
        double real;
        struct {
            const char *text;
            size_t length;
        } bytes;
        struct {
            uint32_t first, last, count; /* edges; 0: none */
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
    size_t op_at;       /* position of the present opcode */
    uint64_t used, max; /* bytes of memory */
    pool values;        /* value; entry 0 is unused */
    pool edges;         /* link_in_chain; entry 0 is unused */
    pool arrays;        /* graphss_i_pickle_array */
    pool stack;         /* ref */
    pool marks;         /* size_t: heights of the stack */
    pool memo;          /* ref; 0: never put */
    ref root;
};

static inline value *value_at(const machine *m, ref r)
{
    return (value *)m->values.block + r;
}

static inline link_in_chain *edge_at(const machine *m, uint32_t i)
{
    return (link_in_chain *)m->edges.block + i;
}

static inline ref *stack_at(const machine *m, size_t i)
{
    return (ref *)m->stack.block + i;
}

static inline ref pop(machine *m)
{
    return *stack_at(m, --m->stack.count);
}

static inline ref top(const machine *m)
{
    return *stack_at(m, m->stack.count - 1);
}

/* DATA: "FILE: byte N: TEXT". */
graphss_status graphss_i_pickle_refuse(machine *m, const char *format, ...)
    GRAPHSS_PRINTF(2, 3);
/* Room for count items, doubling. */
graphss_status graphss_i_pickle_reserve(machine *m, pool *p, size_t count, size_t size);
graphss_status graphss_i_pickle_push_ref(machine *m, ref r);
graphss_status graphss_i_pickle_push(machine *m, value v);
graphss_status graphss_i_pickle_append(machine *m, ref container, ref item);
/* The lowest position an opcode may take: what lies below belongs to the mark. */
size_t graphss_i_pickle_floor(const machine *m);
/* Fails when fewer than count references lie above the last mark. */
graphss_status graphss_i_pickle_need(machine *m, size_t count);

/* pickle_objects.c: the opcodes GLOBAL, STACK_GLOBAL, REDUCE, NEWOBJ and BUILD. */
graphss_status graphss_i_pickle_push_global(machine *m, const char *module,
    size_t module_length, const char *name, size_t name_length);
graphss_status graphss_i_pickle_stack_global(machine *m);
graphss_status graphss_i_pickle_reduce(machine *m);
graphss_status graphss_i_pickle_new_object(machine *m);
graphss_status graphss_i_pickle_build(machine *m);

#endif
