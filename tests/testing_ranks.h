/* testing_ranks.h - ranks as threads of the test: an engine without MPI. */
#ifndef GRAPHSS_TESTING_RANKS_H
#define GRAPHSS_TESTING_RANKS_H

#include <graphss/engine.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { TESTING_RANKS = 8 };

/* Data that each rank shows the others between two barriers. */
typedef struct testing_world {
    int ranks;
    pthread_barrier_t barrier;
    const void *shown[TESTING_RANKS];
    const size_t *bytes[TESTING_RANKS];
} testing_world;

typedef struct testing_rank {
    testing_world *world;
    int rank;
    graphss_status (*work)(graphss_ctx *ctx, void *arg);
    void *arg;             /* of this rank */
    graphss_status status; /* of its work, */
    char error[1024];      /* and the text */
    long blocks;           /* that it left behind */
    long granted, most;    /* allocations; most: those after this many fail, 0: none fail */
} testing_rank;

static inline int testing_gather(void *user, void *all, const void *own, size_t bytes)
{
    const testing_rank *me = user;
    testing_world *w = me->world;
    w->shown[me->rank] = own;
    pthread_barrier_wait(&w->barrier);
    for (int r = 0; r < w->ranks; r++)
        memcpy((char *)all + (size_t)r * bytes, w->shown[r], bytes);
    pthread_barrier_wait(&w->barrier);
    return 0;
}

static inline int testing_exchange(
    void *user, void *in, const size_t *in_bytes, const void *out, const size_t *out_bytes)
{
    const testing_rank *me = user;
    testing_world *w = me->world;
    int fault = 0;
    char *to = in;
    w->shown[me->rank] = out;
    w->bytes[me->rank] = out_bytes;
    pthread_barrier_wait(&w->barrier);
    for (int r = 0; r < w->ranks; r++) {
        size_t skip = 0;
        for (int before = 0; before < me->rank; before++)
            skip += w->bytes[r][before];
        fault |= w->bytes[r][me->rank] != in_bytes[r];
        if (in_bytes[r] == 0) /* a rank with nothing to send may show NULL */
            continue;
        memcpy(to, (const char *)w->shown[r] + skip, in_bytes[r]);
        to += in_bytes[r];
    }
    pthread_barrier_wait(&w->barrier);
    return fault;
}

static inline int testing_sum(void *user, float *x, size_t n)
{
    const testing_rank *me = user;
    testing_world *w = me->world;
    float *total = calloc(n ? n : 1, sizeof *total);
    w->shown[me->rank] = x;
    pthread_barrier_wait(&w->barrier);
    for (int r = 0; r < w->ranks; r++)
        for (size_t j = 0; j < n; j++)
            total[j] += ((const float *)w->shown[r])[j];
    pthread_barrier_wait(&w->barrier);
    memcpy(x, total, n * sizeof *x);
    free(total);
    return 0;
}

static inline void *testing_rank_alloc(void *user, size_t bytes)
{
    testing_rank *me = user;
    if (me->most && me->granted >= me->most)
        return NULL;
    me->granted++;
    me->blocks++;
    return aligned_alloc(64, (bytes + 64) / 64 * 64);
}

static inline void testing_rank_release(void *user, void *block)
{
    testing_rank *me = user;
    me->blocks -= block != NULL;
    free(block);
}

static inline void *testing_run_rank(void *arg)
{
    testing_rank *me = arg;
    const graphss_engine engine = {.struct_size = sizeof engine,
        .rank = me->rank,
        .ranks = me->world->ranks,
        .neighbours = me->world->ranks,
        .user = me,
        .gather = testing_gather,
        .exchange = testing_exchange,
        .sum = testing_sum};
    const long most = me->most;
    me->most = 0;
    graphss_ctx *ctx =
        graphss_ctx_new(&(graphss_ctx_options){.struct_size = sizeof(graphss_ctx_options),
            .allocator = {testing_rank_alloc, testing_rank_release, me},
            .threads = 1});
    me->status = graphss_ctx_join(ctx, &engine);
    const long before = me->blocks;
    me->granted = 0;
    me->most = most;
    if (!me->status)
        me->status = me->work(ctx, me->arg);
    me->status = graphss_engine_agree(ctx, me->status, NULL);
    me->most = 0;
    me->blocks -= before;
    snprintf(me->error, sizeof me->error, "%s", graphss_ctx_error(ctx));
    graphss_ctx_free(ctx);
    me->blocks += before;
    return NULL;
}

/* Runs the work on this many ranks; the caller sets rank[r].arg and .most. */
static inline void testing_run_ranks(
    testing_rank *rank, int ranks, graphss_status (*work)(graphss_ctx *ctx, void *arg))
{
    testing_world world = {.ranks = ranks};
    pthread_t thread[TESTING_RANKS];
    pthread_barrier_init(&world.barrier, NULL, (unsigned)ranks);
    for (int r = 0; r < ranks; r++) {
        rank[r].world = &world;
        rank[r].rank = r;
        rank[r].work = work;
        if (pthread_create(&thread[r], NULL, testing_run_rank, &rank[r]) != 0)
            abort();
    }
    for (int r = 0; r < ranks; r++)
        pthread_join(thread[r], NULL);
    pthread_barrier_destroy(&world.barrier);
}

#endif
