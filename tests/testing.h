/* testing.h - shared by the tests: cmocka, a context whose allocations fail on demand, data.
 */
#ifndef GRAPHSS_TESTING_H
#define GRAPHSS_TESTING_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <graphss_lab/graphss_lab.h>

/* The cases of a test program: each is put here before main() begins, in the order of the
 * file. */
static struct CMUnitTest testing_case[64];
static size_t testing_cases;

static inline void testing_list(struct CMUnitTest test)
{
    if (testing_cases == sizeof testing_case / sizeof *testing_case)
        abort();
    testing_case[testing_cases++] = test;
}

/* TEST(name) { ... } is a case. TEST_WITH also calls set_up(&state) before, tear_down(&state)
 * after it. TEST_CTX gives it a context of one thread, `ctx`. */
#define TEST(name) TEST_WITH(name, NULL, NULL)
#define TEST_WITH(name, set_up, tear_down) \
    static void test_##name(void **state); \
    TESTING_CASE(name, test_##name, set_up, tear_down) \
    static void test_##name(__attribute__((unused)) void **state)
#define TEST_CTX(name) \
    static void test_##name(graphss_ctx *ctx); \
    static void run_##name(__attribute__((unused)) void **state) \
    { \
        graphss_ctx *ctx = testing_ctx(NULL, 1); \
        test_##name(ctx); \
        graphss_ctx_free(ctx); \
    } \
    TESTING_CASE(name, run_##name, NULL, NULL) \
    static void test_##name(graphss_ctx *ctx)
#define TESTING_CASE(name, run, set_up, tear_down) \
    __attribute__((constructor)) static void list_##name(void) \
    { \
        testing_list((struct CMUnitTest){#name, (run), (set_up), (tear_down), NULL}); \
    }

/* Runs them. */
static inline int testing_run(void)
{
    return _cmocka_run_group_tests("tests", testing_case, testing_cases, NULL, NULL);
}

/* An allocator that counts, and answers NULL once `left` allocations were granted. */
typedef struct testing_memory {
    long left;    /* allocations still granted; negative: no limit */
    long blocks;  /* held now */
    long granted; /* in all */
} testing_memory;

static inline void *testing_alloc(void *user, size_t bytes)
{
    testing_memory *m = user;
    if (m->left == 0)
        return NULL;
    if (m->left > 0)
        m->left--;
    const size_t rounded = (bytes + 63) / 64 * 64;
    void *block = rounded >= bytes ? aligned_alloc(64, rounded ? rounded : 64) : NULL;
    if (block) {
        m->blocks++;
        m->granted++;
    }
    return block;
}

static inline void testing_release(void *user, void *block)
{
    testing_memory *m = user;
    if (block) {
        m->blocks--;
        free(block);
    }
}

static inline graphss_ctx *testing_ctx(testing_memory *memory, size_t threads)
{
    graphss_ctx_options opt = {.struct_size = sizeof opt};
    if (memory) {
        memory->left = -1;
        opt.allocator = (graphss_allocator){testing_alloc, testing_release, memory};
    }
    opt.threads = threads;
    graphss_ctx *ctx = graphss_ctx_new(&opt);
    assert_non_null(ctx);
    return ctx;
}

/* The name of the i-th method of recover, NULL past the last. */
static inline const char *testing_method(size_t i)
{
    return graphss_recover_method_name(graphss_lab_method_at(i));
}

#define assert_ok(ctx, call) \
    do { \
        const graphss_status status_ = (call); \
        if (status_ != GRAPHSS_OK) \
            fail_msg("%s: %s", #call, graphss_ctx_error(ctx)); \
    } while (0)

/* The call fails with that status and its text contains that part. */
#define assert_fails(ctx, call, wanted, part) \
    do { \
        const graphss_status status_ = (call); \
        if (status_ != (wanted)) \
            fail_msg("%s: got \"%s\", want \"%s\" (text: %s)", #call, \
                graphss_status_text(status_), graphss_status_text(wanted), \
                graphss_ctx_error(ctx)); \
        if (!strstr(graphss_ctx_error(ctx), (part))) \
            fail_msg( \
                "%s: the text \"%s\" lacks \"%s\"", #call, graphss_ctx_error(ctx), (part)); \
    } while (0)

/* Runs the operation granting 0, 1, 2 ... allocations until it succeeds. Each failure must
 * be NOMEM and leave no block behind. The operation frees what it made when it succeeds.
 * The first one_by_one rounds grant one more each; after that the number grows by an eighth.
 */
typedef graphss_status (*testing_operation)(graphss_ctx *ctx, void *arg);

static inline void testing_allocations_fail(
    testing_operation operation, void *arg, long one_by_one)
{
    testing_memory memory = {0};
    graphss_ctx *ctx = testing_ctx(&memory, 1);
    const long before = memory.blocks;
    long failures = 0;
    for (long n = 0;; n = n < one_by_one ? n + 1 : n + n / 8) {
        memory.left = n;
        const graphss_status st = operation(ctx, arg);
        const bool starved = memory.left == 0;
        memory.left = -1;
        if (memory.blocks != before)
            fail_msg("%ld blocks leak when allocation %ld fails", memory.blocks - before, n);
        if (st == GRAPHSS_OK && !starved)
            break;
        if (st == GRAPHSS_OK)
            continue; /* the last granted allocation was just enough */
        if (st != GRAPHSS_ERR_NOMEM)
            fail_msg(
                "allocation %ld fails: \"%s\", want out of memory", n, graphss_ctx_error(ctx));
        failures++;
    }
    assert_true(failures > 0);
    graphss_ctx_free(ctx);
    assert_int_equal(memory.blocks, 0);
}

static inline void testing_each_allocation_fails(testing_operation operation, void *arg)
{
    testing_allocations_fail(operation, arg, 400);
}

/* The operation does its work though no allocation is granted. */
static inline void testing_takes_no_memory(testing_operation operation, void *arg)
{
    testing_memory memory = {0};
    graphss_ctx *ctx = testing_ctx(&memory, 1);
    memory.left = 0;
    assert_ok(ctx, operation(ctx, arg));
    memory.left = -1;
    graphss_ctx_free(ctx);
    assert_int_equal(memory.blocks, 0);
}

/* Full path of a file in one of the data folders, or skips the test saying so. */
static inline void testing_data(char *out, size_t size, const char *file)
{
    const char *dirs = getenv("GRAPHSS_DATA");
    while (dirs && *dirs) {
        const size_t n = strcspn(dirs, ":");
        snprintf(out, size, "%.*s/%s", (int)n, dirs, file);
        if (access(out, R_OK) == 0)
            return;
        dirs += n + (dirs[n] == ':');
    }
    print_message("skipped: %s is in no folder of GRAPHSS_DATA\n", file);
    skip();
}

/* The same for a file of the reference cases. Call it before making a context, since a skipped
 * test ends at once. */
static inline void testing_reference(char *out, size_t size, const char *file)
{
    const char *dir = getenv("GRAPHSS_REFERENCE");
    snprintf(out, size, "%s/%s", dir ? dir : GRAPHSS_SOURCE_DIR "/../shared/reference", file);
    if (access(out, R_OK) == 0)
        return;
    print_message("skipped: %s is not in the folder GRAPHSS_REFERENCE names\n", file);
    skip();
}

/* A fresh path below the folder for temporary files; the caller removes the file. */
static inline void testing_temporary(char *out, size_t size, const char *name)
{
    const char *dir = getenv("TMPDIR");
    snprintf(out, size, "%s/graphss-%ld-%s", dir ? dir : "/tmp", (long)getpid(), name);
}

#endif
