/* One run of the paper's public code on Cora, replayed. The file is not ours to ship:
 * GRAPHSS_REFERENCE names its folder. */
#include "data/formats/npz.h"
#include "testing.h"

enum { N = 2708, K = 7 };

typedef struct reference {
    float *attacked;        /* [N x K] P of the attacked snapshot */
    int32_t *clean;         /* [N] Y_a, predictions on the clean snapshot */
    int32_t *graphss;       /* [N] what the paper's code inferred, refits included */
    int32_t *labels;        /* [N] the truth, for figures only */
    int32_t *victim;        /* [n_victims] */
    float *gibbs;           /* [N x K] exact Gibbs, one chain, 60 draws */
    float *phi, *counts;    /* [K x K] phi' and the last C of the paper's code */
    int32_t *train, *noisy; /* [n_train] nodes and their manual labels */
    size_t n_victims, n_train;
} reference;

static int32_t *read_ints(graphss_ctx *ctx, size_t *n, graphss_i_npz *npz, const char *name)
{
    int32_t *out = NULL;
    assert_ok(ctx, graphss_i_npz_int32(ctx, &out, n, npz, name, SIZE_MAX));
    return out;
}

static float *read_floats(graphss_ctx *ctx, size_t n, graphss_i_npz *npz, const char *name)
{
    float *out = NULL;
    size_t found;
    assert_ok(ctx, graphss_i_npz_float(ctx, &out, &found, npz, name, SIZE_MAX));
    assert_int_equal(found, n);
    return out;
}

static reference read_reference(graphss_ctx *ctx, const char *path)
{
    graphss_i_npz *npz = NULL;
    assert_ok(ctx, graphss_i_npz_open(ctx, &npz, path, 0));
    reference ref = {0};
    size_t n;
    ref.attacked = read_floats(ctx, N * K, npz, "P_atk");
    ref.gibbs = read_floats(ctx, N * K, npz, "gibbs_post_cpred");
    ref.phi = read_floats(ctx, K * K, npz, "phi_warmup");
    ref.counts = read_floats(ctx, K * K, npz, "C_graphss");
    ref.clean = read_ints(ctx, &n, npz, "Y_clean_pred");
    assert_int_equal(n, N);
    ref.graphss = read_ints(ctx, &n, npz, "Y_graphss");
    assert_int_equal(n, N);
    ref.labels = read_ints(ctx, &n, npz, "labels");
    assert_int_equal(n, N);
    ref.victim = read_ints(ctx, &ref.n_victims, npz, "victims");
    ref.noisy = read_ints(ctx, &n, npz, "noisy");
    assert_int_equal(n, N);
    ref.train = read_ints(ctx, &n, npz, "train_mask");
    assert_int_equal(n, N);
    graphss_i_npz_close(ctx, npz);
    for (int32_t i = 0; i < N; i++)
        if (ref.train[i]) {
            ref.noisy[ref.n_train] = ref.noisy[i];
            ref.train[ref.n_train++] = i;
        }
    return ref;
}

static void free_reference(graphss_ctx *ctx, reference *ref)
{
    void *const block[] = {ref->attacked, ref->clean, ref->graphss, ref->labels, ref->victim,
        ref->gibbs, ref->phi, ref->counts, ref->train, ref->noisy};
    for (size_t i = 0; i < sizeof block / sizeof *block; i++)
        graphss_release(ctx, block[i]);
}

static void warmup(graphss_ctx *ctx, double *phi, const reference *ref)
{
    assert_ok(ctx, graphss_transition_warmup(
                       ctx, phi, ref->attacked, ref->train, ref->noisy, ref->n_train, N, K));
}

static double victims(const int32_t *label, const reference *ref)
{
    return 100 * graphss_labels_accuracy(label, ref->labels, ref->victim, ref->n_victims);
}

static graphss_selfsup_input input(const reference *ref, const graphss_source *source)
{
    return (graphss_selfsup_input){.struct_size = sizeof(graphss_selfsup_input),
        .n = N,
        .n_classes = K,
        .prob = ref->attacked,
        .source = source,
        .n_sources = 1,
        .seed = 1};
}

TEST_CTX(warm_up_matrix_and_counts_are_the_papers)
{
    char path[512];
    testing_reference(path, sizeof path, "graphss_cora_gcn.npz");
    reference ref = read_reference(ctx, path);
    double phi[K * K], counts[K * K];
    warmup(ctx, phi, &ref);
    graphss_transition_count(counts, ref.graphss, ref.clean, N, K);
    for (size_t i = 0; i < K * K; i++) {
        assert_true(fabs(phi[i] - (double)ref.phi[i]) < 1e-6);
        assert_true(counts[i] == (double)ref.counts[i]);
    }
    free_reference(ctx, &ref);
}

TEST(the_posterior_is_that_of_the_reference_sampler)
{
    char path[512];
    testing_reference(path, sizeof path, "graphss_cora_gcn.npz");
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    reference ref = read_reference(ctx, path);
    double phi[K * K];
    warmup(ctx, phi, &ref);
    const graphss_source source = {.label = ref.clean, .prior = {.alpha = 1}, .phi = phi};
    const graphss_selfsup_input in = input(&ref, &source);
    graphss_selfsup_options opt;
    graphss_selfsup_options_init(&opt);
    graphss_selfsup_result out = {0};
    opt.chains = 8;
    assert_ok(ctx, graphss_selfsup_run(ctx, &out, &in, &opt));

    /* The reference is a mean of 60 draws: each cell of it has the variance p (1 - p) / 60,
     * and ours, of 8 chains and of chances in place of draws, next to none. */
    double square = 0, expected = 0, theirs[K] = {0}, ours[K] = {0};
    for (size_t i = 0; i < N * K; i++) {
        const double p = out.posterior[i], d = p - (double)ref.gibbs[i];
        const double variance = p * (1 - p) / 60;
        assert_true(fabs(d) < 5 * sqrt(variance) + 1.0 / 60);
        square += d * d;
        expected += variance;
        theirs[i % K] += (double)ref.gibbs[i] / N;
        ours[i % K] += p / N;
    }
    print_message("root mean square difference %.5f, expected of 60 draws %.5f\n",
        sqrt(square / (N * K)), sqrt(expected / (N * K)));
    assert_true(square > 0.9 * expected && square < 1.1 * expected);
    for (size_t k = 0; k < K; k++) /* one chain of 60 is worth about 20 draws of a share */
        assert_true(fabs(ours[k] - theirs[k]) < 4 * out.trace[k].deviation / sqrt(20));
    assert_true(out.r_hat < 1.1);
    graphss_selfsup_result_destroy(ctx, &out);
    free_reference(ctx, &ref);
    graphss_ctx_free(ctx);
}

TEST_CTX(the_papers_ablation_has_its_order)
{
    char path[512];
    testing_reference(path, sizeof path, "graphss_cora_gcn.npz");
    reference ref = read_reference(ctx, path);
    double phi[K * K];
    int32_t attacked[N];
    warmup(ctx, phi, &ref);
    graphss_labels_argmax(attacked, ref.attacked, N, K);
    const graphss_source source = {.label = ref.clean, .prior = {.alpha = 1}, .phi = phi};
    const graphss_selfsup_input in = input(&ref, &source);
    graphss_selfsup_options opt;
    graphss_selfsup_options_init_paper(&opt);
    graphss_selfsup_result fixed = {0}, dynamic = {0}, thawed = {0};
    assert_ok(ctx, graphss_selfsup_run(ctx, &dynamic, &in, &opt));
    opt.phi = GRAPHSS_PHI_FIXED;
    assert_ok(ctx, graphss_selfsup_run(ctx, &fixed, &in, &opt));
    opt.frozen = false;
    assert_ok(ctx, graphss_selfsup_run(ctx, &thawed, &in, &opt));
    print_message("victims, no refit: attacked %.1f, phi fixed %.1f (labels free %.1f), "
                  "dynamic %.1f; with refits, the paper's code %.1f\n",
        victims(attacked, &ref), victims(fixed.label, &ref), victims(thawed.label, &ref),
        victims(dynamic.label, &ref), victims(ref.graphss, &ref));
    assert_memory_equal(fixed.label, attacked, sizeof attacked);
    assert_true(victims(dynamic.label, &ref) > victims(fixed.label, &ref));
    assert_true(victims(dynamic.label, &ref) < victims(ref.graphss, &ref));
    graphss_selfsup_result_destroy(ctx, &thawed);
    graphss_selfsup_result_destroy(ctx, &dynamic);
    graphss_selfsup_result_destroy(ctx, &fixed);
    free_reference(ctx, &ref);
}

TEST(an_anchor_and_a_switch_keep_what_history_knew)
{
    char path[512];
    testing_reference(path, sizeof path, "graphss_cora_gcn.npz");
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    reference ref = read_reference(ctx, path);
    const graphss_source source = {
        .label = ref.clean, .prior = {.anchor = N, .diagonal = 0.95}};
    const graphss_state states[2] = {{.concentration = 0.8 * N}, {.concentration = 0.2 * N}};
    graphss_selfsup_input in = input(&ref, &source);
    in.state = states;
    in.n_states = 2;
    graphss_selfsup_result out = {0};
    assert_ok(ctx, graphss_selfsup_run(ctx, &out, &in, NULL));
    size_t differ = 0;
    for (size_t i = 0; i < N; i++)
        differ += out.label[i] != ref.clean[i];
    print_message("victims %.1f, keep-last %.1f; labels that differ from it: %zu of %d; "
                  "share %.3f, R-hat %.3f, draws %.0f\n",
        victims(out.label, &ref), victims(ref.clean, &ref), differ, N, out.share[1], out.r_hat,
        out.ess);
    assert_true(victims(out.label, &ref) >= victims(ref.clean, &ref) - 1);
    graphss_selfsup_result_destroy(ctx, &out);
    free_reference(ctx, &ref);
    graphss_ctx_free(ctx);
}

int main(void)
{
    return testing_run();
}
