/* graphss/context.h - what every call needs besides its data.
 *
 *     graphss_ctx *ctx = graphss_ctx_new(NULL);
 *     if (graphss_dataset_read(ctx, &data, "cora.npz", NULL) != GRAPHSS_OK)
 *         fprintf(stderr, "%s\n", graphss_ctx_error(ctx));
 *     graphss_ctx_free(ctx);
 *
 * A context holds the allocator, the callbacks, the worker threads and the text of the
 * last error. Use one per thread of yours; two contexts share nothing. Worker threads take no
 * signals; on the calling thread handlers may have to wait for the end of a matrix product.
 * A NULL context is a programming error that cannot be reported; only graphss_ctx_error,
 * graphss_ctx_status and graphss_ctx_free accept it. A child of fork may use the contexts of
 * the thread that forked; they start their own worker threads there. */
#ifndef GRAPHSS_CONTEXT_H
#define GRAPHSS_CONTEXT_H

#include <graphss/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct graphss_ctx graphss_ctx;

/* alloc returns 64-byte aligned memory or NULL; release accepts NULL. Worker threads call them
 * too, but never two at a time. */
typedef struct graphss_allocator {
    void *(*alloc)(void *user, size_t bytes);
    void (*release)(void *user, void *block);
    void *user;
} graphss_allocator;

typedef enum graphss_log_level {
    GRAPHSS_LOG_WARN,
    /* about data: worth one notice, not one for each time the file is read */
    GRAPHSS_LOG_NOTICE,
    GRAPHSS_LOG_INFO,
    GRAPHSS_LOG_DEBUG
} graphss_log_level;

/* One line without a newline; borrowed for the call. As the allocator, never two at a time. */
typedef void (*graphss_log_fn)(void *user, graphss_log_level level, const char *line);

/* stage is a constant text ("train"); done counts to total (0: unknown); note is a short
 * text for people, such as "loss 0.41  val 87.2 %", or NULL. Return false to cancel. Called
 * only by the thread that uses the context. */
typedef bool (*graphss_progress_fn)(
    void *user, const char *stage, size_t done, size_t total, const char *note);

enum { GRAPHSS_THREADS_MOST = 1024 };

/* All fields but the first may be zero: standard allocator, one thread per core, no callbacks.
 */
typedef struct graphss_ctx_options {
    uint32_t struct_size;        /* sizeof(graphss_ctx_options) */
    graphss_allocator allocator; /* both functions, or neither for the standard allocator */
    size_t threads;              /* 0: one per core; at most GRAPHSS_THREADS_MOST */
    graphss_log_fn log;
    graphss_progress_fn progress;
    void *user; /* handed to log and progress */
} graphss_ctx_options;

GRAPHSS_API void graphss_ctx_options_init(graphss_ctx_options *opt);

/* NULL if there is no memory, if only one function of the allocator is given, or for too many
 * threads. opt may be NULL and is copied. */
GRAPHSS_API graphss_ctx *graphss_ctx_new(const graphss_ctx_options *opt);
/* Free what was made with it first; accepts NULL. */
GRAPHSS_API void graphss_ctx_free(graphss_ctx *ctx);

/* The text of the last error; "" before the first. Borrowed until the next call with this
 * context. For a NULL context, the text for out of memory. */
GRAPHSS_API const char *graphss_ctx_error(const graphss_ctx *ctx);
/* The status of the last error; GRAPHSS_OK before the first. NOMEM for a NULL context. */
GRAPHSS_API graphss_status graphss_ctx_status(const graphss_ctx *ctx);

/* Worker threads in use, at least 1. */
GRAPHSS_API size_t graphss_ctx_threads(const graphss_ctx *ctx);
/* The instruction set its kernels use: "avx512", "avx2" or "generic". */
GRAPHSS_API const char *graphss_ctx_instruction_set(const graphss_ctx *ctx);
/* The version of the headers: #if GRAPHSS_VERSION_NUMBER >= 10203 is from 1.2.3 on. While
 * MAJOR is 0, another MINOR may be another ABI. */
#define GRAPHSS_VERSION_MAJOR 0
#define GRAPHSS_VERSION_MINOR 1
#define GRAPHSS_VERSION_PATCH 0
#define GRAPHSS_VERSION_NUMBER \
    (GRAPHSS_VERSION_MAJOR * 10000 + GRAPHSS_VERSION_MINOR * 100 + GRAPHSS_VERSION_PATCH)
/* That of the library in use: "0.1.0". */
GRAPHSS_API const char *graphss_version(void);

/* Frees what the library returns in one block, such as file names and text. Accepts NULL. */
GRAPHSS_API void graphss_release(graphss_ctx *ctx, void *block);

#ifdef __cplusplus
}
#endif
#endif
