/* The whole operation: invariants, refits, the paper's mode, threads, cancelling, errors. */
#include "testing.h"

enum { N = 400, K = 3 };

typedef struct world {
    float prob[N * K];
    int32_t observed[N], vote[N];
    double phi[K * K];
    graphss_source source[2];
    graphss_state state[2];
} world;

static void make_world(world *w)
{
    graphss_rng rng = graphss_rng_make(21, GRAPHSS_STREAM_SYNTH);
    for (size_t i = 0; i < N; i++) {
        const size_t truth = (size_t)graphss_rng_below(&rng, K);
        double row[K], sum = 0;
        for (size_t k = 0; k < K; k++)
            sum += row[k] = graphss_rng_double(&rng) + (k == truth);
        for (size_t k = 0; k < K; k++)
            w->prob[i * K + k] = (float)(row[k] / sum);
        w->observed[i] =
            graphss_rng_double(&rng) < 0.8 ? (int32_t)truth : (int32_t)((truth + 1) % K);
        w->vote[i] = i % 5 ? (int32_t)graphss_rng_below(&rng, K) : -1;
    }
    for (size_t i = 0; i < K * K; i++)
        w->phi[i] = i / K == i % K ? 0.8 : 0.1;
    w->source[0] =
        (graphss_source){.label = w->observed, .prior = {.alpha = 1}, .phi = w->phi};
    w->source[1] = (graphss_source){.label = w->vote,
        .prior = {.anchor = 20, .diagonal = 0.6},
        .tampered = true,
        .tampered_prior = {.alpha = 1}};
    w->state[0] = (graphss_state){.concentration = 0.9 * N};
    w->state[1] = (graphss_state){.concentration = 0.1 * N};
}

static graphss_selfsup_input simple(const world *w)
{
    return (graphss_selfsup_input){.struct_size = sizeof(graphss_selfsup_input),
        .n = N,
        .n_classes = K,
        .prob = w->prob,
        .source = w->source,
        .n_sources = 1,
        .seed = 5};
}

static graphss_selfsup_input full(const world *w)
{
    graphss_selfsup_input in = simple(w);
    in.n_sources = 2;
    in.state = w->state;
    in.n_states = 2;
    return in;
}

static void assert_sum(const double *x, size_t n, double want)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        assert_true(x[i] >= 0);
        sum += x[i];
    }
    assert_true(fabs(sum - want) < 1e-9 * fmax(1, want));
}

TEST(rows_sum_to_one_and_counts_to_the_labels)
{
    world w;
    make_world(&w);
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    const graphss_selfsup_input in = full(&w);
    graphss_selfsup_result out = {0};
    assert_ok(ctx, graphss_selfsup_run(ctx, &out, &in, NULL));
    for (size_t i = 0; i < N; i++) {
        assert_sum(out.posterior + i * K, K, 1);
        assert_sum(out.state + i * 2, 2, 1);
        for (size_t k = 0; k < K; k++)
            assert_true(
                out.posterior[i * K + k] <= out.posterior[i * K + (size_t)out.label[i]]);
    }
    for (size_t i = 0; i < 2 * K; i++)
        assert_sum(out.phi + i * K, K, 1);
    assert_sum(out.counts, K * K, N);
    assert_sum(out.counts + K * K, K * K, N - N / 5);
    assert_sum(out.share, 2, 1);
    assert_int_equal(out.kept, 60);
    assert_int_equal(out.refits, 0);
    assert_int_equal(out.n_traces, K + 2 + 1);
    double agree = 0;
    for (size_t k = 0; k < K; k++)
        agree += out.counts[k * K + k] / N;
    assert_string_equal(out.trace[K].what, "source");
    assert_true(fabs(out.trace[K].mean - agree) < 1e-9);
    assert_string_equal(out.trace[K + 2].what, "state");
    assert_int_equal(out.trace[K + 2].index, 1);
    assert_true(out.r_hat >= 1 && out.r_hat < 1.2 && out.ess > 10);
    graphss_selfsup_result_destroy(ctx, &out);
    graphss_selfsup_result_destroy(ctx, &out); /* an empty one */
    graphss_ctx_free(ctx);
}

TEST(the_same_seed_on_any_number_of_threads)
{
    world w;
    make_world(&w);
    graphss_selfsup_input in = full(&w);
    graphss_selfsup_result first = {0};
    graphss_ctx *one = testing_ctx(NULL, 1);
    assert_ok(one, graphss_selfsup_run(one, &first, &in, NULL));
    for (size_t threads = 2; threads <= 4; threads++) {
        graphss_ctx *ctx = testing_ctx(NULL, threads);
        graphss_selfsup_result out = {0};
        assert_ok(ctx, graphss_selfsup_run(ctx, &out, &in, NULL));
        assert_memory_equal(out.posterior, first.posterior, N * K * sizeof(double));
        assert_memory_equal(out.state, first.state, N * 2 * sizeof(double));
        assert_memory_equal(out.phi, first.phi, 2 * K * K * sizeof(double));
        assert_true(out.r_hat == first.r_hat && out.ess == first.ess);
        graphss_selfsup_result_destroy(ctx, &out);
        graphss_ctx_free(ctx);
    }
    graphss_selfsup_result other = {0};
    in.seed++;
    assert_ok(one, graphss_selfsup_run(one, &other, &in, NULL));
    assert_memory_not_equal(other.posterior, first.posterior, N * K * sizeof(double));
    graphss_selfsup_result_destroy(one, &other);
    graphss_selfsup_result_destroy(one, &first);
    graphss_ctx_free(one);
}

/* Class k is called name[k]: results are those of before under other names. A sampler draws
 * other numbers then, so its posteriors agree but for noise; a fixed phi leaves no noise. */
static void compare_renamed(int update, int phi, double within)
{
    static const int32_t name[K] = {2, 0, 1};
    static world w, v;
    make_world(&w);
    make_world(&v);
    for (size_t i = 0; i < N; i++) {
        v.observed[i] = name[w.observed[i]];
        for (size_t k = 0; k < K; k++)
            v.prob[i * K + (size_t)name[k]] = w.prob[i * K + k];
    }
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    graphss_selfsup_options opt;
    if (update == GRAPHSS_UPDATE_DRAW)
        graphss_selfsup_options_init(&opt);
    else
        graphss_selfsup_options_init_paper(&opt);
    opt.phi = phi;
    opt.frozen = false;
    if (update == GRAPHSS_UPDATE_DRAW)
        opt.sweeps = 4000;
    const graphss_selfsup_input in = simple(&w), renamed = simple(&v);
    graphss_selfsup_result a = {0}, b = {0};
    assert_ok(ctx, graphss_selfsup_run(ctx, &a, &in, &opt));
    assert_ok(ctx, graphss_selfsup_run(ctx, &b, &renamed, &opt));
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < K; k++)
            assert_true(
                fabs(a.posterior[i * K + k] - b.posterior[i * K + (size_t)name[k]]) < within);
    graphss_selfsup_result_destroy(ctx, &a);
    graphss_selfsup_result_destroy(ctx, &b);
    graphss_ctx_free(ctx);
}

TEST(other_names_for_the_classes_change_names_only)
{
    compare_renamed(GRAPHSS_UPDATE_DRAW, GRAPHSS_PHI_FIXED, 1e-9);
    compare_renamed(GRAPHSS_UPDATE_DRAW, GRAPHSS_PHI_DYNAMIC, 0.02);
    compare_renamed(GRAPHSS_UPDATE_ARGMAX, GRAPHSS_PHI_DYNAMIC, 1e-9);
}

TEST_CTX(with_phi_fixed_the_posterior_is_bayes_rule_warm_or_not)
{
    static world w;
    make_world(&w);
    graphss_selfsup_options opt;
    graphss_selfsup_options_init(&opt);
    const graphss_selfsup_input in = simple(&w);
    graphss_selfsup_result out = {0};
    opt.phi = GRAPHSS_PHI_FIXED;
    for (int warm = 1; warm >= 0; warm--) {
        opt.warmup *= warm;
        assert_ok(ctx, graphss_selfsup_run(ctx, &out, &in, &opt));
        for (size_t i = 0; i < N; i++) {
            double want[K], sum = 0;
            for (size_t k = 0; k < K; k++)
                sum += want[k] =
                    (double)w.prob[i * K + k] * w.phi[k * K + (size_t)w.observed[i]];
            for (size_t k = 0; k < K; k++)
                assert_true(fabs(out.posterior[i * K + k] - want[k] / sum) < 1e-9);
        }
        for (size_t i = 0; i < K * K; i++)
            assert_true(fabs(out.phi[i] - w.phi[i]) < 1e-12);
        graphss_selfsup_result_destroy(ctx, &out);
    }
}

TEST_CTX(evidence_that_contradicts_itself_counts_as_none)
{
    const float prob[4] = {1, 0, 0.5f, 0.5f};
    const int32_t observed[2] = {1, 1};
    const double phi[4] = {1, 0, 0, 1}; /* class 0 is never seen as 1 */
    const graphss_source source[2] = {{.label = observed, .phi = phi, .fixed = true},
        {.label = observed, .phi = phi, .fixed = true}};
    graphss_selfsup_input in = {.struct_size = sizeof in,
        .n = 2,
        .n_classes = 2,
        .prob = prob,
        .source = source,
        .n_sources = 1};
    for (; in.n_sources <= 2; in.n_sources++) {
        graphss_selfsup_result out = {0};
        assert_ok(ctx, graphss_selfsup_run(ctx, &out, &in, NULL));
        assert_true(fabs(out.posterior[0] - 1) < 1e-12 && fabs(out.posterior[3] - 1) < 1e-12);
        graphss_selfsup_result_destroy(ctx, &out);
    }
}

typedef struct fitter {
    size_t calls, fail_at;
    graphss_status status;
    float value; /* what it writes into the first cell, if not 0 */
    int32_t first_label[N];
    double agreement[64];
    const int32_t *observed;
} fitter;

/* Moves half way towards the labels it is given. */
static graphss_status refit(graphss_ctx *ctx, void *user, float *prob, const int32_t *label,
    size_t n, size_t n_classes)
{
    fitter *f = user;
    (void)ctx;
    assert_true(n == N && n_classes == K && f->calls < 64);
    for (size_t i = 0; i < n; i++) {
        assert_in_range(label[i], 0, K - 1);
        for (size_t k = 0; k < n_classes; k++)
            prob[i * K + k] = 0.5f * prob[i * K + k] + (k == (size_t)label[i] ? 0.5f : 0);
    }
    if (f->calls == 0)
        memcpy(f->first_label, label, sizeof f->first_label);
    f->agreement[f->calls++] = graphss_labels_accuracy(label, f->observed, NULL, n);
    if (f->value != 0)
        prob[0] = f->value;
    return f->calls == f->fail_at ? f->status : GRAPHSS_OK;
}

TEST(refits_come_when_they_are_due)
{
    static world w;
    make_world(&w);
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    fitter f = {.observed = w.observed};
    graphss_selfsup_input in = full(&w);
    graphss_selfsup_options opt;
    graphss_selfsup_options_init(&opt);
    graphss_selfsup_result out = {0};
    in.refit = refit;
    in.refit_user = &f;
    assert_ok(ctx, graphss_selfsup_run(ctx, &out, &in, &opt));
    /* after sweeps 1, 11, ... 91; earlier counts are forgotten */
    assert_int_equal(f.calls, 10);
    assert_int_equal(out.refits, 10);
    assert_int_equal(out.kept, 9);
    for (size_t i = 0; i < N; i++)
        assert_sum(out.posterior + i * K, K, 1);
    assert_sum(out.counts, K * K, N);
    graphss_selfsup_result_destroy(ctx, &out);

    f = (fitter){.observed = w.observed};
    opt.sweeps = 41;
    opt.retrain_every = 20;
    assert_ok(ctx, graphss_selfsup_run(ctx, &out, &in, &opt));
    assert_int_equal(f.calls, 2); /* not after the last sweep */
    assert_int_equal(out.kept, 1);
    assert_true(isnan(out.r_hat) && isnan(out.ess));
    graphss_selfsup_result_destroy(ctx, &out);
    graphss_ctx_free(ctx);
}

TEST(the_gate_lets_better_agreement_pass_only)
{
    static world w;
    make_world(&w);
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    fitter f = {.observed = w.observed};
    graphss_selfsup_input in = simple(&w);
    graphss_selfsup_options opt;
    graphss_selfsup_options_init(&opt);
    graphss_selfsup_result out = {0};
    in.refit = refit;
    in.refit_user = &f;
    opt.refit_rule = GRAPHSS_REFIT_AGREEMENT;
    opt.retrain_every = 2;
    opt.chains = 3;
    assert_ok(ctx, graphss_selfsup_run(ctx, &out, &in, &opt));
    assert_int_equal(out.refits, f.calls);
    assert_true(f.calls >= 1 && f.calls < 50);
    for (size_t i = 1; i < f.calls; i++)
        assert_true(f.agreement[i] > f.agreement[i - 1]);
    graphss_selfsup_result_destroy(ctx, &out);
    graphss_ctx_free(ctx);
}

TEST_CTX(what_refit_returns_ends_the_run)
{
    static world w;
    make_world(&w);
    graphss_selfsup_input in = simple(&w);
    graphss_selfsup_options option[2];
    graphss_selfsup_options_init(&option[0]);
    graphss_selfsup_options_init_paper(&option[1]);
    for (size_t i = 0; i < 2; i++) {
        fitter f = {.observed = w.observed, .fail_at = 1, .status = GRAPHSS_ERR_LIMIT};
        graphss_selfsup_result out = {0};
        in.refit = refit;
        in.refit_user = &f;
        assert_int_equal(graphss_selfsup_run(ctx, &out, &in, &option[i]), GRAPHSS_ERR_LIMIT);
        f = (fitter){.observed = w.observed, .value = NAN};
        assert_fails(ctx, graphss_selfsup_run(ctx, &out, &in, &option[i]), GRAPHSS_ERR_INVALID,
            "refit: node 0, class 0: nan");
        assert_null(out.label);
    }
}

/* Algorithm 1 as the paper's code runs it, as plainly as can be. */
static void naive_paper(int32_t *z, const world *w, bool with_refit, fitter *f)
{
    static float P[N * K];
    double C[K][K] = {{0}}, phi[K][K], best = -1;
    memcpy(P, w->prob, sizeof P);
    graphss_labels_argmax(z, P, N, K);
    for (size_t i = 0; i < N; i++)
        C[z[i]][w->observed[i]] += 1;
    for (size_t step = 0; step < 100; step++) {
        if (step % 10 == 0)
            for (size_t k = 0; k < K; k++)
                for (size_t y = 0; y < K; y++)
                    phi[k][y] = (C[k][y] + 1) / (C[k][0] + C[k][1] + C[k][2] + 3);
        memset(C, 0, sizeof C);
        for (size_t i = 0; i < N; i++) {
            double most = -1;
            for (int32_t k = 0; k < K; k++) {
                const double p =
                    step < 40 ? w->phi[k * K + w->observed[i]] : phi[k][w->observed[i]];
                const double weight = (double)P[i * K + (size_t)k] * p;
                if (weight > most) {
                    most = weight;
                    z[i] = k;
                }
            }
            C[z[i]][w->observed[i]] += 1;
        }
        const double agreement = graphss_labels_accuracy(z, w->observed, NULL, N);
        if (with_refit && step % 10 == 0 && agreement > best) {
            best = agreement;
            assert_int_equal(refit(NULL, f, P, z, N, K), GRAPHSS_OK);
        }
    }
}

TEST_CTX(the_papers_mode_is_its_code)
{
    static world w;
    make_world(&w);
    graphss_selfsup_options opt;
    graphss_selfsup_options_init_paper(&opt);
    for (int with_refit = 0; with_refit < 2; with_refit++) {
        fitter ours = {.observed = w.observed}, theirs = {.observed = w.observed};
        int32_t want[N];
        double counts[K * K];
        graphss_selfsup_input in = simple(&w);
        graphss_selfsup_result out = {0};
        in.refit = with_refit ? refit : NULL;
        in.refit_user = &ours;
        assert_ok(ctx, graphss_selfsup_run(ctx, &out, &in, &opt));
        naive_paper(want, &w, with_refit, &theirs);
        assert_int_equal(ours.calls, theirs.calls);
        assert_int_equal(out.refits, ours.calls);
        assert_memory_equal(out.label, want, sizeof want);
        graphss_transition_count(counts, want, w.observed, N, K);
        assert_memory_equal(out.counts, counts, sizeof counts);
        graphss_selfsup_result_destroy(ctx, &out);
    }
}

TEST_CTX(frozen_labels_stay_the_classifiers)
{
    static world w;
    make_world(&w);
    graphss_selfsup_options opt;
    graphss_selfsup_options_init_paper(&opt);
    const graphss_selfsup_input in = simple(&w);
    graphss_selfsup_result out = {0};
    int32_t own[N];
    size_t changed = 0;
    graphss_labels_argmax(own, w.prob, N, K);
    opt.phi = GRAPHSS_PHI_FIXED;
    assert_ok(ctx, graphss_selfsup_run(ctx, &out, &in, &opt));
    assert_memory_equal(out.label, own, sizeof own);
    assert_sum(out.posterior, K, 1);
    graphss_selfsup_result_destroy(ctx, &out);
    opt.frozen = false;
    assert_ok(ctx, graphss_selfsup_run(ctx, &out, &in, &opt));
    for (size_t i = 0; i < N; i++)
        changed += out.label[i] != own[i];
    assert_true(changed > 0);
    assert_memory_equal(out.phi, w.phi, sizeof w.phi);
    graphss_selfsup_result_destroy(ctx, &out);
}

typedef struct call {
    graphss_selfsup_input in;
    graphss_selfsup_options opt;
} call;

static graphss_status run_once(graphss_ctx *ctx, void *arg)
{
    const call *c = arg;
    graphss_selfsup_result out = {0};
    const graphss_status st = graphss_selfsup_run(ctx, &out, &c->in, &c->opt);
    graphss_selfsup_result_destroy(ctx, &out);
    return st;
}

TEST(each_allocation_fails_in_turn)
{
    static world w;
    make_world(&w);
    fitter f = {.observed = w.observed};
    call c = {.in = full(&w)};
    graphss_selfsup_options_init(&c.opt);
    c.opt.chains = 2;
    c.opt.sweeps = 12;
    c.opt.warmup = 2;
    c.in.refit = refit;
    c.in.refit_user = &f;
    testing_each_allocation_fails(run_once, &c);
    c.in = simple(&w);
    graphss_selfsup_options_init_paper(&c.opt);
    testing_each_allocation_fails(run_once, &c);
}

static bool stop_at(void *user, const char *stage, size_t done, size_t total, const char *note)
{
    (void)note;
    assert_string_equal(stage, "infer");
    assert_true(done <= total);
    return done < *(size_t *)user;
}

TEST(cancelling_leaves_the_result_alone)
{
    static world w;
    make_world(&w);
    size_t last = 50;
    const graphss_ctx_options options = {
        .struct_size = sizeof options, .threads = 2, .progress = stop_at, .user = &last};
    graphss_ctx *ctx = graphss_ctx_new(&options);
    graphss_selfsup_options option[2];
    graphss_selfsup_options_init(&option[0]);
    graphss_selfsup_options_init_paper(&option[1]);
    const graphss_selfsup_input in = simple(&w);
    for (size_t i = 0; i < 2; i++) {
        graphss_selfsup_result out = {.n = 77};
        assert_fails(ctx, graphss_selfsup_run(ctx, &out, &in, &option[i]),
            GRAPHSS_ERR_CANCELLED, "infer cancelled");
        assert_true(out.n == 77 && !out.label && !out.posterior);
    }
    graphss_ctx_free(ctx);
}

TEST_CTX(errors_name_what_is_wrong)
{
    static world w, good;
    make_world(&good);
    graphss_selfsup_result out = {0};
    graphss_selfsup_input in;
    graphss_selfsup_options opt;
    float likelihood[N];
    double phi[K * K];
/* A fresh world, one thing changed, the error. */
#define WRONG(change, part) \
    do { \
        make_world(&w); \
        in = full(&w); \
        graphss_selfsup_options_init(&opt); \
        memcpy(phi, w.phi, sizeof phi); \
        for (size_t i = 0; i < N; i++) \
            likelihood[i] = 1; \
        change; \
        assert_fails( \
            ctx, graphss_selfsup_run(ctx, &out, &in, &opt), GRAPHSS_ERR_INVALID, part); \
        assert_null(out.label); \
    } while (0)
    WRONG(opt.sweeps = 0, "--sweeps");
    WRONG(opt.chains = 65, "--chains");
    WRONG(opt.refit_rule = 2, "--refit-rule");
    WRONG(opt.warmup = 90; opt.burn_in = 10, "90 sweeps of warm-up and 10 of burn-in");
    WRONG(in.n = 0, "0 nodes");
    WRONG(in.n_classes = 1, "1 classes");
    WRONG(in.n_sources = 17, "17 sources");
    WRONG(in.n_states = 1, "1 states");
    WRONG(in.n_sources = 0; opt.refit_rule = GRAPHSS_REFIT_AGREEMENT;
          in.refit = refit, "no source");
    WRONG(graphss_selfsup_options_init_paper(&opt), "found 2 sources, 2 states, 1 chains");
    WRONG(w.prob[4] = -1, "probabilities: node 1, class 1: -1");
    WRONG(w.prob[4] = NAN, "nan");
    WRONG(w.prob[0] = w.prob[1] = w.prob[2] = 0, "node 0: every class has probability 0");
    WRONG(w.observed[7] = K, "source 0, node 7: label 3, want -1 to 2");
    WRONG(w.vote[8] = -2, "source 1, node 8: label -2");
    WRONG(w.source[1].label = NULL, "source 1: no labels");
    WRONG(w.phi[2] = 1.5, "phi (0, 2) is 1.5");
    WRONG(w.phi[4] = 0.5, "row 1 of phi sums to 0.7");
    WRONG(phi[0] = NAN; w.source[1].tampered_phi = phi, "source 1: phi (0, 0) is nan");
    WRONG(w.source[0].prior.alpha = -1, "source 0: prior: alpha -1");
    WRONG(w.source[1].tampered_prior.diagonal = 2, "source 1: prior: diagonal 2");
    WRONG(w.state[1].concentration = 0, "state 1: concentration 0");
    WRONG(w.state[0].prob = good.prob, "state 0: has probabilities of its own");
    WRONG(w.state[1].prob = w.prob; w.prob[5] = INFINITY, "probabilities: node 1, class 2");
    WRONG(likelihood[3] = -1; w.state[1].likelihood = likelihood, "state 1, node 3");
}

TEST_CTX(options_read_back_and_hold_their_defaults)
{
    const graphss_option *table = graphss_selfsup_options_table();
    graphss_selfsup_options opt;
    graphss_selfsup_options_init(&opt);
    assert_ok(ctx, graphss_options_check(ctx, &opt, table));
    for (const graphss_option *row = table; row->name; row++) {
        char before[64], after[64];
        graphss_option_text(before, sizeof before, &opt, row);
        assert_ok(ctx, graphss_option_set(ctx, &opt, row, before));
        graphss_option_text(after, sizeof after, &opt, row);
        assert_string_equal(before, after);
    }
    assert_ok(
        ctx, graphss_option_set(ctx, &opt, graphss_option_find(table, "update"), "argmax"));
    assert_int_equal(opt.update, GRAPHSS_UPDATE_ARGMAX);
    graphss_selfsup_options_init_paper(&opt);
    assert_ok(ctx, graphss_options_check(ctx, &opt, table));
}

int main(void)
{
    return testing_run();
}
