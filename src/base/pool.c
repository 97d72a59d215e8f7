/* pool.c - a team of threads that waits for work.
 *
 * Why our own and not OpenMP: the team belongs to a context, so two contexts share nothing;
 * the thread sanitizer understands it; and the host program's OpenMP settings stay alone.
 * An epoch on Cora is 3 ms with a dozen parallel regions, so a region must start in a few
 * microseconds: workers watch the job number for a moment before they sleep. Watching is
 * short, since on a busy machine a spinning thread takes the core from the one it waits for.
 *
 * The threads start with the first job: a program that forks before it computes anything
 * (graphss_lab/reproduce.h) forks with one thread, as it should. One that forks later has a
 * child without our threads, and locks as some thread left them: there the pool starts over.
 *
 * Tasks are handed out by a counter. Which thread runs a task is left to chance; what it
 * computes is not. */
#include "base/context_private.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

enum {
    WATCH = 2000,     /* polls of the job number before sleeping, about 10 us */
    STACK = 2 << 20,  /* bytes of a thread: the default follows ulimit -s, which may be tiny */
    WAIT = 100000000, /* nanoseconds between two calls of wait */
};

struct graphss_i_pool {
    pthread_mutex_t lock;
    pthread_cond_t work; /* a job was posted, or the pool ends */
    pthread_cond_t done; /* the last worker left the job */
    pid_t process;       /* whose threads they are */
    size_t wanted;       /* threads, caller included */
    size_t threads;      /* threads that could be created */
    size_t started;      /* workers that run; none before the first job */
    pthread_t *worker;

    atomic_size_t job; /* number of the posted job; it only grows */
    bool ending;
    graphss_i_task fn;
    void *arg;
    size_t n_tasks;
    atomic_size_t next;   /* task to hand out */
    atomic_size_t active; /* workers still in the job */
};

static void run_tasks(graphss_i_pool *pool)
{
    for (;;) {
        const size_t t = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (t >= pool->n_tasks)
            return;
        pool->fn(pool->arg, t);
    }
}

static inline void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* Waits until the job number differs from seen; false if the pool ends. */
static bool wait_for_job(graphss_i_pool *pool, size_t seen)
{
    for (int i = 0; i < WATCH; i++) {
        if (atomic_load_explicit(&pool->job, memory_order_acquire) != seen)
            break;
        pause_briefly();
    }
    pthread_mutex_lock(&pool->lock);
    while (atomic_load_explicit(&pool->job, memory_order_acquire) == seen)
        pthread_cond_wait(&pool->work, &pool->lock);
    const bool go_on = !pool->ending;
    pthread_mutex_unlock(&pool->lock);
    return go_on;
}

static void *worker_main(void *arg)
{
    graphss_i_pool *pool = arg;
    for (size_t seen = 0; wait_for_job(pool, seen); seen++) {
        run_tasks(pool);
        if (atomic_fetch_sub_explicit(&pool->active, 1, memory_order_acq_rel) == 1) {
            pthread_mutex_lock(&pool->lock);
            pthread_cond_signal(&pool->done);
            pthread_mutex_unlock(&pool->lock);
        }
    }
    return NULL;
}

static void post(graphss_i_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add_explicit(&pool->job, 1, memory_order_release);
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
}

/* Signals are for the caller's threads: workers are born with all of them blocked. */
static void start(graphss_i_pool *pool)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_t how;
    if (pthread_attr_init(&how) == 0) {
        (void)pthread_attr_setstacksize(&how, STACK);
        while (pool->started + 1 < pool->threads &&
               pthread_create(&pool->worker[pool->started], &how, worker_main, pool) == 0)
            pool->started++;
        pthread_attr_destroy(&how);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pool->threads = pool->started + 1;
}

/* A child of fork does not destroy the inherited locks: that would wait for threads it does
 * not have. */
static void begin_anew(graphss_i_pool *pool)
{
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->process = getpid();
    pool->threads = pool->wanted;
    pool->started = 0;
    atomic_store(&pool->job, 0);
    atomic_store(&pool->active, 0);
}

/* Waits until the last worker has left the job. The lock is held. */
static void wait_for_workers(graphss_i_pool *pool, void (*wait)(void *arg), void *arg)
{
    while (atomic_load_explicit(&pool->active, memory_order_acquire) != 0) {
        if (!wait) {
            pthread_cond_wait(&pool->done, &pool->lock);
            continue;
        }
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += WAIT;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (pthread_cond_timedwait(&pool->done, &pool->lock, &until) == 0)
            continue;
        pthread_mutex_unlock(&pool->lock);
        wait(arg);
        pthread_mutex_lock(&pool->lock);
    }
}

void graphss_i_pool_run(graphss_i_pool *pool, size_t n_tasks, graphss_i_task fn, void *arg,
    void (*wait)(void *arg))
{
    if (pool->process != getpid())
        begin_anew(pool);
    if (pool->started + 1 < pool->threads)
        start(pool);
    pool->fn = fn;
    pool->arg = arg;
    pool->n_tasks = n_tasks;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    atomic_store_explicit(&pool->active, pool->started, memory_order_relaxed);
    post(pool);
    run_tasks(pool);

    for (int i = 0; i < WATCH; i++) {
        if (atomic_load_explicit(&pool->active, memory_order_acquire) == 0)
            return;
        pause_briefly();
    }
    pthread_mutex_lock(&pool->lock);
    wait_for_workers(pool, wait, arg);
    pthread_mutex_unlock(&pool->lock);
}

size_t graphss_i_pool_threads(const graphss_i_pool *pool)
{
    return pool->threads;
}

graphss_i_pool *graphss_i_pool_new(graphss_ctx *ctx, size_t threads)
{
    graphss_i_pool *pool = graphss_i_calloc(ctx, 1, sizeof *pool);
    if (!pool)
        return NULL;
    pool->wanted = threads;
    begin_anew(pool);
    pool->worker = graphss_i_calloc(ctx, threads - 1, sizeof *pool->worker);
    if (!pool->worker) {
        graphss_i_pool_free(ctx, pool);
        return NULL;
    }
    return pool;
}

void graphss_i_pool_free(graphss_ctx *ctx, graphss_i_pool *pool)
{
    if (!pool)
        return;
    if (pool->process != getpid())
        begin_anew(pool);
    pthread_mutex_lock(&pool->lock);
    pool->ending = true;
    pthread_mutex_unlock(&pool->lock);
    post(pool);
    for (size_t i = 0; i < pool->started; i++)
        pthread_join(pool->worker[i], NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    graphss_release(ctx, pool->worker);
    graphss_release(ctx, pool);
}
