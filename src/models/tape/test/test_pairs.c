/* Pairs of nodes that might be connected: their patterns, and the gradients through them. */
#include "models/tape/tape.h"
#include "testing.h"

enum { N = 9, H = 3, EACH = 3 };

typedef struct fixture {
    graphss_graph edges;
    graphss_i_pairs a, b;
    graphss_i_pair_pattern pattern;
    float weight[N * N], r[N * H], x[N * H], grad_r[N * H], grad_x[N * H], target[N * H];
    int32_t near_a[N * EACH], near_b[N * EACH], all[N];
} fixture;

/* Each pair of nodes is an edge, a pair of a, a pair of b, or none of these. */
static int kind_of(size_t i, size_t j)
{
    const size_t low = i < j ? i : j, high = i < j ? j : i;
    return i == j ? 3 : (int)((low * 5 + high * 7 + low * high) % 4);
}

static void list_near(int32_t *near, int kind)
{
    for (size_t i = 0; i < N; i++) {
        size_t held = 0;
        for (size_t j = 0; j < N && held < EACH; j++)
            if (kind_of(i, j) == kind)
                near[i * EACH + held++] = (int32_t)j;
        for (; held < EACH; held++)
            near[i * EACH + held] = -1;
    }
}

static void fixture_make(graphss_ctx *ctx, fixture *f)
{
    memset(f, 0, sizeof *f);
    int32_t from[N * N], to[N * N];
    size_t m = 0;
    graphss_rng rng = graphss_rng_make(4, 1);
    for (size_t i = 0; i < N; i++) {
        f->all[i] = (int32_t)i;
        for (size_t j = 0; j < i; j++)
            if (kind_of(i, j) == 0) {
                from[m] = (int32_t)i;
                to[m++] = (int32_t)j;
            }
    }
    assert_ok(ctx, graphss_graph_build(ctx, &f->edges, NULL, N, from, to, m));
    list_near(f->near_a, 1);
    list_near(f->near_b, 2);
    for (size_t j = 0; j < N * H; j++) {
        f->r[j] = (float)graphss_rng_normal(&rng);
        f->x[j] = (float)graphss_rng_normal(&rng);
    }
    for (size_t q = 0; q < N * N; q++)
        f->weight[q] = (float)(q % 3) / 2;
    for (size_t i = 0; i < N; i += 2) { /* every other row is listed */
        f->target[i * H] = 0.25f;
        f->target[i * H + i % H] += 0.75f;
    }
    assert_ok(ctx, graphss_i_pairs_make(ctx, &f->a, N, f->all, N, f->near_a, EACH));
    assert_ok(ctx, graphss_i_pairs_make(ctx, &f->b, N, f->all, N, f->near_b, EACH));
    assert_ok(ctx, graphss_i_pattern_make(ctx, &f->pattern, &f->edges, &f->a, &f->b));
    f->pattern.weight = f->weight;
}

static void fixture_destroy(graphss_ctx *ctx, fixture *f)
{
    graphss_i_pattern_destroy(ctx, &f->pattern);
    graphss_i_pairs_destroy(ctx, &f->a);
    graphss_i_pairs_destroy(ctx, &f->b);
    graphss_graph_destroy(ctx, &f->edges);
}

static bool listed(const int32_t *near, size_t i, size_t j)
{
    for (size_t k = 0; k < EACH; k++)
        if (near[i * EACH + k] == (int32_t)j || near[j * EACH + k] == (int32_t)i)
            return true;
    return false;
}

/* The number of a pair, counted out: row by row above the diagonal; -1: not listed. */
static int number_of(const int32_t *near, size_t i, size_t j)
{
    int number = 0;
    for (size_t a = 0; a < N; a++)
        for (size_t b = a + 1; b < N; b++)
            if (listed(near, a, b)) {
                if ((a == i && b == j) || (a == j && b == i))
                    return number;
                number++;
            }
    return -1;
}

TEST_CTX(each_pair_is_there_once_and_its_transpose_finds_it)
{
    fixture f;
    fixture_make(ctx, &f);
    const graphss_i_pairs *p = &f.a;
    size_t pairs = 0;
    for (size_t i = 0; i < N; i++)
        for (size_t j = i + 1; j < N; j++)
            pairs += listed(f.near_a, i, j);
    assert_true(pairs > 5);
    assert_int_equal(graphss_i_pairs_count(p), pairs);
    for (size_t i = 0; i < N; i++) {
        for (int64_t e = p->m.offset[i]; e < p->m.offset[i + 1]; e++)
            assert_int_equal(number_of(f.near_a, i, (size_t)p->m.column[e]), e);
        for (int64_t e = p->transposed.offset[i]; e < p->transposed.offset[i + 1]; e++)
            assert_int_equal(
                number_of(f.near_a, i, (size_t)p->transposed.column[e]), p->transposed_at[e]);
    }
    assert_int_equal(p->transposed.offset[N], pairs);
    fixture_destroy(ctx, &f);
}

TEST_CTX(a_pattern_has_edges_loops_and_both_kinds_of_pairs)
{
    fixture f;
    fixture_make(ctx, &f);
    const graphss_i_pair_pattern *p = &f.pattern;
    const int first = (int)graphss_i_pairs_count(&f.a);
    for (size_t i = 0; i < N; i++) {
        bool base[N] = {false};
        for (int64_t e = p->m.offset[i]; e < p->m.offset[i + 1]; e++) {
            const size_t j = (size_t)p->m.column[e];
            const int a = number_of(f.near_a, i, j), b = number_of(f.near_b, i, j);
            assert_false(base[j]);
            base[j] = true;
            assert_int_equal(p->source[e], a >= 0 ? a : b >= 0 ? first + b : -1);
            assert_int_equal(p->m.column[p->transposed_at[e]], i);
            assert_true(p->transposed_at[e] >= p->m.offset[j] &&
                        p->transposed_at[e] < p->m.offset[j + 1]);
            if (p->source[e] >= 0) {
                const int64_t one = p->entry[p->source[e]];
                assert_true(one == e || p->transposed_at[one] == e);
            }
        }
        for (size_t j = 0; j < N; j++)
            assert_int_equal(base[j], i == j || kind_of(i, j) == 0 || listed(f.near_a, i, j) ||
                                          listed(f.near_b, i, j));
    }
    fixture_destroy(ctx, &f);
}

static const double threshold = 0.3;

static void record(graphss_i_tape *t, fixture *f)
{
    static const int32_t node[] = {1, 3, 5, 7}, label[] = {0, 1, 2, 1};
    const graphss_i_pairs *a = &f->a, *b = &f->b;
    const graphss_i_pair_pattern *p = &f->pattern;
    const graphss_i_var r = graphss_i_tape_weight(t, f->r, f->grad_r, N, H);
    const graphss_i_var x = graphss_i_tape_weight(t, f->x, f->grad_x, N, H);
    graphss_i_var va =
        graphss_i_tape_edge_dot(t, &a->m, &a->transposed, a->transposed_at, r, r);
    graphss_i_var vb =
        graphss_i_tape_edge_dot(t, &b->m, &b->transposed, b->transposed_at, r, r);
    va = graphss_i_tape_keep_above(t, va, threshold);
    vb = graphss_i_tape_keep_above(t, vb, threshold);
    graphss_i_var v = graphss_i_tape_spread_pairs(t, p, va, vb);
    v = graphss_i_tape_normalise_edges(t, &p->m, &p->m, p->transposed_at, v);
    const graphss_i_var y = graphss_i_tape_spmm_edges(t, &p->m, &p->m, p->transposed_at, v, x);
    graphss_i_tape_edge_loss(t, r, &f->edges, 2, 0.1);
    graphss_i_tape_cross_entropy(t, y, node, label, 4);
    graphss_i_tape_soft_cross_entropy(t, y, f->target, 0.7);
}

static double dot(const float *r, size_t i, size_t j)
{
    double sum = 0;
    for (size_t c = 0; c < H; c++)
        sum += (double)r[i * H + c] * r[j * H + c];
    return sum;
}

TEST(gradients_through_learned_edges)
{
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    fixture f;
    fixture_make(ctx, &f);
    size_t kept = 0, dropped = 0;
    for (size_t i = 0; i < N; i++) /* differences must not step over the threshold */
        for (size_t j = 0; j < i; j++) {
            if (kind_of(i, j) != 1 && kind_of(i, j) != 2)
                continue;
            assert_true(fabs(dot(f.r, i, j) - threshold) > 0.02);
            kept += dot(f.r, i, j) > threshold;
            dropped += dot(f.r, i, j) < threshold;
        }
    assert_true(kept > 3 && dropped > 3);
    graphss_i_tape *t = NULL;
    assert_ok(ctx, graphss_i_tape_new(ctx, &t));
    record(t, &f);
    assert_ok(ctx, graphss_i_tape_finish(t));
    graphss_i_tape_forward(t, true, 5);
    graphss_i_tape_backward(t);
    float *const weight[] = {f.r, f.x};
    const float *const grad[] = {f.grad_r, f.grad_x};
    for (int k = 0; k < 2; k++) {
        double largest = 0;
        for (size_t j = 0; j < N * H; j++) {
            const float was = weight[k][j], h = 4e-3f, got = grad[k][j];
            weight[k][j] = was + h;
            graphss_i_tape_forward(t, true, 5);
            const double up = graphss_i_tape_loss(t);
            weight[k][j] = was - h;
            graphss_i_tape_forward(t, true, 5);
            const double down = graphss_i_tape_loss(t);
            weight[k][j] = was;
            const double wanted = (up - down) / (2 * (double)h);
            largest = fmax(largest, fabs(wanted));
            if (fabs(got - wanted) > 2e-3 * (1 + fabs(wanted)))
                fail_msg("weight %d entry %zu: gradient %g, difference %g", k, j, (double)got,
                    wanted);
        }
        assert_true(largest > 1e-2);
    }
    graphss_i_tape_free(ctx, t);
    fixture_destroy(ctx, &f);
    graphss_ctx_free(ctx);
}

static double edge_loss(graphss_ctx *ctx, const float *r, size_t cols,
    const graphss_graph *edges, size_t reach, bool training, uint64_t key)
{
    graphss_i_tape *t = NULL;
    assert_ok(ctx, graphss_i_tape_new(ctx, &t));
    graphss_i_tape_edge_loss(
        t, graphss_i_tape_constant(t, r, edges->n_nodes, cols), edges, reach, 2);
    assert_ok(ctx, graphss_i_tape_finish(t));
    graphss_i_tape_forward(t, training, key);
    const double loss = graphss_i_tape_loss(t);
    graphss_i_tape_free(ctx, t);
    return loss;
}

TEST_CTX(the_loss_of_edges_with_every_pair_drawn)
{
    fixture f;
    fixture_make(ctx, &f);
    double sum = 0;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < i; j++)
            sum += pow(dot(f.r, i, j) - (kind_of(i, j) == 0), 2);
    const double want = 2. * N * sum / (N * (N - 1) / 2.);
    const double got = edge_loss(ctx, f.r, H, &f.edges, 100, true, 3);
    assert_true(fabs(got - want) < 1e-4 * want);
    assert_true(edge_loss(ctx, f.r, H, &f.edges, 100, false, 3) == 0);
    assert_true(edge_loss(ctx, f.r, H, &f.edges, 1, true, 3) !=
                edge_loss(ctx, f.r, H, &f.edges, 1, true, 4));
    fixture_destroy(ctx, &f);
}

TEST_CTX(every_pair_is_drawn_as_often)
{
    enum { DRAWS = 4000, REACH = 2 };
    int64_t offset[N + 1] = {0};
    const graphss_graph bare = {.n_nodes = N, .offset = offset};
    static const size_t pair[][2] = {{0, 1}, {0, N - 1}, {3, 5}, {7, 2}};
    /* Each node meets 2 REACH of N - 1 others; five standard deviations are 158. */
    const int want = DRAWS * 2 * REACH / (N - 1);
    for (size_t p = 0; p < 4; p++) {
        float r[N] = {0}; /* only these two have a product */
        r[pair[p][0]] = r[pair[p][1]] = 1;
        int drawn = 0;
        for (uint64_t key = 0; key < DRAWS; key++) {
            const double loss = edge_loss(ctx, r, 1, &bare, REACH, true, key);
            assert_true(loss == 0 || fabs(loss - 2. * N / (N * REACH)) < 1e-5);
            drawn += loss > 0;
        }
        assert_in_range(drawn, want - 158, want + 158);
    }
}

TEST_CTX(without_soft_labels_their_loss_is_zero)
{
    const float x[] = {1, 2, 3, 4}, none[4] = {0}, sure[] = {0, 0, 0, 1};
    for (int k = 0; k < 2; k++) {
        float grad[4] = {9, 9, 9, 9};
        graphss_i_tape *t = NULL;
        assert_ok(ctx, graphss_i_tape_new(ctx, &t));
        const graphss_i_var w = graphss_i_tape_weight(t, x, grad, 2, 2);
        graphss_i_tape_soft_cross_entropy(t, w, k ? sure : none, 1);
        assert_ok(ctx, graphss_i_tape_finish(t));
        graphss_i_tape_forward(t, true, 0);
        graphss_i_tape_backward(t);
        const double want = k ? log(1 + exp(-1)) : 0; /* of the second row alone */
        assert_true(fabs(graphss_i_tape_loss(t) - want) < 1e-6);
        assert_true(grad[0] == 0 && grad[1] == 0);
        assert_true((grad[2] != 0) == (k == 1));
        graphss_i_tape_free(ctx, t);
    }
}

TEST_CTX(wrong_shapes_are_refused)
{
    fixture f;
    fixture_make(ctx, &f);
    graphss_i_tape *t = NULL;
    assert_ok(ctx, graphss_i_tape_new(ctx, &t));
    const graphss_i_var r = graphss_i_tape_constant(t, f.r, N, H);
    assert_int_equal(graphss_i_tape_spread_pairs(t, &f.pattern, r, -1), -1);
    assert_fails(ctx, graphss_i_tape_finish(t), GRAPHSS_ERR_INTERNAL, "numbers of pairs");
    graphss_i_tape_free(ctx, t);
    assert_ok(ctx, graphss_i_tape_new(ctx, &t));
    graphss_i_tape_edge_loss(t, graphss_i_tape_constant(t, f.r, N - 1, H), &f.edges, 1, 1);
    assert_fails(ctx, graphss_i_tape_finish(t), GRAPHSS_ERR_INTERNAL, "link loss");
    graphss_i_tape_free(ctx, t);
    fixture_destroy(ctx, &f);
}

static graphss_status make_all(graphss_ctx *ctx, void *arg)
{
    fixture f = *(const fixture *)arg; /* edges are only read */
    graphss_i_tape *t = NULL;
    f.a = f.b = (graphss_i_pairs){0};
    f.pattern = (graphss_i_pair_pattern){0};
    graphss_status st = graphss_i_pairs_make(ctx, &f.a, N, f.all, N, f.near_a, EACH);
    if (!st)
        st = graphss_i_pairs_make(ctx, &f.b, N, f.all, N, f.near_b, EACH);
    if (!st)
        st = graphss_i_pattern_make(ctx, &f.pattern, &f.edges, &f.a, &f.b);
    if (!st)
        st = graphss_i_tape_new(ctx, &t);
    if (!st) {
        f.pattern.weight = f.weight;
        record(t, &f);
        st = graphss_i_tape_finish(t);
    }
    graphss_i_tape_free(ctx, t);
    graphss_i_pattern_destroy(ctx, &f.pattern);
    graphss_i_pairs_destroy(ctx, &f.a);
    graphss_i_pairs_destroy(ctx, &f.b);
    return st;
}

TEST_CTX(failing_allocations_leave_nothing)
{
    fixture f;
    fixture_make(ctx, &f);
    testing_each_allocation_fails(make_all, &f);
    fixture_destroy(ctx, &f);
}

int main(void)
{
    return testing_run();
}
