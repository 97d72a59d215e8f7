/* Errands allocate, fail and report on threads as they do on one. */
#include "base/base.h"
#include "testing.h"
#include <stdatomic.h>

enum { JOBS = 40 };

typedef struct work {
    float *made[JOBS];
    size_t bad; /* jobs from here on fail */
} work;

static graphss_status make(graphss_ctx *own, void *arg, size_t job)
{
    work *w = arg;
    assert_int_equal(graphss_ctx_threads(own) > 1, false);
    for (int i = 0; i < 9; i++)
        graphss_release(own, graphss_i_alloc(own, 10, sizeof(float)));
    if (job >= w->bad)
        return graphss_i_fail(own, GRAPHSS_ERR_DATA, "job %zu failed", job);
    w->made[job] = graphss_i_alloc(own, 1, sizeof(float));
    if (!w->made[job])
        return GRAPHSS_ERR_NOMEM;
    *w->made[job] = (float)(job * job);
    return graphss_i_progress(own, "job", job, JOBS, NULL);
}

static void drop(graphss_ctx *ctx, work *w)
{
    for (size_t i = 0; i < JOBS; i++)
        graphss_release(ctx, w->made[i]);
    memset(w->made, 0, sizeof w->made);
}

/* What jobs allocate is the caller's, and his allocator need not know of threads. */
TEST(each_is_done_once)
{
    for (size_t threads = 1; threads <= 4; threads++) {
        testing_memory memory = {0};
        graphss_ctx *ctx = testing_ctx(&memory, threads);
        work w = {.bad = JOBS};
        for (size_t n = 0; n <= JOBS; n += 8) {
            /* With one thread the job's context is the caller's. */
            assert_ok(ctx, graphss_i_parallel_jobs(ctx, n, make, &w));
            for (size_t i = 0; i < JOBS; i++)
                assert_true(i < n ? *w.made[i] == (float)(i * i) : !w.made[i]);
            drop(ctx, &w);
        }
        graphss_ctx_free(ctx);
        assert_int_equal(memory.blocks, 0);
    }
}

TEST(the_first_failure_is_reported)
{
    for (size_t threads = 1; threads <= 4; threads++) {
        graphss_ctx *ctx = testing_ctx(NULL, threads);
        for (size_t bad = 0; bad < JOBS; bad += 13) {
            work w = {.bad = bad};
            char want[64];
            snprintf(want, sizeof want, "job %zu failed", bad);
            assert_fails(
                ctx, graphss_i_parallel_jobs(ctx, JOBS, make, &w), GRAPHSS_ERR_DATA, want);
            drop(ctx, &w);
        }
        graphss_ctx_free(ctx);
    }
}

/* As an allocation that failed may: the code alone. */
static graphss_status fail_silently(graphss_ctx *own, void *arg, size_t job)
{
    (void)own, (void)arg;
    return job == 3 ? GRAPHSS_ERR_NOMEM : GRAPHSS_OK;
}

TEST(a_failure_without_words_is_one)
{
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    assert_fails(ctx, graphss_i_parallel_jobs(ctx, JOBS, fail_silently, NULL),
        GRAPHSS_ERR_NOMEM, graphss_status_text(GRAPHSS_ERR_NOMEM));
    graphss_ctx_free(ctx);
}

typedef struct watcher {
    atomic_size_t calls;
    size_t stop_at;
} watcher;

static bool watch(void *user, const char *stage, size_t done, size_t total, const char *note)
{
    (void)stage, (void)done, (void)total, (void)note;
    watcher *w = user;
    return atomic_fetch_add(&w->calls, 1) + 1 < w->stop_at;
}

/* Progress is told, and who says stop is heard. */
TEST(cancelling_stops)
{
    for (size_t threads = 1; threads <= 3; threads++) {
        watcher seen = {.stop_at = 1};
        const graphss_ctx_options opt = {
            .struct_size = sizeof opt, .threads = threads, .progress = watch, .user = &seen};
        graphss_ctx *ctx = graphss_ctx_new(&opt);
        work w = {.bad = JOBS};
        graphss_status st = GRAPHSS_OK;
        /* On threads others may be done before the caller's own begins. */
        for (int turn = 0; turn < 100 && !st; turn++) {
            st = graphss_i_parallel_jobs(ctx, JOBS, make, &w);
            drop(ctx, &w);
        }
        assert_int_equal(st, GRAPHSS_ERR_CANCELLED);
        assert_int_equal(atomic_load(&seen.calls), 1);
        graphss_ctx_free(ctx);
    }
}

static graphss_status make_and_drop(graphss_ctx *ctx, void *arg)
{
    work w = {.bad = JOBS};
    (void)arg;
    const graphss_status st = graphss_i_parallel_jobs(ctx, 3, make, &w);
    drop(ctx, &w);
    return st;
}

TEST(failing_allocations_leave_nothing)
{
    testing_each_allocation_fails(make_and_drop, NULL);
}

/* ---- work that takes long ---- */

static bool stop_after_a_moment(
    void *user, const char *stage, size_t done, size_t total, const char *note)
{
    (void)done;
    (void)total;
    (void)note;
    assert_string_equal(stage, "prepare"); /* nothing was told before */
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

/* The caller's is over at once; he is asked while the others go on. */
static graphss_status pulse_for_long(graphss_ctx *own, void *arg, size_t job)
{
    const double end = graphss_i_seconds() + (job ? LONG : 0);
    graphss_status st = GRAPHSS_OK;
    (void)arg;
    while (graphss_i_seconds() < end && !st)
        st = graphss_i_pulse(own);
    return st;
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
        assert_int_equal(
            graphss_i_parallel_jobs(ctx, 3, pulse_for_long, NULL), GRAPHSS_ERR_CANCELLED);
        assert_true(graphss_i_seconds() - begin < LONG / 4);
        graphss_ctx_free(ctx);
    }
}

int main(void)
{
    return testing_run();
}
