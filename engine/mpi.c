/* mpi.c - libgraphss_mpi.so: the engine of graphss/engine.h on MPI.
 *
 * Plain MPI: messages between pairs of ranks that have something to tell each other, and
 * collectives for the rest. MPI counts in ints, so what is larger goes in pieces. */
#include <graphss/engine.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

enum {
    PIECE = 1 << 30, /* bytes of a message, or numbers of a sum, at most */
    TAG = 27
};

#if __GNUC__
__attribute__((visibility("default")))
#endif
const char *
graphss_engine_start(graphss_engine *engine);

/* all is filled piece by piece of own: at [r x bytes + at]. */
static int gather(void *user, void *all, const void *own, size_t bytes)
{
    MPI_Comm world = *(MPI_Comm *)user;
    int ranks;
    MPI_Comm_size(world, &ranks);
    for (size_t at = 0; at < bytes; at += PIECE) {
        const size_t n = bytes - at < PIECE ? bytes - at : PIECE;
        MPI_Datatype spaced, rows;
        MPI_Type_contiguous((int)n, MPI_BYTE, &rows);
        MPI_Type_create_resized(rows, 0, (MPI_Aint)bytes, &spaced);
        MPI_Type_commit(&spaced);
        const int st = MPI_Allgather(
            (const char *)own + at, (int)n, MPI_BYTE, (char *)all + at, 1, spaced, world);
        MPI_Type_free(&spaced);
        MPI_Type_free(&rows);
        if (st != MPI_SUCCESS)
            return 1;
    }
    return 0;
}

static size_t count_messages(const size_t *bytes, int ranks)
{
    size_t n = 0;
    for (int r = 0; r < ranks; r++)
        n += (bytes[r] + PIECE - 1) / PIECE;
    return n;
}

static int exchange(
    void *user, void *in, const size_t *in_bytes, const void *out, const size_t *out_bytes)
{
    MPI_Comm world = *(MPI_Comm *)user;
    int ranks, fault = 0, begun = 0;
    MPI_Comm_size(world, &ranks);
    const size_t most = count_messages(in_bytes, ranks) + count_messages(out_bytes, ranks);
    MPI_Request *request = malloc((most ? most : 1) * sizeof *request);
    if (!request)
        MPI_Abort(world, 4);
    char *to = in;
    for (int r = 0; r < ranks; r++)
        for (size_t at = 0; at < in_bytes[r]; at += PIECE) {
            const size_t n = in_bytes[r] - at < PIECE ? in_bytes[r] - at : PIECE;
            fault |= MPI_Irecv(to, (int)n, MPI_BYTE, r, TAG, world, &request[begun++]);
            to += n;
        }
    const char *from = out;
    for (int r = 0; r < ranks; r++)
        for (size_t at = 0; at < out_bytes[r]; at += PIECE) {
            const size_t n = out_bytes[r] - at < PIECE ? out_bytes[r] - at : PIECE;
            fault |= MPI_Isend(from, (int)n, MPI_BYTE, r, TAG, world, &request[begun++]);
            from += n;
        }
    fault |= MPI_Waitall(begun, request, MPI_STATUSES_IGNORE);
    free(request);
    return fault;
}

/* A sum on one rank that is then told: all have the same bits. */
static int sum(void *user, float *x, size_t n)
{
    MPI_Comm world = *(MPI_Comm *)user;
    int rank, fault = 0;
    MPI_Comm_rank(world, &rank);
    for (size_t at = 0; at < n; at += PIECE) {
        const int count = (int)(n - at < PIECE ? n - at : PIECE);
        fault |= MPI_Reduce(
            rank == 0 ? MPI_IN_PLACE : x + at, x + at, count, MPI_FLOAT, MPI_SUM, 0, world);
        fault |= MPI_Bcast(x + at, count, MPI_FLOAT, 0, world);
    }
    return fault;
}

static void finish(void *user)
{
    MPI_Comm_free(user);
    free(user);
    MPI_Finalize();
}

const char *graphss_engine_start(graphss_engine *engine)
{
    int given, rank, ranks, neighbours;
    MPI_Comm machine, *world = malloc(sizeof *world);
    if (!world)
        return "out of memory";
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &given) != MPI_SUCCESS) {
        free(world);
        return "MPI_Init_thread failed";
    }
    MPI_Comm_dup(MPI_COMM_WORLD, world);
    MPI_Comm_rank(*world, &rank);
    MPI_Comm_size(*world, &ranks);
    MPI_Comm_split_type(*world, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &neighbours);
    MPI_Comm_free(&machine);
    *engine = (graphss_engine){.struct_size = sizeof *engine,
        .rank = rank,
        .ranks = ranks,
        .neighbours = neighbours,
        .user = world,
        .gather = gather,
        .exchange = exchange,
        .sum = sum,
        .close = finish};
    return NULL;
}
