/* The learnt graph against twins that keep whole matrices and know every eigenvalue. */
#include "lab/baselines/baselines.h"
#include "lab/baselines/test/testing_jacobi.h"
#include "observation/test/testing_attacked_world.h"
#include "testing.h"
#include <math.h>

enum { N = WORLD_NODES };

/* ---- pairs of nodes alike ---- */

static double cosine(const float *x, size_t d, size_t i, size_t j)
{
    double dot = 0, ii = 0, jj = 0;
    for (size_t c = 0; c < d; c++) {
        dot += (double)x[i * d + c] * x[j * d + c];
        ii += (double)x[i * d + c] * x[i * d + c];
        jj += (double)x[j * d + c] * x[j * d + c];
    }
    return ii > 0 && jj > 0 ? dot / sqrt(ii * jj) : 0;
}

TEST(candidates_are_the_edges_and_the_most_alike)
{
    enum { NODES = 150, D = 9, K = 3 };
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    graphss_rng rng = graphss_rng_make(3, 1);
    float x[NODES * D], stored[NODES * D];
    int64_t offset[NODES + 1];
    int32_t column[NODES * D];
    int64_t e = 0;
    for (size_t i = 0; i < NODES; i++) {
        offset[i] = e;
        for (size_t c = 0; c < D; c++) {
            x[i * D + c] =
                graphss_rng_double(&rng) < 0.8 && i != 7 ? (float)graphss_rng_normal(&rng) : 0;
            if (x[i * D + c] != 0) {
                column[e] = (int32_t)c;
                stored[e++] = x[i * D + c];
            }
        }
    }
    offset[NODES] = e;
    const graphss_features sparse = {NODES, D, offset, column, stored, GRAPHSS_FEATURES_REAL};
    const graphss_features dense = {NODES, D, NULL, NULL, x, GRAPHSS_FEATURES_REAL};
    const int32_t from[] = {0, 3}, to[] = {140, 7};
    graphss_graph graph = {0}, none = {0};
    assert_ok(ctx, graphss_graph_build(ctx, &graph, NULL, NODES, from, to, 2));
    bool *want = calloc(NODES * NODES, sizeof *want);
    for (size_t i = 0; i < NODES; i++) {
        for (size_t j = 0; j < NODES; j++) {
            size_t above = 0;
            for (size_t l = 0; l < NODES; l++)
                above += l != i && cosine(x, D, i, l) > cosine(x, D, i, j);
            if (j != i && above < K && cosine(x, D, i, j) > 0)
                want[i * NODES + j] = want[j * NODES + i] = true;
        }
    }
    want[0 * NODES + 140] = want[140 * NODES + 0] = true;
    want[3 * NODES + 7] = want[7 * NODES + 3] = true;
    for (int d = 0; d < 2; d++) {
        graphss_graph got = {0};
        assert_ok(ctx, graphss_i_candidates(ctx, &got, &graph, d ? &dense : &sparse, K, 0));
        for (size_t i = 0; i < NODES; i++)
            for (size_t j = 0; j < NODES; j++)
                assert_int_equal(
                    graphss_graph_has_edge(&got, (int32_t)i, (int32_t)j), want[i * NODES + j]);
        graphss_graph_destroy(ctx, &got);
    }
    assert_ok(ctx, graphss_i_candidates(ctx, &none, &graph, &sparse, 0, 0));
    assert_int_equal(graphss_graph_edges(&none), 2);
    graphss_graph_destroy(ctx, &none);
    graphss_graph_destroy(ctx, &graph);
    free(want);
    graphss_ctx_free(ctx);
}

TEST(candidates_have_the_most_common_neighbours)
{
    enum { NEAR = 2 };
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    const graphss_graph *g = &a.current;
    graphss_graph got = {0};
    assert_ok(ctx, graphss_i_candidates(ctx, &got, g, &a.w.features, 0, NEAR));
    double *near = calloc(N * N, sizeof *near);
    for (int32_t i = 0; i < N; i++)
        for (int32_t j = 0; j < N; j++)
            for (int32_t m = 0; m < N && i != j && !graphss_graph_has_edge(g, i, j); m++)
                if (graphss_graph_has_edge(g, i, m) && graphss_graph_has_edge(g, m, j))
                    near[i * N + j] += 1 / (double)graphss_graph_degree(g, (size_t)m);
    size_t added = 0;
    for (int32_t i = 0; i < N; i++)
        for (int32_t j = 0; j < N; j++) {
            size_t above_i = 0, above_j = 0, ties = 0;
            for (int l = 0; l < N; l++) {
                above_i += near[i * N + l] > near[i * N + j] + 1e-6;
                above_j += near[j * N + l] > near[j * N + i] + 1e-6;
                ties += l != j && fabs(near[i * N + l] - near[i * N + j]) < 1e-6;
                ties += l != i && fabs(near[j * N + l] - near[j * N + i]) < 1e-6;
            }
            const bool is = graphss_graph_has_edge(&got, i, j);
            const bool may = near[i * N + j] > 0 && (above_i < NEAR || above_j < NEAR);
            if (graphss_graph_has_edge(g, i, j))
                assert_true(is);
            else if (!may)
                assert_false(is);
            else if (ties == 0)
                assert_true(is);
            added += is && !graphss_graph_has_edge(g, i, j);
        }
    assert_true(added >= N * NEAR && added <= 2 * N * NEAR);
    free(near);
    graphss_graph_destroy(ctx, &got);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

/* ---- S and its steps ---- */

static void make(
    graphss_ctx *ctx, graphss_i_learnt *s, const attacked_world *a, size_t more, size_t rank)
{
    assert_ok(ctx, graphss_i_learnt_make(ctx, s, &a->in.current, more, more, true, 2, rank));
}

/* Random weights between 0 and 1, alike in both directions. */
static void shake(graphss_i_learnt *s)
{
    graphss_rng rng = graphss_rng_make(2, 1);
    const graphss_i_csr *m = &s->pattern.m;
    for (size_t i = 0; i < s->n; i++)
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
            if ((size_t)m->column[e] > i)
                s->weight[e] = s->weight[s->transposed_at[e]] =
                    (float)graphss_rng_double(&rng);
}

/* full [N x N] = S, loops 0 */
static void spread(double *full, const graphss_i_learnt *s)
{
    const graphss_i_csr *m = &s->pattern.m;
    memset(full, 0, N * N * sizeof *full);
    for (size_t i = 0; i < N; i++)
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
            if ((size_t)m->column[e] != i)
                full[i * N + (size_t)m->column[e]] = s->weight[e];
}

TEST(it_starts_as_the_graph)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_i_learnt s = {0};
    make(ctx, &s, &a, 4, 10);
    const graphss_i_csr *m = &s.pattern.m;
    size_t edges = 0, pairs = 0;
    for (size_t i = 0; i < N; i++)
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++) {
            const bool loop = (size_t)m->column[e] == i;
            const bool edge = graphss_graph_has_edge(&a.current, (int32_t)i, m->column[e]);
            assert_true(s.weight[e] == (edge || loop) && s.start[e] == edge);
            assert_int_equal(m->column[s.transposed_at[e]], i);
            assert_true(s.alike[e] == s.alike[s.transposed_at[e]]);
            edges += edge;
            pairs += !edge && !loop;
        }
    assert_int_equal(edges, 2 * graphss_graph_edges(&a.current));
    assert_true(pairs > N);
    graphss_i_learnt_destroy(ctx, &s);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

/* tr(X^T L X) with every matrix written out. */
static double trace(const graphss_i_learnt *s, const graphss_features *f)
{
    double *full = malloc(N * N * sizeof *full), degree[N] = {0}, total = 0;
    double *x = calloc(N * f->n_cols, sizeof *x);
    for (size_t i = 0; i < N; i++) {
        double sum = 0;
        for (int64_t e = f->offset[i]; e < f->offset[i + 1]; e++)
            sum += f->value[e];
        for (int64_t e = f->offset[i]; e < f->offset[i + 1]; e++)
            x[i * f->n_cols + (size_t)f->column[e]] = 2 * f->value[e] / sum;
    }
    spread(full, s);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            degree[i] += full[i * N + j];
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            const double l = ((i == j ? degree[i] : 0) - full[i * N + j]) /
                             sqrt((degree[i] + 1e-3) * (degree[j] + 1e-3));
            for (size_t c = 0; c < f->n_cols; c++)
                total += x[i * f->n_cols + c] * l * x[j * f->n_cols + c];
        }
    free(full), free(x);
    return total;
}

TEST(roughness_is_the_trace_and_has_its_gradient)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_i_learnt s = {0};
    make(ctx, &s, &a, 3, 10);
    shake(&s);
    assert_true(a.w.features.offset != NULL);
    const double want = trace(&s, &a.w.features);
    assert_true(want > 1 && fabs(graphss_i_learnt_roughness(&s) - want) < 1e-5 * want);
    float *grad = calloc(s.nnz, sizeof *grad);
    graphss_i_learnt_roughness_gradient(&s, grad, 3);
    const graphss_i_csr *m = &s.pattern.m;
    double largest = 0;
    for (size_t i = 0; i < N; i += 7)
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++) {
            if ((size_t)m->column[e] == i) {
                assert_true(grad[e] == 0);
                continue;
            }
            const float kept = s.weight[e], h = 1e-3f;
            s.weight[e] = s.weight[s.transposed_at[e]] = kept + h;
            const double up = graphss_i_learnt_roughness(&s);
            s.weight[e] = s.weight[s.transposed_at[e]] = kept - h;
            const double down = graphss_i_learnt_roughness(&s);
            s.weight[e] = s.weight[s.transposed_at[e]] = kept;
            const double both = 3 * (up - down) / (2 * (double)h);
            assert_true(fabs(2 * grad[e] - both) < 2e-3 * (1 + fabs(both)));
            assert_true(grad[e] == grad[s.transposed_at[e]]);
            largest = fmax(largest, fabs(both));
        }
    assert_true(largest > 0.1);
    free(grad);
    graphss_i_learnt_destroy(ctx, &s);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

/* out [N x N]: every eigenvalue of S nearer to 0 by amount; with rank < N the others by the
 * share that one of their root mean square would lose. */
static void shrink(double *out, const graphss_i_learnt *s, double amount, size_t rank)
{
    double *a = malloc(N * N * sizeof *a), *v = malloc(N * N * sizeof *v), value[N];
    bool top[N] = {false};
    spread(a, s);
    testing_jacobi(value, v, a, N);
    double squares = 0;
    for (size_t r = 0; r < rank; r++) {
        size_t best = N;
        for (size_t i = 0; i < N; i++)
            if (!top[i] && (best == N || fabs(value[i]) > fabs(value[best])))
                best = i;
        top[best] = true;
    }
    for (size_t i = 0; i < N; i++)
        squares += top[i] ? 0 : value[i] * value[i];
    const double others = rank < N ? sqrt(squares / (double)(N - rank)) : 0;
    memset(out, 0, N * N * sizeof *out);
    for (size_t r = 0; r < N; r++) {
        const double less = top[r] ? copysign(fmax(fabs(value[r]) - amount, 0), value[r])
                                   : value[r] * (others > amount ? 1 - amount / others : 0);
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < N; j++)
                out[i * N + j] += less * v[i * N + r] * v[j * N + r];
    }
    free(a), free(v);
}

/* The weights left on the support sum to what S had before. */
static void share_out(double *full, const graphss_i_learnt *s)
{
    const graphss_i_csr *m = &s->pattern.m;
    double before = 0, after = 0;
    for (size_t i = 0; i < N; i++)
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
            if ((size_t)m->column[e] != i) {
                before += s->weight[e];
                after += fmax(full[i * N + (size_t)m->column[e]], 0);
            }
    for (size_t j = 0; j < N * N; j++)
        full[j] *= before / after;
}

static double furthest(const graphss_i_learnt *s, const double *want)
{
    const graphss_i_csr *m = &s->pattern.m;
    double most = 0;
    for (size_t i = 0; i < N; i++)
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
            if ((size_t)m->column[e] == i)
                assert_true(s->weight[e] == 1);
            else
                most = fmax(most, fabs(s->weight[e] - want[i * N + (size_t)m->column[e]]));
    return most;
}

TEST(low_rank_shrinks_eigenvalues_within_the_support)
{
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    attacked_world a;
    attacked_world_make(ctx, &a);
    double *want = malloc(N * N * sizeof *want), *exact = malloc(N * N * sizeof *exact);
    const size_t ranks[] = {5, 40, N};
    double off[3];
    for (int r = 0; r < 3; r++) {
        graphss_i_learnt s = {0};
        make(ctx, &s, &a, 2, ranks[r]);
        assert_int_equal(s.rank, ranks[r] == N ? N - 2 : ranks[r]);
        shake(&s);
        shrink(want, &s, 0.3, s.rank);
        shrink(exact, &s, 0.3, N);
        share_out(want, &s);
        share_out(exact, &s);
        assert_ok(ctx, graphss_i_learnt_low_rank(ctx, &s, 0.3));
        assert_true(furthest(&s, want) < 2e-3);
        off[r] = furthest(&s, exact);
        graphss_i_learnt_destroy(ctx, &s);
    }
    assert_true(off[2] < 2e-3); /* with all eigenvalues it is the exact step */
    assert_true(off[0] > 2 * off[2] && off[0] < 0.3);
    free(want), free(exact);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(a_graph_without_weight_is_left_alone)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_i_learnt s = {0};
    make(ctx, &s, &a, 0, 10);
    graphss_i_learnt_clip(&s, 2);
    assert_ok(ctx, graphss_i_learnt_low_rank(ctx, &s, 0.3));
    double *none = calloc(N * N, sizeof *none);
    assert_true(furthest(&s, none) == 0);
    free(none);
    graphss_i_learnt_destroy(ctx, &s);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(steps_go_down_the_smooth_parts)
{
    enum { STEPS = 3 };
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_i_learnt s = {0};
    make(ctx, &s, &a, 2, 10);
    shake(&s);
    graphss_rng rng = graphss_rng_make(9, 1);
    for (size_t e = 0; e < s.nnz; e++)
        s.grad[e] = (float)graphss_rng_normal(&rng);
    const graphss_i_csr *m = &s.pattern.m;
    double *want = malloc(s.nnz * sizeof *want), *speed = calloc(s.nnz, sizeof *speed);
    for (int step = 0; step < STEPS; step++) {
        double norm = 0;
        float *rough = calloc(s.nnz, sizeof *rough);
        graphss_i_learnt_roughness_gradient(&s, rough, 0.7);
        for (size_t i = 0; i < N; i++)
            for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
                norm += (size_t)m->column[e] == i ? 0 : pow(s.weight[e] - s.start[e], 2);
        for (size_t i = 0; i < N; i++)
            for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++) {
                if ((size_t)m->column[e] == i) {
                    want[e] = 1;
                    continue;
                }
                speed[e] = 0.5 * speed[e] + (s.weight[e] - s.start[e]) / sqrt(norm) +
                           1.5 * (s.grad[e] + s.grad[s.transposed_at[e]]) / 2 + rough[e];
                want[e] = s.weight[e] - 0.02 * speed[e];
            }
        graphss_i_learnt_step(&s, 0.02, 0.5, 1.5, 0.7);
        for (size_t e = 0; e < s.nnz; e++)
            assert_true(fabs(s.weight[e] - want[e]) < 1e-5);
        free(rough);
    }
    graphss_i_learnt_clip(&s, 0.05);
    for (size_t i = 0; i < N; i++)
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++) {
            const double w = (size_t)m->column[e] == i ? 1 : fmin(fmax(want[e] - 0.05, 0), 1);
            assert_true(fabs(s.weight[e] - w) < 1e-5);
        }
    free(want), free(speed);
    graphss_i_learnt_destroy(ctx, &s);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

static graphss_status all_of_it(graphss_ctx *ctx, void *arg)
{
    const attacked_world *a = arg;
    graphss_i_learnt s = {0};
    graphss_status st = graphss_i_learnt_make(ctx, &s, &a->in.current, 2, 2, true, 1, 10);
    if (!st)
        st = graphss_i_learnt_low_rank(ctx, &s, 0.3);
    graphss_i_learnt_destroy(ctx, &s);
    return st;
}

TEST(failing_allocations_leave_nothing)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    testing_each_allocation_fails(all_of_it, &a);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

/* The nodes with the most alike features, against a search of all pairs. */
enum { ROWS = 60, D = 12, EACH = 5, AMONG = 40 };

typedef struct fixture {
    float dense[ROWS * D], value[ROWS * D];
    int64_t offset[ROWS + 1];
    int32_t column[ROWS * D], from[ROWS], among[AMONG];
    graphss_features features;
    graphss_graph graph;
} fixture;

static void fixture_make(graphss_ctx *ctx, fixture *f, bool sparse)
{
    memset(f, 0, sizeof *f);
    graphss_rng rng = graphss_rng_make(3, 1);
    int32_t a[2 * ROWS], b[2 * ROWS];
    size_t e = 0;
    for (size_t i = 0; i < ROWS; i++) {
        f->offset[i] = (int64_t)e;
        f->from[i] = (int32_t)i;
        for (size_t c = 0; c < D && i % 17; c++) /* a few rows are empty */
            if (graphss_rng_double(&rng) < 0.3) {
                f->dense[i * D + c] = graphss_rng_double(&rng) < 0.2 ? -1 : 1;
                f->value[e] = f->dense[i * D + c];
                f->column[e++] = (int32_t)c;
            }
    }
    f->offset[ROWS] = (int64_t)e;
    for (size_t j = 0; j < AMONG; j++)
        f->among[j] = (int32_t)(ROWS - 1 - j); /* not ascending */
    for (size_t k = 0; k < 2 * ROWS; k++) {
        a[k] = (int32_t)graphss_rng_below(&rng, ROWS);
        b[k] = (int32_t)graphss_rng_below(&rng, ROWS);
    }
    assert_ok(ctx, graphss_graph_build(ctx, &f->graph, NULL, ROWS, a, b, 2 * ROWS));
    f->features = (graphss_features){.n_rows = ROWS, .n_cols = D};
    f->features.value = sparse ? f->value : f->dense;
    f->features.offset = sparse ? f->offset : NULL;
    f->features.column = sparse ? f->column : NULL;
}

static float cosine_of(const fixture *f, size_t i, size_t j)
{
    double dot = 0, squares = 0;
    for (size_t c = 0; c < D; c++) {
        dot += (double)f->dense[i * D + c] * f->dense[j * D + c];
        squares += (double)f->dense[j * D + c] * f->dense[j * D + c];
    }
    return squares > 0 ? (float)(dot / sqrt(squares)) : 0;
}

static bool allowed(const fixture *f, size_t i, size_t j)
{
    return i != j && cosine_of(f, i, j) > 0 &&
           !graphss_graph_has_edge(&f->graph, (int32_t)i, (int32_t)j);
}

/* How many candidates of i are better than j by more than rounding. */
static size_t ahead_of(const fixture *f, size_t i, size_t j)
{
    size_t count = 0;
    for (size_t a = 0; a < AMONG; a++)
        count += allowed(f, i, (size_t)f->among[a]) &&
                 cosine_of(f, i, (size_t)f->among[a]) > cosine_of(f, i, j) + 1e-5f;
    return count;
}

static void check(bool sparse, int threads)
{
    graphss_ctx *ctx = testing_ctx(NULL, threads);
    fixture f;
    fixture_make(ctx, &f, sparse);
    int32_t near[ROWS * EACH];
    size_t short_rows = 0;
    assert_ok(ctx, graphss_i_nearest(ctx, near, EACH, &f.features, &f.graph, f.from, ROWS,
                       f.among, AMONG, "test"));
    for (size_t i = 0; i < ROWS; i++) {
        size_t held = 0, possible = 0;
        for (size_t a = 0; a < AMONG; a++)
            possible += allowed(&f, i, (size_t)f.among[a]);
        while (held < EACH && near[i * EACH + held] >= 0)
            held++;
        assert_int_equal(held, possible < EACH ? possible : EACH);
        short_rows += held < EACH;
        for (size_t k = 0; k < held; k++) {
            const size_t j = (size_t)near[i * EACH + k];
            assert_true(j >= ROWS - AMONG && allowed(&f, i, j));
            assert_true(ahead_of(&f, i, j) < EACH);
            for (size_t l = 0; l < k; l++)
                assert_true(near[i * EACH + l] != near[i * EACH + k]);
        }
    }
    assert_true(short_rows > 0);
    graphss_graph_destroy(ctx, &f.graph);
    graphss_ctx_free(ctx);
}

TEST(the_nearest_are_those_of_a_search_of_all_pairs)
{
    check(true, 1);
    check(false, 2);
}

TEST(of_equal_nodes_the_first_listed_win)
{
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    float ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    int64_t offset[9] = {0};
    const int32_t from[] = {7, 0}, among[] = {0, 1, 2, 3, 4, 5};
    const graphss_features features = {.n_rows = 8, .n_cols = 1, .value = ones};
    const graphss_graph bare = {.n_nodes = 8, .offset = offset};
    int32_t near[6];
    assert_ok(
        ctx, graphss_i_nearest(ctx, near, 3, &features, &bare, from, 2, among, 6, "test"));
    int seen = 0;
    for (int k = 0; k < 3; k++)
        seen |= 1 << near[k];
    assert_int_equal(seen, 1 << 0 | 1 << 1 | 1 << 2);
    seen = 0;
    for (int k = 3; k < 6; k++)
        seen |= 1 << near[k];
    assert_int_equal(seen, 1 << 1 | 1 << 2 | 1 << 3);
    graphss_ctx_free(ctx);
}

static graphss_status search(graphss_ctx *ctx, void *arg)
{
    const fixture *f = arg;
    int32_t near[ROWS * EACH];
    return graphss_i_nearest(
        ctx, near, EACH, &f->features, &f->graph, f->from, ROWS, f->among, AMONG, "test");
}

TEST(failing_allocations_leave_no_neighbours)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    fixture f;
    fixture_make(ctx, &f, true);
    testing_each_allocation_fails(search, &f);
    graphss_graph_destroy(ctx, &f.graph);
    graphss_ctx_free(ctx);
}

int main(void)
{
    return testing_run();
}
