#include "base/base.h"
#include "testing.h"
#include <stdatomic.h>
#include <sys/wait.h>

enum { TASKS = 1000 };
typedef struct work {
    atomic_int runs[TASKS];
    long plain[TASKS]; /* written without atomics: the sanitizer watches the hand-over */
} work;

static void count(void *arg, size_t task)
{
    work *w = arg;
    atomic_fetch_add(&w->runs[task], 1);
    w->plain[task] += (long)task;
}

TEST(each_task_runs_once)
{
    for (size_t threads = 1; threads <= 5; threads++) {
        graphss_ctx *ctx = testing_ctx(NULL, threads);
        assert_int_equal(graphss_ctx_threads(ctx), threads);
        work *w = calloc(1, sizeof *w);
        for (int round = 1; round <= 200; round++) {
            const size_t n = (size_t)(round * 7 % TASKS);
            graphss_i_parallel(ctx, n, count, w);
        }
        graphss_i_parallel(ctx, TASKS, count, w);
        for (size_t t = 0; t < TASKS; t++) {
            int wanted = 1;
            for (int round = 1; round <= 200; round++)
                wanted += (size_t)(round * 7 % TASKS) > t;
            assert_int_equal(atomic_load(&w->runs[t]), wanted);
            assert_int_equal(w->plain[t], (long)t * wanted);
        }
        free(w);
        graphss_ctx_free(ctx);
    }
}

TEST(contexts_share_no_threads)
{
    graphss_ctx *a = testing_ctx(NULL, 3), *b = testing_ctx(NULL, 2);
    work *w = calloc(1, sizeof *w);
    graphss_i_parallel(a, 10, count, w);
    graphss_i_parallel(b, 10, count, w);
    graphss_ctx_free(a);
    graphss_i_parallel(b, 10, count, w);
    for (size_t t = 0; t < 10; t++)
        assert_int_equal(atomic_load(&w->runs[t]), 3);
    graphss_ctx_free(b);
    free(w);
}

/* A child of fork has the pool's memory and none of its threads. */
static int work_in_a_child(graphss_ctx *ctx, work *w)
{
    alarm(60); /* waiting for ever would end it, too */
    for (int round = 0; round < 50; round++)
        graphss_i_parallel(ctx, TASKS, count, w);
    bool good = graphss_ctx_threads(ctx) == 3;
    for (size_t t = 0; t < TASKS; t++)
        good = good && atomic_load(&w->runs[t]) == 51;
    graphss_ctx_free(ctx);
    free(w);
    return good ? 0 : 1;
}

/* The thread sanitizer ends a child that starts threads. */
#ifdef __SANITIZE_THREAD__
enum { CHILDREN_MAY_START_THREADS = 0 };
#else
enum { CHILDREN_MAY_START_THREADS = 1 };
#endif

TEST(a_child_goes_on_with_threads_of_its_own)
{
    if (!CHILDREN_MAY_START_THREADS)
        skip();
    graphss_ctx *ctx = testing_ctx(NULL, 3), *idle = testing_ctx(NULL, 2);
    work *w = calloc(1, sizeof *w);
    graphss_i_parallel(ctx, TASKS, count, w);
    const pid_t child = fork();
    if (child == 0) {
        graphss_ctx_free(idle);
        _exit(work_in_a_child(ctx, w));
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    graphss_i_parallel(ctx, TASKS, count, w); /* the parent has lost nothing */
    assert_int_equal(atomic_load(&w->runs[TASKS - 1]), 2);
    graphss_ctx_free(idle);
    graphss_ctx_free(ctx);
    free(w);
}

/* ---- work that takes long ---- */

static bool stop_after_a_moment(
    void *user, const char *stage, size_t done, size_t total, const char *note)
{
    (void)done;
    (void)total;
    (void)note;
    assert_string_equal(stage, "prepare"); /* no progress was reported before */
    return graphss_i_seconds() < *(const double *)user;
}

enum { LONG = 20 }; /* seconds that a task would take */

static void work_for_long(void *arg, size_t task)
{
    const double end = graphss_i_seconds() + 0.01;
    (void)task;
    while (graphss_i_seconds() < end)
        atomic_fetch_add((atomic_size_t *)arg, 1);
}

TEST(long_work_stops_soon_after_the_caller_says_so)
{
    for (size_t threads = 1; threads <= 3; threads++) {
        const double begin = graphss_i_seconds();
        double until = begin + 0.2;
        graphss_ctx *ctx =
            graphss_ctx_new(&(graphss_ctx_options){.struct_size = sizeof(graphss_ctx_options),
                .threads = threads,
                .progress = stop_after_a_moment,
                .user = &until});
        atomic_size_t turns = 0;
        assert_non_null(ctx);
        assert_int_equal(
            graphss_i_parallel_checked(ctx, LONG * 100 * threads, work_for_long, &turns),
            GRAPHSS_ERR_CANCELLED);
        assert_true(turns > 0);
        assert_int_equal(graphss_ctx_status(ctx), GRAPHSS_ERR_CANCELLED);
        assert_true(graphss_i_seconds() - begin < LONG / 4);
        graphss_ctx_free(ctx);
    }
}

int main(void)
{
    return testing_run();
}
