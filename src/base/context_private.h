/* context_private.h - the fields of a context; for src/base only. */
#ifndef GRAPHSS_CONTEXT_PRIVATE_H
#define GRAPHSS_CONTEXT_PRIVATE_H

#include "base/base.h"
#include <graphss/engine.h>

typedef struct graphss_i_pool graphss_i_pool;

struct graphss_ctx {
    graphss_ctx_options opt;
    graphss_i_pool *pool; /* NULL with one thread */
    const struct graphss_i_kernels *kernels;
    graphss_status status;
    char error[1024];
    const char *stage; /* last progress reported, NULL before the first; see graphss_i_pulse */
    size_t done, total;
    double told; /* when, by graphss_i_seconds */

    const graphss_engine *engine; /* NULL: it works alone; see base/ranks.h */
    /* [ranks x sizeof error] error texts exchanged between ranks */
    char *meeting;
    graphss_status left;         /* all ranks left with this error */
    struct graphss_i_part *part; /* of the dataset it works on, or NULL */

    /* For the next training (models/checkpoint.c): a file, the text that identifies the data,
     * seconds between checkpoints. */
    char *checkpoint, *checkpoint_of;
    double checkpoint_every;
};

/* NULL if no threads can be created; the caller's thread then does all the work. */
graphss_i_pool *graphss_i_pool_new(graphss_ctx *ctx, size_t threads);
void graphss_i_pool_free(graphss_ctx *ctx, graphss_i_pool *pool);
size_t graphss_i_pool_threads(const graphss_i_pool *pool);
/* wait (or NULL) is called with arg every tenth of a second while the caller has no task left
 * and other threads still work. */
void graphss_i_pool_run(graphss_i_pool *pool, size_t n_tasks, graphss_i_task fn, void *arg,
    void (*wait)(void *arg));

/* The standard allocator: 64-byte aligned, huge pages asked for from 32 MiB on. */
extern const graphss_allocator graphss_i_standard_allocator;

#endif
