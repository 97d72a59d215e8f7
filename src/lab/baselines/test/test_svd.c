/* Eigenpairs against Jacobi's method, GNN-SVD against full matrices. */
#include "lab/baselines/baselines.h"
#include "lab/baselines/test/testing_jacobi.h"
#include "models/model_private.h"
#include "observation/test/testing_attacked_world.h"

enum { N = WORLD_NODES, RANK = 15 };

/* low [N x N]: the best approximation of that rank */
static void low_rank_matrix(double *low, double *top, const graphss_graph *g, int rank)
{
    double *a = calloc(N * N, sizeof *a), *v = malloc(N * N * sizeof *v), value[N];
    for (size_t i = 0; i < N; i++)
        for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++)
            a[i * N + (size_t)g->target[e]] = 1;
    testing_jacobi(value, v, a, N);
    memset(low, 0, N * N * sizeof *low);
    for (int r = 0; r < rank; r++) {
        int best = 0;
        for (int i = 1; i < N; i++)
            if (fabs(value[i]) > fabs(value[best]))
                best = i;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                low[i * N + j] += value[best] * v[i * N + best] * v[j * N + best];
        top[r] = value[best];
        value[best] = 0;
    }
    free(a), free(v);
}

TEST(eigenpairs_are_those_of_the_full_matrix)
{
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    attacked_world a;
    attacked_world_make(ctx, &a);
    double value[RANK], top[RANK];
    double *vector = malloc(N * RANK * sizeof *vector), *low = malloc(N * N * sizeof *low);
    const graphss_i_csr m = {N, N, a.current.offset, a.current.target, NULL, true};
    assert_ok(ctx, graphss_i_eigen_largest(ctx, value, vector, &m, RANK, 1e-7));
    low_rank_matrix(low, top, &a.current, RANK);
    for (int r = 0; r < RANK; r++)
        assert_true(fabs(value[r] - top[r]) < 1e-6);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int r = 0; r < RANK; r++)
                sum += vector[i * RANK + r] * value[r] * vector[j * RANK + r];
            assert_true(fabs(sum - low[i * N + j]) < 1e-5);
        }
    free(vector), free(low);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

/* y [N x cols] = P x, P = D^-1/2 (low + I) D^-1/2, or D^-1 (low + I) by row */
static void propagate(double *y, const double *low, const double *x, size_t cols, bool by_row)
{
    double degree[N];
    for (size_t i = 0; i < N; i++) {
        degree[i] = 1;
        for (size_t j = 0; j < N; j++)
            degree[i] += low[i * N + j];
        assert_true(degree[i] > 0);
    }
    memset(y, 0, N * cols * sizeof *y);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            const double weight = (low[i * N + j] + (i == j)) /
                                  (by_row ? degree[i] : sqrt(degree[i] * degree[j]));
            for (size_t c = 0; c < cols; c++)
                y[i * cols + c] += weight * x[j * cols + c];
        }
}

static void multiply(double *y, const double *x, const float *w, size_t inner, size_t cols)
{
    for (size_t i = 0; i < N; i++)
        for (size_t c = 0; c < cols; c++) {
            y[i * cols + c] = 0;
            for (size_t j = 0; j < inner; j++)
                y[i * cols + c] += x[i * inner + j] * w[j * cols + c];
        }
}

static void dense_input(double *x, const graphss_features *f, const graphss_model *model)
{
    for (size_t i = 0; i < N; i++) {
        double sum = 0;
        memset(x + i * f->n_cols, 0, f->n_cols * sizeof *x);
        for (size_t c = 0; c < f->n_cols && !f->offset; c++)
            x[i * f->n_cols + c] = f->value[i * f->n_cols + c];
        for (int64_t e = f->offset ? f->offset[i] : 0; f->offset && e < f->offset[i + 1]; e++)
            x[i * f->n_cols + (size_t)f->column[e]] = f->value[e];
        for (size_t c = 0; c < f->n_cols; c++)
            sum += x[i * f->n_cols + c];
        for (size_t c = 0; c < f->n_cols; c++)
            x[i * f->n_cols + c] *= model->scaling.scale / sum;
    }
}

static const float *weights(const graphss_model *model, size_t i)
{
    graphss_tensor w;
    assert_true(graphss_model_weight(&w, model, i));
    return w.value;
}

/* The given model's weights over the low-rank matrix: gcn or sage of two layers. */
static void check_against_full_matrices(const char *name)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    const bool by_row = strcmp(name, "sage") == 0;
    graphss_train_options fit;
    graphss_train_options_init(&fit, name, GRAPHSS_MODE_DEFAULT, NULL);
    fit.hidden = 16;
    fit.epochs = 30;
    graphss_model_free(ctx, a.model);
    a.model = NULL;
    assert_ok(ctx, graphss_model_train(ctx, &a.model, NULL,
                       &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                           .graph = &a.w.graph,
                           .features = &a.w.features,
                           .n_classes = 2,
                           .split = &a.w.split,
                           .seed = 1},
                       &fit));
    a.in.model = a.model;
    a.in.previous = NULL;
    graphss_recover_options opt;
    graphss_recover_options_init(
        &opt, graphss_lab_method_find("svd"), GRAPHSS_MODE_PAPER, a.model);
    opt.train = GRAPHSS_RECOVER_EVASION;
    graphss_recover_result r = {0};
    assert_ok(ctx, graphss_recover_run(ctx, &r, &a.in, &opt));

    double *low = malloc(N * N * sizeof *low), top[RANK];
    double *x = malloc(N * WORLD_WORDS * sizeof *x), h[N * 16], g[N * 16], y[N * 2], z[N * 2];
    low_rank_matrix(low, top, &a.current, RANK);
    dense_input(x, &a.w.features, a.model);
    const float *w0 = weights(a.model, 0);
    const float *b0 = weights(a.model, 1);
    const float *w1 = weights(a.model, 2);
    const float *b1 = weights(a.model, 3);
    multiply(h, x, w0, WORLD_WORDS, 16);
    propagate(g, low, h, 16, by_row);
    for (size_t j = 0; j < N * 16; j++)
        g[j] = fmax(0, g[j] + b0[j % 16]);
    multiply(y, g, w1, 16, 2);
    propagate(z, low, y, 2, by_row);
    for (size_t i = 0; i < N; i++) {
        const double difference = z[2 * i] + b1[0] - z[2 * i + 1] - b1[1];
        assert_true(fabs(r.predictions.posterior[2 * i] - 1 / (1 + exp(-difference))) < 1e-4);
    }
    free(low), free(x);
    graphss_recover_result_destroy(ctx, &r);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(gcn_over_a_low_rank_matrix_is_as_with_full_matrices)
{
    check_against_full_matrices("gcn");
}

TEST(sage_over_a_low_rank_matrix_is_as_with_full_matrices)
{
    check_against_full_matrices("sage");
}

TEST(every_classifier_may_stand_on_it_but_one_without_edges)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    for (size_t i = 0; graphss_model_name(i); i++) {
        graphss_train_options fit;
        graphss_train_options_init(&fit, graphss_model_name(i), GRAPHSS_MODE_DEFAULT, NULL);
        fit.epochs = 20;
        graphss_model_free(ctx, a.model);
        a.model = NULL;
        assert_ok(ctx, graphss_model_train(ctx, &a.model, NULL,
                           &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                               .graph = &a.w.graph,
                               .features = &a.w.features,
                               .n_classes = 2,
                               .split = &a.w.split,
                               .seed = 1},
                           &fit));
        a.in.model = a.model;
        const char *const on_model[] = {"jaccard", "svd"};
        for (int m = 0; m < 2; m++) {
            graphss_recover_options opt;
            graphss_recover_options_init(
                &opt, graphss_lab_method_find(on_model[m]), GRAPHSS_MODE_DEFAULT, a.model);
            graphss_recover_result r = {0};
            if (strcmp(graphss_model_name(i), "mlp") == 0)
                assert_fails(ctx, graphss_recover_run(ctx, &r, &a.in, &opt),
                    GRAPHSS_ERR_INVALID, "no meaning for mlp");
            else
                assert_ok(ctx, graphss_recover_run(ctx, &r, &a.in, &opt));
            graphss_recover_result_destroy(ctx, &r);
        }
    }
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(a_rank_beyond_the_nodes_is_refused)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_recover_options opt;
    graphss_recover_options_init(
        &opt, graphss_lab_method_find("svd"), GRAPHSS_MODE_PAPER, a.model);
    opt.svd.rank = N - 1;
    graphss_recover_result r = {0};
    assert_fails(ctx, graphss_recover_run(ctx, &r, &a.in, &opt), GRAPHSS_ERR_INVALID,
        "--rank 119 of a graph with 120 nodes");
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

int main(void)
{
    return testing_run();
}
