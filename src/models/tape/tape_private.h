/* tape_private.h - the part of the tape that operations use; for tape.c and ops_*.c. */
#ifndef GRAPHSS_TAPE_PRIVATE_H
#define GRAPHSS_TAPE_PRIVATE_H

#include "graph/blocks.h"
#include "kernels/kernels.h"
#include "models/tape/tape.h"

enum { INPUTS = 2 }; /* most inputs of an operation */

typedef struct graphss_i_node graphss_i_node;

/* An operation. forward fills node->value from its inputs' values. backward overwrites
 * gin[i] with the gradient for input i (NULL: not wanted), given node->grad. */
typedef struct graphss_i_op {
    void (*forward)(graphss_i_tape *t, graphss_i_node *node);
    void (*backward)(graphss_i_tape *t, graphss_i_node *node, float *const gin[INPUTS]);
    bool needs_input[INPUTS]; /* backward reads the value of input i */
    bool needs_value;         /* backward reads the node's own value */
    bool in_place;            /* value may lie over input 0's, gradient over its gradient */
    bool is_loss;             /* the value goes to node->loss; its gradient is 1 */
} graphss_i_op;

struct graphss_i_node {
    const graphss_i_op *op; /* NULL: a leaf */
    graphss_i_var in[INPUTS];
    size_t rows, cols;
    float *value, *grad;
    bool needs_grad, kept, written; /* written: grad holds something in this backward */
    bool only_training;

    /* The operation's own constants; each uses what it needs. */
    const graphss_i_csr *m, *transposed;
    const graphss_i_bits *bits, *bits_transposed;
    graphss_i_blocks blocks; /* its own, released with the tape */
    const int64_t *transposed_at;
    const int32_t *node, *label;
    size_t n;
    size_t total; /* of n over all ranks */
    float factor;
    uint32_t threshold; /* dropout, of 65536 */
    uint64_t salt;      /* the key of this dropout among others; 0: none */
    double loss;
    graphss_i_fill_edges fill;
    const void *user;       /* of fill */
    void *scratch;          /* the operation's own memory, released with the tape */
    float *planned, *ahead; /* values without dropout, and of the training pass that follows */
    bool is_ahead;          /* the latter are set */
};

struct graphss_i_tape {
    graphss_ctx *ctx;
    graphss_i_node *node;
    size_t n, room;
    size_t merged; /* operations that are part of others: draws are numbered with them */
    graphss_status status; /* first error of recording */
    float *block;          /* all values and gradients */
    size_t block_count;
    float *spare; /* where a second gradient for one node is computed before it is added */
    bool training, only_training;
    bool before;             /* a training pass with this key follows */
    bool apart;              /* rows do not see each other */
    size_t row_from, row_to; /* of the input, those wanted; row_to 0: all */
    uint64_t key;
};

typedef struct graphss_i_span {
    size_t from, to;
} graphss_i_span;

/* The rows of an input of n rows that are wanted. */
static inline graphss_i_span graphss_i_tape_span(const graphss_i_tape *t, size_t n)
{
    return t->row_to ? (graphss_i_span){t->row_from, t->row_to} : (graphss_i_span){0, n};
}

/* Records an operation and returns its node, or NULL. b may be -1. The caller sets the
 * operation's own fields. */
graphss_i_node *graphss_i_tape_record(graphss_i_tape *t, const graphss_i_op *op,
    graphss_i_var a, graphss_i_var b, size_t rows, size_t cols);
/* The result of a record, or -1. */
graphss_i_var graphss_i_tape_var(const graphss_i_tape *t, const graphss_i_node *node);
graphss_i_node *graphss_i_tape_node(graphss_i_tape *t, graphss_i_var x); /* NULL if < 0 */
/* Notes that recording failed. Returns -1. */
graphss_i_var graphss_i_tape_spoil(graphss_i_tape *t, graphss_status status);
/* Memory that lives as long as the tape; NULL if there is none, and recording then fails. */
void *graphss_i_tape_scratch(
    graphss_i_tape *t, graphss_i_node *node, size_t count, size_t size);

/* Gives the last recorded operation a dropout key of its own. */
static inline uint64_t graphss_i_tape_salt(const graphss_i_tape *t)
{
    return (uint64_t)(t->n + t->merged) * 0x9e3779b97f4a7c15u;
}

/* fn over [0, n) in pieces of about grain, on the context's threads. */
typedef void (*graphss_i_range)(void *arg, size_t from, size_t to);
void graphss_i_tape_ranges(
    graphss_i_tape *t, size_t n, size_t grain, graphss_i_range fn, void *arg);

/* Dropout of the numbers [from, to) of a dense matrix of the node's shape, of stored entries
 * of node->m, a bit for each of words [from, to), and of word `word` of the rows [from, to) of
 * bits (drop.c). */
void graphss_i_tape_drop(const graphss_i_tape *t, const graphss_i_node *node, float *out,
    const float *x, size_t from, size_t to);
void graphss_i_tape_drop_stored(const graphss_i_tape *t, const graphss_i_node *node,
    uint32_t *kept, size_t from, size_t to);
void graphss_i_tape_drop_words(const graphss_i_tape *t, const graphss_i_node *node,
    uint32_t *out, const uint32_t *x, size_t word, size_t from, size_t to);

static inline const graphss_i_kernels *graphss_i_tape_kernels(const graphss_i_tape *t)
{
    return graphss_i_ctx_kernels(t->ctx);
}

#endif
