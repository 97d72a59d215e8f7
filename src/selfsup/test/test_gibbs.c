/* The sampler against problems so small that every (z, r) can be listed, and against a
 * naive twin that takes each node out of the counts and puts it back. */
#include "testing.h"

enum { NODES = 5, MOST = 2 * 2 * 9, CELLS = 2 * 9 };

typedef struct answer {
    double posterior[NODES * 3], state[NODES * 3], counts[CELLS], phi[CELLS], share[3];
} answer;

/* log of the integral over one Dirichlet row: gamma(sum a) / gamma(sum a + c) times the
 * product of gamma(a + c) / gamma(a) */
static double log_row(const double *a, const double *c, size_t n)
{
    double sum_a = 0, sum_c = 0, out = 0;
    for (size_t i = 0; i < n; i++) {
        out += lgamma(a[i] + c[i]) - lgamma(a[i]);
        sum_a += a[i];
        sum_c += c[i];
    }
    return out + lgamma(sum_a) - lgamma(sum_a + sum_c);
}

/* The joint log weight of one (z, r), by the formulas of the model; counts of the matrices
 * [M][S][K x K] are left in c. */
static double log_joint(const graphss_selfsup_input *in, const size_t *z, const size_t *r,
    double *c, double *of_state)
{
    const size_t K = in->n_classes, S = in->n_states ? in->n_states : 1;
    double out = 0, concentration[3] = {1, 1, 1};
    memset(c, 0, MOST * 3 * sizeof *c);
    memset(of_state, 0, 3 * sizeof *of_state);
    for (size_t i = 0; i < NODES; i++) {
        of_state[r[i]]++;
        if (r[i] == 0)
            out += log((double)in->prob[i * K + z[i]]);
        else if (in->state[r[i]].prob)
            out += log((double)in->state[r[i]].prob[i * K + z[i]]);
        else
            out -= log((double)K);
        if (S > 1 && in->state[r[i]].likelihood)
            out += log((double)in->state[r[i]].likelihood[i]);
        for (size_t m = 0; m < in->n_sources; m++) {
            const graphss_source *source = &in->source[m];
            if (source->label[i] < 0)
                continue;
            const size_t s = source->tampered ? r[i] : 0;
            c[((m * S + s) * K + z[i]) * K + (size_t)source->label[i]]++;
            const bool fixed = s ? source->tampered_fixed : source->fixed;
            const double *phi = s ? source->tampered_phi : source->phi;
            const size_t cell = z[i] * K + (size_t)source->label[i];
            if (fixed)
                out += log(phi[cell + (s ? s - 1 : 0) * K * K]);
        }
    }
    for (size_t s = 0; s < in->n_states; s++)
        concentration[s] = in->state[s].concentration;
    if (S > 1)
        out += log_row(concentration, of_state, S);
    for (size_t m = 0; m < in->n_sources; m++)
        for (size_t s = 0; s < (in->source[m].tampered ? S : 1); s++) {
            const graphss_source *source = &in->source[m];
            double alpha[9];
            if (s ? source->tampered_fixed : source->fixed)
                continue;
            assert_ok(NULL, graphss_prior_cells(
                                NULL, alpha, s ? &source->tampered_prior : &source->prior, K));
            for (size_t k = 0; k < K; k++)
                out += log_row(alpha + k * K, c + ((m * S + s) * K + k) * K, K);
        }
    return out;
}

static answer enumerate(const graphss_selfsup_input *in)
{
    const size_t K = in->n_classes, S = in->n_states ? in->n_states : 1;
    answer out = {0};
    double all = 0, sum_concentration = 0;
    size_t combinations = 1;
    for (size_t i = 0; i < NODES; i++)
        combinations *= K * S;
    for (size_t s = 0; s < in->n_states; s++)
        sum_concentration += in->state[s].concentration;
    for (size_t code = 0; code < combinations; code++) {
        size_t z[NODES], r[NODES], rest = code;
        double c[MOST * 3], of_state[3];
        for (size_t i = 0; i < NODES; i++, rest /= K * S) {
            z[i] = rest % (K * S) % K;
            r[i] = rest % (K * S) / K;
        }
        const double w = exp(log_joint(in, z, r, c, of_state));
        all += w;
        for (size_t i = 0; i < NODES; i++) {
            out.posterior[i * K + z[i]] += w;
            out.state[i * S + r[i]] += w;
        }
        for (size_t s = 0; s < in->n_states; s++)
            out.share[s] +=
                w * (in->state[s].concentration + of_state[s]) / (sum_concentration + NODES);
        for (size_t m = 0; m < in->n_sources; m++) {
            double alpha[9], phi[9];
            const double *first = c + m * S * K * K;
            assert_ok(NULL, graphss_prior_cells(NULL, alpha, &in->source[m].prior, K));
            graphss_transition_mean(phi, alpha, first, K);
            for (size_t i = 0; i < K * K; i++) {
                out.phi[m * K * K + i] +=
                    w * (in->source[m].fixed ? in->source[m].phi[i] : phi[i]);
                for (size_t s = 0; s < (in->source[m].tampered ? S : 1); s++)
                    out.counts[m * K * K + i] += w * first[s * K * K + i];
            }
        }
    }
    double *const part = (double *)&out;
    for (size_t i = 0; i < sizeof out / sizeof *part; i++)
        part[i] /= all;
    return out;
}

static void assert_near(
    const double *got, const double *want, size_t n, double within, const char *what)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs(got[i] - want[i]) < within))
            fail_msg("%s[%zu]: sampled %.5f, exact %.5f, want within %.5f", what, i, got[i],
                want[i], within);
}

static void compare(const graphss_selfsup_input *in)
{
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    const size_t K = in->n_classes, cells = in->n_sources * K * K;
    const answer want = enumerate(in);
    graphss_selfsup_options opt;
    graphss_selfsup_options_init(&opt);
    graphss_selfsup_result out = {0};
    opt.sweeps = 40000;
    opt.burn_in = 100;
    assert_ok(ctx, graphss_selfsup_run(ctx, &out, in, &opt));
    /* A share has a deviation of at most 0.5. */
    const double within = 4 * 0.5 / sqrt(out.ess);
    assert_true(out.r_hat < 1.01 && within < 0.03);
    assert_near(out.posterior, want.posterior, NODES * K, within, "posterior");
    assert_near(out.phi, want.phi, cells, within, "phi");
    assert_near(out.counts, want.counts, cells, NODES * within, "counts");
    if (in->n_states) {
        assert_near(out.state, want.state, NODES * in->n_states, within, "state");
        assert_near(out.share, want.share, in->n_states, within, "share");
    }
    graphss_selfsup_result_destroy(ctx, &out);
    graphss_ctx_free(ctx);
}

static const float prob2[NODES * 2] = {
    0.9f, 0.1f, 0.2f, 0.8f, 0.5f, 0.5f, 0.7f, 0.3f, 0.4f, 0.6f};
static const float prob3[NODES * 3] = {0.8f, 0.1f, 0.1f, 0.2f, 0.5f, 0.3f, 0.1f, 0.1f, 0.8f,
    0.34f, 0.33f, 0.33f, 0.6f, 0.3f, 0.1f};
static const float other3[NODES * 3] = {
    0.1f, 0.8f, 0.1f, 0.4f, 0.3f, 0.3f, 0.3f, 0.3f, 0.4f, 0.1f, 0.1f, 0.8f, 0.2f, 0.7f, 0.1f};
static const int32_t seen_a[NODES] = {0, 1, 1, 0, 1}, seen_b[NODES] = {0, 2, -1, 1, 2};

TEST(one_source_two_classes)
{
    const graphss_source source = {.label = seen_a, .prior = {.alpha = 1}};
    compare(&(graphss_selfsup_input){.struct_size = sizeof(graphss_selfsup_input),
        .n = NODES,
        .n_classes = 2,
        .prob = prob2,
        .source = &source,
        .n_sources = 1,
        .seed = 3});
}

TEST(an_anchored_prior_three_classes)
{
    const double cell[9] = {0, 2, 0, 0, 0, 0, 1, 0, 0};
    const graphss_source source = {
        .label = seen_b, .prior = {.alpha = 0.5, .anchor = 4, .diagonal = 0.8, .cell = cell}};
    compare(&(graphss_selfsup_input){.struct_size = sizeof(graphss_selfsup_input),
        .n = NODES,
        .n_classes = 3,
        .prob = prob3,
        .source = &source,
        .n_sources = 1,
        .seed = 4});
}

TEST(two_sources_one_of_them_fixed)
{
    const double phi[9] = {0.7, 0.2, 0.1, 0.1, 0.8, 0.1, 0.25, 0.25, 0.5};
    const graphss_source source[2] = {{.label = seen_a, .phi = phi, .fixed = true},
        {.label = seen_b, .prior = {.anchor = 3, .diagonal = 0.9}}};
    compare(&(graphss_selfsup_input){.struct_size = sizeof(graphss_selfsup_input),
        .n = NODES,
        .n_classes = 3,
        .prob = prob3,
        .source = source,
        .n_sources = 2,
        .seed = 5});
}

TEST(a_switch_with_one_matrix_for_both_states)
{
    const graphss_source source = {.label = seen_b, .prior = {.anchor = 5, .diagonal = 0.9}};
    const graphss_state states[2] = {{.concentration = 4}, {.concentration = 1}};
    compare(&(graphss_selfsup_input){.struct_size = sizeof(graphss_selfsup_input),
        .n = NODES,
        .n_classes = 3,
        .prob = prob3,
        .source = &source,
        .n_sources = 1,
        .state = states,
        .n_states = 2,
        .seed = 6});
}

TEST(a_switch_of_two_sources_with_evidence_of_its_own)
{
    const float odd[NODES] = {5, 0.5f, 1, 3, 0.2f};
    const double flipped[4] = {0.2, 0.8, 0.7, 0.3};
    const graphss_source source[2] = {{.label = seen_a,
                                          .prior = {.anchor = 5, .diagonal = 0.9},
                                          .tampered = true,
                                          .tampered_prior = {.alpha = 2}},
        {.label = seen_a,
            .prior = {.alpha = 1},
            .tampered = true,
            .tampered_phi = flipped,
            .tampered_fixed = true}};
    const graphss_state states[2] = {
        {.concentration = 2}, {.concentration = 1, .likelihood = odd}};
    compare(&(graphss_selfsup_input){.struct_size = sizeof(graphss_selfsup_input),
        .n = NODES,
        .n_classes = 2,
        .prob = prob2,
        .source = source,
        .n_sources = 2,
        .state = states,
        .n_states = 2,
        .seed = 7});
}

TEST(states_alone_with_probabilities_each)
{
    const float likely[NODES] = {1, 0.1f, 2, 0.3f, 4};
    const graphss_state states[3] = {{.concentration = 2, .likelihood = likely},
        {.concentration = 1, .prob = other3}, {.concentration = 0.5}};
    compare(&(graphss_selfsup_input){.struct_size = sizeof(graphss_selfsup_input),
        .n = NODES,
        .n_classes = 3,
        .prob = prob3,
        .state = states,
        .n_states = 3,
        .seed = 8});
}

enum { N = 300, K = 4, WARMUP = 5, SWEEPS = 30 };

typedef struct world {
    float prob[N * K];
    int32_t observed[N];
} world;

static void make_world(world *w, bool silence)
{
    graphss_rng rng = graphss_rng_make(11, GRAPHSS_STREAM_SYNTH);
    for (size_t i = 0; i < N; i++) {
        const size_t truth = (size_t)graphss_rng_below(&rng, K);
        for (size_t k = 0; k < K; k++)
            w->prob[i * K + k] = (float)(graphss_rng_double(&rng) + (k == truth));
        w->observed[i] = graphss_rng_double(&rng) < 0.7 ? (int32_t)truth
                                                        : (int32_t)graphss_rng_below(&rng, K);
        if (silence && i % 7 == 0)
            w->observed[i] = -1;
    }
}

/* The paper's last equation, word by word. */
static void naive(
    double *posterior, const world *w, const double *phi, double alpha, uint64_t seed)
{
    graphss_rng rng = graphss_rng_make(seed, GRAPHSS_STREAM_SAMPLER);
    int32_t z[N];
    double C[K][K] = {{0}};
    memset(posterior, 0, N * K * sizeof *posterior);
    graphss_labels_argmax(z, w->prob, N, K);
    for (size_t i = 0; i < N; i++)
        if (w->observed[i] >= 0)
            C[z[i]][w->observed[i]] += 1;
    for (size_t step = 0; step < SWEEPS; step++)
        for (size_t i = 0; i < N; i++) {
            const int32_t y = w->observed[i];
            double weight[K], sum = 0, u;
            if (y >= 0)
                C[z[i]][y] -= 1;
            for (size_t k = 0; k < K; k++) {
                double row = 0;
                for (size_t other = 0; other < K; other++)
                    row += alpha + C[k][other];
                weight[k] = (double)w->prob[i * K + k];
                if (y >= 0)
                    weight[k] *=
                        step < WARMUP ? phi[k * K + (size_t)y] : (alpha + C[k][y]) / row;
                sum += weight[k];
            }
            u = graphss_rng_double(&rng) * sum;
            for (z[i] = 0; z[i] < K - 1 && u >= weight[z[i]]; z[i]++)
                u -= weight[z[i]];
            if (y >= 0)
                C[z[i]][y] += 1;
            for (size_t k = 0; step >= WARMUP && k < K; k++)
                posterior[i * K + k] += weight[k] / sum / (SWEEPS - WARMUP);
        }
}

TEST_CTX(the_naive_twin_draws_the_same)
{
    graphss_selfsup_options opt;
    graphss_selfsup_options_init(&opt);
    opt.chains = 1;
    opt.warmup = WARMUP;
    opt.sweeps = SWEEPS;
    for (int silence = 0; silence < 2; silence++) {
        static world w;
        static double want[N * K];
        double phi[K * K];
        int32_t silent[N];
        for (size_t i = 0; i < K * K; i++)
            phi[i] = i / K == i % K ? 0.7 : 0.1;
        for (size_t i = 0; i < N; i++)
            silent[i] = -1;
        make_world(&w, silence);
        naive(want, &w, phi, 0.5, 9);
        /* A second source without evidence leads through the general path. */
        const graphss_source source[2] = {
            {.label = w.observed, .prior = {.alpha = 0.5}, .phi = phi},
            {.label = silent, .prior = {.alpha = 1}}};
        for (size_t n_sources = 1; n_sources <= 2; n_sources++) {
            const graphss_selfsup_input in = {.struct_size = sizeof in,
                .n = N,
                .n_classes = K,
                .prob = w.prob,
                .source = source,
                .n_sources = n_sources,
                .seed = 9};
            graphss_selfsup_result out = {0};
            assert_ok(ctx, graphss_selfsup_run(ctx, &out, &in, &opt));
            assert_near(out.posterior, want, N * K, 1e-9, "posterior");
            graphss_selfsup_result_destroy(ctx, &out);
        }
    }
}

TEST_CTX(every_number_of_classes_takes_the_same_path)
{
    graphss_selfsup_options opt;
    graphss_selfsup_options_init(&opt);
    opt.chains = 1;
    for (size_t k = 2; k <= 9; k++) {
        float prob[40 * 9];
        int32_t observed[40], silent[40];
        graphss_rng rng = graphss_rng_make(k, 1);
        for (size_t i = 0; i < 40 * k; i++)
            prob[i] = (float)graphss_rng_double(&rng) + 0.01f;
        for (size_t i = 0; i < 40; i++) {
            observed[i] = (int32_t)graphss_rng_below(&rng, k);
            silent[i] = -1;
        }
        const graphss_source source[2] = {
            {.label = observed, .prior = {.alpha = 1}}, {.label = silent}};
        graphss_selfsup_input in = {.struct_size = sizeof in,
            .n = 40,
            .n_classes = k,
            .prob = prob,
            .source = source,
            .n_sources = 1,
            .seed = 2};
        graphss_selfsup_result single = {0}, general = {0};
        assert_ok(ctx, graphss_selfsup_run(ctx, &single, &in, &opt));
        in.n_sources = 2;
        assert_ok(ctx, graphss_selfsup_run(ctx, &general, &in, &opt));
        assert_near(single.posterior, general.posterior, 40 * k, 1e-9, "posterior");
        graphss_selfsup_result_destroy(ctx, &single);
        graphss_selfsup_result_destroy(ctx, &general);
    }
}

enum { CHAINS = 4, LENGTH = 2000 };

/* x_t = rho x_t-1 + noise; each chain around its own middle. */
static void make_chains(double *x, double rho, double apart)
{
    for (size_t c = 0; c < CHAINS; c++) {
        graphss_rng rng = graphss_rng_make(7, c + 1);
        double last = graphss_rng_normal(&rng) / sqrt(1 - rho * rho);
        for (size_t i = 0; i < LENGTH; i++) {
            last = rho * last + graphss_rng_normal(&rng);
            x[c * LENGTH + i] = last + apart * (double)c;
        }
    }
}

TEST(a_case_done_by_hand)
{
    /* Pieces (1, 3) and (2, 6): means 2 and 4, variances 2 and 8, W = 5, B / n = 2,
     * var+ = 5 / 2 + 2. */
    const double x[5] = {1, 3, 100, 2, 6};
    assert_true(fabs(graphss_trace_r_hat(x, 1, 5) - sqrt(4.5 / 5)) < 1e-12);
}

TEST(independent_draws_count_in_full)
{
    static double x[CHAINS * LENGTH];
    make_chains(x, 0, 0);
    assert_true(fabs(graphss_trace_r_hat(x, CHAINS, LENGTH) - 1) < 0.005);
    const double ess = graphss_trace_effective_draws(x, CHAINS, LENGTH);
    assert_true(ess > 0.85 * CHAINS * LENGTH && ess <= CHAINS * LENGTH);
}

TEST(correlated_draws_count_less)
{
    static double x[CHAINS * LENGTH];
    make_chains(x, 0.8, 0);
    /* (1 - rho) / (1 + rho) of them */
    const double want = CHAINS * LENGTH / 9.0;
    const double ess = graphss_trace_effective_draws(x, CHAINS, LENGTH);
    assert_true(ess > 0.8 * want && ess < 1.25 * want);
}

TEST(chains_that_disagree_are_seen)
{
    static double x[CHAINS * LENGTH];
    make_chains(x, 0, 1);
    assert_true(graphss_trace_r_hat(x, CHAINS, LENGTH) > 1.3);
    assert_true(graphss_trace_effective_draws(x, CHAINS, LENGTH) < 20);
    for (size_t i = 0; i < LENGTH; i++) /* a single chain that drifts is noticed too */
        x[i] = (double)i;
    assert_true(graphss_trace_r_hat(x, 1, LENGTH) > 1.5);
}

TEST(constants_and_short_traces)
{
    double x[16];
    for (size_t i = 0; i < 16; i++)
        x[i] = 3;
    assert_true(graphss_trace_r_hat(x, 2, 8) == 1);
    assert_true(graphss_trace_effective_draws(x, 2, 8) == 16);
    for (size_t i = 8; i < 16; i++)
        x[i] = 4;
    assert_true(isinf(graphss_trace_r_hat(x, 2, 8)));
    assert_true(graphss_trace_effective_draws(x, 2, 8) < 16);
    assert_true(isnan(graphss_trace_r_hat(x, 2, 3)));
    assert_true(isnan(graphss_trace_effective_draws(x, 2, 3)));
    assert_true(isnan(graphss_trace_r_hat(x, 0, 8)));
}

TEST_CTX(warm_up_matrix_of_a_known_case)
{
    const float prob[4 * 2] = {0.75f, 0.25f, 0.5f, 0.5f, 0, 1, 1, 0};
    const int32_t node[3] = {2, 0, 1}, label[3] = {1, 0, 1};
    double phi[4];
    /* class 0: 0.75 seen as 0, 0.5 as 1; class 1: 0.25 seen as 0, 1.5 as 1 */
    assert_ok(ctx, graphss_transition_warmup(ctx, phi, prob, node, label, 3, 4, 2));
    const double want[4] = {0.6, 0.4, 1.0 / 7, 6.0 / 7};
    for (size_t i = 0; i < 4; i++)
        assert_true(fabs(phi[i] - want[i]) < 1e-12);
}

TEST_CTX(a_class_without_mass_has_a_flat_row)
{
    const float prob[2] = {1, 0};
    const int32_t node = 0, label = 1;
    double phi[4];
    assert_ok(ctx, graphss_transition_warmup(ctx, phi, prob, &node, &label, 1, 1, 2));
    const double want[4] = {0, 1, 0.5, 0.5};
    assert_memory_equal(phi, want, sizeof want);
    assert_ok(ctx, graphss_transition_warmup(ctx, phi, prob, NULL, NULL, 0, 1, 2));
    for (size_t i = 0; i < 4; i++)
        assert_true(phi[i] == 0.5);
}

TEST_CTX(prior_cells_add_up)
{
    const double more[9] = {0, 0, 7, 0, 0, 0, 0, 0, 0};
    const graphss_prior prior = {.alpha = 1, .anchor = 100, .diagonal = 0.9, .cell = more};
    double alpha[9];
    assert_ok(ctx, graphss_prior_cells(ctx, alpha, &prior, 3));
    for (size_t t = 0; t < 3; t++)
        for (size_t y = 0; y < 3; y++) {
            const double want = (t == y ? 91 : 6) + more[t * 3 + y];
            assert_true(fabs(alpha[t * 3 + y] - want) < 1e-12);
        }
    const graphss_prior none = {0};
    assert_ok(ctx, graphss_prior_cells(ctx, alpha, &none, 3));
    for (size_t i = 0; i < 9; i++)
        assert_true(alpha[i] > 0);
}

TEST(counts_leave_silence_out_and_means_follow_them)
{
    const int32_t z[5] = {0, 1, 1, -1, 0}, observed[5] = {1, 1, -1, 0, 1};
    double counts[4], phi[4];
    const double alpha[4] = {1, 1, 1, 1};
    graphss_transition_count(counts, z, observed, 5, 2);
    const double want[4] = {0, 2, 0, 1};
    assert_memory_equal(counts, want, sizeof want);
    graphss_transition_mean(phi, alpha, counts, 2);
    const double mean[4] = {0.25, 0.75, 1.0 / 3, 2.0 / 3};
    for (size_t i = 0; i < 4; i++)
        assert_true(fabs(phi[i] - mean[i]) < 1e-15);
    graphss_transition_mean(counts, alpha, counts, 2); /* in place */
    assert_memory_equal(counts, phi, sizeof phi);
    graphss_transition_mean(phi, alpha, NULL, 2);
    for (size_t i = 0; i < 4; i++)
        assert_true(phi[i] == 0.5);
}

TEST_CTX(errors_name_what_is_wrong)
{
    float prob[4] = {0.5f, 0.5f, 0.5f, 0.5f};
    int32_t node[2] = {0, 1}, label[2] = {0, 1};
    double phi[4] = {9, 9, 9, 9};
#define KEPT_SWEEPS graphss_transition_warmup(ctx, phi, prob, node, label, 2, 2, 2)
    node[1] = 2;
    assert_fails(
        ctx, KEPT_SWEEPS, GRAPHSS_ERR_INVALID, "entry 1 of the list: node 2, want 0 to 1");
    node[1] = -1;
    assert_fails(ctx, KEPT_SWEEPS, GRAPHSS_ERR_INVALID, "node -1");
    node[1] = 1;
    label[0] = 2;
    assert_fails(ctx, KEPT_SWEEPS, GRAPHSS_ERR_INVALID, "node 0: label 2, want 0 to 1");
    label[0] = -1;
    assert_fails(ctx, KEPT_SWEEPS, GRAPHSS_ERR_INVALID, "label -1");
    label[0] = 0;
    prob[3] = NAN;
    assert_fails(ctx, KEPT_SWEEPS, GRAPHSS_ERR_INVALID, "node 1: probability nan of class 1");
    prob[3] = -0.5f;
    assert_fails(ctx, KEPT_SWEEPS, GRAPHSS_ERR_INVALID, "-0.5");
    prob[3] = INFINITY;
    assert_fails(ctx, KEPT_SWEEPS, GRAPHSS_ERR_INVALID, "inf");
    for (size_t i = 0; i < 4; i++)
        assert_true(phi[i] == 9);

    const double cell[4] = {0, 0, -1, 0};
    const graphss_prior bad[] = {
        {.alpha = -1}, {.alpha = NAN}, {.anchor = 1e10}, {.diagonal = 1.5}, {.cell = cell}};
    const char *part[] = {
        "alpha -1", "alpha nan", "anchor 1e+10", "diagonal 1.5", "cell (1, 0) is -1"};
    for (size_t i = 0; i < 5; i++)
        assert_fails(
            ctx, graphss_prior_cells(ctx, phi, &bad[i], 2), GRAPHSS_ERR_INVALID, part[i]);
    for (size_t i = 0; i < 4; i++)
        assert_true(phi[i] == 9);
}

int main(void)
{
    return testing_run();
}
