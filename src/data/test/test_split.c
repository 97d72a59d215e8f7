#include "base/base.h"
#include "data/build.h"
#include "testing.h"
#include <graphss/split.h>

enum { N = 1000, K = 4 };

/* Every tenth label is unknown. */
static void fill_labels(int32_t *label)
{
    for (int32_t i = 0; i < N; i++)
        label[i] = i % 10 == 9 ? -1 : i * 7 % K;
}

TEST_CTX(parts_are_disjoint_and_hold_every_labelled_node)
{
    int32_t label[N];
    fill_labels(label);
    graphss_split s = {0};
    assert_ok(ctx, graphss_split_make(ctx, &s, label, N, K, 1, NULL));
    assert_int_equal(s.n_train, 360);
    assert_int_equal(s.n_val, 180);
    assert_int_equal(s.n_test, 360);
    int seen[N] = {0};
    const struct {
        const int32_t *list;
        size_t n;
    } part[] = {{s.train, s.n_train}, {s.val, s.n_val}, {s.test, s.n_test}};
    for (size_t p = 0; p < 3; p++)
        for (size_t i = 0; i < part[p].n; i++) {
            seen[part[p].list[i]]++;
            assert_true(i == 0 || part[p].list[i - 1] < part[p].list[i]);
        }
    for (size_t i = 0; i < N; i++)
        assert_int_equal(seen[i], label[i] >= 0);
    graphss_split_destroy(ctx, &s);
}

static size_t count_changed(const graphss_split *s, const int32_t *label, size_t *in_val)
{
    size_t train = 0;
    *in_val = 0;
    for (size_t i = 0; i < s->n_train; i++)
        train += s->train_label[i] != label[s->train[i]];
    for (size_t i = 0; i < s->n_val; i++)
        *in_val += s->val_label[i] != label[s->val[i]];
    return train;
}

TEST_CTX(uniform_noise_changes_exactly_its_share)
{
    int32_t label[N];
    fill_labels(label);
    size_t drawn[K] = {0};
    for (uint64_t seed = 0; seed < 50; seed++) {
        graphss_split s = {0};
        size_t in_val;
        graphss_split_options opt;
        graphss_split_options_init(&opt);
        opt.noise = 0.25;
        assert_ok(ctx, graphss_split_make(ctx, &s, label, N, K, seed, &opt));
        assert_int_equal(count_changed(&s, label, &in_val), 90);
        assert_int_equal(in_val, 45);
        assert_int_equal(s.n_flipped, 135);
        for (size_t i = 0; i < s.n_train; i++)
            if (s.train_label[i] != label[s.train[i]])
                drawn[s.train_label[i]]++;
        graphss_split_destroy(ctx, &s);
    }
    /* 4500 draws; a class keeps within five standard deviations (about 31) of 1125. */
    for (size_t c = 0; c < K; c++)
        assert_in_range(drawn[c], 965, 1285);
}

TEST_CTX(paper_noise_never_draws_the_last_class)
{
    int32_t label[N];
    fill_labels(label);
    graphss_split s = {0};
    size_t in_val;
    graphss_split_options opt;
    graphss_split_options_init(&opt);
    opt.noise = 0.5;
    opt.noise_kind = GRAPHSS_NOISE_PAPER;
    assert_ok(ctx, graphss_split_make(ctx, &s, label, N, K, 3, &opt));
    const size_t in_train = count_changed(&s, label, &in_val);
    assert_int_equal(s.n_flipped, in_train + in_val);
    /* A draw of three classes hits the truth of three quarters of nodes one time in three. */
    assert_in_range(in_train, 100, 165);
    for (size_t i = 0; i < s.n_train; i++)
        assert_true(s.train_label[i] == label[s.train[i]] || s.train_label[i] < K - 1);
    graphss_split_destroy(ctx, &s);
}

TEST_CTX(pair_noise_always_says_the_class_before)
{
    int32_t label[N];
    fill_labels(label);
    graphss_split s = {0};
    size_t in_val;
    graphss_split_options opt;
    graphss_split_options_init(&opt);
    opt.noise = 0.25;
    opt.noise_kind = GRAPHSS_NOISE_PAIR;
    assert_ok(ctx, graphss_split_make(ctx, &s, label, N, K, 3, &opt));
    assert_int_equal(count_changed(&s, label, &in_val), 90);
    assert_int_equal(in_val, 45);
    for (size_t i = 0; i < s.n_train; i++) {
        const int32_t truth = label[s.train[i]];
        assert_true(s.train_label[i] == truth || s.train_label[i] == (truth + K - 1) % K);
    }
    graphss_split_destroy(ctx, &s);
}

TEST_CTX(noise_does_not_move_the_split_and_seeds_do)
{
    int32_t label[N];
    fill_labels(label);
    graphss_split a = {0}, b = {0}, c = {0};
    graphss_split_options quiet;
    graphss_split_options_init(&quiet);
    quiet.noise = 0;
    assert_ok(ctx, graphss_split_make(ctx, &a, label, N, K, 5, NULL));
    assert_ok(ctx, graphss_split_make(ctx, &b, label, N, K, 5, &quiet));
    assert_ok(ctx, graphss_split_make(ctx, &c, label, N, K, 6, NULL));
    assert_memory_equal(a.train, b.train, a.n_train * sizeof *a.train);
    assert_memory_equal(a.test, b.test, a.n_test * sizeof *a.test);
    assert_memory_not_equal(a.train, c.train, a.n_train * sizeof *a.train);
    assert_int_equal(b.n_flipped, 0);
    for (size_t i = 0; i < b.n_train; i++)
        assert_int_equal(b.train_label[i], label[b.train[i]]);
    graphss_split_destroy(ctx, &c);
    graphss_split_destroy(ctx, &b);
    graphss_split_destroy(ctx, &a);
}

TEST_CTX(bad_shares_and_too_few_nodes_are_refused)
{
    int32_t label[N];
    fill_labels(label);
    graphss_split s = {0};
    const struct {
        graphss_split_options opt;
        size_t n, k;
        graphss_status want;
        const char *part;
    } bad[] = {
        {{sizeof(graphss_split_options), -0.1, 0.2, 0, 0}, N, K, GRAPHSS_ERR_INVALID,
            "train is -0.1"},
        {{sizeof(graphss_split_options), 0.4, (double)NAN, 0, 0}, N, K, GRAPHSS_ERR_INVALID,
            "val is"},
        {{sizeof(graphss_split_options), 0.4, 0.2, 1.5, 0}, N, K, GRAPHSS_ERR_INVALID,
            "noise is 1.5"},
        {{sizeof(graphss_split_options), 0.8, 0.3, 0, 0}, N, K, GRAPHSS_ERR_INVALID,
            "at most 1"},
        {{sizeof(graphss_split_options), 0, 0.3, 0, 0}, N, K, GRAPHSS_ERR_INVALID, "above 0"},
        {{sizeof(graphss_split_options), 0.4, 0.2, 0, 9}, N, K, GRAPHSS_ERR_INVALID,
            "noise kind 9"},
        {{sizeof(graphss_split_options), 0.4, 0.2, 0, 0}, N, 2, GRAPHSS_ERR_INVALID,
            "node 1: label 3"},
        {{sizeof(graphss_split_options), 0.4, 0.2, 0, 0}, 1, K, GRAPHSS_ERR_DATA, "too few"},
        {{sizeof(graphss_split_options), 0.4, 0.2, 0.1, 0}, 0, 1, GRAPHSS_ERR_DATA, "too few"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_fails(ctx,
            graphss_split_make(ctx, &s, label, bad[i].n, bad[i].k, 1, &bad[i].opt),
            bad[i].want, bad[i].part);
    const int32_t same[5] = {0};
    assert_fails(ctx, graphss_split_make(ctx, &s, same, 5, 1, 1, NULL), GRAPHSS_ERR_DATA,
        "at least two");
    assert_fails(
        ctx, graphss_split_make(ctx, &s, NULL, 5, 1, 1, NULL), GRAPHSS_ERR_DATA, "no labels");
    assert_null(s.train);
}

static graphss_status make_and_copy(graphss_ctx *ctx, void *label)
{
    graphss_split s = {0}, copy = {0};
    graphss_status st = graphss_split_make(ctx, &s, label, N, K, 1, NULL);
    if (st == GRAPHSS_OK)
        st = graphss_split_copy(ctx, &copy, &s);
    graphss_split_destroy(ctx, &copy);
    graphss_split_destroy(ctx, &s);
    return st;
}

TEST(each_allocation_may_fail)
{
    int32_t label[N];
    fill_labels(label);
    testing_each_allocation_fails(make_and_copy, label);
}

TEST_CTX(the_table_names_every_noise)
{
    const graphss_option *table = graphss_split_options_table();
    graphss_split_options opt;
    graphss_split_options_init(&opt);
    assert_ok(ctx, graphss_options_check(ctx, &opt, table));
    const graphss_option *kind = graphss_option_find(table, "noise-kind");
    assert_ok(ctx, graphss_option_set(ctx, &opt, kind, "pair"));
    assert_int_equal(opt.noise_kind, GRAPHSS_NOISE_PAIR);
    assert_ok(ctx, graphss_option_set(ctx, &opt, kind, "paper"));
    assert_int_equal(opt.noise_kind, GRAPHSS_NOISE_PAPER);
    opt.noise = 2;
    assert_fails(ctx, graphss_options_check(ctx, &opt, table), GRAPHSS_ERR_INVALID, "noise");
}

TEST_CTX(a_node_stands_once_in_a_list)
{
    int32_t few[] = {4, 0, 2}, twice[] = {3, 1, 3}, far[] = {0, 5, 1};
    const struct {
        graphss_split split;
        graphss_status want;
        const char *part;
    } bad[] = {
        {{.n_train = 3, .train = twice}, GRAPHSS_ERR_INVALID, "training node 3 stands twice"},
        {{.n_val = 3, .val = twice}, GRAPHSS_ERR_INVALID, "validation node 3 stands twice"},
        {{.n_test = 3, .test = twice}, GRAPHSS_ERR_INVALID, "test node 3 stands twice"},
        {{.n_train = 3, .train = far}, GRAPHSS_ERR_SHAPE, "training node 1 is 5, want 0..4"},
        {{.n_val = 3, .val = far}, GRAPHSS_ERR_SHAPE, "validation node 1 is 5, want 0..4"},
        {{.n_test = 3, .test = far}, GRAPHSS_ERR_SHAPE, "test node 1 is 5, want 0..4"},
        {{.n_val = 1}, GRAPHSS_ERR_INVALID, "but not the lists"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_fails(
            ctx, graphss_i_split_check(ctx, &bad[i].split, 5), bad[i].want, bad[i].part);
    /* One list may train and validate. */
    const graphss_split both = {.n_train = 3, .n_val = 3, .train = few, .val = few};
    assert_ok(ctx, graphss_i_split_check(ctx, &both, 5));
}

int main(void)
{
    return testing_run();
}
