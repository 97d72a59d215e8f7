/* bench_halo.c - the halo of a part beside PETSc's star forest, and Scotch's cut beside
 * PETSc's.
 *
 *     mpiexec -n 2 build-bench/bench_halo [NODES [DEGREE]]
 *
 * Both bring the rows of the ghosts behind those of the own nodes, k numbers wide, of a
 * generated graph that is cut into blocks; they must be the same to the bit. They take turns,
 * and the least of each counts, by the processor clock of the slowest rank: waiting for the
 * other is part of it. Then the graph is cut by Scotch as `shard --partition scotch` does, on
 * one rank, and by MatPartitioning (PT-Scotch) on all. Built where PETSc is
 * (libpetsc-real-dev). */
#include "graph/part.h"
#include <graphss/graphss.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <petscmat.h>
#include <petscsf.h>

enum { TURNS = 60 };

typedef struct world {
    graphss_ctx *ctx;
    graphss_dataset data;
    graphss_i_part part;
    int rank, ranks;
    size_t first; /* of the own nodes */
} world;

static void stop(const char *what)
{
    fprintf(stderr, "bench_halo: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void must(graphss_ctx *ctx, graphss_status st)
{
    if (st)
        stop(graphss_ctx_error(ctx));
}

static void petsc(PetscErrorCode fault)
{
    if (fault)
        stop("PETSc failed");
}

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static double slowest(double ms)
{
    double all = ms;
    MPI_Allreduce(&ms, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

static size_t first_of(const world *w, int rank)
{
    return w->data.graph.n_nodes * (size_t)rank / (size_t)w->ranks;
}

/* Every rank makes the whole graph and keeps its block of the rows. */
static void make_part(world *w, size_t nodes, double degree)
{
    graphss_synth_options synth;
    graphss_synth_options_init(&synth);
    synth.nodes = (int64_t)nodes;
    synth.degree = degree;
    synth.features = 8;
    synth.words = 1;
    synth.classes = 16;
    must(w->ctx, graphss_synth_make(w->ctx, &w->data, &synth));
    w->first = first_of(w, w->rank);
    const graphss_graph *g = &w->data.graph;
    const size_t n = first_of(w, w->rank + 1) - w->first;
    const int64_t from = g->offset[w->first];
    const size_t entries = (size_t)(g->offset[w->first + n] - from);
    int64_t *id = malloc(n * sizeof *id), *offset = malloc((n + 1) * sizeof *offset);
    int64_t *target = malloc((entries + 1) * sizeof *target);
    for (size_t i = 0; i < n; i++)
        id[i] = (int64_t)(w->first + i);
    for (size_t i = 0; i <= n; i++)
        offset[i] = g->offset[w->first + i] - from;
    for (size_t e = 0; e < entries; e++)
        target[e] = g->target[(size_t)from + e];
    must(w->ctx, graphss_i_part_make(w->ctx, &w->part, id, n, offset, target, nodes));
    free(target);
    free(offset);
    free(id);
}

/* The ghosts are leaves, behind the own nodes; their roots are nodes of their owners. */
static PetscSF make_forest(const world *w)
{
    const graphss_i_part *p = &w->part;
    PetscSF forest;
    PetscInt *leaf;
    PetscSFNode *root;
    petsc(PetscMalloc1(p->n_ghost, &leaf));
    petsc(PetscMalloc1(p->n_ghost, &root));
    size_t g = 0;
    for (int r = 0; r < w->ranks; r++)
        for (size_t i = 0; i < p->receive_count[r]; i++, g++) {
            leaf[g] = (PetscInt)(p->n_own + g);
            root[g].rank = r;
            root[g].index = (PetscInt)((size_t)p->id[p->n_own + g] - first_of(w, r));
        }
    petsc(PetscSFCreate(PETSC_COMM_WORLD, &forest));
    petsc(PetscSFSetGraph(forest, (PetscInt)p->n_own, (PetscInt)p->n_ghost, leaf,
        PETSC_OWN_POINTER, root, PETSC_OWN_POINTER));
    petsc(PetscSFSetUp(forest));
    return forest;
}

typedef struct halo {
    const world *w;
    PetscSF forest; /* NULL: ours */
    MPI_Datatype row;
    float *x;     /* [own and ghosts x k] */
    size_t bytes; /* of a row */
} halo;

/* Milliseconds of the slowest rank. */
static double bring(const halo *h)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = cpu_ms();
    if (h->forest) {
        petsc(PetscSFBcastBegin(h->forest, h->row, h->x, h->x, MPI_REPLACE));
        petsc(PetscSFBcastEnd(h->forest, h->row, h->x, h->x, MPI_REPLACE));
    } else {
        graphss_i_part *p = graphss_i_ctx_part(h->w->ctx);
        must(h->w->ctx, graphss_i_part_bring(h->w->ctx, p, h->x, h->bytes));
    }
    return slowest(cpu_ms() - start);
}

static void compare_halos(world *w, size_t k)
{
    const graphss_i_part *p = &w->part;
    const size_t own = p->n_own * k, all = own + p->n_ghost * k;
    halo ours = {
        w, NULL, MPI_DATATYPE_NULL, malloc((all + 1) * sizeof(float)), k * sizeof(float)};
    for (size_t j = 0; j < all; j++)
        ours.x[j] = j < own ? (float)(w->first * k + j) : 0;
    halo theirs = ours;
    theirs.x = malloc((all + 1) * sizeof(float));
    memcpy(theirs.x, ours.x, all * sizeof(float));
    MPI_Type_contiguous((int)k, MPI_FLOAT, &theirs.row);
    MPI_Type_commit(&theirs.row);
    theirs.forest = make_forest(w);
    double least[2] = {1e30, 1e30};
    for (int turn = 0; turn < TURNS; turn++) {
        least[0] = fmin(least[0], bring(&ours));
        least[1] = fmin(least[1], bring(&theirs));
    }
    if (memcmp(ours.x, theirs.x, all * sizeof(float)) != 0)
        stop("the halos differ");
    if (w->rank == 0)
        printf("%6zu %10.1f %10.2f %10.2f %8.2f\n", k, (double)(p->n_ghost * ours.bytes) / 1e6,
            least[0], least[1], least[1] / least[0]);
    petsc(PetscSFDestroy(&theirs.forest));
    MPI_Type_free(&theirs.row);
    free(ours.x);
    free(theirs.x);
}

/* Share of the entries whose ends are in different parts. */
static double cut_share(const graphss_graph *g, const int32_t *part)
{
    size_t cut = 0;
    for (size_t i = 0; i < g->n_nodes; i++)
        for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++)
            cut += part[i] != part[g->target[e]];
    return (double)cut / (double)g->offset[g->n_nodes];
}

static void show_cut(const world *w, const char *how, double ms, double share)
{
    ms = slowest(ms);
    if (w->rank == 0)
        printf("%-32s %10.2f s %6.1f %% cut\n", how, ms / 1e3, 100 * share);
}

static void cut_by_petsc(const world *w, int32_t *all)
{
    const graphss_i_part *p = &w->part;
    const size_t n = p->n_own, entries = (size_t)p->graph.offset[n];
    PetscInt *offset, *target;
    Mat rows;
    MatPartitioning how;
    IS found;
    const PetscInt *part;
    int *count = malloc((size_t)w->ranks * sizeof *count);
    int *begin = malloc((size_t)w->ranks * sizeof *begin);
    petsc(PetscMalloc1(n + 1, &offset));
    petsc(PetscMalloc1(entries, &target));
    for (size_t i = 0; i <= n; i++)
        offset[i] = (PetscInt)p->graph.offset[i];
    for (size_t e = 0; e < entries; e++)
        target[e] = (PetscInt)p->id[p->graph.target[e]];
    petsc(MatCreateMPIAdj(
        PETSC_COMM_WORLD, (PetscInt)n, (PetscInt)p->n_all, offset, target, NULL, &rows));
    petsc(MatPartitioningCreate(PETSC_COMM_WORLD, &how));
    petsc(MatPartitioningSetAdjacency(how, rows));
    petsc(MatPartitioningSetType(how, MATPARTITIONINGPTSCOTCH));
    petsc(MatPartitioningSetNParts(how, w->ranks));
    petsc(MatPartitioningApply(how, &found));
    petsc(ISGetIndices(found, &part));
    for (int r = 0; r < w->ranks; r++) {
        begin[r] = (int)first_of(w, r);
        count[r] = (int)(first_of(w, r + 1) - first_of(w, r));
    }
    MPI_Allgatherv(part, (int)n, MPI_INT, all, count, begin, MPI_INT, MPI_COMM_WORLD);
    petsc(ISRestoreIndices(found, &part));
    petsc(ISDestroy(&found));
    petsc(MatPartitioningDestroy(&how));
    petsc(MatDestroy(&rows));
    free(begin);
    free(count);
}

static void compare_cuts(world *w)
{
    const graphss_graph *g = &w->data.graph;
    int32_t *part = NULL, *theirs = malloc(g->n_nodes * sizeof *theirs);
    double start = cpu_ms();
    cut_by_petsc(w, theirs);
    show_cut(w, "PT-Scotch by PETSc, every rank", cpu_ms() - start, cut_share(g, theirs));
    start = cpu_ms();
    if (w->rank == 0)
        must(w->ctx, graphss_partition_scotch(w->ctx, &part, g, (size_t)w->ranks));
    show_cut(w, "Scotch, one rank", w->rank == 0 ? cpu_ms() - start : 0,
        part ? cut_share(g, part) : 0);
    graphss_release(w->ctx, part);
    free(theirs);
}

int main(int argc, char **argv)
{
    static const size_t wide[] = {16, 64, 128};
    graphss_engine engine = {.struct_size = sizeof engine};
    world w = {.ctx = graphss_ctx_new(NULL)};
    const size_t nodes = argc > 1 ? strtoull(argv[1], NULL, 10) : 200000;
    if (graphss_engine_open(w.ctx, &engine, "mpi")) {
        fprintf(stderr, "bench_halo: %s\n", graphss_ctx_error(w.ctx));
        return 1;
    }
    must(w.ctx, graphss_ctx_join(w.ctx, &engine));
    w.rank = engine.rank;
    w.ranks = engine.ranks;
    petsc(PetscInitializeNoArguments());
    make_part(&w, nodes, argc > 2 ? strtod(argv[2], NULL) : 20);
    graphss_i_ctx_set_part(w.ctx, &w.part);
    if (w.rank == 0)
        printf("%zu nodes, %zu edges, %d ranks; rank 0 has %zu nodes and %zu ghosts\n\n"
               "%6s %10s %10s %10s %8s\n",
            nodes, graphss_graph_edges(&w.data.graph), w.ranks, w.part.n_own, w.part.n_ghost,
            "k", "halo MB", "ours ms", "PetscSF ms", "ratio");
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        compare_halos(&w, wide[i]);
    if (w.rank == 0)
        printf("\n");
    if (w.ranks > 1)
        compare_cuts(&w);
    graphss_i_ctx_set_part(w.ctx, NULL);
    graphss_i_part_destroy(w.ctx, &w.part);
    graphss_dataset_destroy(w.ctx, &w.data);
    petsc(PetscFinalize());
    must(w.ctx, graphss_ctx_join(w.ctx, NULL));
    graphss_ctx_free(w.ctx);
    engine.close(engine.user);
    return 0;
}
