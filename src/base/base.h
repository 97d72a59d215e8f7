/* base.h - memory, errors, threads, text and files, shared by the whole library. Private.
 * Names that cross files but not the library begin with graphss_i_. */
#ifndef GRAPHSS_BASE_H
#define GRAPHSS_BASE_H

#include <graphss/context.h>
#include <graphss/options.h>
#include <graphss/rng.h>
#include <stdio.h>

/* ---- memory: through the context, counts checked for overflow ---- */

/* Returns count * size bytes, 64-byte aligned, or NULL with the error set. count 0 gives a
 * block. */
void *graphss_i_alloc(graphss_ctx *ctx, size_t count, size_t size);
void *graphss_i_calloc(graphss_ctx *ctx, size_t count, size_t size);
/* Returns a block of new_count elements with the first old_count elements of block, and
 * releases block. NULL if there is no memory; block is then unchanged. */
void *graphss_i_grow(
    graphss_ctx *ctx, void *block, size_t old_count, size_t new_count, size_t size);
void *graphss_i_copy(graphss_ctx *ctx, const void *block, size_t count, size_t size);
char *graphss_i_strdup(graphss_ctx *ctx, const char *text);
char *graphss_i_format(graphss_ctx *ctx, const char *format, ...) GRAPHSS_PRINTF(2, 3);
/* Return false if the sum or product overflows. */
bool graphss_i_mul(size_t *out, size_t a, size_t b);
bool graphss_i_add(size_t *out, size_t a, size_t b);
/* Index of the largest of k numbers, the lowest on ties. */
static inline size_t graphss_i_top(const float *p, size_t k)
{
    size_t best = 0;
    for (size_t c = 1; c < k; c++)
        best = p[c] > p[best] ? c : best;
    return best;
}
static inline size_t graphss_i_top_double(const double *p, size_t k)
{
    size_t best = 0;
    for (size_t c = 1; c < k; c++)
        best = p[c] > p[best] ? c : best;
    return best;
}
/* Comparison for qsort: doubles in ascending order. */
static inline int graphss_i_compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
/* Number of entries below x among n ascending doubles. */
static inline size_t graphss_i_count_less(const double *sorted, size_t n, double x)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t mid = (low + high) / 2;
        if (sorted[mid] < x)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}
/* Returns the float of the given rank (from 0) by Hoare's selection. Afterwards smaller values
 * stand before it and larger ones after it. */
static inline float graphss_i_select(float *x, size_t n, size_t rank)
{
    ptrdiff_t low = 0, high = (ptrdiff_t)n - 1;
    const ptrdiff_t wanted = (ptrdiff_t)rank;
    while (low < high) {
        const float pivot = x[low + (high - low) / 2];
        ptrdiff_t i = low, j = high;
        while (i <= j) {
            while (x[i] < pivot)
                i++;
            while (pivot < x[j])
                j--;
            if (i <= j) {
                const float t = x[i];
                x[i++] = x[j];
                x[j--] = t;
            }
        }
        if (wanted > j && wanted < i)
            break;
        if (wanted <= j)
            high = j;
        else
            low = i;
    }
    return x[rank];
}
/* Physical memory of the machine in bytes. */
uint64_t graphss_i_machine_memory(void);

/* ---- errors: the text goes to the context, the code comes back ---- */

graphss_status graphss_i_fail(graphss_ctx *ctx, graphss_status status, const char *format, ...)
    GRAPHSS_PRINTF(3, 4);
/* Fails with INVALID and a text such as "--method: found 'magic', want one of a, b, c", where
 * the choices are name(0), name(1), ... until NULL. */
graphss_status graphss_i_no_such_name(graphss_ctx *ctx, const char *option, const char *found,
    size_t length, const char *(*name)(size_t i));
/* Prefixes the current error text with "where: ". */
graphss_status graphss_i_fail_in(graphss_ctx *ctx, graphss_status status, const char *where);
graphss_status graphss_i_nomem(graphss_ctx *ctx, size_t bytes);
/* Checks the arguments of a public call. True, with the error INVALID set, if one is NULL.
 *     if (GRAPHSS_I_LACKS(ctx, {"graph", graph}, {"nodes", GRAPHSS_I_FILLED(node, n)})) */
typedef struct graphss_i_argument {
    const char *name;
    const void *given;
} graphss_i_argument;
bool graphss_i_lacks(graphss_ctx *ctx, const graphss_i_argument *argument);
#define GRAPHSS_I_LACKS(ctx, ...) \
    graphss_i_lacks(ctx, (const graphss_i_argument[]){__VA_ARGS__, {NULL, NULL}})
/* An array argument that may be NULL if it is empty. */
#define GRAPHSS_I_FILLED(array, n) ((n) ? (const void *)(array) : "")

/* ---- options ---- */

/* Is `given`, an options or input struct, of the size this library knows, that is, initialised
 * and of this version? Then it is copied to out, unless out is NULL. given NULL: out is left
 * alone. INVALID names the type. */
#define GRAPHSS_I_TAKE(ctx, type, out, given) \
    graphss_i_struct_take(ctx, out, given, sizeof(type), #type)
graphss_status graphss_i_struct_take(
    graphss_ctx *ctx, void *out, const void *given, size_t size, const char *type);

/* True if the option is left out when options are written: it was added in a later version and
 * is off. */
bool graphss_i_option_unsaid(const void *options, const graphss_option *row);
/* Makes it so. */
void graphss_i_option_unsay(void *options, const graphss_option *row);

/* ---- log and progress ---- */

void graphss_i_log(graphss_ctx *ctx, graphss_log_level level, const char *format, ...)
    GRAPHSS_PRINTF(3, 4);
/* Reports progress. CANCELLED if the callback asks to stop. note may be NULL. */
graphss_status graphss_i_progress(
    graphss_ctx *ctx, const char *stage, size_t done, size_t total, const char *note);
/* For long work between two progress reports: repeats the last report once it is a tenth of a
 * second old, so that the callback can ask to stop. */
graphss_status graphss_i_pulse(graphss_ctx *ctx);
double graphss_i_seconds(void); /* monotonic clock */

/* ---- threads ---- */

/* Calls fn(arg, task) once for each task in 0..n_tasks-1 on the context's threads, and returns
 * when all are done. The result of a task must not depend on the thread that runs it: divide
 * work by its size, never by the number of threads. The calling thread runs tasks too. fn must
 * not use the context's allocator. */
typedef void (*graphss_i_task)(void *arg, size_t task);
void graphss_i_parallel(graphss_ctx *ctx, size_t n_tasks, graphss_i_task fn, void *arg);
/* The same for long work. CANCELLED: the callback asked to stop, and some tasks were not
 * run. */
graphss_status graphss_i_parallel_checked(
    graphss_ctx *ctx, size_t n_tasks, graphss_i_task fn, void *arg);
/* Divides n rows into tasks of `rows` each: the number of tasks, and the end of one task's
 * rows. */
static inline size_t graphss_i_tasks(size_t n, size_t rows)
{
    return (n + rows - 1) / rows;
}
static inline size_t graphss_i_task_end(size_t task, size_t n, size_t rows)
{
    return n < (task + 1) * rows ? n : (task + 1) * rows;
}

/* ---- text that does not depend on the locale ---- */

/* Parses text[0..length) as a number. False unless the number fills all of it, without
 * spaces. */
bool graphss_i_parse_double(double *out, const char *text, size_t length);
bool graphss_i_parse_int(int64_t *out, const char *text, size_t length);
/* Shortest text that reads back as the same double; as snprintf. */
size_t graphss_i_double_text(char *out, size_t size, double value);

/* ---- UTF-8 ---- */

bool graphss_i_is_character(uint32_t c);
/* True for characters that are invisible but change how others are shown: controls, direction
 * marks and overrides, line separators. */
bool graphss_i_is_hidden(uint32_t c);
/* Writes a character of 1 to 4 bytes; returns their number. */
size_t graphss_i_utf8_put(unsigned char *out, uint32_t c);
/* Decodes one character from n > 0 bytes; returns its length, or 0 if it is not UTF-8. */
size_t graphss_i_utf8_take(uint32_t *out, const unsigned char *in, size_t n);
bool graphss_i_is_utf8(const unsigned char *in, size_t n);
/* Replaces each byte that is not UTF-8 by '?'. */
void graphss_i_utf8_mend(char *text);
/* Converts Latin-1 to UTF-8, with a NUL at the end; NULL: no memory. */
char *graphss_i_utf8_from_latin(graphss_ctx *ctx, const char *text, size_t n, size_t *n_out);

/* ---- files ---- */

/* Reads the whole file into one block and adds a NUL; LIMIT if it is larger than max. */
graphss_status graphss_i_file_read(
    graphss_ctx *ctx, char **bytes, size_t *n, const char *path, uint64_t max);

/* Creates a folder and its parents if they do not exist. */
graphss_status graphss_i_folder_make(graphss_ctx *ctx, const char *path);

/* Atomic writing: open a temporary name in the same folder, write, then commit (flush,
 * fsync, rename) or abandon (remove). After either, the struct is empty again. */
typedef struct graphss_i_output {
    FILE *file;
    char *path;      /* the final path */
    char *temporary; /* the temporary path */
} graphss_i_output;

graphss_status graphss_i_output_open(
    graphss_ctx *ctx, graphss_i_output *out, const char *path);
graphss_status graphss_i_output_write(
    graphss_ctx *ctx, graphss_i_output *out, const void *bytes, size_t n);
graphss_status graphss_i_output_commit(graphss_ctx *ctx, graphss_i_output *out);
void graphss_i_output_abandon(graphss_ctx *ctx, graphss_i_output *out);

/* ---- kernels chosen for this machine (src/kernels/kernels.h) ---- */
struct graphss_i_kernels;
const struct graphss_i_kernels *graphss_i_ctx_kernels(const graphss_ctx *ctx);

/* Shared objects that are loaded on demand, so that the library does not depend on what they
 * link: libgraphss_mpi.so, libgraphss_scotch.so. */

/* Copies the address of a function of libgraphss_NAME.so to out, a function pointer of that
 * size. It is sought by the dynamic linker, then beside the program and in ../lib from there,
 * and stays loaded. INVALID: not found; the text has the linker's message. */
graphss_status graphss_i_plugin_find(
    graphss_ctx *ctx, void *out, size_t size, const char *name, const char *function);

/* Opens a library of the system at its first use and copies the addresses of functions
 * name [n] to out, an array of n function pointers. It stays loaded. INVALID: not found; the
 * text names `package` to install. */
graphss_status graphss_i_library_find(graphss_ctx *ctx, void *out, const char *file,
    const char *package, const char *const *name, size_t n);

#endif
