/* One stored run of the paper's public code, repeated from its weights and graphs. */
#include "data/build.h"
#include "data/formats/npz.h"
#include "models/model_private.h"
#include "testing.h"

enum { N = 2708, D = 1433, H = 200, K = 7 };

typedef struct stored {
    graphss_graph graph, attacked;
    graphss_features features, attacked_features;
    int32_t *labels, *graphss, *clean, *victim;
    float *prob; /* of the attacked snapshot */
    size_t n_victims;
    graphss_split split; /* noisy labels */
    graphss_model *model;
} stored;

static int32_t *ints(graphss_ctx *ctx, size_t *n, graphss_i_npz *npz, const char *name)
{
    int32_t *out = NULL;
    assert_ok(ctx, graphss_i_npz_int32(ctx, &out, n, npz, name, SIZE_MAX));
    return out;
}

static float *floats(graphss_ctx *ctx, size_t n, graphss_i_npz *npz, const char *name)
{
    float *out = NULL;
    size_t found;
    assert_ok(ctx, graphss_i_npz_float(ctx, &out, &found, npz, name, SIZE_MAX));
    assert_int_equal(found, n);
    return out;
}

/* Rows of a sparse matrix: offsets, columns. */
static int64_t *rows(
    graphss_ctx *ctx, int32_t **column, size_t *count, graphss_i_npz *npz, const char *prefix)
{
    char name[64];
    size_t n;
    snprintf(name, sizeof name, "%s_indptr", prefix);
    int32_t *start = ints(ctx, &n, npz, name);
    int64_t *offset = graphss_i_alloc(ctx, n, sizeof *offset);
    for (size_t i = 0; i < n; i++)
        offset[i] = start[i];
    graphss_release(ctx, start);
    snprintf(name, sizeof name, "%s_indices", prefix);
    *column = ints(ctx, count, npz, name);
    return offset;
}

static void read_graph(
    graphss_ctx *ctx, graphss_graph *out, graphss_i_npz *npz, const char *prefix)
{
    size_t n;
    int32_t *column;
    int64_t *offset = rows(ctx, &column, &n, npz, prefix);
    assert_ok(
        ctx, graphss_i_graph_from_rows(ctx, out, N, offset, column, NULL, n, prefix, NULL));
    graphss_release(ctx, offset);
    graphss_release(ctx, column);
}

static void read_features(
    graphss_ctx *ctx, graphss_features *out, graphss_i_npz *npz, const char *prefix)
{
    char name[64];
    size_t n;
    int32_t *column;
    int64_t *offset = rows(ctx, &column, &n, npz, prefix);
    snprintf(name, sizeof name, "%s_data", prefix);
    float *value = floats(ctx, n, npz, name);
    assert_ok(ctx, graphss_i_features_from_rows(ctx, out, N, D, offset, column, value, n,
                       prefix)); /* takes the arrays */
}

/* The nodes of a mask, and their noisy labels. */
static void read_part(graphss_ctx *ctx, int32_t **node, int32_t **label, size_t *count,
    graphss_i_npz *npz, const char *mask)
{
    size_t n;
    *node = ints(ctx, &n, npz, mask);
    *label = ints(ctx, &n, npz, "noisy");
    for (int32_t i = 0; i < N; i++)
        if ((*node)[i]) {
            (*label)[*count] = (*label)[i];
            (*node)[(*count)++] = i;
        }
}

static void read_weights(graphss_ctx *ctx, graphss_model *model, graphss_i_npz *npz)
{
    static const char *const name[] = {"layers_0_weight", "layers_0_bias", "layers_2_weight",
        "layers_2_bias", "layers_4_weight", "layers_4_bias"};
    for (size_t i = 0; i < 6; i++) {
        const graphss_i_param *m = &model->params.param[i];
        const size_t n = m->rows * m->cols;
        float *w = floats(ctx, n, npz, name[i]);
        memcpy(model->params.value + m->offset, w, n * sizeof *w);
        graphss_release(ctx, w);
    }
}

static void read_stored(graphss_ctx *ctx, stored *s, const char *path)
{
    graphss_i_npz *npz = NULL;
    size_t n;
    memset(s, 0, sizeof *s);
    assert_ok(ctx, graphss_i_npz_open(ctx, &npz, path, 0));
    read_graph(ctx, &s->graph, npz, "adj");
    read_graph(ctx, &s->attacked, npz, "adj_atk");
    read_features(ctx, &s->features, npz, "feat");
    read_features(ctx, &s->attacked_features, npz, "feat_atk");
    s->labels = ints(ctx, &n, npz, "labels");
    s->graphss = ints(ctx, &n, npz, "Y_graphss");
    s->clean = ints(ctx, &n, npz, "Y_clean_pred");
    s->victim = ints(ctx, &s->n_victims, npz, "victims");
    s->prob = floats(ctx, N * K, npz, "P_atk");
    read_part(
        ctx, &s->split.train, &s->split.train_label, &s->split.n_train, npz, "train_mask");
    read_part(ctx, &s->split.val, &s->split.val_label, &s->split.n_val, npz, "val_mask");
    graphss_train_options opt;
    graphss_train_options_init(&opt, "gcn", GRAPHSS_MODE_PAPER, NULL);
    opt.row_normalise = false;
    assert_ok(ctx, graphss_i_model_new(ctx, &s->model, &opt, D, K, 1));
    read_weights(ctx, s->model, npz);
    graphss_i_npz_close(ctx, npz);
}

static void free_stored(graphss_ctx *ctx, stored *s)
{
    void *const block[] = {s->labels, s->graphss, s->clean, s->victim, s->prob};
    for (size_t i = 0; i < sizeof block / sizeof *block; i++)
        graphss_release(ctx, block[i]);
    graphss_model_free(ctx, s->model);
    graphss_split_destroy(ctx, &s->split);
    graphss_features_destroy(ctx, &s->attacked_features);
    graphss_features_destroy(ctx, &s->features);
    graphss_graph_destroy(ctx, &s->attacked);
    graphss_graph_destroy(ctx, &s->graph);
}

static double victims(const int32_t *label, const stored *s)
{
    return 100 * graphss_labels_accuracy(label, s->labels, s->victim, s->n_victims);
}

TEST(the_stored_run_is_repeated)
{
    char path[512];
    testing_reference(path, sizeof path, "graphss_cora_gcn.npz");
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    stored s;
    read_stored(ctx, &s, path);
    float *prob = calloc(N * K, sizeof *prob);
    int32_t attacked[N];
    assert_non_null(prob);
    assert_ok(
        ctx, graphss_model_predict(ctx, prob, s.model, &s.attacked, &s.attacked_features));
    for (size_t i = 0; i < N * K; i++)
        assert_true(fabsf(prob[i] - s.prob[i]) < 1e-3f);
    graphss_labels_argmax(attacked, prob, N, K);

    const graphss_observation previous = {&s.graph, &s.features, NULL};
    const graphss_defence_input in = {.struct_size = sizeof in,
        .current = {&s.attacked, &s.attacked_features, NULL},
        .previous = &previous,
        .model = s.model,
        .split = &s.split,
        .seed = 1};
    graphss_recover_options opt;
    graphss_recover_options_init(
        &opt, graphss_lab_method_find("graphss"), GRAPHSS_MODE_PAPER, s.model);
    graphss_recover_result r = {0};
    assert_ok(ctx, graphss_recover_run(ctx, &r, &in, &opt));
    const double same = 100 * graphss_labels_accuracy(r.predictions.label, s.graphss, NULL, N);
    const double same_victims =
        100 * graphss_labels_accuracy(r.predictions.label, s.graphss, s.victim, s.n_victims);
    print_message("victims %.1f attacked, %.1f then, %.1f now; %.1f %% of the labels are the "
                  "same, %.1f %% of the victims'; %.1f s\n",
        victims(attacked, &s), victims(s.graphss, &s), victims(r.predictions.label, &s), same,
        same_victims, r.seconds);
    assert_true(fabs(victims(r.predictions.label, &s) - victims(s.graphss, &s)) < 6);
    assert_true(same > 90);
    graphss_recover_result_destroy(ctx, &r);
    free(prob);
    free_stored(ctx, &s);
    graphss_ctx_free(ctx);
}

int main(void)
{
    return testing_run();
}
