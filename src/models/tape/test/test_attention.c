/* Operations of layers with attention, and of those that see a node apart from its
 * neighbours: values against loops that follow the formulas, gradients against differences. */
#include "models/tape/tape.h"
#include "testing.h"

enum { N = 6, HEADS = 2, C = 3, WIDE = HEADS * C, CLASSES = 3 };

/* A symmetric pattern with loops: a path with one more link, and a node that has its loop
 * alone. */
static int64_t offset[] = {0, 2, 5, 9, 12, 15, 16};
static int32_t column[] = {0, 1, 0, 1, 2, 1, 2, 3, 4, 2, 3, 4, 2, 3, 4, 5};
static int64_t transposed_at[] = {0, 2, 1, 3, 5, 4, 6, 9, 12, 7, 10, 13, 8, 11, 14, 15};
static float row_value[16];
enum { NNZ = 16 };
static const graphss_i_csr pattern = {N, N, offset, column, NULL, true};
static const int32_t node[N] = {0, 1, 2, 3, 4, 5}, label[N] = {0, 1, 2, 2, 1, 0};

typedef struct weights {
    float x[N * WIDE], src[WIDE], dst[WIDE], grad_x[N * WIDE], grad_src[WIDE], grad_dst[WIDE];
} weights;

static weights draw(uint64_t seed)
{
    graphss_rng rng = graphss_rng_make(seed, 1);
    weights w = {0};
    for (int i = 0; i < N * WIDE; i++)
        w.x[i] = (float)graphss_rng_normal(&rng);
    for (int i = 0; i < WIDE; i++) {
        w.src[i] = (float)graphss_rng_normal(&rng);
        w.dst[i] = (float)graphss_rng_normal(&rng);
    }
    return w;
}

/* A layer of attention, its heads side by side. */
static graphss_i_var attend(graphss_i_tape *t, weights *w)
{
    const graphss_i_var x = graphss_i_tape_weight(t, w->x, w->grad_x, N, WIDE);
    const graphss_i_var s = graphss_i_tape_weight(t, w->src, w->grad_src, 1, WIDE);
    const graphss_i_var d = graphss_i_tape_weight(t, w->dst, w->grad_dst, 1, WIDE);
    const graphss_i_var from = graphss_i_tape_head_dots(t, x, s, HEADS);
    const graphss_i_var to = graphss_i_tape_head_dots(t, x, d, HEADS);
    const graphss_i_var a =
        graphss_i_tape_attention(t, &pattern, &pattern, transposed_at, to, from, 0.2);
    return graphss_i_tape_spmm_heads(t, &pattern, &pattern, transposed_at, a, x);
}

/* The naive twin: for every node and head, over all nodes it is linked with. */
static void attend_naive(double *out, const weights *w)
{
    for (int i = 0; i < N; i++)
        for (int h = 0; h < HEADS; h++) {
            double weight[N] = {0}, sum = 0;
            for (int64_t e = offset[i]; e < offset[i + 1]; e++) {
                double z = 0;
                for (int k = 0; k < C; k++)
                    z += (double)w->x[i * WIDE + h * C + k] * w->dst[h * C + k] +
                         (double)w->x[column[e] * WIDE + h * C + k] * w->src[h * C + k];
                weight[column[e]] = exp(z > 0 ? z : 0.2 * z);
                sum += weight[column[e]];
            }
            for (int k = 0; k < C; k++) {
                out[i * WIDE + h * C + k] = 0;
                for (int j = 0; j < N; j++)
                    out[i * WIDE + h * C + k] +=
                        weight[j] / sum * (double)w->x[j * WIDE + h * C + k];
            }
        }
}

TEST(attention_has_the_values_of_the_formula)
{
    for (size_t threads = 1; threads <= 2; threads++) {
        graphss_ctx *ctx = testing_ctx(NULL, threads);
        weights w = draw(3);
        graphss_i_tape *t = NULL;
        assert_ok(ctx, graphss_i_tape_new(ctx, &t));
        const graphss_i_var y = attend(t, &w);
        const graphss_i_var mean = graphss_i_tape_mean_heads(t, y, HEADS);
        graphss_i_tape_keep(t, y);
        graphss_i_tape_keep(t, mean);
        assert_ok(ctx, graphss_i_tape_finish(t));
        graphss_i_tape_forward(t, false, 0);
        double want[N * WIDE];
        attend_naive(want, &w);
        for (int i = 0; i < N * WIDE; i++)
            assert_true(fabs(graphss_i_tape_value(t, y)[i] - want[i]) < 1e-5);
        for (int i = 0; i < N; i++)
            for (int k = 0; k < C; k++)
                assert_true(fabs(graphss_i_tape_value(t, mean)[i * C + k] -
                                 (want[i * WIDE + k] + want[i * WIDE + C + k]) / 2) < 1e-5);
        graphss_i_tape_free(ctx, t);
        graphss_ctx_free(ctx);
    }
}

static double loss_of(graphss_i_tape *t)
{
    graphss_i_tape_forward(t, true, 5);
    return graphss_i_tape_loss(t);
}

static void check(graphss_i_tape *t, float *value, const float *grad, size_t n)
{
    float got[N * WIDE];
    double largest = 0;
    graphss_i_tape_forward(t, true, 5);
    graphss_i_tape_backward(t);
    memcpy(got, grad, n * sizeof *got);
    for (size_t j = 0; j < n; j++) {
        const float kept = value[j], h = 1e-2F;
        value[j] = kept + h;
        const double up = loss_of(t);
        value[j] = kept - h;
        const double down = loss_of(t);
        value[j] = kept;
        const double want = (up - down) / (2 * (double)h);
        largest = fmax(largest, fabs(want));
        if (fabs(got[j] - want) > 3e-3 * (1 + fabs(want)))
            fail_msg("entry %zu: gradient %g, difference %g", j, got[j], want);
    }
    assert_true(largest > 1e-3);
}

TEST(gradients_of_attention)
{
    for (int dropped = 0; dropped < 2; dropped++) {
        graphss_ctx *ctx = testing_ctx(NULL, 2);
        weights w = draw(4);
        graphss_i_tape *t = NULL;
        assert_ok(ctx, graphss_i_tape_new(ctx, &t));
        graphss_i_var y = graphss_i_tape_elu(t, attend(t, &w));
        y = graphss_i_tape_dropout(t, y, dropped ? 0.3 : 0);
        y = graphss_i_tape_mean_heads(t, y, HEADS);
        graphss_i_tape_cross_entropy(t, y, node, label, N);
        assert_ok(ctx, graphss_i_tape_finish(t));
        check(t, w.x, w.grad_x, N * WIDE);
        check(t, w.src, w.grad_src, WIDE);
        check(t, w.dst, w.grad_dst, WIDE);
        graphss_i_tape_free(ctx, t);
        graphss_ctx_free(ctx);
    }
}

TEST(nodes_beside_their_neighbours)
{
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    weights w = draw(5);
    for (int e = 0; e < NNZ; e++)
        row_value[e] = (float)(e % 5) - 1.5F; /* not symmetric */
    float back_value[NNZ];
    for (int e = 0; e < NNZ; e++)
        back_value[e] = row_value[transposed_at[e]];
    const graphss_i_csr m = {N, N, offset, column, row_value, true};
    const graphss_i_csr back = {N, N, offset, column, back_value, true};
    graphss_i_tape *t = NULL;
    assert_ok(ctx, graphss_i_tape_new(ctx, &t));
    const graphss_i_var x = graphss_i_tape_weight(t, w.x, w.grad_x, N, WIDE);
    const graphss_i_var y = graphss_i_tape_spmm_beside(t, (graphss_i_pair){&m, &back}, x);
    graphss_i_tape_keep(t, y);
    graphss_i_tape_cross_entropy(t, y, node, label, N);
    assert_ok(ctx, graphss_i_tape_finish(t));
    graphss_i_tape_forward(t, false, 0);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < C; k++) {
            double want = w.x[i * WIDE + C + k];
            for (int64_t e = offset[i]; e < offset[i + 1]; e++)
                want += (double)row_value[e] * w.x[column[e] * WIDE + k];
            assert_true(fabs(graphss_i_tape_value(t, y)[i * C + k] - want) < 1e-5);
        }
    check(t, w.x, w.grad_x, N * WIDE);
    graphss_i_tape_free(ctx, t);
    graphss_ctx_free(ctx);
}

TEST(shapes_that_do_not_fit_are_refused)
{
    static const float x[N * WIDE], w[WIDE];
    for (int wrong = 0; wrong < 7; wrong++) {
        graphss_ctx *ctx = testing_ctx(NULL, 1);
        graphss_i_tape *t = NULL;
        assert_ok(ctx, graphss_i_tape_new(ctx, &t));
        const graphss_i_var a = graphss_i_tape_constant(t, x, N, WIDE);
        const graphss_i_var b = graphss_i_tape_constant(t, w, 1, WIDE);
        const graphss_i_var odd = graphss_i_tape_constant(t, x, N, C);
        const graphss_i_pair pair = {&pattern, &pattern};
        graphss_i_var y = -1;
        switch (wrong) {
        case 0:
            y = graphss_i_tape_head_dots(t, a, b, 4);
            break;
        case 1:
            y = graphss_i_tape_head_dots(t, odd, b, 1);
            break;
        case 2:
            y = graphss_i_tape_attention(t, &pattern, &pattern, transposed_at, a, odd, 0.2);
            break;
        case 3:
            y = graphss_i_tape_attention(t, &pattern, &pattern, transposed_at, a, b, 0.2);
            break;
        case 4:
            y = graphss_i_tape_spmm_heads(t, &pattern, &pattern, transposed_at, a, a);
            break;
        case 5:
            y = graphss_i_tape_mean_heads(t, a, 4);
            break;
        default:
            y = graphss_i_tape_spmm_beside(t, pair, odd);
        }
        assert_int_equal(y, -1);
        assert_int_equal(graphss_i_tape_finish(t), GRAPHSS_ERR_INTERNAL);
        graphss_i_tape_free(ctx, t);
        graphss_ctx_free(ctx);
    }
}

static graphss_status run(graphss_ctx *ctx, void *arg)
{
    weights *w = arg;
    graphss_i_tape *t = NULL;
    graphss_status st = graphss_i_tape_new(ctx, &t);
    if (st)
        return st;
    const graphss_i_var y = attend(t, w);
    const graphss_i_var z =
        graphss_i_tape_spmm_beside(t, (graphss_i_pair){&pattern, &pattern}, y);
    graphss_i_tape_mean_heads(t, z, C);
    graphss_i_tape_cross_entropy(t, z, node, label, N);
    st = graphss_i_tape_finish(t);
    graphss_i_tape_free(ctx, t);
    return st;
}

TEST(each_allocation_may_fail)
{
    weights w = draw(6);
    testing_each_allocation_fails(run, &w);
}

int main(void)
{
    return testing_run();
}
